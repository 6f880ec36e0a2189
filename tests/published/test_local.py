"""Mechanisms of the local model are those of their papers, private by definition, and drawn by exactly their laws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds import Bounds, InvalidParameter, LatticeTooFine, NotPrivate, Optimal, certify
from inbounds.published import Hybrid, OptimalPiecewise, Piecewise, SquareWave, TwoPoint
from inbounds.published.li2020 import half_window
from inbounds.published.local.mechanism import LocalMechanism
from inbounds.published.wang2019 import HYBRID_FROM
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.scripted_entropy import Script

Maker = Callable[[Bounds, Any, Any], LocalMechanism]

UNBIASED: list[Maker] = [TwoPoint, Piecewise, Hybrid]
EVERY: list[Maker] = [*UNBIASED, SquareWave, OptimalPiecewise]
every = pytest.mark.parametrize("make", EVERY)

SIGNED = Bounds(-1, 1)
EPSILONS = [0.3, 1, 2, 4]


def counts(width: int) -> Bounds:
    """Return the whole numbers up to one."""
    return Bounds(0, width, step=1)


def weights(made: LocalMechanism) -> list[list[int]]:
    """Return the weight of every output, a row for each true answer."""
    return [[made.law.weight(output, answer) for output in made.law.outputs] for answer in range(made.law.width + 1)]


# What their laws are, in whole numbers.


@every
@settings(max_examples=30, deadline=None)
@given(width=st.integers(1, 12), epsilon=st.sampled_from([Fraction(1, 4), 0.6, 0.62, 1, 3, Decimal("7.5"), 150]))
def test_a_law_is_private_by_definition(make: Maker, width: int, epsilon: Any) -> None:
    """Weights have one sum for all answers, and no output is above exp(epsilon) times as probable for another."""
    made = make(counts(width), width, epsilon)
    rows = weights(made)
    assert {sum(row) for row in rows} == {made.law.total}
    worst = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
    assert worst <= made.law.ratio
    assert math.log(worst) <= float(epsilon)
    assert made.label.pure
    assert float(made.certificate.witnessed) <= math.log(worst) * (1 + 1e-12)


@pytest.mark.parametrize("make", UNBIASED)
@settings(max_examples=30, deadline=None)
@given(width=st.integers(1, 15), epsilon=st.sampled_from([Fraction(1, 4), 0.6, 0.62, 1, 3, Decimal("7.5"), 150]))
def test_what_is_called_unbiased_is_so_exactly(make: Maker, width: int, epsilon: Any) -> None:
    """The mean of the outputs is the answer in fractions, not up to rounding."""
    made = make(counts(width), width, epsilon)
    assert made.unbiased
    for answer, row in enumerate(weights(made)):
        assert sum(map(int.__mul__, made.law.outputs, row)) == answer * made.law.total


@every
def test_a_label_is_proved_again_by_definition(make: Maker) -> None:
    """On few points every pair and every output are compared, and no more is lost than was proved."""
    for epsilon in (0.5, 1, 6, 1000):
        made = make(counts(10), 10, epsilon)
        found = certify(made)
        assert found.holds
        assert found.method == "every pair, every output"
        assert found.witnessed <= made.certificate.bound
    assert certify(make(SIGNED, 2, 1)).method == "levels"


@every
@pytest.mark.parametrize("bounds", [counts(10), SIGNED], ids=str)
def test_a_law_for_more_is_refused_under_a_label_for_less(make: Maker, bounds: Bounds) -> None:
    """A law made for epsilon and claimed at 0.9 epsilon is refuted: the proof can fail."""
    claimed, law = make(bounds, 20, 0.9), make(bounds, 20, 1.0).law
    claimed._law = law
    with pytest.raises(NotPrivate, match="does not satisfy the guarantee"):
        certify(claimed)


# What they look like from outside.


@every
def test_figures_are_sums_over_the_weights(make: Maker) -> None:
    """Probabilities, errors, means and variances in doubles are those of the whole numbers."""
    made = make(counts(9), 9, 1)
    outputs = np.array(made.law.outputs)
    for answer, row in enumerate(weights(made)):
        chances = np.array([weight / made.law.total for weight in row])
        assert made.pmf(outputs, answer).tolist() == pytest.approx(chances.tolist(), rel=1e-12)
        assert made.cdf(outputs, answer).tolist() == pytest.approx(np.cumsum(chances).tolist(), rel=1e-12)
        mean = float(chances @ outputs)
        assert made.mean(answer) == pytest.approx(mean, abs=1e-12)
        assert made.variance(answer) == pytest.approx(float(chances @ (outputs - mean) ** 2), rel=1e-12)
        for truth in (answer, answer + 0.25, answer - 0.25):
            assert made.error(truth) == pytest.approx(float(chances @ abs(outputs - truth)), rel=1e-12)
    errors = [made.error(answer) for answer in range(10)]
    assert made.mean_error() == pytest.approx(sum(errors) / 10, rel=1e-12)
    assert made.worst_error() == pytest.approx(max(errors), rel=1e-12)
    assert made.pmf(outputs[0] - 1, 3) == made.pmf(outputs[-1] + 1, 3) == made.pmf(0.5, 3) == 0


@pytest.mark.slow
@every
def test_a_fine_lattice_has_the_figures_of_a_coarse_one(make: Maker) -> None:
    """Without a step the law is the limit of those with smaller and smaller steps."""
    fine, coarse = make(Bounds(0, 1), 1, 1), make(Bounds(0, 1, step=Fraction(1, 4000)), 1, 1)
    assert fine.mean_error() == pytest.approx(coarse.mean_error(), rel=2e-3)
    assert fine.worst_error() == pytest.approx(coarse.worst_error(), rel=2e-3)
    grid = [fine.error(k / 2000) for k in range(2001)]
    assert fine.worst_error() == pytest.approx(max(grid), rel=1e-6)
    assert fine.mean_error() == pytest.approx((sum(grid) - (grid[0] + grid[-1]) / 2) / 2000, rel=1e-5)


@pytest.mark.slow
@every
def test_draws_follow_the_law_and_no_other(make: Maker) -> None:
    """Releases fit the probabilities for the true answer, and not those for another."""
    made, script = make(counts(6), 6, 1.5), Script(seed=7)
    outputs = list(made.law.outputs)
    drawn = Counter(made._release_one(1, script) for _ in range(15_000))
    seen = [drawn[output] for output in outputs]
    assert sum(seen) == 15_000
    assert p_value(seen, made.pmf(outputs, 1)) > FLOOR
    assert p_value(seen, made.pmf(outputs, 3)) < FLOOR


@every
def test_intervals_hold_the_truth_as_often_as_stated(make: Maker) -> None:
    """Whatever the truth is, the releases whose interval holds it have the stated probability."""
    made = make(counts(8), 8, 3)
    outputs = list(made.law.outputs)
    lows, highs = made.interval(outputs, 0.8)
    for answer in range(9):
        held = (lows <= answer) & (answer <= highs)
        assert made.pmf(outputs, answer)[held].sum() >= 0.8 - 1e-9
    low, high = made.interval(outputs[-1], 0.5)
    assert 0 <= low <= high == 8


@every
def test_what_leaves_the_range_says_so(make: Maker) -> None:
    """Releases are possible answers if and only if the mechanism says so; arrays and days have them too."""
    made = make(Bounds.dates("2026-01-01", "2026-01-31"), timedelta(days=30), 1)
    days = [made.release(np.datetime64("2026-01-09")) for _ in range(200)]
    assert made.in_range is (make is OptimalPiecewise)
    assert all(day in made.bounds for day in days) is made.in_range
    released = make(SIGNED, 2, 0.5).release(np.full(300, 0.9))
    assert bool((abs(released) <= 1).all()) is made.in_range


# What the papers say.


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("truth", [-1.0, 0.0, 0.5, 1.0])
def test_variances_are_those_of_the_papers(epsilon: float, truth: float) -> None:
    """Wang et al.: the variances of the two-point, the piecewise and the hybrid mechanism on [-1, 1]."""
    s, e = math.exp(epsilon / 2), math.exp(epsilon)
    two_point = ((e + 1) / (e - 1)) ** 2 - truth**2
    piecewise = truth**2 / (s - 1) + (s + 3) / (3 * (s - 1) ** 2)
    hybrid = (s + 3) / (3 * s * (s - 1)) + (e + 1) ** 2 / (s * (e - 1) ** 2)
    assert TwoPoint(SIGNED, 2, epsilon).variance(truth) == pytest.approx(two_point, rel=1e-8)
    assert Piecewise(SIGNED, 2, epsilon).variance(truth) == pytest.approx(piecewise, rel=1e-8)
    expected = hybrid if epsilon > HYBRID_FROM else two_point
    assert Hybrid(SIGNED, 2, epsilon).variance(truth) == pytest.approx(expected, rel=1e-8)


def test_the_piecewise_window_is_the_one_of_its_paper() -> None:
    """Wang et al.: outputs up to C, a window from l(t) to l(t) + C - 1, and there the density p."""
    epsilon, truth = 1.2, 0.4
    s, e = math.exp(epsilon / 2), math.exp(epsilon)
    c = (s + 1) / (s - 1)
    low = ((c + 1) * truth - (c - 1)) / 2
    density = (e - s) / (2 * s + 2)
    made = Piecewise(SIGNED, 2, epsilon)
    step = float(made.step)

    def density_at(x: float) -> float:
        return made.pmf(round(x / step) * step, truth) / step

    for x in (low + 1e-6, low + (c - 1) / 2, low + c - 1 - 1e-6):
        assert density_at(x) == pytest.approx(density, rel=1e-8)
    for x in (-c + 1e-6, low - 1e-6, low + c - 1 + 1e-6, c - 1e-6):
        assert density_at(x) == pytest.approx(density / e, rel=1e-8)
    assert density_at(c + 1e-6) == density_at(-c - 1e-6) == 0


def test_the_hybrid_mixes_where_its_paper_says() -> None:
    """Wang et al.: from epsilon* = 0.61 on, with probability 1 - exp(-epsilon/2), where the worst variances cross."""
    assert pytest.approx(0.61, abs=1e-3) == HYBRID_FROM
    assert Hybrid(SIGNED, 2, 0.6).probability == 0
    assert Hybrid(SIGNED, 2, 3).probability == pytest.approx(1 - math.exp(-1.5), rel=1e-12)
    s, e = math.exp(HYBRID_FROM / 2), math.exp(HYBRID_FROM)
    mixed = (s + 3) / (3 * s * (s - 1)) + (e + 1) ** 2 / (s * (e - 1) ** 2)
    assert mixed == pytest.approx(((e + 1) / (e - 1)) ** 2, rel=1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_square_wave_is_the_one_of_its_paper(epsilon: float) -> None:
    """Li et al.: the density is e/(2be+1) within b, and 1/(2be+1) elsewhere from -b to 1+b."""
    e = math.exp(epsilon)
    b = (epsilon * e - e + 1) / (2 * e * (e - 1 - epsilon))
    assert float(half_window(Fraction(epsilon))) == pytest.approx(b, rel=1e-9)
    made = SquareWave(Bounds(0, 1), 1, epsilon)
    step = float(made.step)
    inside, outside = (made.pmf(round((0.25 + x) / step) * step, 0.25) / step for x in (b - 1e-6, b + 1e-6))
    assert inside == pytest.approx(e / (2 * b * e + 1), rel=1e-7)
    assert outside == pytest.approx(1 / (2 * b * e + 1), rel=1e-7)
    slope = 2 * b * (e - 1) / (2 * b * e + 1)
    assert made.mean(0.9) == pytest.approx(0.5 + slope * 0.4, rel=1e-7)
    assert not made.unbiased


@pytest.mark.parametrize(("epsilon", "worst"), [(1, 0.378), (2, 0.269), (4, 0.119)])
def test_the_optimal_piecewise_mechanism_has_the_published_worst_error(epsilon: float, worst: float) -> None:
    """Zheng et al.: the worst error on [0, 1] is 1/(exp(epsilon/2)+1), and is made at the ends."""
    made, s = OptimalPiecewise(Bounds(0, 1), 1, epsilon), math.exp(epsilon / 2)
    assert made.worst_error() == made.error(0.0) == pytest.approx(worst, abs=5.1e-4)
    assert made.worst_error() == pytest.approx(1 / (s + 1), rel=1e-8)
    step = float(made.step)
    for truth, middle in ((0.0, 0.5 / (s + 1)), (0.5, 0.5), (1.0, 1 - 0.5 / (s + 1))):
        for x, density in ((0.0, s), (0.49 / (s + 1), s), (-0.51 / (s + 1), 1 / s), (0.51 / (s + 1), 1 / s)):
            place = round((middle + x) / step) * step
            expected = density if 0 <= place <= 1 else 0
            assert made.pmf(place, truth) / step == pytest.approx(expected, rel=1e-7)


def test_two_points_have_a_lesser_worst_error_than_the_optimal_piecewise_mechanism() -> None:
    """At epsilon 1, randomised response between two numbers inside is 9 % better, so it is not the best there is."""
    q = math.e / (1 + math.e)
    a = 0.5 - 1 / (4 * q)
    truths = np.linspace(0, 0.5, 1001)
    errors = q * abs(truths - a) + (1 - q) * (1 - a - truths)
    assert errors.max() == pytest.approx(1 / (4 * q), rel=1e-12)
    assert errors.max() < 0.91 * OptimalPiecewise(Bounds(0, 1), 1, 1).worst_error()


def test_the_square_wave_has_a_lesser_worst_error_where_epsilon_is_2() -> None:
    """Outputs beyond the ends help even before they are clamped, so that the optimum among piecewise laws is none."""
    wave, optimal = (make(Bounds(0, 1), 1, 2) for make in (SquareWave, OptimalPiecewise))
    assert wave.worst_error() == pytest.approx(0.259, abs=5e-4)
    assert wave.worst_error() < 0.97 * optimal.worst_error()
    step = float(wave.step)
    outputs = np.arange(1, 4096) / 4096
    clamped = wave.pmf(outputs, 0.0) @ outputs / 4096 / step + 1 - wave.cdf(1.0, 0.0)
    assert clamped == pytest.approx(0.234, abs=1e-3)


@pytest.mark.slow
def test_the_least_worst_error_of_all_is_far_below_the_optimal_piecewise_mechanism() -> None:
    """On a lattice, no mechanism at all is above its own optimum, which the best piecewise one exceeds by a sixth."""
    bounds = counts(20)
    best = Optimal(bounds, 20, 1, minimise="worst")
    assert OptimalPiecewise(bounds, 20, 1).worst_error() > 1.16 * best.worst_error()


def window_in_doubles(truth: float) -> tuple[float, float]:
    """Return the ends of the piecewise window at epsilon 1, computed as their formulas are usually written."""
    s = math.exp(0.5)
    c = (s + 1) / (s - 1)
    low = (c + 1) / 2 * truth - (c - 1) / 2
    return low, low + c - 1


def test_the_formulas_in_doubles_are_not_private() -> None:
    """Most doubles drawn from the window of one answer, in that of another, cannot be drawn for that other."""

    def is_reached(output: float, truth: float) -> bool:
        low, high = window_in_doubles(truth)
        near = round((Fraction(output) - Fraction(low)) / Fraction(high - low) * 2**53)
        return any(low + (k / 2**53) * (high - low) == output for k in range(near - 16, near + 17))

    (low, high), uniform = window_in_doubles(0.1), np.random.default_rng(3).random(400).tolist()
    inside = [y for u in uniform if window_in_doubles(0.3)[0] < (y := low + u * (high - low))]
    assert all(is_reached(output, 0.1) for output in inside)
    assert sum(is_reached(output, 0.3) for output in inside) < 0.6 * len(inside)


# What they refuse.


@every
def test_what_is_not_for_the_local_model_is_refused(make: Maker) -> None:
    """A sensitivity below the width, gaps, missing ends and a single answer are refused by name; more is the width."""
    assert make(counts(10), 50, 1).law.width == 10
    for bounds, sensitivity, reason in (
        (counts(10), 9, "needs a sensitivity of the whole width"),
        (Bounds(0, 1), 0.999, "give that width, or use bounded Laplace"),
        (Bounds(0, 1) | Bounds(2, 3), 3, "the local model needs one bounded interval"),
        (Bounds(0, None), 3, "the local model needs one bounded interval"),
        (Bounds(4, 4, step=1), 1, "at least two possible answers"),
    ):
        with pytest.raises(InvalidParameter, match=reason):
            make(bounds, sensitivity, 1)


def test_outputs_that_are_too_many_steps_apart_are_refused() -> None:
    """Where the outputs would be beyond what doubles count, a larger step is asked for; one that is given is taken."""
    with pytest.raises(LatticeTooFine, match="give the bounds a larger step"):
        Piecewise(Bounds(0, 1), 1, 1e-7)
    assert Piecewise(Bounds(0, 1, step=0.01), 1, 1e-7).error(0.5) > 1e6
