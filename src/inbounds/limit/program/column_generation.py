"""The search for the best table among all private ones, by rays that are looked up when they pay.

There are far too many rays to list.  Each round solves the program of those found so far, and looks up for each
output the ray that would improve it most at the program's prices: column generation (Gilmore & Gomory 1961).  Any
prices also bound from below what is possible, so the search knows how far it is from the end.

Prices jump about from round to round, which costs rounds; so rays are looked up at prices on the way from the best
ones so far (Wentges 1997), nearer to these the longer nothing has come of it, and a search on many rows starts from the
rays and prices of one on half as many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from inbounds.limit.program.deadline import NEVER, Deadline
from inbounds.limit.program.extreme_rays import Line
from inbounds.limit.program.linear_program import LinearProgram, Mixture, Prices, Rays, TableProblem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]

GAP = 1e-8
"""A search ends when the error is at most this share above what is possible."""

ROUGH = 1e-4
"""Searches whose only use is to start another one, or on rows wider than a step, may end here."""

STEP = 0.2
"""How far from the best prices towards those of the last round rays are looked up."""

SHORTER = 0.85
"""After a round without progress the next step is this share of the last one: near the best prices the bound rises."""

SHORTEST = 1e-3
"""No step is below this."""

PATIENCE = 100
"""Rounds without any progress before giving up.  Of the searches measured that got there, none had more than 59."""

BUDGET = 150_000
"""Rounds times rows before giving up: 375 rounds on 400 rows, which is a few minutes."""

MOST_RESCUES = 12
"""So often HiGHS may have to start from scratch.  Where it has to, it mostly does so in every round, and for long."""

KEPT = 8
"""Rays that the program may hold, for each of its rows."""

FEW = 20
"""Searches on so few rows need no other one to start from."""

Tell = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Solution:
    """A table with rows for rows and columns for outputs, and prices that show how good it is."""

    table: Floats
    prices: Prices
    rays: Rays


def solve(
    problem: TableProblem, tell: Tell | None = None, deadline: Deadline = NEVER, gap: float = GAP
) -> Solution | None:
    """Return the best table found in time, and prices that say how good it is; None if the solver found nothing."""
    # The tolerances of the solver are absolute, so costs are given to it in units of the error that is to be expected.
    unit = _typical_error(problem)
    scaled = replace(problem, costs=problem.costs / unit)
    search = ColumnGeneration(scaled, *_start(scaled, tell, deadline), gap, tell, deadline)
    solution = search.solution()
    if solution is None:
        return None
    return replace(solution, prices=replace(solution.prices, rows=solution.prices.rows * unit))


def _start(problem: TableProblem, tell: Tell | None, deadline: Deadline) -> tuple[Rays, Prices | None]:
    """Return rays and prices to start from; the costs are in units of a typical error."""
    # 1. Many rows: solve with pairs of rows as one, and take over its rays and prices.
    # 2. The worst error: solve for the mean first, whose rays are nearly right and far easier to find.
    # 3. Else the rays around rows, of which clamped geometric noise is a mixture.
    rows, pairs = len(problem.line), _pairs(len(problem.line))
    if rows > FEW and rows > 3 * problem.line.levels_around(0)[-1]:
        columns = _pairs(problem.costs.shape[1])
        coarse = _coarser(problem, pairs, columns)
        if _typical_error(coarse) < 1.5:
            solution = ColumnGeneration(coarse, *_start(coarse, tell, deadline), ROUGH, tell, deadline).solution()
            if solution is not None:
                return _finer(problem, solution, pairs, columns)
    if problem.worst:
        mean = replace(problem, costs=problem.costs / rows, worst=False)
        solution = ColumnGeneration(mean, *_start(mean, tell, deadline), ROUGH, tell, deadline).solution()
        if solution is None:
            return _simple_rays(problem), None
        return _simple_rays(problem) + solution.rays, replace(solution.prices, errors=np.full(rows, 1 / rows))
    return _simple_rays(problem), None


def _simple_rays(problem: TableProblem) -> Rays:
    """Return the rays around rows, and the one that is the output best on the whole, whatever the row."""
    best = problem.costs.sum(axis=0, keepdims=True).argmin(axis=1)
    constant = Rays(np.zeros((1, len(problem.line)), np.intp), best)
    return _rays_around_rows(problem) + constant


def _rays_around_rows(problem: TableProblem) -> Rays:
    """Return the ray around each row, for the output that is best there."""
    line = problem.line
    levels = [np.minimum(line.levels_around(row), line.deepest) for row in range(len(line))]
    return Rays(np.array(levels), problem.costs.argmin(axis=1))


def _typical_error(problem: TableProblem) -> float:
    """Return the error of a mixture of simple rays that is near the best one, though it may not be private."""
    rays = _rays_around_rows(problem)
    shares = problem.line.values[rays.levels]
    errors = (shares / shares.sum(axis=0) * problem.costs[:, rays.outputs].T).sum(axis=0)
    return float(errors.max() if problem.worst else errors.sum()) or 1.0


def _pairs(count: int) -> Ints:
    """Return the number of the group that each of `count` neighbours is in: pairs, counted from both ends inwards.

    Counted from the other end the groups are the same, so that a mirrored problem stays one.  Pairs from both ends
    need not fit together in the middle: there a group may be one place, or three.  For example

        5 places: 0 0 1 2 2        6 places: 0 0 1 2 3 3        7 places: 0 0 1 1 1 2 2        8: 0 0 1 1 2 2 3 3

    The lower half is numbered by pairs from 0 on, and the upper half by pairs from the `last` number back.
    """
    # `last` is even for an odd count and odd for an even one, so that both numberings meet in the middle.
    places, half = np.arange(count), (count + 1) // 2
    last = 2 * ((half - 1) // 2) if count % 2 else 2 * ((half + 1) // 2) - 1
    return np.where(places < half, places // 2, last - places[::-1] // 2)


def _coarser(problem: TableProblem, rows: Ints, columns: Ints) -> TableProblem:
    """Return the problem with rows that stand for groups of rows, and one output for each group of outputs.

    `rows` and `columns` say which group each row and output is in (`_pairs`).  A table for the coarse problem is one
    for the fine one, each row for all rows of its group, so what is cheap there is a good start here; it need not be
    more, and none of what follows is a proof.

    * Costs: a row of a group costs what its rows cost together, for the mean is a sum over rows; for the worst, what
      they cost on average, for an error there is one row's.
    * Outputs: the outermost of each group, the first in the lower half and the last in the upper: mirrored again.
    * Neighbours: those of the first row of the group.  It reaches farthest down, so no pair of adjacent groups is lost.
    """
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    costs = np.add.reduceat(problem.costs, starts, axis=0)
    if problem.worst:
        costs /= np.bincount(rows)[:, None]
    outermost = np.flatnonzero(np.diff(columns, prepend=-1))
    outermost[len(outermost) // 2 :] = len(columns) - 1 - outermost[: len(outermost) - len(outermost) // 2][::-1]
    line = Line(rows[problem.line.first[starts]], problem.line.epsilon)
    return replace(problem, line=line, costs=costs[:, outermost])


def _finer(problem: TableProblem, coarse: Solution, rows: Ints, columns: Ints) -> tuple[Rays, Prices]:
    """Return what is known about a problem from the answer to a coarser one."""
    levels = np.minimum(coarse.rays.levels[:, rows], problem.line.deepest)
    which, outputs = np.nonzero(coarse.rays.outputs[:, None] == columns)
    sizes = np.bincount(rows)[rows]
    errors = coarse.prices.errors[rows] / sizes if problem.worst else np.ones(len(rows))
    return Rays(levels[which], outputs), Prices(coarse.prices.rows[rows] / sizes, errors)


class ColumnGeneration:
    """One search, on one set of rows."""

    def __init__(
        self,
        problem: TableProblem,
        rays: Rays,
        prices: Prices | None,
        gap: float,
        tell: Tell | None,
        deadline: Deadline,
    ) -> None:
        self.problem, self.gap, self.tell, self.deadline = problem, gap, tell, deadline
        self.program = LinearProgram(problem, deadline)
        self.value, self.bound, self.best = np.inf, -np.inf, prices
        self.mixture: Mixture | None = None
        self.rounds = self.fruitless = 0
        self.reported = self.looked_up = 0.0
        self._add(self._one_half(rays))
        if prices is not None:
            self._add(self._cheapest(prices))

    def solution(self) -> Solution | None:
        """Search until the gap is closed or the limits are reached; return the last table, if there was any."""
        while self._round():
            pass
        return None if self.mixture is None else self._table(self.mixture)

    def _round(self) -> bool:
        """Solve the program and add rays to it; return whether there is more to do."""
        # 1. Solve the program of the rays so far: its value is an error that can be had.
        # 2. Look up rays that improve it at its prices.  That also gives a bound that no table is below.
        # 3. Stop if there are none, or value and bound are as near as asked for; else add them, and go round again.
        before = self.value, self.bound
        self.rounds += 1
        optimum = self.program.solve()
        if optimum is None:
            return False
        self.mixture, prices = optimum
        self.value = self.mixture.error
        self._report()
        rays = self._improving_rays(prices)
        if not len(rays) or self.value - self.bound <= self.gap * self.value:
            return False
        if not self.fruitless:  # else what was forgotten comes back, and the search goes round in circles
            self.program.forget(KEPT * self.program.sums * (1 + self.problem.worst))
        self._add(rays)
        # Only progress beyond rounding errors counts.
        small = 1e-12 * self.value
        self.fruitless = 0 if self.value < before[0] - small or self.bound > before[1] + small else self.fruitless + 1
        within = self.rounds * len(self.problem.line) < BUDGET and self.program.rescues < MOST_RESCUES
        return within and self.fruitless < PATIENCE and not self.deadline.passed

    def _improving_rays(self, prices: Prices) -> Rays:
        """Return rays that the program lacks and that pay at its prices."""
        step = max(STEP * SHORTER**self.fruitless, SHORTEST)
        # Near the best prices first, where the bound rises; if nothing pays there, at the program's own prices, where
        # either some ray pays or the program is solved.
        near = [] if self.best is None else [self.best.towards(prices, step)]
        for candidate in [*near, prices]:
            rays = self._cheapest(candidate)
            rays = rays.only(self.problem.costs_of(rays, prices) < -1e-12)
            rays = rays.only(np.array([key not in self.known for key in _keys(rays)], bool))
            if len(rays):
                break
        return rays

    def _cheapest(self, prices: Prices) -> Rays:
        bound, rays = self.problem.bound(prices)
        self.looked_up += len(self.problem.outputs) * len(self.problem.line) * len(self.problem.line.values)
        if bound > self.bound:
            self.bound, self.best = bound, prices
        return rays

    def _add(self, rays: Rays) -> None:
        self.program.add(rays)
        self.known = set(_keys(self.program.rays))

    def _one_half(self, rays: Rays) -> Rays:
        """Return each ray once, and only rays of the outputs that are looked at: mirror images where necessary."""
        if self.problem.mirrored:
            far = rays.outputs > self.problem.outputs[-1]
            levels = np.where(far[:, None], rays.levels[:, ::-1], rays.levels)
            rays = Rays(levels, np.where(far, self.problem.costs.shape[1] - 1 - rays.outputs, rays.outputs))
        once = np.unique(np.column_stack([rays.outputs, rays.levels]), axis=0)
        return Rays(once[:, 1:], once[:, 0])

    def _report(self) -> None:
        spent = self.program.seconds + self.looked_up * 1e-8
        if self.tell and spent > self.reported + 0.25:
            self.reported = spent
            gap = (self.value - self.bound) / self.value
            self.tell(f"least error on {len(self.problem.line)} points: round {self.rounds}, gap {gap:.1e}")

    def _table(self, mixture: Mixture) -> Solution:
        # A mirrored problem was solved for one half of the outputs: each ray goes in with its mirror image.
        rays, shares = self.program.refine(mixture)
        if self.problem.mirrored:
            rays = rays + Rays(rays.levels[:, ::-1], self.problem.costs.shape[1] - 1 - rays.outputs)
            shares = np.concatenate([shares, shares]) / 2
        table = np.zeros(self.problem.costs.shape)
        np.add.at(table.T, rays.outputs, shares[:, None] * self.problem.line.values[rays.levels])
        assert self.best is not None
        return Solution(table, self.best, rays)


def _keys(rays: Rays) -> list[tuple[int, bytes]]:
    return [(int(output), levels.tobytes()) for output, levels in zip(rays.outputs, rays.levels, strict=True)]
