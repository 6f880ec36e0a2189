"""Intervals in values around quantiles: from other quantiles in the same answer, and from what it tells of the rows.

How many rows there are at least is public, or follows from a count of the rows in which the column has a value: its
interval misses with a tenth of the odds that the quantiles of a group may miss with together.  All of it is computed
from what was released, so it costs nothing; what is found is kept with the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite

from inbounds.query.answer.public_knowledge import public_values
from inbounds.query.expressions.node import Node, literal
from inbounds.query.methods.method import Answered
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.quantiles.quantiles import QuantilesInOrder
from inbounds.query.methods.quantiles.value_intervals import misses, rows_needed, value_intervals
from inbounds.query.question.among import counted_column
from inbounds.query.question.impossible_condition import is_there
from inbounds.query.question.measure import Count, Measure
from inbounds.query.question.quantile import Quantile
from inbounds.query.question.question import Question
from inbounds.query.question.shared_measures import Quantiles
from inbounds.results.answer import Answer

COUNT_ODDS = 0.1
"""This part of the odds is for the number of rows, which takes far less of them than the ranks do."""

LEAST_KEPT = Fraction(7, 8)
"""Of the weight of a row of a unit over the limit so much is left where it is rounded down in each value by itself.

No row weighs less than 8 units: 2**29 of them over `MOST_ROWS`.
"""

Places = Sequence[tuple[int, int]]
Answers = Sequence[Sequence[tuple[Answered, ...]]]


def add_quantile_intervals(
    plans: Sequence[Plan], places: Places, measures: Sequence[Measure], answers: Answers, confidences: Sequence[float]
) -> Answers:
    """Return answers with intervals in values around quantiles, as far as they follow."""
    found = list(answers)
    for which, (plan, confidence) in enumerate(zip(plans, confidences, strict=True)):
        if isinstance(plan.answering, QuantilesInOrder):
            known = _Rows.of(plan.question, places, measures)
            if known is not None:
                found[which] = _with_intervals(plan, plan.answering, known, answers, which, 1 - confidence)
    return found


def _with_intervals(
    plan: Plan, answering: QuantilesInOrder, known: _Rows, answers: Answers, which: int, odds: float
) -> list[tuple[Answered, ...]]:
    off = misses(answering.law, odds if known.place is None else odds * (1 - COUNT_ODDS))
    rows = known.least(answers, 1 - odds * COUNT_ODDS)
    kept = 1.0 if plan.question.table.rows_are_units else float(LEAST_KEPT)
    return [
        tuple(
            replace(cell, interval=ends)
            for cell, ends in zip(
                cells, value_intervals(answering.law, off, kept * least, [cell.value for cell in cells]), strict=True
            )
        )
        for cells, least in zip(answers[which], rows, strict=True)
    ]


@dataclass(frozen=True)
class _Rows:
    """What is known of the numbers of rows in which a column has a value."""

    place: tuple[int, int] | None
    """Which answer counts them; None if their numbers are public."""
    public: tuple[float, ...] = ()

    @classmethod
    def of(cls, question: Question, places: Places, measures: Sequence[Measure]) -> _Rows | None:
        """Return what is known for the quantiles of a question; None if nothing is."""
        assert isinstance(question.measure, Quantile | Quantiles)
        column = question.measure.column
        has_values = is_there(question.table, question.condition, column)
        if has_values and (public := _public_rows(question)) is not None:
            return cls(None, public)
        counts = (
            place
            for place, measure in zip(places, measures, strict=True)
            if (has_values and measure == Count()) or counted_column(measure) == column
        )
        place = next(counts, None)
        return None if place is None else cls(place)

    def least(self, answers: Answers, confidence: float) -> list[float]:
        """Return how many rows each group has at least, with a confidence; 0 where nothing says."""
        if self.place is None:
            return list(self.public)
        which, column = self.place
        surer = (cells[column].surer for cells in answers[which])
        return [0.0 if at is None else float(at(confidence)[0]) for at in surer]  # type: ignore[arg-type]


def _public_rows(question: Question) -> tuple[float, ...] | None:
    """Return the number of rows of each group, if the contract tells it."""
    public = public_values(question, (Count(),)).get(Count())
    if public is None or not question.table.rows_are_units:
        return None
    return tuple(float(public.values.get(tuple(keys)) or 0) for keys in question.row_keys)


# In words.


def describe_at_once(at_once: int) -> str:
    """Say how sure each of so many intervals is where all of them hold at once."""
    if at_once == 1:
        return "There is one interval."
    return f"All {at_once:,} intervals hold at once: each of them misses with 1/{at_once:,} of the odds."


def describe_intervals(plans: Sequence[Plan], places: Places, measures: Sequence[Measure]) -> list[str]:
    """Say of quantiles which intervals in values there will be, or how to ask for them."""
    said = []
    for plan in plans:
        measure = plan.question.measure
        if isinstance(measure, Quantile | Quantiles):
            remedy = _find_remedy(plan.question, places, measures)
            said.append(_foresee(plan, plan.answering) if remedy is None else remedy)  # type: ignore[arg-type]
    return said


def _foresee(plan: Plan, answering: QuantilesInOrder) -> str:
    needed = rows_needed(answering.law, misses(answering.law, 0.05 * (1 - COUNT_ODDS)))
    first = min(min(ends) for ends in needed)
    both = [max(ends) for ends in needed if isfinite(max(ends))]
    if not isfinite(first):
        return (
            f"{plan.question.measure}: no intervals in values, for the levels are too close; name some farther apart."
        )
    then = f", on both sides from about {_round_up(max(both))}" if both else ", on one side"
    return f"{plan.question.measure}: intervals in values from about {_round_up(first)} rows on{then}."


def _round_up(rows: float) -> str:
    return f"{float(f'{rows * 1.05:.1e}'):,.0f}"


def remark_quantiles(
    released: Answer, questions: Sequence[Question], places: Places, measures: Sequence[Measure]
) -> Iterator[str]:
    """Yield how to ask for intervals in values, for quantiles of which an answer has none."""
    for which, question in enumerate(questions):
        if not isinstance(question.measure, Quantile | Quantiles):
            continue
        own = [at for at, (of, _) in enumerate(places) if of == which]
        if any(row[at] is not None for row in released.intervals for at in own):
            continue
        remedy = _find_remedy(question, places, measures)
        yield remedy or (
            f"{question.measure}: no intervals in values, for there are too few rows; ask with a larger epsilon, or "
            "for levels farther apart."
        )


def _find_remedy(question: Question, places: Places, measures: Sequence[Measure]) -> str | None:
    """Say what to ask so that quantiles have intervals; None if they can have them as they are asked for."""
    measure = question.measure
    assert isinstance(measure, Quantile | Quantiles)
    count = "" if _Rows.of(question, places, measures) is not None else f"COUNT({measure.column}), "
    if isinstance(measure, Quantiles):
        return f"{measure}: no intervals in values without the number of rows; add {count[:-2]}." if count else None
    return (
        f"{measure}: no interval in values without other quantiles around it"
        f"{' and the number of rows' if count else ''}; ask for {count}{_around(measure.column, measure.level)}."
    )


def _around(column: Node, level: Fraction) -> str:
    """Return the quantiles that give one an interval, as they are asked for."""
    far = min(Fraction(1, 10), min(level, 1 - level) / 2)
    return f"QUANTILES({column}, {', '.join(literal(at) for at in (level - far, level, level + far))})"
