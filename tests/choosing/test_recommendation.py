"""What is recommended is private, in range, and no worse than anything else that is; the reason tells the truth."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds import (
    BoundedLaplace,
    Bounds,
    InboundsError,
    InvalidParameter,
    Optimal,
    Recommendation,
    certify,
    compare,
    recommend,
)
from inbounds.exact.rational import exact
from inbounds.limit import search
from inbounds.limit.goal import Minimise as Goal
from inbounds.mechanisms.additive.additive import Additive
from inbounds.published import Geometric, Laplace, Staircase
from tests.helpers import known_errors
from tests.helpers.exact_optimum import PATIENT

GOALS: tuple[Goal, ...] = ("mean", "worst")
COUNTS = Bounds(0, 20, step=1)
ISLANDS = Bounds.union([(0, 5), (9, 9), (13, 17)], step=1)
RANGE = Bounds(0, 2)
UPWARDS = Bounds(0, None, step=1)
WEEKDAYS = Bounds.dates("2026-03-02", "2026-03-31", weekdays="Mon-Fri")

ASKED: dict[str, tuple[Bounds, Any, Any]] = {
    "counts": (COUNTS, 1, 0.3),
    "islands": (ISLANDS, 2, 1),
    "range": (RANGE, 1, 1),
    "upwards": (UPWARDS, 1, 1),
    "union": (Bounds(0, 5) | Bounds(7, None), 1, 2),
    "dates": (WEEKDAYS, timedelta(days=2), 0.5),
    "one answer": (Bounds(4, 4, step=1), 1, 1),
}


@cache
def advice(name: str, goal: Goal = "mean") -> Recommendation:
    """Return what is recommended, found once."""
    return recommend(*ASKED[name], minimise=goal, optimum=False)


every = pytest.mark.parametrize("name", ASKED)
both = pytest.mark.parametrize("goal", GOALS)


def error_of(mechanism: Any, goal: Goal, window: Any = None) -> float:
    """Return the mean or the worst error."""
    return float(mechanism.mean_error(window) if goal == "mean" else mechanism.worst_error())


# Never worse.


@st.composite
def stepped(draw: st.DrawFn) -> Bounds:
    """Up to three spans of a lattice, some without an end."""
    at, ends = draw(st.integers(-5, 5)), []
    for _ in range(draw(st.integers(1, 3))):
        length = draw(st.integers(1, 8))
        ends.append((at, at + length - 1))
        at += length + draw(st.integers(1, 5))
    found: list[tuple[int | None, int | None]] = [*ends]
    if draw(st.booleans()) and draw(st.booleans()):
        found[0] = (None, found[0][1])
    if draw(st.booleans()) and draw(st.booleans()):
        found[-1] = (found[-1][0], None)
    return Bounds.union(found, step=1)


CONTINUOUS = st.sampled_from([Bounds(0, 1), Bounds(0, 3), Bounds(0, None), Bounds(0, 1) | Bounds(2, 4)])


def check_never_worse(bounds: Bounds, sensitivity: int, epsilon: float, goal: Goal) -> None:
    """Compare what is recommended with normalising, snapping, and everything else that could have been."""
    few = bounds.bounded and bounds.step is not None  # there the optimum is exact, and quick
    choices: dict[str, Any] = {"optimum": None if few else False, "time_limit": 30}
    found = recommend(bounds, sensitivity, epsilon, minimise=goal, **choices)
    comparison = compare(bounds, sensitivity, epsilon, **choices)
    window = comparison.window
    assert found.error == error_of(found.mechanism, goal, window)
    for pooling in (0, 1):
        made = BoundedLaplace(bounds, sensitivity, epsilon, pooling=pooling)
        assert found.error <= error_of(made, goal, window) * (1 + 1e-8)
    for row in comparison:
        if row.eligible:
            error = row.mean_error if goal == "mean" else row.worst_error
            assert error is not None
            assert found.error <= error * (1 + 1e-8) + 1e-15
    assert found.mechanism.label.pure
    assert found.mechanism.in_range


@pytest.mark.slow
@given(stepped(), st.integers(1, 4), st.sampled_from([0.1, 0.5, 1.0, 2.0, 4.0]), st.sampled_from(GOALS))
@settings(max_examples=8)
def test_nothing_is_better_on_a_lattice(bounds: Bounds, sensitivity: int, epsilon: float, goal: Goal) -> None:
    """What is recommended is no worse than normalising, snapping and every row that is private and in range."""
    check_never_worse(bounds, sensitivity, epsilon, goal)


@pytest.mark.slow
@given(CONTINUOUS, st.sampled_from([1, 2]), st.sampled_from([0.5, 1.0, 4.0]))
@settings(max_examples=4)
def test_nothing_is_better_without_a_step(bounds: Bounds, sensitivity: int, epsilon: float) -> None:
    """The same where answers are any number."""
    check_never_worse(bounds, sensitivity, epsilon, "mean")


MIXED = [
    (0.5, 5, 1.3484),
    (1, 2, 0.5732),
    (2, 1, 0.2663),
]


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "width", "worst"), MIXED)
def test_the_known_mixtures_are_found_or_beaten(epsilon: float, width: int, worst: float) -> None:
    """On [0, B] the worst error is at most that of the best mixture known, and of both of its ends."""
    found = recommend(Bounds(0, width), 1, epsilon, minimise="worst", optimum=False)
    assert found.error <= worst + 1e-4
    mixtures = [error for name, error in found.considered if name.startswith("bounded Laplace")]
    assert min(mixtures) <= worst + 1e-4


@pytest.mark.slow
def test_a_mixture_beats_both_ends() -> None:
    """On [0, 2] at epsilon 1 the least worst error has a pooling near 0.44, well below pooling nothing or all."""
    found = advice("range", "worst")
    assert isinstance(found.mechanism, BoundedLaplace)
    assert 0.43 <= found.mechanism.pooling <= 0.45
    ends = [BoundedLaplace(RANGE, 1, 1, pooling=pooling).worst_error() for pooling in (0, 1)]
    assert found.error < 0.9 * min(ends)
    around = [BoundedLaplace(RANGE, 1, 1, pooling=k / 100).worst_error() for k in range(41, 48)]
    assert found.error == pytest.approx(min(around), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(known_errors.NAMES, known_errors.OPTIMA[::3])
def test_on_few_points_the_optimum_is_recommended(
    epsilon: float, count: int, steps: int, mean: float, worst: float
) -> None:
    """Where linear programming is quick its least error is what is recommended, and said to be the least."""
    for goal, known in zip(GOALS, (mean, worst), strict=True):
        found = recommend(Bounds(0, count - 1, step=1), steps, epsilon, minimise=goal, time_limit=PATIENT)
        assert isinstance(found.mechanism, Optimal)
        assert found.error / steps == pytest.approx(known, abs=5.1e-5)
        assert "No mechanism can do better." in found.reason


# Which one.


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [Bounds(0, 10), Bounds(0, None), Bounds(0, 1000, step=1)], ids=str)
def test_a_large_epsilon_prefers_stairs(bounds: Bounds) -> None:
    """Where epsilon is large a staircase has a far smaller error than anything smoother."""
    sensitivity = 1 if bounds.step is None else 40
    found = recommend(bounds, sensitivity, 5, optimum=False)
    assert isinstance(found.mechanism, Staircase)
    assert found.error < 0.6 * sensitivity / 5


def test_a_range_that_the_noise_fills_prefers_not_to_pool() -> None:
    """On a range far tighter than the noise what piles nothing up at the ends is best; snapping is a third worse."""
    found = recommend(Bounds(0, 1), 1, 0.5, optimum=False)
    assert found.mechanism.at_ends() < 1e-6
    assert found.error < 0.75 * BoundedLaplace(Bounds(0, 1), 1, 0.5, pooling=1).mean_error()


def test_a_wide_range_of_counts_is_snapped() -> None:
    """On a wide lattice at a sensitivity of one step, the truncated geometric mechanism is best for the mean."""
    found = recommend(Bounds(0, 200, step=1), 1, 1)
    snapped = Geometric(Bounds(0, 200, step=1), 1, 1, ends="snap")
    assert found.error == pytest.approx(snapped.mean_error(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "choices"),
    [
        (Bounds(4, 4, step=1), {}),
        (Bounds(None, None, step=1), {}),
        (Bounds(0, 1000, step=1), {"window": (400, 600)}),
        (Bounds(0, None, step=1), {"minimise": "worst"}),
    ],
    ids=str,
)
def test_of_equals_the_one_without_spikes_is_taken(bounds: Bounds, choices: dict[str, Any]) -> None:
    """Where errors are alike, as far from every end, what pools nothing at the ends is preferred."""
    found = recommend(bounds, 1, 1, optimum=False, **choices)
    made = found.mechanism
    assert getattr(made, "pooling", 0) == 0
    assert not isinstance(made, Additive) or made.ends.name != "snap"
    least = min(error for _, error in found.considered)
    assert found.error <= least * (1 + 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 0.3, Fraction(1, 3), 0.005, 1])
@pytest.mark.parametrize(("bounds", "goal"), [(RANGE, "mean"), (COUNTS, "mean"), (ISLANDS, "worst")], ids=str)
def test_the_limit_of_pooling_is_kept(bounds: Bounds, goal: Goal, limit: Any) -> None:
    """Nothing is considered that pools more than the limit; snapping counts as all, and so does the optimum."""
    found = recommend(bounds, 1, 1, minimise=goal, pooling_limit=limit, optimum=None if limit < 1 else False)
    names = [name for name, _ in found.considered]
    pooled = [float(name.rsplit(" ", 1)[1]) for name in names if name.startswith("bounded Laplace")]
    assert 0 in pooled
    assert max(pooled) <= limit
    assert max(pooled) > limit - 0.01
    assert bool([name for name in names if name.startswith("snapped")]) == (limit == 1)
    assert not [name for name in names if name.startswith("optimal")]
    assert any(name.startswith("folded") for name in names)
    assert getattr(found.mechanism, "pooling", 0) <= limit


def test_a_limit_that_is_a_pooling_is_tried_itself() -> None:
    """The greatest pooling that is allowed is among those tried, however the limit was written."""
    for limit in (0.29, Fraction(29, 100), 0.3, 0.57, 0.58):
        names = [name for name, _ in recommend(COUNTS, 1, 1, pooling_limit=limit, optimum=False).considered]
        assert f"bounded Laplace, pooling {float(limit):g}" in names


# The optimum.


def considered(bounds: Bounds, epsilon: float, **choices: Any) -> str:
    """Return the names of all that were considered."""
    return str([name for name, _ in recommend(bounds, 1, epsilon, time_limit=0.2, **choices).considered])


@pytest.mark.slow
def test_the_optimum_is_considered_where_it_was_asked_for_or_the_range_is_tight() -> None:
    """Unasked on tight ranges, the one for the worst; elsewhere where an error to minimise or a prior was given."""
    assert "optimal for the worst" in considered(COUNTS, 0.3)
    assert "optimal for the mean" not in considered(COUNTS, 0.3)
    assert "optimal" not in considered(COUNTS, 1)
    assert "optimal for the mean" in considered(COUNTS, 1, minimise="mean")
    assert "optimal for the worst" in considered(COUNTS, 1, minimise="worst")
    assert "optimal for the mean" in considered(COUNTS, 1, prior=list(range(21)))
    assert "optimal" in considered(COUNTS, 1, optimum=True)
    assert "optimal" not in considered(COUNTS, 0.3, optimum=False)
    assert "optimal" not in considered(UPWARDS, 1, minimise="mean")


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [COUNTS, ISLANDS, Bounds(0, 1, step=Fraction(1, 20))], ids=str)
@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_by_default_nothing_leans(bounds: Bounds, epsilon: float) -> None:
    """Whoever does not say what is to be least is not given releases that are drawn to the middle."""
    found = recommend(bounds, 1, epsilon, time_limit=PATIENT)
    assert not found.mechanism.leans
    assert "lean" not in found.reason


@pytest.mark.slow
def test_who_minimises_the_mean_gets_the_optimum_and_its_price(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a tight range without a step it is the optimum, which says how far from the limit it is, and that it leans."""
    monkeypatch.setattr(search, "GOOD", 0.045)  # to end the search there, whatever the clock says
    found = recommend(Bounds(0, 2), 1, 0.5, minimise="mean", time_limit=PATIENT)
    assert isinstance(found.mechanism, Optimal)
    assert found.mechanism.leans
    assert "biased towards the middle" in found.reason
    assert "times the least error that any mechanism can have" in found.reason or "No mechanism can" in found.reason
    assert found.error < BoundedLaplace(Bounds(0, 2), 1, 0.5, pooling=1).mean_error()
    assert found.limit is not None
    assert 1 <= found.error / found.limit < 1.05
    assert recommend(Bounds(0, 2), 1, 0.5, optimum=False).limit is None


