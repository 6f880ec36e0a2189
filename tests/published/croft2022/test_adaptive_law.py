"""The law with a scale for each location is what the paper says, and its delta is what brute force finds."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from inbounds import InvalidParameter
from inbounds.exact.balls import ball, lock, lower, upper, workprec
from inbounds.published.croft2022.adaptive_delta import Box, PairSearch, certified_delta, pair_delta
from inbounds.published.croft2022.adaptive_law import AdaptiveLaw, border_scale, relative_rates

FINE = 2**40
PEAK = 0.7680390470125891
POSITIONS = [Fraction(10) ** n * k for n in range(-12, 7) for k in (1, 3)] + [
    1 + sign * Fraction(1, 10**n) for n in range(2, 15) for sign in (-1, 1)
]
COARSE = [(distance, epsilon) for distance in range(1, 6) for epsilon in (0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 30.0)]

mp: Any = mpmath.mp.__class__()
mp.dps = 50


class Oracle:
    """The paper's scale by bisection, and the law and its delta by their definitions.  Nothing is from the package."""

    def __init__(self, distance: int, epsilon: float) -> None:
        self.distance, self.plain = distance, mp.mpf(epsilon) / distance
        self.odds = math.exp(epsilon)

    @staticmethod
    @cache
    def relative(x: Any) -> Any:
        """`1 / s(x)`: the solution of `s (2 exp(x/s) - 1) = c exp(x)` on its side of `x = 1`."""
        peak = Oracle.peak()
        c = 2 * mp.exp(peak - 1)
        if x in (0, 1):
            return peak if x else 1 / c
        wanted = x - mp.log(x) + mp.log(c)

        def value(t: Any) -> Any:
            return t + mp.log(2 - mp.exp(-t)) - mp.log(t) - wanted

        low, high = (x / 2, peak) if x < 1 else (peak, x)
        while 16 * (high - low) > min(low, max(abs(low - peak), abs(high - peak))):
            middle = (low + high) / 2
            low, high = (middle, high) if (value(middle) > 0) == (x < 1) else (low, middle)
        for _ in range(7):  # Newton's steps, from much nearer to the solution than to the peak and to zero
            low -= value(low) / (1 + 1 / (2 * mp.exp(low) - 1) - 1 / low)
        return low / x

    @staticmethod
    @cache
    def peak() -> Any:
        """The solution where both sides meet."""
        return mp.findroot(lambda t: 2 * mp.exp(t) * (1 - t) - 1, PEAK)

    def rate(self, location: int) -> Any:
        """One step in scales of the location's own."""
        return self.plain * self.relative(location * self.plain)

    def z(self, location: int) -> Any:
        """The total mass around a location."""
        q = mp.exp(-self.rate(location))
        return (1 + q - q ** (location + 1)) / (1 - q)

    def probability(self, output: int, location: int) -> Any:
        """The law itself."""
        return mp.exp(-self.rate(location) * abs(output - location)) / self.z(location)

    def table(self, locations: int, outputs: int) -> NDArray[np.float64]:
        """The probabilities of the first outputs at the first locations, in doubles."""
        rates = np.array([float(self.rate(m)) for m in range(locations)])[:, None]
        z = np.array([float(self.z(m)) for m in range(locations)])[:, None]
        return np.exp(-rates * abs(np.arange(outputs) - np.arange(locations)[:, None])) / z

    def greatest_delta(self, table: NDArray[np.float64]) -> tuple[float, tuple[int, int]]:
        """The greatest delta of all pairs in a table, in either direction, and the pair."""
        found = (0.0, (0, 0))
        for shift in range(1, self.distance + 1):
            near, far = table[:-shift], table[shift:]
            outwards, inwards = (np.maximum(p - self.odds * r, 0).sum(axis=1) for p, r in ((near, far), (far, near)))
            m, n = int(outwards.argmax()), int(inwards.argmax())
            found = max(found, (float(outwards[m]), (m, m + shift)), (float(inwards[n]), (n + shift, n)))
        return found


def law(distance: int, epsilon: float | str | Fraction) -> AdaptiveLaw:
    """The law for a sensitivity of so many steps."""
    return AdaptiveLaw(distance, Fraction(epsilon))


def scale(position: Fraction, bits: int = 200) -> arb:
    """The scale at a position in plain scales, on a lattice that has it."""
    with lock(), workprec(bits):
        if position == 0:
            return border_scale(bits)
        return position.numerator / law(position.denominator, 1).depth(position.numerator, bits) / position.denominator


