"""Variances, standard deviations, covariances and correlations, with the rows, sums and means that go with them.

A row's value at the part `u` of the range is cut into parts that add up to 1 whatever it is: `(1 - u)^2`, `2u(1 - u)`
and `u^2`, or `1 - u` and `u` where no square is needed; for two columns, into all products of these.  A row moves the
sums of all parts by its weight together, so that all of them are released at the whole epsilon, and everything else
follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import prod, sqrt
from typing import TYPE_CHECKING

import numpy as np

from inbounds.bounds import Bounds
from inbounds.display.progress import Progress
from inbounds.exact.rational import round_half_up
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.methods.mechanism_choice import Choice
from inbounds.query.methods.method import (
    SHOWN_ROWS,
    Answered,
    Answering,
    Foreseen,
    Interval,
    Value,
    around,
    at_rows,
    farthest,
    guess_error,
    intervals,
    on_step,
    release,
    told,
    written,
)
from inbounds.query.methods.moments.noise import mean_size
from inbounds.query.methods.moments.sums import MomentSums
from inbounds.query.question.measure import Correlation, Count, Covariance, Deviation, Mean, Moment, Sum, Variance
from inbounds.sampling.entropy import Entropy, system

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
class MomentsOfColumns(Answering):
    """Statistics of one or two columns, whichever are asked for, all from the same noisy sums."""

    choice: Choice
    guarantee: GuaranteeName
    sensitivity: Fraction
    grain: Fraction
    """What 1 in a total is worth, in rows."""
    columns: tuple[MomentColumn, ...]
    of: tuple[Count | Sum | Mean | Moment, ...]
    counts: Bounds
    scale: float
    """The mean size of the noise on each sum, in rows."""

    @property
    def farthest(self) -> Fraction:
        """How far from 0 a count, a sum or a mean is at most; everything else is no whole number."""
        count = farthest(self.counts)
        sums = (max(farthest(one.sums), count * abs(one.low), count * abs(one.high)) for one in self.columns)
        return max(count, *sums)

    @property
    def number(self) -> int:
        """How many sums there are."""
        return prod(column.parts for column in self.columns)

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        """Where the first of what is asked for can be."""
        return self._bounds(self.of[0])

    def possible(self) -> str:
        """Say where each of what is asked for can be."""
        if len(self.of) == 1:
            return self._shown(self.of[0])
        return ", ".join(f"{one} in {self._shown(one)}" for one in self.of)

    def _shown(self, one: Count | Sum | Mean | Moment) -> str:
        if isinstance(one, Count | Sum | Mean):
            return self._bounds(one).brief()
        low, high = self._hull(one)
        return f"[{low:.6g}, {high:.6g}]"

    def answer_all(
        self, totals: Sequence[list[int]], confidence: float, report: Progress, entropy: Entropy = system
    ) -> list[tuple[Answered, ...]]:
        """Return the answers of each group, made of its noisy sums."""
        if not totals:
            return []
        drawn = [[release(self.choice, total * self.grain, entropy) for total in one] for one in told(totals, report)]
        each = 1 - (1 - confidence) / self.number  # then all sums lie in their intervals at once
        ends = intervals(self.choice, [one for sums in drawn for one in sums], each)
        shape = (len(drawn), *(column.parts for column in self.columns))
        lows, highs = (np.array(side).reshape(shape) for side in ends)
        sums = MomentSums(np.array(drawn, dtype=np.float64).reshape(shape), lows, highs)
        found = [self._found(sums, at) for at in range(len(drawn))]
        answers = [self._answers(one, sums, found) for one in self.of]
        return [tuple(column[at] for column in answers) for at in range(len(drawn))]

    # What the sums of a group say.

    def _found(self, sums: MomentSums, at: int) -> Found:
        count = int(on_step(self.counts, Fraction(round_half_up(Fraction(float(sums.rows[at]))))))
        totals, means, variances = [], [], []
        for axis, column in enumerate(self.columns):
            mean = column.low + (column.high - column.low) * Fraction(float(sums.means[axis][at]))
            total = on_step(column.sums, count * mean)
            totals.append(min(max(total, count * column.low), count * column.high))
            share = float((totals[-1] / count - column.low) / (column.high - column.low)) if count else 0.5
            means.append(share)
            most = share * (1 - share)  # as all values lie between the ends
            variance = float(sums.variances[axis][at]) if column.parts == 3 else most  # which two values have
            variances.append(min(max(variance, 0.0), most))
        covariance = 0.0
        if len(self.columns) == 2:
            most = sqrt(prod(variances))
            covariance = min(max(float(sums.covariance[at]), -most), most)
        return Found(count, tuple(totals), tuple(means), tuple(variances), covariance)

    def _answers(self, one: Count | Sum | Mean | Moment, sums: MomentSums, found: list[Found]) -> list[Answered]:
        """Return the answers for one measure, of all groups."""
        ends = self._ends(one, sums)
        noise = self._noise(one, sums, found)
        low, high = self._hull(one)
        answers = []
        for at, group in enumerate(found):
            value = self._value(one, group)
            interval = self._interval(one, max(float(ends[0][at]), low), min(float(ends[1][at]), high))
            told_noise = None if value is None else min(float(noise[at]), high - low)
            answers.append(Answered(value, told_noise, interval))
        return answers

    def _value(self, one: Count | Sum | Mean | Moment, found: Found) -> Value | None:  # noqa: PLR0911  one for each measure
        if isinstance(one, Count):
            return found.count
        if isinstance(one, Sum):
            return written(self._bounds(one), found.totals[self._axis(one.column)])
        if found.count <= (1 if getattr(one, "sample", False) else 0):
            return None
        if isinstance(one, Mean):
            return written(self._bounds(one), found.totals[self._axis(one.column)] / found.count)
        if isinstance(one, Correlation):
            return found.correlation
        factor = self._unit(one) * (found.count / (found.count - 1) if one.sample else 1)
        if isinstance(one, Covariance):
            return _within(found.covariance * factor, self._hull(one)) + 0.0  # no -0.0
        variance = _within(found.variances[self._axis(one.column)] * factor, (0, self._most(one)))
        return sqrt(variance) if isinstance(one, Deviation) else variance

    # Where each measure can be, before and after.

    def _axis(self, name: str) -> int:
        return next(axis for axis, column in enumerate(self.columns) if column.name == name)

    def _unit(self, one: Moment) -> float:
        """Return what 1 is worth in a variance or a covariance: the ranges, multiplied."""
        if isinstance(one, Variance | Deviation):
            return self.columns[self._axis(one.column)].spread ** 2
        return prod(column.spread for column in self.columns) if isinstance(one, Covariance) else 1.0

    def _most(self, one: Moment) -> float:
        """Return the most that a variance or a covariance can be: a quarter, and of a sample of two rows, a half."""
        return self._unit(one) / (2 if getattr(one, "sample", False) else 4)

    def _bounds(self, one: Count | Sum | Mean | Moment) -> Bounds:
        if isinstance(one, Count):
            return self.counts
        if isinstance(one, Sum | Mean):
            column = self.columns[self._axis(one.column)]
            return column.sums if isinstance(one, Sum) else column.bounds
        if isinstance(one, Correlation):
            return Bounds(-1, 1)
        if isinstance(one, Covariance):
            return Bounds(-self._most(one), self._most(one))
        return Bounds(0, sqrt(self._most(one)) if isinstance(one, Deviation) else self._most(one))

    def _hull(self, one: Count | Sum | Mean | Moment) -> tuple[float, float]:
        bounds = self._bounds(one)
        low, high = bounds.least, bounds.greatest
        return -np.inf if low is None else float(low), np.inf if high is None else float(high)

    def _interval(self, one: Count | Sum | Mean | Moment, low: float, high: float) -> Interval:
        return around(self._bounds(one), low, high) if isinstance(one, Count | Sum | Mean) else (low, high)

    def _ends(self, one: Count | Sum | Mean | Moment, sums: MomentSums) -> Ends:
        """Return where a measure can be if each sum lies in its interval."""
        if isinstance(one, Count):
            return sums.row_ends
        if isinstance(one, Correlation):
            return sums.correlation_ends()
        if isinstance(one, Covariance):
            return self._scaled(one, sums, sums.covariance_ends())
        axis = self._axis(one.column)
        column = self.columns[axis]
        if isinstance(one, Sum):
            return sums.sum_ends(axis, float(column.low), float(column.high))
        if isinstance(one, Mean):
            low, high = sums.mean_ends(axis)
            return float(column.low) + column.spread * low, float(column.low) + column.spread * high
        low, high = self._scaled(one, sums, sums.variance_ends(axis))
        return (np.sqrt(low), np.sqrt(high)) if isinstance(one, Deviation) else (low, high)

    def _scaled(self, one: Variance | Deviation | Covariance, sums: MomentSums, ends: Ends) -> Ends:
        """Return ends in the units of the columns, and of a sample where that is asked for: of two rows or more."""
        low, high = (end * self._unit(one) for end in ends)
        if not one.sample:
            return low, high
        few, many = (np.maximum(rows, 2) for rows in sums.row_ends)
        larger, smaller = few / (few - 1), many / (many - 1)
        return np.where(low < 0, low * larger, low * smaller), np.where(high > 0, high * larger, high * smaller)

    def _noise(self, one: Count | Sum | Mean | Moment, sums: MomentSums, found: list[Found]) -> Numbers:
        """Return the expected noise of all groups: to first order, and for a variance to second.

        A variance is least about the mean, and so off by the square of what the mean is off, also where it is greatest
        and nothing else moves it.
        """
        first = mean_size(self._change(one, sums, found), self.scale)
        if not isinstance(one, Variance | Deviation):
            return first
        axis = self._axis(one.column)
        square = 2 * self.scale**2 * (sums.mean_change(axis) ** 2).sum(axis=1) * self._unit(one)
        return first + (square if isinstance(one, Variance) else square / self._twice_deviation(axis, found)[:, 0])

    def _twice_deviation(self, axis: int, found: list[Found]) -> Numbers:
        spread = self.columns[axis].spread
        return np.array([2 * spread * sqrt(_some(group.variances[axis])) for group in found])[:, None]

    def _change(  # noqa: PLR0911  one for each measure
        self, one: Count | Sum | Mean | Moment, sums: MomentSums, found: list[Found]
    ) -> Numbers:
        """Return by how much a measure changes with each sum, to first order."""
        if isinstance(one, Count):
            return sums.per_row(1, 1, 0)
        if isinstance(one, Correlation):
            return self._correlation_change(sums, found)
        if isinstance(one, Covariance):
            return sums.covariance_change() * self._unit(one)
        axis = self._axis(one.column)
        column = self.columns[axis]
        if isinstance(one, Sum):
            return sums.per_row(float(column.low), float(column.high), axis)
        if isinstance(one, Mean):
            return sums.mean_change(axis) * column.spread
        change = sums.variance_change(axis) * self._unit(one)
        if isinstance(one, Variance):
            return change
        return change / self._twice_deviation(axis, found)

    def _correlation_change(self, sums: MomentSums, found: list[Found]) -> Numbers:
        first, second = (np.array([_some(group.variances[axis]) for group in found])[:, None] for axis in (0, 1))
        correlation = np.array([group.correlation or 0.0 for group in found])[:, None]
        relative = sums.variance_change(0) / first + sums.variance_change(1) / second
        return sums.covariance_change() / np.sqrt(first * second) - correlation / 2 * relative

    # In words.

    def mechanism(self) -> str:
        """Say which mechanism answers, and why."""
        parts = {2: "distances from the ends", 3: "squared distances from the ends and their product"}
        what = parts[max(column.parts for column in self.columns)]
        crossed = " of both columns, multiplied" if len(self.columns) == 2 else ""
        return f"{self.number} sums, of {what}{crossed}, each by {self.choice.reason}"

    def proof(self) -> str:
        """Return the certificate; what one unit changes in all sums adds up to the sensitivity."""
        return f"{self.choice.proof}; one unit moves all {self.number} sums together by at most the sensitivity"

    def expected_noise(self) -> str:
        """Say how far off the noise will put an answer, before anything is asked."""
        return "; ".join(f"{one}: {self._foreseen(one)}" for one in self.of)

    def _foreseen(self, one: Count | Sum | Mean | Moment) -> str:
        """Say the noise for values spread over the range, and independent of each other."""
        found = self._errors(one)
        if isinstance(one, Count | Sum):
            return f"{found['on average']:.4g} on average"
        told_at = (f"{noise:.3g} {where}" for where, noise in found.items())
        return f"on average about {', '.join(told_at)}, if values are spread over the range"

    def foreseen(self) -> Foreseen:
        """Return the error of each measure, for values spread over the range, and independent of each other."""
        return {f"in {one}, on average about": self._errors(one) for one in self.of}

    def _errors(self, one: Count | Sum | Mean | Moment) -> dict[str, float]:
        error = partial(self._error, one)
        return {"on average": error(SHOWN_ROWS[0])} if isinstance(one, Count | Sum) else at_rows(error)

    def _error(self, one: Count | Sum | Mean | Moment, rows: int) -> float:
        sums, (low, high) = self._even(rows), self._hull(one)
        return min(float(self._noise(one, sums, [self._found(sums, 0)])[0]), high - low)

    def is_guess(self, rows: int | None) -> bool:
        """Return whether none of what was asked for is nearer than a guess, if values are spread over the range."""
        return all(self._is_guess(one, rows) for one in self.of)

    def _is_guess(self, one: Count | Sum | Mean | Moment, rows: int | None) -> bool:
        if rows is None and not isinstance(one, Count | Sum):
            return False
        return self._error(one, rows or SHOWN_ROWS[0]) >= guess_error(self._bounds(one))

    def _even(self, rows: int) -> MomentSums:
        """Return the sums of so many rows with values spread over the range: evenly, or a quarter at one of two."""
        sums = np.full((1,), float(rows))
        for column in self.columns:
            shares = np.array([1 / 3] * 3 if column.parts == 3 else [3 / 4, 1 / 4])
            sums = np.multiply.outer(sums, shares)
        return MomentSums(sums, sums, sums)


def _within(value: float, ends: tuple[float, float]) -> float:
    return min(max(value, ends[0]), ends[1])


def _some(number: float) -> float:
    """Return a number that can be divided by: where it is 0, the noise is as wide as the bounds."""
    return max(number, 1e-12)
