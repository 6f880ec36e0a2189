"""What the noise in a weighted sum of noisy sums exceeds: no more often than is said, and not much less often."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats

from inbounds.query.methods.moments.tails import COARSE, Tails

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
