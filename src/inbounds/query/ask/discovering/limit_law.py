"""The law of a limit of rows per unit that is chosen for the least error of a count: an exponential mechanism.

With `N(k)` units that have more than `k` rows, and an epsilon of `e2` for the question that follows, a limit is one of
1, 2, 4, 8 … with

    P(k) ∝ k**-2 * exp(-e1 * max(0, N(k) - 1 / (2 * e2)))

A unit that comes, goes, or has other rows instead moves each `N(k)` by at most 1, and all that it moves the same way:
a unit with `n` rows is in `N(k)` for every `k < n` and in no other.  So are the penalties moved, which grow with
`N(k)` and no faster.  Then all weights change by factors between 1 and `exp(-e1)`, or all by factors between 1 and
`exp(e1)`; their sum changes by such a factor, too, and the probabilities, which are quotients, by `exp(±e1)` at most.
The logarithms of these quotients lie within a range of `e1`.  So the loss is at most `e1`, without the usual factor 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from math import log

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.query.methods.quantiles.law import RankLaw
from inbounds.sampling.any_law import draw
from inbounds.sampling.entropy import Entropy, system

SHARE = Fraction(1, 5)
"""The part of epsilon that the choice has, if nothing else is said; the question that follows has the rest."""

MOST = 2048
"""No limit above this is considered: numbers of rows are told apart up to twice as many."""


@dataclass(frozen=True)
class LimitLaw:
    """How likely each limit is to be chosen, by how many units have how many rows."""

    epsilon: Fraction
    """What the choice costs."""
    following: Fraction
    """The epsilon of the question that the limit is for."""
    most: int
    """The largest limit to consider; of the powers of two, those up to it."""

    @cached_property
    def limits(self) -> tuple[int, ...]:
        """The limits that can be chosen."""
        return tuple(2**j for j in range(self.most.bit_length()))

    @property
    def cap(self) -> int:
        """So many rows of a unit are told from fewer, and not from more."""
        return self.limits[-1] + 1

    @property
    def tolerated(self) -> Fraction:
        """So many units may have more rows at no penalty: cutting one row of each costs half of what the noise does."""
        return 1 / (2 * self.following)

    def of(self, units: Sequence[int]) -> RankLaw:
        """Return the law for so many units with one row, with two, and so on; those at the end have `cap` or more."""
        # Each limit has as many numbers as it has weight beforehand, so that k**-2 is exact.
        sizes = [(self.limits[-1] // limit) ** 2 for limit in self.limits]
        allowed = self.tolerated
        above = (sum(units[limit:]) for limit in self.limits)
        penalties = tuple(max(0, allowed.denominator * count - allowed.numerator) for count in above)
        return RankLaw(tuple(accumulate(sizes, initial=0)), penalties, self.epsilon / allowed.denominator)

    def draw(self, units: Sequence[int], entropy: Entropy = system) -> int:
        """Return a limit with exactly its probability."""
        law = self.of(units)
        number = draw(law, entropy)
        return next(limit for limit, end in zip(self.limits, law.before[1:], strict=True) if number < end)

    def units_above(self, limit: int) -> float:
        """Return how many units have more rows than a limit that was drawn, at most, with the usual confidence.

        That is so if no more are above the largest limit than are tolerated.  Then that one has no penalty, and with
        `N` units above it a limit `k` is drawn with a probability of at most `(most / k)**2 * exp(-e1 * (N -
        tolerated))`.  The number returned makes this `(1 - CONFIDENCE) / len(limits)`, so that by the union bound any
        limit with more units above it is drawn with a probability of at most `1 - CONFIDENCE`.
        """
        odds = 2 * log(self.limits[-1] / limit) + log(len(self.limits) / (1 - CONFIDENCE))
        return float(self.tolerated) + odds / float(self.epsilon)
