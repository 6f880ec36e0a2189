"""A quantity that depends on the true answer, such as the expected error, over all true answers: mean and greatest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from inbounds.bounds.index_span import EVERY_INDEX
from inbounds.bounds.lattice import Lattice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

    Curve = Callable[[NDArray[np.intp], Floats, Floats], Floats]
    """The quantity for true answers in these spans, at these distances from the lower and the upper end of them."""

FLAT = 40
"""So many scales from every end, the error no longer depends on the true answer (to 1e-17)."""

NODES = 12
"""Nodes for the mean over one run, across which the error is a smooth function of the true answer."""

CONTINUOUS = 2**17
"""From so many points on, the nodes for sums over points are those for integrals, to 1e-11."""

ANY = 0.0
"""Stands for any number of points from there on."""

THIRDS = 110
"""Enough steps, each to two thirds, to get from 2**62 answers to one."""

PIECE = 2048
"""Runs to look at together."""


@dataclass(frozen=True, eq=False)
class TrueAnswers:
    """Which true answers to look at, and how closely."""

    lattice: Lattice
    run: float
    """So many steps at a time, the quantity is a smooth function of the true answer."""
    flat: float
    """So many steps from every end of a span, it no longer depends on the true answer."""
    first: int = EVERY_INDEX.low
    """The least index to look at."""
    last: int = EVERY_INDEX.high
    nodes: int = NODES
    """At how many answers of a run to look for a mean."""

    @property
    def count(self) -> float:
        """How many possible answers there are to look at."""
        return float(self._counts().sum())

    @property
    def varying(self) -> float:
        """For how many answers the quantity can differ from that for the next one, at most."""
        return float(np.minimum(self._counts(), 2 * np.floor(self.flat)).sum())

    def _counts(self) -> Floats:
        lows, highs = self._clip()
        return np.maximum(highs - lows.astype(float) + 1, 0)

    def _clip(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.maximum(self.lattice.lows, self.first), np.minimum(self.lattice.highs, self.last)

    def runs(self) -> Runs:
        """Cut the answers into runs across which the quantity is smooth, or far from every end."""
        # Each span is cut in three: near its lower end, near its upper end, and between them, where the quantity is
        # constant and one answer stands for all.  The two near ends are cut into runs of about `length`.
        lattice, flat, length = self.lattice, np.floor(self.flat), np.floor(max(1.0, self.run))
        lows, highs = self._clip()
        counts = self._counts()
        spans = np.arange(len(lattice))
        to_low, to_high = lattice.below(lows, spans).astype(float), lattice.above(highs, spans).astype(float)
        near_low = np.where(lattice.has_lows, np.clip(flat - to_low, 0, counts), 0.0)
        near_high = np.where(lattice.has_highs, np.clip(flat - to_high, 0, counts - near_low), 0.0)
        middle = counts - near_low - near_high
        # Where each segment starts, counted from below, and where it ends, counted from above: both small near an end,
        # so that neither is rounded.
        segments = [
            (spans, np.zeros(len(spans)), middle + near_high, near_low, np.ceil(near_low / length)),
            (spans, near_low, near_high, middle, np.minimum(middle, 1)),
            (spans, near_low + middle, np.zeros(len(spans)), near_high, np.ceil(near_high / length)),
        ]
        span, start, stop, count, pieces = (np.concatenate(column) for column in zip(*segments, strict=True))
        repeat = pieces.astype(np.intp)
        number = np.arange(repeat.sum()) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        columns = (span, start, stop, count, pieces)
        span, start, stop, count, pieces = (np.repeat(column, repeat) for column in columns)
        base, rest = count // pieces, count % pieces
        passed = number * base + np.minimum(number, rest)
        first, after = start + passed, stop + count - 1 - passed
        return Runs(span, to_low[span] + first, to_high[span] + after, base + (number < rest), first, after)


@dataclass(frozen=True, eq=False)
class CutAnswers(TrueAnswers):
    """True answers across which the quantity is a polynomial of low degree, but at known places."""

    cuts: Indices = field(default_factory=lambda: np.zeros(0, np.int64), kw_only=True)
    """The indices at which a new run begins."""

    def runs(self) -> Runs:
        """Cut the answers at these places."""
        lows, highs = self._clip()
        held = np.flatnonzero(lows <= highs)
        starts = np.union1d(lows[held], self.cuts[(self.cuts >= lows[held[0]]) & (self.cuts <= highs[held[-1]])])
        span = held[np.searchsorted(lows[held], starts, side="right") - 1]
        starts, span = starts[starts <= highs[span]], span[starts <= highs[span]]
        ends = np.minimum(np.append(starts[1:], highs[held[-1]] + 1) - 1, highs[span])
        before, after = (starts - lows[span]).astype(float), (highs[span] - starts).astype(float)
        return replace(_between(self.lattice, span, starts, ends), before=before, after=after)


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of consecutive possible answers."""

    span: NDArray[np.intp]
    below: Floats
    """The distance of the first answer of each run from the lower end of its span, as the lattice counts it."""
    above: Floats
    count: Floats
    before: Floats
    """How many answers to look at come before the first one, in its span."""
    after: Floats

    def values(self, curve: Curve, which: NDArray[np.intp], at: Floats) -> Floats:
        """Return the quantity for true answers at these places of some runs."""
        below, above = self.below[which, None] + at, self.above[which, None] - at
        return curve(np.broadcast_to(self.span[which, None], at.shape), below, above)

    def intersect(self, lattice: Lattice, stretches: AnswerStretches) -> tuple[Runs, Floats]:
        """Return the parts of runs that are in stretches, and the weight of an answer; runs hold all stretches."""
        lows = self._indices(lattice)
        order = np.argsort(lows)
        starts = np.union1d(np.union1d(lows, stretches.lows), stretches.highs + 1)
        run = order[np.maximum(np.searchsorted(lows[order], starts, side="right") - 1, 0)]
        which = np.maximum(np.searchsorted(stretches.lows, starts, side="right") - 1, 0)
        ends = np.minimum(np.append(starts[1:], starts[-1] + 1) - 1, stretches.highs[which])
        held = (starts >= stretches.lows[which]) & (starts <= ends)
        return _between(lattice, self.span[run[held]], starts[held], ends[held]), stretches.densities[which[held]]

    def _indices(self, lattice: Lattice) -> Indices:
        """Return the first index of each run, from the nearer end of its span: that distance is not rounded."""
        near = np.minimum(self.below, self.above).astype(np.int64)
        return np.where(self.below <= self.above, lattice.lows[self.span] + near, lattice.highs[self.span] - near)


