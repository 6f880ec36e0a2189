"""Noise that is clamped, one number at a time and in doubles throughout.

Python integers take longer the larger they are, and those near zero are not made anew at all; a choice that the
processor cannot foresee takes longer than one that it can.  Here every answer takes the same steps, which are exact.
"""

from __future__ import annotations

from bisect import bisect_right
from math import copysign

from inbounds.bounds.lattice import HOLDS, Lattice

REACH = 2.0 * HOLDS
"""Noise of at least so many steps goes to an end from anywhere; sums of this and three ends are still doubles."""


class Snap:
    """Adds noise to answers on a lattice that doubles hold, and brings it to the nearest possible answer."""

    def __init__(self, lattice: Lattice) -> None:
        self._starts = [float(start) for start in lattice.starts]
        self._limits = [_limits(low, high) for low, high in lattice.spans]
        self._ends = _limits(lattice.first, lattice.last)

    def __call__(self, place: float, noise: float) -> float:
        """Return where a whole number within ±HOLDS goes that is clamped, moved by the noise, and clamped again."""
        low, high, sum_ = self._ends
        if not -REACH < noise < REACH:
            noise = copysign(REACH, noise)
        at = 0.5 * (abs(place - low) - abs(place - high) + sum_) + noise
        low, high, sum_ = self._limits[bisect_right(self._starts, at)]
        return 0.5 * (abs(at - low) - abs(at - high) + sum_)


def _limits(low: int, high: int) -> tuple[float, float, float]:
    """Return the ends and their sum: half of `|x - low| - |x - high| + sum` is what of the span is nearest to `x`."""
    return float(low), float(high), float(low + high)
