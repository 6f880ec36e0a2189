"""The paper of Croft, Sack & Shi does here what it says, and the places where it errs are shown to."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds, InboundsError, InvalidParameter
from inbounds.exact.balls import lock, upper, workprec
from inbounds.published.croft2022 import (
    Constraints,
    GapBound,
    LowerBound,
    SpanBound,
    TruncatedPDF,
    border_scale,
    guarantee_holds,
    lemma1,
    location_scale,
    location_scale_ball,
    log_ratio,
    lower_bounds,
    motivating_example,
    table2,
    uniform_scale,
)
from tests.helpers.small_lattices import Scene, scenes

TENTH = Fraction(1, 10)
BELOW, ABOVE = Bounds(None, 0), Bounds(0, None)
A_HAIR = Fraction(1, 10**15)

# Epsilon, then for sensitivity 1 the scales on the border and one sensitivity away, and where the guarantee breaks.
HALF_LINE = [
    (TENTH, 15.8595, 15.4614, -79.6698),
    (Fraction(1, 2), 3.17191, 2.83079, -18.597),
    (Fraction(1), 1.58595, 1.30202, -11.1712),
    (Fraction(2), 0.792977, 0.587355, -7.71295),
]

# Bounds, class, sensitivity, epsilon and the uniform scale.
UNIONS: list[tuple[str, str, int, float, float]] = [
    ("[0, 5] | [7, inf)", "c", 1, 1, 2),
    ("(-inf, 0] | [3, inf)", "b", 1, 1, 1.7060343636672572),
    ("(-inf, 0] | [0.5, inf)", "b", 1, 1, 1.2046073339762329),
    ("[0, 1] | [2, 3] | [10, 12]", "c", 1, 0.5, 4),
    ("[0, 17] | [65, 120]", "c", 2, 1, 4),
]


@st.composite
def unions(draw: st.DrawFn, *, finite: bool = False) -> Bounds:
    """From one to four spans of real numbers; `finite` for no infinite constraint."""
    widths = st.integers(1, 40).map(lambda n: Fraction(n, 8))
    spans: list[tuple[Fraction | None, Fraction | None]] = []
    end = Fraction(draw(st.integers(-9, 9)))
    for _ in range(draw(st.integers(1, 4))):
        low = end + draw(widths)
        end = low + draw(widths)
        spans.append((low, end))
    if finite or draw(st.booleans()):
        spans[0] = (None, spans[0][1])
    if finite or draw(st.booleans()):
        spans[-1] = (spans[-1][0], None)
    return Bounds.union(spans)


def reflected(bounds: Bounds) -> Bounds:
    """The mirror image in 0, of bounds without a step."""
    spans = Constraints.of(bounds).spans
    return Bounds.union([(None if high is None else -high, None if low is None else -low) for low, high in spans])


def points(bounds: Bounds) -> st.SearchStrategy[Fraction]:
    """Feasible points: the ends and what is between, at most 20 away from an end."""
    found = []
    for low, high in Constraints.of(bounds).spans:
        first = low if low is not None else (high - 20 if high is not None else Fraction(-20))
        last = high if high is not None else first + 20
        found.append(st.fractions(first, last, max_denominator=16))
    return st.one_of(found)


scales = st.floats(-1.5, 1.5).map(lambda exponent: Fraction(10.0**exponent))
epsilons = st.sampled_from([TENTH, Fraction(1, 2), Fraction(1), Fraction(3)])


def near(value: float, rel: float = 1e-12) -> Any:
    """Equal to so many digits."""
    return pytest.approx(value, rel=rel, abs=1e-14)


def location_pdf(bounds: Bounds, location: Fraction, sensitivity: Fraction, epsilon: Fraction) -> TruncatedPDF:
    """The PDF of a location beside a single constraint, with the scale that Lemma 2 gives it, to 400 bits."""
    return TruncatedPDF(Constraints.of(bounds), location, exact_scale(abs(location), sensitivity, epsilon))


def exact_scale(distance: Fraction, sensitivity: Fraction, epsilon: Fraction) -> Fraction:
    """The scale at a distance from a single constraint, rounded up to 400 bits."""
    found = location_scale_ball(distance, sensitivity, epsilon, 400)
    with lock(), workprec(400):
        return upper(found)


class TestConstraints:
    """Section 3.1."""

    @pytest.mark.parametrize(
        ("text", "letter"),
        [
            ("[0, inf)", "a"),
            ("(-inf, 3]", "a"),
            ("(-inf, inf)", "b"),
            ("(-inf, 0] | [3, inf)", "b"),
            ("[0, 100]", "c"),
            ("[0, 5] | [7, inf)", "c"),
            ("(-inf, 5] | [7, 9]", "c"),
            ("[0, inf) step 1", "a"),
        ],
    )
    def test_every_configuration_has_its_class(self, text: str, letter: str) -> None:
        """One infinite constraint alone is (a), no infinite one is (b), anything else is (c)."""
        assert Constraints.of(Bounds.parse(text)).letter == letter

    def test_constraints_are_the_complement_of_the_bounds(self) -> None:
        """What is between spans is a finite constraint, what is outside all of them an infinite one."""
        constraints = Constraints.of(Bounds.parse("[0, 5] | [7, 8] | [9.5, inf)"))
        assert [*map(list, constraints.finite)] == [[5, 7], [8, 9.5]]
        assert (constraints.I_L, constraints.I_R) == (True, False)
        assert constraints == Constraints.of(Bounds(0, None).excluding((5, 7), (8, 9.5)))
        assert repr(constraints) == "everything but [0, 5] | [7, 8] | [9.5, inf)"

    def test_whole_line_has_no_constraint(self) -> None:
        """Without constraints L = R = 0 and n = 1."""
        pdf = TruncatedPDF.of(Bounds.everything(), 3, 2)
        assert (pdf.constraints.finite, pdf.L, pdf.R, pdf.n) == ((), 0, 0, 1)


class TestNormalization:
    """Section 3.2."""

    @pytest.mark.slow
    @settings(max_examples=30)
    @given(unions(), scales, st.data())
    def test_n_restores_the_integral_to_one(self, bounds: Bounds, scale: Fraction, data: st.DataObject) -> None:
        """The reciprocal of n is the integral of the Laplace PDF over feasible space; L and R are what is missing."""
        location = data.draw(points(bounds))
        pdf = TruncatedPDF.of(bounds, location, scale)
        left, feasible, right = integrals(bounds, location, scale)
        assert (pdf.L, pdf.R, 1 / pdf.n) == (near(left), near(right), near(feasible))

    @pytest.mark.slow
    @settings(max_examples=15)
    @given(scenes(), scales, st.data())
    def test_n_restores_the_sum_to_one(self, scene: Scene, scale: Fraction, data: st.DataObject) -> None:
        """On a lattice the same holds of sums over lattice points."""
        scale = min(scale, Fraction(6))
        bounds, step = scene.bounds, scene.step
        near_zero = [scene.offset + k * step for k in range(-60, 100)]
        location = data.draw(st.sampled_from([x for x in near_zero[20:-20] if x in bounds]))
        pdf = TruncatedPDF.of(bounds, location, scale * step)
        q = math.exp(-1 / scale)
        missing = {
            x: q ** abs((x - location) / step) * (1 - q) / (1 + q) for x in far(near_zero, step) if x not in bounds
        }
        left, right = (sum(mass for x, mass in missing.items() if sign * (x - location) > 0) for sign in (-1, 1))
        assert (near(left, 1e-9), near(right, 1e-9)) == (pdf.L, pdf.R)
        assert pdf.n == near(1 / (1 - (pdf.L + pdf.R)), 1e-9)

    @settings(max_examples=40)
    @given(unions(), scales, st.data())
    def test_reflection_exchanges_left_and_right(self, bounds: Bounds, scale: Fraction, data: st.DataObject) -> None:
        """The mirror image has L for R, R for L and the same n."""
        location = data.draw(points(bounds))
        pdf, image = TruncatedPDF.of(bounds, location, scale), TruncatedPDF.of(reflected(bounds), -location, scale)
        assert (pdf.L, pdf.R, pdf.n) == (image.R, image.L, image.n)

    def test_lattice_tends_to_the_continuum(self) -> None:
        """With the step, the differences of L, R and n to those of real numbers go to 0 in proportion."""
        text = "[0, 5] | [7, 20]"
        smooth = TruncatedPDF.of(Bounds.parse(text), 3, 2)
        errors = []
        for step in (1, 0.125, 2**-6, 2**-12):
            pdf = TruncatedPDF.of(Bounds.parse(f"{text} step {step}"), 3, 2)
            errors.append(max(abs(pdf.L - smooth.L), abs(pdf.R - smooth.R), abs(pdf.n - smooth.n)))
        assert all(4 * after < before for before, after in pairwise(errors))
        assert errors[-1] < 1e-3

    def test_dates_are_a_lattice(self) -> None:
        """A clinic that is closed at weekends has the constraints of a lattice of days."""
        clinic = Bounds.dates("2026-01-05", "2026-01-16", weekdays="Mon-Fri")
        days = TruncatedPDF.of(clinic, date(2026, 1, 9), 3)
        numbers = TruncatedPDF.of(Bounds.union([(0, 4), (7, 11)], step=1), 4, 3)
        assert (days.L, days.R, days.n) == (numbers.L, numbers.R, numbers.n)
        assert days.R > days.L


def far(near_zero: list[Fraction], step: Fraction) -> list[Fraction]:
    """The same points and as many more on both sides that nothing of the noise is beyond them."""
    reach = 400
    before = [near_zero[0] - k * step for k in range(reach, 0, -1)]
    return before + near_zero + [near_zero[-1] + k * step for k in range(1, reach + 1)]


def integrals(bounds: Bounds, location: Fraction, scale: Fraction) -> tuple[float, float, float]:
    """What a Laplace PDF has in constraints left of its location, in feasible space, and in constraints right of it."""
    with mpmath.workdps(20):
        # In units of the scale, from the location.
        spans = Constraints.of(bounds).spans
        places = [None if end is None else (end - location) / scale for span in spans for end in span]
        ends = [None if place is None else mpmath.mpf(place.numerator) / place.denominator for place in places]
        edges = [-mpmath.inf if ends[0] is None else ends[0], *ends[1:-1], mpmath.inf if ends[-1] is None else ends[-1]]
        edges = [-mpmath.inf, *edges, mpmath.inf]

        def weigh(low: Any, high: Any) -> Any:
            knots = sorted({low, high, *(x for x in (-9, -1, 0, 1, 9) if low < x < high)})
            return mpmath.quad(lambda x: mpmath.exp(-abs(x)) / 2, knots) if low < high else mpmath.mpf(0)

        gaps = [*zip(edges[0::2], edges[1::2], strict=True)]
        left = sum(weigh(*gap) for gap in gaps if gap[1] <= 0)
        right = sum(weigh(*gap) for gap in gaps if gap[0] >= 0)
        return (
            float(left),
            float(sum(weigh(*span) for span in zip(edges[1::2], edges[2::2], strict=False))),
            float(right),
        )


class TestGuarantee:
    """Sections 3.3 to 3.6."""

    @settings(max_examples=30)
    @given(unions(), scales, scales, st.data())
    def test_log_ratio_is_that_of_the_densities(
        self, bounds: Bounds, first: Fraction, second: Fraction, data: st.DataObject
    ) -> None:
        """The logarithm of Formula 13's left side is the difference of the log-densities, written out."""
        at = [data.draw(points(bounds)) for _ in range(3)]
        pdfs = TruncatedPDF.of(bounds, at[0], first), TruncatedPDF.of(bounds, at[1], second)
        logs = [math.log(p.n / (2 * p.scale)) - float(abs(at[2] - p.location) / p.scale) for p in pdfs]
        assert log_ratio(*pdfs, at[2]) == pytest.approx(logs[0] - logs[1], rel=1e-9, abs=1e-9)
        assert log_ratio(*pdfs, at[2]) == -log_ratio(pdfs[1], pdfs[0], at[2])

    @settings(max_examples=30)
    @given(unions(), scales, epsilons, st.data())
    def test_predicate_agrees_with_the_log_ratio(
        self, bounds: Bounds, scale: Fraction, epsilon: Fraction, data: st.DataObject
    ) -> None:
        """The guarantee holds at a point exactly if the log-ratio is at most i * epsilon."""
        first, second, x = (data.draw(points(bounds)) for _ in range(3))
        pdfs = TruncatedPDF.of(bounds, first, scale), TruncatedPDF.of(bounds, second, scale)
        excess = log_ratio(*pdfs, x) - float(abs(first - second) * epsilon / 2)
        if abs(excess) > 1e-12:
            assert guarantee_holds(*pdfs, x, 2, epsilon) == (excess < 0)

    @pytest.mark.parametrize("step", [None, 1])
    def test_plain_mechanism_keeps_it_with_equality(self, step: int | None) -> None:
        """Without constraints the plain scale is enough, and nothing below it is."""
        line = Bounds(None, None, step)
        for scale, kept in ((3, True), (Fraction(2999999, 10**6), False)):
            assert (
                guarantee_holds(TruncatedPDF.of(line, 1, scale), TruncatedPDF.of(line, 0, scale), 5, 1, Fraction(1, 3))
                is kept
            )

    def test_lattice_ratio_is_that_of_probabilities(self) -> None:
        """On a lattice the two factors of different scales are ratios of sums, not of integrals."""
        bounds = Bounds(0, 9, step=1)
        pdfs = TruncatedPDF.of(bounds, 2, 3), TruncatedPDF.of(bounds, 7, Fraction(1, 2))
        weights = [[math.exp(-abs(k - p.location) / float(p.scale)) for k in range(10)] for p in pdfs]
        for x in range(10):
            expected = [math.log(w[x] / sum(w)) for w in weights]
            assert log_ratio(*pdfs, x) == near(expected[0] - expected[1])

    @pytest.mark.parametrize(("epsilon", "i"), [(0.1, 1), (1, 1), (1, 2.5), (3, 4)])
    def test_motivating_example(self, epsilon: float, i: float) -> None:
        """At the plain scale the ratio is 2 e^(i epsilon) - 1 where e^(i epsilon) is allowed."""
        found = motivating_example(epsilon, i)
        assert found.ratio == near(2 * math.exp(i * epsilon) - 1)
        assert found.allowed == near(math.exp(i * epsilon))
        assert found.ratio > found.allowed


