"""A table of whole units is private to the last one, or it is refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import Bounds, InboundsError
from inbounds.limit.cells.exact_table import TOTAL, ExactTable, greatest_ratio, repair
from inbounds.published import Geometric
from tests.helpers.exact_optimum import HALF, INTERVAL, below_exp, is_private, made, neighbours

WEIGHTS = st.integers(1, 9) | st.integers(2**60, 2**60 + 3) | st.integers(1, TOTAL)


def test_a_ratio_that_was_broken_is_pointed_at() -> None:
    """The greatest ratio of a table with one weight too many is at that weight, and is what was put there."""
    honest = made(INTERVAL, 2, 1, "worst").table.weights  # type: ignore[union-attr]
    rows = [list(row) for row in honest]
    rows[4][9] += honest[4][9] * 10
    found = greatest_ratio(ExactTable(tuple(map(tuple, rows))), neighbours(INTERVAL, 2))
    assert (found.row, found.column) == (4, 9)
    assert found.value == max(Fraction(rows[4][9], rows[other][9]) for other in (2, 3, 5, 6)) > below_exp(1)


@given(st.integers(2, 5), st.integers(1, 4), st.data())
def test_the_greatest_ratio_is_the_greatest(rows: int, columns: int, data: st.DataObject) -> None:
    """Also among ratios that no double can tell apart, and wherever it is."""
    numbers = data.draw(st.lists(WEIGHTS, min_size=rows * columns, max_size=rows * columns))
    weights = tuple(tuple(numbers[k * columns : (k + 1) * columns]) for k in range(rows))
    near = np.array(data.draw(st.lists(st.booleans(), min_size=rows**2, max_size=rows**2))).reshape(rows, rows)
    near &= ~np.eye(rows, dtype=bool)
    near |= near.T
    found = greatest_ratio(ExactTable(weights), near)
    pairs = list(zip(*np.nonzero(near), strict=True))
    ratios = [Fraction(a, b) for i, j in pairs for a, b in zip(weights[i], weights[j], strict=True)]
    assert found.value == max(ratios, default=1)
    if ratios and found.value > 1:
        assert near[found.row, found.other]
        assert Fraction(weights[found.row][found.column], weights[found.other][found.column]) == found.value


@pytest.mark.slow
@given(
    st.sampled_from([Fraction(1, 100), Fraction(1), Fraction(5), Fraction(12)]),
    st.integers(2, 8),
    st.integers(0, 2**32 - 1),
)
def test_a_table_in_doubles_is_repaired(epsilon: Fraction, size: int, seed: int) -> None:
    """A table that is private but for rounding errors is made exactly private, and next to nothing is moved."""
    places = np.arange(size)
    powers = np.exp(-float(epsilon) * abs(np.subtract.outer(places, places)))
    snapped = Geometric(Bounds(0, size - 1, step=1), 1, epsilon, ends="snap")
    table = np.array([[snapped.pmf(int(k), int(i)) for k in places] for i in places])
    near = abs(np.subtract.outer(places, places)) == 1
    noise = np.random.default_rng(seed).uniform(-1e-14, 1e-14, powers.shape)
    exact = repair(table + noise, near, epsilon)
    assert {sum(row) for row in exact.weights} == {TOTAL}
    assert min(map(min, exact.weights)) > 0
    assert is_private(exact.weights, near, epsilon)
    assert np.array(exact.weights, dtype=float) / TOTAL == pytest.approx(table, abs=1e-9)


def test_what_is_below_nothing_is_repaired_too() -> None:
    """A solver's small negative numbers become small positive weights, and do not lower the others' sum."""
    near = ~np.eye(2, dtype=bool)
    exact = repair(np.array([[0.6, 0.4, -1e-9], [0.4, 0.6, -1e-9]]), near, Fraction(1))
    assert min(map(min, exact.weights)) > 0
    assert [sum(row) for row in exact.weights] == [TOTAL, TOTAL]


def test_a_table_that_is_not_private_is_not_repaired() -> None:
    """What breaks the guarantee by more than rounding errors is refused, not mended out of recognition."""
    near = ~np.eye(3, dtype=bool)
    with pytest.raises(InboundsError, match=r"could not be made exactly private at epsilon = 0\.5; take a larger"):
        repair(np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]), near, HALF)


def test_what_is_impossible_for_one_answer_only_keeps_no_epsilon() -> None:
    """A release that one of two neighbouring answers never has is refused whatever epsilon is."""
    near = ~np.eye(2, dtype=bool)
    told = ExactTable(((TOTAL, 0), (0, TOTAL)))
    assert greatest_ratio(told, near).value > 2**2000


def test_rows_that_are_alike_are_compared_once() -> None:
    """However often the same two weights stand in adjacent rows, integers decide about them once."""
    compared = 0

    class Weight(int):
        def __mul__(self, other: int) -> int:
            nonlocal compared
            compared += 1
            return int(self) * other

    size = 40
    table = ExactTable(tuple(tuple(Weight(2**40 + place) for place in range(size)) for _ in range(size)))
    assert greatest_ratio(table, ~np.eye(size, dtype=bool)).value == 1
    assert 0 < compared <= size
