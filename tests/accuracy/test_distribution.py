"""What a mechanism says about its accuracy is what the definition gives, summed out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate

from inbounds import BoundedLaplace, Bounds, InvalidAnswer, InvalidParameter
from inbounds.accuracy.laplace_sums import NARROW
from inbounds.accuracy.truncated_laplace import TruncatedLaplaceDistribution
from inbounds.bounds.lattice import Lattice
from inbounds.privacy.law import Law
from tests.helpers.definition import Definition, Table, index_spans
from tests.helpers.mechanisms import KINDS, mechanism

REL = 1e-9
inf, nan = math.inf, math.nan

# Small lattices, on which every sum can be written out.


@dataclass(frozen=True)
class World:
    """A mechanism on few points, with the values of the points and the law around each of them."""

    made: BoundedLaplace
    table: Table

    @cached_property
    def points(self) -> list[Fraction]:
        """The possible values."""
        return [self.made.bounds.offset + int(k) * self.made.step for k in self.table.indices]

    def centre(self, value: Fraction) -> int:
        """Return the index that a true answer counts as, from the definition."""
        index = math.floor((value - self.made.bounds.offset) / self.made.step + Fraction(1, 2))
        return int(min(self.table.indices.tolist(), key=lambda k: (abs(k - index), k)))

    def pmf(self, value: Fraction) -> NDArray[np.float64]:
        """Return the probabilities of all points around a true answer."""
        return self.table.pmf(self.centre(value))

    def distances(self, value: Fraction) -> NDArray[np.float64]:
        """Return how far above a value each point is."""
        start = (self.points[0] - value) / self.made.step
        return (self.table.indices - self.table.indices[0] + float(start)) * float(self.made.step)


@st.composite
def worlds(draw: st.DrawFn, *, closed: bool = False) -> World:
    """Mechanisms on up to four spans of up to twelve points, all sorts of noise, and some open sides."""
    step = draw(st.sampled_from([Fraction(1), Fraction(1), Fraction(1, 10), Fraction(1, 4), Fraction(7)]))
    at, spans = draw(st.integers(-20, 20)), []
    for _ in range(draw(st.integers(1, 4))):
        length = draw(st.integers(0, 11))
        spans.append((at * step, (at + length) * step))
        at += length + draw(st.integers(2, 9))
    ends: list[tuple[Any, Any]] = list(spans)
    if not closed and draw(st.booleans()):
        ends[0] = (None, ends[0][1])
    if not closed and draw(st.booleans()):
        ends[-1] = (ends[-1][0], None)
    offset = draw(st.sampled_from([Fraction(0), step / 3]))
    moved = [(None if a is None else a + offset, None if b is None else b + offset) for a, b in ends]
    bounds = Bounds.union(moved, step, offset)
    epsilon = draw(
        st.sampled_from([1e-9, 1e-6, 0.01, 0.3, 1, 3, 20, 1000] if bounds.bounded else [0.3, 1, 3, 20, 1000])
    )
    sensitivity = step * draw(st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]))
    made = BoundedLaplace(bounds, sensitivity, epsilon, pooling=draw(st.sampled_from([0, 0.4, 1])))
    reach = 1000 + int(60 * made.scale / made.step)  # beyond every value asked about, and 60 scales more
    return World(made, Table.of(made, near=int(spans[0][0] / step), reach=reach))


numbers = st.fractions(-30, 60, max_denominator=1000)


def near(expected: Any, size: float = 0.0) -> Any:
    """Return what compares equal to within a part in 1e9, of `size` if that is larger."""
    return pytest.approx(expected, rel=REL, abs=REL * size)


@pytest.mark.slow
@given(worlds(), numbers)
def test_moments_are_those_of_the_definition(world: World, value: Fraction) -> None:
    """Error, bias, mean and variance are the sums over all releases, for any true answer, possible or not."""
    made, p, off = world.made, world.pmf(value), world.distances(value)
    size = float(p @ abs(off))
    assert made.error(value) == near(size)
    assert made.bias(value) == near(p @ off, size)
    assert made.mean(value) == near(p @ off + float(value), size + abs(float(value)))
    around = world.distances(made.bounds.offset + world.centre(value) * made.step)
    variance = p @ (around - p @ around) ** 2
    assert made.variance(value) == near(variance, 1e-6 * float(p @ around**2))


@pytest.mark.slow
@settings(max_examples=40)
@given(worlds(), numbers)
def test_probabilities_are_those_of_the_definition(world: World, value: Fraction) -> None:
    """The probabilities of the possible values are those of the definition, add up to one, and make up the cdf."""
    made, expected = world.made, world.pmf(value)
    likely = np.flatnonzero(expected > 1e-300)[:200]
    found = [made.pmf(world.points[i], value) for i in likely]
    assert found == near(expected[likely].tolist())
    if made.bounds.bounded:
        assert math.fsum(made.pmf(point, value) for point in world.points) == near(1.0)
    up_to = np.cumsum(expected)
    for i in likely[:40]:
        assert made.cdf(world.points[i], value) == near(up_to[i], 1e-6)
        between = world.points[i] + made.step / 3
        assert made.cdf(between, value) == made.cdf(world.points[i], value)
        assert made.pmf(between, value) == 0
    assert made.cdf(inf, value) == 1
    assert made.cdf(-inf, value) == 0
    assert made.cdf(world.points[0] - made.step, value) == (0 if made.bounds.low != -inf else near(0, 1))


@pytest.mark.slow
@given(worlds(), numbers, st.floats(1e-6, 1 - 1e-6))
def test_a_quantile_is_the_least_value_with_enough_below(world: World, value: Fraction, probability: float) -> None:
    """The cdf reaches the probability at the quantile and not before."""
    made = world.made
    found = made.quantile(probability, value)
    assert type(found) is Fraction
    assert found in made.bounds
    assert made.cdf(found, value) >= probability
    assert made.cdf(found - made.step, value) < probability
    up_to = np.cumsum(world.pmf(value))
    assert found == world.points[int(np.searchsorted(up_to, probability))] or abs(up_to - probability).min() < REL


@pytest.mark.slow
@settings(max_examples=40)
@given(worlds(closed=True))
def test_errors_over_all_answers_are_those_of_the_definition(world: World) -> None:
    """The mean and the worst error are those over all possible true answers."""
    errors = [float(world.pmf(point) @ abs(world.distances(point))) for point in world.points]
    assert world.made.mean_error() == near(float(np.mean(errors)))
    assert world.made.worst_error() == near(max(errors))


@pytest.mark.slow
@settings(max_examples=40)
@given(worlds())
def test_the_worst_error_is_never_exceeded(world: World) -> None:
    """No possible true answer, on an open side either, has a greater error than the worst."""
    worst = world.made.worst_error()
    step = max(1, len(world.points) // 50)
    errors = [world.made.error(point) for point in world.points[::step]]
    assert max(errors) <= worst * (1 + REL)


# Confidence intervals: how their ends are written.  Where they are is tested in test_interval.py.


HALF = Fraction(1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [Bounds(0, 100), Bounds(Fraction(1, 3), 9), Bounds(0, 5) | Bounds(7, None)])
@pytest.mark.parametrize("kind", [float, Fraction, Decimal])
def test_an_interval_holds_answers_between_the_points_of_the_lattice(bounds: Bounds, kind: Any) -> None:
    """Without a step, an answer is in the interval if the point that it is rounded to is, up to the bounds' ends."""
    made = BoundedLaplace(bounds, 1, 1)
    if kind is Decimal and Fraction(bounds.low).denominator == 3:  # type: ignore[arg-type]  # a number
        return  # no Decimal can be written there
    for value in ("0.5", "0.75", "2", "4.5", "8.875"):
        released = kind(value)
        index, _ = made.claim.lattice.project(made._answers.index(released))
        lowest, highest = (int(end[0]) for end in made._intervals.around(np.array([index]), 0.9))
        low, high = made.interval(released, 0.9)
        assert type(low) is type(high) is kind
        least, most = (bounds.nearest((end + half) * made.step) for end, half in ((lowest, -HALF), (highest, HALF)))
        assert Fraction(low) <= least
        assert Fraction(high) >= most
        assert least - Fraction(low) <= 2 * made.step
        assert Fraction(high) - most <= 2 * made.step


