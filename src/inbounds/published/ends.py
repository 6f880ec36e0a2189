"""What happens to a noisy answer outside the bounds: it is left there, snapped to the nearest end, or folded in.

Each is a fixed map of the integers, so it is post-processing and costs no privacy.  The map is linear on runs of
integers; `pieces` lists these, which is all that expected errors need.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from inbounds.errors import InvalidParameter
from inbounds.lattice import FAR, Lattice
from inbounds.rational import shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

EndsName = Literal["leave", "snap", "fold"]

BEYOND = 2**120
"""Farther than any index."""

MOST_FOLDS = 4096
"""Reflections to follow on each side; what goes farther is left out of expected errors.  Noise needs more than this
only where it is over a hundred times as wide as the span, and releases are all but uniform."""


@dataclass(frozen=True)
class Piece:
    """A run of integers `y` on which the map is `intercept + slope * y`."""

    start: int
    stop: int
    slope: int
    intercept: int


@dataclass(frozen=True)
class Rest:
    """All integers from `start` on, downwards or upwards, that go to a span from `low` to `high`."""

    start: int
    sign: int
    low: int
    high: int


@dataclass(frozen=True, eq=False)
class Ends:
    """The map for one lattice."""

    name: EndsName
    lattice: Lattice

    @classmethod
    def of(cls, name: object, lattice: Lattice) -> Ends:
        """Check the name of a rule."""
        for known in get_args(EndsName):
            if isinstance(name, str) and name == known:
                return cls(known, lattice)
        raise InvalidParameter(f"ends must be 'leave', 'snap' or 'fold', got {shown(name)}")

    def apply(self, index: int) -> int:
        """Return where an integer goes."""
        if self.name == "leave":
            return index
        nearest, span = self.lattice.project(index)
        if self.name == "snap":
            return nearest
        return _folded(index, self.lattice.low_list[span], self.lattice.high_list[span])

    def apply_many(self, indices: NDArray[Any]) -> NDArray[Any]:
        """`apply` for an array of int64, or of doubles that hold integers."""
        if self.name == "leave":
            return indices
        nearest, spans = self.lattice.project_many(indices)
        if self.name == "snap":
            return nearest
        lows, highs = (ends[spans] for ends in self.lattice.ends[indices.dtype])
        return _folded_many(indices, nearest, lows, highs)

    def pieces(self, first: int, last: int) -> list[Piece]:
        """Return the runs that make up everything from `first` to `last`, or nearly so."""
        if self.name == "leave":
            return [Piece(first, last, 1, 0)]
        lows, highs = self.lattice.low_list, self.lattice.high_list
        begin = max(bisect_left(highs, first) - 1, 0)
        end = min(bisect_right(lows, last), len(lows) - 1)
        cut = self._snapped if self.name == "snap" else self._folds
        found = (piece for span in range(begin, end + 1) for piece in cut(span, first, last))
        clipped = (Piece(max(p.start, first), min(p.stop, last), p.slope, p.intercept) for p in found)
        return [piece for piece in clipped if piece.start <= piece.stop]

    def rests(self) -> list[Rest]:
        """Return what lies beyond the reflections that are followed, below and above: folded, it is all but uniform."""
        if self.name != "fold":
            return []
        found = []
        for span, sign in ((0, -1), (-1, 1)):
            low, high = self.lattice.low_list[span], self.lattice.high_list[span]
            if low != high and abs(end := (low if sign < 0 else high)) != FAR and -FAR not in (low, -high):
                found.append(Rest(end + sign * (MOST_FOLDS * (high - low) + 1), sign, low, high))
        return found

    def catchment(self, span: int) -> tuple[int, int]:
        """Return the first and the last integer that are nearest to a span."""
        lows, highs = self.lattice.low_list, self.lattice.high_list
        first = -BEYOND if span == 0 else highs[span - 1] + (lows[span] - highs[span - 1]) // 2 + 1
        last = BEYOND if span == len(lows) - 1 else highs[span] + (lows[span + 1] - highs[span]) // 2
        return first, last

    def _own(self, span: int) -> tuple[int, int]:
        low, high = self.lattice.low_list[span], self.lattice.high_list[span]
        return (-BEYOND if low == -FAR else low), (BEYOND if high == FAR else high)

    def _snapped(self, span: int, _first: int, _last: int) -> Iterator[Piece]:
        (low, high), (start, stop) = self._own(span), self.catchment(span)
        yield Piece(low, high, 1, 0)
        yield Piece(start, low - 1, 0, low)
        yield Piece(high + 1, stop, 0, high)

    def _folds(self, span: int, first: int, last: int) -> Iterator[Piece]:
        low, high = self._own(span)
        start, stop = self.catchment(span)
        start, stop = max(start, first), min(stop, last)
        yield Piece(low, high, 1, 0)
        length = high - low
        if length == 0:
            yield Piece(start, low - 1, 0, low)
            yield Piece(high + 1, stop, 0, high)
            return
        # Upwards the map reads 2 high - y, y - 2 length, 2 high + 2 length - y, ...; downwards likewise.
        for fold in range(min(MOST_FOLDS, -(-(stop - high) // length))):
            turns = 2 * length * ((fold + 1) // 2)
            intercept = 2 * high + turns if fold % 2 == 0 else -turns
            end = high + fold * length
            yield Piece(end + 1, min(end + length, stop), -1 if fold % 2 == 0 else 1, intercept)
        for fold in range(min(MOST_FOLDS, -(-(low - start) // length))):
            turns = 2 * length * ((fold + 1) // 2)
            intercept = 2 * low - turns if fold % 2 == 0 else turns
            end = low - fold * length
            yield Piece(max(end - length, start), end - 1, -1 if fold % 2 == 0 else 1, intercept)


def _folded(index: int, low: int, high: int) -> int:
    """Reflect an integer at the end it is beyond, again and again until it is between the ends."""
    if low == -FAR:
        return index if high == FAR else high - abs(index - high) if index > high else index
    if high == FAR:
        return low + abs(index - low)
    length = high - low
    if length == 0:
        return low
    turn = (index - low) % (2 * length)
    return low + length - abs(turn - length)


def _folded_many(indices: NDArray[Any], nearest: NDArray[Any], lows: NDArray[Any], highs: NDArray[Any]) -> NDArray[Any]:
    infinite = FAR if indices.dtype == np.int64 else np.inf
    once = 2 * nearest - indices  # all there is to do beside an infinite span
    finite = (lows != -infinite) & (highs != infinite)
    low = np.where(finite, lows, 0)
    length = np.where(finite, highs, 1) - low
    turn = np.mod(indices - low, 2 * np.maximum(length, 1))
    within = np.where(length == 0, low, low + length - abs(turn - length))
    return np.where(indices == nearest, indices, np.where(finite, within, once)).astype(indices.dtype)
