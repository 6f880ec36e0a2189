"""What a search finds: errors near to the limit on every bounded range, and limits that are none too high."""

from __future__ import annotations

import pytest

from inbounds import Bounds, Optimal, certify
from inbounds.accuracy.prior import Prior
from inbounds.limit import search
from inbounds.limit.family_law import FamilyLaw
from inbounds.limit.goal import Minimise as Goal
from inbounds.limit.lower_bound import grid_of, grid_to_ends, mean_bound, worst_bound
from inbounds.limit.optimality import format_ratio_up
from inbounds.limit.program.deadline import NEVER
from inbounds.limit.program.linear_program import LinearProgram
from inbounds.mechanisms.setting import Setting
from tests.helpers.exact_optimum import GOALS, ISLANDS, PATIENT, error_of, made
from tests.helpers.sparing import sparing

EPSILONS = (0.1, 0.5, 1, 2, 5)
WIDTHS = (1, 2, 5, 10, 50)

KNOWN: dict[Goal, list[list[float]]] = {
    "mean": [
        [0.2494, 0.4987, 1.2319, 2.3775, 7.1398],
        [0.2379, 0.4726, 0.9864, 1.4144, 1.8619],
        [0.2134, 0.4056, 0.6852, 0.8207, 0.9295],
        [0.1562, 0.2688, 0.3604, 0.3925, 0.4161],
        [0.0437, 0.0646, 0.0752, 0.0789, 0.0789],
    ],
    "worst": [
        [0.4761, 0.9090, 2.0050, 3.3666, 7.5361],
        [0.3953, 0.6595, 1.1261, 1.4824, 1.9249],
        [0.3162, 0.4815, 0.7161, 0.8522, 0.9482],
        [0.2008, 0.2890, 0.3791, 0.4104, 0.4204],
        [0.0480, 0.0677, 0.0798, 0.0815, 0.0815],
    ],
}
"""Limits on [0, B] at sensitivity 1 that are known from elsewhere: lines are epsilons, columns are widths B."""


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("width", sparing((1, 5, 50, 2, 10), 3))
@pytest.mark.parametrize("epsilon", sparing((1, 5, 0.1, 0.5, 2), 3))
def test_every_range_is_near_the_limit(epsilon: float, width: int, goal: Goal, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error is found at most 4.5 % above a limit, which is no more than that below the known ones."""
    monkeypatch.setattr(search, "GOOD", 0.045)  # to end the search there, whatever the clock says
    found = Optimal(Bounds(0, width), 1, epsilon, minimise=goal, time_limit=PATIENT)
    known = KNOWN[goal][EPSILONS.index(epsilon)][WIDTHS.index(width)]
    told = found.optimality
    assert told.limit <= error_of(found, goal) <= told.error * (1 + 1e-12)
    assert told.error == pytest.approx(error_of(found, goal), rel=1e-6)
    assert told.ratio <= 1.046
    assert told.limit >= known * 0.955
    assert told.error >= known * 0.999
    assert certify(found).holds


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
def test_limits_elsewhere_are_near_the_known_ones(goal: Goal) -> None:
    """On the other narrow ranges the limits of small programs are near the known ones, and not far above."""
    for epsilon, width in ((0.1, 1), (0.1, 5), (0.5, 2), (0.5, 5), (1, 1), (1, 2), (2, 2)):
        setting = Setting.of(Bounds(0, width), 1, epsilon)
        lattice, distance, reach = setting.lattice, setting.distance, max(40 // width, 8)
        if goal == "mean":
            grid = grid_of(lattice.width + 1, distance, reach)
            steps = mean_bound(Prior.uniform(lattice), grid, setting.epsilon, None, NEVER)
        else:
            grid = grid_to_ends(lattice.width, distance, reach)
            steps = worst_bound(lattice, grid, setting.epsilon, None, NEVER)
        known = KNOWN[goal][EPSILONS.index(epsilon)][WIDTHS.index(width)]
        assert known * 0.9 <= steps * float(lattice.step) <= known * 1.02


def test_closed_forms_are_exact() -> None:
    """For counts the least mean error is known in closed form, and is found without a program."""
    found = Optimal(Bounds(0, 1000, step=1), 1, 0.002)
    assert found.mean_error() == pytest.approx(213.0, abs=0.05)
    assert found.optimality.ratio <= 1 + 1e-8
    assert found.table is None
    assert Optimal(Bounds(0, 10, step=1), 1, 0.5).mean_error() == pytest.approx(1.4173557, abs=5e-8)


def test_more_points_than_there_is_time_for_are_bounded_by_windows() -> None:
    """Where there is no time for the closed form, mechanisms of one scale stand in, beside a limit that is near."""
    found = Optimal(Bounds(0, 10**7, step=1), 1, 0.01)
    assert found.table is None
    assert isinstance(found._law, FamilyLaw)
    assert found.optimality.ratio <= 1.01


def test_a_union_without_a_step_has_an_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases are possible, and the error is near the limit and not below it."""
    monkeypatch.setattr(search, "GOOD", 0.06)
    bounds = Bounds(0, 1) | Bounds(2, 3)
    found = Optimal(bounds, 1, 1, time_limit=PATIENT)
    assert found.release(1.5) in bounds
    assert found.limit <= found.mean_error() <= found.optimality.error * (1 + 1e-12)
    assert found.optimality.ratio <= 1.061


@pytest.mark.parametrize("goal", GOALS)
def test_a_solver_that_always_fails_leaves_mechanisms_of_one_scale(goal: Goal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where HiGHS finds nothing at all, the best of the others is had, with a limit that is a true one."""
    best = made(ISLANDS, 2, 3, goal)
    monkeypatch.setattr(LinearProgram, "_run_in_stretches", lambda program: False)
    found = Optimal(ISLANDS, 2, 3, minimise=goal)
    assert found.limit <= best.limit * (1 + 1e-9)
    assert error_of(found, goal) >= best.limit * (1 - 1e-9)
    assert found.table is None or isinstance(found._law, FamilyLaw)
    assert certify(found).holds


@pytest.mark.slow
@pytest.mark.parametrize("goal", GOALS)
def test_a_search_that_ends_early_is_honest(goal: Goal) -> None:
    """With next to no time there is still a private mechanism, and its limit is not above what is possible."""
    setting = (Bounds(0, 44, step=1), 7, 0.2)
    best, found = made(*setting, goal), Optimal(*setting, minimise=goal, time_limit=1e-6)
    assert found.limit <= best.limit * (1 + 1e-8)
    assert best.limit <= error_of(found, goal) * (1 + 1e-9)
    assert found.optimality.ratio >= 1
    assert certify(found).holds


@pytest.mark.parametrize("goal", GOALS)
def test_what_is_said_is_in_the_text(goal: Goal) -> None:
    """Where nothing is better the text says so, and where something may be, by how much at most."""
    exact = made(Bounds(0, 12, step=1), 3, 1, goal)
    assert str(exact.optimality).endswith("no mechanism that keeps epsilon can do better")
    early = Optimal(Bounds(0, 44, step=1), 7, 0.2, minimise=goal, time_limit=1e-6)
    assert (
        f"at most {format_ratio_up(early.optimality.ratio)} times" in str(early.optimality)
        or early.optimality.ratio > 100
    )
    assert exact.leans == (goal == "mean")
    assert exact.release_count is not None
    assert exact.release_count <= 13
