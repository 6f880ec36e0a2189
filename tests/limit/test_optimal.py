"""The optimum is what linear programming says is possible, is private to the last unit, and is drawn from exactly."""

from __future__ import annotations

import copy
import math
import pickle
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import accumulate, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize

from inbounds import (
    BoundedLaplace,
    Bounds,
    InboundsError,
    InvalidAnswer,
    InvalidParameter,
    NotPrivate,
    Optimal,
    certify,
    compare,
    recommend,
)
from inbounds.limit import column_generation
from inbounds.limit.exact_table import BITS, TOTAL, ExactTable, greatest_ratio, repaired
from inbounds.limit.linear_program import LinearProgram
from inbounds.limit.optimum import Minimise as Goal
from inbounds.published import ExplicitFair, Geometric, Staircase
from tests.helpers import known_errors
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.script import Script, word

Floats = NDArray[np.float64]
inf, nan = math.inf, math.nan
HALF, TENTH = Fraction(1, 2), Fraction(1, 10)
GOALS: tuple[Goal, ...] = ("mean", "worst")

INTERVAL = Bounds(0, 12, step=1)
ISLANDS = Bounds.union([(0, 5), (9, 9), (13, 17)], step=1)
HALVES = Bounds(HALF, 5, step=HALF, offset=0)
PAIR = Bounds.union([(0, 0), (7, 7)], step=1)
FORTNIGHT = Bounds.dates("2026-05-04", "2026-05-17", weekdays="Mon-Fri")
LATTICES = [INTERVAL, ISLANDS, HALVES, PAIR, FORTNIGHT]


@cache
def made(bounds: Bounds, sensitivity: Any, epsilon: Any, goal: Goal = "mean") -> Optimal:
    """Return an optimum, solved for once."""
    return Optimal(bounds, sensitivity, epsilon, minimise=goal)


def error_of(mechanism: Any, goal: Goal) -> float:
    """Return the mean or the worst error."""
    return float(mechanism.mean_error() if goal == "mean" else mechanism.worst_error())


def indices(bounds: Bounds) -> list[int]:
    """Return the possible answers, counted in steps from zero or, dates, from the first day of the calendar."""
    assert bounds.step is not None
    return [k for low, high in spans(bounds) for k in range(low, high + 1)]


def spans(bounds: Bounds) -> list[Any]:
    """Return the spans in steps."""

    def steps(end: Any) -> int:
        return int(end.toordinal() if bounds.is_dates else (end - bounds.offset) / bounds.step)

    return [(steps(low), steps(high)) for low, high in bounds]


def answers_of(bounds: Bounds) -> list[int]:
    """Return everything that a true answer can be rounded to between the least and the greatest possible one."""
    points = indices(bounds)
    return list(range(points[0], points[-1] + 1))


def neighbours(bounds: Bounds, sensitivity: Any) -> NDArray[np.bool_]:
    """Return which of these two neighbours can have: answers that are rounded so far apart are no farther."""
    assert bounds.step is not None
    apart = abs(np.subtract.outer(answers_of(bounds), answers_of(bounds)))
    return (apart > 0) & (apart <= min(math.ceil(Fraction(str(sensitivity)) / bounds.step), 10**9))


def rows_of(found: Optimal) -> list[tuple[int, ...]]:
    """Return the weights of all releases, for everything that a true answer can be rounded to."""
    return [found.table.weights[index - answers_of(found.bounds)[0]] for index in answers_of(found.bounds)]


def chances_of(found: Optimal) -> Floats:
    """Return the probabilities of all releases for all possible true answers, as they are told."""
    points = points_of(found.bounds)
    return np.array([[found.pmf(k, answer) for k in points] for answer in points])


def errors_of(found: Optimal) -> Floats:
    """Return the errors for all possible true answers."""
    return np.array([found.error(answer) for answer in points_of(found.bounds)])


def below_exp(epsilon: Any) -> Fraction:
    """Return a fraction below exp(epsilon) by less than 1e-30 of it: the series, cut off."""
    power = Fraction(str(epsilon))
    return sum((power**k / math.factorial(k) for k in range(120)), Fraction(0))


def is_private(weights: Sequence[tuple[int, ...]], near: NDArray[np.bool_], epsilon: Any) -> bool:
    """Return whether no weight is above exp(epsilon) times one of its column in an adjacent row, in integers."""
    over, under = below_exp(epsilon).as_integer_ratio()
    pairs = [(weights[i], weights[j]) for i, j in zip(*np.nonzero(near), strict=True)]
    return all(a * under <= over * b for one, other in pairs for a, b in zip(one, other, strict=True))


def least(bounds: Bounds, sensitivity: Any, epsilon: float, goal: Goal, prior: Floats) -> float:
    """Return the least error of any mechanism, in steps: every inequality written out, and solved by SciPy.

    A mechanism may do as it likes for answers in gaps; only errors for possible ones count.
    """
    answers, points = answers_of(bounds), indices(bounds)
    columns, size = len(points), len(answers) * len(points)
    limits = []
    for i, j in zip(*np.nonzero(neighbours(bounds, sensitivity)), strict=True):
        for column in range(columns):
            limit = np.zeros(size + 1)
            limit[i * columns + column], limit[j * columns + column] = 1, -math.exp(epsilon)
            limits.append(limit)
    objective, places = np.zeros(size + 1), [answers.index(point) for point in points]
    objective[-1] = goal == "worst"
    for place, point, weight in zip(places, points, prior, strict=True):
        costs = np.zeros(size + 1)
        costs[place * columns : (place + 1) * columns] = abs(np.array(points) - point)
        if goal == "worst":
            costs[-1] = -1
            limits.append(costs)
        else:
            objective += weight * costs
    sums = np.hstack([np.kron(np.eye(len(answers)), np.ones(columns)), np.zeros((len(answers), 1))])
    within = (np.array(limits), np.zeros(len(limits))) if limits else (None, None)
    closely = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = optimize.linprog(objective, *within, sums, np.ones(len(answers)), options=closely)
    assert found.status == 0
    return float(found.fun)