def test_a_prior_is_for_bounds_with_ends() -> None:
    """Where there is an end missing, a prior is refused for that, and not for a window that nobody gave."""
    for ask in (recommend, compare):
        with pytest.raises(InvalidParameter, match="a prior needs bounds with both ends"):
            ask(UPWARDS, 1, 1, prior=([1], [0, 5]))


def test_a_prior_decides_which_errors_count() -> None:
    """The error is the mean under the prior, and nothing considered has a smaller one."""
    weights = [1] * 3 + [9] * 3 + [1] * 15
    found = recommend(COUNTS, 2, 0.5, prior=weights, time_limit=PATIENT)
    assert isinstance(found.mechanism, Optimal)
    errors = found.mechanism.error(list(range(21)))
    assert found.error == pytest.approx(float(errors @ weights) / sum(weights), rel=1e-9)
    assert found.error <= min(error for _, error in found.considered) * (1 + 1e-9)
    assert found.error == pytest.approx(found.mechanism.limit, rel=1e-6)


def test_what_is_even_may_be_the_optimum() -> None:
    """The optimum does the same work for every true answer; `even_timing` is yes or no."""
    found = recommend(COUNTS, 2, 0.5, minimise="worst", even_timing=True, time_limit=PATIENT)
    assert isinstance(found.mechanism, Optimal)
    assert found.mechanism.even_timing
    with pytest.raises(InvalidParameter, match="even_timing must be True or False, got 'yes'"):
        recommend(COUNTS, 1, 1, even_timing="yes")  # type: ignore[arg-type]


