"""Where the whole numbers of a row can be, if its columns are each somewhere in a stretch of codes.

Interval arithmetic on arrays: an axis for each stored column, an entry for each of its stretches.  It never leaves out
what a row can have, and where every stretch is one code, it is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inbounds.query.columns import integer_expression as w
from inbounds.query.expressions.condition import Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Flags = NDArray[np.bool_]

EPOCH = 719_163
"""The number of the day from which numpy counts."""


class Range(NamedTuple):
    """From `low` to `high`, if it is there: whether it can be, and whether it can be missing."""

    low: Integers
    high: Integers
    here: Flags
    gone: Flags


class Verdict(NamedTuple):
    """What a test can come to: true, false, or neither."""

    true: Flags
    false: Flags
    neither: Flags


YES, NO = np.array(True), np.array(False)
ALWAYS = Verdict(YES, NO, NO)


@dataclass(frozen=True)
class Ranges:
    """Evaluates whole numbers and tests, given where the codes of stored columns are."""

    codes: Mapping[str, Range]

    def value(self, number: w.Whole) -> Range:
        """Return where a number can be."""
        if isinstance(number, w.Code):
            return self._code(number)
        if isinstance(number, w.FirstOf | w.Chosen):
            return self._one_of(number)
        parts = [self.value(part) for part in number.parts]
        if isinstance(number, w.Picked):
            return _pick(number.numbers, parts[0])
        low, high = _ends(number, parts)
        here = reduce(np.logical_and, (part.here for part in parts), YES)
        gone = reduce(np.logical_or, (part.gone for part in parts), NO)
        return Range(np.clip(low, number.low, number.high), np.clip(high, number.low, number.high), here, gone)

    def _code(self, number: w.Code) -> Range:
        codes = self.codes[number.column.name]
        return _pick(number.codes, codes) if number.codes else codes

    def _one_of(self, number: w.FirstOf | w.Chosen) -> Range:
        """Return the range of all that may be chosen: what comes later only where what comes before may not be."""
        low, high = np.array(number.high), np.array(number.low)
        here, gone, left = NO, NO, YES
        for place, part in enumerate(number.parts):
            value = self.value(part)
            if isinstance(number, w.FirstOf):
                reached, left = left & value.here, left & value.gone
            else:
                test = self.truth(number.tests[place]) if place < len(number.tests) else ALWAYS
                reached, left = left & test.true, left & (test.false | test.neither)
                gone = gone | (reached & value.gone)
            low = np.where(reached & value.here, np.minimum(low, value.low), low)
            high = np.where(reached & value.here, np.maximum(high, value.high), high)
            here = here | (reached & value.here)
        return Range(low, high, here, gone | left)

    def truth(self, test: w.Truth) -> Verdict:
        """Return what a test can come to."""
        if isinstance(test, w.Against):
            return against(self.value(test.whole), test.operator, test.numbers)
        parts = [self.truth(part) for part in test.parts]
        if isinstance(test, w.Opposite):
            return opposite(parts[0])
        return every(parts) if isinstance(test, w.Every) else either(parts)


def _pick(numbers: Sequence[int], place: Range) -> Range:
    """Return what a list has at a place; anything in it where the place is not known."""
    others, is_single = np.asarray(numbers, dtype=np.int64), place.low == place.high
    low, high = (np.where(is_single, others[place.low], end) for end in (others.min(), others.max()))
    return Range(low, high, place.here, place.gone)


def against(value: Range, operator: Comparison, numbers: Sequence[int]) -> Verdict:
    """Return what a comparison with a constant can come to, or with several, or with none: whether it is missing."""
    low, high, here, gone = value
    if not numbers:
        return Verdict(gone, here, NO)
    if len(numbers) > 1:
        listed = np.unique(np.asarray(numbers, dtype=np.int64))
        inside = np.searchsorted(listed, high, side="right") - np.searchsorted(listed, low, side="left")
        return Verdict(here & (inside > 0), here & (inside < high - low + 1), gone)
    (number,) = numbers
    can_be, can_be_not = {
        "=": ((low <= number) & (number <= high), (low != number) | (high != number)),
        "<>": ((low != number) | (high != number), (low <= number) & (number <= high)),
        "<": (low < number, high >= number),
        "<=": (low <= number, high > number),
        ">": (high > number, low <= number),
        ">=": (high >= number, low < number),
    }[operator]
    return Verdict(here & can_be, here & can_be_not, gone)


def every(parts: Sequence[Verdict]) -> Verdict:
    """Return what all of some tests together can come to."""
    true = reduce(np.logical_and, (part.true for part in parts))
    false = reduce(np.logical_or, (part.false for part in parts))
    neither = reduce(np.logical_and, (part.true | part.neither for part in parts))
    return Verdict(true, false, neither & reduce(np.logical_or, (part.neither for part in parts)))


def either(parts: Sequence[Verdict]) -> Verdict:
    """Return what any of some tests can come to."""
    return opposite(every([opposite(part) for part in parts]))


def opposite(part: Verdict) -> Verdict:
    """Return what the opposite of a test can come to."""
    return Verdict(part.false, part.true, part.neither)


def _ends(number: w.Whole, parts: Sequence[Range]) -> tuple[Integers, Integers]:  # noqa: PLR0911  one for each kind
    """Return the ends of a number that is there if all of its parts are."""
    match number:
        case w.Fixed():
            return np.array(number.low), np.array(number.high)
        case w.Total():
            return _total(number, parts)
        case w.Product():
            corners = [a * b for a in parts[0][:2] for b in parts[1][:2]]
            return reduce(np.minimum, corners), reduce(np.maximum, corners)
        case w.Quotient():
            return parts[0].low // number.by, parts[0].high // number.by
        case w.Remainder():
            # Within one round what is left rises with the number; over more than one it can be anything.
            low, high = parts[0].low, parts[0].high
            one_round = low // number.by == high // number.by
            return np.where(one_round, low % number.by, number.low), np.where(one_round, high % number.by, number.high)
        case w.Size():
            low, high = parts[0].low, parts[0].high
            return np.maximum(np.maximum(low, -high), 0), np.maximum(-low, high)
        case w.Extreme():
            end = np.maximum if number.greatest else np.minimum
            return reduce(end, (part.low for part in parts)), reduce(end, (part.high for part in parts))
        case w.DayPart():
            return _day_part(number, parts[0])
    raise AssertionError(number)


def _total(number: w.Total, parts: Sequence[Range]) -> tuple[Integers, Integers]:
    low = high = np.array(number.plus)
    for factor, part in zip(number.factors, parts, strict=True):
        first, last = (part.low, part.high) if factor > 0 else (part.high, part.low)
        low, high = low + factor * first, high + factor * last
    return low, high


def _day_part(number: w.DayPart, day: Range) -> tuple[Integers, Integers]:
    """Return where a part of a day can be: what rises with the day is between its ends, the rest anywhere."""
    low, high = (part_of(number.name, end) for end in (day.low, day.high))
    if number.is_start or number.name == "YEAR":
        return low, high
    is_single = day.low == day.high
    return np.where(is_single, low, number.low), np.where(is_single, high, number.high)


def part_of(name: str, days: Integers) -> Integers:  # noqa: PLR0911  one for each part
    """Return a part of days, or the first days of what they lie in, all by their numbers."""
    if name in ("WEEKDAY", "week"):
        weekday = (days - 1) % 7
        return weekday if name == "WEEKDAY" else days - weekday
    if name == "WEEK":
        thursday = days - (days - 1) % 7 + 3
        return (thursday - part_of("year", thursday)) // 7 + 1
    stamps = (days - EPOCH).astype("datetime64[D]")
    years, months = (stamps.astype(f"datetime64[{unit}]") for unit in "YM")
    month = months.astype(np.int64) % 12
    match name:
        case "YEAR":
            return years.astype(np.int64) + 1970
        case "MONTH":
            return month + 1
        case "QUARTER":
            return month // 3 + 1
        case "DAY":
            return (stamps - months.astype("datetime64[D]")).astype(np.int64) + 1
    first = {"year": years, "month": months, "quarter": months - month % 3}[name]
    return first.astype("datetime64[D]").astype(np.int64) + EPOCH
