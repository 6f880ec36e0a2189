"""Doubles are placed on steps that are not powers of two as exact arithmetic places them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from inbounds import BoundedLaplace, Bounds
from inbounds.answers.array import AnswerArrays
from inbounds.answers.rational_steps import RationalSteps
from inbounds.answers.single import Answers
from inbounds.bounds.lattice import Lattice

LATTICES = st.tuples(
    st.fractions(Fraction(1, 2**20), 1000, max_denominator=2**20),
    st.integers(-5, 5) | st.integers(-(10**6), 10**6),
    st.integers(0, 3) | st.integers(0, 10**6),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1, 3)]),
)


def lattice_of(step: Fraction, low: int, length: int, shift: Fraction) -> Lattice:
    """Return the lattice of so many steps from a multiple of the step on, off zero by a part of it."""
    offset = shift * step
    low_end = offset + low * step
    return Lattice.of(Bounds(low_end, low_end + length * step, step=step, offset=offset), step)


def expected(lattice: Lattice, answer: float) -> int:
    """Return where an answer goes by the definition, in fractions: to the nearest index, the upper one of two."""
    index = math.floor((Fraction(answer) - lattice.offset) / lattice.step + Fraction(1, 2))
    return lattice.project(index)[0]


@given(LATTICES, st.data())
def test_every_double_goes_where_fractions_say(made: tuple[Any, ...], data: st.DataObject) -> None:
    """On, between and right beside the middles between two steps, and beyond the ends, the index is the exact one."""
    lattice = lattice_of(*made)
    if not RationalSteps.suits(lattice):
        return
    low, high = lattice.low_list[0], lattice.high_list[-1]
    chosen = data.draw(st.lists(st.integers(low - 3, high + 3), min_size=1, max_size=8))
    middles = [float(lattice.value(index) + lattice.step / 2) for index in chosen]
    answers = [*middles, *(float(lattice.value(index)) for index in chosen), 0.0, -0.0, 5e-324, -5e-324, 1e300, -1e300]
    answers += [math.nextafter(answer, away) for answer in middles for away in (-math.inf, math.inf)]
    answers += data.draw(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=5))
    steps, exact = RationalSteps(lattice), [expected(lattice, answer) for answer in answers]
    nearest = steps.nearest(np.array(answers)).tolist()
    assert [lattice.project(index)[0] for index in nearest] == exact
    assert [lattice.project(int(steps.nearest_to(answer)))[0] for answer in answers] == exact


@given(LATTICES, st.integers(0, 10**6))
def test_an_index_is_written_as_the_double_nearest_to_it(made: tuple[Any, ...], above: int) -> None:
    """Read and written in doubles, an index is the same as in exact arithmetic."""
    lattice = lattice_of(*made)
    value = lattice.value(lattice.first + min(above, lattice.width))
    answers = Answers(Bounds(lattice.value(lattice.first), None, step=lattice.step, offset=lattice.offset), lattice)
    assert answers.writer(float)(answers.index(float(value))) == float(value)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
def test_an_array_is_read_as_its_elements_are(dtype: type) -> None:
    """Each element of an array goes to the index that it goes to by itself, whatever its dtype."""
    bounds = Bounds(-3, 90, step=Fraction(1, 10))
    lattice = Lattice.of(bounds, Fraction(1, 10))
    answers = Answers(bounds, lattice)
    array: NDArray[Any] = np.array([0, 1, 3.25, 7.45, 89, 90, 200]).astype(dtype)
    read = AnswerArrays(answers).reader(array)
    assert not isinstance(read, list)
    assert lattice.project_many(read(slice(None)))[0].tolist() == [answers.project(x) for x in array.tolist()]


def test_a_comparison_without_the_second_half_of_the_product_would_be_wrong() -> None:
    """The double just below 0.015 is less than one and a half cents; its product with 200, as a double, is not."""
    lattice = Lattice.of(Bounds(0, 1, step=Fraction(1, 100)), Fraction(1, 100))
    below = [x for x in (math.nextafter((k + 0.5) / 100, 0) for k in range(100)) if x * 200 % 2 == 1.0]
    assert below
    assert RationalSteps(lattice).nearest(np.array(below)).tolist() == [expected(lattice, x) for x in below]


def test_releases_of_cents_are_cents() -> None:
    """An array of doubles released on cents holds the doubles nearest to whole cents within the bounds."""
    released = BoundedLaplace(Bounds(0, 100, step=Fraction(1, 100)), 1, 1).release(np.linspace(-1, 101, 2000))
    assert released.min() >= 0
    assert released.max() <= 100
    assert all(x == round(x * 100) / 100 for x in released.tolist())
