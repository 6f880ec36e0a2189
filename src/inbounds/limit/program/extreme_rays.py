"""The extreme rays of the cone of private columns, which every private table is made of, and the cheapest of them.

A table of probabilities is private when each of its columns is: no entry is above `ratio` times an entry of an adjacent
row.  Such columns are the sums of rays, whose entries are `ratio**-n` with whole `n`, here called levels; the levels of
adjacent rows differ by one at most.  For a line of rows the cheapest ray is a shortest path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, expm1, log
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

LEAST_SHARE = log(2.0**64)
"""Levels end where an entry is 2**-64 of the greatest in its column: a table in such units can hold no less."""

CELLS = 2**22
"""How many entries of a table of shortest paths are held at once."""


@dataclass(frozen=True, eq=False)
class Line:
    """Rows in a line, where row `j` is adjacent to the rows from `first[j]` to `j - 1`, and to at least one of them.

    `first` never falls, so the rows from `first[j]` to `j` are all adjacent to each other.
    """

    first: Ints
    epsilon: float

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def deepest(self) -> int:
        """The greatest level that is needed."""
        return min(int(self.levels_around(0)[-1]), ceil(LEAST_SHARE / self.epsilon))

    @cached_property
    def values(self) -> Floats:
        """The entry at each level."""
        return np.exp(-self.epsilon * np.arange(self.deepest + 1))

    @cached_property
    def drops(self) -> Floats:
        """By how much the entry falls from each level to the next."""
        return self.values[:-1] * -expm1(-self.epsilon)

    def levels_around(self, row: int) -> Ints:
        """Return how many steps between adjacent rows lead from `row` to each row."""
        steps = np.zeros(len(self), np.intp)
        for other in range(row + 1, len(self)):
            steps[other] = 1 + steps[max(self.first[other], row)]
        while row > 0:
            steps[self.first[row] : row] = 1 + steps[row]
            row = int(self.first[row])
        return steps

    def cheapest(self, weights: Floats) -> tuple[Floats, Ints]:
        """Return, for each line of `weights`, the least `weights @ ray` over rays with entries up to 1, and the levels.

        Where no ray costs less than nothing the cost is 0, and the levels say nothing.
        """
        # All outputs at once, as many as fit in memory: a shortest path for each line of weights.
        lines = max(1, CELLS // (len(self) * len(self.values)))
        parts = [_Paths(self, weights[at : at + lines]) for at in range(0, len(weights), lines)]
        return np.concatenate([part.costs for part in parts]), np.concatenate([part.levels() for part in parts])


class _Paths:
    """The shortest paths through the levels, all lines of weights side by side.

    A path is a sequence of runs, each at one level.  A run that begins at row `a` one level deeper than the run before
    may go deeper again at row `j` only if rows `a - 1` and `j` are not adjacent, `a <= first[j]`; it may go back at any
    row.  The same holds the other way round.  So a path is its runs, and what matters of the past is where the run
    began and from which side.

    `down[j]` and `up[j]` hold for each line and level the least cost of a path up to row `j` whose last run, at that
    level, came from the level above or below, less what that run would have cost from row 0 on.  The first run
    counts as both.
    """

    def __init__(self, line: Line, weights: Floats) -> None:
        self.line = line
        self.sums = np.cumsum(np.concatenate([np.zeros((len(weights), 1)), weights], axis=1), axis=1)
        shape = (len(line), len(weights), len(line.values))
        self.down, self.up = np.zeros(shape), np.zeros(shape)
        for row in range(1, len(line)):
            self._extend(row)
        ends = self.sums[:, -1:] * line.values + np.minimum(self.down[-1], self.up[-1])
        self.last = ends.argmin(axis=1)
        self.costs = np.minimum(ends.min(axis=1), 0.0)

    def _extend(self, row: int) -> None:
        # A new run begins at this row, one level deeper or one level back.  After a run from the other side that is
        # allowed at once; after one from the same side, only if the row is not adjacent to the last row before that
        # run.
        far, near = self.line.first[row], row - 1
        change = self.sums[:, row, None] * self.line.drops
        deeper = np.minimum(self.up[near], self.down[far])[:, :-1] + change
        back = np.minimum(self.down[near], self.up[far])[:, 1:] - change
        self.down[row], self.up[row] = self.down[near], self.up[near]
        np.minimum(self.down[row, :, 1:], deeper, out=self.down[row, :, 1:])
        np.minimum(self.up[row, :, :-1], back, out=self.up[row, :, :-1])

    def levels(self) -> Ints:
        levels = np.zeros((len(self.costs), len(self.line)), np.intp)
        for index in np.flatnonzero(self.costs < 0):
            self._trace(int(index), levels[index])
        return levels

    def _trace(self, index: int, levels: Ints) -> None:
        """Write the levels of one path, from its last run to its first."""
        level, end = int(self.last[index]), len(levels)
        down_until = up_until = end - 1
        while end > 0:
            down, up = self.down[: down_until + 1, index, level], self.up[: up_until + 1, index, level]
            came_down = down[-1] <= up[-1]
            lows = down if came_down else up
            start = int(np.argmax(lows == lows[-1]))  # running minima: the first that is as low as the last
            levels[start:end] = level
            far, near = int(self.line.first[start]), start - 1
            level += -1 if came_down else 1
            down_until, up_until = (far, near) if came_down else (near, far)
            end = start
