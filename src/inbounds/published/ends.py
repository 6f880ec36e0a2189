"""What happens to a noisy answer outside the bounds: it is left there, snapped to the nearest end, or folded in.

Each is a fixed map of the integers, so it is post-processing and costs no privacy.  The map is linear on runs of
integers; `pieces` lists these, which is all that expected errors need.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from inbounds.bounds.lattice import FAR, Lattice
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.published.rest import Rest

if TYPE_CHECKING:
    from numpy.typing import NDArray

EndsName = Literal["leave", "snap", "fold"]

BEYOND = 2**120
"""Farther than any index."""

MOST_FOLDS = 128
"""Reflections to follow on each side of a span, one piece for each; `rests` says what goes farther."""


class Piece(NamedTuple):
    """A run of integers `y` on which the map is `intercept + slope * y`."""

    start: int
    stop: int
    slope: int
    intercept: int


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
        raise InvalidParameter(
            f"ends must be 'leave', 'snap' or 'fold', got {shown(name)}; take 'snap' or 'fold' to stay in the bounds"
        )

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
        return [_clipped(piece, first, last) for piece in found if _meets(piece, first, last)]

    def rests(self, first: int, last: int) -> list[Rest]:
        """Return what lies from `first` to `last` or beyond, and is folded too often for `pieces`."""
        if self.name != "fold":
            return []
        return [rest for rest in self._rests if rest.start <= last and first <= rest.stop]

    @cached_property
    def _rests(self) -> list[Rest]:
        found = []
        for span, (low, high) in enumerate(zip(self.lattice.low_list, self.lattice.high_list, strict=True)):
            (start, stop), followed = self.catchment(span), MOST_FOLDS * (high - low)
            if low != high and -FAR not in (low, -high):
                found += [Rest(start, low - followed - 1, low, high), Rest(high + followed + 1, stop, low, high)]
        return [rest for rest in found if rest.start <= rest.stop]

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


def _meets(piece: Piece, first: int, last: int) -> bool:
    return piece.start <= piece.stop and piece.start <= last and first <= piece.stop


def _clipped(piece: Piece, first: int, last: int) -> Piece:
    """Return the part of a piece from `first` to `last`; nearly always all of it."""
    if first <= piece.start and piece.stop <= last:
        return piece
    return Piece(max(piece.start, first), min(piece.stop, last), piece.slope, piece.intercept)


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
