"""The indices from one end to another, and what stands for an end that there is not."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LIMIT = 2**61 - 1
"""No finite end has an index beyond this: 62 bits with the sign."""

FAR = 3 * 2**61
"""Stands for an infinite end in the arrays of ends.  An end, half a gap and a sensitivity add up to at most this, and
this and a finite end are still within int64."""


class IndexSpan(NamedTuple):
    """All indices from `low` to `high`; where there is no end, a number beyond every index stands for it."""

    low: int
    high: int

    @property
    def has_low(self) -> bool:
        """Whether there is a least index."""
        return self.low != -FAR

    @property
    def has_high(self) -> bool:
        """Whether there is a greatest index."""
        return self.high != FAR

    @property
    def bounded(self) -> bool:
        """Whether it has both ends."""
        return self.has_low and self.has_high

    @property
    def is_everything(self) -> bool:
        """Whether it has neither end."""
        return not (self.has_low or self.has_high)

    def clip(self, index: int) -> int:
        """Return the nearest index that is in it."""
        if index < self.low and self.low != -FAR:  # no calls, so that every draw makes the same ones
            return self.low
        return self.high if index > self.high and self.high != FAR else index

    def below(self, index: int) -> int:
        """Return how far an index is above the lower end, FAR if there is none."""
        return index - self.low if self.low != -FAR else FAR

    def above(self, index: int) -> int:
        """Return how far an index is below the upper end, FAR if there is none."""
        return self.high - index if self.high != FAR else FAR

    def meets(self, other: IndexSpan) -> bool:
        """Return whether there is an index that is in both."""
        return max(self.low, other.low) <= min(self.high, other.high)


EVERY_INDEX = IndexSpan(-FAR, FAR)
"""The span without ends."""


def within_64_bits(index: int) -> int:
    """Return an index, or FAR on its side if it is farther: there all is alike, and int64 holds it."""
    return max(-FAR, min(FAR, index))


def finite(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return those of some ends that there are."""
    return ends[np.abs(ends) != FAR]


def ends_by_dtype(
    lows: NDArray[np.int64], highs: NDArray[np.int64]
) -> Mapping[np.dtype[Any], tuple[NDArray[Any], NDArray[Any]]]:
    """Return ends as they are, for indices of int64, and as doubles."""
    doubles = [np.where(np.abs(ends) == FAR, np.copysign(np.inf, ends), ends) for ends in (lows, highs)]
    for ends in doubles:
        ends.flags.writeable = False
    return MappingProxyType({np.dtype(np.int64): (lows, highs), np.dtype(np.float64): (doubles[0], doubles[1])})
