"""One exact draw: proposed in doubles, and decided in balls where doubles cannot tell.

The proposals are those of arrays, for one number and with the same error bounds (docs/sampling.md).  Whether one stands
is decided by the random bits.  Both sides of every choice take the same steps, so that the time does not tell where the
answer is, or on which side of it the draw falls.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property
from math import exp, log
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.bounds.lattice import FAR
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

MOST = 2.0**53
"""Distances from here on are left to balls."""

WIDEST = 2**52
"""If an end is as far as this from zero, doubles do not hold all distances, and draws are made in balls."""

VAST = 2**1000

Propose = Callable[[float, int, int], int | None]
"""Returns the index that the exact law draws at a uniform number for a centre and its span, None if not certain."""


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
        drawn = self._propose(((word >> SHIFT) + 0.5) * CELL, centre, span)
        return self.reference.extend(centre, span, word, WORD, entropy) if drawn is None else drawn

    @cached_property
    def _propose(self) -> Propose:
        ends = (end for end in (*self.law.lattice.low_list, *self.law.lattice.high_list) if abs(end) != FAR)
        if any(abs(end) >= WIDEST for end in ends):
            return _never
        try:
            if OneSpanProposals.suits(self.law):
                return _on_one_span(self.law)
            if UnionProposals.suits(self.law):
                return _on_union(self.law)
        except Imprecise:
            pass
        return _never


def _never(_uniform: float, _centre: int, _span: int) -> None:
    """Propose nothing, so that every draw is made in balls: they stay accurate where doubles do not."""


def _on_one_span(law: Law) -> Propose:
    """Return what does for one number what `OneSpanProposals` do for many."""
    table = OneSpanProposals(law, np.float64)
    rate, per_rate, doubt, total = (float(x) for x in (table.rate, table.per_rate, table.doubt, table.total))
    missing_left, missing_right = float(table.left), float(table.right)
    low, high = law.lattice.limits[0]
    bounded = law.lattice.bounded

    def propose(uniform: float, centre: int, _span: int) -> int | None:
        at = float(centre) if bounded else _near(centre)
        exponent = (at - low) * rate
        left = exp(exponent if exponent > LEAST_EXPONENT else LEAST_EXPONENT) * missing_left
        exponent = (high - at) * rate
        right = exp(exponent if exponent > LEAST_EXPONENT else LEAST_EXPONENT) * missing_right
        position = left + uniform * (total - left - right)
        mirrored = total - position
        is_up = position > mirrored
        nearer = mirrored if is_up else position
        if nearer < LEAST:
            return None
        distance = log(nearer) * per_rate
        whole = distance // 1.0
        if abs(distance - whole - 0.5) + doubt / nearer >= 0.5 or whole >= MOST:
            return None
        drawn = centre + int(whole if is_up else -whole)
        drawn = drawn if drawn > low else low
        return drawn if drawn < high else high

    return propose


def _on_union(law: Law) -> Propose:
    """Return what does for one number what `UnionProposals` do for many."""
    table, lattice = UnionProposals(law, np.float64), law.lattice
    rate, per_rate, doubt, total = (float(x) for x in (table.rate, table.per_rate, table.doubt, table.total))
    bounded, is_pooled, last = lattice.bounded, table.is_pooled, len(lattice) - 1
    middle, apart = float(table.middle), float(table.apart)
    own = _rows(lattice.limits, table.left, table.right)
    # Downwards first, then the mirror image.
    limits = lattice.limits + [(-high, -low) for low, high in reversed(lattice.limits)]
    others = _rows(limits, table.missing, table.below, table.above)
    keys = table.down.tolist(), table.up.tolist()

    def propose(uniform: float, centre: int, span: int) -> int | None:
        at = float(centre) if bounded else _near(centre)
        low, high, missing_left, missing_right = own[span]
        exponent = (at - low) * rate
        left = exp(exponent if exponent > LEAST_EXPONENT else LEAST_EXPONENT) * missing_left
        exponent = (high - at) * rate
        right = exp(exponent if exponent > LEAST_EXPONENT else LEAST_EXPONENT) * missing_right
        present = total - left - right
        mass = uniform * present
        position = mass + left
        is_up = position > total - position
        sign = -1.0 if is_up else 1.0
        mass = present - mass if is_up else mass
        if mass < LEAST:
            return None
        key = log(mass) - (at - middle) * sign * rate
        target, most = bisect_left(keys[is_up], key), last - span if is_up else span
        target = target if target < most else most
        low, high, missing, key_below, key_above = others[target + last + 1 if is_up else target]
        exponent = (sign * at - low) * rate
        position = mass + exp(exponent if exponent > LEAST_EXPONENT else LEAST_EXPONENT) * missing
        distance = log(position) * per_rate
        whole = distance // 1.0
        if abs(distance - whole - 0.5) + doubt / position >= 0.5 or whole >= MOST:
            return None
        drawn = centre + int(whole if is_up else -whole)
        low, high = (-high, -low) if is_up else (low, high)
        if not is_pooled:  # then a draw that is certain and within a span is in the right one
            return drawn if low <= drawn <= high else None
        margin = key - key_below if key - key_below < key_above - key else key_above - key
        if margin * (mass - apart) <= apart:
            return None
        drawn = drawn if drawn > low else low
        return drawn if drawn < high else high

    return propose


def _rows(limits: list[tuple[int, int]], *columns: NDArray[np.float64]) -> list[tuple[Any, ...]]:
    """Return for each span its ends and the numbers that belong to it."""
    return [(*ends, *row) for ends, row in zip(limits, np.transpose(columns).tolist(), strict=True)]


def _near(centre: int) -> float:
    """Return a centre on unbounded bounds as a double; beyond so many steps all are alike."""
    return float(max(-VAST, min(centre, VAST)))
