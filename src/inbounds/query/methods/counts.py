"""How counts are planned: of rows, of units and of keys, and the shares of rows that add up to one."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from fractions import Fraction
from math import prod

from inbounds.bounds import Bounds
from inbounds.errors import InvalidQuestion
from inbounds.query.methods.category_count import KeysPresent
from inbounds.query.methods.cdf import CumulativeShares
from inbounds.query.methods.planner import WHOLE_ROWS, Planned, Planner
from inbounds.query.question.group import by_key
from inbounds.query.question.measure import Cdf, Count, CountKeys, CountUnits
from inbounds.query.question.question import check_size


def plan_count(planner: Planner, _: Count) -> Planned:
    """Count rows."""
    request = planner.request((WHOLE_ROWS,), 1)
    limit = planner.question.table.limit
    return planner.number_or_table(request, planner.counts(limit), Fraction(1), Fraction(limit))


def plan_units(planner: Planner, _: CountUnits) -> Planned:
    """Count units; in a table with totals each of them counts once in all, shared over its groups."""
    once = planner.one_group or planner.question.sets is not None
    limit = 1 if once else min(planner.question.table.limit, planner.question.cells)
    request = planner.request((WHOLE_ROWS,), 1, distinct=not planner.question.table.rows_are_units, limit=limit)
    if planner.question.sets is None:
        return planner.one_number(request, planner.counts(1), Fraction(1), Fraction(limit)), request
    return planner.table(request, planner.counts(1), Fraction(1), Fraction(limit))


def plan_keys(planner: Planner, measure: CountKeys) -> Planned:
    """Count keys by the units in each: one unit moves those by as many as its limit, and so the keys."""
    question, table = planner.question, planner.question.table
    if any(group.column.node == measure.column for group in question.groups):
        raise InvalidQuestion(
            f"{measure.column.name} is also grouped by, so each group would hold one category; leave one of the two out"
        )
    groups = (*question.groups, by_key(table.column(measure.column)))
    check_size(replace(question, groups=groups))
    limit = min(table.limit, prod(group.size for group in groups))
    request = planner.request((WHOLE_ROWS,), 1, distinct=not table.rows_are_units, limit=limit)
    cells = Counter(cell[:-1] for cell in question.cells_of(groups))
    of_each = tuple(cells[tuple(code or 0 for code in row)] for row in question.rows)
    if not max(of_each):
        raise InvalidQuestion(f"no category of {measure.column.name} can meet the condition; change the condition")
    number = planner.one_number(request, Bounds(0, max(of_each), step=1), Fraction(1), Fraction(limit))
    shared = {part.name: getattr(number, part.name) for part in fields(number)}
    answering = KeysPresent(**shared, unit_weight=request.weights.one, of_each=of_each)
    return answering, replace(request, groups=groups)


def plan_shares(planner: Planner, _: Cdf) -> Planned:
    """Answer with the rows of all bins, added up from the least value on."""
    if planner.pooling is not None:
        raise InvalidQuestion("pooling does not apply to a cumulative distribution; leave it out")
    request = planner.request((WHOLE_ROWS,), 1)
    limit, grain = Fraction(planner.question.table.limit), request.weights.unit
    return CumulativeShares.of(len(planner.question.rows), planner.epsilon, limit, grain), request
