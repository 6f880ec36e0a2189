"""The best release for each outcome, given what is believed of the truth: the median of the truth's posterior law.

What an outcome is replaced by costs no privacy, and no other release has a smaller expected distance from the truth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.prior import Prior
from inbounds.limit.cells.cells import Cells
from inbounds.limit.cells.cut_cells import CutCells
from inbounds.limit.cells.distance_kernel import DistanceKernel
from inbounds.limit.cells.kernel import ChainKernel, TableKernel, decaying_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]


def targets_of_chain(prior: Prior, cells: Cells, kernel: ChainKernel) -> Indices:
    """Return the posterior median for each outcome of geometric noise on the rows."""
    masses, fall = _masses(prior, cells), kernel.fall
    up_to = decaying_sums(masses, fall)
    from_on = np.append(decaying_sums(masses[::-1], fall)[::-1], 0.0)
    outcomes = np.arange(len(masses))
    totals = up_to + from_on[:-1] - masses

    def before(rows: NDArray[np.intp]) -> Floats:
        """Return the weight of the rows before one, for each outcome."""
        near = np.maximum(rows - 1, 0)
        left = np.where(rows > 0, kernel.power(np.maximum(outcomes - near, 0)) * up_to[near], 0.0)
        right = totals - kernel.power(np.maximum(rows - outcomes, 0)) * from_on[rows]
        return np.where(rows <= outcomes + 1, left, right)

    low, high = np.zeros(len(masses), np.intp), np.full(len(masses), len(masses) - 1)
    while (low < high).any():  # the last row before which there is at most half
        middle = (low + high + 1) // 2
        fits = before(middle) <= totals / 2
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    weights = masses[low] * kernel.power(abs(outcomes - low))
    return _within(prior, cells, low, totals / 2 - before(low), weights)


def targets_of_table(prior: Prior, cells: Cells, kernel: TableKernel) -> Indices:
    """Return the posterior median for each outcome of a table."""
    weights = _masses(prior, cells)[:, None] * kernel.probabilities
    running = np.cumsum(weights, axis=0)
    half = running[-1] / 2
    rows = np.minimum((running <= half).sum(axis=0), len(weights) - 1)
    outcomes = np.arange(weights.shape[1])
    before = running[rows, outcomes] - weights[rows, outcomes]
    return _within(prior, cells, rows, half - before, weights[rows, outcomes])


def targets_of_distances(prior: Prior, cells: CutCells, kernel: DistanceKernel, fall: float) -> Indices:
    """Return the posterior median for each outcome whose probability falls by this factor with every step."""
    # From left to right: the edges of what is so many steps away, down to the cell itself, and up again.
    rings, edges = kernel.rings, np.array(cells.starts)
    bounds = edges[np.concatenate([rings.lows[::-1], rings.highs + 1])]
    steps = np.concatenate([np.arange(1, len(rings))[::-1], np.arange(len(rings))])
    shares = fall ** steps.astype(float)[:, None]
    masses = prior.mass(bounds)
    running = np.cumsum(np.diff(masses, axis=0) * shares, axis=0)
    half = running[-1] / 2
    part, outcomes = np.minimum((running < half).sum(axis=0), len(steps) - 1), np.arange(bounds.shape[1])
    before = np.where(part > 0, running[np.maximum(part - 1, 0), outcomes], 0.0)
    inside = (half - before) / shares[part, 0]
    places = prior.quantile(np.minimum(masses[part, outcomes] + inside, masses[part + 1, outcomes]))
    # The median for a cell in a gap may lie beyond those of cells behind the gap.  Releases have to rise, and what
    # comes from cells in gaps is rare: it gives way.
    possible = np.diff(prior.mass(edges)) > 0
    most = np.minimum.accumulate(np.where(possible, places, prior.highs[-1])[::-1])[::-1]
    return np.maximum.accumulate(np.minimum(places, most))


def _masses(prior: Prior, cells: Cells) -> Floats:
    return np.diff(prior.mass(np.array(cells.starts)))


def _within(prior: Prior, cells: Cells, rows: NDArray[np.intp], wanted: Floats, weights: Floats) -> Indices:
    """Return the places in cells up to which there is as much as wanted of the weight of each, in rising order."""
    starts = prior.mass(np.array(cells.starts))
    share = np.clip(np.divide(wanted, weights, out=np.full(len(rows), 0.5), where=weights > 0), 0.0, 1.0)
    places = prior.quantile(starts[rows] + share * (starts[rows + 1] - starts[rows]))
    return np.maximum.accumulate(places)
