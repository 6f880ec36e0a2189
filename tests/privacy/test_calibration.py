"""The scale found is safe, tight, and the one that theory predicts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inbounds.privacy.calibration
import inbounds.privacy.claim
from inbounds import BoundedLaplace, Bounds, Claim, LatticeTooFine, NotPrivate, certify
from inbounds.privacy.certificate import Certificate, prove
from inbounds.privacy.scale_search import first_fall
from tests.helpers.small_lattices import Scene, scenes
from tests.helpers.sparing import sparing

inf = math.inf
A_MILLIONTH = Fraction(1, 10**6)
HALF_LINE = Bounds(0, None)

# In the continuous limit, sensitivity 1, nothing pooled, standard guarantee.
REFERENCES: list[tuple[Bounds, float, float]] = [
    (Bounds(None, None), 1, 1),
    (HALF_LINE, 0.1, 19.512393286533406),
    (HALF_LINE, 1, 1.6126053959051823),
    (HALF_LINE, 2, 0.697456667532031),
    (Bounds(0, 1), 1, 1),
    (Bounds(0, 1.5), 1, 1.2900550753054143),
    (Bounds(0, 2), 1, 1.4133426977378727),
    (Bounds(0, 5), 1, 1.5889381066059751),
    (Bounds(0, 1.5), 0.1, 13.291454610848405),
    (Bounds(0, 20), 0.1, 19.234848488702553),
    (Bounds(0, 2), 3, 0.4176804523493295),
]

# Answers vouched for; bounds, sensitivity and epsilon, then the scales for the standard and the distance guarantee.
UNION_REFERENCES: list[tuple[Bounds, float, float, float, float]] = [
    (Bounds(0, 5) | Bounds(7, None), 1, 1, 1.5957766776034088, 2),
    (Bounds(None, 0) | Bounds(3, None), 1, 1, 1.4734266072112323, 1.7060343636672572),
    (Bounds(None, 0) | Bounds(0.5, None), 1, 1, 1.135615123870277, 1.2046073339762329),
    (Bounds(0, 1) | Bounds(2, 3) | Bounds(10, 12), 1, 0.5, 2.9641122615513322, 4),
    (Bounds(0, 17) | Bounds(65, 120), 2, 1, 3.225210751279673, 4),
]


def near(scale: float) -> Any:
    """Equal to nine digits and nine decimals."""
    return pytest.approx(scale, rel=min(1e-9, 1e-9 / scale), abs=0)


def least_double(x: Fraction) -> float:
    """The smallest double that is at least `x`."""
    nearest = float(x)
    return math.nextafter(nearest, inf) if nearest < x else nearest


def assert_tight(mechanism: BoundedLaplace) -> None:
    """Check that the mechanism proves its claim again, and that a scale a millionth smaller is refuted."""
    assert mechanism.certificate.holds
    assert mechanism.certificate.bound <= mechanism.certificate.epsilon
    certify(mechanism)
    promise = mechanism.claim.promise
    arguments = {**vars(promise), "scale": mechanism.claim.scale * (1 - A_MILLIONTH)}
    with pytest.raises(NotPrivate) as refused:
        certify(Claim.of(**arguments))
    assert refused.value.certificate.refuted


@pytest.mark.slow
@settings(max_examples=300)
@given(scenes())
def test_the_scale_is_safe_and_tight_by_definition(scene: Scene) -> None:
    """Over all answers and outputs the loss is at most epsilon, and above it if the scale is a millionth smaller."""
    mechanism = scene.mechanism()
    scale = mechanism.claim.scale / scene.step
    assert mechanism.certificate.holds
    assert scene.worst(scale) <= scene.epsilon * (1 + 1e-9)
    if len(mechanism.claim.pairs):
        assert scene.worst(scale * (1 - A_MILLIONTH)) > scene.epsilon


@pytest.mark.parametrize(("bounds", "epsilon", "scale"), REFERENCES)
def test_reference_scales(bounds: Bounds, epsilon: float, scale: float) -> None:
    """Connected bounds need the scale that the continuous theory gives."""
    assert BoundedLaplace(bounds, 1, epsilon).scale == near(scale)


@pytest.mark.parametrize(("bounds", "sensitivity", "epsilon", "standard", "distance"), UNION_REFERENCES)
def test_reference_scales_of_unions(
    bounds: Bounds, sensitivity: float, epsilon: float, standard: float, distance: float
) -> None:
    """Unions need the scales that the continuous theory gives, for either guarantee."""
    found = BoundedLaplace(bounds, sensitivity, epsilon, trusted=True)
    assert found.scale == near(standard)
    assert BoundedLaplace(bounds, sensitivity, epsilon, guarantee="distance", trusted=True).scale == near(distance)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.1, 0.5, 1, 2, 5, 20])
@pytest.mark.parametrize("sensitivity", [1, 0.375, 1000])
def test_a_half_line_has_a_closed_form(sensitivity: Any, epsilon: float) -> None:
    """On [0, inf) the scale is sensitivity / ln((1 + e^epsilon) / 2)."""
    expected = sensitivity / math.log1p(math.expm1(epsilon) / 2)
    assert BoundedLaplace(HALF_LINE, sensitivity, epsilon).scale == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-6, 1e-4, 0.01, 1, 10])
@pytest.mark.parametrize("sensitivity", [Fraction(1, 3), 0.1, 100.7])
def test_a_sensitivity_off_the_chosen_lattice_costs_less_than_a_millionth(sensitivity: Any, epsilon: float) -> None:
    """A step that is chosen is fine enough for the sensitivity, however small epsilon is."""
    expected = float(sensitivity) / math.log1p(math.expm1(epsilon) / 2)
    assert BoundedLaplace(HALF_LINE, sensitivity, epsilon).scale == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 0.1, 1, 5, 30])
@pytest.mark.parametrize("sensitivity", [1, 2, 7])
def test_counts_on_a_half_line_have_a_closed_form(sensitivity: int, epsilon: float) -> None:
    """On 0, 1, 2, ... the rate solves `rate * n + ln(1 + q - q^(n+1)) = epsilon`."""
    rate = 1 / BoundedLaplace(Bounds(0, None, step=1), sensitivity, epsilon).scale
    shift = -math.exp(-rate) * math.expm1(-rate * sensitivity)
    assert rate * sensitivity + math.log1p(shift) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("width", [1.5, 2, 5, 20])
def test_an_interval_solves_one_equation(width: float, epsilon: float) -> None:
    """On one interval the scale solves `1/scale + ln(Z(low + 1) / Z(low)) = epsilon`, as Holohan et al. have it."""
    scale = BoundedLaplace(Bounds(0, width), 1, epsilon).scale

    def z(x: float) -> float:
        return -math.expm1(-x / scale) - math.expm1((x - width) / scale)

    assert 1 / scale + math.log(z(1) / z(0)) == pytest.approx(epsilon, rel=1e-9)


@given(st.fractions(Fraction(1, 100), 100), st.floats(0.01, 100), st.sampled_from(["standard", "distance"]))
def test_the_whole_line_needs_exactly_the_plain_scale(sensitivity: Fraction, epsilon: float, guarantee: Any) -> None:
    """Where nothing is missing the scale is sensitivity / epsilon, rounded up to a double and no more."""
    mechanism = BoundedLaplace(Bounds(None, None, step=sensitivity / 4), sensitivity, epsilon, guarantee=guarantee)
    assert mechanism.scale == least_double(sensitivity / Fraction(str(epsilon)))
    assert mechanism.certificate.bound == sensitivity / Fraction(mechanism.scale)


@given(scenes(whole=True))
def test_full_pooling_needs_exactly_the_plain_scale(scene: Scene) -> None:
    """With pooling 1 the scale is that of the plain mechanism over the distances that occur, rounded up to a double."""
    scene = replace(scene, pooling=1.0)
    mechanism = scene.mechanism()
    if not len(mechanism.claim.pairs):
        return
    assert mechanism.scale == least_double(scene.reach() * scene.step / Fraction(str(scene.epsilon)))


@pytest.mark.parametrize("bounds", [Bounds(0, 100), HALF_LINE, Bounds(None, 0), Bounds(None, None)])
@pytest.mark.parametrize("guarantee", ["standard", "distance"])
@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, 1), (2, 0.1), (0.5, 3)])
def test_snapping_to_one_span_needs_exactly_the_plain_scale(
    bounds: Bounds, guarantee: Any, sensitivity: float, epsilon: float
) -> None:
    """Without a step too, pooling 1 is the clamped Laplace mechanism at the plain scale."""
    mechanism = BoundedLaplace(bounds, sensitivity, epsilon, guarantee=guarantee, pooling=1)
    assert mechanism.scale == least_double(Fraction(str(sensitivity)) / Fraction(str(epsilon)))


@pytest.mark.parametrize("pooling", [0, 0.25, 0.5, 0.9, 1])
@pytest.mark.parametrize("epsilon", [0.01, 1, 10])
@pytest.mark.parametrize(
    "bounds", [HALF_LINE, Bounds(None, 3), Bounds(0, 10), Bounds(0, 5) | Bounds(7, None), Bounds(0, 1) | Bounds(3, 4)]
)
def test_distance_beside_an_infinite_gap_has_a_closed_form(bounds: Bounds, epsilon: float, pooling: float) -> None:
    """The distance guarantee needs 2 * sensitivity / ((1 + pooling) * epsilon) with an infinite gap and no other.

    Other gaps change nothing if nothing is pooled, and else can only lower the scale.
    """
    scale = BoundedLaplace(bounds, 3, epsilon, guarantee="distance", pooling=pooling, trusted=True).scale
    expected = 6 / ((1 + pooling) * epsilon)
    if pooling in (0, 1) or bounds in (HALF_LINE, Bounds(None, 3)):
        assert scale == pytest.approx(expected, rel=1e-9)
    else:
        assert 3 / epsilon <= scale <= expected * (1 + 1e-9)


@pytest.mark.slow
@settings(max_examples=50)
@given(scenes(even_gaps=True), st.data())
def test_reflected_bounds_have_the_reflected_mechanism(scene: Scene, data: st.DataObject) -> None:
    """Turning the bounds around turns the mechanism around: the same scale, the mirror image of every probability.

    The gaps have no middle, for an answer there goes to the left.
    """
    mirrored, mechanism = scene.reflected().mechanism(), scene.mechanism()
    assert mirrored.scale == pytest.approx(mechanism.scale, rel=1e-11)
    assert float(mirrored.certificate.bound) == pytest.approx(float(mechanism.certificate.bound), rel=1e-11)
    points = [scene.offset + k * scene.step for k in scene.brute_force(Fraction(1)).points]
    for value, released in data.draw(st.lists(st.tuples(*2 * [st.sampled_from(points)]), min_size=3, max_size=3)):
        assert mirrored.pmf(-released, -value) == pytest.approx(mechanism.pmf(released, value), rel=1e-9)


@pytest.mark.parametrize("guarantee", ["standard", "distance"])
def test_the_reflected_half_line_has_the_reflected_worst_pair(guarantee: Any) -> None:
    """What is worst between 0 and n on [0, inf) is worst between 0 and -n on (-inf, 0]."""
    upward = BoundedLaplace(Bounds(0, None, step=1), 3, 1, guarantee=guarantee)
    downward = BoundedLaplace(Bounds(None, 0, step=1), 3, 1, guarantee=guarantee)
    assert {-answer for answer in upward.certificate.worst_pair} == set(downward.certificate.worst_pair)


@pytest.mark.slow
@given(scenes(), st.integers(-(10**9), 10**9))
def test_translated_bounds_have_the_translated_mechanism(scene: Scene, steps: int) -> None:
    """Moving the bounds by whole steps changes neither the scale nor the proof, and moves the worst pair along."""
    here, there = scene.mechanism(), scene.translated(steps).mechanism()
    assert there.scale == here.scale
    assert there.certificate.bound == here.certificate.bound
    if scene.spans != [(None, None)] and None not in here.certificate.worst_pair:
        assert there.certificate.worst_pair == tuple(x + steps * scene.step for x in here.certificate.worst_pair)


@pytest.mark.slow
@given(scenes(), st.fractions(Fraction(1, 1000), 1000))
def test_scaled_bounds_have_the_scaled_mechanism(scene: Scene, factor: Fraction) -> None:
    """In other units, with the step, the offset and the sensitivity converted too, the scale is converted."""
    converted = replace(scene, step=scene.step * factor, offset=scene.offset * factor).mechanism()
    assert converted.scale == pytest.approx(scene.mechanism().scale * float(factor), rel=1e-11)


@pytest.mark.parametrize("factor", [Fraction(1, 3), 7, 1000])
def test_scaled_bounds_without_a_step(factor: Any) -> None:
    """Without a step the same holds but for the fineness of the step that is chosen."""
    here = BoundedLaplace(Bounds(0, 5) | Bounds(7, None), 1, 1)
    there = BoundedLaplace(Bounds(0, 5 * factor) | Bounds(7 * factor, None), factor, 1)
    assert there.scale == pytest.approx(here.scale * float(factor), rel=1e-9)


@pytest.mark.slow
@given(scenes(), st.integers(1, 5), st.floats(1, 5))
def test_the_scale_grows_with_the_sensitivity_and_falls_with_epsilon(scene: Scene, more: int, factor: float) -> None:
    """Hiding more, or hiding it better, never takes less noise."""
    scale = scene.mechanism().scale
    assert replace(scene, sensitivity=scene.sensitivity + more).mechanism().scale >= scale * (1 - 1e-9)
    assert replace(scene, epsilon=scene.epsilon * factor).mechanism().scale <= scale * (1 + 1e-9)


@given(scenes())
def test_the_scale_is_between_the_plain_one_and_twice_that(scene: Scene) -> None:
    """The loss is between once and twice the distance over the scale, which confines the scale."""
    mechanism = scene.mechanism()
    if not len(mechanism.claim.pairs):
        return
    plain = scene.reach() * scene.step / Fraction(str(scene.epsilon))
    assert plain <= mechanism.claim.scale <= 2 * plain * (1 + Fraction(1, 10**9))


@pytest.mark.slow
@given(scenes(kinds=("trusted",), whole=True))
def test_the_standard_guarantee_is_the_cheapest(scene: Scene) -> None:
    """Promising every distance takes at least the scale of promising one, and so does projecting answers."""
    scale = scene.mechanism().scale
    assert scale <= replace(scene, kind="distance").mechanism().scale * (1 + 1e-9)
    assert scale <= replace(scene, kind="projected").mechanism().scale * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 1, 10])
@pytest.mark.parametrize(
    ("bounds", "width"), [(Bounds(0, 1), 1), (Bounds(0, 3, step=1), 3), (Bounds(0, 1) | Bounds(2, 5), 5)]
)
@pytest.mark.parametrize("pooling", [0, 0.5, 1])
def test_only_distances_that_occur_count(bounds: Bounds, width: int, pooling: float, epsilon: float) -> None:
    """A sensitivity beyond the range acts like the range."""
    beyond = BoundedLaplace(bounds, 5 * width, epsilon, pooling=pooling)
    assert beyond.scale == pytest.approx(BoundedLaplace(bounds, width, epsilon, pooling=pooling).scale, rel=1e-9)


EPSILONS = [1e-9, 1e-6, 1e-3, 0.1, 1, 10, 100, 1000]
SHAPES = [
    Bounds(0, 10),
    HALF_LINE,
    Bounds(None, 3),
    Bounds(0, 1) | Bounds(2, 3) | Bounds(10, None),
    Bounds(None, 0) | Bounds(30, None),
    Bounds(0, 10, step=1),
    Bounds(0, None, step=1),
    Bounds.union([(0, 1), (3, 3), (10, None)], step=1),
    Bounds.union([(0, 0), (2, 5), (7, 50)], step=1),
]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("bounds", SHAPES, ids=repr)
def test_every_epsilon_works_and_is_tight(bounds: Bounds, epsilon: float) -> None:
    """From 1e-9 to 1000, on fine lattices and on coarse ones, the scale is proved twice and is the least."""
    assert_tight(BoundedLaplace(bounds, 1, epsilon))
    assert_tight(BoundedLaplace(bounds, 2, epsilon, pooling=0.5, trusted=True))
    assert_tight(BoundedLaplace(bounds, 3, epsilon, guarantee="distance", trusted=True))


@pytest.mark.parametrize("epsilon", [1e-9, 1, 1000])
@pytest.mark.parametrize("far", [10**6, 2**40, 2**60])
def test_huge_gaps_are_tight(far: int, epsilon: float) -> None:
    """A gap far wider than the spans beside it costs no tightness, however small epsilon is."""
    bounds = Bounds.union([(0, 1), (far, far)], step=1)
    assert_tight(BoundedLaplace(bounds, 1, epsilon))
    assert_tight(BoundedLaplace(bounds, 1, epsilon, trusted=True))
    assert_tight(BoundedLaplace(bounds, 1, epsilon, guarantee="distance", trusted=True))


def many_spans(count: int) -> Bounds:
    """Spans of all lengths from 1 to 7 with gaps of all lengths from 1 to 5 between them."""
    starts = [0]
    for i in range(count):
        starts.append(starts[-1] + i % 7 + 2 + i * i % 5)
    return Bounds.union([(start, start + i % 7) for i, start in enumerate(starts[:-1])], step=1)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 1, 100])
@pytest.mark.parametrize(
    "promise", [{}, {"trusted": True, "pooling": 0.3}, {"trusted": True, "guarantee": "distance"}], ids=str
)
def test_searching_in_doubles_first_finds_the_same_scale(
    promise: dict[str, Any], epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On many spans the search in doubles saves time only: the scale is tight, and that of the search in balls."""
    bounds = many_spans(1200)
    in_doubles = BoundedLaplace(bounds, 3, epsilon, **promise)
    assert_tight(in_doubles)
    monkeypatch.setattr(inbounds.privacy.calibration, "MANY_SPANS", inf)
    in_balls = BoundedLaplace(bounds, 3, epsilon, **promise)
    assert in_doubles.scale == pytest.approx(in_balls.scale, rel=3e-7)


