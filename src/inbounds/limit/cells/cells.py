"""Cells of the lattice: which row of a table a true answer goes to.

A table for cells of `width` steps whose rows keep epsilon up to `reach` rows apart is private for answers up to
`reach * width` steps apart: `|v - v'| <= reach * width` puts `v` and `v'` into cells at most `reach` apart.

* `rounded_cells`: an answer goes to the row of the cell that it is in.
* `interpolated_cells`: rows stand for points `width` apart.  An answer goes to the row of the point below or above it,
  with probabilities in proportion to how near they are.  That is rounding down after one uniform number, drawn whatever
  the data are, was added; for each value of it the rows are at most `reach` apart, and a mixture keeps epsilon.

Points may also be farther apart than the sensitivity (docs/mathematics.md, "Coarse points"): then a neighbour moves
only a share of the way from one point to the next, and the rows may differ by more than epsilon.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.sampling.alias import BITS
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

ROUNDER = 1.5 * 2.0**52
"""Added to a double and taken away again, it leaves the nearest whole number."""

MOST_BEYOND = 1000
"""Points may go beyond a range by one part in so many of their distance."""


@dataclass(frozen=True)
class Cells:
    """Cells of equal width side by side, the first beginning at or below the first index of the lattice."""

    start: int
    """The index where the first cell begins, or the first point is."""
    width: int
    """So many steps from one to the next."""
    rows: int
    """How many rows there are."""
    reach: int
    """Answers of neighbours go to rows at most so many apart; where points are coarse, 1."""
    interpolated: bool

    def mixture(self, places: NDArray[Any]) -> tuple[NDArray[np.intp], Floats]:
        """Return the row at or below each place, counted from the start, and how probable the next row is instead."""
        row, past = np.divmod(places, self.width)
        rows = np.clip(row, 0, self.rows - 1).astype(np.intp)
        return rows, np.where(row >= self.rows - 1, 0.0, past / self.width)

    def draw(self, index: int, entropy: Entropy) -> int:
        """Return the row that an index goes to, which is between the first and the last."""
        return (index + self._shift(entropy) - self.start) // self.width

    def _shift(self, entropy: Entropy) -> int:
        return int.from_bytes(entropy(BITS // 8)) * self.width >> BITS if self.interpolated else 0

    def draw_in_doubles(self, place: float, entropy: Entropy) -> float:
        """Return the same for an index that is a double, as a double: the same work whatever it is.

        Integers take longer the larger they are, and those near zero are not made anew at all.
        """
        at = place - self._start + self._shift(entropy)
        row = at * self._per_row + ROUNDER - ROUNDER  # a whole number: the row, or the next one
        return row - (at < row * self._width)

    @cached_property
    def in_doubles(self) -> bool:
        """Whether doubles hold all indices, and a guess of a row is at most one off."""
        return (self.rows + 2) * self.width + abs(self.start) < 2**50

    @cached_property
    def _start(self) -> float:
        return float(self.start)

    @cached_property
    def _width(self) -> float:
        return float(self.width)

    @cached_property
    def _per_row(self) -> float:
        return 1 / self.width

    def share(self, past: int) -> Fraction:
        """Return how probable the next row is so many steps past a point: as many words of 64 bits, exactly."""
        first = -(-((self.width - past) << BITS) // self.width)  # the least word that shifts far enough
        return 1 - Fraction(first, 2**BITS)

    def row_and_share(self, index: int) -> tuple[int, Fraction]:
        """Return the row at or below an index, and how probable the next row is instead."""
        row, past = divmod(index - self.start, self.width)
        return row, self.share(past) if self.interpolated and past else Fraction(0)

    def adjacent(self, distance: int) -> NDArray[np.bool_]:
        """Return which rows must be close: those at most `reach` apart."""
        apart = abs(np.subtract.outer(np.arange(self.rows), np.arange(self.rows)))
        return (apart <= self.reach) & (apart > 0)

    def keep_close(self, distance: int) -> bool:
        """Return whether these are cells, and answers so far apart go to rows in reach of each other."""
        return self.width >= 1 and self.reach >= 1 and self.reach * self.width >= distance

    def draw_many(self, indices: Indices, entropy: Entropy) -> NDArray[np.intp]:
        """Return the rows that indices go to."""
        if not self.interpolated:
            return ((indices - self.start) // self.width).astype(np.intp)
        words = np.frombuffer(entropy(8 * len(indices)), dtype=np.uint64)
        # The high half of a product of 64 by 64 bits, in halves of words.
        low, high = words & np.uint64(2**32 - 1), words >> np.uint64(32)
        width_low, width_high = np.uint64(self.width & (2**32 - 1)), np.uint64(self.width >> 32)
        middle = high * width_low + (low * width_low >> np.uint64(32))
        other = low * width_high + (middle & np.uint64(2**32 - 1))
        shift = high * width_high + (middle >> np.uint64(32)) + (other >> np.uint64(32))
        return ((indices - self.start + shift.astype(np.int64)) // self.width).astype(np.intp)

    @property
    def typical_width(self) -> float:
        """How many steps it is from one to the next."""
        return float(self.width)

    @property
    def are_points(self) -> bool:
        """Whether each row is one point."""
        return self.interpolated or self.width == 1

    @property
    def starts(self) -> list[int]:
        """The first index of each cell, or each point."""
        return [self.start + row * self.width for row in range(self.rows + (not self.interpolated))]


def rounded_cells(first: int, width: int, distance: int, reach: int) -> Cells:
    """Return cells for indices from `first` on, `width` in all, that are as narrow as `reach` allows.

    Those at the two ends are narrower by the same amount, so that the cells are their own mirror image.
    """
    each = -(-distance // reach)
    count = -(-(width + 1) // each)
    beyond = count * each - (width + 1)
    return Cells(first - beyond // 2, each, count, reach, interpolated=False)


def interpolated_cells(first: int, width: int, distance: int, reach: int) -> Cells:
    """Return points from end to end of a range, at least as far apart as `reach` needs.

    Where the range is a few steps less than a number of them, they go beyond its ends; else they are farther apart.
    """
    least = -(-distance // reach)
    beyond = -width % least
    if beyond * MOST_BEYOND < least:
        return Cells(first - beyond // 2, least, -(-width // least) + 1, reach, interpolated=True)
    count = max(width // least, 1)
    return Cells(first, max(-(-width // count), least), count + 1, reach, interpolated=True)
