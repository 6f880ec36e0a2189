"""Cells cut wherever that is best, and how far apart they are: in neighbours, not in steps.

Two cells are adjacent if answers in them can be those of neighbours.  The distance of two cells is how many steps from
one cell to an adjacent one lead from the first to the second.  Let an outcome be at most `exp(epsilon)` times as
probable with every such step farther from a cell or nearer to it: then neighbours' answers lose at most epsilon,
wherever the cuts are, for the distances of adjacent cells from a third differ by one at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
    Rows = NDArray[np.intp]


@dataclass(frozen=True)
class CutCells:
    """Cells side by side, cell `j` holding the indices from `edges[j]` to `edges[j + 1] - 1`."""

    edges: tuple[int, ...]

    interpolated: ClassVar[bool] = False

    @property
    def start(self) -> int:
        """The index where the first cell begins."""
        return self.edges[0]

    @property
    def rows(self) -> int:
        """How many cells there are."""
        return len(self.edges) - 1

    @property
    def starts(self) -> list[int]:
        """The first index of each cell, and the one after the last."""
        return list(self.edges)

    @property
    def typical_width(self) -> float:
        """How many steps a cell is wide, on average."""
        return (self.edges[-1] - self.edges[0]) / self.rows

    @property
    def are_points(self) -> bool:
        """Whether each cell is one point."""
        return self.edges[-1] - self.edges[0] == self.rows

    @cached_property
    def _edges(self) -> Indices:
        return np.array(self.edges, dtype=np.int64)

    def mixture(self, places: NDArray[Any]) -> tuple[Rows, Floats]:
        """Return the row of each place, counted from the start; no place goes to two rows."""
        rows = np.searchsorted(self._edges - self.start, places, side="right") - 1
        return np.clip(rows, 0, self.rows - 1).astype(np.intp), np.zeros(np.shape(places))

    def draw(self, index: int, entropy: Entropy) -> int:
        """Return the row that an index goes to, which is between the first and the last."""
        return int(np.searchsorted(self._edges, index, side="right")) - 1

    def draw_in_doubles(self, place: float, entropy: Entropy) -> float:
        """Return the same for an index that is a double, as a double."""
        return float(np.searchsorted(self._edges_in_doubles, place, side="right") - 1)

    @cached_property
    def _edges_in_doubles(self) -> Floats:
        return self._edges.astype(float)

    @property
    def in_doubles(self) -> bool:
        """Whether doubles hold all edges."""
        return max(abs(self.edges[0]), abs(self.edges[-1])) < 2**50

    def row_and_share(self, index: int) -> tuple[int, Fraction]:
        """Return the row that an index goes to, and how probable the next row is instead: never."""
        return int(np.searchsorted(self._edges, index, side="right")) - 1, Fraction(0)

    def adjacent(self, distance: int) -> NDArray[np.bool_]:
        """Return which cells hold answers of neighbours, which are so far apart at most."""
        lows, highs = self.rings(distance, 1)
        rows = np.arange(self.rows)
        near = (rows >= lows[-1][:, None]) & (rows <= highs[-1][:, None])
        return near & (rows != rows[:, None])

    def keep_close(self, distance: int) -> bool:
        """Return whether these are cells: each holds an index."""
        return bool((np.diff(self._edges) > 0).all())

    def draw_many(self, indices: Indices, entropy: Entropy) -> Rows:
        """Return the rows that indices go to."""
        return (np.searchsorted(self._edges, indices, side="right") - 1).astype(np.intp)

    def rings(self, distance: int, most: int) -> tuple[Rows, Rows]:
        """Return the first and the last cell within 0, 1, 2, … steps from each, where neighbours are so far apart.

        There are at most `most` steps, and no more than lead from any cell to all others.
        """
        edges = self._edges
        low = np.searchsorted(edges[1:], edges[:-1] - distance, side="right")
        high = np.searchsorted(edges[:-1], edges[1:] - 1 + distance, side="right") - 1
        lows, highs = [np.arange(self.rows)], [np.arange(self.rows)]
        while len(lows) <= most and (lows[-1].any() or (highs[-1] < self.rows - 1).any()):
            lows.append(low[lows[-1]])
            highs.append(high[highs[-1]])
        return np.array(lows), np.array(highs)
