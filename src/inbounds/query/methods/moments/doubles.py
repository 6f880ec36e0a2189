"""What sums of the parts of rows say, in doubles and for many groups at once: rows, means, variances, a covariance.

Everything is in parts of the range of a column, `u` from 0 to 1; the last axis of an array has the sums of a group.  A
part has a place in the range, its control point: the mean of `u` is the mean of the places, weighed by the sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from inbounds.query.methods.moments.noise import SumNoise
    from inbounds.query.methods.moments.pivots import Numbers


@dataclass(frozen=True, eq=False)
class Doubles:
    """Sums that are 0 or more."""

    sums: Numbers
    places: Sequence[tuple[Fraction, ...]]
    """Where each of the sums of a group stands in the range of each column."""
    row: Fraction
    """What a row adds to all sums of its group together."""

    def nudged(self, law: SumNoise) -> Doubles:
        """Return what each group would be with further noises, one row for each of them: clamped, as releases are."""
        return replace(self, sums=np.maximum(self.sums[:, None, :] + law.nudges(self.sums.shape[-1]), 0))

    def split(self, most: int) -> Iterator[Doubles]:
        """Yield them in parts of so many groups at most."""
        for start in range(0, len(self.sums), most):
            yield replace(self, sums=self.sums[start : start + most])

    def moved(self, law: SumNoise, part: float) -> Doubles:
        """Return the same with a part of these noises, and nothing clamped."""
        return replace(self, sums=self.sums[:, None, :] + part * law.nudges(self.sums.shape[-1]))

    @cached_property
    def together(self) -> Numbers:
        """All sums of each group."""
        return _add_up(self.sums)

    @cached_property
    def means(self) -> list[Numbers]:
        """The mean of each column; a half where there are no rows."""
        return [self._ratio(self.sums @ self.at(axis), 0.5) for axis in self.axes]

    @cached_property
    def variances(self) -> list[Numbers]:
        """The variance of each column as the sums say it, which noise can push below 0."""
        return [self._ratio(_add_up(self.sums * self._about_mean(axis)), 0.0) for axis in self.axes]

    @cached_property
    def possible_variances(self) -> list[Numbers]:
        """The same as they can be: at most what the mean allows, and that where values are two only."""
        most = [mean * (1 - mean) for mean in self.means]
        return [
            np.clip(self.variances[axis], 0, most[axis]) if (self.at(axis) == 0.5).any() else most[axis]
            for axis in self.axes
        ]

    @cached_property
    def deviations(self) -> Numbers:
        """The deviations of both columns, multiplied."""
        return np.sqrt(np.prod(self.possible_variances, axis=0))

    @cached_property
    def covariance(self) -> Numbers:
        """The covariance of the two columns as the sums say it."""
        return self._ratio(_add_up(self.sums * self._off_means()), 0.0)

    @property
    def possible_covariance(self) -> Numbers:
        """The same as it can be: at most both deviations, multiplied."""
        return np.clip(self.covariance, -self.deviations, self.deviations)

    @property
    def correlation(self) -> Numbers:
        """The covariance over both deviations; 0 where one of them is 0."""
        some = self.deviations > 0
        return np.where(some, self.possible_covariance / np.where(some, self.deviations, 1), 0.0)

    @property
    def of_sample(self) -> Numbers:
        """By how much a variance of a sample is more than that of its rows: of two rows, twice."""
        rows = np.maximum(self.together / float(self.row), 2)
        return rows / (rows - 1)

    # By how much a statistic changes with each of the sums, to first order.

    def total_change(self, axis: int, low: Fraction, high: Fraction) -> Numbers:
        """Return the change of the sum of a column with these ends."""
        return np.broadcast_to(self.per_row(axis, low, high), self.sums.shape)

    def mean_change(self, axis: int) -> Numbers:
        """Return the change of the mean."""
        return self._change(self.at(axis) - self.means[axis][..., None])

    def variance_change(self, axis: int) -> Numbers:
        """Return the change of the variance: the mean is where the mean square is least, so it need not move."""
        return self._change(self._about_mean(axis) - self.variances[axis][..., None])

    def covariance_change(self) -> Numbers:
        """Return the change of the covariance."""
        return self._change(self._off_means() - self.covariance[..., None])

    # The parts of these.

    @property
    def axes(self) -> range:
        """The columns."""
        return range(len(self.places[0]))

    def at(self, axis: int) -> Numbers:
        """Return the place of each sum along a column."""
        return np.array([place[axis] for place in self.places], dtype=np.float64)

    def per_row(self, axis: int, low: Fraction, high: Fraction) -> Numbers:
        """Return what 1 in each sum is worth where a row counts as `low` to `high`, by its place in a column."""
        at = self.at(axis)
        return float(low / self.row) * (1 - at) + float(high / self.row) * at

    def _about_mean(self, axis: int) -> Numbers:
        """Return `(u - m)^2` in terms of the parts: `m^2`, `m^2 - m` for the one between, and `(1 - m)^2`."""
        mean, at = self.means[axis][..., None], self.at(axis)
        return np.where(at == 0.5, mean**2 - mean, (at - mean) ** 2)

    def _off_means(self) -> Numbers:
        return (self.at(0) - self.means[0][..., None]) * (self.at(1) - self.means[1][..., None])

    def _change(self, factors: Numbers) -> Numbers:
        return factors / np.where(self.together > 0, self.together, np.inf)[..., None]

    def _ratio(self, numbers: Numbers, nothing: float) -> Numbers:
        return np.where(self.together > 0, numbers / np.where(self.together > 0, self.together, 1), nothing)


def _add_up(sums: Numbers) -> Numbers:
    added: Numbers = sums.sum(axis=-1)
    return added
