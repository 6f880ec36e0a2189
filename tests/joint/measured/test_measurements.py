"""What is taken from the data: exact noise on every grouping, and nothing else."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds import InvalidParameter
from inbounds.joint.measured.measurements import MOST, MOST_STEPS, measure
from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.table.layout import Grouping, Layout
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.scripted_entropy import Script

TINY = Layout.plain((2, 2))
GROUPINGS: tuple[Any, ...] = ((0, 1), (0,), ())
ONE = Fraction(1)


def plan(layout: Layout, names: Any = GROUPINGS, **others: Any) -> JointPlan:
    """Return a plan at epsilon 1 for groupings by name."""
    given = {"sensitivity": ONE, "facts": Facts.none(layout), **others}
    return JointPlan.of(layout, ONE, [layout.grouping(one) for one in names], **given)


@pytest.mark.slow
@pytest.mark.parametrize("name", [(0, 1), (0,), ()])
def test_measured_values_follow_the_law_that_was_proved(name: Any) -> None:
    """What is measured less the truth is two-sided geometric at the scale of its part; at others it would be found."""
    layout = Layout.plain((400, 50))
    made, truth = plan(layout), np.arange(20_000).reshape(400, 50) % 7
    grouping = layout.grouping(name)
    runs = {(0, 1): 2, (0,): 40, (): 10_000}[name]
    if name == ():  # one group only: measured often, without the others
        made = plan(layout, [()])
    noise = np.concatenate(
        [(measure(made, truth).grains[grouping] - layout.sum(truth, grouping)).ravel() for _ in range(runs)]
    )
    rate = float(made.mechanism(grouping).noise.rate)
    far = int(12 / rate)
    places = np.arange(-far, far + 1)
    seen = np.array([np.count_nonzero(np.clip(noise, -far, far) == place) for place in places])

    def law(of: float) -> NDArray[np.float64]:
        found = np.exp(-of * np.abs(places)) * math.tanh(of / 2)
        found[[0, -1]] = math.exp(-of * far) / (1 + math.exp(-of))
        return found

    assert p_value(seen, law(rate)) > FLOOR
    assert p_value(seen, law(rate * 1.15)) < FLOOR
    assert p_value(seen, law(rate / 1.15)) < FLOOR


def greatest_loss(made: JointPlan, first: NDArray[np.int64], second: NDArray[np.int64], left_out: Any = ()) -> float:
    """Return the greatest loss between two tables over all outputs, by definition from the probabilities.

    Draws are independent, so the worst output has the worst value of each group.
    """
    loss = 0.0
    for grouping in made.measured:
        if grouping in left_out:
            continue
        mechanism, seen = made.mechanism(grouping), np.arange(-60, 61)
        pairs = zip(made.layout.sum(first, grouping).ravel(), made.layout.sum(second, grouping).ravel(), strict=True)
        for here, there in pairs:
            ratios = np.log(mechanism.pmf(seen, int(here)) / mechanism.pmf(seen, int(there)))
            loss += float(np.abs(ratios).max())
    return loss


def neighbours(grains: int) -> list[NDArray[np.int64]]:
    """Return all changes of a table of 2 x 2 by at most so many grains in sum."""
    changes = (np.array(one).reshape(2, 2) for one in product(range(-grains, grains + 1), repeat=4))
    return [change for change in changes if np.abs(change).sum() <= grains]


@pytest.mark.slow
@pytest.mark.parametrize("grains", [1, 4])
def test_a_table_is_private_by_definition(grains: int) -> None:
    """However one unit changes the cells, all that was measured together loses at most epsilon, and nearly that."""
    made = plan(TINY, grain=Fraction(1, grains))
    truth = np.array([[0, 3], [5, 1]])
    losses = [greatest_loss(made, truth, truth + change) for change in neighbours(grains)]
    assert max(losses) <= 1 + 1e-9
    assert max(losses) > 0.999


def test_a_grouping_that_is_not_paid_for_is_found() -> None:
    """If one grouping were measured beside those that epsilon is split over, the loss would exceed epsilon."""
    honest = plan(TINY, [(0, 1), (0,)])
    extra: dict[Grouping, Fraction] = {**honest.split, TINY.total: Fraction(1, 10)}
    unpaid = JointPlan(TINY, ONE, extra, ONE, ONE, honest.facts)
    truth, change = np.array([[0, 3], [5, 1]]), np.array([[1, 0], [0, 0]])
    assert greatest_loss(unpaid, truth, truth + change) > 1.09
    assert greatest_loss(unpaid, truth, truth + change, left_out=[TINY.total]) <= 1 + 1e-9


def test_the_standard_guarantee_would_not_do() -> None:
    """Every grouping keeps the distance guarantee, as what a unit does to several groups has to add up."""
    made = plan(TINY, sensitivity=Fraction(4))
    assert {made.mechanism(grouping).guarantee for grouping in made.measured} == {"distance"}


def test_counts_are_not_looked_at() -> None:
    """Negative and vast counts, and integers of every kind, are measured like any other, without an error."""
    made = plan(TINY, [(0, 1), ()], split={TINY.finest: ONE / 2, TINY.total: ONE / 2})
    for cells in ([[-5, 0], [0, 0]], [[2**63 - 1, -(2**63)], [0, 0]]):
        drawn = measure(made, np.array(cells, dtype=np.int64))
        assert abs(int(drawn.grains[TINY.total]) - sum(np.clip(cells, -MOST // 4, MOST // 4).ravel().tolist())) < 2**20
    for kind in (np.int8, np.uint8, np.uint64):
        assert measure(made, np.ones((2, 2), dtype=kind)).grains[TINY.finest].dtype == np.int64
    vast = measure(made, np.full((2, 2), 2**64 - 1, dtype=np.uint64)).grains[TINY.total]
    assert abs(int(vast) - MOST_STEPS) < 2**20


@pytest.mark.parametrize(
    "cells", [[[1.0, 2], [3, 4]], [[True, False], [True, True]], [["1", "2"], ["3", "4"]], [1, 2], [[1, 2], [3]], None]
)
def test_only_the_kind_and_shape_of_counts_are_refused(cells: Any) -> None:
    """Whatever is no array of whole numbers in the shape of the table is refused, in words that hold no count."""
    with pytest.raises(InvalidParameter, match="counts must") as refused:
        measure(plan(TINY), cells)
    assert not any(f" {digit}" in str(refused.value) for digit in "134")


def test_public_groups_have_the_value_that_is_known() -> None:
    """A group that is known is not measured, whatever the data say, and the others are."""
    known = {TINY.finest: (np.array([[7, 0], [0, 0]]), np.array([[True, False], [False, False]]))}
    made = plan(TINY, facts=Facts(TINY, known), grain=Fraction(1, 8))
    drawn = measure(made, np.full((2, 2), 100_000))
    assert drawn.grains[TINY.finest][0, 0] == 56
    assert drawn.in_steps(TINY.finest)[0, 0] == 7.0
    assert drawn.grains[TINY.finest].ravel()[1:].min() > 90_000


def test_each_grouping_is_drawn_by_itself() -> None:
    """The same random bytes give the same measurements, other bytes others, and arrays cannot be changed afterwards."""
    made, truth = plan(TINY), np.zeros((2, 2), dtype=np.int64)
    first, second, other = (measure(made, truth, Script(seed=seed)).grains for seed in (1, 1, 2))
    assert all((first[one] == second[one]).all() for one in first)
    assert any((first[one] != other[one]).any() for one in first)
    with pytest.raises(ValueError, match="read-only"):
        first[TINY.finest][0, 0] = 1
