"""Intervals that say nothing: the whole range of possible answers, which was public; the number beside one is noise.

This is told from what was released and from the contract, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inbounds.query.question.measure import Measure
from inbounds.query.question.question import Question

if TYPE_CHECKING:
    from inbounds.query.answer.answer import Answer

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
