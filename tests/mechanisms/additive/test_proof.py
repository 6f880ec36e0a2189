"""The second proof of noise finds the loss and the delta from the tails, and no lie of the noise gets past it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from inbounds import Bounds, NotPrivate, certify
from inbounds.exact.balls import lower, upper, workprec
from inbounds.mechanisms.additive.additive import Additive
from inbounds.mechanisms.additive.noise import Form, Noise
from inbounds.mechanisms.additive.proof import METHOD, deciding_outcomes, exempt_of_tails, worst_of_tails
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.published import Geometric, Laplace, Staircase, TruncatedLaplacian
from inbounds.published.geng2014 import StaircaseNoise
from inbounds.published.geng2018 import CutNoise
from inbounds.published.ghosh2009 import GeometricNoise

BITS = 256
SMALL = Bounds(0, 20, step=1)
LARGE = Bounds(0, 500, step=1)
OPEN = Bounds(0, None, step=1)
FINE = Bounds(0, 1)
FINE_AND_OPEN = Bounds(0, None)
PLACES = [SMALL, LARGE, OPEN, FINE, FINE_AND_OPEN, Bounds.everything(), Bounds(0, 5, step=1) | Bounds(60, None, step=1)]
ENDS = ["leave", "snap", "fold"]
DELTA = Fraction(1, 1000)

Maker = Callable[[int, Fraction], Noise]

NOISES: dict[str, Maker] = {
    "geometric": GeometricNoise,
    "staircase, short": lambda distance, epsilon: StaircaseNoise(distance, epsilon, max(distance // 3, 1)),
    "staircase, whole": lambda distance, epsilon: StaircaseNoise(distance, epsilon, distance),
    "cut": lambda distance, epsilon: CutNoise(distance, epsilon, DELTA),
}


class Posing(GeometricNoise):
    """Noise with the tails of one law that says of itself what another would say."""

    def __init__(self, real: Noise, told: Noise) -> None:
        self.real, self.told = real, told
        self.distance, self.loss, self.delta = told.distance, told.loss, told.delta
        self.scale, self.reach, self.smooth = real.scale, real.reach, real.smooth
        self.looked_at: set[int] = set()

    @property
    def form(self) -> Form:
        """Return the form of the real law."""
        return self.real.form

    def tail(self, index: int, bits: int) -> arb:
        """Return what draws are made of."""
        self.looked_at.add(index)
        return self.real.tail(index, bits)


class Misformed(Posing):
    """Noise that has not the form that it states."""

    @property
    def form(self) -> Form:
        """Return the form of what it says that it is."""
        return self.told.form


def refused(made: Additive[Any]) -> Certificate:
    """Return the certificate with which a mechanism is refused."""
    assert made.certificate.holds
    with pytest.raises(NotPrivate) as refusal:
        certify(made)
    assert not refusal.value.certificate.holds
    return refusal.value.certificate


# The theorem: few pairs decide.


@st.composite
def laws(draw: st.DrawFn) -> tuple[Form, Callable[[int], int]]:
    """Return a form, and the logarithms of a law that has it: any integers, rising or falling."""
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    starts = tuple(sum(lengths[:i]) for i in range(len(lengths)))
    small = st.integers(-4, 4)
    heights, slopes = ([draw(small) for _ in lengths] for _ in range(2))
    fall, repeats = draw(st.integers(-3, 9)), draw(st.booleans())
    first = [height + slope * k for n, height, slope in zip(lengths, heights, slopes, strict=True) for k in range(n)]
    return Form(starts, len(first), repeats), lambda k: first[k % len(first)] - fall * (k // len(first))


@given(laws(), st.integers(1, 40))
def test_the_deciding_outcomes_decide(law: tuple[Form, Callable[[int], int]], apart: int) -> None:
    """The greatest loss over them is the greatest over all outcomes of either sign that are no farther apart."""
    form, logarithm = law
    reach = form.period + (apart + form.period if form.repeats else 0)
    outcomes = range(1 - reach, reach)
    every = max(
        abs(logarithm(abs(u)) - logarithm(abs(v)))
        for u in outcomes
        for v in range(max(u - apart, outcomes[0]), min(u + apart, outcomes[-1]) + 1)
    )
    pairs = list(deciding_outcomes(form, apart))
    assert all(min(pair) >= 0 and abs(pair[0] - pair[1]) <= apart for pair in pairs)
    assert all(max(pair) < form.period for pair in pairs) or form.repeats
    assert max(abs(logarithm(u) - logarithm(v)) for u, v in pairs) == every


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("distance", [1, 2, 3, 7])
@pytest.mark.parametrize("apart", [1, 2, 3, 7, 20])
def test_loss_and_delta_are_those_of_the_law_written_out(name: str, distance: int, apart: int) -> None:
    """In doubles, over all outcomes: the greatest loss where both are possible, and the probability of the others."""
    noise = NOISES[name](distance, Fraction(3, 2))
    reach = noise.form.period - 1 if not noise.form.repeats else 3 * (apart + distance)
    p = {k: float(noise.probability(np.array(float(k)))) for k in range(-reach, reach + 1)}
    both = [(k, k + d) for d in range(1, apart + 1) for k in p if k + d in p]
    with workprec(BITS):
        worst, pair, _ = worst_of_tails(noise, apart, BITS)
        exempt = exempt_of_tails(noise, apart, BITS)
    assert float(worst) == pytest.approx(max((abs(math.log(p[u] / p[v])) for u, v in both), default=0), abs=1e-9)
    assert abs(pair[0] - pair[1]) <= apart
    gone = 0.0 if noise.form.repeats else sum(p[k] for k in p if k + apart not in p)
    assert float(exempt) == pytest.approx(gone, abs=1e-12)


# What is honest is proved, wherever it is.


@pytest.mark.slow
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("bounds", PLACES, ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), 1, 30])
def test_the_label_is_proved_from_the_tails(bounds: Bounds, ends: Any, epsilon: Any) -> None:
    """Every noise keeps its label on every lattice, with the loss that it states and no more than the delta."""
    for kind in (Laplace, Staircase, TruncatedLaplacian):
        made = kind(bounds, Fraction(1, 3) if bounds.step is None else 2, epsilon, ends=ends)
        found = certify(made)
        assert found.holds
        assert found.method == METHOD or (bounds is SMALL and ends != "leave")
        if found.method == METHOD:
            assert found.bound == pytest.approx(made.noise.loss, rel=1e-12)
            assert found.delta == pytest.approx(made.label.delta, rel=1e-30)
            assert found.delta <= made.label.delta
            assert found.witnessed == (0 if ends != "leave" or found.delta else pytest.approx(found.bound, rel=1e-12))


@pytest.mark.parametrize("bounds", PLACES, ids=str)
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_the_distance_guarantee_is_proved_from_single_steps(bounds: Bounds, sensitivity: int) -> None:
    """Laplace noise loses in proportion to the distance; stairs do not, and cut noise is exempt at some distance."""
    made = Laplace(bounds, sensitivity, 1, guarantee="distance")
    found = certify(made)
    assert found.guarantee == "distance"
    assert found.bound == pytest.approx(1, rel=1e-12)
    ground = Setting.of(bounds, sensitivity, 1, "distance")
    for name in ("staircase, short", "cut"):
        false = Additive(ground, NOISES[name](ground.distance, ground.epsilon), "leave")
        if ground.distance > 1 or name == "cut":
            assert refused(false).guarantee == "distance"


@pytest.mark.parametrize("delta", [1e-300, 1e-12, 0.3, 0.499])
@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1000])
@pytest.mark.parametrize("bounds", [SMALL, OPEN, FINE], ids=str)
def test_any_delta_is_proved(bounds: Bounds, epsilon: float, delta: float) -> None:
    """Deltas down to the least that is offered, with noise wide and narrow."""
    assert certify(TruncatedLaplacian(bounds, 1, epsilon, delta=delta)).holds


@pytest.mark.parametrize("name", NOISES)
def test_a_sensitivity_of_many_steps_takes_no_more_balls(name: str) -> None:
    """Some dozens of tails are looked at, for 2**50 steps as for 50."""
    counts = []
    for distance in (50, 2**34, 2**50):
        honest = NOISES[name](distance, Fraction(1))
        noise = Posing(honest, honest)
        with workprec(BITS):
            loss, _, pairs = worst_of_tails(noise, distance, BITS)
        assert upper(loss) < 1
        assert lower(loss) > 1 - Fraction(1, 10**12)
        counts.append((len(noise.looked_at), pairs))
    assert max(max(count) for count in counts) < 150


# Lies.


@pytest.mark.slow
@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("bounds", PLACES, ids=str)
@pytest.mark.parametrize("name", NOISES)
def test_a_lie_about_the_loss_is_found(name: str, bounds: Bounds, ends: str) -> None:
    """Noise for a little more than epsilon that calls itself noise for epsilon is refused on every lattice."""
    ground = Setting.of(bounds, Fraction(1, 3) if bounds.step is None else 2, 1)
    for excess in (Fraction(1), Fraction(1, 10**6)):
        told, real = (NOISES[name](ground.distance, epsilon) for epsilon in (ground.epsilon, ground.epsilon + excess))
        assert certify(Additive(ground, Posing(told, told), ends)).holds
        found = refused(Additive(ground, Posing(real, told), ends))
        if found.method == METHOD:
            assert found.bound == pytest.approx(1 + excess, rel=1e-12)
            assert found.refuted == (ends == "leave" and name != "cut")


@pytest.mark.parametrize("bounds", [SMALL, LARGE, OPEN], ids=str)
@pytest.mark.parametrize("kind", [Laplace, Geometric])
def test_a_stated_loss_is_not_believed(kind: Any, bounds: Bounds) -> None:
    """The loss that geometric noise states is not what it is proved by."""
    made = kind(bounds, 1, 1, ends="leave")
    ground, noise = Setting.of(bounds, 1, Fraction(1, 2)), made.noise
    noise.loss /= 2
    found = refused(Additive(ground, noise, "leave"))
    assert found.refuted
    assert str(found).startswith("REFUTED: loss >= 0.99999999")
    assert found.worst_pair == (0, 1)


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("bounds", PLACES, ids=str)
def test_a_lie_about_the_delta_is_found(bounds: Bounds, ends: str) -> None:
    """Noise that ends too early for the delta that it states is refused, by however little."""
    ground = Setting.of(bounds, Fraction(1, 3) if bounds.step is None else 2, 1)
    for part in (Fraction(1, 2), 1 - Fraction(1, 10**9)):
        noise = CutNoise(ground.distance, ground.epsilon, DELTA)
        honest, noise.delta = noise.delta, noise.delta * part
        found = refused(Additive(ground, noise, ends))
        assert found.delta == pytest.approx(honest, rel=1e-30)
        assert found.bound <= 1
        assert re.match("not proved: loss <= (1.0|0.99999999[0-9]*) but for delta <= ", str(found))
        assert found.precision == BITS


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [LARGE, OPEN, FINE], ids=str)
@pytest.mark.parametrize("guarantee", ["standard", "distance"])
def test_a_lie_about_the_form_is_found_where_it_shows(bounds: Bounds, guarantee: GuaranteeName) -> None:
    """Tails that contradict the stated form prove nothing, even if the outcomes that would decide lose little."""
    ground = Setting.of(bounds, Fraction(1, 3) if bounds.step is None else 7, 1, guarantee)
    distance = ground.distance
    stairs, falling = StaircaseNoise(distance, Fraction(1), distance // 3), GeometricNoise(distance, Fraction(1))
    cut = CutNoise(distance, Fraction(1), DELTA)
    for real, told in ((stairs, falling), (stairs, cut), (falling, cut), (cut, falling), (cut, stairs)):
        found = refused(Additive(ground, Misformed(real, told), "leave"))
        assert found.bound > 1 or found.delta > told.delta


@pytest.mark.parametrize("name", NOISES)
def test_noise_for_nearer_answers_is_found(name: str) -> None:
    """Noise that says it is for answers farther apart than it is has the loss of two of its distances."""
    ground = Setting.of(OPEN, 8, 1)
    near, far = (NOISES[name](distance, ground.epsilon) for distance in (4, 8))
    assert refused(Additive(ground, Posing(near, far), "snap")).bound == pytest.approx(2, rel=1e-12)
