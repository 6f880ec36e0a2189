"""The columns of a table, as the contract describes them: numbers, days or times within bounds, or public keys.

Whatever a table holds, a statement turns it into an integer: for numbers the index of the nearest possible value,
counted from the least one, for keys their place in the list.  What is missing, or no key, is NULL.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from datetime import date, time
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NoReturn, cast

from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.bounds.times import DAY as DAY_SECONDS
from inbounds.bounds.times import write_duration
from inbounds.display.suggestion import suggest
from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import Number, shown
from inbounds.files.csv_text import key_text
from inbounds.query.columns import integer_expression as w
from inbounds.query.columns.kind import OF_KEYS, TRUTH_KEY, BoundedKind, ValueKind, kind_of
from inbounds.query.expressions.condition import Comparison
from inbounds.query.expressions.node import ColumnRef, Node, literal

STEPS = 26
"""A column without a step is cut into 2**26 to 2**28 steps: rounding a value to one moves it by less than 1e-8 of the
range, far less than the noise on any answer."""

MOST_STEPS = 2**35
"""Twice so many steps, times `weights.MOST_ROWS`, stay below 2**63."""

FARTHEST = 2**50
"""No end may be farther than so many steps from zero: doubles must place every value on its step."""

LARGEST = Fraction(10) ** 150
"""Sums of numbers up to here, and noise on them, are doubles."""

Key = str | int | bool


class _Coded(ABC):
    """What every column has: a name, and a code in each row where it is not missing."""

    name: str
    is_derived = False
    """Whether it is made of columns."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many codes there are."""

    @property
    def node(self) -> Node:
        """The expression that stands for it in a question."""
        return ColumnRef(self.name)

    @cached_property
    def whole(self) -> w.Whole:
        """Its code, as a whole number of a row."""
        return w.code(cast("Column", self))

    @property
    def stored(self) -> dict[str, Column]:
        """The stored columns that it is made of, or itself, by their names."""
        return self.whole.columns()


@dataclass(frozen=True)
class Numbers(_Coded):
    """A column of numbers, days or times."""

    name: str
    bounds: Bounds
    listed: tuple[int, ...] = field(default=(), repr=False, kw_only=True)
    """The values that it is grouped by, if the contract gives keys beside its bounds."""
    zone: str | None = field(default=None, kw_only=True)
    """The time zone whose clock is read, if the table holds moments rather than what a clock shows."""
    duration: str | None = field(default=None, kw_only=True)
    """The unit of time that intervals of the table are counted in, if it holds such."""
    has_order = True
    """Whether a value can be above another."""
    within: ClassVar[str | None] = None
    """The column whose keys its values lie in: none, for they are no keys."""
    parents: ClassVar[tuple[int, ...]] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it is missing where any column that it is made of is, and only there."""
        return True

    @cached_property
    def step(self) -> Fraction:
        """What values are rounded to."""
        if self.bounds.step is not None:
            return self.bounds.step
        low, high = self.ends
        spread = high - low
        return Fraction(2) ** (spread.numerator.bit_length() - spread.denominator.bit_length() - 1 - STEPS)

    @cached_property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest possible value, as the contract has them; days as numbers."""
        least, greatest = self.bounds.least, self.bounds.greatest
        assert least is not None
        assert greatest is not None
        return least, greatest

    @cached_property
    def lattice(self) -> Lattice:
        """The possible values by index."""
        return Lattice.of(self.bounds, self.step)

    @property
    def first(self) -> int:
        """The index of the least possible value, which statements count from."""
        return self.lattice.first

    @property
    def steps(self) -> int:
        """How many steps from the least to the greatest possible value."""
        return self.lattice.width

    def value(self, steps: int) -> Fraction:
        """Return the value so many steps above the least."""
        return self.lattice.value(self.first + steps)

    @property
    def low(self) -> Fraction:
        """The least value that is kept."""
        return self.value(0)

    @property
    def high(self) -> Fraction:
        """The greatest value that is kept."""
        return self.value(self.steps)

    @property
    def kind(self) -> BoundedKind:
        """What its values are."""
        return kind_of(self.bounds)

    @property
    def is_dates(self) -> bool:
        """Whether it holds days."""
        return self.bounds.is_dates

    @property
    def size(self) -> int:
        return self.steps + 1

    @property
    def points(self) -> int:
        """How many possible values there are."""
        return self.lattice.points

    def literal(self, value: object) -> Fraction:
        """Read what a condition compares this column with: a number, or a day."""
        return self.kind.literal(value, self.name)

    def constant(self, value: object) -> Any:
        """Return a constant that can be compared with values, in the one way that it is written."""
        return self.kind.constant(self.literal(value))

    def against(self, operator: Comparison, value: object) -> tuple[Comparison, int]:
        """Return a comparison with a constant as one of codes."""
        return self.threshold(operator, self.literal(value))

    def nearest(self, text: str) -> int:
        """Return the code of a field of a public table, clipped as in any table; raises ValueError."""
        more = Fraction(0) if self.kind.rounds_down else Fraction(1, 2)
        return max(0, min(self.steps, math.floor(self._place(text) + more)))

    def exact(self, text: str) -> int | None:
        """Return the code of a possible value by its text in a public table, None if it is none."""
        try:
            place = self._place(text)
        except ValueError:
            return None
        return int(place) if place.denominator == 1 and 0 <= place <= self.steps else None

    def _place(self, text: str) -> Fraction:
        return (self.kind.parse(text) - self.low) / self.step

    def as_stored(self, name: str) -> Numbers:
        """Return it as a table holds it under a name."""
        return replace(self, name=name)

    def text_keys(self) -> NoReturn:
        """Refuse a pattern."""
        raise InvalidQuestion(f"{self.name} holds no text, so LIKE does not apply; compare it with a constant")

    def threshold(self, operator: Comparison, value: Fraction) -> tuple[Comparison, int]:
        """Return the same comparison, of steps above the least value with an integer.

        With a step, the comparison is exact.  Without one, both sides are rounded alike, so that equal stay equal.
        """
        place = (value - self.low) / self.step
        if self.bounds.step is None:
            nearest = self.lattice.index(*value.as_integer_ratio()) - self.first
            low, high = self.ends
            return operator, min(max(nearest, 0), self.steps) if low <= value <= high else self._within(nearest)
        if operator in ("=", "<>"):
            return operator, self._within(int(place) if place.denominator == 1 else -1)
        # Between two steps, <= and > are about the step below, < and >= about the one above.
        floor = math.floor(place)
        if operator in ("<=", ">"):
            return operator, self._within(floor)
        return operator, self._within(floor if place == floor else floor + 1)

    def _within(self, index: int) -> int:
        return max(-1, min(self.steps + 1, index))