@pytest.mark.slow
@given(scenes())
def test_searching_in_doubles_first_is_safe_and_tight_anywhere(scene: Scene) -> None:
    """The search in doubles is as good on few spans."""
    in_balls = scene.mechanism()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inbounds.privacy.calibration, "MANY_SPANS", 1)
        in_doubles = scene.mechanism()
    assert in_doubles.certificate.holds
    assert in_doubles.scale == pytest.approx(in_balls.scale, rel=3e-7)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1])
def test_noise_that_dwarfs_the_largest_index_is_tight(epsilon: float) -> None:
    """Many spans are calibrated tightly even where the noise reaches beyond 2**62 steps."""
    spans = [(i * 2**50, i * 2**50 + 2**49) for i in range(600)]
    assert_tight(BoundedLaplace(Bounds.union(spans, step=1), 2**59, epsilon))


@pytest.mark.parametrize("guarantee", ["standard", "distance"])
@pytest.mark.parametrize("spans", [[(0, None)], [(None, None)], [(0, 5), (7, None)]])
def test_noise_that_leaves_62_bits_is_refused(spans: list[tuple[int | None, int | None]], guarantee: Any) -> None:
    """Where no end stops it, noise of more than 2**54 steps is refused, with the remedy, and less noise is not."""
    fine, finer = (Bounds.union(spans, step=Fraction(1, 2**n)) for n in (51, 55))
    assert BoundedLaplace(fine, 1, 1, guarantee=guarantee, trusted=True).certificate.holds
    with pytest.raises(LatticeTooFine, match=r"62 bits .* give the bounds a larger step, or ends"):
        BoundedLaplace(finer, 1, 1, guarantee=guarantee, trusted=True)


