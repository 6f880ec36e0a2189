"""Variances, deviations, covariances and correlations, from the sums of each group."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from inbounds.bounds import Bounds
from inbounds.query.methods.method import Interval, Value
from inbounds.query.methods.moments.doubles import Doubles
from inbounds.query.methods.moments.pivots import Pivots
from inbounds.query.methods.moments.sums import MomentSums

if TYPE_CHECKING:
    from inbounds.query.methods.moments.pivots import Ends, Numbers

from inbounds.query.methods.moments.statistic import Statistic, Summary, clamp

OF_COUNT = 0.02
"""The part of alpha for the number of rows of a sample."""

TINY = 1e-12
"""A variance that is 0 is taken for this where something is divided by it."""


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
        return clamp(part * factor, -self.most, self.most) + 0.0  # no -0.0

    def estimated(self, parts: Numbers, sums: Doubles) -> Numbers:
        """Return the same for many groups."""
        factor = self.unit * (sums.of_sample if self.measure.sample else 1)
        return np.clip(parts * factor, -self.most, self.most)

    def scaled(self, sums: MomentSums, pivots: Pivots, find: Callable[[Pivots], Ends]) -> Ends:
        """Return ends in the units of the columns, and of a sample where that is asked for: of two rows or more.

        The number of rows hardly matters there, so a small part of alpha is enough for it.
        """
        if not self.measure.sample:
            low, high = (end * self.unit for end in find(pivots))
            return low, high
        counted = pivots.alpha * OF_COUNT
        low, high = (end * self.unit for end in find(replace(pivots, alpha=pivots.alpha - counted)))
        rows = pivots.total_ends(sums.doubles.per_row(0, Fraction(1), Fraction(1)), counted)
        few, many = (np.maximum(end, 2) for end in rows)
        larger, smaller = few / (few - 1), many / (many - 1)
        return np.where(low < 0, low * larger, low * smaller), np.where(high > 0, high * larger, high * smaller)


class VarianceOfColumn(_InUnits):
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

    def ends(self, sums: MomentSums, pivots: Pivots) -> Ends:
        return self.scaled(sums, pivots, lambda left: left.variance_ends(self.axis))

    def estimate(self, sums: Doubles) -> Numbers:
        return self.estimated(sums.possible_variances[self.axis], sums)

    def change(self, sums: Doubles) -> Numbers:
        return sums.variance_change(self.axis)


class DeviationOfColumn(VarianceOfColumn):
    """The standard deviation of a column: the root of its variance."""

    @property
    def bounds(self) -> Bounds:
        return Bounds(0, sqrt(self.most))

    def value(self, summary: Summary) -> float | None:
        variance = super().value(summary)
        return None if variance is None else sqrt(variance)

    def ends(self, sums: MomentSums, pivots: Pivots) -> Ends:
        low, high = super().ends(sums, pivots)
        return np.sqrt(low), np.sqrt(high)

    def estimate(self, sums: Doubles) -> Numbers:
        return np.sqrt(super().estimate(sums))


class CovarianceOfColumns(_InUnits):
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

    def ends(self, sums: MomentSums, pivots: Pivots) -> Ends:
        return self.scaled(sums, pivots, Pivots.covariance_ends)

    def estimate(self, sums: Doubles) -> Numbers:
        return self.estimated(sums.possible_covariance, sums)

    def change(self, sums: Doubles) -> Numbers:
        return sums.covariance_change()


class CorrelationOfColumns(_OfProducts):
    """The correlation of two columns."""

    bounds = Bounds(-1, 1)

    def value(self, summary: Summary) -> Value | None:
        return summary.correlation if summary.count > 0 else None

    def ends(self, sums: MomentSums, pivots: Pivots) -> Ends:
        return pivots.correlation_ends()

    def estimate(self, sums: Doubles) -> Numbers:
        return sums.correlation

    def change(self, sums: Doubles) -> Numbers:
        first, second = (np.maximum(variance, TINY)[:, None] for variance in sums.possible_variances)
        relative = sums.variance_change(0) / first + sums.variance_change(1) / second
        return sums.covariance_change() / np.sqrt(first * second) - sums.correlation[:, None] / 2 * relative
