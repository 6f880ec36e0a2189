"""Answers that noise has pushed to the end of what is possible: said beside them, from what was released alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inbounds.query.question.measure import Measure
from inbounds.query.question.question import Question
from inbounds.results.answer import Answer

MOST_NAMED = 3
"""So many groups are named."""


def remark_edges(answer: Answer, question: Question, measures: Sequence[Measure]) -> tuple[str, ...]:
    """Say which released numbers are at the end of what is possible because their noise is larger than they are."""
    keys = len(answer.columns) - answer.measures
    remarks = []
    for at, measure in enumerate(measures):
        ends = measure.ends(question.table)
        cells = [
            (row[:keys], row[keys + at])
            for row, noise, learnt in zip(answer.rows, answer.noise, answer.learnt, strict=True)
            if learnt[at] and _is_pushed(measure, ends, row[keys + at], noise[at])
        ]
        if cells:
            remarks.append(_write_remark(measure, cells, len(answer.rows)))
    return tuple(remarks)


def _is_pushed(measure: Measure, ends: tuple[Any, ...], value: Any, noise: float | None) -> bool:
    """Return whether a released number is at an end that only noise, or hardly anything else, can bring it to."""
    if value is None or value not in ends:
        return False
    spread = ends[-1] - ends[0]
    return measure.is_seldom_at_ends or (noise is not None and noise >= float(getattr(spread, "days", spread)) / 4)


AT_THE_EDGE = "the edge of the possible range"


def _write_remark(measure: Measure, cells: Sequence[tuple[tuple[Any, ...], Any]], groups: int) -> str:
    values = " or ".join(dict.fromkeys(str(value) for _, value in cells))
    where = ""
    if groups > 1:
        names = "; ".join(", ".join(map(str, keys)) for keys, _ in cells[:MOST_NAMED])
        more = ", …" if len(cells) > MOST_NAMED else ""
        where = f" in {len(cells)} of {groups} groups ({names}{more})"
    return (
        f"{measure} is {values}{where}, {AT_THE_EDGE}: there the noise outweighs the data. Rely on the interval, or "
        "ask for fewer groups or a larger epsilon."
    )
