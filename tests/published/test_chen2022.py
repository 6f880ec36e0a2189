"""The bounded Gaussian mechanism is the one of its paper, keeps what its label says, and is drawn by its law."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from dataclasses import replace
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

from inbounds import Bounds, InvalidParameter, NotPrivate, certify
from inbounds.published import BoundedGaussian
from tests.helpers.chi_square import FLOOR, p_value

COUNTS = Bounds(0, 12, step=1)
DAYS = Bounds.dates("2026-01-01", "2026-12-31")
WAYS = ["published", "least"]


def mass(width: float, centre: float, sigma: float) -> float:
    """Return the Gaussian mass of an interval from zero around a centre in it."""
    return float(stats.norm.cdf((width - centre) / sigma) - stats.norm.cdf(-centre / sigma))


def needed(width: float, sensitivity: float, epsilon: float, way: str) -> float:
    """Return the standard deviation at which the condition of the paper, or the exact loss, is epsilon."""

    def excess(sigma: float) -> float:
        if way == "least":
            ratio = mass(width, sensitivity, sigma) / mass(width, 0, sigma)
            return (width - sensitivity / 2) * sensitivity / sigma**2 - math.log(ratio) - epsilon
        ratio = mass(width, min(sensitivity, width / 2), sigma) / mass(width, 0, sigma)
        return (width + sensitivity / 2) * sensitivity / sigma**2 + math.log(ratio) - epsilon

    return float(optimize.brentq(excess, 1e-2, 1e4, xtol=1e-13))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("width", "sensitivity", "epsilon"), [(1, 1, 1), (2, 1.5, 0.3), (10, 1, 1), (50, 2, 5)])
def test_its_standard_deviation_is_the_known_one(width: float, sensitivity: float, epsilon: float, way: Any) -> None:
    """Chen & Hale: the least one that keeps their condition; or the least that keeps the exact loss, which is less."""
    made = BoundedGaussian(Bounds(0, width), sensitivity, epsilon, sigma=way)
    assert made.scale == pytest.approx(needed(width, sensitivity, epsilon, way), rel=1e-8)
    assert made.scale <= BoundedGaussian(Bounds(0, width), sensitivity, epsilon).scale
    assert str(made.label) == f"ε = {epsilon:.4g}"


@pytest.mark.parametrize("truth", [0.0, 0.7, 3.0])
def test_its_law_is_a_truncated_gaussian(truth: float) -> None:
    """Densities, error, bias and variance are those of a Gaussian cut off at the ends."""
    made = BoundedGaussian(Bounds(0, 3), 1, 1)
    law = stats.truncnorm(-truth / made.scale, (3 - truth) / made.scale, loc=truth, scale=made.scale)
    for x in (0.25, 1.0, 2.5):
        assert made.pmf(x, truth) / float(made.step) == pytest.approx(law.pdf(x), rel=1e-9)
        assert made.cdf(x, truth) == pytest.approx(law.cdf(x), rel=1e-8)
    assert made.pmf(0.0, truth) / float(made.step) == pytest.approx(law.pdf(0) / 2, rel=1e-8)
    assert made.mean(truth) == pytest.approx(law.mean(), rel=1e-9)
    assert made.variance(truth) == pytest.approx(law.var(), rel=1e-9)
    assert made.error(truth) == pytest.approx(law.expect(lambda x: abs(x - truth)), rel=1e-7)


@pytest.mark.parametrize("epsilon", [0.001, 1, 20])
def test_closed_forms_are_the_sums_over_all_points(epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """On points that can be listed, closed forms agree with sums over them, for answers on a step and between two."""
    listed = BoundedGaussian(Bounds(0, 4000, step=1), 40, epsilon)
    monkeypatch.setattr("inbounds.published.chen2022.FEW", 0)
    closed = BoundedGaussian(Bounds(0, 4000, step=1), 40, epsilon)
    for answer in (0, 3, 700.4, 2000, 4000, 4100):
        for figure in ("error", "bias", "variance"):
            one, other = (getattr(made, figure)(answer) for made in (listed, closed))
            assert one == pytest.approx(other, rel=1e-8, abs=1e-6)
        for released in (0, 1, 2500, 4000):
            for figure in ("pmf", "cdf"):
                one, other = (getattr(made, figure)(released, answer) for made in (listed, closed))
                assert one == pytest.approx(other, rel=1e-9)
    assert listed.mean_error() == pytest.approx(closed.mean_error(), rel=1e-8)
    assert listed.worst_error() == pytest.approx(closed.worst_error(), rel=1e-8)
    assert listed.at_ends() == pytest.approx(closed.at_ends(), rel=1e-8)


def rows(made: BoundedGaussian, count: int) -> np.ndarray:
    """Return the probabilities of all releases for all true answers from zero on."""
    return np.array([made.pmf(list(range(count)), truth) for truth in range(count)])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("top", "sensitivity", "epsilon"), [(1, 1, 1), (7, 2, 0.5), (12, 5, 3), (12, 20, 0.1)])
def test_it_is_private_by_definition(top: int, sensitivity: int, epsilon: float, way: Any) -> None:
    """Over all pairs and releases the loss is at most epsilon; `certify` finds the same, no more than was proved."""
    made = BoundedGaussian(Bounds(0, top, step=1), sensitivity, epsilon, sigma=way)
    table = rows(made, top + 1)
    assert table.sum(axis=1) == pytest.approx(1, abs=1e-13)
    logs = np.log(table)
    near = [(i, j) for i in range(top + 1) for j in range(top + 1) if abs(i - j) <= sensitivity]
    loss = max(float((logs[i] - logs[j]).max()) for i, j in near)
    assert loss <= epsilon
    found = certify(made)
    assert found.method == "every pair, every output"
    assert float(found.bound) == pytest.approx(loss, rel=1e-9)
    assert float(made.certificate.witnessed) == pytest.approx(loss, rel=1e-9)  # the pair and output named are the worst
    assert made.certificate.bound >= found.bound


@pytest.mark.parametrize("bounds", [Bounds(0, 40, step=1), Bounds(0, 5000, step=1), Bounds(0, 10)], ids=str)
def test_claimed_for_less_it_is_refused(bounds: Bounds) -> None:
    """Made for epsilon and claimed to keep nine tenths of it, it is refuted, on few points or on many."""
    made = BoundedGaussian(bounds, 2, 1, sigma="least")
    assert certify(made).holds
    setting = made._setting
    false = object.__new__(BoundedGaussian)
    vars(false).update(vars(made), _setting=replace(setting, promise=replace(setting.promise, epsilon=Fraction(9, 10))))
    with pytest.raises(NotPrivate) as refusal:
        certify(false)
    assert refusal.value.certificate.refuted


@pytest.mark.slow
@pytest.mark.parametrize(("bounds", "answer"), [(COUNTS, 3), (Bounds(0, 12), 3.3)], ids=str)
def test_releases_follow_the_law(bounds: Bounds, answer: float) -> None:
    """Releases fit the law that is told, and not that for a quarter of epsilon or four times as much."""
    made = BoundedGaussian(bounds, 2, 2)
    drawn = [round(float(one)) for one in made.release([answer] * 5000)]
    counts = Counter(drawn)
    seen = [counts[k] for k in range(13)]

    def told(epsilon: float) -> list[float]:
        law = BoundedGaussian(bounds, 2, epsilon)
        edges = [-1.0, *(k + 0.5 for k in range(12)), 12.0]
        return np.diff([law.cdf(edge, answer) for edge in edges]).tolist()

    assert p_value(seen, told(2)) > FLOOR
    for off in (0.5, 8):
        assert p_value(seen, told(off)) < FLOOR


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bounds", [COUNTS, Bounds(Fraction(1, 3), 2.7), Bounds(4, 4, step=1), DAYS], ids=str)
def test_releases_are_possible_and_of_their_kind(bounds: Bounds, way: Any) -> None:
    """Releases are possible, for answers anywhere, alone or in arrays, from numbers or dates."""
    made = BoundedGaussian(bounds, 1, 0.5, sigma=way)
    answers: list[Any] = [date(2025, 1, 1), date(2026, 7, 4)] if bounds.is_dates else [-50, 0.4, 2, 50]
    assert all(made.release(answer) in bounds for answer in answers)
    assert all(released in bounds for released in made.release(answers * 5).tolist())
    assert made.in_range
    assert pickle.loads(pickle.dumps(made)) == made
    assert certify(made).holds


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 40, 1000])
def test_every_epsilon_is_proved(epsilon: float) -> None:
    """From the least epsilon to the greatest, it is made, proved twice and knows its error."""
    made = BoundedGaussian(Bounds(0, 20, step=1), 2, epsilon, sigma="least")
    assert certify(made).holds
    assert 0 < made.mean_error() < 20
    wide = BoundedGaussian(Bounds(0, 1), 1, epsilon)
    assert wide.certificate.holds
    assert 0 < wide.error(0.3) < 1


def test_a_single_possible_answer_is_always_released() -> None:
    """With one possible answer there is no error and nothing to tell."""
    made = BoundedGaussian(Bounds(4, 4, step=1), 1, 1)
    assert (made.release(9), made.error(4), made.pmf(4, 4), made.error(6)) == (4, 0, 1, 2)
    assert made.certificate.bound == 0


@pytest.mark.parametrize(
    ("bounds", "choices", "message"),
    [
        (Bounds(0, None), {}, r"needs one bounded interval, got \[0, inf\); use bounded Laplace"),
        (Bounds(0, 1) | Bounds(2, 3), {}, r"needs one bounded interval, got .*; use bounded Laplace"),
        (COUNTS, {"sigma": "small"}, "sigma must be 'published' or 'least', got 'small'; 'least' has"),
        (COUNTS, {"sigma": 3}, "sigma must be 'published' or 'least', got 3"),
    ],
    ids=str,
)
def test_what_it_is_not_for_is_refused(bounds: Bounds, choices: Any, message: str) -> None:
    """Open bounds, gaps, and a standard deviation of one's own are refused by name, with the remedy."""
    with pytest.raises(InvalidParameter, match=message):
        BoundedGaussian(bounds, 1, 1, **choices)


def test_too_little_noise_on_many_points_is_refused() -> None:
    """On more points than can be listed the noise has to be wide against a step, or errors could not be told."""
    with pytest.raises(InvalidParameter, match=r"needs noise of at least 16 steps, .*; give the bounds a finer step"):
        BoundedGaussian(Bounds(0, 5000, step=1), 1, 1000)