class TestSingleInfiniteConstraint:
    """Section 4.1."""

    @pytest.mark.parametrize(("epsilon", "border", "away", "broken"), HALF_LINE)
    def test_reference_values(self, epsilon: Fraction, border: float, away: float, broken: float) -> None:
        """The scales on the border and one sensitivity away, and the point below which the guarantee is broken."""
        assert border_scale(1, epsilon) == location_scale(BELOW, 0, 1, epsilon) == pytest.approx(border, rel=5e-6)
        assert location_scale(BELOW, -1, 1, epsilon) == pytest.approx(away, rel=5e-6)
        first, second = (TruncatedPDF.of(BELOW, at, location_scale(BELOW, at, 1, epsilon)) for at in (0, -1))
        below, above = broken * (1 + 1e-5), broken * (1 - 1e-5)
        assert log_ratio(first, second, below) > epsilon > log_ratio(first, second, above)
        assert not guarantee_holds(first, second, below, 1, epsilon)
        assert guarantee_holds(first, second, above, 1, epsilon)

    def test_theorem_1_is_false(self) -> None:
        """The log-ratio of two locations with different scales grows without limit away from the border."""
        first, second = (location_pdf(BELOW, Fraction(at), Fraction(1), Fraction(1)) for at in (0, -1))
        assert log_ratio(first, second, -(10**3)) > 10**2
        assert log_ratio(first, second, -(10**9)) > 10**8

    def test_scale_on_the_border(self) -> None:
        """On the border the scale is -dF / (W(-1/2e) e epsilon), about 1.586 dF/eps."""
        with mpmath.workdps(30):
            expected = float(-1 / (mpmath.lambertw(-1 / (2 * mpmath.e)).real * mpmath.e))
        assert border_scale(1, 1) == expected == near(1.5859541721782722)
        assert border_scale(6, 0.75) == near(8 * expected)

    @settings(max_examples=30)
    @given(st.fractions(Fraction(1, 10**6), 900, max_denominator=10**7), epsilons, st.integers(1, 5))
    def test_border_holds_with_equality(self, i: Fraction, epsilon: Fraction, sensitivity: int) -> None:
        """At the border the log-ratio to the PDF on it is i * epsilon, for every i."""
        apart = i * sensitivity
        border, away = (location_pdf(BELOW, at, Fraction(sensitivity), epsilon) for at in (Fraction(0), -apart))
        assert log_ratio(border, away, 0) == pytest.approx(float(i * epsilon), rel=1e-15, abs=0)

    @settings(max_examples=40)
    @given(st.fractions(0, 900), st.fractions(Fraction(1, 10**9), 50), epsilons)
    def test_scales_fall_with_the_distance(self, i: Fraction, more: Fraction, epsilon: Fraction) -> None:
        """The scale falls strictly, from its value on the border towards the plain scale and never to it."""
        nearer, farther = (location_scale_ball(at, Fraction(1), epsilon, 200) for at in (i, i + more))
        assert nearer > farther
        assert farther > arb(1) / (arb(epsilon.numerator) / epsilon.denominator)

    @pytest.mark.parametrize("epsilon", [TENTH, Fraction(1), Fraction(7, 3)])
    def test_scale_is_continuous_at_the_branch_point(self, epsilon: Fraction) -> None:
        """Just before, at and just after i = 1/epsilon the scales are a hair apart, each tight and in order."""
        before, at, after = (
            location_scale_ball((1 + hair) / epsilon, Fraction(1), epsilon, 100) for hair in (-A_HAIR, 0, A_HAIR)
        )
        assert before > at > after
        assert (before - after) * float(epsilon) < 1e-14
        assert min(ball.rel_accuracy_bits() for ball in (before, at, after)) >= 100

    def test_scale_at_the_branch_point(self) -> None:
        """At i = 1/epsilon exactly W is -1, and the scale dF/eps / (1 + W(-1/2e))."""
        with mpmath.workdps(30):
            expected = float(1 / (1 + mpmath.lambertw(-1 / (2 * mpmath.e)).real))
        assert location_scale(ABOVE, 1, 1, 1) == expected
        assert location_scale(ABOVE, Fraction(1, 3), 1, 3) == near(expected / 3)

    @settings(max_examples=25)
    @given(st.floats(0.01, 300).filter(lambda x: abs(x - 1) > 0.01))
    def test_scale_is_that_of_formula_33(self, i: float) -> None:
        """Formula 33, as it is printed and with enough digits, gives the same."""
        with mpmath.workdps(400):
            first = -1 / (mpmath.lambertw(-1 / (2 * mpmath.e)).real * mpmath.e)
            step = i * mpmath.exp(-i) / first
            w = mpmath.lambertw(-2 * step * mpmath.exp(-step), 0 if i <= 1 else -1).real
            expected = float(-i * mpmath.exp(i) * first / (w * mpmath.exp(i) * first + i))
        assert location_scale(ABOVE, i, 1, 1) == expected

    @pytest.mark.parametrize("distance", [800, 10**9, 1e300, Fraction(1, 10**300)])
    def test_far_and_near_locations_have_scales(self, distance: Any) -> None:
        """No location is too far from the border, nor too near to it."""
        assert 1 <= location_scale(ABOVE, distance, 1, 1) <= border_scale(1, 1)

    @settings(max_examples=40)
    @given(st.fractions(0, 30), epsilons)
    def test_left_and_right_constraints_mirror_each_other(self, distance: Fraction, epsilon: Fraction) -> None:
        """A constraint to negative infinity gives what its reflection gives, wherever its end is."""
        there = location_scale(Bounds(5, None), 5 + distance, 2, epsilon)
        assert there == location_scale(Bounds(None, -3), -3 - distance, 2, epsilon)

    @settings(max_examples=25)
    @given(st.fractions(Fraction(1, 100), 40), epsilons)
    def test_bounds_of_lemma_1_meet_in_the_scale_chosen(self, i: Fraction, epsilon: Fraction) -> None:
        """With the scale of Formula 32 on the border the four bounds are two, and the scale chosen is one of them."""
        first = exact_scale(Fraction(0), Fraction(1), epsilon)
        found = lemma1(i, first, 1, epsilon)
        chosen = location_scale(ABOVE, i, 1, epsilon)
        assert (found.at_most, found.at_least) == (near(found.or_at_least), near(found.or_at_most))
        assert chosen == (found.or_at_least if i * epsilon <= 1 else found.or_at_most)

    def test_a_larger_scale_on_the_border_leaves_room(self) -> None:
        """Formulas 28 and 29 bound the scales at which the border keeps the guarantee, and a small one leaves none."""
        found = lemma1(2, 2, 1, 1)
        assert found.at_least is not None
        assert found.at_most is not None
        assert found.at_least < found.at_most
        border = TruncatedPDF.of(ABOVE, 0, 2)
        for factor in (1 - 1e-9, 1 + 1e-9):
            for bound, kept in ((found.at_least, factor > 1), (found.at_most, factor < 1)):
                assert guarantee_holds(border, TruncatedPDF.of(ABOVE, 2, bound * factor), 0, 1, 1) is kept
        assert lemma1(1, 1.5, 1, 1)[:2] == (None, None)
        assert lemma1(1, 0.1, 1, 1)[:2] == (None, None)

    @pytest.mark.parametrize("epsilon", [TENTH, Fraction(1), Fraction(5)])
    def test_symmetric_form_is_kept(self, epsilon: Fraction) -> None:
        """Seen the other way round, where the nearer location has the larger scale, the guarantee holds everywhere."""
        for first, second in ((0, 1), (0, TENTH), (1, 3), (2, 20)):
            near_, far_ = (location_pdf(ABOVE, Fraction(at), Fraction(1), epsilon) for at in (first, second))
            worst = max(log_ratio(far_, near_, x) for x in (0, first, second, second + 1, 100))
            assert worst == log_ratio(far_, near_, second) <= epsilon * (second - first)


