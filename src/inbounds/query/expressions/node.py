"""Expressions as a tree of small nodes: equal if they say the same, and written as SQL writes them.

Leaves are columns of a row, keys of a group, what was released of a measure, and constants.  What a tree is worth is
said elsewhere: a column is derived from it with bounds that follow, and an answer computes it from what was released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from inbounds.bounds.notation import write_end
from inbounds.exact.rational import as_decimal, has_decimals, shown


class Node:
    """An expression, or a condition."""

    binding = 3
    """How strongly its text holds together: sums, then products, then everything else that needs no parentheses."""

    @property
    def name(self) -> str:
        """What it is called in an answer: the name of a column, or its text in SQL."""
        return str(self)

    @property
    def number(self) -> int | Fraction | None:
        """The number that it is, if it is a constant one."""
        return None

    def parts(self) -> tuple[Node, ...]:
        """Return the expressions that it is made of."""
        return ()

    def walk(self) -> Iterator[Node]:
        """Yield this expression and all that it is made of, as one reads them."""
        pending: list[Node] = [self]
        while pending:
            yield (node := pending.pop())
            pending.extend(reversed(node.parts()))

    def counted_parts(self) -> tuple[Node, ...]:
        """Return those of its parts that count, each as one, towards the size of an expression."""
        return self.parts()

    def has_more_parts_than(self, most: int) -> bool:
        """Return whether it is made of more than so many parts, a comparison being one; no more of them are counted."""
        pending: list[Node] = [self]
        while pending and most >= 0:
            most -= 1
            pending.extend(pending.pop().counted_parts())
        return most < 0

    @property
    def depth(self) -> int:
        """How deep its parts are nested."""
        level, depth = [self], 0
        while level:
            depth += 1
            level = [part for node in level for part in node.parts()]
        return depth

    def transform(self, change: Callable[[Node], Node | None]) -> Node:
        """Return the same expression with something else in place of each part for which `change` gives it."""
        changed = change(self)
        if changed is not None:
            return changed
        inside = {field.name: _transform(getattr(self, field.name), change) for field in fields(self)}  # type: ignore[arg-type]
        return replace(self, **inside)  # type: ignore[type-var]


def _transform(value: Any, change: Callable[[Node], Node | None]) -> Any:
    if isinstance(value, Node):
        return value.transform(change)
    return tuple(_transform(part, change) for part in value) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class ColumnRef(Node):
    """A column of a table, by its name there."""

    column: str

    @property
    def name(self) -> str:
        """What the table calls it."""
        return self.column

    def __str__(self) -> str:
        return quote_name(self.column)


@dataclass(frozen=True, eq=False)
class Constant(Node):
    """A number, a text, a day, a time, a truth value or an interval; None is NULL."""

    value: Any

    @property
    def number(self) -> int | Fraction | None:
        return self.value if isinstance(self.value, int | Fraction) and not isinstance(self.value, bool) else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and (type(self.value), self.value) == (type(other.value), other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))

    def __str__(self) -> str:
        if type(self.value) in WORDS:
            return f"{WORDS[type(self.value)]} '{self.value}'"
        if isinstance(self.value, timedelta):
            return write_interval(self.value)
        if not isinstance(self.value, Fraction):
            return literal(self.value)
        if self.value.denominator == 1:
            return str(self.value)
        if has_decimals(self.value.denominator):
            return f"{as_decimal(*self.value.as_integer_ratio()):f}"
        return f"({self.value.numerator} / {self.value.denominator})"


WORDS = {date: "DATE", datetime: "TIMESTAMP", time: "TIME"}
"""What stands before the text of a constant."""

INTERVALS = {
    "HOUR": timedelta(hours=1),
    "MINUTE": timedelta(minutes=1),
    "SECOND": timedelta(seconds=1),
    "MILLISECOND": timedelta(milliseconds=1),
}
"""The units of intervals shorter than a day, the longest first."""


def write_interval(interval: timedelta) -> str:
    """Write an interval as SQL does, in the longest unit that it is a multiple of."""
    name, unit = next((name, unit) for name, unit in INTERVALS.items() if not interval % unit)
    return f"INTERVAL '{interval // unit}' {name}"


def literal(value: object) -> str:
    """Write a constant as SQL does."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str | date | time):
        text = str(value).replace("'", "''")
        return f"'{text}'"
    if isinstance(value, int | Decimal | float):
        return str(value)
    if isinstance(value, Fraction):
        return write_end(value)
    return shown(value)


def quote_name(name: str) -> str:
    """Write the name of a column as SQL does."""
    if name.isidentifier():
        return name
    text = name.replace('"', '""')
    return f'"{text}"'
