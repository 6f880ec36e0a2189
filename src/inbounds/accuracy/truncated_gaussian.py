"""Gaussian laws truncated to one interval, normalised and rounded to a lattice, around every true answer.

Distances are in steps.  Masses are counted so that the whole line has 2: between `a` and `b` from the centre there is
`erf(b / s) - erf(a / s)`, `s` the square root of two times the standard deviation.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.distribution import Distribution, apart
from inbounds.accuracy.few_points import FewPoints
from inbounds.accuracy.true_answers import TrueAnswers
from inbounds.bounds.lattice import Lattice

if TYPE_CHECKING:
    from inbounds.accuracy.distribution import Floats, Indices, Spans

FLAT = 10
"""So many standard deviations from both ends, nothing depends on the true answer any more (to 1e-22)."""

NARROW = 1e-4
"""Masses of cells narrower than this, over `s`, are taken from the density in their middle: good to 1e-12."""

WIDE = 4
"""Up to so many standard deviations from end to end, moments are Gauss sums: their closed forms cancel there."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)

_ERF, _ERFC = np.frompyfunc(math.erf, 1, 1), np.frompyfunc(math.erfc, 1, 1)


def _erf(x: Floats) -> Floats:
    return np.asarray(_ERF(x), dtype=np.float64)


def _erfc(x: Floats) -> Floats:
    return np.asarray(_ERFC(x), dtype=np.float64)


def mass(first: Floats, last: Floats, s: float) -> Floats:
    """Return `erf(last / s) - erf(first / s)`, to full relative accuracy however far out and however narrow."""
    # Three cases, each without cancellation: both ends on one side of zero, by the smaller tails; zero between them, as
    # a sum of two; and a cell so narrow that the difference has no digits left, by its density with a second-order
    # term.
    start, stop = np.broadcast_arrays(first / s, last / s)
    near = np.where(start >= 0, start, np.where(stop <= 0, -stop, 0.0))  # the farther tail by its distance
    far = np.where(start >= 0, stop, np.where(stop <= 0, -start, 0.0))
    one_sided = _erfc(near) - _erfc(far)
    across = (start < 0) & (stop > 0)
    differences = np.where(across, _erf(np.maximum(stop, 0)) + _erf(np.maximum(-start, 0)), one_sided)
    width, middle = (last - first) / s, (start + stop) / 2  # of whole and half steps the difference is exact
    density = 2 / math.sqrt(math.pi) * np.exp(-(middle**2)) * width * (1 + width**2 * (4 * middle**2 - 2) / 24)
    return np.maximum(np.where(width < NARROW, density, differences), 0.0)


class GaussianRows(FewPoints):
    """Truncated Gaussian laws on few points: the masses of all cells, each looked up by its distance."""

    rises = True

    def __init__(self, lattice: Lattice, sigma: float) -> None:
        super().__init__(lattice)
        self.scale, self._low, self._top = sigma, lattice.first, lattice.points - 1
        self._s = math.sqrt(2) * sigma

    @cached_property
    def _cells(self) -> Floats:
        """The masses of whole cells, from `top` steps below the centre to `top` above."""
        distance = np.arange(-self._top, self._top + 1.0)
        return mass(distance - 0.5, distance + 0.5, self._s)

    @np.errstate(under="ignore")
    def rows(self, centres: Indices) -> Floats:
        """Return the probabilities of all possible answers; the first and the last have half a cell."""
        places = (centres - self._low).astype(np.intp)
        if not self._top:
            return np.ones((len(places), 1))
        rows = self._cells[np.arange(self._top + 1) - places[:, None] + self._top]
        s, below = self._s, places.astype(np.float64)
        above = self._top - below
        rows[:, 0], rows[:, -1] = mass(-below, 0.5 - below, s), mass(above - 0.5, above, s)
        return np.asarray(rows / mass(-below, above, s)[:, None])