class TestUniformScale:
    """Sections 4.2 and 4.3."""

    @pytest.mark.parametrize(("text", "letter", "sensitivity", "epsilon", "expected"), UNIONS)
    def test_reference_values(self, text: str, letter: str, sensitivity: int, epsilon: float, expected: float) -> None:
        """The uniform scale is the one computed by other means, and exactly 2 dF/eps with an infinite constraint."""
        bounds = Bounds.parse(text)
        found = uniform_scale(bounds, sensitivity, epsilon)
        assert Constraints.of(bounds).letter == letter
        assert found == (expected if letter == "c" else pytest.approx(expected, abs=1e-12))
        library = BoundedLaplace(bounds, sensitivity, epsilon, guarantee="distance", trusted=True)
        assert float(found) == pytest.approx(library.scale, rel=1e-8)

    @pytest.mark.slow
    @settings(max_examples=15)
    @given(unions(), st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(4)]))
    def test_continuous_scale_is_the_mechanism_s(self, bounds: Bounds, epsilon: Fraction) -> None:
        """Without a step, the scale is that of the distance guarantee for trusted answers."""
        library = BoundedLaplace(bounds, 1, epsilon, guarantee="distance", trusted=True)
        assert float(uniform_scale(bounds, 1, epsilon)) == pytest.approx(library.scale, rel=1e-8)

    @pytest.mark.slow
    @settings(max_examples=20)
    @given(scenes(kinds=("distance",), whole=True))
    def test_lattice_scale_is_the_mechanism_s(self, scene: Scene) -> None:
        """With a step, and a sensitivity of whole steps, the scale is that of the distance guarantee again."""
        library = replace(scene, pooling=0.0).mechanism()
        found = uniform_scale(scene.bounds, scene.sensitivity * scene.step, scene.epsilon)
        assert float(found) == pytest.approx(library.scale, rel=1e-8)

    @settings(max_examples=40)
    @given(unions())
    def test_there_are_3n_plus_2_bounds(self, bounds: Bounds) -> None:
        """Theorem 2: n + 1 bounds of Lemma 7, as many of its mirror image, and n of Lemma 9."""
        n = len(Constraints.of(bounds).finite)
        found = lower_bounds(bounds, 1, 1)
        assert len(found) == 3 * n + 2
        assert len([b for b in found if isinstance(b, SpanBound) and b.symmetric]) == n + 1
        assert len([b for b in found if isinstance(b, GapBound)]) == n

    @pytest.mark.slow
    @settings(max_examples=25)
    @given(unions(finite=True), epsilons)
    def test_scale_is_the_maximum_of_the_bounds(self, bounds: Bounds, epsilon: Fraction) -> None:
        """Where each bound holds from its number on, the greatest number is the scale, and it is below 2 dF/eps."""
        values = [bound.value(9) for bound in lower_bounds(bounds, 1, epsilon)]
        assert uniform_scale(bounds, 1, epsilon, 9) == max(values)
        assert 1 / epsilon <= max(values) < 2 / epsilon

    @settings(max_examples=25)
    @given(unions(), epsilons, st.integers(0, 15))
    def test_scale_was_evaluated_and_holds(self, bounds: Bounds, epsilon: Fraction, decimals: int) -> None:
        """Every bound holds at the scale returned, and at the multiple of 10**-decimals before it one does not."""
        found, bounds_ = uniform_scale(bounds, 2, epsilon, decimals), lower_bounds(bounds, 2, epsilon)
        assert all(bound.holds(found) for bound in bounds_)
        before = Fraction(math.ceil(found * 10**decimals) - 1, 10**decimals)
        assert before <= 0 or not all(bound.holds(before) for bound in bounds_)
        assert found == 4 / epsilon or (found * 10**decimals).denominator == 1

    @settings(max_examples=25)
    @given(unions(), st.floats(0.01, 3))
    def test_lemma_9_never_decides(self, bounds: Bounds, scale: float) -> None:
        """On real numbers the bounds of Lemma 9 hold wherever those of Lemma 7 do."""
        found = lower_bounds(bounds, 1, 1)
        if all(bound.holds(scale) for bound in found if isinstance(bound, SpanBound)):
            assert all(bound.holds(scale) for bound in found)

    def test_lemma_9_decides_on_single_points(self) -> None:
        """On a lattice whose spans are single points there are no bounds but those of Lemma 9."""
        found = lower_bounds(Bounds.union([(0, 0), (2, 2), (5, 5)], step=1), 1, 1)
        assert [type(bound) for bound in found] == [GapBound, GapBound]
        assert uniform_scale(Bounds(3, 3, step=1), 3, 2) == Fraction(3, 2)

    def test_symmetric_form_of_lemma_9_can_be_the_stronger(self) -> None:
        """Where more is missing beyond the left endpoint, the form that the paper drops needs the larger scale."""
        bounds = Bounds.parse("(-inf, -100] | [-1, 0] | [1, inf)")
        gap = [bound for bound in lower_bounds(bounds, 1, 1) if isinstance(bound, GapBound)][-1]
        scale = gap.value(6) - Fraction(1, 10**6)
        right, left = (TruncatedPDF.of(bounds, at, scale) for at in (1, 0))
        assert guarantee_holds(right, left, 1, 1, 1)
        assert not guarantee_holds(left, right, 0, 1, 1)

    def test_lemma_8_fails_for_a_single_bound(self) -> None:
        """A bound can hold at one scale and fail at a larger one below 2 dF/eps."""
        bounds = Bounds.parse("(-inf, -100] | [-0.000001, 0] | [1, 2] | [40, inf)")
        at_0 = [b for b in lower_bounds(bounds, 1, 0.001) if isinstance(b, SpanBound) and b.end == 0]
        assert [bound.symmetric for bound in at_0] == [False]
        assert at_0[0].holds(5)
        assert not at_0[0].holds(30)

        def needed(scale: float) -> float:
            pdf = TruncatedPDF.of(bounds, 0, scale)
            return (1 + (pdf.R - pdf.L) * pdf.n) / scale

        assert needed(5) == pytest.approx(5e-7, rel=0.1)
        assert needed(30) == pytest.approx(7e-3, rel=0.1)

    @settings(max_examples=30)
    @given(unions(), scales, st.data())
    def test_bound_of_lemma_7_is_formula_35_at_the_worst_end(
        self, bounds: Bounds, scale: Fraction, data: st.DataObject
    ) -> None:
        """No location of a span needs more than its right end, or in the symmetric form its left end."""
        at = data.draw(points(bounds))
        pdf = TruncatedPDF.of(bounds, at, scale)
        for bound in lower_bounds(bounds, 1, 1):
            if isinstance(bound, SpanBound) and bound.holds(scale) and _spans_end(bound, at):
                minus, plus = (pdf.R, pdf.L) if bound.symmetric else (pdf.L, pdf.R)
                assert (1 - 2 * minus) / (1 - minus - plus) <= scale * (1 + Fraction(1, 10**9))

    @pytest.mark.slow
    @settings(max_examples=25)
    @given(unions(), epsilons)
    def test_reflection_changes_nothing(self, bounds: Bounds, epsilon: Fraction) -> None:
        """The mirror image needs the same scale."""
        assert uniform_scale(bounds, 1, epsilon, 9) == uniform_scale(reflected(bounds), 1, epsilon, 9)

    def test_lattice_tends_to_the_continuum(self) -> None:
        """With the step, the scale goes to that of real numbers, from below and in proportion."""
        text = "(-inf, 0] | [3, inf)"
        limit = uniform_scale(Bounds.parse(text), 1, 1)
        errors = [
            limit - uniform_scale(Bounds.parse(f"{text} step {step}"), 1, 1) for step in (0.5, 2**-5, 2**-9, 2**-20)
        ]
        assert all(8 * after < before for before, after in pairwise(errors))
        assert 0 < errors[-1] < 1e-5

    def test_masses_below_any_precision_are_no_obstacle(self) -> None:
        """Spans a billion scales apart, or far narrower than the noise, have a scale too."""
        assert uniform_scale(Bounds.union([(0, 1), (10**9, 10**9 + 1)]), 1, 1) == 2
        assert uniform_scale(Bounds.union([(0, 1), (2, 3)], step=1), 1, 1e-9, 0) < 2 * 10**9

    def test_dates_have_a_uniform_scale(self) -> None:
        """Days take a sensitivity in days or as a timedelta."""
        clinic = Bounds.dates("2026-01-05", "2026-01-30", weekdays="Mon-Fri")
        library = BoundedLaplace(clinic, 2, 1, guarantee="distance", trusted=True)
        assert float(uniform_scale(clinic, timedelta(days=2), 1)) == pytest.approx(library.scale, rel=1e-8)


