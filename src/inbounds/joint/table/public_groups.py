"""Which groups are public: given as such, or made of groups that are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.table.layout import Grouping
from inbounds.joint.table.tree import parents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.plan.facts import Facts

    Known = tuple[NDArray[np.int64], NDArray[np.bool_]]


def known_groups(facts: Facts, grouping: Grouping) -> Known:
    """Return what is known of a grouping, flattened: values, and for which groups they are known.

    A group is known if it was given, or if all groups of some finer grouping in it were.  What follows in other ways,
    such as the last of some parts of a known whole, is left to the projection.
    """
    layout, size = facts.layout, facts.layout.groups(grouping)
    values, known = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.bool_)
    for finer, (given, is_known) in facts.known.items():
        if layout.is_within(finer, grouping):
            flat, mask = given.ravel(), is_known.ravel()
            places = parents(layout, finer, grouping)
            whole = add_up((~mask).astype(np.int64), places, size) == 0
            values = np.where(whole & ~known, add_up(np.where(mask, flat, 0), places, size), values)
            known |= whole
    return values, known


def add_up(values: NDArray[np.int64], places: NDArray[np.intp], groups: int) -> NDArray[np.int64]:
    """Return the sums of whole numbers over the groups that they lie in, exactly."""
    sums = np.zeros(groups, dtype=np.int64)
    np.add.at(sums, places, values)
    return sums


def is_public(facts: Facts, grouping: Grouping) -> bool:
    """Return whether every group of a grouping is known."""
    return bool(known_groups(facts, grouping)[1].all())
