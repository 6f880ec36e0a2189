"""Intervals hold the truth as often as they say, for every mechanism, and are those of the likelihood ratio."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from inbounds import BoundedLaplace, Bounds, InvalidParameter, Mechanism, Optimal
from inbounds.published import (
    AdaptiveLaplace,
    BoundedGaussian,
    ExplicitFair,
    Geometric,
    HolohanLaplace,
    Laplace,
    Staircase,
    TruncatedLaplacian,
)
from tests.helpers.sparing import sparing

Floats = NDArray[np.float64]

COUNTS = Bounds(0, 30, step=1)
ISLANDS = Bounds.union([(0, 5), (9, 9), (13, 30)], step=1)

FEW: dict[str, Any] = {
    "bounded": partial(BoundedLaplace, COUNTS, 3),
    "bounded, pooling 0.4": partial(BoundedLaplace, ISLANDS, 2, pooling=0.4),
    "bounded, pooling 1": partial(BoundedLaplace, ISLANDS, 2, pooling=1),
    **{f"geometric, {ends}": partial(Geometric, ISLANDS, 2, ends=ends) for ends in ("leave", "snap", "fold")},
    **{f"staircase, {ends}": partial(Staircase, COUNTS, 4, ends=ends) for ends in ("leave", "snap", "fold")},
    "truncated Laplacian, folded": partial(TruncatedLaplacian, ISLANDS, 2, delta=0.01, ends="fold"),
    "explicit fair": partial(ExplicitFair, COUNTS, 2),
    "bounded Gaussian": partial(BoundedGaussian, COUNTS, 2),
    "optimal": partial(Optimal, Bounds.union([(0, 5), (9, 12)], step=1), 2),
}
"""Mechanisms on so few points that everything can be listed."""

FINE: dict[str, Any] = {
    "bounded": partial(BoundedLaplace, Bounds(0, 5), 1),
    "bounded, pooling 1": partial(BoundedLaplace, Bounds(0, 30), 1, pooling=1),
    "bounded, islands": partial(BoundedLaplace, Bounds(0, 3) | Bounds(4, None), 1, pooling=0.4),
    "bounded, whole line": partial(BoundedLaplace, Bounds.everything(), 1),
    **{f"Laplace, {ends}": partial(Laplace, Bounds(0, 10), 1, ends=ends) for ends in ("leave", "snap", "fold")},
    **{f"staircase, {ends}": partial(Staircase, Bounds(0, 2), 1, ends=ends) for ends in ("leave", "snap", "fold")},
    "Laplace, islands folded": partial(Laplace, Bounds(0, 3) | Bounds(8, 20), 1, ends="fold"),
    "half-line folded": partial(Staircase, Bounds(0, None), 1, ends="fold"),
    "adaptive": partial(AdaptiveLaplace, Bounds(0, None), 1),
    "adaptive downwards": partial(AdaptiveLaplace, Bounds(None, 3), 1),
    "Holohan": partial(HolohanLaplace, Bounds(0, 4), 1),
    "explicit fair": partial(ExplicitFair, Bounds(0, 2000, step=1), 50),
    "bounded Gaussian": partial(BoundedGaussian, Bounds(0, 4), 1),
}
"""Mechanisms on more points than are listed."""


@cache
def made(kind: str, epsilon: float, *, fine: bool) -> Mechanism:
    """Return a mechanism, made once."""
    found: Mechanism = (FINE if fine else FEW)[kind](epsilon)
    return found


@cache
def everything(mechanism: Mechanism) -> tuple[list[int], list[int], Floats]:
    """Return all truths, gaps included, all releases with any probability to speak of, and the law of each truth."""
    low, high = int(mechanism.bounds.low), int(mechanism.bounds.high)  # type: ignore[arg-type]  # whole numbers
    truths, beyond = list(range(low, high + 1)), 0 if mechanism.in_range else 400
    if isinstance(mechanism, BoundedLaplace):  # what is not possible counts as what is
        truths = [truth for truth in truths if truth in mechanism.bounds]
    releases = [x for x in range(low - beyond, high + beyond + 1) if beyond or x in mechanism.bounds]
    return truths, releases, np.array([mechanism.pmf(releases, truth) for truth in truths])


def counts_as(mechanism: Mechanism, truth: float) -> float:
    """Return the possible answer nearest to a truth, which intervals are to hold."""
    return float(mechanism.bounds.nearest(Fraction(truth)))


def coverage(mechanism: Mechanism, confidence: float, claimed: float) -> float:
    """Return how often, at the worst truth, intervals of one confidence hold it, less another confidence."""
    truths, releases, law = everything(mechanism)
    lows, highs = mechanism.interval(releases, confidence)
    counted = np.array([counts_as(mechanism, truth) for truth in truths])[:, None]
    held = (lows <= counted) & (counted <= highs)
    return float((law * held).sum(1).min()) - claimed


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("kind", FEW)
def test_an_interval_holds_the_truth_as_often_as_it_says(kind: str, epsilon: float) -> None:
    """Whatever the truth is, releases whose interval holds it have at least the confidence, and not much more."""
    mechanism = made(kind, epsilon, fine=False)
    for confidence in (0.5, 0.8, 0.95, 0.999):
        assert coverage(mechanism, confidence, confidence) > -1e-9
    assert coverage(mechanism, 0.3, 0.999) < 0  # so that intervals of everything would be noticed


@pytest.mark.slow
@pytest.mark.parametrize("kind", FEW)
def test_an_interval_is_that_of_the_likelihood_ratio(kind: str) -> None:
    """A truth accepts releases in the order of its probability over the greatest of any truth, while there is room."""
    mechanism = made(kind, 1.0, fine=False)
    truths, releases, law = everything(mechanism)
    if not mechanism.in_range:  # all that is beyond an end counts as there
        inside = [i for i, x in enumerate(releases) if truths[0] <= x <= truths[-1]]
        first, last, law = inside[0], inside[-1], law.copy()  # which others share
        law[:, first], law[:, last] = law[:, : first + 1].sum(1), law[:, last:].sum(1)
        law, releases = law[:, inside], truths
    best = law.max(0)
    for confidence in (0.5, 0.95):
        accepted = np.zeros(law.shape, dtype=bool)
        for i, row in enumerate(law):
            ratio = row / best
            for j in range(len(releases)):
                better = row[ratio > ratio[j] * (1 + 1e-8)].sum()
                accepted[i, j] = better < confidence - 1e-12
        lows, highs = mechanism.interval(releases, confidence)
        found = [np.flatnonzero(column)[[0, -1]] for column in accepted.T]
        assert lows.tolist() == [counts_as(mechanism, truths[first]) for first, _ in found]
        assert highs.tolist() == [counts_as(mechanism, truths[last]) for _, last in found]


PARTS = 80
"""Releases to look at: as many equally probable ones."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", sparing(FINE, 9))
def test_an_interval_on_a_fine_lattice_holds_the_truth_as_often(kind: str) -> None:
    """Where nothing is listed, the releases of any truth are in intervals that hold it as often; less is noticed."""
    mechanism = made(kind, 1.0, fine=True)
    low, high = (float(end) for end in (mechanism.bounds.low, mechanism.bounds.high))  # type: ignore[arg-type]
    low, high = max(low, -12.0), min(high, 12.0) if high < 1000 else 2000.0
    truths = [low + (high - low) * part for part in (0, 0.1, 0.5, 1)]
    counted = np.array([counts_as(mechanism, truth) for truth in truths])[:, None]
    levels = (np.arange(PARTS) + 0.5) / PARTS
    released = np.concatenate([mechanism.quantile(levels, truth) for truth in truths])
    noticed = False
    for confidence in (0.5, 0.8, 0.95):
        lows, highs = (ends.reshape(len(truths), PARTS) for ends in mechanism.interval(released, confidence))
        held = np.mean((lows <= counted) & (counted <= highs), axis=1)
        assert min(held) >= confidence - 2 / PARTS
        noticed |= confidence == 0.5 and min(held) < 0.95
    assert noticed


