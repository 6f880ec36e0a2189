"""Pivots: the keys of one group of an answer as columns, with noise and intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown

if TYPE_CHECKING:
    from inbounds.query.answer.answer import Answer

TOTAL = "(all)"
"""What a column is called in which a group is added up."""


def place_of_group(answer: Answer, column: str) -> int:
    """Return which of the groups of an answer a column is; refuse one that is none."""
    groups = answer.columns[: len(answer.columns) - answer.measures]
    if column not in groups:
        raise InvalidQuestion(
            f"a grouping column of the answer is needed, got {shown(column)}; name one of {', '.join(groups) or 'none'}"
        )
    return groups.index(column)


def pivot_answer(answer: Answer, column: str) -> Answer:
    """Return an answer with a column for each key of a group, and a row for each of the other keys."""
    at = place_of_group(answer, column)
    count = len(answer.columns) - answer.measures
    measures = answer.columns[count:]
    # Rows by the other keys and columns by this one, both in the order in which they come.
    cells = {(_others(row, count, at), row[at]): place for place, row in enumerate(answer.rows)}
    lines = list(dict.fromkeys(others for others, _ in cells))
    keys = list(dict.fromkeys(key for _, key in cells))
    places = [[cells.get((others, key)) for key in keys] for others in lines]

    def spread(of: tuple[tuple[Any, ...], ...], first: int) -> list[tuple[Any, ...]]:
        """Return what stands in the new columns: for each measure, what its cells hold by key."""
        return [
            tuple(None if place is None else of[place][first + i] for i in range(len(measures)) for place in line)
            for line in places
        ]

    names = _others(answer.columns, count, at)
    for name in measures:
        for key in keys:
            label = TOTAL if key is None else str(key)
            names = (*names, _unlike(label if len(measures) == 1 else f"{label} {name}", names))
    riders = answer.intervals_noise_only
    return replace(
        answer,
        columns=names,
        rows=tuple((*others, *values) for others, values in zip(lines, spread(answer.rows, count), strict=True)),
        noise=tuple(spread(answer.noise, 0)),
        intervals=tuple(spread(answer.intervals, 0)) if answer.intervals else (),
        confidences=(),
        noise_only=tuple(rider for rider in riders for _ in keys),
        measured=len(measures) * len(keys),
        kept=answer.released,
        public=(),
    )


def _others(row: tuple[Any, ...], count: int, at: int) -> tuple[Any, ...]:
    return (*row[:at], *row[at + 1 : count])


def _unlike(name: str, others: tuple[str, ...]) -> str:
    return name if name not in others else _unlike(f"{name}_", others)