# The distance guarantee.

FAR_APART = [
    (Bounds(0, 12, step=1), 3, 3, {}),
    (Bounds(0, 12, step=1), 3, 0.5, {}),
    (Bounds(0, 4, step=1), 10, 1, {}),
    (Bounds(0, 4, step=1), 3, 1, {"pooling_limit": 0}),
    (Bounds(0, 6, step=1), 6, 2, {"pooling_limit": 0}),
    (Bounds(0, 12, step=1), 4, 5, {"pooling_limit": 0.5}),
    (ISLANDS, 2, 1, {}),
    (ISLANDS, 3, 4, {}),
    (ISLANDS, 20, 1, {}),
    (ISLANDS, 3, 4, {"trusted": True}),
    (ISLANDS, 2, 0.3, {"trusted": True}),
]


@pytest.mark.slow
@both
@pytest.mark.parametrize(("bounds", "sensitivity", "epsilon", "choices"), FAR_APART, ids=str)
def test_what_is_promised_by_distance_is_kept_by_distance(
    bounds: Bounds, sensitivity: int, epsilon: float, choices: dict[str, Any], goal: Goal
) -> None:
    """Under the distance guarantee answers d apart lose at most εd/Δ, however near, whatever is recommended."""
    made = recommend(bounds, sensitivity, epsilon, minimise=goal, guarantee="distance", **choices).mechanism
    outputs = [k for k in range(18) if k in bounds]
    answers = outputs if choices.get("trusted") else range(outputs[-1] + 1)
    logs = {answer: [math.log(made.pmf(k, answer)) for k in outputs] for answer in answers}
    for one, other in combinations(answers, 2):
        loss = max(abs(p - q) for p, q in zip(logs[one], logs[other], strict=True))
        assert loss <= epsilon * (other - one) / sensitivity * (1 + 1e-9) + 1e-12


