"""How far off answers are predicted to be, and whether that is within a wanted error.

What is compared is what an explanation predicts: a mean over draws, and no bound.  Of quantiles and cumulative shares
no mean is predicted, but a distance that they stay within with the usual confidence: in ranks, and as a share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from inbounds.accuracy.confidence import percent
from inbounds.display.figures import format_error
from inbounds.errors import InvalidParameter
from inbounds.query.methods.plan import Plan
from inbounds.query.question.measure import Cdf, Count, CountOf, CountUnits, Measure, Sum
from inbounds.query.question.question import Question
from inbounds.results.wanted_error import Wanted

ROWS_REMEDY = "say how many rows to assume in each group, such as rows=1000 (--rows 1000)"


@dataclass(frozen=True)
class PredictedError:
    """How far off one measure is predicted to be, and how far off it may be."""

    measure: str
    error: float
    allowed: float
    rows: int | None
    """The number of rows that it was predicted for; None if it is the same for all."""
    is_mean: bool
    """Whether it is a mean; else it is kept within with the usual confidence."""
    in_ranks: bool

    @property
    def ratio(self) -> float:
        """The error, as a part of what is allowed."""
        return self.error / self.allowed

    def __str__(self) -> str:
        ranks = " ranks" if self.in_ranks else ""
        at = "" if self.rows is None else f" at {self.rows:,} rows"
        how = "on average" if self.is_mean else f"with {percent()} probability"
        return f"{self.measure} off by {'' if self.is_mean else 'at most '}{format_error(self.error)}{ranks} {how}{at}"


def predict_errors(plans: Sequence[Plan], wanted: Wanted, rows: int | None) -> tuple[PredictedError, ...]:
    """Return what is predicted of every measure of some plans; `rows` are assumed in each group, if given."""
    return tuple(
        _predict(plan, place, measure, wanted, rows)
        for plan in plans
        for place, measure in enumerate(_measures_of(plan))
    )


def _measures_of(plan: Plan) -> tuple[Measure, ...]:
    """Return what a plan answers, column by column; quantiles are released together, and off alike."""
    measure = plan.question.measure
    several: tuple[Measure, ...] = getattr(measure, "of", ())
    return several or (measure,)


def _predict(plan: Plan, place: int, measure: Measure, wanted: Wanted, rows: int | None) -> PredictedError:
    # The number of rows it is predicted for, the error there, and what is allowed.
    answering = plan.answering
    assumed = _public_rows(plan.question) if rows is None else rows
    error = answering.predicted_error(place, assumed)
    if error is None:
        raise InvalidParameter(
            f"the error of {measure} depends on the number of rows, which is not public; {ROWS_REMEDY}"
        )
    depends = answering.predicted_error(place, None) is None
    in_ranks, is_mean = answering.is_in_ranks, not (answering.is_in_ranks or isinstance(measure, Cdf))
    allowed = _allowed(plan, place, measure, wanted, assumed)
    return PredictedError(str(measure), error, allowed, assumed if depends else None, is_mean, in_ranks)


def _public_rows(question: Question) -> int | None:
    """Return how many rows a question is about, if that is public."""
    whole = question.condition is None and not question.groups
    return _all_rows(question) if whole else None


def _all_rows(question: Question) -> int | None:
    """Return how many rows the table has, if that is public."""
    table = question.table
    if table.known.total is not None:
        return table.known.total
    return table.units if table.limit == 1 else None


def _allowed(plan: Plan, place: int, measure: Measure, wanted: Wanted, rows: int | None) -> float:
    """Return how far off a measure may be, in the unit of its answer, or in ranks."""
    if not wanted.in_percent:
        if plan.answering.is_in_ranks:
            raise InvalidParameter(
                f"the error of {measure} is predicted in ranks, not in values, got the error {wanted}; "
                'give it as a percentage of the rows, such as "2 %"'
            )
        return float(wanted.size)
    whole = _whole(plan, place, measure, rows)
    if whole is None or not isfinite(whole) or whole <= 0:
        number = ROWS_REMEDY if plan.answering.is_in_ranks else f"give a number instead of {wanted}, or {ROWS_REMEDY}"
        raise InvalidParameter(f"{wanted} of {measure} is not known, for no number of rows is public; {number}")
    return float(wanted.size) / 100 * whole


def _whole(plan: Plan, place: int, measure: Measure, rows: int | None) -> float | None:
    """Return what a percentage is of: rows, units, the greatest sum of the rows, or the range of possible answers."""
    question = plan.question
    if rows is None:
        rows = question.table.units if isinstance(measure, CountUnits) else _all_rows(question)
    if plan.answering.is_in_ranks or isinstance(measure, Count | CountOf | CountUnits):
        return rows
    if isinstance(measure, Sum):
        column = question.table.addends(measure.column)
        return None if rows is None else rows * float(max(abs(column.low), abs(column.high)))
    return plan.answering.spread(place)
