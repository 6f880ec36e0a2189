"""A remapped mechanism releases the best guess of the truth under a prior, and is as private as its base."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import date
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds, InvalidParameter, Mechanism
from inbounds.mechanisms.remapped import Remapped
from inbounds.published import ExplicitFair, Geometric, Laplace, NaiveLaplace, Piecewise, Staircase
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.mechanisms import ISLANDS, YEAR
from tests.helpers.scripted_entropy import Script

ELEVEN = Bounds(0, 10, step=1)
TILTED = [8, 7, 6, 5, 4, 3, 2, 1, 1, 0, 4]

BASES: dict[str, Callable[[], Mechanism]] = {
    "snapped geometric": lambda: Geometric(ELEVEN, 1, 0.5, ends="snap"),
    "geometric left where it falls": lambda: Geometric(ELEVEN, 2, 0.7),
    "folded geometric": lambda: Geometric(ELEVEN, 1, 0.2, ends="fold"),
    "snapped staircase": lambda: Staircase(ELEVEN, 3, 2, ends="snap"),
    "bounded Laplace": lambda: BoundedLaplace(ELEVEN, 2, 0.6),
    "explicit fair": lambda: ExplicitFair(ELEVEN, 1, 0.4),
    "remapped": lambda: Geometric(ELEVEN, 1, 0.5, ends="snap").remapped([1] * 10 + [9]),
}
RISING = ["snapped geometric", "geometric left where it falls", "bounded Laplace"]
made = {name: make() for name, make in BASES.items()}


def tables(mechanism: Mechanism) -> np.ndarray[Any, Any]:
    """Return the probabilities of releases, those beyond an end at that end: a row for each true answer."""
    up_to = mechanism.cdf(np.arange(10)[None, :], np.arange(11)[:, None])
    return np.diff(up_to, prepend=0.0, append=1.0, axis=1)


weights_of_eleven = st.lists(st.integers(0, 6), min_size=11, max_size=11).filter(any)


@pytest.mark.parametrize("name", RISING)
@settings(max_examples=15)
@given(weights=weights_of_eleven)
def test_a_release_becomes_a_posterior_median(name: str, weights: list[int]) -> None:
    """For every release of the base, no other number has a smaller expected distance from the truth."""
    remapped, values = made[name].remapped(weights), np.arange(11)
    joint = np.array(weights)[:, None] * tables(made[name])
    costs = joint.T @ abs(values[:, None] - values)  # of each release, for each target
    for release in range(11):
        if joint[:, release].any():
            assert costs[release, remapped.remap(release)] == pytest.approx(costs[release].min(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", BASES)
@settings(max_examples=15)
@given(weights=weights_of_eleven)
def test_a_free_remap_never_hurts_under_its_own_prior(name: str, weights: list[int]) -> None:
    """Under the prior it was made for, the mean error is at most that of the base; its law is the base's, remapped."""
    base = made[name]
    remapped = base.remapped(weights)
    assert remapped.mean_error(prior=weights) <= base.mean_error(prior=weights) * (1 + 1e-12)
    targets = [int(remapped.remap(release)) for release in range(11)]
    assert targets == sorted(targets)
    moved = np.zeros((11, 11))
    np.add.at(moved.T, targets, tables(base).T)
    assert tables(remapped) == pytest.approx(moved, rel=1e-9, abs=1e-15)


@settings(max_examples=25)
@given(weights=st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any))
def test_where_medians_fall_the_best_rising_remap_is_found(weights: list[int]) -> None:
    """Stairs make medians that do not rise with the release; then no rising remap is better than the one found."""
    base = Staircase(Bounds(0, 3, step=1), 2, 1.5, ends="fold")
    joint = np.array(weights)[:, None] * np.array([[base.pmf(r, v) for r in range(4)] for v in range(4)])
    best = min(
        sum(joint[v, r] * abs(target - v) for v in range(4) for r, target in enumerate(targets))
        for targets in combinations_with_replacement(range(4), 4)
    )
    assert base.remapped(weights).mean_error(prior=weights) == pytest.approx(best / sum(weights), rel=1e-9)


