"""Tables of counts, and the ways to make a table of what was measured of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.joint_peers import Measured
from inbounds import Bounds, recommend
from inbounds.joint.joint_release import JointRelease
from inbounds.joint.measured.measurements import Measurements, measure
from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.solve.projection import project
from inbounds.joint.solve.rounding import round_cells
from inbounds.joint.table.layout import Layout

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Axes = tuple[int, ...]

LIST: dict[Axes, str] = {(0,): "cells", (): "total"}
TREE: dict[Axes, str] = {(0, 1, 2): "leaves", (0, 1): "level 2", (0,): "level 1", (): "root"}
TABLE: dict[Axes, str] = {(0, 1): "cells", (0,): "rows", (1,): "columns", (): "total"}


def zipf(cells: int, rows: int, exponent: float) -> Counts:
    """Return counts that fall by Zipf's law, whole numbers of about so many rows."""
    odds = np.arange(1.0, cells + 1) ** -exponent
    return np.rint(rows * odds / odds.sum()).astype(np.int64)


def shuffled(counts: Counts, shape: tuple[int, ...]) -> Counts:
    """Return the counts in a table, the large ones anywhere; the same ones every time."""
    return np.random.default_rng(20260101).permutation(counts).reshape(shape)


@dataclass(frozen=True, eq=False)
class Case:
    """A table, what is asked of it, and the ways to divide epsilon; None stands for the default one."""

    title: str
    truth: Counts
    names: Mapping[Axes, str]
    """What is measured, from fine to coarse, and what each is called."""
    epsilon: Fraction
    splits: tuple[tuple[int, ...] | None, ...]
    """Percent for each of what is measured."""

    @cached_property
    def layout(self) -> Layout:
        """The plain axes of the table."""
        return Layout.plain(self.truth.shape)

    def plan(self, split: tuple[int, ...] | None) -> JointPlan:
        """Return how the table is measured."""
        return self.plan_of(None if split is None else [Fraction(percent, 100) for percent in split])

    def plan_of(self, parts: Sequence[Fraction] | None) -> JointPlan:
        """Return how the table is measured at these parts of epsilon, 0 for what is not measured."""
        groupings = [self.layout.grouping(axes) for axes in self.names]
        split = None
        if parts is not None:
            split = {grouping: self.epsilon * part for grouping, part in zip(groupings, parts, strict=True)}
        return JointPlan.of(
            self.layout,
            self.epsilon,
            groupings,
            sensitivity=Fraction(1),
            facts=Facts.none(self.layout),
            split=split,
        )

    def told(self, measured: Measurements) -> Measured:
        """Return what a peer is told: for each measured grouping its part of epsilon, and its values."""
        named = {self.layout.grouping(axes): axes for axes in self.names}
        return {named[g]: (float(part), measured.grains[g]) for g, part in measured.plan.split.items()}

    def sums(self, cells: NDArray[Any], axes: Axes) -> NDArray[Any]:
        """Return the sums of a grouping; in plain NumPy, apart from the library."""
        return np.asarray(np.sum(cells, axis=tuple(i for i in range(self.truth.ndim) if i not in axes)))

    def errors(self, cells: NDArray[Any]) -> list[float]:
        """Return how far off the groups of each grouping are on average."""
        return [float(np.abs(self.sums(cells - self.truth, axes)).mean()) for axes in self.names]


def cases() -> list[Case]:
    """Return all tables; trees and tables once with large cells anywhere, and once all of them in few groups."""
    lists = [
        Case(f"{cells:,} cells, epsilon {float(epsilon):g}", zipf(cells, 10_000, 1.5), LIST, epsilon, LIST_SPLITS)
        for epsilon in (Fraction(1), Fraction(1, 10))
        for cells in (200, 2000)
    ]
    tree, table = zipf(512, 1000, 1.2), zipf(2000, 5000, 1.2)
    one = Fraction(1)
    return [
        *lists,
        Case("A tree of 8 x 8 x 8, epsilon 1", shuffled(tree, (8, 8, 8)), TREE, one, TREE_SPLITS),
        Case("A tree of 8 x 8 x 8, large first, epsilon 1", tree.reshape(8, 8, 8), TREE, one, TREE_SPLITS),
        Case("A table of 50 x 40, epsilon 1", shuffled(table, (50, 40)), TABLE, one, SPLITS),
        Case("A table of 50 x 40, large first, epsilon 1", table.reshape(50, 40), TABLE, one, SPLITS),
    ]


