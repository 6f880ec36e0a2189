"""Column generation ends at the optimum, also where the solver has to be asked again."""

from __future__ import annotations

from fractions import Fraction

import pytest

from inbounds.limit.goal import Minimise as Goal
from inbounds.limit.lower_bound import distances, problem_of, proved_bound
from inbounds.limit.program import column_generation
from inbounds.limit.program.column_generation import solve
from inbounds.limit.program.deadline import NEVER
from inbounds.limit.program.linear_program import LinearProgram
from tests.helpers.exact_optimum import GOALS


@pytest.mark.parametrize("goal", GOALS)
def test_where_the_simplex_fails_the_interior_helps(goal: Goal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search in which HiGHS has to start over, and from the interior, ends where it ends without."""
    problem = problem_of(distances(20), 3, Fraction(1, 2), goal)
    best = solve(problem, None, NEVER)
    run, calls = LinearProgram._run_in_stretches, iter(range(10**6))

    def failing(program: LinearProgram) -> bool:
        interior = program._solver.getOptionValue("solver")[1] == "ipm"
        return run(program) and (interior or next(calls) % 7 not in (0, 1))

    monkeypatch.setattr(LinearProgram, "_run_in_stretches", failing)
    monkeypatch.setattr(column_generation, "MOST_RESCUES", 1000)
    found = solve(problem, None, NEVER)
    assert best is not None
    assert found is not None
    assert next(calls) > 1
    assert proved_bound(problem, found.prices) == pytest.approx(proved_bound(problem, best.prices), rel=1e-6)


@pytest.mark.parametrize("goal", GOALS)
def test_a_solver_that_always_fails_is_not_asked_forever(goal: Goal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where HiGHS finds nothing at all, nothing is found."""
    monkeypatch.setattr(LinearProgram, "_run_in_stretches", lambda program: False)
    assert solve(problem_of(distances(9), 2, Fraction(1), goal), None, NEVER) is None
