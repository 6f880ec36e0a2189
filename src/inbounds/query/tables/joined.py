"""Rows of a private table joined to rows of the same unit or to public ones, and kept if others are there, or not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Column, Keys
from inbounds.query.columns.identifier import UNIT, Domain, Identifier
from inbounds.query.tables.joining import Join, JoinPublic, tie, write_table
from inbounds.query.tables.table import ROW, Table


@dataclass(frozen=True, eq=False)
class Joined:
    """Rows of a private table, joined to those of other tables, and kept if there are some of others or none."""

    name: str
    """What the first table is called in the question."""
    first: Table
    joins: tuple[Join | JoinPublic, ...]
    """At least one."""
    is_clipped_by_limit = False

    def __post_init__(self) -> None:
        # A relation is built join by join, so what is wrong is wrong with the last one.
        names = [self.name, *(join.name for join in self.joins)]
        if len(set(names)) < len(names):
            raise InvalidQuestion(f"{names[-1]} is used twice; give it another name with AS")
        labels = [label for columns in self.names.values() for label in columns.values()]
        if self.unit in self.columns or len(set(labels)) < len(labels):
            raise InvalidQuestion(f"a column of {names[-1]} has the name of another one; give that table another name")
        join = self.joins[-1]
        if isinstance(join, JoinPublic):
            join.public.codes_for(self.key_of(join))
            return
        if not join.is_public and (self.unit is None or join.owner is None):
            raise InvalidQuestion(
                f"each row of {self.first.name} is a unit of its own, so no other private row belongs to it; join "
                "public tables only"
            )
        if join.is_public and self.unit is None and not join.semi and not join.is_unique:
            key = f"on its key {', '.join(join.key)}" if join.key else "by a key, and it has none"
            raise InvalidQuestion(
                f'with unit = "row" a row must join at most one row of {join.name}: join it {key}; or name the column '
                "that tells whose rows they are as the unit"
            )
        if not self.is_tied(join):
            raise InvalidQuestion(f"a row of this join could belong to two units; {self.why_not_tied(join)}")

    # Whose rows they are.

    def is_tied(self, join: Join) -> bool:
        """Return whether what a private table is joined by says that both rows are of one unit."""
        if join.is_public or join.by_unit:
            return True
        return any(tie <= self._shared(join) for tie in self._ties(join))

    def _ties(self, join: Join) -> set[frozenset[Domain]]:
        return set().union(join.ties, *(table.ties for table in self.private_tables.values()))

    def _shared(self, join: Join) -> frozenset[Domain]:
        """Return the domains in which the rows that a join matches are equal."""
        same = [pair for pair in join.pairs if pair.operator == "="]
        pairs = [
            (self.private_tables[pair.to].domain(pair.left), join.domain(pair.right))
            for pair in same
            if self._holds(pair.to)
        ]
        return frozenset(left for left, right in pairs if left == right)

    def _holds(self, name: str) -> bool:
        return name in self.private_tables

    @cached_property
    def private_tables(self) -> dict[str, Table]:
        """The private tables that are joined, by what they are called."""
        tables = {self.name: self.first}
        joins = (join for join in self.joins if isinstance(join, Join))
        tables.update((join.name, join.private) for join in joins if join.private is not None)
        return tables

    def compares_owner(self, join: Join) -> bool:
        """Return whether a private table must tell whose rows they are, and units are compared.

        A row that refers to a row of a unit is of that unit, so one that is joined along its reference needs no look at
        the table that it refers to: whoever owns what both refer to owns both.  Anything else is compared: a key, which
        should be there once, may be there for two units.
        """
        table = join.private
        if table is None:
            return False
        if table.relation is not None or table.parent is None or join.by_unit:
            return True
        return not any(self._holds_reference(join, table, name) for name in self.private_tables)

    def _holds_reference(self, join: Join, table: Table, name: str) -> bool:
        """Return whether one row of a table before is what rows of another refer to, or refers to the same, as it is.

        Parts of a reference that come from two rows refer to what nobody here need own, and so do values that are
        clipped before they are compared.  A table farther up does not do: rows in between may be there for others,
        or not at all.
        """
        left, parent = self.private_tables[name], table.parent
        assert parent is not None
        if left.relation is not None:
            return False  # whose columns may be of two rows, or refer to what those refer to
        if left.name == parent.table.name:
            refers = {of: of for _, of in parent.on}
        elif left.parent is not None and left.parent.table.name == parent.table.name:
            refers = dict(left.parent.on)
        else:
            return False
        matched = {
            (pair.right, refers.get(pair.left))
            for pair in join.pairs
            if (pair.to, pair.operator) == (name, "=")
            and pair.left not in left.columns
            and pair.right not in table.columns
        }
        return matched >= set(parent.on)

    def why_not_tied(self, join: Join) -> str:
        """Say what would tie a private table to a unit."""
        assert join.private is not None
        others = {name: table for name, table in self.private_tables.items() if name != join.name}
        return f"join it ON {tie(join.name, join.private, others)}"

    # Columns.

    def key_of(self, join: JoinPublic) -> Column:
        """Return the column that a public table is joined to."""
        before = {name: columns for name, columns, _ in self._parts() if name != join.name}
        key = before.get(join.to, {}).get(join.on)
        if key is None:
            raise InvalidQuestion(
                f"{join.to} has no column {join.on} to join {join.name} to; name one that the contract describes"
            )
        return key

    @property
    def unit(self) -> str | None:
        """The column that tells whose row it is, None if each is a unit of its own."""
        return self.first.owner

    @property
    def ties(self) -> set[frozenset[Domain]]:
        """What two rows must have in common to be of one unit."""
        return set().union(*(table.ties for table in self.private_tables.values()))

    @cached_property
    def names(self) -> dict[str, dict[str, str]]:
        """For each table as it is called: what the joined table calls its columns, by both names if need be."""
        parts = {table: (*columns, *identifiers) for table, columns, identifiers in self._parts()}
        others = [one for _, _, identifiers in self._parts() for one in identifiers.items() if one[1].domain != UNIT]
        all_names = [name for names in parts.values() for name in names]
        all_names += [name for name, _ in others if name == self.unit]  # which is no column's name
        labels = {
            table: {name: name if all_names.count(name) == 1 else f"{table}.{name}" for name in names}
            for table, names in parts.items()
        }
        for join in self.joins:  # what is only looked for is called by both names, and seen by its own condition
            if isinstance(join, Join) and join.semi:
                labels[join.name] = {name: f"{join.name}.{name}" for name in (*join.columns, *join.identifiers)}
        return labels

    @cached_property
    def matched(self) -> dict[str, str]:
        """The private tables that a row may have no match in, by what their units are called."""
        taken = {*self.columns, *self.identifiers}
        joins = [join for join in self.joins if isinstance(join, Join) and join.keep and join.private is not None]
        return {label: join.name for join in joins if (label := f"{join.name}.{join.owner}") not in taken}

    @cached_property
    def merged(self) -> dict[str, str]:
        """What columns are called by which tables are joined that have the same name for them: those of the first."""
        names = {name for columns in self.names.values() for name in columns}
        holders = {
            name: [table for table, columns, others in self._parts() if name in (*columns, *others)] for name in names
        }
        equal = {
            (join.name, pair.right, pair.to)
            for join in self.joins
            if isinstance(join, Join)
            for pair in join.pairs
            if pair.left == pair.right and pair.operator == "="
        }
        return {
            name: self.names[tables[0]][name]
            for name, tables in holders.items()
            if len(tables) > 1
            and all(
                any((other, name, to) in equal for to in tables[:place]) for place, other in enumerate(tables) if place
            )
        }

    def _parts(self) -> Iterator[tuple[str, Mapping[str, Column], Mapping[str, Identifier]]]:
        """Yield the tables whose columns can be asked about."""
        yield self.name, self.first.columns, self.first.identifiers
        for join in self.joins:
            if isinstance(join, JoinPublic) or not join.semi:
                yield join.name, join.columns, join.identifiers

    @cached_property
    def columns(self) -> dict[str, Column]:
        """The columns of all tables."""
        return {
            self.names[table][name]: _rename(column, self.names[table])
            for table, columns, _ in self._parts()
            for name, column in columns.items()
        }

    @cached_property
    def identifiers(self) -> dict[str, Identifier]:
        """The identifiers of all tables."""
        return {
            self.names[table][name]: replace(identifier, name=self.names[table][name])
            for table, _, identifiers in self._parts()
            for name, identifier in identifiers.items()
        }

    def scope(self, join: Join) -> Table:
        """Return what the condition of a join is about: the columns of all tables, and of one that is looked for."""
        table = self.table
        if not join.semi:
            return table
        names = self.names[join.name]
        columns = {names[name]: _rename(column, names) for name, column in join.columns.items()}
        identifiers = {
            names[name]: replace(identifier, name=names[name]) for name, identifier in join.identifiers.items()
        }
        return replace(
            table, columns={**table.columns, **columns}, identifiers={**table.identifiers, **identifiers}, parent=None
        )

    @cached_property
    def table(self) -> Table:
        """What can be asked of the rows: one for each unit if no table has more, and else with the greatest limit."""
        one_each = all(table.rows_are_units for table in self.parts) and all(
            isinstance(join, JoinPublic) or join.semi or not join.is_public or join.is_unique for join in self.joins
        )
        unit = ROW if one_each or self.unit is None else self.unit
        limit = max(table.limit for table in self.parts)
        return Table(self.name, unit, limit, self.columns, relation=self, identifiers=self.identifiers)

    def limit_of(self, labels: Collection[str]) -> int:
        """Return how many different values some columns have together in the rows of a unit, by the tables' limits."""
        places = {label: name for name, names in self.names.items() for label in names.values()}
        holders = {places.get(label, "") for label in labels}
        if not holders <= set(self.private_tables):  # what is public, or looked at as it is, may be of any
            return self.table.limit
        # Beside the rows that match there may be one in which all of the table is missing.
        unmatched = {join.name for join in self.joins if isinstance(join, Join) and join.keep and join.looks_further}
        return prod(self.private_tables[name].limit + (name in unmatched) for name in holders)

    @property
    def parts(self) -> list[Table]:
        """The private tables whose rows are joined."""
        joins = [join for join in self.joins if isinstance(join, Join) and not join.semi]
        return [self.first, *(join.private for join in joins if join.private is not None)]

    @property
    def looked_at(self) -> list[Table]:
        """The private tables that rows are only looked for in."""
        joins = [join for join in self.joins if isinstance(join, Join) and join.semi]
        return [join.private for join in joins if join.private is not None]

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

    @property
    def source(self) -> str:
        """What stands after FROM."""
        joins = [self._write_join(join) for join in self.joins if not join.semi]
        return " ".join([write_table(self.first, self.name), *joins])

    @property
    def tests(self) -> list[str]:
        """What stands after WHERE: which rows are looked for."""
        return [self._write_join(join) for join in self.joins if join.semi]

    def _write_join(self, join: Join | JoinPublic) -> str:
        places = {label: (table, own) for table, names in self.names.items() for own, label in names.items()}
        return join.text(self.name, self.unit or "", places, is_of_others=self.first.parent is not None)


def _rename(column: Column, names: Mapping[str, str]) -> Column:
    if isinstance(column, Keys) and column.within is not None:
        return replace(column, name=names[column.name], within=names[column.within])
    return column.as_stored(names[column.name])