# What is possible.


@pytest.mark.slow
@pytest.mark.parametrize(known_errors.NAMES, known_errors.OPTIMA)
def test_the_least_errors_are_the_known_ones(epsilon: float, count: int, steps: int, mean: float, worst: float) -> None:
    """Linear programming's least mean and worst errors are found to four digits, and the mechanism has them."""
    for goal, known in zip(GOALS, (mean, worst), strict=True):
        found = made(Bounds(0, count - 1, step=1), steps, epsilon, goal)
        assert found.limit / steps == pytest.approx(known, abs=5.1e-5)
        assert found.limit <= error_of(found, goal) * (1 + 1e-13)
        assert error_of(found, goal) <= found.limit * (1 + 1e-8)


@st.composite
def lattices(draw: st.DrawFn, most: int = 9) -> Bounds:
    """A few points in up to three spans, perhaps off zero, perhaps in thirds."""
    step = draw(st.sampled_from([Fraction(1), Fraction(1, 3)]))
    at, left, ends = draw(st.integers(-4, 4)), most, []
    for _ in range(draw(st.integers(1, 3))):
        length = draw(st.integers(1, min(left, 6)))
        ends.append((at * step, (at + length - 1) * step))
        at, left = at + length + draw(st.integers(1, 5)), left - length
        if not left:
            break
    return Bounds.union(ends, step=step)


EPSILONS = st.sampled_from([0.05, 0.3, 1.0, 2.5])


@pytest.mark.slow
@given(lattices(most=7), st.integers(1, 24), EPSILONS, st.sampled_from(GOALS), st.data())
@settings(max_examples=30)
def test_the_limit_is_that_of_the_program_as_it_is_written(
    bounds: Bounds, quarters: int, epsilon: float, goal: Goal, data: st.DataObject
) -> None:
    """On any lattice, under any prior, the limit is what another solver finds for every inequality written out."""
    assert bounds.step is not None
    sensitivity, count = Fraction(quarters, 4) * bounds.step, len(indices(bounds))
    prior = data.draw(st.lists(st.integers(0, 5), min_size=count, max_size=count).filter(any))
    found = Optimal(bounds, sensitivity, epsilon, minimise=goal, prior=prior if goal == "mean" else None)
    weights = np.array(prior) / sum(prior)
    expected = least(bounds, sensitivity, epsilon, goal, weights)
    assert found.limit == pytest.approx(expected * float(bounds.step), rel=1e-6, abs=1e-6)
    errors = errors_of(found)
    assert (errors @ weights if goal == "mean" else errors.max()) == pytest.approx(found.limit, rel=1e-7, abs=1e-9)


@pytest.mark.slow
@given(st.integers(1, 14), st.sampled_from([0.1, 0.7, 2.0]), st.data())
@settings(max_examples=20)
def test_every_optimum_is_the_geometric_mechanism_read_wisely(n: int, epsilon: float, data: st.DataObject) -> None:
    """Ghosh et al.: for a sensitivity of one step, each prior's optimum is the truncated geometric's best reading."""
    prior = data.draw(st.lists(st.integers(0, 9), min_size=n + 1, max_size=n + 1).filter(any))
    bounds, weights = Bounds(0, n, step=1), np.array(prior) / sum(prior)
    geometric = Geometric(bounds, 1, epsilon, ends="snap")
    joint = np.array([[geometric.pmf(k, i) * weights[i] for k in range(n + 1)] for i in range(n + 1)])
    distances = abs(np.subtract.outer(np.arange(n + 1), np.arange(n + 1)))
    read = (distances @ joint).min(axis=0).sum()  # each output as the answer that is best then
    assert Optimal(bounds, 1, epsilon, prior=prior).limit == pytest.approx(read, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, 3, 10])
@pytest.mark.parametrize(
    ("bounds", "apart"), [(Bounds(3, 4, step=1), 1), (Bounds(0, TENTH, step=TENTH), 0.1), (PAIR, 7)], ids=str
)
def test_two_answers_are_randomised_response(bounds: Bounds, apart: float, epsilon: float, goal: Goal) -> None:
    """Of two possible answers that neighbours can have, the wrong one has probability 1/(1+e^ε)."""
    found = made(bounds, 7, epsilon, goal)
    wrong = 1 / (1 + math.exp(epsilon))
    assert found.limit == pytest.approx(apart * wrong, rel=1e-9)
    assert chances_of(found) == pytest.approx(np.array([[1 - wrong, wrong], [wrong, 1 - wrong]]), rel=1e-8)
    assert found.mean_error() == pytest.approx(found.worst_error(), rel=1e-9)


@pytest.mark.parametrize("goal", GOALS)
def test_a_single_possible_answer_is_always_released(goal: Goal) -> None:
    """With one possible answer there is no error and nothing to tell."""
    found = made(Bounds(4, 4, step=1), 1, 1, goal)
    assert found.table.weights == ((TOTAL,),)
    assert (found.limit, found.mean_error(), found.worst_error(), found.error(4)) == (0, 0, 0, 0)
    assert found.release(9) == found.release(-inf) == 4
    assert found.error(6.5) == 2.5
    assert found.at_ends() == 1
    assert certify(found).holds
    assert found.label.pure


RIVALS: dict[str, Callable[..., Any]] = {
    "normalising": BoundedLaplace,
    "snapping": lambda *given: BoundedLaplace(*given, pooling=1),
    "mixture": lambda *given: BoundedLaplace(*given, pooling=0.4),
    "snapped geometric": lambda *given: Geometric(*given, ends="snap"),
    "folded geometric": lambda *given: Geometric(*given, ends="fold"),
    "snapped staircase": lambda *given: Staircase(*given, ends="snap"),
    "folded staircase": lambda *given: Staircase(*given, ends="fold"),
    "explicit fair": ExplicitFair,
}


