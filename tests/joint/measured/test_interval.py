"""Where the truth is, from the raw measurements."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds import InvalidParameter
from inbounds.joint.measured.interval import intervals, mean_width
from inbounds.joint.measured.measurements import Measurements, measure
from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.table.layout import Grouping, Layout
from tests.helpers.sparing import sparing

LINE = Layout.plain((6,))
TABLE = Layout.plain((3, 4))


def plan(layout: Layout, names: Any, epsilon: Fraction = Fraction(1), **others: Any) -> JointPlan:
    """Return a plan for groupings by name."""
    given = {"sensitivity": Fraction(1), "facts": Facts.none(layout), **others}
    return JointPlan.of(layout, epsilon, [layout.grouping(one) for one in names], **given)


def covered(made: JointPlan, grouping: Grouping, truth: int, confidence: float) -> float:
    """Return how probable it is that the interval of a group of six cells, all in the first, holds the truth.

    By the exact law: of the group's own noise, or of a sum of six, added up one after the other.
    """
    source = grouping if grouping in made.split else LINE.finest
    far = int(60 / made.rate(source))
    one = np.exp(-made.rate(source) * np.abs(np.arange(-far, far + 1)))
    one /= one.sum()
    law = one
    for _ in range(LINE.groups(source) - 1):
        law = np.convolve(law, one)
    noises = np.arange(len(law)) - len(law) // 2
    near = np.abs(noises) <= far
    found = 0.0
    for noise, odds in zip(noises[near].tolist(), law[near].tolist(), strict=True):
        grains = {one: np.zeros(LINE.sizes(one), dtype=np.int64) for one in made.measured}
        if LINE.groups(source) == 1:
            grains[source] = np.array(truth + noise)
        else:
            grains[source][0] = truth + noise
        low, high = intervals(Measurements(made, grains), grouping, confidence)
        found += odds * bool(low <= truth <= high)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("names", [[(), (0,)], [(0,)]])
@pytest.mark.parametrize("truth", sparing([1, 40, 0, 7], 2))
def test_intervals_hold_the_truth_as_often_as_they_say(names: Any, truth: int) -> None:
    """By the exact law intervals of a total hold it 95 times in 100, by its own noise or by a sum; at 0.5 fewer."""
    made = plan(LINE, names)
    assert covered(made, LINE.total, truth, 0.95) >= 0.95
    assert covered(made, LINE.total, truth, 0.5) >= 0.5
    if truth == 40:
        assert covered(made, LINE.total, truth, 0.5) < 0.75


def test_an_interval_is_never_empty_and_never_below_zero() -> None:
    """Whatever was measured, the low end is at least 0 and at most the high end."""
    made = plan(TABLE, [(0, 1), (0,)])
    for shift in (-1000, -5, 0, 5, 1000):
        grains = {one: np.full(TABLE.sizes(one), shift, dtype=np.int64) for one in made.measured}
        for name in [(0, 1), (0,), (1,), ()]:
            low, high = intervals(Measurements(made, grains), TABLE.grouping(name), 0.95)
            assert low.shape == TABLE.sizes(TABLE.grouping(name))
            assert (low >= 0).all()
            assert (low <= high).all()


def test_the_plan_decides_what_an_interval_is_made_of() -> None:
    """With hardly anything spent on a total its interval is that of the sum of cells, whatever was measured of it."""
    starved = plan(LINE, [(0,), ()], split={LINE.finest: Fraction(99, 100), LINE.total: Fraction(1, 100)})
    rich = plan(LINE, [(0,), ()], split={LINE.finest: Fraction(1, 10), LINE.total: Fraction(9, 10)})
    for total in (-10_000, 0, 10_000):
        grains = {LINE.finest: np.full(6, 100), LINE.total: np.array(total)}
        low, high = intervals(Measurements(starved, grains), LINE.total, 0.95)
        assert low < 600 < high < 620
        low, high = intervals(Measurements(rich, grains), LINE.total, 0.95)
        assert low <= max(total, 0) <= high < max(total, 0) + 10
    assert mean_width(starved, LINE.total, 0.95) < 20
    assert mean_width(rich, LINE.total, 0.95) < 10


def test_what_is_public_has_an_interval_of_one_point() -> None:
    """A known group, or a sum of known ones, is known exactly; no part is more than a public total."""
    rows = np.array([4, 0, 9]), np.array([True, False, True])
    known = {TABLE.grouping(0): rows, TABLE.total: (np.array(15), np.array(True))}
    made = plan(TABLE, [(0, 1), (0,)], facts=Facts(TABLE, known))
    drawn = measure(made, np.full((3, 4), 500))
    low, high = intervals(drawn, TABLE.grouping(0), 0.95)
    assert (low[[0, 2]].tolist(), high[[0, 2]].tolist()) == ([4, 9], [4, 9])
    assert [int(end) for end in intervals(drawn, TABLE.total, 0.95)] == [15, 15]
    assert mean_width(made, TABLE.total, 0.95) == 0
    for name in [(0, 1), (0,), (1,)]:
        low, high = intervals(drawn, TABLE.grouping(name), 0.95)
        assert high.max() <= 15
        assert (low <= high).all()


def test_empty_cells_make_sums_narrower() -> None:
    """Cells that are public add no noise to a sum."""
    zeros = np.ones((3, 4), dtype=np.bool_)
    zeros[:, 0] = False
    facts = Facts(TABLE, {TABLE.finest: (np.zeros((3, 4), dtype=np.int64), zeros)})
    widths = [mean_width(plan(TABLE, [(0, 1)], facts=one), TABLE.total, 0.95) for one in (Facts.none(TABLE), facts)]
    assert widths[1] == pytest.approx(widths[0] / 2, rel=0.15)


def test_intervals_of_weighed_rows_are_in_whole_steps() -> None:
    """Where grains are finer than a step, ends are rounded outward."""
    made = plan(LINE, [(0,)], grain=Fraction(1, 1024))
    drawn = measure(made, np.full(6, 100 * 1024))
    low, high = intervals(drawn, LINE.finest, 0.95)
    value = drawn.in_steps(LINE.finest)
    assert low.dtype == high.dtype == np.int64
    assert (low < value).all()
    assert (value < high).all()
    assert (high - low).max() <= 9


def test_truths_that_may_be_negative_have_intervals_there() -> None:
    """Without an end at 0 intervals are around what was measured, own or summed."""
    made = plan(LINE, [(0,)], nonnegative=False)
    drawn = Measurements(made, {LINE.finest: np.full(6, -50)})
    for name in [(0,), ()]:
        low, high = intervals(drawn, LINE.grouping(name), 0.95)
        assert (low < high).all()
        assert (high < 0).all()


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -1, float("nan"), True, "0.9", None])
def test_a_confidence_is_between_0_and_1(confidence: Any) -> None:
    """Other confidences are refused."""
    made = plan(LINE, [(0,)])
    with pytest.raises(InvalidParameter, match="confidence must"):
        intervals(measure(made, np.zeros(6, dtype=np.int64)), LINE.total, confidence)


def test_what_was_not_measured_has_no_interval() -> None:
    """A grouping that no measured one tells is refused, with what to do."""
    drawn = measure(plan(TABLE, [(0,)]), np.zeros((3, 4), dtype=np.int64))
    with pytest.raises(InvalidParameter, match="no measured grouping"):
        intervals(drawn, TABLE.grouping(1), 0.95)
