"""Outcomes by how far away they are: a weight for each cell and each distance, in whole units of 2**-64.

The outcome is a cell.  Its weight depends on the row by their distance only, and falls by a factor of at most
`exp(epsilon)` with every step (`CutCells`).  Weights are rounded so that each row adds up to a little less than one;
what is missing, nearly the same in every row, goes to one cell near the middle.  Both parts keep epsilon, so their sum
does.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, lower, workprec
from inbounds.limit.cells.cut_cells import CutCells
from inbounds.limit.cells.kernel import Kernel, Remembered
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.intp]
    Words = NDArray[np.uint64]

BITS = 64
TOTAL = 2**BITS

SLACK = Fraction(1, 2**44)
"""By so much less than epsilon allows, relatively, a weight falls from one distance to the next."""

ROUNDING = 2.0**-48
"""Weights are rounded up by this share, and by a unit: more than doubles can lose of them."""

ROUNDS = 300
"""So often the weights that make rows add up to one are improved,"""

ENOUGH = 1e-14
"""until rows are off by no more than this;"""

MOST_OFF = 1e-10
"""if they are off by more in the end, there are no such weights."""

LEAST_MISSING = 2.0**-40
"""At least so much of each row is left for the cell near the middle,"""

MOST_MISSING = 1e-6
"""and at most so much."""


class DistanceKernel(Kernel):
    """The outcome is a cell: the fewer steps away, the more probable."""

    kind = "noise by distance on"
    rises = True

    def __init__(self, cells: CutCells, distance: int, levels: Words) -> None:
        self.levels, self.weights = levels, tuple(map(tuple, levels.tolist()))
        self.rows = self.outcomes = cells.rows
        self.rings = Rings(cells, distance, len(levels) - 1)
        fits = levels.shape == (len(self.rings), self.rows) and bool((levels[:-1] >= levels[1:]).all())
        if not fits or int(levels[-1].min()) < 1:
            raise InvalidParameter("weights of an optimum must fall with the distance; build the mechanism again")
        self._running = np.pad(np.cumsum(levels, axis=1, dtype=np.uint64), ((0, 0), (1, 0)))
        self._shares = levels / float(TOTAL)
        self._running_shares = _running_sums(self._shares)
        self.missing = self._missing()
        self._missing_shares = np.array([missing / TOTAL for missing in self.missing])
        self._aside = self.rows // 2
        self._moments: Remembered[Floats] = Remembered(lambda values: self._shares * values)
        self._running_moments: Remembered[Floats] = Remembered(lambda values: _running_sums(self._shares * values))
        self._halvings = int((self.rings.highs - self.rings.lows).max()).bit_length()

    @classmethod
    def of(cls, cells: CutCells, distance: int, epsilon: Fraction) -> DistanceKernel | None:
        """Return the kernel for these cells whose rows add up to one; None if some weight would have to be negative."""
        rings = Rings(cells, distance, farthest(epsilon))
        weights, off = rings.weights(math.exp(-float(epsilon)))
        if off > MOST_OFF or weights.min() <= 0:
            return None
        allowed = allowed_ratio(epsilon)
        missing = max(LEAST_MISSING, 4 * off)
        while missing <= MOST_MISSING:
            levels = _levels(weights * (1 - missing), 1 / float(allowed), len(rings))
            kernel = cls(cells, distance, levels)
            if max(kernel.missing) <= allowed * min(kernel.missing):
                return kernel
            missing *= 4
        return None

    def keeps(self, allowed: Fraction) -> bool:
        """Return whether no outcome is more than so many times as probable in a row as in an adjacent one, exactly."""
        over, under = allowed.as_integer_ratio()
        near, far = self.levels[:-1].ravel().tolist(), self.levels[1:].ravel().tolist()
        rest = max(self.missing) * under <= min(self.missing) * over
        return rest and all(more * under <= less * over for more, less in zip(near, far, strict=True))

    def _missing(self) -> list[int]:
        """Return how many units each row lacks of one."""
        # Sums of 64 bits wrap around; sums in doubles say how often.
        wrapped, rows = np.zeros(self.rows, np.uint64), np.arange(self.rows)
        for level, first, last in self.rings.parts(rows):
            wrapped += self._running[level][last] - self._running[level][first]
        rough = self._sum_below(self._shares, self._running_shares, rows, np.full(self.rows, self.rows))
        if (abs(rough - wrapped / float(TOTAL)) > 0.25).any():
            raise InvalidParameter("weights of an optimum must add up to less than 2**64; build the mechanism again")
        return [TOTAL - total for total in wrapped.tolist()]

    def units(self, row: int) -> list[int]:
        steps = self.rings.distance(np.array(row), np.arange(self.rows))
        units: list[int] = self.levels[steps, np.arange(self.rows)].tolist()
        units[self._aside] += self.missing[row]
        return units

    def draw(self, row: int, entropy: Entropy) -> int:
        return int(self.draw_many(np.array([row]), entropy)[0])

    def draw_in_doubles(self, row: float, entropy: Entropy) -> float:
        return float(self.draw_many(np.array([row]).astype(np.intp), entropy)[0])

    def draw_many(self, rows: Rows, entropy: Entropy) -> NDArray[np.intp]:
        # A word is a place in the row, whose parts lie one after the other: first which part, then where in it.  Every
        # row takes as many steps as any other, whatever is drawn.
        place = np.frombuffer(entropy(8 * len(rows)), dtype=np.uint64)
        found = np.zeros(len(rows), bool)
        chosen = np.zeros(len(rows), np.intp)
        low = np.full(len(rows), self._aside, np.intp)
        high = low
        for level, first, last in self.rings.parts(rows):
            mass = self._running[level][last] - self._running[level][first]
            here = ~found & (place < mass)
            found |= here
            chosen = np.where(here, level, chosen)
            low, high = np.where(here, first, low), np.where(here, last - 1, high)
            place = np.where(found, place, place - mass)
        base = self._running[chosen, low]
        for _ in range(self._halvings):
            middle = (low + high + 1) // 2
            beyond = self._running[chosen, middle] - base <= place
            low, high = np.where(beyond, middle, low), np.where(beyond, high, middle - 1)
            high = np.maximum(low, high)
        return low

    def below(self, rows: Rows, cuts: Rows) -> Floats:
        aside = self._missing_shares[rows] * (cuts > self._aside)
        return self._sum_below(self._shares, self._running_shares, rows, cuts) + aside

    def from_on(self, rows: Rows, cuts: Rows) -> Floats:
        rows, cuts = np.broadcast_arrays(rows, cuts)
        total = self._missing_shares[rows] * (cuts <= self._aside) + self._shares[0][rows] * (cuts <= rows)
        for level, first, last in self.rings.parts(rows):
            if level:
                running, from_ = self._running_shares[level], np.maximum(first, cuts)
                total += running[np.maximum(last, from_)] - running[from_]
        return total

    def probability(self, rows: Rows, outcomes: Rows) -> Floats:
        aside = self._missing_shares[rows] * (outcomes == self._aside)
        return self._shares[self.rings.distance(rows, outcomes), outcomes] + aside

    def sums_below(self, values: Floats, rows: Rows, cuts: Rows) -> Floats:
        aside = self._missing_shares[rows] * (cuts > self._aside) * values[self._aside]
        return self._sum_below(self._moments.of(values), self._running_moments.of(values), rows, cuts) + aside

    def _sum_below(self, own: Floats, running: Floats, rows: Rows, cuts: Rows) -> Floats:
        # The row's own cell counts most, so it is not the difference of two sums over many.
        rows, cuts = np.broadcast_arrays(rows, cuts)
        total = own[0][rows] * (cuts > rows)
        for level, first, last in self.rings.parts(rows):
            if level:
                total += running[level][np.clip(cuts, first, last)] - running[level][first]
        return total


class Rings:
    """Which cells are 0, 1, 2, … steps away from each."""

    def __init__(self, cells: CutCells, distance: int, most: int) -> None:
        self.lows, self.highs = cells.rings(distance, most)
        self.lows[-1], self.highs[-1] = 0, cells.rows - 1  # whatever is farther than was counted is in the last ring

    def __len__(self) -> int:
        return len(self.lows)

    def parts(self, rows: Rows) -> Iterator[tuple[int, Rows, Rows]]:
        """Yield distances with the cells so far away on one side of some rows: the first, and the one after the last.

        Every cell is in one part, and there are as many parts for every row.
        """
        yield 0, self.lows[0][rows], self.highs[0][rows] + 1
        for level in range(1, len(self)):
            yield level, self.lows[level][rows], self.lows[level - 1][rows]
            yield level, self.highs[level - 1][rows] + 1, self.highs[level][rows] + 1

    def distance(self, rows: Rows, cells: Rows) -> Rows:
        """Return how many steps away cells are from rows."""
        rows, cells = np.broadcast_arrays(rows, cells)
        steps = np.zeros(rows.shape, np.intp)
        for low, high in zip(self.lows[:-1], self.highs[:-1], strict=True):
            steps += (cells < low[rows]) | (cells > high[rows])
        return steps

    def add_up(self, values: Floats, fall: float) -> Floats:
        """Return for each cell the sum of the values of all cells, each times `fall` for every step that it is away."""
        # What is nearest counts most, so it is not the difference of two sums over many.
        running, total = np.append(0.0, np.cumsum(values)), values.astype(float)
        for level, first, last in self.parts(np.arange(len(values))):
            if level:
                total += fall**level * (running[last] - running[first])
        return total

    def weights(self, fall: float) -> tuple[Floats, float]:
        """Return the weights of cells that make rows add up to one, and by how much the sums are off in the end."""
        weights = np.ones(self.lows.shape[1])
        off = math.inf
        for _ in range(ROUNDS):
            missing = 1 - self.add_up(weights, fall)
            last, off = off, float(abs(missing).max())
            if off <= ENOUGH or off >= last:
                break
            weights = weights + missing
        return weights, off


def allowed_ratio(epsilon: Fraction) -> Fraction:
    """Return how many times as probable an outcome may be in an adjacent row: a little less than `exp(epsilon)`."""
    with lock(), workprec(128):
        return lower(ball(epsilon * (1 - SLACK)).exp())


def farthest(epsilon: Fraction) -> int:
    """Return after how many steps a weight is below a unit."""
    return math.ceil(BITS * math.log(2) / float(epsilon)) + 1


def _levels(weights: Floats, fall: float, count: int) -> Words:
    """Return weights in whole units for each distance, none less than its share of the one before."""
    levels = [np.maximum(np.ldexp(weights, BITS), 1.0).astype(np.uint64)]
    while len(levels) < count:
        least = np.ceil(levels[-1] * (fall * (1 + ROUNDING))).astype(np.uint64) + np.uint64(1)
        levels.append(np.minimum(least, levels[-1]))
    return np.array(levels)


def _running_sums(rows: Floats) -> Floats:
    return np.pad(np.cumsum(rows, axis=1), ((0, 0), (1, 0)))
