"""An error that no private mechanism is below, proved from half-widths of cells: for any epsilon, without a program.

Let `worth` be a number for each answer.  If for every release `x` and every column `c` that keeps epsilon

    sum of (worth(v) - density(v) |v - x|) c(v) over all answers v  <=  0

then every mechanism has an error of at least the sum of `worth`: add this up over the releases and their columns.  What
is in the brackets is the *gain* of `v`; it is above zero near `x` only.  So of a column it matters how far to both
sides it is greatest, and beyond it may fall by `exp(-epsilon)` for each sensitivity and no faster: two numbers
(docs/mathematics.md, "Bounds from widths").
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds.limit.widths.half_widths import half_widths, levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.limit.widths.blocks import Blocks

    Floats = NDArray[np.float64]

PARTS = 16
"""How far a column is greatest is looked at in so many parts; if it is so few steps, at each."""

ROUNDS = 4
"""So often half-widths are improved by what is found,"""

SHRINKINGS = 8
"""and then they are made smaller at most so often, until the inequality holds."""

ROUNDING = 2.0**-50
"""Relative room for the rounding errors of one entry of a sum."""


@dataclass(frozen=True, eq=False)
class Proved:
    """An error in steps that no private mechanism is below, 0 if none was found, and the best half-widths of cells."""

    bound: float
    half: Floats


def proved_by_widths(blocks: Blocks, distance: float, epsilon: float) -> Proved:
    """Return what half-widths prove of all mechanisms."""
    half = half_widths(blocks, distance, epsilon)
    best = half
    for _ in range(ROUNDS):
        excess = Columns(blocks, half, distance, epsilon).excess()
        half = half / np.maximum(1 + excess, 0.5) ** 0.7
    for _ in range(SHRINKINGS):
        columns = Columns(blocks, half, distance, epsilon)
        excess = columns.excess()
        if (excess <= 0).all():
            return Proved(columns.total * (1 - 2.0**-40), best)
        half = half / (1 + float(excess.max())) * (1 - 2.0**-14)
    return Proved(0.0, best)


@dataclass(frozen=True, eq=False)
class OneSide:
    """The greatest gain on one side of any release in each block, for columns that are greatest at the release."""

    gain: Floats
    beyond: Floats
    """The same, for columns that are greatest on the other side only."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The inequality for all columns and all releases, block by block."""

    blocks: Blocks
    half: Floats
    distance: float
    epsilon: float

    @property
    def worth(self) -> Floats:
        """What a unit of probability is worth at an answer of each block."""
        return self.half * self.blocks.density

    @property
    def total(self) -> float:
        """The sum over all answers."""
        return float(self.worth @ self.blocks.counts)

    def excess(self) -> Floats:
        """Return by which share half-widths are too large for the inequality, nearly; not above 0 where it holds."""
        above = self._one_side()
        mirrored = Columns(self.blocks.mirrored, self.half[::-1], self.distance, self.epsilon)._one_side()
        gain, beyond = mirrored.gain[::-1], mirrored.beyond[::-1]
        most = np.maximum(self.worth + above.gain + gain, np.maximum(above.beyond + gain, above.gain + beyond))
        return (most + self._rounding) / (self.worth * (2 * np.floor(self.half) + 1))

    @property
    def _rounding(self) -> float:
        """More than rounding errors can take from a gain: sums over all blocks are subtracted from each other."""
        fall = math.exp(-self.epsilon)
        return ROUNDING * (len(self.blocks) + 100) * (4 * self.total + 8 * self.blocks.length * fall / (1 - fall))

    def _one_side(self) -> OneSide:
        # For each block: a bound that holds for every release from `low` to `high`, its first and last place.
        blocks, half, density, worth = self.blocks, self.half, self.blocks.density, self.worth
        low, high = blocks.starts, blocks.ends - 1
        widest = math.floor(float(half.max()))  # farther from a release no gain is above zero,
        near = low - widest, high + widest
        reach = np.floor(blocks.greatest(half, *near))  # nor farther than this
        most, least = blocks.greatest(density, *near), blocks.least(density, *near)
        filled, fall = blocks.filled_sums(worth), math.exp(-self.epsilon)
        bent = most * self._bends(*near)

        def own(end: Floats, after: Floats) -> Floats:
            """Return the gains up to an end, if the column is greatest up to there or farther, up to the one after."""
            here = filled.below(low + end + 1) - filled.below(low + 1)
            top = blocks.greatest(worth, low, high + end)
            here = np.minimum(here + (high - low) * np.maximum(top - worth, 0.0), end * top)
            more = (after - end) * (2 * reach + 1 - end - after) / 2
            return here - least * end * (end + 1) / 2 + most * more

        best, gain = np.full(len(blocks), -np.inf), np.full(len(blocks), -np.inf)
        for part in range(PARTS + 1):
            end = np.where(reach <= PARTS, np.minimum(part, reach), np.floor(reach * part / PARTS))
            after = np.where(reach <= PARTS, end, np.floor(reach * min((part + 1) / PARTS, 1.0)))
            best = np.maximum(best, own(end, after))
            less = fall * most * (reach - end) * (reach - end + 1) / 2
            gain = np.maximum(gain, best + less + self._far(end, reach))
        beyond = fall * (worth + most * reach * (reach + 1) / 2) + self._far(-reach, reach)
        return OneSide(gain + bent, beyond)

    def _far(self, end: Floats, reach: Floats) -> Floats:
        """Return the gains, none above zero, of all that is out of reach, where the column is as small as it may be."""
        # Nearer to the lowest release of the block the column is greater, and to the highest one answers are nearer.
        low, high = self.blocks.starts, self.blocks.ends - 1
        weight, worth = self.blocks.sums(self.blocks.density), self.blocks.sums(self.worth)
        total = np.zeros(len(low))
        start = high + reach + 1
        for level in range(1, levels(self.blocks, self.distance, self.epsilon) + 1):
            stop = np.maximum(low + end + level * self.distance + 1, start)
            between = np.array([start, stop])
            masses, moments = weight.both_below(between)
            away = (moments[1] - moments[0]) - high * (masses[1] - masses[0])
            total -= math.exp(-self.epsilon * level) * np.maximum(away - np.diff(worth.below(between), axis=0)[0], 0.0)
            start = stop
        return total

    def _bends(self, low: Floats, high: Floats) -> Floats:
        """Return how much is lost at most, over the density, where half-widths jump from one block to the next.

        Half-widths that change by at most a share of the way let gains change their sign once.  As they are constant in
        each block, gains may be below zero for a while before they are above it again; such gains count as none.
        """
        blocks = self.blocks
        jumps, near = abs(np.diff(self.half)), blocks.starts[1:] - blocks.starts[:-1]
        if (jumps <= np.minimum(near, blocks.counts[1:]) / 2).all():
            most = blocks.greatest_change(jumps, low, high)
            return most * (2 * most + 1)
        total = blocks.whole_change(jumps, low, high)
        return total * (total + 1)
