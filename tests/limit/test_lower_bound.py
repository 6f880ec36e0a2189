"""No limit is above what linear programming, written out by SciPy, says is possible."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds import Bounds
from inbounds.accuracy.prior import Prior
from inbounds.bounds.lattice import Lattice
from inbounds.limit.goal import Minimise as Goal
from inbounds.limit.lower_bound import (
    AnswerGrid,
    distances,
    grid_of,
    grid_to_ends,
    mean_bound,
    problem_of,
    proved_bound,
    worst_bound,
    worst_bound_by_tapers,
)
from inbounds.limit.program.column_generation import solve
from inbounds.limit.program.deadline import NEVER, Deadline
from inbounds.limit.search import Search
from inbounds.mechanisms.setting import Setting
from tests.helpers.exact_optimum import GOALS, least

EPSILONS = st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2)])


@st.composite
def unions(draw: st.DrawFn) -> Bounds:
    """Up to a dozen consecutive numbers, perhaps with a gap."""
    low, gap = draw(st.integers(3, 6)), draw(st.integers(1, 3))
    return Bounds.union([(0, low), (low + gap, low + gap + draw(st.integers(1, 4)))], step=1)


@pytest.mark.slow
@given(unions() | st.integers(2, 9).map(lambda n: Bounds(0, n, step=1)), st.integers(1, 6), EPSILONS, st.data())
@settings(max_examples=25)
def test_no_limit_is_above_what_is_possible(
    bounds: Bounds, distance: int, epsilon: Fraction, data: st.DataObject
) -> None:
    """On any lattice and any grid, for the mean under any prior and for the worst, bounds are below the optimum."""
    lattice = Lattice.of(bounds, Fraction(1))
    reach, points = data.draw(st.integers(1, distance)), lattice.width + 1
    prior = data.draw(st.lists(st.integers(0, 5), min_size=lattice.points, max_size=lattice.points).filter(any))
    weights = np.array(prior) / sum(prior)
    mean = least(bounds, distance, float(epsilon), "mean", weights)
    worst = least(bounds, distance, float(epsilon), "worst", weights)
    believed = Prior.of(prior, bounds, lattice)
    found = mean_bound(believed, grid_of(points, distance, reach), epsilon, None, NEVER)
    assert 0 <= found <= mean * (1 + 1e-9) + 1e-9
    grid = grid_to_ends(lattice.width, distance, reach)
    assert 0 <= worst_bound(lattice, grid, epsilon, None, NEVER) <= worst * (1 + 1e-9) + 1e-9
    times = data.draw(st.integers(1, 3))
    coarse = AnswerGrid(times * distance, lattice.width // (times * distance) + 1, 1, times)
    assert 0 <= worst_bound(lattice, coarse, epsilon, None, NEVER) <= worst * (1 + 1e-9) + 1e-9
    if coarse.rows > 1:
        assert 0 <= worst_bound_by_tapers(lattice, coarse, epsilon) <= worst * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("goal", GOALS)
def test_every_point_and_the_whole_sensitivity_give_the_optimum(goal: Goal) -> None:
    """A grid of all points is the program itself, so the limit is what is possible, to rounding errors."""
    bounds, epsilon = Bounds(0, 8, step=1), Fraction(1, 2)
    lattice = Lattice.of(bounds, Fraction(1))
    exact = least(bounds, 3, float(epsilon), goal, np.full(9, 1 / 9))
    if goal == "mean":
        found = mean_bound(Prior.uniform(lattice), AnswerGrid(1, 9, 3), epsilon, None, NEVER)
    else:
        found = worst_bound(lattice, AnswerGrid(1, 9, 3), epsilon, None, NEVER)
    assert found == pytest.approx(exact, rel=1e-7)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=12).filter(lambda w: sum(w) > 0), EPSILONS)
@settings(max_examples=25)
def test_the_closed_form_is_the_program(weights: list[int], epsilon: Fraction) -> None:
    """Where neighbours are one row apart, geometric noise and medians have the error of the linear program."""
    bounds = Bounds(0, len(weights) - 1, step=1)
    lattice = Lattice.of(bounds, Fraction(1))
    prior = Prior.of(weights, bounds, lattice)
    closed = mean_bound(prior, AnswerGrid(1, len(weights), 1), epsilon, None, NEVER)
    costs = distances(len(weights)) * (np.array(weights) / sum(weights))[:, None]
    problem = problem_of(costs, 1, epsilon, "mean")
    found = solve(problem, None, NEVER)
    assert found is not None
    assert closed == pytest.approx(proved_bound(problem, found.prices), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("goal", GOALS)
def test_what_is_proved_is_below_what_was_computed(goal: Goal) -> None:
    """Rounding errors are taken off, and no more than they can be."""
    problem = problem_of(distances(30), 7, Fraction(1, 2), goal)
    found = solve(problem, None, NEVER)
    assert found is not None
    bound, _ = problem.bound(found.prices)
    assert bound * (1 - 1e-9) < proved_bound(problem, found.prices) < bound


@pytest.mark.parametrize(("points", "distance", "epsilon"), [(11, 2, 0.5), (10, 7, 2), (9, 1, 5)])
def test_windows_that_leave_something_out_count_it_as_nothing(points: int, distance: int, epsilon: float) -> None:
    """The limit of equal windows counts only the share of the possible answers that they cover."""
    setting = Setting.of(Bounds(0, points - 1, step=1), distance, epsilon)
    for windows in (2, 3):
        search = Search(setting, "mean", Prior.uniform(setting.lattice), Deadline.after(30), lambda text: None)
        search._bound_by_program(distance, windows)
        size = points // windows
        inside = least(Bounds(0, size - 1, step=1), distance, epsilon, "mean", np.full(size, 1 / size))
        assert search.limit <= inside * windows * size / points * (1 + 1e-7)


@given(st.integers(1, 200), st.integers(1, 60), st.data())
def test_grids_hold_neighbours(points: int, distance: int, data: st.DataObject) -> None:
    """Rows in reach of a grid are at most a sensitivity apart, and the grid fits into the points."""
    reach = data.draw(st.integers(1, distance))
    grid = grid_of(points, distance, reach)
    assert grid.spacing * grid.reach <= distance
    assert 1 <= grid.spacing * grid.rows <= points
    if points > 1:
        ends = grid_to_ends(points - 1, distance, reach)
        assert ends.spacing * ends.reach <= distance
        assert ends.spacing * (ends.rows - 1) <= points - 1
    assert math.isfinite(grid.spacing)
