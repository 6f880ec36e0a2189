"""How finely a range is cut: ever more rows, as long as there is time."""

from __future__ import annotations

import math
from collections.abc import Iterator

SIZES = (24, 48, 100, 150, 200)
"""About so many rows, one attempt after another: with more, rounding errors and time grow fast."""

LARGE_SIZES = (100, 270, 400)
"""Where epsilon is large, wide rows say little, and programs are easy: far from the truth there is next to nothing."""

LARGE_EPSILON = 2.0

FEW_STEPS = 24
"""A sensitivity of so few steps is not cut into fewer rows than steps, if there is another way."""


def rungs(points: int, distance: int, epsilon: float) -> Iterator[int]:
    """Yield into how many rows a sensitivity is cut, for ever more rows in all."""
    last = 0
    for size in SIZES[2 * (epsilon >= LARGE_EPSILON) :]:
        most = min(distance, size * distance // points)
        if most < 1:
            continue
        found = _aligned(most, distance, epsilon)
        if found > last:
            last = found
            yield found


def window_rungs(points: int, distance: int, epsilon: float) -> Iterator[tuple[int, int]]:
    """Yield into how many rows a sensitivity is cut, and into how many equal windows the range is.

    On one window nothing is better than on the whole range, and rows that are too wide say little.
    """
    natural = max(1, round(1 / _stair(epsilon))) if epsilon >= 1 else 1
    least = distance if distance <= FEW_STEPS else natural
    last = (0, 0)
    for size in LARGE_SIZES if epsilon >= LARGE_EPSILON else SIZES[epsilon >= 1 :]:
        windows = max(1, -(-points * least // (size * distance)))
        most = min(distance, size * distance // (points // windows))
        if most < 1:
            continue
        found = _aligned(most, distance, epsilon), windows
        if found != last:
            last = found
            yield found


def _stair(epsilon: float) -> float:
    return 1 / (1 + math.exp(epsilon / 2))


def _aligned(most: int, distance: int, epsilon: float) -> int:
    """Return a number of rows for one sensitivity, at most so many, whose edges are where they matter.

    The first stair of the best noise is `1 / (1 + exp(epsilon / 2))` of a sensitivity wide (Geng & Viswanath 2014), and
    rows are whole numbers of steps.
    """
    stair = _stair(epsilon)

    def misfit(rows: int) -> float:
        stairs = abs(rows * stair - round(rows * stair)) / rows if rows * stair >= 0.5 else stair
        steps = -distance % rows / distance
        return round(stairs + steps, 3)

    return min(range(max(1, math.ceil(0.6 * most)), most + 1), key=lambda rows: (misfit(rows), -rows))
