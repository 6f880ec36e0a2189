"""What is joined to a table: private rows of the same unit, public rows, and rows that are only looked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from inbounds.query.columns.column import Column
from inbounds.query.columns.identifier import Domain, Identifier
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import quote_name
from inbounds.query.expressions.qualified import qualify
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.table import Table

Semi = Literal["", "EXISTS", "NOT EXISTS"]

Place = tuple[str, str]
"""The table that a column is of, as the question calls it, and what it is called there."""


@dataclass(frozen=True)
class Pair:
    """A column of a table before and one of the table that is joined, which must be equal, or not."""

    to: str
    """The table before, as it is called in the question."""
    left: str
    right: str
    operator: Literal["=", "<>"] = "="


@dataclass(frozen=True, eq=False)
class Join:
    """A table whose rows join those before: private ones of the same unit, or public ones."""

    name: str
    """What it is called in the question."""
    table: Table | PublicTable
    pairs: tuple[Pair, ...] = ()
    by_unit: bool = False
    """Whether the question says that units are equal."""
    condition: Condition | None = None
    """What else must be so of rows that match."""
    keep: bool = False
    """Whether rows without a match stay, with everything of this table missing."""
    semi: Semi = ""
    """Whether rows are only looked for: those before stay if there are some, or if there are none."""
    is_renamed: bool = False
    """Whether tables among which rows are looked for go by a name that a table of the question has as well."""

    @property
    def private(self) -> Table | None:
        """The table, if it is private."""
        return self.table if isinstance(self.table, Table) else None

    @property
    def drops(self) -> bool:
        """Whether rows before that match nothing are left out."""
        return not self.keep and self.semi != "NOT EXISTS"

    @property
    def looks_further(self) -> bool:
        """Whether rows of a unit may match while others of it do not."""
        return bool(self.pairs) or self.condition is not None or not self.by_unit

    @property
    def is_public(self) -> bool:
        """Whether the table is public."""
        return self.private is None

    @property
    def owner(self) -> str | None:
        """The column that tells whose rows they are."""
        return None if self.private is None else self.private.owner

    @property
    def ties(self) -> set[frozenset[Domain]]:
        """What two of its rows must have in common to be of one unit."""
        return set() if self.private is None else self.private.ties

    def domain(self, name: str) -> Domain:
        """Return what the values of one of its columns refer to."""
        return (self.table.name, name) if self.private is None else self.private.domain(name)

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that tell its rows apart."""
        return self.table.key

    @property
    def is_unique(self) -> bool:
        """Whether at most one of its rows joins a row: its key is among what it is joined by."""
        equal = {pair.right for pair in self.pairs if pair.operator == "="}
        return bool(self.key) and set(self.key) <= equal

    @property
    def columns(self) -> Mapping[str, Column]:
        """The columns that it adds."""
        return self.table.columns

    @property
    def identifiers(self) -> Mapping[str, Identifier]:
        """The identifiers that it adds."""
        return self.table.identifiers

    def text(self, first: str, unit: str, places: Mapping[str, Place], *, is_of_others: bool) -> str:
        """Return it in SQL, after tables of a unit.

        `places` tells of which table a column is, and by which name; `is_of_others`, whether the first table has no
        column that holds its unit, because its rows belong to others.
        """
        own = self.owner
        tests = [f"{_write(pair.to, pair.left)} {pair.operator} {self._write(pair.right)}" for pair in self.pairs]
        if self.by_unit and own is not None:
            tests.insert(0, f"{_write(first, unit)} = {self._write(own)}")
        if self.semi:
            return f"{self.semi} (SELECT * FROM {self._write_lookup(tests, places)})"
        if self.condition is not None:
            tests.append(f"({qualify(self.condition, places)})")
        table = self._write_table()
        if (
            self.by_unit
            and len(tests) == 1
            and own == unit
            and not is_of_others
            and not (self.private and self.private.parent)
        ):
            return f"{'LEFT ' * self.keep}JOIN {table} USING ({quote_name(unit)})"
        return f"{'LEFT ' * self.keep}JOIN {table} ON {' AND '.join(tests) or 'TRUE'}"

    def _write_table(self) -> str:
        return (
            write_table(self.table, self.name)
            if isinstance(self.table, Table)
            else write_alias(self.table.name, self.name)
        )

    def _write(self, column: str) -> str:
        """Return one of its columns in SQL: where rows of joined tables are looked for, of the table that has it."""
        return _write(*self._place(column))

    @property
    def _inner_names(self) -> Mapping[str, Mapping[str, str]]:
        """What tables call their columns among which rows are looked for, if these are written by their own names."""
        table = self.private
        return table.names if self.semi and table is not None and not self.is_renamed else {}

    def _place(self, column: str) -> Place:
        names = self._inner_names
        places = {label: (table, own) for table, columns in names.items() for own, label in columns.items()}
        return places.get(column, (self.name, column))

    def _write_lookup(self, tests: list[str], places: Mapping[str, Place]) -> str:
        """Return what stands after FROM where rows are looked for."""
        if self.condition is not None:
            inner = {label: self._place(own) for label, (table, own) in places.items() if table == self.name}
            condition = qualify(self.condition, {**places, **inner})
            tests = [*tests, *(f"({part})" for part in condition.conjunct_texts())]
        if self.private is None or self.private.relation is None or not self._inner_names:
            return f"{self._write_table()} WHERE {' AND '.join(tests) or 'TRUE'}"
        relation = self.private.relation
        return f"{relation.source} WHERE {' AND '.join([*relation.tests, *tests]) or 'TRUE'}"


