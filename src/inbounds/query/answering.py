"""How a measure is answered: which integers a statement adds up, how noise is put on them, what the answer is then.

Each answers one group from its totals, and knows its sensitivity, its possible answers and its expected noise.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property, lru_cache
from math import gcd, lcm, log

from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.column import Numbers
from inbounds.query.mechanism_choice import Choice
from inbounds.query.quantile_law import Buckets, QuantileLaw, rank_misses
from inbounds.query.ratio_noise import RatioNoise
from inbounds.sampling.entropy import Entropy, system

Value = int | float | date


@dataclass(frozen=True)
class Answered:
    """One private answer, and its expected noise as far as that can be told from the answer itself."""

    value: Value
    noise: float | None


class Answering(ABC):
    """Puts noise on the totals of one group."""

    guarantee: GuaranteeName
    sensitivity: Fraction
    bounds: Bounds

    @abstractmethod
    def answer(self, totals: list[int], entropy: Entropy = system) -> Answered:
        """Return a private answer."""

    @abstractmethod
    def mechanism(self) -> str:
        """Say which mechanism answers, and why."""

    @abstractmethod
    def expected_noise(self) -> str:
        """Say how far off the noise will put an answer, before anything is asked."""


@dataclass(frozen=True)
class OneNumber(Answering):
    """A count, a sum, or a mean over a public number of units: one draw."""

    choice: Choice
    guarantee: GuaranteeName
    sensitivity: Fraction
    bounds: Bounds
    """The possible answers."""
    grain: Fraction
    """What 1 in the total is worth."""
    shift: Fraction
    """What the answer is when the total is 0."""

    def answer(self, totals: list[int], entropy: Entropy = system) -> Answered:
        """Return the total, with noise, as a possible answer."""
        released = release(self.choice, self.shift + totals[0] * self.grain, entropy)
        return Answered(written(self.bounds, on_step(self.bounds, released)), self._noise(released))

    @cached_property
    def _noise(self) -> Callable[[Fraction], float]:
        """The expected noise if the truth were what was released; small counts are released again and again."""
        return lru_cache(maxsize=10_000)(self.choice.mechanism.error)

    def mechanism(self) -> str:
        """Say which mechanism answers, and why."""
        return self.choice.reason

    def expected_noise(self) -> str:
        """Say how far off the noise will put an answer, before anything is asked."""
        return f"{self.choice.error:.4g} on average, over all true answers that were considered"


@dataclass(frozen=True)
class Ratio(Answering):
    """A mean or proportion over a private number of rows: two draws.

    The rows' distances from the least value and from the greatest are added up, each sum is released, and the mean is
    where the two balance.  They are the sum about the middle and the count in other coordinates (their difference, and
    their sum): a row of any value moves them by the range together, so both are released at the whole epsilon, and no
    noise can push the mean out of the bounds.
    """

    choice: Choice
    guarantee: GuaranteeName
    sensitivity: Fraction
    bounds: Bounds
    grain: Fraction
    low: Fraction
    high: Fraction
    noise: RatioNoise

    def answer(self, totals: list[int], entropy: Entropy = system) -> Answered:
        """Return the mean of noisy sums."""
        above, below = (release(self.choice, total * self.grain, entropy) for total in totals)
        spread, together = self.high - self.low, above + below
        share = above / together if together else Fraction(1, 2)
        rows = float(together / spread)
        noise = self._noise(float(share), rows) if rows else float(spread)
        return Answered(written(self.bounds, self.low + spread * share), noise)

    def _noise(self, share: float, rows: float) -> float:
        """Return the expected noise for so many rows: to first order, and never more than the whole range."""
        return min(float(self.high - self.low), self.noise.at(share) / rows)

    def mechanism(self) -> str:
        """Say which mechanism answers, and why."""
        return f"two sums, of distances from the least value and from the greatest, each by {self.choice.reason}"

    def expected_noise(self) -> str:
        """Say how far off the noise will put an answer, before anything is asked."""
        figures = (f"{self._noise(0.0, rows):.3g} at {rows:,} rows" for rows in (100, 1000, 10_000))
        middle = self.noise.at(0.5) / self.noise.each
        return f"at most about {', '.join(figures)}; {middle:.0%} of that for a mean in the middle"


@dataclass(frozen=True)
class QuantileByRank(Answering):
    """A quantile: one draw from all possible values, by rank."""

    column: Numbers
    level: Fraction
    epsilon: Fraction
    limit: int
    """How many rows of a unit count."""
    one: int
    """What a row that counts in full weighs."""
    guarantee: GuaranteeName

    @property
    def sensitivity(self) -> Fraction:  # type: ignore[override]
        """The most that a unit can move a rank, up or down."""
        return self.limit * max(self.level, 1 - self.level)

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        """The possible values of the column."""
        return self.column.bounds

    @property
    def buckets(self) -> Buckets:
        """How values are told apart."""
        return Buckets.of(self.column)

    def answer(self, totals: list[int], entropy: Entropy = system) -> Answered:
        """Return a possible value, by how many rows are below and above."""
        rate = self.epsilon / (2 * self.sensitivity * self.level.denominator * self.one)
        law = QuantileLaw(self.buckets, rank_misses(totals, self.level), rate)
        return Answered(written(self.bounds, law.draw(entropy)), None)

    def mechanism(self) -> str:
        """Say which mechanism answers, and why."""
        width = self.buckets.width
        told = "each of them" if width == 1 else f"told apart by {self.buckets.count} buckets"
        values = f"{self.column.points} possible values, {told}"
        return f"the exponential mechanism over {values}: the nearer in rank, the likelier"

    def expected_noise(self) -> str:
        """Say how far off the noise will put an answer, before anything is asked."""
        rows = 2 * float(self.sensitivity) / float(self.epsilon) * log(20 * self.column.points)
        text = f"with 95 % probability at most {rows:.4g} rows off in rank"
        if self.buckets.width > 1:
            text += f", and values are told apart to {float(self.buckets.width * self.column.step):.3g}"
        return text


def release(choice: Choice, answer: Fraction, entropy: Entropy) -> Fraction:
    """Return a private answer in place of an exact one."""
    return Fraction(choice.mechanism._release_one(answer, entropy))


def on_step(bounds: Bounds, value: Fraction) -> Fraction:
    """Return the point of the bounds' lattice nearest to a release: what has been released may be rounded."""
    if bounds.step is None:
        return value
    lattice = _lattice(bounds)
    return lattice.value(lattice.index(*value.as_integer_ratio()))


@lru_cache(maxsize=64)
def _lattice(bounds: Bounds) -> Lattice:
    assert bounds.step is not None
    return Lattice.of(bounds, bounds.step)


def written(bounds: Bounds, value: Fraction) -> Value:
    """Return an answer as people write it: an int, a date, or a float."""
    if bounds.is_dates:
        found = bounds.as_answer(on_step(bounds, value))
        assert isinstance(found, date)
        return found
    integral = bounds.step is not None and bounds.step.denominator == bounds.offset.denominator == 1
    return int(value) if integral else float(value)


def grain_of(column: Numbers) -> Fraction:
    """Return the largest number that every value of a column is a multiple of."""
    low, step = column.low, column.step
    common = lcm(low.denominator, step.denominator)
    return Fraction(gcd(int(low * common), int(step * common)), common)
