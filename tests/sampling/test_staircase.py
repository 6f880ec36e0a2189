"""Arrays of staircase noise are exact: every element draws what a single draw of its word draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from inbounds import Bounds
from inbounds.exact.balls import workprec
from inbounds.mechanisms.setting import WIDEST
from inbounds.published import Staircase
from inbounds.published.geng2014 import StaircaseNoise
from inbounds.sampling.any_law import extend
from inbounds.sampling.proposals import kinds
from inbounds.sampling.reference import EXTENSION
from inbounds.sampling.staircase import StaircaseProposals, StaircaseSampler
from tests.helpers.scripted_entropy import Script

NOISES = {
    "fine": StaircaseNoise(2**33, Fraction(1, 2), 3 * 2**31),
    "one step": StaircaseNoise(1, Fraction(1), 1),
    "counts": StaircaseNoise(20, Fraction(1), 10),
    "least first": StaircaseNoise(7, Fraction(1, 4), 1),
    "all first": StaircaseNoise(5, Fraction(2), 5),
    "strong": StaircaseNoise(5, Fraction(20), 2),
    "stronger than any double": StaircaseNoise(3, Fraction(900), 2),
    "weak": StaircaseNoise(1000, Fraction(1, 10**6), 400),
    "widest": StaircaseNoise(2**44, Fraction(1, 1000), 2**43),
}
DTYPES = (np.dtype(np.int64), np.dtype(np.float64))


def beside_boundaries(noise: StaircaseNoise, seed: int, count: int = 8) -> Iterator[int]:
    """Yield words at and about the places where the distribution function steps, above all where stairs meet."""
    generator = np.random.default_rng(seed)
    flights = generator.integers(0, 12, count).tolist()
    met = [flight * noise.distance + noise.first for flight in flights]
    drawn = [
        extend(noise, word, 64, Script()) for word in generator.integers(2**64, size=count, dtype=np.uint64).tolist()
    ]
    for index in chain(met, drawn):
        with workprec(400):
            edge = noise.below(index, 400) * 2**64
            floor = int(edge.mid().floor().unique_fmpz() or 0)
        for width in (0, 8, 11, 14, 20, 40):
            spread = int(generator.integers(-(2**width), 2**width + 1))
            yield min(max(floor + spread, 0), 2**64 - 1)


def words_of(noise: StaircaseNoise, seed: int) -> NDArray[np.uint64]:
    """Return words beside boundaries, others, the first, the middle and the last."""
    others = np.random.default_rng(seed + 1).integers(2**64, size=100, dtype=np.uint64).tolist()
    special = [0, 1, 2**11, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2**11, 2**64 - 2, 2**64 - 1]
    return np.array([*beside_boundaries(noise, seed), *others, *special], dtype=np.uint64)


def contradictions(proposing: StaircaseNoise, noise: StaircaseNoise, words: NDArray[np.uint64]) -> tuple[int, int]:
    """Return how many proposals are settled, and how many of these some continuation of the word contradicts."""
    settled = wrong = 0

    @cache  # each kind of proposals is compared with the same draws
    def continued(word: int) -> list[int]:
        return [extend(noise, word << 64 | rest, 128, Script()) for rest in (0, 2**64 - 1)]

    for kind in kinds():
        proposals = StaircaseProposals(proposing.distance, proposing.first, proposing.loss, kind)
        for dtype in DTYPES:
            proposed, stands = proposals.propose(words, dtype)
            for word, found in zip(words[stands].tolist(), proposed[stands].tolist(), strict=True):
                settled += 1
                first, last = continued(word)
                wrong += not first == found == last
    return settled, wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISES)
def test_what_floating_point_settles_is_exact(name: str) -> None:
    """A settled proposal is the exact draw for every continuation of its word, even where two stairs meet."""
    noise = NOISES[name]
    settled, wrong = contradictions(noise, noise, words_of(noise, 1))
    assert wrong == 0
    assert settled > 100


@pytest.mark.slow
@pytest.mark.parametrize("change", ["epsilon", "first"])
def test_a_law_that_is_a_little_off_is_seen(change: str) -> None:
    """The words are near enough to boundaries to see an epsilon off by 1e-12, or one step of 2^33."""
    noise = NOISES["fine"]
    off = (
        StaircaseNoise(noise.distance, noise.loss * (1 + Fraction(1, 10**12)), noise.first)
        if change == "epsilon"
        else StaircaseNoise(noise.distance, Fraction(1, 2), noise.first + 1)
    )
    words = np.concatenate([words_of(noise, seed) for seed in (1, 2, 3)])
    assert contradictions(noise, noise, words)[1] == 0
    assert contradictions(off, noise, words)[1] > 0


@pytest.mark.slow
@settings(max_examples=30)
@given(
    st.integers(1, 30) | st.integers(1, 2**45),
    st.fractions(Fraction(1, 1000), 3) | st.fractions(3, 200),
    st.floats(0, 1),
    st.integers(0, 2**32),
)
def test_what_floating_point_settles_is_exact_for_any_stairs(
    distance: int, epsilon: Fraction, part: float, seed: int
) -> None:
    """Whatever the stairs, a settled proposal is the exact draw."""
    noise = StaircaseNoise(distance, epsilon, min(max(round(part * distance), 1), distance))
    assert contradictions(noise, noise, words_of(noise, seed))[1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_an_array_draw_replays_word_by_word(name: str, dtype: np.dtype[np.generic]) -> None:
    """Each element of an array is its centre and what a single draw of its 64-bit word draws; nothing complains."""
    noise = NOISES[name]
    words = words_of(noise, 3)
    centres = np.random.default_rng(4).integers(-1000, 1000, len(words)).astype(dtype)
    adder = noise.adder()
    assert isinstance(adder, StaircaseSampler)
    drawn = adder.draw(words, centres, Script(seed=7))
    assert drawn.dtype == dtype
    for centre, word, found in zip(centres.tolist(), words.tolist(), drawn.tolist(), strict=True):
        ends = [extend(noise, word << 64 | rest, 128, Script()) for rest in (0, 2**64 - 1)]
        if abs(max(ends)) < 2**52:
            assert ends[0] <= found - centre <= ends[1]


def test_an_undecided_word_is_extended_never_drawn_anew() -> None:
    """A word that holds a boundary takes more bits of the same number, and they decide between its two neighbours."""
    noise = NOISES["counts"]
    adder = noise.adder()
    assert adder is not None
    for index in (-31, -10, -1, 0, 9, 29, 30):
        with workprec(400):
            word = int((noise.below(index, 400) * 2**64).floor().unique_fmpz() or 0)
        for bits, expected in ((b"\0", index), (b"\xff", index + 1)):
            entropy = Script(bits * (EXTENSION // 8 - 1) + b"\1")
            assert adder.draw(np.array([word], dtype=np.uint64), np.array([100]), entropy).tolist() == [100 + expected]
            assert entropy.asked == [EXTENSION // 8]


def test_few_draws_are_left_to_balls() -> None:
    """On a lattice that is chosen, doubles settle all but one in a hundred, extended precision nearly all."""
    words = np.random.default_rng(5).integers(2**64, size=100_000, dtype=np.uint64)
    noise = Staircase(Bounds(0, 100), 2, 0.5).noise
    shares = [
        1 - StaircaseProposals(noise.distance, noise.first, noise.loss, kind).propose(words, DTYPES[0])[1].mean()
        for kind in kinds()
    ]
    assert shares[0] < 0.01
    assert shares[1:] == [pytest.approx(0, abs=1e-3)] * (len(kinds()) - 1)


def test_noise_too_wide_for_64_bits_is_drawn_one_by_one() -> None:
    """There is no quick way where sums could leave 64 bits."""
    assert StaircaseNoise(math.ceil(WIDEST / 2), Fraction(1), 1).adder() is not None
    assert StaircaseNoise(2 * WIDEST, Fraction(1), 1).adder() is None


@pytest.mark.parametrize("ends", ["leave", "snap", "fold"])
def test_how_an_array_is_cut_into_chunks_does_not_matter(ends: str) -> None:
    """A draw depends on its word and its answer alone, whatever the rule at the ends."""
    made = Staircase(Bounds(0, 20, step=1), 3, 1, ends=ends)  # type: ignore[arg-type]
    played = np.random.default_rng(6).bytes(8 * 40_000)
    answers = np.arange(40_000) % 21
    whole = made._release_array(answers, Script(played))
    tail = made._release_array(answers[-500:], Script(played[-8 * 500 :]))
    assert (whole[-500:] == tail).all()
