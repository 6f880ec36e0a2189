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
from functools import cached_property, partial
from math import prod, sqrt

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
    at_rows,
    farthest,
    guess_error,
    intervals,
    on_step,
    release,
    told,
)
from inbounds.query.methods.moments.statistics import STATISTICS, Found, MomentColumn, Statistic
from inbounds.query.methods.moments.sums import MomentSums
from inbounds.query.question.measure import Count, Mean, Moment, Sum
from inbounds.sampling.entropy import Entropy, system


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

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """What is asked for, in its order."""
        return tuple(STATISTICS[type(one)](one, self.columns, self.counts) for one in self.of)

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        """Where the first of what is asked for can be."""
        return self.statistics[0].bounds

    def possible(self) -> str:
        """Say where each of what is asked for can be."""
        if len(self.of) == 1:
            return self.statistics[0].shown()
        return ", ".join(f"{one.measure} in {one.shown()}" for one in self.statistics)

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
        answers = [self._answers(one, sums, found) for one in self.statistics]
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

    def _answers(self, one: Statistic, sums: MomentSums, found: list[Found]) -> list[Answered]:
        """Return the answers for one measure, of all groups."""
        ends, noise, (low, high) = one.ends(sums), one.noise(sums, found, self.scale), one.hull
        answers = []
        for at, group in enumerate(found):
            value = one.value(group)
            interval = one.interval(max(float(ends[0][at]), low), min(float(ends[1][at]), high))
            told_noise = None if value is None else min(float(noise[at]), high - low)
            answers.append(Answered(value, told_noise, interval))
        return answers

    # In words.

    def mechanism(self) -> str:
        """Say which mechanism answers, and why."""
        parts = {2: "distances from the bounds", 3: "squared distances from the bounds and their product"}
        what = parts[max(column.parts for column in self.columns)]
        crossed = " of both columns, multiplied" if len(self.columns) == 2 else ""
        return f"{self.number} sums, of {what}{crossed}, each by {self.choice.reason}"

    def proof(self) -> str:
        """Return the certificate; what one unit changes in all sums adds up to the sensitivity."""
        return f"{self.choice.proof}; one unit changes all {self.number} sums together by at most the sensitivity"

    def expected_noise(self) -> str:
        """Say how far off the noise will put an answer, before anything is asked."""
        return "; ".join(f"{one.measure}: {self._foreseen(one)}" for one in self.statistics)

    def _foreseen(self, one: Statistic) -> str:
        """Say the noise for values spread over the range, and independent of each other."""
        found = self._errors(one)
        if not one.is_of_rows:
            return f"{found['on average']:.4g} on average"
        told_at = (f"{noise:.3g} {where}" for where, noise in found.items())
        return f"on average about {', '.join(told_at)}, if values are spread over the range"

    def foreseen(self) -> Foreseen:
        """Return the error of each measure, for values spread over the range, and independent of each other."""
        return {f"in {one.measure}, on average about": self._errors(one) for one in self.statistics}

    def _errors(self, one: Statistic) -> dict[str, float]:
        error = partial(self._error, one)
        return at_rows(error) if one.is_of_rows else {"on average": error(SHOWN_ROWS[0])}

    def _error(self, one: Statistic, rows: int) -> float:
        sums, (low, high) = self._even(rows), one.hull
        return min(float(one.noise(sums, [self._found(sums, 0)], self.scale)[0]), high - low)

    def is_guess(self, rows: int | None) -> bool:
        """Return whether none of what was asked for is nearer than a guess, if values are spread over the range."""
        return all(self._is_guess(one, rows) for one in self.statistics)

    def _is_guess(self, one: Statistic, rows: int | None) -> bool:
        if rows is None and one.is_of_rows:
            return False
        return self._error(one, rows or SHOWN_ROWS[0]) >= guess_error(one.bounds)

    def _even(self, rows: int) -> MomentSums:
        """Return the sums of so many rows with values spread over the range: evenly, or a quarter at one of two."""
        sums = np.full((1,), float(rows))
        for column in self.columns:
            shares = np.array([1 / 3] * 3 if column.parts == 3 else [3 / 4, 1 / 4])
            sums = np.multiply.outer(sums, shares)
        return MomentSums(sums, sums, sums)
