"""The search for a mechanism that is as accurate as any can be, and for the proof that it is, within a time limit.

Two things are looked for side by side, on ever more rows: a private law with a small error, and an error that nothing
private is below.  The search ends when they meet, or when time is up; what was found by then is proved either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from inbounds.accuracy.prior import Prior
from inbounds.accuracy.true_answers import greatest
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter
from inbounds.limit.cells.cell_law import CellLaw, middles, row_epsilon
from inbounds.limit.cells.cells import Cells, interpolated_cells, rounded_cells
from inbounds.limit.cells.exact_table import repair
from inbounds.limit.cells.kernel import ChainKernel, TableKernel
from inbounds.limit.cells.posterior import targets_of_chain, targets_of_table
from inbounds.limit.family_law import FamilyLaw, families
from inbounds.limit.goal import Minimise
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
from inbounds.limit.mixed_law import MixedLaw
from inbounds.limit.program.column_generation import GAP, ROUGH, solve
from inbounds.limit.program.deadline import Deadline
from inbounds.limit.program.linear_program import solver_is_installed
from inbounds.limit.row_counts import FEW_STEPS, row_and_window_counts, row_counts
from inbounds.limit.widths.width_search import mean_by_widths, suits, worst_by_widths
from inbounds.mechanisms.setting import Setting
from inbounds.published.ghosh2009 import GeometricNoise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


OptimalLaw: TypeAlias = CellLaw | MixedLaw | FamilyLaw

Sized: TypeAlias = tuple[Callable[[], None], float]
"""A program to solve, and how many rows it has to a sensitivity, as a share of the range."""

GOOD = 1e-3
"""A search ends when its error is at most so much above what is possible, relatively."""

EXACT = 1e-9
"""Where every point can be a row, only what is as near to the limit as this ends a search before that was tried."""

SMALL = 100
"""Up to so many points, every point can be a row."""

MOST_CHAIN = 10_000_000
"""Closed forms are for at most so many rows,"""

CHAIN_A_SECOND = 100_000
"""and for so many for each second that there is."""

CHAIN_WINDOW = 50_000
"""Where there are more, the limit is that of windows of so many rows."""

MOST_EPSILON = 15
"""Beyond this the errors of a program are lost among the rounding errors of doubles."""

PROGRAMS_UP_TO = 6
"""Beyond this epsilon programs on wider rows than points find nothing that cells of the right width have not."""

TAPER_ROWS = 10_000
"""Priors for wide ranges have at most so many rows."""

COARSE_ROWS = (40, 120)
"""Points farther apart than the sensitivity are about so many; farther apart than the noise they are of no use."""


WIDE = 50
"""Of ranges of more sensitivities than this, and more times the noise, a part says as much, nearly:"""

LARGE_EPSILON = 2.5
"""one of so many; and where the worst error counts, for an epsilon above this,"""

NARROW = 10
"""one of so many."""


@dataclass
class Search:
    """What was found so far."""

    setting: Setting
    minimise: Minimise
    prior: Prior
    deadline: Deadline
    tell: Callable[[str], None]
    law: OptimalLaw | None = None
    error: float = np.inf
    """Of the best law so far, in steps."""
    limit: float = 0.0
    """No private mechanism is below this, in steps."""
    _bounded: set[int] = field(default_factory=set)
    """For which numbers of rows to a sensitivity the points gave a limit too."""
    _solved_exactly: bool = False

    @property
    def ratio(self) -> float:
        """How many times the limit the error is, at most."""
        if self.error <= self.limit:
            return 1.0
        return self.error / self.limit if self.limit > 0 else np.inf

    @cached_property
    def _lattice(self) -> Lattice:
        return self.setting.lattice

    @property
    def _is_mean(self) -> bool:
        return self.minimise == "mean"

    def run(self) -> None:
        """Search until the error is proved to be as small as it can be, or time is up."""
        for attempt in self._attempts():
            attempt()
            self.tell(f"least {self.minimise} error: at most {self.ratio:.4g} times the limit")
            enough = EXACT if self._is_small and not self._solved_exactly else GOOD
            if self.ratio <= 1 + enough or (self.deadline.passed and self.law is not None):
                return

    def _attempts(self) -> Iterator[Callable[[], None]]:
        """Yield what to try next: closed forms, then mechanisms for wide ranges, then linear programs."""
        # The cheap attempts first: closed forms often meet the limit at once, and then no program is solved.
        yield self._try_chains
        if self._is_small and self._can_solve:
            yield self._try_every_point
        yield self._try_families
        if suits(self.setting, self.minimise):
            yield self._try_widths
        if not self._can_solve or self.setting.epsilon > PROGRAMS_UP_TO:
            return
        points, distance, epsilon = self._lattice.width + 1, self.setting.distance, float(self.setting.epsilon)
        for rows in COARSE_ROWS:
            if not self._is_mean and COARSE_ROWS[-1] < points / distance <= rows / epsilon:
                yield partial(self._try_coarse_points, rows)
                yield partial(self._bound_by_coarse_grid, rows)
        laws: list[Sized] = [
            (partial(self._try_table, reach), reach) for reach in row_counts(points, distance, epsilon, self.minimise)
        ]
        parts = _parts(points / distance, epsilon, self.minimise) if self._is_whole and self._counts_alike else 1
        limits: list[Sized] = [
            (partial(self._bound_by_program, reach, windows * parts), reach / windows)
            for reach, windows in row_and_window_counts(points // parts, distance, epsilon)
            if windows * parts == 1 or not (laws and self._tables_are_limits)
        ]
        # The fewest rows first.  Of two programs of one size, a table before a limit where it may save that; else the
        # limit, for on wide ranges what is missing is mostly the proof.
        both = laws + limits if self._tables_are_limits else limits + laws
        yield from (attempt for attempt, _ in sorted(both, key=itemgetter(1)))

    @property
    def _tables_are_limits(self) -> bool:
        """Whether the program for a table also says what nothing is below, or nearly always so."""
        return self._is_whole and not self._is_mean and self.setting.distance > FEW_STEPS

    @property
    def _can_solve(self) -> bool:
        return solver_is_installed() and self.setting.epsilon <= MOST_EPSILON

    @property
    def _is_small(self) -> bool:
        """Whether there are so few points that each can be a row: then what is found is the best there is."""
        return self._lattice.width < SMALL

    # Laws, each with a proof.

    def _offer(self, law: OptimalLaw) -> None:
        error = self._error_of(law)
        if error < self.error:
            self.law, self.error = law, error

    def _error_of(self, law: OptimalLaw) -> float:
        distribution = law.distribution
        if self._is_mean:
            return self.prior.mean(distribution)
        return greatest(distribution.true_answers(self._lattice.first, self._lattice.last), distribution.errors)

    def _try_chains(self) -> None:
        """Try geometric noise on cells of one sensitivity; for steps of one row nothing is better for the mean."""
        lattice, distance = self._lattice, self.setting.distance
        if not self._is_mean and lattice.width:
            self._bound_by_tapers()
            return
        if (lattice.width + 1) // distance > min(MOST_CHAIN, CHAIN_A_SECOND * self.deadline.left):
            self._bound_by_program(1, -(-(lattice.width + 1) // (CHAIN_WINDOW * distance)))
            return
        for cells in dict.fromkeys(_choices(lattice, distance, 1)):
            kernel = ChainKernel(cells.rows, GeometricNoise(1, self.setting.epsilon))
            self._offer(CellLaw(self.setting, cells, kernel, targets_of_chain(self.prior, cells, kernel)))
        self._raise(grid_of(lattice.width + 1, distance, 1))

    def _try_families(self) -> None:
        for family in families(self.setting):
            self._offer(family)

    def _try_every_point(self) -> None:
        """Try the best table that has a row for each point."""
        lattice, distance = self._lattice, self.setting.distance
        # Points in gaps are rows as well, so that all rows are one step apart; no answer is there, so they cost
        # nothing.
        cells = Cells(lattice.first, 1, lattice.width + 1, distance, interpolated=False)
        targets = np.array(lattice.indices(), dtype=np.int64)
        if self._is_mean:
            costs = self.prior.distances(np.array(cells.starts), targets)
        else:
            rows = np.arange(lattice.first, lattice.last + 1)
            costs = abs(np.subtract.outer(rows, targets)).astype(float)
            costs[lattice.nearest(rows) != rows] = 0.0
        self._solved_exactly = True
        kernel = self._solve(cells, _mirror(costs), share=1.0)
        if kernel is not None:
            self._offer(CellLaw(self.setting, cells, kernel, targets))

    def _try_table(self, reach: int) -> None:
        if self._is_mean:
            for cells in _choices(self._lattice, self.setting.distance, reach)[:1]:
                self._try_rounded(cells)
        else:
            self._try_points(interpolated_cells(self._lattice.first, self._lattice.width, self.setting.distance, reach))

    def _try_rounded(self, cells: Cells) -> None:
        targets = middles(self._lattice, cells)
        costs = self.prior.distances(np.array(cells.starts), targets) / cells.width
        kernel = self._solve(cells, _mirror(costs))
        if kernel is not None:
            self._offer(CellLaw(self.setting, cells, kernel, targets))
            self._offer(CellLaw(self.setting, cells, kernel, targets_of_table(self.prior, cells, kernel)))

    def _try_points(self, cells: Cells) -> None:
        lattice = self._lattice
        points = np.array(cells.starts)
        targets = np.unique(middles(lattice, cells))
        if self._is_whole and len(targets) == len(points):
            costs = distances(len(points))  # but for a step at the last point; what it costs is measured afterwards
        else:
            costs = abs(np.subtract.outer(points, targets)) / cells.width
            costs[~_near_possible(lattice, points, cells.width)] = 0.0
        kernel = self._solve(cells, costs)
        if kernel is not None:
            self._offer(CellLaw(self.setting, cells, kernel, targets))

    def _try_coarse_points(self, rows: int) -> None:
        lattice = self._lattice
        width = -(-lattice.width // rows)
        self._try_points(Cells(lattice.first, width, -(-lattice.width // width) + 1, 1, interpolated=True))

    def _solve(self, cells: Cells, costs: Floats, share: float = 0.7) -> TableKernel | None:
        """Return the table with the least error, made exactly private; None if there is none."""
        epsilon = row_epsilon(cells, self.setting.distance, self.setting.epsilon)
        # One solution serves twice: its table becomes a mechanism, and its prices a bound for all others.
        problem = problem_of(costs, cells.reach, epsilon, self.minimise)
        exact = cells.width == 1  # nothing is rounded, so what holds for tables holds for all
        solution = solve(problem, self.tell, self.deadline.share(share), GAP if exact else ROUGH)
        if solution is None:
            return None
        bound = proved_bound(problem, solution.prices)
        if exact:
            self.limit = max(self.limit, bound)
        elif self._is_whole and cells.interpolated:
            self._bound_by_points(cells, bound)
        try:
            return TableKernel(repair(solution.table, cells.adjacent(self.setting.distance), epsilon))
        except InvalidParameter:  # rounding errors were too large
            return None

    def _try_widths(self) -> None:
        """Try cells that are as wide as is best where they are, and bound what is possible by the same widths."""
        found = mean_by_widths(self.setting, self.prior) if self._is_mean else worst_by_widths(self.setting)
        self.limit = max(self.limit, found.bound)
        for law in found.laws:
            self._offer(law)

    # What nothing is below.

    def _bound_by_program(self, reach: int, windows: int) -> None:
        points = self._lattice.width + 1
        if windows > 1 and not (self._is_whole and self._counts_alike):
            return
        if windows == 1 and reach in self._bounded:
            return
        size, distance = points // windows, self.setting.distance
        if self._is_mean:
            self._raise(grid_of(size, distance, reach), size, Fraction(windows * size, points))
        else:
            self._raise(grid_to_ends(size - 1, distance, reach), size)

    def _bound_by_points(self, cells: Cells, bound: float) -> None:
        """Use the program of points from end to end twice, if neighbours' answers are as many points apart."""
        # The bound is in units of the distance of points.  It holds for mechanisms on the lattice only if points so far
        # apart are neighbours there as well.
        spacing = self._lattice.width // (cells.rows - 1)
        if cells.reach * spacing <= self.setting.distance:
            self.limit = max(self.limit, spacing * bound)
            self._bounded.add(cells.reach)

    def _raise(self, grid: AnswerGrid, points: int | None = None, covered: Fraction = Fraction(1)) -> None:
        """Raise the limit to what holds on a grid, of windows of so many points that cover this share of all."""
        lattice, epsilon = self._lattice, self.setting.epsilon
        deadline = self.deadline.share(0.6)
        if self._is_mean:
            # Windows of equal size under a prior that counts all answers alike have one bound, so one of them is solved
            # for.
            prior = self.prior if points is None or points > lattice.width else self._window(points)
            bound = mean_bound(prior, grid, epsilon, self.tell, deadline)
        else:
            bound = worst_bound(lattice, grid, epsilon, self.tell, deadline)
        self.limit = max(self.limit, bound * float(covered))

    def _window(self, points: int) -> Prior:
        return Prior.uniform(self._lattice, self._lattice.first, self._lattice.first + points - 1)

    def _bound_by_tapers(self) -> None:
        distance = self.setting.distance
        times = -(-self._lattice.width // (TAPER_ROWS * distance))
        spacing = times * distance
        grid = AnswerGrid(spacing, self._lattice.width // spacing + 1, 1, times)
        if grid.rows > 1:
            bound = worst_bound_by_tapers(self._lattice, grid, self.setting.epsilon)
            self.limit = max(self.limit, bound)

    def _bound_by_coarse_grid(self, rows: int) -> None:
        """Bound the worst error by points that are neighbours of neighbours of neighbours."""
        times = -(-self._lattice.width // (rows * self.setting.distance))
        spacing = times * self.setting.distance
        self._raise(AnswerGrid(spacing, self._lattice.width // spacing + 1, 1, times))

    @cached_property
    def _is_whole(self) -> bool:
        return len(self._lattice) == 1

    @cached_property
    def _counts_alike(self) -> bool:
        return not self._is_mean or self.prior.is_uniform


def _parts(width: float, epsilon: float, minimise: Minimise) -> int:
    """Return of how many parts of a range, so many sensitivities wide, one is enough to bound an error."""
    noise = 1 / min(epsilon, 1.0)
    size = noise * (NARROW if minimise == "worst" and epsilon > LARGE_EPSILON else WIDE)
    return int(width // size) if width > WIDE * noise * 1.5 else 1


def _choices(lattice: Lattice, distance: int, reach: int) -> list[Cells]:
    """Return cells that fill the range alike, and cells that are narrower at its ends; an even number of them first."""
    # Wider cells waste some of epsilon, and narrow ones at the ends some of the symmetry; which of the two is better
    # depends on how well the width divides.
    narrow = rounded_cells(lattice.first, lattice.width, distance, reach)
    count = max((lattice.width + 1) // narrow.width, 1)
    wide = Cells(lattice.first, -(-(lattice.width + 1) // count), count, reach, interpolated=False)
    alike = wide.width <= narrow.width * (1 + 2 / max(count, 2) / 10)
    if not alike or wide.rows % 2:
        return [narrow, wide]
    return [wide, narrow]


def _near_possible(lattice: Lattice, points: NDArray[np.int64], width: int) -> NDArray[np.bool_]:
    return abs(lattice.nearest(np.clip(points, lattice.first, lattice.last)) - points) < width


def _mirror(costs: Floats) -> Floats:
    """Return costs that are their own mirror image to the last bit, if they are but for rounding errors."""
    mean = (costs + costs[::-1, ::-1]) / 2
    return mean if np.allclose(costs, mean, rtol=1e-9, atol=1e-9 * float(costs.max())) else costs
