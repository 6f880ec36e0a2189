"""How large the noise in a weighted sum of noisy sums can be: a bound that it exceeds with at most a given probability.

The noises are independent draws of one law, the two-sided geometric.  Where its steps are fine it is the whole part of
continuous Laplace noise, up to less than a step; where they are coarse, two noises are added up exactly.  Every bound
is rounded upwards (`docs/proofs.md`, "Tails of weighted sums").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from inbounds.published.ghosh2009 import Geometric
    from inbounds.query.methods.moments.pivots import Numbers

COARSE = 12
"""With so many steps to a scale, noise is taken for continuous: that costs at most a step for each sum."""

TERMS = 256
"""Terms of a Fourier series; what is left out is added."""

TILT = 0.75
"""Tails are multiplied by an exponential that grows at this part of the rate at which they fall at last.  What is left
out of their series is then small beside a small probability as well."""

PERIOD, PERIOD_OF_WEIGHT = 64.0, 3.0
"""The period of the series, in scales of the largest weight, and so much for each of the others."""

NEWTON = 6

MOST_SCALES = 40.0
HALVINGS = 26
"""So many times these scales are halved: less than 1e-6 of one is left, which is rounded upwards."""

PAIR_NODES, TRIPLE_NODES = 257, 33
"""Where the bounds of two and three noises are kept; in between, the next larger weights are taken."""

FARTHEST = 27.0
"""Noise so many scales away has a probability below 1e-11, which is added."""

RARE = 0.002
"""The part of the probability that is set aside for noises that are far out, between two nodes."""


@dataclass(frozen=True)
class Tails:
    """The law of the noise of each sum."""

    scale: float
    step: float

    @classmethod
    def of(cls, mechanism: Geometric) -> Tails:
        """Take the law from a mechanism."""
        return cls(mechanism.scale, float(mechanism.step))

    def reach(self, weights: Numbers, alpha: float) -> Numbers:
        """Return, for each row of weights, what the weighed noises exceed with a probability of at most alpha."""
        weights = np.abs(weights)
        largest = weights.max(axis=-1)
        shares = np.sort(weights / np.where(largest > 0, largest, 1)[..., None], axis=-1)[..., ::-1]
        number = shares.shape[-1]
        if number == 2 and self.scale < COARSE * self.step:
            return largest * self.scale * _pair_reach(shares[..., 1], alpha, self.step / self.scale)
        reach = _pair_reach(shares[..., 1], alpha) if number == 2 else None
        if number == 3:
            reach = _triple_reach(shares, alpha)
        if reach is None:
            reach = fourier_reach(shares, alpha)
        rounding = self.step * weights.sum(axis=-1)  # a step for each: the whole part is less than that away
        found: Numbers = largest * self.scale * reach + rounding
        return found


# Two noises, by a table over the smaller weight.


def _pair_reach(shares: Numbers, alpha: float, step: float = 0.0) -> Numbers:
    """Return the bounds for weights 1 and `shares`, in scales."""
    place = np.ceil(np.clip(shares, 0, 1) * (PAIR_NODES - 1)).astype(np.intp)
    found: Numbers = _pair_table(alpha, step)[place]
    return found


@lru_cache(maxsize=64)
def _pair_table(alpha: float, step: float) -> Numbers:
    """Return the bounds at all nodes; for continuous noise they rise with the smaller weight."""
    nodes = np.linspace(0, 1, PAIR_NODES)
    if not step:
        return _invert(lambda t: _pair_tail(nodes, t), alpha, PAIR_NODES)
    # On a lattice a smaller weight may have a larger bound.  Weights that differ by less than a node's width w move the
    # sum by at most w times the second noise, which is beyond `far` with a probability that is set aside.
    set_aside = RARE * alpha
    far = -np.log(set_aside / 2) + step
    return _invert(lambda t: _lattice_tail(nodes, t, step), alpha - set_aside, PAIR_NODES) + far / (PAIR_NODES - 1)


def _pair_tail(shares: Numbers, t: Numbers) -> Numbers:
    """Return the probability that two Laplace noises, weighed by 1 and by shares, are together beyond t."""
    near = shares > 1 - 1e-6  # then as if they were alike, which is more
    b = np.where(near, 0.5, shares)
    positive = np.where(b > 0, b, 1)
    apart = (np.exp(-t) - np.where(b > 0, b**2 * np.exp(-t / positive), 0)) / (1 - b**2)
    return np.where(near, (1 + t / 2) * np.exp(-t), apart)


def _lattice_tail(shares: Numbers, t: Numbers, step: float) -> Numbers:
    """Return the same for two-sided geometric noises with these steps: added up over the second one."""
    reach = int(np.ceil(FARTHEST / step)) + 2
    steps = np.arange(-reach, reach + 1)
    q = np.exp(-step)
    masses = (1 - q) / (1 + q) * np.exp(-step * np.abs(steps))
    moved = shares[:, None] * steps * step
    above = _geometric_tail(_next_step((t[:, None] - moved) / step), step)
    below = _geometric_tail(_next_step((t[:, None] + moved) / step), step)
    far = 2 * np.exp(-step * (reach + 1)) / (1 + q)
    found: Numbers = (masses * (above + below)).sum(axis=-1) + far
    return found


def _next_step(place: Numbers) -> Numbers:
    """Return the first step beyond a place; one that is next to it but for rounding is beyond."""
    following: Numbers = np.floor(place - 1e-9) + 1
    return following


def _geometric_tail(first: Numbers, step: float) -> Numbers:
    """Return the probability of so many steps or more: what is beyond the one before 0 is the rest of its mirror."""
    tail = np.exp(-step * np.where(first > 0, first, 1 - first)) / (1 + np.exp(-step))
    return np.where(first > 0, tail, 1 - tail)


# Three noises, by a table over both smaller weights; more, by Fourier series.


def _triple_reach(shares: Numbers, alpha: float) -> Numbers:
    """Return the bounds for weights 1, and two that are smaller and in order."""
    places = np.ceil(np.clip(shares[..., 1:], 0, 1) * (TRIPLE_NODES - 1)).astype(np.intp)
    found: Numbers = _triple_table(alpha)[places[..., 0], places[..., 1]]
    return found


@lru_cache(maxsize=16)
def _triple_table(alpha: float) -> Numbers:
    """Return the bounds at all nodes: they rise with each weight, so that the next node is a bound as well."""
    second, third = np.tril_indices(TRIPLE_NODES)
    shares = np.stack([np.full(len(second), TRIPLE_NODES - 1), second, third], axis=-1) / (TRIPLE_NODES - 1)
    table = np.full((TRIPLE_NODES, TRIPLE_NODES), np.inf)
    table[second, third] = fourier_reach(shares, alpha)
    return table


def fourier_reach(shares: Numbers, alpha: float) -> Numbers:
    """Return the bounds of Laplace noises with weights of which the largest is 1, in scales.

    The tail, tilted by an exponential and wrapped around a circle, has a Fourier series with the moment generating
    function as coefficients.  All that was wrapped is positive, so that the series is a bound.
    """
    tails = _TiltedTails(shares.reshape(-1, shares.shape[-1]))
    # The logarithm of a tail is concave, so that Newton's method arrives from above; whatever it finds is tried.
    found: Numbers = np.full(len(tails.generating), -np.log(alpha))
    for _ in range(NEWTON):
        tail, slope = tails.at(found)
        found = np.clip(found - np.log(tail / alpha) * tail / slope, -np.log(alpha), tails.farthest(alpha))
    found *= 1 + 1e-6
    is_bound = tails.at(found)[0] <= alpha
    return np.where(is_bound, found, tails.farthest(alpha)).reshape(shares.shape[:-1])


class _TiltedTails:
    """Bounds of the probabilities that weighed noises are far out, for each row of weights."""

    def __init__(self, shares: Numbers) -> None:
        self._period = PERIOD + PERIOD_OF_WEIGHT * (shares.sum(axis=-1) - 1)
        self._at = 2 * np.pi * np.arange(1, TERMS + 1) / self._period[:, None]
        tilted = TILT + 1j * self._at
        coefficients = np.ones_like(tilted)
        for weight in shares.T:
            coefficients /= 1 - (weight[:, None] * tilted) ** 2
        # The largest weight alone makes coefficients fall nearly as the square of their order, and 1/s once more.
        fastest = self._at[:, -1]
        slack = np.sqrt((1 + ((1 - TILT) / fastest) ** 2) * (1 + ((1 + TILT) / fastest) ** 2))
        self._left_out = np.abs(coefficients[:, -1]) * slack / (2 * np.pi)
        self._coefficients = coefficients / tilted
        self.generating = np.prod(1 / (1 - (TILT * shares) ** 2), axis=-1)

    def at(self, t: Numbers) -> tuple[Numbers, Numbers]:
        """Return a bound of the probability beyond t, on both sides together, and how it changes with t."""
        terms = self._coefficients * np.exp(-1j * self._at * t[:, None])
        series = (self.generating / TILT + 2 * terms.real.sum(axis=-1)) / self._period + self._left_out
        rise = 2 * (self._at * terms.imag).sum(axis=-1) / self._period
        both = 2 * np.exp(-TILT * t)
        return both * series, both * (rise - TILT * series)

    def farthest(self, alpha: float) -> Numbers:
        """Return Chernoff's bound of what is exceeded with this probability: farther out, and simple."""
        bound: Numbers = np.log(2 * self.generating / alpha) / TILT
        return bound


def _invert(tail: Callable[[Numbers], Numbers], alpha: float, number: int) -> Numbers:
    """Return where tails that fall have fallen to alpha, rounded upwards: found by halving."""
    low, high = np.zeros(number), np.full(number, MOST_SCALES)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_above = tail(middle) > alpha
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
    return high
