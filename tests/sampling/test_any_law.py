"""One draw from any law inverts its exact distribution function, at a number of which more bits come as needed."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from inbounds.exact.balls import ball, workprec
from inbounds.published.cormode2018 import FairColumn
from inbounds.published.geng2014 import StaircaseNoise
from inbounds.published.geng2018 import CutNoise
from inbounds.sampling.any_law import IntegerLaw, draw
from inbounds.sampling.entropy import system
from inbounds.sampling.reference import EXTENSION, WORD
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.scripted_entropy import Script, word

MORE = EXTENSION // 8

mp = mpmath.mp.clone()
mp.prec = 3000


@dataclass(frozen=True)
class Rational:
    """A law on 0, 1, 2, … with rational probabilities, and a guess that may be wrong."""

    probabilities: tuple[Fraction, ...]
    wrong: Callable[[int], int] = lambda index: index
    looked_at: list[int] = field(default_factory=list)

    @property
    def steps(self) -> list[Fraction]:
        """The distribution function."""
        return list(accumulate(self.probabilities))

    def below(self, index: int, bits: int) -> arb:
        """Return a ball around the probability of at most an index."""
        self.looked_at.append(index)
        with workprec(bits):
            return ball(Fraction(0) if index < 0 else self.steps[min(index, len(self.probabilities) - 1)])

    def guess(self, probability: float, rest: float) -> int:
        """Return about the least index up to which there is this probability."""
        return self.wrong(bisect_left(self.steps, probability))

    def index(self, number: Fraction) -> int:
        """Return the index that a number draws: the first at which the distribution function is above it."""
        return next(index for index, step in enumerate(self.steps) if number < step)


THIRDS = Rational((Fraction(1, 3),) * 3)
UNEVEN = Rational(tuple(Fraction(n, 97) for n in (1, 40, 0, 7, 0, 0, 30, 19)))


def bits_of(step: Fraction, bits: int) -> int:
    """Return the first bits of a number, as an integer."""
    return math.floor(step * 2**bits)


# Exactness.


@pytest.mark.parametrize("law", [THIRDS, UNEVEN])
def test_the_draw_changes_exactly_where_the_distribution_function_steps(law: Rational) -> None:
    """All numbers below a step draw what is below it, all others what is above: to the last bit that is known."""
    for number, step in enumerate(law.steps[:-1]):
        boundary = bits_of(step, WORD)
        below, above = law.index(step - Fraction(1, 10**9)), law.index(step)
        assert below <= number < above
        for off, expected in ((-(2**40), below), (-1, below), (1, above), (2**40, above)):
            entropy = Script(word(boundary + off, WORD))
            assert draw(law, entropy) == expected
            assert entropy.asked == [WORD // 8]


@pytest.mark.parametrize("extensions", [1, 2, 7, 8, 12])
def test_a_number_that_begins_like_a_step_is_extended_until_it_is_decided(extensions: int) -> None:
    """Bits that are those of the step itself settle nothing, however many; the draw asks on and keeps all it has."""
    bits = WORD + extensions * EXTENSION
    for law in (THIRDS, UNEVEN):
        for step in law.steps[:-1]:
            boundary = bits_of(step, bits)
            for off in (-1, 1):
                entropy = Script(word(boundary + off, bits))
                assert draw(law, entropy) == law.index(Fraction(2 * (boundary + off) + 1, 2 ** (bits + 1)))
                assert entropy.asked == [WORD // 8, *[MORE] * extensions]


@given(st.binary(min_size=WORD // 8 + MORE, max_size=WORD // 8 + MORE))
def test_every_number_draws_the_index_that_its_place_says(number: bytes) -> None:
    """What is drawn is the first index at which the distribution function is above the number."""
    place = Fraction(int.from_bytes(number), 1 << 8 * len(number))
    assert draw(UNEVEN, Script(number)) == UNEVEN.index(place)


def test_a_step_on_a_power_of_two_is_settled_at_once() -> None:
    """Where balls are exact, the number one half begins what is above the step at one half, and takes one word."""
    law = Rational((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)))
    for number, expected in ((0, 0), (2 ** (WORD - 1) - 1, 0), (2 ** (WORD - 1), 1), (3 * 2 ** (WORD - 2), 2)):
        entropy = Script(word(number, WORD))
        assert draw(law, entropy) == expected
        assert entropy.asked == [WORD // 8]


def test_what_has_no_probability_is_never_drawn() -> None:
    """Indices without probability are passed over, at every number beside them and beside the ends."""
    numbers = [0, 2**WORD - 1, *(bits_of(step, WORD) + off for step in UNEVEN.steps[:-1] for off in (-1, 0, 1))]
    drawn = {draw(UNEVEN, Script(word(number, WORD))) for number in numbers}
    assert drawn == {index for index, p in enumerate(UNEVEN.probabilities) if p}


def test_a_single_possible_index_is_always_drawn() -> None:
    """A certain law needs no luck."""
    certain = Rational((Fraction(0), Fraction(0), Fraction(1)))
    assert {draw(certain, Script(seed=seed)) for seed in range(20)} == {2}


# Guesses only save time.


@given(st.integers(-(10**6), 10**6), st.integers(0, 2**WORD - 1))
def test_wrong_guesses_settle_to_the_right_index(off: int, number: int) -> None:
    """However far off the guess is, the index is the one that the number draws."""
    law = Rational(UNEVEN.probabilities, lambda index: index + off)
    assert draw(law, Script(word(number, WORD), seed=1)) == draw(UNEVEN, Script(word(number, WORD), seed=1))
    assert len(law.looked_at) < 200


@given(st.integers(0, 2**WORD - 1))
def test_a_right_guess_is_checked_and_no_more(number: int) -> None:
    """With a right guess the distribution function is looked at on either side of it, and that is all."""
    law = Rational(THIRDS.probabilities)
    drawn = draw(law, Script(word(number, WORD)))
    assert law.looked_at == [drawn, drawn - 1]


@pytest.mark.slow
def test_a_guess_that_never_moves_is_found_out() -> None:
    """A guess that is the same for every number does not change the law."""
    law = Rational(THIRDS.probabilities, lambda _: 1)
    counts = Counter(draw(law, system) for _ in range(10_000))
    assert p_value([counts[k] for k in range(3)], [1 / 3] * 3) > FLOOR
    assert p_value([counts[k] for k in range(3)], [0.45, 0.3, 0.25]) < FLOOR


# Laws that are used.


def staircase(distance: int, epsilon: Fraction, first: int) -> tuple[StaircaseNoise, Callable[[int], Any]]:
    """Return a noise and the logarithm-free powers of its law, not yet normalised."""
    noise = StaircaseNoise(distance, epsilon, first)
    b = mp.exp(-mp.mpf(noise.loss.numerator) / noise.loss.denominator)
    return noise, lambda k: b ** (abs(k) // distance + (abs(k) % distance >= first))


def cut(distance: int, epsilon: Fraction, delta: Fraction) -> tuple[CutNoise, Callable[[int], Any]]:
    """Return a noise that never exceeds a limit, and the powers of its law."""
    noise = CutNoise(distance, epsilon, delta)
    q = mp.exp(-mp.mpf(noise.rate.numerator) / noise.rate.denominator)
    return noise, lambda k: q ** abs(k) if abs(k) <= noise.limit else mp.mpf(0)


def column(top: int, count: int, rate: Fraction) -> tuple[FairColumn, Callable[[int], Any]]:
    """Return the law for one true count, and the powers that its paper gives."""
    a = mp.exp(-mp.mpf(rate.numerator) / rate.denominator)

    def power(k: int) -> Any:
        distance, room = abs(k - count), min(count, top - count)
        exponent = distance if distance < room else -(-(distance + room) // 2)
        return a**exponent if 0 <= k <= top else mp.mpf(0)

    return FairColumn(top, count, rate), power


LAWS: dict[str, tuple[IntegerLaw, Callable[[int], Any]]] = {
    "staircase": staircase(7, Fraction(1), 3),
    "cut": cut(3, Fraction(1, 2), Fraction(1, 100)),
    "column, even": column(20, 4, Fraction(1, 5)),
    "column, odd": column(21, 10, Fraction(1, 5)),
    "column, first": column(9, 0, Fraction(1)),
    "column of one": column(0, 0, Fraction(1)),
    "column of two": column(1, 0, Fraction(1, 3)),
}


def probabilities(name: str) -> dict[int, Any]:
    """Return the law from its powers, in many bits; what is left out is far below the last bit of any word here."""
    _, power = LAWS[name]
    powers = {k: power(k) for k in range(-1500, 1501)}
    total = sum(powers.values(), mp.mpf(0))
    return {k: p / total for k, p in powers.items() if p}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_laws_that_are_used_are_drawn_as_they_are_written(name: str) -> None:
    """Beside each step of the distribution function that the paper's powers add up to, the draw changes."""
    law, chances = LAWS[name][0], probabilities(name)
    steps = list(accumulate(chances.values()))
    for (k, following), step in zip(zip(chances, list(chances)[1:], strict=False), steps, strict=False):
        boundary = int(mp.floor(step * mp.mpf(2) ** WORD))
        if not 2**WORD // 10**6 < boundary < 2**WORD - 2**WORD // 10**6:
            continue
        for off, expected in ((-1, k), (1, following)):
            assert draw(law, Script(word(boundary + off, WORD))) == expected
        longer = int(mp.floor(step * mp.mpf(2) ** (WORD + EXTENSION)))
        for off, expected in ((-1, k), (1, following)):
            entropy = Script(word(longer + off, WORD + EXTENSION))
            assert draw(law, entropy) == expected
            assert entropy.asked == [WORD // 8, MORE]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["staircase", "cut", "column, even", "column, odd"])
def test_draws_fit_the_law(name: str) -> None:
    """Draws fit the paper's powers, and not those of a law that falls 30 % slower or 40 % faster."""
    law, chances = LAWS[name][0], {k: float(p) for k, p in probabilities(name).items()}
    counts = Counter(draw(law, system) for _ in range(20_000))
    assert set(counts) <= set(chances)
    seen = [counts[k] for k in chances]
    assert p_value(seen, list(chances.values())) > FLOOR
    for off in (0.7, 1.4):
        other = np.array(list(chances.values())) ** off
        assert p_value(seen, other / other.sum()) < FLOOR


@pytest.mark.parametrize("name", LAWS)
def test_a_draw_takes_one_word_whatever_comes_out(name: str) -> None:
    """Unless the bits leave it undecided, a draw asks for one word and no more."""
    entropy = Script(seed=5)
    for _ in range(200):
        draw(LAWS[name][0], entropy)
    assert entropy.asked == [WORD // 8] * 200
