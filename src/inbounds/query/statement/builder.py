"""The statement for a request, built from the inside out: read, kept, parts, weighed, totals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

from sqlglot import exp

from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.columns.derived_column import DerivedKeys, DerivedNumbers
from inbounds.query.engines.engine import Dialect
from inbounds.query.question.group import Bins, Group
from inbounds.query.statement.codes import Codes
from inbounds.query.statement.conditions import build_condition
from inbounds.query.statement.expressions import (
    Expression,
    bigint,
    cap,
    case,
    column,
    compare,
    divide,
    grouped,
    named,
    present,
    whole,
)
from inbounds.query.statement.partition import cut_into_parts, product_of
from inbounds.query.statement.request import Request
from inbounds.query.statement.row_weights import MOST_ROWS
from inbounds.query.statement.weighing import EVERY, share, weigh


def build_statement(
    request: Request, relation: Expression, dialect: Dialect, ensured: frozenset[str] = frozenset()
) -> exp.Select:
    """Return the statement: one row for each group that has rows, the codes of its groups first, then the totals.

    No row of the relation lacks one of the `ensured` columns.
    """
    return StatementBuilder(request, dialect, ensured).build(relation)


@dataclass(frozen=True)
class StatementBuilder:
    """Builds the statement of one request."""

    request: Request
    dialect: Dialect
    ensured: frozenset[str]

    @cached_property
    def codes(self) -> Codes:
        """The columns as integers."""
        return Codes(self.request.columns, self.request.kinds, self.dialect)

    def build(self, relation: Expression) -> exp.Select:
        """Return the statement, from what to select from."""
        read = exp.select(*self._read_columns()).from_(relation, copy=False).where(*self._require_known(), copy=False)
        if self.request.parts:
            read = cut_into_parts(self.request, read)
        rows = exp.select().from_(read.subquery("r", copy=False), copy=False).where(*self._filter_rows(), copy=False)
        return self._add_up_rows(rows) if self.request.unit is None else self._add_up_units(rows)

    # The columns as integers.

    def _read_columns(self) -> list[Expression]:
        request = self.request
        selected = [named(self._read_group(group), f"g{i}") for i, group in enumerate(request.groups)]
        if isinstance(request.value, Numbers):
            selected.append(named(self.codes.steps(request.value), "v"))
        elif request.value is not None:
            test = build_condition(request.value, request.columns, self.codes.code)
            selected.append(named(case([(test, whole(1))], whole(0)), "v"))
        selected += [named(bigint(self.codes.steps(part.column)), f"v{i}") for i, part in enumerate(request.parts)]
        selected += [named(self._read_compared(name), alias) for name, alias in self._aliases.items()]
        if request.unit is not None:
            selected.append(named(column(request.unit), "u"))
        return selected or [named(whole(1), "one")]

    def _read_compared(self, name: str) -> Expression:
        """Return what a condition looks at: missing values are looked for once."""
        numbers = self.request.must_be_there.get(name)
        return self.codes.code(name) if numbers is None else self.codes.steps(numbers)

    def _require_known(self) -> list[Expression]:
        """Return what must be so of the table's own columns: nothing that is needed is missing."""
        numbers = self.request.must_be_there.values()
        tests = [self.codes.is_known(of) for of in numbers if not of.is_plain or not self.ensured.issuperset(of.stored)]
        if self.request.unit is not None:
            tests.append(present(column(self.request.unit)))
        return tests

    @cached_property
    def _aliases(self) -> dict[str, str]:
        """What the columns that the condition looks at are called, once they are read."""
        condition = self.request.condition
        return {} if condition is None else {node.name: f"c{i}" for i, node in enumerate(condition.columns())}

    def _read_group(self, group: Group) -> Expression:
        """Return what rows are grouped by: keys as they are if they are turned into numbers later, and steps."""
        if isinstance(group.column, DerivedKeys):
            return self.codes.wholes.code(group.column.whole)
        if isinstance(group.column, Keys):
            stored = self.codes.stored(group.column)
            return stored if self.request.unit is None else self.codes.key(group.column, stored)
        told_by_steps = group.has_all_steps or self._is_numbered_last(group)
        return self.codes.steps(group.column) if told_by_steps else self.codes.steps_as_double(group.column)

    def _is_numbered_last(self, group: Group) -> bool:
        """Return whether rows are added up by what a column holds, and its groups are given their numbers then.

        That is quicker than the other way round, where the column is one of keys, or made and of few values.
        """
        if self.request.unit is not None or isinstance(group.column, DerivedKeys):
            return False
        return not isinstance(group, Bins) or (isinstance(group.column, DerivedNumbers) and group.has_values_apart)

    # The rows that the question is about.

    def _filter_rows(self) -> list[Expression]:
        request = self.request
        tests: list[Expression] = []
        if request.unit is not None:
            tests += [present(exp.column(f"g{i}")) for i in range(len(request.groups))]
        if request.condition is not None:
            aliases = self._aliases
            test = build_condition(request.condition, request.columns, lambda name: exp.column(aliases[name]))
            tests.append(exp.paren(test))
        return tests

    # Adding up.

    def _tell_apart(self) -> list[Expression]:
        """Return what rows are told apart by: their groups, and their bucket."""
        keys: list[Expression] = []
        for i, group in enumerate(self.request.groups):
            code = exp.column(f"g{i}")
            binned = isinstance(group, Bins) and not group.has_all_steps and not self._is_numbered_last(group)
            keys.append(self.codes.bin(group, code) if binned else code)
        if self.request.bucket == 1:
            keys.append(exp.column("v"))
        elif self.request.bucket:
            keys.append(divide(exp.column("v"), whole(self.request.bucket)))
        return [named(key, f"k{i}") for i, key in enumerate(keys)]

    def _add_up_rows(self, rows: exp.Select) -> exp.Select:
        """Add up rows that are units of their own: how many, and their sum."""
        keys = self._tell_apart()
        counted = exp.column("v") if self.request.skips_missing else exp.Star()
        totals: dict[str, Expression] = {"n": exp.Count(this=counted)}
        if self.request.sums:
            totals["s"] = self.dialect.total(exp.column("v"))
        if self.request.parts:
            products = enumerate(self.request.products)
            totals = {f"q{i}": self.dialect.total(product_of(product)) for i, product in products}
        named_totals = [named(total, name) for name, total in totals.items()]
        totals_by_key = grouped(rows.select(*keys, *named_totals, copy=False), len(keys))
        if not any(map(self._is_numbered_last, self.request.groups)):
            return totals_by_key
        # Several of what a column holds may be one group, so what was added up by it is added up again by number.
        codes: list[Expression] = [exp.column(f"k{i}") for i in range(len(keys))]
        for i, group in enumerate(self.request.groups):
            codes[i] = self._number_group(group, codes[i]) if self._is_numbered_last(group) else codes[i]
        sums = [named(exp.Sum(this=exp.column(name)), name) for name in totals]
        return grouped(exp.select(*codes, *sums).from_(totals_by_key.subquery("k", copy=False), copy=False), len(codes))

    def _number_group(self, group: Group, value: Expression) -> Expression:
        """Return the number of a group, given what the column holds."""
        return self.codes.key(group.column, value) if isinstance(group.column, Keys) else self.codes.bin(group, value)

    def _add_up_units(self, rows: exp.Select) -> exp.Select:
        """Add up rows by unit, weigh what each unit has in a group, and add that up."""
        keys = self._tell_apart()
        unit: Expression = named(exp.column("u"), "u")
        parts = grouped(rows.select(unit, *keys, *self._add_up_parts(), copy=False), 1 + len(keys))
        shares = [weigh(total, self.request.weights) for total in self.request.totals]
        shares += [share(exp.column(f"q{i}"), self.request.weights) for i in range(len(self.request.products))]
        totals = [named(self.dialect.total(value), f"t{i}") for i, value in enumerate(shares)]
        select = exp.select(*(f"k{i}" for i in range(len(keys))), *totals)
        sums = self._join_all_rows(select, parts, is_one=not keys)
        return grouped(sums.where(compare(EVERY, "<=", whole(MOST_ROWS)), copy=False), len(keys))

    def _join_all_rows(self, sums: exp.Select, parts: exp.Select, *, is_one: bool) -> exp.Select:
        """Select from the parts of each unit together with `m`, how many rows the unit has in all.

        The parts are added up by unit and joined to themselves, which takes half as long as a window over them; but
        where they would be read twice, a unit might have more rows the second time, and so more than it may count for.
        """
        if is_one:  # a unit has one part
            every = [named(self._limit_rows(count), f"m{end}") for end, count in self._counts.items()]
            return sums.from_(parts.select(*every, copy=False).subquery("p", copy=False), copy=False)
        rows = {end: exp.Sum(this=exp.column(f"n{end}")) for end in self._counts}
        if self.dialect.reads_twice:
            windows = {end: exp.Window(this=of, partition_by=[exp.column("u")]) for end, of in rows.items()}
            every = [named(self._limit_rows(window), f"m{end}") for end, window in windows.items()]
            each = exp.select("*", *every).from_(parts.subquery("p", copy=False))
            return sums.from_(each.subquery("w", copy=False), copy=False)
        every = [named(self._limit_rows(of), f"m{end}") for end, of in rows.items()]
        together = exp.select("u", *every).from_("p").group_by("u").subquery("w")
        same = exp.column("u", "p").eq(exp.column("u", "w"))
        return sums.with_("p", as_=parts, copy=False).from_("p", copy=False).join(together, on=same, copy=False)

    def _add_up_parts(self) -> list[Expression]:
        """Return the rows of a unit in a group and their sum, cut where the unit has too many rows to count."""
        request = self.request
        sums: list[Expression] = [named(self._limit_rows(self._count_rows()), "n")]
        if request.sums:
            most = (request.value.steps if isinstance(request.value, Numbers) else 1) * MOST_ROWS
            sums.append(named(cap(self.dialect.total(exp.column("v")), most), "s"))
        most = prod(part.whole for part in request.parts) * MOST_ROWS
        totals = [self.dialect.total(product_of(product)) for product in request.products]
        return sums + [named(cap(total, most), f"q{i}") for i, total in enumerate(totals)]

    @property
    def _counts(self) -> dict[str, Expression]:
        """How many rows a unit has in a group, by what the names of this and of what follows from it end with."""
        return {"": self._count_rows()}

    def _count_rows(self) -> Expression:
        return whole(1) if self.request.distinct else exp.Count(this=exp.Star())

    def _limit_rows(self, rows: Expression) -> Expression:
        """Return how many rows a unit has in all, or the most that are told apart."""
        return rows if isinstance(rows, exp.Literal) else cap(rows, MOST_ROWS + 1)
