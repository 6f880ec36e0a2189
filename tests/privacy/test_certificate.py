"""A certificate encloses the true loss by every road, and false claims are refused with a witness."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings

from inbounds import BoundedLaplace, Bounds, Certificate, Claim, InboundsError, InvalidParameter, NotPrivate, certify
from inbounds.errors import LatticeTooFine
from inbounds.privacy.certificate import prove
from tests.helpers.brute_force import Spans
from tests.helpers.small_lattices import Scene, scales, scenes

HALF_LINE = Bounds(0, None)
GAPPED = Bounds(0, 5) | Bounds(7, None)
A_MILLIONTH = Fraction(1, 10**6)
EVERY, SUMMED, DECIDING = "every pair, every output", "deciding pairs, summed", "deciding pairs"


iv = mpmath.iv.__class__()
iv.prec = 500


class Enclosure:
    """The law around any index in mpmath's interval arithmetic, which shares nothing with the balls of the package."""

    def __init__(self, spans: Spans, rate: Fraction, pooling: Fraction) -> None:
        self.spans = spans
        self.rate = iv.mpf(rate.numerator) / rate.denominator
        self.q = iv.exp(-self.rate)
        self.pooling = iv.mpf(pooling.numerator) / pooling.denominator

    def power(self, distance: int) -> Any:
        """`q ** distance`."""
        return iv.exp(-self.rate * distance)

    def run(self, start: int, count: int | None) -> Any:
        """The sum of `q^d` over `count` distances from `start` on, or over all of them."""
        return (self.power(start) - (0 if count is None else self.power(start + count))) / (1 - self.q)

    def extras(self) -> Iterator[tuple[int, Any]]:
        """What is pooled at each end."""
        for end in (self.spans[0][0], self.spans[-1][1]):
            if end is not None:
                yield end, self.pooling * self.run(1, None)
        for (_, left), (right, _) in zip(self.spans[:-1], self.spans[1:], strict=True):
            assert left is not None
            assert right is not None
            for end in (left, right):
                yield end, self.pooling * self.run(1, right - left - 1) / (1 + self.power(right - left))

    def z(self, centre: int) -> Any:
        """The total mass seen from an index."""
        total = iv.mpf(0)
        for end, extra in self.extras():
            total += extra * self.power(abs(end - centre))
        for low, high in self.spans:
            if high is not None and high < centre:
                total += self.run(centre - high, None if low is None else high - low + 1)
            elif low is not None and low > centre:
                total += self.run(low - centre, None if high is None else high - low + 1)
            else:
                total += self.run(0, None if high is None else high - centre + 1)
                total += self.run(1, None if low is None else centre - low)
        return total

    def loss(self, first: int, second: int) -> tuple[Fraction, Fraction]:
        """Bounds of the loss between two possible indices."""
        found = self.rate * abs(first - second) + abs(iv.log(self.z(first) / self.z(second)))
        low, high = (
            Fraction((-1) ** sign * int(mantissa)) * Fraction(2) ** exponent
            for sign, mantissa, exponent, _ in found._mpi_
        )
        return low, high


def assert_encloses(certificate: Certificate, claim: Claim, spans: Spans) -> None:
    """Check that the certificate's numbers enclose the loss of its worst pair, and closely."""
    first, second = (int((Fraction(x) - claim.lattice.offset) / claim.lattice.step) for x in certificate.worst_pair)
    low, high = Enclosure(spans, claim.lattice.step / claim.scale, claim.promise.pooling).loss(first, second)
    if claim.promise.guarantee == "distance":
        allowed = Fraction(abs(first - second), math.ceil(claim.promise.sensitivity / claim.lattice.step))
        low, high = low / allowed, high / allowed
    assert certificate.witnessed <= high
    assert low <= certificate.bound
    assert certificate.bound - certificate.witnessed <= certificate.bound * Fraction(1, 2**40)