def test_the_best_of_all_mechanisms_for_counts_is_a_remapped_geometric() -> None:
    """Geometric noise, snapped and remapped under equal weights, has the least mean error for counts that is known."""
    assert made["snapped geometric"].remapped(None).mean_error() == pytest.approx(1.4173557391, abs=5e-11)


@pytest.mark.slow
def test_it_is_so_on_a_thousand_points() -> None:
    """On 1,001 points at epsilon 0.002 the mean error is 213.0, where that of the base is 284."""
    base = Geometric(Bounds(0, 1000, step=1), 1, 0.002, ends="snap")
    assert base.remapped(None).mean_error() == pytest.approx(213.0177, abs=1e-4)
    assert base.mean_error() == pytest.approx(283.766, abs=1e-3)


@pytest.mark.parametrize("name", BASES)
def test_figures_are_those_of_the_probabilities(name: str) -> None:
    """Error, bias, variance, quantiles and ends are sums over what can be released."""
    remapped, values = made[name].remapped(TILTED), np.arange(11)
    rows = remapped.pmf(values[None, :], values[:, None])
    assert rows.sum(axis=1) == pytest.approx(1, rel=1e-12)
    assert rows == pytest.approx(tables(remapped), rel=1e-9, abs=1e-15)
    means = rows @ values
    errors = (rows * abs(values - values[:, None])).sum(axis=1)
    assert remapped.error(values) == pytest.approx(errors, rel=1e-11)
    assert remapped.error(12) == pytest.approx(rows[10] @ (12 - values), rel=1e-11)
    assert remapped.bias(values) == pytest.approx(means - values, abs=1e-12)
    assert remapped.variance(values) == pytest.approx(rows @ values**2 - means**2, abs=1e-11)
    assert remapped.mean_error() == pytest.approx(errors.mean(), rel=1e-11)
    assert remapped.worst_error() == pytest.approx(errors.max(), rel=1e-11)
    assert remapped.at_ends() == pytest.approx(rows[:, [0, 10]].sum(axis=1).mean(), rel=1e-11)
    for value in (0, 6):
        found = remapped.quantile([0.1, 0.5, 0.93], [value] * 3)
        assert (np.cumsum(rows[value])[found] >= [0.1, 0.5, 0.93]).all()


def counted(drawn: Any, size: int = 11) -> Any:
    """Return how often each number was drawn."""
    return np.bincount(np.asarray(drawn, dtype=np.int64), minlength=size)


@pytest.mark.parametrize("name", ["snapped geometric", "geometric left where it falls", "bounded Laplace"])
def test_draws_follow_the_law_and_reject_that_of_another_prior(name: str) -> None:
    """Releases in an array and one by one fit their probabilities, and not those under equal weights."""
    remapped, other = made[name].remapped(TILTED), made[name].remapped(None)
    many = counted(remapped._release_array(np.full(40_000, 7), Script(seed=1)))
    script = Script(seed=2)
    single = counted([remapped._draw(7, script) for _ in range(8_000)])
    right, wrong = ([mechanism.pmf(r, 7) for r in range(11)] for mechanism in (remapped, other))
    for seen in (many, single):
        assert p_value(seen, right) > FLOOR
        assert p_value(seen, np.array(wrong) * 0.999 + 0.001 / 11) < FLOOR


