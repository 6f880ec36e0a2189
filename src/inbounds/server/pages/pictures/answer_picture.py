"""The picture of an answer: bars for groups, a line for time, points for what has no interval, boxes for quantiles."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query

from inbounds.plot.answers import BAR_HEIGHT, FRAME_HEIGHT, LINE_HEIGHT, MOST_LETTERS, is_box, is_over_time, lines
from inbounds.plot.style import matplotlib_or_error
from inbounds.plot.tables import BOX, MOST_BARS, bars, boxes
from inbounds.query import Answer
from inbounds.report.report import ChartKind
from inbounds.server.pages.pictures.figure import Look, svg
from inbounds.server.pages.words import shorten

MOST_LETTERS_NARROW = 14
"""So many letters has the name of a group on a phone, and `MOST_LETTERS` elsewhere, so that there is room to draw."""

MOST_TITLE = 36
"""So many letters has the name of what was measured."""


ChosenChart = Annotated[ChartKind | None, Query()]
"""The kind of picture that somebody chose, `none` for no picture; None for that which suits the answer."""


def drawable(answer: Answer, chart: str | None = None) -> Answer | None:
    """Return what can be drawn of an answer, None if nothing can: its finest groups, for totals would dwarf them."""
    answer = answer.keys_first
    if chart == "none":
        return None
    if is_box(answer):
        return answer
    if answer.measures != 1 or not answer.key_places or not answer.intervals or not _is_numeric(answer):
        return None
    keys = len(answer.columns) - 1
    # A row with a missing key is a total.
    fine = [at for at, row in enumerate(answer.rows) if None not in row[:keys]]
    rows, intervals = (tuple(part[at] for at in fine) for part in (answer.rows, answer.intervals))
    return replace(answer, rows=rows, intervals=intervals) if 2 <= len(fine) <= MOST_BARS else None


def chart_kinds(answer: Answer) -> tuple[ChartKind, ...]:
    """Return the kinds of pictures that somebody can choose from; none if nothing can be drawn."""
    drawn = drawable(answer)
    if drawn is None or drawn.measures == BOX:
        return ()
    return ("bars", "line", "none") if len(drawn.columns) == 2 else ("bars", "none")


def chart_kind(answer: Answer, chart: str | None) -> ChartKind:
    """Return how what is drawable is drawn: as was chosen if it can be, otherwise a line for time and else bars."""
    if len(answer.columns) == 2 and (chart == "line" or (chart is None and is_over_time(answer))):
        return "line"
    return "bars"


def _is_numeric(answer: Answer) -> bool:
    cells = [row[-1] for row in answer.rows]
    return all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)


def answer_height(answer: Answer, chart: str | None = None) -> float:
    """Return how high the picture is, in inches."""
    if answer.measures == BOX or chart_kind(answer, chart) == "line":
        return LINE_HEIGHT
    return FRAME_HEIGHT + BAR_HEIGHT * len(answer.rows)


def answer_picture(answer: Answer, look: Look, chart: str | None = None) -> bytes:
    """Return the picture of what is drawable, as SVG."""
    fitted = _fit_names(answer, look)
    return svg(lambda axes: _draw(fitted, axes, look, chart), look, answer_height(answer, chart))


def _fit_names(answer: Answer, look: Look) -> Answer:
    """Return an answer whose names fit into a picture; the table beside it has them in full."""
    keys = len(answer.columns) - answer.measures
    most = (MOST_LETTERS_NARROW if look.narrow else MOST_LETTERS) // max(1, keys)
    rows = tuple(
        (*(shorten(cell, most) if isinstance(cell, str) else cell for cell in row[:keys]), *row[keys:])
        for row in answer.rows
    )
    return replace(answer, rows=rows, columns=tuple(shorten(name, MOST_TITLE) for name in answer.columns))


def _draw(answer: Answer, axes: Any, look: Look, chart: str | None) -> None:
    if answer.measures == BOX:
        boxes(answer, axes=axes)
        letters = sum(len(label.get_text()) for label in axes.get_xticklabels())
        if letters > (MOST_LETTERS if look.narrow else 2 * MOST_LETTERS):  # or names would overlap
            axes.tick_params(axis="x", rotation=60)
    elif chart_kind(answer, chart) == "line":
        lines(answer, axes=axes)
    else:
        bars(answer, horizontal=True, axes=axes)
        axes.xaxis.set_major_locator(matplotlib_or_error().ticker.MaxNLocator(4 if look.narrow else 7))
        if look.narrow:  # in the middle of the bars, what is said of intervals would go beyond the edge
            axes.set_xlabel(axes.get_xlabel(), loc="right")
