"""How good joint tables are: as predicted, and better than cells one by one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds.joint.joint_release import JointRelease
from inbounds.joint.measured.measurements import measure
from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.solve.projection import project
from inbounds.joint.table.axis import Axis, Level
from inbounds.joint.table.layout import Layout
from tests.helpers.scripted_entropy import Script

LEVELS = Level("node", tuple(i // 8 for i in range(512))), Level("top", tuple(i // 64 for i in range(512)))
TREE = Layout((Axis("leaf", 512, LEVELS),))
TABLE = Layout.plain((50, 40))


def zipf(size: int, rows: int, exponent: float, seed: int = 0) -> Any:
    """Return counts drawn by Zipf's law."""
    odds = np.arange(1.0, size + 1) ** -exponent
    return np.random.default_rng(seed).multinomial(rows, odds / odds.sum())


def plan(layout: Layout, names: Any, epsilon: Fraction, equal: bool = False) -> JointPlan:
    """Return a plan for groupings by name, at equal parts or by the default split."""
    groupings = [layout.grouping(one) for one in names]
    split = {grouping: epsilon / len(groupings) for grouping in groupings} if equal else None
    return JointPlan.of(layout, epsilon, groupings, sensitivity=Fraction(1), facts=Facts.none(layout), split=split)


def errors(made: JointPlan, truth: Any, runs: int, signs: bool = False) -> list[float]:
    """Return the mean absolute error of each measured grouping over some releases, with fixed random bytes."""
    found, layout = np.zeros(len(made.asked)), made.layout
    for seed in range(runs):
        drawn = measure(made, truth, Script(seed=seed))
        if signs:
            cells = project(layout, drawn.as_floats(), made.weights, made.facts, nonnegative=False)
        else:
            cells = JointRelease.of(drawn).cells.astype(np.float64)
        apart = [
            np.abs(layout.sum(cells.reshape(layout.shape), one) - layout.sum(truth, one)).mean()
            for one in made.asked
        ]
        found += np.array(apart) / runs
    return found.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "names", "runs"),
    [
        (TREE, ["leaf", "node", "top", ()], 200),
        (TABLE, [(0, 1), (0,), (1,), ()], 200),
        (Layout.plain((2000,)), [(0,), ()], 200),
    ],
)
@pytest.mark.parametrize("equal", [False, True])
def test_errors_are_as_predicted(layout: Layout, names: Any, runs: int, equal: bool) -> None:
    """Over many releases least squares are off by what was predicted; the random bytes are fixed."""
    made = plan(layout, names, Fraction(1), equal)
    found = errors(made, np.full(layout.shape, 1000), runs, signs=True)
    tolerances = [0.03 + 4 / np.sqrt(runs * layout.groups(one)) for one in made.asked]
    for one, predicted, tolerance in zip(found, made.errors.values(), tolerances, strict=True):
        assert one == pytest.approx(predicted, rel=tolerance)


@pytest.mark.slow
def test_two_thousand_cells_and_their_total() -> None:
    """At epsilon 0.1 the total of 2,000 Zipf cells is off by at most 110, and a cell by at most 1.7, on average."""
    made = plan(Layout.plain((2000,)), [(0,), ()], Fraction(1, 10))
    odds = np.arange(1.0, 2001) ** -1.5
    cell, total = errors(made, np.rint(10_000 * odds / odds.sum()).astype(np.int64), 40)
    assert cell < 1.7
    assert total < 110


@pytest.mark.slow
def test_a_tree_is_as_good_on_every_level_as_least_squares() -> None:
    """On a tree of 8 x 8 x 8 at equal parts no level is worse than least squares, and leaves are much better."""
    made = plan(TREE, ["leaf", "node", "top", ()], Fraction(1), equal=True)
    truth = zipf(512, 1000, 1.2)
    found, plain = errors(made, truth, 60), errors(made, truth, 60, signs=True)
    assert all(one < 1.1 * other for one, other in zip(found, plain, strict=True))
    assert found[0] < 0.5 * plain[0]
