"""Whose rows they are: statements about keys that repeat, references that find nothing, and the rows of each unit.

A row that belongs to a row of another table is followed to its unit as in the statements of questions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from inbounds.query.columns.column import Numbers
from inbounds.query.custodian.statements import count_rows, number_counts
from inbounds.query.engines.engine import Kind
from inbounds.query.statement.expressions import (
    Expression,
    case,
    code_name,
    column,
    compare,
    double,
    grouped,
    named,
    present,
    raw_name,
    whole,
)
from inbounds.query.statement.relations import TableReader
from inbounds.query.statement.wanted import Wanted, alias_column, column_of
from inbounds.query.tables.table import Parent, Table


@dataclass(frozen=True)
class Ownership:
    """Writes statements about a table, all columns of which hold what the contract says."""

    table: Table
    reader: TableReader

    @property
    def owned_rows(self) -> Expression:
        """The rows that have a unit, each once for every unit that it has."""
        return self._read(self.table).subquery("o", copy=False)

    def of_key(self) -> exp.Select:
        """Return one row: how many rows have a key, how many keys repeat, and how many rows have one of these."""
        rows = exp.column("n")
        of_each = self._by_values(self.table, self.table.key, named(exp.Count(this=exp.Star()), "n"), owner=False)
        repeats, total = compare(rows, ">", whole(1)), self.reader.dialect.total
        counts = [total(rows), count_rows(repeats), total(case([(repeats, rows)], whole(0)))]
        return exp.select(*number_counts(counts)).from_(of_each.subquery("k", copy=False))

    def of_shared_key(self) -> exp.Select:
        """Return one row: how many keys have rows of several units."""
        of_each = self._by_values(self.table, self.table.key, self._count_units(self.table))
        counts = [count_rows(compare(exp.column("u"), ">", whole(1)))]
        return exp.select(*number_counts(counts)).from_(of_each.subquery("k", copy=False))

    def of_reference(self, parent: Parent) -> exp.Select:
        """Return one row: how many rows have no reference, one that finds nothing, one to several units."""
        names = [name for name, _ in parent.on]
        own = self._read(self.table, names, owner=False)
        above = self._by_values(parent.table, [name for _, name in parent.on], self._count_units(parent.table))
        same = [
            self.reader.match(
                (column_of("a", raw_name(left)), self.reader.raw_kind(self.table, left)),
                (column_of("b", raw_name(right)), self.reader.raw_kind(parent.table, right)),
                f"{self.table.name}.{left} and {parent.table.name}.{right}",
            )
            for left, right in parent.on
        ]
        there = exp.paren(exp.and_(*(present(column_of("a", raw_name(name))) for name in names)))
        units = column_of("b", "u")
        tests = [
            exp.Not(this=there),
            exp.and_(there.copy(), exp.Is(this=units, expression=exp.Null())),
            compare(units, ">", whole(1)),
        ]
        select = exp.select(*number_counts(map(count_rows, tests))).from_(own.subquery("a", copy=False))
        return select.join(above.subquery("b", copy=False), on=exp.and_(*same), join_type="left", copy=False)

    def of_mean(self, numbers: Numbers, limits: Iterable[int]) -> exp.Select:
        """Return one row: the rows with a value and the sum of its steps; then both for each limit, as rows weigh then.

        A unit with more of these rows than the limit has each of them weighed alike, as in the statements of questions.
        """
        steps, rows, total = exp.column("s"), exp.column("n"), self.reader.dialect.total
        value = column(code_name(numbers.node.name))
        owned = self.reader.select(self.table, Wanted(codes=frozenset({numbers.node})))
        assert self.table.owner is not None
        selected = [column(self.table.owner), named(exp.Count(this=exp.Star()), "n"), named(total(value), "s")]
        select = exp.select(*selected).from_(owned.subquery("o", copy=False), copy=False)
        of_each = grouped(select.where(present(value), copy=False), 1).subquery("w", copy=False)
        sums = [total(rows), exp.Sum(this=self._as_double(steps))]
        for limit in limits:
            above = compare(rows, ">", whole(limit))
            share = exp.Div(this=double(limit), expression=self._as_double(rows))
            weighed = exp.Mul(this=self._as_double(steps), expression=exp.paren(share))
            sums += [total(case([(above, whole(limit))], rows))]
            sums += [exp.Sum(this=case([(above, weighed)], self._as_double(steps)))]
        return exp.select(*number_counts(sums)).from_(of_each)

    def _as_double(self, value: Expression) -> Expression:
        return self.reader.dialect.as_double(value, Kind.INTEGER)

    def _read(self, table: Table, names: Iterable[str] = (), *, owner: bool = True) -> exp.Select:
        """Return rows with some columns as they are; with `owner`, those that have a unit, and that."""
        return self.reader.select(table, Wanted(raws=frozenset(names), owner=owner))

    def _by_values(self, table: Table, names: Iterable[str], *counts: Expression, owner: bool = True) -> exp.Select:
        """Return the values of some columns, each once, and counts of the rows that have them."""
        names = list(dict.fromkeys(names))
        groups: list[Expression] = []
        texts: list[Expression] = []
        for place, name in enumerate(names):
            value = column(raw_name(name))
            if self.reader.raw_kind(table, name) is Kind.TEXT:
                # Texts are one if their bytes are; then the least of them is each of them.
                groups.append(named(self.reader.dialect.bytes_of(value), f"g{place}"))
                texts.append(alias_column(exp.Min(this=value), raw_name(name)))
            else:
                groups.append(alias_column(value, raw_name(name)))
        rows = self._read(table, names, owner=owner).subquery("o", copy=False)
        select = exp.select(*groups, *texts, *counts).from_(rows, copy=False)
        return grouped(select.where(*(present(column(raw_name(name))) for name in names), copy=False), len(groups))

    def _count_units(self, table: Table) -> Expression:
        unit = column(table.unit)
        if self.reader.unit_kind(table) is Kind.TEXT:
            unit = self.reader.dialect.bytes_of(unit)
        return named(exp.Count(this=exp.Distinct(expressions=[unit])), "u")