@pytest.mark.slow
@both
@pytest.mark.parametrize("bounds", [Bounds(0, 1), Bounds(0, 4)], ids=str)
def test_half_a_change_costs_half_under_the_distance_guarantee(bounds: Bounds, goal: Goal) -> None:
    """Without a step too: answers half a sensitivity apart lose at most half of epsilon, at every release."""
    made = recommend(bounds, 1, 3, minimise=goal, guarantee="distance").mechanism
    high: Any = bounds.ends[-1]
    places = [Fraction(k, 64) * high * bounds.unit // made.step * made.step for k in range(65)]
    low, far = places[8], places[8] + Fraction(1, 2)
    losses = [math.log(made.pmf(k, low) / made.pmf(k, far)) for k in places if made.pmf(k, far)]
    assert max(map(abs, losses)) <= 1.5 * (1 + 1e-6)


def test_with_gaps_the_distance_guarantee_leaves_noise_alone() -> None:
    """Where answers may fall in a gap only noise that does not depend on the answer keeps it; if trusted, more do."""
    found = recommend(ISLANDS, 2, 1, guarantee="distance")
    assert isinstance(found.mechanism, Additive)
    assert not [name for name, _ in found.considered if name.startswith(("bounded", "optimal"))]
    trusted = recommend(ISLANDS, 2, 1, guarantee="distance", trusted=True)
    assert "bounded Laplace, pooling 0" in dict(trusted.considered)
    assert "bounded Laplace, pooling 1" in dict(trusted.considered)
    assert not [name for name, _ in trusted.considered if name.startswith("optimal")]
    assert trusted.error <= found.error * (1 + 1e-9)


def test_the_promise_is_handed_on() -> None:
    """A bounded Laplace mechanism that is recommended has the guarantee and the trust that were asked for."""
    found = recommend(Bounds(0, 1), 1, 0.5, guarantee="distance", pooling_limit=0, trusted=True)
    names = dict(found.considered)
    distance = BoundedLaplace(Bounds(0, 1), 1, 0.5, guarantee="distance", trusted=True)
    assert names["bounded Laplace, pooling 0"] == pytest.approx(distance.mean_error(), rel=1e-12)
    standard = recommend(Bounds(0, 1), 1, 0.5, pooling_limit=0)
    assert dict(standard.considered)["bounded Laplace, pooling 0"] < names["bounded Laplace, pooling 0"]
    if isinstance(found.mechanism, BoundedLaplace):
        assert (found.mechanism.guarantee, found.mechanism.trusted) == ("distance", True)


# What is handed back.


@pytest.mark.slow
@every
@both
def test_what_is_recommended_can_be_released_from(name: str, goal: Goal) -> None:
    """The mechanism is for what was asked, private without a delta, proved, and its releases are possible."""
    made, bounds = advice(name, goal).mechanism, ASKED[name][0]
    assert made.label.pure
    assert made.in_range
    assert certify(made).holds
    assert made.bounds == bounds
    assert exact(made.epsilon, "epsilon", InvalidParameter) == Fraction(ASKED[name][2])
    answers = [date(2026, 1, 1), date(2026, 3, 7)] if bounds.is_dates else [-5, 0, 6, 11, 40]
    for answer in answers:
        assert all(made.release(answer) in bounds for _ in range(5))


@pytest.mark.slow
@every
@both
def test_the_error_is_that_of_the_mechanism(name: str, goal: Goal) -> None:
    """The error told is the mechanism's own and the least of all that were considered, which are listed best first."""
    found = advice(name, goal)
    window = compare(*ASKED[name], optimum=False).window if goal == "mean" else None
    assert found.error == error_of(found.mechanism, goal, window)
    errors = [error for _, error in found.considered]
    assert errors == sorted(errors)
    assert found.error <= errors[0] * (1 + 1e-8)
    names = [name for name, _ in found.considered]
    assert len(set(names)) == len(names)
    assert {"bounded Laplace, pooling 0", "bounded Laplace, pooling 1", "folded staircase"} <= set(names)


@pytest.mark.slow
@every
@both
def test_the_reason_names_what_was_chosen_and_why(name: str, goal: Goal) -> None:
    """It names the mechanism, its error, how many were considered, epsilon and the bounds, and is what is printed."""
    found = advice(name, goal)
    chosen = next(each for each, error in found.considered if found.reason.startswith(f"{each} has "))
    assert dict(found.considered)[chosen] == found.error
    assert f"has the least {goal} error" in found.reason
    assert f", {found.error:.4g}, of {len(found.considered)} settings of " in found.reason
    assert f"keep epsilon = {ASKED[name][2]} and stay in {ASKED[name][0].brief()}" in found.reason
    assert str(found).replace("\n", " ") == found.reason
    assert max(map(len, str(found).splitlines())) <= 80
    assert repr(found) == f"<Recommendation: {found.name}, error {found.error:.4g}>"
    assert found.reason.endswith(".")
    assert ("over true answers from" in found.reason) == (goal == "mean" and not ASKED[name][0].bounded)


@pytest.mark.slow
def test_the_reason_says_how_much_is_gained() -> None:
    """It tells how far the error is below that of normalising and of snapping, where it is."""
    found, (none, all_) = advice("range", "worst"), (BoundedLaplace(RANGE, 1, 1, pooling=k) for k in (0, 1))
    assert f"{1 - found.error / none.worst_error():.1%} below normalising (pooling 0)" in found.reason
    assert f"{1 - found.error / all_.worst_error():.1%} below snapping (pooling 1)" in found.reason
    assert "No mechanism can" not in found.reason


@pytest.mark.slow
def test_the_window_is_kept_and_told() -> None:
    """Means are over the window given, or the one that is stated where bounds have no end."""
    assert "over true answers from 0 to 10, " in advice("upwards").reason
    found = recommend(COUNTS, 1, 1, window=(0, 3), optimum=False)
    assert "over true answers from 0 to 3, " in found.reason
    errors = [found.mechanism.error(answer) for answer in range(4)]
    assert found.error == pytest.approx(sum(errors) / 4, rel=1e-9)
    assert found.error < recommend(COUNTS, 1, 1, optimum=False).error
    worst = recommend(COUNTS, 1, 1, minimise="worst", window=(0, 3), optimum=False)
    assert worst.error == pytest.approx(max(worst.mechanism.error(answer) for answer in range(4)), rel=1e-9)
    days = recommend(WEEKDAYS, 2, 1, window=(date(2026, 3, 2), date(2026, 3, 6)))
    assert "over true answers from 2026-03-02 to 2026-03-06, " in days.reason


def test_a_window_is_written_to_the_last_digit() -> None:
    """The reason does not round the ends of a window."""
    assert "from 0 to 1234567," in recommend(UPWARDS, 1, 1, window=(0, 1234567)).reason


def test_a_recommendation_is_frozen() -> None:
    """Nothing about it can be changed."""
    found = advice("range")
    with pytest.raises(FrozenInstanceError):
        found.error = 0.0  # type: ignore[misc]


@pytest.mark.slow
def test_the_same_question_has_the_same_answer() -> None:
    """Asked again, it recommends the same for the same reason."""
    again = recommend(*ASKED["islands"], minimise="mean", optimum=False)
    assert (again.reason, again.considered) == (advice("islands").reason, advice("islands").considered)


def test_progress_names_what_is_being_tried() -> None:
    """Whoever asks is told what is tried, and can stop there and ask again."""
    told: list[str] = []
    found = recommend(COUNTS, 1, 0.3, optimum=False, progress=told.append)
    assert {f"trying {name}" for name, _ in found.considered} <= set(told)

    def stop(text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recommend(COUNTS, 1, 0.3, progress=stop)
    assert recommend(COUNTS, 1, 0.3, optimum=False).reason == advice("counts").reason


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1e-9, 20, 50, 1000])
@pytest.mark.parametrize("bounds", [COUNTS, ISLANDS], ids=str)
def test_every_epsilon_has_a_recommendation(bounds: Bounds, epsilon: float) -> None:
    """From the smallest to the greatest epsilon that is allowed, something private is recommended."""
    found = recommend(bounds, 1, epsilon, time_limit=1)
    assert found.mechanism.label.pure
    assert found.mechanism.release(3) in bounds
    assert found.error <= Laplace(bounds, 1, epsilon, ends="snap").mean_error() * (1 + 1e-9)


