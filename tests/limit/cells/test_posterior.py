"""What replaces an outcome is the release with the least expected distance from the truth."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds import Bounds
from inbounds.accuracy.prior import Prior
from inbounds.bounds.lattice import Lattice
from inbounds.limit.cells.cells import rounded_cells
from inbounds.limit.cells.exact_table import TOTAL, ExactTable
from inbounds.limit.cells.kernel import ChainKernel, TableKernel
from inbounds.limit.cells.posterior import targets_of_chain, targets_of_table
from inbounds.published.ghosh2009 import GeometricNoise


@st.composite
def believed(draw: st.DrawFn) -> tuple[Prior, Lattice]:
    """A prior on a few points in one or two spans."""
    low = draw(st.integers(2, 7))
    ends = [(0, low), *([(low + 3, low + 3 + draw(st.integers(0, 5)))] if draw(st.booleans()) else [])]
    bounds = Bounds.union(ends, step=1)
    lattice = Lattice.of(bounds, Fraction(1))
    weights = draw(st.lists(st.integers(0, 9), min_size=lattice.points, max_size=lattice.points).filter(any))
    return Prior.of(weights, bounds, lattice), lattice


@given(believed(), st.integers(1, 4), st.sampled_from([0.1, 0.7, 2.0]), st.booleans())
@settings(max_examples=60)
def test_targets_are_posterior_medians(given: tuple[Prior, Lattice], width: int, epsilon: float, chain: bool) -> None:
    """No other possible release is nearer to the truth on average, whichever outcome was drawn, and targets rise."""
    prior, lattice = given
    cells = rounded_cells(lattice.first, lattice.width, width, 1)
    kernel: ChainKernel | TableKernel = ChainKernel(cells.rows, GeometricNoise(1, Fraction(str(epsilon))))
    rows = np.arange(cells.rows)
    table = np.array([kernel.probability(np.full(cells.rows, row), rows) for row in rows])
    if chain:
        targets = targets_of_chain(prior, cells, kernel)  # type: ignore[arg-type]
    else:
        units = [[int(x * TOTAL) for x in row] for row in table]
        exact = tuple((row[0] + TOTAL - sum(row), *row[1:]) for row in units)
        targets = targets_of_table(prior, cells, TableKernel(ExactTable(exact)))
    points = np.array(lattice.indices())
    assert set(targets.tolist()) <= set(points.tolist())
    assert (np.diff(targets) >= 0).all()
    masses = prior.mass(points + 1) - prior.mass(points)
    joint = masses[:, None] * table[(points - cells.start) // cells.width]
    costs = abs(np.subtract.outer(points, points)) @ joint
    taken = costs[np.searchsorted(points, targets), rows]
    assert taken == pytest.approx(costs.min(axis=0), rel=1e-9, abs=1e-12)
