"""The law of several quantiles of one column, which come out in order.

The middle one of the levels is released by the exponential mechanism over all possible values; the values and the rows
are split there, and both halves go on with the levels that belong to them (Kaplan, Schnapp & Stemmer 2022).  A level
`q` between the levels `a` and `b` that its range was split at is the level `(q - a) / (b - a)` of the range's rows.
Values up to the released one are left for lower levels, values from it on for higher ones: they never fall.

**Rows at the released value** belong to both halves, and how many to each decides where the next levels are looked
for.  So every value is cut into `R` places, over which its rows are spread evenly, and what is drawn is a value and a
place in it: of the value's rows those in places before go left, those in places after it go right, and the drawn
place's own are shared in the proportion of the level.  The place is not released.  The last level of a range needs no
place; one level alone is drawn by the law of a quantile as it is.

**Privacy.**  A draw at `epsilon` loses at most `epsilon * w / k` for rows of weight `w` in its range (see `law`;
a row in several places is several rows, whose weights add up to its own).  Given value and place, the share of a row
that goes left is a constant, and the rest of it goes right.  A range with levels on `r` depths spends `epsilon / r` on
its own draw and leaves the rest to each of its halves: by induction, both halves and all below them lose at most the
rest times `w_left / k + w_right / k = w / k`, and the range as a whole at most `epsilon * w / k`.

**Errors** add up as follows.  If the splits at `a` and `b` are `x` and `y` rows off, the rank that a level `q` between
them aims at is off by `x` and `y` interpolated at `q`; what its own draw misses comes on top (`rank_error`).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, fmpz

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.errors import InvalidQuestion
from inbounds.exact.balls import ball
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.claim import Promise
from inbounds.privacy.rho import bounded_range
from inbounds.query.methods.quantiles.law import Buckets, RankLaw, rank_misses
from inbounds.sampling.any_law import draw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.sampling.entropy import Entropy

HALVINGS = 10
"""Values are halved so many times.  What is left to error is less than a thousandth of the rows at one value."""


@dataclass(frozen=True)
class OrderedQuantiles:
    """Quantiles at rising levels, for `epsilon` together."""

    buckets: Buckets
    levels: tuple[Fraction, ...]
    epsilon: Fraction
    limit: int
    """How many rows of a unit count."""
    row_weight: int
    """What a row that counts in full weighs."""
    halvings: int = HALVINGS
    """How often a value is halved into places."""

    def __post_init__(self) -> None:
        ends = (Fraction(0), *self.levels, Fraction(1))
        if not self.levels or any(low >= high for low, high in pairwise(ends)):
            raise InvalidQuestion("levels of quantiles must rise, above 0 and below 1; sort them and name each once")

    @property
    def depth(self) -> int:
        """How many draws a unit's rows go through at most, one after the other."""
        return self.whole.depth

    @property
    def epsilon_each(self) -> Fraction:
        """What a draw is given at least; the last ones of short branches get more."""
        return self.epsilon / self.depth

    @property
    def rho(self) -> Fraction:
        """At least the rho of all values together."""
        return self.whole.rho

    @property
    def certificate(self) -> Certificate:
        """What is proved of all draws together: what each may lose adds up along every way through them."""
        column = self.buckets.column
        return Certificate.of(
            Promise(column.bounds, Fraction(self.limit), self.epsilon, "standard", Fraction(0), False),
            column.lattice,
            bound=self.epsilon,
            witnessed=Fraction(0),
            pair=None,
            pairs=0,
            method="exponential mechanism",
            precision=0,
            law=self.state_law,
        )

    def state_law(self) -> dict[str, Any]:
        """Return the law in exact numbers, for a certificate: the rate of each draw, for rows that count in full."""
        return {"kind": "rank", "draw": self.whole.state(self.limit)}

    @property
    def whole(self) -> Branch:
        """All levels, and what may be spent on them."""
        return Branch(self.levels, Fraction(0), Fraction(1), self.epsilon)

    def draw(self, rows: list[int], entropy: Entropy) -> list[Fraction]:
        """Return a value for each level, by the weight of the rows in each bucket; values never fall."""
        return [self.buckets.value(number) for number in self._numbers(self.range_of(rows), entropy)]

    def range_of(self, rows: list[int]) -> RankRange:
        """Return the range that everything begins with: all levels, values and rows."""
        return RankRange(self.whole, 0, self.buckets.before, rows, self.limit * self.row_weight, self.halvings)

    def _numbers(self, whole: RankRange, entropy: Entropy) -> list[int]:
        number = draw(whole.law, entropy)
        if whole.branch.is_last:
            return [whole.first + number]
        halves = whole.split(number, draw(whole.places(number), entropy))
        left, right = (self._numbers(half, entropy) if half.branch.levels else [] for half in halves)
        return [*left, whole.first + number, *right]

    def rank_error(self, confidence: float = CONFIDENCE, tied: float | None = None) -> tuple[float, ...]:
        """Return so many rows for each level that, with this probability, no value is farther off in rank.

        That holds if no bucket has more rows than `tied`, as many as places unless it is given, and if rows have
        possible values.  It counts noise only, and rows with their weights.

        In every draw some value misses nothing, since rows lie in buckets with values of their range.  So a draw at a
        rate of `r` misses `t` rows or more with a probability of at most `n f exp(-r t)`, where there are `n` values,
        and `1 / f` is at least the mean of `exp(-r * missed)` over the places of that value: `f` is 1 without places,
        and otherwise at most their number and `r tied / (1 - exp(-r tied))`.  Each of the `m` draws gets an `m`-th of
        the risk.  Sharing a place by a constant moves a split by a part of the place's rows.
        """
        rows = float(2**self.halvings) if tied is None else float(tied)
        risk = (1 - confidence) / len(self.levels)
        return tuple(self._errors(self.whole, 0.0, 0.0, math.log(self.buckets.before[-1] / risk), rows))

    def _errors(self, branch: Branch, at_low: float, at_high: float, log_odds: float, tied: float) -> list[float]:
        """Return the errors of a branch, whose range was split so many rows off at its ends."""
        # Where the middle level aims; what its draw misses; where that splits the range; then both halves alike.
        if not branch.levels:
            return []
        places, rate = 2**self.halvings, float(branch.spent / (2 * self.limit * branch.share))
        aimed = at_low + float(branch.level) * (at_high - at_low)
        if branch.is_last:
            return [aimed + log_odds / rate]
        spread = max(1.0, min(float(places), rate * tied / -math.expm1(-rate * tied) if tied else 1.0))
        missed = aimed + (log_odds + math.log(spread)) / rate
        split = missed + float(branch.share) * tied / places
        left, right = branch.halves
        below = self._errors(left, at_low, split, log_odds, tied)
        return [*below, missed, *self._errors(right, split, at_high, log_odds, tied)]


