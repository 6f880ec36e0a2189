"""A chain of groupings as a tree: the cells are its leaves, the total is its root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.table.layout import Grouping, Layout


@dataclass(frozen=True, eq=False)
class Tree:
    """The levels from the leaves to the root, and for each group of a level but the last its parent's number."""

    layout: Layout
    levels: tuple[Grouping, ...]
    parents: tuple[NDArray[np.intp], ...]

    @classmethod
    def of(cls, layout: Layout, chain: Sequence[Grouping]) -> Tree:
        """Return the tree of a chain; the cells and the total are added where they are missing."""
        inner = [grouping for grouping in chain if grouping not in (layout.finest, layout.total)]
        levels = tuple(dict.fromkeys((layout.finest, *inner, layout.total)))
        return cls(layout, levels, tuple(parents(layout, *pair) for pair in pairwise(levels)))

    def sums(self, cells: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the sums of each level's groups, flat."""
        sums = [cells.ravel()]
        for level, parent in zip(self.levels[1:], self.parents, strict=True):
            sums.append(add_up(sums[-1], parent, self.layout.groups(level)))
        return sums


def add_up(values: NDArray[np.float64], parent: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    """Return the sum of each parent's values, for so many parents."""
    return np.asarray(np.bincount(parent, values, minlength=count), dtype=np.float64)


def parents(layout: Layout, finer: Grouping, coarser: Grouping) -> NDArray[np.intp]:
    """Return for each group of a grouping the number of the group of a coarser one that it lies in."""
    numbers = np.empty(layout.groups(finer), dtype=np.intp)
    numbers[layout.group_of_cells(finer).ravel()] = layout.group_of_cells(coarser).ravel()
    return numbers
