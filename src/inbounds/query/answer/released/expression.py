"""Expressions over what was released: `100 * COUNT(*) / 12`, `SUM(a) / SUM(b)`, `CASE WHEN AVG(age) > 50 THEN …`.

They look at released numbers and public keys only, so they cost nothing.  Each is computed exactly, in rationals, and
never fails: what has no value (a division by zero, a number beyond all doubles) is None.  Where all numbers in it lie
in their intervals, so does the result in its own, by interval arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date
from fractions import Fraction
from functools import partial
from itertools import product
from math import isfinite
from typing import Any, Literal

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import round_nearest
from inbounds.query.columns.column import Column
from inbounds.query.columns.condition import Formula, literal, quoted
from inbounds.query.columns.derived_column import made
from inbounds.query.question.measure import Measure

Kind = Literal["number", "day", "text", "truth", "bin", "nothing"]
"""What an expression is: a bin can be put in order, and nothing else; `NULL` is nothing, and goes with everything."""

Exact = int | Fraction | date | str | bool | None
"""A value, exactly: numbers that are whole by what they are made of are ints."""

Ends = tuple[int | Fraction, int | Fraction]

WIDEST = 2**63
"""A whole number from here on has no column in a table, and is None."""

MOST_PARTS = 500
"""An expression may have so many parts."""

MOST_DEPTH = 50
"""They may be nested so deep: they are worked through on the stack."""


@dataclass(frozen=True)
class ReleasedRow:
    """One row of an answer: the keys of its groups, and what was released of it."""

    keys: Mapping[str, Any]
    values: Mapping[Measure, Any]
    intervals: Mapping[Measure, tuple[Any, Any] | None]


class Released:
    """An expression over one row of an answer."""

    kind: Kind = "number"
    varies = False
    """Whether it can differ from row to row by itself, whatever it is made of."""

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return its value; None if it has none."""
        raise NotImplementedError

    def interval(self, row: ReleasedRow) -> Ends | None:
        """Return where it lies if everything in it lies in its interval; None if that does not follow."""
        return None

    def slopes(self, row: ReleasedRow) -> Mapping[Measure, Fraction] | None:
        """Return by how much it grows with each measure in a row, if it is linear in them."""
        return {} if not self.measures and isinstance(self.evaluate(row), int | Fraction) else None

    def parts(self) -> tuple[Released, ...]:
        """Return the expressions that it is made of."""
        found: list[Released] = []
        for one in fields(self):  # type: ignore[arg-type]  # every kind is a dataclass
            _collect(getattr(self, one.name), found)
        return tuple(found)

    def walk(self) -> Iterator[Released]:
        """Yield this expression and all that it is made of, as one reads them."""
        waiting: list[Released] = [self]
        while waiting:
            yield (found := waiting.pop())
            waiting.extend(reversed(found.parts()))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures in it, each once, in order."""
        return tuple(dict.fromkeys(one.measure for one in self.walk() if isinstance(one, OfMeasure)))

    @property
    def is_constant(self) -> bool:
        """Whether it is the same in every row of every answer."""
        return not any(one.varies for one in self.walk())

    def exchanged(self, change: Callable[[OfMeasure], Released]) -> Released:
        """Return the same expression with something else in place of each measure."""
        if isinstance(self, OfMeasure):
            return change(self)
        changed = {one.name: _changed(getattr(self, one.name), change) for one in fields(self)}  # type: ignore[arg-type]
        return replace(self, **changed)  # type: ignore[type-var]


def _collect(part: object, found: list[Released]) -> None:
    if isinstance(part, Released):
        found.append(part)
    elif isinstance(part, tuple):
        for one in part:
            _collect(one, found)


def _changed(part: Any, change: Callable[[OfMeasure], Released]) -> Any:
    if isinstance(part, Released):
        return part.exchanged(change)
    return tuple(_changed(one, change) for one in part) if isinstance(part, tuple) else part


@dataclass(frozen=True)
class OfMeasure(Released):
    """A released number, or day."""

    measure: Measure
    kind: Kind = "number"
    varies = True

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return what was released."""
        return exactly(row.values[self.measure])

    def interval(self, row: ReleasedRow) -> Ends | None:
        """Return the interval around it, if both ends are finite numbers."""
        ends = row.intervals.get(self.measure)
        if ends is None or self.kind != "number":
            return None
        low, high = exactly(ends[0]), exactly(ends[1])
        return (low, high) if isinstance(low, int | Fraction) and isinstance(high, int | Fraction) else None

    def slopes(self, row: ReleasedRow) -> Mapping[Measure, Fraction] | None:
        """Return that it grows with itself."""
        return {self.measure: Fraction(1)}

    def __str__(self) -> str:
        return self.measure.in_expression


@dataclass(frozen=True)
class Key(Released):
    """The key of a group, None where the group is added up."""

    column: str
    kind: Kind = field(default="text", compare=False)
    varies = True

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return the key."""
        return exactly(row.keys[self.column])

    def interval(self, row: ReleasedRow) -> Ends | None:
        """Return the key itself, which is public, if it is a number."""
        found = self.evaluate(row)
        return (found, found) if self.kind == "number" and isinstance(found, int | Fraction) else None

    def __str__(self) -> str:
        return quoted(self.column)


@dataclass(frozen=True)
class Constant(Released):
    """A constant; None is NULL."""

    value: Exact

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """What the constant is."""
        if self.value is None:
            return "nothing"
        if isinstance(self.value, bool):
            return "truth"
        return "text" if isinstance(self.value, str) else "day" if isinstance(self.value, date) else "number"

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return the constant."""
        return self.value

    def interval(self, row: ReleasedRow) -> Ends | None:
        """Return the constant itself, if it is a number."""
        value = self.value
        return (value, value) if isinstance(value, int | Fraction) and not isinstance(value, bool) else None

    def __str__(self) -> str:
        return "NULL" if self.value is None else literal(self.value)


