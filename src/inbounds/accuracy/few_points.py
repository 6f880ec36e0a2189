"""Distributions on a lattice of so few points that the probabilities of all releases can be written in a row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.distribution import Distribution
from inbounds.accuracy.true_answers import NODES, TrueAnswers
from inbounds.bounds.lattice import Lattice

if TYPE_CHECKING:
    from inbounds.accuracy.distribution import Floats, Indices, Spans

ELEMENTS = 2**20
"""Probabilities to hold at a time."""


class FewPoints(Distribution):
    """A distribution given by a table: a row of probabilities for each true answer.

    A mechanism with few points defines `rows`, and everything else follows.
    """

    rises = False
    """Nothing is known of tables in general."""

    def __init__(self, lattice: Lattice) -> None:
        self.lattice = lattice
        self.scale = float(lattice.points)

    @abstractmethod
    def rows(self, centres: Indices) -> Floats:
        """Return the probabilities of all possible answers, in rising order: one row for each index of a list."""

    @cached_property
    def points(self) -> Indices:
        """The indices of all possible answers."""
        return np.array(self.lattice.indices(), dtype=np.int64)

    def probability(self, released: Indices, centres: Indices) -> Floats:
        column = np.minimum(np.searchsorted(self.points, released), len(self.points) - 1)
        probabilities = self._look_up(lambda rows: rows, column, centres)
        return np.where(self.points[column] == released, probabilities, 0.0)

    def up_to(self, released: Indices, centres: Indices) -> Floats:
        column = np.searchsorted(self.points, released, side="right")
        return self._look_up(lambda rows: np.pad(np.cumsum(rows, axis=1), ((0, 0), (1, 0))), column, centres)

    def at_least(self, released: Indices, centres: Indices) -> Floats:
        column = np.searchsorted(self.points, released)
        return self._look_up(
            lambda rows: np.pad(np.cumsum(rows[:, ::-1], axis=1)[:, ::-1], ((0, 0), (0, 1))), column, centres
        )

    def _look_up(self, table: Callable[[Floats], Floats], column: Spans, centres: Indices) -> Floats:
        """Return the entries of columns in the rows of true answers, after something was done to the rows."""
        column, centres = np.broadcast_arrays(column, centres)
        places, inverse = np.unique(centres, return_inverse=True)
        entries = np.empty(centres.shape)
        inverse = inverse.reshape(centres.shape)
        size = max(1, ELEMENTS // len(self.points))
        for start in range(0, len(places), size):
            rows = table(self.rows(places[start : start + size]))
            chosen = (inverse >= start) & (inverse < start + size)
            entries[chosen] = rows[inverse[chosen] - start, column[chosen]]
        return entries

    def error(self, centres: Indices, excess: Floats) -> Floats:
        """Return the expected distance, as a sum over all possible answers."""
        off = (self.points - centres[:, None]).astype(float)
        return np.asarray((self.rows(centres) * abs(off - excess[:, None])).sum(1))

    def bias_and_variance(self, centres: Indices) -> tuple[Floats, Floats]:
        """Return bias and variance, as sums over all possible answers."""
        rows, off = self.rows(centres), (self.points - centres[:, None]).astype(float)
        bias = (rows * off).sum(1)
        return bias, (rows * (off - bias[:, None]) ** 2).sum(1)

    @cached_property
    def errors_of_all(self) -> Floats:
        """The expected distance in steps for every possible answer."""
        return self._of_all(lambda rows, centres: (rows * abs(self.points - centres[:, None])).sum(1))

    @cached_property
    def ends_of_all(self) -> Floats:
        """The probability that a release is an end of a span, for every possible answer."""
        ends = np.isin(self.points, self.lattice.finite_ends)
        return self._of_all(lambda rows, _: rows[:, ends].sum(1))

    def _of_all(self, summed: Callable[[Floats, Indices], Floats]) -> Floats:
        size = max(1, ELEMENTS // len(self.points))
        parts = [self.points[start : start + size] for start in range(0, len(self.points), size)]
        return np.concatenate([summed(self.rows(part), part) for part in parts])

    def errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the expected distances for possible answers so far from the ends of their spans."""
        return self.errors_of_all[self._places(spans, below)]

    def at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the probabilities that releases are ends of spans."""
        return self.ends_of_all[self._places(spans, below)]

    def _places(self, spans: Spans, below: Floats) -> Spans:
        points = self.lattice.lengths + 1
        return (np.cumsum(points) - points)[spans] + np.rint(below).astype(np.intp)

    def true_answers(self, first: int, last: int) -> TrueAnswers:
        """Return true answers, every one of which is looked at."""
        return TrueAnswers(self.lattice, NODES, float(self.points[-1] - self.points[0] + 1), first, last)
