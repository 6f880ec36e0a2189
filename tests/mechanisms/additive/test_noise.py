"""Noise: its probabilities, sums, balls, guesses and draws are those of the law that its paper gives."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.exact.balls import lower, upper, workprec
from inbounds.mechanisms.additive.noise import Noise
from inbounds.published.geng2014 import StaircaseNoise, best_first_stair
from inbounds.published.geng2018 import CutNoise
from inbounds.published.ghosh2009 import GeometricNoise
from inbounds.sampling.entropy import system
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.scripted_entropy import Script, word

FAR = 2.0**80
WORD = 96
BITS = 128

mp = mpmath.mp.clone()
mp.prec = 400

NOISES: dict[str, Noise] = {
    "geometric": GeometricNoise(1, Fraction(1)),
    "geometric, wide": GeometricNoise(20, Fraction(1, 2)),
    "geometric, narrow": GeometricNoise(1, Fraction(20)),
    "staircase of one step": StaircaseNoise(1, Fraction(1), 1),
    "staircase, half first": StaircaseNoise(20, Fraction(1), 10),
    "staircase, least first": StaircaseNoise(7, Fraction(1, 4), 1),
    "staircase, all first": StaircaseNoise(5, Fraction(2), 5),
    "staircase, narrow": StaircaseNoise(5, Fraction(20), 2),
    "cut": CutNoise(1, Fraction(1), Fraction(1, 1000)),
    "cut, wide": CutNoise(20, Fraction(1, 2), Fraction(1, 10**9)),
    "cut, narrow": CutNoise(3, Fraction(20), Fraction(1, 100)),
    "cut, nearly flat": CutNoise(4, Fraction(1, 1000), Fraction(2, 5)),
}
PURE = [name for name in NOISES if not name.startswith("cut")]

indices = st.integers(-90, 90)
names = st.sampled_from(sorted(NOISES))


def real(x: Fraction) -> Any:
    """Return a fraction in many bits."""
    return mp.mpf(x.numerator) / x.denominator


def rational(x: Any) -> Fraction:
    """Return a number of many bits as the fraction that it is."""
    return Fraction(int(x.man)) * Fraction(2) ** int(x.exp)


class Book:
    """A law by the book: `p(k)` in many bits from its formula, and what adds up from far out."""

    def __init__(self, noise: Noise) -> None:
        self.noise = noise
        far = self.reach(noise)
        self.p = [self.by_formula(noise, k) for k in range(far + 1)]
        self.mass, self.moment = [mp.mpf(0)], [mp.mpf(0)]
        for k in range(far, 0, -1):
            self.mass.append(self.mass[-1] + self.p[k])
            self.moment.append(self.moment[-1] + k * self.p[k])
        self.mass.append(self.p[0])
        self.mass.reverse()
        self.moment.append(mp.mpf(0))
        self.moment.reverse()

    @staticmethod
    def reach(noise: Noise) -> int:
        """Return how far from zero probabilities are below 1e-60 of any that is looked at."""
        return noise.limit if isinstance(noise, CutNoise) else 400 + math.ceil(140 * noise.scale)

    @staticmethod
    def by_formula(noise: Noise, k: int) -> Any:
        """Return `p(k)` as the paper writes it."""
        if isinstance(noise, StaircaseNoise):
            b, d, r = mp.exp(-real(noise.loss)), noise.distance, noise.first
            flight, stair = divmod(abs(k), d)
            a = (1 - b) / (2 * r + 2 * b * (d - r) - (1 - b))
            return a * b**flight * (1 if stair < r else b)
        if isinstance(noise, CutNoise):
            q = mp.exp(-real(noise.rate))
            inside = abs(k) <= noise.limit
            return (1 - q) * q ** abs(k) / (1 + q - 2 * q ** (noise.limit + 1)) if inside else mp.mpf(0)
        assert isinstance(noise, GeometricNoise)
        q = mp.exp(-real(noise.rate))
        return (1 - q) / (1 + q) * q ** abs(k)

    def at(self, k: int) -> Any:
        """Return `p(k)`."""
        return self.p[abs(k)] if abs(k) < len(self.p) else mp.mpf(0)

    def tails(self, k: int) -> tuple[Any, Any]:
        """Return the sums of `p` and of `k p` from a positive index on."""
        return (self.mass[k], self.moment[k]) if k < len(self.p) else (mp.mpf(0), mp.mpf(0))

    def below(self, k: int) -> Any:
        """Return the probability of at most `k`."""
        return self.tails(-k)[0] if k < 0 else 1 - self.tails(k + 1)[0]


@cache
def book(name: str) -> Book:
    """Return the law of a noise, written out once."""
    return Book(NOISES[name])


def array(*numbers: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return doubles, as the sums take them."""
    return np.array([float(number) for number in numbers])


