"""What is decided about a table before anything of it is looked at."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

from inbounds import InvalidParameter, LatticeTooFine
from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.plan import JointPlan, variance
from inbounds.joint.plan.split import WORTH, best_split, finest_of
from inbounds.joint.table.axis import Axis, Level
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.published import Geometric
from tests.helpers.programs import ROOT

LEVELS = Level("node", tuple(i // 8 for i in range(512))), Level("top", tuple(i // 64 for i in range(512)))
TREE = Layout((Axis("leaf", 512, LEVELS),))
TABLE = Layout.plain((50, 40))
TENTH = Fraction(1, 10)


def plan(layout: Layout, names: list[Any], epsilon: Fraction = TENTH, **others: Any) -> JointPlan:
    """Return a plan for groupings by name."""
    given = {"sensitivity": Fraction(1), "facts": Facts.none(layout), **others}
    return JointPlan.of(layout, epsilon, [layout.grouping(one) for one in names], **given)


def cost(made: JointPlan) -> float:
    """Return what a default split makes small."""
    return math.fsum(math.sqrt(made.layout.groups(grouping)) * one for grouping, one in made.errors.items())


@pytest.mark.parametrize(
    ("layout", "names"),
    [
        (Layout.plain((2000,)), [(0,), ()]),
        (TREE, ["leaf", "node", "top", ()]),
        (TABLE, [(0, 1), (0,), (1,), ()]),
        (Layout.plain((6, 5, 4)), [(0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,), ()]),
        (Layout.plain((9,)), [(0,)]),
    ],
)
@pytest.mark.parametrize("epsilon", [TENTH, Fraction(1, 3), Fraction(7)])
def test_a_split_adds_up_to_epsilon(layout: Layout, names: list[Any], epsilon: Fraction) -> None:
    """The parts of a default split are positive, add up to epsilon exactly, and beat equal parts in their own cost."""
    made = plan(layout, names, epsilon)
    assert sum(made.split.values()) == epsilon
    assert min(made.split.values()) > 0
    equal = {layout.grouping(one): epsilon / len(names) for one in names}
    assert cost(made) <= cost(plan(layout, names, epsilon, split=equal)) * 1.001


def test_the_default_split_is_as_recorded() -> None:
    """The figures of the decision record: 2,000 cells and their total, a tree of 8 x 8 x 8, a table of 50 x 40."""
    record = (ROOT / "docs" / "decisions" / "0084-who-gets-epsilon.md").read_text("utf-8")
    asked: list[tuple[Layout, list[Any]]] = [
        (Layout.plain((2000,)), [(0,), ()]),
        (TREE, ["leaf", "node", "top", ()]),
        (TABLE, [(0, 1), (0,), (1,), ()]),
    ]
    for layout, names in asked:
        made = plan(layout, names, Fraction(1))
        parts = (f"{float(part):.3f}" for part in made.split.values())
        errors = (f"{error:.1f}" for error in made.errors.values())
        assert f"| {'; '.join(parts)} | {'; '.join(errors)} |" in record


def test_a_grouping_may_get_nothing_but_the_finest() -> None:
    """What costs more than it brings gets nothing; a grouping that no other one tells is always measured."""
    found = best_split(Fraction(1), [10_000, 100, 1], [True, False, False], lambda shares: -shares[0])
    assert found == [1, 0, 0]
    found = best_split(Fraction(1), [10_000, 100, 1], [True, True, False], lambda shares: -shares[2])
    assert min(found) > 0
    assert sum(found) == 1


MARGINS = Layout.plain((10, 12, 8)), [(0, 1, 2), (0, 1), (0, 2), (1, 2)]
ASKED: list[tuple[Layout, list[Any]]] = [
    MARGINS,
    (TABLE, [(0, 1), (0,), (1,), ()]),
    (TREE, ["leaf", "node", "top", ()]),
    (Layout.plain((500,)), [(0,), ()]),
    (Layout.plain((4, 3)), [(0, 1), (0,), (1,), ()]),
    (Layout.plain((3, 4, 5)), [(0, 1, 2), (0, 1), (2,), ()]),
    (Layout.plain((40, 30)), [(0,), (1,), ()]),
    (Layout.plain((2,) * 18), [range(18), (0,), (1,), ()]),
]
EPSILONS = Fraction(1, 100), TENTH, Fraction(1), Fraction(8)


def is_dominated(made: JointPlan, other: JointPlan) -> bool:
    """Return whether another split is predicted to be better by 1 % or more in every grouping."""
    return all(other.error(grouping) <= 0.99 * made.error(grouping) for grouping in made.asked)


@pytest.mark.parametrize(("layout", "names"), ASKED)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_plain_split_is_better_everywhere(layout: Layout, names: list[Any], epsilon: Fraction) -> None:
    """All on the finest, 80 or 35 % there, and parts by the fourth root of the sizes: none is better in everything that
    is asked for, and none is better by what a default split makes small."""
    made = plan(layout, names, epsilon)
    is_finest = finest_of(layout, made.asked)
    finest = sum(is_finest)
    for percent in (100, 80, 35):
        on_finest, rest = Fraction(percent, 100) / finest, Fraction(100 - percent, 100)
        parts = [on_finest if one else rest / (len(made.asked) - finest) for one in is_finest]
        split = {grouping: epsilon * part for grouping, part in zip(made.asked, parts, strict=True)}
        other = plan(layout, names, epsilon, split=split)
        assert not is_dominated(made, other)
        assert (1 - WORTH) * cost(made) <= cost(other) * 1.0001
    other = plan(layout, names, epsilon, split=by_fourth_roots(made))
    assert not is_dominated(made, other)
    assert (1 - WORTH) * cost(made) <= cost(other) * 1.0001


def by_fourth_roots(made: JointPlan) -> dict[Grouping, Fraction]:
    """Return the parts that groupings would have if none helped another one, of epsilon exactly."""
    roots = {grouping: Fraction(round(1000 * made.layout.groups(grouping) ** 0.25)) for grouping in made.asked}
    return {grouping: made.epsilon * root / sum(roots.values()) for grouping, root in roots.items()}


def test_a_dominated_split_is_found() -> None:
    """On 10 x 12 x 8 cells with three margins, parts by the fourth root are worse everywhere than all on the cells."""
    for epsilon in EPSILONS:
        made = plan(*MARGINS, epsilon)
        assert tuple(made.split) == (MARGINS[0].finest,)
        assert is_dominated(plan(*MARGINS, epsilon, split=by_fourth_roots(made)), made)


def test_what_tells_something_by_itself_is_measured() -> None:
    """Whatever is asked for, each grouping is measured or contains one that is, so that each has an error and an
    interval, and a part is positive and in whole thousandths."""
    random = Random(5)
    for _ in range(25):
        layout = Layout.plain([random.randint(1, 30) for _ in range(random.randint(1, 3))])
        every = [axes for size in range(len(layout.axes) + 1) for axes in combinations(range(len(layout.axes)), size)]
        made = plan(layout, random.sample(every, random.randint(1, len(every))), Fraction(random.randint(1, 300), 100))
        assert sum(made.split.values()) == made.epsilon
        for part in made.split.values():
            assert part > 0
            assert (part / made.epsilon * 100 * max(10, len(made.asked))).denominator == 1
        for grouping in made.asked:
            assert any(layout.is_within(source, grouping) for source in made.measured)
            assert math.isfinite(made.error(grouping))
            assert made.asked_weights[grouping] > 0


@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(1), Fraction(5)])
@pytest.mark.parametrize("groups", [2, 5, 30])
def test_the_error_of_a_sum_that_is_not_measured(groups: int, epsilon: Fraction) -> None:
    """The mean distance from zero of a sum of noises, added up one by one, is as predicted to 8 %."""
    layout = Layout.plain((groups,))
    made = plan(layout, [(0,), ()], epsilon, split={layout.finest: epsilon, layout.total: Fraction(0)})
    far = int(60 / float(epsilon))
    one = np.exp(-float(epsilon) * np.abs(np.arange(-far, far + 1)))
    law = np.array([1.0])
    for _ in range(groups):
        law = np.convolve(law, one / one.sum())
    exact = float(np.abs(np.arange(len(law)) - len(law) // 2) @ law)
    assert made.error(layout.total) == pytest.approx(exact, rel=0.08)


def test_what_is_public_is_not_measured_and_costs_nothing() -> None:
    """A grouping that is known, or is a sum of one that is, has no part in epsilon, and no error."""
    known = {TABLE.grouping(0): (np.ones(50, dtype=np.int64), np.ones(50, dtype=np.bool_))}
    made = plan(TABLE, [(0, 1), (0,), (1,), ()], facts=Facts(TABLE, known))
    assert made.measured == (TABLE.finest, TABLE.grouping(1))
    assert sum(made.split.values()) == TENTH
    assert made.error(TABLE.grouping(0)) == made.error(TABLE.total) == 0
    assert made.error(TABLE.finest) < plan(TABLE, [(0, 1), (1,)], split=made.split).error(TABLE.finest)


def test_each_grouping_has_exact_noise_with_a_proof() -> None:
    """A grouping is measured by two-sided geometric noise in grains that keeps the distance guarantee for its part."""
    made = plan(TABLE, [(0, 1), ()], sensitivity=Fraction(3), grain=Fraction(1, 8))
    for grouping, part in made.split.items():
        mechanism = made.mechanism(grouping)
        assert isinstance(mechanism, Geometric)
        assert mechanism.guarantee == "distance"
        assert mechanism.certificate.holds
        assert mechanism.certificate.bound <= part
        assert mechanism.scale == pytest.approx(24 / float(part))
        assert mechanism.variance(0) == pytest.approx(variance(made.rate(grouping)))
    assert max(made.weights.values()) == 1


def test_grains_do_not_matter_to_what_is_predicted() -> None:
    """Counted in finer grains, a table has nearly the same split and errors."""
    coarse, fine = (plan(TABLE, [(0, 1), (0,), (1,), ()], grain=Fraction(1, n)) for n in (1, 2**20))
    assert list(coarse.errors.values()) == pytest.approx(list(fine.errors.values()), rel=0.01)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"names": []}, "at least one grouping"),
    ({"names": [(0,), 0]}, "once"),
    ({"epsilon": Fraction(0)}, "epsilon must be"),
    ({"epsilon": Fraction(2000)}, "epsilon must be"),
    ({"sensitivity": Fraction(0)}, "sensitivity must be positive"),
    ({"grain": Fraction(2, 3)}, "whole number of grains"),
    ({"split": {(0, None): TENTH}}, "every grouping"),
    ({"split": {(0, 0): TENTH / 2, (0, None): TENTH}}, "add up to epsilon"),
    ({"split": {(0, 0): TENTH * 2, (0, None): -TENTH}}, "0 or more"),
    ({"split": {(0, 0): Fraction(0), (0, None): TENTH}}, "must be measured or contain one that is"),
    ({"split": {(0, 0): TENTH / 2, (0, None): TENTH / 2, (None, 0): TENTH}}, "not asked for"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_what_cannot_be_planned_is_refused(given: dict[str, Any], message: str) -> None:
    """A plan that makes no sense is refused with the rule that it breaks."""
    with pytest.raises(InvalidParameter, match=message):
        plan(TABLE, **{"names": [(0, 1), (0,)], **given})


def test_noise_that_does_not_fit_is_refused_by_the_plan() -> None:
    """Noise too wide for 64 bits is refused before anything is measured."""
    with pytest.raises(LatticeTooFine):
        plan(TABLE, [(0, 1)], Fraction(1, 10**9), grain=Fraction(1, 2**40))


def test_a_plan_is_pickled_without_its_memory() -> None:
    """A plan that was pickled measures by the same mechanisms and predicts the same."""
    made = plan(TABLE, [(0, 1), (0,)])
    again = pickle.loads(pickle.dumps(made))
    assert again.errors == made.errors
    assert [again.mechanism(one) == made.mechanism(one) for one in made.measured] == [True, True]


@pytest.mark.parametrize("rate", [600.0, 720.0, 1300.0, 5000.0])
def test_hardly_any_noise_has_no_variance_to_speak_of(rate: float) -> None:
    """However large the rate of the noise is, its variance is a number."""
    assert 0 <= variance(rate) < 1e-250
