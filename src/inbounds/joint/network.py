"""Two chains of groupings as a network: down one, along the cells, up the other.

Every group is an arc that carries its sum; a table whose groups keep their bounds is a flow around the network, and if
there is one then there is one in whole numbers (Hoffman 1960).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.solvers import Bounds, greatest_flow
from inbounds.joint.tree import parents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.layout import Grouping, Layout


def meet(first: Grouping, second: Grouping) -> Grouping:
    """Return the coarsest grouping that tells apart what either does."""
    pairs = zip(first, second, strict=True)
    return tuple(one if two is None else two if one is None else min(one, two) for one, two in pairs)


def flow(
    layout: Layout, down: Sequence[Grouping], up: Sequence[Grouping], bounds: Mapping[Grouping, Bounds]
) -> NDArray[np.int64] | None:
    """Return whole sums of the meet of two chains with every group within its bounds; None if there are none.

    Chains go from fine to coarse, without the cells and the total; there are bounds for each of them, for their meet
    and for the total.  Bounds differ by less than 2^30, and so do all sums from the sums of lower bounds.
    """
    arcs = _Arcs()
    middle = meet(down[0], up[0])
    down_root, down_leaves = arcs.tree(layout, down, bounds, is_down=True)
    up_root, up_leaves = arcs.tree(layout, up, bounds, is_down=False)
    arcs.add(np.asarray([up_root]), np.asarray([down_root]), bounds[layout.total])
    crossing = arcs.add(
        down_leaves + parents(layout, middle, down[0]), up_leaves + parents(layout, middle, up[0]), bounds[middle]
    )
    found = arcs.circulation()
    return None if found is None else found[crossing]


@dataclass
class _Arcs:
    """Arcs with a least and a greatest flow."""

    nodes: int = 0
    tails: list[NDArray[np.intp]] = field(default_factory=list)
    heads: list[NDArray[np.intp]] = field(default_factory=list)
    bounds: list[Bounds] = field(default_factory=list)

    def add(self, tails: NDArray[np.intp], heads: NDArray[np.intp], bounds: Bounds) -> slice:
        """Add arcs, and return where they are."""
        start = sum(map(len, self.tails))
        self.tails.append(tails)
        self.heads.append(heads)
        self.bounds.append(bounds)
        return slice(start, start + len(tails))

    def tree(
        self, layout: Layout, chain: Sequence[Grouping], bounds: Mapping[Grouping, Bounds], is_down: bool
    ) -> tuple[int, int]:
        """Add the arcs of a chain below its root; return the root, and the first node of its finest grouping."""
        root = self.nodes
        starts = {layout.total: root}
        self.nodes += 1
        for coarser, finer in pairwise([layout.total, *reversed(chain)]):
            starts[finer] = self.nodes
            self.nodes += layout.groups(finer)
            above = starts[coarser] + parents(layout, finer, coarser)
            below = starts[finer] + np.arange(layout.groups(finer))
            self.add(above if is_down else below, below if is_down else above, bounds[finer])
        return root, starts[chain[0]]

    def circulation(self) -> NDArray[np.int64] | None:
        """Return a flow along each arc that gathers nowhere, or None: what must flow is sent around by new arcs."""
        tails, heads = np.concatenate(self.tails), np.concatenate(self.heads)
        lower, upper = (np.concatenate(side) for side in zip(*self.bounds, strict=True))
        if np.any(lower > upper):
            return None
        owed = np.zeros(self.nodes, dtype=np.int64)
        np.add.at(owed, heads, lower)
        np.subtract.at(owed, tails, lower)
        gets, gives = np.flatnonzero(owed > 0), np.flatnonzero(owed < 0)
        is_open = np.flatnonzero(upper > lower)
        source, sink = self.nodes, self.nodes + 1
        if not len(gets):
            return lower
        value, found = greatest_flow(
            np.concatenate([tails[is_open], np.full(len(gets), source), gives]),
            np.concatenate([heads[is_open], gets, np.full(len(gives), sink)]),
            np.concatenate([(upper - lower)[is_open], owed[gets], -owed[gives]]),
            source,
            sink,
        )
        if value != owed[gets].sum():
            return None
        lower[is_open] += found[: len(is_open)]
        return lower
