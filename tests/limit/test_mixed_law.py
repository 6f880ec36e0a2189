"""A law that is drawn among several first keeps what each of them keeps, and is their mean in everything told."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from inbounds import Bounds, InboundsError, InvalidParameter, Optimal, certify
from inbounds.limit.cells.cell_law import CellLaw, middles
from inbounds.limit.cells.cut_cells import CutCells
from inbounds.limit.cells.distance_kernel import TOTAL, DistanceKernel
from inbounds.limit.mixed_law import MixedLaw
from inbounds.mechanisms.setting import Setting
from tests.helpers.certificates import CANNOT_TELL
from tests.helpers.certificates import found as found_by_checker
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.exact_optimum import below_exp, exact_row
from tests.helpers.scripted_entropy import Script

EPSILON = 3


@cache
def small() -> MixedLaw:
    """Return two ways to cut forty points."""
    setting = Setting.of(Bounds(0, 39, step=1), 12, EPSILON)
    ways = [CutCells((0, 3, 9, 15, 21, 27, 33, 40)), CutCells((0, 6, 12, 18, 24, 30, 36, 40))]
    laws = []
    for cells in ways:
        kernel = DistanceKernel.of(cells, 12, Fraction(EPSILON))
        assert kernel is not None
        laws.append(CellLaw(setting, cells, kernel, middles(setting.lattice, cells)))
    return MixedLaw(tuple(laws))


def mixed_row(law: MixedLaw, index: int) -> Counter[int]:
    """Return how often each index is released for one, in integers."""
    row: Counter[int] = Counter()
    for part in law.parts:
        row.update(exact_row(part, index))
    return row


def test_a_mixture_keeps_epsilon_by_definition() -> None:
    """For all answers of neighbours and all releases, in integers; and not for nine tenths of epsilon."""
    law = small()
    rows = [mixed_row(law, index) for index in range(40)]
    pairs = [(rows[i], rows[j]) for i in range(40) for j in range(max(i - 12, 0), min(i + 13, 40))]
    for epsilon, kept in ((Fraction(EPSILON), True), (Fraction(9, 10) * EPSILON, False)):
        over, under = below_exp(epsilon).as_integer_ratio()
        assert all(one[k] * under <= other[k] * over for one, other in pairs for k in one) is kept
    assert law.certify().holds
    assert law.prove_again().bound <= Fraction(EPSILON)


def test_what_is_told_is_the_mean_of_the_laws() -> None:
    """Probabilities, tails, errors, bias and variance are those of the exact rows."""
    law = small()
    distribution, releases = law.distribution, law.targets
    for index in (0, 7, 20, 39):
        exact = np.array([mixed_row(law, index)[k] / (2 * TOTAL**2) for k in releases.tolist()])
        centres = np.full(len(releases), index)
        assert distribution.probability(releases, centres) == pytest.approx(exact, rel=1e-9)
        assert distribution.up_to(releases, centres) == pytest.approx(np.cumsum(exact), rel=1e-9)
        assert distribution.at_least(releases, centres) == pytest.approx(np.cumsum(exact[::-1])[::-1], rel=1e-9)
        far = float(exact @ abs(releases - index))
        assert distribution.error(np.array([index]), np.zeros(1))[0] == pytest.approx(far, rel=1e-9)
        bias, variance = distribution.bias_and_variance(np.array([index]))
        mean = float(exact @ releases)
        assert bias[0] == pytest.approx(mean - index, abs=1e-9)
        assert variance[0] == pytest.approx(float(exact @ (releases - mean) ** 2), rel=1e-9)


def test_a_byte_chooses_the_law_and_a_word_the_outcome() -> None:
    """One answer alone, in doubles and in an array, is released as the law that its byte chose releases it."""
    law, generator = small(), np.random.default_rng(5)
    indices = generator.integers(0, 40, 60)
    chosen = generator.integers(0, 256, 60, dtype=np.uint8)
    words = generator.integers(0, 2**64, 60, dtype=np.uint64)
    wanted = []
    for index, byte, word in zip(indices.tolist(), chosen, words, strict=True):
        part = law.parts[int(byte) % 2]
        wanted.append(part.draw(index, Script(word.tobytes())))
        played = byte.tobytes() + word.tobytes()
        assert law.draw(index, Script(played)) == wanted[-1]
        assert law.draw_near is not None
        assert law.draw_near(float(index), Script(played)) == wanted[-1]
    order = np.concatenate([words[chosen % 2 == 0], words[chosen % 2 == 1]])
    played = chosen.tobytes() + order.tobytes()
    [(_, many)] = law.draw_parts(lambda part: indices[part], len(indices), Script(played))
    assert many.tolist() == wanted


@cache
def found() -> Optimal:
    """Return an optimum for the worst error that is a mixture."""
    return Optimal(Bounds(0, 1), 1, 8, minimise="worst")


@pytest.mark.slow
def test_releases_follow_the_law_of_a_mixture() -> None:
    """Releases fit the probabilities that are told, and not those of another answer."""
    mechanism, count = found(), 20_000
    assert isinstance(mechanism._law, MixedLaw)
    releases = mechanism._law.targets
    values = [float(k * mechanism.step) for k in releases.tolist()]
    chances, false = (np.array([mechanism.pmf(k, truth) for k in values]) for truth in (0.3, 0.9))
    assert chances.sum() == pytest.approx(1, abs=1e-9)
    counts = Counter(mechanism.release([0.3] * count).tolist())
    assert set(counts) <= set(values)
    assert p_value([counts[k] for k in values], chances) > FLOOR
    assert p_value([counts[k] for k in values], np.maximum(false, 1e-300)) < FLOOR


@pytest.mark.slow
def test_an_optimum_that_is_a_mixture_is_proved_and_restored() -> None:
    """Its certificate holds, its errors are what the search said, and a pickle is it again or refused."""
    mechanism = found()
    assert certify(mechanism).holds
    told = mechanism.optimality
    assert told.limit <= mechanism.worst_error() <= told.error * (1 + 1e-9)
    assert told.ratio <= 1.07
    assert mechanism.base.worst_error() == mechanism.worst_error()
    restore, (bounds, given, pickled, *rest) = mechanism.__reduce__()
    assert restore(bounds, given, pickled, *rest) == mechanism
    cells, kind, weights, targets = pickled[0]
    narrow = replace(cells, edges=(cells.edges[0] + 1, *cells.edges[1:]))
    for tampered in (pickled[:-1], ((narrow, kind, weights, targets), *pickled[1:])):
        with pytest.raises(InboundsError):
            restore(bounds, given, tampered, *rest)


def test_only_powers_of_two_are_mixed() -> None:
    """A byte cannot choose among three laws alike."""
    with pytest.raises(InvalidParameter, match="power of two"):
        MixedLaw((*small().parts, small().parts[0]))


def test_a_certificate_states_the_whole_law_and_the_checker_admits_that_it_does_not_know_it() -> None:
    """Edges, weights and releases of all parts are in it, exactly; a part by itself is stated as well."""
    for law, kind in ((small(), "mixture"), (small().parts[0], "cells")):
        document = json.loads(law.certify().to_json())
        assert document["law"]["kind"] == kind
        assert found_by_checker(document)[0] == CANNOT_TELL
        stated = document["law"]["laws"] if kind == "mixture" else [document["law"]]
        parts = small().parts[: len(stated)]
        for one, part in zip(stated, parts, strict=True):
            assert [int(edge) for edge in one["edges"]] == part.cells.starts
            assert [[int(unit) for unit in level] for level in one["weights"]] == [list(w) for w in part.kernel.weights]
            assert [int(release) for release in one["releases"]] == part.targets.tolist()
