"""Certificates written down: everything a proof needs, exactly, the same every time."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from inbounds import BoundedLaplace, Bounds, InvalidParameter, Optimal, certify
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.published import (
    AdaptiveLaplace,
    BoundedGaussian,
    ExplicitFair,
    Geometric,
    Hybrid,
    SquareWave,
    Staircase,
    TruncatedLaplacian,
)

COUNTS, SHARE, HALF = Bounds(0, 5, step=1), Bounds(0, 1), Bounds(0, None)
MECHANISMS: list[Mechanism] = [
    BoundedLaplace(Bounds(0, 5) | Bounds(7, None), 1, 1),
    BoundedLaplace(Bounds.dates("2026-01-01", "2026-01-31", weekdays="Mon-Fri"), 2, 1, pooling=0.5),
    Staircase(SHARE, 1, 1, ends="snap"),
    Geometric(COUNTS, 1, 1),
    TruncatedLaplacian(SHARE, 1, 1),
    BoundedGaussian(SHARE, 1, 1),
    ExplicitFair(COUNTS, 1, 1),
    AdaptiveLaplace(HALF, 1, 1),
    SquareWave(SHARE, 1, 1),
    Hybrid(SHARE, 1, 1),
    Optimal(COUNTS, 1, 1),
]


def numbers(part: Any) -> list[Any]:
    """Return all that a document holds, but for names of fields."""
    if isinstance(part, dict | list):
        return [one for inner in (part.values() if isinstance(part, dict) else part) for one in numbers(inner)]
    return [part]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)
def test_a_certificate_is_written_down_exactly_and_always_alike(mechanism: Mechanism) -> None:
    """It says what was promised and proved in fractions, has no number that a reader rounds, and survives pickle."""
    certify(mechanism)
    certificate = mechanism.certificate
    text = certificate.to_json()
    document = json.loads(text)
    assert list(document) == ["format", "version", "claim", "law", "pairs", "about"]
    claim = document["claim"]
    assert Fraction(claim["epsilon"]) == certificate.epsilon
    assert Fraction(claim["loss"]) == certificate.bound
    assert Fraction(claim["delta"]) == certificate.delta
    assert Fraction(document["law"]["step"]) == certificate.step
    assert {type(one) for one in numbers({**document, "version": None})} <= {str, bool, type(None)}
    for again in (pickle.loads(pickle.dumps(certificate)), copy.deepcopy(certificate), certificate):
        assert again == certificate
        assert again.to_json() == text


def test_every_law_has_a_name_of_its_own() -> None:
    """Each kind of law is stated as what it is."""
    kinds = [json.loads(mechanism.certificate.to_json())["law"]["kind"] for mechanism in MECHANISMS]
    assert kinds == [
        "laplace", "laplace", "noise", "noise", "noise", "bounded Gaussian", "explicit fair", "adaptive Laplace",
        "levels", "levels", "table",
    ]  # fmt: skip


def test_a_certificate_without_a_law_cannot_be_written_down() -> None:
    """What does not say which law it is about is refused."""
    bare = replace(MECHANISMS[0].certificate, statement=None)
    with pytest.raises(InvalidParameter, match="does not say which law"):
        bare.to_json()
