"""How finely a range is cut: ever more rows, as long as there is time."""

from __future__ import annotations

import math
from collections.abc import Iterator

from inbounds.limit.goal import Minimise

SIZES = (24, 50, 100, 150, 200)
"""About so many rows, one attempt after another: with more, rounding errors and time grow fast."""

LARGE_SIZES = (100, 150, 270, 400)
"""Where epsilon is large, wide rows say little, and programs are easy: far from the truth there is next to nothing."""

LARGE_EPSILON = 2.0

MIDDLE_SIZES = (50, 100, 150, 200, 270)
"""The same for an epsilon of at least one."""

LEAST_STAIRS: dict[Minimise, float] = {"mean": 2.0, "worst": 0.8}
"""Where epsilon is large, tables whose rows are wider than so much of a stair lose to mechanisms of one scale."""

LEAST_STAIRS_AT_ONE = 1.5
"""The same for an epsilon between one and that."""

MOST_WASTED = 0.1
"""Tables for a sensitivity that is larger by more than this share of it lose to mechanisms of one scale."""

FEW_STEPS = 24
"""A sensitivity of so few steps is not cut into fewer rows than steps, if there is another way."""


def row_counts(points: int, distance: int, epsilon: float, minimise: Minimise) -> Iterator[int]:
    """Yield into how many rows a sensitivity is cut, for ever more rows in all, as far as that can be of use."""
    last, least = 0, min(_least_rows(epsilon, minimise), distance)
    for size in SIZES[epsilon >= LARGE_EPSILON :]:
        most = min(distance, size * distance // max(points - 1, 1))
        if most < 1:
            continue
        count = _align(most, distance, epsilon)
        wasted = -distance % count / distance  # rows are whole numbers of steps, and keep epsilon a little farther
        if count > last and count >= least and wasted <= MOST_WASTED:
            last = count
            yield count


def row_and_window_counts(points: int, distance: int, epsilon: float) -> Iterator[tuple[int, int]]:
    """Yield into how many rows a sensitivity is cut, and into how many equal windows the range is.

    On one window nothing is better than on the whole range, and rows that are too wide say little.
    """
    # For a large epsilon the best noise is a staircase, and rows that do not resolve its first stair bound nothing
    # well.
    natural = max(1, round(1 / _first_stair(epsilon))) if epsilon >= 1 else 1
    least = distance if distance <= FEW_STEPS else natural
    last = (0, 0)
    for size in LARGE_SIZES if epsilon >= LARGE_EPSILON else SIZES if epsilon < 1 else MIDDLE_SIZES:
        windows = max(1, -(-(points - 1) * least // (size * distance)))
        most = min(distance, size * distance // max(points // windows - 1, 1))
        if most < 1:
            continue
        counts = _align(most, distance, epsilon), windows
        if counts != last:
            last = counts
            yield counts


def _least_rows(epsilon: float, minimise: Minimise) -> float:
    """Return into how many rows a sensitivity is cut at least."""
    if epsilon < 1:
        return 1.0
    stairs = LEAST_STAIRS[minimise] if epsilon >= LARGE_EPSILON else LEAST_STAIRS_AT_ONE
    return 1 / (stairs * _first_stair(epsilon))


def _first_stair(epsilon: float) -> float:
    return 1 / (1 + math.exp(epsilon / 2))


def _align(most: int, distance: int, epsilon: float) -> int:
    """Return a number of rows for one sensitivity, at most so many, whose edges are where they matter.

    The first stair of the best noise is `1 / (1 + exp(epsilon / 2))` of a sensitivity wide (Geng & Viswanath 2014), and
    rows are whole numbers of steps.
    """
    stair = _first_stair(epsilon)

    def misfit(rows: int) -> float:
        stairs = abs(rows * stair - round(rows * stair)) / rows if rows * stair >= 0.5 else stair
        steps = -distance % rows / distance
        return round(stairs + steps, 3)

    return min(range(max(1, math.ceil(0.6 * most)), most + 1), key=lambda rows: (misfit(rows), -rows))