@dataclass(frozen=True, eq=False)
class JoinPublic:
    """A small public table, one row of which at most joins a row, by a key that is unique there."""

    name: str
    public: PublicTable
    to: str
    """The table whose rows it joins, as that is called in the question."""
    on: str
    """The column there that holds the key."""
    keep: bool = False
    """Whether rows without a match stay, with everything of this table missing."""
    semi: Semi = ""

    @property
    def columns(self) -> Mapping[str, Column]:
        """The columns that it adds."""
        return self.public.columns

    @property
    def identifiers(self) -> Mapping[str, Identifier]:
        """The identifiers that it adds: none, for it is written by its codes."""
        return {}

    def text(self, first: str, unit: str, places: Mapping[str, Place], *, is_of_others: bool) -> str:
        """Return it in SQL, which no unit enters."""
        key, to = _write(self.name, self.public.key[0]), _write(self.to, self.on)
        return f"{'LEFT ' * self.keep}JOIN {write_alias(self.public.name, self.name)} ON {to} = {key}"


AnyJoin = Join | JoinPublic


def tie(name: str, table: Table, others: Mapping[str, Table]) -> str:
    """Return what stands after ON where a private table is joined to one of others, so that rows are of one unit.

    Rows are matched by what one of the two refers to the other with, or both to a third; else by the unit, which can be
    named in every private table.
    """
    for other, before in others.items():
        for child, parent in ((table, before), (before, table)):
            if child.relation is not None or child.parent is None:
                continue
            known = {parent.domain(column): column for column in (*parent.columns, *parent.identifiers)}
            on = [(own, known.get(child.domain(own), "")) for own, _ in child.parent.on]
            if all(of for _, of in on):
                pairs = on if child is table else [(of, own) for own, of in on]
                return " AND ".join(f"{_write(other, of)} = {_write(name, own)}" for own, of in pairs)
    first, unit = next(((other, before.owner) for other, before in others.items() if before.owner), ("", ""))
    return f"{_write(first, unit or '')} = {_write(name, table.owner or '')}"


def write_table(table: Table, name: str) -> str:
    """Return a table as it stands among others after FROM."""
    if table.names:  # of tables that are joined
        return f"(SELECT * FROM {table.text}) AS {quote_name(name)}"
    if table.relation is None:
        return write_alias(table.name, name)
    return replace(table.relation, name=name).source


def _write(table: str, column: str) -> str:
    """Return a column with the table that it is of."""
    return f"{quote_name(table)}.{quote_name(column)}"


def write_alias(table: str, name: str) -> str:
    """Return the name of a table, and what the question calls it."""
    return quote_name(table) if table == name else f"{quote_name(table)} AS {quote_name(name)}"
