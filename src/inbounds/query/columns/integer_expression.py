"""Whole numbers that a statement computes for each row, with proof that none of them overflows.

A column made of columns is written in these: sums, products and quotients of the codes of stored columns, which are
integers already, the same on every engine.  Each knows the least and the greatest number that it can be, whatever a row
holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from inbounds.errors import InvalidQuestion
from inbounds.query.expressions.condition import Comparison

if TYPE_CHECKING:
    from inbounds.query.columns.column import Column

LARGEST = 2**62
"""Every number on the way is below this."""

MOST_PARTS = 1000
"""An expression may be written with so many parts, those that are needed twice counted twice."""

SIMPLER = "round a column in it to a coarser step, as in ROUND(price, 1), or ask something simpler"


@dataclass(frozen=True)
class Whole:
    """A whole number of a row, from `low` to `high` unless it is missing."""

    low: int
    high: int
    parts: tuple[Whole, ...]
    size: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(part.size for part in self.inside()))
        if max(abs(self.low), abs(self.high)) >= LARGEST:
            raise InvalidQuestion(f"a derived column exceeds 62 bits on the way; {SIMPLER}")
        if self.size > MOST_PARTS:
            raise InvalidQuestion(f"a derived column has more than {MOST_PARTS} parts; ask something simpler")

    def inside(self) -> Iterator[Whole]:
        """Yield what a statement writes for it, as often as it is written."""
        yield from self.parts

    def columns(self) -> dict[str, Column]:
        """Return the stored columns in it by their names."""
        columns: dict[str, Column] = {}
        pending: list[Whole] = [self]
        while pending:
            whole = pending.pop()
            pending.extend(whole.inside())
            if isinstance(whole, Code):
                columns[whole.column.name] = whole.column
        return columns

    is_sometimes: ClassVar[bool] = False
    """Whether it can be there although something in it is missing."""

    @property
    def is_plain(self) -> bool:
        """Whether it is missing where any of its columns is, and only there."""
        return not any(leaf.is_sometimes for leaf in self.leaves())

    @property
    def is_null_if_missing(self) -> bool:
        """Whether what a statement computes for it is NULL where it is missing, and nothing simpler tells that."""
        return self.is_sometimes

    def leaves(self) -> Iterator[Whole]:
        """Yield what must be there for it to be there: codes of columns, and what can be there without them."""
        for part in self.parts:
            yield from part.leaves()


@dataclass(frozen=True)
class Fixed(Whole):
    """A constant."""


@dataclass(frozen=True)
class Code(Whole):
    """The code of a stored column: steps above its least value, or the place of its key."""

    column: Column
    codes: tuple[int, ...] = ()
    """For keys: other numbers to write for them, if any."""

    def leaves(self) -> Iterator[Whole]:
        """Yield it."""
        yield self


@dataclass(frozen=True)
class Picked(Whole):
    """What a list has at the place that another is, counted from 0."""

    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Total(Whole):
    """A constant, and multiples of others."""

    factors: tuple[int, ...]
    plus: int

    @property
    def is_null_if_missing(self) -> bool:
        """Whether nothing simpler tells that it is missing: all that it adds up can be there without its columns."""
        return all(part.is_sometimes for part in self.parts)


@dataclass(frozen=True)
class Product(Whole):
    """One times another."""


@dataclass(frozen=True)
class Quotient(Whole):
    """How often a constant goes into another, which is not negative."""

    by: int


@dataclass(frozen=True)
class Remainder(Whole):
    """What is left of another, which is not negative, after a constant was taken off as often as it goes into it."""

    by: int


@dataclass(frozen=True)
class Size(Whole):
    """Another without its sign."""


@dataclass(frozen=True)
class Extreme(Whole):
    """The least or the greatest of others."""

    greatest: bool


@dataclass(frozen=True)
class DayPart(Whole):
    """A part of a day, or the first day of what it lies in, by day numbers."""

    name: str
    is_start: bool

    def inside(self) -> Iterator[Whole]:
        """Yield the day, three times at most."""
        yield from self.parts * 3


@dataclass(frozen=True)
class Sometimes(Whole):
    """What can be there although something in it is missing."""

    is_sometimes = True

    def inside(self) -> Iterator[Whole]:
        """Yield its parts twice: once to see whether it is there."""
        yield from self.parts * 2

    def leaves(self) -> Iterator[Whole]:
        """Yield it."""
        yield self


@dataclass(frozen=True)
class FirstOf(Sometimes):
    """The first of others that is not missing."""


@dataclass(frozen=True)
class Chosen(Sometimes):
    """The first of others whose test is true, or the last of them, or if there are as many tests, nothing."""

    tests: tuple[Truth, ...]

    def inside(self) -> Iterator[Whole]:
        """Yield its parts and what its tests are about, twice."""
        yield from (*self.parts, *(whole for test in self.tests for whole in test.about())) * 2


# What is true, false, or neither.


@dataclass(frozen=True)
class Truth:
    """A test of a row."""

    parts: tuple[Truth, ...] = ()

    def about(self) -> Iterator[Whole]:
        """Yield the numbers that it looks at."""
        for part in self.parts:
            yield from part.about()


@dataclass(frozen=True)
class Every(Truth):
    """All of some tests."""


@dataclass(frozen=True)
class Either(Truth):
    """Any of some tests."""


@dataclass(frozen=True)
class Opposite(Truth):
    """The opposite of a test."""


@dataclass(frozen=True)
class Against(Truth):
    """A number compared with a constant, or one of several constants, or missing if there is none."""

    whole: Whole = field(kw_only=True)
    operator: Comparison = "="
    numbers: tuple[int, ...] = ()

    def about(self) -> Iterator[Whole]:
        yield self.whole


# Making them.


def fixed(number: int) -> Whole:
    """Return a constant."""
    return Fixed(number, number, ())


def code(column: Column) -> Whole:
    """Return the code of a stored column."""
    return Code(0, column.size - 1, (), column)


def pick(place: Whole, numbers: tuple[int, ...]) -> Whole:
    """Return what a list has at a place."""
    return Picked(min(numbers), max(numbers), (place,), numbers)


def total(terms: list[tuple[Whole, int]], plus: int) -> Whole:
    """Return a constant and multiples of others."""
    moving = [(whole, factor) for whole, factor in terms if not isinstance(whole, Fixed)]
    plus += sum(whole.low * factor for whole, factor in terms if isinstance(whole, Fixed))
    if not moving:
        return fixed(plus)
    if len(moving) == 1 and not plus and moving[0][1] == 1:
        return moving[0][0]
    low = plus + sum(min(whole.low * factor, whole.high * factor) for whole, factor in moving)
    high = plus + sum(max(whole.low * factor, whole.high * factor) for whole, factor in moving)
    # What is added up on the way stays below this, in whatever order.
    if sum(abs(factor) * max(abs(whole.low), abs(whole.high)) for whole, factor in moving) + abs(plus) >= LARGEST:
        raise InvalidQuestion(f"a derived column exceeds 62 bits on the way; {SIMPLER}")
    return Total(low, high, tuple(whole for whole, _ in moving), tuple(factor for _, factor in moving), plus)


def product(left: Whole, right: Whole) -> Whole:
    """Return one times another; of a number with itself no square is negative."""
    corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    low, high = min(corners), max(corners)
    if left == right:
        low, high = 0 if left.low <= 0 <= left.high else min(left.low**2, left.high**2), max(corners)
    return Product(low, high, (left, right))


def quotient(whole: Whole, by: int) -> Whole:
    """Return how often a constant goes into a number that is not negative."""
    assert whole.low >= 0
    return whole if by == 1 else Quotient(whole.low // by, whole.high // by, (whole,), by)


def remainder(whole: Whole, by: int, low: int, high: int) -> Whole:
    """Return what is left of a number that is not negative after a division, known to be between two others."""
    assert whole.low >= 0
    assert 0 <= low <= high < by
    return Remainder(low, high, (whole,), by)


def size(whole: Whole) -> Whole:
    """Return a number without its sign."""
    low = 0 if whole.low <= 0 <= whole.high else min(abs(whole.low), abs(whole.high))
    return Size(low, max(abs(whole.low), abs(whole.high)), (whole,))


def extreme(parts: list[Whole], *, greatest: bool) -> Whole:
    """Return the least or the greatest of some numbers."""
    end = max if greatest else min
    return Extreme(end(part.low for part in parts), end(part.high for part in parts), tuple(parts), greatest)


def first_of(parts: list[Whole]) -> Whole:
    """Return the first of some numbers that is not missing."""
    return FirstOf(min(part.low for part in parts), max(part.high for part in parts), tuple(parts))


def choose(tests: list[Truth], parts: list[Whole]) -> Whole:
    """Return the number of the first test that is true, or the one after the last test."""
    low, high = min(part.low for part in parts), max(part.high for part in parts)
    return Chosen(low, high, tuple(parts), tuple(tests))