def _spans_end(bound: SpanBound, at: Fraction) -> bool:
    """Whether a location is in the span of a bound."""
    low, high = next(
        span
        for span in bound.constraints.spans
        if (span[0] is None or span[0] <= at) and (span[1] is None or at <= span[1])
    )
    return bound.end == (low if bound.symmetric else high)


class TestTable2:
    """Section 4.4."""

    def test_every_class_has_its_row(self) -> None:
        """The table names the calculation and the bound of each class, and gives its scales."""
        half, banks, span = (
            table2(Bounds.parse(text), 1, 1) for text in ("[0, inf)", "(-inf, 0] | [3, inf)", "[0, 5]")
        )
        assert [row.letter for row in (half, banks, span)] == ["a", "b", "c"]
        assert (half.calculation, banks.calculation) == ("sigma_1: Formula 32, sigma_2: Formula 33", "section 4.2")
        assert half.greatest == half.limit == Fraction(border_scale(1, 1)) > half.least == 1
        assert (
            banks.greatest
            == banks.least
            == uniform_scale(Bounds.parse("(-inf, 0] | [3, inf)"), 1, 1)
            < banks.limit
            == 2
        )
        assert span.greatest == span.limit == 2

    def test_false_row_says_so(self) -> None:
        """The row of the single infinite constraint says that it is not epsilon-DP."""
        assert "not epsilon-DP" in table2(Bounds(None, 0), 1, 1).remark


