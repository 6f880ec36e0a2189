"""The truncated Laplace law around every true answer: probabilities, tails and moments, in closed forms.

Masses are counted in units in which a single ordinary index has mass `1 - q` (docs/mathematics.md, "Masses without
cancellation"); only positive terms are added.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.distribution import Distribution, apart, either, spans_of
from inbounds.accuracy.laplace_sums import LaplaceMoments, MomentTables
from inbounds.accuracy.true_answers import FLAT, TrueAnswers
from inbounds.exact.rational import round_nearest
from inbounds.privacy.law import Law
from inbounds.privacy.loss import FloatMasses, linear_scan

if TYPE_CHECKING:
    from inbounds.accuracy.distribution import Floats, Indices, Spans

LEAST_RATE = 2.0**-900
"""A rate below this is taken for this: over all 2**62 points of a lattice, both are none, to far below the last digit
of a double, and its inverse is a double.  From that inverse on, noise never leaves the point where it is."""


class TruncatedLaplaceDistribution(Distribution):
    """Truncated discrete Laplace laws, one for each possible answer."""

    def __init__(self, law: Law) -> None:
        self.lattice = law.lattice
        self.rate = min(max(round_nearest(law.rate), LEAST_RATE), 1 / LEAST_RATE)
        self.scale = 1 / self.rate
        self._masses = FloatMasses(law.lattice, self.rate, float(law.pooling))
        self._tables = MomentTables(self._masses)
        self._pools = law.pooling > 0

    def truths(self, indices: Indices) -> Indices:
        """Return the possible answers that are nearest: true answers are brought there before noise is drawn."""
        return self.lattice.project_many(indices)[0]

    def moments(self, centres: Indices) -> LaplaceMoments:
        """Return the moments of releases around possible answers."""
        return self._tables.at(*spans_of(self.lattice, centres))

    def bias_and_variance(self, centres: Indices) -> tuple[Floats, Floats]:
        """Return bias and variance of releases around possible answers."""
        moments = self.moments(centres)
        return moments.bias, moments.variance

    def error(self, centres: Indices, excess: Floats) -> Floats:
        """Return the expected distance; no release may be strictly between a true answer and its index."""
        places = spans_of(self.lattice, centres)
        moments, spans = self._tables.at(*places), places[0]
        if not np.count_nonzero(excess):
            return moments.error
        pooled_low, pooled_high = self._pooled_masses(centres, spans) if self._pools else (0.0, 0.0)
        below, above = moments.below[0] - pooled_low, moments.above[0] - pooled_high
        at = self._masses.single + pooled_low + pooled_high
        return moments.error + (excess * (below - above) + abs(excess) * at) / moments.z

    def errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the expected distances for true answers so far from the ends of their spans."""
        return self._tables.at(spans, below, above).error

    @np.errstate(under="ignore")
    def at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the probabilities that releases are ends of spans, for true answers so far from those of theirs."""
        left, right = self._end_masses
        masses = np.exp(-below * self.rate) * left[spans] + np.exp(-above * self.rate) * right[spans]
        twice = np.where(self.lattice.lengths[spans] == 0, self._masses.single, 0.0)  # one point is both ends
        return (masses - twice) / self._tables.at(spans, below, above).z

    def true_answers(self, first: int, last: int) -> TrueAnswers:
        """Return true answers, to be looked at scale by scale."""
        scale = max(1.0, self.scale)
        return TrueAnswers(self.lattice, scale, FLAT * scale, first, last)

    def probability(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of a release around a possible answer."""
        spans = self._span(released)
        possible = (released >= self.lattice.lows[spans]) & (released <= self.lattice.highs[spans])
        weight = self._masses.single + (sum(self._pooled_masses(released, spans)) if self._pools else 0.0)
        return np.where(possible, weight * self._fade(abs(apart(released, centres))) / self._z(centres), 0.0)

    def up_to(self, released: Indices, centres: Indices) -> Floats:
        return either(
            released < centres,
            lambda: self._lower(released, centres) / self._z(centres),
            lambda: 1 - self._upper(released + 1, centres) / self._z(centres),
        )

    def at_least(self, released: Indices, centres: Indices) -> Floats:
        return either(
            released > centres,
            lambda: self._upper(released, centres) / self._z(centres),
            lambda: 1 - self._lower(released - 1, centres) / self._z(centres),
        )

    def _z(self, centres: Indices) -> Floats:
        """Return the mass of everything, seen from possible answers."""
        return self._masses.z(centres, self._span(centres))

    def _lower(self, index: Indices, centres: Indices) -> Floats:
        """Return the mass up to an index that is below the centre; for any other, something."""
        spans = self._span(index)
        low, high = self.lattice.lows[spans], self.lattice.highs[spans]
        top = np.minimum(index, high)
        length = np.maximum(apart(top, low), 0)
        if self.lattice.unbounded_below:
            length = np.where(self.lattice.has_lows[spans], length, np.inf)
        mass = self._fade(length) * self._masses.outside_left[spans] + self._run(length)
        if self._pools:
            mass = mass + np.where(top == high, self._masses.extra_high[spans], 0.0)
        return np.where(index < low, 0.0, mass * self._fade(np.maximum(apart(centres, top), 0)))

    def _upper(self, index: Indices, centres: Indices) -> Floats:
        """Return the mass from an index on that is above the centre; for any other, something."""
        last = len(self.lattice) - 1
        spans = np.minimum(np.searchsorted(self.lattice.highs, index), last)
        low, high = self.lattice.lows[spans], self.lattice.highs[spans]
        bottom = np.maximum(index, low)
        length = np.maximum(apart(high, bottom), 0)
        if self.lattice.unbounded_above:
            length = np.where(self.lattice.has_highs[spans], length, np.inf)
        mass = self._fade(length) * self._masses.outside_right[spans] + self._run(length)
        if self._pools:
            mass = mass + np.where(bottom == low, self._masses.extra_low[spans], 0.0)
        return np.where(index > high, 0.0, mass * self._fade(np.maximum(apart(bottom, centres), 0)))

    def _fade(self, distance: Floats) -> Floats:
        """Return `q ** distance`."""
        return np.exp(-distance * self.rate)

    def _run(self, length: Floats) -> Floats:
        """Return the mass of a run of ordinary indices from one that is at the centre, so many more."""
        return -np.expm1(-(length + 1) * self.rate)

    def _span(self, indices: Indices) -> Spans:
        return self.lattice.last_span(indices)

    def _pooled_masses(self, indices: Indices, spans: Spans) -> tuple[Floats, Floats]:
        """Return what is pooled at indices, as the lower ends of their spans and as the upper ones."""
        at_low = np.where(indices == self.lattice.lows[spans], self._masses.extra_low[spans], 0.0)
        at_high = np.where(indices == self.lattice.highs[spans], self._masses.extra_high[spans], 0.0)
        return at_low, at_high

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
