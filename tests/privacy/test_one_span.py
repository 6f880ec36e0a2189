"""The closed form of the loss on one span is the loss that balls enclose, and leads to the least scale."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds, LatticeTooFine
from inbounds.privacy import calibration
from inbounds.privacy.calibration import TOLERANCE
from inbounds.privacy.certificate import prove
from inbounds.privacy.claim import Claim
from inbounds.privacy.one_span import OneSpanLoss

PROMISES: list[dict[str, Any]] = [{}, {"trusted": True}, {"guarantee": "distance"}]


@st.composite
def arguments(draw: st.DrawFn) -> dict[str, Any]:
    """What a mechanism on one span is made of: narrow and wide, with ends and without, every epsilon and pooling."""
    width = draw(st.none() | st.integers(1, 30) | st.integers(1, 2**50))
    return {
        "bounds": Bounds(0, width, step=1),
        "sensitivity": draw(st.integers(1, 10) | st.integers(1, 2**40)),
        "epsilon": draw(st.sampled_from([1e-9, 1e-4, 0.1, 1.0, 30.0, 1000.0]) | st.floats(0.01, 10)),
        "pooling": draw(st.sampled_from([0, Fraction(1, 10**9), Fraction(2, 5), 1])),
        **draw(st.sampled_from(PROMISES)),
    }


@pytest.mark.slow
@settings(max_examples=100)
@given(arguments(), st.fractions(Fraction(1, 2), 4))
def test_the_closed_form_is_the_loss_that_balls_enclose(given_: dict[str, Any], factor: Fraction) -> None:
    """Whatever the span, its closed form is within the last bits of the greatest loss of the pairs that decide."""
    scale = factor * Fraction(given_["sensitivity"]) / Fraction(given_["epsilon"])
    claim = Claim.of(**given_, scale=scale)
    if not claim.pairs.reach:
        return
    exact = prove(claim)
    assert OneSpanLoss.of(claim).at(float(claim.law.rate)) == pytest.approx(float(exact.bound), rel=2.0**-46)


@settings(max_examples=100)
@given(arguments())
def test_no_scale_a_hair_below_the_one_found_can_be_proved(given_: dict[str, Any]) -> None:
    """The scale found is proved, and one smaller by the documented tolerance is refuted."""
    try:
        made = BoundedLaplace(**given_)
    except LatticeTooFine:  # noise without end that 62 bits do not hold
        reject()
    assert made.certificate.holds
    assert prove(made.claim.rescaled(made.scale * (1 - TOLERANCE))).refuted


def test_a_wrong_guess_costs_time_and_not_privacy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the closed form is too small by far, the search in balls finds the scale that it would have found."""
    right = BoundedLaplace(Bounds(0, 10, step=1), 2, 1)
    monkeypatch.setattr(OneSpanLoss, "extra", lambda *_: 0.25)
    wrong = BoundedLaplace(Bounds(0, 10, step=1), 2, 1)
    assert wrong.certificate.holds
    assert wrong.scale == pytest.approx(right.scale, rel=TOLERANCE)


def test_one_interval_takes_one_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search runs in doubles, and what it finds is proved at the first attempt."""
    proofs: list[Claim] = []

    def counted(claim: Claim) -> Any:
        proofs.append(claim)
        return prove(claim)

    monkeypatch.setattr(calibration, "prove", counted)
    BoundedLaplace(Bounds(0, 100), 1, 1)
    assert len(proofs) == 1