# The law.


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISES)
def test_probabilities_are_those_of_the_formula_and_add_up_to_one(name: str) -> None:
    """What the formula gives for every index is what the doubles say, and all of it together is one."""
    law = book(name)
    assert abs(law.p[0] + 2 * law.tails(1)[0] - 1) < 1e-55
    looked_at = [k for k in range(-300, 301) if law.at(k) > 1e-290 or law.at(k) == 0]
    expected = [float(law.at(k)) for k in looked_at]
    assert NOISES[name].probability(array(*looked_at)).tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", NOISES)
def test_a_tail_is_enclosed_in_a_narrow_ball(name: str) -> None:
    """The ball around a tail holds the sum of the formula, and is no wider than its bits make it."""
    noise, law = NOISES[name], book(name)
    for bits in (BITS, 3 * BITS):
        for k in (1, 2, 3, 5, 17, 100, 400):
            exact = rational(law.tails(k)[0])
            found = noise.tail(k, bits)
            with workprec(bits):
                least, most = lower(found), upper(found)
            slack = exact / 10**55  # what lies beyond the book
            assert least - slack <= exact <= most + slack
            assert most - least <= exact / 2 ** (bits - 20)


@pytest.mark.parametrize("name", NOISES)
def test_the_distribution_function_rises_from_tail_to_tail(name: str) -> None:
    """At most k: the tail beyond minus k below zero, all but the tail above k from zero on."""
    noise, law = NOISES[name], book(name)
    for k in (-150, -8, -2, -1, 0, 1, 2, 8, 150):
        assert float(noise.below(k, BITS).mid()) == pytest.approx(float(law.below(k)), rel=1e-14, abs=1e-60)


@pytest.mark.parametrize("name", NOISES)
def test_tails_in_doubles_are_the_sums_of_the_formula(name: str) -> None:
    """The sums of p(k), k p(k) and k**2 p(k) from an index on are those of the formula, to many digits."""
    looked_at, law = [*range(1, 60), 100, 250], book(name)
    mass, moment = NOISES[name].tails(array(*looked_at))
    square = NOISES[name].squares(array(*looked_at))
    exact = [law.tails(k) for k in looked_at]
    assert mass.tolist() == pytest.approx([float(m) for m, _ in exact], rel=1e-9, abs=1e-280)
    assert moment.tolist() == pytest.approx([float(m) for _, m in exact], rel=1e-9, abs=1e-280)
    squares = [float(sum((k * k * law.p[k] for k in range(start, len(law.p))), mp.mpf(0))) for start in (1, 17, 100)]
    assert square[[0, 16, 59]].tolist() == pytest.approx(squares, rel=1e-9, abs=1e-280)


@given(names, indices, indices)
def test_what_lies_between_two_indices_adds_up(name: str, first: int, last: int) -> None:
    """Between two indices there are the sums of the formula; nothing if the last comes before the first."""
    law = book(name)
    mass, moment = (float(x[0]) for x in NOISES[name].between(array(first), array(last)))
    square = float(NOISES[name].squares_between(array(first), array(last))[0])
    assert mass == pytest.approx(float(sum((law.at(k) for k in range(first, last + 1)), mp.mpf(0))), abs=1e-13)
    exact = float(sum((k * law.at(k) for k in range(first, last + 1)), mp.mpf(0)))
    assert moment == pytest.approx(exact, rel=1e-9, abs=1e-11)
    squares = float(sum((k * k * law.at(k) for k in range(first, last + 1)), mp.mpf(0)))
    assert square == pytest.approx(squares, rel=1e-9, abs=1e-9)


@given(names, st.integers(1, 90), st.integers(0, 30))
def test_far_out_what_lies_between_keeps_its_digits(name: str, first: int, more: int) -> None:
    """On one side of zero a small probability is not lost among larger ones."""
    law = book(name)
    exact = float(sum((law.at(k) for k in range(first, first + more + 1)), mp.mpf(0)))
    above, below = (
        NOISES[name].between(array(a), array(b)) for a, b in ((first, first + more), (-first - more, -first))
    )
    assert above[0][0] == pytest.approx(exact, rel=1e-8, abs=1e-280)
    assert (below[0][0], below[1][0]) == (above[0][0], -above[1][0])


