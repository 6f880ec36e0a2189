"""A tree in whole numbers: from the root down, whole parts first, and then largest remainders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.table.limits import GroupLimits
from inbounds.joint.table.tree import Tree

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.plan.facts import Facts

NEAR = 1e-6
"""What is so near to a whole number is taken for it: the difference is a rounding error."""

DIGITS = 6
"""Remainders that agree in so many digits are taken for equal."""

GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it, without their whole parts, lie evenly however many there are: equal remainders are taken in their
order, so that sums over neighbours move by little as well."""


def snap(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values with those that are all but whole made whole."""
    whole = np.rint(values)
    return np.where(np.abs(values - whole) < NEAR, whole, values)


def round_tree(tree: Tree, cells: NDArray[np.float64], facts: Facts, nonnegative: bool = True) -> NDArray[np.int64]:
    """Return whole cells that agree with the facts; where the real ones do, no sum of a level moves by 1 or more."""
    # From the root down: the sum of a node is whole, and its children get their whole parts and then, one each, what is
    # left of the sum.  So no sum moves by 1 or more.
    limits = GroupLimits.of(tree, facts, nonnegative)
    sums = tree.sums(cells)
    whole = np.rint(sums[-1]).astype(np.int64)
    if nonnegative:
        whole = np.maximum(whole, limits.least[-1])
    if facts.most is not None:
        whole = np.minimum(whole, facts.most)
    whole = np.where(limits.is_fixed[-1], limits.least[-1], whole)
    for place in reversed(range(len(tree.parents))):
        least = limits.least[place] if nonnegative else np.full(len(limits.least[place]), -(1 << 60))
        low = np.maximum(np.floor(snap(sums[place])).astype(np.int64), least)
        low = np.where(limits.is_fixed[place], limits.least[place], low)
        room = np.where(limits.is_fixed[place], 0, low - least)
        whole = low + _changes(sums[place] - low, whole, low, room, ~limits.is_fixed[place], tree.parents[place])
    return whole.reshape(tree.layout.shape)


def _changes(
    remainders: NDArray[np.float64],
    sums: NDArray[np.int64],
    low: NDArray[np.int64],
    room: NDArray[np.int64],
    is_free: NDArray[np.bool_],
    parent: NDArray[np.intp],
) -> NDArray[np.int64]:
    """Return what to add to each child's whole part: one each to those of the largest remainders, of equal ones to some
    that lie evenly among them.

    Only where sums are not those of the real cells is there more to do: all free children get the same more, or those
    with room the same less, until nothing is left over.
    """
    left = sums.copy()
    np.subtract.at(left, parent, low)
    changes = np.zeros_like(low)
    while np.any(left):
        can = is_free & np.where(left[parent] > 0, True, changes + room > 0) & (left[parent] != 0)
        places = np.flatnonzero(can)
        if not len(places):
            break  # no table has these sums; what leaves is verified
        # Children of one parent together, those of the largest remainder first (of the smallest where there is too
        # much).
        above = parent[places]
        sign = np.sign(left[above])
        order = np.lexsort((places * GOLDEN % 1, -sign * np.round(remainders[places], DIGITS), above))
        places, above, sign = places[order], above[order], sign[order]
        first = np.searchsorted(above, above)
        count = np.searchsorted(above, above, side="right") - first
        each, more = np.divmod(np.abs(left[above]), count)
        step = each + (np.arange(len(above)) - first < more)
        step = np.where(sign < 0, np.minimum(step, (changes + room)[places]), step) * sign
        changes[places] += step
        np.subtract.at(left, above, step)
    return changes
