"""Random tables with groupings, measurements and facts that are true of them; what is right, found in other ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from inbounds.joint.plan.facts import Facts
from inbounds.joint.table.axis import Axis, Level
from inbounds.joint.table.layout import Grouping, Layout

Generator = np.random.Generator


@dataclass(frozen=True, eq=False)
class Problem:
    """A true table, what is known of it and what was measured of it."""

    layout: Layout
    truth: NDArray[np.int64]
    facts: Facts
    measured: dict[Grouping, NDArray[np.float64]]
    weights: dict[Grouping, float]

    @property
    def groupings(self) -> tuple[Grouping, ...]:
        """What was measured or is known."""
        return tuple(dict.fromkeys((*self.measured, *self.facts.known)))


def random_axis(rng: Generator, name: int, size: int, depth: int) -> Axis:
    """Return an axis with up to so many levels above it, of parents of any sizes."""
    levels: list[Level] = []
    keys = np.arange(size)
    for level in range(int(rng.integers(0, depth + 1))):
        count = int(keys.max()) + 1
        if count == 1:
            break
        above = rng.integers(0, max(1, count // 2) + 1, count)
        keys = np.unique(above, return_inverse=True)[1][keys]
        levels.append(Level(f"{name}.{level}", tuple(keys.tolist())))
    return Axis(name, size, tuple(levels))


def random_layout(rng: Generator, axes: int, largest: int = 6, depth: int = 2) -> Layout:
    """Return a layout with so many axes."""
    return Layout(tuple(random_axis(rng, i, int(rng.integers(1, largest + 1)), depth) for i in range(axes)))


def all_groupings(layout: Layout) -> list[Grouping]:
    """Return every grouping of a layout."""
    return list(product(*((None, *range(len(axis.levels) + 1)) for axis in layout.axes)))


def random_chain(rng: Generator, layout: Layout) -> list[Grouping]:
    """Return groupings each of which lies in the next, from the cells to the total, some left out."""
    found = [layout.finest]
    while found[-1] != layout.total:
        here = list(found[-1])
        axis = int(rng.choice([i for i, level in enumerate(here) if level is not None]))
        level = here[axis]
        here[axis] = None if level is None or level == len(layout.axes[axis].levels) else level + 1
        found.append(tuple(here))
    return found


def random_problem(
    rng: Generator, layout: Layout, groupings: Sequence[Grouping], known: float = 0.3, signed: bool = False
) -> Problem:
    """Return a table, and for each grouping that it is measured or not, and what is known of it."""
    truth = rng.poisson(rng.choice([0.3, 3.0, 50.0]), layout.shape) * rng.integers(0, 2, layout.shape)
    if signed:
        truth = truth - rng.integers(0, 5, layout.shape)
    chosen = [g for g in groupings if rng.random() < 0.7] or [groupings[0]]
    scale = float(rng.choice([0.5, 5.0, 50.0]))
    measured = {g: layout.sum(truth, g) + rng.laplace(size=layout.sizes(g)) * scale for g in chosen}
    weights = {g: float(np.exp(rng.normal())) for g in chosen}
    facts = {}
    for g in groupings:
        if rng.random() < known:
            share = rng.choice([0.2, 0.6, 1.0])
            facts[g] = layout.sum(truth, g), rng.random(layout.sizes(g)) < share
    if rng.random() < known:
        share = rng.random(layout.shape) < 0.5
        facts[layout.finest] = truth, share & ((truth == 0) | rng.integers(0, 2, layout.shape).astype(bool))
    most = int(truth.sum() + rng.integers(0, 3)) if rng.random() < known and truth.sum() >= 0 else None
    arrays = {g: (np.asarray(v, dtype=np.int64), np.asarray(k)) for g, (v, k) in facts.items()}
    return Problem(layout, truth, Facts(layout, arrays, most), measured, weights)


def cost(problem: Problem, cells: NDArray[Any]) -> float:
    """Return the weighted squared distance of cells from the measurements."""
    return sum(
        problem.weights[g] * float(np.sum((problem.layout.sum(cells, g) - y) ** 2)) for g, y in problem.measured.items()
    )


def room_for_improvement(problem: Problem, cells: NDArray[np.float64], nonnegative: bool = True) -> float:
    """Return by how much at most a table nearby, that the facts allow, could cost less: 0 for the nearest one.

    The cost is convex, so it is at least its tangent; the tangent's least value is a linear program.
    """
    layout, reach = problem.layout, 10.0
    slope = np.zeros(layout.shape)
    for g, y in problem.measured.items():
        slope = slope + 2 * problem.weights[g] * layout.spread(layout.sum(cells, g) - y, g)
    rows, values = [], []
    for g, (known, is_known) in problem.facts.known.items():
        group = layout.group_of_cells(g).ravel()
        for place in np.flatnonzero(is_known.ravel()):
            rows.append(group == place)
            values.append(known.ravel()[place])
    equal = (np.array(rows, dtype=float), values) if rows else (None, None)
    most = problem.facts.most
    below = (np.ones((1, layout.cells)), [most]) if most is not None else (None, None)
    low = np.maximum(cells.ravel() - reach, 0) if nonnegative else cells.ravel() - reach
    found = scipy.optimize.linprog(
        slope.ravel(), below[0], below[1], equal[0], equal[1], np.stack([low, cells.ravel() + reach], 1)
    )
    assert found.status == 0, found.message
    return float(slope.ravel() @ cells.ravel() - found.fun)


def broken_facts(problem: Problem, cells: NDArray[Any], slack: float = 0.0, nonnegative: bool = True) -> list[str]:
    """Return what is not true of a table, found cell by cell and fact by fact without any of the library's sums."""
    layout, wrong = problem.layout, []
    sums: dict[Grouping, dict[tuple[int, ...], Any]] = {g: {} for g in problem.facts.known}
    total: Any = 0
    for place in product(*map(range, layout.shape)):
        value = cells[place].item()
        total += value
        if nonnegative and value < -slack:
            wrong.append(f"cell {place} is negative")
        for g, found in sums.items():
            pairs = zip(layout.axes, place, g, strict=True)
            key = tuple(axis.keys_at(level)[at] for axis, at, level in pairs if level is not None)
            found[key] = found.get(key, 0) + value
    for g, found in sums.items():
        values, is_known = problem.facts.known[g]
        wrong += [
            f"{g} {key}" for key, value in found.items() if is_known[key] and abs(value - values[key].item()) > slack
        ]
    if problem.facts.most is not None and total > problem.facts.most + slack:
        wrong.append("total")
    return wrong
