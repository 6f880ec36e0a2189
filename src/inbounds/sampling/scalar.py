"""One exact draw: proposed in doubles, and decided in balls where doubles cannot tell.

The proposals are those of arrays, for one number and with the same error bounds (docs/sampling.md).  Whether one stands
is decided by the random bits.  Both sides of every choice take the same steps, so that the time does not tell where the
answer is, or on which side of it the draw falls.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import cached_property
from math import copysign, exp, log
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.privacy.law import Law
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.proposals import LEAST_EXPONENT, Imprecise, OneSpanProposals
from inbounds.sampling.reference import WORD, ReferenceSampler
from inbounds.sampling.union_proposals import UnionProposals

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHIFT = WORD - 53
"""The bits of a word that a double does not hold."""

CELL = 2.0**-53

LEAST = 2.0**-46
"""What is nearer than this to an end of the line is left to balls."""

MOST = 2.0**51
"""Distances from here on are left to balls."""

ROUNDER = 1.5 * 2.0**52
"""Added and subtracted, this rounds numbers of up to 2**51 to integers."""

WIDEST = 2**52
"""If an end is as far as this from zero, doubles do not hold all distances, and draws are made in balls."""

VAST = 2**1000

Proposal = tuple[float, float, float]
"""How far the draw is above the centre, and the ends of the span that it falls in."""

Propose = Callable[[float, float, int], Proposal | None]
"""Returns what the exact law draws at a uniform number for a centre and its span, None if that is not certain."""


class Sampler:
    """Draws from a law, one index at a time."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self.reference = ReferenceSampler(law)

    def draw(self, centre: int, span: int, entropy: Entropy) -> int:
        """Return a feasible index `k` with probability exactly `q^|k-centre| * w_k / Z(centre)`.

        `centre` is a feasible index and `span` the number of its span.  The draw inverts the distribution function at
        a uniform real number of which only the first bits are known.  If doubles do not settle the answer, balls do;
        if the bits do not, more bits of the *same* number are drawn.
        """
        word = int.from_bytes(entropy(WORD // 8), "big")
        at = float(centre) if self._is_bounded else float(max(-VAST, min(centre, VAST)))
        proposal = self._propose(((word >> SHIFT) + 0.5) * CELL, at, span)
        if proposal is not None:
            distance, low, high = proposal
            drawn = centre + int(distance)
            if self._clips:
                nearest = drawn if drawn > low else low
                return int(nearest if nearest < high else high)
            if low <= drawn <= high:
                return drawn
        return self.reference.extend(centre, span, word, WORD, entropy)

    def draw_near(self, place: float, entropy: Entropy) -> float:
        """`draw` for the feasible index nearest to a whole number, in doubles throughout: for answers that are doubles.

        Where the sum of centre and distance is no double, it is rounded to the nearest.
        """
        span = bisect_right(self._starts, place)
        low, high = self._limits[span]
        centre = place if place >= low else low  # an end goes the way that the inside goes
        centre = centre if centre <= high else high
        word = int.from_bytes(entropy(WORD // 8), "big")
        proposal = self._propose(((word >> SHIFT) + 0.5) * CELL, centre, span)
        if proposal is not None:
            distance, low, high = proposal
            drawn = centre + distance
            if self._clips:
                drawn = drawn if drawn > low else low
                return drawn if drawn < high else high
            if low <= drawn <= high:
                return drawn
        return float(self.reference.extend(int(centre), span, word, WORD, entropy))

    @cached_property
    def _is_bounded(self) -> bool:
        return self.law.lattice.bounded

    @cached_property
    def _clips(self) -> bool:
        """Whether a draw beyond the ends of a span belongs to the end; if not, it was the wrong span."""
        return len(self.law.lattice) == 1 or self.law.pooling > 0

    @cached_property
    def _starts(self) -> list[float]:
        return [float(start) for start in self.law.lattice.starts]

    @cached_property
    def _limits(self) -> list[tuple[float, float]]:
        return [(float(low), float(high)) for low, high in self.law.lattice.limits]

    @cached_property
    def _propose(self) -> Propose:
        self.reference.prepare()  # with the first draw, whatever it is: the first that needs balls is no different then
        if self.law.lattice.reach >= WIDEST:
            return _never
        try:
            if OneSpanProposals.suits(self.law):
                return _on_one_span(self.law, *self._limits[0])
            if UnionProposals.suits(self.law):
                return _on_union(self.law, self._limits)
        except Imprecise:
            pass
        return _never


def _never(_uniform: float, _centre: float, _span: int) -> None:
    """Propose nothing, so that every draw is made in balls: they stay accurate where doubles do not."""


def _on_one_span(law: Law, low: float, high: float) -> Propose:
    """Return what does for one number what `OneSpanProposals` do for many."""
    table = OneSpanProposals(law, np.float64)
    rate, per_rate, doubt, total = (float(x) for x in (table.rate, table.per_rate, table.doubt, table.total))
    missing_left, missing_right = float(table.left), float(table.right)

    def propose(uniform: float, at: float, _span: int) -> Proposal | None:
        exponent = (at - low) * rate
        left = exp(exponent if exponent > LEAST_EXPONENT else LEAST_EXPONENT) * missing_left
        exponent = (high - at) * rate
        right = exp(exponent if exponent > LEAST_EXPONENT else LEAST_EXPONENT) * missing_right
        position = left + uniform * (total - left - right)
        side = position + position - total
        nearer = 0.5 * (total - abs(side))  # the lesser of position and its mirror image, without a choice
        if nearer < LEAST:
            return None
        distance = log(nearer) * per_rate
        whole = distance + ROUNDER - ROUNDER  # the nearest integer; a floor takes longer for large numbers
        above = distance - whole
        if abs(above) <= doubt / nearer or distance >= MOST:
            return None
        return copysign(whole - (above < 0.0), side), low, high

    return propose


def _on_union(law: Law, limits: list[tuple[float, float]]) -> Propose:
    """Return what does for one number what `UnionProposals` do for many."""
    # What depends on the law alone is in lists of Python floats: for one draw, numbers of numpy are slower.
    table, last = UnionProposals(law, np.float64), len(law.lattice) - 1
    rate, per_rate, doubt, total = (float(x) for x in (table.rate, table.per_rate, table.doubt, table.total))
    middle, apart, is_pooled = float(table.middle), float(table.apart), table.is_pooled
    own = _rows(limits, table.left, table.right)
    # Downwards first, then the mirror image.
    mirrored = [-high for _, high in reversed(limits)]
    nearer_ends = [low for low, _ in limits] + mirrored
    others = _rows(limits + limits[::-1], np.array(nearer_ends), table.missing, table.below, table.above)
    keys, firsts = (table.down.tolist(), table.up.tolist()), (0, last + 1)

    def propose(uniform: float, at: float, span: int) -> Proposal | None:
        # 1. The position of the uniform number in the whole line, seen from the centre; which side of it, by sign
        #    alone.
        # 2. The span it falls in, by bisection of logarithms of masses.
        # 3. The distance, by one logarithm, with what is missing below that span in place of the centre's.
        # 4. None where the distance is within its error of a whole number, or the span is not certain.
        low, high, missing_left, missing_right = own[span]
        exponent = (at - low) * rate
        left = exp(exponent if exponent > LEAST_EXPONENT else LEAST_EXPONENT) * missing_left
        exponent = (high - at) * rate
        right = exp(exponent if exponent > LEAST_EXPONENT else LEAST_EXPONENT) * missing_right
        present = total - left - right
        mass = uniform * present
        position = mass + left
        sign = copysign(1.0, position + position - total)
        up = 0.5 * sign + 0.5
        mass += up * (present - mass - mass)
        if mass < LEAST:
            return None
        key = log(mass) + (at - middle) * sign * rate
        mirror = int(up)
        target, most = bisect_left(keys[mirror], key), (span, last - span)[mirror]
        target = target if target < most else most
        low, high, end, missing, key_below, key_above = others[firsts[mirror] + target]
        exponent = (-sign * at - end) * rate
        position = mass + exp(exponent if exponent > LEAST_EXPONENT else LEAST_EXPONENT) * missing
        distance = log(position) * per_rate
        whole = distance + ROUNDER - ROUNDER
        above = distance - whole
        if abs(above) <= doubt / position or distance >= MOST:
            return None
        if is_pooled:
            margin = key - key_below if key - key_below < key_above - key else key_above - key
            if margin * (mass - apart) <= apart:
                return None
        return (whole - (above < 0.0)) * sign, low, high

    return propose


def _rows(limits: list[tuple[float, float]], *columns: NDArray[np.float64]) -> list[tuple[Any, ...]]:
    """Return for each span its ends and the numbers that belong to it."""
    return [(*ends, *row) for ends, row in zip(limits, np.transpose(columns).tolist(), strict=True)]
