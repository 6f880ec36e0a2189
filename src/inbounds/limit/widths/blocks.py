"""Possible answers in short blocks, in each of which all count alike, and sums over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.accuracy.prior import Prior

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Blocks of answers that have weight, in rising order; places are counted from the first index, as doubles."""

    starts: Floats
    ends: Floats
    """The first place of each block, and the one after its last."""
    density: Floats
    """The weight of each answer in a block."""
    length: float
    """How many places there are, impossible ones too."""

    @classmethod
    def of(cls, prior: Prior, most: int) -> Blocks:
        """Cut the answers that have weight into about so many blocks of about one length."""
        lows = (prior.lows - prior.lattice.first).astype(float)
        counts = (prior.highs - prior.lows).astype(float) + 1
        pieces = np.minimum(np.ceil(most * counts / counts.sum()), counts)
        stretch = np.repeat(np.arange(len(lows)), pieces.astype(np.intp))
        number = np.arange(len(stretch)) - np.repeat(np.cumsum(pieces) - pieces, pieces.astype(np.intp))
        width = counts / pieces
        starts = lows[stretch] + np.floor(number * width[stretch])
        ends = lows[stretch] + np.floor((number + 1) * width[stretch])
        ends[number == pieces[stretch] - 1] = (lows + counts)[stretch[number == pieces[stretch] - 1]]
        starts[1:] = np.where(stretch[1:] == stretch[:-1], ends[:-1], starts[1:])
        return cls(starts, ends, (prior.weights / counts)[stretch], float(prior.lattice.width + 1))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def counts(self) -> Floats:
        """How many answers are in each."""
        return self.ends - self.starts

    @cached_property
    def mirrored(self) -> Blocks:
        """The blocks counted from the other end."""
        return Blocks(self.length - self.ends[::-1], self.length - self.starts[::-1], self.density[::-1], self.length)

    @cached_property
    def cuts(self) -> Floats:
        """Where blocks and the gaps between them begin, and where the last one ends."""
        return np.union1d(self.starts, self.ends)

    def sums(self, values: Floats) -> RunningSums:
        """Return running sums of a quantity that is the same for every answer of a block, and 0 elsewhere."""
        spread = np.zeros(len(self.cuts) - 1)
        spread[np.searchsorted(self.cuts, self.starts)] = values
        return RunningSums(self.cuts, spread)

    @cached_property
    def _before(self) -> Places:
        """For each block and gap the block that it is, or that comes before it."""
        return np.searchsorted(self.starts, self.cuts[:-1], side="right") - 1

    def filled_sums(self, values: Floats) -> RunningSums:
        """Return the same where gaps, and all beyond the last block, go on as the block before them."""
        return RunningSums(np.append(self.cuts[:-1], np.inf), values[self._before])

    def greatest(self, values: Floats, low: Floats, high: Floats) -> Floats:
        """Return the greatest value of the blocks that hold a place from `low` to `high`, for each of these pairs.

        Where there is none, it is the value of the block before.
        """
        return _between(np.maximum, values, *self._held(low, high))

    def least(self, values: Floats, low: Floats, high: Floats) -> Floats:
        """Return the least value likewise."""
        return _between(np.minimum, values, *self._held(low, high))

    def greatest_change(self, changes: Floats, low: Floats, high: Floats) -> Floats:
        """Return the greatest change from one block to the next of those that hold a place from `low` to `high`."""
        first, last = self._held(low, high)
        return np.where(last > first + 1, _between(np.maximum, np.append(changes, 0.0), first, last - 1), 0.0)

    def whole_change(self, changes: Floats, low: Floats, high: Floats) -> Floats:
        """Return the sum of these changes likewise."""
        first, last = self._held(low, high)
        running = np.append(0.0, np.cumsum(changes))
        return running[np.maximum(last - 1, first)] - running[first]

    def _held(self, low: Floats, high: Floats) -> tuple[Places, Places]:
        last = np.searchsorted(self.starts, high, side="right")
        return np.minimum(np.searchsorted(self.ends, low, side="right"), np.maximum(last - 1, 0)), last


@dataclass(frozen=True, eq=False)
class RunningSums:
    """Sums over all places below one, of a quantity that is constant between cuts, and of it times the place."""

    cuts: Floats
    values: Floats

    @cached_property
    def _before(self) -> tuple[Floats, Floats]:
        inner = self.cuts[:-1]
        counts = np.diff(inner)
        sums = self.values[:-1] * counts
        moments = sums * (inner[:-1] + inner[1:] - 1) / 2
        return np.append(0.0, np.cumsum(sums)), np.append(0.0, np.cumsum(moments))

    def _at(self, places: Floats) -> tuple[Places, Floats, Floats]:
        at = np.clip(places, self.cuts[0], self.cuts[-1])
        piece = np.minimum(np.searchsorted(self.cuts, at, side="right") - 1, len(self.values) - 1)
        return piece, at, self.values[piece] * (at - self.cuts[piece])

    def below(self, places: Floats) -> Floats:
        """Return the sum over all places below these."""
        piece, _, more = self._at(places)
        return self._before[0][piece] + more

    def both_below(self, places: Floats) -> tuple[Floats, Floats]:
        """Return the same, and the sum of the quantity times the place."""
        piece, at, more = self._at(places)
        return self._before[0][piece] + more, self._before[1][piece] + more * (self.cuts[piece] + at - 1) / 2


def _between(ufunc: np.ufunc, values: Floats, first: Places, last: Places) -> Floats:
    """Return the greatest or the least of the values from `first` to the one before `last`."""
    places = np.column_stack([first, np.maximum(last, first + 1)]).ravel()
    return np.asarray(ufunc.reduceat(np.append(values, values[-1:]), places)[::2])