@dataclass(frozen=True, eq=False)
class AnswerStretches:
    """Stretches of consecutive possible answers, in rising order, within each of which all answers count alike."""

    lows: Indices
    highs: Indices
    weights: Floats

    @property
    def counts(self) -> Floats:
        """How many answers are in each."""
        return (self.highs - self.lows).astype(float) + 1

    @property
    def densities(self) -> Floats:
        """The weight of each answer of a stretch."""
        return self.weights / self.counts


def _between(lattice: Lattice, span: NDArray[np.intp], starts: Indices, ends: Indices) -> Runs:
    """Return runs from some indices to others, which are in one span each."""
    below, above = lattice.below(starts, span).astype(float), lattice.above(starts, span).astype(float)
    counts = (ends - starts).astype(float) + 1
    return Runs(span, below, above, counts, np.zeros(len(span)), counts - 1)


def mean(answers: TrueAnswers, curve: Curve) -> float:
    """Return the mean of the quantity over true answers, each counted alike.

    Sums over many answers are Gauss sums: some weighted values, exact for polynomials of twice that degree.
    """
    return _sum(answers.runs(), curve, answers.nodes) / answers.count


def weighted_mean(answers: TrueAnswers, stretches: AnswerStretches, curve: Curve) -> float:
    """Return the mean over stretches of true answers, each of which counts with its weight."""
    runs, weights = answers.runs().intersect(answers.lattice, stretches)
    return _sum(runs, curve, answers.nodes, weights)


