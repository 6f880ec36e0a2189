"""One statement for several requests about the same rows: these are read, joined and told apart once.

What is counted, added up and weighed is named by the value that it is of: `v0`, `n0`, `s0` and `m0` are the first one,
how many rows of a unit in a group have it, their sum, and how many rows of the unit have it in all.  So a row without
the value of one measure counts for the others, and every total is the one that a statement of its own has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from inbounds.query.columns.column import Numbers
from inbounds.query.engines.engine import Dialect
from inbounds.query.expressions.condition import Condition
from inbounds.query.statement.builder import StatementBuilder
from inbounds.query.statement.conditions import build_condition
from inbounds.query.statement.expressions import Expression, cap, case, column, compare, grouped, named, whole
from inbounds.query.statement.request import Request
from inbounds.query.statement.row_weights import MOST_ROWS
from inbounds.query.statement.weighing import weigh


def can_share(request: Request) -> bool:
    """Return whether a request may share its statement: it adds up rows of units, and a row is a row."""
    return request.unit is not None and not request.bucket and not request.distinct and not request.parts


def share_rows(requests: Sequence[Request]) -> Request:
    """Return what requests about the same rows have in common: how rows are told apart, and which of them count."""
    columns = {name: field for request in requests for name, field in request.columns.items()}
    values = {request.value.name: request.value for request in requests if isinstance(request.value, Numbers)}
    return replace(requests[0], columns={**columns, **values}, value=None, totals=())


def build_shared_statement(
    requests: Sequence[Request], relation: Expression, dialect: Dialect, ensured: frozenset[str]
) -> exp.Select:
    """Return the statement: the codes of a group first, then the totals of each request in turn."""
    return _SharedBuilder(share_rows(requests), dialect, ensured, tuple(requests)).build(relation)


@dataclass(frozen=True)
class _SharedBuilder(StatementBuilder):
    requests: tuple[Request, ...]

    @cached_property
    def _values(self) -> list[Numbers | Condition | None]:
        """What is added up or counted, each once; None for the rows themselves."""
        values: list[Numbers | Condition | None] = []
        for request in self.requests:
            if request.value not in values:
                values.append(request.value)
        return values

    def _read_columns(self) -> list[Expression]:
        read = super()._read_columns()
        for i, value in enumerate(self._values):
            if isinstance(value, Numbers):
                read.append(named(self.codes.code(value.name), f"v{i}"))
            elif value is not None:
                test = build_condition(value, self.request.columns, self.codes.code)
                read.append(named(case([(test, whole(1))], whole(0)), f"v{i}"))
        return read

    @property
    def _counts(self) -> dict[str, Expression]:
        """Rows of a unit in a group; of those with a number, where one is added up."""
        counted = {
            str(i): exp.column(f"v{i}") if isinstance(value, Numbers) else exp.Star()
            for i, value in enumerate(self._values)
        }
        return {end: exp.Count(this=of) for end, of in counted.items()}

    def _add_up_parts(self) -> list[Expression]:
        parts: list[Expression] = [named(cap(count, MOST_ROWS + 1), f"n{end}") for end, count in self._counts.items()]
        for i, value in enumerate(self._values):
            if any(request.sums for request in self.requests if request.value == value):
                most = (value.steps if isinstance(value, Numbers) else 1) * MOST_ROWS
                # A unit may have no row with this value at all, and the least of nothing and an end is the end.
                total = exp.Coalesce(this=self.dialect.total(exp.column(f"v{i}")), expressions=[whole(0)])
                parts.append(named(cap(total, most), f"s{i}"))
        return parts

    def _limit_rows(self, rows: Expression) -> Expression:
        """Return how many rows a unit has, at least 1: it may have none with a number, and that is divided by."""
        return super()._limit_rows(exp.Anonymous(this="GREATEST", expressions=[rows, whole(1)]))

    def _add_up_units(self, rows: exp.Select) -> exp.Select:
        keys = self._tell_apart()
        selected = named(exp.column("u"), "u"), *keys, *self._add_up_parts()
        parts = grouped(rows.select(*selected, copy=False), 1 + len(keys))
        totals = [total for request in self.requests for total in self._weigh(request)]
        select = exp.select(*(f"k{i}" for i in range(len(keys))), *(named(of, f"t{i}") for i, of in enumerate(totals)))
        return grouped(self._join_all_rows(select, parts, is_one=not keys), len(keys))

    def _weigh(self, request: Request) -> list[Expression]:
        """Return the totals of a request over all units but those with too many rows to count."""
        end = str(self._values.index(request.value))
        counts = compare(column(f"m{end}"), "<=", whole(MOST_ROWS))
        shares = [weigh(total, request.weights).transform(_rename, end) for total in request.totals]
        return [self.dialect.total(case([(counts, share)])) for share in shares]


def _rename(node: Expression, end: str) -> Expression:
    return exp.column(f"{node.name}{end}") if isinstance(node, exp.Column) else node
