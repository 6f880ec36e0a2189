"""How many rows, the sum of a column and its mean, from the sums of each group."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from inbounds.bounds import Bounds
from inbounds.query.methods.method import Value, farthest, write_value
from inbounds.query.methods.moments.doubles import Doubles
from inbounds.query.methods.moments.noise import SumNoise
from inbounds.query.methods.moments.sums import MomentSums

if TYPE_CHECKING:
    from inbounds.query.methods.moments.pivots import Ends, Numbers, Pivots

from inbounds.query.methods.moments.statistic import Statistic, Summary


class CountOfRows(Statistic):
    """How many rows have a value of each column."""

    is_of_rows = False

    @property
    def bounds(self) -> Bounds:
        return self.counts

    def value(self, summary: Summary) -> Value | None:
        return summary.count

    def ends(self, sums: MomentSums, pivots: Pivots) -> Ends:
        return pivots.total_ends(sums.doubles.per_row(0, Fraction(1), Fraction(1)))

    def estimate(self, sums: Doubles) -> Numbers:
        return sums.together / float(sums.row)

    def change(self, sums: Doubles) -> Numbers:
        return sums.total_change(0, Fraction(1), Fraction(1))


class SumOfColumn(Statistic):
    """The sum of a column."""

    is_of_rows = False

    @property
    def bounds(self) -> Bounds:
        return self.column.sums

    @property
    def farthest(self) -> Fraction:
        most = farthest(self.counts) * max(abs(self.column.low), abs(self.column.high))
        return max(farthest(self.bounds), most)

    def value(self, summary: Summary) -> Value | None:
        return write_value(self.bounds, summary.totals[self.axis])

    def ends(self, sums: MomentSums, pivots: Pivots) -> Ends:
        return pivots.total_ends(sums.doubles.per_row(self.axis, self.column.low, self.column.high))

    def estimate(self, sums: Doubles) -> Numbers:
        estimated: Numbers = sums.sums @ sums.per_row(self.axis, self.column.low, self.column.high)
        return estimated

    def change(self, sums: Doubles) -> Numbers:
        return sums.total_change(self.axis, self.column.low, self.column.high)


class MeanOfColumn(Statistic):
    """The mean of a column: the sum over the count, to the last digit."""

    @property
    def bounds(self) -> Bounds:
        return self.column.bounds

    def value(self, summary: Summary) -> Value | None:
        return write_value(self.bounds, summary.totals[self.axis] / summary.count) if summary.count > 0 else None

    def ends(self, sums: MomentSums, pivots: Pivots) -> Ends:
        low, high = pivots.mean_ends(self.axis)
        start, spread = float(self.column.low), self.column.spread
        return start + spread * low, start + spread * high

    def estimate(self, sums: Doubles) -> Numbers:
        return sums.means[self.axis] * self.column.spread

    def change(self, sums: Doubles) -> Numbers:
        return sums.mean_change(self.axis)


class MeanAlone(MeanOfColumn):
    """A mean or a proportion without its count and sum: where the sums balance, and in the middle if there are none."""

    def value(self, summary: Summary) -> Value | None:
        """Return the mean as the sums say it."""
        return write_value(self.bounds, summary.means[self.axis])

    def noise(self, sums: Doubles, nudged: Doubles, law: SumNoise) -> Numbers:
        """Return the expected noise of all groups; of no rows, it is the whole range."""
        return np.where(sums.together > 0, super().noise(sums, nudged, law), self.column.spread)
