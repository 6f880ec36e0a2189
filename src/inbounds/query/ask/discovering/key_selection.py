"""Which keys of a column may be published: the optimal selection of Desfontaines, Voss & Gipson ("Differentially
private partition selection", PoPETs 2022), with exact probabilities.

A key that `n` units have is published with probability `p(n)`, each by itself.  `p(0) = 0`, and `p(n + 1)` is the most
that lets nobody tell `n + 1` units from `n`, with `(e, d)` for each key:

    p(n + 1) = min(exp(e) p(n) + d, 1 - exp(-e) (1 - p(n) - d), 1)

A unit counts for at most `k` of its keys.  Without it up to `k` keys have one unit less, so with `e = epsilon / k` and
`d = delta / k` the losses add up to epsilon and delta.  No other selection that looks at each key by itself publishes
any key more often.

The recursion is computed in balls, with a delta that is smaller by a part in 2**60: what balls are wide is less than
that, so whichever of two nearly equal numbers is taken for the smaller one, both inequalities hold for the true delta.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, workprec
from inbounds.privacy.claim import checked_epsilon
from inbounds.sampling.any_law import draw
from inbounds.sampling.entropy import Entropy, system

SLACK = Fraction(1, 2**60)
"""The part of delta that is not used."""

PRECISION = 320
"""Bits of the recursion: it multiplies an error by at most `1 / delta` until it ends."""

MOST_STEPS = 100_000
"""Units after which every key is published, at most; beyond that, epsilon is too small to be of use."""


@dataclass(frozen=True)
class KeySelection:
    """How likely a key is to be published, by how many units have it."""

    epsilon: Fraction
    delta: Fraction
    limit: int = 1
    """For how many keys a unit counts."""

    def __post_init__(self) -> None:
        checked_epsilon(self.epsilon)
        if not 0 < self.delta < 1:
            raise InvalidParameter(
                f"delta must be above 0 and below 1, got {float(self.delta):g}; give one such as 1e-6"
            )
        if self.limit < 1:
            raise InvalidParameter(f"a unit must count for at least one category, got {self.limit}; give 1 or more")

    @cached_property
    def _chances(self) -> tuple[arb, ...]:
        """Balls around the probabilities for 0, 1, 2 and so on units, until they are 1."""
        epsilon, delta = self.epsilon / self.limit, self.delta * (1 - SLACK) / self.limit
        with lock(), workprec(PRECISION):
            grow, shrink, d = ball(epsilon).exp(), (-ball(epsilon)).exp(), ball(delta)
            chances = [arb(0)]
            while len(chances) <= MOST_STEPS:
                last = chances[-1]
                up, down = grow * last + d, 1 - shrink * (1 - last - d)
                chance = up if up.mid() < down.mid() else down  # which may be the larger by a hair: SLACK covers that
                if chance.mid() >= 1:
                    return tuple(chances)
                chances.append(chance)
        raise InvalidParameter(
            f"epsilon {float(self.epsilon):g} is too small to publish categories, which would take {MOST_STEPS} "
            "units; give a larger one"
        )

    @property
    def certain(self) -> int:
        """From how many units on a key is always published."""
        return len(self._chances)

    def chance(self, units: int) -> float:
        """Return about how likely a key with so many units is to be published."""
        return 1.0 if units >= self.certain else float(self._chances[max(units, 0)].mid())

    @property
    def even_chance(self) -> int:
        """The least number of units with which a key is published more often than not."""
        return next((units for units in range(self.certain) if self.chance(units) >= 0.5), self.certain)

    def publishes(self, units: int, entropy: Entropy = system) -> bool:
        """Return whether to publish a key that so many units have, with exactly its probability."""
        if units >= self.certain:
            return True
        return draw(_Coin(self._chances[max(units, 0)]), entropy) == 1


@dataclass(frozen=True)
class _Coin:
    """1 with a probability that is known as a ball, else 0."""

    chance: arb

    def below(self, index: int, bits: int) -> arb:
        """Return a ball around the probability of at most this index."""
        return arb(0) if index < 0 else 1 - self.chance if index == 0 else arb(1)

    def guess(self, probability: float, rest: float) -> int:
        """Return about where the distribution function passes a probability."""
        return int(rest < float(self.chance.mid()))
