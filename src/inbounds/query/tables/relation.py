"""Tables made of tables: one row for each unit, and rows joined to the rows of the same unit or to public ones.

Privacy follows the unit.  A row of each of these tables is a function of one unit's rows in the contract's private
tables and of public tables, so it belongs to that unit, and rows are weighed by unit as they are in a table of the
contract (docs/proofs.md).  What is asked of such a table is asked of a `Table` like any other, with `relation` set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Column, Keys
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import quote_name
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.table import ROW, Table
from inbounds.query.tables.unit_measure import UnitColumn, UnitMeasure


@dataclass(frozen=True, eq=False)
class UnitRows:
    """One row for each unit that has rows, made of all of them."""

    name: str
    of: Table
    measures: Mapping[str, UnitMeasure]
    condition: Condition | None = None

    def __post_init__(self) -> None:
        if self.unit is None:
            raise InvalidQuestion(
                f"each row of {self.of.name} is a unit of its own, so there is nothing to group; query "
                f"{self.of.name} directly"
            )
        if self.unit in self.measures:
            raise InvalidQuestion(f"{self.unit} is the unit; choose another name for the derived column")

    @property
    def unit(self) -> str | None:
        """The column that tells whose row it is."""
        return self.of.owner

    @cached_property
    def columns(self) -> dict[str, UnitColumn]:
        """What is made of the rows of a unit."""
        return {name: UnitColumn(name, measure, self.of) for name, measure in self.measures.items()}

    @cached_property
    def table(self) -> Table:
        """What can be asked of the rows."""
        columns: dict[str, Column] = {name: column.numbers for name, column in self.columns.items()}
        units = self.of.units if self.condition is None and self.of.relation is None else None
        return Table(self.name, ROW, 1, columns, units, relation=self)

    def describe(self) -> list[str]:
        """Say what the columns are."""
        return [column.description for column in self.columns.values()]

    @property
    def parts(self) -> list[Table]:
        """The private tables that it is made of."""
        return [self.of]

    @property
    def is_clipped_by_limit(self) -> bool:
        """Whether it has numbers that are clipped to what the contract's limit of rows can give."""
        return any(column.is_clipped_by_limit for column in self.columns.values())

    def __str__(self) -> str:
        unit = quote_name(self.unit or "")
        measures = "".join(f", {measure} AS {quote_name(name)}" for name, measure in self.measures.items())
        where = "" if self.condition is None else f" WHERE {self.condition}"
        return f"(SELECT {unit}{measures} FROM {self.of.text}{where} GROUP BY {unit}) AS {quote_name(self.name)}"


@dataclass(frozen=True, eq=False)
class JoinOnUnit:
    """A private table, each of whose rows joins the rows of the same unit."""

    name: str
    """What it is called in the question."""
    table: Table
    keep: bool = False
    """Whether rows without a match stay, with everything of this table missing."""

    @property
    def columns(self) -> Mapping[str, Column]:
        """The columns that it adds."""
        return self.table.columns

    def text(self, unit: str) -> str:
        """Return it in SQL, after tables of a unit."""
        own = self.table.owner
        on = (
            f"USING ({quote_name(unit)})"
            if own == unit
            else f"ON {quote_name(unit)} = {quote_name(self.name)}.{quote_name(own or '')}"
        )
        return f"{'LEFT ' * self.keep}JOIN {_write_table(self.table, self.name)} {on}"


@dataclass(frozen=True, eq=False)
class JoinPublic:
    """A public table, one row of which at most joins a row, by a key that is unique there."""

    name: str
    public: PublicTable
    to: str
    """The table whose rows it joins, as that is called in the question."""
    on: str
    """The column there that holds the key."""
    keep: bool = False
    """Whether rows without a match stay, with everything of this table missing."""

    @property
    def columns(self) -> Mapping[str, Column]:
        """The columns that it adds."""
        return self.public.columns

    def text(self, unit: str) -> str:
        """Return it in SQL, which no unit enters."""
        key = f"{quote_name(self.name)}.{quote_name(self.public.key)}"
        to = f"{quote_name(self.to)}.{quote_name(self.on)}"
        return f"{'LEFT ' * self.keep}JOIN {_write_alias(self.public.name, self.name)} ON {to} = {key}"


