"""The nearest possible tree, exactly: curves go up from the leaves to the root, sums come down.

Let F(s) be the least cost of the part of the tree below a node whose sum is s, and G(l) the s that minimises
F(s) - l s: how much the part would like to hold at the price l for each unit.  G does not decrease and is made of
straight pieces:

- a leaf with a measurement y of weight w holds y + l / 2w, or its least value if that is more;
- a node holds what its children hold at one price m, H(m); with a measurement of its own, a price l offered to it is a
  price m = l - 2w (s - y) offered to them, so the corner (m, s) of H is the corner (m + 2w (s - y), s) of G;
- a known node holds what is known.

The root holds G(0), or what is known of it, or the greatest total if that is less.  The price at which the children of
a node hold its sum says what each of them holds.  A leaf makes one corner, so every level costs a sort of the leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.table.limits import GroupLimits
from inbounds.joint.table.tree import add_up

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.plan.facts import Facts
    from inbounds.joint.table.layout import Grouping
    from inbounds.joint.table.tree import Tree

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]


def project_tree(
    tree: Tree,
    measured: Mapping[Grouping, Floats],
    weights: Mapping[Grouping, float],
    facts: Facts,
    nonnegative: bool = True,
) -> Floats:
    """Return the cells nearest to the measurements of a tree's levels, among those that agree with the facts."""
    # Levels below the first measured one add nothing to the cost: the levels above are projected, and their sums shared
    # out below.  Weights are scaled to at most 1, which changes no cell and keeps prices in the range of the sums.
    limits = GroupLimits.of(tree, facts, nonnegative)
    scale = max((weights[level] for level in tree.levels if level in measured), default=1.0)
    levels = [
        _Level(
            limits.least[place].astype(np.float64),
            limits.is_fixed[place],
            measured[level].ravel().astype(np.float64) if level in measured else None,
            weights[level] / scale if level in measured else 0.0,
        )
        for place, level in enumerate(tree.levels)
    ]
    first = next((place for place, level in enumerate(levels) if level.values is not None), len(levels) - 1)
    above = levels[first:], tree.parents[first:]
    sums = _project_nonnegative(*above, facts.most) if nonnegative else _project_signed(*above, facts.most)
    for place in reversed(range(first)):
        sums = _share_out(sums, tree, limits, place)
    return sums.reshape(tree.layout.shape)


@dataclass(frozen=True, eq=False)
class _Level:
    """The nodes of a level: their least or fixed values, which are fixed, and their measurements if they have any."""

    least: Floats
    is_fixed: NDArray[np.bool_]
    values: Floats | None
    weight: float


def _share_out(sums: Floats, tree: Tree, limits: GroupLimits, place: int) -> Floats:
    """Share out sums among children of which nothing is measured: to each its least value, and then as it has cells."""
    parent = tree.parents[place]
    least, free = limits.least[place].astype(np.float64), _free_cells(tree, limits, place)
    rest = sums - add_up(least, parent, len(sums))
    cells = add_up(free, parent, len(sums))
    return least + free * (np.divide(rest, cells, out=np.zeros_like(rest), where=cells > 0))[parent]


def _free_cells(tree: Tree, limits: GroupLimits, place: int) -> Floats:
    """Return in how many cells each node of a level can have more than its least value."""
    free = (~limits.is_fixed[0]).astype(np.float64)
    for below in range(place):
        free = add_up(free, tree.parents[below], len(limits.is_fixed[below + 1]))
        free[limits.is_fixed[below + 1]] = 0.0
    return free


# Cells that may be negative: every curve is one straight line.


def _project_signed(levels: list[_Level], parents: tuple[Places, ...], most: int | None) -> Floats:
    """Return the sums of the first level's nodes; a line is what a node holds at the price 0, and how that grows."""
    # Up the tree the line of each node follows from the sum of its children's; down the tree the price at which the
    # children hold a node's sum says what each of them holds.
    lines: list[tuple[Floats, Floats]] = []
    totals: list[tuple[Floats, Floats]] = []
    for place, level in enumerate(levels):
        if place:
            count = len(level.least)
            at_zero, slope = (add_up(part, parents[place - 1], count) for part in lines[-1])
            totals.append((at_zero, slope))
            # A measurement of the node itself pulls its sum towards it, and makes it move less with the price from
            # above.
            stiffness = 1 + 2 * level.weight * slope
            pull = 0.0 if level.values is None else 2 * level.weight * (level.values - at_zero)
            line = at_zero + slope * pull / stiffness, slope / stiffness
        else:
            values = level.least if level.values is None else level.values
            line = values, np.full(len(values), 0.5 / level.weight if level.weight else 0.0)
        lines.append((np.where(level.is_fixed, level.least, line[0]), np.where(level.is_fixed, 0.0, line[1])))
    sums = lines[-1][0] if most is None else np.minimum(lines[-1][0], float(most))
    for place in reversed(range(len(levels) - 1)):
        (at_zero, slope), line = totals[place], lines[place]
        price = np.divide(sums - at_zero, slope, out=np.zeros_like(sums), where=slope > 0)
        sums = line[0] + line[1] * price[parents[place]]
    return sums


# Cells that are not negative.


