"""Searches along the scale of the noise for where the loss is small enough.

`excess` is how far the loss at a scale is above what is allowed; nothing is assumed about its shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable

VALLEYS = 4
"""So many valleys between the scales looked at are searched for their lowest point."""

VALLEY_TOLERANCE = 2.0**-20
"""How near, relatively, to the lowest point of a valley: where it is flat, that is near enough."""


def least_safe(excess: Callable[[float], float], unsafe: float, safe: float, tolerance: float) -> float:
    """Return a scale with `excess(scale) <= 0`, as near as `tolerance` to one where that does not hold.

    If `safe` is not safe after all, it is returned as it is, for the caller to refuse.

    Only scales that were evaluated are returned; nothing is assumed about the shape of `excess`.  The steps are those
    of the Illinois variant of regula falsi in `1 / scale`, in which the loss is nearly a straight line.
    """
    # Illinois: where one end moves twice in a row, the value at the other is halved, so that the next guess crosses
    # over.
    above, below = excess(unsafe), excess(safe)
    if above <= 0 or below > 0:
        return unsafe if above <= 0 else safe
    moved = 0  # which end moved last: +1 safe, -1 unsafe
    while safe - unsafe > tolerance * safe:
        weight = above / (above - below)
        guess = 1 / ((1 - weight) / unsafe + weight / safe)
        margin = tolerance * safe / 2
        guess = min(max(guess, unsafe + margin), safe - margin)
        value = excess(guess)
        if value <= 0:
            safe, below, above, moved = guess, value, above / 2 if moved > 0 else above, 1
        else:
            unsafe, above, below, moved = guess, value, below / 2 if moved < 0 else below, -1
    return safe


def first_fall(excess: Callable[[float], float], scales: list[float]) -> tuple[float, float] | None:
    """Return a scale where the excess is positive and the next one looked at where it is not; None if there is none.

    Between three scales of which the middle one has the least excess, the lowest point of the valley is looked for.
    """
    # A coarse look may step over a narrow valley.
    values = [excess(scale) for scale in scales]
    valleys = 0
    for i in range(1, len(scales)):
        if values[i] <= 0:
            return scales[i - 1], scales[i]
        if i + 1 < len(scales) and values[i - 1] > values[i] <= values[i + 1] and valleys < VALLEYS:
            valleys += 1
            lowest = _lowest(excess, scales[i - 1], scales[i + 1])
            if excess(lowest) <= 0:
                return scales[i - 1], lowest
    return None


def _lowest(excess: Callable[[float], float], low: float, high: float) -> float:
    """Return where the excess is least in a valley, by the golden section."""
    share = (math.sqrt(5) - 1) / 2
    left, right = high - share * (high - low), low + share * (high - low)
    at_left, at_right = excess(left), excess(right)
    while high - low > VALLEY_TOLERANCE * high:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - share * (high - low)
            at_left = excess(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + share * (high - low)
            at_right = excess(right)
    return left if at_left <= at_right else right
