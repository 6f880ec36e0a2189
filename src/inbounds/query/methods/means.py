"""How sums, means and proportions are planned: from one sum over rows, or from two."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

from inbounds.bounds import Bounds
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.columns.column import Numbers
from inbounds.query.methods.mechanism_choice import choose
from inbounds.query.methods.planner import Planned, Planner, hull
from inbounds.query.methods.ratio import Ratio, TotalsOfColumn
from inbounds.query.methods.ratio_noise import RatioNoise
from inbounds.query.question.measure import Mean, Proportion, Sum
from inbounds.query.question.shared_measures import Totals
from inbounds.query.statement.request import Request, Total


def plan_sum(planner: Planner, measure: Sum) -> Planned:
    """Add up the values of a column."""
    column = planner.no_dates(measure.column, "sum")
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
    totals = (Total(0, 1), Total(column.steps, -1))
    request = planner.request(totals, column.steps, value=column)
    return _ratio(planner, request, column.step, column.low, column.high, hull(column)), request


def plan_totals(planner: Planner, measure: Totals) -> Planned:
    """Answer with the two sums behind a mean, which tell the count and the sum as well."""
    column = planner.question.table.numbers(measure.column)
    if any(one.adds_values for one in measure.of):
        planner.grain(planner.no_dates(measure.column, "sum"))
    request = planner.request((Total(0, 1), Total(column.steps, -1)), column.steps, value=column)
    ratio = _ratio(planner, request, column.step, column.low, column.high, hull(column))
    counts = planner.counts(planner.question.table.limit)
    shared = {part.name: getattr(ratio, part.name) for part in fields(ratio)}
    return TotalsOfColumn(**shared, of=measure.of, counts=counts, sums=planner.sums(column)), request


def plan_proportion(planner: Planner, measure: Proportion) -> Planned:
    """Answer as with a mean: of 1 where the condition is true, and of 0 elsewhere."""
    if planner.is_over_all_units:
        return _proportion_of_public_number(planner, measure)
    request = planner.request((Total(0, 1), Total(1, -1)), 1, value=measure.condition)
    return _ratio(planner, request, Fraction(1), Fraction(0), Fraction(1), Bounds(0, 1)), request


def _ratio(planner: Planner, request: Request, step: Fraction, low: Fraction, high: Fraction, bounds: Bounds) -> Ratio:
    """Answer with two draws.  A unit changes both of them, unless it is one row and that is all of one of them."""
    one_of_two = planner.question.table.rows_are_units and step == high - low
    guarantee: GuaranteeName = "standard" if one_of_two else "distance"
    sensitivity = planner.question.table.limit * (high - low)
    fine = step / request.weights.one
    choice = choose(Bounds(0, None, step=fine), sensitivity, planner.epsilon, guarantee, planner.pooling)
    noise = RatioNoise.of(choice.mechanism, fine, sensitivity / planner.epsilon)
    return Ratio(choice, guarantee, sensitivity, bounds, fine, low, high, noise)


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