def near(found: float | Fraction | arb, expected: Any, tolerance: float) -> bool:
    """Whether two numbers agree, relative to the second."""
    return abs(float(found) / float(expected) - 1) <= tolerance


# The law.


def test_the_depth_is_enclosed_on_the_right_side() -> None:
    """The paper's equation changes sign between the ends of the ball, which is all on the right side of t*."""
    with lock(), workprec(700):
        peak = 1 + (-1 / (2 * arb(1).exp())).lambertw()
        for position in set(POSITIONS) - {Fraction(1)}:
            depth = law(position.denominator, 1).depth(position.numerator, 128)
            x = ball(position)

            def misses(t: arb, x: arb = x) -> arb:
                return t + (2 - (-t).exp()).log() - t.log() - (x - x.log() + border_scale(700).log())

            assert depth.rel_accuracy_bits() >= 128
            assert depth < peak if position < 1 else depth > peak
            assert misses(depth.lower()) * misses(depth.upper()) < 0


def test_the_branches_meet_at_one_exactly() -> None:
    """At x = 1 the depth is t*, to any precision, and one step to either side it differs by the slope there."""
    exactly = law(FINE, Fraction(1, 3))
    with lock(), workprec(1000):
        before, at, after = (exactly.depth(3 * FINE + k, 1000) for k in (-1, 0, 1))
        assert at.rel_accuracy_bits() >= 990
        assert (2 * at.exp() * (1 - at)).overlaps(arb(1))
        assert before < at < after
        step = ball(Fraction(1, 3 * FINE))
        assert abs((at - before) / step / at.sqrt() - 1) < arb(1e-11)
        assert abs((after - at) / step / at.sqrt() - 1) < arb(1e-11)


@pytest.mark.parametrize(("epsilon", "expected"), [("0.1", 15.4614), ("0.5", 2.83079), ("1", 1.30202), ("2", 0.587355)])
def test_scales_are_those_of_the_paper(epsilon: str, expected: float) -> None:
    """The scale is 1.58595 plain scales at the border, and one sensitivity away what the paper's formula gives."""
    found = law(FINE, epsilon)
    assert near(1 / found.rate(0, 64) / FINE, 1.58595 / float(epsilon), 2e-5)
    assert near(1 / found.rate(FINE, 64) / FINE, expected, 5e-6)


def test_the_scale_falls_from_the_border_to_the_plain_one() -> None:
    """The scale falls everywhere, from c to 1."""
    positions = sorted({Fraction(0), Fraction(1), *POSITIONS})
    with lock(), workprec(200):
        scales = [scale(position) for position in positions]
        assert all(one > other for one, other in pairwise(scales))
        assert scales[0].overlaps(border_scale(200))
        assert 1 < scales[-1] < 1.000001


def test_the_logarithm_of_the_scale_is_convex_and_falls_slowly() -> None:
    """What the proof of delta rests on: -(ln s)' falls, and is at most 1 - 1/s."""
    width = Fraction(1, 2**20)
    with lock(), workprec(200):
        slopes = []
        for k in [*range(0, 400, 4), *range(400, 4000, 97)]:
            one, other = (scale(Fraction(k, 64) + shift) for shift in (0, width))
            slopes.append((one / other).log() / ball(width))
            assert slopes[-1] < 1 - 1 / one
        assert all(one > other for one, other in pairwise(slopes))
        assert not slopes[0] < (1 - 1 / scale(Fraction(0))) / 2, "a control: half of it would be too strict"


@pytest.mark.parametrize("bits", [64, 128, 500])
@pytest.mark.parametrize("location", [0, 1, 10**4, 3 * 2**33, 10 * 2**33 + 1, 10**18])
def test_rates_are_as_precise_as_asked(location: int, bits: int) -> None:
    """A rate has the bits it was asked for, wherever the location is, and balls of different precision overlap."""
    found = law(2**33, 0.1).rate(location, bits)
    assert found.rel_accuracy_bits() >= bits - 4
    assert found.overlaps(law(2**33, 0.1).rate(location, 2 * bits))


@pytest.mark.slow
def test_rates_follow_the_paper() -> None:
    """Rates in balls and in doubles agree with a bisection of the paper's equation."""
    for distance, epsilon in ((1, 1.0), (7, 0.3), (2, 30.0)):
        found, oracle = law(distance, epsilon), Oracle(distance, epsilon)
        doubles = found.rates(np.arange(40.0))
        for m in range(40):
            assert near(doubles[m], oracle.rate(m), 1e-15)
            assert abs(mp.mpf(str(found.rate(m, 128).mid().str(38, radius=False))) / oracle.rate(m) - 1) < 1e-30


