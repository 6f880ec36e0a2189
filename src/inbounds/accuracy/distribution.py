"""How accurate a release is: its distribution around a true answer, in indices of the lattice.

Distances are exact integers; the rest is closed forms in doubles, good to about 1e-12.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.moments import Moments, MomentTables
from inbounds.bounds.lattice import FAR
from inbounds.privacy.law import Law
from inbounds.privacy.loss import FloatMasses, linear_scan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Spans = NDArray[np.intp]

SLACK = 1e-11
"""Relative room for rounding: a confidence interval is rather too wide than too narrow."""


class Accuracy:
    """The distribution of a release around any true answer."""

    def __init__(self, law: Law) -> None:
        self.lattice = law.lattice
        self.rate = float(law.rate)
        self._masses = FloatMasses(law.lattice, self.rate, float(law.pooling))
        self.tables = MomentTables(self._masses)

    def moments(self, centre: int) -> Moments:
        """Return the moments of a release around a feasible centre."""
        span = self._span(centre)
        low, high = self.lattice.low_list[span], self.lattice.high_list[span]
        below = FAR if low == -FAR else min(centre - low, FAR)  # an answer may be beyond all doubles
        above = FAR if high == FAR else min(high - centre, FAR)
        return self.tables.at(np.array([span]), np.array([float(below)]), np.array([float(above)]))

    @np.errstate(under="ignore")
    def at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the probabilities that releases are ends of spans, for true answers so far from those of theirs."""
        left, right = self._end_masses
        found = np.exp(-below * self.rate) * left[spans] + np.exp(-above * self.rate) * right[spans]
        twice = np.where(self.lattice.lengths[spans] == 0, self._masses.single, 0.0)  # one point is both ends
        return (found - twice) / self.tables.at(spans, below, above).z

    @cached_property
    @np.errstate(under="ignore")
    def _end_masses(self) -> tuple[Floats, Floats]:
        """The mass of all ends up to the lower end of each span, seen from there, and from the upper end on."""
        masses, lattice = self._masses, self.lattice
        low, high = masses.single + masses.extra_low, masses.single + masses.extra_high
        low[0], high[-1] = (0 if lattice.unbounded_below else low[0]), (0 if lattice.unbounded_above else high[-1])
        twice = np.where(lattice.lengths == 0, masses.single, 0.0)
        through, across = masses.through, masses.across
        left = linear_scan(across * through[:-1], low[1:] + across * (high - twice)[:-1], low[0])
        right = linear_scan((across * through[1:])[::-1], (high[:-1] + across * (low - twice)[1:])[::-1], high[-1])
        return left, right[::-1]

    def sides(self, centre: int, moments: Moments) -> tuple[float, float, float]:
        """Return the probabilities that a release is below a feasible centre, at it, and above it, by its moments."""
        span = self._span(centre)
        z, below, above = (float(x[0]) for x in (moments.z, moments.below[0], moments.above[0]))
        pooled_low, pooled_high = self._pooled(centre, span)
        return (below - pooled_low) / z, self._weight(centre, span) / z, (above - pooled_high) / z

    def pmf(self, index: int, centre: int) -> float:
        """Return the probability that a release around a centre is this index."""
        span = self._span(index)
        if index != self.lattice.project(index)[0]:
            return 0.0
        return self._weight(index, span) * self._fade(abs(index - centre)) / self._z(centre)

    def cdf(self, index: int, centre: int) -> float:
        """Return the probability that a release around a centre is at most this index."""
        return self._up_to(index, centre) if index < centre else 1 - self._from(index + 1, centre)

    def survival(self, index: int, centre: int) -> float:
        """Return the probability that a release around a centre is at least this index."""
        return self._from(index, centre) if index > centre else 1 - self._up_to(index - 1, centre)

    def quantile(self, probability: float, centre: int) -> int:
        """Return the least index that a release around a centre does not exceed with at least this probability."""
        return self._least(lambda index: self.cdf(index, centre) >= probability, centre)

    def interval(self, released: int, confidence: float) -> tuple[int, int]:
        """Return the least and greatest centre for which the release is not in either tail.

        The greater the centre, the greater its releases (the laws have a monotone likelihood ratio), so these are all
        centres for which it is not, and they include the true one with at least this confidence.
        """
        tail = (1 - confidence) / 2 * (1 - SLACK)

        def centre(index: int) -> int:
            return self.lattice.project(index)[0]

        least = self._least(lambda index: self.survival(released, centre(index)) > tail, released)
        beyond = self._least(lambda index: self.cdf(released, centre(index)) <= tail, released)
        low, high = centre(least), self.lattice.project(beyond - 1)[0]
        return min(low, released), max(high, released)  # a release in a tail of every centre is no evidence for one

    def _least(self, reached: Callable[[int], bool], near: int) -> int:
        """Return the least index at which a monotone predicate holds; one above the last index if it never does."""
        lattice, stride = self.lattice, max(1, int(1 / self.rate))
        first = near if lattice.unbounded_below else lattice.low_list[0]
        last = near if lattice.unbounded_above else lattice.high_list[-1] + 1
        while lattice.unbounded_below and reached(first):
            first, stride = first - stride, 2 * stride
        while lattice.unbounded_above and not reached(last):
            last, stride = last + stride, 2 * stride
        return first + bisect_left(range(last - first), True, key=lambda ahead: reached(first + ahead))

    def _span(self, index: int) -> int:
        return max(bisect_right(self.lattice.low_list, index) - 1, 0)

    def _pooled(self, index: int, span: int) -> tuple[float, float]:
        """Return what is pooled at an index, as the lower end of its span and as the upper one."""
        low, high = self.lattice.low_list[span], self.lattice.high_list[span]
        at_low = float(self._masses.extra_low[span]) if index == low else 0.0
        at_high = float(self._masses.extra_high[span]) if index == high else 0.0
        return at_low, at_high

    def _weight(self, index: int, span: int) -> float:
        return self._masses.single + sum(self._pooled(index, span))

    def _fade(self, distance: int) -> float:
        """Return `q ** distance`, also for distances beyond all doubles."""
        return math.exp(-min(distance, FAR) * self.rate)

    def _z(self, centre: int) -> float:
        return float(self.moments(centre).z[0])

    def _up_to(self, index: int, centre: int) -> float:
        """Return the probability of at most an index that is below the centre."""
        if index < self.lattice.low_list[0] != -FAR:
            return 0.0
        span = self._span(index)
        low, high = self.lattice.low_list[span], self.lattice.high_list[span]
        top = index if high == FAR else min(index, high)
        length = FAR if low == -FAR else top - low
        mass = self._fade(length) * float(self._masses.outside_left[span])
        mass += -math.expm1(-(length + 1) * self.rate) + self._pooled(top, span)[1]
        return mass * self._fade(centre - top) / self._z(centre)

    def _from(self, index: int, centre: int) -> float:
        """Return the probability of at least an index that is above the centre."""
        if index > self.lattice.high_list[-1] != FAR:
            return 0.0
        span = min(bisect_left(self.lattice.high_list, index), len(self.lattice) - 1)
        low, high = self.lattice.low_list[span], self.lattice.high_list[span]
        bottom = index if low == -FAR else max(index, low)
        length = FAR if high == FAR else high - bottom
        mass = self._fade(length) * float(self._masses.outside_right[span])
        mass += -math.expm1(-(length + 1) * self.rate) + self._pooled(bottom, span)[0]
        return mass * self._fade(bottom - centre) / self._z(centre)
