"""What a page shows of an answer: its table, with intervals beside the numbers, and how to read it."""

from __future__ import annotations

from typing import Any

from inbounds.query import Answer
from inbounds.server.pages.pictures.answer_picture import answer_height, drawable
from inbounds.server.pages.words import number


def shown(answer: Answer) -> dict[str, Any]:
    """Return what the template of an answer needs."""
    drawn = drawable(answer)
    height = None if drawn is None else answer_height(drawn)
    whole = drawn is None or len(drawn.rows) == len(answer.rows)
    facts = {"table": _table(answer), "height": height, "whole": whole, "reading": _reading(answer)}
    return {"answer": answer, "picture": _picture(answer), **facts}


def _picture(answer: Answer) -> str:
    """Say what is drawn."""
    named = dict.fromkeys(name for name in answer.interval_names if name is not None)
    return f"The same numbers as a picture, with {' and '.join(named) or 'no interval'}"


def _table(answer: Answer) -> dict[str, Any]:
    """Return cells as texts."""
    keys = len(answer.columns) - answer.measures
    rows = []
    for at, row in enumerate(answer.rows):
        intervals = answer.intervals[at] if answer.intervals else (None,) * answer.measures
        measured = [(number(cell), _interval(one)) for cell, one in zip(row[keys:], intervals, strict=True)]
        names = ["(all)" if cell is None else str(cell) for cell in row[:keys]]
        rows.append({"names": names, "measured": measured, "is_total": None in row[:keys]})
    measures = list(zip(answer.columns[keys:], answer.interval_names, strict=True))
    return {"groups": answer.columns[:keys], "measures": measures, "rows": rows}


def _interval(ends: tuple[Any, Any] | None) -> str:
    return "" if ends is None else f"{number(ends[0])} to {number(ends[1])}"


def _reading(answer: Answer) -> str:
    """Say how to read an answer, in two sentences."""
    if len(answer.public) == answer.measures:
        return "Every value is public, and exact."
    if not any(one is not None for row in answer.intervals for one in row):
        return (
            "Every value is private: it was drawn at random from all possible ones. "
            "The nearer one is to the true value in rank, the likelier it was drawn."
        )
    sure = f"{answer.confidence * 100:g} of 100"
    number = "true number" if answer.caveat is None else "number without noise"
    every = f"Every number but {', '.join(answer.public)}" if answer.public else "Every number"
    if None in answer.interval_names:
        return (
            f"{every} is private: it was made at random, and none is impossible. "
            f"Where an interval stands beside it, the {number} lies in that in {sure} cases."
        )
    return (
        f"{every} is private: random noise was added, and none is impossible. "
        f"The {number} lies in the interval beside it in {sure} cases."
    )
