"""One draw inverts the exact distribution function at a number of which as many bits are drawn as it takes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.privacy.law import Law
from inbounds.sampling.reference import EXTENSION, WORD, ReferenceSampler
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.definition import Definition, Table
from tests.helpers.mechanisms import KINDS, mechanism
from tests.helpers.scripted_entropy import Script, word

MORE = EXTENSION // 8
OFF = 1.1


def centre_of(made: BoundedLaplace, answer: object) -> tuple[int, int]:
    """Return the index an answer is drawn around, and the number of its span."""
    return made.claim.lattice.project(made._answers.index(answer))


@pytest.mark.slow
def test_extended_draws_follow_the_law() -> None:
    """A draw begun with four bits and extended fits the definition, and no scale 10 % off."""
    made = mechanism("islands, pooling 0.4")
    sampler, entropy, (centre, span) = ReferenceSampler(made.claim.law), Script(seed=4), centre_of(made, 9)
    drawn = [sampler.extend(centre, span, entropy(1)[0] >> 4, 4, entropy) for _ in range(20_000)]
    assert entropy.asked.count(MORE) > 10_000
    table = Table.of(made)
    counts = np.bincount(np.searchsorted(table.indices, drawn), minlength=len(table.indices))
    assert p_value(counts, table.pmf(9)) > FLOOR
    for off in (OFF, 1 / OFF**2):
        table.rate *= off
        assert p_value(counts, table.pmf(9)) < FLOOR


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_the_draw_changes_exactly_where_the_distribution_function_says(name: str) -> None:
    """A number below the distribution function at k draws at most k, any other draws more: to the last bit known."""
    made = mechanism(name)
    law, sampler = Definition.of(made, bits=500), ReferenceSampler(made.claim.law)
    generator = np.random.default_rng(6)
    for answer in KINDS[name].answers:
        centre, span = centre_of(made, answer)
        for chosen in generator.integers(2**64, size=3, dtype=np.uint64).tolist():
            index = sampler.extend(centre, span, chosen, 64, Script())
            boundary = law.boundary(index, centre, WORD)
            if boundary >> WORD:
                continue  # the highest index: there is nothing above
            following, _ = made.claim.lattice.project(index + 1)
            if following == index:
                following = min(low for low, _ in law.spans if low is not None and low > index)
            for off, expected in ((-1000, index), (-1, index), (1, following), (1000, following)):
                assert sampler.draw(centre, span, Script(word(boundary + off, WORD))) == expected
            # The word that holds the boundary settles nothing: the next bits do, and again to the last of them.
            longer = law.boundary(index, centre, WORD + EXTENSION)
            for off, expected in ((-1, index), (1, following)):
                entropy = Script(word(longer + off, WORD + EXTENSION))
                assert sampler.draw(centre, span, entropy) == expected
                assert entropy.asked[:2] == [WORD // 8, MORE]


def test_an_undecided_number_is_extended_until_it_is_decided() -> None:
    """Bits that follow the boundary itself settle nothing, however many; the draw asks on and keeps all it has."""
    made = mechanism("islands, pooling 0.4")
    law, sampler, (centre, span) = Definition.of(made, bits=2000), ReferenceSampler(made.claim.law), centre_of(made, 13)
    bits = WORD + 4 * EXTENSION
    for index, following in ((3, 4), (5, 9), (9, 13), (13, 14), (21, 22)):
        boundary = law.boundary(index, centre, bits)
        for off, expected in ((-1, index), (1, following)):
            entropy = Script(word(boundary + off, bits))
            assert sampler.draw(centre, span, entropy) == expected
            assert entropy.asked[:5] == [WORD // 8, *[MORE] * 4]


@pytest.mark.parametrize("name", KINDS)
def test_zeros_draw_the_least_and_ones_the_greatest(name: str) -> None:
    """The number 0 draws the lowest index and the numbers next to 1 the highest, or one as rare as the word."""
    made = mechanism(name)
    law, sampler = Definition.of(made), ReferenceSampler(made.claim.law)
    for answer in KINDS[name].answers:
        centre, span = centre_of(made, answer)
        least = sampler.draw(centre, span, Script(b"\0" * (WORD // 8) + b"\1" * MORE))
        most = sampler.draw(centre, span, Script(b"\xff" * (WORD // 8) + b"\1" * MORE))
        low, high = law.spans[0][0], law.spans[-1][1]
        rare = law.context.mpf(2) ** (1 - WORD)
        assert least == low or law.cdf(least, centre) < rare
        assert most == high or 1 - law.cdf(most - 1, centre) < rare


def test_the_middle_of_a_symmetric_law_is_settled() -> None:
    """Numbers on either side of one half, and one half itself, draw the centre of a symmetric law."""
    made = mechanism("whole line")
    half = 1 << WORD - 1
    for number in (half - 1, half, half + 1):
        entropy = Script(word(number, WORD), seed=7)
        assert made._release_one(5, entropy) == 5
        assert entropy.asked in ([WORD // 8], [WORD // 8, MORE])


@pytest.mark.parametrize("name", KINDS)
def test_a_draw_takes_the_same_bytes_wherever_the_answer_is(name: str) -> None:
    """An answer at an end, in the middle, in a gap or far outside takes one word, and no more."""
    made, answers = mechanism(name), list(KINDS[name].answers)
    if not made.bounds.is_dates:
        answers += [6, 11.4, -1e9, 1e9]
    for answer in answers:
        entropy = Script(seed=8)
        for _ in range(20):
            made._release_one(answer, entropy)
        assert entropy.asked == [WORD // 8] * 20


@settings(max_examples=50)
@given(st.integers(0, 8), st.binary(min_size=3 * MORE, max_size=3 * MORE), st.sampled_from([0, 5, 9, 13, 30]))
def test_it_does_not_matter_how_many_bits_are_known_at_first(known: int, number: bytes, answer: int) -> None:
    """A number draws the same index whether its bits come little by little or all at once."""
    made = mechanism("islands, pooling 0.4")
    sampler, (centre, span) = ReferenceSampler(made.claim.law), centre_of(made, answer)
    first = number[0] & (1 << known) - 1
    at_once = first << 8 * len(number) | int.from_bytes(number)
    expected = sampler.extend(centre, span, at_once, known + 8 * len(number), Script())
    assert sampler.extend(centre, span, first, known, Script(number)) == expected


@settings(max_examples=30)
@given(st.lists(st.integers(0, 2**WORD - 1), min_size=2, max_size=20), st.sampled_from(sorted(KINDS)))
def test_greater_numbers_draw_no_lesser_indices(numbers: list[int], name: str) -> None:
    """The draw is a rising function of the uniform number."""
    made = mechanism(name)
    centre, span = centre_of(made, KINDS[name].answers[0])
    sampler = ReferenceSampler(made.claim.law)
    drawn = [sampler.draw(centre, span, Script(word(number, WORD))) for number in sorted(numbers)]
    assert drawn == sorted(drawn)


@pytest.mark.slow
@pytest.mark.parametrize("pooling", [0, Fraction(2, 5), 1])
@pytest.mark.parametrize("exponent", [-90, -60, -30, 0, 9])
def test_noise_far_wider_or_narrower_than_the_bounds_is_drawn_exactly(exponent: int, pooling: Fraction) -> None:
    """Whether the noise is 2**90 steps wide or a 2**-9th of a step, the draw passes k where the definition does."""
    spans: list[tuple[int | None, int | None]] = [(-3, 2**20), (2**20 + 2, 2**20 + 2), (2**40, 2**40 + 5)]
    rate = Fraction(4, 3) * Fraction(2) ** exponent
    sampler = ReferenceSampler(Law(Lattice.of(Bounds.union(spans, step=1), Fraction(1)), rate, Fraction(pooling)))
    law = Definition(spans, rate, Fraction(pooling), bits=800)
    for centre in (-3, 2**19, 2**20 + 2, 2**40 + 5):
        span = sampler.law.lattice.project(centre)[1]
        for index in (-3, -2, 2**19 - 1, 2**19, 2**20 - 1, 2**40, 2**40 + 4):
            boundary = law.boundary(index, centre, WORD)
            if boundary > 0:
                assert sampler.draw(centre, span, Script(word(boundary - 1, WORD) + b"\xff" * MORE)) <= index
            if boundary < 2**WORD - 1:
                assert sampler.draw(centre, span, Script(word(boundary + 1, WORD) + b"\1" * MORE)) > index


def test_a_centre_beyond_every_machine_word_is_drawn_around() -> None:
    """On an open side an answer may be as large as it likes: the noise is the same as around 0."""
    made = BoundedLaplace(Bounds(0, None, step=1), 1, 1)
    vast = 10**500
    for seed in range(50):
        noise = made._release_one(vast, Script(seed=seed)) - vast
        assert abs(noise) < 100
        assert made._release_one(2**40, Script(seed=seed)) - 2**40 == noise