def test_a_release_at_an_end_has_a_sensible_interval() -> None:
    """What is released at an end speaks for all that is near it, not for the end alone."""
    low, high = BoundedLaplace(Bounds(0, 5), 1, 1).interval(0.0)
    assert low == 0
    assert 1.9 < high < 3
    for ends in ("leave", "snap", "fold"):
        plain = Laplace(Bounds(0, 100), 1, 1, ends=ends)
        assert plain.interval(0.0)[0] == 0
        assert 2.2 < plain.interval(0.0)[1] < 3.6
    plain = Laplace(Bounds(0, 100), 1, 1)
    assert plain.interval(-50.0) == plain.interval(-1e6)
    assert 2.5 < plain.interval(-1e6)[1] < 3.6


def test_intervals_are_shorter_than_those_of_equal_tails() -> None:
    """Averaged over all truths and their releases, lengths are a tenth below those of two equal tails."""
    mechanism, every = BoundedLaplace(Bounds(0, 60, step=1), 1, 0.2), np.arange(61)
    law = np.array([mechanism.pmf(every, truth) for truth in every.tolist()])
    at_least, at_most = np.cumsum(law[:, ::-1], 1)[:, ::-1], np.cumsum(law, 1)
    accepted = (at_least > 0.025) & (at_most > 0.025)
    first, last = np.argmax(accepted, 0), 60 - np.argmax(accepted[::-1], 0)
    equal = np.maximum(last, every) - np.minimum(first, every) + 1
    lows, highs = mechanism.interval(every, 0.95)
    assert (law @ (highs - lows + 1)).mean() < 0.93 * (law @ equal).mean()
    assert highs[0] - lows[0] + 1 > 1.5 * equal[0]


