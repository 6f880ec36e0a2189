"""What public facts say about every group of a tree: which are fixed, and how small the others can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds.errors import InvalidParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.plan.facts import Facts
    from inbounds.joint.table.layout import Grouping, Layout
    from inbounds.joint.table.tree import Tree


@dataclass(frozen=True, eq=False)
class GroupLimits:
    """For each level of a tree, flat: the value of each fixed group, or the least value of one that is not fixed.

    Where cells may be negative there is no least value; then the entry is the sum of what is fixed in the group.  A
    group that is not fixed can be as large as one likes, so every value from its least on is possible.
    """

    least: tuple[NDArray[np.int64], ...]
    is_fixed: tuple[NDArray[np.bool_], ...]

    @classmethod
    def of(cls, tree: Tree, facts: Facts, nonnegative: bool) -> GroupLimits:
        """Go from the leaves to the root; raise `InvalidParameter` if facts on this tree contradict each other."""
        # A group of which all parts are fixed is fixed as well, and a known value of it must then be their sum.
        least: list[NDArray[np.int64]] = []
        is_fixed: list[NDArray[np.bool_]] = []
        for place, level in enumerate(tree.levels):
            groups = tree.layout.groups(level)
            below, all_fixed = np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=np.bool_)
            if place:
                np.add.at(below, tree.parents[place - 1], least[-1])
                all_fixed[:] = True
                all_fixed[tree.parents[place - 1][~is_fixed[-1]]] = False
            values, is_known = facts.flat(level)
            wrong = (values != below) & all_fixed
            if nonnegative:
                wrong |= values < below
            if np.any(wrong & is_known):
                raise _contradiction(tree.layout, level, facts)
            least.append(np.where(is_known, values, below))
            is_fixed.append(is_known | all_fixed)
        return cls(tuple(least), tuple(is_fixed))


def _contradiction(layout: Layout, level: Grouping, facts: Facts) -> InvalidParameter:
    finer = [
        str(layout.names(grouping))
        for grouping in facts.known
        if grouping != level and layout.is_within(grouping, level)
    ]
    within = " and ".join(finer) or "its cells"
    return InvalidParameter(
        f"known values must be possible together, got one of {layout.names(level)} that is not what {within} add up to"
        "; correct one of them, or leave it out"
    )
