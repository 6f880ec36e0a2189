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
from inbounds.query.statement.conditions import true
from inbounds.query.statement.expressions import (
    Expression,
    at_most,
    bigint,
    case,
    column,
    compare,
    divided,
    grouped,
    named,
    present,
    whole,
)
from inbounds.query.statement.partition import cut_into_parts, product_of
from inbounds.query.statement.request import Request
from inbounds.query.statement.row_weights import MOST_ROWS
from inbounds.query.statement.weighing import EVERY, share, weighed


def statement(request: Request, relation: Expression, dialect: Dialect) -> exp.Select:
    """Return the statement: one row for each group that has rows, the codes of its groups first, then the totals."""
    return _Builder(request, dialect).build(relation)


@dataclass(frozen=True)
class _Builder:
    request: Request
    dialect: Dialect

    @cached_property
    def codes(self) -> Codes:
        return Codes(self.request.columns, self.request.kinds, self.dialect)

    def build(self, relation: Expression) -> exp.Select:
        read = exp.select(*self._read()).from_(relation, copy=False).where(*self._known(), copy=False)
        if self.request.parts:
            read = cut_into_parts(self.request, read)
        kept = exp.select().from_(read.subquery("r", copy=False), copy=False).where(*self._kept(), copy=False)
        return self._rows(kept) if self.request.unit is None else self._units(kept)

    # The columns as integers.

    def _read(self) -> list[Expression]:
        request = self.request
        found = [named(self._group(group), f"g{i}") for i, group in enumerate(request.groups)]
        if isinstance(request.value, Numbers):
            found.append(named(self.codes.steps(request.value), "v"))
        elif request.value is not None:
            found.append(
                named(case([(true(request.value, request.columns, self.codes.code), whole(1))], whole(0)), "v")
            )
        found += [named(bigint(self.codes.steps(one.column)), f"v{i}") for i, one in enumerate(request.parts)]
        if request.condition is not None:
            names = [node.name for node in request.condition.columns()]
            found += [named(self._compared(name), f"c{place}") for place, name in enumerate(names)]
        if request.unit is not None:
            found.append(named(column(request.unit), "u"))
        return found or [named(whole(1), "one")]

    def _compared(self, name: str) -> Expression:
        """Return what a condition looks at: missing values are looked for once."""
        found = self.request.must_be_there.get(name)
        return self.codes.code(name) if found is None else self.codes.steps(found)

    def _known(self) -> list[Expression]:
        """Return what must be so of the table's own columns: nothing that is needed is missing."""
        found = [self.codes.is_known(numbers) for numbers in self.request.must_be_there.values()]
        if self.request.unit is not None:
            found.append(present(column(self.request.unit)))
        return found

    def _alias(self, name: str) -> str:
        assert self.request.condition is not None
        return f"c{[node.name for node in self.request.condition.columns()].index(name)}"

    def _group(self, group: Group) -> Expression:
        """Return what rows are grouped by: keys as they are if they are turned into numbers later, and steps."""
        if isinstance(group.column, DerivedKeys):
            return self.codes.wholes.code(group.column.whole)
        if isinstance(group.column, Keys):
            this = self.codes.stored(group.column)
            return this if self.request.unit is None else self.codes.key(group.column, this)
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

    def _kept(self) -> list[Expression]:
        request = self.request
        found: list[Expression] = []
        if request.unit is not None:
            found += [present(exp.column(f"g{i}")) for i in range(len(request.groups))]
        if request.condition is not None:
            found.append(
                exp.paren(true(request.condition, request.columns, lambda name: exp.column(self._alias(name))))
            )
        return found

    # Adding up.

    def _told_apart(self) -> list[Expression]:
        """Return what rows are told apart by: their groups, and their bucket."""
        found: list[Expression] = []
        for i, group in enumerate(self.request.groups):
            this = exp.column(f"g{i}")
            binned = isinstance(group, Bins) and not group.has_all_steps
            binned = binned and not self._is_numbered_last(group)
            found.append(self.codes.bin(group, this) if binned else this)
        if self.request.bucket == 1:
            found.append(exp.column("v"))
        elif self.request.bucket:
            found.append(divided(exp.column("v"), whole(self.request.bucket)))
        return found

    def _rows(self, kept: exp.Select) -> exp.Select:
        """Add up rows that are units of their own: how many, and their sum."""
        apart = [named(by, f"k{i}") for i, by in enumerate(self._told_apart())]
        counted = exp.column("v") if self.request.skips_missing else exp.Star()
        totals = {"n": exp.Count(this=counted)} | ({"s": self._added_up("v")} if self.request.sums else {})
        if self.request.parts:
            totals = {f"q{i}": self._added_up(one) for i, one in enumerate(self.request.products)}
        named_totals = [named(total, name) for name, total in totals.items()]
        found = grouped(kept.select(*apart, *named_totals, copy=False), len(apart))
        if not any(map(self._is_numbered_last, self.request.groups)):
            return found
        codes: list[Expression] = [exp.column(f"k{i}") for i in range(len(apart))]
        for i, group in enumerate(self.request.groups):
            codes[i] = self._number(group, codes[i]) if self._is_numbered_last(group) else codes[i]
        sums = [named(exp.Sum(this=exp.column(name)), name) for name in totals]
        return grouped(exp.select(*codes, *sums).from_(found.subquery("k", copy=False), copy=False), len(codes))

    def _number(self, group: Group, this: Expression) -> Expression:
        """Return the number of a group, given what the column holds."""
        return self.codes.key(group.column, this) if isinstance(group.column, Keys) else self.codes.bin(group, this)

    def _units(self, kept: exp.Select) -> exp.Select:
        apart = [named(by, f"k{i}") for i, by in enumerate(self._told_apart())]
        keys = [f"k{i}" for i in range(len(apart))]
        unit: Expression = named(exp.column("u"), "u")
        parts = grouped(kept.select(unit, *apart, *self._parts(), copy=False), 1 + len(apart))
        shares = [weighed(total, self.request.weights) for total in self.request.totals]
        shares += [share(exp.column(f"q{i}"), self.request.weights) for i in range(len(self.request.products))]
        totals = [named(self.dialect.total(one), f"t{i}") for i, one in enumerate(shares)]
        found = self._beside_all(exp.select(*keys, *totals), parts, is_one=not apart)
        return grouped(found.where(compare(EVERY, "<=", whole(MOST_ROWS)), copy=False), len(keys))

    def _beside_all(self, found: exp.Select, parts: exp.Select, *, is_one: bool) -> exp.Select:
        """Select from the parts of each unit together with `m`, how many rows the unit has in all.

        The parts are added up by unit and joined to themselves, which takes half as long as a window over them.
        """
        if is_one:  # a unit has one part
            every = whole(1) if self.request.distinct else at_most(exp.Count(this=exp.Star()), MOST_ROWS + 1)
            return found.from_(parts.select(named(every, "m"), copy=False).subquery("p", copy=False), copy=False)
        every = at_most(exp.Sum(this=exp.column("n")), MOST_ROWS + 1)
        together = exp.select("u", named(every, "m")).from_("p").group_by("u").subquery("w")
        same = exp.column("u", "p").eq(exp.column("u", "w"))
        return found.with_("p", as_=parts, copy=False).from_("p", copy=False).join(together, on=same, copy=False)

    def _parts(self) -> list[Expression]:
        """Return the rows of a unit in a group and their sum, cut where the unit has too many rows to count."""
        request = self.request
        rows = whole(1) if request.distinct else at_most(exp.Count(this=exp.Star()), MOST_ROWS + 1)
        found: list[Expression] = [named(rows, "n")]
        if request.sums:
            most = (request.value.steps if isinstance(request.value, Numbers) else 1) * MOST_ROWS
            found.append(named(at_most(self._added_up("v"), most), "s"))
        most = prod(one.whole for one in request.parts) * MOST_ROWS
        return found + [named(at_most(self._added_up(one), most), f"q{i}") for i, one in enumerate(request.products)]

    def _added_up(self, one: str | tuple[int, ...]) -> Expression:
        """Return the sum of a column of integers, or of a product of parts."""
        return self.dialect.total(exp.column(one) if isinstance(one, str) else product_of(one))
