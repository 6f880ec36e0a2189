"""What the noise in a weighted sum of noisy sums exceeds: no more often than is said, and not much less often."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce
from itertools import product
from math import gcd

import numpy as np
import pytest
from scipy import integrate, stats

from inbounds.query.methods.moments.tails import COARSE, Tails, _pair_tail, fourier_reach

WEIGHTS = [
    (1.0, 1.0), (1.0, 0.999), (1.0, 0.5), (0.7, 0.3), (1.0, 0.0), (0.2, 0.3, 0.25), (1.0, 1.0, 1.0), (1.0, 0.01, 0.0),
    (1.0, 1.0, 0.1), (0.5, 0.5, 0.5, 0.5), (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2), (1.0,) + (0.02,) * 8,
    (1.0,) * 9,
]  # fmt: skip
ALPHAS = (0.2, 0.05, 0.003)


def exact_tail(weights: tuple[float, ...], t: float) -> float:
    """Return the probability that continuous Laplace noises are together beyond t, by Fourier inversion."""

    def integrand(u: float) -> float:
        return np.sinc(u * t / np.pi) * t * np.prod([1 / (1 + (w * u) ** 2) for w in weights])

    pieces = [integrate.quad(integrand, low, low + 20, limit=400)[0] for low in range(0, 4000, 20)]
    return 1 - 2 / np.pi * float(np.sum(pieces))


@pytest.mark.slow
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_fine_noise_exceeds_its_bound_as_often_as_is_said(weights: tuple[float, ...]) -> None:
    """Continuous noise is beyond the bound with at most the given probability, and beyond 0.97 of it with more."""
    for alpha in ALPHAS:
        reach = float(Tails(2.0, 1e-12).reach(np.array([weights]), alpha)[0])
        assert exact_tail(weights, reach / 2) <= alpha * (1 + 1e-4) + 1e-6
        assert exact_tail(weights, 0.97 * reach / 2) > alpha


APART = [
    (1, 2), (1, 99, 100), (1, 10, 100), (1, 1, 1000), (80, 81, 82, 83, 84, 85, 86, 87, 88), (1, 1, 1, 1, 1, 1, 1, 1, 50)
]  # fmt: skip


def tail_by_partial_fractions(weights: tuple[int, ...], t: float) -> float:
    """Return the probability that Laplace noises are beyond t scales of the greatest weight, to 60 digits and more.

    Where weights are alike they are told apart by a part in 10^20, and the sum is as good as exact.
    """
    with localcontext(prec=400):
        exact = [Decimal(weight) * (1 + i * Decimal("1e-20")) for i, weight in enumerate(weights)]
        place, whole = Decimal(t) * max(weights), Decimal(0)
        for weight in exact:
            others = (weight**2 / (weight**2 - other**2) for other in exact if other != weight)
            whole += reduce(lambda one, next_one: one * next_one, others, Decimal(1)) * (-place / weight).exp()
        return float(whole)


@pytest.mark.parametrize("weights", APART, ids=str)
@pytest.mark.parametrize("alpha", [0.2, 0.05, 3e-3, 1e-5, 1e-8, 1e-12])
def test_fine_noise_keeps_to_its_bound_however_rarely_it_may_exceed_it(weights: tuple[int, ...], alpha: float) -> None:
    """The sum of partial fractions, in decimals of 400 digits, is at most the probability at the bound, and more than
    that at 0.97 of it."""
    bound = float(Tails(1.0, 1e-15).reach(np.array([weights], dtype=np.float64) / max(weights), alpha)[0])
    assert tail_by_partial_fractions(weights, bound) <= alpha
    assert tail_by_partial_fractions(weights, 0.97 * bound) > alpha


def law_of_steps(weights: tuple[int, ...], step: float) -> np.ndarray:
    """Return the law of a weighted sum of geometric noises, in units: noise after noise, by convolution."""
    reach, q = int(np.ceil(32 / step)), np.exp(-step)
    masses = (1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1))
    law = np.ones(1)
    for weight in weights:
        spread = np.zeros(2 * reach * weight + 1)
        spread[::weight] = masses
        law = np.convolve(law, spread)
    return law


@pytest.mark.parametrize(
    "weights", [(1, 1, 1), (5, 3, 1), (10, 1, 1), (2, 2, 1, 1), (4, 3, 2, 1, 1), (1,) * 9], ids=str
)
@pytest.mark.parametrize("step", [0.1, 0.5, 2.0])
def test_noise_in_steps_keeps_to_its_bound(weights: tuple[int, ...], step: float) -> None:
    """By convolution of the laws themselves, weighed noises in steps are beyond the bound no more often than is said,
    and, less the steps that are added, beyond 0.9 of it more often."""
    divisor = gcd(*weights)
    law = law_of_steps(tuple(weight // divisor for weight in weights), step)
    assert law.sum() == pytest.approx(1, abs=1e-11)
    places = np.abs(np.arange(len(law)) - len(law) // 2)
    for alpha in (0.2, 0.05, 1e-3, 1e-6):
        bound = float(Tails(1.0, step).reach(np.array([weights], dtype=np.float64), alpha)[0])
        units = Fraction(bound) / Fraction(step) / divisor
        assert law[places > units].sum() <= alpha
        least = 0.9 * bound / step / divisor - 2 * sum(weights) / divisor
        assert law[places > least].sum() > alpha


@pytest.mark.parametrize(("step", "share"), [*product((0.3, 1.0, 3.0), (0.0, 0.01, 0.37, 0.5, 0.731, 1.0))])
def test_two_coarse_noises_exceed_their_bound_no_more_often_than_is_said(step: float, share: float) -> None:
    """By adding up all pairs of steps, the probability beyond the bound is at most that; far less is not enough."""
    q, reach = np.exp(-step), int(40 / step)
    steps = np.arange(-reach, reach + 1)
    masses = (1 - q) / (1 + q) * q ** np.abs(steps)
    together = np.abs(np.add.outer(steps * step, share * steps * step))
    for alpha in ALPHAS:
        bound = float(Tails(1.0, step).reach(np.array([[1.0, share]]), alpha)[0])
        assert (np.outer(masses, masses) * (together > bound)).sum() <= alpha * (1 + 1e-9)
        least = bound - 0.1 - step * (1 + share)  # the next smaller sums are at most a step of each away
        assert (np.outer(masses, masses) * (together > least)).sum() > alpha


def test_finely_stepped_noise_is_bounded_by_continuous_noise_and_a_step() -> None:
    """Between coarse and fine, the bounds of two noises in steps are those of all pairs, or a little above them."""
    for steps_to_a_scale in (COARSE - 1, COARSE + 1):
        step = 1 / steps_to_a_scale
        q, reach = np.exp(-step), int(30 / step)
        steps = np.arange(-reach, reach + 1)
        masses = (1 - q) / (1 + q) * q ** np.abs(steps)
        together = np.abs(np.add.outer(steps * step, 0.4 * steps * step))
        bound = float(Tails(1.0, step).reach(np.array([[1.0, 0.4]]), 0.05)[0])
        assert (np.outer(masses, masses) * (together > bound)).sum() <= 0.05
        assert (np.outer(masses, masses) * (together > 0.9 * bound)).sum() > 0.05


def test_bounds_grow_with_weights_and_scales() -> None:
    """Twice the weights or twice the scale have twice the bound; no larger weight has a smaller one."""
    weights = np.random.default_rng(1).random((200, 3))
    tails = Tails(1.0, 1e-12)
    once, larger = tails.reach(weights, 0.05), tails.reach(weights * [1, 1, 1.5], 0.05)
    assert tails.reach(2 * weights, 0.05) == pytest.approx(2 * once)
    assert Tails(2.0, 2e-12).reach(weights, 0.05) == pytest.approx(2 * once)
    assert (larger >= once - 1e-9).all()


@pytest.mark.slow
def test_drawn_noise_keeps_to_the_bound() -> None:
    """Of a million drawn sums no more are beyond the bound than its probability allows; but beyond 0.9 of it."""
    draw, runs = np.random.default_rng(5), 1_000_000
    weights = draw.random(9)
    sums = sum(weight * draw.laplace(size=runs) for weight in weights)
    reach = float(Tails(1.0, 1e-12).reach(weights[None, :], 0.05)[0])
    assert stats.binom.sf(int((np.abs(sums) > reach).sum()) - 1, runs, 0.05) > 1e-9
    assert stats.binom.sf(int((np.abs(sums) > 0.9 * reach).sum()) - 1, runs, 0.05) < 1e-9


@pytest.mark.parametrize("alpha", [0.05, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11])
def test_rare_noise_has_a_bound_too(alpha: float) -> None:
    """However sure one wants to be, a bound is one, without a warning, and wider than needed by half at most."""
    shares = np.linspace(0, 1, 33)
    with np.errstate(all="raise", under="ignore"):
        reach = fourier_reach(np.stack([np.ones(33), shares, np.zeros(33)], axis=-1), alpha)
    assert (_pair_tail(shares, reach) <= alpha * (1 + 1e-5)).all()
    assert (_pair_tail(shares, reach / 1.5) > alpha).all()
