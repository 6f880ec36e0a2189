"""The linear program: of all mixtures of given rays, the one whose error is least, solved by HiGHS."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from math import expm1
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.errors import InvalidParameter
from inbounds.limit.program.deadline import NEVER, Deadline
from inbounds.limit.program.extreme_rays import Line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

SCALE = 100.0
"""HiGHS sees errors this many times as large, for its tolerances are absolute."""

PIVOTS = 500
"""Simplex steps between two looks at whether the caller wants to stop: well below a second."""

MOST_STRETCHES = 100
"""So often it may go on with one program: none of the searches measured that got there needed more than 5."""

LEAST_SECONDS = 0.05
"""So long HiGHS may always try."""

MOST_SECONDS = 1e9

RESCUES: tuple[dict[str, Any], ...] = (
    {"simplex_scale_strategy": 0},
    {"solver": "ipm", "run_crossover": "off"},
    {"simplex_scale_strategy": 2},
)
"""What HiGHS is asked to do where it got nowhere, each time from scratch: the same again, an interior method, which
is less exact and hardly ever fails, and then to scale as it likes."""

NOT_INSTALLED = "the least error is computed by HiGHS, which is not installed: pip install 'inbounds[optimal]'"

OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "solver": "simplex",
    "simplex_strategy": 4,  # primal: new columns leave the last solution feasible
    "simplex_scale_strategy": 0,  # the program is scaled as it is, and HiGHS would make it worse
    "simplex_iteration_limit": PIVOTS,
    "ipm_iteration_limit": 200,
    "run_crossover": "on",
    "presolve": "off",
    "small_matrix_value": 1e-12,
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
}


@dataclass(frozen=True, eq=False)
class Rays:
    """Columns of a table: the level of each row, and the output whose column it is."""

    levels: Ints
    outputs: Ints

    def __len__(self) -> int:
        return len(self.outputs)

    def __add__(self, other: Rays) -> Rays:
        return Rays(np.concatenate([self.levels, other.levels]), np.concatenate([self.outputs, other.outputs]))

    def only(self, chosen: NDArray[np.bool_]) -> Rays:
        """Return some of the rays."""
        return Rays(self.levels[chosen], self.outputs[chosen])


@dataclass(frozen=True, eq=False)
class Prices:
    """What a unit of probability is worth in each row, and what a unit of error costs there.

    Whatever the prices, no table has an error below what `TableProblem.bound` makes of them.
    """

    rows: Floats
    errors: Floats

    def towards(self, other: Prices, share: float) -> Prices:
        """Return the prices that lie this share of the way to others."""
        return Prices(self.rows + share * (other.rows - self.rows), self.errors + share * (other.errors - self.errors))


@dataclass(frozen=True, eq=False)
class TableProblem:
    """Which table has the least error, its columns private along a line of rows?

    The error is the sum of `costs` times probabilities, or the greatest such sum of a row when `worst`.  When
    `mirrored`, nothing changes if rows and outputs are both counted from the other end; the mean of a table and its
    mirror image is then as good as the table, so only tables that are their own mirror images are looked at.
    """

    line: Line
    costs: Floats
    worst: bool
    mirrored: bool

    def fold(self, columns: Floats) -> Floats:
        """Return what sets columns apart: their entries, or half of those of the mean with the mirror image."""
        if not self.mirrored:
            return columns
        return ((columns + columns[..., ::-1]) / 2)[..., : (columns.shape[-1] + 1) // 2]

    def unfold(self, prices: Floats) -> Floats:
        """Return the prices of entries from those of folded ones."""
        if not self.mirrored:
            return prices
        full = np.zeros(len(self.line))
        full[: len(prices)] = prices
        return (full + full[::-1]) / 2

    @cached_property
    def outputs(self) -> Ints:
        """The outputs that need looking at: all, or those of one half."""
        count = self.costs.shape[1]
        return np.arange((count + 1) // 2 if self.mirrored else count)

    def costs_of(self, rays: Rays, prices: Prices) -> Floats:
        """Return what each ray costs at these prices, less what it is worth."""
        return (self._weights(prices)[rays.outputs] * self.line.values[rays.levels]).sum(axis=1)

    def bound(self, prices: Prices) -> tuple[float, Rays]:
        """Return an error that no table is below, and the rays that are worth more than they cost."""
        # Weak duality. The rows of a table add up to 1, so its worth is the sum of their prices. Each of its columns is
        # private and has entries up to 1, so beyond its worth it costs at least what the cheapest ray does.
        costs, levels = self.line.cheapest(self._weights(prices)[self.outputs])
        times = np.where(2 * self.outputs + 1 < self.costs.shape[1], 2.0, 1.0) if self.mirrored else 1.0
        return float(prices.rows.sum() + (times * costs).sum()), Rays(levels, self.outputs).only(costs < 0)

    def _weights(self, prices: Prices) -> Floats:
        return (self.costs * prices.errors[:, None] - prices.rows[:, None]).T


@dataclass(frozen=True, eq=False)
class Mixture:
    """How much of each ray a table holds, and its error, as the solver found them."""

    error: float
    rays: Rays
    shares: Floats


class LinearProgram:
    """The best mixture of the rays added so far: a linear program that grows by columns.

    The first row sum is 1 and the others equal it.  Most neighbours in a ray are equal, so as differences of neighbours
    the program is sparse; and divided by `1 - exp(-epsilon)` they are of the order of 1 whatever epsilon is.
    """

    def __init__(self, problem: TableProblem, deadline: Deadline = NEVER) -> None:
        self.problem, self._deadline = problem, deadline
        self.rays = Rays(np.zeros((0, len(problem.line)), np.intp), np.zeros(0, np.intp))
        self.sums = len(problem.fold(np.zeros(len(problem.line))))
        self._unit = -expm1(-problem.line.epsilon)
        self._solver = _new_solver()
        self.rescues = 0
        # Rows of the program: the first row sum is 1 and the differences are 0; for the worst error, also that the
        # error of each row is at most one more variable, which is what is minimised.
        self._add_rows(_first(self.sums), _first(self.sums))
        if problem.worst:
            self._add_rows(np.full(self.sums, -np.inf), np.zeros(self.sums))
            rows = np.arange(self.sums, 2 * self.sums, dtype=np.int32)
            self._solver.addCol(SCALE, -np.inf, np.inf, self.sums, rows, -np.ones(self.sums))

    def _add_rows(self, low: Floats, high: Floats) -> None:
        nothing = np.zeros(0, np.int32)
        self._solver.addRows(len(low), low, high, 0, np.zeros(len(low), np.int32), nothing, np.zeros(0))

    def add(self, rays: Rays) -> None:
        """Allow these rays too."""
        columns = self.problem.line.values[rays.levels]
        errors = columns * self.problem.costs[:, rays.outputs].T
        entries, costs = self._differences(columns), errors.sum(axis=1) * SCALE
        if self.problem.worst:
            entries, costs = np.concatenate([entries, self.problem.fold(errors)], axis=1), np.zeros(len(rays))
        which, rows = np.nonzero(entries)
        starts = np.searchsorted(which, np.arange(len(rays))).astype(np.int32)
        none, any_ = np.zeros(len(rays)), np.full(len(rays), np.inf)
        values = entries[which, rows]
        self._solver.addCols(len(rays), costs, none, any_, len(rows), starts, rows.astype(np.int32), values)
        self.rays = self.rays + rays

    def _differences(self, columns: Floats) -> Floats:
        folded = self.problem.fold(columns)
        return np.concatenate([folded[:, :1], np.diff(folded, axis=1) / self._unit], axis=1)

    def solve(self) -> tuple[Mixture, Prices] | None:
        """Return the best mixture, and the prices at which no ray in the program would make it better.

        None if HiGHS finds none within its limits.
        """
        if not self._run():
            return None
        # Duals are those of differences of row sums; summed by parts they become prices of the rows themselves.
        shares = np.array(self._solver.getSolution().col_value)[int(self.problem.worst) :]
        duals = np.array(self._solver.getSolution().row_dual) / SCALE
        sums = duals[: self.sums]
        sums[1:] /= self._unit
        sums[:-1] -= sums[1:]
        errors = np.ones(len(self.problem.line))
        if self.problem.worst:
            errors = self.problem.unfold(np.maximum(-duals[self.sums :], 0.0))
            errors /= errors.sum()
        mixture = Mixture(self._solver.getObjectiveValue() / SCALE, self.rays, shares)
        return mixture, Prices(self.problem.unfold(sums), errors)

    def _run(self) -> bool:
        if self._run_in_stretches():
            return True
        self.rescues += 1
        return any(not self._deadline.passed and self._run_from_scratch(options) for options in RESCUES)

    def _run_from_scratch(self, options: dict[str, Any]) -> bool:
        self._solver.clearSolver()
        _set_options(self._solver, options)
        solved = self._run_in_stretches()
        _set_options(self._solver, {name: OPTIONS[name] for name in options})
        return solved

    def _run_in_stretches(self) -> bool:
        """Run HiGHS a stretch at a time, so that a KeyboardInterrupt is heard between stretches.

        Return whether it came to an end, and with a solution.
        """
        for _ in range(MOST_STRETCHES):
            left = max(self._deadline.left, LEAST_SECONDS)
            self._solver.setOptionValue("time_limit", min(self.seconds + left, MOST_SECONDS))
            self._solver.run()
            status = self._solver.modelStatusToString(self._solver.getModelStatus())
            if status != _UNFINISHED:
                return status in _SOLVED
        return False

    @property
    def seconds(self) -> float:
        """How long HiGHS has worked on this, by its own clock."""
        return float(self._solver.getRunTime())

    def forget(self, most: int) -> None:
        """Drop rays that are far from worth their cost until at most about half of `most` stay; call after `solve`."""
        if len(self.rays) <= most:
            return
        # The first column of a program for the worst error is the error itself, and no ray.
        skipped = int(self.problem.worst)
        costs = np.array(self._solver.getSolution().col_dual)[skipped:]
        dropped = costs > max(float(np.partition(costs, most // 2)[most // 2]), 1e-6)
        places = np.flatnonzero(dropped) + skipped
        self._solver.deleteCols(len(places), places.astype(np.int32))
        self.rays = self.rays.only(~dropped)

    def refine(self, mixture: Mixture) -> tuple[Rays, Floats]:
        """Return the rays that a mixture holds, and how much of each: row sums are 1 to the last digits."""
        # The solver's tolerance may leave row sums off by 1e-10: a least-squares correction takes that away.
        held = mixture.shares > 0
        rays, shares = mixture.rays.only(held), mixture.shares[held]
        entries = self._differences(self.problem.line.values[rays.levels]).T
        missing = _first(self.sums) - entries @ shares
        return rays, np.maximum(shares + np.linalg.lstsq(entries, missing)[0], 0.0)


_UNFINISHED = "Iteration limit reached"
_SOLVED = ("Optimal", "Unknown")  # unknown: optimal up to rounding errors, and whoever asks checks the prices anyway


def solver_is_installed() -> bool:
    """Return whether linear programs can be solved here."""
    return find_spec("highspy") is not None


def _first(count: int) -> Floats:
    unit = np.zeros(count)
    unit[0] = 1.0
    return unit


def _new_solver() -> Any:
    try:
        import highspy  # noqa: PLC0415  an extra: only those who want the optimum need it
    except ImportError as missing:
        raise InvalidParameter(NOT_INSTALLED) from missing
    library: Any = highspy  # most of it is untyped
    solver = library.Highs()
    _set_options(solver, OPTIONS)
    return solver


def _set_options(solver: Any, options: dict[str, Any]) -> None:
    for name, value in options.items():
        solver.setOptionValue(name, value)
