"""The law of a private quantile: the exponential mechanism over all possible values of a column.

A possible value `c` is missed by

    d(c) = max(0, L(c) - q N, q N - L(c) - E(c))

where `N` is the weight of all rows, `L(c)` of those below `c`, `E(c)` of those at `c`: 0 if `c` is a `q`-quantile.  A
row of weight `w` moves `d` by at most `w * max(q, 1 - q)`, either way, so

    P(c) ∝ exp(-epsilon * d(c) / (2 k max(q, 1 - q)))

loses at most `epsilon * w / k` for rows of weight `w`: in proportion to the weight, so that losses add up over groups.

Where there are too many values to tell apart, those in one bucket are all missed as their bucket is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, fmpz

from inbounds.exact.balls import ball
from inbounds.query.columns.column import Numbers
from inbounds.sampling.any_law import draw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.sampling.entropy import Entropy

MOST_BUCKETS = 4096
"""Values are told apart by buckets, so many at most."""


@dataclass(frozen=True)
class Buckets:
    """The possible values of a column, in buckets of so many steps."""

    column: Numbers
    width: int

    @classmethod
    def of(cls, column: Numbers) -> Buckets:
        """Return buckets of one step each, or wider ones where those would be too many."""
        return cls(column, -(-(column.steps + 1) // MOST_BUCKETS))

    @property
    def count(self) -> int:
        """How many buckets there are."""
        return self.column.steps // self.width + 1

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The spans of possible values, in steps above the least."""
        return tuple((low - self.column.first, high - self.column.first) for low, high in self.column.lattice.spans)

    @cached_property
    def before(self) -> tuple[int, ...]:
        """How many possible values lie in buckets before each, and in all."""
        return tuple(self._values_below(bucket * self.width) for bucket in range(self.count + 1))

    @cached_property
    def _numbered(self) -> tuple[int, ...]:
        """How many possible values lie in spans before each, and in all."""
        return tuple(accumulate((high - low + 1 for low, high in self.spans), initial=0))

    def _values_below(self, step: int) -> int:
        span = bisect_left(self.spans, (step,)) - 1
        if span < 0:
            return 0
        low, high = self.spans[span]
        return self._numbered[span] + min(step, high + 1) - low

    @property
    def even_to_guess(self) -> float:
        """How far off a possible value that is drawn evenly is, over how far off the middle is: on average over all.

        Mostly it is 4/3, a third of the range over a quarter; of two values it is 1.
        """
        sizes = np.diff(np.array(self.before, dtype=float)) / self.before[-1]
        places = np.minimum((np.arange(self.count) + 0.5) * self.width - 0.5, self.column.steps)
        below = np.cumsum(sizes)[:-1]
        even = 2 * float(np.sum(below * (1 - below) * np.diff(places)))
        guess = float(np.sum(sizes * np.abs(places - self.column.steps / 2)))
        return even / guess if guess > 0 else 1.0

    def value(self, number: int) -> Fraction:
        """Return the possible value with this number, counted from the least."""
        span = bisect_right(self._numbered, number) - 1
        return self.column.value(self.spans[span][0] + number - self._numbered[span])


class RankLaw:
    """The exact law of a number, for given misses of the buckets that numbers lie in."""

    def __init__(self, before: tuple[int, ...], misses: tuple[int, ...], rate: Fraction) -> None:
        self.before = before
        """How many numbers lie in buckets before each, and in all."""
        self.least = min(misses)
        self.misses = tuple(miss - self.least for miss in misses)
        self.rate = rate
        """How much the logarithm of a probability falls for each unit missed."""
        self._by_bits: dict[int, tuple[list[arb], list[arb]]] = {}

    def below(self, index: int, bits: int) -> arb:
        """Return a ball around the probability of the numbers up to `index`."""
        if index < 0:
            return arb(0)
        if index >= self.before[-1] - 1:
            return arb(1)
        weights, sums = self._balls(bits)
        bucket = bisect_right(self.before, index) - 1
        return (sums[bucket] + weights[bucket] * (index + 1 - self.before[bucket])) / sums[-1]

    def guess(self, probability: float, _rest: float) -> int:
        """Return about the least number up to which there is this probability."""
        # The bucket in which the probability is reached; then how far into it, as all its numbers are alike.
        sums, before = self._doubles, self.before
        bucket = min(int(np.searchsorted(sums, probability * sums[-1])), len(sums) - 1)
        into = probability * sums[-1] - (sums[bucket - 1] if bucket else 0.0)
        size, mass = before[bucket + 1] - before[bucket], sums[bucket] - (sums[bucket - 1] if bucket else 0.0)
        return before[bucket] + (min(int(into / mass * size), size - 1) if mass > 0 and size else 0)

    @cached_property
    def _doubles(self) -> NDArray[np.float64]:
        """The weight of all numbers up to each bucket, in doubles."""
        return np.cumsum(np.diff(np.array(self.before, dtype=float)) * np.exp(self._logs()))

    def _balls(self, bits: int) -> tuple[list[arb], list[arb]]:
        """Return balls around the weight of one number of each bucket, and of all numbers in buckets before each."""
        if bits not in self._by_bits:
            weights = self._weights()
            in_buckets = (
                weight * (end - start) for weight, (start, end) in zip(weights, pairwise(self.before), strict=True)
            )
            self._by_bits[bits] = weights, list(accumulate(in_buckets, initial=arb(0)))
        return self._by_bits[bits]

    def _logs(self) -> NDArray[np.float64]:
        """Return the logarithm of the weight of one number of each bucket, in doubles."""
        return -np.array([float(miss * self.rate) for miss in self.misses])

    def _weights(self) -> list[arb]:
        """Return balls around the weight of one number of each bucket."""
        rate = ball(self.rate)
        return [(-rate * fmpz(miss)).exp() for miss in self.misses]


class QuantileLaw(RankLaw):
    """The exact law of a possible value, for given misses of the buckets."""

    def __init__(self, buckets: Buckets, misses: tuple[int, ...], rate: Fraction) -> None:
        super().__init__(buckets.before, misses, rate)
        self.buckets = buckets

    def draw(self, entropy: Entropy) -> Fraction:
        """Return a possible value with exactly its probability."""
        return self.buckets.value(draw(self, entropy))


def rank_misses(rows: list[int], level: Fraction) -> tuple[int, ...]:
    """Return by how much each bucket misses a quantile, times the denominator of `level`, for given weights of rows."""
    above, below = level.numerator, level.denominator
    wanted = above * sum(rows)
    misses, lower = [], 0
    for weight in rows:
        misses.append(max(0, below * lower - wanted, wanted - below * (lower + weight)))
        lower += weight
    return tuple(misses)
