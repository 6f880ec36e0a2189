"""What a statement selects from: a table of the contract as it is, or one that is made of tables, in integers.

The columns of the contract's tables are turned into integers first, clipped and on their lattice.  Everything else,
what is made of the rows of a unit and what rows are joined by, is made of these integers and of the unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.columns.derived_column import DerivedKeys
from inbounds.query.columns.kind import TEXT_KEY, TRUTH_KEY
from inbounds.query.engines.engine import Dialect, Engine, Kind
from inbounds.query.expressions.node import ColumnRef, Node
from inbounds.query.statement.codes import Codes, key_constant
from inbounds.query.statement.conditions import build_condition
from inbounds.query.statement.expressions import Expression, bigint, code_name, column, grouped, named, present, whole
from inbounds.query.statement.unit_rows import aggregate
from inbounds.query.tables.column_types import check_kinds
from inbounds.query.tables.relation import Joined, JoinOnUnit, JoinPublic, UnitRows
from inbounds.query.tables.table import Table

JOINABLE = (Kind.INTEGER, Kind.TEXT, Kind.UUID)
"""What units can be joined by: none of these fails to be compared, as it is or as text, and equal ones are one unit."""


@dataclass(frozen=True)
class TableReader:
    """Reads tables of a contract, each by its engine, in the dialect of the one that runs the statement."""

    engines: Mapping[str, Engine]
    dialect: Dialect

    def kinds(self, table: Table) -> dict[str, Kind]:
        """Return what each column of a table holds; refuse a database that does not fit the contract."""
        if table.relation is None:
            return check_kinds(table, self.engines[table.name].kinds())
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
            kinds = self.kinds(table)
            return None if table.rows_are_units else kinds[table.unit]
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

    def relation(self, table: Table, needed: Iterable[Node], known: Iterable[Numbers] = ()) -> Expression:
        """Return what to select from: the table as it is, or what it is made of with the columns that are needed.

        Rows that lack one of the `known` columns need not be there.
        """
        if table.relation is None:
            return self.engines[table.name].relation()
        stored = {name for column in known if column.is_plain for name in column.stored}
        return self._select_codes(table, _stored_nodes(table, needed), known=stored).subquery("d", copy=False)

    def _select_codes(
        self, table: Table, needed: set[Node], keys: Iterable[str] = (), known: Iterable[str] = ()
    ) -> exp.Select:
        """Return the rows of a table: the unit, the columns that are needed as integers, and some keys as they are.

        Those that lack one of the `known` columns may be left out.
        """
        if table.relation is not None and not all(isinstance(node, ColumnRef) for node in needed):
            return self._select_computed(table, needed)
        if isinstance(table.relation, UnitRows):
            return self._select_unit_rows(table.relation, needed)
        if isinstance(table.relation, Joined):
            return self._select_joined(table.relation, needed, set(known))
        codes = self._codes(table, needed)
        fields = {name: table.column(name) for name in sorted(known)}
        numbers = {name: field for name, field in fields.items() if isinstance(field, Numbers) and field.is_plain}
        selected = [
            alias_column(bigint(codes.steps(numbers[name]) if name in numbers else codes.code(name)), code_name(name))
            for name in _names(needed)
        ]
        selected += [alias_column(column(name), KEY + name) for name in sorted(keys)]
        unit = [column(table.unit)] if table.owner is not None else []
        read = exp.select(*unit, *(selected if selected or unit else [named(whole(1), "one")]))
        read = read.from_(self.engines[table.name].relation(), copy=False)
        return read.where(*map(present, unit), *map(codes.is_known, numbers.values()), copy=False)

    def _select_computed(self, table: Table, needed: set[Node]) -> exp.Select:
        """Return the rows of a table made of tables, with what is computed of its columns."""
        rows, codes = self._select_codes(table, _stored_nodes(table, needed)), self._codes(table, needed)
        computed = [alias_column(bigint(codes.code(name)), code_name(name)) for name in _names(needed)]
        unit = [column(table.owner)] if table.owner is not None else []
        return exp.select(*unit, *computed).from_(rows.subquery("e", copy=False), copy=False)

    def _codes(self, table: Table, needed: set[Node]) -> Codes:
        return Codes({node.name: table.column(node) for node in needed}, self.kinds(table), self.dialect)

    def _select_unit_rows(self, relation: UnitRows, needed: set[Node]) -> exp.Select:
        columns = [column for name, column in relation.columns.items() if ColumnRef(name) in needed]
        nodes = {column.measure.column for column in columns if column.measure.column is not None}
        condition = relation.condition
        rows = self._select_codes(relation.of, nodes | set(condition.columns() if condition is not None else ()))
        selected = [alias_column(aggregate(column, self.dialect), code_name(column.name)) for column in columns]
        select = exp.select(column(relation.unit or ""), *selected).from_(rows.subquery("b", copy=False), copy=False)
        if condition is not None:
            about = {node.name: relation.of.column(node) for node in condition.columns()}
            test = build_condition(condition, about, lambda name: column(code_name(name)))
            select = select.where(exp.paren(test), copy=False)
        return grouped(select, 1)

    def _select_joined(self, relation: Joined, needed: set[Node], known: set[str]) -> exp.Select:
        # What each table has to give: of its own columns those that are needed, and what public tables are joined by,
        # as codes, or where a table holds the keys themselves, as they are.
        names, wanted = relation.names, set(_names(needed))
        own = {table: {name for name, alias in aliases.items() if alias in wanted} for table, aliases in names.items()}
        present_names = {
            table: {name for name, alias in aliases.items() if alias in known} for table, aliases in names.items()
        }
        public = [join for join in relation.joins if isinstance(join, JoinPublic)]
        plain = {(join.to, join.on) for join in public if _plain_keys(relation, join) is not None}
        coded = {(join.to, join.on) for join in public} - plain
        coded_names = {table: own[table] | {on for to, on in coded if to == table} for table in names}
        keys = {table: {on for to, on in plain if to == table} for table in names}

        def read(table: Table, name: str) -> exp.Select:
            return self._select_codes(table, set(map(ColumnRef, coded_names[name])), keys[name], present_names[name])

        # Each table has a place of its own: the first `j0`, and those that are joined to it `j1`, `j2` and so on.
        places = {table: f"j{i}" for i, table in enumerate(names)}
        selected = [
            alias_column(_column_of(places[table], code_name(name)), code_name(names[table][name]))
            for table in names
            for name in sorted(own[table])
        ]
        unit = [alias_column(_column_of("j0", relation.unit), relation.unit)] if relation.unit is not None else []
        select = exp.select(*unit, *(selected if selected or unit else [named(whole(1), "one")]))
        select = select.from_(read(relation.first, relation.name).subquery("j0", copy=False), copy=False)
        for join in relation.joins:
            place = places[join.name]
            if isinstance(join, JoinOnUnit):
                other: Expression = read(join.table, join.name).subquery(place, copy=False)
                same = self._match_units(relation, join, place)
            else:
                other = self._list_public_rows(relation, join, sorted(coded_names[join.name]), place)
                same = self._match_keys(relation, join, places)
            select = select.join(other, on=same, join_type="left" if join.keep else "inner", copy=False)
        return select

    def _match_units(self, relation: Joined, join: JoinOnUnit, place: str) -> Expression:
        """Return whether two rows are of the same unit; texts are compared by their bytes."""
        assert relation.unit is not None
        assert join.table.owner is not None
        sides: list[Expression] = [_column_of("j0", relation.unit), _column_of(place, join.table.owner)]
        kinds = {self.unit_kind(relation.first), self.unit_kind(join.table)}
        if len(kinds) > 1:  # a number and its digits are one unit
            sides = [exp.cast(side, "TEXT") for side in sides]
        if Kind.TEXT in kinds or len(kinds) > 1:
            sides = [self.dialect.bytes_of(side) for side in sides]
        return exp.EQ(this=sides[0], expression=sides[1])

    def _match_keys(self, relation: Joined, join: JoinPublic, places: Mapping[str, str]) -> Expression:
        """Return whether a row of a public table has the key of a row; texts are compared by their bytes."""
        keys = _plain_keys(relation, join)
        own = code_name(join.on) if keys is None else KEY + join.on
        sides: list[Expression] = [_column_of(places[join.to], own), _column_of(places[join.name], KEY)]
        if keys is not None and keys.kind is TEXT_KEY:
            engine = self.engines[_private_tables(relation)[join.to].name]
            sides = [engine.bytes_of(side) for side in sides]
        return exp.EQ(this=sides[0], expression=sides[1])

    def _list_public_rows(self, relation: Joined, join: JoinPublic, needed: list[str], place: str) -> Expression:
        """Return the rows of a public table that can match, as constants: the key, and the codes of what is needed."""
        at = [list(join.public.columns).index(name) for name in needed]
        keys = _plain_keys(relation, join)
        tuples = []
        for code, codes in join.public.codes_for(relation.key_of(join)).items():
            key = whole(code) if keys is None else key_constant(keys.keys[code], self.dialect)
            tuples.append(exp.Tuple(expressions=[key, *(_code_constant(codes[i]) for i in at)]))
        names = [exp.to_identifier(name, quoted=True) for name in (KEY, *map(code_name, needed))]
        return exp.Values(expressions=tuples, alias=exp.TableAlias(this=exp.to_identifier(place), columns=names))


def _stored_nodes(table: Table, nodes: Iterable[Node]) -> set[Node]:
    """Return the columns of a table that some columns are made of."""
    return {ColumnRef(name) for node in nodes for name in table.column(node).stored}


def _names(nodes: Iterable[Node]) -> list[str]:
    """Return what columns are called, in one order."""
    return sorted(node.name for node in nodes)


KEY = " key "
"""What keys are called in a statement, followed by the column that they are of."""


def _plain_keys(relation: Joined, join: JoinPublic) -> Keys | None:
    """Return the keys that a public table is joined by, if a table holds them as they are; else None.

    To look such a key up takes a hash; its place in the list would take as many comparisons as there are keys.
    """
    table, keys = _private_tables(relation).get(join.to), relation.key_of(join)
    if table is None or table.relation is not None or not isinstance(keys, Keys) or isinstance(keys, DerivedKeys):
        return None
    return None if keys.kind is TRUTH_KEY else keys


def _private_tables(relation: Joined) -> dict[str, Table]:
    """Return the private tables that are joined, by what they are called."""
    tables = {relation.name: relation.first}
    tables.update((join.name, join.table) for join in relation.joins if isinstance(join, JoinOnUnit))
    return tables


def _code_constant(code: int | None) -> Expression:
    return exp.cast(exp.Null(), "BIGINT") if code is None else whole(code)


def alias_column(expression: Expression, name: str) -> Expression:
    """Return an expression under the name of a column, whatever that is."""
    return exp.Alias(this=expression, alias=exp.to_identifier(name, quoted=True))


def _column_of(table: str, name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(table))