@pytest.mark.slow
@given(lattices(most=14), st.integers(1, 24), EPSILONS, st.sampled_from(GOALS))
@settings(max_examples=30)
def test_nothing_is_better(bounds: Bounds, halves: int, epsilon: float, goal: Goal) -> None:
    """No mechanism that is private and in range has a smaller error than the one that is best for it."""
    assert bounds.step is not None
    sensitivity = Fraction(halves, 2) * bounds.step
    best = error_of(Optimal(bounds, sensitivity, epsilon, minimise=goal), goal)
    for name, rival in RIVALS.items():
        if name == "explicit fair" and len(bounds) > 1:
            continue
        assert best <= error_of(rival(bounds, sensitivity, epsilon), goal) * (1 + 1e-8) + 1e-12


@pytest.mark.parametrize("bounds", [INTERVAL, ISLANDS], ids=str)
def test_each_optimum_is_best_at_its_own(bounds: Bounds) -> None:
    """The one for the mean has the lower mean and the one for the worst the lower worst, and they differ."""
    mean, worst = (made(bounds, 3, 0.4, goal) for goal in GOALS)
    assert mean.mean_error() < worst.mean_error() * (1 - 1e-3)
    assert worst.worst_error() < mean.worst_error() * (1 - 1e-3)
    assert (mean.name, worst.name) == ("optimal for the mean error", "optimal for the worst error")


@pytest.mark.parametrize("prior", [[9, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 5], [0] * 6 + [1] * 7, [0] * 9 + [1, 0, 0, 0]])
def test_a_prior_is_believed(prior: list[int]) -> None:
    """Under its own prior an optimum has a smaller error than the one for answers that are all alike."""
    weights = np.array(prior) / sum(prior)
    uniform, own = made(INTERVAL, 2, 0.7), Optimal(INTERVAL, 2, 0.7, prior=prior)
    assert float(errors_of(own) @ weights) < float(errors_of(uniform) @ weights) * 0.99
    assert float(errors_of(own) @ weights) == pytest.approx(own.limit, rel=1e-8, abs=1e-9)
    assert own.mean_error() > uniform.mean_error()


@pytest.mark.parametrize("prior", [[2] * 13, [0.1] * 13, [Decimal("0.1")] * 13, np.full(13, 7), (HALF,) * 13])
def test_weights_that_are_alike_are_no_prior(prior: Any) -> None:
    """A prior is weights of any kind of number, up to a factor; where they are all alike it is as if none was given."""
    assert Optimal(INTERVAL, 2, 0.7, prior=prior).limit == pytest.approx(made(INTERVAL, 2, 0.7).limit, rel=1e-8)


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("bounds", [INTERVAL, Bounds.union([(-9, -4), (5, 10)], step=1), HALVES], ids=str)
def test_a_mirror_image_of_bounds_has_a_mirror_image_of_a_table(bounds: Bounds, goal: Goal) -> None:
    """Where bounds are symmetric about their middle, and no gap has a middle, so are probabilities and errors."""
    found = made(bounds, 2 * (bounds.step or 1), 0.8, goal)
    assert chances_of(found) == pytest.approx(chances_of(found)[::-1, ::-1], abs=1e-12)
    assert errors_of(found) == pytest.approx(errors_of(found)[::-1], rel=1e-10)


@pytest.mark.slow
@given(lattices(), st.integers(1, 12), EPSILONS, st.sampled_from(GOALS))
@settings(max_examples=15)
def test_where_bounds_are_makes_no_difference(bounds: Bounds, steps: int, epsilon: float, goal: Goal) -> None:
    """Moved, or measured in another unit, bounds have the same limit in the new unit."""
    assert bounds.step is not None
    step = bounds.step
    there = Bounds.union([(5 * low + 700 * step, 5 * high + 700 * step) for low, high in spans_of(bounds)], 5 * step)
    one, other = (Optimal(b, steps * (b.step or 1), epsilon, minimise=goal) for b in (bounds, there))
    assert other.limit == pytest.approx(5 * one.limit, rel=1e-7, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
def test_more_epsilon_and_less_sensitivity_are_better(goal: Goal) -> None:
    """The limit falls as epsilon grows, and rises with the sensitivity until everything is within one."""
    by_epsilon = [made(INTERVAL, 2, epsilon, goal).limit for epsilon in (0.01, 0.1, 0.5, 1, 2, 5, 10)]
    by_sensitivity = [made(INTERVAL, steps, 1, goal).limit for steps in (1, 2, 3, 6, 12, 30, 10**30)]
    assert by_epsilon == sorted(by_epsilon, reverse=True)
    assert by_sensitivity[:5] == sorted(by_sensitivity[:5])
    assert by_sensitivity[4:] == pytest.approx([by_sensitivity[4]] * 3, rel=1e-12)


# Privacy, to the last unit.

ASKED = [
    *((bounds, sensitivity, 1) for bounds in (INTERVAL, ISLANDS, HALVES, PAIR, FORTNIGHT) for sensitivity in (1, 2.5)),
    *((ISLANDS, sensitivity, epsilon) for sensitivity in (TENTH, 4, 30) for epsilon in (Fraction(1, 3), 3)),
    *((INTERVAL, 3, epsilon) for epsilon in (0.01, 0.03, 0.1, 0.3, Decimal("2.5"), 5, 10)),
    (Bounds(0, 40, step=1), 8, 0.5),
    (Bounds(0, 20, step=1), 1, 1e-9),
]


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize(("bounds", "sensitivity", "epsilon"), ASKED, ids=str)
def test_every_inequality_holds_in_integers(bounds: Bounds, sensitivity: Any, epsilon: Any, goal: Goal) -> None:
    """No weight is above e^ε times another of its column that a neighbour can have, and every row is one, exactly."""
    found = made(bounds, sensitivity, epsilon, goal)
    weights, near = rows_of(found), neighbours(bounds, sensitivity)
    assert {sum(row) for row in weights} == {2**64}
    assert min(map(min, weights)) > 0
    assert is_private(weights, near, epsilon)
    if goal == "worst":  # the mean error of a small epsilon is least where the middle is released whatever the truth
        assert not is_private(weights, near, Fraction(str(epsilon)) * Fraction(99, 100))


@pytest.mark.slow
@given(lattices(most=12), st.integers(1, 40), st.sampled_from([0.01, 0.2, 1.0, 5.0, 10.0]), st.sampled_from(GOALS))
@settings(max_examples=25)
def test_every_inequality_holds_on_any_lattice(bounds: Bounds, quarters: int, epsilon: float, goal: Goal) -> None:
    """The same, whatever the spans, the gaps in which answers are projected, the sensitivity and epsilon."""
    assert bounds.step is not None
    sensitivity = Fraction(quarters, 4) * bounds.step
    found = Optimal(bounds, sensitivity, epsilon, minimise=goal)
    assert {sum(row) for row in found.table.weights} == {2**64}
    assert is_private(rows_of(found), neighbours(bounds, sensitivity), epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 4, 10])