FINE: dict[str, Callable[[], Mechanism]] = {
    "bounded Laplace": lambda: BoundedLaplace(Bounds(0, 5), 1, 0.5),
    "snapped Laplace": lambda: Laplace(Bounds(0, 5), 1, 0.5, ends="snap"),
    "Laplace left where it falls": lambda: Laplace(Bounds(0, 5), 1, 0.5),
    "union": lambda: BoundedLaplace(Bounds(0, 1) | Bounds(3, 5), 1, 1),
    "many points": lambda: Geometric(Bounds(0, 6000, step=1), 300, 0.5, ends="snap"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FINE)
def test_on_fine_lattices_groups_of_releases_are_replaced(name: str) -> None:
    """The mean error under a prior falls, is that over true answers one by one, and draws fit the law."""
    base = FINE[name]()
    top = float(base.bounds.greatest or 0)
    prior = ([4, 0, 1, 1], [0, top / 5, 3 * top / 5, 4 * top / 5, top])
    remapped = base.remapped(prior)
    found = remapped.mean_error(prior=prior)
    assert found <= base.mean_error(prior=prior) * 0.95
    truths = np.concatenate(
        [np.linspace(a, b, 2001)[:-1] + (b - a) / 4002 for a, b in [(0, 0.2), (0.6, 0.8), (0.8, 1)]]
    )
    possible = np.array([float(value * top) in base.bounds for value in truths])
    truths = np.rint(truths * top) if base.bounds.step else truths * top
    errors = np.asarray(remapped.error(truths))
    held = possible | (base.bounds.step is not None)
    shares = [errors[part][held[part]].mean() for part in np.split(np.arange(6000), 3)]
    assert found == pytest.approx(np.dot(shares, [4, 1, 1]) / 6, rel=2e-3 if base.bounds.step else 2e-5)
    drawn = np.sort(remapped._release_array(np.full(20_000, top / 7), Script(seed=3)))
    cuts = drawn[::4000]
    seen = np.diff(np.searchsorted(drawn, cuts, side="right"), prepend=0, append=len(drawn))
    right = np.diff(remapped.cdf(cuts, top / 7), prepend=0, append=1)
    assert p_value(seen, right) > FLOOR
    assert p_value(seen, np.diff(base.cdf(cuts, top / 7), prepend=0, append=1) * 0.999 + 1e-4) < FLOOR


def test_where_groups_would_cost_more_than_they_gain_releases_stay() -> None:
    """On a range of a thousand scales without a step, equal weights leave nothing to gain, and nothing is replaced."""
    base = BoundedLaplace(Bounds(0, 1000), 1, 1)
    remapped = base.remapped(None)
    assert remapped.mean_error() == base.mean_error()
    assert remapped.remap(12.34375) == 12.34375
    assert remapped.remap(np.array([0.5, 999.0])).tolist() == [0.5, 999.0]
    assert remapped._release_one(3.0, Script(seed=4)) == base._release_one(3.0, Script(seed=4))


@pytest.mark.parametrize(
    ("base", "answers"),
    [
        (made["snapped geometric"], [0, 3, 10, 12]),
        (made["geometric left where it falls"], [0, 3, 10, -2]),
        (BoundedLaplace(YEAR, 3, 0.5), [date(2026, 1, 1), date(2026, 8, 8), date(2027, 1, 1)]),
        (BoundedLaplace(ISLANDS, 2, 0.5), [0, 6, 30]),
        (BoundedLaplace(Bounds(0, 5), 1, 1), [0.0, 1.23, 5.0]),
    ],
    ids=["counts", "left", "dates", "islands", "range"],
)
def test_the_draw_before_the_remap_stays_available(base: Mechanism, answers: list[Any]) -> None:
    """What the base draws, remapped, is what is released: one by one, in arrays and in Series, in the same kinds."""
    remapped = base.remapped(lambda x: 1 if x == answers[0] else 0.1)
    for answer in answers:
        drawn = base._outputs.writer(type(answer))(base._draw(base._answers.index(answer), Script(seed=5)))
        released = remapped._release_one(answer, Script(seed=5))
        assert remapped.remap(drawn) == released
        assert type(released) is type(drawn)
        assert released in base.bounds
    drawn = base._release_array(answers * 50, Script(seed=6))
    released = remapped._release_array(answers * 50, Script(seed=6))
    assert remapped.remap(drawn).tolist() == released.tolist()
    assert remapped.remap(drawn.tolist()).tolist() == [remapped.remap(one) for one in drawn.tolist()]
    series = pd.Series(drawn, index=range(7, 7 + len(drawn)), name="seen")
    assert remapped.remap(series).equals(pd.Series(released, index=series.index, name="seen"))


def test_a_remapped_mechanism_is_as_private_as_its_base_and_says_what_it_is() -> None:
    """Certificate, second proof, label, timing and kinds of guarantee are those of the base."""
    for base in made.values():
        remapped = base.remapped(TILTED)
        assert remapped.certificate is base.certificate
        assert remapped.prove_again() == base.prove_again()
        assert (remapped.label, remapped.even_timing, remapped.pure) == (base.label, base.even_timing, base.pure)
        assert remapped.in_range
        assert remapped.base is base
        assert remapped.name == f"remapped {base.name}"
    assert repr(made["snapped geometric"].remapped(TILTED)) == (
        "<Remapped(<Geometric([0, 10] step 1, sensitivity=1, epsilon=0.5, ends='snap'): scale 2, ε = 0.5>, "
        "Prior(9 weights)): ε = 0.5>"
    )
    kept = BoundedLaplace(ELEVEN, 1, 0.5, guarantee="distance").remapped(None)
    assert (kept.guarantee, kept.keeps_distance) == ("distance", True)


def test_what_is_not_private_does_not_become_so() -> None:
    """A law for less than its label says is remapped with that label."""
    base = NaiveLaplace(ELEVEN, 1, 0.5)
    assert not base.label.private
    assert base.remapped(None).label == base.label


def test_equal_bases_and_priors_make_equal_mechanisms() -> None:
    """Equality, hash and pickle are by what it is made of, however the prior was written."""
    base = made["snapped geometric"]
    one, same, other = base.remapped(TILTED), base.remapped(lambda x: TILTED[x]), base.remapped(None)
    assert one == same == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(same)
    assert one != other != base
    assert one != made["folded geometric"].remapped(TILTED)
    assert pickle.loads(pickle.dumps(one)).remap(9) == one.remap(9)


def test_intervals_hold_the_truth_as_often_as_promised() -> None:
    """Intervals of remapped releases hold every true answer at least as often as they say, on few points and many."""
    for name in BASES:
        remapped = made[name].remapped(TILTED)
        lows, highs = remapped.interval(list(range(11)), 0.8)
        for value in range(11):
            inside = np.flatnonzero((lows <= value) & (value <= highs))
            assert remapped.pmf(inside, value).sum() >= 0.8 * (1 - 1e-9)
    many = BoundedLaplace(Bounds(0, 5), 1, 0.5).remapped([3, 1])
    targets = many._distribution.remap.targets * float(many.step)  # type: ignore[attr-defined]
    lows, highs = many.interval(targets, 0.9)
    for truth in (0.0, 0.7, 2.5, 4.99):
        inside = (lows <= truth) & (truth <= highs)
        assert many.pmf(targets, [truth] * len(targets))[inside].sum() >= 0.9 * (1 - 1e-9)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: made["bounded Laplace"].remapped([1, 2]), "one weight for each of 11 possible answers, got 2; give"),
        (lambda: made["bounded Laplace"].remapped([-1] * 11), "no weight of the prior may be negative, got -1; set"),
        (lambda: made["bounded Laplace"].remapped([0] * 11), "some weight above zero, got none; leave it out"),
        (lambda: made["bounded Laplace"].remapped(3), "prior must be a list of weights"),  # type: ignore[arg-type]
        (lambda: BoundedLaplace(Bounds(0, None), 1, 1).remapped(None), "a prior needs bounds with both ends, got"),
        (lambda: Remapped(3, None), "only a mechanism can be remapped, got 3; create one"),  # type: ignore[arg-type]
        (
            lambda: made["bounded Laplace"].mean_error((0, 3), prior=TILTED),
            r"over a prior or over a window, got both, with the window \(0, 3\); leave one of them out",
        ),
        (
            lambda: BoundedLaplace(Bounds(0, None), 1, 1).mean_error(prior=[1]),
            "a prior needs bounds with both ends, got",
        ),
    ],
)
def test_what_cannot_be_remapped_is_refused(ask: Callable[[], object], message: str) -> None:
    """Each refusal says the rule, what was received and what to do."""
    with pytest.raises(InvalidParameter, match=message):
        ask()


def test_releases_beyond_the_ends_still_tell_how_far() -> None:
    """Where a base leaves the range and greater releases speak for greater truths, so do those outside."""
    remapped = Piecewise(Bounds(0, 1), 1, 1).remapped([5, 1, 1, 1])
    released = remapped.remap([-0.9, -0.3, 1.01, 1.9])
    assert (np.diff(released) >= 0).all()
    assert len(set(released.tolist())) > 2
    assert all(one in remapped.bounds for one in released.tolist())