@settings(max_examples=60)
@given(scenes(), scales())
def test_balls_agree_with_interval_arithmetic(scene: Scene, scale: Fraction) -> None:
    """Whatever is claimed, the proved bounds enclose the loss that another interval arithmetic finds."""
    claim = scene.claim(scale)
    if len(claim.pairs):
        assert_encloses(prove(claim), claim, scene.spans)


@pytest.mark.parametrize("epsilon", [1e-9, 0.01, 1, 30, 1000])
@pytest.mark.parametrize(
    ("bounds", "promise"),
    [
        (HALF_LINE, {}),
        (Bounds(0, 5), {"pooling": 0.25}),
        (GAPPED, {}),
        (GAPPED, {"trusted": True, "guarantee": "distance"}),
        (Bounds(0, 1) | Bounds(2, 3) | Bounds(10, 12), {"trusted": True, "pooling": 0.5}),
    ],
    ids=str,
)
def test_balls_agree_with_interval_arithmetic_on_fine_lattices(
    bounds: Bounds, promise: dict[str, Any], epsilon: float
) -> None:
    """The same with billions of points, and for noise from far below the bounds to far above."""
    mechanism = BoundedLaplace(bounds, 1, epsilon, **promise)
    ends = [None if n is None else int(n * bounds.unit / mechanism.step) for n in bounds.ends]
    spans = [*zip(ends[::2], ends[1::2], strict=True)]
    assert_encloses(mechanism.certificate, mechanism.claim, spans)
    assert_encloses(certify(mechanism), mechanism.claim, spans)


@given(scenes(), scales())
def test_the_bound_is_the_loss_by_definition(scene: Scene, scale: Fraction) -> None:
    """A certificate's bound is the greatest loss over all pairs and all outputs, whether it is small enough or not."""
    certificate = prove(scene.claim(scale))
    assert float(certificate.bound) == pytest.approx(scene.worst(scale), rel=1e-11, abs=1e-13)
    assert certificate.holds == (certificate.bound <= Fraction(str(scene.epsilon)))
    assert certificate.refuted == (certificate.witnessed > Fraction(str(scene.epsilon)))
    assert certificate.scale == scale * scene.step


@pytest.mark.slow
@given(scenes())
def test_the_second_proof_agrees_with_the_first(scene: Scene) -> None:
    """Proved again from its description alone and at a higher precision, a mechanism has the same loss."""
    mechanism = scene.mechanism()
    first, second = mechanism.certificate, certify(mechanism)
    assert second.holds
    assert second.bound <= second.epsilon == Fraction(str(scene.epsilon))
    assert second.witnessed <= first.bound
    assert first.witnessed <= second.bound
    assert float(second.bound) == pytest.approx(float(first.bound), rel=1e-11)
    assert second.precision > first.precision
    assert (second.scale, second.step, second.guarantee) == (first.scale, first.step, first.guarantee)


@pytest.mark.slow
@pytest.mark.parametrize("pooling", [0, 0.5, 1])
@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize(
    ("bounds", "method"),
    [
        (Bounds(0, 20, step=1), EVERY),
        (Bounds.union([(0, 3), (5, 5), (9, 12)], step=1), EVERY),
        (Bounds(0, 0, step=1), EVERY),
        (Bounds(0, 10**6, step=1), SUMMED),
        (Bounds(0, 5), SUMMED),
        (HALF_LINE, SUMMED),
        (Bounds(None, None), SUMMED),
        (GAPPED, SUMMED),
        (Bounds.union([(3 * i, 3 * i + 1) for i in range(150)], step=1), DECIDING),
    ],
    ids=lambda value: value.brief() if isinstance(value, Bounds) else value,
)
def test_every_road_leads_to_the_same_proof(bounds: Bounds, method: str, trusted: bool, pooling: float) -> None:
    """Small lattices are proved by definition, larger ones by sums, and those of many spans by recurrences."""
    mechanism = BoundedLaplace(bounds, 2, 0.7, pooling=pooling, trusted=trusted)
    again = certify(mechanism)
    assert again.method == method
    assert mechanism.certificate.method == DECIDING
    assert float(again.bound) == pytest.approx(float(mechanism.certificate.bound), rel=1e-12)
    assert again == certify(mechanism.claim)
    if len(mechanism.claim.pairs):
        with pytest.raises(NotPrivate) as refused:
            certify(replace(mechanism.claim, scale=mechanism.claim.scale * (1 - A_MILLIONTH)))
        assert refused.value.certificate.method == method