@dataclass(frozen=True, eq=False)
class _Curves:
    """A curve for each node of a level: flat at `base`, then from each corner on a straight line.

    Corners are sorted by node and price; `slope` is that of the line that begins there, `held` what is held there.
    """

    base: Floats
    node: Places
    price: Floats
    held: Floats
    slope: Floats

    @classmethod
    def add_up(cls, below: _Curves, parent: Places, count: int) -> _Curves:
        """Return what nodes' children hold together."""
        # Merge the corners of all children, in the order of price: at each of them the slope changes by that child's
        # step.
        steps = np.diff(below.slope, prepend=0.0)
        firsts = _firsts(below.node)
        steps[firsts] = below.slope[firsts]
        node = parent[below.node]
        order = np.lexsort((below.price, node))
        node, price = node[order], below.price[order]
        starts = _firsts(node)
        slope = _running_sums(steps[order], starts)
        base = add_up(below.base, parent, count)
        gains = np.zeros_like(price)
        gains[1:] = slope[:-1] * np.diff(price)
        gains[starts] = 0.0
        return cls(base, node, price, base[node] + _running_sums(gains, starts), slope)

    def offer(self, level: _Level) -> _Curves:
        """Return what nodes hold that have measurements of their own, or are fixed."""
        price, slope = self.price, self.slope
        if level.values is not None:
            # The node pays for its own measurement as well, so a price from above must be higher to hold as much.
            price = price + 2 * level.weight * (self.held - level.values[self.node])
            slope = slope / (1 + 2 * level.weight * slope)
        free = ~level.is_fixed[self.node]
        base = np.where(level.is_fixed, level.least, self.base)
        return _Curves(base, self.node[free], price[free], self.held[free], slope[free])

    def at(self, price: Floats) -> tuple[Floats, Floats]:
        """Return what each node holds at its price, and how fast that grows."""
        corner, has_corner = self._last(self.price <= price[self.node], len(price))
        held, slope = self.base.copy(), np.zeros_like(self.base)
        slope[has_corner] = self.slope[corner]
        held[has_corner] = self.held[corner] + slope[has_corner] * (price[has_corner] - self.price[corner])
        return held, slope

    def price_of(self, sums: Floats) -> Floats:
        """Return the price at which each node holds its sum."""
        corner, has_corner = self._last(self.held <= sums[self.node], len(sums))
        price = np.full(len(sums), -np.inf)
        price[has_corner] = self.price[corner] + (sums[has_corner] - self.held[corner]) / self.slope[corner]
        return price

    def _last(self, reached: NDArray[np.bool_], count: int) -> tuple[Places, NDArray[np.bool_]]:
        """Return the last corner reached for each node that has reached one, and which have."""
        corners = np.bincount(self.node, reached, minlength=count).astype(np.intp)
        starts = np.searchsorted(self.node, np.arange(count))
        has_corner = corners > 0
        return (starts + corners - 1)[has_corner], has_corner


def _firsts(node: Places) -> Places:
    return np.flatnonzero(np.diff(node, prepend=-1))


def _running_sums(values: Floats, starts: Places) -> Floats:
    """Return running sums that begin anew at each start.

    Each run takes back the sum of the one before, so that rounding errors are as small as the sums of one run.
    """
    if not len(values):
        return values
    anew = values.copy()
    anew[starts[1:]] -= np.add.reduceat(values, starts)[:-1]
    return np.cumsum(anew)


def _project_nonnegative(levels: list[_Level], parents: tuple[Places, ...], most: int | None) -> Floats:
    """Return the sums of the first level's nodes."""
    # As for signed cells, with curves in place of lines: up the tree they are added up, down the tree they are read
    # off.
    curves = [_leaves(levels[0])]
    together = []
    for level, parent in zip(levels[1:], parents, strict=True):
        together.append(_Curves.add_up(curves[-1], parent, len(level.least)))
        curves.append(together[-1].offer(level))
    sums, _ = curves[-1].at(np.zeros(1))
    if most is not None:
        sums = np.minimum(sums, float(most))
    for place in reversed(range(len(parents))):
        parent = parents[place]
        held, slope = curves[place].at(together[place].price_of(sums)[parent])
        sums = _correct_sums(held, slope, curves[place].base, sums, parent)
    return sums


def _leaves(level: _Level) -> _Curves:
    free = np.flatnonzero(~level.is_fixed)
    if level.values is None:  # nothing is measured anywhere: the root holds as little as it can
        free = free[:0]
        return _Curves(level.least, free, np.zeros(0), np.zeros(0), np.zeros(0))
    least = level.least[free]
    price = 2 * level.weight * (least - level.values[free])
    return _Curves(level.least, free, price, least, np.full(len(free), 0.5 / level.weight))


def _correct_sums(held: Floats, slope: Floats, base: Floats, sums: Floats, parent: Places) -> Floats:
    """Return what children hold, with what rounding errors leave over shared out among those that can hold more."""
    over = sums - add_up(held, parent, len(sums))
    total = add_up(slope, parent, len(sums))
    step = np.divide(over, total, out=np.zeros_like(over), where=total > 0)
    return np.maximum(held + slope * step[parent], base)
