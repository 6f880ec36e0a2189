"""What is predicted of running sums: the variance of least squares, and how far off they really are."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.joint.joint_release import JointRelease
from inbounds.joint.measured.measurements import measure
from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.plan.running_sums import block_widths, blocked_axis, running_errors, running_variances
from inbounds.joint.table.axis import Axis
from inbounds.joint.table.layout import Grouping, Layout
from tests.helpers.scripted_entropy import Script


def plan_of(size: int, widths: list[int], epsilon: Fraction = Fraction(1), parts: int = 1) -> JointPlan:
    """Return a plan that measures blocks of these widths at the same part of epsilon, in several parts."""
    axes = (Axis("part", parts), blocked_axis(Axis("key", size), widths, ["key", "part"]))
    layout = Layout(axes)
    groupings: list[Grouping] = [(0, level) for level in range(len(widths))]
    split = dict.fromkeys(groupings, epsilon / len(widths))
    return JointPlan.of(
        layout, epsilon, groupings, sensitivity=Fraction(1), facts=Facts.none(layout), split=split, grain=Fraction(1)
    )


@given(st.integers(1, 30), st.integers(2, 6), st.sampled_from([inf, 0.5]), st.integers(1, 3), st.randoms())
def test_variances_are_those_of_least_squares(size: int, branching: int, of_total: float, parts: int, rng) -> None:  # type: ignore[no-untyped-def]
    """The variance of every running sum is that of least squares by their normal equations."""
    widths = block_widths(size, branching)
    noise = [rng.uniform(0.2, 5) for _ in widths]
    cells = parts * size
    rows, precisions = [], []
    for part in range(parts):
        for width, each in zip(widths, noise, strict=True):
            for first in range(0, size, width):
                rows.append([part * size + first <= i < part * size + min(first + width, size) for i in range(cells)])
                precisions.append(1 / each)
    rows.append([True] * cells)
    precisions.append(1 / of_total)
    design = np.array(rows, dtype=float)
    covariance = np.linalg.inv(design.T @ (np.array(precisions)[:, None] * design))
    up_to = np.tril(np.ones((size, cells)))
    expected = np.diag(up_to @ covariance @ up_to.T)
    found = running_variances(size, widths, noise, parts=parts, of_total=of_total)
    assert found == pytest.approx(expected)


def test_blocks_lie_in_blocks_and_are_two_at_least() -> None:
    """Each width is a multiple of the one before, and none of them holds all keys."""
    assert block_widths(365, 10) == [1, 10, 100]
    assert block_widths(100, 10) == [1, 10]
    assert block_widths(101, 10) == [1, 10, 100]
    assert block_widths(1, 2) == [1]


def test_blocks_are_called_as_nothing_else_is() -> None:
    """Levels have names of their own, whatever columns are called."""
    taken = ["key", "key in blocks of 2"]
    axis = blocked_axis(Axis("key", 5), [1, 2, 4], taken)
    assert [level.name for level in axis.levels] == ["key in blocks of 2_", "key in blocks of 4"]
    assert axis.levels[0].parents == (0, 0, 1, 1, 2)


def mean_error(plan: JointPlan, seed: int, runs: int = 200) -> float:
    """Return how far off running sums of a table are, of which no cell is near zero."""
    cells = np.full(plan.layout.shape, 200, dtype=np.int64)
    entropy, truth = Script(seed=seed), np.cumsum(cells, axis=1)
    found = [JointRelease.of(measure(plan, cells, entropy)).cells for _ in range(runs)]
    return float(np.mean([np.abs(np.cumsum(each, axis=1) - truth) for each in found]))


@pytest.mark.slow
def test_running_sums_are_as_far_off_as_predicted() -> None:
    """With fixed randomness the error is within a tenth of the prediction, and not within a fifth of that of cells."""
    plain, blocked = plan_of(120, [1], parts=3), plan_of(120, [1, 10], parts=3)
    assert mean_error(plain, 1) == pytest.approx(running_errors(plain, 1).mean(), rel=0.1)
    assert mean_error(blocked, 2) == pytest.approx(running_errors(blocked, 1).mean(), rel=0.1)
    assert mean_error(blocked, 2) < 0.8 * running_errors(plain, 1).mean()
