"""The integer lattice behind some bounds: which multiples of the step are possible answers.

A mechanism computes with indices only: the index `k` stands for the value `offset + k * step`.  Spans become integer
intervals, shrunk inward, so that no index ever stands for an impossible value.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.bounds.guide import Guide
from inbounds.bounds.index_span import EVERY_INDEX, FAR, LIMIT, IndexSpan, ends_by_dtype, finite, within_64_bits
from inbounds.bounds.notation import as_answer
from inbounds.bounds.rounding import Rounding
from inbounds.bounds.times import Values
from inbounds.errors import LatticeTooFine
from inbounds.exact.rational import concise

if TYPE_CHECKING:
    from datetime import date, time

    from numpy.typing import NDArray

    from inbounds.bounds.bounds import Bounds

HOLDS = 2**50
"""Sums of four indices below this are doubles."""


@dataclass(frozen=True, eq=False)
class Lattice:
    """Disjoint integer intervals `lows[i]..highs[i]`, sorted, with at least one missing index between any two."""

    step: Fraction
    offset: Fraction
    lows: NDArray[np.int64]
    highs: NDArray[np.int64]
    ends_kept: bool
    """Whether every end next to an inner gap is itself a lattice point."""
    values: Values = "number"
    """What an index stands for."""

    def __post_init__(self) -> None:
        self.lows.flags.writeable = self.highs.flags.writeable = False  # a proof may rest on them

    @classmethod
    def of(cls, bounds: Bounds, step: Fraction) -> Lattice:
        """Put `bounds` on the lattice with this step: their own, or a fine one when they have none."""
        # Ends are rounded inward, so that no index stands for an impossible value.  Spans may touch after that.
        ratio = bounds.unit / step
        lows, highs = list(bounds.ends[0::2]), list(bounds.ends[1::2])
        low_indices = [-FAR if n is None else -(-n * ratio.numerator // ratio.denominator) for n in lows]
        high_indices = [FAR if n is None else n * ratio.numerator // ratio.denominator for n in highs]
        _refuse_too_fine(
            [i for n, i in zip(lows + highs, low_indices + high_indices, strict=True) if n is not None], step
        )
        ends_kept = all(n is None or n * ratio.numerator % ratio.denominator == 0 for n in lows[1:] + highs[:-1])
        return cls(
            step, bounds.offset, *_merge(np.array(low_indices), np.array(high_indices)), ends_kept, bounds.values
        )

    @classmethod
    def everywhere(cls, step: Fraction, offset: Fraction = Fraction(0)) -> Lattice:
        """Return the lattice of this step without ends."""
        return cls(step, offset, np.array([EVERY_INDEX.low]), np.array([EVERY_INDEX.high]), ends_kept=True)

    def __len__(self) -> int:
        return len(self.lows)

    @property
    def unbounded_below(self) -> bool:
        """Whether the first span has no lower end."""
        return bool(self.lows[0] == -FAR)

    @property
    def unbounded_above(self) -> bool:
        """Whether the last span has no upper end."""
        return bool(self.highs[-1] == FAR)

    @property
    def bounded(self) -> bool:
        """Whether there are finitely many possible values."""
        return not (self.unbounded_below or self.unbounded_above)

    @property
    def gaps(self) -> NDArray[np.int64]:
        """How many indices are missing between each span and the next."""
        return self.lows[1:] - self.highs[:-1] - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The distance between the ends of each span, FAR for the whole line."""
        if len(self) == 1 and self.unbounded_below and self.unbounded_above:
            return np.array([FAR])
        return self.highs - self.lows

    def below(self, indices: NDArray[np.int64], spans: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return how far each index is above the lower end of its span, FAR where there is none."""
        if not self.unbounded_below:
            return indices - self.lows[spans]
        return np.where(self.lows[spans] == -FAR, FAR, indices - self.lows[spans])

    def above(self, indices: NDArray[np.int64], spans: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return how far each index is below the upper end of its span, FAR where there is none."""
        if not self.unbounded_above:
            return self.highs[spans] - indices
        return np.where(self.highs[spans] == FAR, FAR, self.highs[spans] - indices)

    @property
    def points(self) -> int:
        """The number of possible values of a bounded lattice."""
        return sum((self.highs - self.lows + 1).tolist())

    def indices(self) -> list[int]:
        """Return the indices of all possible values of a bounded lattice, in rising order."""
        return [index for low, high in self.spans for index in range(low, high + 1)]

    @cached_property
    def spans(self) -> tuple[IndexSpan, ...]:
        """The spans in order."""
        return tuple(map(IndexSpan, self.lows.tolist(), self.highs.tolist()))

    @property
    def first(self) -> int:
        """The least index; a number below every index if there is none."""
        return self.spans[0].low

    @property
    def last(self) -> int:
        """The greatest index; a number above every index if there is none."""
        return self.spans[-1].high

    @property
    def least(self) -> int | None:
        """The least index, if there is one."""
        return None if self.unbounded_below else self.first

    @property
    def greatest(self) -> int | None:
        """The greatest index, if there is one."""
        return None if self.unbounded_above else self.last

    @property
    def width(self) -> int:
        """How many steps a bounded lattice reaches from its first index to its last."""
        return self.last - self.first

    @property
    def finite_ends(self) -> list[int]:
        """The ends that there are, each once, in rising order."""
        return sorted({end for span in self.spans for end in span if abs(end) != FAR})

    @property
    def reach(self) -> int:
        """How far the farthest end is from the index 0; 0 if there are no ends."""
        return int(np.abs(finite(np.concatenate([self.lows, self.highs]))).max(initial=0))

    @property
    def has_lows(self) -> NDArray[np.bool_]:
        """Whether each span has a lower end: all but the first have."""
        return self.lows != -FAR

    @property
    def has_highs(self) -> NDArray[np.bool_]:
        """Whether each span has an upper end: all but the last have."""
        return self.highs != FAR

    def clip(self, index: int) -> int:
        """Return the nearest index between the first and the last, which need not be feasible."""
        return min(max(index, self.limits[0][0]), self.limits[-1][1])

    @cached_property
    def low_list(self) -> tuple[int, ...]:
        """The lower ends as Python ints, for the draws of one value."""
        return tuple(self.lows.tolist())

    @cached_property
    def high_list(self) -> tuple[int, ...]:
        """The upper ends as Python ints."""
        return tuple(self.highs.tolist())

    @cached_property
    def rounding(self) -> Rounding:
        """What finds the index that is nearest to a value."""
        return Rounding(self.step, self.offset)

    def index(self, numerator: int, denominator: int) -> int:
        """Return the index nearest to the value `numerator / denominator`, the upper one of two."""
        return self.rounding.index(numerator, denominator)

    @cached_property
    def writing(self) -> tuple[int, int, int]:
        """The integers `(a, b, c)` with value of index k = (k * a + b) / c."""
        step, offset = self.step, self.offset
        common = step.denominator * offset.denominator
        scale = Fraction(common, 1)
        a, b = step * scale, offset * scale
        shared = math.gcd(a.numerator, b.numerator, common)
        return a.numerator // shared, b.numerator // shared, common // shared

    def value(self, index: int) -> Fraction:
        """Return the value that an index stands for."""
        return self.offset + index * self.step

    def between(self, low: Fraction, high: Fraction) -> IndexSpan:
        """Return the indices, possible or not, of the values from `low` to `high`."""
        first, last = -(-(low - self.offset) // self.step), (high - self.offset) // self.step
        return IndexSpan(within_64_bits(first), within_64_bits(last))

    def inside(self, low: int, high: int) -> tuple[Fraction, Fraction]:
        """Return the least and the greatest value of an index, possible or not, from `low` to `high`."""
        first, last = (low - self.offset) / self.step, (high - self.offset) / self.step
        return self.value(math.ceil(first)), self.value(math.floor(last))

    @property
    def is_dates(self) -> bool:
        """Whether an index is a day number."""
        return self.values == "day"

    def answer(self, index: int) -> int | Fraction | date | time:
        """Return what an index stands for as people write it: a day or a time, an int, or a fraction."""
        return as_answer(self.value(index), self.values)

    def place(self, index: int) -> float:
        """Return an index as a double, and an end for one beyond ±HOLDS: for lattices that doubles hold."""
        return float(index if -HOLDS < index < HOLDS else self.clip(index))

    def project(self, index: int) -> tuple[int, int]:
        """Return the feasible index nearest to `index` (the left one of two) and the number of its span."""
        span = bisect_right(self.starts, index)
        low, high = self.limits[span]
        nearest = index if index > low else low
        return nearest if nearest < high else high, span

    @cached_property
    def in_doubles(self) -> bool:
        """Whether the lattice has ends, and doubles hold the sums of some indices between them."""
        return self.bounded and max(abs(self.first), abs(self.last)) < HOLDS

    @cached_property
    def starts(self) -> list[int]:
        """The first index that is nearer to each span but the first than to the one before it."""
        starts: list[int] = (self.highs[:-1] + (self.lows[1:] - self.highs[:-1]) // 2 + 1).tolist()
        return starts

    @cached_property
    def limits(self) -> list[tuple[int, int]]:
        """The ends of each span; infinite doubles where there is no end, which nothing is nearest to."""
        return [(-math.inf if a == -FAR else a, math.inf if b == FAR else b) for a, b in self.spans]  # type: ignore[misc]

    @cached_property
    def ends(self) -> Mapping[np.dtype[Any], tuple[NDArray[Any], NDArray[Any]]]:
        """The lower and upper ends for indices held as int64 or as doubles; infinite doubles where there is no end."""
        return ends_by_dtype(self.lows, self.highs)

    def project_many(self, indices: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """`project` for an array: int64 within ±FAR, or doubles that hold integers."""
        lows, highs = self.ends[indices.dtype]
        if len(self) == 1:
            return np.clip(indices, lows[0], highs[0]), np.zeros(indices.shape, dtype=np.intp)
        spans = self._guide.count(indices) if indices.dtype == np.int64 else self._guide_of_doubles.count(indices)
        return np.clip(indices, lows.take(spans), highs.take(spans)), spans

    @cached_property
    def _guide(self) -> Guide:
        """What finds the span that is nearest to an index."""
        return Guide(np.array(self.starts, dtype=np.int64))

    @cached_property
    def _guide_of_doubles(self) -> Guide:
        return Guide(np.array(self.starts, dtype=np.float64))

    def nearest(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the feasible index nearest to each, by bisection: for once, and not for what is secret."""
        spans = np.searchsorted(self.starts, indices, side="right")
        return np.clip(indices, self.lows[spans], self.highs[spans])

    def farthest_within(self, indices: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
        """Return, for each feasible index, the farthest feasible one at most `|reach|` away on the side of its sign."""
        # The target itself, or if it is in a gap, the end of the last span on the way to it.
        target = indices + reach
        if reach >= 0:
            i = np.searchsorted(self.lows, target, side="right") - 1
            return np.minimum(target, self.highs[i])
        i = np.searchsorted(self.highs, target, side="left")
        return np.maximum(target, self.lows[i])

    def span_of(self, indices: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the number of the span that holds each feasible index."""
        return np.searchsorted(self.lows, indices, side="right") - 1

    def last_span(self, indices: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the number of the last span that begins at most at each index, of the first one if there is none."""
        return np.zeros(indices.shape, np.intp) if len(self.lows) == 1 else np.maximum(self.span_of(indices), 0)


def _merge(lows: NDArray[np.int64], highs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Join the spans between which no lattice point is missing."""
    if len(lows) == 1:
        return lows, highs
    apart = np.ones(len(lows) + 1, dtype=np.bool_)
    apart[1:-1] = lows[1:] - highs[:-1] > 1
    return lows[apart[:-1]], highs[apart[1:]]


def _refuse_too_fine(finite: list[int], step: Fraction) -> None:
    if finite and max(finite, key=abs) not in range(-LIMIT, LIMIT + 1):
        raise LatticeTooFine(
            f"the lattice of step {concise(step)} has ends 2**61 steps or more from zero, which needs more than 62 "
            "bits; give the bounds a larger step"
        )
