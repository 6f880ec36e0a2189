"""The nearest possible table for groupings of any kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.joint.solve.general_projection import project_any
from inbounds.joint.solve.tree_projection import project_tree
from inbounds.joint.table.tree import Tree
from inbounds.limit.program.deadline import Deadline
from tests.helpers.joint_tables import (
    all_groupings,
    broken_facts,
    cost,
    random_chain,
    random_layout,
    random_problem,
    room_for_improvement,
)


@pytest.mark.slow
@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=100, deadline=None)
def test_no_possible_table_is_nearer(seed: int, nonnegative: bool) -> None:
    """With any groupings of up to three axes with levels, cells measured or not, nothing the facts allow costs less."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, int(rng.integers(1, 4)), largest=4)
    every = all_groupings(layout)
    some = [every[i] for i in rng.choice(len(every), min(len(every), 5), replace=False)]
    problem = random_problem(rng, layout, some, signed=not nonnegative)
    cells = project_any(layout, problem.measured, problem.weights, problem.facts, nonnegative)
    assert cells is not None
    assert broken_facts(problem, cells, 1e-6, nonnegative) == []
    # Where cells without measurements stay to 1e-6, the slope in each may be as much, over the 10 that are looked at.
    slack = max(1e-4 * (1 + cost(problem, cells)) ** 0.5, 1e-6 * 10 * layout.cells)
    assert room_for_improvement(problem, cells, nonnegative) <= slack


@given(st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_on_a_tree_both_ways_find_the_same(seed: int) -> None:
    """Where cells are measured the nearest tree is unique, and prices find the one that curves find."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, 2, depth=2)
    chain = random_chain(rng, layout)
    problem = random_problem(rng, layout, chain)
    measured = {**problem.measured, layout.finest: rng.normal(size=layout.shape) * 10}
    weights = {**problem.weights, layout.finest: 1.0}
    by_curves = project_tree(Tree.of(layout, chain), measured, weights, problem.facts)
    by_prices = project_any(layout, measured, weights, problem.facts)
    assert by_prices == pytest.approx(by_curves, abs=1e-5)


def test_no_time_gives_no_answer() -> None:
    """When its time is over it says so, and does not hand out what it has."""
    rng = np.random.default_rng(1)
    layout = random_layout(rng, 2, largest=6, depth=0)
    problem = random_problem(rng, layout, all_groupings(layout), known=0.0)
    assert project_any(layout, problem.measured, problem.weights, problem.facts, deadline=Deadline.after(-1)) is None
