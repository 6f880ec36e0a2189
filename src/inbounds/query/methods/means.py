"""How sums, means and proportions are planned: from one sum over rows, or from two."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from inbounds.bounds import Bounds
from inbounds.query.columns.column import Numbers
from inbounds.query.methods.moments.planning import moment_column, noisy_sums
from inbounds.query.methods.moments.ratio import Ratio, TotalsOfColumn
from inbounds.query.methods.moments.statistic import MomentColumn
from inbounds.query.methods.planner import Planned, Planner, hull
from inbounds.query.question.measure import Mean, Measure, Proportion, Sum
from inbounds.query.question.shared_measures import Totals
from inbounds.query.statement.request import Total

ABOVE_AND_BELOW = (Fraction(1), Fraction(0))
"""The two sums behind a mean grow with rows at the greatest value, and at the least."""


def plan_sum(planner: Planner, measure: Sum) -> Planned:
    """Add up the values of a column."""
    column = planner.question.table.addends(measure.column)
    grain = planner.grain(column)
    total = Total(int(column.low / grain), int(column.step / grain))
    most = max(abs(column.low), abs(column.high))
    request = planner.request((total,), int(most / grain), value=column)
    return planner.number_or_table(request, planner.sums(column), grain, planner.question.table.limit * most)


def plan_mean(planner: Planner, measure: Mean) -> Planned:
    """Answer with two sums over rows, or with one where the number of rows is public."""
    column = planner.question.table.numbers(measure.column)
    if planner.is_over_all_units:
        return _mean_of_public_number(planner, column)
    return _two_sums(Ratio, planner, column, (measure,))


def plan_totals(planner: Planner, measure: Totals) -> Planned:
    """Answer with the two sums behind a mean, which tell the count and the sum as well."""
    column = planner.question.table.numbers(measure.column)
    if any(asked.adds_values for asked in measure.of):
        planner.grain(planner.question.table.addends(measure.column))
    return _two_sums(TotalsOfColumn, planner, column, measure.of)


def plan_proportion(planner: Planner, measure: Proportion) -> Planned:
    """Answer as with a mean: of 1 where the condition is true, and of 0 elsewhere."""
    if planner.is_over_all_units:
        return _proportion_of_public_number(planner, measure)
    request = planner.request((Total(0, 1), Total(1, -1)), 1, value=measure.condition)
    column = MomentColumn("", Fraction(0), Fraction(1), Bounds(0, 1), Bounds(0, None, step=1), ABOVE_AND_BELOW)
    return noisy_sums(Ratio, planner, request, [column], (measure,), row=Fraction(1), whole=1), request


def _two_sums(kind: type[Ratio], planner: Planner, column: Numbers, of: Sequence[Measure]) -> Planned:
    """Add up the distances from the least value, and those from the greatest."""
    request = planner.request((Total(0, 1), Total(column.steps, -1)), column.steps, value=column)
    columns = [moment_column(planner, column, ABOVE_AND_BELOW)]
    answering = noisy_sums(kind, planner, request, columns, of, row=column.high - column.low, whole=column.steps)
    return answering, request


def _mean_of_public_number(planner: Planner, column: Numbers) -> Planned:
    """Add up distances from the middle, twice over; missing values count as the middle."""
    units = planner.question.table.units
    assert units is not None
    request = planner.request((Total(-column.steps, 2),), column.steps, value=column)
    sensitivity = (column.high - column.low) / units  # of replacing a unit's row by another
    middle = (column.low + column.high) / 2
    return planner.one_number(request, hull(column), column.step / 2 / units, sensitivity, middle), request


def _proportion_of_public_number(planner: Planner, measure: Proportion) -> Planned:
    units = planner.question.table.units
    assert units is not None
    request = planner.request((Total(0, 1),), 1, value=measure.condition)
    part = Fraction(1, units)
    return planner.one_number(request, Bounds(0, 1, step=part), part, part), request
