"""What the values of a column are: numbers or days within bounds, or keys: texts, whole numbers or truth values.

Whatever it is, a value with bounds is a number to everything else here: a day is the number of days since the first of
the calendar.  What differs is how it is read and written, and whether it can be added up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal

from inbounds.bounds import Bounds
from inbounds.bounds.union import DAYS, Grid, Union
from inbounds.errors import InvalidQuestion
from inbounds.exact.decimals import typed_decimal
from inbounds.exact.rational import as_written, shown
from inbounds.query.expressions.normal_form import ISO_DAY

KindName = Literal["number", "day", "text", "truth"]


@dataclass(frozen=True)
class ValueKind:
    """What the values of a column are, by the name that released values have."""

    name: KindName


class BoundedKind(ValueKind, ABC):
    """What lies within bounds."""

    plural: str
    """What messages call the values."""
    adds_up: bool
    """Whether values can be added up, and not only compared, moved and subtracted."""
    unit: Fraction | None = None
    """What all values are multiples of, whatever their bounds say."""

    @abstractmethod
    def literal(self, value: object, name: str) -> Fraction:
        """Read what a condition compares a column with."""

    @abstractmethod
    def constant(self, value: Fraction) -> Fraction | date:
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
    adds_up = True

    def literal(self, value: object, name: str) -> Fraction:
        if isinstance(value, bool | str | date):
            raise InvalidQuestion(
                f"{name} holds numbers, so it cannot be compared with {shown(value)}; write a number, without quotes"
            )
        return as_written(value, f"what {name} is compared with", InvalidQuestion)

    def constant(self, value: Fraction) -> Fraction | date:
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
    adds_up = False
    unit = Fraction(1)

    def literal(self, value: object, name: str) -> Fraction:
        day = value
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
            raise InvalidQuestion(
                f"{name} holds dates, so it cannot be compared with {shown(value)}; write a date like '2026-12-31'"
            )
        return Fraction(day.toordinal())

    def constant(self, value: Fraction) -> Fraction | date:
        return date.fromordinal(int(value))

    def parse(self, text: str) -> Fraction:
        return Fraction(date.fromisoformat(text).toordinal())

    def grid(self, step: Fraction, offset: Fraction) -> Grid:
        return DAYS

    def between(self, low: Fraction, high: Fraction, step: Fraction | None = None) -> Bounds:
        return Bounds._of(Union.of([(low, high)], DAYS))


NUMBER, DAY = _Numbers("number"), _Days("day")
TEXT_KEY, WHOLE_KEY, TRUTH_KEY = ValueKind("text"), ValueKind("number"), ValueKind("truth")

OF_KEYS: dict[type, ValueKind] = {str: TEXT_KEY, int: WHOLE_KEY, bool: TRUTH_KEY}
"""What keys are, by their type."""


def kind_of(bounds: Bounds) -> BoundedKind:
    """Return what lies within bounds."""
    return DAY if bounds.is_dates else NUMBER
