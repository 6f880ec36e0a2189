"""The picture of an answer: bars for groups, a line for time, boxes for quantiles."""

from __future__ import annotations

from datetime import date
from typing import Any

from inbounds.plot.tables import BOX, MOST_BARS, bars, boxes
from inbounds.query import Answer
from inbounds.server.pages.figure import svg


def can_be_drawn(answer: Answer) -> bool:
    """Return whether there is a picture of an answer."""
    return _has_boxes(answer) or _has_bars(answer)


def _numbers(answer: Answer) -> bool:
    cells = [cell for row in answer.rows for cell in row[-answer.measures :]]
    return all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in cells)


def _has_bars(answer: Answer) -> bool:
    return answer.measures == 1 and 2 <= len(answer.rows) <= MOST_BARS and bool(answer.intervals) and _numbers(answer)


def _has_boxes(answer: Answer) -> bool:
    named = answer.columns[-answer.measures :]
    return answer.measures == BOX and bool(answer.rows) and all(name.startswith("quantile") for name in named)


def answer_picture(answer: Answer, *, dark: bool) -> bytes:
    """Return the picture, as SVG."""
    return svg(lambda axes: _draw(answer, axes), dark=dark)


def _draw(answer: Answer, axes: Any) -> None:
    if _has_boxes(answer):
        boxes(answer, axes=axes)
    elif all(isinstance(row[0], date) for row in answer.rows) and len(answer.columns) == 2:
        _line(answer, axes)
    else:
        bars(answer, axes=axes)


def _line(answer: Answer, axes: Any) -> None:
    """Draw numbers over days, with their intervals as a band."""
    days = [row[0] for row in answer.rows]
    (line,) = axes.plot(days, [row[-1] for row in answer.rows], marker="o", markersize=3)
    ends = [row[0] for row in answer.intervals]
    if all(one is not None for one in ends):
        lows, highs = [one[0] for one in ends if one], [one[1] for one in ends if one]
        axes.fill_between(days, lows, highs, alpha=0.2, color=line.get_color(), linewidth=0)
    axes.set_ylabel(answer.columns[-1])
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.autofmt_xdate()
