"""Which way a table is projected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.errors import ProjectionFailed
from inbounds.joint.plan.facts import Facts
from inbounds.joint.solve.projection import project, quick
from inbounds.joint.solve.solve import QUICK, solve
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.limit.program.deadline import Deadline
from tests.helpers.joint_tables import Problem, all_groupings, broken_facts, cost, random_layout, random_problem


@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_quick_table_is_possible_where_facts_are_nested_and_never_nearer(seed: int, nonnegative: bool) -> None:
    """It agrees with the facts of its chain; no table that agrees with all of them is nearer than the nearest."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, int(rng.integers(1, 4)), largest=4)
    every = all_groupings(layout)
    some = [every[i] for i in rng.choice(len(every), min(len(every), 5), replace=False)]
    problem = random_problem(rng, layout, some, signed=not nonnegative)
    arguments = problem.layout, problem.measured, problem.weights, problem.facts
    fast = quick(*arguments, nonnegative=nonnegative)
    if len(problem.facts.chains()) == 1:
        assert broken_facts(problem, fast, 1e-6, nonnegative) == []
        nearest = cost(problem, project(*arguments, nonnegative=nonnegative))
        assert nearest <= cost(problem, fast) * (1 + 1e-6) + 1e-4


def test_a_two_way_table_of_a_known_solution() -> None:
    """One unit too few in each row and column is shared out evenly."""
    layout = Layout.plain((2, 2))
    facts = Facts.none(layout).with_known((0, None), np.array([4, 4])).with_known((None, 0), np.array([4, 4]))
    found = project(layout, {(0, 0): np.ones((2, 2))}, {(0, 0): 1.0}, facts)
    assert found == pytest.approx(np.full((2, 2), 2.0))


def test_the_time_allowed_is_kept_and_a_quick_table_takes_over() -> None:
    """Without time projecting fails in words that say what to do, and solving answers all the same."""
    rng = np.random.default_rng(1)
    layout = Layout.plain((5, 6))
    truth = rng.poisson(3.0, layout.shape)
    groupings: list[Grouping] = [(0, 0), (0, None), (None, 0)]
    measured = {g: layout.sum(truth, g) + rng.laplace(size=layout.sizes(g)) for g in groupings}
    problem = Problem(layout, truth, Facts.none(layout), measured, dict.fromkeys(groupings, 1.0))
    with pytest.raises(ProjectionFailed, match="allow more time"):
        project(layout, problem.measured, problem.weights, problem.facts, deadline=Deadline.after(-1))
    found = solve(layout, problem.measured, problem.weights, problem.groupings, problem.facts, seconds=0.0)
    assert found.method == QUICK
    assert broken_facts(problem, found.cells) == []
