"""What the interval beside an answer is about: the true answer or, where a row limit cuts rows off, the noise only;
and whether it says anything.

Every table, page, picture and file asks here what to call an interval.  What is cut off without the contract's limit
on rows does not count: that values lie in their bounds, and keys in their lists, is the custodian's word, and the
answer is about a column as the contract describes it (docs/decisions/0064-intervals-of-noise-only.md).

An interval that is the whole range of possible answers says nothing that was not public, and the number beside it is
noise.  This is told from what was released and from the contract, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inbounds.accuracy.confidence import percent
from inbounds.query.question.contribution_bound import counts_everything
from inbounds.query.question.measure import Measure
from inbounds.query.question.question import Question
from inbounds.query.tables.relation import is_clipped_by_limit

if TYPE_CHECKING:
    from inbounds.query.answer.answer import Answer

NOISE_ONLY = "noise only"

CAVEAT = "Noise only: the interval does not account for the contribution bound."
"""Said once, beside the numbers, wherever an interval is about the noise only."""

NOTHING_LEARNT = "nothing learnt"
"""Shown in place of a number whose interval is the whole range of possible answers."""

TOO_FEW_ROWS = (
    f'Where it says "{NOTHING_LEARNT}", the interval is the whole possible range: there are too few rows for this '
    "epsilon. Ask for fewer groups or a larger epsilon."
)
"""Said once below them."""

CLOSE = 1e-9
"""An end this near to that of the range, in parts of the range, is the same: it was computed in doubles."""


class WholeRange(tuple[Any, Any]):
    """An interval that is the whole range of possible answers: nothing was learnt."""

    __slots__ = ()


def mark_whole_ranges(
    answer: Answer, questions: Sequence[Question], places: Sequence[tuple[int, int]], measures: Sequence[Measure]
) -> Answer:
    """Return what was released with each interval that is the whole range marked as such."""
    tables = (questions[which].table for which, _ in places)
    ranges = [measure.possible_range(table) for measure, table in zip(measures, tables, strict=True)]
    rows = (tuple(map(_mark, row, ranges)) for row in answer.intervals)
    return replace(answer, intervals=tuple(rows))


def _mark(interval: tuple[Any, Any] | None, possible: tuple[Any, Any] | None) -> tuple[Any, Any] | None:
    if interval is None or possible is None or not possible[0] < possible[1]:
        return interval
    least, most = possible
    if isinstance(most, float | int):  # days and times are exact
        near = CLOSE * (most - least)
        least, most = least + near, most - near
    return WholeRange(interval) if interval[0] <= least and most <= interval[1] else interval


def is_noise_only(question: Question) -> bool:
    """Return whether an interval of a question is about the noise only; this depends on the contract alone."""
    return is_clipped_by_limit(question.table) or not counts_everything(question)


def noise_only(questions: Sequence[Question], places: Sequence[tuple[int, int]]) -> tuple[bool, ...]:
    """Return for each measure whether its intervals are about the noise only."""
    by_question = [is_noise_only(question) for question in questions]
    return tuple(by_question[which] for which, _ in places)


def interval_name(confidence: float, *, rider: bool) -> str:
    """Return what people read above or beside an interval, with or without the rider."""
    plain = f"{percent(confidence)} interval"
    return f"{plain} ({NOISE_ONLY})" if rider else plain


def end_name(end: str, of: str, *, rider: bool) -> str:
    """Return what programs call the column of an end: low, or low_noise_only; of several measures with its name."""
    return "_".join(part for part in (end, of, NOISE_ONLY.replace(" ", "_") if rider else "") if part)
