"""A SELECT that is put together in Python, and sent as text: the server reads it, and refuses what does not fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inbounds.query.expressions.condition import Condition
    from inbounds.query.expressions.expression import Expression


@dataclass(frozen=True)
class WrittenSelect:
    """The parts of a SELECT, each as text."""

    source: str
    """What stands after FROM."""
    measures: tuple[str, ...]
    conditions: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    grouped: str | None = None
    """What stands after GROUP BY, if it is not simply the keys."""
    having: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    limit: int | None = None
    offset: int = 0

    def where(self, condition: str) -> WrittenSelect:
        """Return the same for rows that also meet a condition."""
        return replace(self, conditions=(*self.conditions, condition))

    def by(self, keys: Iterable[str]) -> WrittenSelect:
        """Return the same for each group of some more columns."""
        return replace(self, keys=(*self.keys, *keys))

    def __str__(self) -> str:
        text = f"SELECT {', '.join((*self.keys, *self.measures))} FROM {self.source}"
        text += _clause("WHERE", self.conditions)
        grouped = ", ".join(self.keys) if self.grouped is None else self.grouped
        text += f" GROUP BY {grouped}" if grouped else ""
        text += _clause("HAVING", self.having)
        text += f" ORDER BY {', '.join(self.order)}" if self.order else ""
        text += "" if self.limit is None else f" LIMIT {self.limit}"
        return text + (f" OFFSET {self.offset}" if self.offset else "")


def _clause(word: str, conditions: tuple[str, ...]) -> str:
    """Return a clause of conditions, which must all be met."""
    if len(conditions) < 2:
        return f" {word} {conditions[0]}" if conditions else ""
    return f" {word} {' AND '.join(f'({condition})' for condition in conditions)}"


def write_condition(condition: Condition | str) -> str:
    """Return a condition as SQL has it."""
    return condition if isinstance(condition, str) else str(condition)


def write_expression(column: str | Expression) -> str:
    """Return a column or an expression as SQL has it."""
    return column if isinstance(column, str) else str(column.node)
