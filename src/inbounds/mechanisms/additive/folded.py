"""Noise that is reflected at the ends: the probability of one release, and of at most or at least it.

Around a span from `l` to `h`, with the period `p = 2 (h - l)`, the integers that are reflected to `r` are `r + k p` and
`2 l - r + k p`, as far as they are nearest to this span.  So those that go to at most `r` are, for each `k`, what lies
from `2 l - r + k p` to `r + k p`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.distribution import apart
from inbounds.bounds.lattice import FAR
from inbounds.mechanisms.additive.ends import BEYOND, MOST_FOLDS, Ends
from inbounds.mechanisms.additive.noise import Noise

if TYPE_CHECKING:
    from inbounds.accuracy.distribution import Floats, Indices, Spans

ENDLESS = 2.0**70
"""A period beyond all reach, where a span has no end."""


@dataclass(frozen=True, eq=False)
class Around:
    """Centres of noise and what is around one span, as distances from the centres."""

    released: Floats
    low: Floats
    high: Floats
    first: Floats
    """The first integer that is nearest to this span."""
    last: Floats
    length: float


class Folded:
    """The law of reflected noise."""

    def __init__(self, noise: Noise, ends: Ends) -> None:
        self._noise, self._ends, self._lattice = noise, ends, ends.lattice

    def probability(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of a release."""
        spans = np.maximum(self._lattice.span_of(released), 0)
        possible = (released >= self._lattice.lows[spans]) & (released <= self._lattice.highs[spans])
        return np.where(possible, self._by_span(released, centres, spans, self._at), 0.0)

    def up_to(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of at most this release."""
        spans = self._lattice.span_of(released)
        known = np.maximum(spans, 0)
        released = np.minimum(released, self._lattice.highs[known])
        return np.where(spans < 0, 0.0, self._by_span(released, centres, known, self._up_to))

    def at_least(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of at least this release."""
        spans = np.searchsorted(self._lattice.highs, released)
        known = np.minimum(spans, len(self._lattice) - 1)
        released = np.maximum(released, self._lattice.lows[known])
        return np.where(spans == len(self._lattice), 0.0, self._by_span(released, centres, known, self._at_least))

    @np.errstate(under="ignore")
    def _by_span(self, released: Indices, centres: Indices, spans: Spans, found: Callable[[Around], Floats]) -> Floats:
        released, centres, spans = np.broadcast_arrays(released, centres, spans)
        results = np.empty(released.shape)
        for span in np.unique(spans).tolist():
            chosen = spans == span
            results[chosen] = found(self._around(span, released[chosen], centres[chosen]))
        return results

    def _around(self, span: int, released: Indices, centres: Indices) -> Around:
        low, high = self._lattice.low_list[span], self._lattice.high_list[span]
        first, last = self._ends.catchment(span)

        def off(index: int) -> Floats:
            if abs(index) >= FAR:
                return np.full(centres.shape, np.copysign(float(BEYOND), index))
            return apart(np.int64(index), centres)

        length = ENDLESS if -FAR in (low, -high) else float(high - low)
        return Around(apart(released, centres), off(low), off(high), off(first), off(last), length)

    def _at(self, around: Around) -> Floats:
        """Return the probability of a release in the span."""
        if around.length == 0:
            return self._mass(around, around.first, around.last)
        anchor = np.where(abs(around.low) == BEYOND, around.high, around.low)
        turns, far = self._turns(around, anchor)
        one = self._probable(around, around.released[:, None] + turns)
        other = self._probable(around, (2 * anchor - around.released)[:, None] + turns)
        at_low, at_high = around.released == around.low, around.released == around.high
        found = one.sum(1) + np.where(at_low | at_high, 0.0, other.sum(1))
        if far is None:
            return found
        # The last reflections that are followed end at an image of the upper end, half of which is counted as far.
        mass, low_edge, high_edge = far
        found = found + np.where(at_high, (low_edge - high_edge) / 2, 0.0)
        return found + mass * np.where(at_low | at_high, 1, 2) / (2 * around.length)

    def _up_to(self, around: Around) -> Floats:
        """Return the probability of at most a release in the span."""
        before = self._noise.at_least(1 - around.first)  # it is symmetric
        everything = before + self._mass(around, around.first, around.last)
        if around.length == 0:
            return everything
        if abs(around.low[:1]).tolist() == [float(BEYOND)]:  # the way up to the release, and what is reflected there
            inside = self._mass(around, around.first, around.released)
            if abs(around.high[:1]).tolist() != [float(BEYOND)]:
                beyond = np.maximum(2 * around.high - around.released, around.high + 1)
                inside = inside + self._mass(around, beyond, around.last)
            return np.minimum(inside, 1.0)
        inside = self._between(around, around.low, around.released - around.low)
        return np.where(around.released == around.high, everything, before + inside)

    def _at_least(self, around: Around) -> Floats:
        """Return the probability of at least a release in the span."""
        after = self._noise.at_least(around.last + 1)
        everything = after + self._mass(around, around.first, around.last)
        if around.length == 0:
            return everything
        if abs(around.high[:1]).tolist() == [float(BEYOND)]:
            inside = self._mass(around, around.released, around.last)
            if abs(around.low[:1]).tolist() != [float(BEYOND)]:
                beyond = np.minimum(2 * around.low - around.released, around.low - 1)
                inside = inside + self._mass(around, around.first, beyond)
            return np.minimum(inside, 1.0)
        inside = self._between(around, around.high, around.high - around.released)
        return np.where(around.released == around.low, everything, after + inside)

    def _between(self, around: Around, end: Floats, width: Floats) -> Floats:
        """Return the probability of all that goes to within so many steps of an end of the span."""
        turns, far = self._turns(around, end)
        first = np.maximum((end - width)[:, None] + turns, around.first[:, None])
        last = np.minimum((end + width)[:, None] + turns, around.last[:, None])
        found = self._noise.between(first, last)[0].sum(1)
        return found if far is None else found + far[0] * (2 * width + 1) / (2 * around.length)

    def _turns(self, around: Around, end: Floats) -> tuple[Floats, tuple[Floats, Floats, Floats] | None]:
        """Return the multiples of the period that are followed, around each centre; and what is farther, if anything.

        That is its probability, and those of the outermost integers that are followed: images of the other end.
        """
        period = 2 * around.length
        most = min(MOST_FOLDS // 2, int(self._noise.reach / period) + 2)
        near = np.zeros_like(end) if around.length == ENDLESS else np.rint(-end / period)
        turns = (near[:, None] + np.arange(-most, most + 1.0)) * period
        if most * period > self._noise.reach:
            return turns, None
        low_edge, high_edge = end + turns[:, 0] - around.length, end + turns[:, -1] + around.length
        edges = [self._probable(around, edge[:, None])[:, 0] for edge in (low_edge, high_edge)]
        mass = self._mass(around, around.first, low_edge - 1) + self._mass(around, high_edge + 1, around.last)
        return turns, (mass + (edges[0] + edges[1]) / 2, edges[0], edges[1])

    def _mass(self, around: Around, first: Floats, last: Floats) -> Floats:
        """Return the probability of all from one place to another that are nearest to the span."""
        return self._noise.between(np.maximum(first, around.first), np.minimum(last, around.last))[0]

    def _probable(self, around: Around, places: Floats) -> Floats:
        """Return the probability of places, none if they are not nearest to the span."""
        nearest = (places >= around.first[:, None]) & (places <= around.last[:, None])
        return np.where(nearest, self._noise.probability(places), 0.0)
