"""What a statement selects from: a table of the contract as it is, or one that is made of tables, in integers.

The columns of the contract's tables are turned into integers first, clipped and on their lattice.  Everything else,
what is made of the rows of a unit and what rows are joined by, is made of these integers, of identifiers as they are,
and of the unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Column, Numbers
from inbounds.query.columns.raw_keys import RawKeys
from inbounds.query.engines.engine import Dialect, Engine, Kind
from inbounds.query.expressions.condition import And, Condition, join_conditions
from inbounds.query.expressions.node import ColumnRef, Node
from inbounds.query.expressions.raw import Raw
from inbounds.query.statement.codes import Codes
from inbounds.query.statement.conditions import build_condition
from inbounds.query.statement.expressions import (
    Expression,
    bigint,
    code_name,
    column,
    grouped,
    named,
    present,
    raw_name,
    whole,
)
from inbounds.query.statement.joined_rows import JoinedReader, code_constant
from inbounds.query.statement.sieve import build_sieve, narrow
from inbounds.query.statement.unit_rows import aggregate
from inbounds.query.statement.wanted import Wanted, alias_column, column_of, in_order, owner_of, stored_nodes
from inbounds.query.tables.column_types import IDENTIFIERS, check_kinds
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import Join
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.relation import Projected, UnitRows
from inbounds.query.tables.table import Table


@dataclass(frozen=True)
class TableReader:
    """Reads tables of a contract, each by its engine, in the dialect of the one that runs the statement."""

    engines: Mapping[str, Engine]
    dialect: Dialect

    def kinds(self, table: Table) -> dict[str, Kind]:
        """Return what each column of a table holds; refuse a database that does not fit the contract."""
        if table.is_stored:
            return self._stored_kinds(table)
        self.unit_kind(table)
        _check_owner(table)
        return dict.fromkeys((*table.columns, *table.identifiers, *table.matched), Kind.CODE)

    def _stored_kinds(self, table: Table) -> dict[str, Kind]:
        engine = self.engines[table.name]
        return check_kinds(table, engine.kinds(), engine.column_names())

    def unit_kind(self, table: Table) -> Kind | None:
        """Return what the unit of a table is; refuse a join by units that cannot be compared."""
        relation = table.relation
        if relation is None:
            kinds = self._stored_kinds(table)
            if table.parent is not None:
                return self.unit_kind(table.parent.table)
            return None if table.rows_are_units else kinds[table.unit]
        if not isinstance(relation, Joined):
            return self.unit_kind(relation.of)
        kind = self.unit_kind(relation.first)
        for join in relation.joins:
            if not isinstance(join, Join) or join.private is None or not relation.compares_owner(join):
                continue
            if {kind, other := self.unit_kind(join.private)} - set(IDENTIFIERS):
                assert kind is not None
                assert other is not None
                raise InvalidQuestion(
                    f"units must both be whole numbers, text or identifiers to be joined, but {relation.name} has "
                    f"{kind.value} and {join.name} has {other.value}; convert one of the tables"
                )
        return kind

    def raw_kind(self, table: Table | PublicTable, name: str) -> Kind | None:  # noqa: PLR0911  one for each kind
        """Return what a column holds as it is, None if it is there as an integer only."""
        if isinstance(table, PublicTable):
            engine = self.engines.get(table.name)
            if engine is None:  # its rows are constants, and their key is a text
                return Kind.TEXT if table.key == (name,) else None
            return engine.kinds().get(name)
        if name in owner_of(table):
            return self.unit_kind(table)
        relation = table.relation
        if relation is None:
            return self._stored_kinds(table).get(name)
        if isinstance(relation, Joined):
            tables: dict[str, Table | PublicTable] = {relation.name: relation.first}
            tables.update((join.name, join.table) for join in relation.joins if isinstance(join, Join))
            for label, names in relation.names.items():
                for own, alias in names.items():
                    if alias == name and label in tables:
                        return self.raw_kind(tables[label], own)
            return None
        of = relation.identifiers.get(name)
        return None if of is None else self.raw_kind(relation.of, of)

    def relation(
        self, table: Table, needed: Iterable[Node], known: Iterable[Numbers] = (), test: Condition | None = None
    ) -> Expression:
        """Return what to select from: the table as it is, or what it is made of with the columns that are needed.

        Rows that lack one of the `known` columns need not be there, nor rows that do not meet the test.
        """
        if table.is_stored:
            return self.engines[table.name].relation()
        stored = {name for column in known if column.is_plain for name in column.stored}
        wanted = Wanted(frozenset(stored_nodes(table, needed)), known=frozenset(stored), test=test)
        return self.select(table, wanted).subquery("d", copy=False)

    def ensured(self, table: Table, known: Iterable[Numbers]) -> frozenset[str]:
        """Return which of the stored columns behind the `known` ones no row of `relation` lacks."""
        names = {name for column in known if column.is_plain for name in column.stored}
        relation = table.relation
        if not isinstance(relation, Joined):
            return frozenset()
        joins = [join for join in relation.joins if isinstance(join, Join) and join.drops]
        tables = {relation.name: relation.first, **{join.name: join.table for join in joins}}
        stored = [name for name, of in tables.items() if self._is_stored(of)]
        return frozenset(names & {label for name in stored for label in relation.names[name].values()})

    def _is_stored(self, table: Table | PublicTable) -> bool:
        """Return whether a database has the rows of a table, so that some of them can be left out."""
        return table.name in self.engines and (isinstance(table, PublicTable) or table.relation is None)

    def select(self, table: Table | PublicTable, wanted: Wanted) -> exp.Select:  # noqa: PLR0911  one for each kind
        """Return the rows of a table: whose they are, and what is wanted of them."""
        if isinstance(table, PublicTable):
            return self._select_public(table, wanted)
        _check_owner(table)
        relation = table.relation
        if relation is not None and not all(isinstance(node, ColumnRef | Raw) for node in wanted.codes):
            return self._select_computed(table, wanted)
        if isinstance(relation, UnitRows):
            return self._select_unit_rows(relation, wanted)
        if isinstance(relation, Projected):
            return self._select_projected(relation, wanted)
        if isinstance(relation, Joined):
            return JoinedReader(self, relation).select(wanted)
        if table.parent is not None and wanted.owner:
            return self._select_child(table, wanted)
        return self._select_stored(table, self._stored_kinds(table), wanted)

    def _select_stored(self, table: Table | PublicTable, kinds: dict[str, Kind], wanted: Wanted) -> exp.Select:
        """Return the rows of a table that a database has."""
        columns = {node.name: _find(table, node) for node in wanted.codes}
        codes = Codes(columns, kinds, self.dialect)
        fields = {name: _find(table, ColumnRef(name)) for name in sorted(wanted.known)}
        numbers = {name: field for name, field in fields.items() if isinstance(field, Numbers) and field.is_plain}
        selected = [
            alias_column(bigint(codes.steps(numbers[name]) if name in numbers else codes.code(name)), code_name(name))
            for name in sorted(columns)
        ]
        selected += [alias_column(column(name), raw_name(name)) for name in sorted(wanted.raws)]
        has_unit = isinstance(table, Table) and wanted.owner and table.parent is None and table.owner is not None
        unit = [column(table.unit)] if isinstance(table, Table) and has_unit else []
        read = exp.select(*unit, *(selected if selected or unit else [named(whole(1), "one")]))
        matched = wanted.matched | {table.unit} if isinstance(table, Table) and has_unit else wanted.matched
        read = read.from_(self.engines[table.name].relation(matched), copy=False)
        tests = [*map(present, unit), *map(codes.is_known, numbers.values())]
        return read.where(*tests, *self._sift(table, kinds, wanted.test), copy=False)

    def _sift(self, table: Table | PublicTable, kinds: dict[str, Kind], test: Condition | None) -> list[Expression]:
        """Return what rows of a stored table must be like to meet a test."""
        own = narrow(test, lambda node: node if isinstance(node, ColumnRef) and node.name in table.columns else None)
        if own is None:
            return []
        columns = {node.name: table.columns[node.name] for node in own.columns()}
        return build_sieve(own, Codes(columns, kinds, self.dialect))

    def _select_child(self, table: Table, wanted: Wanted) -> exp.Select:
        """Return the rows of a table that belong to those of another, and whose those are."""
        assert table.parent is not None
        parent, on = table.parent.table, table.parent.on
        refers, keys = frozenset(name for name, _ in on), frozenset(name for _, name in on)
        asked = replace(wanted, raws=wanted.raws | refers, matched=wanted.matched | refers, owner=False)
        own = self.select(table, asked)
        # A key that repeats, against what the contract says, makes a row one of each unit, and of each but once.
        above = self.select(parent, Wanted(raws=keys, matched=keys)).distinct()
        same = [
            self.match(
                (column_of("j0", raw_name(left)), self.raw_kind(table, left)),
                (column_of("j1", raw_name(right)), self.raw_kind(parent, right)),
                f"{table.name}.{left} and {parent.name}.{right}",
            )
            for left, right in on
        ]
        names = [*map(code_name, _names(wanted.codes))]
        names += [raw_name(name) for name in sorted(wanted.raws)]
        assert table.owner is not None
        unit = alias_column(column_of("j1", parent.owner or ""), table.owner)
        select = exp.select(unit, *(alias_column(column_of("j0", name), name) for name in names))
        select = select.from_(own.subquery("j0", copy=False), copy=False)
        return select.join(above.subquery("j1", copy=False), on=exp.and_(*same), join_type="inner", copy=False)

    def match(
        self,
        left: tuple[Expression, Kind | None],
        right: tuple[Expression, Kind | None],
        what: str,
        operator: str = "=",
    ) -> Expression:
        """Return whether two identifiers are the same; texts are compared by their bytes, numbers by their digits."""
        kinds = {left[1], right[1]}
        if kinds - set(IDENTIFIERS):
            held = " and ".join("nothing that is stored" if kind is None else kind.value for _, kind in (left, right))
            raise InvalidQuestion(
                f"{what} must be whole numbers, text or identifiers to be joined, and they hold {held}; convert one of "
                "the tables"
            )
        sides = [left[0], right[0]]
        if len(kinds) > 1:  # a number and its digits are one identifier
            sides = [exp.cast(side, "TEXT") for side in sides]
        if (Kind.TEXT in kinds or len(kinds) > 1) and any(engine.has_collations for engine in self.engines.values()):
            sides = [self.dialect.bytes_of(side) for side in sides]
        return (exp.EQ if operator == "=" else exp.NEQ)(this=sides[0], expression=sides[1])

    def _select_computed(self, table: Table, wanted: Wanted) -> exp.Select:
        """Return the rows of a table made of tables, with what is computed of its columns."""
        rows = self.select(table, replace(wanted, codes=frozenset(stored_nodes(table, wanted.codes))))
        codes = Codes({node.name: table.column(node) for node in wanted.codes}, self.kinds(table), self.dialect)
        computed = [alias_column(bigint(codes.code(name)), code_name(name)) for name in _names(wanted.codes)]
        computed += [column(raw_name(name)) for name in sorted(wanted.raws)]
        unit = [column(table.owner)] if table.owner is not None else []
        return exp.select(*unit, *computed).from_(rows.subquery("e", copy=False), copy=False)

    def _select_unit_rows(self, relation: UnitRows, wanted: Wanted) -> exp.Select:
        having = relation.having
        if having is not None:
            return self._select_having(relation, wanted)
        asked = {node.name for node in wanted.codes}
        columns = [column for name, column in relation.columns.items() if name in asked]
        nodes = {node for column in columns for node in column.measure.nodes}
        condition = relation.condition
        keys = relation.keys
        # What an identifier says is the same in all rows of a group, which is told apart by it.
        raws = {raw: raw.of(relation.identifiers[raw.column]) for raw in wanted.codes if isinstance(raw, Raw)}
        tests = condition.columns() if condition is not None else ()
        inner = Wanted(
            frozenset({*nodes, *keys.values(), *raws.values(), *tests}),
            frozenset(relation.identifiers.values()),
            test=_both(condition, narrow(wanted.test, lambda node: keys.get(node.name))),
        )
        rows = self.select(relation.of, inner)
        by: list[Expression] = [alias_column(column(relation.of.owner or ""), relation.unit or "")]
        by += [alias_column(column(code_name(node.name)), code_name(name)) for name, node in keys.items()]
        by += [alias_column(column(raw_name(own)), raw_name(name)) for name, own in relation.identifiers.items()]
        by += [alias_column(column(code_name(own.name)), code_name(raw.name)) for raw, own in raws.items()]
        selected = [alias_column(aggregate(column, self.dialect), code_name(column.name)) for column in columns]
        select = exp.select(*by, *selected).from_(rows.subquery("b", copy=False), copy=False)
        return grouped(_keep_rows(select, relation.of, condition), len(by))

    def _select_having(self, relation: UnitRows, wanted: Wanted) -> exp.Select:
        """Return the groups that meet a condition on what was made of their rows."""
        assert relation.having is not None
        table, tests = relation.table, relation.having.columns()
        stored = frozenset(stored_nodes(table, tests))
        rows = self.select(
            replace(table, relation=replace(relation, having=None)), replace(wanted, codes=wanted.codes | stored)
        )
        codes = Codes({node.name: table.column(node) for node in tests}, self.kinds(table), self.dialect)
        test = build_condition(relation.having, codes.columns, codes.code)
        names = [
            relation.unit or "",
            *map(code_name, _names(wanted.codes)),
            *(raw_name(raw) for raw in sorted(wanted.raws)),
        ]
        select = exp.select(*map(column, names)).from_(rows.subquery("h", copy=False), copy=False)
        return select.where(exp.paren(test), copy=False)

    def _select_projected(self, relation: Projected, wanted: Wanted) -> exp.Select:
        condition = relation.condition
        asked = {node.name: relation.columns[node.name] for node in wanted.codes if not isinstance(node, Raw)}
        raws = {
            node: replace(node, column=relation.identifiers[node.column])
            for node in wanted.codes
            if isinstance(node, Raw)
        }
        inner = Wanted(
            frozenset({*asked.values(), *raws.values(), *(condition.columns() if condition is not None else ())}),
            frozenset(relation.identifiers[name] for name in wanted.raws),
            test=_both(condition, narrow(wanted.test, lambda node: relation.columns.get(node.name))),
        )
        rows = self.select(relation.of, inner)
        selected: list[Expression] = []
        if relation.unit is not None:
            selected.append(alias_column(column(relation.of.owner or ""), relation.unit))
        selected += [alias_column(column(code_name(node.name)), code_name(name)) for name, node in asked.items()]
        selected += [alias_column(column(code_name(own.name)), code_name(raw.name)) for raw, own in raws.items()]
        selected += [
            alias_column(column(raw_name(relation.identifiers[name])), raw_name(name)) for name in sorted(wanted.raws)
        ]
        select = exp.select(*(selected or [named(whole(1), "one")])).from_(rows.subquery("f", copy=False), copy=False)
        return _keep_rows(select, relation.of, condition)

    # Public tables.

    def _select_public(self, public: PublicTable, wanted: Wanted) -> exp.Select:
        """Return the rows of a public table where it is, or as constants if it cannot be read there."""
        engine = self.engines.get(public.name)
        if engine is not None:
            return self._select_stored(public, engine.kinds(), wanted)
        assert public.rows is not None
        nodes = in_order(wanted.codes)
        if any(isinstance(node, Raw) for node in nodes) or wanted.raws - set(public.key):
            raise InvalidQuestion(
                f"{public.name} is elsewhere than the private tables, so it can be joined by its key only; bring them "
                "together"
            )
        at = [list(public.columns).index(node.name) for node in nodes]
        raws = sorted(wanted.raws)
        tuples = [
            exp.Tuple(
                expressions=[*(code_constant(codes[i]) for i in at), *(self.dialect.text(text) for _ in raws)]
                or [whole(1)]
            )
            for text, codes in public.rows.items()
        ]
        names = [*(code_name(node.name) for node in nodes), *(raw_name(raw) for raw in raws)] or ["one"]
        quoted = [exp.to_identifier(name, quoted=True) for name in names]
        values = exp.Values(expressions=tuples, alias=exp.TableAlias(this=exp.to_identifier("v"), columns=quoted))
        return exp.select(*map(column, names)).from_(values, copy=False)


def _check_owner(table: Table) -> None:
    """Refuse a unit that could be taken for another column of a statement, however deep inside it stands."""
    if (table.owner or "").startswith(" "):
        raise InvalidQuestion(
            f"the unit {table.owner!r} begins with a space, as names of a statement do; rename it in the table"
        )


def _both(*conditions: Condition | None) -> Condition | None:
    """Return all of some conditions, where there are any."""
    there = [condition for condition in conditions if condition is not None]
    return join_conditions(And, *there) if there else None


def _keep_rows(select: exp.Select, table: Table, condition: Condition | None) -> exp.Select:
    """Return a select of the rows of a table, whose columns are codes, that meet a condition."""
    if condition is None:
        return select
    about = {node.name: table.column(node) for node in condition.columns()}
    test = build_condition(condition, about, lambda name: column(code_name(name)))
    return select.where(exp.paren(test), copy=False)


def _find(table: Table | PublicTable, node: Node) -> Column:
    if isinstance(table, Table):
        return table.column(node)
    return RawKeys.of(node) if isinstance(node, Raw) else table.columns[node.name]


def _names(nodes: Iterable[Node]) -> list[str]:
    """Return what columns are called, in one order."""
    return sorted(node.name for node in nodes)
