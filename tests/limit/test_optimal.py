"""The optimum is what linear programming says is possible, is private to the last unit, and is drawn from exactly."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds, InvalidAnswer, InvalidParameter, NotPrivate, Optimal, certify
from inbounds.limit import optimal, search
from inbounds.limit.cells.cell_law import CellLaw
from inbounds.limit.cells.exact_table import ExactTable
from inbounds.limit.cells.kernel import TableKernel
from inbounds.limit.goal import Minimise as Goal
from inbounds.published import ExplicitFair, Geometric, Staircase
from tests.helpers import known_errors
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.exact_optimum import (
    FORTNIGHT,
    GOALS,
    HALF,
    HALVES,
    INTERVAL,
    ISLANDS,
    LATTICES,
    PAIR,
    PATIENT,
    WORDS,
    answers_of,
    chances_of,
    error_of,
    errors_of,
    exact_rows,
    indices,
    is_private,
    is_private_chain,
    is_private_without_table,
    least,
    made,
    neighbours,
    points_of,
    spans_of,
    values,
)
from tests.helpers.scripted_entropy import Script

inf, nan = math.inf, math.nan
TENTH = Fraction(1, 10)

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
    found = Optimal(
        bounds, sensitivity, epsilon, minimise=goal, prior=prior if goal == "mean" else None, time_limit=PATIENT
    )
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
@settings(max_examples=15)
def test_nothing_is_better(bounds: Bounds, halves: int, epsilon: float, goal: Goal) -> None:
    """No mechanism that is private and in range has a smaller error than the one that is best for it."""
    assert bounds.step is not None
    sensitivity = Fraction(halves, 2) * bounds.step
    best = error_of(Optimal(bounds, sensitivity, epsilon, minimise=goal, time_limit=PATIENT), goal)
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
    one, other = (
        Optimal(b, steps * (b.step or 1), epsilon, minimise=goal, time_limit=PATIENT) for b in (bounds, there)
    )
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
    if found.table is None:
        assert is_private_chain(found, sensitivity)
        return
    weights, near = exact_rows(found), neighbours(bounds, sensitivity)
    assert {sum(row) for row in weights} == {WORDS**2}
    assert is_private(weights, near, epsilon)
    if goal == "worst":  # the mean error of a small epsilon is least where the middle is released whatever the truth
        assert not is_private(weights, near, Fraction(str(epsilon)) * Fraction(99, 100))


@pytest.mark.slow
@given(lattices(most=12), st.integers(1, 40), st.sampled_from([0.01, 0.2, 1.0, 5.0, 10.0]), st.sampled_from(GOALS))
@example(Bounds.parse("[0, 1] | [4, 8] | [12, 14] step 1"), 13, 10.0, "worst")
@settings(max_examples=25)
def test_every_inequality_holds_on_any_lattice(bounds: Bounds, quarters: int, epsilon: float, goal: Goal) -> None:
    """The same, whatever the spans, the gaps in which answers are projected, the sensitivity and epsilon."""
    assert bounds.step is not None
    sensitivity = Fraction(quarters, 4) * bounds.step
    found = Optimal(bounds, sensitivity, epsilon, minimise=goal, time_limit=PATIENT)
    if found.table is None:
        assert len(indices(bounds)) == 1 or is_private_without_table(found, sensitivity, epsilon)
    else:
        assert is_private(exact_rows(found), neighbours(bounds, sensitivity), epsilon)
    assert certify(found).holds


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1, 4, 10])
def test_making_a_table_exact_costs_next_to_nothing(epsilon: float, goal: Goal) -> None:
    """From the smallest to the greatest usual epsilon, the mechanism's error is the limit to seven digits."""
    for bounds, sensitivity in ((Bounds(0, 20, step=1), 1), (Bounds(0, 20, step=1), 7), (ISLANDS, 3)):
        found = made(bounds, sensitivity, epsilon, goal)
        assert found.limit <= error_of(found, goal) * (1 + 1e-13)
        assert error_of(found, goal) <= found.limit * (1 + 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("epsilon", [1e-9, 1e-6, 15, 30, 50, 1000])
def test_an_epsilon_out_of_the_ordinary_is_no_worse_than_snapping(epsilon: float, goal: Goal) -> None:
    """Where doubles cannot tell the optimum, what is found is private, and as good as what everybody else does."""
    for bounds, sensitivity in ((Bounds(0, 20, step=1), 1), (Bounds(0, 20, step=1), 5), (Bounds(0, 1, step=1), 1)):
        found = Optimal(bounds, sensitivity, epsilon, minimise=goal, time_limit=PATIENT)
        assert found.certificate.holds
        snapped = Geometric(bounds, sensitivity, epsilon, ends="snap")
        assert error_of(found, goal) <= error_of(snapped, goal) * (1 + 1e-6) + 1e-15


@pytest.mark.slow
@pytest.mark.parametrize(("bounds", "sensitivity", "epsilon"), ASKED, ids=str)
def test_the_certificate_says_what_integers_say(bounds: Bounds, sensitivity: Any, epsilon: Any) -> None:
    """The loss that is proved is the logarithm of the greatest ratio, and certify comes to the same."""
    found = made(bounds, sensitivity, epsilon, "worst")
    proof, again = found.certificate, certify(found)
    near, weights = neighbours(bounds, sensitivity), exact_rows(found)
    ratios = [
        Fraction(a, b)
        for i, j in zip(*np.nonzero(near), strict=True)
        for a, b in zip(weights[i], weights[j], strict=True)
    ]
    assert again.holds
    assert float(again.bound) == pytest.approx(float(proof.bound), rel=1e-9)
    assert proof.method == "every pair, every output"
    assert proof.witnessed <= proof.bound <= Fraction(str(epsilon)) == proof.epsilon
    assert float(proof.bound) == pytest.approx(math.log(max(ratios)), rel=1e-12)
    assert found.label.pure
    one, other = proof.worst_pair
    chances = [(found.pmf(k, one), found.pmf(k, other)) for k in points_of(bounds)]
    assert max(abs(math.log(p / q)) for p, q in chances) == pytest.approx(float(proof.bound), rel=1e-9, abs=1e-15)


def with_weight_moved(honest: Optimal, row: int, column: int, units: int) -> Optimal:
    """Return a mechanism like another one, but for weight that was moved to the next column in one row."""
    law = honest._law
    assert isinstance(law, CellLaw)
    assert honest.table is not None
    rows = [list(weights) for weights in honest.table.weights]
    rows[row][column] -= units
    rows[row][(column + 1) % len(rows[row])] += units
    false = copy.copy(honest)
    false._law = replace(law, kernel=TableKernel(ExactTable(tuple(map(tuple, rows)))))
    return false


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [INTERVAL, ISLANDS], ids=str)
def test_a_weight_that_was_moved_is_found(bounds: Bounds) -> None:
    """Wherever a thousandth of a weight is moved to another column, what that breaks is found and refused."""
    honest, near = made(bounds, 2, 1, "worst"), neighbours(bounds, 2)
    assert honest.table is not None
    weights = honest.table.weights
    places = list(product(range(0, len(weights), 3), range(0, len(weights[0]), 2)))
    caught = 0
    for row, column in places:
        false = with_weight_moved(honest, row, column, weights[row][column] // 1000)
        if is_private(exact_rows(false), near, 1):
            assert certify(false).holds
            continue
        caught += 1
        with pytest.raises(NotPrivate, match=r"the law does not satisfy the guarantee\. REFUTED") as refusal:
            certify(false)
        assert refusal.value.certificate.witnessed > 1
    assert caught > len(places) / 4
    with pytest.raises(NotPrivate):  # a zero beside what is no zero
        certify(with_weight_moved(honest, 3, 5, weights[3][5]))
    assert certify(honest).holds


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
    assert found._law.key == made(FORTNIGHT, 2, 1)._law.key
    assert found.release(date(2026, 5, 6)) in FORTNIGHT
    assert found.error(date(2026, 5, 6)) == pytest.approx(errors_of(found)[2])


# What it says of itself.


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("bounds", LATTICES, ids=str)
def test_figures_are_sums_over_the_law(bounds: Bounds, goal: Goal) -> None:
    """Probabilities, errors anywhere, means, windows and the probability of an end follow from the law."""
    found, numbers, points = made(bounds, 2, 1, goal), values(bounds), points_of(bounds)
    chances = chances_of(found)
    if found.table is not None:
        rows = [exact_rows(found)[index - answers_of(bounds)[0]] for index in indices(bounds)]
        exact = np.array([[float(Fraction(weight, WORDS**2)) for weight in row] for row in rows])
        assert chances == pytest.approx(exact, rel=1e-12)
    assert chances.sum(axis=1) == pytest.approx(np.ones(len(points)), rel=1e-12)
    errors = [float(row @ [float(abs(x - at)) for x in numbers]) for row, at in zip(chances, numbers, strict=True)]
    assert [found.error(answer) for answer in points] == pytest.approx(errors, rel=1e-11)
    assert found.mean_error() == pytest.approx(np.mean(errors), rel=1e-11)
    assert found.worst_error() == pytest.approx(max(errors), rel=1e-11)
    assert found.optimality.error == pytest.approx(error_of(found, goal), rel=1e-9)
    ends = [numbers.index(end) for end in {e for span in spans_of(bounds) for e in span}]
    assert found.at_ends() == pytest.approx(chances[:, ends].sum(axis=1).mean(), rel=1e-11)
    window = (points[0], points[-2])
    assert found.mean_error(window) == pytest.approx(np.mean(errors[:-1]), rel=1e-11)
    assert found.worst_error(window) == pytest.approx(max(errors[:-1]), rel=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("bounds", [*LATTICES, Bounds(0, 40, step=1)], ids=str)
def test_a_release_of_the_base_is_read_wisely(bounds: Bounds, goal: Goal) -> None:
    """The law is that of the base, each release of it replaced by one that is possible; that adds no loss."""
    found = made(bounds, 2, 0.4, goal)
    base, points = found.base, points_of(bounds)
    for answer in points[::3]:
        expected = Counter[Any]()
        for k in points:
            expected[found.remap(k)] += base.pmf(k, answer)
        assert [expected[k] for k in points] == pytest.approx([found.pmf(k, answer) for k in points], abs=1e-12)
    assert base.label == found.label
    assert base.release(points[0]) in bounds


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
    assert copied._law.key == found._law.key
    assert copied._release_one(1, Script(seed=3)) == found._release_one(1, Script(seed=3))
    assert certify(copied) == certify(found)


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
    assert one._law.key == other._law.key
    assert one.limit == other.limit


# What is refused.


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Optimal(Bounds(0, None, step=1), 1, 1),
            r"needs bounds with both ends, got \[0, inf\) step 1; ",
        ),
        (lambda: Optimal(Bounds.everything(), 1, 1), "needs bounds with both ends"),
        (lambda: Optimal(INTERVAL, 1, 1, minimise="median"), "minimise must be 'mean' or 'worst', got 'median'"),  # type: ignore[arg-type]
        (lambda: Optimal(INTERVAL, 1, 1, minimise=None), "minimise must be 'mean' or 'worst', got None"),  # type: ignore[arg-type]
        (lambda: Optimal(INTERVAL, 1, 1, minimise=["mean"]), "minimise must be 'mean' or 'worst', got"),  # type: ignore[arg-type]
        (
            lambda: Optimal(INTERVAL, 1, 1, minimise="worst", prior=[1] * 13),
            "a prior applies to the mean error only, got one for the worst",
        ),
        (lambda: Optimal(INTERVAL, 1, 1, time_limit=0), "time_limit must be above 0 and at most 86400 seconds, got 0"),
        (lambda: Optimal(INTERVAL, 1, 1, time_limit=-1), "time_limit must be above 0 .*, got -1"),
        (lambda: Optimal(INTERVAL, 1, 1, time_limit=1e9), "time_limit must be above 0 and at most 86400"),
        (lambda: Optimal(INTERVAL, 1, 1, time_limit=nan), "time_limit must be a finite number, got nan"),
        (lambda: Optimal(INTERVAL, 1, 1, time_limit="2"), "time_limit must be"),  # type: ignore[arg-type]
        (lambda: Optimal((0, 1), 1, 1), "bounds must be a Bounds, got tuple"),  # type: ignore[arg-type]
        (lambda: Optimal(INTERVAL, 0, 1), "sensitivity must be positive, got 0"),
        (lambda: Optimal(INTERVAL, 1, 0), "epsilon must be from 1e-9 to 1000, got 0"),
        (lambda: Optimal(INTERVAL, timedelta(1), 1), "sensitivity must be a number .*, got 1 day"),
    ],
)
def test_mistakes_are_named(make: Callable[[], Any], message: str) -> None:
    """A parameter that makes no sense, or bounds without ends, are refused by rule, with the remedy."""
    with pytest.raises(InvalidParameter, match=message):
        make()


