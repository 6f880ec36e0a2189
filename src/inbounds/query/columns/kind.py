"""What the values of a column are: numbers, days or times within bounds, or keys: texts, whole numbers, truth values.

Whatever it is, a value with bounds is a number to everything else here: a day is the number of days since the first of
the calendar, a time a number of seconds.  What differs is how it is read and written, and whether it can be added up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from fractions import Fraction
from typing import Literal

from inbounds.bounds import Bounds, times
from inbounds.bounds.union import DAYS, Grid, Union
from inbounds.errors import InvalidQuestion
from inbounds.exact.decimals import typed_decimal
from inbounds.exact.rational import as_written, shown
from inbounds.query.expressions.normal_form import ISO_DAY

KindName = Literal["number", "day", "time", "clock", "text", "truth"]
BoundedConstant = Fraction | date | time
"""A value of bounds as a condition holds it; a moment is a datetime, which is a date to Python."""


@dataclass(frozen=True)
class ValueKind:
    """What the values of a column are, by the name that released values have."""

    name: KindName


class BoundedKind(ValueKind, ABC):
    """What lies within bounds."""

    plural: str
    """What messages call the values."""
    singular: str
    """What messages call one of them."""
    adds_up: bool
    """Whether values can be added up, and not only compared, moved and subtracted."""
    unit: Fraction | None = None
    """What all values are multiples of, whatever their bounds say."""
    rounds_down: bool = False
    """Whether a value between two steps is the one below: the time that a clock shows until the next step."""

    @abstractmethod
    def literal(self, value: object, name: str) -> Fraction:
        """Read what a condition compares a column with."""

    @abstractmethod
    def constant(self, value: Fraction) -> BoundedConstant:
        """Return a value as a condition holds it."""

    @abstractmethod
    def parse(self, text: str) -> Fraction:
        """Read a field of a public table; raises ValueError."""

    @abstractmethod
    def grid(self, step: Fraction, offset: Fraction) -> Grid:
        """Return the lattice of such values."""

    @abstractmethod
    def between(self, low: Fraction, high: Fraction, step: Fraction | None = None) -> Bounds:
        """Return everything from one value to another, in steps from the first if there are any."""

    def among(self, values: Sequence[Fraction], step: Fraction) -> Bounds:
        """Return a few values, in order, that are steps apart."""
        return Bounds._of(Union.of([(value, value) for value in values], self.grid(step, values[0])))


class _Numbers(BoundedKind):
    """Numbers."""

    plural = "numbers"
    singular = "a number"
    adds_up = True

    def literal(self, value: object, name: str) -> Fraction:
        if isinstance(value, bool | str | date | time):
            raise InvalidQuestion(
                f"{name} holds numbers, so it cannot be compared with {shown(value)}; write a number, without quotes"
            )
        return as_written(value, f"what {name} is compared with", InvalidQuestion)

    def constant(self, value: Fraction) -> BoundedConstant:
        return value

    def parse(self, text: str) -> Fraction:
        number = typed_decimal(text)
        if number is None or not number.is_finite() or abs(number.adjusted()) > 400:
            raise ValueError("not a number that can be kept")
        return Fraction(number)

    def grid(self, step: Fraction, offset: Fraction) -> Grid:
        return Grid.read(step, offset)

    def between(self, low: Fraction, high: Fraction, step: Fraction | None = None) -> Bounds:
        return Bounds(low, high) if step is None else Bounds(low, high, step=step, offset=low)


class _Days(BoundedKind):
    """Days of the calendar."""

    plural = "dates"
    singular = "a date"
    adds_up = False
    unit = Fraction(1)

    def literal(self, value: object, name: str) -> Fraction:
        day = value
        if isinstance(day, datetime) and day.tzinfo is None and day.time() == time():
            day = day.date()  # the midnight at which it begins
        if isinstance(day, str):
            try:
                day = date.fromisoformat(day)
            except ValueError:
                if ISO_DAY.fullmatch(str(value)):
                    raise InvalidQuestion(
                        f"{shown(value)} is not a date of the calendar; write it like '2026-12-31'"
                    ) from None
                day = None
        if type(day) is not date:
            written = str(value) if isinstance(value, datetime) else value
            raise InvalidQuestion(
                f"{name} holds dates, so it cannot be compared with {shown(written)}; write a date like '2026-12-31'"
            )
        return Fraction(day.toordinal())

    def constant(self, value: Fraction) -> BoundedConstant:
        return date.fromordinal(int(value))

    def parse(self, text: str) -> Fraction:
        return Fraction(date.fromisoformat(text).toordinal())

    def grid(self, step: Fraction, offset: Fraction) -> Grid:
        return DAYS

    def between(self, low: Fraction, high: Fraction, step: Fraction | None = None) -> Bounds:
        return Bounds._of(Union.of([(low, high)], DAYS))


class _Times(BoundedKind):
    """Moments: a day and a time of day, without a zone."""

    plural = "times"
    singular = "a time"
    adds_up = False
    rounds_down = True

    def literal(self, value: object, name: str) -> Fraction:
        if isinstance(value, datetime) and value.tzinfo is None:
            return times.moment_number(value)
        if type(value) is date:
            return Fraction(value.toordinal() * times.DAY)
        try:
            return times.parse_moment(value if isinstance(value, str) else "")
        except ValueError:
            raise InvalidQuestion(
                f"{name} holds times, so it cannot be compared with {shown(value)}; write a local time like "
                "'2026-12-31 23:59:59', or a date like '2026-12-31'"
            ) from None

    def constant(self, value: Fraction) -> BoundedConstant:
        return times.moment_at(value)

    def parse(self, text: str) -> Fraction:
        return times.parse_moment(text)

    def grid(self, step: Fraction, offset: Fraction) -> Grid:
        return Grid.of_times("time", step, offset)

    def between(self, low: Fraction, high: Fraction, step: Fraction | None = None) -> Bounds:
        return Bounds._of(Union.of([(low, high)], self.grid(step or Fraction(1), low)))


class _Clock(_Times):
    """Times of day, without a zone."""

    plural = "times of day"
    singular = "a time of day"

    def literal(self, value: object, name: str) -> Fraction:
        if isinstance(value, time) and value.tzinfo is None:
            return times.clock_number(value)
        try:
            return times.parse_clock(value if isinstance(value, str) else "")
        except ValueError:
            raise InvalidQuestion(
                f"{name} holds times of day, so it cannot be compared with {shown(value)}; write one like '23:59:59'"
            ) from None

    def constant(self, value: Fraction) -> BoundedConstant:
        return times.clock_at(value)

    def parse(self, text: str) -> Fraction:
        return times.parse_clock(text)

    def grid(self, step: Fraction, offset: Fraction) -> Grid:
        return Grid.of_times("clock", step, offset)


NUMBER, DAY, TIME, CLOCK = _Numbers("number"), _Days("day"), _Times("time"), _Clock("clock")
TEXT_KEY, WHOLE_KEY, TRUTH_KEY = ValueKind("text"), ValueKind("number"), ValueKind("truth")

OF_KEYS: dict[type, ValueKind] = {str: TEXT_KEY, int: WHOLE_KEY, bool: TRUTH_KEY}
"""What keys are, by their type."""

OF_BOUNDS: dict[times.Values, BoundedKind] = {"number": NUMBER, "day": DAY, "time": TIME, "clock": CLOCK}
"""What lies within bounds, by what they say."""


def kind_of(bounds: Bounds) -> BoundedKind:
    """Return what lies within bounds."""
    return OF_BOUNDS[bounds.values]
