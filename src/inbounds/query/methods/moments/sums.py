"""Released sums of the parts of rows, and what they say: rows, means, variances and a covariance.

Everything is in parts of the range of a column, `u` from 0 to 1, with one row of an array for each group.  A part has a
place in the range, its control point: the mean of `u` is the mean of the places, weighed by the sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.query.methods.moments.pivots import Pivots

if TYPE_CHECKING:
    from inbounds.query.methods.moments.pivots import Numbers
    from inbounds.query.methods.moments.tails import Tails


@dataclass(frozen=True, eq=False)
class MomentSums:
    """The sums of all products of parts, for each group."""

    measured: Sequence[Sequence[int | Fraction]]
    """In steps, with noise, which may have taken them below 0."""
    step: Fraction
    places: Sequence[tuple[Fraction, ...]]
    """Where each of the sums of a group stands in the range of each column."""
    row: Fraction
    """What a row adds to all sums of its group together."""

    @cached_property
    def released(self) -> Sequence[Sequence[int | Fraction]]:
        """The sums as they can be: 0 or more."""
        return [[max(total, 0) for total in group] for group in self.measured]

    # What the sums of one group say, exactly.

    # There may be many groups, so this is done in integers where it can be: fractions take ten times as long.

    def nearest_rows(self, group: int) -> int:
        """Return the whole number nearest to how many rows there are, the upper one of two."""
        rows, steps = self._steps_of_row
        return (2 * sum(self.released[group]) * rows + steps) // (2 * steps)

    @cached_property
    def _steps_of_row(self) -> tuple[int, int]:
        """Some rows, and the steps that these are."""
        return (self.step / self.row).as_integer_ratio()

    def exact_mean(self, group: int, axis: int, low: Fraction, high: Fraction) -> Fraction:
        """Return the mean of a column between these ends; the middle where there are no rows."""
        sums = self.released[group]
        weighed = sum(part * twice for part, twice in zip(sums, self._twice_places[axis], strict=True))
        if (together := sum(sums)) == 0:
            return (low + high) / 2
        (least, below), (most, above) = low.as_integer_ratio(), high.as_integer_ratio()
        shares = most * below * weighed + least * above * (2 * together - weighed)
        return Fraction(shares, 2 * together * below * above)

    @cached_property
    def _twice_places(self) -> list[list[int]]:
        """Twice the places of the sums in each column, which are 0, a half or 1."""
        return [[int(2 * place[axis]) for place in self.places] for axis in self._axes]

    # What the sums of all groups say, in doubles.

    @cached_property
    def sums(self) -> Numbers:
        """The sums, one row of them for each group."""
        return np.maximum(self._measured, 0)

    @cached_property
    def _measured(self) -> Numbers:
        numerator, denominator = self.step.as_integer_ratio()
        # An integer over an integer is the nearest double.
        return np.array([[part * numerator / denominator for part in sums] for sums in self.measured], dtype=np.float64)

    @cached_property
    def together(self) -> Numbers:
        """All sums of each group."""
        return self._added(self.sums)

    @cached_property
    def means(self) -> list[Numbers]:
        """The mean of each column; a half where there are no rows."""
        return [self._ratio(self.sums @ self._at(axis), 0.5) for axis in self._axes]

    @cached_property
    def variances(self) -> list[Numbers]:
        """The variance of each column as the sums say it, which noise can push below 0."""
        return [self._ratio(self._added(self.sums * self._about_mean(axis)), 0.0) for axis in self._axes]

    @cached_property
    def covariance(self) -> Numbers:
        """The covariance of the two columns."""
        return self._ratio(self._added(self.sums * self._off_means()), 0.0)

    def pivots(self, tails: Tails, alpha: float) -> Pivots:
        """Return what intervals are made of: the sums as they were measured."""
        return Pivots(self._measured, [self._at(axis) for axis in self._axes], tails, alpha)

    # By how much a statistic changes with each of the sums, to first order.

    def count_change(self) -> Numbers:
        """Return the change of the number of rows."""
        return self.sum_change(0, Fraction(1), Fraction(1))

    def sum_change(self, axis: int, low: Fraction, high: Fraction) -> Numbers:
        """Return the change of the sum of a column with these ends."""
        return np.broadcast_to(self.per_row(axis, low, high), self.sums.shape)

    def mean_change(self, axis: int) -> Numbers:
        """Return the change of the mean."""
        return self._change(self._at(axis) - self.means[axis][:, None])

    def variance_change(self, axis: int) -> Numbers:
        """Return the change of the variance: the mean is where the mean square is least, so it need not move."""
        return self._change(self._about_mean(axis) - self.variances[axis][:, None])

    def covariance_change(self) -> Numbers:
        """Return the change of the covariance."""
        return self._change(self._off_means() - self.covariance[:, None])

    # The parts of these.

    @property
    def _axes(self) -> range:
        return range(len(self.places[0]))

    def _at(self, axis: int) -> Numbers:
        """Return the place of each sum along a column."""
        return np.array([place[axis] for place in self.places], dtype=np.float64)

    def per_row(self, axis: int, low: Fraction, high: Fraction) -> Numbers:
        """Return what 1 in each sum is worth where a row counts as `low` to `high`, by its place in a column."""
        at = self._at(axis)
        return float(low / self.row) * (1 - at) + float(high / self.row) * at

    def _about_mean(self, axis: int) -> Numbers:
        """Return `(u - m)^2` in terms of the parts: `m^2`, `m^2 - m` for the one between, and `(1 - m)^2`."""
        mean, at = self.means[axis][:, None], self._at(axis)
        return np.where(at == 0.5, mean**2 - mean, (at - mean) ** 2)

    def _off_means(self) -> Numbers:
        return (self._at(0) - self.means[0][:, None]) * (self._at(1) - self.means[1][:, None])

    def _added(self, sums: Numbers) -> Numbers:
        added: Numbers = sums.sum(axis=1)
        return added

    def _change(self, factors: Numbers) -> Numbers:
        return factors / np.where(self.together > 0, self.together, np.inf)[:, None]

    def _ratio(self, numbers: Numbers, nothing: float) -> Numbers:
        return np.where(self.together > 0, numbers / np.where(self.together > 0, self.together, 1), nothing)
