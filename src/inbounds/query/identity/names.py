"""Columns by names that do not depend on how a question calls them, and what is made of columns with these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, cast

from inbounds.query.expressions.arithmetic import Case
from inbounds.query.expressions.condition import Condition, In, Like
from inbounds.query.expressions.node import ColumnRef, Node
from inbounds.query.expressions.raw import Raw
from inbounds.query.identity.conditions import arrange
from inbounds.query.question.measure import CountUnits, Measure

MADE = "="
"""The name of what is made of columns begins with this, and then says what it is."""

UNIT = f"{MADE}unit"


def own_name(name: str) -> str:
    """Return the name of a column of the contract, so that it is none of those that are made here."""
    return f"{MADE}{MADE}{name}" if name.startswith(MADE) else name


@dataclass(frozen=True)
class Names:
    """What columns are called, by what a question calls them; those of the contract keep their names."""

    by_label: Mapping[str, str]

    def __getitem__(self, label: str) -> str:
        return self.by_label[label] if label in self.by_label else own_name(label)

    def of(self, node: Node) -> str:
        """Return the name of a column, or of what is made of columns."""
        renamed = self.rename(node)
        return renamed.column if isinstance(renamed, ColumnRef) else f"{MADE}{renamed}"

    def rename(self, node: Node) -> Node:
        """Return an expression of the same columns by their names here, with its conditions in one form."""
        renamed = node.transform(self._change)
        return arrange(renamed) if isinstance(renamed, Condition) else renamed

    def condition(self, condition: Condition) -> Condition:
        """Return a condition on the same columns by their names here, in its one form."""
        return cast("Condition", self.rename(condition))

    def measure(self, measure: Measure) -> str:
        """Return what is measured, in a text."""
        return f"{type(measure).__name__}: {self._rename_inside(measure)}"

    def _change(self, node: Node) -> Node | None:
        match node:
            case ColumnRef():
                return ColumnRef(self[node.column])
            case Raw():  # its name, unlike its text, lists what it can be
                return ColumnRef(f"{MADE}{node.of(self[node.column]).name}")
            case In():  # which may have thousands of options
                asked = None if node.asked is None else cast("Like", self.rename(node.asked))
                return In(self.rename(node.this), node.options, asked)
            case Case():
                branches = tuple((self.condition(test), self.rename(value)) for test, value in node.branches)
                return Case(branches, None if node.otherwise is None else self.rename(node.otherwise))
        return None

    def _rename_inside(self, value: Any) -> Any:
        if isinstance(value, Node):
            return self.rename(value)
        if isinstance(value, tuple):
            return tuple(map(self._rename_inside, value))
        if isinstance(value, CountUnits):
            return replace(value, unit=UNIT)
        if isinstance(value, Measure):
            own = fields(cast("Any", value))
            return replace(
                cast("Any", value), **{one.name: self._rename_inside(getattr(value, one.name)) for one in own}
            )
        return value