LIST_SPLITS = None, (90, 10), (70, 30), (50, 50)
SPLITS = None, (25, 25, 25, 25), (60, 15, 15, 10)
TREE_SPLITS = None, (56, 21, 16, 7), (25, 25, 25, 25), (60, 15, 15, 10)

# Ways that spend everything on the cells.


def in_bounds(case: Case) -> Callable[[], Counts]:
    """Return how cells are released one by one, each in its bounds, as a question for cells alone is answered."""
    bounds = Bounds(0, None, step=1)
    best = recommend(bounds, 1, case.epsilon, guarantee="distance", even_timing=True, optimum=False).mechanism
    return lambda: np.asarray(best.release(case.truth), dtype=np.int64)


def unclamped(case: Case) -> Callable[[], Counts]:
    """Return how cells are released with plain noise."""
    layout = case.layout
    plan = JointPlan.of(layout, case.epsilon, [layout.finest], sensitivity=Fraction(1), facts=Facts.none(layout))
    return lambda: measure(plan, case.truth).grains[layout.finest]


# Ways to make a table of measured groupings.


def ours(measured: Measurements) -> Counts:
    """Ours: least squares, then the nearest possible table, then whole numbers."""
    return JointRelease.of(measured).cells


def nonnegative(measured: Measurements) -> Floats:
    """Non-negative least squares in one go: the cells are not negative, and not whole."""
    plan = measured.plan
    return project(plan.layout, measured.as_floats(), plan.weights, plan.facts).reshape(plan.layout.shape)


class LeastSquares:
    """Least squares as by Hay and others: right on average, and not possible; by one dense matrix."""

    def __init__(self, case: Case, plan: JointPlan) -> None:
        unit = np.eye(case.truth.size).reshape(-1, *case.truth.shape)
        rows, self._order = [], list(plan.split)
        for grouping in self._order:
            (axes,) = (axes for axes in case.names if case.layout.grouping(axes) == grouping)
            added = tuple(1 + i for i in range(case.truth.ndim) if i not in axes)
            rows.append(float(plan.split[grouping]) * unit.sum(axis=added).reshape(case.truth.size, -1).T)
        matrix = np.concatenate(rows)
        self._estimate = np.linalg.solve(matrix.T @ matrix, matrix.T)

    def __call__(self, measured: Measurements) -> Floats:
        """Return the estimate of the cells."""
        plan = measured.plan
        weighed = [float(plan.split[g]) * measured.grains[g].ravel() for g in self._order]
        return (self._estimate @ np.concatenate(weighed)).reshape(plan.layout.shape)


def top_down(measured: Measurements) -> Counts:
    """From the total down, as the Census did: each level as near to its measurement as the level above leaves it."""
    layout, grains = measured.plan.layout, measured.grains
    total = np.maximum(grains[layout.total].reshape(1), 0)
    margins = [grouping for grouping in grains if grouping not in (layout.finest, layout.total)]
    if len(margins) == 2 and not layout.is_within(*margins) and not layout.is_within(*reversed(margins)):
        facts = Facts.none(layout)
        for grouping in margins:
            facts = facts.with_known(grouping, shared_out(grains[grouping], total))
        finest = {layout.finest: grains[layout.finest].astype(np.float64)}
        cells = project(layout, finest, {layout.finest: 1.0}, facts).reshape(layout.shape)
        return round_cells(layout, cells, margins, facts).cells
    above = total
    for grouping in reversed(list(grains)):
        above = shared_out(grains[grouping], above)
    return above.reshape(layout.shape)


def shared_out(values: Counts, totals: Counts) -> Counts:
    """Return whole numbers that add up to each total in turn, as near to the values as non-negative ones can be."""
    rows = [_shared_out(row, total) for row, total in zip(values.reshape(len(totals), -1), totals, strict=True)]
    return np.concatenate(rows)


def _shared_out(values: Counts, total: np.int64) -> Counts:
    falling = np.sort(values)[::-1]
    surplus = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    taken = surplus[np.flatnonzero(falling - surplus > 0)[-1]] if total > 0 else falling[0]
    near = np.maximum(values - taken, 0.0)
    whole = np.floor(near).astype(np.int64)
    left = int(total - whole.sum())
    whole[np.argsort(whole - near, kind="stable")[:left]] += 1
    return whole
