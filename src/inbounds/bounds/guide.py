"""Where numbers belong among sorted ones, by the same work for every number.

A bisection branches at every step, so that how long it takes depends on the numbers; and it takes long.  A guide table
(Chen & Asau 1974) divides the range into equal parts and says for each of them where to look.  In which part a number
is, is a rising function of it, rounding and all: so whatever is in another part need not be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTS = 4
"""Parts of the range for each of the sorted numbers, at first."""

MOST_PARTS = 2**16
"""No more parts than this, or PARTS for each number."""

MOST_COMPARISONS = 4
"""If more of the sorted numbers are in one part, they are found by bisection instead."""


class Guide:
    """Finds how many of some sorted numbers are at most another; both finite, in arrays of int64 or of float64."""

    def __init__(self, numbers: NDArray[Any]) -> None:
        self._numbers = numbers
        self._comparisons = 0
        if not len(numbers):
            return
        greatest = np.iinfo(np.int64).max if numbers.dtype == np.int64 else np.inf
        self._first = float(numbers[0])
        width = float(numbers[-1]) - self._first
        for parts in (1, PARTS * len(numbers), MOST_PARTS):
            self._per_width, self._last = (parts - 1) / width if width else 0.0, parts - 1.0
            per_part = np.bincount(self._part(numbers), minlength=parts)
            self._start = np.concatenate([[0], np.cumsum(per_part)[:-1]]).astype(np.intp)
            self._comparisons = int(per_part.max())
            if self._comparisons <= (2 if parts == 1 else 1):
                break
        self._padded = np.concatenate([numbers, np.full(self._comparisons, greatest, dtype=numbers.dtype)])

    def count(self, wanted: NDArray[Any]) -> NDArray[np.intp]:
        """Return how many of the sorted numbers are at most each wanted one."""
        if not 0 < self._comparisons <= MOST_COMPARISONS:
            return np.searchsorted(self._numbers, wanted, side="right")
        # A start from the table, and a fixed number of comparisons from there: the same work for every number, unlike a
        # bisection, whose branches take longer where they are hard to foresee.
        counts = self._start.take(self._part(wanted))
        for _ in range(self._comparisons):
            counts += self._padded.take(counts) <= wanted
        return counts

    @np.errstate(over="ignore", invalid="ignore")
    def _part(self, wanted: NDArray[Any]) -> NDArray[np.intp]:
        place = wanted - self._first
        place *= self._per_width
        np.fmax(place, 0.0, out=place)  # NaN is as good as least
        np.minimum(place, self._last, out=place)
        return place.astype(np.intp)
