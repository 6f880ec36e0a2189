"""How moments are planned: values are cut into parts, as finely as integers of 64 bits allow, and those added up."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, prod

from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.columns.column import Numbers
from inbounds.query.methods.mechanism_choice import choose_noise
from inbounds.query.methods.moments.moments import MomentsOfColumns
from inbounds.query.methods.moments.noise import SumNoise
from inbounds.query.methods.moments.statistic import MomentColumn
from inbounds.query.methods.moments.tails import Tails
from inbounds.query.methods.planner import Planned, Planner, hull
from inbounds.query.question.measure import Measure, Moment
from inbounds.query.question.shared_measures import Moments
from inbounds.query.statement.request import Parts, Request

MOST_UNITS = 2**30
"""A value is counted in at most so many units: its square stays below 2**63."""

MOST_WHOLE = {1: 2**35, 2: 2**17}
"""The parts of a value add up to at most this, in questions about one column and about two: the products of a row stay
below 2**35, and times `MOST_ROWS` below 2**63."""

PLACES = {2: (Fraction(0), Fraction(1)), 3: (Fraction(0), Fraction(1, 2), Fraction(1))}
"""Where the parts of a value stand: two of them or three."""


def plan_moment(planner: Planner, measure: Moment) -> Planned:
    """Answer one by itself as if it were several."""
    return plan_moments(planner, Moments.join([measure]))


def plan_moments(planner: Planner, measure: Moments) -> Planned:
    """Answer with the sums of all parts of rows, which a row of any value moves by its weight together."""
    # Refuse what cannot be added up; cut the values of each column; ask for all products of parts; plan their noise.
    columns = [planner.question.table.numbers(node) for node in measure.columns]
    for node in (node for asked in measure.of if asked.adds_values for node in asked.nodes):
        planner.grain(planner.question.table.addends(node))
    squares = any(asked.needs_squares for asked in measure.of)
    parts = tuple(parts_of(column, squares=squares, columns=len(columns)) for column in columns)
    whole = prod(cut.whole for cut in parts)
    request = planner.request((), whole, parts=parts)
    cut = [moment_column(planner, column, PLACES[of.count]) for column, of in zip(columns, parts, strict=True)]
    return noisy_sums(MomentsOfColumns, planner, request, cut, measure.of, row=Fraction(1), whole=whole), request


def moment_column(planner: Planner, column: Numbers, places: tuple[Fraction, ...]) -> MomentColumn:
    """Return a column whose values are cut into parts at these places."""
    return MomentColumn(column.name, column.low, column.high, hull(column), planner.sums(column), places)


def noisy_sums(
    kind: type[MomentsOfColumns],
    planner: Planner,
    request: Request,
    columns: Sequence[MomentColumn],
    of: Sequence[Measure],
    *,
    row: Fraction,
    whole: int,
) -> MomentsOfColumns:
    """Answer with a draw for each sum; a row of any value adds `row` to them together, and `whole` in their integers.

    A unit changes all of them, unless it is one row and that is all of one of them.
    """
    table = planner.question.table
    guarantee: GuaranteeName = "standard" if table.rows_are_units and whole == 1 else "distance"
    sensitivity, fine = table.limit * row, row / whole * request.weights.unit
    # Measured without ends, so that the law of the noise is the same wherever the sums are; answers are put in bounds.
    choice = choose_noise(fine, sensitivity, planner.epsilon, guarantee)
    noise, tails = SumNoise.of(choice.mechanism, fine, sensitivity / planner.epsilon), Tails.of(choice.mechanism)
    counts = planner.counts(table.limit)
    return kind(choice, guarantee, sensitivity, fine, row, tuple(columns), tuple(of), counts, noise, tails)


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
