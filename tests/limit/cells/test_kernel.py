"""Kernels say what they draw: geometric noise on rows and tables, sums to the last digits of a double."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import InvalidParameter
from inbounds.limit.cells.exact_table import TOTAL, ExactTable
from inbounds.limit.cells.kernel import ChainKernel, Kernel, TableKernel, decaying_sums
from inbounds.published.ghosh2009 import GeometricNoise


def chances(kernel: Kernel) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the probabilities of all outcomes, as they are told."""
    return np.array(
        [kernel.probability(np.full(kernel.outcomes, row), np.arange(kernel.outcomes)) for row in range(kernel.rows)]
    )


def clamped(rows: int, epsilon: float) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return two-sided geometric noise clamped to rows, by its definition."""
    q = math.exp(-epsilon)
    found = np.zeros((rows, rows))
    for row in range(rows):
        for noise in range(-400, 401):
            found[row, min(max(row + noise, 0), rows - 1)] += (1 - q) / (1 + q) * q ** abs(noise)
    return found


@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("epsilon", [0.2, 1, 4])
def test_noise_on_rows_is_clamped_geometric_noise(rows: int, epsilon: float) -> None:
    """Its probabilities are those of the definition."""
    kernel = ChainKernel(rows, GeometricNoise(1, Fraction(str(epsilon))))
    assert chances(kernel) == pytest.approx(clamped(rows, epsilon), rel=1e-9)


@given(st.integers(1, 8), st.sampled_from([0.1, 1.0, 8.0]), st.booleans(), st.data())
def test_sums_are_those_of_probabilities(rows: int, epsilon: float, is_table: bool, data: st.DataObject) -> None:
    """Probabilities below and from a cut on, and sums of values below one, are sums of probabilities."""
    kernel: Kernel = ChainKernel(rows, GeometricNoise(1, Fraction(str(epsilon))))
    if is_table:
        cuts = [sorted(data.draw(st.lists(st.integers(0, TOTAL), min_size=4, max_size=4))) for _ in range(rows)]
        weights = [[b - a for a, b in zip([0, *cut], [*cut, TOTAL], strict=True)] for cut in cuts]
        kernel = TableKernel(ExactTable(tuple(map(tuple, weights))))
    table, values = chances(kernel), np.array(data.draw(st.lists(st.integers(-9, 9), min_size=9, max_size=9)), float)
    values = values[: kernel.outcomes]
    assert table.sum(axis=1) == pytest.approx(np.ones(rows), abs=1e-12)
    for row in range(rows):
        for cut in range(kernel.outcomes + 1):
            at = np.array([row]), np.array([cut])
            assert kernel.below(*at)[0] == pytest.approx(table[row, :cut].sum(), rel=1e-9, abs=1e-15)
            assert kernel.from_on(*at)[0] == pytest.approx(table[row, cut:].sum(), rel=1e-9, abs=1e-15)
            sums = kernel.sums_below(values, *at)[0]
            assert sums == pytest.approx(table[row, :cut] @ values[:cut], rel=1e-9, abs=1e-13)
    running = np.cumsum(table, axis=1)
    if kernel.rises:
        assert (np.diff(running, axis=0) <= 1e-12).all()


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=40), st.floats(0, 1))
def test_what_decays_is_a_sum_of_powers(values: list[float], fall: float) -> None:
    """Each place has the sum of all before it, each times the fall for every place in between."""
    direct = [sum(x * fall ** (place - at) for at, x in enumerate(values[: place + 1])) for place in range(len(values))]
    assert decaying_sums(np.array(values), fall) == pytest.approx(direct, rel=1e-9, abs=1e-9)


def test_noise_for_more_than_one_row_is_refused() -> None:
    """Noise that is private for neighbours two rows apart is another mechanism."""
    with pytest.raises(InvalidParameter, match="one row apart"):
        ChainKernel(3, GeometricNoise(2, Fraction(1)))
