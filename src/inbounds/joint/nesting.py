"""From a finer grouping to a coarser one that it lies within."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.axis import Axis
from inbounds.joint.layout import Grouping, Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.intp]
    Whole = NDArray[np.int64]


def parents(layout: Layout, finer: Grouping, coarser: Grouping) -> Places:
    """Return for each group of a finer grouping, flattened, the number of the coarser group that it lies in."""
    sizes = layout.sizes(finer)
    found = np.zeros(sizes, dtype=np.intp)
    stride, place = 1, len(sizes)
    for axis, here, there in reversed(list(zip(layout.axes, finer, coarser, strict=True))):
        place -= here is not None
        if here is None or there is None:
            continue
        shape = [1] * len(sizes)
        shape[place] = sizes[place]
        found += stride * _keys(axis, here, there).reshape(shape)
        stride *= axis.size_of(there)
    return found.ravel()


def added_up(values: Whole, places: Places, groups: int) -> Whole:
    """Return the exact sums of flattened values over the coarser groups that they lie in."""
    found = np.zeros(groups, dtype=np.int64)
    np.add.at(found, places, values)
    return found


def in_a_chain(layout: Layout, groupings: list[Grouping]) -> list[Grouping] | None:
    """Return groupings from the finest to the coarsest if each lies within the next, else None."""
    ordered = sorted(set(groupings), key=lambda grouping: _order(layout, grouping))
    nested = all(layout.is_within(*pair) for pair in zip(ordered, ordered[1:], strict=False))
    return ordered if nested else None


def _order(layout: Layout, grouping: Grouping) -> tuple[int, ...]:
    """Return what is less for a finer grouping, levels with as many keys as the axis included."""
    told = tuple(len(axis.levels) + 1 if level is None else level for axis, level in _levels(layout, grouping))
    return (-layout.groups(grouping), *told)


def _levels(layout: Layout, grouping: Grouping) -> list[tuple[Axis, int | None]]:
    return list(zip(layout.axes, grouping, strict=True))


def _keys(axis: Axis, finer: int, coarser: int) -> Places:
    """Return the key at a coarser level for each key at a finer one."""
    found = np.empty(axis.size_of(finer), dtype=np.intp)
    found[np.asarray(axis.keys_at(finer))] = np.asarray(axis.keys_at(coarser))
    return found
