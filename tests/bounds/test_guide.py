"""A guide table finds the place of a number among sorted ones as bisection does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.bounds.guide import MOST_COMPARISONS, Guide

INTEGERS = st.integers(-(2**61), 2**61) | st.integers(-50, 50)
DOUBLES = st.floats(-1e308, 1e308) | st.floats(-10, 10)


@given(st.lists(INTEGERS, unique=True, max_size=30), st.lists(INTEGERS, max_size=30))
def test_integers_are_found_as_by_bisection(numbers: list[int], wanted: list[int]) -> None:
    """As many numbers are at most a wanted one as bisection says, on, beside and far from each of them."""
    rising = np.array(sorted(numbers), dtype=np.int64)
    sought = np.array([*wanted, *(number + off for number in numbers for off in (-1, 0, 1))], dtype=np.int64)
    assert Guide(rising).count(sought).tolist() == np.searchsorted(rising, sought, side="right").tolist()


@pytest.mark.slow
@given(st.lists(DOUBLES, unique=True, max_size=30), st.lists(DOUBLES, max_size=30))
def test_doubles_are_found_as_by_bisection(numbers: list[float], wanted: list[float]) -> None:
    """The same for doubles of any size, and for the doubles next to the sorted ones."""
    rising = np.array(sorted(numbers), dtype=np.float64)
    beside = np.concatenate([np.nextafter(rising, -np.inf), rising, np.nextafter(rising, np.inf)])
    sought = np.concatenate([np.array(wanted, dtype=np.float64), beside[np.isfinite(beside)]])
    assert Guide(rising).count(sought).tolist() == np.searchsorted(rising, sought, side="right").tolist()


@pytest.mark.parametrize("count", [1, 2, 3, 100, 5000])
def test_numbers_that_are_spread_evenly_take_few_comparisons(count: int) -> None:
    """Spans of about the same width are found by a table, whose work is the same for every number."""
    assert Guide(np.arange(count) * 1.5)._comparisons <= (2 if count <= 2 else 1) <= MOST_COMPARISONS


def test_a_number_that_is_none_has_a_place() -> None:
    """NaN, which is never settled, does not stop the others."""
    assert Guide(np.arange(100.0)).count(np.array([np.nan, 3.5])).tolist()[1] == 4
