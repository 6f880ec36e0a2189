"""Means and greatest values over all true answers, or those in a window, are those over each answer looked at."""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import integrate

from inbounds import BoundedLaplace, Bounds, InvalidParameter
from inbounds.accuracy.true_answers import FLAT, TrueAnswers, greatest, mean
from inbounds.accuracy.window import PLAIN_SCALES, indices_of, stated_window
from inbounds.bounds.index_span import FAR
from inbounds.bounds.lattice import Lattice
from inbounds.privacy.label import Label, format_up
from inbounds.published import Geometric, Laplace
from tests.helpers.brute_force import Spans
from tests.helpers.mechanisms import ISLANDS, YEAR
from tests.helpers.small_lattices import spans

Floats = NDArray[np.float64]
inf, nan = math.inf, math.nan


def lattice_of(some: Spans) -> Lattice:
    """Return these spans of integers as a lattice."""
    return Lattice.of(Bounds.union(some, step=1), Fraction(1))


class Bumps:
    """A quantity that depends on the true answer near the ends of its span, and differs from span to span."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, span: NDArray[np.intp], below: Floats, above: Floats) -> Floats:
        """Return the quantity so far from either end."""
        near, far = np.exp(-below / self.scale), np.exp(-above / self.scale)
        rise = np.where(below == FAR, 0.0, 3 * below / self.scale * near)  # its greatest value is not at an end
        return np.asarray(2 + span + near + rise - far / 2)

    def written_out(self, some: Spans, first: int, last: int) -> list[float]:
        """Return the quantity at every possible answer in a window."""
        found = []
        for number, (low, high) in enumerate(some):
            start, stop = max(first, first if low is None else low), min(last, last if high is None else high)
            for index in range(start, stop + 1):
                below, above = (FAR if low is None else index - low), (FAR if high is None else high - index)
                found.append(float(self(np.array([number]), np.array([float(below)]), np.array([float(above)]))[0]))
        return found


# Any quantity.


@given(spans(), st.sampled_from([0.3, 2.0, 30.0]), st.integers(-40, 40), st.integers(0, 80))
def test_all_answers_in_a_window_count_alike(some: Spans, scale: float, first: int, width: int) -> None:
    """The mean over a window is the sum over the possible answers in it by their number; the greatest the greatest."""
    curve, last = Bumps(scale), first + width
    values = curve.written_out(some, first, last)
    assume(values)
    answers = TrueAnswers(lattice_of(some), max(1.0, scale), FLAT * max(1.0, scale), first, last)
    assert answers.count == len(values)
    assert mean(answers, curve) == pytest.approx(math.fsum(values) / len(values), rel=1e-12)
    assert greatest(answers, curve) == pytest.approx(max(values), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 7.5, 40.0, 300.0])
@pytest.mark.parametrize("length", [11, 12, 13, 100, 999, 20_000])
def test_many_answers_are_summed_as_well_as_each_of_them(length: int, scale: float) -> None:
    """From a few answers to many, the Gauss sums give the sum over all of them, and the peak between nodes is found."""
    some: Spans = [(0, length), (length + 9, length + 9), (2 * length + 20, 3 * length + 20)]
    curve = Bumps(scale)
    answers = TrueAnswers(lattice_of(some), scale, FLAT * scale)
    values = curve.written_out(some, 0, 3 * length + 20)
    assert mean(answers, curve) == pytest.approx(np.mean(values), rel=1e-11)
    assert greatest(answers, curve) == pytest.approx(max(values), rel=1e-12)


@pytest.mark.parametrize("count", [1, 5, 12, 13, 14, 57, 2**17])
def test_sums_over_runs_are_exact_for_polynomials(count: int) -> None:
    """A run of any length is summed exactly for every power up to the twentieth."""
    lattice = lattice_of([(0, count - 1)])
    answers = TrueAnswers(lattice, 2.0**30, 2.0**30)
    for power in (0, 1, 2, 7, 20):

        def curve(_span: NDArray[np.intp], below: Floats, _above: Floats, power: int = power) -> Floats:
            return (below / count) ** power

        assert mean(answers, curve) == pytest.approx(np.mean((np.arange(count) / count) ** power), rel=1e-10)


def test_fine_lattices_are_integrated() -> None:
    """On 2**45 answers the mean is the integral, and the greatest value that of the function between them."""
    count, scale = 2.0**45, 2.0**41
    answers = TrueAnswers(lattice_of([(0, 2**45)]), scale, FLAT * scale)
    found, _ = integrate.quad(lambda x: 2 + math.exp(-16 * x) * (1 + 48 * x) - math.exp(-16 * (1 - x)) / 2, 0, 1)
    assert mean(answers, Bumps(scale)) == pytest.approx(found, rel=1e-9)
    peak = 2 + 3 * math.exp(-2 / 3)  # where the derivative of (1 + 3x) exp(-x) is zero
    assert greatest(answers, Bumps(scale)) == pytest.approx(peak, rel=1e-6)
    assert answers.count == count + 1


def test_without_ends_what_is_far_from_them_counts_as_it_does_there() -> None:
    """On a half-line the greatest value is over all of it, and the mean over a window is that of its answers."""
    curve, half_line = Bumps(5.0), lattice_of([(0, None)])
    assert greatest(TrueAnswers(half_line, 5.0, FLAT * 5.0), curve) == pytest.approx(2 + 3 * math.exp(-2 / 3), rel=1e-2)
    values = curve.written_out([(0, None)], 100, 10_000)
    assert mean(TrueAnswers(half_line, 5.0, FLAT * 5.0, 100, 10_000), curve) == pytest.approx(
        np.mean(values), rel=1e-11
    )
    both = TrueAnswers(lattice_of([(None, None)]), 5.0, FLAT * 5.0, -7, 8)
    assert mean(both, curve) == pytest.approx(2)
    assert greatest(both, curve) == 2


@pytest.mark.slow
@pytest.mark.parametrize("step", [1, None])
@pytest.mark.parametrize(("sensitivity", "epsilon"), [(1, 1), (3, 0.7), (10, 0.5), (1, 0.05)])
def test_a_half_line_downwards_is_the_mirror_image_of_one_upwards(
    step: int | None, sensitivity: int, epsilon: float
) -> None:
    """Where there is no lower end, errors near the upper one are told apart as well as near a lower one."""
    for make in (BoundedLaplace, lambda *promise: Laplace(*promise, ends="snap")):
        down, up = (make(bounds, sensitivity, epsilon) for bounds in (Bounds(None, 0, step), Bounds(0, None, step)))
        assert down.worst_error() == pytest.approx(up.worst_error(), rel=1e-9)
        assert down.mean_error((-50, 0)) == pytest.approx(up.mean_error((0, 50)), rel=1e-9)
        assert down.worst_error((-(10**6), -5)) == pytest.approx(up.worst_error((5, 10**6)), rel=1e-9)


# Windows of a mechanism.

WINDOWS: list[tuple[Bounds, Any, list[Any]]] = [
    (Bounds(0, 20, step=1), (3, 7), [3, 4, 5, 6, 7]),
    (Bounds(0, 20, step=1), (2.5, Fraction(22, 3)), [3, 4, 5, 6, 7]),
    (Bounds(0, 20, step=1), [Decimal("-3.5"), 2], [0, 1, 2]),
    (Bounds(0, None, step=1), (0, 9), list(range(10))),
    (Bounds(0, None, step=1), (1000, 1004), list(range(1000, 1005))),
    (Bounds(None, None, step=1), (-5, 5), list(range(-5, 6))),
    (ISLANDS, (4, 14), [4, 5, 9, 13, 14]),
    (Bounds(0.5, 9.5, step=1, offset=0.5), (1, 3), [1.5, 2.5]),
    (Bounds(0, 3, step=Fraction(1, 10)), (0.1, Fraction(1, 2)), [Fraction(n, 10) for n in range(1, 6)]),
    (YEAR, (date(2026, 1, 1), date(2026, 1, 6)), [date(2026, 1, n) for n in (1, 2, 5, 6)]),
]


@pytest.mark.parametrize(("bounds", "window", "answers"), WINDOWS, ids=str)
def test_a_window_holds_the_possible_answers_between_its_ends(
    bounds: Bounds, window: tuple[Any, Any], answers: list[Any]
) -> None:
    """Mean, worst error and ends over a window are those over its answers, one by one; 0.1 is a tenth."""
    for made in (BoundedLaplace(bounds, 1, 0.7), Geometric(bounds, 1, 0.7, ends="snap")):
        errors = [made.error(answer) for answer in answers]
        assert made.mean_error(window) == pytest.approx(np.mean(errors), rel=1e-9)
        assert made.worst_error(window) == pytest.approx(max(errors), rel=1e-9)
        if bounds.bounded:
            ends: list[Any] = [end for span in bounds for end in set(span)]
            at_ends = [sum(made.pmf(end, answer) for end in ends) for answer in answers]
            assert made.at_ends(window) == pytest.approx(np.mean(at_ends), rel=1e-9)


def test_a_window_over_everything_is_no_window() -> None:
    """Where there are ends, a window that goes beyond them changes nothing."""
    for made in (BoundedLaplace(Bounds(0, 7), 1, 1), Laplace(Bounds(0, 7), 1, 1, ends="fold")):
        assert made.mean_error((-1e300, 1e300)) == made.mean_error()
        assert made.worst_error((-1e300, 1e300)) == made.worst_error()
        assert made.at_ends((-1e300, 1e300)) == made.at_ends()


@pytest.mark.parametrize("window", [(1e6, 1e6 + 1), (1e9, 2e9), (1e18, 1e18 + 1e6), (1e200, 1e201)])
def test_far_out_on_an_open_side_the_error_is_that_of_plain_noise(window: tuple[float, float]) -> None:
    """However far a window is from the last end, there are possible answers in it, and their error is the scale."""
    for made in (BoundedLaplace(Bounds(0, None), 1, 1), Laplace(Bounds(0, None), 1, 1, ends="snap")):
        assert made.mean_error(window) == pytest.approx(made.scale, rel=1e-9)
        assert made.worst_error(window) == pytest.approx(made.scale, rel=1e-9)


@pytest.mark.parametrize(
    "bounds", [Bounds(0, None), Bounds(None, 3, step=1), Bounds.everything(), Bounds(None, 0) | Bounds(3, 4)]
)
def test_a_mean_over_infinitely_many_answers_needs_a_window(bounds: Bounds) -> None:
    """Without ends means are refused with the remedy, and the worst error is not."""
    for made in (BoundedLaplace(bounds, 1, 1), Laplace(bounds, 1, 1, ends="snap")):
        for ask in (made.mean_error, made.at_ends):
            with pytest.raises(InvalidParameter, match=r"infinitely many; .* pass a window \(low, high\)"):
                ask()
        assert made.worst_error() > 0


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (3, "window must be a pair"),
        ((1, 2, 3), "window must be a pair"),
        ("ab", "window must be a pair"),
        ({1, 2}, "window must be a pair"),
        ((7, 3), "window must hold at least one possible answer of "),
        ((6, 8), "window must hold at least one possible answer of "),
        ((40, 50), r"window must hold at least one possible answer of .*, got \(40, 50\)"),
        ((nan, 3), "an end of the window must be a finite number"),
        ((0, inf), "an end of the window must be a finite number"),
        ((None, 3), "an end of the window must be a finite number"),
        (("0", "3"), "an end of the window must be a finite number"),
        ((date(2026, 1, 1), date(2026, 1, 2)), "an end of the window must be a finite number"),
    ],
)
def test_a_window_that_makes_no_sense_is_refused(window: Any, message: str) -> None:
    """A window is a pair of numbers with a possible answer between them; the message says what else it was."""
    for made in (BoundedLaplace(ISLANDS, 1, 1), Geometric(ISLANDS, 1, 1, ends="snap")):
        for ask in (made.mean_error, made.worst_error, made.at_ends):
            with pytest.raises(InvalidParameter, match=message):
                ask(window)


@pytest.mark.parametrize("window", [(1, 2), ("2026-01-01x", "2026-02-01"), (date(2026, 1, 1), 5)])
def test_a_window_over_dates_is_of_dates(window: Any) -> None:
    """Numbers and texts that are no days are refused where answers are days."""
    with pytest.raises(InvalidParameter, match="an end of the window must be a date"):
        BoundedLaplace(YEAR, 1, 1).mean_error(window)


@given(spans(), st.integers(-30, 30), st.integers(0, 40))
def test_the_indices_of_a_window_are_those_between_its_ends(some: Spans, low: int, width: int) -> None:
    """On a lattice with a step and an offset, a window takes the points from its lower end to its upper one."""
    step, offset = Fraction(1, 3), Fraction(1, 7)
    ends = [[None if end is None else offset + end * step for end in span] for span in some]
    bounds = Bounds.union([(a, b) for a, b in ends], step, offset)
    lattice = Lattice.of(bounds, step)
    assume(any(lattice.project(index)[0] == index for index in range(low, low + width + 1)))
    shifted = (offset + low * step - Fraction(1, 9), offset + (low + width) * step + Fraction(1, 9))
    for window in (shifted, (offset + low * step, offset + (low + width) * step)):
        assert indices_of(window, bounds, lattice) == (low, low + width)
    assert indices_of(None, bounds, lattice) == (-FAR, FAR)


@pytest.mark.parametrize(
    ("bounds", "window"),
    [
        (Bounds(0, 5), None),
        (YEAR, None),
        (Bounds(0, None), (0, 2 * PLAIN_SCALES)),
        (Bounds(None, Fraction(1, 2)), (Fraction(1, 2) - 2 * PLAIN_SCALES, Fraction(1, 2))),
        (Bounds(None, -3) | Bounds(4, None), (-3 - 2 * PLAIN_SCALES, 4 + 2 * PLAIN_SCALES)),
        (Bounds(0, 5) | Bounds(7, None), (0, 7 + 2 * PLAIN_SCALES)),
        (Bounds.everything(), (-2 * PLAIN_SCALES, 2 * PLAIN_SCALES)),
        (Bounds(0.5, None, step=1, offset=0.5), (Fraction(1, 2), Fraction(1, 2) + 2 * PLAIN_SCALES)),
    ],
    ids=str,
)
def test_the_stated_window_goes_ten_plain_scales_beyond_the_last_end(bounds: Bounds, window: Any) -> None:
    """Where there is no end, the window that is taken unasked begins at the last end and goes ten scales on."""
    assert stated_window(bounds, Fraction(2)) == window
    if window is not None:
        assert BoundedLaplace(bounds, 2, 1).mean_error(window) > 0


# Labels.


@given(st.integers(1, 10**12), st.integers(12, 320))
def test_a_delta_is_written_with_four_digits_and_never_less_than_it_is(numerator: int, exponent: int) -> None:
    """The text of a delta is the least number of four digits that is not below it."""
    delta = Fraction(numerator, 10**exponent)
    text = format_up(delta, 4)
    assert str(Label(Fraction(1, 2), delta)) == f"ε = 0.5, δ = {text}"
    mantissa, power = text.split("e")
    assert len(mantissa) == 5
    unit = Fraction(10) ** (int(power) - 3)
    assert Fraction(text) >= delta
    assert Fraction(text) - unit < delta or (mantissa == "1.000" and Fraction(text) - unit / 10 < delta)


@pytest.mark.parametrize(
    ("label", "text", "private", "pure"),
    [
        (Label(Fraction(1)), "ε = 1", True, True),
        (Label(Fraction(1, 3)), "ε = 0.3334", True, True),
        (Label(Fraction(1, 10**9)), "ε = 1e-09", True, True),
        (Label(Fraction(1), Fraction(1, 10**6)), "ε = 1, δ = 1.000e-6", True, False),
        (Label(Fraction(1), Fraction(10**9 + 1, 10**15)), "ε = 1, δ = 1.001e-6", True, False),
        (Label(Fraction(1), Fraction(99991, 10**10)), "ε = 1, δ = 1.000e-5", True, False),
        (Label(Fraction(1), loss=Fraction(3, 2)), "not private: loss 1.5 > 1", False, False),
        (Label(Fraction(1), Fraction(1, 10), Fraction(3, 2)), "not private: loss 1.5 > 1", False, False),
    ],
)
def test_a_label_says_what_is_kept(label: Label, text: str, private: bool, pure: bool) -> None:
    """Epsilon alone, epsilon and delta, neither rounded down, or a loss that was proved to be above epsilon."""
    assert (str(label), label.private, label.pure) == (text, private, pure)
