"""Proposals on several spans that are not narrow against the noise, by the same work for every answer.

As on one span, missing mass counts as if it were there, so that one logarithm finds the distance.  What is missing
below the span in which the draw falls takes the place of what is missing below the centre's; which span that is, a
guide table says.  docs/sampling.md adds up the errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.bounds.guide import Guide
from inbounds.bounds.index_span import ends_by_dtype
from inbounds.exact.balls import lock, workprec
from inbounds.privacy.law import PRECISION, Law
from inbounds.privacy.loss import FloatMasses
from inbounds.sampling.proposals import (
    EXACT,
    LEAST_EXPONENT,
    WHOLE_ENOUGH,
    apart,
    bits_of,
    move,
    number,
    numbers,
    uniform_numbers,
    whole_steps,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.sampling.proposals import Floating, Proposal

    Floats = NDArray[Any]  # of one kind

FARTHEST = 2.0**20
"""Over so many scales the spans may be spread."""


class UnionProposals:
    """Proposals in one kind of float: three exponentials and two logarithms a draw.

    Error bound: the position is off by at most 25 units of 2^-p, and the logarithm and the division add less than 5 of
    them over the position: under 40 together.  64 are allowed for.
    """

    ALLOWED = 6
    """Two to the power of this many units may a position be off; half as many may a mass."""

    def __init__(self, law: Law, kind: Floating) -> None:
        masses, lattice = law.masses(), law.lattice
        self._kind, self._bits = kind, bits_of(kind)
        self._n, self.is_pooled = len(lattice), law.pooling > 0
        self._own_ends = lattice.ends
        with lock(), workprec(PRECISION):
            self.rate, self.per_rate = number(-masses.rate, kind), number(-1 / masses.rate, kind)
            self.total = number(masses.total, kind)
            self.left, self.right = numbers(masses.left, kind), numbers(masses.right, kind)
        self.doubt = max(-self.per_rate, kind(WHOLE_ENOUGH)) * kind(2) ** (self.ALLOWED - self._bits)
        self.apart = kind(2) ** (self.ALLOWED - 1 - self._bits)
        # Downwards first, then the mirror image.
        self.missing = np.concatenate([self.left, self.right[::-1]])
        lows = np.concatenate([lattice.lows, -lattice.highs[::-1]])
        highs = np.concatenate([lattice.highs, -lattice.lows[::-1]])
        self._ends = ends_by_dtype(lows, highs)
        self._tabulate(law)

    def _tabulate(self, law: Law) -> None:
        """Find the logarithms of all mass up to the end of each span but the last, seen from the middle of them all."""
        lattice = law.lattice
        # Keys of both directions are in one table, those of the mirror image moved above all others, so that one
        # look-up serves both.  The slack is how far a key may be off: a mass nearer to a border than that is not
        # settled.
        self.middle = (lattice.high_list[0] + lattice.low_list[-1]) // 2
        masses = FloatMasses(lattice, rate := -float(self.rate), float(law.pooling))
        self.down = down = (np.log(masses.up_to_high()) + rate * (lattice.highs - self.middle))[:-1]
        self.up = up = (np.log(masses.down_to_low()) - rate * (lattice.lows - self.middle))[:0:-1]
        self._least, self._most = min(down[0], up[0]) - 1, max(down[-1], up[-1]) + 1
        self._mirrored = self._most - self._least + 2  # where the keys of the mirror image begin
        self._guide = Guide(np.concatenate([down, [self._most + 1], up + self._mirrored]))
        slack = 2.0**-53 * (8 * (np.abs(down) + self._mirrored) + 512 + 32 * self._n)
        slack_up = 2.0**-53 * (8 * (np.abs(up) + self._mirrored) + 512 + 32 * self._n)
        self.above = np.concatenate([down - slack, [np.inf], up - slack_up, [np.inf]])
        self.below = np.concatenate([[-np.inf], down + slack, [-np.inf], up + slack_up])

    @staticmethod
    def suits(law: Law) -> bool:
        """Whether there is no centre from which most of the mass is missing, and the spans are not spread too far."""
        lattice = law.lattice
        if len(lattice) == 1 or (lattice.low_list[-1] - lattice.high_list[0]) * law.rate > FARTHEST:
            return False
        masses, spans = FloatMasses(lattice, float(law.rate), float(law.pooling)), np.arange(len(lattice))
        least = min(masses.z(ends, spans).min() for ends in (lattice.lows, lattice.highs))
        return bool(least > 0.25)  # roughly: with less, fewer draws are settled, and that is all

    @np.errstate(all="ignore")
    def propose(self, words: NDArray[np.uint64], centres: NDArray[Any], spans: NDArray[np.intp]) -> Proposal:
        """Return an index for each centre, and whether it is certainly the one that the exact law draws."""
        # 1. The mass outside the draw, on the side where it is smaller.
        # 2. The span in which that mass is reached.
        # 3. The distance from the centre, as on one span, with what is missing below that span.
        # 4. What falls outside the span goes to its end if mass is pooled there; else the proposal does not stand.
        mass, up = self._outside(uniform_numbers(words, self._kind, self._bits), centres, spans)
        is_up = up.astype(np.intp)
        sign = (1 - 2 * is_up).astype(centres.dtype)
        target, certain = self._target(mass, up, is_up, centres, spans)
        lows, highs = (ends.take(target) for ends in self._ends[centres.dtype])
        centre = centres * sign
        position = self._mass_seen(apart(centre, lows, self._kind), self.missing.take(target))
        position += mass
        whole, settled = whole_steps(position, self.per_rate, self.doubt, EXACT[centres.dtype])
        reached = move(centre, -whole)
        drawn = np.clip(reached, lows, highs)
        # Where nothing is pooled, a draw that is certain and within a span is in the right one.
        settled &= certain if certain is not None else drawn == reached
        drawn *= sign
        return drawn, settled

    def _outside(self, uniform: Floats, centres: NDArray[Any], spans: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return the mass from the end of the line to what is drawn, and 1 where it is drawn upwards, else 0."""
        lows, highs = self._own_ends[centres.dtype]
        left = self._mass_seen(apart(centres, lows.take(spans), self._kind), self.left.take(spans))
        right = self._mass_seen(apart(highs.take(spans), centres, self._kind), self.right.take(spans))
        present = self.total - left
        present -= right
        mass = np.multiply(present, uniform, out=uniform)
        left += mass
        up = (left > self.total - left).view(np.uint8).astype(self._kind)
        present -= mass
        present *= up
        mass *= 1 - up  # a product, not a choice: branches take longer where they are hard to foresee
        mass += present
        return mass, up

    def _mass_seen(self, distance: NDArray[Any], mass: Floats) -> Floats:
        """Return masses as seen from so far above them."""
        exponent = np.multiply(distance, self.rate, dtype=self._kind)
        np.maximum(exponent, LEAST_EXPONENT, out=exponent)
        np.exp(exponent, out=exponent)
        exponent *= mass
        return exponent

    def _target(
        self, mass: Floats, up: Floats, is_up: NDArray[np.intp], centres: NDArray[Any], spans: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_] | None]:
        """Return the span in which each mass is reached, and whether that is certain, where it must be told."""
        key = np.multiply(centres - self.middle, self.rate, dtype=self._kind)
        key *= 2 * up - 1
        key += np.log(mass)
        place = np.fmax(key, self._least)
        np.minimum(place, self._most, out=place)
        place += up * self._mirrored
        own = spans + is_up * (2 * self._n - 1 - 2 * spans)
        target = np.minimum(self._guide.count(place), own)
        if not self.is_pooled:
            return target, None
        apart_by = np.minimum(key - self.below.take(target), self.above.take(target) - key)
        apart_by *= mass - self.apart
        return target, apart_by > self.apart
