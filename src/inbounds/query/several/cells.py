"""Cells of an answer, column by column: a value, the expected noise on it, and its interval."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from inbounds.query.answer.released.leaf import Cell
from inbounds.results.answer import Answer
from inbounds.results.cover import Cover

NOTHING = Answer((), ((),), ((),), Fraction(0), "", None, ((),), measured=())
"""One row, in which nothing stands yet."""


def cells_of(answer: Answer, row: int) -> list[Cell]:
    """Return what an answer shows in each column of a row; keys have neither noise nor an interval."""
    cells: list[Cell] = [(value, None, None) for value in answer.rows[row]]
    for i, place in enumerate(answer.measure_places):
        ends = answer.intervals[row][i] if answer.intervals else None
        cells[place] = answer.rows[row][place], answer.noise[row][i], ends
    return cells


def covers_of(answer: Answer) -> dict[int, Cover]:
    """Return for each column that is no key, by place, what its intervals are about."""
    return dict(zip(answer.measure_places, answer.interval_covers, strict=True))


def add_cells(answer: Answer, names: Sequence[str], cells: Sequence[Cell], covers: Iterable[Cover]) -> Answer:
    """Return an answer with more columns, which are the same in each row."""
    intervals = answer.intervals or ((None,) * answer.measures,) * len(answer.rows)
    first = len(answer.columns)
    return replace(
        answer,
        columns=(*answer.columns, *names),
        rows=tuple((*row, *(cell[0] for cell in cells)) for row in answer.rows),
        noise=tuple((*row, *(cell[1] for cell in cells)) for row in answer.noise),
        intervals=tuple((*row, *(cell[2] for cell in cells)) for row in intervals),
        measured=(*answer.measure_places, *range(first, first + len(cells))),
        covers=(*answer.interval_covers, *covers),
    )
