"""The distribution of noise after the rule at the ends: probabilities, tails and moments around every true answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.distribution import Distribution, apart, spans_of
from inbounds.accuracy.search import least
from inbounds.accuracy.true_answers import NODES, TrueAnswers
from inbounds.bounds.index_span import FAR, IndexSpan, within_64_bits
from inbounds.mechanisms.additive.ends import BEYOND, Ends, Piece
from inbounds.mechanisms.additive.far import SeenFar
from inbounds.mechanisms.additive.folded import Folded
from inbounds.mechanisms.additive.noise import Noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.accuracy.distribution import Floats, Indices, Spans

ELEMENTS = 2**19
"""Numbers to compute with at a time."""

BLOCK = 1
"""Spans share a table if they are all within so many times the reach of the noise; wider ones have too many pieces."""

MOST_POINTS = 4096
"""On a bounded lattice of up to so many points, a mean looks at each of them."""

MOST_RUNS = 512
"""Elsewhere it looks at no more runs of answers than this, unless spans are many and wide against the noise."""


@dataclass(frozen=True, eq=False)
class PieceTable:
    """The pieces of a rule around some true answers, in doubles, relative to one index."""

    start: Floats
    stop: Floats
    slope: Floats
    intercept: Floats
    ends: Floats
    """Which integers go to an end of a span, other than by constant pieces."""
    far: list[SeenFar]
    """What is reflected too often to be followed."""

    @classmethod
    def of(cls, pieces: list[Piece], origin: int, ends: list[int], far: list[SeenFar]) -> PieceTable:
        """Take pieces relative to an index: there the map is `y -> map(y + origin) - origin`."""
        return cls(
            np.array([float(piece.start - origin) for piece in pieces]),
            np.array([float(piece.stop - origin) for piece in pieces]),
            np.array([float(piece.slope) for piece in pieces]),
            np.array([float(piece.intercept + (piece.slope - 1) * origin) for piece in pieces]),
            np.array([float(end - origin) for end in ends]),
            far,
        )


class AdditiveDistribution(Distribution):
    """One law of noise around every true answer, and then one rule at the ends."""

    def __init__(self, noise: Noise, ends: Ends) -> None:
        self._noise, self._ends = noise, ends
        self.lattice, self.scale = ends.lattice, noise.scale
        self.in_range = ends.name != "leave"
        self.rises = ends.name != "fold" or self._rises_folded()
        self._tables: dict[tuple[int, bool], PieceTable] = {}

    def _rises_folded(self) -> bool:
        """Return whether greater answers have greater releases where noise is reflected."""
        if len(self.lattice) > 1:
            return False
        return not self.lattice.bounded or self._noise.wraps(2 * int(self.lattice.lengths[0]))

    @property
    def releases(self) -> tuple[int | None, int | None]:
        return super().releases if self.in_range else (None, None)

    # One release: sums over the integers that go there.

    def probability(self, released: Indices, centres: Indices) -> Floats:
        if self._ends.name == "leave":
            return self._noise.probability(apart(released, centres))
        if self._ends.name == "fold":
            return self._folded.probability(released, centres)
        # Inside a span a release has one integer that goes there; an end has all integers of its catchment beyond it as
        # well.
        spans = self.lattice.last_span(released)
        low, high = self.lattice.lows[spans], self.lattice.highs[spans]
        inside, alone = (low < released) & (released < high), self._noise.probability(apart(released, centres))
        if np.count_nonzero(inside) == inside.size:  # quicker than `all` for one number
            return alone
        first, last = self._catchments
        begin = np.where(released == low, _from(first[spans], centres), apart(released, centres))
        end = np.where(released == high, _from(last[spans], centres), apart(released, centres))
        possible = (released >= low) & (released <= high)
        return np.where(inside, alone, np.where(possible, self._noise.between(begin, end)[0], 0.0))

    def up_to(self, released: Indices, centres: Indices) -> Floats:
        if self._ends.name == "fold":
            return self._folded.up_to(released, centres)
        last = apart(released, centres)
        if self._ends.name == "snap":
            spans = self.lattice.span_of(released)
            inside = released < self.lattice.highs[np.maximum(spans, 0)]
            last = np.where(inside, last, _from(self._catchments[1][np.maximum(spans, 0)], centres))
            last = np.where(spans < 0, -float(BEYOND), last)
        return self._noise.at_least(-last)  # it is symmetric

    def at_least(self, released: Indices, centres: Indices) -> Floats:
        if self._ends.name == "fold":
            return self._folded.at_least(released, centres)
        first = apart(released, centres)
        if self._ends.name == "snap":
            spans = np.searchsorted(self.lattice.highs, released)
            known = np.minimum(spans, len(self.lattice) - 1)
            inside = released > self.lattice.lows[known]
            first = np.where(inside, first, _from(self._catchments[0][known], centres))
            first = np.where(spans == len(self.lattice), float(BEYOND), first)
        return self._noise.at_least(first)

    @cached_property
    def _catchments(self) -> tuple[Indices, Indices]:
        """The first and the last integer that are nearest to each span, FAR where there is none."""
        pairs = [self._ends.catchment(span) for span in range(len(self.lattice))]
        first, last = zip(*pairs, strict=True)
        return np.array([within_64_bits(x) for x in first]), np.array([within_64_bits(x) for x in last])

    @cached_property
    def _folded(self) -> Folded:
        return Folded(self._noise, self._ends)

    def wide_interval(self, released: Indices, confidence: float) -> tuple[Indices, Indices]:
        """Return the truths from which noise, as far as it goes with this confidence, can reach the release.

        Where reflections come from beyond a span in the midst of others, the farthest of them count.
        """
        zero = np.zeros(1, dtype=np.int64)
        limit = np.array([min(2**62, int(self._noise.reach) + 2)])
        odds = (1 - confidence) * (1 - 1e-11)
        far = int(least(lambda places: 2 * self._noise.tails(places.astype(float) + 1)[0] <= odds, zero, limit)[0])
        images = [self._ends.images(index) for index in released.tolist()]
        lows = np.array([within_64_bits(first - far) for first, _ in images], dtype=np.int64)
        highs = np.array([within_64_bits(last + far) for _, last in images], dtype=np.int64)
        return self.truths(lows), self.truths(highs)

    # Expected errors: sums over the pieces of the rule.

    def true_answers(self, first: int, last: int) -> TrueAnswers:
        """Return true answers: every one if they are few, else in runs over which stairs are too flat to see."""
        lattice, noise = self.lattice, self._noise
        if lattice.bounded and lattice.points <= MOST_POINTS:
            return TrueAnswers(lattice, NODES, noise.reach, first, last)
        varying = TrueAnswers(lattice, 1.0, noise.reach, first, last).varying
        run = max(noise.smooth, min(noise.scale / 8, noise.reach / 8, varying / MOST_RUNS))
        return TrueAnswers(lattice, run, noise.reach, first, last)

    def error(self, centres: Indices, excess: Floats) -> Floats:
        """Return the expected distance from true answers so many steps above these indices."""
        return self._at_centres(centres, excess, lambda *at: self._expected_distances(*at)[None])[0]

    def bias_and_variance(self, centres: Indices) -> tuple[Floats, Floats]:
        """Return bias and variance of releases."""
        first, second = self._at_centres(centres, np.zeros(len(centres)), lambda *at: np.array(self._moments(*at)))
        return first, second - first**2

    def _at_centres(
        self, centres: Indices, excess: Floats, evaluate: Callable[[PieceTable, Floats, Floats], Floats]
    ) -> Floats:
        """Evaluate quantities at true answers, which may be in gaps; a row for each quantity."""
        possible = centres == self.lattice.nearest(centres)
        if possible.all():
            return self._by_span(*spans_of(self.lattice, centres), evaluate, excess)
        rows = []
        for centre, above, is_possible in zip(centres.tolist(), excess, possible.tolist(), strict=True):
            if is_possible:
                row = self._by_span(*spans_of(self.lattice, np.array([centre])), evaluate, np.array([above]))
            else:
                row = evaluate(self._around(IndexSpan(centre, centre), centre), np.zeros(1), np.array([above]))
            rows.append(row)
        return np.concatenate(rows, axis=1)

    def errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the expected distances for true answers so far from the ends of their spans."""
        flat = spans.ravel(), below.ravel(), above.ravel()
        return self._by_span(*flat, lambda *at: self._expected_distances(*at)[None])[0].reshape(below.shape)

    def at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the probabilities that releases are ends of spans."""
        flat = spans.ravel(), below.ravel(), above.ravel()
        return self._by_span(*flat, lambda *at: self._end_probabilities(*at)[None])[0].reshape(below.shape)

    def _by_span(
        self,
        spans: Spans,
        below: Floats,
        above: Floats,
        evaluate: Callable[[PieceTable, Floats, Floats], Floats],
        excess: Floats | None = None,
    ) -> Floats:
        """Evaluate quantities at true answers, in tables around the nearer ends of their spans."""
        excess = np.zeros(below.shape) if excess is None else excess
        # Spans that are close together have one table, from the low end of the first; others one from each of their
        # ends, so that distances stay small numbers.
        shared = self._is_shared[spans]
        below = np.where(shared, below + (self.lattice.lows[spans] - self.lattice.lows[self._firsts[spans]]), below)
        above, spans = np.where(shared, np.inf, above), self._firsts[spans]
        from_high = above < below
        results: Floats | None = None
        keys = 2 * spans + from_high
        for key in sorted({*keys.tolist()}):
            span, high = divmod(key, 2)
            chosen = np.flatnonzero(keys == key)
            table = self._table(span, bool(high))
            for part in _parts(chosen, len(table.start) + len(table.ends) + 1):
                values = evaluate(table, self._places(span, below[part], above[part]), excess[part])
                results = np.empty((len(values), len(below))) if results is None else results
                results[:, part] = values
        return np.empty((2, 0)) if results is None else results

    def _places(self, span: int, below: Floats, above: Floats) -> Floats:
        """Return where true answers are, relative to the end that is nearer; to zero where there is none."""
        is_line = self.lattice.spans[span].is_everything
        return np.zeros_like(below) if is_line else np.where(above < below, -above, below)

    @cached_property
    def _firsts(self) -> Spans:
        """For each span the first of its block: neighbours so near to each other that one table does for all."""
        lows, highs = self.lattice.low_list, self.lattice.high_list
        firsts, first = [], 0
        for span, high in enumerate(highs):
            if high - lows[first] >= self._width_of_block:
                first = span
            firsts.append(first)
        return np.array(firsts)

    @cached_property
    def _is_shared(self) -> NDArray[np.bool_]:
        """For each span whether one table does for all of its block, from the low end of the first."""
        lows, highs = self.lattice.low_list, self.lattice.high_list
        return np.array([highs[self._last(first)] - lows[first] < self._width_of_block for first in self._firsts])

    @cached_property
    def _width_of_block(self) -> float:
        """Wider blocks have more pieces than are worth it; doubles hold all distances."""
        return min(2.0**40, BLOCK * self._noise.reach)

    def _last(self, first: int) -> int:
        """Return the last span of the block that begins with a span."""
        return int(np.searchsorted(self._firsts, first, side="right")) - 1

    def _table(self, span: int, from_high: bool) -> PieceTable:
        """Return the pieces around a span, relative to one of its ends, or to zero if it has none."""
        key = span, from_high
        if key not in self._tables:
            own, last = self.lattice.spans[span], self.lattice.spans[self._last(span)]
            origin = 0 if own.is_everything else own.high if from_high else own.low
            self._tables[key] = self._around(IndexSpan(own.low, last.high), origin)
        return self._tables[key]

    def _around(self, centres: IndexSpan, origin: int) -> PieceTable:
        """Return the pieces that noise can reach from some indices, relative to an index."""
        reach = int(self._noise.reach) + 1
        start = centres.low - reach if centres.has_low else -BEYOND
        stop = centres.high + reach if centres.has_high else BEYOND
        centre = centres.low if centres.low == centres.high else None
        pieces = self._ends.pieces(start, stop, centre)
        far = [far.seen_from(self._noise, origin) for far in self._ends.far(start, stop, centre)]
        return PieceTable.of(pieces, origin, self._ends.images_of_ends(pieces), far)

    @np.errstate(under="ignore")
    def _expected_distances(self, table: PieceTable, places: Floats, excess: Floats) -> Floats:
        """Return the expected distances from true answers so far above places."""
        # On each piece the release is linear in the noise, so the distance from the truth is too, but for a turn where
        # they meet: two sums of mass and moment, one below the turn and one above it.
        at, above = places[:, None], excess[:, None]
        start, stop, slope = table.start - at, table.stop - at, table.slope
        meeting = table.intercept + (slope - 1) * at  # the map minus the place, where there is no noise
        constant = meeting - above
        # Where the map meets the truth: an integer if the place is one, and a smooth function of the place.
        turning = np.where(slope == 0, np.inf, np.floor(above * slope) - meeting * slope)
        middle = np.clip(turning, start - 1, stop)
        mass_below, moment_below = self._noise.between(start, middle)
        mass_above, moment_above = self._noise.between(middle + 1, stop)
        distance = abs(constant * mass_below + slope * moment_below)
        distance += abs(constant * mass_above + slope * moment_above)
        total, mass = distance.sum(1), (mass_below + mass_above).sum(1)
        for far in table.far:
            met, added = far.distance(places, excess)
            total, mass = total + added, mass + met
        return np.asarray(total / mass)

    @np.errstate(under="ignore")
    def _moments(self, table: PieceTable, places: Floats, _excess: Floats) -> tuple[Floats, Floats]:
        """Return the first and second moment of releases about places."""
        at, slope = places[:, None], table.slope
        start, stop = table.start - at, table.stop - at
        meeting = table.intercept + (slope - 1) * at
        mass, moment = self._noise.between(start, stop)
        square = self._noise.squares_between(start, stop)
        first = (meeting * mass + slope * moment).sum(1)
        second = (meeting * (meeting * mass + 2 * slope * moment) + slope**2 * square).sum(1)
        for far in table.far:
            more, most = far.moments(places)
            first, second = first + more, second + most
        return first, second

    def _end_probabilities(self, table: PieceTable, places: Floats, _excess: Floats) -> Floats:
        """Return the probabilities that the rule gives an end of a span."""
        at = places[:, None]
        snapped = table.slope == 0
        mass = self._noise.between(table.start[snapped] - at, table.stop[snapped] - at)[0]
        probability = mass.sum(1) + self._noise.probability(table.ends - at).sum(1)
        return probability + sum(far.at_ends(places) for far in table.far)


def _parts(chosen: NDArray[np.intp], each: int) -> list[NDArray[np.intp]]:
    """Return what was chosen in parts, where each of them takes so many numbers to compute with."""
    return [chosen] if len(chosen) * each <= ELEMENTS else np.array_split(chosen, -(-len(chosen) * each // ELEMENTS))


def _from(ends: Indices, centres: Indices) -> Floats:
    """Return how far ends are above centres; FAR is beyond everything."""
    return np.where(abs(ends) == FAR, np.copysign(float(BEYOND), ends), apart(ends, centres))
