"""Whole answers in 64 bits, where a column of a file can hold no others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice

if TYPE_CHECKING:
    from numpy.typing import NDArray


def are_int64(bounds: Bounds) -> bool:
    """Return whether every possible answer is a whole number, and every end is held by 64 bits."""
    if bounds.step is None or bounds.step.denominator != 1 or bounds.offset.denominator != 1:
        return False
    ends: list[Any] = [bounds.low, bounds.high]
    return all(abs(end) < 2**62 for end in ends if math.isfinite(end))


def as_int64(released: list[Any], bounds: Bounds) -> NDArray[np.int64]:
    """Return releases as integers; what 64 bits do not hold, as the last on the lattice that they do."""
    assert bounds.step is not None
    least, most = map(int, Lattice.of(bounds, bounds.step).inside(-(2**63), 2**63 - 1))
    return np.array([min(max(int(value), least), most) for value in released], dtype=np.int64)
