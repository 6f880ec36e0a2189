"""What a statement selects from: a table of the contract as it is, or one that is made of tables, in integers.

The columns of the contract's tables are turned into integers first, clipped and on their lattice.  Everything else,
what is made of the rows of a unit and what rows are joined by, is made of these integers and of the unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Column, Key, Keys, Numbers
from inbounds.query.columns.derived_column import DerivedKeys, DerivedNumbers, stored_columns
from inbounds.query.engines.engine import Dialect, Engine, Kind
from inbounds.query.expressions.node import ColumnRef, Node
from inbounds.query.statement.codes import Codes
from inbounds.query.statement.conditions import true
from inbounds.query.statement.expressions import Expression, bigint, called, column, grouped, named, present, whole
from inbounds.query.statement.unit_rows import aggregate
from inbounds.query.tables.column_types import checked_kinds
from inbounds.query.tables.relation import Joined, JoinOnUnit, JoinPublic, UnitRows
from inbounds.query.tables.table import Table

JOINABLE = (Kind.INTEGER, Kind.TEXT, Kind.UUID)
"""What units can be joined by: none of these fails to be compared, as it is or as text, and equal ones are one unit."""


@dataclass(frozen=True)
class Reading:
    """Reads tables of a contract, each by its engine, in the dialect of the one that runs the statement."""

    engines: Mapping[str, Engine]
    dialect: Dialect

    def kinds(self, table: Table) -> dict[str, Kind]:
        """Return what each column of a table holds; refuse a database that does not fit the contract."""
        if table.relation is None:
            return checked_kinds(table, self.engines[table.name].kinds())
        self.unit_kind(table)
        if (table.owner or "").startswith(" "):
            raise InvalidQuestion(
                f"the unit {table.owner!r} begins with a space, as names of a statement do; rename it in the table"
            )
        return dict.fromkeys(table.columns, Kind.CODE)

    def unit_kind(self, table: Table) -> Kind | None:
        """Return what the unit of a table is; refuse a join by units that cannot be compared."""
        relation = table.relation
        if relation is None:
            found = self.kinds(table)
            return None if table.rows_are_units else found[table.unit]
        if isinstance(relation, UnitRows):
            return self.unit_kind(relation.of)
        kind = self.unit_kind(relation.first)
        for join in relation.joins:
            if isinstance(join, JoinOnUnit) and {kind, other := self.unit_kind(join.table)} - set(JOINABLE):
                assert kind is not None
                assert other is not None
                raise InvalidQuestion(
                    f"units must both be whole numbers, text or identifiers to be joined, but {relation.name} has "
                    f"{kind.value} and {join.name} has {other.value}; convert one of the tables"
                )
        return kind

    def relation(self, table: Table, needed: Iterable[Node], known: Iterable[Column] = ()) -> Expression:
        """Return what to select from: the table as it is, or what it is made of with the columns that are needed.

        Rows that lack one of the `known` columns need not be there.
        """
        if table.relation is None:
            return self.engines[table.name].relation()
        there = {name for column in known if _is_plain(column) for name in stored_columns(column)}
        return self._coded(table, _read_of(table, needed), known=there).subquery("d", copy=False)

    def _coded(
        self, table: Table, needed: set[Node], keys: Iterable[str] = (), known: Iterable[str] = ()
    ) -> exp.Select:
        """Return the rows of a table: the unit, the columns that are needed as integers, and some keys as they are.

        Those that lack one of the `known` columns may be left out.
        """
        if table.relation is not None and not all(isinstance(node, ColumnRef) for node in needed):
            return self._computed(table, needed)
        if isinstance(table.relation, UnitRows):
            return self._unit_rows(table.relation, needed)
        if isinstance(table.relation, Joined):
            return self._joined(table.relation, needed, set(known))
        codes = self._codes(table, needed)
        there = {
            name: one for name in sorted(known) if isinstance(one := table.column(name), Numbers) and _is_plain(one)
        }
        found = [
            named_as(bigint(codes.steps(there[name]) if name in there else codes.code(name)), called(name))
            for name in _names(needed)
        ]
        found += [named_as(column(name), KEY + name) for name in sorted(keys)]
        unit = [column(table.unit)] if table.owner is not None else []
        read = exp.select(*unit, *(found if found or unit else [named(whole(1), "one")]))
        read = read.from_(self.engines[table.name].relation(), copy=False)
        present_ones = [present(one) for one in unit] + [codes.is_known(one) for one in there.values()]
        return read.where(*present_ones, copy=False)

    def _computed(self, table: Table, needed: set[Node]) -> exp.Select:
        """Return the rows of a table made of tables, with what is computed of its columns."""
        rows, codes = self._coded(table, _read_of(table, needed)), self._codes(table, needed)
        found = [named_as(bigint(codes.code(name)), called(name)) for name in _names(needed)]
        unit = [column(table.owner)] if table.owner is not None else []
        return exp.select(*unit, *found).from_(rows.subquery("e", copy=False), copy=False)

    def _codes(self, table: Table, needed: set[Node]) -> Codes:
        return Codes({node.name: table.column(node) for node in needed}, self.kinds(table), self.dialect)

    def _unit_rows(self, relation: UnitRows, needed: set[Node]) -> exp.Select:
        made = [one for name, one in relation.columns.items() if ColumnRef(name) in needed]
        of = {one.measure.column for one in made if one.measure.column is not None}
        condition = relation.condition
        rows = self._coded(relation.of, of | set(condition.columns() if condition is not None else ()))
        columns = [named_as(aggregate(one, self.dialect), called(one.name)) for one in made]
        found = exp.select(column(relation.unit or ""), *columns).from_(rows.subquery("b", copy=False), copy=False)
        if condition is not None:
            about = {node.name: relation.of.column(node) for node in condition.columns()}
            found = found.where(exp.paren(true(condition, about, lambda name: column(called(name)))), copy=False)
        return grouped(found, 1)

    def _joined(self, relation: Joined, needed: set[Node], known: set[str]) -> exp.Select:
        names, wanted = relation.names, set(_names(needed))
        own = {table: {name for name, said in of.items() if said in wanted} for table, of in names.items()}
        there = {table: {name for name, said in of.items() if said in known} for table, of in names.items()}
        public = [join for join in relation.joins if isinstance(join, JoinPublic)]
        plain = {(join.to, join.on) for join in public if _has_plain_keys(relation, join)}
        coded = {(join.to, join.on) for join in public} - plain
        asked = {table: own[table] | {on for to, on in coded if to == table} for table in names}
        keys = {table: {on for to, on in plain if to == table} for table in names}
        places = {table: f"j{i}" for i, table in enumerate(names)}
        selected = [
            named_as(_of(places[table], called(name)), called(names[table][name]))
            for table in names
            for name in sorted(own[table])
        ]
        unit = [named_as(_of("j0", relation.unit), relation.unit)] if relation.unit is not None else []
        found = exp.select(*unit, *(selected if selected or unit else [named(whole(1), "one")]))
        first = self._coded(
            relation.first, set(map(ColumnRef, asked[relation.name])), keys[relation.name], there[relation.name]
        )
        found = found.from_(first.subquery("j0", copy=False), copy=False)
        for join in relation.joins:
            place = places[join.name]
            if isinstance(join, JoinOnUnit):
                columns: set[Node] = set(map(ColumnRef, asked[join.name]))
                coded_rows = self._coded(join.table, columns, keys[join.name], there[join.name])
                other: Expression = coded_rows.subquery(place, copy=False)
                same = self._same(relation, join, place)
            else:
                other = self._constants(relation, join, sorted(asked[join.name]), place)
                same = self._same_key(relation, join, places)
            found = found.join(other, on=same, join_type="left" if join.keep else "inner", copy=False)
        return found

    def _same(self, relation: Joined, join: JoinOnUnit, place: str) -> Expression:
        """Return whether two rows are of the same unit; texts are compared by their bytes."""
        assert relation.unit is not None
        assert join.table.owner is not None
        sides: list[Expression] = [_of("j0", relation.unit), _of(place, join.table.owner)]
        kinds = {self.unit_kind(relation.first), self.unit_kind(join.table)}
        if len(kinds) > 1:  # a number and its digits are one unit
            sides = [exp.cast(side, "TEXT") for side in sides]
        if Kind.TEXT in kinds or len(kinds) > 1:
            sides = [self.dialect.bytes_of(side) for side in sides]
        return exp.EQ(this=sides[0], expression=sides[1])

    def _same_key(self, relation: Joined, join: JoinPublic, places: Mapping[str, str]) -> Expression:
        """Return whether a row of a public table has the key of a row; texts are compared by their bytes."""
        plain = _has_plain_keys(relation, join)
        sides: list[Expression] = [
            _of(places[join.to], KEY + join.on if plain else called(join.on)),
            _of(places[join.name], KEY),
        ]
        if plain and isinstance(_keys(relation, join).keys[0], str):
            engine = self.engines[_private(relation)[join.to].name]
            sides = [engine.bytes_of(side) for side in sides]
        return exp.EQ(this=sides[0], expression=sides[1])

    def _constants(self, relation: Joined, join: JoinPublic, needed: list[str], place: str) -> Expression:
        """Return the rows of a public table that can match, as constants: the key, and the codes of what is needed."""
        at = [list(join.public.columns).index(name) for name in needed]
        plain = _has_plain_keys(relation, join)
        tuples = []
        for code, codes in join.public.codes_for(relation.key_of(join)).items():
            key = self._key(_keys(relation, join).keys[code]) if plain else whole(code)
            tuples.append(exp.Tuple(expressions=[key, *(_or_missing(codes[i]) for i in at)]))
        names = [exp.to_identifier(name, quoted=True) for name in (KEY, *map(called, needed))]
        return exp.Values(expressions=tuples, alias=exp.TableAlias(this=exp.to_identifier(place), columns=names))

    def _key(self, key: Key) -> Expression:
        return self.dialect.text(key) if isinstance(key, str) else whole(key)


def _read_of(table: Table, nodes: Iterable[Node]) -> set[Node]:
    """Return the columns of a table that some columns are made of."""
    return {ColumnRef(name) for node in nodes for name in stored_columns(table.column(node))}


def _names(nodes: Iterable[Node]) -> list[str]:
    """Return what columns are called, in one order."""
    return sorted(node.name for node in nodes)


KEY = " key "
"""What keys are called in a statement, followed by the column that they are of."""


def _has_plain_keys(relation: Joined, join: JoinPublic) -> bool:
    """Return whether a table holds the keys that a public one is joined by as they are: to look them up takes a hash.

    The place of a key in the list would take as many comparisons as there are keys.
    """
    tables = _private(relation)
    is_base = join.to in tables and tables[join.to].relation is None
    found = relation.key_of(join)
    if not isinstance(found, Keys) or isinstance(found, DerivedKeys):
        return False
    return is_base and not isinstance(found.keys[0], bool)


def _is_plain(found: Column) -> bool:
    """Return whether a column is missing where what it is made of is."""
    return not isinstance(found, DerivedNumbers) or found.whole.is_plain


def _private(relation: Joined) -> dict[str, Table]:
    """Return the private tables that are joined, by what they are called."""
    found = {relation.name: relation.first}
    found.update((one.name, one.table) for one in relation.joins if isinstance(one, JoinOnUnit))
    return found


def _keys(relation: Joined, join: JoinPublic) -> Keys:
    found = relation.key_of(join)
    assert isinstance(found, Keys)
    return found


def _or_missing(code: int | None) -> Expression:
    return exp.cast(exp.Null(), "BIGINT") if code is None else whole(code)


def named_as(expression: Expression, name: str) -> Expression:
    """Return an expression under the name of a column, whatever that is."""
    return exp.Alias(this=expression, alias=exp.to_identifier(name, quoted=True))


def _of(table: str, name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(table))
