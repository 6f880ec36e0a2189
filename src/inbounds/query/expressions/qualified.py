"""Columns by other names: those of the tables that they are of, where a text must say which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import ColumnRef, Node, quote_name
from inbounds.query.expressions.raw import Raw


@dataclass(frozen=True)
class QualifiedRef(ColumnRef):
    """A column, written with the table that it is of."""

    table: str = ""

    def __str__(self) -> str:
        return f"{quote_name(self.table)}.{quote_name(self.column)}"


@dataclass(frozen=True)
class QualifiedRaw(Raw):
    """A test of a raw column, written with the table that it is of."""

    table: str = ""

    @property
    def written(self) -> str:
        return f"{quote_name(self.table)}.{quote_name(self.column)}"


def qualify(condition: Condition, places: Mapping[str, tuple[str, str]]) -> Condition:
    """Return a condition to be written: each column with its table, and what it is called there."""

    def change(node: Node) -> Node | None:
        if not isinstance(node, ColumnRef | Raw) or node.column not in places:
            return None
        table, own = places[node.column]
        if isinstance(node, Raw):
            return QualifiedRaw(own, node.function, node.arguments, node.keys, table)
        return QualifiedRef(own, table)

    return cast("Condition", condition.transform(change))


def rename_columns(condition: Condition, names: Mapping[str, str]) -> Condition:
    """Return a condition about columns by other names."""

    def change(node: Node) -> Node | None:
        if not isinstance(node, ColumnRef | Raw) or node.column not in names:
            return None
        return replace(node, column=names[node.column])

    return cast("Condition", condition.transform(change))