def test_doubles_are_right_to_the_last_digits_everywhere() -> None:
    """Relative rates in doubles are within some rounding errors of the balls, also next to x = 1 and far out."""
    near_one = 1 + np.concatenate([s * 10.0 ** np.linspace(-16, -0.1, 80) for s in (-1, 1)])
    positions = np.concatenate([[0, 1], 10.0 ** np.linspace(-13, 19, 160), near_one, np.linspace(0.01, 5, 200)])
    for x, found in zip(positions, relative_rates(positions), strict=True):
        assert abs(found * float(scale(Fraction(x), 80)) - 1) < 1e-15, x


@pytest.mark.slow
@pytest.mark.parametrize(("distance", "epsilon"), [(1, 1.0), (3, 0.5), (2, 7.0)])
def test_below_sums_the_probabilities(distance: int, epsilon: float) -> None:
    """The distribution function is the sum of the law, 0 beyond the border, and tends to 1."""
    found, oracle = law(distance, epsilon), Oracle(distance, epsilon)
    for m in (0, 1, 2, 5, 30):
        total = mp.mpf(0)
        assert found.below(-1, m, 128) == 0
        for k in range(60):
            total += oracle.probability(k, m)
            below = found.below(k, m, 128)
            assert abs(mp.mpf(below.mid().str(38, radius=False)) - total) < 1e-30
            assert near(found.probabilities(np.array([k]), np.array([m]))[0], oracle.probability(k, m), 1e-13)
        assert found.probabilities(np.array([-1.0]), np.array([m]))[0] == 0
        assert abs(1 - found.below(10**6, m, 128)) < arb(1e-35)


@pytest.mark.slow
@pytest.mark.parametrize(("distance", "epsilon"), [(1, 0.2), (1, 1.0), (4, 3.0)])
def test_errors_and_biases_are_those_of_the_law(distance: int, epsilon: float) -> None:
    """Expected distance and bias are the sums that define them."""
    found, table = law(distance, epsilon), Oracle(distance, epsilon).table(40, 1500)
    outputs, locations = np.arange(1500.0), np.arange(40.0)
    away = outputs - locations[:, None]
    assert np.allclose(found.errors(locations), (table * abs(away)).sum(axis=1), rtol=1e-11, atol=0)
    assert np.allclose(found.biases(locations), (table * away).sum(axis=1), rtol=1e-9, atol=1e-12)


def test_errors_keep_their_digits_on_a_fine_lattice() -> None:
    """With a step of 2**-34 scales, expected distance and bias are those of 50-digit arithmetic to 1e-13."""
    found, oracle = law(2**34, 1), Oracle(2**34, 1)
    locations = [0, 1, 2**20, 2**33, 2**34, 2**34 + 1, 3 * 2**34, 40 * 2**34]
    errors, biases = found.errors(np.array(locations, float)), found.biases(np.array(locations, float))
    for m, error, bias in zip(locations, errors, biases, strict=True):
        q = mp.exp(-oracle.rate(m))
        above, inside = q / (1 - q) ** 2, q * (1 - (m + 1) * q**m + m * q ** (m + 1)) / (1 - q) ** 2
        assert near(error, (above + inside) / oracle.z(m), 1e-13)
        assert near(bias, (above - inside) / oracle.z(m), 1e-13)


@pytest.mark.parametrize(("distance", "epsilon"), [(1, 1), (2**34, 0.5), (3, 20)])
def test_a_guess_is_nearly_the_quantile(distance: int, epsilon: float) -> None:
    """The guess is at most two steps from the least output up to which there is so much probability."""
    found = law(distance, epsilon)
    for m in (0, 1, distance, 5 * distance + 1, 300 * distance):
        for probability in (0.0, 1e-12, 0.01, 0.3, 0.5, 0.7, 0.99, 1 - 1e-9):
            k, target = found.guess(probability, 1 - probability, m), ball(Fraction(probability))
            assert k >= 0
            assert found.below(k + 2, m, 128) >= target
            assert k < 3 or found.below(k - 3, m, 128) < target


# Its delta.


@pytest.mark.parametrize(
    ("epsilon", "delta", "broken"),
    [("0.1", 1.652e-4, 79.6698), ("0.5", 3.057e-4, 18.597), ("1", 1.563e-4, 11.1712), ("2", 1.547e-5, 7.71295)],
)
def test_deltas_in_the_limit_of_a_fine_lattice(epsilon: str, delta: float, broken: float) -> None:
    """Up to epsilon = 2 the border and the location one sensitivity away are the worst pair, with these figures."""
    found = certified_delta(law(FINE, epsilon))
    assert near(found.bound, delta, 4e-4)
    assert near(found.broken_from / FINE, broken, 1e-5)
    assert found.pair == (0, FINE)


