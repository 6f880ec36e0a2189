"""What happens to a noisy answer outside the bounds: it is left there, snapped to the nearest end, or folded in.

The field says that noise is clamped (snapped) or reflected (folded).  Each is a fixed map of the integers, so it is
post-processing and costs no privacy.  The map is linear on runs of integers; `pieces` lists these, which is all that
expected errors need.  What is reflected hundreds of times is not followed: it comes out anywhere in its span, all
places alike (docs/decisions/0023-far-reflections.md).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from inbounds.bounds.index_span import FAR
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.mechanisms.additive.far import Far

if TYPE_CHECKING:
    from numpy.typing import NDArray

EndsName = Literal["leave", "snap", "fold"]

BEYOND = 2**120
"""Farther than any index."""

MOST_FOLDS = 256
"""Reflections to follow on each side of a span, one piece for each; `far` says what goes farther."""


class Piece(NamedTuple):
    """A run of integers `y` on which the map is `intercept + slope * y`."""

    start: int
    stop: int
    slope: int
    intercept: int

    def within(self, first: int, last: int) -> Piece:
        """Return the part from `first` to `last`."""
        return self._replace(start=max(self.start, first), stop=min(self.stop, last))


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
        return _fold(index, self.lattice.low_list[span], self.lattice.high_list[span])

    def apply_many(self, indices: NDArray[Any]) -> NDArray[Any]:
        """`apply` for an array of int64, or of doubles that hold integers."""
        if self.name == "leave":
            return indices
        nearest, spans = self.lattice.project_many(indices)
        if self.name == "snap":
            return nearest
        lows, highs = (ends[spans] for ends in self.lattice.ends[indices.dtype])
        return _fold_many(indices, nearest, lows, highs)

    def pieces(self, first: int, last: int, centre: int | None = None) -> list[Piece]:
        """Return the runs that make up what goes from `first` to `last`, but for what is far.

        Reflections are followed beside their span, and beside a centre of noise in a gap, if one is given.
        """
        if self.name == "leave":
            return [Piece(first, last, 1, 0)]
        cut = self._snap_pieces if self.name == "snap" else self._fold_pieces
        pieces = (piece for span in self._spans(first, last) for piece in cut(span, first, last, centre))
        return [_clip(piece, first, last) for piece in pieces if _meets(piece, first, last)]

    def far(self, first: int, last: int, centre: int | None = None) -> list[Far]:
        """Return what lies from `first` to `last` and is reflected too often for `pieces`."""
        if self.name != "fold":
            return []
        candidates = (far for span in self._spans(first, last) for far in self._far(span, centre))
        return [far for far in candidates if far.start <= last and first <= far.stop]

    def _spans(self, first: int, last: int) -> range:
        """Return the spans that integers from `first` to `last` can go to, and perhaps a few more."""
        lows, highs = self.lattice.low_list, self.lattice.high_list
        return range(max(bisect_left(highs, first) - 1, 0), min(bisect_right(lows, last), len(lows) - 1) + 1)

    def images(self, index: int) -> tuple[int, int]:
        """Return the least and the greatest integer that are folded to one, of those between spans; else itself."""
        nearest, span = self.lattice.project(index)
        (low, high), (start, stop) = self._own(span), self.catchment(span)
        if low == high:
            return (index if start == -BEYOND else start), (index if stop == BEYOND else stop)
        # The images of an integer are `nearest + k period` and `2 low - nearest + k period`; of both families the one
        # that is nearest to the border of the catchment, from inside.
        period = 2 * (high - low)

        def least_from(begin: int) -> int:
            return begin + min((nearest - begin) % period, (2 * low - nearest - begin) % period)

        def greatest_to(end: int) -> int:
            return end - min((end - nearest) % period, (end - 2 * high + nearest) % period)

        least = nearest if -BEYOND in (start, low) else least_from(start)
        greatest = nearest if BEYOND in (stop, high) else greatest_to(stop)
        return least, greatest

    def images_of_ends(self, pieces: list[Piece]) -> list[int]:
        """Return which integers the pieces that are not constant send to an end of a span."""
        ends = self._all_ends
        images: list[int] = []
        for piece in pieces:
            if piece.slope:
                low, high = piece.intercept + piece.slope * piece.start, piece.intercept + piece.slope * piece.stop
                if piece.slope < 0:
                    low, high = high, low
                hit = ends[bisect_left(ends, low) : bisect_right(ends, high)]
                images.extend((end - piece.intercept) * piece.slope for end in hit)
        return images

    @cached_property
    def _all_ends(self) -> list[int]:
        return self.lattice.finite_ends

    def catchment(self, span: int) -> tuple[int, int]:
        """Return the first and the last integer that are nearest to a span."""
        lows, highs = self.lattice.low_list, self.lattice.high_list
        first = -BEYOND if span == 0 else highs[span - 1] + (lows[span] - highs[span - 1]) // 2 + 1
        last = BEYOND if span == len(lows) - 1 else highs[span] + (lows[span + 1] - highs[span]) // 2
        return first, last

    def _own(self, span: int) -> tuple[int, int]:
        own = self.lattice.spans[span]
        return (own.low if own.has_low else -BEYOND), (own.high if own.has_high else BEYOND)

    def _snap_pieces(self, span: int, _first: int, _last: int, _centre: int | None) -> Iterator[Piece]:
        (low, high), (start, stop) = self._own(span), self.catchment(span)
        yield Piece(low, high, 1, 0)
        yield Piece(start, low - 1, 0, low)
        yield Piece(high + 1, stop, 0, high)

    def _fold_pieces(self, span: int, first: int, last: int, centre: int | None) -> Iterator[Piece]:
        low, high = self._own(span)
        start, stop = self.catchment(span)
        yield Piece(low, high, 1, 0)
        if -BEYOND in (low, -high):  # one reflection is all there is
            if low != -BEYOND:
                yield Piece(start, low - 1, -1, 2 * low)
            if high != BEYOND:
                yield Piece(high + 1, stop, -1, 2 * high)
            return
        length = high - low
        if length == 0:
            yield Piece(start, low - 1, 0, low)
            yield Piece(high + 1, stop, 0, high)
            return
        # Reflection number `fold` is the span moved by `fold` lengths, turned around if the number is odd.  Only those
        # are made that meet the integers asked for.
        from_fold, to_fold = (max(first, start) - low) // length - 1, (min(last, stop) - low) // length + 1
        for run in self._followed_reflections(span, centre):
            for fold in range(max(run.start, from_fold), min(run.stop, to_fold + 1)):
                if fold:
                    yield self._piece_of_fold(low, length, fold).within(start, stop)
            # Where a run begins above the span, or ends below it, what is between it and the next is of neither.
            for edge in (*((run.start,) if run.start > 0 else ()), *((run.stop,) if run.stop < 0 else ())):
                place, end = low + edge * length, low if edge % 2 == 0 else high
                yield Piece(place, place, 1, end - place).within(start, stop)

    @staticmethod
    def _piece_of_fold(low: int, length: int, fold: int) -> Piece:
        """Return a reflection: the span itself is number 0, and each has `length` integers of its own."""
        begin = low + fold * length
        first, last = (begin + 1, begin + length) if fold > 0 else (begin, begin + length - 1)
        if fold % 2 == 0:
            return Piece(first, last, 1, -fold * length)
        return Piece(first, last, -1, low + length + begin)

    def _followed_reflections(self, span: int, centre: int | None) -> list[range]:
        """Return the numbers of the reflections of a span that are followed: beside it, and beside a centre."""
        low, high = self.lattice.low_list[span], self.lattice.high_list[span]
        own = range(-MOST_FOLDS, MOST_FOLDS + 1)
        start, stop = self.catchment(span)
        if centre is None or not start <= centre <= stop:
            return [own]
        there = (centre - low) // (high - low)
        other = range(there - MOST_FOLDS, there + MOST_FOLDS + 1)
        if other.start <= own.stop and own.start <= other.stop:
            return [range(min(own.start, other.start), max(own.stop, other.stop))]
        return [own, other] if own.stop < other.start else [other, own]

    def _far(self, span: int, centre: int | None) -> Iterator[Far]:
        """Yield what of the integers that are nearest to a span is not followed."""
        (low, high), (start, stop) = self._own(span), self.catchment(span)
        length = high - low
        if length == 0 or -BEYOND in (low, -high):
            return
        runs = self._followed_reflections(span, centre)
        edges = [edge for run in runs for edge in (run.start, run.stop)]
        for before, after in zip([None, *edges[1::2]], [*edges[0::2], None], strict=True):
            # The first and the last integer between what is followed; each is an image of an end, and counts half.
            first = None if before is None else low + before * length
            last = None if after is None else low + after * length
            halves = [
                (edge, low if number % 2 == 0 else high)
                for edge, number in ((first, before), (last, after))
                if edge is not None and number is not None and start <= edge <= stop
            ]
            begin, end = (start if first is None else first + 1), (stop if last is None else last - 1)
            far = Far(max(begin, start), min(end, stop), tuple(halves), low, high)
            if far.start <= far.stop:
                yield far


def _meets(piece: Piece, first: int, last: int) -> bool:
    return piece.start <= piece.stop and piece.start <= last and first <= piece.stop


def _clip(piece: Piece, first: int, last: int) -> Piece:
    """Return the part of a piece from `first` to `last`; nearly always all of it."""
    return piece if first <= piece.start and piece.stop <= last else piece.within(first, last)


def _fold(index: int, low: int, high: int) -> int:
    """Reflect an integer at the end it is beyond, again and again until it is between the ends."""
    if low == -FAR:
        return index if high == FAR else high - abs(index - high) if index > high else index
    if high == FAR:
        return low + abs(index - low)
    length = high - low
    if length == 0:
        return low
    # The map has the period `2 length`, within which it goes down to the lower end and up again: a triangle wave.
    turn = (index - low) % (2 * length)
    return low + length - abs(turn - length)


def _fold_many(indices: NDArray[Any], nearest: NDArray[Any], lows: NDArray[Any], highs: NDArray[Any]) -> NDArray[Any]:
    infinite = FAR if indices.dtype == np.int64 else np.inf
    once = 2 * nearest - indices  # all there is to do beside an infinite span
    finite = (lows != -infinite) & (highs != infinite)
    low = np.where(finite, lows, 0)
    length = np.where(finite, highs, 1) - low
    turn = np.mod(indices - low, 2 * np.maximum(length, 1))
    within = np.where(length == 0, low, low + length - abs(turn - length))
    return np.where(indices == nearest, indices, np.where(finite, within, once)).astype(indices.dtype)