@pytest.mark.slow
@given(names, indices)
def test_to_either_side_there_is_no_end(name: str, k: int) -> None:
    """Up to an index and from the next one on, however far, makes one, and the moments cancel."""
    noise = NOISES[name]
    below, above = noise.between(array(-FAR), array(k)), noise.between(array(k + 1), array(FAR))
    assert below[0][0] + above[0][0] == pytest.approx(1, abs=1e-14)
    assert below[1][0] + above[1][0] == pytest.approx(0, abs=1e-10 * noise.scale)
    assert below[0][0] == pytest.approx(float(book(name).below(k)), rel=1e-8, abs=1e-280)


@pytest.mark.parametrize("name", NOISES)
def test_the_mean_distance_is_that_of_the_formula(name: str) -> None:
    """The expected distance from zero is the sum of |k| p(k)."""
    assert NOISES[name].mean_distance == pytest.approx(float(2 * book(name).tails(1)[1]), rel=1e-9)


@pytest.mark.parametrize("name", NOISES)
def test_next_to_nothing_lies_beyond_the_reach(name: str) -> None:
    """Beyond the reach of a noise there is a probability below 1e-17."""
    noise = NOISES[name]
    assert 2 * float(noise.tails(array(noise.reach + 1))[0][0]) < 1e-17


# Privacy.


def worst_ratio(name: str, distance: int) -> float:
    """Return the greatest log ratio of probabilities at most so far apart."""
    law, span = book(name), 3 * NOISES[name].distance + 30
    logs = np.array([float(mp.log(law.at(k))) for k in range(-span, span + 1)])
    return max(float(abs(logs[d:] - logs[:-d]).max()) for d in range(1, distance + 1))


@pytest.mark.parametrize("name", PURE)
def test_pure_noise_loses_what_it_says_and_farther_apart_more(name: str) -> None:
    """Up to its distance a noise loses just its loss; one step beyond it loses more."""
    noise = NOISES[name]
    assert worst_ratio(name, noise.distance) == pytest.approx(float(noise.loss), rel=1e-12)
    assert worst_ratio(name, noise.distance + 1) > float(noise.loss) * 1.01


@pytest.mark.parametrize("name", [name for name in NOISES if name not in PURE])
def test_cut_noise_exempts_just_its_delta(name: str) -> None:
    """The hockey-stick divergence at the noise's epsilon is its delta, and one step less of room would leave more."""
    noise, law = NOISES[name], book(name)
    assert isinstance(noise, CutNoise)
    factor, n = mp.exp(real(noise.loss)), noise.limit

    def exempt(shift: int) -> Any:
        gains = (law.at(k) - factor * law.at(k - shift) for k in range(-n, n + shift + 1))
        return sum((gain for gain in gains if gain > 1e-50), mp.mpf(0))

    assert float(exempt(noise.distance)) == pytest.approx(float(noise.delta), rel=1e-12)
    assert exempt(noise.distance - 1) <= exempt(noise.distance)
    assert exempt(noise.distance + 1) > 1.0001 * exempt(noise.distance)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**12), Fraction(1, 1000), Fraction(9, 20)])
