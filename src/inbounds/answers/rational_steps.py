"""Doubles, one or an array of them, placed exactly on a lattice whose step is not a power of two, such as cents.

The index of `x` is the whole number `k` with

    2 a k + 2 b - a  <=  2 c x  <  2 a k + 2 b + a        where index k stands for (a k + b) / c.

The limits are integers that doubles hold.  The product is not a double, but it is the sum of two (Dekker 1971), so each
comparison is exact; a quotient in doubles says which `k` to try, and is at most one off.  Every answer takes the same
operations: nothing tells whether it was near to the middle between two steps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from inbounds.bounds.lattice import Lattice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Double = TypeVar("Double", float, "Floats")
"""One double or an array of them, which take the same operations."""

LIMIT = 2**51
"""Integers up to this are doubles, and quotients of them are at most one off after rounding down."""

SPLIT = 2.0**27 + 1
"""Multiplying by this separates the upper half of the bits of a double from the lower half (Veltkamp)."""

LEAST = 2.0**-500
"""Numbers nearer to zero are moved away from it to here: products of theirs would be subnormal, and take longer."""

ROUNDER = 1.5 * 2.0**52
"""Added and subtracted, this rounds doubles within ±LIMIT to a nearest integer."""


class RationalSteps:
    """Places doubles on a bounded lattice with any step that is not too fine."""

    def __init__(self, lattice: Lattice) -> None:
        a, b, c = lattice.writing
        self._low, self._high = float(lattice.lows[0] - 2), float(lattice.highs[-1] + 2)
        self._ends = (self._low * a + b) / c, (self._high * a + b) / c
        self._per_step, self._shift = c / a, b / a - 0.5
        self._factor, self._width, self._limit = float(2 * c), float(2 * a), float(2 * b - a)
        self._upper, self._lower = _split(self._factor)

    @staticmethod
    def suits(lattice: Lattice) -> bool:
        """Whether the lattice has ends and doubles hold every integer that is needed."""
        if not lattice.bounded:
            return False
        a, b, c = lattice.writing
        reach = max(abs(lattice.first), abs(lattice.last)) + 3
        return max(2 * c, 2 * a * reach + 2 * abs(b) + a) <= LIMIT

    def nearest(self, answers: Floats) -> NDArray[np.int64]:
        """Return the index nearest to each answer, the upper one of two, or one beyond the same end."""
        x = np.clip(answers, *self._ends) + 0.0  # the sum turns -0.0 into 0.0
        x = np.copysign(np.maximum(np.abs(x), LEAST), x)
        index = self._correct(x, np.floor(x * self._per_step - self._shift))
        return np.clip(index, self._low, self._high).astype(np.int64)

    def nearest_to(self, answer: float) -> float:
        """`nearest` for one answer, which is not NaN; the index as a double."""
        x = min(max(answer, self._ends[0]), self._ends[1]) + 0.0
        x += math.copysign(LEAST, x)  # nothing to what is not tiny
        quotient = x * self._per_step - self._shift
        whole = quotient + ROUNDER - ROUNDER  # a floor takes longer for large numbers
        return self._correct(x, whole - (whole > quotient))

    def _correct(self, x: Double, index: Double) -> Double:
        """Return the index of a double from one that is at most one off."""
        product, rest = self._product(x)
        limit = index * self._width + self._limit
        # A difference that is small is exact (Sterbenz); one that is not has the right sign anyway.
        index -= (product - limit) + rest < 0
        limit += self._width
        index += (product - limit) + rest >= 0
        return index

    def _product(self, x: Double) -> tuple[Double, Double]:
        """Return `2 c x` as a double and what is left of it, exactly."""
        product = x * self._factor
        upper, lower = _split(x)
        rest = upper * self._upper
        rest -= product
        rest += upper * self._lower
        rest += lower * self._upper
        rest += lower * self._lower
        return product, rest


def _split(x: Double) -> tuple[Double, Double]:
    """Return two doubles of half as many bits that add up to each double."""
    scaled = x * SPLIT
    upper = scaled - (scaled - x)
    return upper, x - upper
