"""Mechanisms of other papers reproduce their papers, keep what their labels say, and release by exactly their laws."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate

from inbounds import BoundedLaplace, Bounds, InvalidAnswer, InvalidParameter, LatticeTooFine, NotPrivate, certify
from inbounds.mechanisms.additive.additive import Additive
from inbounds.mechanisms.additive.distribution import MOST_RUNS
from inbounds.mechanisms.additive.ends import MOST_FOLDS
from inbounds.mechanisms.additive.noise import Noise
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.setting import Setting
from inbounds.published import (
    AdaptiveLaplace,
    BoundedGaussian,
    ExplicitFair,
    Geometric,
    HolohanLaplace,
    Laplace,
    NaiveLaplace,
    Staircase,
    TruncatedLaplacian,
)
from inbounds.published.geng2014 import StaircaseNoise
from inbounds.published.ghosh2009 import GeometricNoise
from tests.helpers import known_errors
from tests.helpers.caller_settings import SURROUNDINGS
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.mechanisms import YEAR
from tests.helpers.scripted_entropy import Script
from tests.helpers.sparing import sparing

Floats = NDArray[np.float64]
Maker = Callable[[Bounds, Any, Any], Mechanism]
inf, nan = math.inf, math.nan
TENTH = Fraction(1, 10)

INTERVAL = Bounds(0, 12, step=1)
ISLANDS = Bounds.union([(0, 5), (9, 9), (13, 20)], step=1)
HALVES = Bounds(Fraction(1, 2), 5, step=Fraction(1, 2), offset=0)
LINE = Bounds.everything()
INTEGERS = Bounds(None, None, step=1)


def additive(kind: Any, ends: str, **more: Any) -> Maker:
    """Return what makes a mechanism of a kind with a rule at the ends."""
    return lambda bounds, sensitivity, epsilon: kind(bounds, sensitivity, epsilon, ends=ends, **more)


ANYWHERE: dict[str, Maker] = {
    "snapped geometric": additive(Geometric, "snap"),
    "folded Laplace": additive(Laplace, "fold"),
    "snapped staircase": additive(Staircase, "snap"),
    "folded staircase": additive(Staircase, "fold", width=0.9),
}
"""What is private without a delta and in range, on any lattice."""

CUT: dict[str, Maker] = {
    "snapped truncated Laplacian": additive(TruncatedLaplacian, "snap", delta=0.02),
    "folded truncated Laplacian": additive(TruncatedLaplacian, "fold", delta=0.02),
}
PLAIN: dict[str, Maker] = {
    "plain Laplace": additive(Laplace, "leave"),
    "plain staircase": additive(Staircase, "leave"),
    "plain truncated Laplacian": additive(TruncatedLaplacian, "leave", delta=0.02),
}
IN_RANGE = {**ANYWHERE, **CUT}
EVERY = {**IN_RANGE, **PLAIN}
PURE = {**ANYWHERE, "explicit fair": ExplicitFair}
ON_LATTICES = [
    *((name, bounds) for name in ANYWHERE for bounds in (INTERVAL, ISLANDS, HALVES)),
    *(("explicit fair", bounds) for bounds in (INTERVAL, HALVES, Bounds(0, 1, step=1), Bounds(-7, 8, step=1))),
]


def points(bounds: Bounds) -> list[Fraction]:
    """Return the possible answers."""
    assert bounds.step is not None
    spans: list[Any] = list(bounds)
    return [Fraction(low + k * bounds.step) for low, high in spans for k in range(int((high - low) / bounds.step) + 1)]


def answers_of(bounds: Bounds) -> list[Fraction]:
    """Return true answers from beyond one end to beyond the other, half a step apart."""
    step, (first, *_, last) = bounds.step, points(bounds)
    assert step is not None
    return [first - 2 * step + k * step / 2 for k in range(int((last - first) / step * 2) + 9)]


def table(made: Any, answers: list[Any], outputs: list[Any] | None = None) -> Floats:
    """Return the probability of every output for every true answer, as the mechanism tells it."""
    outputs = points(made.bounds) if outputs is None else outputs
    return np.array([made.pmf(outputs, answer) for answer in answers])


def neighbours(answers: list[Fraction], sensitivity: Fraction) -> list[tuple[int, int]]:
    """Return the places of answers that one person can change into each other."""
    near = [(i, j) for i, x in enumerate(answers) for j, y in enumerate(answers) if abs(x - y) <= sensitivity]
    return [(i, j) for i, j in near if i != j]


def greatest_loss(made: Any, sensitivity: Any) -> float:
    """Return the greatest log ratio of probabilities over neighbouring answers and all outputs."""
    answers = answers_of(made.bounds)
    logs = np.log(table(made, answers))
    return max(float(abs(logs[i] - logs[j]).max()) for i, j in neighbours(answers, Fraction(str(sensitivity))))


def hockey_stick(rows: Floats, pairs: list[tuple[int, int]], epsilon: float) -> float:
    """Return the greatest probability that is not within a factor exp(epsilon), over neighbouring answers."""
    return max(float(np.maximum(rows[i] - math.exp(epsilon) * rows[j], 0).sum()) for i, j in pairs)


# What the papers say.


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_plain_laplace_noise_has_an_error_of_its_scale(epsilon: float) -> None:
    """Dwork et al.: the expected distance is sensitivity / epsilon, and the density falls by e over that distance."""
    made = Laplace(LINE, 2, epsilon)
    scale = 2 / epsilon
    assert made.scale == pytest.approx(scale, rel=1e-12)
    assert made.error(0.0) == made.worst_error() == pytest.approx(scale, rel=1e-9)
    for x in (-3.0, 0.25, 1.0, 7.5):
        density = made.pmf(x, 0.5) / float(made.step)
        assert density == pytest.approx(math.exp(-abs(x - 0.5) / scale) / (2 * scale), rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.2, 1, 4])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_geometric_noise_has_the_known_error_and_variance(epsilon: float, sensitivity: int) -> None:
    """Ghosh et al.: with `a = exp(-epsilon)` the distance is 2a/(1-a²) and the variance 2a/(1-a)² on average."""
    made, a = Geometric(INTEGERS, sensitivity, epsilon), math.exp(-epsilon / sensitivity)
    chances = {k: made.pmf(k, 0) for k in range(-900, 901)}
    assert chances[0] == pytest.approx((1 - a) / (1 + a), rel=1e-12)
    assert sum(chances.values()) == pytest.approx(1, rel=1e-12)
    assert made.error(0) == made.error(10**9) == pytest.approx(2 * a / (1 - a**2), rel=1e-12)
    assert sum(k * k * p for k, p in chances.items()) == pytest.approx(2 * a / (1 - a) ** 2, rel=1e-10)


@pytest.mark.parametrize("epsilon", [0.2, 1, 4])
def test_the_truncated_geometric_mechanism_is_the_one_of_its_paper(epsilon: float) -> None:
    """Ghosh et al.: on 0..n an end has a^j/(1+a), any other output (1-a)/(1+a) a^|i-j|."""
    n, a = 9, math.exp(-epsilon)
    made = Geometric(Bounds(0, n, step=1), 1, epsilon, ends="snap")
    for j in range(n + 1):
        inner = [(1 - a) / (1 + a) * a ** abs(i - j) for i in range(1, n)]
        expected = [a**j / (1 + a), *inner, a ** (n - j) / (1 + a)]
        assert table(made, [j])[0].tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [INTERVAL, Bounds(0, 200, step=1), Bounds(0, 3), HALVES, Bounds(0, None, step=1)])
@pytest.mark.parametrize("sensitivity", [1, 40])
def test_snapped_laplace_noise_is_bounded_laplace_that_pools_all(bounds: Bounds, sensitivity: int) -> None:
    """On one interval clamping the noise is what `pooling=1` does: the same law, and the same errors."""
    snapped, pooled = Laplace(bounds, sensitivity, 1, ends="snap"), BoundedLaplace(bounds, sensitivity, 1, pooling=1)
    window = None if bounds.bounded else (0, 500)
    assert snapped.scale == pytest.approx(pooled.scale, rel=1e-9)
    for released in (0, 1, 1.5, 3, 5, 12, -1):
        for answer in (0, 1, 2.25, 3, 8, 20, -4):
            assert snapped.pmf(released, answer) == pytest.approx(pooled.pmf(released, answer), rel=1e-8)
    for answer in (1, 2.25, 2.5, 3):
        assert snapped.error(answer) == pytest.approx(pooled.error(answer), rel=1e-9)
    assert snapped.mean_error(window) == pytest.approx(pooled.mean_error(window), rel=1e-9)
    assert snapped.worst_error(window) == pytest.approx(pooled.worst_error(window), rel=1e-9)
    assert snapped.at_ends(window) == pytest.approx(pooled.at_ends(window), rel=1e-8)


def test_laplace_noise_on_a_step_is_geometric_noise() -> None:
    """On a given lattice both names are of one law, so that everything said of one is said of the other."""
    for bounds in (INTERVAL, ISLANDS, Bounds(0, None, step=1)):
        for ends in ("leave", "snap", "fold"):
            one, other = (additive(kind, ends)(bounds, 2, 0.7) for kind in (Laplace, Geometric))
            assert one.scale == other.scale
            assert [one.pmf(k, 3) for k in range(-5, 15)] == [other.pmf(k, 3) for k in range(-5, 15)]
            assert one.worst_error() == other.worst_error()
            assert [one._release_one(3, Script(seed=k)) for k in range(9)] == (
                [other._release_one(3, Script(seed=k)) for k in range(9)]
            )


def folded_density(x: float, truth: float, width: float, scale: float) -> float:
    """Return the density of Laplace noise around a true answer, folded into an interval from zero to a width."""
    images = math.cosh((width - abs(x - truth)) / scale) + math.cosh((width - x - truth) / scale)
    return images / (2 * scale * math.sinh(width / scale))


FOLDED = [(0.5, 1, 0.330, 0.490), (0.5, 5, 1.232, 1.697), (1, 2, 0.540, 0.762), (1, 10, 0.901, 1.0), (2, 5, 0.451, 0.5)]


@pytest.mark.parametrize(("epsilon", "width", "mean", "worst"), FOLDED)
def test_folded_laplace_noise_has_its_closed_form(epsilon: float, width: int, mean: float, worst: float) -> None:
    """Folded into an interval, the density is a sum of two hyperbolic cosines, and errors are its integrals."""
    made, scale = Laplace(Bounds(0, width), 1, epsilon, ends="fold"), 1 / epsilon

    def density(x: float, truth: float) -> float:
        return folded_density(x, truth, width, scale)

    for truth in (0.0, width / 8, width / 2, float(width)):
        for x in (width / 16, width / 4, 3 * width / 4):
            assert made.pmf(x, truth) / float(made.step) == pytest.approx(density(x, truth), rel=1e-7)
        # An end is a mirror, and has half of what an inner point has.
        assert made.pmf(0.0, truth) / float(made.step) == pytest.approx(density(0, truth) / 2, rel=1e-7)
        error, _ = integrate.quad(lambda x, at=truth: abs(x - at) * density(x, at), 0, width, points=[truth])
        assert made.error(truth) == pytest.approx(error, rel=1e-7)
    half, _ = integrate.dblquad(lambda x, truth: (truth - x) * density(x, truth), 0, width, 0, lambda truth: truth)
    assert made.mean_error() == pytest.approx(2 * half / width, rel=1e-7)
    assert made.mean_error() == pytest.approx(mean, rel=1e-2)  # the mean was known roughly
    assert made.worst_error() == pytest.approx(worst, abs=1e-3)
    assert made.at_ends() < 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 1, 3, 8])
def test_the_staircase_is_the_one_of_its_paper(epsilon: float) -> None:
    """Geng & Viswanath: the best first stair is 1/(1+e^(ε/2)) of Δ, and its distance Δ e^(ε/2)/(e^ε - 1)."""
    made = Staircase(LINE, 3, epsilon)
    assert made.width == pytest.approx(1 / (1 + math.exp(epsilon / 2)), rel=1e-5)
    assert made.error(0.0) == pytest.approx(3 * math.exp(epsilon / 2) / math.expm1(epsilon), rel=1e-8)
    assert made.error(0.0) < Laplace(LINE, 3, epsilon).error(0.0)


@pytest.mark.parametrize("epsilon", [0.3, 2])
@pytest.mark.parametrize(("first", "distance"), [(1, 1), (1, 4), (3, 4), (4, 4)])
def test_stairs_on_a_lattice_are_those_of_the_paper(first: int, distance: int, epsilon: float) -> None:
    """Their discrete law: a(r) for r steps, b a(r) up to the sensitivity, then b times as much a sensitivity on."""
    made = Staircase(INTEGERS, distance, epsilon, width=Fraction(first, distance))
    b = math.exp(-epsilon)
    a = (1 - b) / (2 * first + 2 * b * (distance - first) - (1 - b))
    for k in range(-30, 31):
        stairs = abs(k) // distance + (abs(k) % distance >= first)
        assert made.pmf(k + 5, 5) == pytest.approx(a * b**stairs, rel=1e-10)
    assert made.width == first / distance


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.2])
@pytest.mark.parametrize("epsilon", [0.2, 1, 4])
def test_the_truncated_laplacian_is_the_one_of_its_paper(epsilon: float, delta: float) -> None:
    """Geng et al.: noise ends at A = (Δ/ε) ln(1+c), c = (e^ε-1)/(2δ), and is Δ/ε (1 - ln(1+c)/c) away on average."""
    made, c = TruncatedLaplacian(LINE, 2, epsilon, delta=delta), math.expm1(epsilon) / (2 * delta)
    assert made.greatest_noise == pytest.approx(2 / epsilon * math.log1p(c), rel=1e-6)
    assert made.error(0.0) == pytest.approx(2 / epsilon * (1 - math.log1p(c) / c), rel=1e-6)
    assert made.pmf(1.01 * made.greatest_noise // made.step * float(made.step), 0.0) == 0
    assert made.label.delta <= Fraction(delta)
    assert float(made.label.delta) == pytest.approx(delta, rel=1e-5)


HOLOHAN = [
    (1, 1, 1),
    (1.5, 1, 1.2900550753054143),
    (2, 1, 1.4133426977378727),
    (5, 1, 1.5889381066059751),
    (1.5, 0.1, 13.291454610848405),
    (20, 0.1, 19.234848488702553),
    (2, 3, 0.4176804523493295),
]


@pytest.mark.parametrize(("width", "epsilon", "scale"), HOLOHAN)
def test_holohan_s_scale_is_the_known_one(width: float, epsilon: float, scale: float) -> None:
    """Their fixed-point equation has the known roots, and BoundedLaplace finds the same scale on one interval."""
    made, ours = HolohanLaplace(Bounds(0, width), 1, epsilon), BoundedLaplace(Bounds(0, width), 1, epsilon)
    assert made.scale == pytest.approx(scale, rel=1e-9)
    assert made.scale == pytest.approx(ours.scale, rel=1e-9)
    assert made.error(width / 3) == pytest.approx(ours.error(width / 3), rel=1e-8)
    assert made.certificate.holds
    assert certify(made).holds
    assert str(made.label) == f"ε = {epsilon:.4g}"


@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.3])
def test_holohan_s_delta_relaxes_the_scale(delta: float) -> None:
    """With a delta the scale is that for ε - ln(1-δ), and the law then keeps (ε, δ)."""
    made = HolohanLaplace(Bounds(1, 6), 1, 1, delta=delta)
    relaxed = HolohanLaplace(Bounds(0, 5), 1, 1 - math.log1p(-delta))
    assert made.scale == pytest.approx(relaxed.scale, rel=1e-9)
    assert made.label.epsilon == 1
    assert made.label.delta == Fraction(str(delta))
    assert certify(made).holds
    # By hand: the ratio is greatest between an end and a sensitivity from it, where the nearer one is likelier.
    nodes = np.linspace(1, 6, 20_001)
    rows = [np.exp(-abs(nodes - truth) / made.scale) for truth in (1, 2)]
    one, other = (row / row.sum() for row in rows)
    assert np.maximum(other - math.e * one, 0).sum() <= delta
    assert np.maximum(one - math.e * other, 0).sum() <= delta


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 3])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 15])
def test_the_explicit_fair_mechanism_is_the_one_of_its_paper(n: int, epsilon: float) -> None:
    """Cormode et al.: fair, symmetric, falling away from the truth, and just the powers of their definition."""
    made, a = ExplicitFair(Bounds(0, n, step=1), 1, epsilon), math.exp(-epsilon)
    columns = table(made, [Fraction(j) for j in range(n + 1)])

    def exponent(i: int, j: int) -> int:
        distance, room = abs(i - j), min(j, n - j)
        return distance if distance < room else math.ceil((distance + room) / 2)

    powers = np.array([[a ** exponent(i, j) for i in range(n + 1)] for j in range(n + 1)])
    assert columns == pytest.approx(powers / powers.sum(axis=1)[:, None], rel=1e-9)
    assert np.diag(columns).tolist() == pytest.approx([made.at_truth] * (n + 1), rel=1e-12)
    assert columns == pytest.approx(columns[::-1, ::-1], rel=1e-12)
    assert made.at_truth >= 1 / (n + 1)  # weak honesty
    for j in range(n + 1):
        assert (np.diff(columns[j, j:]) <= 1e-15).all()
        assert (np.diff(columns[j, : j + 1]) >= -1e-15).all()
    if n % 2 == 0:
        assert made.at_truth == pytest.approx((1 - a) / (1 + a - 2 * a ** (n / 2 + 1)), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
def test_naive_normalising_loses_nearly_twice_as_much(epsilon: float) -> None:
    """On a half-line the loss is ln(2 e^ε - 1), which is what the label says; certify refuses it."""
    made = NaiveLaplace(Bounds(0, None), 1, epsilon)
    loss = math.log(2 * math.exp(epsilon) - 1)
    assert made.label.loss is not None
    assert float(made.label.loss) == pytest.approx(loss, rel=1e-6)
    assert str(made.label) == f"not private: loss {loss:.4g} > {epsilon:.4g}"
    assert not made.label.private
    assert not made.label.pure
    with pytest.raises(NotPrivate, match="does not satisfy the guarantee"):
        certify(made)


@pytest.mark.parametrize("answer", [1.0, [1.0, 2.0], np.ones(3), Fraction(1), []])
def test_naive_normalising_is_released_from_only_by_those_who_know(answer: Any) -> None:
    """A release is refused unless the caller said `leaky=True`; its errors can be asked for all the same."""
    made, knowing = NaiveLaplace(Bounds(0, None), 1, 1), NaiveLaplace(Bounds(0, None), 1, 1, leaky=True)
    with pytest.raises(NotPrivate, match="use bounded Laplace, or accept the leak \\(leaky\\)"):
        made.release(answer)
    knowing.release(answer)
    assert made.error(1.0) == knowing.error(1.0) < BoundedLaplace(Bounds(0, None), 1, 1).error(1.0)


def test_naive_normalising_is_private_where_it_does_no_harm() -> None:
    """Where everything is within one sensitivity, or nothing is missing, the plain scale is enough, and released."""
    for bounds in (Bounds(0, 1), INTEGERS):
        made = NaiveLaplace(bounds, 1, 1)
        assert made.label.pure
        assert certify(made).holds
        made.release(0.5)


@pytest.mark.slow
@pytest.mark.parametrize(known_errors.NAMES, known_errors.STAIRS)
def test_the_best_staircase_on_few_points_is_the_known_one(
    epsilon: float, count: int, steps: int, mean: float, worst: float
) -> None:
    """Over all first stairs, snapped or folded, the least mean and worst errors are the known ones."""
    bounds = Bounds(0, count - 1, step=1)
    tried = [
        additive(Staircase, ends, width=Fraction(first, steps))(bounds, steps, epsilon)
        for first in range(1, steps + 1)
        for ends in ("snap", "fold")
    ]
    assert min(made.mean_error() for made in tried) / steps == pytest.approx(mean, abs=5.1e-5)
    assert min(made.worst_error() for made in tried) / steps == pytest.approx(worst, abs=5.1e-5)


# What their labels promise.


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bounds"), ON_LATTICES, ids=str)
def test_what_is_said_to_be_private_is_private_by_definition(name: str, bounds: Bounds) -> None:
    """Probabilities add up to one and differ by at most exp(epsilon) between answers within one sensitivity."""
    for sensitivity, epsilon in ((Fraction(1), 2), (Fraction(5, 2), 0.6)):
        made = PURE[name](bounds, sensitivity, epsilon)
        assert str(made.label) == f"ε = {epsilon:.4g}"
        assert made.label.pure
        assert made.in_range
        assert table(made, answers_of(bounds)).sum(axis=1) == pytest.approx(1, abs=1e-12)
        assert greatest_loss(made, sensitivity) <= epsilon * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", PURE)
def test_a_law_for_less_is_caught_by_the_same_check(name: str) -> None:
    """Between answers twice as far apart as the noise is for, the loss is far above epsilon: the check can fail."""
    made = PURE[name](INTERVAL, 2, 1)
    assert greatest_loss(made, 4) > 1.5
    assert greatest_loss(made, 2) == pytest.approx(1, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bounds"), ON_LATTICES, ids=str)
def test_the_second_proof_looks_at_every_pair_and_every_output(name: str, bounds: Bounds) -> None:
    """On few points a label is proved again by definition, and the bound is the loss that a matrix of doubles has."""
    made = PURE[name](bounds, 1, 1)
    found = certify(made)
    assert found.holds
    assert found.method == "every pair, every output"
    assert float(found.bound) == pytest.approx(greatest_loss(made, 1), rel=1e-9)
    assert made.certificate.bound >= found.witnessed


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [Fraction(29, 26), Fraction(33, 14), 5, 20, Decimal("99.9"), 1000])
@pytest.mark.parametrize("name", PURE)
def test_the_second_proof_confirms_whatever_epsilon_was_asked_for(name: str, epsilon: Any) -> None:
    """Fractions, and epsilons so great that far outputs are rarer than any double can say, are proved like any."""
    made = PURE[name](Bounds(0, 20, step=1), 2, epsilon)
    assert certify(made).holds
    assert certify(made).method == "every pair, every output"


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CUT, "plain truncated Laplacian"])
@pytest.mark.parametrize("bounds", [INTERVAL, ISLANDS, HALVES], ids=str)
@pytest.mark.parametrize("delta", [0.2, 0.001])
def test_what_has_a_delta_keeps_it_by_definition(name: str, bounds: Bounds, delta: float) -> None:
    """The hockey-stick divergence is at most the label's delta, and nearly that before anything is post-processed."""
    ends = {"snapped": "snap", "folded": "fold", "plain": "leave"}[name.split(maxsplit=1)[0]]
    sensitivity = Fraction(3, 2)
    made: Any = additive(TruncatedLaplacian, ends, delta=delta)(bounds, sensitivity, 1)
    step, (first, *_, last) = made.step, points(bounds)
    beyond = int(made.noise.limit) + 1 if ends == "leave" else 0
    outputs = [first + k * step for k in range(-beyond, int((last - first) / step) + beyond + 1)]
    answers = answers_of(bounds)
    rows = table(made, answers, outputs)
    assert rows.sum(axis=1) == pytest.approx(1, abs=1e-12)
    exempt = hockey_stick(rows, neighbours(answers, sensitivity), 1)
    kept = float(made.label.delta)
    assert kept <= delta
    assert exempt <= kept * (1 + 1e-9)
    assert ends != "leave" or exempt > 0.9 * kept
    assert hockey_stick(rows, neighbours(answers, 3 * sensitivity), 1) > 1.5 * kept or ends != "leave"
    assert made.label.private
    assert not made.label.pure
    assert certify(made).holds
    assert certify(made).delta <= made.label.delta
    assert certify(made).delta == pytest.approx(made.label.delta, rel=1e-30)