@pytest.mark.parametrize("distance", [1, 7, 2**30])
def test_the_limit_of_cut_noise_is_the_least_that_keeps_delta(
    distance: int, epsilon: Fraction, delta: Fraction
) -> None:
    """What the limit leaves is at most delta, and a limit one lower, if it may be, would leave more than that."""
    noise = CutNoise(distance, epsilon, delta)
    q, n = mp.exp(-real(noise.rate)), noise.limit

    def left(limit: int) -> Any:
        return q ** (limit + 1 - distance) * (1 - q**distance) / (1 + q - 2 * q ** (limit + 1))

    assert noise.delta <= delta
    assert float(left(n)) == pytest.approx(float(noise.delta), rel=1e-12)
    assert n == distance or rational(left(n - 3)) > delta


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1000, 1e-6), (1000, 1e-3), (100, 1e-300), (300, 1e-200), (1e-9, 1e-300)]
)
@pytest.mark.parametrize("distance", [1, 2**12])
def test_every_epsilon_and_delta_has_a_limit(
    epsilon: float, delta: float, distance: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the least epsilon to the greatest and for every delta, the paper's limit is found after a few looks."""
    looks, look = [], CutNoise._mass_left

    def noted(noise: CutNoise, limit: int) -> Fraction:
        looks.append(limit)
        return look(noise, limit)

    monkeypatch.setattr(CutNoise, "_mass_left", noted)
    noise = CutNoise(distance, Fraction(epsilon), Fraction(delta))
    expected = mp.log(1 + mp.expm1(epsilon) / (2 * mp.mpf(delta))) * distance / mp.mpf(epsilon)
    assert abs(noise.limit - expected) <= max(3, float(expected) * 1e-9)
    assert noise.delta <= Fraction(delta)
    assert len(looks) < 20


@pytest.mark.parametrize("epsilon", [1e-9, 1e-6, 1e-3])
def test_cut_noise_that_is_all_but_flat_keeps_its_digits(epsilon: float) -> None:
    """Where the noise hardly falls before it ends, its mean distance is half its limit, its quarters hold a quarter."""
    noise = CutNoise(2**20, Fraction(epsilon), Fraction(2, 5))
    assert noise.mean_distance == pytest.approx(noise.limit / 2, rel=2 * epsilon + 1e-6)
    mass = noise.between(array(1), array(noise.limit // 2))[0]
    assert mass[0] == pytest.approx(1 / 4, rel=2 * epsilon + 1e-5)


# The first stair.


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(3), Fraction(10), Fraction(1000)]
)
@pytest.mark.parametrize("distance", [1, 2, 3, 5, 8, 15, 40])
def test_no_first_stair_has_a_lesser_mean_distance(distance: int, epsilon: Fraction) -> None:
    """The first stair that is chosen is as good as the best of all."""
    found = StaircaseNoise(distance, epsilon, best_first_stair(distance, epsilon)).mean_distance
    least = min(StaircaseNoise(distance, epsilon, first).mean_distance for first in range(1, distance + 1))
    assert found == pytest.approx(least, rel=1e-12)


# Guesses and draws.


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISES)
def test_a_guess_is_next_to_the_truth(name: str) -> None:
    """What doubles guess is at most two steps from the least index up to which there is the probability."""
    noise, law = NOISES[name], book(name)
    for probability in (1e-25, 1e-12, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.99):
        least = -max(k for k in range(1, len(law.p)) if k == 1 or law.tails(k)[0] >= probability)
        while law.below(least) < probability:
            least += 1
        assert abs(noise.guess(probability, 1 - probability) - least) <= 2
        assert abs(-noise.guess(1 - probability, probability) - least) <= 2


@pytest.mark.parametrize("name", NOISES)
def test_a_draw_passes_an_index_where_the_formula_does(name: str) -> None:
    """A number a hair below the distribution function at k draws at most k, one a hair above it more."""
    noise, law = NOISES[name], book(name)
    for k in (-20, -3, -1, 0, 1, 2, 7, 30):
        boundary = int(mp.floor(law.below(k) * mp.mpf(2) ** WORD))
        if 0 < boundary < 2**WORD - 1:
            assert noise.draw(Script(word(boundary - 1, WORD))) <= k
            assert noise.draw(Script(word(boundary + 1, WORD))) > k


@pytest.mark.parametrize("name", NOISES)
def test_extreme_numbers_are_drawn_too(name: str) -> None:
    """The number 0 and the ones next to 1 draw indices as rare as the word, mirror images of each other."""
    noise, law = NOISES[name], book(name)
    least = noise.draw(Script(bytes(WORD // 8) + b"\1" * 16))
    most = noise.draw(Script(b"\xff" * (WORD // 8) + b"\xfe" * 16))
    assert least == -most < 0
    assert law.below(least - 1) < mp.mpf(2) ** -WORD


@pytest.mark.slow
@pytest.mark.parametrize("name", ["geometric, wide", "staircase, half first", "staircase, least first", "cut, wide"])
def test_draws_follow_the_law(name: str) -> None:
    """Draws fit the formula, and not the law of a noise with an epsilon 20 % off either way."""
    noise = NOISES[name]
    counts = Counter(noise.draw(system) for _ in range(20_000))
    looked_at = np.arange(min(-999, *counts), max(999, *counts) + 1.0)
    seen = [counts[int(k)] for k in looked_at]
    assert p_value(seen, [float(book(name).at(int(k))) for k in looked_at]) > FLOOR
    for off in (Fraction(5, 6), Fraction(6, 5)):
        other = _rescaled(noise, off).probability(looked_at)
        assert p_value(seen, np.maximum(other, 1e-30)) < FLOOR


def _rescaled(noise: Noise, factor: Fraction) -> Noise:
    if isinstance(noise, StaircaseNoise):
        return StaircaseNoise(noise.distance, noise.loss * factor, noise.first)
    if isinstance(noise, CutNoise):
        return CutNoise(noise.distance, noise.loss * factor, noise.delta)
    return GeometricNoise(noise.distance, noise.loss * factor)
