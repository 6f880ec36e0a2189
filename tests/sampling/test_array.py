"""Many draws at once follow the exact law, and every one is the draw that exact arithmetic makes of the same bits."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from inbounds import BoundedLaplace, Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.privacy.law import Law
from inbounds.sampling.array import CHUNK, ArraySampler
from inbounds.sampling.reference import EXTENSION, ReferenceSampler
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.definition import Definition, Spans, Table, index_spans
from tests.helpers.mechanisms import KINDS, mechanism
from tests.helpers.scripted_entropy import Script

DRAWS = 600_000
OFF = 1.05
END_OFF = 1.2

Array = NDArray[Any]

whole_steps = [name for name in KINDS if not name.startswith("no step")]
no_steps = [name for name in KINDS if name.startswith("no step")]


def index_of(made: BoundedLaplace, answer: Any) -> int:
    """Return the index that an answer of a kind is at, from the definition of the lattice."""
    if made.bounds.is_dates:
        days = (day for span in made.bounds for day in range(span.low.toordinal(), span.high.toordinal() + 1))  # type: ignore[union-attr]  # dates
        return min(days, key=lambda day: (abs(day - answer.toordinal()), day))
    return math.floor((Fraction(answer) - made.bounds.offset) / made.step + Fraction(1, 2))


def releases(made: BoundedLaplace, answers: tuple[Any, ...]) -> tuple[Array, Array]:
    """Release each answer many times, all in one array and in turn, and return their indices, a row for each answer."""
    dtype = "datetime64[D]" if made.bounds.is_dates else None
    released = made.release(np.tile(np.array(answers, dtype=dtype), DRAWS // len(answers)))
    if made.bounds.is_dates:
        indices = released.astype(np.int64) + np.datetime64(0, "D").item().toordinal()
    else:
        indices = np.rint((released - float(made.bounds.offset)) / float(made.step)).astype(np.int64)
    return np.array([index_of(made, answer) for answer in answers]), indices.reshape(-1, len(answers)).T


@pytest.mark.slow
@pytest.mark.parametrize("name", whole_steps)
def test_arrays_follow_the_law(name: str) -> None:
    """Releases in an array fit the definition, and neither a scale 5 % off nor an end whose weight is 20 % off."""
    made = mechanism(name)
    centres, drawn = releases(made, KINDS[name].answers)
    reach = int(60 * made.scale / made.step)
    tables = [Table.of(made, near=int(centre), reach=reach) for centre in centres]
    counts = []
    for table, row in zip(tables, drawn, strict=True):
        places = np.searchsorted(table.indices, row)
        assert (table.indices[np.minimum(places, len(table.indices) - 1)] == row).all()
        counts.append(np.bincount(places, minlength=len(table.indices)))

    def fit() -> float:
        expected = [table.pmf(int(centre)) for table, centre in zip(tables, centres, strict=True)]
        return p_value(np.concatenate(counts), np.concatenate(expected) / len(centres))

    assert fit() > FLOOR
    if not name.startswith("narrow"):  # there the scale makes no difference that could be seen
        for off in (OFF, 1 / OFF**2):
            for table in tables:
                table.rate *= off
            assert fit() < FLOOR
        for table in tables:
            table.rate *= OFF
    ends = [end for span in index_spans(made.bounds, made.step) for end in span if end is not None]
    for table in tables:
        table.weights[np.isin(table.indices, ends[:1])] *= END_OFF
    assert (fit() < FLOOR) == bool(ends)


@pytest.mark.slow
@pytest.mark.parametrize("name", no_steps)
def test_arrays_follow_the_law_on_a_fine_lattice(name: str) -> None:
    """Releases of bounds without a step fit the definition on the lattice chosen, and no scale or end that is off."""
    made = mechanism(name)
    centres, drawn = releases(made, KINDS[name].answers)
    law = Definition.of(made, bits=200)
    scale = int(made.scale / made.step)
    ends = [end for span in law.spans for end in span if end is not None]
    width = min(scale, ends[-1] - ends[0] if len(ends) > 1 else scale)
    cuts = [
        sorted({*ends, *(end - 1 for end in ends), *(int(c) + width * j // 4 for j in range(-40, 41))}) for c in centres
    ]
    counts = [
        np.bincount(np.searchsorted(cut, row), minlength=len(cut) + 1) for cut, row in zip(cuts, drawn, strict=True)
    ]

    def fit(off: float, pooling: Fraction = law.pooling) -> float:
        tried = Definition(law.spans, law.rate * Fraction(off), pooling, bits=200)
        rises = [
            [0.0, *(float(tried.cdf(c, int(at))) for c in cut), 1.0] for cut, at in zip(cuts, centres, strict=True)
        ]
        return p_value(np.concatenate(counts), np.concatenate([np.diff(rise) for rise in rises]) / len(centres))

    assert fit(1) > FLOOR
    if name.endswith("narrow"):  # there the scale makes no difference that could be seen, but weight at the ends does
        assert fit(1, Fraction(1, 10**7)) < FLOOR
    else:
        assert fit(OFF) < FLOOR
        assert fit(1 / OFF) < FLOOR


def test_a_strong_epsilon_leaves_counts_alone() -> None:
    """At epsilon 1000 another count than the true one comes out once in e**1000 draws: never."""
    counts = np.arange(0, 100_001)
    assert (BoundedLaplace(Bounds(0, 100_000, step=1), 1, 1000).release(counts) == counts).all()


def test_neighbours_in_an_array_are_independent() -> None:
    """A release says nothing about the next one; repeated releases are seen to be dependent."""
    released = mechanism("islands").release(np.full(DRAWS, 9))
    repeated = np.repeat(released[::2], 2)
    p_values = []
    for draws in (released, repeated):
        table = np.histogram2d(draws[:-1], draws[1:], bins=np.array([-0.5, 2.5, 5.5, 9.5, 15.5, 30.5]))[0]
        p_values.append(stats.chi2_contingency(table).pvalue)
    assert p_values[0] > FLOOR
    assert p_values[1] < FLOOR


# What floating point settles is what exact arithmetic would have drawn.  Random words seldom come near a boundary
# between two indices, so most of the words below are chosen on, and right beside, the boundaries.


def law_of(spans: Spans, rate: Fraction, pooling: Fraction) -> Law:
    """Return the law with this rate on integers."""
    return Law(Lattice.of(Bounds.union(spans, step=1), Fraction(1)), rate, pooling)


def near_boundaries(law: Definition, sampler: ReferenceSampler, centre: int, seeds: Array) -> Iterator[int]:
    """Yield 64-bit words around places where the draw passes from one index to the next."""
    yield from (0, 1, 2, 2**11, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2**11, 2**64 - 2, 2**64 - 1)
    span = sampler.law.lattice.project(centre)[1]
    for seed in seeds.tolist():
        yield seed
        index = sampler.extend(centre, span, seed, 64, Script())
        boundary = law.boundary(index, centre, 64)
        for off in (0, 1, -1, 2, -2, 40, -40, 700, -700, 2**11, -(2**11), 2**14, -(2**14), 2**18, -(2**18)):
            yield min(max(boundary + off, 0), 2**64 - 1)


@lru_cache(maxsize=2**13)  # proposals in integers and in doubles are compared with the same draws
def outcomes(sampler: ReferenceSampler, centre: int, span: int, word: int) -> tuple[int, int]:
    """Return the least and the greatest index that a number that begins with a word can draw."""
    size = EXTENSION // 8
    extensions = [b"\0" * (size - 1) + b"\1", b"\xff" * (size - 1) + b"\xfe"]
    least, most = (sampler.extend(centre, span, word, 64, Script(extension)) for extension in extensions)
    return least, most


def contradictions(
    proposing_law: Law, sampler: ReferenceSampler, words: list[tuple[int, int]], dtype: type
) -> tuple[int, int]:
    """Return how many proposals the proposals settle, and how many of these are not what is drawn exactly."""
    lattice = sampler.law.lattice
    centres = [centre for centre, _ in words]
    spans = [lattice.project(centre)[1] for centre in centres]
    exact = [outcomes(sampler, centre, span, word) for (centre, word), span in zip(words, spans, strict=True)]
    settled_count = wrong = 0
    for proposals in ArraySampler(proposing_law)._proposals:
        with np.errstate(all="ignore"):
            drawn, settled = proposals.propose(
                np.array([word for _, word in words], dtype=np.uint64), np.array(centres, dtype=dtype), np.array(spans)
            )
        assert drawn.dtype == dtype
        right = [
            dtype(least) == dtype(most) == proposed
            for (least, most), proposed in zip(exact, drawn.tolist(), strict=True)
        ]
        settled_count += int(settled.sum())
        wrong += int((settled & ~np.array(right)).sum())
    return settled_count, wrong


def scripted(
    law: Definition, sampler: ReferenceSampler, centres: list[int], count: int, seed: int
) -> list[tuple[int, int]]:
    """Return pairs of a centre and a word, `count` boundaries for each centre."""
    seeds = np.random.default_rng(seed)
    return [
        (centre, word)
        for centre in centres
        for word in near_boundaries(law, sampler, centre, seeds.integers(2**64, size=count, dtype=np.uint64))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_what_floating_point_settles_is_exact(name: str) -> None:
    """A settled proposal is the exact draw for every continuation of its word, even beside a boundary."""
    made = mechanism(name)
    sampler = ReferenceSampler(made.claim.law)
    centres = [index_of(made, answer) for answer in KINDS[name].answers]
    words = scripted(Definition.of(made, bits=300), sampler, centres, 12, seed=1)
    for dtype in (np.int64, np.float64):
        settled, wrong = contradictions(made.claim.law, sampler, words, dtype)
        assert wrong == 0
        assert settled > len(words) / 8


@pytest.mark.slow
def test_replay_sees_a_rate_off_by_one_in_a_million_million() -> None:
    """The words beside boundaries are near enough to tell a law from one whose rate is 1e-12 off."""
    made = mechanism("one span")
    sampler = ReferenceSampler(made.claim.law)
    words = scripted(Definition.of(made), sampler, [0, 7, 20], 40, seed=2)
    law = made.claim.law
    off = Law(law.lattice, law.rate * (1 + Fraction(1, 10**12)), law.pooling)
    assert contradictions(law, sampler, words, np.int64)[1] == 0
    assert contradictions(off, sampler, words, np.int64)[1] > 0


@st.composite
def laws(draw: st.DrawFn) -> tuple[Spans, Fraction, Fraction]:
    """Spans of integers, a rate and a pooling; noise from far below a step to far above the bounds."""
    gap = st.integers(2, 30) | st.integers(2, 2**40) | st.integers(2, 2**57)
    length = st.integers(0, 30) | st.integers(0, 2**40)
    spans: Spans = []
    at = draw(st.integers(-(2**40), 2**40))
    for _ in range(draw(st.integers(1, 5))):
        high = at + draw(length)
        spans.append((at, high))
        at = high + draw(gap)
    open_below, open_above = draw(st.booleans()), draw(st.booleans())
    spans[0] = (None if open_below else spans[0][0], spans[0][1])
    spans[-1] = (spans[-1][0], None if open_above else spans[-1][1])
    finest = 52 if open_below or open_above else 95
    rate = Fraction(draw(st.floats(1, 2))) * Fraction(2) ** draw(st.integers(-finest, 8))
    return spans, rate, draw(st.sampled_from([Fraction(0), Fraction(2, 5), Fraction(1), Fraction(1, 10**9)]))


@pytest.mark.slow
@settings(max_examples=30)
@given(laws(), st.integers(0, 2**32))
def test_what_floating_point_settles_is_exact_on_any_law(law: tuple[Spans, Fraction, Fraction], seed: int) -> None:
    """Whatever the spans, the rate and the pooling, a settled proposal is the exact draw."""
    sampler = ReferenceSampler(law_of(*law))
    lattice, generator = sampler.law.lattice, np.random.default_rng(seed)
    ends = [end for span in law[0] for end in span if end is not None] or [0]
    near = [ends[i] + int(generator.integers(-20, 21)) for i in generator.integers(len(ends), size=3)]
    centres = [lattice.project(index)[0] for index in near]
    words = scripted(Definition(*law, bits=600), sampler, centres, 2, seed)
    assert contradictions(sampler.law, sampler, words, np.int64)[1] == 0
    if max(map(abs, ends)) < 2**53:  # beyond, indices are never held as doubles
        assert contradictions(sampler.law, sampler, words, np.float64)[1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_an_array_draw_replays_word_by_word(name: str) -> None:
    """Each element of an array draws what a single draw of its 64-bit word draws."""
    made = mechanism(name)
    sampler = ReferenceSampler(made.claim.law)
    centres = [index_of(made, answer) for answer in KINDS[name].answers]
    centres = centres * (600 // len(centres))
    spans = [made.claim.lattice.project(centre)[1] for centre in centres]
    words = np.random.default_rng(3).integers(2**64, size=len(centres), dtype=np.uint64)
    drawn = ArraySampler(sampler.law).draw(words, np.array(centres), np.array(spans), Script())
    exact = [sampler.extend(*row, 64, Script()) for row in zip(centres, spans, words.tolist(), strict=True)]
    assert drawn.tolist() == exact


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_the_outermost_words_draw_the_outermost_indices(name: str, dtype: type) -> None:
    """Words of zeros draw the lowest index, words of ones the highest, and on an open side one far out."""
    made = mechanism(name)
    law = Definition.of(made)
    centre = index_of(made, KINDS[name].answers[1])
    span = made.claim.lattice.project(centre)[1]
    words = np.array([0, 2**64 - 1], dtype=np.uint64)
    sampler = ArraySampler(made.claim.law)
    with np.errstate(all="ignore"):
        least, most = sampler.draw(
            words, np.array([centre] * 2, dtype=dtype), np.array([span] * 2), Script(b"\1" * 64)
        ).tolist()
    one_in = 2.0**-62
    assert law.cdf(int(least), centre) < one_in or least == law.spans[0][0]
    assert 1 - law.cdf(int(most) - 1, centre) < one_in or most == law.spans[-1][1]


def test_no_word_makes_numpy_complain() -> None:
    """Neither the first nor the last word leads to a warning, which would tell where the noise fell."""
    for name in KINDS:
        made = mechanism(name)
        centre = index_of(made, KINDS[name].answers[1])
        span = made.claim.lattice.project(centre)[1]
        words = np.array([0, 1, 2**64 - 2**11, 2**64 - 1], dtype=np.uint64)
        for dtype in (np.int64, np.float64):
            sampler = ArraySampler(made.claim.law)
            sampler.draw(words, np.full(4, centre, dtype=dtype), np.full(4, span), Script())


@pytest.mark.parametrize(("far", "epsilon"), [(2**50, 1e-9), (2**60, 1e-9), (2**60, 1e-6)])
def test_noise_far_wider_than_all_that_is_possible_is_drawn_exactly(far: int, epsilon: float) -> None:
    """What is settled is exact even where a few possible values lie so far apart that the noise is 2**90 steps wide."""
    made = BoundedLaplace(Bounds.union([(0, 2), (far, far + 3)], step=1), far, epsilon)
    sampler = ReferenceSampler(made.claim.law)
    words = scripted(Definition.of(made, bits=600), sampler, [0, far + 3], 12, seed=1)
    assert contradictions(made.claim.law, sampler, words, np.int64)[1] == 0


def test_the_same_words_draw_the_same_wherever_chunks_begin() -> None:
    """A draw depends on its word alone, not on its place in the array."""
    made = mechanism("islands")
    played = np.random.default_rng(5).bytes(8 * (CHUNK + 100))
    whole = made._release_array(np.full(CHUNK + 100, 9), Script(played))
    tail = made._release_array(np.full(200, 9), Script(played[8 * (CHUNK - 100) :]))
    assert (whole[-200:] == tail).all()


def test_an_undecided_word_is_extended_never_drawn_anew() -> None:
    """A word that holds a boundary takes more bits of the same number, and they decide between its two neighbours."""
    made = mechanism("one span")
    law, sampler = Definition.of(made), ReferenceSampler(made.claim.law)
    for centre, index in product((0, 7, 20), (2, 7, 13)):
        undecided = np.array([law.boundary(index, centre, 64)], dtype=np.uint64)
        for bits, expected in ((b"\0", index), (b"\xff", index + 1)):
            entropy = Script(bits * (EXTENSION // 8 - 1) + b"\1")
            drawn = ArraySampler(sampler.law).draw(undecided, np.array([centre]), np.array([0]), entropy)
            assert drawn.tolist() == [expected]
            assert entropy.asked == [EXTENSION // 8]