@dataclass(frozen=True)
class Arithmetic(Released):
    """`+`, `-`, `*` or `/`; a division is exact, never of whole numbers only, and has no value by 0."""

    operator: Literal["+", "-", "*", "/"]
    left: Released
    right: Released

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return the result, None if a part of it has none."""
        left, right = self.left.evaluate(row), self.right.evaluate(row)
        if not isinstance(left, int | Fraction) or not isinstance(right, int | Fraction):
            return None
        return _computed(self.operator, left, right)

    def interval(self, row: ReleasedRow) -> Ends | None:
        """Return the least and the greatest result of numbers in both intervals; none if a divisor can be 0."""
        left, right = self.left.interval(row), self.right.interval(row)
        if left is None or right is None:
            return None
        if self.operator == "/" and right[0] <= 0 <= right[1]:
            return None
        corners = [_computed(self.operator, a, b) for a, b in product(left, right)]
        found = [one for one in corners if one is not None]
        return min(found), max(found)

    def slopes(self, row: ReleasedRow) -> Mapping[Measure, Fraction] | None:
        """Return how it grows, if it is a sum, or a product with what is the same whatever is released."""
        left, right = self.left.slopes(row), self.right.slopes(row)
        if left is None or right is None:
            return None
        if self.operator in ("+", "-"):
            sign = 1 if self.operator == "+" else -1
            return {one: left.get(one, Fraction(0)) + sign * right.get(one, Fraction(0)) for one in {**left, **right}}
        if right and (left or self.operator == "/"):
            return None
        steep, factor = (right, self.left) if right else (left, self.right)
        value = factor.evaluate(row)
        if not isinstance(value, int | Fraction) or (self.operator == "/" and value == 0):
            return None
        return {one: slope / value if self.operator == "/" else slope * value for one, slope in steep.items()}

    def __str__(self) -> str:
        return f"{inner(self.left)} {self.operator} {inner(self.right)}"


@dataclass(frozen=True)
class Negative(Released):
    """A number with the other sign."""

    this: Released

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return the number with the other sign."""
        found = self.this.evaluate(row)
        return -found if isinstance(found, int | Fraction) else None

    def interval(self, row: ReleasedRow) -> Ends | None:
        """Return the interval mirrored at 0."""
        ends = self.this.interval(row)
        return None if ends is None else (-ends[1], -ends[0])

    def slopes(self, row: ReleasedRow) -> Mapping[Measure, Fraction] | None:
        """Return how it grows: the other way."""
        found = self.this.slopes(row)
        return None if found is None else {one: -slope for one, slope in found.items()}

    def __str__(self) -> str:
        return f"-{inner(self.this)}"


def inner(part: Released) -> str:
    """Write a part of an expression, in parentheses unless it is a single thing."""
    negative = isinstance(part, Constant) and isinstance(part.value, int | Fraction) and part.value < 0
    made_key = isinstance(part, Key) and isinstance(part.column, Formula)
    return f"({part})" if negative or made_key or isinstance(part, Arithmetic | Negative) else f"{part}"


def too_large(expression: Released) -> str | None:
    """Return why an expression is too large to be worked with, or None if it is not."""
    waiting, seen = [(expression, 1)], 0
    while waiting:
        part, depth = waiting.pop()
        seen += 1
        if seen > MOST_PARTS:
            return f"an expression may have at most {MOST_PARTS} parts, got more; ask something simpler"
        if depth > MOST_DEPTH:
            return f"an expression may be nested at most {MOST_DEPTH} deep, got more; ask something simpler"
        waiting += [(one, depth + 1) for one in part.parts()]
    return None


def column_of(columns: Mapping[str, Column], name: str) -> Column | None:
    """Return a column by its name, or one that is made of columns; None if there is none."""
    try:
        return _found(columns, name)
    except (InvalidQuestion, KeyError):
        return None


def _found(columns: Mapping[str, Column], name: str) -> Column:
    return made(name, partial(_found, columns)) if isinstance(name, Formula) else columns[name]


def kind_of(column: Column | None) -> Kind:
    """Return what the values of a column are."""
    return "number" if column is None else column.kind.name


def kind_of_measure(columns: Mapping[str, Column], measure: Measure) -> Kind:
    """Return what is released of a measure: days for the mean and the quantiles of days, else numbers."""
    days = measure.is_value and kind_of(column_of(columns, measure.column_names[0])) == "day"
    return "day" if days else "number"


def exactly(value: Any) -> Exact:
    """Return a released value or key exactly, a float as the decimal that it is written as; None for an infinity."""
    if not isinstance(value, float):
        found: Exact = value
        return found
    return Fraction(repr(value)) if isfinite(value) else None


def _computed(operator: str, left: int | Fraction, right: int | Fraction) -> int | Fraction | None:
    if operator == "/":
        return None if right == 0 else Fraction(left) / right
    return left + right if operator == "+" else left - right if operator == "-" else left * right


def written(value: Exact) -> Any:
    """Return a value as people write it; None if it is too large for that."""
    if isinstance(value, Fraction):
        found = round_nearest(value)
        return found if isfinite(found) else None
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < WIDEST else None
    return value


def written_ends(ends: Ends | None) -> tuple[Any, Any] | None:
    """Return an interval as people write it; None if it is too large for that."""
    if ends is None:
        return None
    low, high = (written(end) for end in ends)
    return None if low is None or high is None else (low, high)
