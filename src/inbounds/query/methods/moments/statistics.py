"""What is asked for of one or two columns, as it follows from the sums of each group: a class for each measure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.bounds import Bounds
from inbounds.exact.rational import round_half_up
from inbounds.query.methods.method import Answered, Interval, Value, around, farthest, on_step, write_value
from inbounds.query.methods.moments.noise import SumNoise
from inbounds.query.methods.moments.sums import MomentSums
from inbounds.query.question.measure import (
    Correlation,
    Count,
    Covariance,
    Deviation,
    Mean,
    Measure,
    Sum,
    Variance,
)

if TYPE_CHECKING:
    from inbounds.query.methods.moments.ends import Ends, Numbers


@dataclass(frozen=True)
class MomentColumn:
    """A column of which moments are released."""

    name: str
    low: Fraction
    high: Fraction
    bounds: Bounds
    """Where its mean can be."""
    sums: Bounds
    """The possible sums of everyone; those of `n` rows lie between `n` times the ends."""
    places: tuple[Fraction, ...]
    """Where the parts that a value is cut into stand in the range: three if squares are needed, and its values are not
    two only."""

    @property
    def spread(self) -> float:
        """From the least value to the greatest."""
        return float(self.high - self.low)


@dataclass(frozen=True)
class Summary:
    """What the sums of one group say, as possible answers that fit each other."""

    means: tuple[Fraction, ...]
    """Where the sums of each column balance, before the count and the sum are rounded."""
    count: int
    totals: tuple[Fraction, ...]
    variances: tuple[float, ...]
    """In parts of the ranges, as the covariance is."""
    covariance: float

    @classmethod
    def of(cls, sums: MomentSums, group: int, columns: tuple[MomentColumn, ...], counts: Bounds) -> Summary:
        """Round the count to a whole number and each sum to its step, then bring everything else to where it fits.

        The sum goes between the ends times the count, a variance to what the mean allows, and the covariance to what
        both variances do.
        """
        # From the coarsest to the finest: each number is brought to where those before it allow it to be.
        count = int(on_step(counts, Fraction(round_half_up(sums.exact_rows(group)))))
        means, totals, variances = [], [], []
        for axis, column in enumerate(columns):
            spread = column.high - column.low
            means.append(column.low + spread * sums.exact_mean(group, axis))
            total = on_step(column.sums, count * means[-1])
            totals.append(min(max(total, count * column.low), count * column.high))
            share = float((totals[-1] / count - column.low) / spread) if count else 0.5
            most = share * (1 - share)  # as all values lie between the ends
            variance = float(sums.variances[axis][group]) if len(column.places) == 3 else most  # which two values have
            variances.append(_within(variance, 0.0, most))
        covariance = 0.0
        if len(columns) == 2:
            most = sqrt(prod(variances))
            covariance = _within(float(sums.covariance[group]), -most, most)
        return cls(tuple(means), count, tuple(totals), tuple(variances), covariance)

    @property
    def correlation(self) -> float | None:
        """The covariance over both deviations; None where one of them is 0."""
        deviations = sqrt(prod(self.variances))
        return _within(self.covariance / deviations, -1.0, 1.0) if deviations > 0 else None


@dataclass(frozen=True)
class Statistic(ABC):
    """One of what is asked for: where it can be, what it is, and how sums change it."""

    measure: Any
    columns: tuple[MomentColumn, ...]
    counts: Bounds
    is_of_rows = True
    """Whether its noise falls with the number of rows."""

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """Where it can be."""

    @abstractmethod
    def value(self, summary: Summary) -> Value | None:
        """Return what it is in a group; None if that has too few rows."""

    @abstractmethod
    def ends(self, sums: MomentSums) -> Ends:
        """Return where it can be if each sum lies in its interval."""

    @abstractmethod
    def change(self, sums: MomentSums, summaries: list[Summary]) -> Numbers:
        """Return by how much it changes with each sum, to first order."""

    def noise(self, sums: MomentSums, summaries: list[Summary], law: SumNoise) -> Numbers:
        """Return the expected noise of all groups, to first order."""
        return law.size(self.change(sums, summaries))

    def answers(self, sums: MomentSums, summaries: list[Summary], law: SumNoise) -> list[Answered]:
        """Return what it is in all groups, with its noise and an interval."""
        (low, high), noise, ends = self.hull, self.noise(sums, summaries, law), self.ends(sums)
        answers = []
        for group, summary in enumerate(summaries):
            value = self.value(summary)
            size = None if value is None else min(float(noise[group]), high - low)
            interval = self.interval(max(low, float(ends[0][group])), min(high, float(ends[1][group])))
            answers.append(Answered(value, size, interval))
        return answers

    @cached_property
    def hull(self) -> tuple[float, float]:
        """The ends of where it can be."""
        low, high = self.bounds.least, self.bounds.greatest
        return -np.inf if low is None else float(low), np.inf if high is None else float(high)

    @property
    def farthest(self) -> Fraction:
        """How far from 0 it is at most, if it can be a whole number."""
        return farthest(self.bounds)

    def interval(self, low: float, high: float) -> Interval:
        """Return the possible answers around two ends."""
        return around(self.bounds, low, high)

    def shown(self) -> str:
        """Say where it can be."""
        return self.bounds.brief()

    @cached_property
    def axis(self) -> int:
        """Which of the columns it is of."""
        if len(self.columns) == 1:
            return 0
        return next(axis for axis, column in enumerate(self.columns) if column.name == self.measure.column.name)

    @property
    def column(self) -> MomentColumn:
        """The column that it is of."""
        return self.columns[self.axis]


class _Count(Statistic):
    """How many rows have a value of each column."""

    is_of_rows = False

    @property
    def bounds(self) -> Bounds:
        return self.counts

    def value(self, summary: Summary) -> Value | None:
        return summary.count

    def ends(self, sums: MomentSums) -> Ends:
        return sums.row_ends

    def change(self, sums: MomentSums, summaries: list[Summary]) -> Numbers:
        return sums.count_change()


class _Sum(Statistic):
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

    def ends(self, sums: MomentSums) -> Ends:
        return sums.sum_ends(self.axis, self.column.low, self.column.high)

    def change(self, sums: MomentSums, summaries: list[Summary]) -> Numbers:
        return sums.sum_change(self.axis, self.column.low, self.column.high)


class _Mean(Statistic):
    """The mean of a column: the sum over the count, to the last digit."""

    @property
    def bounds(self) -> Bounds:
        return self.column.bounds

    def value(self, summary: Summary) -> Value | None:
        return write_value(self.bounds, summary.totals[self.axis] / summary.count) if summary.count > 0 else None

    def ends(self, sums: MomentSums) -> Ends:
        low, high = sums.mean_ends(self.axis)
        start, spread = float(self.column.low), self.column.spread
        return start + spread * low, start + spread * high

    def change(self, sums: MomentSums, summaries: list[Summary]) -> Numbers:
        return sums.mean_change(self.axis) * self.column.spread


class MeanAlone(_Mean):
    """A mean or a proportion without its count and sum: where the sums balance, and in the middle if there are none."""

    def value(self, summary: Summary) -> Value | None:
        """Return the mean as the sums say it."""
        return write_value(self.bounds, summary.means[self.axis])

    def noise(self, sums: MomentSums, summaries: list[Summary], law: SumNoise) -> Numbers:
        """Return the expected noise of all groups; of no rows, it is the whole range."""
        return np.where(sums.together > 0, super().noise(sums, summaries, law), self.column.spread)


class _OfProducts(Statistic):
    """What follows from products of values, and is no whole number."""

    farthest = Fraction(0)

    def interval(self, low: float, high: float) -> Interval:
        return low, high

    def shown(self) -> str:
        low, high = self.hull
        return f"[{low:.6g}, {high:.6g}]"


class _InUnits(_OfProducts):
    """A variance or a covariance, of a sample or of the rows themselves."""

    @property
    @abstractmethod
    def unit(self) -> float:
        """What 1 is worth: the ranges, multiplied."""

    @property
    def most(self) -> float:
        """The most that it can be: a quarter, and of a sample of two rows, a half."""
        return self.unit / (2 if self.measure.sample else 4)

    def of_rows(self, part: float, count: int) -> float | None:
        """Return it in a group of so many rows, from what it is in parts of the ranges; None if they are too few."""
        if count <= (1 if self.measure.sample else 0):
            return None
        factor = self.unit * (count / (count - 1) if self.measure.sample else 1)
        return _within(part * factor, -self.most, self.most) + 0.0  # no -0.0

    def scaled(self, sums: MomentSums, ends: Ends) -> Ends:
        """Return ends in the units of the columns, and of a sample where that is asked for: of two rows or more."""
        low, high = (end * self.unit for end in ends)
        if not self.measure.sample:
            return low, high
        few, many = (np.maximum(rows, 2) for rows in sums.row_ends)
        larger, smaller = few / (few - 1), many / (many - 1)
        return np.where(low < 0, low * larger, low * smaller), np.where(high > 0, high * larger, high * smaller)


class _Variance(_InUnits):
    """The variance of a column."""

    @property
    def unit(self) -> float:
        """The square of the range."""
        return self.column.spread**2

    @property
    def bounds(self) -> Bounds:
        return Bounds(0, self.most)

    def value(self, summary: Summary) -> float | None:
        return self.of_rows(summary.variances[self.axis], summary.count)

    def ends(self, sums: MomentSums) -> Ends:
        return self.scaled(sums, sums.variance_ends(self.axis))

    def change(self, sums: MomentSums, summaries: list[Summary]) -> Numbers:
        return sums.variance_change(self.axis) * self.unit

    def noise(self, sums: MomentSums, summaries: list[Summary], law: SumNoise) -> Numbers:
        """Return the expected noise of all groups, to second order.

        A variance is least about the mean, and so off by the square of what the mean is off, also where it is greatest
        and nothing else moves it.
        """
        return super().noise(sums, summaries, law) + self._square(sums, summaries, law)

    def _square(self, sums: MomentSums, summaries: list[Summary], law: SumNoise) -> Numbers:
        return 2 * law.each**2 * (sums.mean_change(self.axis) ** 2).sum(axis=1) * self.unit


class _Deviation(_Variance):
    """The standard deviation of a column: the root of its variance."""

    @property
    def bounds(self) -> Bounds:
        return Bounds(0, sqrt(self.most))

    def value(self, summary: Summary) -> float | None:
        variance = super().value(summary)
        return None if variance is None else sqrt(variance)

    def ends(self, sums: MomentSums) -> Ends:
        low, high = super().ends(sums)
        return np.sqrt(low), np.sqrt(high)

    def change(self, sums: MomentSums, summaries: list[Summary]) -> Numbers:
        return super().change(sums, summaries) / self._twice(summaries)[:, None]

    def _square(self, sums: MomentSums, summaries: list[Summary], law: SumNoise) -> Numbers:
        return super()._square(sums, summaries, law) / self._twice(summaries)

    def _twice(self, summaries: list[Summary]) -> Numbers:
        return np.array([2 * self.column.spread * sqrt(_some(summary.variances[self.axis])) for summary in summaries])


class _Covariance(_InUnits):
    """The covariance of two columns."""

    @property
    def unit(self) -> float:
        """The ranges, multiplied."""
        return prod(column.spread for column in self.columns)

    @property
    def bounds(self) -> Bounds:
        return Bounds(-self.most, self.most)

    def value(self, summary: Summary) -> Value | None:
        return self.of_rows(summary.covariance, summary.count)

    def ends(self, sums: MomentSums) -> Ends:
        return self.scaled(sums, sums.covariance_ends())

    def change(self, sums: MomentSums, summaries: list[Summary]) -> Numbers:
        return sums.covariance_change() * self.unit


class _Correlation(_OfProducts):
    """The correlation of two columns."""

    bounds = Bounds(-1, 1)

    def value(self, summary: Summary) -> Value | None:
        return summary.correlation if summary.count > 0 else None

    def ends(self, sums: MomentSums) -> Ends:
        return sums.correlation_ends()

    def change(self, sums: MomentSums, summaries: list[Summary]) -> Numbers:
        variances = np.array([[*map(_some, summary.variances)] for summary in summaries])
        first, second = variances[:, :1], variances[:, 1:]
        correlation = np.array([summary.correlation or 0.0 for summary in summaries])[:, None]
        relative = sums.variance_change(0) / first + sums.variance_change(1) / second
        return sums.covariance_change() / np.sqrt(first * second) - correlation / 2 * relative


Statistics = Mapping[type[Measure], type[Statistic]]

STATISTICS: Statistics = {
    Count: _Count,
    Sum: _Sum,
    Mean: _Mean,
    Variance: _Variance,
    Deviation: _Deviation,
    Covariance: _Covariance,
    Correlation: _Correlation,
}
"""What each measure is answered by, from the same sums."""


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _some(number: float) -> float:
    """Return a number that can be divided by: where it is 0, the noise is as wide as the bounds."""
    return max(number, 1e-12)
