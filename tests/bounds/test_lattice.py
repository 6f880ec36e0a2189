"""A lattice holds exactly the possible values on its step, and finds the nearest and the farthest of them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import BoundedLaplace, Bounds, LatticeTooFine
from inbounds.bounds.fine_step import COARSEST, fine_step
from inbounds.bounds.index_span import FAR, LIMIT
from inbounds.bounds.lattice import Lattice
from tests.helpers.brute_force import BruteForce, Spans
from tests.helpers.small_lattices import Scene, scenes, spans

low_and_width = st.tuples(st.integers(-40, 40), st.integers(0, 40))


def lattice_of(ends: Spans) -> Lattice:
    """The lattice of whole numbers in some spans."""
    return Lattice.of(Bounds.union(ends, step=1), Fraction(1))


def points_near(ends: Spans) -> BruteForce:
    """The possible indices of some spans, with which anything else can be compared."""
    return BruteForce(ends, rate=1.0, pooling=0.0, pad=30)


@pytest.mark.slow
@given(scenes())
def test_indices_stand_for_exactly_the_possible_values(scene: Scene) -> None:
    """An index within the spans stands for a value in the bounds, and no other index does."""
    lattice = Lattice.of(scene.bounds, scene.step)
    brute = points_near(scene.spans)
    for index in range(brute.first, brute.last + 1):
        inside = any(low <= index <= high for low, high in zip(lattice.lows, lattice.highs, strict=True))
        assert inside == (lattice.value(index) in scene.bounds) == (index in brute.place)


@given(st.lists(low_and_width, min_size=1, max_size=4), st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]))
def test_spans_are_shrunk_onto_a_coarser_lattice(sizes: list[tuple[int, int]], step: Fraction) -> None:
    """Bounds without a step keep the multiples of any step that they hold, joined where none is missing between."""
    bounds = Bounds.union([(Fraction(low, 4), Fraction(low + width, 4) + step) for low, width in sizes])
    lattice = Lattice.of(bounds, step)
    held = {k for k in range(-50, 51) if k * step in bounds}
    assert lattice.indices() == sorted(held)
    assert lattice.points == len(held)
    assert (lattice.gaps >= 1).all()


@given(spans(), st.lists(st.integers(-60, 80), min_size=1))
def test_projection_goes_to_the_nearest_possible_index(ends: Spans, indices: list[int]) -> None:
    """One by one, in arrays of int64 and in arrays of doubles alike, the nearest index wins, the left one of two."""
    lattice, brute = lattice_of(ends), points_near(ends)
    within = [min(max(index, brute.first), brute.last) for index in indices]
    nearest = [brute.nearest(index) for index in within]
    assert [lattice.project(index)[0] for index in within] == nearest
    for array in (np.array(within), np.array(within, dtype=float)):
        projected, numbers = lattice.project_many(array)
        assert projected.tolist() == nearest
        assert projected.dtype == array.dtype
        assert numbers.tolist() == [lattice.project(index)[1] for index in within]
        assert numbers.tolist() == lattice.span_of(np.array(nearest)).tolist()


@given(spans(), st.integers(0, 25))
def test_farthest_within_a_reach(ends: Spans, reach: int) -> None:
    """The farthest possible index at most `reach` away is found on either side."""
    lattice, brute = lattice_of(ends), points_near(ends)
    starts = [k for k in brute.points if brute.first + reach <= k <= brute.last - reach]
    above, below = (lattice.farthest_within(np.array(starts), signed).tolist() for signed in (reach, -reach))
    assert above == [max(k for k in brute.points if k - start <= reach) for start in starts]
    assert below == [min(k for k in brute.points if start - k <= reach) for start in starts]


@given(spans())
def test_distances_to_the_ends_of_a_span(ends: Spans) -> None:
    """`below` and `above` measure to the ends of a span, and give FAR where there is none."""
    lattice = lattice_of(ends)
    for number, (low, high) in enumerate(ends):
        inside = low if low is not None else high if high is not None else 0
        where = np.array([inside]), np.array([number])
        assert lattice.below(*where).tolist() == [FAR if low is None else inside - low]
        assert lattice.above(*where).tolist() == [FAR if high is None else high - inside]
    assert (lattice.unbounded_below, lattice.unbounded_above) == (ends[0][0] is None, ends[-1][1] is None)
    assert lattice.bounded == (ends[0][0] is not None and ends[-1][1] is not None)


@given(scenes(), st.fractions(-20, 20))
def test_an_answer_is_rounded_to_the_nearest_index_half_up(scene: Scene, value: Fraction) -> None:
    """The index of a value is `floor((value - offset) / step + 1/2)`, without any rounding on the way."""
    lattice = Lattice.of(scene.bounds, scene.step)
    found = lattice.index(value.numerator, value.denominator)
    assert found == math.floor((value - scene.offset) / scene.step + Fraction(1, 2))
    assert -scene.step / 2 <= value - lattice.value(found) < scene.step / 2
    assert lattice.index(*lattice.value(found).as_integer_ratio()) == found


@given(scenes(), st.integers(-(10**6), 10**6))
def test_writing_needs_three_integers(scene: Scene, index: int) -> None:
    """A value is written as `(index * a + b) / c` with the smallest such integers."""
    lattice = Lattice.of(scene.bounds, scene.step)
    a, b, c = lattice.writing
    assert Fraction(index * a + b, c) == lattice.value(index)
    assert math.gcd(a, b, c) == 1


@pytest.mark.parametrize(
    ("bounds", "step", "kept"),
    [
        (Bounds(0, 5) | Bounds(7, 9), Fraction(1), True),
        (Bounds(0, 5.5) | Bounds(7, 9), Fraction(1), False),
        (Bounds(0, 5) | Bounds(6.5, 9), Fraction(1), False),
        (Bounds(0.5, 5) | Bounds(7, 9.5), Fraction(1), True),
        (Bounds(0.5, 9.5), Fraction(1), True),
        (Bounds(None, 5.5) | Bounds(7, None), Fraction(1, 2), True),
    ],
)
def test_only_inner_ends_have_to_be_kept(bounds: Bounds, step: Fraction, kept: bool) -> None:
    """Outer ends may lie off the lattice, for an answer rounded beyond them comes straight back."""
    assert Lattice.of(bounds, step).ends_kept is kept


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds(0, 2**62, step=1),
        Bounds(-(2**62), 0, step=1),
        Bounds(0, 1, step=Fraction(1, 2**62)),
        Bounds(2**70, None, step=1),
        Bounds(None, -(2**61), step=1),
        Bounds.union([(0, 1), (2**61, 2**61)], step=1),
    ],
)
def test_more_than_62_bits_are_refused(bounds: Bounds) -> None:
    """A lattice with an end 2**61 steps from zero, or more, is refused, in these words and with the remedy."""
    with pytest.raises(
        LatticeTooFine, match=r"has ends 2\*\*61 steps or more from zero, .* 62 bits; give the bounds a larger"
    ):
        BoundedLaplace(bounds, 1, 1)


@pytest.mark.parametrize("steps", [2**61, 2**61 + 1, 2**80])
def test_a_sensitivity_of_too_many_steps_is_refused(steps: int) -> None:
    """Where no end limits it, a sensitivity of 2**61 steps or more is refused in these words, and one less is not."""
    with pytest.raises(LatticeTooFine, match=r"is 2\*\*61 steps of 1 or more; give the bounds a larger step"):
        BoundedLaplace(Bounds(0, None, step=1), steps, 1000)
    assert BoundedLaplace(Bounds(0, None, step=1), LIMIT, 1000).certificate.holds


def test_62_bits_are_enough() -> None:
    """The widest lattice of all works, and so does its widest gap."""
    widest = Bounds(-LIMIT, LIMIT, step=1)
    assert BoundedLaplace(widest, 1, 1).scale == pytest.approx(BoundedLaplace(Bounds(0, None, step=1), 1, 1).scale)
    assert BoundedLaplace(widest, 2**80, 1).scale == pytest.approx(2 * LIMIT, rel=1e-9)
    parted = Bounds.union([(-LIMIT, -LIMIT), (LIMIT, LIMIT)], step=1)
    assert BoundedLaplace(parted, 1, 1).scale == pytest.approx(2 * LIMIT, rel=1e-9)
    thrice = Bounds.union([(-LIMIT, -LIMIT), (0, 0), (LIMIT, LIMIT)], step=1)
    assert set(BoundedLaplace(thrice, 2**80, 1).certificate.worst_pair) == {-LIMIT, LIMIT}


@pytest.mark.parametrize("bounds", [Bounds(0, 1e30), Bounds(1e30, None), Bounds(0, 1) | Bounds(1e30, 1e30 + 1e20)])
def test_bounds_too_wide_for_their_noise_are_refused(bounds: Bounds) -> None:
    """Without a step, ends too far away for a step far below the noise are refused, with the remedy."""
    with pytest.raises(LatticeTooFine, match="give the bounds a step"):
        BoundedLaplace(bounds, 1, 1)


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.sampled_from(["both", "below", "above"]),
    st.floats(-6, 6).map(lambda exponent: Fraction(10.0**exponent)),
)
def test_a_chosen_step_is_a_power_of_two_far_below_the_noise_and_the_spans(
    low: float, width: float, ends: str, noise: Fraction
) -> None:
    """Whatever the bounds, a step chosen for them is too fine to be seen in an answer."""
    bounds = Bounds(None if ends == "above" else low, None if ends == "below" else low + width)
    step = fine_step(bounds, noise, noise)
    assert (step.numerator.bit_count(), step.denominator.bit_count()) == (1, 1)
    assert step <= noise / 2**COARSEST
    assert step <= (Fraction(low + width) - Fraction(low)) / 2**4 or ends != "both"


@given(st.integers(-1000, 1000), st.integers(1, 1000), st.floats(1e-2, 1e4))
def test_where_it_can_be_every_possible_answer_is_a_double(low: int, width: int, noise: float) -> None:
    """On everyday bounds the chosen step is one at which no answer is rounded when it is written as a float."""
    bounds = Bounds(low, low + width)
    step = fine_step(bounds, Fraction(noise), Fraction(1))
    lattice = Lattice.of(bounds, step)
    for index in (lattice.low_list[0], lattice.low_list[0] + 1, lattice.high_list[0] - 1, lattice.high_list[0]):
        assert Fraction(float(lattice.value(index))) == lattice.value(index)
