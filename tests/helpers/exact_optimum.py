"""Optima solved for once, and their laws in exact numbers, by another road than the package's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from inbounds import Bounds, Optimal
from inbounds.limit.cells.cell_law import CellLaw
from inbounds.limit.cells.cells import Cells
from inbounds.limit.cells.distance_kernel import DistanceKernel
from inbounds.limit.cells.kernel import TableKernel
from inbounds.limit.family_law import FamilyLaw
from inbounds.limit.goal import Minimise as Goal
from inbounds.limit.mixed_law import MixedLaw

Floats = NDArray[np.float64]
GOALS: tuple[Goal, ...] = ("mean", "worst")
WORDS = 2**64
PATIENT = 600
"""Seconds that no search in a test needs: so nothing depends on the clock."""

HALF = Fraction(1, 2)
INTERVAL = Bounds(0, 12, step=1)
ISLANDS = Bounds.union([(0, 5), (9, 9), (13, 17)], step=1)
HALVES = Bounds(HALF, 5, step=HALF, offset=0)
PAIR = Bounds.union([(0, 0), (7, 7)], step=1)
FORTNIGHT = Bounds.dates("2026-05-04", "2026-05-17", weekdays="Mon-Fri")
LATTICES = [INTERVAL, ISLANDS, HALVES, PAIR, FORTNIGHT]


@cache
def made(bounds: Bounds, sensitivity: Any, epsilon: Any, goal: Goal = "mean") -> Optimal:
    """Return an optimum, searched for once."""
    return Optimal(bounds, sensitivity, epsilon, minimise=goal, time_limit=PATIENT)


def error_of(mechanism: Any, goal: Goal) -> float:
    """Return the mean or the worst error."""
    return float(mechanism.mean_error() if goal == "mean" else mechanism.worst_error())


def spans(bounds: Bounds) -> list[tuple[int, int]]:
    """Return the spans in steps."""

    def steps(end: Any) -> int:
        return int(end.toordinal() if bounds.is_dates else (end - bounds.offset) / bounds.step)

    return [(steps(low), steps(high)) for low, high in bounds]


def indices(bounds: Bounds) -> list[int]:
    """Return the possible answers, counted in steps from zero or, dates, from the first day of the calendar."""
    return [k for low, high in spans(bounds) for k in range(low, high + 1)]


def answers_of(bounds: Bounds) -> list[int]:
    """Return everything that a true answer can be rounded to between the least and the greatest possible one."""
    points = indices(bounds)
    return list(range(points[0], points[-1] + 1))


def values(bounds: Bounds) -> list[Fraction]:
    """Return the possible answers as fractions; dates as the number of the day."""
    assert bounds.step is not None
    return [bounds.offset + k * bounds.step for k in indices(bounds)]


def points_of(bounds: Bounds) -> list[Any]:
    """Return the possible answers as such."""
    return [bounds.as_answer(value) for value in values(bounds)]


def spans_of(bounds: Bounds) -> list[tuple[Fraction, Fraction]]:
    """Return the spans as fractions."""
    assert bounds.step is not None
    return [(bounds.offset + low * bounds.step, bounds.offset + high * bounds.step) for low, high in spans(bounds)]


def neighbours(bounds: Bounds, sensitivity: Any) -> NDArray[np.bool_]:
    """Return which of these two neighbours can have: answers that are rounded so far apart are no farther."""
    assert bounds.step is not None
    apart = abs(np.subtract.outer(answers_of(bounds), answers_of(bounds)))
    return (apart > 0) & (apart <= min(math.ceil(Fraction(str(sensitivity)) / bounds.step), 10**9))


def exact_row(law: CellLaw, index: int) -> dict[int, int]:
    """Return how often each index is released for one index, of `WORDS` squared times: all words, counted.

    A word chooses between two rows where answers are moved to points, and another one the outcome.
    """
    if isinstance(law.kernel, DistanceKernel):
        row, _ = law.cells.row_and_share(index)
        found = dict.fromkeys(law.targets.tolist(), 0)
        for target, weight in zip(law.targets.tolist(), law.kernel.units(row), strict=True):
            found[target] += WORDS * weight
        return found
    assert isinstance(law.kernel, TableKernel)
    assert isinstance(law.cells, Cells)
    cells, weights = law.cells, law.kernel.table.weights
    row, past = divmod(index - cells.start, cells.width)
    # The next row is taken by words w with `past + (w * width >> 64) >= width`.
    up = WORDS - -(-(cells.width - past) * WORDS // cells.width) if cells.interpolated else 0
    found = dict.fromkeys(law.targets.tolist(), 0)
    for place, share in ((row, WORDS - up), (row + 1, up)):
        for target, weight in zip(law.targets.tolist(), weights[place] if share else (), strict=bool(share)):
            found[target] += share * weight
    return found


def exact_rows(found: Optimal) -> list[tuple[int, ...]]:
    """Return the exact weights of all possible releases, for everything that a true answer can be rounded to."""
    assert isinstance(found._law, CellLaw)
    listed = [exact_row(found._law, index) for index in answers_of(found.bounds)]
    return [tuple(row.get(point, 0) for point in indices(found.bounds)) for row in listed]


def below_exp(epsilon: Any) -> Fraction:
    """Return a fraction below exp(epsilon) by less than 1e-30 of it: the series, cut off."""
    power = Fraction(str(epsilon))
    return sum((power**k / math.factorial(k) for k in range(120)), Fraction(0))


def is_private(weights: Sequence[tuple[int, ...]], near: NDArray[np.bool_], epsilon: Any) -> bool:
    """Return whether no weight is above exp(epsilon) times one of its column in an adjacent row, in integers."""
    over, under = below_exp(epsilon).as_integer_ratio()
    pairs = [(weights[i], weights[j]) for i, j in zip(*np.nonzero(near), strict=True)]
    return all(a * under <= over * b for one, other in pairs for a, b in zip(one, other, strict=True))


def is_private_without_table(found: Optimal, sensitivity: Any, epsilon: Any) -> bool:
    """Return whether an optimum that is not a table is private: noise on rows, or noise of one scale."""
    law, near = found._law, neighbours(found.bounds, sensitivity)
    if isinstance(law, FamilyLaw):
        return is_private_family(law, near, epsilon)
    if isinstance(law, MixedLaw) or isinstance(law.kernel, DistanceKernel):
        parts = law.parts if isinstance(law, MixedLaw) else (law,)
        rows = [[exact_row(part, index) for part in parts] for index in answers_of(found.bounds)]
        sums = [tuple(sum(one.get(k, 0) for one in row) for k in indices(found.bounds)) for row in rows]
        return is_private(sums, near, epsilon)
    return is_private_chain(found, sensitivity)


def is_private_family(law: FamilyLaw, near: NDArray[np.bool_], epsilon: Any) -> bool:
    """Return whether no release is more than exp(epsilon) times as probable for a neighbour, to nine digits."""
    bounds = law.mechanism.bounds
    assert bounds.step is not None
    answers = [bounds.offset + index * bounds.step for index in answers_of(bounds)]
    chances = np.array([[law.mechanism.pmf(point, answer) for point in points_of(bounds)] for answer in answers])
    pairs = zip(*np.nonzero(near), strict=True)
    return all((chances[i] <= math.exp(float(epsilon)) * chances[j] * (1 + 1e-9) + 1e-300).all() for i, j in pairs)


def is_private_chain(found: Optimal, sensitivity: Any) -> bool:
    """Return whether neighbours' answers go to rows at most one apart, which geometric noise makes private."""
    cells = found._law.cells  # type: ignore[union-attr]
    assert isinstance(cells, Cells)
    assert not cells.interpolated
    rows = [(index - cells.start) // cells.width for index in answers_of(found.bounds)]
    apart = abs(np.subtract.outer(rows, rows))
    return 0 <= min(rows) <= max(rows) < cells.rows and int(apart[neighbours(found.bounds, sensitivity)].max()) <= 1


def chances_of(found: Optimal) -> Floats:
    """Return the probabilities of all releases for all possible true answers, as they are told."""
    points = points_of(found.bounds)
    return np.array([[found.pmf(k, answer) for k in points] for answer in points])


def errors_of(found: Optimal) -> Floats:
    """Return the errors for all possible true answers."""
    return np.array([found.error(answer) for answer in points_of(found.bounds)])


def least(bounds: Bounds, sensitivity: Any, epsilon: float, goal: Goal, prior: Floats) -> float:
    """Return the least error of any mechanism, in steps: every inequality written out, and solved by SciPy.

    A mechanism may do as it likes for answers in gaps; only errors for possible ones count.
    """
    answers, points = answers_of(bounds), indices(bounds)
    columns, size = len(points), len(answers) * len(points)
    limits = []
    for i, j in zip(*np.nonzero(neighbours(bounds, sensitivity)), strict=True):
        for column in range(columns):
            limit = np.zeros(size + 1)
            limit[i * columns + column], limit[j * columns + column] = 1, -math.exp(epsilon)
            limits.append(limit)
    objective, places = np.zeros(size + 1), [answers.index(point) for point in points]
    objective[-1] = goal == "worst"
    for place, point, weight in zip(places, points, prior, strict=True):
        costs = np.zeros(size + 1)
        costs[place * columns : (place + 1) * columns] = abs(np.array(points) - point)
        if goal == "worst":
            costs[-1] = -1
            limits.append(costs)
        else:
            objective += weight * costs
    sums = np.hstack([np.kron(np.eye(len(answers)), np.ones(columns)), np.zeros((len(answers), 1))])
    within = (np.array(limits), np.zeros(len(limits))) if limits else (None, None)
    closely = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = optimize.linprog(objective, *within, sums, np.ones(len(answers)), options=closely)
    assert found.status == 0
    return float(found.fun)
