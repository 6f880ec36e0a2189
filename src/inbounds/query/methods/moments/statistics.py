"""What is asked for of one or two columns, as it follows from the sums of each group: a class for each measure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.bounds import Bounds
from inbounds.query.methods.method import Interval, Value, around, written
from inbounds.query.methods.moments.noise import mean_size
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
    """The possible sums of everyone."""
    parts: int
    """How many parts a value is cut into: 3 if squares are needed, and its values are not two only."""

    @property
    def spread(self) -> float:
        """From the least value to the greatest."""
        return float(self.high - self.low)


@dataclass(frozen=True)
class Found:
    """What the sums of one group say, as possible answers that fit each other; in parts of the ranges."""

    count: int
    totals: tuple[Fraction, ...]
    means: tuple[float, ...]
    variances: tuple[float, ...]
    covariance: float

    @property
    def correlation(self) -> float | None:
        """The covariance over both deviations; None where one of them is 0."""
        deviations = sqrt(prod(self.variances))
        return max(-1.0, min(1.0, self.covariance / deviations)) if deviations > 0 else None


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
    def value(self, found: Found) -> Value | None:
        """Return what it is in a group; None if that has too few rows."""

    @abstractmethod
    def ends(self, sums: MomentSums) -> Ends:
        """Return where it can be if each sum lies in its interval."""

    @abstractmethod
    def change(self, sums: MomentSums, found: list[Found]) -> Numbers:
        """Return by how much it changes with each sum, to first order."""

    def noise(self, sums: MomentSums, found: list[Found], scale: float) -> Numbers:
        """Return the expected noise of all groups, to first order."""
        return mean_size(self.change(sums, found), scale)

    @cached_property
    def hull(self) -> tuple[float, float]:
        """The ends of where it can be."""
        low, high = self.bounds.least, self.bounds.greatest
        return -np.inf if low is None else float(low), np.inf if high is None else float(high)

    def interval(self, low: float, high: float) -> Interval:
        """Return the possible answers around two ends."""
        return around(self.bounds, low, high)

    def shown(self) -> str:
        """Say where it can be."""
        return self.bounds.brief()

    @cached_property
    def axis(self) -> int:
        """Which of the columns it is of."""
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

    def value(self, found: Found) -> Value | None:
        return found.count

    def ends(self, sums: MomentSums) -> Ends:
        return sums.row_ends

    def change(self, sums: MomentSums, found: list[Found]) -> Numbers:
        return sums.per_row(1, 1, 0)


class _Sum(Statistic):
    """The sum of a column."""

    is_of_rows = False

    @property
    def bounds(self) -> Bounds:
        return self.column.sums

    def value(self, found: Found) -> Value | None:
        return written(self.bounds, found.totals[self.axis])

    def ends(self, sums: MomentSums) -> Ends:
        return sums.sum_ends(self.axis, float(self.column.low), float(self.column.high))

    def change(self, sums: MomentSums, found: list[Found]) -> Numbers:
        return sums.per_row(float(self.column.low), float(self.column.high), self.axis)


class _Mean(Statistic):
    """The mean of a column."""

    @property
    def bounds(self) -> Bounds:
        return self.column.bounds

    def value(self, found: Found) -> Value | None:
        return written(self.bounds, found.totals[self.axis] / found.count) if found.count > 0 else None

    def ends(self, sums: MomentSums) -> Ends:
        low, high = sums.mean_ends(self.axis)
        start, spread = float(self.column.low), self.column.spread
        return start + spread * low, start + spread * high

    def change(self, sums: MomentSums, found: list[Found]) -> Numbers:
        return sums.mean_change(self.axis) * self.column.spread


class _OfProducts(Statistic):
    """What follows from products of values, and is no whole number."""

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

    def factor(self, count: int) -> float:
        """Return what 1 is worth in a group of so many rows."""
        return self.unit * (count / (count - 1) if self.measure.sample else 1)

    def has_too_few(self, found: Found) -> bool:
        """Return whether a group has too few rows for it."""
        return found.count <= (1 if self.measure.sample else 0)

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

    def value(self, found: Found) -> float | None:
        if self.has_too_few(found):
            return None
        return _within(found.variances[self.axis] * self.factor(found.count), (0, self.most))

    def ends(self, sums: MomentSums) -> Ends:
        return self.scaled(sums, sums.variance_ends(self.axis))

    def change(self, sums: MomentSums, found: list[Found]) -> Numbers:
        return sums.variance_change(self.axis) * self.unit

    def noise(self, sums: MomentSums, found: list[Found], scale: float) -> Numbers:
        """Return the expected noise of all groups, to second order.

        A variance is least about the mean, and so off by the square of what the mean is off, also where it is greatest
        and nothing else moves it.
        """
        return super().noise(sums, found, scale) + self._square(sums, found, scale)

    def _square(self, sums: MomentSums, found: list[Found], scale: float) -> Numbers:
        return 2 * scale**2 * (sums.mean_change(self.axis) ** 2).sum(axis=1) * self.unit


class _Deviation(_Variance):
    """The standard deviation of a column: the root of its variance."""

    @property
    def bounds(self) -> Bounds:
        return Bounds(0, sqrt(self.most))

    def value(self, found: Found) -> float | None:
        variance = super().value(found)
        return None if variance is None else sqrt(variance)

    def ends(self, sums: MomentSums) -> Ends:
        low, high = super().ends(sums)
        return np.sqrt(low), np.sqrt(high)

    def change(self, sums: MomentSums, found: list[Found]) -> Numbers:
        return super().change(sums, found) / self._twice(found)[:, None]

    def _square(self, sums: MomentSums, found: list[Found], scale: float) -> Numbers:
        return super()._square(sums, found, scale) / self._twice(found)

    def _twice(self, found: list[Found]) -> Numbers:
        return np.array([2 * self.column.spread * sqrt(_some(group.variances[self.axis])) for group in found])


class _Covariance(_InUnits):
    """The covariance of two columns."""

    @property
    def unit(self) -> float:
        """The ranges, multiplied."""
        return prod(column.spread for column in self.columns)

    @property
    def bounds(self) -> Bounds:
        return Bounds(-self.most, self.most)

    def value(self, found: Found) -> Value | None:
        if self.has_too_few(found):
            return None
        return _within(found.covariance * self.factor(found.count), self.hull) + 0.0  # no -0.0

    def ends(self, sums: MomentSums) -> Ends:
        return self.scaled(sums, sums.covariance_ends())

    def change(self, sums: MomentSums, found: list[Found]) -> Numbers:
        return sums.covariance_change() * self.unit


class _Correlation(_OfProducts):
    """The correlation of two columns."""

    bounds = Bounds(-1, 1)

    def value(self, found: Found) -> Value | None:
        return found.correlation if found.count > 0 else None

    def ends(self, sums: MomentSums) -> Ends:
        return sums.correlation_ends()

    def change(self, sums: MomentSums, found: list[Found]) -> Numbers:
        first, second = (np.array([_some(group.variances[axis]) for group in found])[:, None] for axis in (0, 1))
        correlation = np.array([group.correlation or 0.0 for group in found])[:, None]
        relative = sums.variance_change(0) / first + sums.variance_change(1) / second
        return sums.covariance_change() / np.sqrt(first * second) - correlation / 2 * relative


STATISTICS: dict[type[Measure], type[Statistic]] = {
    Count: _Count,
    Sum: _Sum,
    Mean: _Mean,
    Variance: _Variance,
    Deviation: _Deviation,
    Covariance: _Covariance,
    Correlation: _Correlation,
}
"""What each measure is answered by, from the same sums."""


def _within(value: float, ends: tuple[float, float]) -> float:
    return min(max(value, ends[0]), ends[1])


def _some(number: float) -> float:
    """Return a number that can be divided by: where it is 0, the noise is as wide as the bounds."""
    return max(number, 1e-12)