def _sum(runs: Runs, curve: Curve, most: int, weights: Floats | None = None) -> float:
    """Return the sum of the quantity over runs, times the weight of each."""
    weights = np.ones(len(runs.span)) if weights is None else weights
    # Runs of one length share their nodes, so runs are sorted by length and each length is summed at once.
    counts = np.where(runs.count > CONTINUOUS, ANY, runs.count)
    order = np.argsort(counts)
    total = 0.0
    for same in np.split(order, np.flatnonzero(np.diff(counts[order])) + 1):
        count = counts[same[0]]
        nodes, node_weights = _gauss(count, most)
        for some in _pieces(same):
            run = runs.count[some, None]
            stretch = run / 2 if count == ANY else 1.0
            integrals = runs.values(curve, some, (run - 1) / 2 + stretch * nodes) @ node_weights
            total += float(weights[some] @ (integrals * run[:, 0] if count == ANY else integrals))
    return total


def greatest(answers: TrueAnswers, curve: Curve) -> float:
    """Return the greatest value of the quantity: nine answers in each run, all of a shorter one, the best refined."""
    # A peak between two answers that were looked at is no higher above the best of a run than that is above its
    # neighbours, since the quantity bends down there.  So runs that cannot come up to the best of all are left alone.
    runs = answers.runs()
    places, values, reach = [], [], []
    for some in _pieces(np.arange(len(runs.span))):
        counts = runs.count[some, None]
        at = np.rint((counts - 1) * np.linspace(0, 1, int(min(counts.max(), 9))))
        seen = runs.values(curve, some, at)
        rows, best = np.arange(len(some)), np.argmax(seen, axis=1)
        highest = seen[rows, best]
        neighbours = (seen[rows, np.maximum(best - 1, 0)], seen[rows, np.minimum(best + 1, seen.shape[1] - 1)])
        places.append(at[rows, best])
        values.append(highest)
        reach.append(2 * highest - np.minimum(*neighbours))
    at, reached = np.concatenate(places), np.concatenate(reach)
    best_of_all = float(np.concatenate(values).max())
    candidates = np.flatnonzero(reached >= best_of_all)
    return max(best_of_all, *(_refine(runs, curve, some, at[some]) for some in _pieces(candidates)))


def _refine(runs: Runs, curve: Curve, which: NDArray[np.intp], at: Floats) -> float:
    """Return the greatest value between the neighbours of the best places of some runs, where each has one peak."""
    # Ternary search between the two neighbours that were looked at: each round leaves two thirds.
    width = np.ceil(runs.count[which] / 8)
    low, high = np.maximum(at - width, -runs.before[which]), np.minimum(at + width, runs.after[which])
    for _ in range(THIRDS):
        third = (high - low) // 3
        if third.max() < 1:
            break
        left, right = runs.values(curve, which, np.stack([low + third, high - third], axis=1)).T
        rises = left < right
        low, high = np.where(rises, low + third, low), np.where(rises, high, high - third)
    around = np.minimum(low[:, None] + np.arange(4.0), high[:, None])
    return float(runs.values(curve, which, around).max())


def _pieces(runs: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return runs in pieces whose temporary arrays stay in the processor's cache."""
    return np.array_split(runs, -(-len(runs) // PIECE))


def _gauss(count: float, most: int) -> tuple[Floats, Floats]:
    """Return at most so many nodes about the middle, and weights, for sums over `count` points or a mean over [-1, 1].

    The nodes are the eigenvalues of the Jacobi matrix of the polynomials orthogonal on the points (Golub & Welsch;
    on points at unit distance they are the discrete Chebyshev polynomials).
    """
    k = np.arange(1, most)
    if count == ANY:
        off_diagonal, total = k / np.sqrt(4 * k**2 - 1), 1.0
    elif count <= most:
        return np.arange(count) - (count - 1) / 2, np.ones(int(count))
    else:
        off_diagonal, total = k / 2 * np.sqrt((count**2 - k**2) / (4 * k**2 - 1)), count
    nodes, vectors = np.linalg.eigh(np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1))
    return nodes, total * vectors[0] ** 2
