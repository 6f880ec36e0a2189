"""Few pairs decide a guarantee, and they are the right ones: the definition over all pairs says the same."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds, Certificate, Claim, InvalidParameter, LatticeTooFine, NotPrivate, certify
from inbounds.privacy.certificate import worst_loss
from inbounds.privacy.claim import Promise
from tests.helpers.brute_force import BruteForce, Spans
from tests.helpers.small_lattices import Scene, scales, scenes, spans

inf, nan = math.inf, math.nan
HALF = Fraction(1, 2)


def greatest(claim: Claim) -> float:
    """The greatest loss over the deciding pairs."""
    return float(worst_loss(claim.law, claim.pairs).loss)


def proved_again(claim: Claim) -> Certificate:
    """The second proof of a claim, whether it is true or false."""
    try:
        return certify(claim)
    except NotPrivate as refused:
        return refused.certificate


@pytest.mark.slow
@given(scenes(), scales())
def test_deciding_pairs_have_the_greatest_loss_of_all_pairs(scene: Scene, scale: Fraction) -> None:
    """The worst of the deciding pairs is exactly as bad as the worst of all pairs, at any scale."""
    assert greatest(scene.claim(scale)) == pytest.approx(scene.worst(scale), rel=1e-11, abs=1e-13)


@pytest.mark.slow
@given(scenes(), scales())
def test_loss_is_distance_and_normalisation(scene: Scene, scale: Fraction) -> None:
    """Over all outputs and both directions the loss is `rate * distance + |ln Z(m) - ln Z(n)|`."""
    law = scene.brute_force(scale)
    for (i, m), (j, n) in combinations(enumerate(law.points), 2):
        shift = abs(math.log(law.z[i]) - math.log(law.z[j]))
        assert law.loss(m, n) == pytest.approx(law.rate * (n - m) + shift, rel=1e-11, abs=1e-13)


@given(spans(), scales())
def test_full_pooling_makes_up_for_every_gap(ends: Spans, scale: Fraction) -> None:
    """With pooling 1 the total mass is that of the whole line, seen from anywhere."""
    rate = float(1 / scale)
    law = BruteForce(ends, rate, 1.0, pad=3)
    assert law.z == pytest.approx([1 / math.tanh(rate / 2)] * len(law.z), rel=1e-12)


@given(scenes(), scales())
def test_pairs_are_few_possible_and_apart(scene: Scene, scale: Fraction) -> None:
    """At most four pairs for each span decide, each of two different possible indices in the spans they name."""
    claim = scene.claim(scale)
    pairs, lattice = claim.pairs, claim.lattice
    assert len(pairs) <= 4 * len(lattice)
    assert (pairs.first != pairs.second).all()
    for indices, numbers in ((pairs.first, pairs.first_span), (pairs.second, pairs.second_span)):
        assert (lattice.lows[numbers] <= indices).all()
        assert (indices <= lattice.highs[numbers]).all()


@given(scenes(kinds=("trusted",)), scales())
def test_trusting_never_adds_a_loss(scene: Scene, scale: Fraction) -> None:
    """Answers that are vouched for never lose more than answers that may have to be projected."""
    projected = Scene(**{**vars(scene), "kind": "projected"})
    assert greatest(scene.claim(scale)) <= greatest(projected.claim(scale)) * (1 + 1e-12)


@given(
    st.lists(st.tuples(st.integers(4, 14), st.integers(1, 14)), min_size=1, max_size=3),
    st.integers(0, 11),
    st.integers(1, 50),
    scales(),
    st.sampled_from([0.0, 0.4, 1.0]),
)
def test_trusted_answers_beside_ends_off_the_lattice(
    sizes: list[tuple[int, int]], start: int, sensitivity: int, scale: Fraction, pooling: float
) -> None:
    """Without a step a possible answer may be rounded into a gap, and the deciding pairs account for that.

    Spans are at least a step wide; ends, answers and the sensitivity are quarters of a step.
    """
    ends, end = [], start
    for width, gap in sizes:
        ends.append((Fraction(end, 4), Fraction(end + width, 4)))
        end += width + gap
    promise = Promise.of(Bounds.union(ends), Fraction(sensitivity, 4), 1, "standard", pooling, trusted=True)
    claim = Claim.on(promise, Fraction(1), scale)
    answers = [Fraction(n, 4) for low, high in ends for n in range(int(4 * low), int(4 * high) + 1)]
    indices: Spans = [*zip(claim.lattice.low_list, claim.lattice.high_list, strict=True)]
    worst = BruteForce(indices, float(1 / scale), pooling, pad=0).worst_of_answers(answers, promise.sensitivity)
    assert worst <= greatest(claim) * (1 + 1e-11) + 1e-13
    assert worst <= float(proved_again(claim).bound) * (1 + 1e-11) + 1e-13


def test_two_answers_rounded_into_gaps_end_up_two_steps_farther_apart() -> None:
    """Of two possible answers 6 apart, 3.25 goes left to 2 and 9.25 goes right to 10."""
    bounds = Bounds(0, 2.25) | Bounds(3.25, 6) | Bounds(9.25, 12)
    law = BruteForce([(0, 2), (4, 6), (10, 12)], 1.0, 1.0, pad=0)
    assert law.worst_of_answers([Fraction(3.25), Fraction(9.25)], Fraction(6)) == pytest.approx(8)
    claim = Claim.on(Promise.of(bounds, 6, 1, "standard", 1, trusted=True), Fraction(1), Fraction(1))
    assert greatest(claim) == pytest.approx(8)
    assert proved_again(claim).bound == 8


@given(st.integers(-200, 200), st.integers(0, 200), st.integers(1, 9))
def test_two_answers_are_never_rounded_farther_apart_than_the_sensitivity(x: int, apart: int, parts: int) -> None:
    """Rounding half up keeps `|m - n| <= ceil(|x - y|)`, in steps."""
    lattice = Claim.of(Bounds(None, None, step=1), 1, 1, scale=1).lattice
    first, second = lattice.index(x, parts), lattice.index(x + apart, parts)
    assert 0 <= second - first <= -(-apart // parts)


@pytest.mark.parametrize("trusted", [False, True])
def test_a_gap_of_one_missing_point(trusted: bool) -> None:
    """A single missing index goes to its left neighbour: answers one step apart, but centres two apart."""
    claim = Claim.of(Bounds.union([(0, 4), (6, 9)], step=1), 1, 1, scale=1, trusted=trusted)
    pairs = {tuple(sorted(pair)) for pair in zip(claim.pairs.first.tolist(), claim.pairs.second.tolist(), strict=True)}
    assert pairs == ({(0, 1), (3, 4), (6, 7), (8, 9)} if trusted else {(0, 1), (3, 4), (4, 6), (6, 7), (8, 9)})


def test_a_sensitivity_beyond_the_range_acts_like_the_range() -> None:
    """Only distances that occur between possible answers count."""
    wide, whole = (Claim.of(Bounds(0, 7, step=1), sensitivity, 1, scale=3) for sensitivity in (10**30, 7))
    assert greatest(wide) == greatest(whole)


def test_isolated_points_beyond_a_sensitivity_are_not_neighbours() -> None:
    """Trusted answers at two points farther apart than the sensitivity are never compared, so nothing can be lost."""
    mechanism = BoundedLaplace(Bounds.union([(0, 0), (1000, 1000)], step=1), 1, 1, trusted=True)
    assert len(mechanism.claim.pairs) == 0
    assert mechanism.certificate.bound == 0
    assert mechanism.certificate.worst_pair == (None, None)


def test_projection_makes_isolated_points_neighbours() -> None:
    """Untrusted answers in the middle of a gap are one step apart and go to its two ends."""
    mechanism = BoundedLaplace(Bounds.union([(0, 0), (1000, 1000)], step=1), 1, 1)
    assert set(mechanism.certificate.worst_pair) == {0, 1000}
    assert mechanism.scale == pytest.approx(1000, rel=1e-9)


@pytest.mark.parametrize("bounds", [Bounds(0, 0, step=1), Bounds(5, 5, step=Fraction(1, 3), offset=Fraction(1, 3))])
@pytest.mark.parametrize("guarantee", ["standard", "distance"])
def test_one_possible_answer_loses_nothing(bounds: Bounds, guarantee: Any) -> None:
    """A release that everyone knows beforehand has no loss, at the plain scale as at any other."""
    mechanism = BoundedLaplace(bounds, 2, HALF, guarantee=guarantee)
    assert mechanism.scale == 4
    assert mechanism.certificate.holds
    assert mechanism.certificate.bound == 0
    assert mechanism.certificate.pairs == 0


@pytest.mark.parametrize("pooling", [0, 0.5, 1])
def test_distance_over_inner_gaps_needs_trust(pooling: float) -> None:
    """Projection can part two answers a hair apart, so the distance guarantee over gaps is refused, and says why."""
    gapped = Bounds(0, 5) | Bounds(7, None)
    with pytest.raises(InvalidParameter, match=r"distance guarantee .* gaps .* \(trusted\), or use the standard"):
        BoundedLaplace(gapped, 1, 1, guarantee="distance", pooling=pooling)
    assert BoundedLaplace(gapped, 1, 1, guarantee="distance", pooling=pooling, trusted=True).certificate.holds
    assert BoundedLaplace(Bounds(0, 5), 1, 1, guarantee="distance", pooling=pooling).certificate.holds


@pytest.mark.parametrize("guarantee", ["standard", "distance"])
@pytest.mark.parametrize("bounds", [Bounds(None, None, step=1), Bounds(0, None, step=1)])
def test_a_sensitivity_of_more_than_62_bits_is_refused(bounds: Bounds, guarantee: Any) -> None:
    """A sensitivity of 2**62 steps on an unbounded lattice is refused, with the remedy."""
    with pytest.raises(LatticeTooFine, match="give the bounds a larger step"):
        BoundedLaplace(bounds, 2**62, 1, guarantee=guarantee)


FINE: dict[str, Any] = {"bounds": Bounds(0, 5), "sensitivity": 1, "epsilon": 1}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("epsilon", bad) for bad in (0, -1, 0.0, nan, inf, -inf, 1e-10, 1001, True, None, "1", 1j, [1])],
        *[("sensitivity", bad) for bad in (0, -1, nan, inf, -inf, True, None, "1", 1j, [1])],
        *[("pooling", bad) for bad in (-0.1, 1.1, 2, -1, nan, inf, True, None, "0")],
        *[("guarantee", bad) for bad in ("", "Standard", "pure", None, 1, True)],
        *[("trusted", bad) for bad in ("no", "", 0, 1, None, [True])],
        *[("bounds", bad) for bad in ((0, 5), [0, 5], "[0, 5]", 5, None, True)],
    ],
)
def test_a_bad_parameter_is_refused_by_name(name: str, value: Any) -> None:
    """Whatever cannot be meant is refused, in a message that begins with the name of the parameter."""
    with pytest.raises(InvalidParameter, match=rf"^{name} must be "):
        BoundedLaplace(**{**FINE, name: value})
    with pytest.raises(InvalidParameter, match=rf"^{name} must be "):
        Claim.of(**{**FINE, name: value, "scale": 1})


@pytest.mark.parametrize("scale", [0, -1, nan, inf, "1", None, True])
def test_a_bad_scale_is_refused_by_name(scale: Any) -> None:
    """A claim is about a positive and finite scale."""
    with pytest.raises(InvalidParameter, match=r"^scale must be "):
        Claim.of(**FINE, scale=scale)


@pytest.mark.parametrize("sensitivity", [Fraction(1, 2**1000), 2**1000])
def test_a_scale_beyond_the_doubles_is_refused(sensitivity: Any) -> None:
    """Where the scale would not be a double, the message names what makes it so."""
    with pytest.raises(InvalidParameter, match=r"^sensitivity / epsilon must be from .* use other units"):
        BoundedLaplace(Bounds(None, None), sensitivity, 1)


@pytest.mark.parametrize("number", [1, 1.0, Fraction(1), np.float64(1), np.int32(1), np.float32(1)])
def test_every_kind_of_number_will_do(number: Any) -> None:
    """The same number of another type makes the same promise."""
    assert BoundedLaplace(Bounds(0, 5), number, number, pooling=number) == BoundedLaplace(Bounds(0, 5), 1, 1, pooling=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "sensitivity"),
    [
        (Bounds(-20, 20, step=1), Fraction(1, 2)),
        (Bounds(0, 40, step=1), Fraction(3, 2)),
        (Bounds(0, 12, step=Fraction(1, 3)), Fraction(1, 2)),
        (Bounds(0, 30, step=2), 1),
    ],
)
def test_the_distance_guarantee_implies_the_standard_one(bounds: Bounds, sensitivity: Any) -> None:
    """Real answers within a sensitivity lose at most epsilon, also where that is not a whole number of steps."""
    made = BoundedLaplace(bounds, sensitivity, 1, guarantee="distance")
    points = [
        made.claim.lattice.value(k) for k in range(made.claim.lattice.low_list[0], made.claim.lattice.high_list[0] + 1)
    ]
    answers = [points[0] + made.step * Fraction(i, 4) for i in range(4 * len(points))]
    laws = [[made.pmf(point, answer) for point in points] for answer in answers]
    for i, answer in enumerate(answers):
        for j in range(i + 1, len(answers)):
            apart = math.ceil((answers[j] - answer) / Fraction(str(sensitivity)))
            if apart > 3:
                break
            loss = max(abs(math.log(p / r)) for p, r in zip(laws[i], laws[j], strict=True))
            assert loss <= apart * (1 + 1e-9)
