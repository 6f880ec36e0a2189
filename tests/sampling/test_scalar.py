"""One draw is proposed in doubles, and is the draw that balls make of the same bits, whatever proposed it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds
from inbounds.privacy.law import Law
from inbounds.sampling import scalar
from inbounds.sampling.reference import EXTENSION, WORD, ReferenceSampler
from inbounds.sampling.scalar import CELL, SHIFT, Sampler
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.definition import Definition, Spans, Table
from tests.helpers.mechanisms import KINDS, mechanism
from tests.helpers.scripted_entropy import Script, word
from tests.sampling.test_array import index_of, law_of, laws, near_boundaries

MORE = EXTENSION // 8
OFF = 1.1


def proposed(sampler: Sampler, uniform: float, centre: int, span: int) -> int | None:
    """Return what doubles draw at a uniform number, None where they leave it to balls."""
    found = sampler._propose(uniform, float(centre), span)
    if found is None:
        return None
    distance, low, high = found
    drawn = centre + int(distance)
    if low <= drawn <= high:
        return drawn
    return int(min(max(drawn, low), high)) if sampler._clips else None


def settled(proposing: Law, law: Law, centres: list[int], words: list[int]) -> tuple[int, int]:
    """Return how many draws doubles settle, and how many of these are not what balls draw of the 53 bits they saw."""
    sampler, reference = Sampler(proposing), ReferenceSampler(law)
    count = wrong = 0
    for centre in centres:
        span = law.lattice.project(centre)[1]
        for number in words:
            seen = number >> 11
            drawn = proposed(sampler, (seen + 0.5) * CELL, centre, span)
            if drawn is None:
                continue
            least = reference.extend(centre, span, seen, 53, Script(b"\0" * (MORE - 1) + b"\1"))
            most = reference.extend(centre, span, seen, 53, Script(b"\xff" * (MORE - 1) + b"\xfe"))
            count, wrong = count + 1, wrong + (not least == most == drawn)
    return count, wrong


def beside(law: Definition, made: Law, centres: list[int], count: int) -> list[int]:
    """Return words on and beside the places where the draw passes from one index to the next."""
    seeds = np.random.default_rng(9).integers(2**64, size=count, dtype=np.uint64)
    reference = ReferenceSampler(made)
    return [number for centre in centres for number in near_boundaries(law, reference, centre, seeds)]


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_what_doubles_settle_is_what_balls_draw(name: str) -> None:
    """A settled proposal is the draw of balls for every continuation of the bits, even beside a boundary."""
    made = mechanism(name)
    law, centres = made.claim.law, [index_of(made, answer) for answer in KINDS[name].answers]
    words = beside(Definition.of(made, bits=300), law, centres, 4)
    count, wrong = settled(law, law, centres, words)
    assert wrong == 0
    assert bool(count) == (name not in ("narrow", "no step, narrow"))


@pytest.mark.slow
def test_replay_sees_a_rate_off_by_one_in_a_million_million() -> None:
    """The words beside boundaries are near enough to tell a law from one whose rate is 1e-12 off."""
    made, centres = mechanism("islands, pooling 0.4"), [0, 9, 30]
    law = made.claim.law
    words = beside(Definition.of(made), law, centres, 20)
    off = Law(law.lattice, law.rate * (1 + Fraction(1, 10**12)), law.pooling)
    assert settled(law, law, centres, words)[1] == 0
    assert settled(off, law, centres, words)[1] > 0


@pytest.mark.slow
@settings(max_examples=40)
@given(laws(), st.integers(0, 2**32))
def test_what_doubles_settle_is_what_balls_draw_on_any_law(law: tuple[Spans, Fraction, Fraction], seed: int) -> None:
    """Whatever the spans, the rate and the pooling, a settled proposal is the draw of balls."""
    made, generator = law_of(*law), np.random.default_rng(seed)
    ends = [end for span in law[0] for end in span if end is not None] or [0]
    near = [ends[i] + int(generator.integers(-20, 21)) for i in generator.integers(len(ends), size=2)]
    centres = [made.lattice.project(index)[0] for index in near]
    assert settled(made, made, centres, beside(Definition(*law, bits=600), made, centres, 1))[1] == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_draw_is_that_of_balls_whether_doubles_settle_it_or_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes draw the same index if doubles settle nothing."""
    made, draws = mechanism(name), 60
    released = [[made._release_one(answer, Script(seed=i)) for i in range(draws)] for answer in KINDS[name].answers]
    monkeypatch.setitem(made._sampler.__dict__, "_propose", scalar._never)
    assert [
        [made._release_one(answer, Script(seed=i)) for i in range(draws)] for answer in KINDS[name].answers
    ] == released


