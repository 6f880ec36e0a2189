"""What is wanted of the rows of a table that a statement selects, and what that is called there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import Node
from inbounds.query.statement.expressions import Expression, raw_name
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.table import Table

KEY = " key "
"""What the key of a public table is called where its rows are constants."""


@dataclass(frozen=True)
class Wanted:
    """What is wanted of the rows of a table."""

    codes: frozenset[Node] = frozenset()
    """Columns as integers."""
    raws: frozenset[str] = frozenset()
    """Columns as they are, to be matched by."""
    known: frozenset[str] = frozenset()
    """Columns without which a row need not be there."""
    matched: frozenset[str] = frozenset()
    """Those of the columns as they are without which a row need not be there, because it would match nothing."""
    owner: bool = True
    """Whether it must be told whose rows they are."""
    test: Condition | None = None
    """What rows that do not meet it need not be there for (`sieve`)."""


def stored_nodes(table: Table, nodes: Iterable[Node]) -> set[Node]:
    """Return the columns of a table that some columns are made of."""
    return {stored.node for node in nodes for stored in table.column(node).stored.values()}


def in_order(nodes: Iterable[Node]) -> list[Node]:
    """Return columns in the order of their names."""
    return sorted(nodes, key=lambda node: node.name)


def alias_column(expression: Expression, name: str) -> Expression:
    """Return an expression under the name of a column, whatever that is."""
    return exp.Alias(this=expression, alias=exp.to_identifier(name, quoted=True))


def column_of(table: str, name: str) -> exp.Column:
    """Return a column of one of several tables."""
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(table))


def owner_of(table: Table | PublicTable) -> set[str]:
    """Return the column that tells whose rows they are, if a table is made or its rows belong to others.

    It is there under its own name, wherever that is wanted.
    """
    if isinstance(table, PublicTable) or table.is_stored or table.owner is None:
        return set()
    return {table.owner} - set(table.identifiers)


def raw_column(place: str, table: Table | PublicTable, name: str) -> exp.Column:
    """Return a column as it is, where its table is."""
    return column_of(place, name if name in owner_of(table) else raw_name(name))