@pytest.mark.parametrize("bits", [2, 10, 30, 53, 400])
def test_the_callers_own_precision_makes_no_difference(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever precision python-flint is set to elsewhere in the program, the scale is the same."""
    expected = BoundedLaplace(HALF_LINE, 1, 1)
    monkeypatch.setattr(flint.ctx, "prec", bits)
    found = BoundedLaplace(HALF_LINE, 1, 1)
    assert found.scale == expected.scale
    assert found.certificate == expected.certificate
    assert flint.ctx.prec == bits


def test_epsilon_may_be_any_fraction() -> None:
    """The certificate holds even for an epsilon closer to the loss than the doubles reach."""
    bounds = Bounds(0, 1, step=1)
    epsilon = BoundedLaplace(bounds, 1, 1).certificate.bound
    for bound in (epsilon, certify(Claim.of(bounds, 1, 2, scale=1)).bound):
        for hair in (0, Fraction(1, 2**1500)):
            mechanism = BoundedLaplace(bounds, 1, bound - hair)
            assert mechanism.certificate.holds
            assert mechanism.certificate.bound <= bound - hair


SPANS = [
    Bounds(0, 100),
    Bounds(0, 1),
    Bounds(Fraction(1, 3), Fraction(4, 3)),
    Bounds(-0.1, 1e6),
    HALF_LINE,
    Bounds(None, 3),
    Bounds(None, None),
    Bounds(0, 5) | Bounds(7, None),
    Bounds(0, 1) | Bounds(1000, 1001),
    Bounds(0, 1) | Bounds(2.5, Fraction(10, 3)) | Bounds(100, 120),
    Bounds(None, 0) | Bounds(0.001, None),
    Bounds(None, -1e4) | Bounds(0, 0.25) | Bounds(1e4, None),
    Bounds(10**6, 10**6 + 1) | Bounds(10**6 + Fraction(4, 3), 10**6 + 2),
    Bounds(0, 10, step=1),
]
PROMISES: list[dict[str, Any]] = [
    {"guarantee": guarantee, "trusted": trusted, "pooling": pooling}
    for guarantee in ("standard", "distance")
    for trusted in (False, True)
    for pooling in (0, 0.5, 1)
]


@pytest.mark.slow
@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: " ".join(map(str, promise.values())))
@pytest.mark.parametrize("sensitivity", sparing([Fraction(1, 3), 1e-3, 0.7, 1, 50], 2), ids=str)
def test_a_scale_that_was_found_can_be_claimed_anew(sensitivity: Any, promise: dict[str, Any]) -> None:
    """Claimed with the same parameters, the scale of a mechanism is on the same lattice, and is proved again."""
    for number, bounds in enumerate(SPANS, PROMISES.index(promise)):
        if promise["guarantee"] == "distance" and len(bounds) > 1 and not promise["trusted"]:
            continue
        for epsilon in ((0.1, 1, 8), (0.5, 3))[number % 2]:
            made = BoundedLaplace(bounds, sensitivity, epsilon, **promise)
            claim = Claim.of(bounds, sensitivity, epsilon, scale=made.scale, **promise)
            assert claim.lattice.step == made.step, (bounds, epsilon)
            assert certify(claim).holds


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(st.fractions(-1000, 1000, max_denominator=1000), min_size=1, max_size=6, unique=True),
    st.sampled_from(["both", "below", "above"]),
    st.fractions(Fraction(1, 1000), 1000, max_denominator=1000),
    st.floats(0.1, 8),
    st.sampled_from(PROMISES),
)
def test_the_scale_found_on_any_spans_can_be_claimed_anew(
    ends: list[Fraction], ended: str, sensitivity: Fraction, epsilon: float, promise: dict[str, Any]
) -> None:
    """The same on spans and gaps of any widths, whose scales can be far from the plain one."""
    found: list[Fraction | None] = [*sorted(ends)]
    if ended == "below" or (len(found) % 2 and ended == "both"):
        found.append(None)
    if len(found) % 2:
        found.insert(0, None)
    bounds = Bounds.union([*zip(found[::2], found[1::2], strict=True)])
    promise = {**promise, "trusted": promise["trusted"] or promise["guarantee"] == "distance"}
    try:
        made = BoundedLaplace(bounds, sensitivity, epsilon, **promise)
    except LatticeTooFine:
        return
    claim = Claim.of(bounds, sensitivity, epsilon, scale=made.scale, **promise)
    assert claim.lattice.step == made.step
    assert certify(claim).holds


def test_where_scales_and_steps_lead_in_a_circle_the_largest_scale_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the lattice for its scale a mechanism is proved, even if the least scale there asks for another lattice."""
    bounds, coarse, fine = Bounds(0, Fraction(4, 3)), Fraction(1, 2**4), Fraction(1, 2**20)
    least, most = (BoundedLaplace(Bounds(0, Fraction(4, 3), step=step), 1, 1).claim.scale for step in (coarse, fine))
    assert 1 < least < most

    def step_of(_: Bounds, noise: Fraction, __: Fraction) -> Fraction:
        return Fraction(1, 2**30) if noise <= 1 else coarse if noise > (least + most) / 2 else fine

    monkeypatch.setattr(inbounds.privacy.claim, "fine_step", step_of)
    made = BoundedLaplace(bounds, 1, 1)
    assert (made.step, made.claim.scale) == (coarse, most)
    assert made.certificate.holds
    assert Claim.of(bounds, 1, 1, scale=made.scale).lattice.step == made.step


def test_a_scale_can_be_claimed_where_the_plain_one_has_no_step() -> None:
    """Bounds too far from zero for noise of the plain scale are on the lattice that suits the scale claimed."""
    bounds = Bounds(1e20, 2e20)
    with pytest.raises(LatticeTooFine):
        BoundedLaplace(bounds, 1, 1)
    assert certify(Claim.of(bounds, 1, 1, scale=1e19)).holds


@given(
    st.integers(1, 400),
    st.integers(1, 400),
    st.fractions(0, 1),
    st.floats(-3, 3),
    st.floats(1e-6, 1),
    st.sampled_from(["standard", "distance"]),
)
def test_on_one_span_the_loss_falls_as_the_scale_grows(
    length: int, sensitivity: int, pooling: Fraction, exponent: float, more: float, guarantee: Any
) -> None:
    """On any span, half-lines included, at any pooling, a wider scale never has a greater proved loss."""
    for high in (length, None):
        losses = [
            prove(Claim.of(Bounds(0, high, step=1), sensitivity, 1, scale=scale, pooling=pooling, guarantee=guarantee))
            for scale in (10**exponent, 10**exponent * (1 + more))
        ]
        assert losses[1].witnessed <= losses[0].bound


FAR_POINTS = Bounds.union([(-9000 - 2 * i, -9000 - 2 * i) for i in range(2500)] + [(0, 1)], step=1)
FAR_EPSILON = Fraction(95281, 10**8)


def proof_beside_far_points(scale: float) -> Certificate:
    """What is proved of a scale for the answers 0 and 1 with 2,500 points far from them."""
    return prove(Claim.of(FAR_POINTS, 1, FAR_EPSILON, scale=scale, trusted=True))


@pytest.mark.slow
def test_on_a_trusted_union_the_loss_can_rise_with_the_scale() -> None:
    """Far points make the loss between 0 and 1 rise by 4 %, so that a scale is safe and one 1.5 times that is not."""
    least, most = proof_beside_far_points(1236), proof_beside_far_points(1600)
    assert most.witnessed > least.bound * Fraction(104, 100)
    assert proof_beside_far_points(1179).holds
    assert all(proof_beside_far_points(scale).refuted for scale in (1178, 1301, 1865))
    assert proof_beside_far_points(1866).holds


@pytest.mark.slow
def test_the_least_scale_is_found_where_the_loss_rises_with_the_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside far points the scale is 1178.9, proved; without looking below, the search would end at 1865."""
    found = BoundedLaplace(FAR_POINTS, 1, FAR_EPSILON, trusted=True)
    assert certify(found).holds
    assert found.scale == pytest.approx(1178.903, abs=0.001)
    assert proof_beside_far_points(found.scale * (1 - 1e-6)).refuted
    monkeypatch.setattr(inbounds.privacy.calibration, "_look_below", lambda prover, least, found: found)
    assert BoundedLaplace(FAR_POINTS, 1, FAR_EPSILON, trusted=True).scale == pytest.approx(1865.14, abs=0.01)


def test_the_bottom_of_a_valley_is_found_between_the_scales_looked_at() -> None:
    """A valley that dips below zero for less than the distance of two scales is found, and one that does not is not."""
    scales = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]

    def valley(depth: float) -> Callable[[float], float]:
        return lambda scale: (scale - 1.234) ** 2 - depth

    found = first_fall(valley(1e-4), scales)
    assert found is not None
    assert valley(1e-4)(found[0]) > 0 >= valley(1e-4)(found[1])
    assert found[1] < 1.3
    assert first_fall(valley(-1e-4), scales) is None


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(1, 300), st.integers(0, 40)), min_size=1, max_size=8),
    st.floats(1e-3, 2),
    st.sampled_from([0, 0.3]),
    st.sampled_from(["standard", "distance"]),
)
def test_no_smaller_scale_on_a_grid_is_safe_on_trusted_unions(
    sensitivity: int, gaps_and_lengths: list[tuple[int, int]], epsilon: float, pooling: float, guarantee: Any
) -> None:
    """On random unions the scale found is safe, and none of fifty smaller ones is, but for a millionth of epsilon."""
    spans, end = [(0, 1)], 1
    for gap, length in gaps_and_lengths:
        spans.append((end + gap + 1, end + gap + 1 + length))
        end = spans[-1][1]
    promise: dict[str, Any] = {"bounds": Bounds.union(spans, step=1), "sensitivity": sensitivity, "epsilon": epsilon}
    promise |= {"pooling": pooling, "guarantee": guarantee, "trusted": True}
    found = BoundedLaplace(**promise)
    assert found.certificate.holds
    for share in range(50, 100):
        proof = prove(Claim.of(**promise, scale=found.claim.scale * share / 100))
        assert proof.witnessed > found.certificate.epsilon * (1 - A_MILLIONTH)


@given(scenes(kinds=("projected",)))
def test_nothing_is_looked_at_twice_where_answers_are_projected(scene: Scene) -> None:
    """Without trust, and on one span, the search is as it was: no smaller scale is looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(inbounds.privacy.calibration, "_look_below")
        assert scene.mechanism().certificate.holds
        assert BoundedLaplace(Bounds(0, 5, step=1), 2, 1, trusted=True).certificate.holds