def test_making_a_table_exact_costs_next_to_nothing(epsilon: float, goal: Goal) -> None:
    """From the smallest to the greatest usual epsilon, the mechanism's error is the limit to eight digits."""
    for bounds, sensitivity in ((Bounds(0, 20, step=1), 1), (Bounds(0, 20, step=1), 7), (ISLANDS, 3)):
        found = made(bounds, sensitivity, epsilon, goal)
        assert found.limit <= error_of(found, goal) * (1 + 1e-13)
        assert error_of(found, goal) <= found.limit * (1 + 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("epsilon", [1e-9, 1e-6, 15, 30, 50, 1000])
def test_an_epsilon_out_of_the_ordinary_is_solved_or_refused(epsilon: float, goal: Goal) -> None:
    """Where doubles cannot tell the optimum it is refused as not for this epsilon; else it is private, and good."""
    for bounds, sensitivity in ((Bounds(0, 20, step=1), 1), (Bounds(0, 20, step=1), 5), (Bounds(0, 1, step=1), 1)):
        try:
            found = Optimal(bounds, sensitivity, epsilon, minimise=goal)
        except InvalidParameter as refusal:
            assert "epsilon" in str(refusal)  # noqa: PT017  either is right
            continue
        assert is_private(rows_of(found), neighbours(bounds, sensitivity), epsilon) or epsilon > 30
        snapped = Geometric(bounds, sensitivity, epsilon, ends="snap")
        assert error_of(found, goal) <= error_of(snapped, goal) * (1 + 1e-6) + 1e-15


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize(("bounds", "sensitivity", "epsilon"), ASKED, ids=str)
def test_the_certificate_says_what_integers_say(bounds: Bounds, sensitivity: Any, epsilon: Any, goal: Goal) -> None:
    """The loss that is proved is the logarithm of the greatest ratio, and certify comes to the same."""
    found = made(bounds, sensitivity, epsilon, goal)
    proof, again = found.certificate, certify(found)
    near, weights = neighbours(bounds, sensitivity), rows_of(found)
    ratios = [
        Fraction(a, b)
        for i, j in zip(*np.nonzero(near), strict=True)
        for a, b in zip(weights[i], weights[j], strict=True)
    ]
    assert again == proof
    assert proof.holds
    assert proof.method == "every pair, every output"
    assert proof.witnessed <= proof.bound <= Fraction(str(epsilon)) == proof.epsilon
    assert float(proof.bound) == pytest.approx(math.log(max(ratios)), rel=1e-12)
    assert found.label.pure
    assert 0 <= Fraction(str(found.label).removeprefix("ε = ")) - Fraction(str(epsilon)) < Fraction(1, 1000)
    one, other = proof.worst_pair
    chances = [(found.pmf(k, one), found.pmf(k, other)) for k in points_of(bounds)]
    assert max(abs(math.log(p / q)) for p, q in chances) == pytest.approx(float(proof.bound), rel=1e-9, abs=1e-15)


def values(bounds: Bounds) -> list[Fraction]:
    """Return the possible answers as fractions; dates as the number of the day."""
    assert bounds.step is not None
    return [bounds.offset + k * bounds.step for k in indices(bounds)]


def points_of(bounds: Bounds) -> list[Any]:
    """Return the possible answers as such."""
    return [bounds.as_answer(value) for value in values(bounds)]


def with_weight_moved(honest: Optimal, row: int, column: int, units: int) -> Optimal:
    """Return a mechanism like another one, but for weight that was moved to the next column in one row."""
    rows = [list(weights) for weights in honest.table.weights]
    rows[row][column] -= units
    rows[row][(column + 1) % len(rows[row])] += units
    false = object.__new__(Optimal)
    told = ("probabilities", "_distribution", "_cumulative")  # of the honest table
    vars(false).update({name: part for name, part in vars(honest).items() if name not in told})
    vars(false).update(_table=ExactTable(tuple(map(tuple, rows))))
    return false


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("bounds", [INTERVAL, ISLANDS], ids=str)
def test_a_weight_that_was_moved_is_found(bounds: Bounds, goal: Goal) -> None:
    """Wherever a thousandth of a weight is moved to another column, what that breaks is found and refused."""
    honest, near = made(bounds, 2, 1, goal), neighbours(bounds, 2)
    weights = honest.table.weights
    places = list(product(range(len(weights)), range(len(weights[0]))))
    caught = 0
    for row, column in places:
        false = with_weight_moved(honest, row, column, weights[row][column] // 1000)
        if is_private(rows_of(false), near, 1):
            assert certify(false).holds
            continue
        caught += 1
        with pytest.raises(NotPrivate, match=r"the law does not keep the promise\. REFUTED") as refusal:
            certify(false)
        assert refusal.value.certificate.witnessed > 1
    assert caught > len(places) / 4
    assert certify(honest).holds


def test_a_ratio_that_was_broken_is_pointed_at() -> None:
    """The greatest ratio of a table with one weight too many is at that weight, and is what was put there."""
    honest = made(INTERVAL, 2, 1).table.weights
    rows = [list(row) for row in honest]
    rows[4][9] += honest[4][9] * 10
    found = greatest_ratio(ExactTable(tuple(map(tuple, rows))), neighbours(INTERVAL, 2))
    assert (found.row, found.column) == (4, 9)
    assert found.value == max(Fraction(rows[4][9], rows[other][9]) for other in (2, 3, 5, 6)) > below_exp(1)


def test_a_release_that_only_one_of_two_neighbours_can_have_is_refused() -> None:
    """A table with a zero beside what is no zero keeps no epsilon, and certify says so."""
    honest = made(INTERVAL, 2, 1)
    false = with_weight_moved(honest, 3, 5, honest.table.weights[3][5])
    with pytest.raises(NotPrivate):
        certify(false)


WEIGHTS = st.integers(1, 9) | st.integers(2**60, 2**60 + 3) | st.integers(1, TOTAL)


@given(st.integers(2, 5), st.integers(1, 4), st.data())
def test_the_greatest_ratio_is_the_greatest(rows: int, columns: int, data: st.DataObject) -> None:
    """Also among ratios that no double can tell apart, and wherever it is."""
    numbers = data.draw(st.lists(WEIGHTS, min_size=rows * columns, max_size=rows * columns))
    weights = tuple(tuple(numbers[k * columns : (k + 1) * columns]) for k in range(rows))
    near = np.array(data.draw(st.lists(st.booleans(), min_size=rows**2, max_size=rows**2))).reshape(rows, rows)
    near &= ~np.eye(rows, dtype=bool)
    near |= near.T
    found = greatest_ratio(ExactTable(weights), near)
    pairs = list(zip(*np.nonzero(near), strict=True))
    ratios = [Fraction(a, b) for i, j in pairs for a, b in zip(weights[i], weights[j], strict=True)]
    assert found.value == max(ratios, default=1)
    if ratios and found.value > 1:
        assert near[found.row, found.other]
        assert Fraction(weights[found.row][found.column], weights[found.other][found.column]) == found.value


@pytest.mark.slow
@given(
    st.sampled_from([Fraction(1, 100), Fraction(1), Fraction(5), Fraction(12)]),
    st.integers(2, 8),
    st.integers(0, 2**32 - 1),
)
def test_a_table_in_doubles_is_repaired(epsilon: Fraction, size: int, seed: int) -> None:
    """A table that is private but for rounding errors is made exactly private, and next to nothing is moved."""
    places = np.arange(size)
    powers = np.exp(-float(epsilon) * abs(np.subtract.outer(places, places)))
    snapped = Geometric(Bounds(0, size - 1, step=1), 1, epsilon, ends="snap")
    table = np.array([[snapped.pmf(int(k), int(i)) for k in places] for i in places])
    near = abs(np.subtract.outer(places, places)) == 1
    noise = np.random.default_rng(seed).uniform(-1e-14, 1e-14, powers.shape)
    exact = repaired(table + noise, near, epsilon)
    assert {sum(row) for row in exact.weights} == {TOTAL}
    assert min(map(min, exact.weights)) > 0
    assert is_private(exact.weights, near, epsilon)
    assert np.array(exact.weights, dtype=float) / TOTAL == pytest.approx(table, abs=1e-9)


def test_what_is_below_nothing_is_repaired_too() -> None:
    """A solver's small negative numbers become small positive weights, and do not lower the others' sum."""
    near = ~np.eye(2, dtype=bool)
    exact = repaired(np.array([[0.6, 0.4, -1e-9], [0.4, 0.6, -1e-9]]), near, Fraction(1))
    assert min(map(min, exact.weights)) > 0
    assert [sum(row) for row in exact.weights] == [TOTAL, TOTAL]


def test_a_table_that_is_not_private_is_not_repaired() -> None:
    """What breaks the guarantee by more than rounding errors is refused, not mended out of recognition."""
    near = ~np.eye(3, dtype=bool)
    with pytest.raises(InboundsError, match=r"could not be made exactly private at epsilon = 0\.5; take a larger"):
        repaired(np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]), near, HALF)


