"""Released sums of the parts of rows, and what they say: rows, means, variances and a covariance.

Everything is in parts of the range of a column, `u` from 0 to 1, with one row of an array for each group.  A part has a
place in the range, its control point: the mean of `u` is the mean of the places, weighed by the sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.query.methods.moments.ends import correlation_ends, covariance_ends, share_ends, variance_ends

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.query.methods.moments.ends import Ends, Numbers

PLACES = {2: np.array([0.0, 1.0]), 3: np.array([0.0, 0.5, 1.0])}
"""Where the parts of a value stand: two of them or three."""


@dataclass(frozen=True, eq=False)
class MomentSums:
    """The sums of all products of parts, one axis for the groups and one for each column."""

    sums: NDArray[np.float64]
    lows: NDArray[np.float64]
    highs: NDArray[np.float64]

    @property
    def _axes(self) -> range:
        return range(self.sums.ndim - 1)

    @cached_property
    def rows(self) -> Numbers:
        """How many rows there are, of any weight."""
        return self._added(self.sums)

    @cached_property
    def row_ends(self) -> Ends:
        """How many there can be."""
        return self._added(self.lows), self._added(self.highs)

    @cached_property
    def means(self) -> list[Numbers]:
        """The mean of each column; a half where there are no rows."""
        by_column = [self._of(self.sums, axis) for axis in self._axes]
        return [self._ratio(sums @ PLACES[sums.shape[-1]], 0.5) for sums in by_column]

    def mean_ends(self, axis: int) -> Ends:
        """Return where the mean can be."""
        above, below = self._weighed(self._at(axis)), self._weighed(1 - self._at(axis))
        return share_ends(above, below)

    def sum_ends(self, axis: int, low: float, high: float) -> Ends:
        """Return where the sum of a column with these ends can be: each sum counts as so much for each row."""
        return self._weighed(low + (high - low) * self._at(axis))

    @cached_property
    def variances(self) -> list[Numbers]:
        """The variance of each column as the sums say it, which noise can push below 0."""
        return [self._ratio(self._added(self.sums * self._about_mean(axis)), 0.0) for axis in self._axes]

    def variance_ends(self, axis: int) -> Ends:
        """Return where the variance can be."""
        low, high = (self._of(one, axis) for one in (self.lows, self.highs))
        sides = [(low[:, i], high[:, i]) for i in range(low.shape[1])]
        if len(sides) == 2:  # a row of 0 or 1 has nothing between
            sides.insert(1, (np.zeros(len(low)), np.zeros(len(low))))
        return variance_ends((sides[0], sides[1], sides[2]))

    @cached_property
    def covariance(self) -> Numbers:
        """The covariance of the two columns."""
        return self._ratio(self._added(self.sums * self._off_means()), 0.0)

    def covariance_ends(self) -> Ends:
        """Return where the covariance can be."""
        u, v = self._at(0), self._at(1)
        both, first, second, none = (self._weighed(one) for one in (u * v, u * (1 - v), (1 - u) * v, (1 - u) * (1 - v)))
        return covariance_ends(both, first, second, none)

    def correlation_ends(self) -> Ends:
        """Return where the correlation can be."""
        return correlation_ends(self.covariance_ends(), self.variance_ends(0), self.variance_ends(1))

    # By how much a statistic changes with each of the sums, to first order.

    def per_row(self, low: float, high: float, axis: int) -> Numbers:
        """Return the change of a sum over rows that count as `low` to `high` by their place in a column."""
        return self._flat(np.broadcast_to(low + (high - low) * self._at(axis), self.sums.shape))

    def mean_change(self, axis: int) -> Numbers:
        """Return the change of the mean."""
        return self._change(self._at(axis) - self._column(self.means[axis]))

    def variance_change(self, axis: int) -> Numbers:
        """Return the change of the variance: the mean is where the mean square is least, so it need not move."""
        return self._change(self._about_mean(axis) - self._column(self.variances[axis]))

    def covariance_change(self) -> Numbers:
        """Return the change of the covariance."""
        return self._change(self._off_means() - self._column(self.covariance))

    # The parts of these.

    def _at(self, axis: int) -> Numbers:
        """Return the place of each sum along a column."""
        shape = [1] * self.sums.ndim
        shape[1 + axis] = self.sums.shape[1 + axis]
        return PLACES[shape[1 + axis]].reshape(shape)

    def _about_mean(self, axis: int) -> Numbers:
        """Return `(u - m)^2` in terms of the parts: `m^2`, `m^2 - m` for the one between, and `(1 - m)^2`."""
        mean, at = self._column(self.means[axis]), self._at(axis)
        return np.where(at == 0.5, mean**2 - mean, (at - mean) ** 2)

    def _off_means(self) -> Numbers:
        return (self._at(0) - self._column(self.means[0])) * (self._at(1) - self._column(self.means[1]))

    def _weighed(self, factors: Numbers) -> Ends:
        """Return the ends of a sum of all sums, each times a factor; a negative one turns its ends around."""
        ends = np.where(factors >= 0, self.lows, self.highs), np.where(factors >= 0, self.highs, self.lows)
        return self._added(ends[0] * factors), self._added(ends[1] * factors)

    def _of(self, sums: Numbers, axis: int) -> Numbers:
        """Return the sums by the parts of one column."""
        found: Numbers = sums.sum(axis=tuple(1 + other for other in self._axes if other != axis))
        return found

    def _added(self, sums: Numbers) -> Numbers:
        return self._flat(sums).sum(axis=1)

    def _column(self, numbers: Numbers) -> Numbers:
        return numbers.reshape(-1, *[1 for _ in self._axes])

    def _change(self, factors: Numbers) -> Numbers:
        rows = np.where(self.rows > 0, self.rows, np.inf)
        return self._flat(factors / self._column(rows))

    def _flat(self, sums: Numbers) -> Numbers:
        return np.broadcast_to(sums, self.sums.shape).reshape(len(self.sums), -1)

    def _ratio(self, numbers: Numbers, nothing: float) -> Numbers:
        return np.where(self.rows > 0, numbers / np.where(self.rows > 0, self.rows, 1), nothing)