@dataclass(frozen=True)
class Branch:
    """Some of the levels, between two others, and what may be spent on them.  Nothing here depends on data."""

    levels: tuple[Fraction, ...]
    low: Fraction
    high: Fraction
    epsilon: Fraction

    @property
    def depth(self) -> int:
        """How many draws come one after the other, `ceil(log2(m + 1))` for `m` levels."""
        return len(self.levels).bit_length()

    @property
    def is_last(self) -> bool:
        """Whether nothing is left to do after one draw."""
        return len(self.levels) == 1

    @cached_property
    def level(self) -> Fraction:
        """The middle level, as a level of the rows in its range."""
        return (self.levels[len(self.levels) // 2] - self.low) / (self.high - self.low)

    @property
    def share(self) -> Fraction:
        """The most that a row can move a rank, up or down."""
        return max(self.level, 1 - self.level)

    @property
    def spent(self) -> Fraction:
        """What the draw of the middle level may lose."""
        return self.epsilon / self.depth

    def rate(self, unit: int) -> Fraction:
        """How much the logarithm of a probability falls for each row missed, if those of a unit weigh so much."""
        return self.spent / (2 * self.share * unit)

    def state(self, unit: int) -> dict[str, Any] | None:
        """Return the draws in exact numbers."""
        if not self.levels:
            return None
        below, above = (half.state(unit) for half in self.halves)
        return {"level": str(self.level), "rate": str(self.rate(unit)), "below": below, "above": above}

    @property
    def rho(self) -> Fraction:
        """At least the rho of all draws: of rows of weight `w` it is this times `(w / k)^2`.

        The loss of a draw has a range of `spent * w / k`.  The rows are divided between the halves, and the sum of what
        both have is greatest if all are in one of them.
        """
        if not self.levels:
            return Fraction(0)
        return bounded_range(self.spent) + max(half.rho for half in self.halves)

    @property
    def halves(self) -> tuple[Branch, Branch]:
        """What is left to do below and above the middle level."""
        middle, rest = len(self.levels) // 2, self.epsilon - self.spent
        at = self.levels[middle]
        below, above = self.levels[:middle], self.levels[middle + 1 :]
        return Branch(below, self.low, at, rest), Branch(above, at, self.high, rest)


@dataclass(frozen=True)
class RankRange:
    """Neighbouring possible values and the rows among them, in which to find some levels."""

    branch: Branch
    first: int
    """The number of the least of its values; others are numbered from there."""
    before: tuple[int, ...]
    """How many of its values lie in buckets before each of its buckets, and in all."""
    rows: list[int]
    """The weight of rows in each bucket."""
    unit: int
    """The most that all rows of a unit weigh."""
    halvings: int

    @cached_property
    def law(self) -> RankLaw:
        """The law of the number of the middle level's value."""
        if self.branch.is_last:
            return RankLaw(self.before, rank_misses(self.rows, self.branch.level), self._rate(self.unit))
        return self._spread

    @cached_property
    def _spread(self) -> SpreadLaw:
        return SpreadLaw(
            self.before, self.rows, self.branch.level, self._rate(self.unit << self.halvings), self.halvings
        )

    def _rate(self, unit: int) -> Fraction:
        return self.branch.rate(unit) / self.branch.level.denominator

    def bucket(self, number: int) -> int:
        """Return the bucket that a value lies in."""
        return bisect_right(self.before, number) - 1

    def places(self, number: int) -> RankLaw:
        """Return the law of the place, given the value."""
        misses = self._spread.place_misses(self.bucket(number))
        return RankLaw(tuple(range(len(misses) + 1)), misses, self._spread.rate)

    def split(self, number: int, place: int) -> tuple[RankRange, RankRange]:
        """Return what lies below and above a place in a value; the value itself is in both."""
        # Scale all weights so that shares are whole; divide the rows tied at the place; hand each side its own values.
        bucket, level = self.bucket(number), self.branch.level
        whole = level.denominator << self.halvings  # everything is scaled by this, so that shares are integers
        share = place * level.denominator + level.numerator
        tied = self.rows[bucket]
        below = [*(whole * weight for weight in self.rows[:bucket]), share * tied]
        above = [(whole - share) * tied, *(whole * weight for weight in self.rows[bucket + 1 :])]
        up_to = (*self.before[: bucket + 1], number + 1)
        from_on = tuple(max(count - number, 0) for count in self.before[bucket:])
        left, right = self.branch.halves
        return (
            RankRange(left, self.first, up_to, below, self.unit * whole, self.halvings),
            RankRange(right, self.first + number, from_on, above, self.unit * whole, self.halvings),
        )


class SpreadLaw(RankLaw):
    """The law of a value where a value and one of its places are drawn together.

    It is the law of a quantile for buckets cut into places, each with an equal part of the bucket's rows and with all
    of its values.  Misses are in units of rows times places.
    """

    def __init__(
        self, before: tuple[int, ...], rows: list[int], level: Fraction, rate: Fraction, halvings: int
    ) -> None:
        super().__init__(before, rank_misses([weight << halvings for weight in rows], level), rate)
        self._halvings = halvings
        self._level = level
        self._lower = list(accumulate(rows, initial=0))
        """The weight of rows before each bucket, and of all."""
        wanted = level.numerator * self._lower[-1] // level.denominator
        self._middle = min(bisect_right(self._lower, wanted), len(rows)) - 1
        """The only bucket that may have places on both sides of the wanted rank."""
        self._strides = [(high - low) * level.denominator for low, high in pairwise(self._lower)]
        """By how much misses of neighbouring places differ, on either side of the wanted rank."""

    def place_misses(self, bucket: int) -> tuple[int, ...]:
        """Return by how much each place of a bucket misses, above the least of all."""
        above, below = self._level.numerator, self._level.denominator
        places, stride = 1 << self._halvings, self._strides[bucket]
        start = (below * self._lower[bucket] - above * self._lower[-1]) * places
        edges = range(start, start + places * stride + 1, stride) if stride else [start] * (places + 1)
        return tuple(max(0, low, -high) - self.least for low, high in pairwise(edges))

    def _weights(self) -> list[arb]:
        """Return balls around the sum of the weights of all places.

        The places on one side of the wanted rank are a geometric sum, `1 + x + ... + x^(R-1)`, which is a product of
        `1 + x^(2^i)` for `R` a power of two: no difference loses bits, and no time depends on the rows.
        """
        # Every bucket as a geometric sum of its places; then the one around the wanted rank, place by place.
        rate, weights = ball(self.rate), super()._weights()
        for bucket, stride in enumerate(self._strides):
            power = (-rate * fmpz(stride)).exp()
            for _ in range(self._halvings):
                weights[bucket] *= 1 + power
                power *= power
        places = ((-rate * fmpz(miss)).exp() for miss in self.place_misses(self._middle))
        weights[self._middle] = sum(places, start=arb(0))
        return weights

    def _logs(self) -> NDArray[np.float64]:
        """Return the same logarithms in doubles."""
        logs = super()._logs()
        strides = np.array([float(stride * self.rate) for stride in self._strides])
        for halving in range(self._halvings):
            logs += np.log1p(np.exp(-strides * 2.0**halving))
        misses = np.array([float(miss * self.rate) for miss in self.place_misses(self._middle)])
        logs[self._middle] = np.log(np.exp(misses.min() - misses).sum()) - misses.min()
        return logs