def test_an_interval_on_a_step_ends_on_it() -> None:
    """Where a step was given, true answers are on it, and so are the ends of intervals, in the kind of the release."""
    made = mechanism("tenths")
    low, high = made.interval(1.5)
    assert (low, high) == (float(Fraction(low).limit_denominator(10)), float(Fraction(high).limit_denominator(10)))
    assert made.interval(Fraction(3, 2)) == (Fraction(low).limit_denominator(10), Fraction(high).limit_denominator(10))
    assert made.interval(Decimal("1.5")) == (Decimal(str(low)), Decimal(str(high)))
    days = mechanism("dates").interval(date(2026, 7, 6), 0.9)
    assert all(type(day) is date and day in mechanism("dates").bounds for day in days)
    assert days[0] < date(2026, 7, 6) < days[1]


# Closed forms on lattices of any size.


def moments(n: int, rate: Fraction) -> list[Any]:
    """Return the sums of `d^p q^d` over d from 0 to n, for p = 0, 1 and 2, in very many bits."""
    with mpmath.workprec(2000):
        q = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator)
        last, rest = q**n, 1 - q
        zeroth = (1 - last * q) / rest
        first = q * (1 - (n + 1) * last + n * last * q) / rest**2
        second = q * (1 + q - (n + 1) ** 2 * last + (2 * n * n + 2 * n - 1) * last * q - n**2 * last * q**2) / rest**3
        return [zeroth, first, second]


