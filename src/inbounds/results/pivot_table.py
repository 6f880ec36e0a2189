"""Pivots: the keys of one group of an answer as columns, with noise and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown

if TYPE_CHECKING:
    from inbounds.results.answer import Answer

TOTAL = "(all)"
"""What a column is called in which a group is added up."""


def place_of_group(answer: Answer, column: str) -> int:
    """Return the place of a grouping column of an answer; refuse what is none, and rows that look alike."""
    groups = [answer.columns[place] for place in answer.key_places]
    if column not in groups:
        raise InvalidQuestion(
            f"a grouping column of the answer is needed, got {shown(column)}; name one of {', '.join(groups) or 'none'}"
        )
    keys = [_pick(row, answer.key_places) for row in answer.rows]
    if len(set(keys)) < len(keys):
        raise InvalidQuestion(
            f"two rows of the answer have the same {', '.join(groups)}; select every column of GROUP BY as well"
        )
    return answer.key_places[groups.index(column)]


def pivot_answer(answer: Answer, column: str) -> Answer:
    """Return an answer with a column for each key of a group, and a row for each of the other keys."""
    at = place_of_group(answer, column)
    others = tuple(place for place in answer.key_places if place != at)
    measures = answer.measure_places
    # Rows by the other keys and columns by this one, both in the order in which they come.
    cells = {(_pick(row, others), row[at]): place for place, row in enumerate(answer.rows)}
    lines = list(dict.fromkeys(line for line, _ in cells))
    keys = list(dict.fromkeys(key for _, key in cells))
    places = [[cells.get((line, key)) for key in keys] for line in lines]

    def spread(of: tuple[tuple[Any, ...], ...], columns: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return what stands in the new columns: for each measure, what its cells hold by key."""
        return [
            tuple(None if place is None else of[place][column] for column in columns for place in line)
            for line in places
        ]

    names = _pick(answer.columns, others)
    for name in _pick(answer.columns, measures):
        for key in keys:
            label = TOTAL if key is None else str(key)
            names = (*names, _unlike(label if len(measures) == 1 else f"{label} {name}", names))
    covers = answer.interval_covers
    return replace(
        answer,
        columns=names,
        rows=tuple((*line, *values) for line, values in zip(lines, spread(answer.rows, measures), strict=True)),
        noise=tuple(spread(answer.noise, range(len(measures)))),
        intervals=tuple(spread(answer.intervals, range(len(measures)))) if answer.intervals else (),
        confidences=(),
        covers=tuple(cover for cover in covers for _ in keys),
        measured=tuple(range(len(others), len(names))),
        kept=answer.released,
        public=(),
    )


def _pick(row: tuple[Any, ...], places: Sequence[int]) -> tuple[Any, ...]:
    return tuple(row[place] for place in places)


def _unlike(name: str, others: tuple[str, ...]) -> str:
    return name if name not in others else _unlike(f"{name}_", others)