# Releases.


@pytest.mark.parametrize("bounds", LATTICES, ids=str)
def test_a_draw_is_where_its_word_falls(bounds: Bounds) -> None:
    """The last word below each cumulative weight gives one release, and the next word the next one."""
    found, points = made(bounds, 2, 1), points_of(bounds)
    for index, weights in zip(answers_of(bounds), rows_of(found), strict=True):
        answer = bounds.as_answer(bounds.offset + index * found.step)
        stops = list(accumulate(weights))
        assert stops[-1] == 2**BITS
        for place, stop in enumerate(stops):
            below = Script(word(stop - 1, BITS))
            assert found._release_one(answer, below) == points[place]
            assert below.asked == [8]
            if place < len(points) - 1:
                assert found._release_one(answer, Script(word(stop, BITS))) == points[place + 1]
        assert found._release_one(answer, Script(word(0, BITS))) == points[0]


@pytest.mark.slow
@pytest.mark.parametrize(("bounds", "answer"), [(INTERVAL, 3), (ISLANDS, 7), (HALVES, 4.0)], ids=str)
@pytest.mark.parametrize("form", ["one by one", "array"])
def test_releases_follow_the_table(bounds: Bounds, answer: Any, form: str) -> None:
    """Releases, alone and in arrays, fit the probabilities that are told, and not those for another epsilon."""
    found, other = (made(bounds, 2, epsilon) for epsilon in (0.8, 1.6))
    count = 12_000
    drawn = (
        [found.release(answer) for _ in range(count)] if form != "array" else found.release([answer] * count).tolist()
    )
    counts, points = Counter(drawn), values(bounds)
    assert set(counts) <= set(points)
    seen = [counts[point] for point in points]
    assert p_value(seen, [found.pmf(point, answer) for point in points]) > FLOOR
    assert p_value(seen, [other.pmf(point, answer) for point in points]) < FLOOR