# What is refused.


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: recommend((0, 1), 1, 1), "bounds must be a Bounds, got tuple"),  # type: ignore[arg-type]
        (lambda: recommend(RANGE, 0, 1), "sensitivity must be positive, got 0"),
        (lambda: recommend(RANGE, 1, 0), "epsilon must be from 1e-9 to 1000, got 0"),
        (lambda: recommend(RANGE, 1, 1, minimise="median"), "minimise must be 'mean' or 'worst', got 'median'"),  # type: ignore[arg-type]
        (lambda: recommend(RANGE, 1, 1, pooling_limit=-0.1), "pooling_limit must be from 0 to 1, got -0.1"),
        (lambda: recommend(RANGE, 1, 1, pooling_limit=1.1), "pooling_limit must be from 0 to 1, got 1.1"),
        (lambda: recommend(RANGE, 1, 1, pooling_limit=math.nan), "pooling_limit must be a finite number, got nan"),
        (lambda: recommend(RANGE, 1, 1, pooling_limit="all"), "pooling_limit must be a finite number, got 'all'"),  # type: ignore[arg-type]
        (lambda: recommend(RANGE, 1, 1, guarantee="pure"), "guarantee must be"),  # type: ignore[arg-type]
        (lambda: recommend(RANGE, 1, 1, trusted="yes"), "trusted must be"),  # type: ignore[arg-type]
        (lambda: recommend(RANGE, 1, 1, window=(1,)), "window must be a pair"),  # type: ignore[arg-type]
        (lambda: recommend(RANGE, 1, 1, window=(3, 4)), r"window must hold at least one possible answer of \[0, 2\]"),
        (lambda: recommend(COUNTS, 1, 1, window=(0.2, 0.8)), "window must hold at least one possible answer"),
        (
            lambda: recommend(WEEKDAYS, 1, 1, window=(0, 3)),
            "an end of the window must be a date, got 0",
        ),
        (lambda: recommend(UPWARDS, 1, 1, optimum=True), "needs bounds with both ends"),
        (
            lambda: recommend(COUNTS, 1, 1, minimise="worst", prior=[1] * 21),
            "a prior applies to the mean error only, got one for the worst",
        ),
        (lambda: recommend(COUNTS, 1, 1, minimise="mean", time_limit=0), "time_limit must be above 0"),
        (lambda: recommend(COUNTS, 1, 1, optimum=1), "optimum must be True, False or None, got 1"),  # type: ignore[arg-type]
        (lambda: recommend(COUNTS, 1, 1, optimum="yes"), "optimum must be True, False or None"),  # type: ignore[arg-type]
        (lambda: recommend(COUNTS, 1, 1, progress=3), "progress must be a function .*, got 3; try print"),  # type: ignore[arg-type]
        (lambda: recommend(COUNTS, 1, 1, optimum=True, pooling_limit=0.9), "optimum=True needs pooling_limit=1, got 0"),
        (
            lambda: recommend(COUNTS, 1, 1, optimum=True, guarantee="distance"),
            "optimum=True needs guarantee='standard'",
        ),
    ],
)
def test_mistakes_are_named(ask: Callable[[], Any], message: str) -> None:
    """What makes no sense is refused by name, and so is an optimum that was asked for and cannot be had."""
    with pytest.raises(InvalidParameter, match=message):
        ask()