def false_noise(kind: str, distance: int, epsilon: Fraction) -> Noise:
    """Return noise for answers half as far apart as it will be used for."""
    return GeometricNoise(distance // 2, epsilon) if kind == "geometric" else StaircaseNoise(distance // 2, epsilon, 1)


@pytest.mark.parametrize("ends", ["snap", "fold"])
@pytest.mark.parametrize("kind", ["geometric", "staircase"])
@pytest.mark.parametrize("bounds", [INTERVAL, ISLANDS, Bounds(0, 1000, step=1), Bounds(0, None, step=1)], ids=str)
def test_noise_for_half_the_distance_is_refused(bounds: Bounds, kind: str, ends: str) -> None:
    """A label that rests on noise for nearer answers than there are is found out, on few points or on many."""
    ground = Setting.of(bounds, 4, 1)
    made = Additive(ground, false_noise(kind, ground.distance, ground.epsilon), ends)
    with pytest.raises(NotPrivate) as refusal:
        certify(made)
    found = refusal.value.certificate
    # What is lost at the ends is witnessed on few points, where all of it is looked at; on many it is only not proved.
    assert not found.holds
    assert found.bound > Fraction(3, 2)
    assert found.witnessed > Fraction(3, 2) or found.method == "tails of the noise"


@pytest.mark.parametrize("bounds", [INTERVAL, Bounds(0, 1000, step=1)], ids=str)
def test_a_fair_law_that_falls_twice_as_fast_is_refused(bounds: Bounds) -> None:
    """The explicit fair law at twice the rate does not keep epsilon, whatever certificate it carries."""
    honest = ExplicitFair(bounds, 2, 1)
    false = object.__new__(ExplicitFair)
    vars(false).update(vars(honest), _rate=2 * honest.rate)
    assert certify(honest).holds
    with pytest.raises(NotPrivate):
        certify(false)


# Releases.

RELEASES: list[tuple[str, Bounds, Any]] = [
    *((name, INTERVAL, 3) for name in (*EVERY, "explicit fair")),
    *((name, ISLANDS, 7) for name in ("folded Laplace", "snapped staircase")),
    ("folded staircase", Bounds(0, None, step=1), 1),
    ("explicit fair", HALVES, 4.0),
]


def maker(name: str) -> Maker:
    """Return what makes a mechanism of this name."""
    return {**EVERY, **PURE}[name]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bounds", "answer"), RELEASES, ids=str)
@pytest.mark.parametrize("form", ["one by one", "array"])
def test_releases_follow_the_law_that_is_told(name: str, bounds: Bounds, answer: Any, form: str) -> None:
    """Releases, alone and in arrays, fit the probabilities that `pmf` tells, and not those for another epsilon."""
    made, other = (maker(name)(bounds, 2, epsilon) for epsilon in (0.8, 1.6))
    count = 5000
    drawn = [made.release(answer) for _ in range(count)] if form != "array" else made.release([answer] * count).tolist()
    counts = Counter(drawn)
    step, low, high = float(made.step), min(counts), max(counts)
    outputs = [low + k * step for k in range(round((high - low) / step) + 1)]
    assert sum(counts[k] for k in outputs) == count
    seen = [*(counts[k] for k in outputs), 0]
    told, wrong = (np.append(table(law, [answer], outputs)[0], 0) for law in (made, other))
    told[-1], wrong[-1] = max(1 - told.sum(), 0), max(1 - wrong.sum(), 0)
    assert p_value(seen, told) > FLOOR
    assert p_value(seen, np.maximum(wrong, 1e-30)) < FLOOR


@pytest.mark.parametrize("ends", ["leave", "snap", "fold"])
@pytest.mark.parametrize("kind", [float, np.float32, int])
def test_arrays_without_a_step_follow_the_continuous_law(ends: str, kind: Any) -> None:
    """Arrays of Laplace releases fall into twenty cells as the closed forms say, and not as at a scale 10 % off."""
    made = additive(Laplace, ends)(Bounds(0, 4), 1, 1)
    drawn = made.release(np.full(100_000, 1, dtype=kind))
    assert drawn.dtype == np.float64
    edges = np.linspace(0, 4, 17) if ends != "leave" else np.linspace(-5, 8, 20)

    def cells(scale: float) -> Floats:
        if ends == "fold":
            inner = [integrate.quad(folded_density, a, b, args=(1, 4, scale))[0] for a, b in pairwise(edges)]
            return np.array([0, *inner, 0])
        below = [math.exp(-abs(x - 1) / scale) / 2 if x < 1 else 1 - math.exp(-(x - 1) / scale) / 2 for x in edges]
        return np.diff([0, *below, 1])

    inside = np.histogram(drawn[(drawn > edges[0]) & (drawn < edges[-1])], edges)[0]
    seen = np.array([(drawn <= edges[0]).sum(), *inside, (drawn >= edges[-1]).sum()])
    assert seen.sum() == 100_000
    assert p_value(seen, np.maximum(cells(1), 1e-30)) > FLOOR
    for off in (0.9, 1.1):
        assert p_value(seen, np.maximum(cells(off), 1e-30)) < FLOOR


@pytest.mark.slow
def test_folded_arrays_hit_odd_and_even_places_alike() -> None:
    """However wide the noise is, folding an array reaches every place alike, as folding one answer does."""
    made = Laplace(Bounds(0, 1), 1, 1.5e-6, ends="fold")
    places = made.release(np.full(20_000, 0.3)) / float(made.step)
    odd = int((places % 2).sum())
    assert p_value([odd, 20_000 - odd], [0.5, 0.5]) > FLOOR
    assert p_value([odd, 20_000 - odd], [0.4, 0.6]) < FLOOR


LATTICES = [INTERVAL, ISLANDS, HALVES, Bounds(0, 3, step=TENTH), YEAR]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        *((name, bounds) for name in IN_RANGE for bounds in LATTICES),
        *(("explicit fair", bounds) for bounds in LATTICES if len(bounds) == 1),
    ],
    ids=lambda x: x.brief() if isinstance(x, Bounds) else x,
)
def test_releases_are_possible(name: str, bounds: Bounds) -> None:
    """What is said to stay in range does: for answers anywhere, alone or in arrays, at the luckiest and the worst."""
    made = maker(name)(bounds, 1, 0.3)
    answers = [date(2025, 1, 1), date(2026, 7, 4), date(2027, 1, 1)] if bounds.is_dates else [-50, 0.2, 7, 11, 50]
    for answer in answers:
        for entropy in (
            *(Script(seed=seed) for seed in range(10)),
            Script(bytes(12) + b"\1" * 64),
            Script(b"\xff" * 12),
        ):
            assert made._release_one(answer, entropy) in bounds
    for released in made.release(answers * 20).tolist():
        assert released in bounds


