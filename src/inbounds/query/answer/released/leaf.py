"""What an expression over an answer is made of: the keys of its groups, and what was released or is public of measures.

They look at released numbers and public keys only, so everything that is computed from them costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from inbounds.query.columns.column import Column
from inbounds.query.columns.derived_column import find_column
from inbounds.query.columns.kind import KindName
from inbounds.query.expressions.node import Node, quote_name
from inbounds.query.question.measure import Measure
from inbounds.query.question.quantile import Quantile, as_decimal_text
from inbounds.results.exact_cells import are_numbers, to_exact

Kind = KindName | Literal["bin", "nothing"]
"""What an expression is: a bin can be put in order, and nothing else; `NULL` is nothing, and goes with everything."""

CELLS: Mapping[Kind, str] = {
    "text": "text", "bin": "text", "number": "number", "nothing": "number", "truth": "boolean", "day": "date",
    "time": "datetime", "clock": "time",
}  # fmt: skip
"""What the cells of a column are in JSON, where none of them tells."""

Exact = Any
"""A value, exactly: an int, a Fraction, a day, a text, a truth value or None; what is whole by its parts is an int."""

Ends = tuple[int | Fraction, int | Fraction]

Cell = tuple[Any, float | None, tuple[Any, Any] | None]
"""What is shown of an expression in a row: its value, the expected noise on it, and its interval."""


@dataclass(frozen=True)
class ReleasedRow:
    """One row of an answer: the keys of its groups, and what was released of it."""

    keys: Mapping[str, Any]
    values: Mapping[Measure, Any]
    intervals: Mapping[Measure, tuple[Any, Any] | None]
    noise: Mapping[Measure, float | None] = field(default_factory=dict)
    windows: Mapping[Node, Any] = field(default_factory=dict)
    """What windows are in it, once they were computed."""
    inner: ReleasedRow | None = None
    """The same row of the SELECT inside, if there is one."""


class Leaf(Node):
    """What an answer tells in each of its rows."""

    kind: Kind

    def value(self, row: ReleasedRow) -> Exact:
        """Return what it is in a row; None if it has no value there."""
        raise NotImplementedError

    def interval(self, row: ReleasedRow) -> Ends | None:
        """Return where it lies; None if it is no number, or nothing says."""
        value = self.value(row)
        return (value, value) if self.kind == "number" and are_numbers(value) else None


@dataclass(frozen=True)
class KeyRef(Leaf):
    """The key of a group, None where the group is added up."""

    of: Node
    kind: Kind = field(default="text", compare=False)

    @property
    def binding(self) -> int:  # type: ignore[override]
        """How strongly its text holds together: as that of what is grouped by."""
        return self.of.binding

    def value(self, row: ReleasedRow) -> Exact:
        """Return the key."""
        return to_exact(row.keys[self.of.name])

    def cell(self, row: ReleasedRow) -> Cell:
        """Return the key, as it is called."""
        return row.keys[self.of.name], None, None

    def __str__(self) -> str:
        return str(self.of)


@dataclass(frozen=True)
class MeasureRef(Leaf):
    """A released number, or day."""

    measure: Measure
    kind: Kind = "number"

    def value(self, row: ReleasedRow) -> Exact:
        """Return what was released."""
        return to_exact(row.values[self.measure])

    def interval(self, row: ReleasedRow) -> Ends | None:
        """Return the interval around it, if both ends are finite numbers."""
        ends = row.intervals.get(self.measure)
        if ends is None or self.kind != "number":
            return None
        low, high = to_exact(ends[0]), to_exact(ends[1])
        return (low, high) if are_numbers(low, high) else None

    def cell(self, row: ReleasedRow) -> Cell:
        """Return what was released, as it was."""
        return row.values[self.measure], row.noise[self.measure], row.intervals[self.measure]

    def __str__(self) -> str:
        return self.measure.in_expression


@dataclass(frozen=True)
class PublicValue(Leaf):
    """What a measure must be in each group, whatever the table holds: public before it is asked, exact and free."""

    measure: Measure
    values: Mapping[tuple[Any, ...], Any] = field(compare=False, repr=False)
    """By the keys of the group; None, or nothing, where there can be no value."""
    kind: Kind = "number"
    has_namesake: bool = False
    """Whether another public measure would be called the same: another quantile of the column."""

    @property
    def name(self) -> str:
        """What its column is called: a quantile beside another of its column by its level, too."""
        measure = self.measure
        if self.has_namesake and isinstance(measure, Quantile):
            return f"quantile_{as_decimal_text(measure.level)}_{measure.column.name}"
        return measure.public_name

    def value(self, row: ReleasedRow) -> Exact:
        """Return the value."""
        return to_exact(self._value_for(row))

    def cell(self, row: ReleasedRow) -> Cell:
        """Return the value as it is shown, that it has no noise, and where it lies: there."""
        value = self._value_for(row)
        return (None, None, None) if value is None else (value, 0.0, (value, value))

    def _value_for(self, row: ReleasedRow) -> Any:
        return self.values.get(tuple(row.keys.values()))

    def __str__(self) -> str:
        return str(self.measure)


@dataclass(frozen=True)
class Named(Node):
    """A column of the SELECT inside, by its name there."""

    column: str
    of: Node

    @property
    def name(self) -> str:
        """What the SELECT inside calls it."""
        return self.column

    def parts(self) -> tuple[Node, ...]:
        """Return what it stands for."""
        return (self.of,)

    def __str__(self) -> str:
        return quote_name(self.column)


def inner_row(row: ReleasedRow) -> ReleasedRow:
    """Return a row as the SELECT inside sees it."""
    assert row.inner is not None
    return row.inner


def measures_in(node: Node) -> tuple[Measure, ...]:
    """Return the measures in an expression that are released, each once, in order."""
    return tuple(dict.fromkeys(part.measure for part in node.walk() if isinstance(part, MeasureRef)))


def is_constant(node: Node) -> bool:
    """Return whether an expression is the same in every row of every answer."""
    return not any(isinstance(part, Leaf) for part in node.walk())


def kind_of(column: Column | None) -> Kind:
    """Return what the values of a column are."""
    return "number" if column is None else column.kind.name


def kind_of_measure(columns: Mapping[str, Column], measure: Measure) -> Kind:
    """Return what is released of a measure: for the mean and the quantiles a value of their column, else a number."""
    return kind_of(find_column(columns, measure.nodes[0])) if measure.is_value else "number"
