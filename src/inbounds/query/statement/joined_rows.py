"""Rows that are joined, in SQL: by units, identifiers or codes; and rows that stay if others are there, or are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.alignment import align
from inbounds.query.columns.column import Column, Key, Keys, Numbers
from inbounds.query.columns.derived_column import DerivedKeys
from inbounds.query.columns.kind import TEXT_KEY, TRUTH_KEY
from inbounds.query.engines.engine import Dialect, Engine, Kind
from inbounds.query.expressions.condition import And, Condition, join_conditions
from inbounds.query.expressions.node import ColumnRef, Node
from inbounds.query.expressions.raw import Raw
from inbounds.query.statement.codes import Codes, key_constant
from inbounds.query.statement.conditions import build_condition
from inbounds.query.statement.expressions import (
    Expression,
    case,
    code_name,
    column,
    grouped,
    named,
    present,
    raw_name,
    whole,
)
from inbounds.query.statement.sieve import narrow
from inbounds.query.statement.wanted import (
    KEY,
    Wanted,
    alias_column,
    column_of,
    in_order,
    owner_of,
    raw_column,
    stored_nodes,
)
from inbounds.query.tables.column_types import IDENTIFIERS
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import Join, JoinPublic, Pair
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.table import Table

MOST_VALUES = 10_000
"""So many whole numbers are listed, to see whether each of them is a key."""


class RowReader(Protocol):
    """Reads the rows of any table."""

    @property
    def dialect(self) -> Dialect:
        """How the engine that runs the statement writes what engines do not share."""

    @property
    def engines(self) -> Mapping[str, Engine]:
        """The engines of the tables, by their names."""

    def select(self, table: Table | PublicTable, wanted: Wanted) -> exp.Select:
        """Return the rows of a table: whose they are, and what is wanted of them."""

    def unit_kind(self, table: Table) -> Kind | None:
        """Return what the unit of a table is."""

    def raw_kind(self, table: Table | PublicTable, name: str) -> Kind | None:
        """Return what a column holds as it is, None if it is there as an integer only."""

    def match(
        self,
        left: tuple[Expression, Kind | None],
        right: tuple[Expression, Kind | None],
        what: str,
        operator: str = "=",
    ) -> Expression:
        """Return whether two identifiers are the same."""


@dataclass(frozen=True)
class JoinedReader:
    """Writes rows that are joined: each table has a place, the first `j0`, and the others `j1`, `j2` and so on."""

    reader: RowReader
    relation: Joined

    @cached_property
    def places(self) -> dict[str, str]:
        """Where each table is, by what it is called."""
        return {
            table: f"j{i}" for i, table in enumerate([self.relation.name, *(join.name for join in self.relation.joins)])
        }

    @cached_property
    def _origins(self) -> dict[str, tuple[str, str]]:
        """The table and the column there, by what the joined table calls it."""
        return {label: (table, own) for table, names in self.relation.names.items() for own, label in names.items()}

    def _own(self, node: Node) -> tuple[str, Node]:
        """Return the table that a stored column is of, and what it is there."""
        table, own = self._origins[node.column if isinstance(node, ColumnRef | Raw) else node.name]
        return table, replace(node, column=own) if isinstance(node, Raw) else ColumnRef(own)

    def _place(self, node: Node) -> Expression:
        """Return the code of a stored column where it is; whether a row has a match is told by the unit of that."""
        join = self._matched(node)
        if join is not None:
            return case([(present(column_of(self.places[join.name], join.owner or "")), whole(0))])
        table, own = self._own(node)
        return column_of(self.places[table], code_name(own.name))

    def _matched(self, node: Node) -> Join | None:
        """Return the join of which a column says whether a row has a match in it; None for any other column."""
        name = self.relation.matched.get(node.column) if isinstance(node, Raw) else None
        return next((join for join in self.relation.joins if isinstance(join, Join) and join.name == name), None)

    def select(self, wanted: Wanted) -> exp.Select:
        """Return the joined rows."""
        relation = self.relation
        needs = self._needs(wanted)
        shown = [alias_column(self._place(node), code_name(node.name)) for node in in_order(wanted.codes)]
        for label in sorted(wanted.raws):
            table, own = self._origins[label]
            shown.append(alias_column(column_of(self.places[table], raw_name(own)), raw_name(label)))
        unit = [alias_column(column_of("j0", relation.unit), relation.unit)] if relation.unit is not None else []
        select = exp.select(*unit, *(shown if shown or unit else [named(whole(1), "one")]))
        first = self.reader.select(relation.first, needs[relation.name])
        select = select.from_(first.subquery("j0", copy=False), copy=False)
        for join in relation.joins:
            place = self.places[join.name]
            if isinstance(join, JoinPublic):
                names = sorted(node.name for node in needs[join.name].codes)
                other = self._list_public_rows(join, names, place)
                same = self._match_key(join)
            else:
                other, same = self._read_join(join, needs[join.name]).subquery(place, copy=False), self._match(join)
                if join.semi:
                    found = exp.select(named(whole(1), "one")).from_(other, copy=False).where(same, copy=False)
                    test = exp.Exists(this=found)
                    select = select.where(test if join.semi == "EXISTS" else exp.Not(this=test), copy=False)
                    continue
            select = select.join(other, on=same, join_type="left" if join.keep else "inner", copy=False)
        return select

    def _needs(self, wanted: Wanted) -> dict[str, Wanted]:
        """Return what is wanted of each table: what is shown, what rows are matched by, and what conditions look at."""
        relation = self.relation
        codes: dict[str, set[Node]] = {table: set() for table in self.places}
        raws: dict[str, set[str]] = {table: set() for table in self.places}
        matched: dict[str, set[str]] = {table: set() for table in self.places}
        joins = [join for join in relation.joins if isinstance(join, Join)]
        named = {
            place for join in joins for pair in join.pairs for place in ((pair.to, pair.left), (join.name, pair.right))
        }
        owners = {
            join.name: relation.compares_owner(join) or any((join.name, unit) in named for unit in owner_of(join.table))
            for join in joins
        }

        def add_code(node: Node) -> None:
            join = self._matched(node)
            if join is not None:
                owners[join.name] = True
            else:
                table, own = self._own(node)
                codes[table].add(own)

        for node in wanted.codes:
            add_code(node)
        for label in wanted.raws:
            table, name = self._origins[label]
            raws[table].add(name)
            if label in wanted.matched:
                matched[table].add(name)
        for join in relation.joins:
            if isinstance(join, JoinPublic):
                is_plain = plain_keys(relation, join) is not None
                if is_plain:
                    raws[join.to].add(join.on)
                    matched[join.to] |= set() if join.keep else {join.on}
                else:
                    codes[join.to].add(ColumnRef(join.on))
                continue
            for pair in join.pairs:
                if self._is_raw(join, pair):
                    raws[pair.to] |= (left := {pair.left} - owner_of(self._table(pair.to)))
                    raws[join.name] |= (right := {pair.right} - owner_of(join.table))
                    matched[join.name] |= right
                    if join.drops:
                        matched[pair.to] |= left
                    codes[pair.to] |= {ColumnRef(pair.left)} if self._is_guarded(join, pair) else set()
                else:
                    self._refuse_unlisted(join, pair)
                    codes[pair.to].add(ColumnRef(pair.left))
                    codes[join.name].add(ColumnRef(pair.right))
            for node in self._condition_nodes(join):
                add_code(node)
        known = {
            table: frozenset(name for name, label in relation.names.get(table, {}).items() if label in wanted.known)
            for table in self.places
        }
        return {
            table: Wanted(
                frozenset(codes[table]),
                frozenset(raws[table]),
                known[table],
                frozenset(matched[table]),
                owners.get(table, True),
                self._narrow_test(table, wanted.test),
            )
            for table in self.places
        }

    def _narrow_test(self, table: str, test: Condition | None) -> Condition | None:
        """Return what rows of a table must be like, so that a joined row can meet a test, or so that they can match."""

        def own(node: Node) -> Node | None:
            place, name = self._origins.get(node.name, ("", ""))
            return ColumnRef(name) if isinstance(node, ColumnRef) and place == table else None

        matching = [join.condition for join in self.relation.joins if isinstance(join, Join) and join.name == table]
        there = [part for part in (narrow(test, own), *(narrow(on, own) for on in matching)) if part is not None]
        return join_conditions(And, *there) if there else None

    def _condition_nodes(self, join: Join) -> set[Node]:
        """Return the stored columns that the condition of a join looks at."""
        if join.condition is None:
            return set()
        return stored_nodes(self.relation.scope(join), join.condition.columns())

    def _read_join(self, join: Join, needs: Wanted) -> exp.Select:
        """Return the rows of a table that is joined; of a public one to rows that are not weighed, one for each key."""
        if not join.is_public or join.semi or not self.relation.table.rows_are_units:
            return self.reader.select(join.table, needs)
        rows = self.reader.select(join.table, replace(needs, test=None))
        # Its key is unique, as the contract says; rows that are not weighed must not be doubled even if it is not.
        matched = [pair for pair in join.pairs if pair.operator == "="]
        by = {raw_name(pair.right) if self._is_raw(join, pair) else code_name(pair.right) for pair in matched}
        names = [code_name(node.name) for node in in_order(needs.codes)] + [raw_name(raw) for raw in sorted(needs.raws)]
        others = [alias_column(exp.Min(this=column(name)), name) for name in names if name not in by]
        unique = exp.select(*map(column, sorted(by)), *others).from_(rows.subquery("k", copy=False), copy=False)
        return grouped(unique, len(by))

    # What rows are matched by.

    def _table(self, name: str) -> Table | PublicTable:
        if name == self.relation.name:
            return self.relation.first
        join = next(join for join in self.relation.joins if join.name == name)
        return join.public if isinstance(join, JoinPublic) else join.table

    def _is_raw(self, join: Join, pair: Pair) -> bool:
        """Return whether two columns are compared as they are: both are there, and of kinds that can be."""
        left, right = self._table(pair.to), join.table
        if any(isinstance(other, JoinPublic) and other.name == pair.to for other in self.relation.joins):
            return False  # a table of constants, which has codes only
        sides = (left, pair.left), (right, pair.right)
        if not self._is_guarded(join, pair) and not all(
            _is_as_it_is(*side, *other, pair.operator) for side, other in (sides, sides[::-1])
        ):
            return False
        kinds = {self.reader.raw_kind(left, pair.left), self.reader.raw_kind(right, pair.right)}
        return kinds <= set(IDENTIFIERS)

    def _is_guarded(self, join: Join, pair: Pair) -> bool:
        """Return whether listed keys are compared with those of a public table that has too many to list.

        They are compared as they are, and what is no listed key is missing, and matches nothing.
        """
        left, right = self._table(pair.to), join.table
        is_listed = isinstance(left, Table) and left.relation is None and isinstance(left.columns.get(pair.left), Keys)
        return is_listed and isinstance(right, PublicTable) and pair.right not in right.columns and pair.operator == "="

    def _refuse_unlisted(self, join: Join, pair: Pair) -> None:
        """Refuse to compare a column as an integer that has none."""
        for table, label, name in ((self._table(pair.to), pair.to, pair.left), (join.table, join.name, pair.right)):
            if name not in table.columns:
                raise InvalidQuestion(
                    f"{label}.{name} has more values than are listed, and can be joined only to a private column that "
                    f"stands before it, by =; begin with that table, as in FROM visits JOIN {label}"
                )

    def _match(self, join: Join) -> Expression:
        """Return whether rows match: the same unit, equal columns, and whatever else the question says."""
        tests = [self._match_units(join)] if self.relation.compares_owner(join) else []
        tests += [self._match_pair(join, pair) for pair in join.pairs]
        if join.condition is not None:
            tests.append(exp.paren(self._build_condition(join)))
        return exp.and_(*tests) if tests else exp.true()

    def _match_units(self, join: Join) -> Expression:
        relation, private = self.relation, join.private
        assert private is not None
        left = (column_of("j0", relation.unit or ""), self.reader.unit_kind(relation.first))
        right = (column_of(self.places[join.name], private.owner or ""), self.reader.unit_kind(private))
        return self.reader.match(left, right, "units")

    def _match_pair(self, join: Join, pair: Pair) -> Expression:
        left, right = self._table(pair.to), join.table
        places = self.places[pair.to], self.places[join.name]
        what = f"{pair.to}.{pair.left} and {join.name}.{pair.right}"
        if self._is_raw(join, pair):
            sides = (
                (raw_column(places[0], left, pair.left), self.reader.raw_kind(left, pair.left)),
                (raw_column(places[1], right, pair.right), self.reader.raw_kind(right, pair.right)),
            )
            same = self.reader.match(*sides, what, pair.operator)
            if not self._is_guarded(join, pair):
                return same
            return exp.and_(present(column_of(places[0], code_name(pair.left))), same)
        columns = [table.columns.get(name) for table, name in ((left, pair.left), (right, pair.right))]
        aligned = align(columns[0], columns[1]) if columns[0] is not None and columns[1] is not None else None
        if aligned is None:
            raise InvalidQuestion(f"{what} cannot hold the same values; join other columns")
        written = []
        for field, number, place in zip(columns, aligned, places, strict=True):
            assert field is not None
            codes = Codes(
                {field.name: field},
                {field.name: Kind.CODE},
                self.reader.dialect,
                {field.name: column_of(place, code_name(field.name))},
            )
            written.append(exp.paren(codes.wholes.code(number)))
        return (exp.EQ if pair.operator == "=" else exp.NEQ)(this=written[0], expression=written[1])

    def _build_condition(self, join: Join) -> Expression:
        assert join.condition is not None
        scope = self.relation.scope(join)
        columns = {node.name: scope.column(node) for node in join.condition.columns()}
        stored: dict[str, Column] = {}
        for field in columns.values():
            stored.update(field.stored)
        places = {name: self._place(field.node) for name, field in stored.items()}
        kinds = dict.fromkeys((*scope.columns, *scope.identifiers, *scope.matched), Kind.CODE)
        codes = Codes(columns, kinds, self.reader.dialect, places)
        return build_condition(join.condition, columns, codes.code)

    def _match_key(self, join: JoinPublic) -> Expression:
        """Return whether a row of a public table has the key of a row; texts are compared by their bytes."""
        keys = plain_keys(self.relation, join)
        own = code_name(join.on) if keys is None else raw_name(join.on)
        sides: list[Expression] = [column_of(self.places[join.to], own), column_of(self.places[join.name], KEY)]
        if keys is not None and keys.kind is TEXT_KEY:
            engine = self.reader.engines[self._table(join.to).name]
            sides = [engine.bytes_of(side) for side in sides]
        return exp.EQ(this=sides[0], expression=sides[1])

    def _list_public_rows(self, join: JoinPublic, needed: list[str], place: str) -> Expression:
        """Return the rows of a public table that can match, as constants: the key, and the codes of what is needed."""
        at = [list(join.public.columns).index(name) for name in needed]
        keys = plain_keys(self.relation, join)
        tuples = []
        for code, codes in join.public.codes_for(self.relation.key_of(join)).items():
            key = whole(code) if keys is None else key_constant(keys.keys[code], self.reader.dialect)
            tuples.append(exp.Tuple(expressions=[key, *(code_constant(codes[i]) for i in at)]))
        names = [exp.to_identifier(name, quoted=True) for name in (KEY, *map(code_name, needed))]
        return exp.Values(expressions=tuples, alias=exp.TableAlias(this=exp.to_identifier(place), columns=names))


def _is_as_it_is(
    table: Table | PublicTable, name: str, other: Table | PublicTable, other_name: str, operator: str
) -> bool:
    """Return whether a column may be compared as it is: what is no key in it is missing, and must match nothing."""
    column = table.columns.get(name)
    if isinstance(table, PublicTable) or column is None:
        return True
    values = _public_values(other, other_name) if isinstance(other, PublicTable) else None
    return operator == "=" and isinstance(column, Keys) and values is not None and values <= set(column.keys)


def _public_values(table: PublicTable, name: str) -> set[Key] | None:
    """Return what a column of a public table can hold, as it is: its only key, or whole numbers; None if not known.

    Its bounds are those of its values, unless the contract gives narrower ones; then it matches as it is, too.
    """
    if table.key == (name,) and table.key_values:
        return set(table.key_values)
    column = table.columns.get(name)
    is_whole = isinstance(column, Numbers) and column.step == 1 and column.low.denominator == 1
    if not isinstance(column, Numbers) or not is_whole or not column.kind.adds_up or column.steps > MOST_VALUES:
        return None
    return set(range(int(column.low), int(column.high) + 1))


def plain_keys(relation: Joined, join: JoinPublic) -> Keys | None:
    """Return the keys that a public table is joined by, if a table holds them as they are; else None.

    To look such a key up takes a hash; its place in the list would take as many comparisons as there are keys.
    """
    table, keys = relation.private_tables.get(join.to), relation.key_of(join)
    if table is None or table.relation is not None or not isinstance(keys, Keys) or isinstance(keys, DerivedKeys):
        return None
    return None if keys.kind is TRUTH_KEY else keys


def code_constant(code: int | None) -> Expression:
    """Return a code as a constant."""
    return exp.cast(exp.Null(), "BIGINT") if code is None else whole(code)