BANKS = Bounds.parse("(-inf, 0] | [3, inf)")
PDF = TruncatedPDF.of(BANKS, 0, 1)
MISTAKES: list[tuple[Any, str]] = [
    (lambda: Constraints.of((0, 1)), "bounds must be a Bounds"),  # type: ignore[arg-type]
    (lambda: TruncatedPDF.of(BANKS, 1, 1), "location must be feasible"),
    (lambda: TruncatedPDF.of(BANKS, "0", 1), "location must be a finite number"),
    (lambda: TruncatedPDF.of(BANKS, date(2026, 1, 1), 1), "location must be a number"),
    (lambda: TruncatedPDF.of(Bounds.dates("2026-01-01", "2026-02-01"), 7, 1), "location must be a datetime.date"),
    (lambda: TruncatedPDF.of(Bounds(0, 9, step=1), 0.5, 1), "location must be feasible"),
    (lambda: TruncatedPDF.of(BANKS, 0, 0), "scale must be positive, got 0"),
    (lambda: TruncatedPDF.of(BANKS, 0, math.inf), "scale must be a finite number"),
    (lambda: log_ratio(PDF, PDF, 2), "x must be feasible"),
    (lambda: log_ratio(PDF, TruncatedPDF.of(ABOVE, 0, 1), 0), "both PDFs must have the same bounds"),
    (lambda: guarantee_holds(PDF, PDF, 0, 0, 1), "sensitivity must be positive"),
    (lambda: guarantee_holds(PDF, PDF, 0, 1, -1), "epsilon must be from"),
    (lambda: motivating_example(1, -1), "i must be positive, got -1"),
    (lambda: location_scale(BANKS, 0, 1, 1), "needs a single half-line"),
    (lambda: location_scale(ABOVE, -1, 1, 1), "location must be feasible"),
    (lambda: location_scale_ball(Fraction(-1), Fraction(1), Fraction(1), 60), "distance must not be negative"),
    (lambda: lemma1(0, 2, 1, 1), "i must be positive, got 0"),
    (lambda: uniform_scale(BANKS, 1, 1, -1), "decimals must be an int from 0 to 300, got -1"),
    (lambda: uniform_scale(BANKS, 1, 1, True), "decimals must be an int"),
    (lambda: uniform_scale([0, 1], 1, 1), "bounds must be a Bounds"),  # type: ignore[arg-type]
    (lambda: lower_bounds(BANKS, 1, 1)[0].holds(-2), "scale must be positive, got -2"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES)
def test_mistakes_are_named(mistake: Any, message: str) -> None:
    """Bad input is refused with the rule in the message."""
    with pytest.raises(InvalidParameter, match=message):
        mistake()


def test_messages_never_show_a_location() -> None:
    """A location may be a true answer, so no refusal repeats it."""
    for attempt in (lambda: TruncatedPDF.of(BANKS, 1.2345, 1), lambda: log_ratio(PDF, PDF, 1.2345)):
        with pytest.raises(InboundsError) as refused:
            attempt()
        assert "2345" not in str(refused.value)


def test_a_bound_is_abstract() -> None:
    """A lower bound is one of the two kinds."""
    with pytest.raises(TypeError):
        LowerBound(Constraints.of(BANKS), Fraction(1), Fraction(1))  # type: ignore[abstract]
