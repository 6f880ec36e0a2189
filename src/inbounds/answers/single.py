"""One answer, of any kind a caller may hold, read onto a lattice and written back as the same kind.

Nothing here lets an answer decide whether an error is raised, beyond what is no number: NaN, and an infinity on a side
that has no end, are refused.  Every number is read, however large it is.  Messages name kinds, never values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from inbounds.answers.rational_steps import RationalSteps
from inbounds.bounds import Bounds
from inbounds.bounds.days import EPOCH, day_number
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidAnswer
from inbounds.exact.decimals import DIGITS, from_decimal
from inbounds.exact.rational import (
    Number,
    as_decimal,
    concise,
    finite_ratio,
    has_decimals,
    infinity,
    is_number,
    is_power_of_two,
    round_down,
    round_nearest,
    round_up,
)

LARGEST = float(np.finfo(np.float64).max)
"""A release beyond all doubles is this one, where it is written as a double."""

FINEST = 2**300
"""On steps that are finer than one in this, doubles are read as fractions."""

NEAR_ENOUGH = 2**1000
"""On every lattice, so many steps are less than 10**1000."""

VAST = 2.0**1000
"""So many steps from zero, where there is no end, doubles are read as fractions instead."""

ROUNDABLE = 2.0**51

ROUNDER = 1.5 * 2.0**52
"""Added and subtracted, this rounds doubles within ±ROUNDABLE to a nearest integer."""

EXACT = 2**53
"""Whole numbers up to this are doubles."""

NO_DAY = "an answer must not be NaT; decide what a missing answer means before releasing it"

DAYS = np.dtype("datetime64[D]")


class Answers:
    """Reads and writes the answers to questions with these bounds, on this lattice."""

    def __init__(self, bounds: Bounds, lattice: Lattice) -> None:
        self.is_dates = bounds.is_dates
        self.lattice, self._rounding = lattice, lattice.rounding
        self.factor, self.shift, self.divisor = lattice.writing
        self.dyadic = is_power_of_two(lattice.step) and lattice.offset == 0 and not bounds.is_dates
        self._per_step = float(1 / lattice.step) if self.dyadic and lattice.step.denominator < FINEST else None
        # Integers are for lattices that the caller gave; a chosen step may happen to be a large integer.
        self.integral = self.divisor == 1 and bounds.step is not None
        self._is_count = self.integral and not self.is_dates and lattice.writing == (1, 0, 1)
        self._step = round_nearest(lattice.step)
        is_rational = self._per_step is None and not self.is_dates and RationalSteps.suits(lattice)
        self._rational = RationalSteps(lattice) if is_rational else None
        self._doubles = tuple(map(float, lattice.writing)) if is_rational else (1.0, 0.0, 1.0)
        to_float = self._as_quotient if is_rational else self._as_float
        self._plain = int if self._is_count else self._as_int if self.integral else to_float

    @cached_property
    def _least(self) -> float:
        """A double a step below the lower end."""
        return -math.inf if self.lattice.unbounded_below else round_down(self.lattice.value(self.lattice.first - 1))

    @cached_property
    def _most(self) -> float:
        """A double a step above the upper end."""
        return math.inf if self.lattice.unbounded_above else round_up(self.lattice.value(self.lattice.last + 1))

    def index(self, answer: Any) -> int:
        """Return the index of the lattice point nearest to an answer, not yet projected into the bounds."""
        if type(answer) is float and not self.is_dates:
            return self._double(answer)
        if self._is_count and type(answer) is int:
            return self._within(answer)
        if self.is_dates:
            return _ordinal(answer)
        if not is_number(answer):
            raise InvalidAnswer(
                f"an answer must be an int, float, Fraction or Decimal, or an array of them, got {_kind(answer)}; "
                "convert it"
            )
        return self._number(answer)

    def usual(self, answer: int) -> int | float:
        """Return a whole number as the double that it is, where answers are written as doubles: these take the same
        time for all."""
        return answer if self.integral or self.is_dates or abs(answer) > EXACT else float(answer)

    def place(self, answer: float) -> float | None:
        """Return `index` of a double as a double; None for what `index` alone can read, or must refuse."""
        if self._rational is not None:
            return self._rational.nearest_to(answer) if not math.isnan(answer) else None
        return self._round(answer, self._per_step) if self._per_step is not None else None

    def at(self, place: float) -> float:
        """Return what a place stands for, which `place` could read, where answers are no integers."""
        return place * self._step if self._rational is None else self._as_quotient(place)

    def writer(self, kind: type) -> Callable[[int], Any]:
        """Return the function that writes an index as an answer of this kind."""
        if (kind is float or kind is int) and not self.is_dates:
            return self._plain
        if self.is_dates:
            return _as_day if issubclass(kind, np.datetime64) else _as_date
        if issubclass(kind, Fraction):
            return self.lattice.value
        if issubclass(kind, Decimal):
            return self._decimal_writer()
        return self._plain

    def project(self, value: Any) -> int:
        """Return the index that a true answer is projected to."""
        return self.lattice.project(self.index(value))[0]

    @staticmethod
    def number(value: Any) -> Fraction:
        """Return the number that a true answer is; one beyond all ends for an infinity, and for a vast Decimal."""
        if isinstance(value, Decimal) and value.is_finite():
            return from_decimal(value)
        ratio = finite_ratio(value)
        return Fraction(10**DIGITS * infinity(value)) if ratio is None else Fraction(*ratio)

    def floor(self, released: float) -> int | None:
        """Return the index of the greatest release that is at most this double; None where doubles cannot tell."""
        return None if (place := self._exact_place(released)) is None else math.floor(place)

    def _exact_place(self, released: float) -> float | None:
        """Return exactly how many steps a double is above zero, where releases are multiples of a power of two."""
        if self._per_step is None:
            return None
        place = released * self._per_step
        return place if -ROUNDABLE < place < ROUNDABLE and place * self._step == released else None

    def steps_above(self, answer: float, index: int) -> float | None:
        """Return how many steps a double is above an index, to the nearest double; None where doubles cannot tell."""
        if self._per_step is None or not -EXACT < index < EXACT:
            return None
        steps = answer * self._per_step - index + 0.0  # rounded once, in the difference; the sum turns -0.0 into 0.0
        return steps if -VAST < steps < VAST else None

    def nearest_double(self, index: int) -> float:
        """Return the double nearest to what an index stands for, an infinity beyond the largest."""
        try:
            return (index * self.factor + self.shift) / self.divisor + 0.0
        except OverflowError:
            return math.inf if index > 0 else -math.inf

    def index_of_release(self, released: Any) -> int:
        """Return the index nearest to a release, which may be beyond the ends, to which true answers are clamped."""
        return self._number(released) if type(released) is float and not self.is_dates else self.index(released)

    def point(self, released: Any) -> int | None:
        """Return the index of a value that can be written for one, None for any other value."""
        if type(released) is float and (place := self._exact_place(released)) is not None:
            return int(place) if place.is_integer() else None
        if infinity(released):
            return None
        index = self.index_of_release(released)
        kinds: tuple[type, ...] = (type(released), Fraction)
        return index if any(released == self.writer(kind)(index) for kind in kinds) else None

    def _double(self, answer: float) -> int:
        """Read a double, in the same time for each that is between the ends or beyond one."""
        if self._per_step is None and self._rational is None:
            index = self._rounding.index_of_double(min(max(answer, self._least), self._most))
            return self._number(answer) if index is None else index
        place = self.place(answer)
        return self._number(answer) if place is None else int(place)

    def _round(self, answer: float, per_step: float) -> float | None:
        """Round a double where the step is a power of two; None for NaN, and for what is vast where there is no end."""
        scaled = min(max(answer, self._least), self._most) * per_step  # exactly
        if not -VAST < scaled < VAST:
            return None
        # A floor takes longer for large numbers.
        whole = scaled + ROUNDER - ROUNDER if -ROUNDABLE < scaled < ROUNDABLE else scaled // 1.0
        return whole + (scaled - whole >= 0.5)

    def _number(self, answer: Number) -> int:
        if isinstance(answer, Decimal) and answer.is_finite():
            answer = from_decimal(answer, 2 * self.divisor)  # of which all that is half way is a multiple
        ratio = finite_ratio(answer)
        return self._within(self._rounding.index(*ratio)) if ratio is not None else self.end(infinity(answer))

    def _within(self, index: int) -> int:
        """Return an index, or the farthest on its side (docs/decisions/0030-answers-of-any-size.md)."""
        if -NEAR_ENOUGH < index < NEAR_ENOUGH:
            return index
        farthest = int(10**DIGITS / self.lattice.step)
        return max(-farthest, min(farthest, index))

    def end(self, sign: int) -> int:
        """Return the index of the end that an infinity of this sign is projected to; refuse NaN, which has no sign."""
        if sign == 0:
            raise InvalidAnswer("an answer must not be NaN; decide what a missing answer means before releasing it")
        if self.lattice.unbounded_below if sign < 0 else self.lattice.unbounded_above:
            raise InvalidAnswer(
                "an answer may be infinite only on a side where the bounds have an end; give them one, or clip it first"
            )
        return self.lattice.first if sign < 0 else self.lattice.last

    def _as_int(self, index: int) -> int:
        return index * self.factor + self.shift

    def _as_float(self, index: int) -> float:
        try:
            return (index * self.factor + self.shift) / self.divisor
        except OverflowError:  # whether noise goes beyond all doubles may not decide whether there is an answer
            return LARGEST if index > 0 else -LARGEST

    def _as_quotient(self, index: float) -> float:
        """`_as_float` where doubles hold all integers: a quotient of integers takes less time for zero."""
        factor, shift, divisor = self._doubles
        try:
            return (index * factor + shift) / divisor
        except OverflowError:  # of a release that was asked about, beyond the ends and all doubles
            return LARGEST if index > 0 else -LARGEST

    def _decimal_writer(self) -> Callable[[int], Decimal]:
        if not has_decimals(self.divisor):
            raise InvalidAnswer(
                f"a Decimal cannot hold the multiples of {concise(self.lattice.step)}; "
                "pass the answer as a Fraction or a float"
            )
        return lambda index: as_decimal(self._as_int(index), self.divisor)


def tells_days(dtype: np.dtype[Any]) -> bool:
    """Return whether each moment of a datetime64 of this type is on one day: it is then that day, as the clock says."""
    unit, count = np.datetime_data(dtype)
    return (unit, count) == ("D", 1) or unit not in ("Y", "M", "W", "D", "generic")


def _ordinal(answer: Any) -> int:
    if isinstance(answer, np.datetime64 | datetime) and answer != answer:  # noqa: PLR0124  NaT, that of pandas too
        raise InvalidAnswer(NO_DAY)
    if isinstance(answer, np.datetime64) and not tells_days(answer.dtype):
        raise InvalidAnswer(
            f"an answer to a question about dates must be a date or a datetime64[D] or finer, got {answer.dtype}; "
            "say which day is meant"
        )
    if isinstance(answer, np.datetime64):
        answer = answer.astype(DAYS)
    number = day_number(answer)
    if number is None:
        raise InvalidAnswer(
            f"an answer to a question about dates must be a date or a datetime64[D] or finer, got {_kind(answer)}; "
            "drop the time of day (of a pandas Series, take .dt.date), or convert it"
        )
    return number


def _as_date(ordinal: int) -> date:
    """Return a day, the first or the last one of the calendar for what is beyond it."""
    return date.fromordinal(min(max(ordinal, 1), date.max.toordinal()))


def _as_day(ordinal: int) -> np.datetime64:
    return np.datetime64(ordinal - EPOCH, "D")


def _kind(answer: Any) -> str:
    return type(answer).__name__