@pytest.mark.parametrize("name", [name for name in IN_RANGE if "geometric" not in name])
@pytest.mark.parametrize(
    "bounds", [Bounds(0, 1), Bounds(Fraction(1, 3), 2.7) | Bounds(5, None), Bounds(None, 0)], ids=str
)
def test_releases_without_a_step_are_possible(name: str, bounds: Bounds) -> None:
    """On bounds without a step too, whose ends need not be on the lattice."""
    made = maker(name)(bounds, 1, 0.5)
    for answer in (-3.0, 0.4, 1, 4.2):
        assert all(made.release(answer) in bounds for _ in range(10))
    assert all(released in bounds for released in made.release([-3.0, 0.4, 1.0, 4.2] * 25).tolist())


@pytest.mark.parametrize("name", PLAIN)
def test_plain_noise_may_leave_the_bounds(name: str) -> None:
    """What is left where it falls is not said to be in range, and is not, alone or in arrays; without ends it is."""
    made = PLAIN[name](INTERVAL, 2, 0.5)
    assert not made.in_range
    assert any(made.release(0) not in INTERVAL for _ in range(200))
    released = made.release(np.zeros(200, dtype=int))
    assert released.min() < 0
    assert sum(made.pmf(k, 0) for k in range(-400, 0)) == pytest.approx((1 - made.pmf(0, 0)) / 2, rel=1e-9)
    assert PLAIN[name](INTEGERS, 2, 0.5).in_range