@dataclass(frozen=True, eq=False)
class Joined:
    """Rows of a private table, joined to those of other tables."""

    name: str
    """What the first table is called in the question."""
    first: Table
    joins: tuple[JoinOnUnit | JoinPublic, ...]
    """At least one."""
    is_clipped_by_limit = False

    def __post_init__(self) -> None:
        # A relation is built join by join, so what is wrong is wrong with the last one.
        names = [self.name, *(join.name for join in self.joins)]
        if len(set(names)) < len(names):
            raise InvalidQuestion(f"{names[-1]} is used twice; give it another name with AS")
        if self.unit in self.columns or len(self.columns) < sum(len(columns) for _, columns in self._parts()):
            raise InvalidQuestion(f"a column of {names[-1]} has the name of another one; give that table another name")
        join = self.joins[-1]
        if isinstance(join, JoinOnUnit) and (self.unit is None or join.table.owner is None):
            raise InvalidQuestion(
                f"each row of {self.first.name} is a unit of its own, so no other private row belongs to it; join "
                "public tables only"
            )
        if isinstance(join, JoinPublic):
            join.public.codes_for(self.key_of(join))

    def key_of(self, join: JoinPublic) -> Column:
        """Return the column that a public table is joined to."""
        before = [(name, columns) for name, columns in self._parts() if name != join.name]
        key = dict(before).get(join.to, {}).get(join.on)
        if key is None:
            raise InvalidQuestion(
                f"{join.to} has no column {join.on} to join {join.name} to; name one that the contract describes"
            )
        return key

    @property
    def unit(self) -> str | None:
        """The column that tells whose row it is, None if each is a unit of its own."""
        return self.first.owner

    @cached_property
    def names(self) -> dict[str, dict[str, str]]:
        """For each table as it is called: what the joined table calls its columns, by both names if need be."""
        parts = dict(self._parts())
        all_names = [name for columns in parts.values() for name in columns]
        return {
            table: {name: name if all_names.count(name) == 1 else f"{table}.{name}" for name in columns}
            for table, columns in parts.items()
        }

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The columns of all tables."""
        return {
            self.names[table][name]: _rename(column, self.names[table])
            for table, columns in self._parts()
            for name, column in columns.items()
        }

    def _parts(self) -> Iterator[tuple[str, Mapping[str, Column]]]:
        yield self.name, self.first.columns
        for join in self.joins:
            yield join.name, join.columns

    @cached_property
    def table(self) -> Table:
        """What can be asked of the rows: one for each unit if no table has more, and else with the greatest limit."""
        one_each = all(table.rows_are_units for table in self.parts)
        unit = ROW if one_each or self.unit is None else self.unit
        return Table(self.name, unit, max(table.limit for table in self.parts), self.columns, relation=self)

    @property
    def parts(self) -> list[Table]:
        """The private tables that it is made of."""
        return [self.first, *(join.table for join in self.joins if isinstance(join, JoinOnUnit))]

    def describe(self) -> list[str]:
        """Say whose rows they are, and what was made of rows."""
        lines = [line for table in self.parts if table.relation is not None for line in table.relation.describe()]
        public = [
            f"{self.names[join.name][name]} follows from {join.to}.{join.on}, by the public table {join.public.name}"
            for join in self.joins
            if isinstance(join, JoinPublic)
            for name in join.public.columns
        ]
        return [*lines, *public]

    def __str__(self) -> str:
        joins = (join.text(self.unit or "") for join in self.joins)
        return " ".join([_write_table(self.first, self.name), *joins])


Relation = UnitRows | Joined


def base_tables(table: Table) -> set[str]:
    """Return the names of the contract's private tables that a table is made of."""
    if table.relation is None:
        return {table.name}
    return {name for part in table.relation.parts for name in base_tables(part)}


def is_clipped_by_limit(table: Table) -> bool:
    """Return whether a table has numbers of units that are clipped to what the contract's limit of rows can give."""
    relation = table.relation
    return relation is not None and (relation.is_clipped_by_limit or any(map(is_clipped_by_limit, relation.parts)))


def _rename(column: Column, names: Mapping[str, str]) -> Column:
    if isinstance(column, Keys) and column.within is not None:
        return replace(column, name=names[column.name], within=names[column.within])
    return column.as_stored(names[column.name])


def _write_table(table: Table, name: str) -> str:
    return table.text if table.relation is not None else _write_alias(table.name, name)


def _write_alias(table: str, name: str) -> str:
    return quote_name(table) if table == name else f"{quote_name(table)} AS {quote_name(name)}"