@pytest.mark.parametrize("confidence", [0.5, 0.95, 1 - 1e-6])
def test_intervals_grow_with_the_confidence(confidence: float) -> None:
    """A greater confidence has no narrower interval where everything is listed."""
    mechanism, every = made("bounded", 1.0, fine=False), np.arange(31)
    lows, highs = mechanism.interval(every, confidence)
    wide_lows, wide_highs = mechanism.interval(every, 1 - (1 - confidence) / 2)
    assert ((wide_lows <= lows) & (highs <= wide_highs)).all()


@pytest.mark.parametrize("kind", [kind for kind in FINE if "islands folded" not in kind])
def test_greater_truths_have_greater_releases(kind: str) -> None:
    """Where intervals rest on it, no release is less probable to be reached by a greater truth, up to a bound."""
    mechanism = made(kind, 1.0, fine=True)
    law = mechanism._distribution
    if not law.rises:
        assert kind == "staircase, fold"
        return
    origin = law.truths(np.array([0]))
    spread = np.unique(law.truths(origin + np.rint(np.linspace(-14, 14, 57) * law.scale).astype(np.int64)))
    releases = origin + np.rint(np.linspace(-20, 20, 81) * law.scale).astype(np.int64)
    tails, heads = (bound(releases[:, None], spread) for bound in (law.tail_bound, law.head_bound))
    assert (np.diff(tails, axis=1) >= -1e-14)[tails[:, 1:] < 0.5].all()  # they are compared with what is left, only
    assert (np.diff(heads, axis=1) <= 1e-14)[heads[:, :-1] < 0.5].all()
    assert (law.at_least(releases[:, None], spread) <= tails * (1 + 1e-12)).all()


