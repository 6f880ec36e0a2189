"""The choice of a mechanism that has the least error: a pooling, or the width of a staircase's first stair."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from inbounds.mechanisms.mechanism import Mechanism

HUNDREDTHS = 100
"""Poolings and widths to choose from are multiples of 1/100: nobody would see a finer choice in the error."""

COARSE = 10
"""A search looks at so many of them first."""

FEW_STAIRS = 24
"""Up to so many lengths of the first stair, all are tried."""

LEAST_FOR_STAIRS = 0.2
"""Below this epsilon, where there are more, only the one that is best for the noise alone: it gains no more than
epsilon squared over 24 on Laplace noise, 0.17 %, and to look for a better one takes seconds."""


@dataclass(frozen=True)
class Trial:
    """One mechanism that was made and measured."""

    name: str
    mechanism: Mechanism
    error: float
    family: str
    """What it is without the choice that was looked for: the best of each family are compared more closely."""
    plain: bool = False
    """Whether it is plain noise, left where it falls."""


Attempt = Callable[[str, dict[str, Any]], Trial | None]
"""Makes and measures a mechanism with a name and some choices; None if it is not to be considered."""


def best_pooling(attempt: Attempt, title: str, most: Fraction, rough: bool) -> Iterator[Trial]:
    """Yield the normalising, the snapping and the best mixture of the two."""
    highest = max(part for part in range(HUNDREDTHS + 1) if Fraction(part, HUNDREDTHS) <= most)
    grid = {round(highest * i / COARSE) for i in range(COARSE + 1)}

    def attempt_at(part: int) -> Trial | None:
        return attempt(f"{title}, pooling {part / HUNDREDTHS:g}", {"pooling": part / HUNDREDTHS})

    yield from _least(attempt_at, sorted(grid), rough)


def best_width(attempt: Attempt, name: str, choices: dict[str, Any], rough: bool) -> Iterator[Trial]:
    """Yield staircases with the first stair as long as is best for the noise alone, and as is best here."""
    usual = attempt(name, choices)
    if usual is None:
        return
    yield usual
    noise = usual.mechanism.noise  # type: ignore[attr-defined]  # a staircase's
    distance = noise.distance
    if distance > FEW_STAIRS and float(usual.mechanism.label.epsilon) < LEAST_FOR_STAIRS:
        return
    if distance <= FEW_STAIRS:
        parts, grid = distance, set(range(1, distance + 1))
    else:
        parts = HUNDREDTHS
        near = min(max(round(parts * noise.first / distance), 1), parts)
        grid = {min(max(round(near * i / 6), 1), parts) for i in range(2, 13)}

    def attempt_at(part: int) -> Trial | None:
        width = Fraction(part, parts)
        return attempt(f"{name}, width {float(width):.3g}", {**choices, "width": width})

    yield from _least(attempt_at, sorted(grid), rough)


def _least(attempt_at: Callable[[int], Trial | None], grid: list[int], rough: bool) -> Iterator[Trial]:
    """Yield what was tried to find the integer with the least error.

    On a grid first, then between the neighbours of the best on it; roughly, on every other place of the grid, and on
    the neighbours of the best there.  Between places the error is taken to have one valley; if it has more, a good
    choice is found, perhaps not the best.
    """
    trials: dict[int, Trial | None] = {}

    def error(part: int) -> float:
        if part not in trials:
            trials[part] = attempt_at(part)
        trial = trials[part]
        return math.inf if trial is None else trial.error

    # Each place is measured once, whoever asks for it: the yield below says what was measured on the way.
    first = sorted({*grid[::2], grid[-1]}) if rough else grid
    best = min(first, key=error)
    place = grid.index(best)
    low, high = grid[max(place - 1, 0)], grid[min(place + 1, len(grid) - 1)]
    if rough:
        min((low, high), key=error)
    else:
        _narrow(error, low, high)
    yield from (trial for _, trial in sorted(trials.items()) if trial is not None)


def _narrow(error: Callable[[int], float], low: int, high: int) -> None:
    """Look at ever narrower ranges around the least error, and then at all of the last one."""
    while high - low > 3:
        left, right = low + (high - low) // 3, high - (high - low) // 3
        low, high = (low, right) if error(left) <= error(right) else (left, high)
    min(range(low, high + 1), key=error)
