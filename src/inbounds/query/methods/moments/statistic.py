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
from inbounds.exact.rational import round_half_up
from inbounds.query.methods.method import Answered, Interval, Value, around, farthest, on_step
from inbounds.query.methods.moments.noise import SumNoise
from inbounds.query.methods.moments.sums import MomentSums

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
            variances.append(clamp(variance, 0.0, most))
        covariance = 0.0
        if len(columns) == 2:
            most = sqrt(prod(variances))
            covariance = clamp(float(sums.covariance[group]), -most, most)
        return cls(tuple(means), count, tuple(totals), tuple(variances), covariance)

    @property
    def correlation(self) -> float | None:
        """The covariance over both deviations; None where one of them is 0."""
        deviations = sqrt(prod(self.variances))
        return clamp(self.covariance / deviations, -1.0, 1.0) if deviations > 0 else None


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


def clamp(value: float, low: float, high: float) -> float:
    """Return a number, or the end that it is beyond."""
    return min(max(value, low), high)
