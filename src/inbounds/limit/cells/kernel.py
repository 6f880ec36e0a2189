"""From the row of a true answer to what is released: a table of probabilities, or geometric noise on the rows."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

import numpy as np

from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter
from inbounds.limit.cells.exact_table import BITS, ExactTable
from inbounds.mechanisms.additive.snap import Snap
from inbounds.sampling.alias import AliasTable
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.mechanisms.additive.noise import Adder
    from inbounds.published.ghosh2009 import GeometricNoise

    Floats = NDArray[np.float64]
    Rows = NDArray[np.intp]

Result = TypeVar("Result")


class Kernel(ABC):
    """The law of the outcome, a number from 0 on, for each row."""

    rows: int
    outcomes: int
    rises: bool
    """Whether greater rows have greater outcomes: no outcome is less probable to be reached or passed."""
    kind: ClassVar[str]
    """What it is called, before the number of its rows."""
    weights: tuple[tuple[int, ...], ...] = ()
    """What it is made of besides its rows and epsilon, in whole units."""

    def units(self, row: int) -> list[int]:
        """Return the probabilities of all outcomes of a row in units of 2**-64, if they are whole."""
        raise NotImplementedError

    @abstractmethod
    def draw(self, row: int, entropy: Entropy) -> int:
        """Return one outcome of a row, exactly by its law."""

    @abstractmethod
    def draw_in_doubles(self, row: float, entropy: Entropy) -> float:
        """Return the same for a row that is a double: the same work whatever it is."""

    @abstractmethod
    def draw_many(self, rows: Rows, entropy: Entropy) -> NDArray[np.intp]:
        """Return one outcome of each row."""

    @abstractmethod
    def below(self, rows: Rows, cuts: Rows) -> Floats:
        """Return the probability of an outcome below a cut, to full relative accuracy where it is small."""

    @abstractmethod
    def from_on(self, rows: Rows, cuts: Rows) -> Floats:
        """Return the probability of an outcome from a cut on, to full relative accuracy where it is small."""

    @abstractmethod
    def probability(self, rows: Rows, outcomes: Rows) -> Floats:
        """Return the probability of an outcome."""

    @abstractmethod
    def sums_below(self, values: Floats, rows: Rows, cuts: Rows) -> Floats:
        """Return the sum of probability times value over the outcomes below a cut; values do not depend on the row."""


class TableKernel(Kernel):
    """A table of probabilities, in units of 2**-64."""

    kind = "a table for"

    def __init__(self, table: ExactTable) -> None:
        self.table, self.weights = table, table.weights
        self.rows, self.outcomes = len(table.weights), len(table.weights[0])
        self.probabilities = np.array([[weight / 2**BITS for weight in row] for row in table.weights])
        self._below = _running_sums(self.probabilities)
        self._from_on = _running_sums(self.probabilities[:, ::-1])[:, ::-1]
        self.rises = bool((np.diff(self._below, axis=0) <= 0).all())
        self._sums: Remembered[Floats] = Remembered(lambda values: _running_sums(self.probabilities * values))

    def units(self, row: int) -> list[int]:
        return list(self.weights[row])

    @cached_property
    def _aliases(self) -> AliasTable:
        return AliasTable(self.table.weights)

    def draw(self, row: int, entropy: Entropy) -> int:
        return int(self._aliases.draw(row, entropy))

    def draw_in_doubles(self, row: float, entropy: Entropy) -> float:
        return self._aliases.draw(row, entropy)

    def draw_many(self, rows: Rows, entropy: Entropy) -> NDArray[np.intp]:
        words = np.frombuffer(entropy(8 * len(rows)), dtype=np.uint64)
        return self._aliases.draw_many(rows, words).astype(np.intp)

    def below(self, rows: Rows, cuts: Rows) -> Floats:
        return self._below[rows, cuts]

    def from_on(self, rows: Rows, cuts: Rows) -> Floats:
        return self._from_on[rows, cuts]

    def probability(self, rows: Rows, outcomes: Rows) -> Floats:
        return self.probabilities[rows, outcomes]

    def sums_below(self, values: Floats, rows: Rows, cuts: Rows) -> Floats:
        return self._sums.of(values)[rows, cuts]


def _running_sums(rows: Floats) -> Floats:
    """Return the sums of the first entries of each row: of none, of one, and so on."""
    return np.pad(np.cumsum(rows, axis=1), ((0, 0), (1, 0)))


class ChainKernel(Kernel):
    """Two-sided geometric noise added to the number of the row, and clamped to the rows: for steps of one row."""

    kind = "geometric noise on"
    rises = True

    def __init__(self, rows: int, noise: GeometricNoise) -> None:
        if noise.distance != 1:
            raise InvalidParameter(f"noise on rows must be for neighbours one row apart, got {noise.distance}; use 1")
        self.rows = self.outcomes = rows
        self.noise = noise
        self._rate = float(noise.rate)
        self.fall = math.exp(-self._rate)
        self._sums: Remembered[tuple[Floats, Floats, Floats]] = Remembered(self._decaying_sums)

    def draw(self, row: int, entropy: Entropy) -> int:
        return min(max(row + self.noise.draw(entropy), 0), self.rows - 1)

    def draw_in_doubles(self, row: float, entropy: Entropy) -> float:
        return self._snap(row, self.noise.draw_double(entropy))

    @cached_property
    def _snap(self) -> Snap:
        return Snap(Lattice.of(Bounds(0, self.rows - 1, step=1), Fraction(1)))

    def draw_many(self, rows: Rows, entropy: Entropy) -> NDArray[np.intp]:
        adder = self._adder
        if adder is None:
            return np.array([self.draw(row, entropy) for row in rows.tolist()], dtype=np.intp)
        words = np.frombuffer(entropy(8 * len(rows)), dtype=np.uint64)
        return np.clip(adder.draw(words, rows.astype(np.int64), entropy), 0, self.rows - 1).astype(np.intp)

    @cached_property
    def _adder(self) -> Adder | None:
        return self.noise.adder()

    def power(self, exponent: NDArray[np.intp]) -> Floats:
        """Return by what probabilities fall over so many rows."""
        return np.exp(-self._rate * exponent)

    def below(self, rows: Rows, cuts: Rows) -> Floats:
        tail = self.power(np.where(cuts > rows, cuts - rows, rows - cuts + 1)) / (1 + self.fall)
        inside = np.where(cuts > rows, 1 - tail, tail)
        return np.where(cuts <= 0, 0.0, np.where(cuts >= self.rows, 1.0, inside))

    def from_on(self, rows: Rows, cuts: Rows) -> Floats:
        """Return the probability of an outcome from a cut on: the mirror image."""
        return self.below(self.rows - 1 - rows, self.rows - cuts)

    def probability(self, rows: Rows, outcomes: Rows) -> Floats:
        return self.power(abs(outcomes - rows)) * self._weights[outcomes]

    @cached_property
    def _weights(self) -> Floats:
        weights = np.full(self.rows, math.tanh(self._rate / 2))
        weights[[0, -1]] = 1 / (1 + self.fall) if self.rows > 1 else 1.0
        return weights

    def sums_below(self, values: Floats, rows: Rows, cuts: Rows) -> Floats:
        # The law falls on both sides of the row, so a sum over the outcomes below a cut is a decaying sum seen from the
        # row: from one side if the cut is below the row, and as all less the other side if it is above.
        left, right, total = self._sums.of(values)
        return np.where(
            cuts <= rows,
            self.power(np.maximum(rows - cuts + 1, 0)) * left[cuts],
            total[rows] - self.power(np.maximum(cuts - rows, 0)) * right[cuts],
        )

    def _decaying_sums(self, values: Floats) -> tuple[Floats, Floats, Floats]:
        weighed = self._weights * values
        left, right = decaying_sums(weighed, self.fall), decaying_sums(weighed[::-1], self.fall)[::-1]
        return np.append(0.0, left), np.append(right, 0.0), left + right - weighed


class Remembered(Generic[Result]):
    """What was computed of the last few arrays, which nobody changes: a look at all their entries would take long."""

    def __init__(self, compute: Callable[[Floats], Result]) -> None:
        self._compute = compute
        self._recent: deque[tuple[Floats, Result]] = deque(maxlen=4)

    def of(self, values: Floats) -> Result:
        """Return what is computed of an array, computed once while the same is asked for."""
        for known, result in list(self._recent):
            if known is values:
                return result
        result = self._compute(values)
        self._recent.append((values, result))
        return result


def decaying_sums(values: Floats, fall: float) -> Floats:
    """Return, for each place, the sum of the values up to it, each times `fall` for every place that it is before."""
    # Doubling: after k rounds each place holds the sum over the last 2^k places, so log2(n) rounds do instead of n
    # steps.
    sums, shift, factor = values.astype(float), 1, fall
    while shift < len(sums) and factor > 0:
        sums = sums + np.concatenate([np.zeros(shift), factor * sums[:-shift]])
        shift, factor = 2 * shift, factor * factor
    return sums