@pytest.mark.parametrize(
    ("bounds", "outside", "nearest"),
    [
        *((INTERVAL, outside, 0) for outside in (-0.4, -3, -(10**30), -inf)),
        *((INTERVAL, outside, 12) for outside in (12.4, 99, 1e300, inf)),
        (ISLANDS, -7, 0),
        (ISLANDS, 21.5, 17),
        (FORTNIGHT, date(1926, 5, 10), date(2026, 5, 4)),
    ],
    ids=str,
)
def test_what_is_outside_is_projected(bounds: Bounds, outside: Any, nearest: Any) -> None:
    """An answer beyond an end has the law of that end, and its draws."""
    found, points = made(bounds, 2, 1), points_of(bounds)
    assert [found.pmf(k, outside) for k in points] == [found.pmf(k, nearest) for k in points]
    for seed in range(9):
        assert found._release_one(outside, Script(seed=seed)) == found._release_one(nearest, Script(seed=seed))
        one, other = ([answer] * 3 for answer in (outside, type(outside)(nearest) if not bounds.is_dates else nearest))
        drawn = [found._release_array(answers, Script(seed=seed)).tolist() for answers in (one, other)]
        assert drawn[0] == drawn[1]


@pytest.mark.parametrize("bounds", LATTICES, ids=str)
def test_releases_are_possible(bounds: Bounds) -> None:
    """Every release is a possible answer, at the luckiest and the worst of draws."""
    found = made(bounds, 2, 1)
    assert found.in_range
    answers = [date(2020, 1, 1), date(2026, 5, 9), date(2027, 1, 1)] if bounds.is_dates else [-50, 0.2, 7, 11, 50]
    for answer in answers:
        for entropy in (*(Script(seed=seed) for seed in range(10)), Script(bytes(8)), Script(b"\xff" * 8)):
            assert found._release_one(answer, entropy) in bounds
    assert all(released in bounds for released in found.release(answers * 20).tolist())


@pytest.mark.parametrize(
    ("bounds", "answer", "kind"),
    [
        (INTERVAL, 5, int),
        (INTERVAL, 5.4, int),
        (INTERVAL, np.int64(5), int),
        (INTERVAL, Fraction(5), Fraction),
        (INTERVAL, Decimal(5), Decimal),
        (HALVES, 3, float),
        (HALVES, Fraction(3), Fraction),
        (HALVES, Decimal("3.5"), Decimal),
        (FORTNIGHT, date(2026, 5, 9), date),
        (FORTNIGHT, np.datetime64("2026-05-09"), np.datetime64),
    ],
    ids=str,
)
def test_one_answer_gives_one_of_its_kind(bounds: Bounds, answer: Any, kind: type) -> None:
    """An int on an integer lattice, a Fraction, Decimal or date for such, else a float; in arrays too."""
    found = made(bounds, 1, 1)
    assert {type(found.release(answer)) for _ in range(5)} == {kind}
    array = found.release([answer, answer])
    assert array.shape == (2,)
    assert {type(released) for released in array.tolist()} == {kind}


@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (3, 0, 2)])
@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "f4", "f8", "O"])
def test_arrays_keep_their_shape(shape: tuple[int, ...], dtype: str) -> None:
    """Arrays of every shape and dtype give arrays of the same shape; of int64, on an integer lattice."""
    released = made(INTERVAL, 1, 1).release(np.full(shape, 3).astype(dtype))
    assert released.shape == shape
    assert released.dtype == np.int64 or dtype == "O"


@pytest.mark.parametrize("wrong", [nan, "5", None, True, 5j, [1.0, nan], date(2026, 1, 1)], ids=repr)
def test_what_is_no_number_is_refused(wrong: Any) -> None:
    """NaN, texts and the like are refused before anything is drawn."""
    found, entropy = made(INTERVAL, 1, 1), Script()
    with pytest.raises(InvalidAnswer):
        (found._release_array if isinstance(wrong, list) else found._release_one)(wrong, entropy)
    assert entropy.asked == []


def test_a_sensitivity_in_days_is_a_number_of_days() -> None:
    """On dates a timedelta is as good as a number, and errors are in days."""
    found = Optimal(FORTNIGHT, timedelta(days=2), 1)
    assert found.table.weights == made(FORTNIGHT, 2, 1).table.weights
    assert found.release(date(2026, 5, 6)) in FORTNIGHT
    assert found.error(date(2026, 5, 6)) == pytest.approx(errors_of(found)[2])


# What it says of itself.


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("bounds", LATTICES, ids=str)
def test_figures_are_sums_over_the_table(bounds: Bounds, goal: Goal) -> None:
    """Probabilities, errors anywhere, means, windows and the probability of an end follow from the exact weights."""
    found, numbers, points = made(bounds, 2, 1, goal), values(bounds), points_of(bounds)
    rows = [found.table.weights[index - answers_of(found.bounds)[0]] for index in indices(bounds)]
    chances = np.array([[float(Fraction(weight, TOTAL)) for weight in row] for row in rows])
    assert (chances_of(found) == chances).all()
    errors = [float(row @ [float(abs(x - at)) for x in numbers]) for row, at in zip(chances, numbers, strict=True)]
    assert [found.error(answer) for answer in points] == pytest.approx(errors, rel=1e-12)
    assert found.mean_error() == pytest.approx(np.mean(errors), rel=1e-12)
    assert found.worst_error() == pytest.approx(max(errors), rel=1e-12)
    ends = [numbers.index(end) for end in {e for span in spans_of(bounds) for e in span}]
    assert found.at_ends() == pytest.approx(chances[:, ends].sum(axis=1).mean(), rel=1e-12)
    window = (points[0], points[-2])
    assert found.mean_error(window) == pytest.approx(np.mean(errors[:-1]), rel=1e-12)
    assert found.worst_error(window) == pytest.approx(max(errors[:-1]), rel=1e-12)


def spans_of(bounds: Bounds) -> list[tuple[Fraction, Fraction]]:
    """Return the spans as fractions."""
    assert bounds.step is not None
    return [(bounds.offset + low * bounds.step, bounds.offset + high * bounds.step) for low, high in spans(bounds)]