@pytest.mark.parametrize("epsilon", ["1e-9", "0.001", "0.3", "2.1", "2.3", "7", "30"])
@pytest.mark.parametrize("distance", [1, 2, 10, 333, 10**5, None])
def test_the_bound_is_tight(distance: int | None, epsilon: str) -> None:
    """Proved from above and from below the same, to 1e-5, on coarse and fine lattices."""
    adaptive = law(distance or math.ceil(2**34 * Fraction(epsilon)), epsilon)
    found = certified_delta(adaptive)
    assert 0 < found.witnessed < found.bound <= found.witnessed * (1 + Fraction(1, 10**5))
    below, above = pair_delta(adaptive, *found.pair)
    assert found.witnessed <= above <= found.bound
    assert below <= above <= below * (1 + Fraction(1, 2**60))


@pytest.mark.slow
@pytest.mark.parametrize(("distance", "epsilon"), COARSE)
def test_brute_force_finds_the_same_delta(distance: int, epsilon: float) -> None:
    """Over all pairs, both directions and every set of outputs, the greatest delta is the one that was proved."""
    oracle, found = Oracle(distance, epsilon), certified_delta(law(distance, epsilon))
    outputs = min(int(80 * distance / epsilon) + 300, 2500)
    delta, pair = oracle.greatest_delta(oracle.table(60 + distance, outputs))
    assert delta <= float(found.bound)
    assert near(delta, found.witnessed, 1e-8)
    assert pair == found.pair


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 2.6, 12.0])
def test_brute_force_on_a_finer_lattice(epsilon: float) -> None:
    """So it is with 24 steps to the sensitivity, for epsilons whose worst pairs are of three different kinds."""
    oracle, found = Oracle(24, epsilon), certified_delta(law(24, epsilon))
    delta, pair = oracle.greatest_delta(oracle.table(150, int(1900 / epsilon) + 400))
    assert delta <= float(found.bound)
    assert near(delta, found.witnessed, 1e-8)
    assert pair == found.pair
    assert {1.0: pair == (0, 24), 2.6: pair[0] == 0 and pair[1] < 24, 12.0: pair[0] > 0}[epsilon]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_a_wrong_scale_exceeds_the_bound(epsilon: float) -> None:
    """A control: the plain scale, or one a little off at the border, has a delta above what was proved."""
    oracle, bound = Oracle(24, epsilon), float(certified_delta(law(24, epsilon)).bound)
    table = oracle.table(100, int(900 / epsilon) + 400)
    outputs = np.arange(table.shape[1])
    for factor in (0.98, 1.1):
        q = math.exp(-float(oracle.rate(0)) * factor)
        wrong = table.copy()
        wrong[0] = q**outputs * (1 - q)
        assert oracle.greatest_delta(wrong)[0] > bound
    q = math.exp(-epsilon / 24)
    plain = q ** abs(outputs - np.arange(100)[:, None])
    assert oracle.greatest_delta(plain / plain.sum(axis=1, keepdims=True))[0] > bound


def test_farther_is_not_always_worse() -> None:
    """Above epsilon = 2.19 the worst location to compare the border with is less than one sensitivity away."""
    for epsilon, part in (("2.18", 1), ("2.2", 0.996), ("3", 0.8234), ("30", 0.1984)):
        adaptive = law(2**34, epsilon)
        found = certified_delta(adaptive)
        assert found.pair[0] == 0
        assert near(found.pair[1] / 2**34, part, 3e-3)
        assert (pair_delta(adaptive, 0, 2**34)[1] < found.witnessed) == (part < 1)


def test_counts_break_at_the_border_too() -> None:
    """With whole numbers and epsilon = 3, one person can be seen at the output 0 with probability 6e-4."""
    found, oracle = certified_delta(law(1, 3)), Oracle(1, 3.0)
    assert found.pair == (1, 2)
    at_border = oracle.probability(0, 1) - oracle.odds * oracle.probability(0, 2)
    assert near(found.witnessed, at_border, 1e-12)
    assert near(at_border, 6.126e-4, 1e-3)


