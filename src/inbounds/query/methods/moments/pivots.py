"""Intervals around statistics of noisy sums, by pivots: what is 0 at the truth but for noise of which the law is known.

A statistic is where a weighted sum of the true sums is 0: the mean `m` is where that of `u - m` is.  The noisy sums
with these weights are noise alone at the truth, so everything at which they are no larger than that noise can be stays
in the interval.  Where weights depend on something else that is not known, it stays in an interval of its own; they
are chosen so that they hardly do (`docs/proofs.md`, "Intervals of moments").

Everything is in parts of the range, and for many groups at once: one row of an array for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.query.methods.moments.tails import Tails

    Numbers = NDArray[np.float64]
    Ends = tuple[Numbers, Numbers]
    """The ends of intervals, one for each group."""

BESIDE = 0.06
"""The part of alpha that each of the things takes that a statistic hardly depends on."""

ROUNDS = 3
"""Each round takes the weights at the ends that the one before has left."""

CELLS, MEAN_CELLS, QUOTIENT_CELLS = 24, 6, 4
"""Into so many cells an interval of a mean is cut, and those of what a variance and a correlation hardly depend on."""

MIDDLE, MOST = 0.5, 0.25
"""Where the part between stands, and the most that a variance can be."""


@dataclass(frozen=True, eq=False)
class Pivots:
    """The noisy sums of all groups, with the law of their noise."""

    sums: Numbers
    """As they were released: noise may have taken them below 0."""
    at: Sequence[Numbers]
    """The place of each sum along each column, from 0 to 1."""
    tails: Tails
    alpha: float
    """With this probability at most, an interval does not hold the truth."""

    @cached_property
    def together(self) -> Numbers:
        """All sums of each group."""
        added: Numbers = self.sums.sum(axis=1)
        return added

    def total_ends(self, worth: Numbers, alpha: float | None = None) -> Ends:
        """Return where a weighed total of the sums can be."""
        total = self.sums @ worth
        reach = self.tails.reach(worth[None, :], self.alpha if alpha is None else alpha)[0]
        return total - reach, total + reach

    # Means.

    def mean_ends(self, axis: int) -> Ends:
        """Return where the mean of a column can be: in cells, less those at both ends where it cannot be."""
        at, mean = self.at[axis], self._off(axis)[:, None]
        low, high = self._mean_box(axis, self.alpha)
        edges = np.linspace(low, high, CELLS + 1, axis=-1)
        left, right = edges[:, :-1], edges[:, 1:]
        reach = self._share(self.tails.reach(_largest(_distances(at, (left, right))), self.alpha))
        stays = np.maximum(left - mean, mean - right) <= reach
        first, last = np.argmax(stays, axis=1), CELLS - 1 - np.argmax(stays[:, ::-1], axis=1)
        rows, some = np.arange(len(low)), stays.any(axis=1)
        return np.where(some, left[rows, first], low), np.where(some, right[rows, last], high)

    def _mean_box(self, axis: int, alpha: float) -> Ends:
        """Return where the mean can be by the largest weights of what the round before has left."""
        at, mean = self.at[axis], self._off(axis)
        low, high = np.zeros_like(mean), np.ones_like(mean)
        for _ in range(ROUNDS):
            reach = self._share(self.tails.reach(_largest(_distances(at, (low, high))), alpha))
            low, high = np.clip(mean - reach, low, high), np.clip(mean + reach, low, high)
        return low, high

    # Variances.

    def variance_ends(self, axis: int) -> Ends:
        """Return where the variance of a column can be."""
        if (self.at[axis] == MIDDLE).any():
            mean = self._mean_box(axis, self.alpha * BESIDE)
            return self._variance_ends(axis, mean, self.alpha * (1 - BESIDE))
        low, high = self.mean_ends(axis)  # of two values only, it follows from the mean
        ends = low * (1 - low), high * (1 - high)
        holds_middle = (low <= MIDDLE) & (high >= MIDDLE)
        return np.minimum(*ends), np.where(holds_middle, MOST, np.maximum(*ends))

    def _variance_ends(self, axis: int, mean_box: Ends, alpha: float, cells: int = MEAN_CELLS) -> Ends:
        """Return where the variance can be with a mean in an interval: in cells, each with its own weights."""
        at = self.at[axis]
        edges = np.linspace(*mean_box, cells + 1, axis=-1)
        means = edges[:, :-1], edges[:, 1:]
        off = self._off(axis)[:, None]
        nearest = np.maximum(np.maximum(means[0] - off, off - means[1]), 0)
        farthest = np.maximum(np.abs(means[0] - off), np.abs(means[1] - off))
        squares, variance = _squares(at, means), self._variances[axis][:, None]
        low, high = np.zeros_like(off * means[0]), np.full_like(off * means[0], MOST)
        for _ in range(ROUNDS):
            reach = self._share(self.tails.reach(_largest(_subtract(squares, _each((low, high)))), alpha))
            low, high = (
                np.clip(variance + nearest**2 - reach, low, high),
                np.clip(variance + farthest**2 + reach, low, high),
            )
        return low.min(axis=1), high.max(axis=1)

    # Two columns.

    def covariance_ends(self) -> Ends:
        """Return where the covariance can be."""
        means = [self._mean_box(axis, self.alpha * BESIDE) for axis in (0, 1)]
        crossed, off = self._crossed(means), self._off_together(means)
        low, high = np.full_like(off, -MOST), np.full_like(off, MOST)
        for _ in range(ROUNDS):
            weights = _subtract(crossed, _each((low, high)))
            reach = off + self._share(self.tails.reach(_largest(weights), self.alpha * (1 - 2 * BESIDE)))
            low, high = np.clip(self._covariance - reach, low, high), np.clip(self._covariance + reach, low, high)
        return low, high

    def correlation_ends(self) -> Ends:
        """Return where the correlation can be: the covariance less rho times both variances, each as a half of it.

        With the true quotient of the deviations this is 0 at the truth, and it hardly changes with the quotient.  So
        the quotient stays in an interval of its own, cut into cells; in each, the weights that are left in each round.
        """
        # Means and variances at a small part of alpha each; then which quotients that leaves; then rho in each cell.
        means = [self._mean_box(axis, self.alpha * BESIDE) for axis in (0, 1)]
        (few, many), (less, more) = (
            self._variance_ends(axis, means[axis], self.alpha * BESIDE, cells=1) for axis in (0, 1)
        )
        is_known = (few > 0) & (less > 0)
        lowest, highest = (
            np.where(is_known, np.sqrt(_divided(*pair, 1.0)), 1.0) for pair in ((less, many), (more, few))
        )
        edges = np.geomspace(lowest, highest, QUOTIENT_CELLS + 1, axis=-1)
        quotients = edges[:, :-1], edges[:, 1:]
        least, most = self._between(means, quotients)
        is_known &= (least > 0).all(axis=1)
        crossed = _in_cells(self._crossed(means))
        first, second = (_in_cells(_squares(at, mean)) for at, mean in zip(self.at, means, strict=True))
        halves = _add(_multiply(_each(quotients), first), _multiply(_each(_inverse(quotients)), second))
        covariance, off = self._covariance[:, None], self._off_together(means)[:, None]
        low, high = np.full_like(least, -1.0), np.full_like(least, 1.0)
        for _ in range(ROUNDS):
            weights = _subtract(crossed, _multiply(_each((low / 2, high / 2)), halves))
            reach = off + self._share(self.tails.reach(_largest(weights), self.alpha * (1 - 4 * BESIDE)))
            below, above = covariance - reach, covariance + reach
            low, high = (
                np.clip(_divided(below, np.where(below < 0, least, most), -1.0), low, high),
                np.clip(_divided(above, np.where(above > 0, least, most), 1.0), low, high),
            )
        return np.where(is_known, low.min(axis=1), -1.0), np.where(is_known, high.max(axis=1), 1.0)

    def _between(self, means: Sequence[Ends], quotients: Ends) -> Ends:
        """Return half of both variances, brought to one size by quotients of the deviations, with all these means."""
        first, second = (variance[:, None] for variance in self._variances)
        off = [self._farthest_off(axis, mean)[:, None] ** 2 for axis, mean in enumerate(means)]
        positive = (first > 0) & (second > 0)
        best = np.clip(np.sqrt(np.where(positive, second, 1) / np.where(positive, first, 1)), *quotients)
        least = np.where(positive, (best * first + second / best) / 2, 0.0)
        ends = [(end * (first + off[0]) + (second + off[1]) / end) / 2 for end in quotients]
        return least, np.maximum(*ends)

    def _crossed(self, means: Sequence[Ends]) -> Ends:
        """Return how far places are from both means, multiplied."""
        first, second = (_distances(at, mean) for at, mean in zip(self.at, means, strict=True))
        return _multiply(first, second)

    def _off_together(self, means: Sequence[Ends]) -> Numbers:
        """Return by how much the covariance about other means than those of the sums differs at most."""
        first, second = (self._farthest_off(axis, mean) for axis, mean in enumerate(means))
        return first * second

    # What the sums say, without a thought for noise.

    def _share(self, numbers: Numbers) -> Numbers:
        """Return numbers for each row; where there may be no rows at all, they are without end."""
        positive = self.together > 0
        divisor = np.where(positive, self.together, 1)
        shaped = (-1, *[1] * (numbers.ndim - 1))
        found: Numbers = np.where(positive.reshape(shaped), numbers / divisor.reshape(shaped), np.inf)
        return found

    def _off(self, axis: int) -> Numbers:
        """Return the mean of a column; a half where there may be no rows."""
        return np.where(self.together > 0, self._share(self.sums @ self.at[axis]), MIDDLE)

    def _farthest_off(self, axis: int, mean: Ends) -> Numbers:
        off = self._off(axis)
        found: Numbers = np.maximum(np.abs(mean[0] - off), np.abs(mean[1] - off))
        return found

    @cached_property
    def _variances(self) -> list[Numbers]:
        """The variances of the columns, which noise can push below 0."""
        off = [self._off(axis) for axis in range(len(self.at))]
        squares = [_squares(at, (mean, mean))[0] for at, mean in zip(self.at, off, strict=True)]
        return [self._mean_of(one) for one in squares]

    @cached_property
    def _covariance(self) -> Numbers:
        off = [self._off(axis)[:, None] for axis in (0, 1)]
        return self._mean_of((self.at[0] - off[0]) * (self.at[1] - off[1]))

    def _mean_of(self, worth: Numbers) -> Numbers:
        return np.where(self.together > 0, self._share((self.sums * worth).sum(axis=1)), 0.0)


# Intervals of weights: each group has one for each of its sums.


def _each(ends: Ends) -> Ends:
    """Return the same interval for each of the sums of a group."""
    return ends[0][..., None], ends[1][..., None]


def _in_cells(weights: Ends) -> Ends:
    """Return the same weights for every cell of a group."""
    return weights[0][:, None, :], weights[1][:, None, :]


def _distances(at: Numbers, mean: Ends) -> Ends:
    """Return `p - m` for all places and means."""
    low, high = _each(mean)
    return at - high, at - low


def _squares(at: Numbers, mean: Ends) -> Ends:
    """Return `(u - m)^2` in terms of the parts of `u`: `m^2`, `m^2 - m` for the one between, and `(1 - m)^2`."""
    low, high = _each(mean)
    values = [np.where(at == MIDDLE, m * m - m, (at - m) ** 2) for m in (low, high)]
    least = np.where((at == MIDDLE) & (low <= MIDDLE) & (high >= MIDDLE), -MOST, np.minimum(*values))
    return least, np.maximum(*values)


def _add(first: Ends, second: Ends) -> Ends:
    return first[0] + second[0], first[1] + second[1]


def _subtract(first: Ends, second: Ends) -> Ends:
    return first[0] - second[1], first[1] - second[0]


def _multiply(first: Ends, second: Ends) -> Ends:
    corners = [one * other for one, other in product(first, second)]
    return np.minimum.reduce(corners), np.maximum.reduce(corners)


def _inverse(ends: Ends) -> Ends:
    return 1 / ends[1], 1 / ends[0]


def _largest(ends: Ends) -> Numbers:
    """Return how large weights are at most."""
    found: Numbers = np.maximum(np.abs(ends[0]), np.abs(ends[1]))
    return found


def _divided(number: Numbers, by: Numbers, otherwise: float) -> Numbers:
    return np.where(by > 0, number / np.where(by > 0, by, 1), otherwise)