def test_an_error_is_from_the_true_answer_wherever_it_is() -> None:
    """Between points, in a gap or outside, an error is the distance of releases from the true answer."""
    found, points = made(ISLANDS, 2, 1), [float(x) for x in values(ISLANDS)]
    for truth, nearest in ((2.25, 2), (7.2, 7), (-4, 0), (21.5, 17), (10.9, 11)):
        expected = sum(found.pmf(k, nearest) * abs(k - truth) for k in points)
        assert found.error(truth) == pytest.approx(expected, rel=1e-12)
    assert found.pmf(7, 5) == found.pmf(2.5, 5) == 0.0


def test_the_text_names_it_and_its_label() -> None:
    """Its repr is one line with its class, its bounds, what was given, and its label at the end; it has no scale."""
    found = made(INTERVAL, 2, 1, "worst")
    assert repr(found).startswith("<Optimal([0, 12] step 1, sensitivity=2, epsilon=1, minimise='worst')")
    assert repr(found).endswith(f"{found.label}>")
    assert found.scale is None
    assert found.minimise == "worst"
    assert found.step == 1


@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_a_copy_says_and_draws_the_same(again: Callable[[Any], Any]) -> None:
    """An optimum that was used, then pickled or copied, has the same text, table and draws, and is proved again."""
    found = made(ISLANDS, 2, 1)
    found.release([1, 2])
    copied = again(found)
    assert (repr(copied), copied.certificate) == (repr(found), found.certificate)
    assert copied.table.weights == found.table.weights
    assert copied._release_one(1, Script(seed=3)) == found._release_one(1, Script(seed=3))
    assert certify(copied) == found.certificate


def test_an_optimum_is_frozen() -> None:
    """Nothing that it says of itself can be set or deleted, so that what was proved stays true."""
    found = made(INTERVAL, 2, 1)
    for attribute in ("epsilon", "certificate", "table", "minimise", "limit", "name"):
        with pytest.raises(AttributeError, match="has no setter"):
            setattr(found, attribute, 1)
        with pytest.raises(AttributeError, match="has no deleter"):
            delattr(found, attribute)


def test_optima_are_equal_if_their_tables_are() -> None:
    """Two that were found alike are equal, and the best for the mean is not the best for the worst."""
    found, other = (Optimal(Bounds(0, 5, step=1), 1, 1) for _ in range(2))
    assert found == other
    assert hash(found) == hash(other)
    assert found != Optimal(Bounds(0, 5, step=1), 1, 1, minimise="worst")
    assert found != Optimal(Bounds(0, 5, step=1), 1, 1, prior=[1, 2, 3, 4, 5, 6])


@pytest.mark.slow
def test_settings_of_numpy_make_no_difference() -> None:
    """Everything goes through where the caller has told NumPy to raise on underflow, as on anything else."""
    with np.errstate(all="raise"):
        for goal, epsilon in product(GOALS, (0.01, 10)):
            found = Optimal(Bounds(0, 30, step=1), 3, epsilon, minimise=goal)
            found.release(np.array([1, 2]))
            assert certify(found).holds
            assert found.mean_error() <= found.worst_error() * (1 + 1e-12)


def test_the_same_question_has_the_same_answer() -> None:
    """Solving twice gives the same table to the last unit."""
    one, other = (Optimal(ISLANDS, 3, 0.7, minimise="worst") for _ in range(2))
    assert one.table.weights == other.table.weights
    assert one.limit == other.limit


# What is refused.

