"""Tables made of tables: rows joined to rows of the same unit or to public ones, grouped within a unit, or computed.

Privacy follows the unit.  A row of each of these tables is a function of one unit's rows in the contract's private
tables and of public tables, so it belongs to that unit, and rows are weighed by unit as they are in a table of the
contract (docs/proofs.md).  What is asked of such a table is asked of a `Table` like any other, with `relation` set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import ClassVar

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Column
from inbounds.query.columns.identifier import Domain
from inbounds.query.expressions.condition import And, Condition, Missing, Not, Or, join_conditions
from inbounds.query.expressions.node import ColumnRef, Node, quote_name
from inbounds.query.expressions.raw import Raw
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import Join
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.table import ROW, Table
from inbounds.query.tables.unit_measure import UnitColumn, UnitMeasure


@dataclass(frozen=True, eq=False)
class UnitRows:
    """One row for each unit that has rows, or for each of its groups, made of all rows of it."""

    name: str
    of: Table
    measures: Mapping[str, UnitMeasure]
    condition: Condition | None = None
    keys: Mapping[str, Node] = field(default_factory=dict)
    """The columns that the rows of a unit are grouped by, under the names that they get."""
    identifiers: Mapping[str, str] = field(default_factory=dict)
    """The identifiers that they are grouped by, under the names that they get."""
    having: Condition | None = None
    """What a row must meet once it is made."""
    unit_name: str | None = None
    """What the unit is called from here on, if not as before."""
    names: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    matched: ClassVar[Mapping[str, str]] = {}
    tests: ClassVar[Sequence[str]] = ()

    def __post_init__(self) -> None:
        if self.unit is None:
            raise InvalidQuestion(
                f"each row of {self.of.name} is a unit of its own, so there is nothing to group; query "
                f"{self.of.name} directly"
            )
        if self.unit in {*self.measures, *self.keys, *self.identifiers}:
            raise InvalidQuestion(f"{self.unit} is the unit; choose another name for the derived column")

    @property
    def unit(self) -> str | None:
        """The column that tells whose row it is."""
        return self.unit_name or self.of.owner

    @cached_property
    def columns(self) -> dict[str, UnitColumn]:
        """What is made of the rows of a unit."""
        return {name: UnitColumn(name, measure, self.of) for name, measure in self.measures.items()}

    @cached_property
    def table(self) -> Table:
        """What can be asked of the rows."""
        columns: dict[str, Column] = {name: self.of.column(node).as_stored(name) for name, node in self.keys.items()}
        columns.update((name, made.column) for name, made in self.columns.items())
        if self.keys or self.identifiers:
            identifiers = {name: replace(self.of.identifiers[own], name=name) for name, own in self.identifiers.items()}
            return Table(self.name, self.unit or "", self.limit, columns, relation=self, identifiers=identifiers)
        all_units = self.condition is None and self.having is None and self.of.is_stored
        return Table(self.name, ROW, 1, columns, self.of.units if all_units else None, relation=self)

    @property
    def limit(self) -> int:
        """How many rows of a unit count in full: as many as it has groups, if its tables keep to their limits."""
        of, keys = self.of, [self.of.column(node) for node in self.keys.values()]
        most = [of.limit]
        if not self.identifiers:
            most.append(prod(key.size + 1 for key in keys))  # a key may be missing
        if isinstance(of.relation, Joined):
            stored = {name for key in keys for name in key.stored}
            most.append(of.relation.limit_of({*self.identifiers.values(), *stored}))
        return min(most)

    @property
    def ties(self) -> set[frozenset[Domain]]:
        """What two rows must have in common to be of one unit."""
        return self.of.ties

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

    @property
    def source(self) -> str:
        """What stands after FROM."""
        owner, unit = quote_name(self.of.owner or ""), quote_name(self.unit or "")
        unit = owner if unit == owner else f"{owner} AS {unit}"
        keys = [f"{node} AS {quote_name(name)}" if node.name != name else str(node) for name, node in self.keys.items()]
        keys += [
            quote_name(own) if own == name else f"{quote_name(own)} AS {quote_name(name)}"
            for name, own in self.identifiers.items()
        ]
        measures = "".join(f", {measure} AS {quote_name(name)}" for name, measure in self.measures.items())
        by = ", ".join([owner, *map(str, self.keys.values()), *map(quote_name, self.identifiers.values())])
        having = "" if self.having is None else f" HAVING {self.having}"
        rows = self.of.write(self.condition)
        select = f"SELECT {', '.join([unit, *keys])}{measures} FROM {rows} GROUP BY {by}{having}"
        return f"({select}) AS {quote_name(self.name)}"


@dataclass(frozen=True, eq=False)
class Projected:
    """Rows of a table that meet a condition, with columns computed of them."""

    name: str
    of: Table
    columns: Mapping[str, Node]
    identifiers: Mapping[str, str] = field(default_factory=dict)
    """The identifiers that are kept, under the names that they get."""
    condition: Condition | None = None
    unit_name: str | None = None
    """What the unit is called from here on, if not as before."""
    is_clipped_by_limit = False
    names: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    matched: ClassVar[Mapping[str, str]] = {}
    tests: ClassVar[Sequence[str]] = ()

    def __post_init__(self) -> None:
        if self.unit is not None and (
            self.unit in self.columns or self.identifiers.get(self.unit, self.of.owner) != self.of.owner
        ):
            raise InvalidQuestion(f"{self.unit} is the unit; choose another name for the derived column")

    @property
    def unit(self) -> str | None:
        """The column that tells whose row it is."""
        return self.unit_name or self.of.owner

    @cached_property
    def table(self) -> Table:
        """What can be asked of the rows."""
        columns = {name: self.of.column(node).as_stored(name) for name, node in self.columns.items()}
        identifiers = {name: replace(self.of.identifiers[own], name=name) for name, own in self.identifiers.items()}
        unit = ROW if self.of.rows_are_units else self.unit or ROW
        return Table(self.name, unit, self.of.limit, columns, relation=self, identifiers=identifiers)

    @property
    def ties(self) -> set[frozenset[Domain]]:
        """What two rows must have in common to be of one unit."""
        return self.of.ties

    @property
    def parts(self) -> list[Table]:
        """The private tables that it is made of."""
        return [self.of]

    def describe(self) -> list[str]:
        """Say what rows are made of."""
        return [] if self.of.relation is None else self.of.relation.describe()

    @property
    def source(self) -> str:
        """What stands after FROM."""
        named = [*self.columns.items(), *((name, ColumnRef(own)) for name, own in self.identifiers.items())]
        selected = [str(node) if node.name == name else f"{node} AS {quote_name(name)}" for name, node in named]
        owner, own = self.of.owner, self.unit
        unit = [] if owner is None or own is None else [quote_name(owner) + (f" AS {quote_name(own)}" * (own != owner))]
        rows = self.of.write(self.condition)
        return f"(SELECT {', '.join([*unit, *selected])} FROM {rows}) AS {quote_name(self.name)}"


def identified(of: Table, names: Sequence[str], where: Condition | None) -> Condition | None:
    """Return what rows must meet that are grouped by what belongs to one unit: also that it is there.

    Rows without a key are nobody's stay or order, and would else be a group for each unit.  Where the unit is grouped
    by as well, they are a group of it; rows that refer to what they belong to have what they are grouped by anyway.
    """
    if of.owner is None or of.owner in names:
        return where
    by = {of.identifiers[name].domain: name for name in names if name in of.identifiers}
    ties = sorted(sorted(tie) for tie in of.ties if tie <= set(by))
    referred = {own for own, _ in of.parent.on} if of.relation is None and of.parent is not None else set[str]()
    if not ties or any({by[domain] for domain in tie} <= referred for tie in ties):
        return where
    present = [[Not(Missing(Raw(by[domain], "PRESENT"))) for domain in tie] for tie in ties]
    there = join_conditions(Or, *(join_conditions(And, *tests) for tests in present))
    return there if where is None else join_conditions(And, where, there)


Relation = UnitRows | Projected | Joined


def base_tables(table: Table) -> set[str]:
    """Return the names of the contract's private tables that a table is made of."""
    if table.relation is None:
        return {table.name} | (base_tables(table.parent.table) if table.parent is not None else set())
    names = {name for part in table.relation.parts for name in base_tables(part)}
    if isinstance(table.relation, Joined):
        names.update(name for part in table.relation.looked_at for name in base_tables(part))
    return names


def public_tables(table: Table) -> dict[str, PublicTable]:
    """Return the public tables that are read where they are."""
    relation, tables = table.relation, {}
    if relation is None:
        return {}
    parts = [*relation.parts, *(relation.looked_at if isinstance(relation, Joined) else ())]
    for part in parts:
        tables.update(public_tables(part))
    if isinstance(relation, Joined):
        joins = (join.table for join in relation.joins if isinstance(join, Join))
        tables.update((public.name, public) for public in joins if isinstance(public, PublicTable))
    return tables


def is_clipped_by_limit(table: Table) -> bool:
    """Return whether a table has numbers of units that are clipped to what the contract's limit of rows can give."""
    relation = table.relation
    return relation is not None and (relation.is_clipped_by_limit or any(map(is_clipped_by_limit, relation.parts)))
