"""An answer as a table for people: released numbers, with intervals where there is room for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from inbounds.display.figures import format_error
from inbounds.display.table import Column, TextTable
from inbounds.results.nothing_learnt import NOTHING_LEARNT
from inbounds.results.shown_rows import choose_rows

if TYPE_CHECKING:
    from inbounds.results.answer import Answer

ALL = "(all)"
"""What is shown for a column that is added up."""

MOST_WITH_INTERVALS = 2
"""A table of text has room for the intervals of so many measures; frames and JSON have them all."""

NO_ROOM = "There is no room here for the intervals of so many measures; JSON, csv and data frames have them."


def lay_out(answer: Answer) -> TextTable:
    """Return an answer as a table for people."""
    measures, shown = answer.measure_places, choose_rows(answer)
    released = [answer.rows[place] for place in shown.places]
    intervals = [answer.intervals[place] for place in shown.places] if answer.intervals else []
    noise = [answer.noise[place] for place in shown.places]
    learnt = [answer.learnt[place] for place in shown.places]
    columns: list[Column] = []
    rows: list[list[str]] = [[] for _ in released]
    titles = answer.interval_names
    for place, name in enumerate(answer.columns):
        if place not in measures:
            columns.append(Column(name, left=True))
            _append(rows, (ALL if row[place] is None else _shown(row[place]) for row in released))
            continue
        i = measures.index(place)
        columns.append(Column(name))
        known = [row[i] for row in learnt]
        cells = zip((row[place] for row in released), known, strict=True)
        _append(rows, (_shown(cell) if tells else NOTHING_LEARNT for cell, tells in cells))
        title = titles[i]
        if len(measures) <= MOST_WITH_INTERVALS and title is not None:
            columns.append(Column.in_two(title))
            _append(rows, (_interval(row[i]) for row in intervals))
        if len(measures) == 1 and any(row[i] is not None for row in noise):
            columns.append(Column("expected noise"))
            sizes = zip((row[i] for row in noise), known, strict=True)
            _append(rows, (_noise(size) if tells else "" for size, tells in sizes))
    no_room = NO_ROOM if len(measures) > MOST_WITH_INTERVALS and any(titles) else None
    notes = [note for note in (shown.rest, no_room) if note]
    return TextTable(columns, rows, title=answer.practice_notice or "", notes=[*notes, *answer.notes])


def _append(rows: list[list[str]], cells: Iterable[str]) -> None:
    for row, cell in zip(rows, cells, strict=True):
        row.append(cell)


def _interval(ends: tuple[Any, Any] | None) -> str:
    return "" if ends is None else f"{_shown(ends[0])} to {_shown(ends[1])}"


def _noise(noise: float | None) -> str:
    return format_error(noise) if noise is not None and noise < 1e4 else _shown(noise)


def _shown(cell: Any) -> str:
    if not isinstance(cell, float):
        return "none" if cell is None else str(cell)
    return f"{cell:.4g}" if abs(cell) < 1e4 else f"{cell:.1f}"
