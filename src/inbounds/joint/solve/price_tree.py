"""Prices for the groups of one chain: what each cell pays, and which prices would settle the chain by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.table.tree import add_up, parents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.table.layout import Grouping, Layout

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PriceTree:
    """A chain from fine to coarse, without the cells; arrays of its groups are flat, level after level."""

    layout: Layout
    levels: tuple[Grouping, ...]
    parents: tuple[NDArray[np.intp], ...]
    places: tuple[slice, ...]

    @classmethod
    def of(cls, layout: Layout, chain: Sequence[Grouping]) -> PriceTree:
        """Return the tree of a chain, which need not have a root."""
        ends = list(accumulate(map(layout.groups, chain), initial=0))
        above = tuple(parents(layout, *pair) for pair in pairwise(chain))
        return cls(layout, tuple(chain), above, tuple(slice(*pair) for pair in pairwise(ends)))

    @property
    def groups(self) -> int:
        """How many groups all levels have."""
        return self.places[-1].stop

    def add_up(self, cells: Floats) -> Floats:
        """Return the sums of all groups."""
        sums = [np.asarray(self.layout.sum(cells, self.levels[0]), dtype=np.float64).ravel()]
        for parent, place in zip(self.parents, self.places[1:], strict=True):
            sums.append(add_up(sums[-1], parent, place.stop - place.start))
        return np.concatenate(sums)

    def spread(self, prices: Floats) -> Floats:
        """Return for each cell the sum of its groups' prices, in a shape that broadcasts to the cells."""
        paid = prices[self.places[-1]]
        for parent, place in zip(reversed(self.parents), reversed(self.places[:-1]), strict=True):
            paid = prices[place] + paid[parent]
        return self.layout.spread(paid.reshape(self.layout.sizes(self.levels[0])), self.levels[0])

    def settle(self, missing: Floats, give: Floats, is_bound: NDArray[np.bool_], free: Floats) -> Floats:
        """Return the prices at which nothing is missing in this chain, if `free` cells of each group hold all they pay.

        Let P be what the cells of a group pay to it and to all above it, of which Q is paid above it, and let its cells
        then hold a + b P.  With its own price P - Q, give · (P - Q) + a + b P = missing.  So P and what is held are
        linear in Q: up the tree go a and b, down the tree goes P.
        """
        # Up: each level's `P = line[0] + line[1] Q`, and from it the `a` and `b` of the level above.
        held = np.zeros(self.places[0].stop)
        slope = free[self.places[0]]
        lines = []
        for level, place in enumerate(self.places):
            total = give[place] + slope
            bound = is_bound[place] & (total > 0)
            safe = np.where(bound, total, 1.0)
            line = np.where(bound, (missing[place] - held) / safe, 0.0), np.where(bound, give[place] / safe, 1.0)
            lines.append(line)
            if level < len(self.parents):
                parent, count = self.parents[level], self.places[level + 1].stop - self.places[level + 1].start
                held, slope = add_up(held + slope * line[0], parent, count), add_up(slope * line[1], parent, count)
        # Down: what is paid above a group is known, and so is what it pays in all; the difference is its own price.
        paid = np.zeros(len(lines[-1][0]))
        prices = np.empty_like(missing)
        for level in reversed(range(len(lines))):
            above = paid[self.parents[level]] if level < len(self.parents) else paid
            paid = lines[level][0] + lines[level][1] * above
            prices[self.places[level]] = np.where(is_bound[self.places[level]], paid - above, 0.0)
        return prices
