"""What a mechanism is made for: bounds on a lattice, a sensitivity, epsilon and the guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from inbounds.bounds import Bounds
from inbounds.bounds.fine_step import fine_step
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter, LatticeTooFine
from inbounds.exact.rational import Number, concise, shown
from inbounds.privacy.claim import Claim, Promise
from inbounds.privacy.guarantee import GuaranteeName, whole_steps

WIDEST = 2**54
"""On unbounded bounds noise may be this many steps wide, so that it stays within 64 bits."""

SLACK = Fraction(1, 2**48)
"""Laws lose this much less than epsilon allows, relatively: a proof in balls confirms an inequality, no equality."""


class Given(NamedTuple):
    """Sensitivity and epsilon as they were given."""

    sensitivity: Number | timedelta
    epsilon: Number


@dataclass(frozen=True, eq=False)
class Setting:
    """What a mechanism is asked for, on the lattice that it works on."""

    promise: Promise
    lattice: Lattice
    given: Given

    @classmethod
    def of(
        cls, bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number, guarantee: GuaranteeName = "standard"
    ) -> Setting:
        """Check what a caller passed, and put it on the lattice of the bounds or on one far finer than the noise."""
        promise = Promise.of(bounds, sensitivity, epsilon, guarantee, 0, False)
        promise.refuse_extreme_noise()
        lattice = Lattice.of(bounds, bounds.step or fine_step(bounds, promise.plain_scale, promise.sensitivity))
        setting = cls(promise, lattice, Given(sensitivity, epsilon))
        if not (lattice.bounded and guarantee == "standard") and setting.distance / promise.epsilon > WIDEST:
            raise LatticeTooFine(
                f"noise for sensitivity {shown(sensitivity)} and epsilon {shown(epsilon)} needs more than 62 bits to "
                f"count in steps of {concise(lattice.step)}; give the bounds a larger step, or ends and the standard "
                "guarantee"
            )
        return setting

    @classmethod
    def of_claim(cls, claim: Claim, sensitivity: Number | timedelta, epsilon: Number) -> Setting:
        """Return what a claim is about, on its lattice."""
        return cls(claim.promise, claim.lattice, Given(sensitivity, epsilon))

    @property
    def bounds(self) -> Bounds:
        """Which answers are possible."""
        return self.promise.bounds

    @property
    def epsilon(self) -> Fraction:
        """The privacy loss of one release."""
        return self.promise.epsilon

    @property
    def guarantee(self) -> GuaranteeName:
        """Which guarantee is to be kept."""
        return self.promise.guarantee

    @cached_property
    def distance(self) -> int:
        """How many steps apart the answers of two neighbours can be, after rounding and after being brought into range.

        For the standard guarantee, a sensitivity above the width of the bounds is that width.
        """
        steps = whole_steps(self.lattice, self.promise.sensitivity)
        if self.lattice.bounded and self.guarantee == "standard":
            steps = min(steps, self.lattice.width)
        return max(steps, 1)

    def clip(self, index: int) -> int:
        """Return the index nearest to this one that is between the least and the greatest possible answer."""
        return self.lattice.clip(index)

    def need_step(self, name: str, remedy: str) -> None:
        """Refuse bounds without a step, for a mechanism that is defined on a lattice."""
        if self.bounds.step is None:
            raise InvalidParameter(
                f"{name} needs bounds with a step, got {self.bounds.brief()}; give them one, or {remedy}"
            )

    def need_one_span(self, name: str, remedy: str) -> None:
        """Refuse bounds with gaps or without ends, for a mechanism that is defined on one interval."""
        if len(self.lattice) > 1 or not self.lattice.bounded:
            raise InvalidParameter(f"{name} needs one bounded interval, got {self.bounds.brief()}; {remedy}")
