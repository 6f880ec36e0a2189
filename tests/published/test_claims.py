"""What docs/published.md says of claims in papers that no mechanism here rests on, computed by quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds import Bounds
from inbounds.published import BoundedGaussian

Floats = NDArray[np.float64]
Density = Callable[[Floats], Floats]
Spans = list[tuple[float, float]]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
FAR = 80.0
"""In place of infinity: the laws here have nothing beyond."""


def integral(function: Density, spans: Spans, breaks: list[float]) -> float:
    """Return an integral over spans, smooth between the breaks."""
    total = 0.0
    for low, high in spans:
        edges = np.unique(np.clip([low, *breaks, *np.linspace(low, high, 41), high], low, high))
        middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
        total += float((half[:, None] * WEIGHTS * function(middle[:, None] + half[:, None] * NODES)).sum())
    return total


def divergence(logarithm: Callable[[Floats], Floats], spans: Spans, first: float, second: float, order: float) -> float:
    """Return the Rényi divergence of noise truncated to spans and normalised, around one answer from another's."""

    def log_of(answer: float) -> Density:
        breaks = [first, second]
        whole = math.log(integral(lambda x: np.exp(logarithm(x - answer)), spans, breaks))
        return lambda x: logarithm(x - answer) - whole

    one, other = log_of(first), log_of(second)
    moment = integral(lambda x: np.exp(order * one(x) + (1 - order) * other(x)), spans, [first, second])
    return math.log(moment) / (order - 1)


def gaussian(sigma: float) -> Density:
    """Return the logarithm of a Gaussian density, but for a constant."""
    return lambda x: -(x**2) / (2 * sigma**2)


def laplace(x: Floats) -> Floats:
    """Return the logarithm of the Laplace density of scale 1, but for a constant."""
    return -abs(x)


@pytest.mark.parametrize("order", [1.05, 2, 7])
@pytest.mark.parametrize("sigma", [0.4, 1, 5])
@pytest.mark.parametrize("spans", [[(0, 1)], [(0, 4)], [(0, FAR)]], ids=str)
def test_a_gaussian_truncated_to_an_interval_keeps_its_renyi_privacy(spans: Spans, sigma: float, order: float) -> None:
    """Between answers at an end, near it or in the middle the divergence is at most that without truncation."""
    for first, second in [(0.0, 1.0), (1.0, 0.0), (0.0, 0.2), (0.7, 0.3), (0.5, 1.0)]:
        kept = order * (first - second) ** 2 / (2 * sigma**2)
        assert divergence(gaussian(sigma), spans, first, second, order) <= kept * (1 + 1e-9)


@pytest.mark.parametrize(("order", "found"), [(1.1, 0.7258061), (1.5, 0.9210961), (2, 1.1058520)])
def test_a_gaussian_truncated_to_a_union_does_not(order: float, found: float) -> None:
    """Across a gap between two possible answers the divergence is greater than without truncation."""
    gap: Spans = [(0, 2), (3, 5)]
    assert divergence(gaussian(1), gap, 2, 3, order) == pytest.approx(found, rel=1e-6)
    assert found > order / 2


@pytest.mark.parametrize(("top", "order", "found"), [(FAR, 4, 0.84306), (FAR, 10, 1.16272), (2, 10, 1.06888)])
def test_a_truncated_laplace_law_does_not(top: float, order: float, found: float) -> None:
    """From an end of one interval the divergence is greater than that of Laplace noise; on [0, 1] it is not."""
    untruncated = divergence(laplace, [(-FAR, FAR)], 0, 1, order)
    terms = order * math.exp(order - 1) + (order - 1) * math.exp(-order)  # Mironov 2017, proposition 6
    assert untruncated == pytest.approx(math.log(terms / (2 * order - 1)) / (order - 1), rel=1e-9)
    assert divergence(laplace, [(0, top)], 0, 1, order) == pytest.approx(found, abs=1e-5)
    assert found > untruncated > divergence(laplace, [(0, 1)], 0, 1, order)


def test_the_bounded_gaussian_is_concentrated_private() -> None:
    """On a lattice too, of every order: rounding is post-processing."""
    made = BoundedGaussian(Bounds(0, 9, step=1), 2, 1)
    rows = np.array([made.pmf(list(range(10)), truth) for truth in range(10)])
    for order in (1.1, 2, 16):
        for i, j in [(0, 2), (2, 0), (4, 6), (8, 9)]:
            found = math.log(float((rows[i] ** order * rows[j] ** (1 - order)).sum())) / (order - 1)
            assert found <= order * (i - j) ** 2 / (2 * made.scale**2)


def times_x(function: Density) -> Density:
    """Return what a mean is the integral of."""
    return lambda x: x * function(x)


def test_a_bump_on_a_base_that_falls_to_zero_has_no_finite_loss() -> None:
    """Zhang et al., as they programmed it: parameters that pass every check put the bump where the base is 0."""
    epsilon, k, m, y = 1, 0.2, 0.4, 0.3
    factor = math.expm1(epsilon)
    end = (1 - k * m) / y
    greatest = min(k * m * (2 - 2 * k * m - m * y) / (2 * y), end * (1 - k / (y * factor)))  # of the mean
    start = greatest / (k * m) - m / 2
    assert k <= min(1 - y, y * factor)
    assert start >= greatest

    def density(x: Floats, start: float) -> Floats:
        return y * (1 - abs(x) / end) + np.where((x >= start) & (x < start + m), k, 0.0)

    laws: list[Density] = [lambda x: density(x, start), lambda x: density(x, -start - m)]
    spans: Spans = [(-end, -start - m), (-start - m, -start), (-start, start), (start, start + m)]
    for law, mean in zip(laws, (greatest, -greatest), strict=True):
        assert integral(law, spans, [0.0]) == pytest.approx(1, rel=1e-9)
        assert integral(times_x(law), spans, [0.0]) == pytest.approx(mean, rel=1e-9)
    near = np.array([end * (1 - 10.0**-k) for k in (1, 4, 8)])
    losses = np.log(laws[0](near) / laws[1](near))
    assert losses[0] > epsilon
    assert (np.diff(losses) > 5).all()
