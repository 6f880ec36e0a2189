"""The nearest possible table for groupings of any kind, by prices for their groups.

Let the cells have measurements y of weight w, here 1/2.  A price for each unit in each group makes a cell want to hold
y + (the prices of its groups), or 0 if that is less, or what is known of it; and a group with a measurement of its own,
v of weight u, wants to hold v - price / 2u.  At the right prices what a group wants is what its cells hold.  What is
missing is the slope of a concave function of the prices that is quadratic in pieces, so Newton's method finds its top
in a few steps and then is exact; a step is a symmetric system, solved by conjugate gradients that only add up cells
and spread prices, and begin with what would settle each chain of groupings by itself.  There are as many prices as
groups, which is far fewer than there are cells.

Cells without measurements get some: where they were a step ago, until they stay there (the proximal point method).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.solve.price_tree import PriceTree
from inbounds.joint.table.chains import chains
from inbounds.limit.program.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.plan.facts import Facts
    from inbounds.joint.table.layout import Grouping, Layout

    Floats = NDArray[np.float64]

MISSING = 1e-7
"""A group may miss so much of a unit, or of the 10^-6th part of all there is, whichever is more."""

PULL = 0.1
"""How strongly cells without measurements are held where they were, beside the least weight of a measurement."""

STEADY = 1e-6
"""When cells without measurements stay where they were."""

MOST_STEPS = 200
MOST_TURNS = 400
MOST_ROUNDS = 60


def project_any(
    layout: Layout,
    measured: Mapping[Grouping, Floats],
    weights: Mapping[Grouping, float],
    facts: Facts,
    nonnegative: bool = True,
    deadline: Deadline = NEVER,
) -> Floats | None:
    """Return the cells nearest to the measurements among those that agree with the facts; None if it takes too long."""
    cells = _project(layout, measured, weights, facts, nonnegative, deadline)
    if cells is not None and facts.most is not None and cells.sum() > facts.most:
        # The cost is convex: where the greatest total is passed without it, it is met with it.
        capped = facts.with_known(layout.total, np.asarray(facts.most))
        return _project(layout, measured, weights, capped, nonnegative, deadline)
    return cells


def _project(
    layout: Layout,
    measured: Mapping[Grouping, Floats],
    weights: Mapping[Grouping, float],
    facts: Facts,
    nonnegative: bool,
    deadline: Deadline,
) -> Floats | None:
    # The dual needs a strictly convex cost in every cell.  Where cells are measured that is there from the start; else
    # a weak pull towards where they were gives it, and is moved along until it pulls no more (a proximal point method).
    finest = layout.finest
    if finest in measured:
        prices = _Prices.of(layout, measured, weights, facts, nonnegative)
        return prices.cells if prices.settle(deadline) else None
    pulled = {**weights, finest: PULL * min(weights.values(), default=1.0)}
    prices = _Prices.of(layout, {**measured, finest: np.zeros(layout.shape)}, pulled, facts, nonnegative)
    for _ in range(MOST_ROUNDS):
        if not prices.settle(deadline):
            return None
        if np.abs(prices.cells - prices.wanted).max() <= max(STEADY, 1e-12 * float(np.abs(prices.cells).max())):
            return prices.cells
        prices.wanted = prices.cells
        prices.look()
    return prices.cells


@dataclass(eq=False)
class _Prices:
    """The prices of all groups, one after the other, and what follows from them."""

    layout: Layout
    trees: list[PriceTree]
    wanted: Floats
    least: float
    fixed: tuple[Floats, NDArray[np.bool_]]
    values: Floats  # measured or known, for each group
    is_bound: NDArray[np.bool_]  # whether a group is either; the prices of others stay 0
    give: Floats  # how fast a group wants less as its price grows: 0 if it is known
    prices: Floats
    cells: Floats
    is_free: Floats
    missing: Floats

    @classmethod
    def of(
        cls,
        layout: Layout,
        measured: Mapping[Grouping, Floats],
        weights: Mapping[Grouping, float],
        facts: Facts,
        nonnegative: bool,
    ) -> _Prices:
        """Start with prices of 0."""
        # Each chain of groupings is a tree.  The groups of all trees are one vector, tree after tree and level after
        # level; the cells are no part of it, for what they hold follows from prices.
        groupings = {*measured, *facts.known} - {layout.finest}
        trees = [PriceTree.of(layout, chain) for chain in chains(layout, groupings)]
        values, is_bound, give = [], [], []
        for grouping in (level for tree in trees for level in tree.levels):
            known, is_known = facts.flat(grouping)
            is_measured = grouping in measured
            values.append(np.where(is_known, known, measured[grouping].ravel() if is_measured else 0.0))
            is_bound.append(is_known | is_measured)
            give.append(np.where(is_known, 0.0, weights[layout.finest] / weights[grouping] if is_measured else 0.0))
        fixed, is_fixed = facts.flat(layout.finest)
        prices = cls(
            layout,
            trees,
            measured[layout.finest].astype(np.float64),
            0.0 if nonnegative else -np.inf,
            (fixed.reshape(layout.shape).astype(np.float64), is_fixed.reshape(layout.shape)),
            np.concatenate([*values, np.zeros(0)]),
            np.concatenate([*is_bound, np.zeros(0, dtype=np.bool_)]),
            np.concatenate([*give, np.zeros(0)]),
            *(np.zeros(sum(map(len, values))), np.zeros(0), np.zeros(0), np.zeros(0)),
        )
        prices.look()
        return prices

    # From prices to cells and back.

    def spread(self, prices: Floats) -> Floats:
        """Return for each cell the sum of its groups' prices."""
        return sum((tree.spread(prices[place]) for tree, place in self._places()), np.zeros(()))

    def _places(self) -> Iterator[tuple[PriceTree, slice]]:
        start = 0
        for tree in self.trees:
            yield tree, slice(start, start + tree.groups)
            start += tree.groups

    def add_up(self, cells: Floats) -> Floats:
        """Return the sums of all groups."""
        return np.concatenate([*(tree.add_up(cells) for tree in self.trees), np.zeros(0)])

    def look(self) -> None:
        """Find what cells hold at these prices, which of them a small change of prices moves, and what is missing."""
        # A cell goes up by what it is paid, as far as it may: one at its least value or fixed does not move at all.
        self.cells = self.wanted + self.spread(self.prices)
        self.is_free = (~self.fixed[1] & (self.cells > self.least)).astype(np.float64)
        np.maximum(self.cells, self.least, out=self.cells)
        np.copyto(self.cells, self.fixed[0], where=self.fixed[1])
        self.missing = self.is_bound * (self.values - self.give * self.prices - self.add_up(self.cells))

    # Newton's method.

    def settle(self, deadline: Deadline) -> bool:
        """Move prices until nothing is missing; return whether that was reached."""
        changed = 1.0
        for _ in range(MOST_STEPS):
            if float(np.abs(self.missing).max(initial=0.0)) <= self._allowed:
                return True
            if deadline.passed:
                return False
            # While many cells still become free or cease to be, a rough step is as good as an exact one.
            was_free = self.is_free
            self._move(self._step(min(1e-2, changed), deadline))
            changed = float(np.mean(was_free != self.is_free))
        return False

    @property
    def _allowed(self) -> float:
        return MISSING * max(1.0, 1e-6 * float(np.abs(self.cells).sum()))

    def _step(self, precision: float, deadline: Deadline) -> Floats:
        """Return the change of prices that would settle everything if no cell began or ceased to be free."""
        # 1. Give every known group a little give, so that the system has one solution.
        # 2. Solve it by conjugate gradients.  A chain alone can be solved exactly, so that is the preconditioner.
        # 3. Stop when the step is as precise as asked for, or what is left is within what is allowed.
        count = self.add_up(self.is_free)
        # Known groups that share too few free cells have no step that settles all; with a little give, less as less is
        # missing, the step is long where nothing else holds it, up to where more cells are free.
        least = float(self.give.min(where=self.give > 0, initial=1.0))
        little = least * min(1e-5, 1e-3 * float(np.abs(self.missing).max()))
        give = self.give + (self.give == 0) * little
        step = np.zeros_like(give)
        left = self.missing
        toward = self._by_chains(left, give, count)
        direction = toward
        size = float(left @ toward)
        enough, enough_left = precision**2 * size, 0.2 * self._allowed
        for _ in range(MOST_TURNS):
            if size <= enough or float(np.abs(left).max()) <= enough_left or deadline.passed:
                break
            image = self.is_bound * (give * direction + self.add_up(self.is_free * self.spread(direction)))
            curvature = float(direction @ image)
            # Only rounding errors make it so: what was reached by then is used.
            if curvature <= 0:
                break
            length = size / curvature
            step = step + length * direction
            left = left - length * image
            toward = self._by_chains(left, give, count)
            size, before = float(left @ toward), size
            direction = toward + (size / before) * direction
        return step

    def _by_chains(self, missing: Floats, give: Floats, free: Floats) -> Floats:
        parts = (
            tree.settle(missing[place], give[place], self.is_bound[place], free[place])
            for tree, place in self._places()
        )
        return np.concatenate([*parts, np.zeros(0)])

    def _move(self, step: Floats) -> None:
        """Go along a step to where the slope along it is about 0; it falls all the way, from above 0."""
        # Lengthen until the slope is negative, then halve the bracket: the cost along the step is convex, and smooth
        # but for kinks where cells begin or cease to be free.
        start, slope = self.prices, float(self.missing @ step)
        low, high, length = 0.0, np.inf, 1.0
        for _ in range(40):
            self.prices = start + length * step
            self.look()
            now = float(self.missing @ step)
            if abs(now) <= 0.5 * slope:
                return
            low, high = (length, high) if now > 0 else (low, length)
            length = 2 * length if high == np.inf else (low + high) / 2