def test_the_definition_counts_every_pair() -> None:
    """On eleven counts with sensitivity 2 there are ten pairs one apart and nine two apart."""
    assert certify(BoundedLaplace(Bounds(0, 10, step=1), 2, 1)).pairs == 19
    assert BoundedLaplace(Bounds(0, 10, step=1), 2, 1).certificate.pairs <= 4


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1, 2, 5, 10])
@pytest.mark.parametrize("sensitivity", [1, 2.5])
def test_the_naive_scale_is_refused_on_a_half_line(sensitivity: float, epsilon: float) -> None:
    """Truncating the plain Laplace mechanism loses ln(2 e^epsilon - 1), between the end and one sensitivity above."""
    plain = Fraction(str(sensitivity)) / Fraction(str(epsilon))
    with pytest.raises(NotPrivate, match="does not satisfy the guarantee") as refused:
        certify(Claim.of(HALF_LINE, sensitivity, epsilon, scale=plain))
    certificate = refused.value.certificate
    assert certificate.refuted
    assert not certificate.holds
    assert float(certificate.witnessed) == pytest.approx(math.log(2 * math.exp(epsilon) - 1), rel=1e-9, abs=1e-9)
    assert certificate.worst_pair == (0, sensitivity)


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
def test_the_naive_scale_is_refused_on_counts(epsilon: float) -> None:
    """On 0, 1, 2, ... the plain scale loses epsilon + ln(1 + q - q^2)."""
    with pytest.raises(NotPrivate) as refused:
        certify(Claim.of(Bounds(0, None, step=1), 1, epsilon, scale=1 / Fraction(str(epsilon))))
    q = math.exp(-epsilon)
    assert float(refused.value.certificate.witnessed) == pytest.approx(epsilon + math.log(1 + q - q * q), rel=1e-12)
    assert refused.value.certificate.worst_pair == (0, 1)


@pytest.mark.parametrize(
    "promise",
    [
        {"bounds": GAPPED},
        {"bounds": GAPPED, "trusted": True},
        {"bounds": GAPPED, "trusted": True, "guarantee": "distance"},
        {"bounds": HALF_LINE, "guarantee": "distance"},
        {"bounds": Bounds(0, 9, step=1), "guarantee": "distance"},
        {"bounds": Bounds(0, 9, step=1), "pooling": 1},
        {"bounds": Bounds(0, 9, step=1), "pooling": 1, "guarantee": "distance"},
        {"bounds": Bounds(None, None)},
        {"bounds": Bounds(None, None), "guarantee": "distance"},
        {"bounds": GAPPED, "pooling": 1},
        {"bounds": GAPPED, "pooling": 1, "trusted": True, "guarantee": "distance"},
    ],
    ids=str,
)
def test_a_scale_a_millionth_too_small_is_refused(promise: dict[str, Any]) -> None:
    """Every guarantee is certified at the scale found and refuted a millionth below, with a loss above epsilon."""
    mechanism = BoundedLaplace(sensitivity=1, epsilon=0.8, **promise)
    assert certify(Claim.of(sensitivity=1, epsilon=0.8, scale=mechanism.scale * (1 + 1e-9), **promise)).holds
    with pytest.raises(NotPrivate) as refused:
        certify(Claim.of(sensitivity=1, epsilon=0.8, scale=mechanism.scale * (1 - 1e-6), **promise))
    witness = refused.value.certificate
    assert Fraction(4, 5) < witness.witnessed <= witness.bound
    assert float(witness.bound) == pytest.approx(0.8, rel=2e-6)
    assert isinstance(refused.value, InboundsError)