def test_without_the_solver_only_closed_forms_are_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without HiGHS the optimum is had where it is geometric noise, and else refused with the name of the extra."""
    best = made(INTERVAL, 1, 1)
    for module in (search, optimal):
        monkeypatch.setattr(module, "solver_is_installed", lambda: False)
    assert Optimal(INTERVAL, 1, 1).limit == pytest.approx(best.limit, rel=1e-9)
    for goal, sensitivity in (("mean", 3), ("worst", 1)):
        with pytest.raises(InvalidParameter, match=r"not installed: pip install 'inbounds\[optimal\]'"):
            Optimal(INTERVAL, sensitivity, 1, minimise=goal)  # type: ignore[arg-type]


def test_who_waits_can_stop() -> None:
    """A search tells what it has found; whoever interrupts it there can go on using everything."""
    told: list[str] = []

    def interrupt(text: str) -> None:
        told.append(text)
        raise KeyboardInterrupt

    for goal in GOALS:
        with pytest.raises(KeyboardInterrupt):
            Optimal(Bounds(0, 40), 1, 0.5, minimise=goal, progress=interrupt)
        assert Optimal(INTERVAL, 2, 1, minimise=goal, time_limit=PATIENT).limit == made(INTERVAL, 2, 1, goal).limit
    assert len(told) == 2
    assert all("least" in text and "\n" not in text and len(text) < 80 for text in told)
