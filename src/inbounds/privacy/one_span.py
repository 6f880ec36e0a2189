"""The privacy loss on one span in closed form, in doubles: a guess for the proof, never trusted for one.

On a span of `n` steps the worst pair is an end and the index `D` steps from it.  With `U = q^D`, `V = q^(n-D)` and a
pooling of `theta`, the loss is

    D t + ln(1 + (1 - theta) q (1 - U) (1 - V) / Z),      Z = (1 - theta) (1 - q^(n+1)) + theta (1 + q),

a sum of positive terms only, so that nothing cancels.  It rises with `t` (docs/mathematics.md, "One span").
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, expm1, inf, log1p

from inbounds.privacy.claim import Claim


@dataclass(frozen=True)
class OneSpanLoss:
    """The loss of the pairs that decide on one span, as a function of the rate."""

    distance: float
    """How many steps the worst pair is apart."""
    rest: float
    """How many more steps the span has; infinite if it has not both ends."""
    pooling: float
    allowed: float
    """The losses that the pair is allowed, in epsilons."""

    @classmethod
    def of(cls, claim: Claim) -> OneSpanLoss:
        """Take the numbers of a claim about one span."""
        lattice, pairs = claim.lattice, claim.pairs
        distance = abs(int(pairs.second[0]) - int(pairs.first[0]))
        rest = float(lattice.width - distance) if lattice.bounded else inf
        allowed = 1.0 if pairs.allowance is None else float(pairs.allowance * distance)
        return cls(float(distance), rest, float(claim.promise.pooling), allowed)

    def extra(self, rate: float) -> float:
        """Return what the ends add to the loss, per epsilon allowed."""
        q = exp(-rate)
        unpooled = 1 - self.pooling
        present = unpooled * -expm1(-rate * (self.distance + self.rest + 1)) + self.pooling * (1 + q)
        missing = unpooled * q * expm1(-rate * self.distance) * expm1(-rate * self.rest)
        if not present:  # both are below all doubles, and the ends never add more than the distance itself
            return rate * self.distance / self.allowed
        return log1p(missing / present) / self.allowed

    def at(self, rate: float) -> float:
        """Return the loss per epsilon allowed."""
        return rate * self.distance / self.allowed + self.extra(rate)
