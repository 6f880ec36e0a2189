"""The last look at a table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.errors import ProjectionFailed
from inbounds.joint.plan.facts import Facts
from inbounds.joint.solve.verification import verify
from inbounds.joint.table.layout import Layout
from tests.helpers.joint_tables import all_groupings, broken_facts, random_layout, random_problem


@given(st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_a_table_passes_exactly_if_nothing_is_wrong_with_it(seed: int) -> None:
    """The truth passes; with a cell or two altered it is refused exactly if an independent check finds a fault."""
    rng = np.random.default_rng(seed)
    layout = random_layout(rng, int(rng.integers(1, 4)), largest=4)
    problem = random_problem(rng, layout, all_groupings(layout))
    verify(layout, problem.truth, problem.facts)
    altered = problem.truth.copy()
    for change in (1, -1)[: int(rng.integers(1, 3))]:
        altered.ravel()[rng.integers(layout.cells)] += change
    if broken_facts(problem, altered):
        with pytest.raises(ProjectionFailed, match="agrees with all known values"):
            verify(layout, altered, problem.facts)
    else:
        verify(layout, altered, problem.facts)


def test_negative_fractional_misshapen_and_too_many_are_refused() -> None:
    """Each kind of impossible table is refused by itself, in words that hold no number of it."""
    layout = Layout.plain((2, 2))
    right = np.array([[1, 2], [3, 4]])
    facts = Facts(layout, {}, most=10)
    verify(layout, right, facts)
    verify(layout, right - 2, facts, nonnegative=False)
    for wrong in (right - 2, right.astype(float), right[:1], right + 1):
        with pytest.raises(ProjectionFailed, match=r"^[^0-9]*$"):
            verify(layout, wrong, facts)
