"""Noise that is reflected at the ends: the probability of one release, and of at most or at least it.

Around a span from `l` to `h`, with the period `p = 2 (h - l)`, the integers that are reflected to `r` are `r + k p` and
`2 l - r + k p`, as far as they are nearest to this span.  So those that go to at most `r` are, for each `k`, what lies
from `2 l - r + k p` to `r + k p`.

Near the centre of the noise each `k` is followed.  Farther out, an image stands for the period around it: the noise is
summed there as by the midpoint rule, which is right to second order (docs/decisions/0023-far-reflections.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.distribution import apart
from inbounds.bounds.index_span import FAR
from inbounds.mechanisms.additive.ends import BEYOND, Ends
from inbounds.mechanisms.additive.noise import Noise

if TYPE_CHECKING:
    from inbounds.accuracy.distribution import Floats, Indices, Spans

ENDLESS = 2.0**70
"""A period beyond all reach, where a span has no end."""

MOST_TURNS, MOST_ON_STAIRS = 128, 4096
"""Periods to follow on each side of a centre: where noise falls smoothly, and where it has stairs, which may be in step
with the periods."""

ELEMENTS = 2**19
"""Numbers to compute with at a time."""


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
        spans = self._lattice.last_span(released)
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
    def _by_span(
        self, released: Indices, centres: Indices, spans: Spans, evaluate: Callable[[Around], Floats]
    ) -> Floats:
        released, centres, spans = np.broadcast_arrays(released, centres, spans)
        results = np.empty(released.shape)
        for span in np.unique(spans).tolist():
            chosen = np.flatnonzero(spans.ravel() == span)
            each = 2 * self._most(float(self._lattice.lengths[span])) + 1
            for part in np.array_split(chosen, -(-len(chosen) * each // ELEMENTS)):
                around = self._around(span, released.ravel()[part], centres.ravel()[part])
                results.ravel()[part] = evaluate(around)
        return results

    def _around(self, span: int, released: Indices, centres: Indices) -> Around:
        low, high = self._lattice.low_list[span], self._lattice.high_list[span]
        first, last = self._ends.catchment(span)

        def off(index: int) -> Floats:
            if abs(index) >= FAR:
                return np.full(centres.shape, np.copysign(float(BEYOND), index))
            return apart(np.int64(index), centres)

        length = float(high - low) if self._lattice.spans[span].bounded else ENDLESS
        return Around(apart(released, centres), off(low), off(high), off(first), off(last), length)

    def _at(self, around: Around) -> Floats:
        """Return the probability of a release in the span."""
        if around.length == 0:
            return self._mass(around, around.first, around.last)
        anchor = np.where(abs(around.low) == BEYOND, around.high, around.low)
        turns = self._turns(around, anchor)
        direct = self._images(around, around.released, turns)
        mirrored = self._images(around, 2 * anchor - around.released, turns)
        at_an_end = (around.released == around.low) | (around.released == around.high)
        return direct + np.where(at_an_end, 0.0, mirrored)

    def _images(self, around: Around, place: Floats, turns: Floats) -> Floats:
        """Return the probability of a place and of all that are periods away from it and nearest to the span."""
        places = place[:, None] + turns
        nearest = (places >= around.first[:, None]) & (places <= around.last[:, None])
        probability = np.where(nearest, self._noise.probability(places), 0.0).sum(1)
        period = 2 * around.length
        if self._reaches(around.length):
            return np.asarray(probability)
        above = self._far(places[:, -1] + period, around.last, period)
        return probability + above + self._far(period - places[:, 0], -around.first, period)

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
        turns, period = self._turns(around, end), 2 * around.length
        middles = end[:, None] + turns
        wide = width[:, None]
        first, last = (
            np.maximum(middles - wide, around.first[:, None]),
            np.minimum(middles + wide, around.last[:, None]),
        )
        probability = self._noise.between(first, last)[0].sum(1)
        if self._reaches(around.length):
            return np.asarray(probability)
        for middle, limit in ((middles[:, -1], around.last), (-middles[:, 0], -around.first)):  # it is symmetric
            # What is far and whole, and then what the limit cuts through.
            probability = probability + (2 * width + 1) * self._far(middle + period, limit - width, period)
            cut = middle + np.maximum(np.floor((limit - width - middle) / period) + 1, 1) * period
            probability = probability + self._noise.between(cut - width, np.minimum(cut + width, limit))[0]
        return probability

    def _turns(self, around: Around, end: Floats) -> Floats:
        """Return the multiples of the period that are followed, around what of the catchment is nearest to a centre."""
        period = 2 * around.length
        most = self._most(around.length)
        nearest = np.clip(0.0, around.first, around.last)
        near = np.zeros_like(end) if around.length == ENDLESS else np.rint((nearest - end) / period)
        return (near[:, None] + np.arange(-most, most + 1.0)) * period

    def _most(self, length: float) -> int:
        """Return how many periods are followed on each side."""
        form = self._noise.form
        most = MOST_ON_STAIRS if form.repeats and form.period > 1 else MOST_TURNS
        return min(most, int(self._noise.reach / max(2 * length, 1)) + 2)

    def _reaches(self, length: float) -> bool:
        """Return whether what is followed is all that noise reaches."""
        return self._most(length) * 2 * length > self._noise.reach

    def _far(self, start: Floats, limit: Floats, period: float) -> Floats:
        """Return the probability of places from `start`, which is far above a centre, up to a limit, a period apart.

        Each stands for the period around it, of which the outermost two count half.
        """
        count = np.maximum(np.floor((limit - start) / period) + 1, 0.0)
        first = start - period / 2
        last = first + count * period
        halves = (self._noise.probability(first) + self._noise.probability(last)) / 2
        return np.where(count > 0, (self._noise.between(first, last)[0] - halves) / period, 0.0)

    def _mass(self, around: Around, first: Floats, last: Floats) -> Floats:
        """Return the probability of all from one place to another that are nearest to the span."""
        return self._noise.between(np.maximum(first, around.first), np.minimum(last, around.last))[0]
