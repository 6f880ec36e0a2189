"""Outcomes by distance: private for any cuts, rows that add up to one exactly, and draws that follow them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from inbounds import Bounds, InvalidParameter, Optimal
from inbounds.accuracy.prior import Prior
from inbounds.limit.cells.cell_distribution import CellDistribution
from inbounds.limit.cells.cell_law import CellLaw
from inbounds.limit.cells.cut_cells import CutCells
from inbounds.limit.cells.distance_kernel import TOTAL, DistanceKernel, allowed_ratio
from inbounds.limit.cells.posterior import targets_of_distances
from inbounds.mechanisms.setting import Setting
from inbounds.sampling import entropy
from tests.helpers.chi_square import FLOOR, p_value
from tests.helpers.exact_optimum import below_exp, exact_row
from tests.helpers.scripted_entropy import Script

EPSILONS = st.sampled_from([Fraction(2), Fraction(7, 2), Fraction(5), Fraction(12), Fraction(20)])


@st.composite
def kernels(draw: st.DrawFn) -> tuple[CutCells, int, Fraction, DistanceKernel]:
    """Cells of any widths on up to forty points, a sensitivity, an epsilon, and the kernel for them."""
    widths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=9))
    cells = CutCells(tuple(np.cumsum([draw(st.integers(-3, 3)), *widths]).tolist()))
    distance, epsilon = draw(st.integers(1, 12)), draw(EPSILONS)
    kernel = DistanceKernel.of(cells, distance, epsilon)
    assume(kernel is not None)
    assert kernel is not None
    return cells, distance, epsilon, kernel


@given(kernels())
def test_any_cuts_keep_epsilon_by_definition(made: tuple[CutCells, int, Fraction, DistanceKernel]) -> None:
    """For all answers of neighbours and all outcomes, in integers; and not for half of epsilon."""
    cells, distance, epsilon, kernel = made
    rows = {index: kernel.units(cells.row_and_share(index)[0]) for index in range(cells.edges[0], cells.edges[-1])}
    over, under = below_exp(epsilon).as_integer_ratio()
    worst = Fraction(1)
    for index, row in rows.items():
        assert sum(row) == TOTAL
        assert min(row) >= 1
        for other in range(index + 1, min(index + distance, cells.edges[-1] - 1) + 1):
            for one, two in zip(row, rows[other], strict=True):
                assert one * under <= two * over
                assert two * under <= one * over
                worst = max(worst, Fraction(one, two), Fraction(two, one))
    assert kernel.keeps(allowed_ratio(epsilon))
    if worst > below_exp(epsilon / 2):
        assert not kernel.keeps(below_exp(epsilon / 2))


@given(kernels())
def test_distances_are_those_of_the_graph(made: tuple[CutCells, int, Fraction, DistanceKernel]) -> None:
    """Two cells are adjacent if answers in them are a sensitivity apart at most; distances are shortest paths."""
    cells, distance, _, kernel = made
    rows = np.arange(cells.rows)
    edges = np.array(cells.edges)
    apart = np.maximum(edges[:-1][:, None] - (edges[1:] - 1)[None, :], 0)
    adjacent = np.maximum(apart, apart.T) <= distance
    steps = np.where(rows[:, None] == rows, 0, np.where(adjacent, 1, 99))
    for middle in rows:
        steps = np.minimum(steps, steps[:, middle, None] + steps[None, middle])
    deepest = len(kernel.levels) - 1
    assert np.array_equal(kernel.rings.distance(rows[:, None], rows[None, :]), np.minimum(steps, deepest))
    assert np.array_equal(cells.adjacent(distance), adjacent & (rows[:, None] != rows))


@given(kernels(), st.randoms(use_true_random=False))
def test_sums_are_those_of_the_units(
    made: tuple[CutCells, int, Fraction, DistanceKernel], random: np.random.Generator
) -> None:
    """Tails, probabilities and sums of values are those of the exact rows, to rounding errors."""
    cells, _, _, kernel = made
    rows, cuts = np.arange(cells.rows), np.arange(cells.rows + 1)
    table = np.array([[unit / TOTAL for unit in kernel.units(row)] for row in rows.tolist()])
    values = np.array([float(random.random()) for _ in rows])
    below = np.pad(np.cumsum(table, axis=1), ((0, 0), (1, 0)))
    assert kernel.probability(rows[:, None], rows[None, :]) == pytest.approx(table, rel=1e-12)
    assert kernel.below(rows[:, None], cuts[None, :]) == pytest.approx(below, rel=1e-9, abs=1e-15)
    assert kernel.from_on(rows[:, None], cuts[None, :]) == pytest.approx(1 - below, rel=1e-9, abs=1e-15)
    sums = np.pad(np.cumsum(table * values, axis=1), ((0, 0), (1, 0)))
    assert kernel.sums_below(values, rows[:, None], cuts[None, :]) == pytest.approx(sums, rel=1e-9, abs=1e-15)


@given(kernels(), st.data())
def test_a_draw_is_the_place_of_a_word_in_its_row(
    made: tuple[CutCells, int, Fraction, DistanceKernel], data: st.DataObject
) -> None:
    """Words are cut up as the row is, part by part: as many words lead to an outcome as it has units."""
    cells, _, _, kernel = made
    row = data.draw(st.integers(0, cells.rows - 1))
    units, order = kernel.units(row), [row]
    steps = kernel.rings.distance(np.array(row), np.arange(cells.rows))
    for step in range(1, len(kernel.levels)):
        near = np.flatnonzero(steps == step)
        order += [*near[near < row].tolist(), *near[near > row].tolist()]
    aside = cells.rows // 2
    units[aside] -= kernel.missing[row]
    ends = list(accumulate(units[cell] for cell in order))
    word = data.draw(
        st.integers(0, TOTAL - 1) | st.sampled_from([e + d for e in ends for d in (-1, 0) if e + d < TOTAL])
    )
    expected = next((cell for cell, end in zip(order, ends, strict=True) if word < end), aside)
    played = np.array([word], dtype=np.uint64).tobytes()
    assert kernel.draw(row, Script(played)) == expected
    assert kernel.draw_in_doubles(float(row), Script(played)) == expected


def test_draws_follow_the_law_and_no_other() -> None:
    """Many draws fit the told probabilities of their row, and not those of the next one."""
    cells = CutCells((0, 3, 4, 9, 20, 22, 30))
    kernel, count = DistanceKernel.of(cells, 7, Fraction(3)), 60_000
    assert kernel is not None
    every = np.arange(cells.rows)
    for row in range(cells.rows - 1):
        drawn = kernel.draw_many(np.full(count, row), entropy.system)
        seen = np.bincount(drawn, minlength=cells.rows)
        assert p_value(seen, kernel.probability(np.array(row), every)) > FLOOR
        assert p_value(seen, kernel.probability(np.array(row + 1), every)) < FLOOR


def test_weights_that_rise_or_are_too_many_are_refused() -> None:
    """A weight that is greater farther away, that is nothing, or rows that add up to more than one, are no kernel."""
    cells = CutCells((0, 3, 4, 9, 20, 22, 30))
    kernel = DistanceKernel.of(cells, 7, Fraction(3))
    assert kernel is not None
    rising, nothing, many = (kernel.levels.copy() for _ in range(3))
    rising[1, 0] = rising[0, 0] + np.uint64(1)
    nothing[-1, -1] = 0
    many[0] += np.uint64(2**60)
    for levels in (rising, nothing, many, kernel.levels[:-1]):
        with pytest.raises(InvalidParameter):
            DistanceKernel(cells, 7, levels)


def test_no_weights_below_zero_are_drawn_from() -> None:
    """Where epsilon is so small that some cell would need a weight below zero, there is no kernel."""
    assert DistanceKernel.of(CutCells(tuple(range(0, 101, 5))), 50, Fraction(1, 10)) is None


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [Bounds(0, 2), Bounds(0, 1) | Bounds(2, 3)], ids=str)
def test_an_optimum_on_cells_of_any_width_is_one_mechanism_everywhere(bounds: Bounds) -> None:
    """Alone and in arrays, pickled or not, its releases, errors and certificate are those of its exact rows."""
    found = Optimal(bounds, 1, 8)
    law = found._law
    assert isinstance(law, CellLaw)
    assert isinstance(law.kernel, DistanceKernel)
    assert found.certificate.holds
    restore, parts = found.__reduce__()
    assert restore(*parts) == found
    lattice, generator = law.setting.lattice, np.random.default_rng(3)
    indices = generator.integers(lattice.first, lattice.last + 1, 50)
    words = generator.integers(0, 2**64, len(indices), dtype=np.uint64)
    [(_, many)] = law.draw_parts(lambda part: indices[part], len(indices), Script(words.tobytes()))
    for index, word, released in zip(indices.tolist(), words, many.tolist(), strict=True):
        assert law.draw(index, Script(word.tobytes())) == released
        exact = exact_row(law, index)
        far = law.distribution.error(np.array([index]), np.zeros(1))[0]
        assert far == pytest.approx(sum(w / TOTAL**2 * abs(k - index) for k, w in exact.items()), rel=1e-9)


def test_posterior_medians_are_the_best_releases() -> None:
    """On one interval no other release for any outcome has a smaller mean error, tried one index to each side."""
    setting = Setting.of(Bounds(0, 59, step=1), 20, 4)
    cells, prior = CutCells((0, 7, 15, 22, 30, 38, 45, 53, 60)), Prior.uniform(setting.lattice)
    kernel = DistanceKernel.of(cells, 20, Fraction(4))
    assert kernel is not None
    targets = targets_of_distances(prior, cells, kernel, math.exp(-4))
    least = prior.mean(CellDistribution(setting.lattice, cells, kernel, targets))
    for outcome in range(cells.rows):
        for aside in (-1, 1):
            moved = targets.copy()
            moved[outcome] += aside
            assert prior.mean(CellDistribution(setting.lattice, cells, kernel, moved)) >= least * (1 - 1e-12)
