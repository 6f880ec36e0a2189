"""A mean or a proportion over a private number of rows, and the count and the sum that go with it: two draws.

The rows' distances from the least value and from the greatest are added up, each sum is released, and the mean is
where the two balance.  They are the sum about the middle and the count in other coordinates (their difference, and
their sum): a row of any value moves them by the range together, so both are released at the whole epsilon, and no noise
can push the mean out of the bounds.  Count and sum follow from the same two, so that they never contradict the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from inbounds.bounds import Bounds
from inbounds.display.progress import Progress
from inbounds.exact.rational import round_half_up
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.methods.mechanism_choice import Choice
from inbounds.query.methods.method import (
    Answered,
    Answering,
    Foreseen,
    Interval,
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
from inbounds.query.methods.ratio_noise import RatioNoise
from inbounds.query.question.measure import Count, Mean, Sum
from inbounds.sampling.entropy import Entropy, system

Ends = tuple[float, float]


@dataclass(frozen=True)
class Ratio(Answering):
    """A mean or a proportion: where two noisy sums balance."""

    choice: Choice
    guarantee: GuaranteeName
    sensitivity: Fraction
    bounds: Bounds
    grain: Fraction
    low: Fraction
    high: Fraction
    noise: RatioNoise

    def answer_all(
        self, totals: Sequence[list[int]], confidence: float, report: Progress, entropy: Entropy = system
    ) -> list[tuple[Answered, ...]]:
        """Return the answers of each group, made of its two noisy sums."""
        drawn = [self._draw(one, entropy) for one in told(totals, report)]
        each = (1 + confidence) / 2  # both sums lie in their intervals at once with the confidence asked for
        lows, highs = intervals(self.choice, [one for both in drawn for one in both], each)
        ends = list(zip(lows, highs, strict=True))
        return [self._answered(*both, *sides) for both, *sides in zip(drawn, ends[0::2], ends[1::2], strict=True)]

    def _answered(self, above: Fraction, below: Fraction, ends_above: Ends, ends_below: Ends) -> tuple[Answered, ...]:
        found = self._mean(above, below)
        return (Answered(found.value, found.noise, self._mean_interval(ends_above, ends_below)),)

    def answer(self, totals: list[int], entropy: Entropy = system) -> Answered:
        """Return the mean of one group."""
        return self._mean(*self._draw(totals, entropy))

    def _draw(self, totals: list[int], entropy: Entropy) -> tuple[Fraction, Fraction]:
        above, below = (release(self.choice, total * self.grain, entropy) for total in totals)
        return above, below

    def _mean(self, above: Fraction, below: Fraction) -> Answered:
        spread, together = self.high - self.low, above + below
        share = above / together if together else Fraction(1, 2)
        rows = float(together / spread)
        noise = self._noise(float(share), rows) if rows else float(spread)
        return Answered(written(self.bounds, self.low + spread * share), noise)

    def _mean_interval(self, above: Ends, below: Ends) -> Interval:
        """Return where the mean can be if both sums are within their ends: it rises with one, falls with the other."""
        spread = float(self.high - self.low)
        low, high = (float(self.low) + spread * _share(*pair) for pair in ((above[0], below[1]), (above[1], below[0])))
        if above[0] + below[1] == 0:  # then nothing is known of a mean
            low = float(self.low)
        if above[1] + below[0] == 0:
            high = float(self.high)
        return around(self.bounds, max(low, float(self.low)), min(high, float(self.high)))

    def _noise(self, share: float, rows: float) -> float:
        """Return the expected noise for so many rows: to first order, and never more than the whole range."""
        return min(float(self.high - self.low), self.noise.at(share) / rows)

    def mechanism(self) -> str:
        """Say which mechanism answers, and why."""
        return f"two sums, of the distances from the least and from the greatest value, each by {self.choice.reason}"

    def proof(self) -> str:
        """Return the certificate; what one unit changes in both sums adds up to the sensitivity."""
        return f"{self.choice.proof}; one unit changes both sums together by at most the sensitivity"

    def expected_noise(self) -> str:
        """Say how far off the noise will put an answer, before anything is asked."""
        figures = (f"{error:.3g} {where}" for where, error in self._means.items())
        middle = self.noise.at(0.5) / self.noise.each
        where = f"if the mean is at a bound; {100 * middle:.0f} % of that if it is mid-range"
        return f"on average about {', '.join(figures)}, {where}"

    def foreseen(self) -> Foreseen:
        """Return the error of a mean at an end of the range, for some numbers of rows: elsewhere it is less."""
        return {"on average, for a mean at an end": self._means}

    @property
    def _means(self) -> dict[str, float]:
        return at_rows(lambda rows: self._noise(0.0, rows))

    def is_guess(self, rows: int | None) -> bool:
        """Return whether even a mean in the middle, which has the least noise, is no nearer than a guess."""
        return rows is not None and self.noise.at(0.5) / max(rows, 1) >= float(self.high - self.low) / 4


@dataclass(frozen=True)
class TotalsOfColumn(Ratio):
    """Count, sum and mean of a column, whichever are asked for: the mean is the sum over the count, to the last digit.

    The count is rounded to a whole number, and the sum to its step; a group whose count is 0 has no mean.
    """

    of: tuple[Count | Sum | Mean, ...]
    counts: Bounds
    sums: Bounds
    """The possible sums of everyone; those of `n` rows lie between `n` times the ends of the column."""

    @property
    def farthest(self) -> Fraction:
        """How far from 0 a count, a sum or a mean is at most."""
        count = farthest(self.counts)
        return max(count, farthest(self.sums), farthest(self.bounds), count * abs(self.low), count * abs(self.high))

    def _answered(self, above: Fraction, below: Fraction, ends_above: Ends, ends_below: Ends) -> tuple[Answered, ...]:
        count, total = self._consistent(above, below)
        share = float(above / (above + below)) if above + below else 0.5
        found: dict[type, Answered] = {
            Count: Answered(count, self._count_noise, self._count_interval(ends_above, ends_below)),
            Sum: Answered(written(self.sums, total), self._sum_noise, self._sum_interval(ends_above, ends_below)),
            Mean: self._mean_of(total, count, share, self._mean_interval(ends_above, ends_below)),
        }
        return tuple(found[type(one)] for one in self.of)

    def _consistent(self, above: Fraction, below: Fraction) -> tuple[int, Fraction]:
        """Return the count and the sum that two noisy sums say, as possible answers that fit each other."""
        spread, together = self.high - self.low, above + below
        count = int(on_step(self.counts, Fraction(round_half_up(together / spread))))
        mean = self.low + spread * above / together if together else (self.low + self.high) / 2
        total = on_step(self.sums, count * mean)
        return count, min(max(total, count * self.low), count * self.high)

    def _mean_of(self, total: Fraction, count: int, share: float, interval: Interval) -> Answered:
        if count == 0:
            return Answered(None, None, interval)
        return Answered(written(self.bounds, total / count), self._noise(share, count), interval)

    @property
    def _count_noise(self) -> float:
        """The mean of `|X + Y|` over the range: as that of `|X - Y|`, for noise is as likely up as down."""
        return 2 * self.noise.at(0.5) / float(self.high - self.low)

    @property
    def _sum_noise(self) -> float:
        """The mean of `|high X + low Y|` over the range, for Laplace noise."""
        spread = self.high - self.low
        a, b = abs(float(self.high / spread)), abs(float(self.low / spread))
        return self.noise.each * ((a * a + a * b + b * b) / (a + b))

    def _count_interval(self, above: Ends, below: Ends) -> Interval:
        spread = float(self.high - self.low)
        return around(self.counts, *((above[i] + below[i]) / spread for i in (0, 1)))

    def _sum_interval(self, above: Ends, below: Ends) -> Interval:
        """Return the ends of `(high * above + low * below) / range`; each rises or falls by the sign of its factor."""
        spread = self.high - self.low
        high, low = float(self.high / spread), float(self.low / spread)  # first: a product could be beyond all doubles
        ends = [sum(sorted(factor * end for end in side)[i] for factor, side in ((high, above), (low, below)))
                for i in (0, 1)]  # fmt: skip
        return around(self.sums, *(max(-inf, end) for end in ends))

    def mechanism(self) -> str:
        """Say which mechanism answers, and why, and which rows are counted."""
        column = next(one.column for one in self.of if not isinstance(one, Count))
        return f"{super().mechanism()}; rows without a value of {column} are left out"

    def expected_noise(self) -> str:
        """Say how far off the noise will put an answer, before anything is asked."""
        means = f"; for a mean, {super().expected_noise()}" if any(isinstance(one, Mean) for one in self.of) else ""
        return f"{self._count_noise:.4g} for a count, {self._sum_noise:.4g} for a sum, on average{means}"

    def foreseen(self) -> Foreseen:
        """Return the error of whatever was asked for."""
        found: Foreseen = {}
        for one in self.of:
            if isinstance(one, Mean):
                found["on average, in a mean at an end"] = self._means
            elif isinstance(one, Count):
                found["in a count"] = {"on average": self._count_noise}
            else:
                found["in a sum"] = {"on average": self._sum_noise}
        return found

    def is_guess(self, rows: int | None) -> bool:
        """Return whether none of what was asked for is nearer than a guess."""
        guesses = {
            Count: self._count_noise >= guess_error(self.counts),
            Sum: self._sum_noise >= guess_error(self.sums),
            Mean: super().is_guess(rows),
        }
        return all(guesses[type(one)] for one in self.of)


def _share(above: float, below: float) -> float:
    return above / (above + below) if above + below > 0 else 0.0
