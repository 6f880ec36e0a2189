"""Intervals of running sums: made of few blocks, whichever is public to be best, and wide enough."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from inbounds.joint.measured.measurements import Measurements, clamped_sums, measure
from inbounds.joint.measured.running_interval import running_intervals, stretches
from inbounds.joint.plan.running_sums import block_widths
from tests.joint.plan.test_running_sums import plan_of


@given(st.integers(1, 300), st.integers(2, 12))
def test_sums_are_made_of_whole_blocks(size: int, branching: int) -> None:
    """The blocks that are taken for a sum, less those that are taken away, hold each key up to it once; few are."""
    widths = block_widths(size, branching)
    found = np.zeros((size, size), dtype=int)
    for width, part in zip(widths, stretches(size, widths), strict=True):
        for key, (start, stop) in enumerate(zip(part.start.tolist(), part.stop.tolist(), strict=True)):
            for block in range(min(start, stop), max(start, stop)):
                found[key, block * width : (block + 1) * width] += 1 if start < stop else -1
            assert width == widths[-1] or abs(stop - start) <= branching / 2
    assert (found == np.tril(np.ones((size, size), dtype=int))).all()


def exactly(cells: np.ndarray, *, epsilon: Fraction = Fraction(1)) -> Measurements:
    """Return measurements of cells without any noise."""
    plan = plan_of(cells.shape[1], block_widths(cells.shape[1], 5), epsilon, parts=cells.shape[0])
    sums = {grouping: clamped_sums(plan.layout, cells, grouping) for grouping in plan.measured}
    return Measurements(
        plan, {grouping: values.reshape(plan.layout.sizes(grouping)) for grouping, values in sums.items()}
    )


@given(st.integers(1, 60), st.integers(1, 3))
def test_without_noise_the_truth_is_in_the_middle(size: int, parts: int) -> None:
    """Each interval lies around the sum up to its key in its own part, and begins at zero at the least."""
    cells = np.arange(parts * size).reshape(parts, size) * 7 % 31
    low, high = running_intervals(exactly(cells), 1, 0.9)
    truth = np.cumsum(cells, axis=1)
    assert (low == np.maximum(truth - (high - truth), 0)).all()


def test_sums_of_vast_cells_do_not_wrap() -> None:
    """Sums that 64 bits do not hold are whole all the same."""
    plan = plan_of(30, [1])
    low, high = running_intervals(Measurements(plan, {(0, 0): np.full((1, 30), 2**60)}), 1, 0.95)
    middles = [(a + b) // 2 for a, b in zip(low.ravel(), high.ravel(), strict=True)]
    assert middles == [2**60 * number for number in range(1, 31)]


@pytest.mark.slow
def test_intervals_hold_what_they_say() -> None:
    """A sum lies in its interval at least as often as was asked for, and those for far less do not pass for it."""
    cells = np.full((1, 90), 40, dtype=np.int64)
    plan, runs, keys = plan_of(90, [1, 9]), 400, np.array([3, 49, 89])
    measured = [measure(plan, cells) for _ in range(runs)]

    def covered(confidence: float) -> list[int]:
        ends = [running_intervals(each, 1, confidence) for each in measured]
        truth = 40 * (keys + 1)
        return sum((low[0, keys] <= truth) & (truth <= high[0, keys]) for low, high in ends).tolist()

    assert all(stats.binom.cdf(count, runs, 0.9) > 1e-10 for count in covered(0.9))
    assert all(stats.binom.cdf(count, runs, 0.9) < 1e-10 for count in covered(0.5))