def test_the_ends_of_an_interval_are_possible() -> None:
    """On bounds with gaps an interval begins and ends at possible answers, whatever the mechanism; so do days."""
    spans = Bounds(0, 3) | Bounds(8, 20)
    open_days = Bounds.dates("2026-01-01", "2026-03-31", weekdays="Mon-Fri", closed=[("2026-02-02", "2026-02-13")])
    for bounds, kind in [(ISLANDS, int), (spans, float), (open_days, None)]:
        for mechanism in (BoundedLaplace(bounds, 3, 1), Staircase(bounds, 3, 1, ends="snap")):
            first: Any = bounds.low if kind is None else kind(bounds.low)
            releases = [first, *(mechanism.release(first) for _ in range(20))]
            assert all(end in bounds for released in releases for end in mechanism.interval(released))


# How much a release tells.


@pytest.mark.parametrize("kind", ["bounded", "geometric, leave", "geometric, fold", "staircase, snap", "explicit fair"])
def test_the_expected_width_is_the_mean_over_truths_and_releases(kind: str) -> None:
    """On few points each release counts as often as it is released, and each truth alike."""
    mechanism = made(kind, 0.5, fine=False)
    truths, releases, law = everything(mechanism)
    possible = np.isin(truths, [truth for truth in truths if truth in mechanism.bounds])
    lows, highs = mechanism.interval(releases, 0.9)
    widths = law[possible] @ (highs - lows)
    assert mechanism.expected_width(0.9) == pytest.approx(widths.mean(), rel=1e-9)
    within = (np.array(truths)[possible] >= 2) & (np.array(truths)[possible] <= 9)
    assert mechanism.expected_width(0.9, (2, 9)) == pytest.approx(widths[within].mean(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bounded", "bounded, islands", "Laplace, snap"])
def test_on_fine_lattices_the_expected_width_is_right_to_one_percent(kind: str) -> None:
    """Other truths and other quantiles of releases have the same mean width to one percent."""
    mechanism = made(kind, 0.5, fine=True)
    window = (0, 2) if kind == "bounded, islands" else None
    low, high = window or (0, 5 if kind == "bounded" else 10)
    truths = np.linspace(low, high, 66)
    releases = mechanism.quantile(np.tile(np.arange(1, 128) / 128, 66), np.repeat(truths, 127))
    lows, highs = mechanism.interval(releases)
    widths = (highs - lows).reshape(66, 127).mean(axis=1)
    trapezium = (widths[:-1] + widths[1:]).mean() / 2
    assert mechanism.expected_width(window=window) == pytest.approx(trapezium, rel=0.01)


def test_a_remap_tells_less() -> None:
    """Releases that are replaced by a best guess have wider intervals."""
    for high, epsilon in ((10, 0.5), (20, 0.3)):
        base = Geometric(Bounds(0, high, step=1), 1, epsilon, ends="snap")
        assert base.expected_width() < base.remapped(None).expected_width()


def test_the_expected_width_needs_a_confidence_and_finitely_many_answers() -> None:
    """A confidence that is none, and an average over infinitely many answers, are refused."""
    with pytest.raises(InvalidParameter, match="confidence must be above 0 and below 1, got 1"):
        made("bounded", 0.5, fine=False).expected_width(1)
    with pytest.raises(InvalidParameter, match=r"infinitely many; .* pass a window"):
        BoundedLaplace(Bounds(0, None), 1, 1).expected_width()


@pytest.mark.parametrize("epsilon", [20, 22, 30, 100, 700])
@pytest.mark.parametrize("bounds", [Bounds(0, None, step=1), Bounds(0, 10**6, step=1)])
def test_the_interval_of_hardly_any_noise_is_short(bounds: Bounds, epsilon: float) -> None:
    """However small the noise is, an interval far from the ends has two ends that are near."""
    low, high = BoundedLaplace(bounds, sensitivity=1, epsilon=epsilon).interval(2000)
    assert 1999 <= low <= 2000 <= high <= 2001
