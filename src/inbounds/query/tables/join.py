"""Joining: the tables of a contract, by their names and put together."""

from __future__ import annotations

from inbounds.errors import InvalidQuestion
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.relation import Joined, JoinOnUnit, JoinPublic
from inbounds.query.tables.table import Table


def private_table(tables: Tables, name: object) -> Table:
    """Return a private table of a contract, by its name."""
    table = tables.private.get(str(name))
    if table is None:
        raise InvalidQuestion(tables.why_not(name))
    return table


def join_table(tables: Tables, table: Table, other: str | Table, on: str | None, *, keep: bool) -> Table:
    """Return a table with another one joined to it: a private one on the unit, a public one by its key."""
    relation = table.relation
    name, first, joins = (
        (relation.name, relation.first, relation.joins) if isinstance(relation, Joined) else (table.name, table, ())
    )
    if isinstance(other, str) and other in tables.public:
        if on is None:
            raise InvalidQuestion(f"{other} is joined by its key; name the column that holds it")
        return Joined(name, first, (*joins, _public(tables, table, other, on, keep))).table
    joined = other if isinstance(other, Table) else private_table(tables, other)
    if on not in (None, joined.owner):
        raise InvalidQuestion(f"private tables are joined on the unit {joined.owner}; leave on out")
    return Joined(name, first, (*joins, JoinOnUnit(joined.name, joined, keep))).table


def _public(tables: Tables, table: Table, name: str, on: str, keep: bool) -> JoinPublic:
    relation = table.relation
    if not isinstance(relation, Joined):
        return JoinPublic(name, tables.public[name], table.name, on, keep)
    places = {label: (owner, own) for owner, names in relation.names.items() for own, label in names.items()}
    to, column = places.get(on, (relation.name, on))
    return JoinPublic(name, tables.public[name], to, column, keep)
