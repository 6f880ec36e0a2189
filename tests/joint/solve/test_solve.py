"""From measurements to verified tables in whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from inbounds.errors import ProjectionFailed
from inbounds.joint.plan.facts import Facts
from inbounds.joint.solve import solve as solving
from inbounds.joint.solve.solve import NEAREST, QUICK, solve
from inbounds.joint.table.chains import chains
from inbounds.joint.table.layout import Grouping, Layout
from tests.helpers.joint_tables import (
    Problem,
    all_groupings,
    broken_facts,
    random_chain,
    random_layout,
    random_problem,
)


def random_table(seed: int, nonnegative: bool = True) -> Problem:
    """Return a tree, a two-way or a three-way table with any groupings, known totals, empty cells and a cap."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, int(rng.integers(1, 4)), largest=5)
    every = all_groupings(layout)
    some = [every[i] for i in rng.choice(len(every), min(len(every), 5), replace=False)]
    groupings = random_chain(rng, layout) if rng.random() < 0.3 else some
    return random_problem(rng, layout, groupings, signed=not nonnegative)


@pytest.mark.slow
@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=150, deadline=None)
def test_every_table_is_whole_and_all_facts_are_true_of_it(seed: int, nonnegative: bool) -> None:
    """An independent check in plain whole numbers finds nothing wrong; up to two chains every sum is within 1."""
    problem = random_table(seed, nonnegative)
    facts, groupings = problem.facts, problem.groupings
    found = solve(problem.layout, problem.measured, problem.weights, groupings, facts, nonnegative=nonnegative)
    assert found.cells.dtype == np.int64
    assert broken_facts(problem, found.cells, 0, nonnegative) == []
    assert found.method == NEAREST
    if len(chains(problem.layout, groupings)) <= 2:
        assert found.kept_groupings == groupings


@pytest.mark.slow
@given(st.integers(0, 2**32), st.booleans())
@settings(max_examples=100, deadline=None)
def test_without_time_a_quick_table_leaves_that_is_as_possible(seed: int, nonnegative: bool) -> None:
    """When the nearest table takes too long, another answers; all facts are true of that one too."""
    problem = random_table(seed, nonnegative)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solving, "project", _fails)
        found = solve(
            problem.layout,
            problem.measured,
            problem.weights,
            problem.groupings,
            problem.facts,
            nonnegative=nonnegative,
        )
    assert found.method == QUICK
    assert broken_facts(problem, found.cells, 0, nonnegative) == []


def _fails(*_: object, **__: object) -> None:
    raise ProjectionFailed("too slow")


def test_a_table_that_is_not_possible_never_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """If rounding went wrong there would be an error and no table."""
    layout = Layout.plain((2, 2))
    facts = Facts.none(layout).with_known(layout.total, np.asarray(5))
    measured: dict[Grouping, NDArray[np.float64]] = {(0, 0): np.full((2, 2), 7.0)}
    monkeypatch.setattr(
        solving, "round_cells", lambda *_, **__: solving.Solved(np.zeros((2, 2), dtype=np.int64), (), "")
    )
    with pytest.raises(ProjectionFailed, match="agrees with all known values"):
        solve(layout, measured, {(0, 0): 1.0}, [(0, 0)], facts)
