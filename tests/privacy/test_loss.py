"""Masses and losses in doubles are those of the definition, and of the balls, to the last few digits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from inbounds import Bounds, Claim
from inbounds.bounds.lattice import Lattice
from inbounds.privacy.certificate import worst_loss
from inbounds.privacy.law import Law
from inbounds.privacy.loss import FloatMasses, float_losses, linear_scan
from tests.helpers.small_lattices import Scene, scales, scenes

Floats = NDArray[np.float64]
shares = st.floats(0, 1)


def losses(claim: Claim) -> Floats:
    """The losses over the deciding pairs, in doubles."""
    return float_losses(claim.lattice, claim.pairs, float(claim.law.rate), float(claim.promise.pooling))


@given(st.lists(st.tuples(shares, st.floats(0, 1e6)), max_size=150), st.floats(0, 1e6))
def test_linear_scan_is_the_recurrence(rows: list[tuple[float, float]], first: float) -> None:
    """Running many stretches of a linear recurrence side by side gives what one plain loop gives."""
    factors, terms = np.array(rows).reshape(-1, 2).T
    expected = [first]
    for factor, term in rows:
        expected.append(factor * expected[-1] + term)
    assert linear_scan(factors, terms, first) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 8, 9, 10, 99, 100, 101, 1000])
def test_linear_scan_of_every_length(count: int) -> None:
    """Sums and powers come out right whether or not the stretches fill a square."""
    ones = np.ones(count)
    assert linear_scan(ones, ones, 5.0).tolist() == [5.0 + i for i in range(count + 1)]
    assert linear_scan(ones / 2, ones * 0, 1.0).tolist() == [0.5**i for i in range(count + 1)]


@given(scenes(), scales())
def test_masses_are_those_of_the_definition(scene: Scene, scale: Fraction) -> None:
    """`Z` in doubles is the definition's, in units of `1 - q`, and is what lies left, at and right of an index."""
    lattice, brute = Lattice.of(scene.bounds, scene.step), scene.brute_force(scale)
    masses = FloatMasses(lattice, brute.rate, scene.pooling)
    indices = np.array(brute.points)
    spans = lattice.span_of(indices)
    unit = -math.expm1(-brute.rate)
    assert masses.z(indices, spans) == pytest.approx([z * unit for z in brute.z], rel=1e-12)
    assert masses.single == pytest.approx(unit)
    sides = masses.left(indices, spans) + masses.single + masses.right(indices, spans)
    assert sides == pytest.approx(masses.z(indices, spans), rel=1e-12)


@given(scenes(), scales())
def test_weights_are_those_of_the_definition(scene: Scene, scale: Fraction) -> None:
    """What is pooled at the ends, in doubles and in balls, adds up to the weights of the definition."""
    claim, brute = scene.claim(scale), scene.brute_force(scale)
    in_doubles = FloatMasses(claim.lattice, brute.rate, scene.pooling)
    in_balls = [float(extra) for extra in claim.law.masses().extra]
    assert in_doubles.extra_low[1:] == pytest.approx(in_balls, rel=1e-12)
    assert in_doubles.extra_high[:-1] == pytest.approx(in_balls, rel=1e-12)
    weights = dict.fromkeys(brute.points, 1.0)
    for end, extra in [
        *zip(claim.lattice.low_list, in_doubles.extra_low, strict=True),
        *zip(claim.lattice.high_list, in_doubles.extra_high, strict=True),
    ]:
        if end in weights:
            weights[end] += extra / -math.expm1(-brute.rate)
    assert weights == pytest.approx(brute.weights, rel=1e-12)