@pytest.mark.slow
@given(scenes(), scales())
def test_certifying_is_comparing_with_the_definition(scene: Scene, scale: Fraction) -> None:
    """A claim is certified if the loss by definition is below epsilon, and refused with a witness if it is above."""
    worst, claim = scene.worst(scale), scene.claim(scale)
    if worst < scene.epsilon * (1 - 1e-9):
        assert certify(claim).holds
    elif worst > scene.epsilon * (1 + 1e-9):
        with pytest.raises(NotPrivate) as refused:
            certify(claim)
        assert refused.value.certificate.refuted
        first, second = (int((Fraction(x) - scene.offset) / scene.step) for x in refused.value.certificate.worst_pair)
        lost = scene.brute_force(scale).loss(first, second)
        if scene.kind == "distance":
            lost *= math.ceil(scene.sensitivity) / abs(first - second)
        assert lost == pytest.approx(worst, rel=1e-9)


def test_nothing_a_claim_carries_is_believed() -> None:
    """Pairs that were tampered with do not help a false claim, for they are found anew."""
    claim = Claim.of(HALF_LINE, 1, 1, scale=1)
    nothing = Claim.of(Bounds(0, 0, step=1), 1, 1, scale=1).pairs
    with pytest.raises(NotPrivate):
        certify(replace(claim, pairs=nothing))


def test_a_certificate_reads_well() -> None:
    """The text says what was found, how much it is, between which answers, and how it was found."""
    mechanism = BoundedLaplace(Bounds(0, 5, step=1), 1, 1)
    text = str(certify(mechanism))
    proved = (
        r"proved: loss <= (\S+) <= epsilon; worst between (0 and 1|1 and 0|4 and 5|5 and 4)\n\(standard guarantee, "
    )
    found = re.match(proved, text)
    assert found
    assert 1 - 1e-9 < float(found[1]) <= 1
    assert "every pair, every output" in text
    assert repr(certify(mechanism)) == f"<Certificate: proved, loss <= {found[1]} <= epsilon>"
    with pytest.raises(NotPrivate) as refused:
        certify(Claim.of(HALF_LINE, 1, 1, scale=1))
    assert "REFUTED: loss >= 1.48988" in str(refused.value)
    assert "> epsilon = 1.0; worst between 0 and 1\n(standard guarantee, " in str(refused.value)


@pytest.mark.parametrize("scale", [1e300, Fraction(10) ** 300], ids=["float", "fraction"])
@pytest.mark.parametrize("bounds", [Bounds(0, None), Bounds(None, None), Bounds(0, 1e300)], ids=["up", "all", "wide"])
def test_a_certificate_of_vast_numbers_is_short(bounds: Bounds, scale: Any) -> None:
    """No number in the text has more than 17 digits, whatever the scale; the pair itself stays exact."""
    certificate = certify(Claim.of(bounds, 1, 1, scale=scale))
    assert max(map(len, re.findall(r"\d+", str(certificate)))) <= 17
    assert max(map(len, str(certificate).splitlines())) < 160
    assert all(answer in bounds for answer in certificate.worst_pair)


@pytest.mark.parametrize(
    "bounds",
    [Bounds(0, None), Bounds(0, 1), Bounds(0, 1, step=Fraction(1, 10**300)), Bounds(0, 1e-290)],
    ids=["up", "one", "fine", "narrow"],
)
def test_a_scale_that_is_next_to_nothing_is_refused_in_short(bounds: Bounds) -> None:
    """The refusal of a tiny scale shows no number with more than 17 digits."""
    with pytest.raises((NotPrivate, LatticeTooFine)) as refused:
        certify(Claim.of(bounds, 1, 1, scale=1e-300))
    assert max(map(len, re.findall(r"\d+", str(refused.value)))) <= 17


