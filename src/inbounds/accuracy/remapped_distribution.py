"""The law of releases that were replaced by others: probabilities of groups, each from the law before at its edges."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.distribution import Distribution, apart
from inbounds.accuracy.remap import Remap, difference, group_probabilities
from inbounds.accuracy.true_answers import NODES, CutAnswers, TrueAnswers

if TYPE_CHECKING:
    from inbounds.accuracy.distribution import Floats, Indices, Spans

ELEMENTS = 2**18
"""Probabilities to hold at a time."""

MOST_LISTED = 2**14
"""Up to so many possible answers, means are over each of them."""

FEW_NODES, MORE_NODES = 2, 6
"""Nodes for a run between two kinks: few where runs are short."""

SHORT = 1 / 16
"""A run is short if it is at most so many scales long."""

STRETCHES = 1024
"""Runs are no longer than the scale, or than one part in so many of the range."""

FINE = 2**24
"""If the scale is so many steps, true answers are rounded to steps: that moves no probability by more than 3e-8."""


class RemappedDistribution(Distribution):
    """Releases are targets; which one, the law before the remap decides."""

    def __init__(self, base: Distribution, remap: Remap) -> None:
        self.base, self.remap = base, remap
        self.lattice, self.scale, self.rises = base.lattice, base.scale, base.rises
        self._values = (remap.targets - base.lattice.first).astype(float)
        self._ends = np.isin(remap.targets, base.lattice.finite_ends)

    def probability(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of a release: that of its group."""
        released, centres = np.broadcast_arrays(released, centres)
        group = np.searchsorted(self.remap.targets, released)
        is_target = self.remap.targets[np.minimum(group, len(self.remap.targets) - 1)] == released
        probabilities = difference(*self._around(group, centres), *self._beyond(group, centres))
        return np.where(is_target, probabilities, 0.0)

    def _around(self, group: Spans, centres: Indices) -> tuple[Floats, Floats]:
        """Return the probabilities of less than a group, and of it and less."""
        return self._below(group, centres), self._below(group + 1, centres)

    def _beyond(self, group: Spans, centres: Indices) -> tuple[Floats, Floats]:
        """Return the probabilities of a group and more, and of more."""
        return self._from_on(group, centres), self._from_on(group + 1, centres)

    def up_to(self, released: Indices, centres: Indices) -> Floats:
        return self._below(np.searchsorted(self.remap.targets, released, side="right"), centres)

    def at_least(self, released: Indices, centres: Indices) -> Floats:
        return self._from_on(np.searchsorted(self.remap.targets, released), centres)

    def tail_bound(self, released: Indices, centres: Indices) -> Floats:
        """Return what `at_least` is at most, for this true answer and every lesser one."""
        group = np.searchsorted(self.remap.targets, released)
        return self._by_group(group, 1.0, lambda edges: self.base.tail_bound(edges, centres), 0.0)

    def head_bound(self, released: Indices, centres: Indices) -> Floats:
        """Return what `up_to` is at most, for this true answer and every greater one."""
        group = np.searchsorted(self.remap.targets, released, side="right")
        return self._by_group(group, 0.0, lambda edges: self.base.head_bound(edges - 1, centres), 1.0)

    def _below(self, group: Spans, centres: Indices) -> Floats:
        return self._by_group(group, 0.0, lambda edges: self.base.up_to(edges - 1, centres), 1.0)

    def _from_on(self, group: Spans, centres: Indices) -> Floats:
        return self._by_group(group, 1.0, lambda edges: self.base.at_least(edges, centres), 0.0)

    def _by_group(self, group: Spans, first: float, inner: Callable[[Indices], Floats], beyond: float) -> Floats:
        """Return one number for the first group, another beyond the last, and between them what is at the edges."""
        edges = self.remap.edges
        if not len(edges):
            return np.where(group <= 0, first, beyond) + 0 * inner(np.zeros_like(group))
        at_edges = inner(edges[np.clip(group - 1, 0, len(edges) - 1)])
        return np.where(group <= 0, first, np.where(group > len(edges), beyond, at_edges))

    def truths(self, indices: Indices) -> Indices:
        """Return the indices that true answers count as: those of the law before."""
        return self.base.truths(indices)

    def possible(self, places: Indices) -> Indices:
        targets = self.remap.targets
        return targets[np.searchsorted(targets[:-1] + np.diff(targets) // 2, places)]

    @property
    def releases(self) -> tuple[int, int]:
        return int(self.remap.targets[0]), int(self.remap.targets[-1])

    # Sums over groups.

    def error(self, centres: Indices, excess: Floats) -> Floats:
        """Return the expected distance from true answers so many steps above these indices."""
        aims = apart(centres, np.array([self.lattice.first])) + excess
        return self._in_pieces(lambda part: self._distance(centres[part], aims[part]), len(centres))

    def _distance(self, centres: Indices, aims: Floats) -> Floats:
        """Return the expected distances of releases from some places: the area between two distribution functions."""
        low, high, edges = self._values[:-1], self._values[1:], self.remap.edges
        outside = np.maximum(self._values[0] - aims, 0.0) + np.maximum(aims - self._values[-1], 0.0)
        at = np.clip(aims[:, None], low, high)
        up_to = self.base.up_to(edges - 1, centres[:, None])
        return outside + ((at - low) * up_to + (high - at) * (1 - up_to)).sum(axis=1)

    def bias_and_variance(self, centres: Indices) -> tuple[Floats, Floats]:
        def moments(part: slice) -> Floats:
            off = self._values - apart(centres[part], np.array([self.lattice.first]))[:, None]
            rows = group_probabilities(self.base, self.remap.edges, centres[part])
            bias = (rows * off).sum(1)
            return np.stack([bias, (rows * (off - bias[:, None]) ** 2).sum(1)], axis=1)

        both = self._in_pieces(moments, len(centres))
        return both[:, 0], both[:, 1]

    def errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the expected distances for possible answers so far from the ends of their spans.

        The law is known for whole numbers; between two of them it is taken to change evenly.
        """
        places = below.ravel() + (self.lattice.lows[spans.ravel()] - self.lattice.first)
        return self._between(places, self._distance).reshape(below.shape)

    def at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the probabilities that releases are ends of spans, likewise."""

        def mass_at_ends(centres: Indices, _: Floats) -> Floats:
            return group_probabilities(self.base, self.remap.edges, centres)[:, self._ends].sum(axis=1)

        places = below.ravel() + (self.lattice.lows[spans.ravel()] - self.lattice.first)
        return self._between(places, mass_at_ends).reshape(below.shape)

    def _between(self, places: Floats, quantity: Callable[[Indices, Floats], Floats]) -> Floats:
        """Return a quantity of a true answer and a place, at places between whole numbers."""

        def evaluate(part: slice) -> Floats:
            if self.scale >= FINE:
                return quantity(np.rint(places[part]).astype(np.int64) + self.lattice.first, places[part])
            whole = np.floor(places[part])
            share, centres = places[part] - whole, whole.astype(np.int64) + self.lattice.first
            here = quantity(centres, places[part])
            if share.any():
                here += share * (quantity(np.minimum(centres + 1, self.lattice.last), places[part]) - here)
            return here

        return self._in_pieces(evaluate, len(places))

    def _in_pieces(self, compute: Callable[[slice], Floats], count: int) -> Floats:
        """Compute something for `count` true answers, a slice of them at a time to bound the memory."""
        size = max(1, ELEMENTS // len(self._values))
        return np.concatenate([compute(slice(start, start + size)) for start in range(0, max(count, 1), size)])

    def true_answers(self, first: int, last: int) -> TrueAnswers:
        """Return true answers, every one of which is looked at; or if they are many, cut where the error has a kink."""
        lattice = self.lattice
        if lattice.points <= MOST_LISTED:
            return TrueAnswers(lattice, NODES, float(lattice.width + 1), first, last)
        longest = int(np.diff(self._cuts, append=lattice.last).max())
        nodes = FEW_NODES if longest <= self.scale * SHORT else MORE_NODES
        return CutAnswers(lattice, 1.0, float(lattice.width + 1), first, last, nodes, cuts=self._cuts)

    @cached_property
    def _cuts(self) -> Indices:
        """Between two of these the error is smooth: kinks are at targets, bends where groups begin."""
        first, width = self.lattice.first, self.lattice.width
        stretches = min(STRETCHES, int(width / max(self.scale, 1.0)) + 1)
        even = [first + part * width // stretches for part in range(stretches)]
        return np.unique(np.concatenate([self.remap.targets, self.remap.edges, np.array(even, dtype=np.int64)]))