LONG = Bounds(0, 400, step=1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Optimal(Bounds(0, 1), 1, 1), r"needs bounds with a step, got \[0, 1\]; give them one, or "),
        (
            lambda: Optimal(Bounds(0, None, step=1), 1, 1),
            r"at most 400 answers .*, and \[0, inf\) step 1 has",
        ),
        (lambda: Optimal(LONG, 1, 1), r"at most 400 answers .*, and \[0, 400\] step 1 has more; give"),
        (lambda: Optimal(INTERVAL, 1, 1, minimise="median"), "minimise must be 'mean' or 'worst', got 'median'"),  # type: ignore[arg-type]
        (lambda: Optimal(INTERVAL, 1, 1, minimise=None), "minimise must be 'mean' or 'worst', got None"),  # type: ignore[arg-type]
        (lambda: Optimal(INTERVAL, 1, 1, minimise=["mean"]), "minimise must be 'mean' or 'worst', got"),  # type: ignore[arg-type]
        (lambda: Optimal(INTERVAL, 1, 1, prior=[1] * 12), "one weight for each of 13 possible answers, got 12"),
        (lambda: Optimal(INTERVAL, 1, 1, prior=[]), "one weight for each of 13 possible answers, got 0"),
        (lambda: Optimal(INTERVAL, 1, 1, prior=[1] * 12 + [-1]), "weights that are not negative, and not all zero"),
        (lambda: Optimal(INTERVAL, 1, 1, prior=[0] * 13), "weights that are not negative, and not all zero"),
        (lambda: Optimal(INTERVAL, 1, 1, prior=[nan] * 13), "a weight of the prior must be a finite number, got nan"),
        (lambda: Optimal(INTERVAL, 1, 1, prior=[inf] * 13), "a weight of the prior must be a finite number, got inf"),
        (lambda: Optimal(INTERVAL, 1, 1, prior="flat"), "a weight of the prior must be a finite number, got 'f'"),
        (lambda: Optimal(INTERVAL, 1, 1, prior=5), "prior must"),  # type: ignore[arg-type]
        (lambda: Optimal((0, 1), 1, 1), "bounds must be a Bounds, got tuple"),  # type: ignore[arg-type]
        (lambda: Optimal(INTERVAL, 0, 1), "sensitivity must be positive, got 0"),
        (lambda: Optimal(INTERVAL, 1, 0), "epsilon must be from 1e-9 to 1000, got 0"),
        (lambda: Optimal(INTERVAL, 1, nan), "epsilon must be a finite number, got nan"),
        (lambda: Optimal(INTERVAL, timedelta(1), 1), "sensitivity must be a number .*, got 1 day"),
    ],
)
def test_mistakes_are_named(make: Callable[[], Any], message: str) -> None:
    """A parameter that makes no sense, or bounds with too many answers, are refused by rule, with the remedy."""
    with pytest.raises(InvalidParameter, match=message):
        make()


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize(("constant", "value"), [("BUDGET", 45), ("PATIENCE", 1)])
def test_a_search_that_gets_nowhere_is_given_up(
    constant: str, value: int, goal: Goal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After so many rounds the optimum is refused, at the same one everywhere, with what was found until then."""
    best = made(Bounds(0, 44, step=1), 7, 0.2, goal)
    monkeypatch.setattr(column_generation, constant, value)
    monkeypatch.setattr(column_generation, "ACCEPTED", 1e-6)
    told = set()
    for _ in range(2):
        with pytest.raises(InvalidParameter, match=r"within \d+ rounds on \d+ points.* take a larger step") as refusal:
            Optimal(Bounds(0, 44, step=1), 7, 0.2, minimise=goal)
        told.add(str(refusal.value))
    [text] = told
    low, high = (float(number) for number in re.search("from (.+) to (.+) steps", text).groups())  # type: ignore[union-attr]
    assert low <= best.limit * (1 + 1e-6) <= high * (1 + 2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
def test_a_search_that_ends_early_is_honest(goal: Goal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table within a hundredth of the proved limit is accepted; the limit stays one, and privacy is proved."""
    setting = (Bounds(0, 44, step=1), 7, 0.2)
    best = made(*setting, goal)
    for rounds in (5, 10, 20, 40, 80):
        monkeypatch.setattr(column_generation, "BUDGET", 45 * rounds)
        try:
            found = Optimal(*setting, minimise=goal)
        except InvalidParameter:
            continue
        break
    assert found.limit <= best.limit * (1 + 1e-12)
    assert best.limit <= error_of(found, goal) * (1 + 1e-12) <= found.limit * (1 + column_generation.ACCEPTED + 1e-6)
    assert certify(found).holds


def test_where_the_simplex_fails_the_interior_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search in which HiGHS has to start over, and from the interior, ends where it ends without."""
    best = made(ISLANDS, 2, 3, "worst")
    run, calls = LinearProgram._run_in_stretches, iter(range(10**6))

    def failing(program: LinearProgram) -> bool:
        interior = program._solver.getOptionValue("solver")[1] == "ipm"
        return run(program) and (interior or next(calls) % 7 not in (3, 4))

    monkeypatch.setattr(LinearProgram, "_run_in_stretches", failing)
    monkeypatch.setattr(column_generation, "MOST_RESCUES", 1000)
    found = Optimal(ISLANDS, 2, 3, minimise="worst")
    assert next(calls) > 14
    assert found.limit == pytest.approx(best.limit, rel=1e-6)


@pytest.mark.parametrize("goal", GOALS)
def test_a_solver_that_always_fails_is_not_asked_forever(goal: Goal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where HiGHS finds nothing at all, the optimum is refused by rule, and a comparison does without."""
    monkeypatch.setattr(LinearProgram, "_run_in_stretches", lambda program: False)
    with pytest.raises(InvalidParameter, match=r"the solver starting over at most 12 times; got from 0 to inf steps"):
        Optimal(ISLANDS, 2, 3, minimise=goal)
    assert compare(ISLANDS, 2, 3).rows[0].eligible


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [3, 4])
def test_a_program_that_the_solver_refuses_is_tried_again(epsilon: float) -> None:
    """Where HiGHS ends with an error on the program as it is, it is asked again in other ways."""
    found = Optimal(Bounds(0, 199, step=1), 20, epsilon)
    assert found.limit <= found.mean_error() * (1 + 1e-13)
    assert found.mean_error() <= found.limit * (1 + 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
def test_a_search_on_a_plateau_gets_off_it(goal: Goal) -> None:
    """Where many rounds bring nothing, as on wide ranges at small epsilon, the search goes on and ends."""
    found = Optimal(Bounds(0, 119, step=1), 12, 0.2, minimise=goal)
    assert found.limit <= error_of(found, goal) * (1 + 1e-13)
    assert error_of(found, goal) <= found.limit * (1 + 1e-8)


def test_without_the_solver_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where HiGHS is not installed the optimum is refused with the name of the extra, and nothing else is."""
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(InvalidParameter, match=r"not installed: pip install 'inbounds\[optimal\]'"):
        Optimal(INTERVAL, 1, 1)
    comparison = compare(INTERVAL, 1, 1)
    assert comparison.rows[0].eligible
    assert not [row for row in comparison if row.name.startswith("optimal")]
    assert "optimal" not in recommend(INTERVAL, 1, 1, minimise="worst").reason
    asked = compare(INTERVAL, 1, 1, optimum=True)["optimal for the mean error"]
    assert asked.not_applicable is not None
    assert "inbounds[optimal]" in asked.not_applicable


# Telling, and stopping.

SLOW = (Bounds(0, 199, step=1), 3, 0.05)


@pytest.mark.slow
def test_who_waits_long_is_told_and_can_stop() -> None:
    """A solve that takes long tells how far it is; whoever interrupts it there can go on using everything."""
    told: list[str] = []

    def interrupt(text: str) -> None:
        told.append(text)
        raise KeyboardInterrupt

    for goal in GOALS:
        with pytest.raises(KeyboardInterrupt):
            Optimal(*SLOW, minimise=goal, progress=interrupt)
        assert Optimal(INTERVAL, 2, 1, minimise=goal).limit == made(INTERVAL, 2, 1, goal).limit
    assert len(told) == 2
    assert all("least error on" in text and "\n" not in text and len(text) < 80 for text in told)


def test_who_does_not_wait_is_not_told() -> None:
    """A solve that is over at once says nothing."""
    told: list[str] = []
    Optimal(INTERVAL, 2, 1, progress=told.append)
    assert told == []


def test_what_is_impossible_for_one_answer_only_keeps_no_epsilon() -> None:
    """A release that one of two neighbouring answers never has is refused whatever epsilon is."""
    near = ~np.eye(2, dtype=bool)
    told = ExactTable(((TOTAL, 0), (0, TOTAL)))
    assert greatest_ratio(told, near).value > 2**2000