@pytest.mark.slow
@pytest.mark.parametrize("points", [1, 2, 3, 10, 1000, 10**6, 2**34, 2**45])
@pytest.mark.parametrize(
    "width", [1e-12, 1e-6, 1e-3, NARROW * 0.999999, NARROW * 1.000001, 0.2, 1.0, 5.0, 40.0, 1000.0, 1e6]
)
def test_moments_are_exact_from_narrow_bounds_to_wide_ones(points: int, width: float) -> None:
    """Error, bias and variance at the ends and inside of one span agree with sums in thousands of bits."""
    rate = Fraction(width) / points
    accuracy = TruncatedLaplaceDistribution(Law(Lattice.of(Bounds(0, points, step=1), Fraction(1)), rate, Fraction(0)))
    for centre in sorted({0, points // 3, points // 2, points}):
        below, above = moments(centre, rate), moments(points - centre, rate)
        with mpmath.workprec(2000):
            z = below[0] + above[0] - 1
            error, bias = (above[1] + below[1]) / z, (above[1] - below[1]) / z
            variance = (above[2] + below[2]) / z - bias**2
        found = accuracy.moments(np.array([centre]))
        assert found.error[0] == pytest.approx(float(error), rel=1e-11)
        assert found.bias[0] == pytest.approx(float(bias), rel=1e-11, abs=1e-11 * float(error))
        assert found.variance[0] == pytest.approx(float(variance), rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_the_cdf_agrees_with_the_definition_in_many_bits(name: str) -> None:
    """On lattices of any size the cdf and the pmf are those of the definition."""
    made, law = mechanism(name), Definition.of(mechanism(name), bits=300)
    for answer in KINDS[name].answers:
        centre = made.claim.lattice.project(made._answers.index(answer))[0]
        for probability in (0.001, 0.2, 0.5, 0.9, 0.99999):
            released = made.quantile(probability, _as_exact(answer))
            index = made._answers.index(released)
            assert made.cdf(released, answer) == pytest.approx(float(law.cdf(index, centre)), rel=1e-11, abs=1e-15)
            assert made.pmf(released, answer) == pytest.approx(float(law.pmf(index, centre)), rel=1e-11)


def _as_exact(answer: Any) -> Any:
    return answer if isinstance(answer, date) else Fraction(answer)


def test_nothing_missing_is_the_plain_discrete_laplace_law() -> None:
    """On the whole line the release is unbiased, with the well-known error and variance of discrete Laplace noise."""
    made = BoundedLaplace(Bounds(None, None, step=1), 1, 0.7)
    q = math.exp(-1 / made.scale)
    for value in (0, -5, 10**15):
        assert made.mean(value) == value
        assert made.bias(value) == 0
        assert made.error(value) == near(2 * q / (1 - q * q))
        assert made.variance(value) == near(2 * q / (1 - q) ** 2)
    assert made.worst_error() == near(2 * q / (1 - q * q))


@pytest.mark.parametrize("value", [1e9, 1e12, 1e17, -1e17, 1e300])
def test_far_out_on_an_open_side_all_is_as_near_by(value: float) -> None:
    """Accuracy does not depend on where a true answer is on a line without ends, however large it is."""
    made = BoundedLaplace(Bounds.everything(), 1, 1)
    assert made.error(value) == near(made.error(0))
    assert made.variance(value) == near(made.variance(0))
    assert made.bias(value) == near(0, 1)
    assert made.mean(value) == near(value)
    assert made.pmf(value, value) == near(made.pmf(0, 0))
    assert made.cdf(value, value) == near(made.cdf(0, 0))
    assert made.quantile(0.9, Fraction(value)) - Fraction(value) == made.quantile(0.9, Fraction(0))
    low, high = made.interval(Fraction(value))
    assert (low - Fraction(value), high - Fraction(value)) == made.interval(Fraction(0))


def test_a_true_answer_far_outside_has_an_error_as_large_as_its_distance() -> None:
    """An answer at 1e300 that counts as 10 is released 1e300 off."""
    made = BoundedLaplace(Bounds(0, 10), 1, 1)
    assert made.error(1e300) == near(1e300)
    assert made.bias(1e300) == near(-1e300)


# Figures that are known.

WORST = [  # epsilon, range, and the greatest error with pooling 0 and with pooling 1, at sensitivity 1
    (0.5, 1, 0.4585, 0.4424),
    (0.5, 5, 1.9085, 1.4270),
    (1, 1, 0.4180, 0.3935),
    (1, 2, 0.7717, 0.6321),
    (1, 10, 1.5913, 0.9933),
    (2, 1, 0.3435, 0.3161),
    (2, 5, 0.6932, 0.4966),
]


@pytest.mark.parametrize(("epsilon", "width", "normalised", "snapped"), WORST)
def test_worst_errors_are_the_known_ones(epsilon: float, width: float, normalised: float, snapped: float) -> None:
    """The greatest error is what an independent computation on a grid found."""
    assert BoundedLaplace(Bounds(0, width), 1, epsilon).worst_error() == pytest.approx(normalised, abs=1e-4)
    assert BoundedLaplace(Bounds(0, width), 1, epsilon, pooling=1).worst_error() == pytest.approx(snapped, abs=1e-4)


@pytest.mark.parametrize(("epsilon", "width", "best", "least"), [(0.5, 1, 0.5, 0.4057), (1, 1, 0.5, 0.3471)])
def test_mixing_has_the_least_worst_error_on_tight_bounds(
    epsilon: float, width: float, best: float, least: float
) -> None:
    """On bounds that are tight against the noise some pooling between 0 and 1 has a smaller worst error than either."""
    assert BoundedLaplace(Bounds(0, width), 1, epsilon, pooling=best).worst_error() == pytest.approx(least, abs=1e-4)


@pytest.mark.parametrize(
    ("epsilon", "width"), [(epsilon, width) for epsilon, width, *_ in WORST] + [(1, 1e6), (1e-6, 1)]
)
def test_mean_errors_are_the_known_ones(epsilon: float, width: float) -> None:
    """The mean error of snapping has a closed form, and that of normalising is an integral over all true answers."""
    snapping = BoundedLaplace(Bounds(0, width), 1, epsilon, pooling=1)
    scale = min(1, width) / epsilon
    known = scale * (1 + math.expm1(-width / scale) * scale / width)
    assert snapping.mean_error() == pytest.approx(known, rel=1e-8)
    normalising = BoundedLaplace(Bounds(0, width), 1, epsilon)
    scale = normalising.scale

    def error(true: float) -> float:
        sides = (true, width - true)
        mass = sum(integrate.quad(lambda d: math.exp(-d / scale), 0, min(side, 50 * scale))[0] for side in sides)
        off = sum(integrate.quad(lambda d: d * math.exp(-d / scale), 0, min(side, 50 * scale))[0] for side in sides)
        return off / mass

    if width < 100:
        mean = integrate.quad(error, 0, width / 2, epsabs=0, epsrel=1e-11)[0] * 2 / width
        assert normalising.mean_error() == pytest.approx(mean, rel=1e-9)


def test_variances_that_others_get_wrong() -> None:
    """Hardly any epsilon makes a uniform law, wide bounds leave the plain variance, and neither is negative."""
    assert BoundedLaplace(Bounds(0, 1), 1, 1e-6).variance(0.5) == pytest.approx(1 / 12, rel=1e-6)
    wide = BoundedLaplace(Bounds(0, 1e9), 1, 1)
    assert wide.variance(5e8) == pytest.approx(2 * wide.scale**2, rel=1e-9)
    assert wide.variance(5e8) == pytest.approx(5.2, abs=0.01)
    half = BoundedLaplace(Bounds(0, None), 1, 1)
    assert half.variance(0) == pytest.approx(half.scale**2, rel=1e-9)
    for epsilon in (1e-9, 1e-6, 1e-3, 1, 1000):
        made = BoundedLaplace(Bounds(0, 1), 1, epsilon)
        assert all(made.variance(value) > 0 for value in (0, 1e-9, 0.1, 0.5, 1))


def test_the_error_does_not_jump_where_the_answer_does_not() -> None:
    """On a fine lattice errors vary smoothly with the true answer, between points and across them."""
    made = BoundedLaplace(Bounds(0, 1), 1, 1)
    step = float(made.step)
    values = 0.3 + step * np.arange(0, 8) / 4
    errors = np.array([made.error(float(value)) for value in values])
    assert abs(np.diff(errors)).max() < step


# Dates.


def test_dates_are_measured_in_days() -> None:
    """On dates errors are in days, the mean is a moment, and answers on closed days count as the nearest open one."""
    made = BoundedLaplace(Bounds.dates("2026-06-01", "2026-06-30", weekdays="Mon-Fri"), timedelta(days=1), 1)
    table = Table.of(made)
    for day, centre in ((date(2026, 6, 10), date(2026, 6, 10)), (date(2026, 6, 13), date(2026, 6, 12))):
        p, off = table.pmf(centre.toordinal()), table.indices - day.toordinal()
        assert made.error(day) == near(p @ abs(off))
        assert made.bias(day) == near(p @ off, 1)
        mean = datetime(day.year, day.month, day.day) + timedelta(days=float(p @ off))
        assert abs(made.mean(day) - mean) < timedelta(milliseconds=1)
        assert made.variance(day) == near(p @ off**2 - (p @ off) ** 2)
        assert made.pmf(date(2026, 6, 12), day) == near(p[table.indices == date(2026, 6, 12).toordinal()][0])
        assert made.pmf(date(2026, 6, 13), day) == 0
        assert made.cdf(date(2026, 6, 13), day) == made.cdf(date(2026, 6, 12), day)
        assert made.cdf(date(2026, 6, 30), day) == near(1)
        assert type(made.quantile(0.5, day)) is date
        assert type(made.quantile(0.5, np.datetime64(day))) is np.datetime64


# Questions that make no sense.


@pytest.mark.parametrize("probability", [0, 1, -0.1, 1.5, nan, inf, "0.5", None])
def test_probabilities_must_be_between_0_and_1(probability: Any) -> None:
    """A confidence or a probability outside (0, 1) is refused by name."""
    made = mechanism("one span")
    with pytest.raises(InvalidParameter, match="probability must be"):
        made.quantile(probability, 5)
    with pytest.raises(InvalidParameter, match="confidence must be"):
        made.interval(5, probability)


def test_a_mean_over_infinitely_many_answers_is_refused() -> None:
    """On open bounds there is no mean error; the message says what to ask instead."""
    with pytest.raises(InvalidParameter, match=r"infinitely many; use error\(value\) or worst_error\(\)"):
        mechanism("half-line upwards").mean_error()
    assert mechanism("half-line upwards").worst_error() > 0


@pytest.mark.parametrize("wrong", ["5", None, nan, 5j, True])
def test_true_answers_that_are_no_numbers_are_refused(wrong: Any) -> None:
    """Questions about a true answer that is no number are refused like its release."""
    made = mechanism("one span")
    for ask in (made.error, made.bias, made.mean, made.variance, made.interval):
        with pytest.raises((InvalidAnswer, InvalidParameter)):
            ask(wrong)
    with pytest.raises((InvalidAnswer, InvalidParameter)):
        made.pmf(5, wrong)
    with pytest.raises((InvalidAnswer, InvalidParameter)):
        made.cdf(wrong, 5)


def test_a_single_possible_answer_is_always_released() -> None:
    """With one possible answer there is no error, no variance and no doubt."""
    made = BoundedLaplace(Bounds(4, 4, step=1), 1, 1)
    assert made.release(9) == 4
    assert (made.error(4), made.variance(4), made.bias(4), made.worst_error(), made.mean_error()) == (0, 0, 0, 0, 0)
    assert (made.pmf(4, 4), made.cdf(4, 4), made.cdf(3, 4), made.interval(4)) == (1, 1, 0, (4, 4))
    assert made.error(9) == 5


@settings(max_examples=30)
@given(st.sampled_from(sorted(KINDS)), st.floats(0, 1))
def test_variances_are_never_negative(name: str, place: float) -> None:
    """No true answer, at no noise, has a negative variance or error."""
    made = mechanism(name)
    if made.bounds.is_dates:
        return
    low, high = (max(float(made.bounds.low), -1e6), min(float(made.bounds.high), 1e6))  # type: ignore[arg-type]  # numbers
    value = low + place * (high - low)
    assert made.variance(value) >= 0
    assert made.error(value) >= 0
    assert index_spans(made.bounds, made.step)


@pytest.mark.parametrize("answer", [1e308, 1e300, Fraction(10**400), Decimal("1e400")])
@pytest.mark.parametrize("bounds", [Bounds(0, None), Bounds(0, None, step=1), Bounds(0, 1) | Bounds(5, None)], ids=str)
def test_beyond_all_doubles_a_side_without_an_end_is_as_it_is_far_out(bounds: Bounds, answer: Any) -> None:
    """On the side without an end the error is that far from the ends; on the other it is the distance, or infinite."""
    made = BoundedLaplace(bounds, 1, 1)
    far = 10**6
    assert made.error(answer) == pytest.approx(made.error(far), rel=1e-9)
    assert made.variance(answer) == pytest.approx(made.variance(far), rel=1e-9)
    distance = float(answer) if abs(answer) < 10**309 else math.inf
    assert made.error(-answer) == pytest.approx(distance, rel=1e-12)
    assert made.bias(-answer) == pytest.approx(distance, rel=1e-12)
    assert made.mean(answer) == distance
