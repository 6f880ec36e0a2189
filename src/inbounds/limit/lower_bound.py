"""An error that no private mechanism is below, proved: by linear programming, or by a closed form for steps of one row.

Whatever mechanism there is on a range, look at it at true answers `spacing` steps apart only, for any of the possible
offsets: there it is a private table, whose releases can be rounded to the same points at random without making the mean
distance larger.  So its error is at least that of the best table, and the prices of the linear program bound that from
below (docs/mathematics.md, "No mechanism does better").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.prior import Prior
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.limit.cells.cell_distribution import CellDistribution
from inbounds.limit.cells.cells import Cells
from inbounds.limit.cells.kernel import ChainKernel
from inbounds.limit.cells.posterior import targets_of_chain
from inbounds.limit.program.column_generation import GAP, ROUGH, solve
from inbounds.limit.program.deadline import Deadline
from inbounds.limit.program.extreme_rays import Line
from inbounds.limit.program.linear_program import Prices, TableProblem
from inbounds.published.ghosh2009 import GeometricNoise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from inbounds.limit.goal import Minimise

    Floats = NDArray[np.float64]

    Tell = Callable[[str], None]

MOST_OFFSETS = 33
"""Offsets of a grid are put into fewer groups than this."""

TAPERS = (0.5, 2.0, 4.0, 8.0)
"""Over so many scales of the noise a prior rises from nothing at the ends of a range."""

ROUNDING = 2.0**-50
"""Relative room for the rounding errors of one entry of a sum."""


@dataclass(frozen=True)
class AnswerGrid:
    """True answers so many steps apart, as many for every offset, of which those `reach` apart are neighbours'."""

    spacing: int
    rows: int
    reach: int
    times: int = 1
    """Points that far apart are neighbours of neighbours, so many times over: there epsilon counts so many times."""


