"""The error of a law over all true answers: its mean and its worst."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy import Accuracy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FLAT = 40
"""So many scales from every end, the error no longer depends on the true answer (to 1e-17)."""

NODES = 12
"""Nodes for the mean over one scale, across which the error is a smooth function of the true answer."""

CONTINUOUS = 2**17
"""From so many points on, the nodes for sums over points are those for integrals, to 1e-11."""

ANY = 0.0
"""Stands for any number of points from there on."""

HALVINGS = 110
"""Enough steps, each to two thirds, to get from 2**62 points to one."""

PIECE = 2048
"""Panels to look at together."""


@dataclass(frozen=True, eq=False)
class Panels:
    """Runs of consecutive points, each at most a scale long or far from every end."""

    span: NDArray[np.intp]
    start: Floats
    """The distance of the first point of each run from the lower end of its span."""
    count: Floats
    length: Floats
    """The distance between the ends of the span."""


def mean_error(accuracy: Accuracy) -> float:
    """Return the expected distance of a release from the true answer, averaged over all points of a bounded lattice.

    Sums over many points are Gauss sums: `NODES` weighted values, exact for polynomials of twice that degree.
    """
    panels = _panels(accuracy)
    counts = np.where(panels.count > CONTINUOUS, ANY, panels.count)
    order = np.argsort(counts)
    total = 0.0
    for same in np.split(order, np.flatnonzero(np.diff(counts[order])) + 1):
        count = counts[same[0]]
        nodes, weights = _gauss(count)
        for some in _pieces(same):
            run = panels.count[some, None]
            stretch = run / 2 if count == ANY else 1.0
            found = _errors(accuracy, panels, some, (run - 1) / 2 + stretch * nodes) @ weights
            total += float((found * run[:, 0] if count == ANY else found).sum())
    return total / accuracy.lattice.points


def worst_error(accuracy: Accuracy) -> float:
    """Return the greatest expected distance over all true answers: nine points in each run, the best then refined."""
    panels = _panels(accuracy)
    best, panel, at = -1.0, 0, 0.0
    for some in _pieces(np.arange(len(panels.span))):
        places = np.rint((panels.count[some, None] - 1) * np.linspace(0, 1, 9))
        found = _errors(accuracy, panels, some, places)
        i, j = np.unravel_index(np.argmax(found), found.shape)
        if found[i, j] > best:
            best, panel, at = float(found[i, j]), int(some[i]), float(places[i, j])
    return max(best, _refined(accuracy, panels, panel, at))


def _refined(accuracy: Accuracy, panels: Panels, panel: int, at: float) -> float:
    """Return the greatest expected distance between the neighbours of the best place found, where it has one peak."""
    width, start = np.ceil(panels.count[panel] / 8), panels.start[panel]
    low, high = max(at - width, -start), min(at + width, panels.length[panel] - start)
    which = np.array([panel])
    for _ in range(HALVINGS):
        third = (high - low) // 3
        left, right = _errors(accuracy, panels, which, np.array([[low + third, high - third]]))[0]
        low, high = (low + third, high) if left < right else (low, high - third)
    return float(_errors(accuracy, panels, which, np.array([[low, (low + high) // 2, high]])).max())


def _pieces(panels: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the panels in pieces whose temporary arrays stay in the processor's cache."""
    return np.array_split(panels, -(-len(panels) // PIECE))


def _errors(accuracy: Accuracy, panels: Panels, which: NDArray[np.intp], at: Floats) -> Floats:
    """Return the expected distances for true answers at these places of some panels."""
    below = panels.start[which, None] + at
    above = panels.length[which, None] - below
    spans = np.broadcast_to(panels.span[which, None], below.shape)
    return accuracy.tables.at(spans, below, above).error


def _panels(accuracy: Accuracy) -> Panels:
    lattice, scale = accuracy.lattice, np.floor(max(1.0, 1 / accuracy.rate))
    length = lattice.lengths.astype(float)
    points, spans = length + 1, np.arange(len(lattice))
    edge = FLAT * scale
    long = points > (2 * FLAT + 1) * scale
    zero = np.zeros(len(lattice))
    # A long span: its two edges in runs of a scale, and the middle in one.
    segments = [
        (spans[~long], zero[~long], points[~long], np.ceil(points[~long] / scale)),
        (spans[long], zero[long], np.full(long.sum(), edge), np.full(long.sum(), float(FLAT))),
        (spans[long], zero[long] + edge, points[long] - 2 * edge, np.ones(long.sum())),
        (spans[long], points[long] - edge, np.full(long.sum(), edge), np.full(long.sum(), float(FLAT))),
    ]
    span, start, count, runs = (np.concatenate(column) for column in zip(*segments, strict=True))
    repeat = runs.astype(np.intp)
    number = np.arange(repeat.sum()) - np.repeat(np.cumsum(repeat) - repeat, repeat)
    span, start, count, runs = (np.repeat(column, repeat) for column in (span, start, count, runs))
    base, rest = count // runs, count % runs
    first = start + number * base + np.minimum(number, rest)
    return Panels(span, first, base + (number < rest), length[span])


def _gauss(count: float) -> tuple[Floats, Floats]:
    """Return nodes about the middle and weights for sums over `count` consecutive points, or for a mean over [-1, 1].

    The nodes are the eigenvalues of the Jacobi matrix of the polynomials orthogonal on the points (Golub & Welsch;
    on points at unit distance they are the discrete Chebyshev polynomials).
    """
    k = np.arange(1, NODES)
    if count == ANY:
        off_diagonal, total = k / np.sqrt(4 * k**2 - 1), 1.0
    elif count <= NODES:
        return np.arange(count) - (count - 1) / 2, np.ones(int(count))
    else:
        off_diagonal, total = k / 2 * np.sqrt((count**2 - k**2) / (4 * k**2 - 1)), count
    nodes, vectors = np.linalg.eigh(np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1))
    return nodes, total * vectors[0] ** 2