@pytest.mark.parametrize(("distance", "epsilon"), [(1, 0.5), (5, 3.0), (24, 8.0)])
def test_outputs_are_broken_from_where_it_is_said(distance: int, epsilon: float) -> None:
    """From the stated output on, and not just before it, the log-ratio of the worst pair exceeds epsilon."""
    oracle, found = Oracle(distance, epsilon), certified_delta(law(distance, epsilon))
    first, second = found.pair

    def loss(output: int) -> Any:
        return mp.log(oracle.probability(output, first) / oracle.probability(output, second))

    broken = int(found.broken_from)
    assert loss(broken - 1) <= epsilon < loss(broken) < loss(broken + 1) < loss(10 * broken)


@settings(max_examples=60)
@given(
    st.sampled_from([(1, "5"), (7, "0.2"), (40, "2.5"), (40, "12"), (10**6, "1"), (10**6, "25")]),
    st.integers(0, 12),
    st.integers(0, 12),
    st.data(),
)
def test_the_bound_of_a_box_holds_for_its_pairs(
    setting: tuple[int, str], low_power: int, width_power: int, data: st.DataObject
) -> None:
    """No pair in a box has a delta above the bound of the box, nor has any that is farther out if the box is open."""
    distance, epsilon = setting
    adaptive = law(distance, epsilon)
    low = data.draw(st.integers(0, 3**low_power))
    stop = data.draw(st.one_of(st.none(), st.just(low + 1 + 3**width_power)))
    near_ = data.draw(st.integers(1, distance))
    end = data.draw(st.integers(near_ + 1, distance + (near_ == distance))) if near_ < distance else distance + 1
    with lock(), workprec(300):
        search = PairSearch(adaptive, 300)
        bound = search.bound(Box(low, stop, near_, end))
        last = low + 10 * distance if stop is None else stop - 1
        for first in {low, last, data.draw(st.integers(low, last))}:
            for reach in {near_, end - 1, data.draw(st.integers(near_, end - 1))}:
                assert not search.delta(first, first + reach) > bound


@pytest.mark.parametrize(("distance", "epsilon"), [(1, "0.01"), (1, "1"), (4, "9"), (40, "12"), (10**6, "25")])
def test_the_bound_at_the_border_holds(distance: int, epsilon: str) -> None:
    """At the output 0 no location of a range exceeds the bound of the range, and that of a short one is tight."""
    adaptive = law(distance, epsilon)
    unit = max(int(distance / Fraction(epsilon)) // 8, 1)
    with lock(), workprec(300):
        search = PairSearch(adaptive, 300)

        def at_border(location: int) -> arb:
            places = [search.place(location + shift) for shift in (0, distance)]
            return places[0].at_border - search.odds * places[1].at_border

        greatest = max((at_border(unit * k) for k in range(300)), key=float)
        assert greatest > 0
        for low in range(0, 200 * unit, unit):
            for width in (1, unit, 5 * unit, 40 * unit):
                bound = search.border_bound(low, low + width)
                assert not any(at_border(low + width * k // 4) > bound for k in range(5))
            assert not any(at_border(low + unit * k) > search.border_bound(low, None) for k in (0, 1, 3, 9, 27, 81))
            if distance > 1000:
                assert search.border_bound(low, low + 1) < at_border(low).max(greatest / 1000) * 1.01


def test_far_out_nothing_is_left() -> None:
    """Far from the border a delta vanishes, and one too small to write is enclosed by 0 and something tiny."""
    adaptive = law(1, 1)
    deltas = [pair_delta(adaptive, m, m + 1)[1] for m in (0, 20, 40, 400)]
    assert deltas == sorted(deltas, reverse=True)
    assert pair_delta(law(2, 1), 10**9, 10**9 + 1) == (Fraction(0), Fraction(1, 2**4096))


def test_what_cannot_be_proved_is_refused() -> None:
    """An epsilon outside the range of the proof, and a pair that is none, are refused with the remedy."""
    for epsilon in ("1e-10", "1001"):
        with pytest.raises(InvalidParameter, match="epsilon must be from 1e-9 to 1000"):
            certified_delta(law(10, epsilon))
    for pair in ((3, 3), (5, 3), (-1, 1), (0, 11)):
        with pytest.raises(InvalidParameter, match="rise by 1 to 10 steps"):
            pair_delta(law(10, 1), *pair)


def test_bounds_are_exact_fractions() -> None:
    """The caller's precision does not matter to what is proved."""
    expected = certified_delta(law(3, 2))
    with lock(), workprec(20):
        assert certified_delta(law(3, 2)) == expected
    assert isinstance(expected.bound, Fraction)
    assert lower(arb(1)) == upper(arb(1)) == 1
