"""Searches on the lattice for many answers at once: the least index at which something that only becomes true is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[np.int64]
    Reached = Callable[[Indices], NDArray[np.bool_]]
    """Whether each search, one for each row, has reached what it seeks at these indices; once true, true ever after."""

WAYS = 63
"""Into how many parts less one a search is cut at each step: to look at so many indices costs little more than one."""

ELEMENTS = 2**14
"""Numbers to compute with at a time, where searches are many."""

FARTHEST = 2**63 - 2
"""No index is beyond this."""


def least(reached: Reached, low: Indices, high: Indices) -> Indices:
    """Return the smallest index from `low` on where `reached` holds, or `high` if it does not hold before."""
    # Not bisection: as many places at once as an array of moderate size holds, for what costs here is the call and not
    # the number of places.
    ways = max(1, min(WAYS, ELEMENTS // max(len(low), 1)))
    part = np.arange(1, ways + 1)
    low, high = low.copy(), high.copy()
    rows = np.arange(len(low))
    while (low < high).any():
        width: Indices = (high - low)[:, None]
        whole, rest = width // (ways + 1), width % (ways + 1)
        places = low[:, None] + whole * part + rest * part // (ways + 1)
        before = (~reached(places)).sum(1)
        low, high = (
            np.where(before > 0, places[rows, before - 1] + 1, low),
            np.where(before < ways, places[rows, np.minimum(before, ways - 1)], high),
        )
        low = np.minimum(low, high)
    return low


def least_from(reached: Reached, near: Indices, stride: int, first: int | None, last: int | None) -> Indices:
    """Return the smallest index from `first` to `last` where `reached` holds, or one above `last`; search from `near`.

    None is no end: then the search goes on in ever longer steps.
    """
    low = _until(lambda places: ~reached(places), near, -stride, first)
    high = _until(reached, near, stride, None if last is None else last + 1)
    return least(reached, low, high)


def _until(reached: Reached, near: Indices, stride: int, end: int | None) -> Indices:
    """Go from some indices in ever longer strides until `reached` holds, or to the end if there is one."""
    limit = (FARTHEST if stride > 0 else -FARTHEST) if end is None else end
    if end is not None:
        return np.full_like(near, end)
    places = near.copy()
    while True:
        going = ~reached(places[:, None])[:, 0] & (places != limit)
        if not going.any():
            return places
        room = (limit - places) if stride > 0 else (places - limit)  # may wrap only where there is room for any stride
        step = np.where((room < 0) | (room > abs(stride)), abs(stride), room)
        places = np.where(going, places + step * (1 if stride > 0 else -1), places)
        stride = max(-(2**60), min(2**60, 2 * stride))
