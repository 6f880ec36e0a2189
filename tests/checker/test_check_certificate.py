"""The checker against thousands of certificates: true ones, and corrupted ones whose truth is known by definition."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from inbounds import BoundedLaplace, Bounds, InboundsError
from tests.helpers.certificate_truth import Document, TooLarge, delta_of, loss_of, proved_again
from tests.helpers.certificates import CANNOT_TELL, HOLDS, REFUTED, corrupt, found, random_certificate
from tests.helpers.sparing import sparing

BATCH = 100
BATCHES = sparing(range(20), 3)
DOUBT = 1e-9
"""Two losses in doubles that are this near, relatively, are not told apart."""


def is_false(document: Document) -> bool | None:
    """Return whether the claim of a document is false; None if that is not known."""
    claim = document["claim"]
    allowed = float(min(Fraction(claim["loss"]), Fraction(claim["epsilon"])))
    try:
        if document["law"]["kind"] == "rank":
            return None
        seen, most = loss_of(document)
        if document["law"]["kind"] == "noise" and document["law"]["noise"]["shape"] == "cut":
            left, delta = delta_of(document), float(Fraction(claim["delta"]))
            if left > delta * (1 + DOUBT):
                return True if document["law"]["ends"] == "leave" else None
            if left > delta * (1 - DOUBT) or most > allowed:
                return None
    except TooLarge:
        if document["law"]["kind"] != "laplace":
            return None
        try:
            proved = proved_again(document)
        except InboundsError:
            return None
        seen, most = float(proved.witnessed), float(proved.bound)
    return True if seen > allowed * (1 + DOUBT) else False if most < allowed * (1 - DOUBT) else None


@pytest.mark.parametrize("batch", BATCHES)
def test_a_true_certificate_holds(batch: int) -> None:
    """Whatever the bounds, the mechanism and epsilon are, a certificate that was not touched holds."""
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        certificate = random_certificate(Random(seed))
        assert certificate.holds
        document = json.loads(certificate.to_json())
        assert found(document)[0] == HOLDS, (seed, document["law"], found(document))


@pytest.mark.parametrize("batch", BATCHES)
def test_a_false_certificate_never_holds_and_a_true_one_is_never_refuted(batch: int) -> None:
    """A corrupted certificate never holds when it is false, or lacks pairs, and is never refuted when it is true."""
    seen: Counter[tuple[bool | None, int]] = Counter()
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        rng = Random(seed)
        document = json.loads(random_certificate(rng).to_json())
        way = corrupt(document, rng)
        false, (code, text) = is_false(document), found(document)
        assert (false, code) != (True, HOLDS), (seed, way, document, text)
        assert (false, code) != (False, REFUTED), (seed, way, document, text)
        assert way != "pairs" or code != HOLDS, (seed, document, text)
        seen[false, code] += 1
    # The corruptions are not in vain: many are false, and most of those are refuted with a pair.
    assert seen[True, REFUTED] > BATCH / 4
    assert seen[True, CANNOT_TELL] < seen[True, REFUTED]


@pytest.mark.parametrize("seed", range(40))
def test_a_scale_a_hair_too_small_is_refuted(seed: int) -> None:
    """On one span the scale found is the least: a billionth less is refuted, as far as it is the ends that decide."""
    rng = Random(seed)
    bounds = Bounds(0, rng.choice((None, 3, 20)), step=rng.choice((None, 1)))
    pooling, epsilon = rng.choice((0, Fraction(1, 3), 1)), Fraction(rng.randint(1, 30), 10)
    guarantee: Any = rng.choice(("standard", "distance"))
    certificate = BoundedLaplace(bounds, 1, epsilon, pooling=pooling, guarantee=guarantee).certificate
    document = json.loads(certificate.to_json())
    assert found(document)[0] == HOLDS
    document["law"]["scale"] = str(Fraction(document["law"]["scale"]) * (1 - Fraction(1, 10**9)))
    document["claim"]["loss"] = document["claim"]["epsilon"]
    assert found(document)[0] == REFUTED, (document, found(document))


def test_what_delta_may_exempt_is_not_refuted() -> None:
    """With a delta of 1 every claim of the standard guarantee is true, however small its loss: none is refuted."""
    seen: Counter[tuple[str, int]] = Counter()
    for seed in range(BATCH):
        document = json.loads(random_certificate(Random(seed)).to_json())
        if document["claim"]["guarantee"] == "standard":
            document["claim"] |= {"delta": "1", "loss": "1/1000"}
            seen[document["law"]["kind"], found(document)[0]] += 1
    assert {code for _, code in seen} == {CANNOT_TELL}
    assert {kind for kind, _ in seen} >= {"laplace", "noise", "table"}


def test_a_table_says_nothing_of_the_distance_guarantee() -> None:
    """Rows of a table that are next to each other may lose as much as those a sensitivity apart: it is no proof."""
    seen = 0
    for seed in range(BATCH):
        document = json.loads(random_certificate(Random(seed)).to_json())
        if document["law"]["kind"] == "table":
            document["claim"]["guarantee"] = "distance"
            seen += found(document)[0] == CANNOT_TELL
            assert found(document)[0] != HOLDS, (seed, document)
    assert seen
