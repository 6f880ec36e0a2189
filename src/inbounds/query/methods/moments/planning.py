"""How moments are planned: values are cut into parts, as finely as integers of 64 bits allow, and those added up."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, prod

from inbounds.bounds import Bounds
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.columns.column import Numbers
from inbounds.query.methods.mechanism_choice import choose
from inbounds.query.methods.moments.moments import MomentsOfColumns
from inbounds.query.methods.moments.statistics import MomentColumn
from inbounds.query.methods.planner import Planned, Planner, hull
from inbounds.query.methods.ratio_noise import RatioNoise
from inbounds.query.question.measure import Moment
from inbounds.query.question.shared_measures import Moments
from inbounds.query.statement.request import Parts

MOST_UNITS = 2**30
"""A value is counted in at most so many units: its square stays below 2**63."""

MOST_WHOLE = {1: 2**35, 2: 2**17}
"""The parts of a value add up to at most this, in questions about one column and about two: the products of a row stay
below 2**35, and times `MOST_ROWS` below 2**63."""


def plan_moments(planner: Planner, asked: Moments | Moment) -> Planned:
    """Answer with the sums of all parts of rows, which a row of any value moves by its weight together."""
    measure = Moments.joining([asked]) if isinstance(asked, Moment) else asked
    columns = [planner.question.table.numbers(name) for name in measure.columns]
    for name in (name for one in measure.of if one.adds_values for name in one.nodes):
        planner.grain(planner.no_dates(name, "sum"))
    squares = any(one.needs_squares for one in measure.of)
    parts = tuple(parts_of(one, squares=squares, columns=len(columns)) for one in columns)
    whole = prod(one.whole for one in parts)
    request = planner.request((), whole, parts=parts)
    one_of_all = planner.question.table.rows_are_units and whole == 1
    guarantee: GuaranteeName = "standard" if one_of_all else "distance"
    limit, fine = Fraction(planner.question.table.limit), Fraction(1, whole * request.weights.one)
    choice = choose(Bounds(0, None, step=fine), limit, planner.epsilon, guarantee, planner.pooling)
    noise = RatioNoise.of(choice.mechanism, fine, limit / planner.epsilon)
    counts = planner.counts(planner.question.table.limit)
    of_columns = tuple(
        MomentColumn(
            column.name,
            column.low,
            column.high,
            hull(column),
            planner.sums(column),
            cut.count,
        )
        for column, cut in zip(columns, parts, strict=True)
    )
    answering = MomentsOfColumns(choice, guarantee, limit, fine, of_columns, measure.of, counts, noise.each)
    return answering, request


def parts_of(column: Numbers, *, squares: bool, columns: int) -> Parts:
    """Return how the values of a column are cut; two values have no square of their own."""
    width = 1
    while _nearest(column.steps, width) > MOST_UNITS:
        width *= 2
    steps, is_square = _nearest(column.steps, width), squares and column.steps > 1
    divisor = ceil(Fraction(steps**2 if is_square else steps, MOST_WHOLE[columns]))
    return Parts(column, width, steps, divisor, is_square)


def _nearest(steps: int, width: int) -> int:
    return (steps + width // 2) // width
