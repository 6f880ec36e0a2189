"""Moments of a release around its centre: closed forms on the lattice, evaluated in doubles.

Sums of `d^p * q^d` over the indices on one side of a centre, and what lies outside its span carried along by
recurrences of positive terms (docs/mathematics.md, "Moments").
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb, factorial
from typing import TYPE_CHECKING

import numpy as np

from inbounds.privacy.loss import FloatMasses, linear_scan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Sums = tuple[Floats, Floats, Floats]

NARROW = 0.125
"""Below this many scales a closed form would cancel, and a series is used instead."""

TERMS = 9
"""Terms of that series; the first left out is below 1e-13 of the sum."""

MANY_POINTS = 10_000
"""With so many points a sum is nearly an integral, and few of Bernoulli's corrections matter."""


@dataclass(frozen=True, eq=False)
class LaplaceMoments:
    """Mass, first and second moment of the distance, below and above some centres."""

    below: Sums
    above: Sums
    single: float
    """The mass of the centre, without what is pooled there."""

    @cached_property
    def z(self) -> Floats:
        """The mass of everything."""
        return self.single + self.below[0] + self.above[0]

    @property
    def error(self) -> Floats:
        """The expected distance from the centre."""
        return (self.below[1] + self.above[1]) / self.z

    @cached_property
    def bias(self) -> Floats:
        """The expected distance upwards, minus that downwards."""
        return (self.above[1] - self.below[1]) / self.z

    @property
    def variance(self) -> Floats:
        """The variance of the release."""
        return (self.below[2] + self.above[2]) / self.z - self.bias**2


class MomentTables:
    """What a law's moments need, computed once for all centres."""

    @np.errstate(under="ignore")  # whatever the caller has set
    def __init__(self, masses: FloatMasses) -> None:
        self._rate, self._single = masses.rate, masses.single
        lengths = masses.lattice.lengths.astype(float)
        gaps = masses.lattice.gaps.astype(float) + 1
        _, *points = geometric_sums(lengths, self._rate)
        left = _outside(masses.outside_left, masses.up_to_high(), masses.through, lengths, points, masses.across, gaps)
        mirrored = _outside(
            masses.outside_right[::-1],
            masses.down_to_low()[::-1],
            masses.through[::-1],
            lengths[::-1],
            [moment[::-1] for moment in points],
            masses.across[::-1],
            gaps[::-1],
        )
        right = [moment[::-1] for moment in mirrored]
        self._outside = np.array(list(zip(left, right, strict=True)))  # by moment, side and span

    @np.errstate(under="ignore")
    def at(self, spans: NDArray[np.intp], below: Floats, above: Floats) -> LaplaceMoments:
        """Return the moments around centres at these distances from the lower and upper ends of their spans."""
        # What is outside the span is known about its end; about a centre `n` steps inside it fades by `q^n`, and the
        # moments are moved by the binomial formula.
        n = np.array((below, above))  # both sides at once: for few centres, what costs is the number of operations
        mass, first, second = self._outside[:, :, spans]
        fade, carried = np.exp(n * -self._rate), n * mass
        s0, s1, s2 = geometric_sums(n, self._rate)
        s0 += fade * mass
        s1 += fade * (first + carried)
        s2 += fade * (second + n * (2 * first + carried))
        return LaplaceMoments((s0[0], s1[0], s2[0]), (s0[1], s1[1], s2[1]), self._single)


@np.errstate(under="ignore")
def geometric_sums(n: Floats, rate: float | Floats) -> Sums:
    """Return `(1 - q) * sum(d**p * q**d)` over `d` from 1 to `n`, for `p` = 0, 1, 2; `n` need not be whole."""
    q, single, exponent = np.exp(-rate), -np.expm1(-rate), n * -rate
    # The closed forms by summation by parts.  Where `n * rate` is small they are differences of nearly equal numbers.
    end = np.exp(exponent) * q
    finite = np.where(end == 0, 0.0, n)
    zeroth = -q * np.expm1(exponent)
    first = zeroth / single - finite * end
    second = (2 * first - zeroth) / single - finite**2 * end
    narrow = exponent > -NARROW
    if np.count_nonzero(narrow):
        rates = np.broadcast_to(rate, n.shape)[narrow]
        singles = np.broadcast_to(single, n.shape)[narrow]
        first[narrow] = singles * _series(n[narrow], rates, 1)
        second[narrow] = singles * _series(n[narrow], rates, 2)
    return zeroth, first, second


def _outside(
    mass: Floats,
    whole: Floats,
    through: Floats,
    lengths: Floats,
    points: list[Floats],
    across: Floats,
    gaps: Floats,
) -> Sums:
    """Return mass, first and second moment of all that is below each span, about its lower end."""
    # A recurrence from span to span for each moment: what is in the span, and what is below it, moved across and faded.
    factors = across * through[:-1]
    inner = points[0] + through * lengths * mass
    first = linear_scan(factors, across * (inner[:-1] + gaps * whole[:-1]), 0.0)
    about_high = inner + through * first
    inner = points[1] + through * (2 * lengths * first + lengths**2 * mass)
    terms = across * (inner[:-1] + 2 * gaps * about_high[:-1] + gaps**2 * whole[:-1])
    return mass, first, linear_scan(factors, terms, 0.0)


def _series(n: Floats, rate: Floats, power: int) -> Floats:
    """Return `sum(d**power * exp(-rate * d))` over `d` from 1 to `n`, for small `n * rate`, by powers of it."""
    inverse = 1 / np.where(n > 0, n, 1.0)
    terms = None if n.min() < MANY_POINTS else 6  # then the terms after these are below 1e-16
    total = np.zeros_like(n)
    for j in range(TERMS):
        coefficients = _POWER_SUMS[power + j][:terms]
        total += (-n * rate) ** j / factorial(j) * np.polynomial.polynomial.polyval(inverse, coefficients)
    return np.where(n > 0, n ** (power + 1) * total, 0.0)


def _power_sums(highest: int) -> list[list[float]]:
    """Return Faulhaber's polynomials: `sum(d**k, d=1..n) = n**(k+1) * sum(c[r] / n**r)`, for each k."""
    bernoulli = [Fraction(1)]
    for m in range(1, highest + 1):
        bernoulli.append(-sum((comb(m + 1, j) * bernoulli[j] for j in range(m)), Fraction(0)) / (m + 1))
    bernoulli[1] = Fraction(1, 2)
    return [[float(comb(k + 1, r) * bernoulli[r] / (k + 1)) for r in range(k + 1)] for k in range(highest + 1)]


_POWER_SUMS = _power_sums(TERMS + 2)
