"""The nearest possible tree."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from inbounds.joint.plan.facts import Facts
from inbounds.joint.solve.tree_projection import project_tree
from inbounds.joint.table.axis import Axis, Level
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.joint.table.tree import Tree
from tests.helpers.joint_tables import (
    Problem,
    broken_facts,
    cost,
    random_chain,
    random_layout,
    random_problem,
    room_for_improvement,
)


def _tree(seed: int, signed: bool = False) -> tuple[Tree, Problem]:
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, int(rng.integers(1, 4)), depth=3)
    chain = random_chain(rng, layout)
    return Tree.of(layout, chain), random_problem(rng, layout, chain, signed=signed)


@pytest.mark.slow
@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=150, deadline=None)
def test_no_possible_table_is_nearer(seed: int, nonnegative: bool) -> None:
    """On any tree, with levels not measured, known nodes, empty cells and a cap, nothing the facts allow costs less."""
    tree, problem = _tree(seed, signed=not nonnegative)
    cells = project_tree(tree, problem.measured, problem.weights, problem.facts, nonnegative)
    assert broken_facts(problem, cells, 1e-6, nonnegative) == []
    assert room_for_improvement(problem, cells, nonnegative) <= 1e-6 * (1 + cost(problem, cells))


def test_a_table_beside_the_nearest_has_room_for_improvement() -> None:
    """The law above is not empty: a table that is one off in a cell is told from the nearest."""
    tree, problem = _tree(7)
    cells = project_tree(tree, problem.measured, problem.weights, problem.facts)
    cells.ravel()[np.argmax(cells)] += 1
    assert broken_facts(problem, cells, 1e-6) or room_for_improvement(problem, cells) > 1e-3


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_without_facts_it_is_nonnegative_least_squares(seed: int) -> None:
    """Where the cells are measured and nothing is known, the solution is the one that Lawson and Hanson find."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, 2, depth=1)
    chain = random_chain(rng, layout)
    problem = random_problem(rng, layout, chain, known=0.0)
    measured = {layout.finest: rng.normal(size=layout.shape), **problem.measured}
    weights = {layout.finest: 0.7, **problem.weights}
    rows = [
        np.sqrt(weights[g]) * (layout.group_of_cells(g).ravel() == group)
        for g in measured
        for group in range(layout.groups(g))
    ]
    values = np.concatenate([np.sqrt(weights[g]) * y.ravel() for g, y in measured.items()])
    expected, _ = scipy.optimize.nnls(np.array(rows), values)
    found = project_tree(Tree.of(layout, chain), measured, weights, Facts.none(layout))
    assert found.ravel() == pytest.approx(expected, abs=1e-7)


def test_a_signed_tree_is_the_one_of_two_passes() -> None:
    """With cells that may be negative and two children, the sums are the weighted means of Hay and others (2010)."""
    layout = Layout((Axis("leaf", 2),))
    measured: dict[Grouping, NDArray[np.float64]] = {(0,): np.array([1.0, 3.0]), (None,): np.array(7.0)}
    found = project_tree(Tree.of(layout, [(0,)]), measured, {(0,): 1.0, (None,): 1.0}, Facts.none(layout), False)
    assert found == pytest.approx([2.0, 4.0])


def test_values_of_any_size_keep_the_total() -> None:
    """Large cells in one group do not blur small ones in others."""
    layout = Layout((Axis("leaf", 4000, (Level("group", tuple(i // 40 for i in range(4000))),)),))
    truth = np.arange(4000.0) % 7
    truth[:40] = 1e8
    measured: dict[Grouping, NDArray[np.float64]] = {(0,): truth - 0.25, (1,): layout.sum(truth, (1,))}
    found = project_tree(Tree.of(layout, [(0,), (1,)]), measured, {(0,): 1.0, (1,): 3.0}, Facts.none(layout))
    problem = Problem(layout, truth.astype(np.int64), Facts.none(layout), measured, {(0,): 1.0, (1,): 3.0})
    slope = 2 * (found - measured[(0,)]) + 6 * layout.spread(layout.sum(found, (1,)) - measured[(1,)], (1,))
    assert np.all(slope[40:] >= -1e-5)
    assert np.all(np.abs(slope[40:])[found[40:] > 1e-9] <= 1e-5)
    assert broken_facts(problem, found) == []
