"""How far noisy sums put a statistic off: the mean size of their noises, added up, each with its own factor.

A statistic is off by the noise of each sum times its change with that sum, to first order.  The mean size of that
depends on the law of the noise.  A share `p = above / (above + below)` of two sums with noise `X` and `Y` is off by
`((1 - p) X - p Y) / (above + below)`: where the two balance, that is three quarters of `E|X|` for Laplace noise, and
more on a coarse lattice, all of it at last.

Where the noise is large beside the sums, these are clamped and quotients bend.  So how far a statistic moves is looked
up at a few fixed noises, the nudges, which are even in probability; they start from what was released.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from inbounds.mechanisms.mechanism import Mechanism
    from inbounds.query.methods.moments.pivots import Numbers

SCALES = 20
"""Noise beyond so many scales has a probability below 1e-8."""

FINE = 4
"""With so many steps to a scale, discrete noise is Laplace noise to half a per cent."""

SHARES = np.linspace(0, 1, 241)
"""Where the mean is computed; in between, it is convex and nearly straight."""

NUDGES = 64
"""Noises at which it is looked up how far a statistic moves; half of them are the others the other way round."""

ROOM = 2**17
"""So many numbers are worked with at a time: then they stay near the processor."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
ANGLES = np.pi / 4 * (NODES + 1)


@dataclass(frozen=True)
class SumNoise:
    """The noise of sums: they are independent and have one law."""

    each: float
    """The mean of `|X|`."""
    step: float
    probabilities: tuple[float, ...]
    """Of 0, 1, 2, ... steps of noise, upwards or downwards alike; none if the noise is as good as Laplace."""

    @classmethod
    def of(cls, mechanism: Mechanism, step: Fraction, scale: Fraction) -> SumNoise:
        """Take the law from a mechanism that adds noise with this scale, in these steps."""
        each = float(mechanism.error(0))
        if scale > FINE * step:
            return cls(each, float(step), ())
        reach = ceil(SCALES * scale / step) + 1
        probabilities = mechanism.pmf([i * step for i in range(reach + 1)], 0)
        return cls(each, float(step), tuple(probabilities.tolist()))

    def size(self, factors: Numbers) -> Numbers:
        """Return the mean of `|f_1 X_1 + f_2 X_2 + …|` for each row of factors.

        Of two noises it is that of a share, by the lattice where that is coarse; of more, it is that of Laplace noise.
        """
        if factors.shape[-1] != 2:
            return mean_size(factors, self.each)
        sizes = np.abs(factors)
        together = sizes.sum(axis=-1)
        return together * self.at(sizes[..., 1] / np.where(together > 0, together, 1))

    def nudges(self, count: int) -> Numbers:
        """Return noises of so many sums, in rows."""
        return self.each * _nudges(count)

    def mean_move(self, moved: Numbers, factors: Numbers) -> Numbers:
        """Return the mean size of what each group is moved by, given what the nudges move it by.

        There are few nudges.  The mean size of a weighed sum of noises is known, so the weighed sum with these factors,
        which is the same to first order but for a factor, says by how much the mean over the nudges is off.
        """
        straight = np.abs(factors @ self.nudges(factors.shape[-1]).T).mean(axis=-1)
        level = straight == 0
        even: Numbers = np.where(level, 1, self.size(factors) / np.where(level, 1, straight))
        return np.abs(moved).mean(axis=-1) * even

    def at(self, share: Numbers | float) -> Numbers:
        """Return the mean of `|(1 - p) X - p Y|` at a share `p`."""
        share = np.asarray(share)
        if not self.probabilities:
            return self.each * ((1 - share) ** 2 + share * (1 - share) + share**2)
        return np.interp(share, SHARES, self._means)

    @cached_property
    def _means(self) -> Numbers:
        # The law in both directions, that of pairs, and the mean for each share up to a half.
        upwards = np.array(self.probabilities)
        law = np.concatenate([upwards[:0:-1], upwards])
        noise = self.step * (np.arange(len(law)) - len(upwards) + 1)
        both = np.outer(law, law)
        half = [float((both * np.abs(np.subtract.outer((1 - p) * noise, p * noise))).sum()) for p in SHARES[:121]]
        return np.array([*half, *half[-2::-1]])  # what holds for a share holds for the rest of it


@cache
def _nudges(count: int) -> Numbers:
    """Return Laplace noises of scale 1 that fill their space evenly: an additive recurrence, and its mirror.

    The recurrence steps by powers of the root of `x^(d + 1) = x + 1`, as the golden ratio does along a line.
    """
    root = 1.5
    for _ in range(50):
        root = (1 + root) ** (1 / (count + 1))
    steps = root ** -np.arange(1, count + 1)
    half = np.outer(np.arange(1, NUDGES // 2 + 1), steps) % 1
    noises = np.where(half < 0.5, 1, -1) * -np.log(1 - np.abs(2 * half - 1))
    return np.concatenate([noises, -noises])


def mean_size(factors: Numbers, scale: float) -> Numbers:
    """Return the mean of `|f_1 X_1 + f_2 X_2 + …|` for each row of factors; every `X` is Laplace noise of this scale.

    By its characteristic function: `E|Y| = (2/pi) * integral of (1 - phi(t)) / t^2`, with `t` the tangent of an angle
    over the root of the sum of squares, so that the integrand is smooth and bounded.
    """
    # Scale the factors to a root of 1; the characteristic function at each node; Gauss-Legendre over the angles.
    size = np.sqrt((factors**2).sum(axis=-1))
    unit = factors / np.where(size > 0, size, 1)[..., None]
    squares = np.tan(ANGLES) ** 2
    phi = np.prod(1 / (1 + unit[..., None] ** 2 * squares), axis=-2)
    integral = ((1 - phi) / np.sin(ANGLES) ** 2 * WEIGHTS).sum(axis=-1) * np.pi / 4
    sizes: Numbers = scale * size * integral * 2 / np.pi
    return sizes
