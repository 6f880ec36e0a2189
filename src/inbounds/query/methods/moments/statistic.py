"""What is asked for of one or two columns, as it follows from the sums of each group."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.bounds import Bounds
from inbounds.query.methods.method import Answered, Interval, Value, around, farthest, on_step
from inbounds.query.methods.moments.doubles import Doubles
from inbounds.query.methods.moments.noise import SumNoise
from inbounds.query.methods.moments.sums import MomentSums

if TYPE_CHECKING:
    from inbounds.query.methods.moments.pivots import Ends, Numbers, Pivots


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


@dataclass(frozen=True, eq=False)
class Summary:
    """What the sums of one group say, as possible answers that fit each other.

    From the coarsest to the finest: the count is rounded to a whole number and each sum to its step, and each number is
    brought to where those before it allow it to be.  The sum goes between the ends times the count, a variance to what
    the mean allows, and the covariance to what both variances do.  Only what is asked for is computed.
    """

    sums: MomentSums
    group: int
    columns: tuple[MomentColumn, ...]
    counts: Bounds

    @cached_property
    def means(self) -> tuple[Fraction, ...]:
        """Where the sums of each column balance, before the count and the sum are rounded."""
        return tuple(
            self.sums.exact_mean(self.group, axis, column.low, column.high) for axis, column in enumerate(self.columns)
        )

    @cached_property
    def count(self) -> int:
        """How many rows there are."""
        return int(on_step(self.counts, Fraction(self.sums.nearest_rows(self.group))))

    @cached_property
    def totals(self) -> tuple[Fraction, ...]:
        """The sum of each column."""
        return tuple(map(self._total, self.columns, self.means))

    def _total(self, column: MomentColumn, mean: Fraction) -> Fraction:
        total = on_step(column.sums, self.count * mean)
        return min(max(total, self.count * column.low), self.count * column.high)

    @cached_property
    def variances(self) -> tuple[float, ...]:
        """The variance of each column, in parts of its range, as the covariance is."""
        return tuple(self._variance(axis, column) for axis, column in enumerate(self.columns))

    def _variance(self, axis: int, column: MomentColumn) -> float:
        spread = column.high - column.low
        share = float((self.totals[axis] / self.count - column.low) / spread) if self.count else 0.5
        most = share * (1 - share)  # as all values lie between the ends
        if len(column.places) < 3:
            return most
        return clamp(float(self.sums.doubles.variances[axis][self.group]), 0.0, most)

    @cached_property
    def covariance(self) -> float:
        """The covariance of two columns."""
        most = sqrt(prod(self.variances))
        return clamp(float(self.sums.doubles.covariance[self.group]), -most, most)

    @property
    def correlation(self) -> float | None:
        """The covariance over both deviations; None where one of them is 0."""
        deviations = sqrt(prod(self.variances))
        return clamp(self.covariance / deviations, -1.0, 1.0) if deviations > 0 else None


@dataclass(frozen=True)
class Statistic(ABC):
    """One of what is asked for: where it can be, what it is, and how far noise moves it."""

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
    def ends(self, sums: MomentSums, pivots: Pivots) -> Ends:
        """Return where it can be, by what was measured."""

    @abstractmethod
    def estimate(self, sums: Doubles) -> Numbers:
        """Return what it is by some sums, before it is rounded."""

    @abstractmethod
    def change(self, sums: Doubles) -> Numbers:
        """Return by how much it changes with each sum, to first order, times any number for each group."""

    def noise(self, sums: Doubles, nudged: Doubles, law: SumNoise) -> Numbers:
        """Return the expected noise of all groups: how far it moves if noise is added to what was released."""
        return law.mean_move(self.estimate(nudged) - self.estimate(sums)[:, None], self.change(sums))

    def answers(self, sums: MomentSums, summaries: list[Summary], noises: Numbers, pivots: Pivots) -> list[Answered]:
        """Return what it is in all groups, with its noise and an interval, which holds the answer as well."""
        (low, high), noise = self.hull, noises.tolist()
        lows, highs = (np.clip(end, low, high).tolist() for end in self.ends(sums, pivots))
        answers = []
        for group, summary in enumerate(summaries):
            value = self.value(summary)
            size = None if value is None else min(noise[group], high - low)
            least, most = self.interval(lows[group], highs[group])
            if value is not None:
                least, most = min(least, value), max(most, value)
            answers.append(Answered(value, size, (least, most)))
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
        """Return the possible answers around two ends, both of which are within the bounds."""
        return (low, high) if self.bounds.step is None else around(self.bounds, low, high)

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


def clamp(value: float, low: float, high: float) -> float:
    """Return a number, or the end that it is beyond."""
    return min(max(value, low), high)