KINDS = [
    (INTERVAL, 5, int),
    (INTERVAL, 5.4, int),
    (INTERVAL, np.int64(5), int),
    (INTERVAL, Fraction(5), Fraction),
    (INTERVAL, Decimal(5), Decimal),
    (Bounds(0, 9, step=TENTH), 5, float),
    (Bounds(0, 9, step=TENTH), Fraction(5), Fraction),
    (Bounds(0, 9, step=TENTH), Decimal("5.1"), Decimal),
    (Bounds.dates("2026-01-01", "2026-12-31"), date(2026, 3, 4), date),
    (Bounds.dates("2026-01-01", "2026-12-31"), np.datetime64("2026-03-04"), np.datetime64),
]


@pytest.mark.parametrize("name", [*EVERY, "explicit fair"])
@pytest.mark.parametrize(("bounds", "answer", "kind"), KINDS, ids=str)
def test_one_answer_gives_one_of_its_kind(name: str, bounds: Bounds, answer: Any, kind: type) -> None:
    """An int on an integer lattice, a Fraction, Decimal or date for such, else a float."""
    made = maker(name)(bounds, 1, 1)
    assert {type(made.release(answer)) for _ in range(5)} == {kind}
    array = made.release([answer, answer])
    assert array.shape == (2,)
    assert {type(released) for released in array.tolist()} == {kind}