def test_a_text_never_claims_more_than_was_proved() -> None:
    """Bounds are rounded up and witnesses down, and what is neither proved nor refuted is said to be not proved."""
    third, certificate = Fraction(1, 3), BoundedLaplace(Bounds(0, 5, step=1), 1, 1).certificate
    proved = replace(certificate, bound=third, witnessed=third)
    assert Fraction(float(re.split(" |;", str(proved))[3])) > third
    refuted = replace(proved, holds=False, epsilon=Fraction(1, 4))
    assert Fraction(float(re.split(" |;", str(refuted))[3])) < third
    assert str(replace(refuted, witnessed=Fraction(0))).startswith("not proved: loss <= 0.3333333333333333")
    for unsure in (proved, refuted):
        assert "10 and 20" in str(replace(unsure, worst_pair=(10, 20)))


def test_a_shortcut_that_its_own_sums_contradict_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the law is taken to be constant where it is not, certify still sees what it summed."""
    monkeypatch.setattr("inbounds.privacy.law.Law.constant", True)
    with pytest.raises(NotPrivate) as refused:
        certify(Claim.of(HALF_LINE, 1, 1, scale=1))
    assert refused.value.certificate.refuted


@pytest.mark.parametrize(("bounds", "sensitivity"), [(Bounds(0, 3), 2**130), (Bounds(0, 3, step=1), 2**300)])
def test_balls_that_say_nothing_get_more_bits(bounds: Bounds, sensitivity: int) -> None:
    """Where 128 bits cannot tell Z from 0, the proof takes as many as it needs, the first time and the second."""
    made = BoundedLaplace(bounds, sensitivity, 1, guarantee="distance")
    assert made.certificate.holds
    assert made.certificate.precision > 128
    assert certify(made).holds


def test_what_is_true_but_cannot_be_proved_is_not_called_false() -> None:
    """At exact equality no precision decides, and the refusal says so."""
    with pytest.raises(NotPrivate, match="could not be proved to satisfy the guarantee") as refused:
        certify(Claim.of(Bounds(0, 1), 1, 1, scale=1))
    assert not refused.value.certificate.refuted


def test_claims_and_refusals_travel_between_processes() -> None:
    """A claim, used or not, and a refusal with its witness can be pickled."""
    claim = Claim.of(HALF_LINE, 1, 1, scale=1)
    with pytest.raises(NotPrivate) as refused:
        certify(claim)
    assert pickle.loads(pickle.dumps(refused.value)).certificate == refused.value.certificate
    assert claim.law.masses().bits == 128
    assert pickle.loads(pickle.dumps(claim)).scale == claim.scale


@pytest.mark.parametrize("thing", [None, 3, Bounds(0, 1)])
def test_only_what_makes_a_claim_can_be_certified(thing: Any) -> None:
    """Anything else is refused by name."""
    with pytest.raises(InvalidParameter, match=f"got {type(thing).__name__}"):
        certify(thing)


@pytest.mark.parametrize(
    "change",
    [{"sensitivity": Fraction(0)}, {"epsilon": Fraction(10**6)}, {"pooling": Fraction(2)}, {"guarantee": "none"}],
)
def test_nothing_is_proved_of_a_promise_that_nobody_could_ask_for(change: dict[str, Any]) -> None:
    """However a promise or a claim is put together, what `of` refuses is refused."""
    claim = BoundedLaplace(Bounds(0, 100, step=1), 1, 0.5).claim
    with pytest.raises(InboundsError):
        replace(claim.promise, **change)
    for scale in (Fraction(-1), Fraction(0), 1.0):
        with pytest.raises(InvalidParameter, match="scale must be positive"):
            replace(claim, scale=scale)  # type: ignore[arg-type]  # also what is no fraction