@given(scenes(), scales())
def test_mass_beside_an_end_is_that_of_the_definition(scene: Scene, scale: Fraction) -> None:
    """The mass left of a lower end, with what is pooled there, is the sum over the indices below it."""
    lattice, brute = Lattice.of(scene.bounds, scene.step), scene.brute_force(scale)
    masses = FloatMasses(lattice, brute.rate, scene.pooling)
    if lattice.unbounded_below:
        return
    unit = -math.expm1(-brute.rate)
    for span, low in enumerate(lattice.low_list):
        below = [brute.weights[k] * math.exp(-brute.rate * (low - k)) for k in brute.points if k < low]
        pooled = masses.extra_low[span] / unit
        found = masses.left(np.array([low]), np.array([span]))[0]
        assert found == pytest.approx(unit * math.fsum([*below, pooled]), rel=1e-11, abs=1e-300)


@given(scenes(), scales())
def test_losses_in_doubles_are_those_in_balls(scene: Scene, scale: Fraction) -> None:
    """The greatest loss in doubles is the proved one to a hair, and so is the loss of every single pair."""
    claim = scene.claim(scale)
    found, proved = losses(claim), worst_loss(claim.law, claim.pairs)
    assert float(found.max(initial=0.0)) == pytest.approx(float(proved.loss), rel=1e-11, abs=1e-14)
    brute = scene.brute_force(scale)
    for loss, first, second in zip(found, claim.pairs.first.tolist(), claim.pairs.second.tolist(), strict=True):
        allowed = float((claim.pairs.allowance or Fraction(1, abs(first - second))) * abs(first - second))
        assert loss * allowed == pytest.approx(brute.loss(first, second), rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("rate", [Fraction(1, 10**12), Fraction(1, 10**6), Fraction(1, 100), Fraction(1), Fraction(40)])
def test_nothing_cancels_on_many_spans(rate: Fraction) -> None:
    """With noise far wider or far narrower than a thousand spans, the masses keep twelve digits."""
    lattice = Lattice.of(Bounds.union([(3 * i, 3 * i + i % 2) for i in range(1000)], step=1), Fraction(1))
    in_balls, in_doubles = Law(lattice, rate, Fraction(1, 4)).masses(600), FloatMasses(lattice, float(rate), 0.25)
    spans = np.arange(len(lattice))
    at_lows, at_highs = zip(*((in_balls.z_at_low(i), in_balls.z_at_high(i)) for i in range(len(lattice))), strict=True)
    assert in_doubles.z(lattice.lows, spans) == pytest.approx([float(z) for z in at_lows], rel=1e-12)
    assert in_doubles.z(lattice.highs, spans) == pytest.approx([float(z) for z in at_highs], rel=1e-12)


@pytest.mark.parametrize("exponent", [3, 0, -30, -52])
@pytest.mark.parametrize("pooling", [0.0, 0.5])
def test_an_infinite_span_is_infinite_at_any_rate(exponent: int, pooling: float) -> None:
    """Seen from the end of a half-line, all of one side's mass lies ahead, however far the noise reaches."""
    lattice = Lattice.of(Bounds(0, None, step=1), Fraction(1))
    masses, q = FloatMasses(lattice, 2.0**exponent, pooling), math.exp(-(2.0**exponent))
    start, span = np.array([0]), np.array([0])
    assert masses.right(start, span)[0] == pytest.approx(q, rel=1e-12)
    assert masses.z(start, span)[0] == pytest.approx(1 + pooling * q, rel=1e-12)


@pytest.mark.parametrize(
    ("bounds", "exponents"),
    [
        (Bounds.union([(None, -(2**58)), (0, 2**57), (2**60, None)], step=1), [0, -30, -52]),
        (Bounds.union([(-(2**60), -(2**58)), (0, 2**57), (2**60, 2**60 + 5)], step=1), [0, -30, -60, -70, -90]),
    ],
)
def test_losses_at_any_rate(bounds: Bounds, exponents: list[int]) -> None:
    """On half-lines and across gaps of any width the loss in doubles is that in balls, from huge to tiny."""
    for exponent in exponents:
        claim = Claim.of(bounds, 2**59, 1, scale=Fraction(2) ** -exponent)
        proved = float(worst_loss(claim.law, claim.pairs, bits=500).loss)
        assert losses(claim).max() == pytest.approx(proved, rel=1e-9, abs=1e-14)