@pytest.mark.parametrize("made", [Laplace(Bounds(0, 9), 1, 1), HolohanLaplace(Bounds(0, 9), 1, 1)], ids=repr)
def test_without_a_step_numbers_are_floats_and_fractions_exact(made: Any) -> None:
    """On bounds without a step a release is a float, and for a Fraction a multiple of the chosen step."""
    assert type(made.release(5)) is type(made.release(5.5)) is float
    assert made.release(Fraction(1, 3)) % made.step == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["folded Laplace", "snapped staircase", "plain truncated Laplacian", "explicit fair"])
@pytest.mark.parametrize("shape", [(), (0,), (7,), (2, 3), (3, 0, 2), (2, 1, 3)])
@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "f2", "f4", "f8", "O"])
def test_arrays_keep_their_shape(name: str, shape: tuple[int, ...], dtype: str) -> None:
    """Arrays of every shape and dtype give arrays of the same shape; of int64, on an integer lattice."""
    released = maker(name)(INTERVAL, 1, 1).release(np.full(shape, 3).astype(dtype))
    assert released.shape == shape
    assert released.dtype == np.int64 or dtype == "O"


@pytest.mark.slow
@pytest.mark.parametrize("name", [*EVERY, "explicit fair"])
def test_answers_outside_are_brought_to_the_nearest_end_first(name: str) -> None:
    """An answer beyond an end has the law of that end, draws what it draws, and so has an infinite one."""
    made = maker(name)(INTERVAL, 2, 1)
    for outside, end in ((-3.6, 0), (-(10**30), 0), (-inf, 0), (12.5, 12), (1e300, 12), (inf, 12)):
        for seed in range(5):
            assert made._release_one(outside, Script(seed=seed)) == made._release_one(end, Script(seed=seed))
        assert (
            made._release_array([outside] * 9, Script(seed=6)).tolist()
            == (
                made._release_array(
                    [type(outside)(end)] * 9 if abs(outside) < inf else [float(end)] * 9, Script(seed=6)
                )
            ).tolist()
        )
        assert [made.pmf(k, outside) for k in range(13)] == [made.pmf(k, end) for k in range(13)]


@pytest.mark.parametrize("name", [*EVERY, "explicit fair"])
@pytest.mark.parametrize("wrong", [nan, "5", None, True, 5j, [1.0, nan], np.array([nan]), date(2026, 1, 1)], ids=repr)
def test_what_is_no_number_is_refused(name: str, wrong: Any) -> None:
    """NaN, texts and the like are refused before anything is drawn."""
    made = maker(name)(INTERVAL, 1, 1)
    entropy = Script()
    draw = made._release_array if isinstance(wrong, list | np.ndarray) else made._release_one
    with pytest.raises(InvalidAnswer):
        draw(wrong, entropy)
    assert entropy.asked == []


def test_an_infinity_on_an_open_side_is_refused() -> None:
    """Without an end there is nowhere to bring it to."""
    for ends in ("leave", "snap", "fold"):
        made = additive(Laplace, ends)(Bounds(0, None), 1, 1)
        made.release(-inf)
        for wrong in (inf, [1.0, inf], np.array([inf])):
            with pytest.raises(InvalidAnswer, match="infinite only on a side where the bounds have an end"):
                made.release(wrong)


def test_a_date_beyond_the_calendar_is_its_first_or_last_day() -> None:
    """Plain noise on dates may leave the years that Python can name; releases are dates all the same."""
    made, day = Laplace(Bounds.dates("2026-01-01", "2026-12-31"), 1, 1e-9), date(2026, 3, 4)
    for extreme, expected in ((b"\0", date.min), (b"\xff", date.max)):
        assert made._release_one(day, Script(extreme * 12 + b"\1" * 16)) == expected
        assert made._release_array([day], Script(extreme * 8 + b"\1" * 16)).tolist() == [expected]


# Errors.


def by_hand(made: Any, answer: Any, outputs: list[Fraction]) -> float:
    """Return the expected distance of releases from a true answer, summed out."""
    chances = table(made, [answer], outputs)[0]
    distances = np.array([float(abs(output - Fraction(answer))) for output in outputs])
    return float(chances @ distances)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bounds"), [*ON_LATTICES, *((name, bounds) for name in CUT for bounds in (INTERVAL, ISLANDS))], ids=str
)
def test_errors_are_the_sums_over_the_law(name: str, bounds: Bounds) -> None:
    """Errors at answers on the lattice, between its points, in gaps and outside are sums over all releases."""
    made, outputs = maker(name)(bounds, Fraction(3, 2), 0.5), points(bounds)
    for answer in [*answers_of(bounds), Fraction(2.3), Fraction(-69, 4), Fraction(77), Fraction(22, 7)]:
        assert made.error(answer) == pytest.approx(by_hand(made, answer, outputs), rel=1e-9)
    errors = [by_hand(made, answer, outputs) for answer in outputs]
    assert made.mean_error() == pytest.approx(np.mean(errors), rel=1e-9)
    assert made.worst_error() == pytest.approx(max(errors), rel=1e-9)
    ends = sorted({end for span in bounds for end in span})
    assert made.at_ends() == pytest.approx(table(made, outputs, ends).sum(axis=1).mean(), rel=1e-9)