def test_what_doubles_do_not_settle_is_decided_in_balls_from_the_same_bits() -> None:
    """Beside a boundary nothing is settled in doubles; the rest of the word decides, and after it more bits."""
    made = mechanism("islands, pooling 0.4")
    law, sampler, centre = Definition.of(made, bits=800), Sampler(made.claim.law), 13
    span = made.claim.lattice.project(centre)[1]
    for index, following in ((3, 4), (5, 9), (9, 13), (13, 14), (21, 22)):
        boundary = law.boundary(index, centre, WORD)
        assert proposed(sampler, ((boundary >> SHIFT) + 0.5) * CELL, centre, span) is None
        for off, expected in ((-1, index), (1, following)):
            entropy = Script(word(boundary + off, WORD))
            assert sampler.draw(centre, span, entropy) == expected
            assert entropy.asked == [WORD // 8]
        longer = law.boundary(index, centre, WORD + EXTENSION)
        for off, expected in ((-1, index), (1, following)):
            entropy = Script(word(longer + off, WORD + EXTENSION))
            assert sampler.draw(centre, span, entropy) == expected
            assert entropy.asked == [WORD // 8, MORE]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["one span, pooling 0.4", "half-line upwards", "islands", "islands, pooling 0.4"])
def test_releases_follow_the_law(name: str) -> None:
    """Single releases fit the definition, and no scale 10 % off."""
    made, answer = mechanism(name), KINDS[name].answers[1]
    table = Table.of(made, near=0, reach=200)
    drawn = [made.release(answer) for _ in range(40_000)]
    counts = np.bincount(np.searchsorted(table.indices, drawn), minlength=len(table.indices))
    assert p_value(counts, table.pmf(answer)) > FLOOR
    for off in (OFF, 1 / OFF**2):
        table.rate *= off
        assert p_value(counts, table.pmf(answer)) < FLOOR


@pytest.mark.parametrize("name", [name for name in KINDS if name.startswith("no step")])
def test_doubles_are_drawn_as_the_integers_they_stand_for(name: str) -> None:
    """A double takes the same bytes to the same release as the fraction that it is, inside the bounds and outside."""
    made = mechanism(name)
    for answer in (*KINDS[name].answers, -1.5, 6.0, 1e9, -1e150, 0.1):
        for seed in range(40):
            in_fractions = made._release_one(Fraction(answer), Script(seed=seed))
            assert made._release_one(float(answer), Script(seed=seed)) == float(in_fractions)


def test_few_draws_are_left_to_balls() -> None:
    """On bounds without a step, doubles settle all but about one draw in a thousand, at an end as in the middle."""
    for bounds in (Bounds(0, 100), Bounds(0, 5) | Bounds(7, None)):
        sampler = Sampler(BoundedLaplace(bounds, 1, 1).claim.law)
        for uniform in np.random.default_rng(4).random(4):
            near = [proposed(sampler, math.fmod(uniform + i / 997, 1.0), 0, 0) for i in range(997)]
            assert near.count(None) < 20


def test_indices_beyond_doubles_are_drawn_in_balls() -> None:
    """Where distances are no doubles, nothing is proposed in them."""
    assert Sampler(BoundedLaplace(Bounds(0, 2**53, step=1), 1, 1).claim.law)._propose is scalar._never