class TruncatedGaussianDistribution(Distribution):
    """Truncated Gaussian laws on a lattice far finer than they are wide.

    Moments are those of the law before rounding, with the first terms of Euler and Maclaurin for what rounding adds:
    what is left out is of the order of the step over the standard deviation to the fourth power.
    """

    def __init__(self, lattice: Lattice, sigma: float) -> None:
        self.lattice, self.scale = lattice, sigma
        self._s = math.sqrt(2) * sigma

    def _to_ends(self, centres: Indices) -> tuple[Floats, Floats]:
        first, last = np.int64(self.lattice.first), np.int64(self.lattice.last)
        return apart(centres, np.full_like(centres, first)), apart(np.full_like(centres, last), centres)

    @np.errstate(under="ignore")
    def _between(self, start: Floats, stop: Floats, centres: Indices) -> Floats:
        """Return the probability of what is so far above the centre before rounding."""
        below, above = self._to_ends(centres)
        start, stop = np.clip(start, -below, above), np.clip(stop, -below, above)
        return mass(start, stop, self._s) / mass(-below, above, self._s)

    def probability(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of a release: that of its cell."""
        off = apart(released, centres)
        return self._between(off - 0.5, off + 0.5, centres)

    def up_to(self, released: Indices, centres: Indices) -> Floats:
        return self._between(np.full(1, -np.inf), apart(released, centres) + 0.5, centres)

    def at_least(self, released: Indices, centres: Indices) -> Floats:
        return self._between(apart(released, centres) - 0.5, np.full(1, np.inf), centres)

    def error(self, centres: Indices, excess: Floats) -> Floats:
        """Return the expected distance; no release may be strictly between a true answer and its index."""
        errors = self._errors(*self._to_ends(centres))
        if not np.count_nonzero(excess):
            return errors
        below, above = self.up_to(centres - 1, centres), self.at_least(centres + 1, centres)
        return errors + excess * (below - above) + abs(excess) * self.probability(centres, centres)

    def errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the expected distances for true answers so far from the ends."""
        return self._errors(below, above)

    @np.errstate(under="ignore")
    def _errors(self, below: Floats, above: Floats) -> Floats:
        sides = -np.expm1(-((below / self._s) ** 2)) - np.expm1(-((above / self._s) ** 2))
        return self._height * sides / mass(-below, above, self._s)

    @property
    def _height(self) -> float:
        """The expected distance for a law on a half-line from its centre, as rounding makes it."""
        return math.sqrt(2 / math.pi) * (self.scale - 1 / (24 * self.scale))

    @np.errstate(under="ignore")
    def bias_and_variance(self, centres: Indices) -> tuple[Floats, Floats]:
        """Return how far above the centre the mean is, and the variance."""
        below, above = self._to_ends(centres)
        s, whole = self._s, mass(-below, above, self._s)
        at_low, at_high = np.exp(-((below / s) ** 2)), np.exp(-((above / s) ** 2))
        # The mean is off by the difference of the densities at the two ends, written as a product: near the middle of
        # the range they are nearly equal.
        nearer, farther = np.minimum(below, above), np.maximum(below, above)
        fall = np.exp(-((nearer / s) ** 2)) * -np.expm1((nearer - farther) / s * ((nearer + farther) / s))
        bias = self._height * np.where(below < above, fall, -fall) / whole
        if self.lattice.width < WIDE * self.scale:
            # A range of few standard deviations: by quadrature, for the closed form would cancel.
            places = (above - below)[..., None] / 2 + (above + below)[..., None] / 2 * NODES
            weights = WEIGHTS * np.exp(-((places / s) ** 2))
            mean = (places * weights).sum(-1) / weights.sum(-1)
            before = ((places - mean[..., None]) ** 2 * weights).sum(-1) / weights.sum(-1)
        else:
            mean = bias * math.sqrt(2 / math.pi) * self.scale / self._height
            edges = math.sqrt(2 / math.pi) / self.scale * (below * at_low + above * at_high) / whole
            before = self.scale**2 * (1 - edges) - mean**2
        # Rounding to the lattice adds the variance of a uniform number, 1/12, and a term for the half cells at the
        # ends.
        densities = math.sqrt(2 / math.pi) / self.scale / whole
        ends = ((above - mean) * at_high + (below + mean) * at_low) * densities
        return bias, before + (1 + ends) / 12

    @np.errstate(under="ignore")
    def at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the probabilities of the two end points."""
        s = self._s
        masses = mass(-below, 0.5 - below, s) + mass(above - 0.5, above, s)
        return masses / mass(-below, above, s)

    def true_answers(self, first: int, last: int) -> TrueAnswers:
        """Return true answers, to be looked at half a standard deviation at a time."""
        return TrueAnswers(self.lattice, self.scale / 2, FLAT * self.scale, first, last)