def test_without_the_solver_an_optimum_that_was_asked_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where HiGHS is not installed whoever asked for the optimum is told so; whoever did not gets another."""
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(InvalidParameter, match=r"not installed: pip install 'inbounds\[optimal\]'"):
        recommend(COUNTS, 1, 1, optimum=True)
    assert "optimal" not in str(recommend(COUNTS, 1, 0.3).considered)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "guarantee", "goal"),
    [  # each pair of two of them
        (Bounds.everything(), "standard", "mean"),
        (Bounds.everything(), "distance", "worst"),
        (Bounds(None, None, step=1), "standard", "worst"),
        (Bounds(None, None, step=1), "distance", "mean"),
    ],
    ids=str,
)
def test_where_everything_is_possible_noise_is_left_plain(bounds: Bounds, guarantee: Any, goal: Goal) -> None:
    """On the whole line folding and snapping do nothing, so of the same law the one without them is recommended."""
    found = recommend(bounds, 1, 1, minimise=goal, guarantee=guarantee)
    assert isinstance(found.mechanism, Additive)
    assert (found.mechanism.ends.name, found.mechanism.in_range) == ("leave", True)
    assert found.reason.startswith("plain ")
    errors = dict(found.considered)
    for manner in ("folded", "snapped"):
        twins = {name: error for name, error in errors.items() if name.startswith(manner)}
        assert all(errors[name.replace(manner, "plain")] == pytest.approx(error) for name, error in twins.items())


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [RANGE, COUNTS, ISLANDS, UPWARDS], ids=str)
def test_where_something_is_impossible_no_noise_is_left_plain(bounds: Bounds) -> None:
    """What could leave the bounds is not even considered."""
    assert not [name for name, _ in recommend(bounds, 1, 1, optimum=False).considered if name.startswith("plain")]


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [COUNTS, UPWARDS, WEEKDAYS, RANGE], ids=str)
def test_what_is_even_takes_nothing_from_the_answer_but_its_place(bounds: Bounds) -> None:
    """Nothing even computes its law from the true answer, and to leave out what does never makes the error less."""
    found, even = (recommend(bounds, 1, 3, even_timing=even, optimum=False) for even in (False, True))
    assert isinstance(even.mechanism, BoundedLaplace | Additive)
    assert {name for name, _ in even.considered} <= {name for name, _ in found.considered}
    assert not any(name.startswith("explicit fair") for name, _ in even.considered)
    assert found.error <= even.error * (1 + 1e-9)
    assert even.reason.count("do the same work for every true answer") == 1
    assert "as long" not in found.reason


@pytest.mark.parametrize("guarantee", ["standard", "distance"])
@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize(
    ("bounds", "sensitivity"),
    [
        (Bounds(0, 1), Fraction(1, 10**400)),
        (Bounds(10**400, 10**401), 1),
        (Bounds(0, 1) | Bounds(10**300, 10**301), 1),
        (Bounds(0, 2**62, step=1), 1),
    ],
    ids=["tiny sensitivity", "far", "far apart", "62 bits"],
)
def test_where_nothing_can_be_made_the_reason_is_that_of_the_mechanism(
    bounds: Bounds, sensitivity: Any, guarantee: Any, trusted: bool
) -> None:
    """What keeps bounded Laplace from being made is what a recommendation is refused with, in short."""
    vouched = trusted or guarantee == "distance"
    with pytest.raises(InboundsError) as made:
        BoundedLaplace(bounds, sensitivity, 1, guarantee=guarantee, trusted=vouched)
    with pytest.raises(type(made.value)) as refused:
        recommend(bounds, sensitivity, 1, guarantee=guarantee, trusted=trusted)
    assert str(refused.value) == str(made.value)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("bounds", [Bounds(0, None), Bounds(None, 3), Bounds.everything()], ids=str)
def test_without_an_end_the_limit_is_that_of_a_part(bounds: Bounds) -> None:
    """For a large epsilon a staircase is within 5 % of the least worst error on ten sensitivities, and says so."""
    best = recommend(bounds, 2, 8, minimise="worst")
    assert best.limit is not None
    assert best.limit <= best.error <= 1.05 * best.limit
    assert "the least error that any mechanism can have" in best.reason
    assert recommend(bounds, 2, 8).limit is None
    assert recommend(bounds, 2, 1, minimise="worst").limit is None
