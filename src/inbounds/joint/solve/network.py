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

from inbounds.joint.solve.solvers import Bounds, greatest_flow
from inbounds.joint.table.tree import parents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.table.layout import Grouping, Layout


def meet(first: Grouping, second: Grouping) -> Grouping:
    """Return the coarsest grouping that tells apart what either does."""
    pairs = zip(first, second, strict=True)
    return tuple(level if other is None else other if level is None else min(level, other) for level, other in pairs)


def flow(
    layout: Layout,
    down: Sequence[Grouping],
    up: Sequence[Grouping],
    bounds: Mapping[Grouping, Bounds],
    near: NDArray[np.int64] | None = None,
) -> NDArray[np.int64] | None:
    """Return whole sums of the meet of two chains with every group within its bounds; None if there are none.

    Chains go from fine to coarse, without the cells and the total; there are bounds for each of them, for their meet
    and for the total.  Bounds differ by less than 2^30, and so do all sums from the sums of lower bounds.
    Of sums that are given to be near to, only those are changed that some path of changes needs.
    """
    # Sums as a circulation: from the total down one chain to its finest groups, across by the groups of the meet, and
    # up the other chain to the total again.  What enters a group leaves it, which says that its parts add up to it.
    arcs = _Arcs()
    middle = meet(down[0], up[0])
    start = {middle: _clip(bounds[middle][0] if near is None else near, bounds[middle])}
    for grouping in {*down, *up, layout.total} - {middle}:
        sums = np.zeros(layout.groups(grouping), dtype=np.int64)
        np.add.at(sums, parents(layout, middle, grouping), start[middle])
        start[grouping] = _clip(sums, bounds[grouping])
    arcs.bounds, arcs.start = bounds, start
    down_root, down_leaves = arcs.tree(layout, down, is_down=True)
    up_root, up_leaves = arcs.tree(layout, up, is_down=False)
    arcs.add(np.asarray([up_root]), np.asarray([down_root]), layout.total)
    crossing = arcs.add(
        down_leaves + parents(layout, middle, down[0]), up_leaves + parents(layout, middle, up[0]), middle
    )
    circulation = arcs.circulation()
    return None if circulation is None else circulation[crossing]


def _clip(values: NDArray[np.int64], bounds: Bounds) -> NDArray[np.int64]:
    return np.minimum(np.maximum(values, bounds[0]), bounds[1])


@dataclass
class _Arcs:
    """Arcs that carry the sums of groupings: between their bounds, and at the start what is given."""

    bounds: Mapping[Grouping, Bounds] = field(default_factory=dict)
    start: Mapping[Grouping, NDArray[np.int64]] = field(default_factory=dict)
    nodes: int = 0
    tails: list[NDArray[np.intp]] = field(default_factory=list)
    heads: list[NDArray[np.intp]] = field(default_factory=list)
    carried: list[Grouping] = field(default_factory=list)

    def add(self, tails: NDArray[np.intp], heads: NDArray[np.intp], grouping: Grouping) -> slice:
        """Add arcs for the groups of a grouping, and return where they are."""
        first = sum(map(len, self.tails))
        self.tails.append(tails)
        self.heads.append(heads)
        self.carried.append(grouping)
        return slice(first, first + len(tails))

    def tree(self, layout: Layout, chain: Sequence[Grouping], is_down: bool) -> tuple[int, int]:
        """Add the arcs of a chain below its root; return the root, and the first node of its finest grouping."""
        root = self.nodes
        starts = {layout.total: root}
        self.nodes += 1
        for coarser, finer in pairwise([layout.total, *reversed(chain)]):
            starts[finer] = self.nodes
            self.nodes += layout.groups(finer)
            above = starts[coarser] + parents(layout, finer, coarser)
            below = starts[finer] + np.arange(layout.groups(finer))
            self.add(above if is_down else below, below if is_down else above, finer)
        return root, starts[chain[0]]

    def circulation(self) -> NDArray[np.int64] | None:
        """Return a flow along each arc that gathers nowhere, or None.

        What gathers at the start is led off along arcs that can carry more, and against arcs that can carry less.
        """
        # 1. Start from what each arc carries; see in which nodes more comes in than goes out.
        # 2. Find the greatest flow of changes from those nodes to the others.
        # 3. If it takes off all that gathers, apply it; else there is no circulation within the bounds.
        tails, heads = np.concatenate(self.tails), np.concatenate(self.heads)
        lower, upper = (np.concatenate([self.bounds[g][side] for g in self.carried]) for side in (0, 1))
        carries = np.concatenate([self.start[g] for g in self.carried])
        if np.any(lower > upper):
            return None
        gathered = np.zeros(self.nodes, dtype=np.int64)
        np.add.at(gathered, heads, carries)
        np.subtract.at(gathered, tails, carries)
        full, short = np.flatnonzero(gathered > 0), np.flatnonzero(gathered < 0)
        if not len(full):
            return carries
        more, less = np.flatnonzero(upper > carries), np.flatnonzero(carries > lower)
        source, sink = self.nodes, self.nodes + 1
        value, flows = greatest_flow(
            np.concatenate([tails[more], heads[less], np.full(len(full), source), short]),
            np.concatenate([heads[more], tails[less], full, np.full(len(short), sink)]),
            np.concatenate([(upper - carries)[more], (carries - lower)[less], gathered[full], -gathered[short]]),
            source,
            sink,
        )
        if value != gathered[full].sum():
            return None
        carries[more] += flows[: len(more)]
        carries[less] -= flows[len(more) : len(more) + len(less)]
        return carries
