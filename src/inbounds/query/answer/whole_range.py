"""Which intervals say nothing: those that are the whole range of possible answers.

This is told from what was released and from the contract, so it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from inbounds.query.question.measure import Measure
from inbounds.query.question.question import Question
from inbounds.results.answer import Answer
from inbounds.results.nothing_learnt import WholeRange

CLOSE = 1e-9
"""An end this near to that of the range, in parts of the range, is the same: it was computed in doubles."""


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
