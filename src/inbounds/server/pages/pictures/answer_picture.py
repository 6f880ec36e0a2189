"""The picture of an answer: bars for groups, a line for time, points for what has no interval, boxes for quantiles."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from math import ceil
from typing import Annotated, Any

from fastapi import Query

from inbounds.plot.style import COLOURS, matplotlib_or_error
from inbounds.plot.tables import BOX, MOST_BARS, POINTS, bars, boxes, learnt_values, said_of
from inbounds.publish.report import ChartKind
from inbounds.query import Answer
from inbounds.server.pages.pictures.figure import Look, svg
from inbounds.server.pages.words import shorten

HEIGHT = 3.4
BAR = 0.27
"""Heights, in inches."""

MOST_LETTERS, MOST_LETTERS_NARROW = 24, 14
"""So many letters has the name of a group: more of them would leave no room for what is drawn."""

MOST_TITLE = 36
"""So many letters has the name of what was measured."""


ChosenChart = Annotated[ChartKind | None, Query()]
"""The kind of picture that somebody chose, `none` for no picture; None for that which suits the answer."""

MOST_NAMES = 12
"""So many groups are named below a line; of more, only some are."""


def drawable(answer: Answer, chart: str | None = None) -> Answer | None:
    """Return what can be drawn of an answer, None if nothing can: its finest groups, for totals would dwarf them."""
    answer = answer.keys_first
    if chart == "none":
        return None
    if answer.measures == BOX and answer.rows and all(name.startswith("quantile") for name in _measure_names(answer)):
        return answer
    if answer.measures != 1 or not answer.key_places or not answer.intervals or not _is_numeric(answer):
        return None
    keys = len(answer.columns) - 1
    # A row with a missing key is a total.
    fine = [at for at, row in enumerate(answer.rows) if None not in row[:keys]]
    rows, intervals = (tuple(lines[at] for at in fine) for lines in (answer.rows, answer.intervals))
    return replace(answer, rows=rows, intervals=intervals) if 2 <= len(fine) <= MOST_BARS else None


def chart_kinds(answer: Answer) -> tuple[ChartKind, ...]:
    """Return the kinds of pictures that somebody can choose from; none if nothing can be drawn."""
    drawn = drawable(answer)
    if drawn is None or drawn.measures == BOX:
        return ()
    return ("bars", "line", "none") if len(drawn.columns) == 2 else ("bars", "none")


def chart_kind(answer: Answer, chart: str | None) -> ChartKind:
    """Return how what is drawable is drawn: as was chosen if it can be, otherwise a line for time and else bars."""
    if len(answer.columns) == 2 and (chart == "line" or (chart is None and _is_over_time(answer))):
        return "line"
    return "bars"


def _measure_names(answer: Answer) -> tuple[str, ...]:
    return answer.columns[-answer.measures :]


def _is_numeric(answer: Answer) -> bool:
    cells = [row[-1] for row in answer.rows]
    return all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)


def _is_over_time(answer: Answer) -> bool:
    return len(answer.columns) == 2 and all(isinstance(row[0], date) for row in answer.rows)


def answer_height(answer: Answer, chart: str | None = None) -> float:
    """Return how high the picture is, in inches."""
    if answer.measures == BOX or chart_kind(answer, chart) == "line":
        return HEIGHT
    return 0.95 + BAR * len(answer.rows)


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
        _line(answer, axes)
    else:
        bars(answer, horizontal=True, axes=axes)
        axes.xaxis.set_major_locator(matplotlib_or_error().ticker.MaxNLocator(4 if look.narrow else 7))
        if look.narrow:  # in the middle of the bars, what is said of intervals would go beyond the edge
            axes.set_xlabel(axes.get_xlabel(), loc="right")


def _line(answer: Answer, axes: Any) -> None:
    """Draw numbers over days or groups, with their intervals as a band; points where one of them has no interval."""
    is_time, values = _is_over_time(answer), learnt_values(answer)
    places = [row[0] for row in answer.rows] if is_time else list(range(len(answer.rows)))
    ends = [interval for (interval,) in answer.intervals if interval is not None]
    name = answer.interval_names[0] if len(ends) == len(places) else None
    if name is None:
        axes.plot(places, values, **POINTS)
    else:
        axes.plot(places, values, marker="o", markersize=3, color=COLOURS[0])
        lows, highs = [low for low, _ in ends], [high for _, high in ends]
        axes.fill_between(places, lows, highs, alpha=0.25, color=COLOURS[0], linewidth=0)
        axes.set_ylim(bottom=min(0, *lows))
    axes.set_xlabel(said_of(name, "band"))
    axes.set_ylabel(answer.columns[-1])
    axes.spines[["top", "right"]].set_visible(False)
    if is_time:
        format_dates(axes)
    else:
        named = places[:: ceil(len(places) / MOST_NAMES)]
        names = [str(answer.rows[place][0]) for place in named]
        axes.set_xticks(named, names, rotation=60 if sum(map(len, names)) > MOST_LETTERS else 0)


def format_dates(axes: Any) -> None:
    """Write days below an axis as shortly as they can be told apart."""
    library = matplotlib_or_error().dates
    locator = library.AutoDateLocator(minticks=2, maxticks=5)  # of at least five, some minutes have none
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(library.ConciseDateFormatter(locator))
