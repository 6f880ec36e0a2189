"""What a statement selects from: a table of the contract as it is, or one that is made of tables, in integers.

The columns of the contract's tables are turned into integers first, clipped and on their lattice.  Everything else,
what is made of the rows of a unit and what rows are joined by, is made of these integers and of the unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.column_types import checked_kinds
from inbounds.query.engines.engine import Dialect, Engine, Kind
from inbounds.query.relation import Joined, JoinOnUnit, JoinPublic, UnitRows
from inbounds.query.statement.codes import Codes
from inbounds.query.statement.conditions import true
from inbounds.query.statement.expressions import Expression, bigint, column, grouped, named, present, whole
from inbounds.query.statement.unit_rows import aggregate
from inbounds.query.table import Table

JOINABLE = (Kind.INTEGER, Kind.TEXT, Kind.UUID)
"""What units can be joined by: no two of these fail to be compared, and equal ones are one unit."""


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
            if isinstance(join, JoinOnUnit) and ((other := self.unit_kind(join.table)) != kind or kind not in JOINABLE):
                assert kind is not None
                assert other is not None
                raise InvalidQuestion(
                    f"units are joined if both are whole numbers, texts or identifiers, and {relation.name} has "
                    f"{kind.value}, {join.name} has {other.value}; convert one of the tables"
                )
        return kind

    def relation(self, table: Table, needed: Iterable[str]) -> Expression:
        """Return what to select from: the table as it is, or what it is made of with the columns that are needed."""
        if table.relation is None:
            return self.engines[table.name].relation()
        return self._coded(table, set(needed)).subquery("d", copy=False)

    def _coded(self, table: Table, needed: set[str]) -> exp.Select:
        """Return the rows of a table: the unit, and the columns that are needed as integers."""
        if isinstance(table.relation, UnitRows):
            return self._unit_rows(table.relation, needed)
        if isinstance(table.relation, Joined):
            return self._joined(table.relation, needed)
        codes = Codes(dict(table.columns), self.kinds(table), self.dialect)
        found = [named_as(bigint(codes.code(name)), name) for name in sorted(needed)]
        unit = [column(table.unit)] if table.owner is not None else []
        read = exp.select(*unit, *(found if found or unit else [named(whole(1), "one")]))
        read = read.from_(self.engines[table.name].relation(), copy=False)
        return read.where(present(column(table.unit)), copy=False) if unit else read

    def _unit_rows(self, relation: UnitRows, needed: set[str]) -> exp.Select:
        made = [one for name, one in relation.columns.items() if name in needed]
        of = {one.measure.column for one in made if one.measure.column is not None}
        condition = relation.condition
        rows = self._coded(relation.of, of | set(condition.columns() if condition is not None else ()))
        columns = [named_as(aggregate(one, self.dialect), one.name) for one in made]
        found = exp.select(column(relation.unit or ""), *columns).from_(rows.subquery("b", copy=False), copy=False)
        if condition is not None:
            found = found.where(exp.paren(true(condition, relation.of.columns, column)), copy=False)
        return grouped(found, 1)

    def _joined(self, relation: Joined, needed: set[str]) -> exp.Select:
        names = relation.names
        own = {called: {name for name, said in said_of.items() if said in needed} for called, said_of in names.items()}
        keys = {(join.to, join.on) for join in relation.joins if isinstance(join, JoinPublic)}
        asked = {called: own[called] | {on for to, on in keys if to == called} for called in names}
        places = {called: f"j{i}" for i, called in enumerate(names)}
        selected = [
            named_as(_of(places[called], name), names[called][name]) for called in names for name in sorted(own[called])
        ]
        unit = [named_as(_of("j0", relation.unit), relation.unit)] if relation.unit is not None else []
        found = exp.select(*unit, *(selected if selected or unit else [named(whole(1), "one")]))
        first = self._coded(relation.first, asked[relation.name]).subquery("j0", copy=False)
        found = found.from_(first, copy=False)
        for join in relation.joins:
            place = places[join.name]
            if isinstance(join, JoinOnUnit):
                other: Expression = self._coded(join.table, asked[join.name]).subquery(place, copy=False)
                same = self._same(relation, join, place)
            else:
                other = _constants(relation, join, sorted(asked[join.name]), place)
                same = _of(places[join.to], join.on).eq(_of(place, KEY))
            found = found.join(other, on=same, join_type="left" if join.keep else "inner", copy=False)
        return found

    def _same(self, relation: Joined, join: JoinOnUnit, place: str) -> Expression:
        """Return whether two rows are of the same unit; texts are compared by their bytes."""
        assert relation.unit is not None
        assert join.table.owner is not None
        sides: list[Expression] = [_of("j0", relation.unit), _of(place, join.table.owner)]
        if self.unit_kind(relation.first) is Kind.TEXT:
            sides = [self.dialect.bytes_of(side) for side in sides]
        return exp.EQ(this=sides[0], expression=sides[1])


KEY = " key"
"""What the key of a public table is called in a statement; no column of a header is."""


def named_as(expression: Expression, name: str) -> Expression:
    """Return an expression under the name of a column, whatever that is."""
    return exp.Alias(this=expression, alias=exp.to_identifier(name, quoted=True))


def _of(table: str, name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(table))


def _constants(relation: Joined, join: JoinPublic, needed: list[str], place: str) -> Expression:
    """Return the rows of a public table that can match, as constants: the code of the key, and what is needed."""
    at = [list(join.public.columns).index(name) for name in needed]
    rows = join.public.codes_for(relation.key_of(join))
    missing = exp.cast(exp.Null(), "BIGINT")
    tuples = [
        exp.Tuple(expressions=[_long(key), *(missing.copy() if codes[i] is None else _long(codes[i]) for i in at)])
        for key, codes in rows.items()
    ]
    names = [exp.to_identifier(name, quoted=True) for name in (KEY, *needed)]
    return exp.Values(expressions=tuples, alias=exp.TableAlias(this=exp.to_identifier(place), columns=names))


def _long(number: int | None) -> Expression:
    assert number is not None
    return whole(number)
