"""What a page shows of an answer: its table, with intervals beside the numbers, and how to read it."""

from __future__ import annotations

from typing import Any

from inbounds.query import Answer
from inbounds.results.nothing_learnt import NOTHING_LEARNT
from inbounds.results.shown_rows import choose_rows
from inbounds.server.pages.pictures.answer_picture import answer_height, chart_kind, chart_kinds, drawable
from inbounds.server.pages.words import format_cell

RANKED = "Values close in rank to the true one are the most likely."
"""Of values without an interval; what follows on the page says how close."""


def describe_answer(answer: Answer, chart: str | None = None) -> dict[str, Any]:
    """Return what the template of an answer needs, with the picture that was chosen or, if none was, that suits it."""
    drawn = drawable(answer, chart)
    height = None if drawn is None else answer_height(drawn, chart)
    whole = drawn is None or len(drawn.rows) == len(answer.rows)
    facts = {"table": _table(answer), "height": height, "whole": whole, "reading": _reading(answer)}
    kinds, kind = chart_kinds(answer), "none" if drawn is None else chart_kind(drawn, chart)
    return {"answer": answer, "picture": _picture(answer), "charts": kinds, "chart": kind, **facts}


def _picture(answer: Answer) -> str:
    """Say what is drawn."""
    named = dict.fromkeys(name for name in answer.interval_names if name is not None)
    return f"Chart of the answer, with {' and '.join(named) or 'no interval'}"


def _table(answer: Answer) -> dict[str, Any]:
    """Return cells as texts."""
    titles = dict(zip(answer.measure_places, answer.interval_names, strict=True))
    columns = [
        {"name": name, "is_key": place not in titles, "title": titles.get(place)}
        for place, name in enumerate(answer.columns)
    ]
    rows, shown, every = [], choose_rows(answer), answer.learnt
    for at in shown.places:
        row, learnt = answer.rows[at], dict(zip(answer.measure_places, every[at], strict=True))
        intervals = dict(zip(answer.measure_places, answer.intervals[at] if answer.intervals else (), strict=False))
        cells = [
            {"text": _text(cell, learnt.get(place))}
            | {"interval": _interval(intervals.get(place)), "is_learnt": learnt.get(place, True)}
            for place, cell in enumerate(row)
        ]
        rows.append({"cells": cells, "is_total": any(row[place] is None for place in answer.key_places)})
    return {"columns": columns, "groups": len(answer.key_places), "rows": rows, "rest": shown.rest}


def _text(cell: Any, learnt: bool | None) -> str:
    """Return the text of a cell; of a key nothing is to be learnt."""
    if learnt is None:
        return "(all)" if cell is None else str(cell)
    return format_cell(cell) if learnt else NOTHING_LEARNT


def _interval(ends: tuple[Any, Any] | None) -> str:
    return "" if ends is None else f"{format_cell(ends[0])} to {format_cell(ends[1])}"


def _reading(answer: Answer) -> str:
    """Say how to read an answer, in two sentences."""
    if answer.is_public:
        return "Every value is public and exact."
    if not any(interval is not None for row in answer.intervals for interval in row):
        return f"Every value is private: it was drawn at random from the possible values. {RANKED}"
    together = ", for all numbers at once" if answer.simultaneous else ""
    sure = f"in {answer.confidence * 100:g} of 100 cases{together}"
    value = "value before noise" if answer.is_noise_only else "true value"
    every = f"every number except {', '.join(answer.public)}" if answer.public else "every number"
    if None in answer.interval_names:  # not all of them are numbers with noise added
        return (
            f"Randomness protects {every}, and every number is a possible one. "
            f"Where an interval is shown, the {value} lies in it {sure}."
        )
    return (
        f"Random noise protects {every}, and every number is a possible one. The {value} lies in the interval {sure}."
    )