@dataclass(frozen=True)
class Keys(_Coded):
    """A column of public categories."""

    name: str
    keys: tuple[Key, ...]
    within: str | None = None
    """The column whose keys these lie in, if the contract says so."""
    parents: tuple[int, ...] = ()
    """The code of the key there, for each key."""
    has_order = False

    @property
    def kind(self) -> ValueKind:
        """What its keys are."""
        return OF_KEYS[type(self.keys[0])]

    @property
    def size(self) -> int:
        return len(self.keys)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each key in the list, by its text."""
        return {key_text(key): place for place, key in enumerate(self.keys)}

    @cached_property
    def _codes(self) -> dict[Key, int]:
        return {key: place for place, key in enumerate(self.keys)}

    def _code(self, value: object) -> int | None:
        """Return the place of a key, None if it is none; True is no 1."""
        return self._codes.get(value) if type(value) is type(self.keys[0]) else None

    def code(self, value: object) -> int:
        """Return the place of a key in the list."""
        if (place := self._code(value)) is not None:
            return place
        raise InvalidQuestion(f"{shown(value)} is not a category of {self.name}; {self._suggest(value)}")

    def _suggest(self, value: object) -> str:
        """Say which category may have been meant, as it is typed; categories are public."""
        is_text = isinstance(self.keys[0], str)
        word = value if isinstance(value, str | bool) else str(value)
        return suggest(word, map(key_text, self.keys), "its categories are", write=literal if is_text else str)

    def find(self, value: object) -> int | None:
        """Return the place of a key, given as it is or as its text; None if there is none."""
        place = self._code(value)
        return self.places.get(value) if place is None and isinstance(value, str) else place

    def constant(self, value: object) -> Any:
        """Return the key that something is."""
        return self.keys[self.code(value)]

    def against(self, operator: Comparison, value: object) -> tuple[Comparison, int]:
        """Return a comparison with a key as one of codes."""
        if operator not in ("=", "<>"):
            raise InvalidQuestion(f"{self.name} is categorical and has no order; use =, <> or IN")
        return operator, self.code(value)

    def exact(self, text: str) -> int | None:
        """Return the code of a key by its text in a public table, None if it is none."""
        return self.places.get(text.lower() if self.kind == TRUTH_KEY else text)

    nearest = exact

    def as_stored(self, name: str) -> Keys:
        """Return it as a table holds it under a name."""
        return replace(self, name=name)

    def text_keys(self) -> tuple[Key, ...]:
        """Return the keys that a pattern is compared with."""
        return self.keys


Column = Numbers | Keys


def refuse_column(column: Numbers) -> str | None:  # noqa: PLR0911  one for each rule
    """Return why a column of numbers cannot be used, or None if it can."""
    if not column.bounds.bounded:
        return f"bounds of a column must be finite, got {column.bounds.brief()}; give the least and the greatest value"
    if max(map(abs, column.ends)) > LARGEST:
        return "bounds of a column must be below 1e150; use another unit of measurement in the table"
    if column.step < 1 / LARGEST:
        return "bounds of a column must have a step above 1e-150; use another unit of measurement in the table"
    if column.steps < 1:
        return "bounds of a column must contain at least two values; leave out a constant column"
    if column.kind.rounds_down and (DAY_SECONDS / column.step).denominator != 1:
        return f"steps of times must go into a day, got {write_duration(column.step)}; write step 1s, 15min, 1h or 1d"
    if column.steps > MOST_STEPS:
        return f"bounds must span at most 2^35 steps, got {column.steps}; choose a coarser step"
    farthest = max(abs(column.low), abs(column.high)) / column.step
    if farthest > FARTHEST:
        return "bounds must lie within 2^50 steps of zero; choose a coarser step, or subtract a constant in the table"
    return None


def as_value(column: Numbers, value: Fraction) -> Number | date | time:
    """Return a value of a column as people write it: an int, a date, a time, or a float."""
    answer = column.bounds.as_answer(value)
    return float(answer) if isinstance(answer, Fraction) else answer


def grain_of(column: Numbers) -> Fraction:
    """Return the largest number that every value of a column is a multiple of."""
    low, step = column.low, column.step
    common = math.lcm(low.denominator, step.denominator)
    return Fraction(math.gcd(int(low * common), int(step * common)), common)
