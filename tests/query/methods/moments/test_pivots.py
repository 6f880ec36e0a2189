"""Intervals of moments by pivots: they hold the truth as often as is said, and are nearly as narrow as the noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from inbounds.query.methods.moments.pivots import Pivots
from inbounds.query.methods.moments.tails import Tails

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

ALPHA = 0.05
PLACES = np.array([0, 0.5, 1])


@cache
def values(kind: str, rows: int) -> tuple[Numbers, Numbers]:
    """Return two columns as parts of their ranges: normal, skewed, or with two modes."""
    draw = np.random.default_rng(7)
    if kind == "normal":
        x = draw.normal(0.5, 0.15, rows)
        y = 0.5 + 0.5 * (x - 0.5) + draw.normal(0, 0.15, rows)
    elif kind == "skewed":
        x = draw.lognormal(-2.3, 0.8, rows)
        y = 0.6 * x + draw.exponential(0.1, rows)
    else:
        first = draw.random(rows) < 0.4
        x = np.where(first, draw.normal(0.12, 0.04, rows), draw.normal(0.83, 0.05, rows))
        y = np.where(first, draw.normal(0.7, 0.08, rows), draw.normal(0.2, 0.08, rows))
    return np.clip(x, 0, 1), np.clip(y, 0, 1)


def parts(u: Numbers) -> Numbers:
    """Return the parts that each value is cut into."""
    return np.stack([(1 - u) ** 2, 2 * u * (1 - u), u**2])


@dataclass(frozen=True)
class Tried:
    """Intervals around many draws, beside the truth and what the draws say."""

    low: Numbers
    high: Numbers
    truth: float
    estimates: Numbers

    @property
    def covered(self) -> int:
        """How many intervals hold the truth."""
        return int(((self.low <= self.truth + 1e-12) & (self.truth <= self.high + 1e-12)).sum())

    @property
    def width(self) -> float:
        """Half the width of the intervals over the mean error."""
        half = float((self.high - self.low).mean()) / 2
        return half / float(np.abs(self.estimates - self.truth).mean())


def measured(sums: Numbers, scale: float, runs: int) -> Numbers:
    """Return noisy sums."""
    return np.asarray(sums + np.random.default_rng(11).laplace(scale=scale, size=(runs, len(sums))))


def try_mean(kind: str, rows: int, epsilon: float, runs: int, *, told: float = 1.0) -> Tried:
    """Return intervals of a mean, for which the noise is said to be `told` times what it is."""
    u, _ = values(kind, rows)
    sums = measured(np.array([(1 - u).sum(), u.sum()]), 1 / epsilon, runs)
    low, high = Pivots(sums, [np.array([0.0, 1.0])], Tails(told / epsilon, 1e-9), ALPHA).mean_ends(0)
    kept = np.maximum(sums, 0)
    return Tried(low, high, float(u.mean()), kept[:, 1] / np.maximum(kept.sum(axis=1), 1e-9))


def try_variance(kind: str, rows: int, epsilon: float, runs: int, *, told: float = 1.0) -> Tried:
    """Return intervals of a variance."""
    u, _ = values(kind, rows)
    sums = measured(parts(u).sum(axis=1), 1 / epsilon, runs)
    low, high = Pivots(sums, [PLACES], Tails(told / epsilon, 1e-9), ALPHA).variance_ends(0)
    a, b, c = np.maximum(sums, 0).T
    return Tried(low, high, float(u.var()), np.clip((a * c - b**2 / 4) / np.maximum(a + b + c, 1e-9) ** 2, 0, 0.25))


def try_pair(kind: str, rows: int, epsilon: float, runs: int, *, told: float = 1.0) -> tuple[Tried, Tried]:
    """Return intervals of a covariance and of a correlation."""
    u, v = values(kind, rows)
    sums = measured((parts(u) @ parts(v).T).ravel(), 1 / epsilon, runs)
    pivots = Pivots(sums, [np.repeat(PLACES, 3), np.tile(PLACES, 3)], Tails(told / epsilon, 1e-9), ALPHA)
    kept = np.maximum(sums, 0).reshape(runs, 3, 3)
    n = kept.sum(axis=(1, 2))
    means = kept.sum(axis=2) @ PLACES / n, kept.sum(axis=1) @ PLACES / n
    covariance = np.einsum("gij,i,j->g", kept, PLACES, PLACES) / n - means[0] * means[1]
    variances = [
        np.maximum((side[:, 0] * side[:, 2] - side[:, 1] ** 2 / 4) / n**2, 1e-9)
        for side in (kept.sum(axis=2), kept.sum(axis=1))
    ]
    correlation = np.clip(covariance / np.sqrt(variances[0] * variances[1]), -1, 1)
    return (
        Tried(*pivots.covariance_ends(), float(np.cov(u, v, bias=True)[0, 1]), covariance),
        Tried(*pivots.correlation_ends(), float(np.corrcoef(u, v)[0, 1]), correlation),
    )


KINDS = ("normal", "skewed", "bimodal")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [200, 2000, 20_000])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_intervals_of_means_and_variances(kind: str, rows: int, epsilon: float) -> None:
    """Both are covered as often as is said; from 40 scales of noise on they are narrow; told half the noise, they are
    not covered."""
    runs = 2000
    for one in (try_mean, try_variance):
        tried = one(kind, rows, epsilon, runs)
        assert stats.binom.cdf(tried.covered, runs, 1 - ALPHA) > 1e-9
        if rows * epsilon > 40:
            assert tried.width < 3.6
            assert stats.binom.cdf(one(kind, rows, epsilon, runs, told=0.5).covered, runs, 1 - ALPHA) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "rows", "epsilon", "most"),
    [
        ("normal", 200, 0.1, None), ("skewed", 200, 1.0, None), ("bimodal", 2000, 0.1, None),
        ("normal", 2000, 0.5, 3.8), ("skewed", 2000, 1.0, 4.0), ("bimodal", 2000, 0.5, 3.2),
        ("skewed", 20_000, 1.0, 3.2),
    ],
)  # fmt: skip
def test_intervals_of_covariances_and_correlations(kind: str, rows: int, epsilon: float, most: float | None) -> None:
    """Both are covered as often as is said; with little noise they are narrow, and told half of it, not covered."""
    runs = 400
    for tried in try_pair(kind, rows, epsilon, runs):
        assert stats.binom.cdf(tried.covered, runs, 1 - ALPHA) > 1e-9
        assert most is None or tried.width < most
    if most is not None:
        for tried in try_pair(kind, rows, epsilon, runs, told=0.5):
            assert stats.binom.cdf(tried.covered, runs, 1 - ALPHA) < 1e-9


def test_sums_of_no_rows_say_nothing() -> None:
    """Where the sums may be those of no rows at all, every statistic may be anything it can be."""
    sums = np.array([[-3.0] * 9, [0.0] * 9, [0.2] * 9])
    pivots = Pivots(sums, [np.repeat(PLACES, 3), np.tile(PLACES, 3)], Tails(1.0, 1e-9), ALPHA)
    ends = [pivots.mean_ends(0), pivots.variance_ends(1), pivots.covariance_ends(), pivots.correlation_ends()]
    for (low, high), whole in zip(ends, [(0, 1), (0, 0.25), (-0.25, 0.25), (-1, 1)], strict=True):
        assert (low.tolist(), high.tolist()) == ([whole[0]] * 3, [whole[1]] * 3)


def test_a_total_is_in_its_interval_as_often_as_is_said() -> None:
    """The interval of a weighed total is as wide as the tails of its noise, on both sides."""
    sums, runs = np.array([30.0, 50.0]), 4000
    pivots = Pivots(measured(sums, 2.0, runs), [np.array([0.0, 1.0])], Tails(2.0, 1e-9), ALPHA)
    low, high = pivots.total_ends(np.array([1.0, 1.0]))
    covered = int(((low <= 80) & (high >= 80)).sum())
    assert stats.binom.cdf(covered, runs, 1 - ALPHA) > 1e-9
    assert stats.binom.sf(covered, runs, 1 - ALPHA) > 1e-9