def grid_of(points: int, distance: int, reach: int) -> AnswerGrid:
    """Return the grid for so many consecutive points that leaves out the fewest of them."""
    plain = min(distance // reach, points)
    rows = -(-reach * points // distance)
    choices = [AnswerGrid(plain, points // plain, reach)]
    if rows <= points:
        choices.append(AnswerGrid(points // rows, rows, reach))
    return max(choices, key=lambda grid: (round(grid.spacing * grid.rows / points, 6), grid.spacing))


def grid_to_ends(width: int, distance: int, reach: int) -> AnswerGrid:
    """Return the grid from the first to the last index of a range, or nearly."""
    gaps = min(-(-reach * width // distance), width)
    return AnswerGrid(width // gaps, gaps + 1, reach)


def mean_bound(prior: Prior, grid: AnswerGrid, epsilon: Fraction, tell: Tell | None, deadline: Deadline) -> float:
    """Return an error in steps that no private mechanism is below on average over a prior."""
    # The mean is one over the offsets of the grid.  Where a row is possible for some offsets only, offsets are cut;
    # between two such cuts each row counts with the least density that any of them has there.
    weights = np.array(
        [
            prior.least_density(prior.lows[0] + grid.spacing * np.arange(grid.rows) + low, high - low) * (high - low)
            for low, high in pairwise(_offsets(prior, grid.spacing))
        ]
    )
    if grid.reach == 1:
        return grid.spacing * sum(_chain(part, grid.times * epsilon) for part in weights)
    total = weights.sum(axis=0)
    if grid.rows < 2 or not total.any():
        return 0.0
    problem = problem_of(distances(grid.rows) * total[:, None], grid.reach, epsilon, "mean")
    solution = solve(problem, tell, deadline, GAP if grid.spacing == 1 else ROUGH)
    if solution is None:
        return 0.0
    # One program serves all offsets: a row that is possible for half of them is worth half as much on the whole, and as
    # much as any other where it is possible.
    bounds = (_share_of_bound(problem, solution.prices, part, total) for part in weights)
    return grid.spacing * sum(max(bound, 0.0) for bound in bounds)


def _share_of_bound(problem: TableProblem, prices: Prices, weights: Floats, total: Floats) -> float:
    """Return what prices for all weights prove for a part of them."""
    share = np.divide(weights, total, out=np.full(len(total), float(weights.sum() / total.sum())), where=total > 0)
    part = replace(problem, costs=distances(len(total)) * weights[:, None], mirrored=False)
    return proved_bound(part, Prices(prices.rows * share, prices.errors))


def _offsets(prior: Prior, spacing: int) -> list[int]:
    """Return between which offsets of a grid the weights of its rows change, from the first to one past the last."""
    ends = np.concatenate([prior.lows, prior.highs + 1]) - prior.lows[0]
    cuts = np.unique(np.append(ends % spacing, [0, spacing]))
    if len(cuts) > MOST_OFFSETS:
        cuts = np.unique(np.arange(MOST_OFFSETS) * spacing // (MOST_OFFSETS - 1))
    return [int(cut) for cut in cuts]


def worst_bound_by_tapers(lattice: Lattice, grid: AnswerGrid, epsilon: Fraction) -> float:
    """Return an error in steps that no private mechanism is below for all possible answers, by a closed form.

    No worst error is below a mean one, whatever the prior.  Where the range is wide, priors that count answers near its
    ends less bring the two close to each other.
    """
    points = lattice.first + grid.spacing * np.arange(grid.rows)
    possible = lattice.nearest(points) == points
    from_ends = np.minimum(np.arange(grid.rows), np.arange(grid.rows)[::-1]) + 0.5
    scale = 1 / float(grid.times * epsilon)
    weights = [possible * np.minimum(from_ends / (taper * scale), 1.0) ** 2 for taper in TAPERS]
    return grid.spacing * max(_chain(prior / prior.sum(), grid.times * epsilon) for prior in weights)


def worst_bound(lattice: Lattice, grid: AnswerGrid, epsilon: Fraction, tell: Tell | None, deadline: Deadline) -> float:
    """Return an error in steps that no private mechanism is below for all possible answers."""
    points = lattice.first + grid.spacing * np.arange(grid.rows)
    costs = distances(grid.rows)
    costs[lattice.nearest(points) != points] = 0.0
    return grid.spacing * _solve(costs, grid, grid.times * epsilon, "worst", tell, deadline)


def distances(rows: int) -> Floats:
    """Return how far each row is from each other."""
    return abs(np.subtract.outer(np.arange(rows), np.arange(rows))).astype(float)


def _solve(
    costs: Floats, grid: AnswerGrid, epsilon: Fraction, minimise: Minimise, tell: Tell | None, deadline: Deadline
) -> float:
    if grid.rows < 2 or not costs.any():
        return 0.0
    problem = problem_of(costs, grid.reach, epsilon, minimise)
    solution = solve(problem, tell, deadline, GAP if grid.spacing == 1 else ROUGH)
    return 0.0 if solution is None else max(proved_bound(problem, solution.prices), 0.0)


def problem_of(costs: Floats, reach: int, epsilon: Fraction, minimise: Minimise) -> TableProblem:
    """Return the linear program for rows of which those up to `reach` apart are neighbours'."""
    first = np.maximum(np.arange(len(costs)) - reach, 0)
    mirrored = bool(np.array_equal(costs, costs[::-1, ::-1]))
    return TableProblem(Line(first, float(epsilon)), costs, minimise == "worst", mirrored)


def proved_bound(problem: TableProblem, prices: Prices) -> float:
    """Return what prices prove, less all that the rounding errors of doubles can have added."""
    bound, _ = problem.bound(prices)
    entries = abs(problem.costs) * prices.errors[:, None] + abs(prices.rows)[:, None]
    return bound - ROUNDING * len(problem.line) * float(entries.sum())


def _chain(weights: Floats, epsilon: Fraction) -> float:
    """Return the least error over rows with these weights where neighbours are one row apart.

    It is that of clamped geometric noise with the posterior median for each outcome (Ghosh, Roughgarden & Sundararajan
    2009): for every prior and every loss that grows with the distance.
    """
    if not weights.any() or len(weights) < 2:
        return 0.0
    rows = Lattice.of(Bounds(0, len(weights) - 1, step=1), Fraction(1))
    prior = Prior.of(weights.tolist(), Bounds(0, len(weights) - 1, step=1), rows)
    cells, kernel = (
        Cells(0, 1, len(weights), 1, interpolated=False),
        ChainKernel(len(weights), GeometricNoise(1, epsilon)),
    )
    law = CellDistribution(rows, cells, kernel, targets_of_chain(prior, cells, kernel))
    places = np.arange(len(weights))
    return float(weights @ law.error(places, np.zeros(len(weights)))) * (1 - ROUNDING * 64)