MANY = Bounds.union([(at * at, at * at + at % 5) for at in range(2, 60)], step=1)
"""Spans of one to five points, dense at first and then ever farther apart."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sparing(["folded Laplace", "snapped staircase", "folded truncated Laplacian"]))
def test_errors_on_many_spans_are_the_sums_over_the_law(name: str) -> None:
    """However many spans are near each other, and however far the next ones are, errors are sums over all releases."""
    made, outputs = maker(name)(MANY, 2, 1), points(MANY)
    errors = [by_hand(made, answer, outputs) for answer in outputs]
    assert [made.error(answer) for answer in outputs] == pytest.approx(errors, rel=1e-9)
    assert made.mean_error() == pytest.approx(np.mean(errors), rel=1e-9)
    assert made.worst_error() == pytest.approx(max(errors), rel=1e-9)
    ends = sorted({end for span in MANY for end in span})
    assert made.at_ends() == pytest.approx(table(made, outputs, ends).sum(axis=1).mean(), rel=1e-9)


LONG = [Bounds(0, 300, step=1), Bounds.union([(0, 100), (130, 200), (300, 420)], step=1)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bounds"), [*((name, bounds) for name in IN_RANGE for bounds in LONG), ("explicit fair", LONG[0])], ids=str
)
@pytest.mark.parametrize(("sensitivity", "epsilon"), sparing([(40, 1), (90, 3), (1, 0.05)]))
def test_errors_over_many_answers_are_the_means_over_each(
    name: str, bounds: Bounds, sensitivity: int, epsilon: float
) -> None:
    """On lattices of hundreds of points the mean error is the mean of the errors, and none is above the worst."""
    made = maker(name)(bounds, sensitivity, epsilon)
    errors = [made.error(int(answer)) for answer in points(bounds)]
    assert made.mean_error() == pytest.approx(np.mean(errors), rel=1e-9)
    assert made.worst_error() == pytest.approx(max(errors), rel=1e-9)


@pytest.mark.slow
@given(
    st.sampled_from(sorted(IN_RANGE)),
    st.lists(st.integers(1, 14), min_size=1, max_size=5),
    st.integers(1, 30),
    st.sampled_from([0.1, 0.3, 1.0, 4.0]),
)
@example("folded Laplace", [13], 1, 0.05)
@example("snapped geometric", [12, 3, 12], 2, 4.0)  # the peak is between answers of the other run
@settings(max_examples=40)
def test_errors_over_any_bounds_are_those_of_each_answer(
    name: str, lengths: list[int], sensitivity: int, epsilon: float
) -> None:
    """Whatever the spans and the gaps, mean and worst error are those over all possible answers."""
    ends, at = [], 0
    for place, length in enumerate(lengths):
        if place % 2 == 0:
            ends.append((at, at + length - 1))
        at += length
    bounds = Bounds.union(ends, step=1)
    made = IN_RANGE[name](bounds, sensitivity, epsilon)
    errors = [made.error(answer) for answer in points(bounds)]
    assert made.mean_error() == pytest.approx(np.mean(errors), rel=1e-9, abs=1e-12)
    assert made.worst_error() == pytest.approx(max(errors), rel=1e-9, abs=1e-12)


def continuous_error(made: Any, law: Callable[[float], float], fold: Callable[[float], float], truth: float) -> float:
    """Return the expected distance for noise of a density and a rule, by quadrature."""
    reach = 30 * made.scale
    kinks = [truth + sign * k * 0.25 for k in range(160) for sign in (-1, 1)]
    edges = sorted({x for x in kinks if abs(x - truth) < reach} | {truth - reach, truth + reach})
    total = 0.0
    for low, high in pairwise(edges):
        x = (low + high) / 2 + (high - low) / 2 * NODES
        total += float(np.sum(WEIGHTS * [abs(fold(y) - truth) * law(y - truth) for y in x]) * (high - low) / 2)
    return total


NODES, WEIGHTS = np.polynomial.legendre.leggauss(5)


@pytest.mark.parametrize("ends", ["snap", "fold"])
@pytest.mark.parametrize("kind", [Laplace, Staircase])
@pytest.mark.parametrize("truth", [0.0, 0.5, 1.75, 3.0])
def test_errors_on_a_union_without_a_step_are_integrals(kind: Any, ends: str, truth: float) -> None:
    """On [0, 1] | [1.5, 3] errors are the integrals of the distance after snapping or folding into the nearest span."""
    width = Fraction(1, 2) if kind is Staircase else None
    options = {} if width is None else {"width": width}
    made = additive(kind, ends, **options)(Bounds(0, 1) | Bounds(1.5, 3), 1, 1)
    b = math.exp(-1)

    def stairs(x: float) -> float:
        height = (1 - b) / (2 * (0.5 + b / 2))
        return float(height * b ** (math.floor(abs(x)) + (abs(x) % 1 >= 0.5)))

    def laplace(x: float) -> float:
        return math.exp(-abs(x)) / 2

    def rule(y: float) -> float:
        low, high = (0.0, 1.0) if y <= 1.25 else (1.5, 3.0)
        if low <= y <= high or ends == "snap":
            return min(max(y, low), high)
        turn = (y - low) % (2 * (high - low))
        return low + (high - low) - abs(turn - (high - low))

    expected = continuous_error(made, laplace if kind is Laplace else stairs, rule, truth)
    assert made.error(truth) == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "ends"), [(kind, ends) for kind in (Laplace, Staircase) for ends in ("snap", "fold")])
@pytest.mark.parametrize("spans", [[(0.0, 5.0)], [(0.0, 1.0), (1.5, 3.0), (6.0, 9.0)]], ids=str)
def test_means_without_a_step_are_means_of_errors(kind: Any, ends: str, spans: list[tuple[float, float]]) -> None:
    """Without a step the mean error is the integral of the error by the length, and none is above the worst."""
    made = additive(kind, ends)(Bounds.union(spans), 1, 1)
    total = length = greatest = 0.0
    for low, high in spans:
        for a, b in pairwise(np.linspace(low, high, 33)):
            errors = np.array([made.error(float(x)) for x in (a + b) / 2 + (b - a) / 2 * NODES])
            total += float(WEIGHTS @ errors) * (b - a) / 2
            greatest = max(greatest, *errors, made.error(float(a)), made.error(float(b)))
        length += high - low
    assert made.mean_error() == pytest.approx(total / length, rel=2e-5)
    assert made.worst_error() >= greatest * (1 - 1e-12)
    assert made.worst_error() == pytest.approx(greatest, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    "bounds", [Bounds(0, None, step=1), Bounds(None, 3, step=1) | Bounds(7, None, step=1), INTEGERS]
)
def test_windows_stand_in_for_ends(name: str, bounds: Bounds) -> None:
    """On bounds without ends means are over the possible answers in a window, and the worst error over all."""
    made = EVERY[name](bounds, 3, 0.7)
    answers = [answer for answer in range(-20, 31) if answer in bounds]
    errors = [made.error(answer) for answer in answers]
    assert made.mean_error((-20, 30)) == pytest.approx(np.mean(errors), rel=1e-9)
    assert made.worst_error((-20, 30)) == pytest.approx(max(errors), rel=1e-9)
    assert made.worst_error() >= made.worst_error((-20, 30)) * (1 - 1e-12)
    assert made.worst_error((10**9, 10**9 + 5)) == pytest.approx(made.error(10**9), rel=1e-9)


@pytest.mark.parametrize("name", [name for name in ANYWHERE if name.startswith("folded")])
@pytest.mark.parametrize("epsilon", [1e-9, 1e-6, 1e-2])
def test_noise_far_wider_than_the_bounds_is_all_but_uniform_when_folded(name: str, epsilon: float) -> None:
    """Each inner point has the same probability, an end half of it, all together one; errors are those of that law."""
    made = ANYWHERE[name](Bounds(0, 10, step=1), 1, epsilon)
    uniform, told = np.array([0.05, *[0.1] * 9, 0.05]), table(made, [3])[0]
    assert told == pytest.approx(uniform, rel=1e-2)
    assert told.sum() == pytest.approx(1, abs=1e-9)
    for answer in (0, 3.25, 10):
        assert made.error(answer) == pytest.approx(uniform @ abs(np.arange(11) - answer), rel=1e-2)
    assert made.at_ends() == pytest.approx(0.1, rel=1e-2)


@pytest.mark.parametrize("kind", [Laplace, Staircase, TruncatedLaplacian])
@pytest.mark.parametrize("ends", ["snap", "fold"])
def test_noise_far_wider_than_an_interval_without_a_step_is_uniform_too(kind: Any, ends: str) -> None:
    """Noise 10⁹ times as wide as an interval is uniform when folded, and at an end or the other when snapped."""
    made = additive(kind, ends)(Bounds(0, 1), 1, 1e-9)
    expected = {"snap": 0.5, "fold": (0.4**2 + 0.6**2) / 2}[ends]
    assert made.error(0.4) == pytest.approx(expected, rel=1e-2)


NARROW = [
    Bounds(0, 1, step=1) | Bounds(5, None, step=1),
    Bounds(0, 3, step=1),
    Bounds.union([(0, 7), (4000, 4010), (4020, 4020)], step=1),
    Bounds(None, -9000, step=1) | Bounds(0, 20, step=1),
    Bounds(0, 200, step=1) | Bounds(120_000, None, step=1),
    Bounds(0, 900, step=1),
]
"""Spans that noise of a few thousand steps and more is folded into many times, some of them beside a long gap."""

WIDE: list[tuple[Any, float]] = [(3, 0.01), (7, 0.001), (Fraction(2, 3), 1e-4), (200, 0.05), (900, 0.1)]
"""Sensitivities and epsilons of such noise."""


def outcomes(made: Any, centre: int) -> tuple[NDArray[np.int64], Floats]:
    """Return what every outcome of the noise is released as, and its probability."""
    reach = int(made.noise.reach) + 1
    noise = np.arange(-reach, reach + 1)
    return made.ends.apply_many(centre + noise), made.noise.probability(noise.astype(float))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "sensitivity", "epsilon"),
    sparing(
        [(bounds, *WIDE[(place + more) % len(WIDE)]) for more in (0, 2) for place, bounds in enumerate(NARROW)],
        len(NARROW),
    ),
    ids=str,
)
@pytest.mark.parametrize("kind", [Geometric, Staircase, TruncatedLaplacian])
def test_what_is_folded_a_thousand_times_counts_as_each_outcome_does(
    kind: Any, bounds: Bounds, sensitivity: Any, epsilon: float
) -> None:
    """Errors are the sums over all outcomes of the noise, for true answers in spans, beside them and in long gaps."""
    made = kind(bounds, sensitivity, epsilon, ends="fold")
    for answer in (1, 7.25, 137, 1800.5, 100_000):
        centre = made._centre(math.floor(answer + 0.5))
        released, chances = outcomes(made, centre)
        assert made.error(answer) == pytest.approx(float(chances @ abs(released - answer)), rel=3e-6)
        for index in (0, 2, 4002):
            expected = float(chances[released == index].sum())
            assert made.pmf(index, answer) == pytest.approx(expected, rel=3e-4, abs=1e-12)


@pytest.mark.parametrize("bounds", NARROW[1:3], ids=str)
@pytest.mark.parametrize("kind", [Geometric, Staircase, TruncatedLaplacian])
def test_what_is_folded_a_thousand_times_hits_the_ends_as_each_outcome_does(kind: Any, bounds: Bounds) -> None:
    """Means over all true answers are means of the sums over all outcomes of the noise."""
    made, ends = kind(bounds, 3, 0.003, ends="fold"), sorted({end for span in bounds for end in span})
    laws = [outcomes(made, int(answer)) for answer in points(bounds)]
    hits = [chances[np.isin(released, np.array(ends, dtype=int))].sum() for released, chances in laws]
    assert made.at_ends() == pytest.approx(np.mean(hits), rel=3e-4)


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [Bounds(0, 1) | Bounds(5, None), Bounds(0, 1), Bounds(0, 1) | Bounds(1.5, 9)])
@pytest.mark.parametrize("kind", [Laplace, Staircase, TruncatedLaplacian])
@pytest.mark.parametrize("epsilon", sparing([1e-9, 1e-4, 0.02]))
def test_however_wide_the_noise_few_answers_and_few_pieces_are_looked_at(
    kind: Any, bounds: Bounds, epsilon: float
) -> None:
    """The work for a mean or a worst error does not grow with the noise, and the worst error is above all others."""
    made = kind(bounds, 1.7, epsilon, ends="fold")
    law = made._distribution
    looked_at = made._true_answers((0, 5 + 17 / epsilon)).runs()
    assert len(looked_at.span) <= 2 * MOST_RUNS
    assert len(made._true_answers(None).runs().span) <= 2 * MOST_RUNS
    for span in range(len(law.lattice)):
        assert len(law._table(span, from_high=False).start) <= len(law.lattice) * (2 * MOST_FOLDS + 1)
    most = made.worst_error() * (1 + 1e-9)
    assert all(made.error(answer) <= most for answer in (0, 0.3, 1) if answer in bounds)


VAST_ANSWERS = [1e308, -1e308, 1e300, Fraction(10**400), -Fraction(10**400), Decimal("1e400"), -(10**310)]


@pytest.mark.slow
@pytest.mark.parametrize("answer", VAST_ANSWERS)
@pytest.mark.parametrize("bounds", [Bounds(0, None), Bounds(0, 1) | Bounds(5, None), Bounds(0, 9)], ids=str)
@pytest.mark.parametrize("name", EVERY)
def test_true_answers_beyond_all_noise_are_missed_by_their_distance(name: str, bounds: Bounds, answer: Any) -> None:
    """Far beyond an end the error is the distance, infinite if no double holds it; without an end, the noise."""
    if name == "snapped geometric":
        bounds = Bounds.union([*bounds], step=1)
    error = EVERY[name](bounds, 1, 1).error(answer)
    if answer > 0 and not bounds.bounded:
        assert 0.8 < error < 1.1
    else:
        expected = math.inf if abs(answer) > 10**309 else float(abs(answer))
        assert error == pytest.approx(expected, rel=1e-12)


def test_noise_beyond_every_index_is_snapped_to_the_ends() -> None:
    """Where noise is 2**90 steps wide, half of it is snapped to either end."""
    made = Laplace(Bounds(0, 2**60, step=1), 2**60, 1e-9, ends="snap")
    assert made.pmf(0, 3) == pytest.approx(0.5, rel=1e-6)
    assert made.at_ends() == pytest.approx(1, rel=1e-6)
    assert made.error(0) == pytest.approx(2**59, rel=1e-6)


@pytest.mark.parametrize("name", [*EVERY, "explicit fair"])
def test_settings_of_the_caller_make_no_difference(name: str) -> None:
    """Everything goes through where the caller has told NumPy, warnings or decimals to raise whatever they can."""
    with SURROUNDINGS["everything"]():
        made = maker(name)(Bounds(0, 100_000, step=1), 1, 1)
        made.release(np.array([1, 2]))
        for answer in (5, 0, 99_999, 10**300, -1e300, Decimal("3.14159265358979323846264338327950288")):
            made.release(answer)
        assert made.error(7) > 0
        assert made.pmf(7, 50_000) < 1e-200
        assert made.mean_error() <= made.worst_error() * (1 + 1e-12)
        assert made.at_ends() < 0.01


def test_a_single_possible_answer_is_always_released() -> None:
    """With one possible answer there is no error and nothing to tell."""
    for name in (*IN_RANGE, "explicit fair"):
        made = maker(name)(Bounds(4, 4, step=1), 1, 1)
        assert made.release(9) == 4
        assert made.pmf(4, 4) == pytest.approx(1, abs=1e-15)
        assert (made.error(4), made.mean_error(), made.worst_error()) == (0, 0, 0)
        assert made.error(6.5) == pytest.approx(2.5)
        assert made.at_ends() == pytest.approx(1)
        assert certify(made).holds


# What is refused.


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Laplace(INTERVAL, 1, 1, ends="clip"), "ends must be 'leave', 'snap' or 'fold', got 'clip'"),  # type: ignore[arg-type]
        (lambda: Staircase(INTERVAL, 1, 1, ends=None), "ends must be 'leave', 'snap' or 'fold', got None"),  # type: ignore[arg-type]
        (lambda: Staircase(INTERVAL, 1, 1, width=0), "width must be above 0 and at most 1, got 0"),
        (lambda: Staircase(INTERVAL, 1, 1, width=1.5), "width must be above 0 and at most 1, got 1.5"),
        (lambda: Staircase(INTERVAL, 1, 1, width=nan), "width must be a finite number, got nan"),
        (lambda: Staircase(INTERVAL, 1, 1, width="half"), "width must be a finite number, got 'half'"),  # type: ignore[arg-type]
        (lambda: TruncatedLaplacian(INTERVAL, 1, 1, delta=0), "delta must be from 1e-300 to below 1/2, got 0"),
        (lambda: TruncatedLaplacian(INTERVAL, 1, 1, delta=0.5), "delta must be from 1e-300 to below 1/2, got 0.5"),
        (lambda: TruncatedLaplacian(INTERVAL, 1, 1, delta=None), "delta must be a finite number, got None"),  # type: ignore[arg-type]
        (lambda: HolohanLaplace(Bounds(0, 1), 1, 1, delta=-1), "delta must be from 0 to below 1/2, got -1"),
        (lambda: HolohanLaplace(Bounds(0, 1), 1, 1, delta=0.5), "delta must be from 0 to below 1/2, got 0.5"),
        (lambda: HolohanLaplace(INTERVAL, 1, 1), r"one bounded interval without a step, got \[0, 12\] step 1"),
        (lambda: HolohanLaplace(Bounds(0, None), 1, 1), r"without a step, got \[0, inf\); use bounded Laplace"),
        (lambda: HolohanLaplace(Bounds(0, 1) | Bounds(2, 3), 1, 1), r"got \[0, 1\] \| \[2, 3\]"),
        (lambda: Geometric(Bounds(0, 1), 1, 1), r"needs bounds with a step, got \[0, 1\]; .* or use Laplace"),
        (
            lambda: ExplicitFair(Bounds(0, 1), 1, 1),
            r"needs bounds with a step, got \[0, 1\]; .* use bounded Laplace",
        ),
        (lambda: ExplicitFair(ISLANDS, 1, 1), "needs one bounded interval, got .*; use bounded Laplace"),
        (lambda: ExplicitFair(Bounds(0, None, step=1), 1, 1), r"one bounded interval, got \[0, inf\) step 1"),
        (
            lambda: ExplicitFair(Bounds(0, 10**6, step=1), 1, 1),
            r"at most 1,000,000 points, and \[0, 1000000\] step 1 has",
        ),
        (lambda: Laplace((0, 1), 1, 1), "bounds must be a Bounds, got tuple"),  # type: ignore[arg-type]
        (lambda: Laplace(INTERVAL, 0, 1), "sensitivity must be positive, got 0"),
        (lambda: Staircase(INTERVAL, 1, 0), "epsilon must be from 1e-9 to 1000, got 0"),
        (lambda: ExplicitFair(INTERVAL, 1, nan), "epsilon must be a finite number, got nan"),
        (lambda: NaiveLaplace(INTERVAL, timedelta(1), 1), "sensitivity must be a number .*, got 1 day"),
        (lambda: certify(3), "only a mechanism or a Claim can be certified, got int"),  # type: ignore[arg-type]
    ],
)
def test_mistakes_are_named(make: Callable[[], Any], message: str) -> None:
    """A parameter that makes no sense, or bounds that a mechanism is not for, are refused by name, with the remedy."""
    with pytest.raises(InvalidParameter, match=message):
        make()


@pytest.mark.parametrize("kind", [Laplace, Geometric, Staircase, TruncatedLaplacian])
def test_noise_beyond_64_bits_is_refused_where_no_end_stops_it(kind: Any) -> None:
    """Noise too wide to be counted in 64 bits is refused on open bounds, and drawn on closed ones."""
    with pytest.raises(LatticeTooFine, match="needs more than 62 bits"):
        kind(Bounds(0, None, step=1), 2**50, 1e-9)
    made = kind(Bounds(0, 2**50, step=1), 2**50, 1e-9, ends="fold")
    assert len({made.release(0) for _ in range(9)} | set(made.release(np.zeros(9)).tolist())) > 15


# A mechanism is a value.


@pytest.mark.parametrize("name", [*EVERY, "explicit fair"])
def test_a_mechanism_is_frozen(name: str) -> None:
    """Nothing that a mechanism says of itself can be set or deleted, so that what was proved stays true."""
    made = maker(name)(INTERVAL, 1, 1)
    for attribute in ("epsilon", "certificate", "label", "bounds", "in_range", "name"):
        with pytest.raises(AttributeError, match="has no setter"):
            setattr(made, attribute, 1)
        with pytest.raises(AttributeError, match="has no deleter"):
            delattr(made, attribute)


TEXTS = [
    (Laplace(INTERVAL, 1, 0.5), "<Laplace([0, 12] step 1, sensitivity=1, epsilon=0.5): scale 2, ε = 0.5>"),
    (
        Geometric(INTERVAL, 1, 0.5, ends="snap", guarantee="distance"),
        "<Geometric([0, 12] step 1, sensitivity=1, epsilon=0.5, guarantee='distance', ends='snap'): scale 2, ε = 0.5>",
    ),
    (
        Staircase(Bounds(0, 1), 1, 1, ends="fold", width=Fraction(1, 4)),
        "<Staircase([0, 1], sensitivity=1, epsilon=1, ends='fold', width=1/4): scale 1, ε = 1>",
    ),
    (
        TruncatedLaplacian(INTERVAL, 1, 1, delta=0.5**4),
        "<TruncatedLaplacian([0, 12] step 1, sensitivity=1, epsilon=1, delta=1/16): scale 1, ε = 1, δ = ",
    ),
    (
        ExplicitFair(INTERVAL, 1, Fraction(1, 2)),
        "<ExplicitFair([0, 12] step 1, sensitivity=1, epsilon=1/2): scale 2, ε = 0.5>",
    ),
    (
        BoundedGaussian(Bounds(0, 2), 1, 1, sigma="least"),
        "<BoundedGaussian([0, 2], sensitivity=1, epsilon=1, sigma='least'): scale 1.06226, ε = 1>",
    ),
    (HolohanLaplace(Bounds(0, 2), 1, 1), "<HolohanLaplace([0, 2], sensitivity=1, epsilon=1): scale 1.41334, ε = 1>"),
    (
        NaiveLaplace(Bounds(0, None), 1, 1),
        "<NaiveLaplace([0, inf), sensitivity=1, epsilon=1): scale 1, not private: loss 1.49 > 1>",
    ),
    (
        AdaptiveLaplace(Bounds(0, None), 1, 1),
        "<AdaptiveLaplace([0, inf), sensitivity=1, epsilon=1): scale 1.58595, ε = 1, δ = ",
    ),
]


@pytest.mark.parametrize(("made", "text"), TEXTS, ids=lambda x: type(x).__name__)
def test_the_text_of_a_mechanism_is_how_it_was_made_and_its_label(made: Any, text: str) -> None:
    """repr is one line that begins as it was made and ends with the label; what was given can be read back."""
    assert repr(made).startswith(text)
    assert repr(made).endswith(f"{made.label}>")
    assert made.paper
    assert (made.sensitivity, made.epsilon) in ((1, 0.5), (1, 1), (1, Fraction(1, 2)))


@pytest.mark.parametrize("made", [made for made, _ in TEXTS], ids=lambda made: made.name)
def test_mechanisms_are_equal_if_they_were_made_alike(made: Any) -> None:
    """Another one made alike is equal and has the same hash, however the numbers were written; no other is."""
    same = type(made)(made.bounds, Fraction(1), Fraction(made.epsilon), **made.choices)
    assert (same == made, hash(same) == hash(made)) == (True, True)
    assert made != type(made)(made.bounds, 1, 2 * Fraction(made.epsilon), **made.choices)
    assert made != type(made)(made.bounds, Fraction(1, 2), made.epsilon, **made.choices)
    assert all((made == other) == (made is other) for other, _ in TEXTS)
    assert made != made.bounds


@pytest.mark.parametrize("made", [made for made, _ in TEXTS], ids=lambda made: made.name)
@pytest.mark.parametrize("again", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_a_copy_says_and_draws_the_same(made: Any, again: Callable[[Any], Any]) -> None:
    """A mechanism that was used, then pickled or copied, has the same text, label and law, and draws the same."""
    if made.label.private:
        made.release([1.0, 2.0])
    assert made.mean_error((0, 1)) > 0
    copied = again(made)
    assert (repr(copied), copied.label, copied.certificate) == (repr(made), made.label, made.certificate)
    assert copied == made
    if made.label.private:
        assert copied._release_one(1, Script(seed=3)) == made._release_one(1, Script(seed=3))
        assert copied.error(1) == made.error(1)


@pytest.mark.parametrize(
    "made",
    [
        Laplace(Bounds(0, None), 1, 1, ends="snap"),
        Staircase(Bounds(0, None), 1, 1, ends="fold"),
        Laplace(Bounds(None, None), 1, 1),
        TruncatedLaplacian(Bounds(0, None), 1, 1, delta=1e-6, ends="snap"),
        AdaptiveLaplace(Bounds(0, None), 1, 1),
    ],
    ids=lambda made: made.name,
)
@pytest.mark.parametrize("truth", [5e8, 1e15, 1e30, 1e200])
def test_an_answer_far_out_is_released_near_itself(made: Any, truth: float) -> None:
    """On a side without an end no answer is too far: the noise on it is what it is anywhere, alone or in an array."""
    near = 60 + truth * 1e-15
    assert abs(made.release(truth) - truth) <= near
    assert abs(made.release(np.array([truth]))[0] - truth) <= near
    assert 0.9 < made.error(truth) < 1.1
