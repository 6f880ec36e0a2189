"""Noise that does not depend on the answer, and then a rule for what falls outside the bounds.

Adding the noise is private on the whole line; the rule is post-processing, so the result is as private.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from flint import arb

from inbounds.accuracy.true_answers import NODES, TrueAnswers
from inbounds.answers.array import AnswerArrays, Reader
from inbounds.answers.single import Answers
from inbounds.bounds.lattice import FAR, Lattice
from inbounds.exact.balls import lock, workprec
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.law import PRECISION
from inbounds.published.definition import SMALL, prove_by_definition
from inbounds.published.ends import BEYOND, Ends, EndsName, Piece
from inbounds.published.mechanism import Ground, Mechanism
from inbounds.published.noise import Noise
from inbounds.published.noise_proof import neighbours, prove_by_tails
from inbounds.published.rest import ALL_WAVES, MOST_WAVES, SeenRest
from inbounds.sampling.array import chunks
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from inbounds.mechanisms.averages import Floats, Spans
    from inbounds.mechanisms.releases import Indices
    from inbounds.published.noise import Adder

MANNERS: dict[EndsName, str] = {"leave": "plain", "snap": "snapped", "fold": "folded"}
"""What noise is called with each rule at the ends."""

ELEMENTS = 2**19
"""Numbers to compute with at a time."""

MOST_POINTS = 4096
"""On a bounded lattice of up to so many points, a mean looks at each of them."""

MOST_RUNS = 512
"""Elsewhere it looks at no more runs of answers than this, unless spans are many and wide against the noise."""

MOST_IMAGES = 20_000
"""Up to so many outcomes of the noise, a proof by definition adds up where each of them goes."""


@dataclass(frozen=True, eq=False)
class Table:
    """The pieces of a rule around some true answers, in doubles, relative to one index."""

    start: Floats
    stop: Floats
    slope: Floats
    intercept: Floats
    ends: Floats
    """Which integers go to an end of a span, other than by constant pieces."""
    rests: list[SeenRest]
    """What is folded too often to be followed."""

    @classmethod
    def of(cls, pieces: list[Piece], origin: int, ends: list[int], rests: list[SeenRest]) -> Table:
        """Take pieces relative to an index: there the map is `y -> map(y + origin) - origin`."""
        return cls(
            np.array([float(piece.start - origin) for piece in pieces]),
            np.array([float(piece.stop - origin) for piece in pieces]),
            np.array([float(piece.slope) for piece in pieces]),
            np.array([float(piece.intercept + (piece.slope - 1) * origin) for piece in pieces]),
            np.array([float(end - origin) for end in ends]),
            rests,
        )


class Additive(Mechanism):
    """A mechanism that adds noise, the same law everywhere, and then applies a rule at the ends."""

    noise_name: ClassVar[str]
    """What its noise is called."""
    noise: Noise
    ends: Ends
    _tables: dict[int, Table]

    def __init__(self, ground: Ground, noise: Noise, ends: object) -> None:
        rule = Ends.of(ends, ground.lattice)
        super().__init__(ground, _proved(ground, noise, rule), noise=noise, ends=rule, _tables={})

    @property
    def name(self) -> str:  # type: ignore[override]
        """What it is called in a comparison."""
        return f"{MANNERS[self.ends.name]} {self.noise_name}"

    @property
    def _choices(self) -> dict[str, Any]:
        guarantee = self._ground.promise.guarantee
        return {"ends": self.ends.name, **({} if guarantee == "standard" else {"guarantee": guarantee})}

    @property
    def in_range(self) -> bool:  # type: ignore[override]
        """Whether every release is a possible answer."""
        lattice = self._ground.lattice
        everything = len(lattice) == 1 and lattice.unbounded_below and lattice.unbounded_above
        return everything or self.ends.name != "leave"

    @property
    def scale(self) -> float:
        """Over which distance the noise falls by a factor e, in the units of the answer."""
        return self.noise.scale * self._step

    def _draw(self, index: int, entropy: Entropy) -> int:
        return self.ends.apply(self._ground.clipped(index) + self.noise.draw(entropy))

    def _drawn(self, read: Reader, count: int, entropy: Entropy) -> Iterator[tuple[slice, Indices]]:
        # Doubles hold no odd integers beyond 2**53, and folding would bring what was rounded back to near zero.
        indices = read(slice(0, 0))
        rounded = indices.dtype == np.float64 and self.noise.reach > 2**52 and self.ends.name == "fold"
        if self._adder is None or rounded:
            yield from super()._drawn(read, count, entropy)
            return
        for part, words in chunks(count, entropy):
            indices = read(part)
            lows, highs = self._ground.lattice.ends[indices.dtype]
            centres = np.clip(indices, lows[0], highs[-1])
            yield part, self.ends.apply_many(self._adder.draw(words, centres, entropy))

    @cached_property
    def _adder(self) -> Adder | None:
        return self.noise.adder()

    @cached_property
    def _outputs(self) -> Answers:
        if self.ends.name != "leave":
            return self._answers
        lattice = self._ground.lattice
        everywhere = Lattice(lattice.step, lattice.offset, np.array([-FAR]), np.array([FAR]), ends_kept=True)
        return Answers(self.bounds, everywhere)

    @cached_property
    def _output_arrays(self) -> AnswerArrays:
        return AnswerArrays(self._outputs)

    # Errors: sums over the pieces of the rule.

    def _looked_at(self, first: int, last: int) -> TrueAnswers:
        lattice = self._ground.lattice
        few = lattice.bounded and lattice.points <= MOST_POINTS  # then each of them is looked at
        run = NODES if few else self._run(TrueAnswers(lattice, 1.0, self.noise.reach, first, last).varying)
        return TrueAnswers(lattice, run, self.noise.reach, first, last)

    def _run(self, varying: float) -> float:
        """Return over how many steps errors are smooth: in wide spans, the stairs of wide noise are too flat to see."""
        noise = self.noise
        return max(noise.smooth, min(noise.scale / 8, noise.reach / 8, varying / MOST_RUNS))

    def _errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        return self._by_span(spans, below, above, self._expected)

    def _at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        return self._by_span(spans, below, above, self._probable)

    def _by_span(self, spans: Spans, below: Floats, above: Floats, found: Any) -> Floats:
        results = np.empty(below.shape)
        if self._common:  # one table, of what is around the first span and all others
            below, spans = (
                below + (self._ground.lattice.lows - self._ground.lattice.lows[0])[spans],
                np.zeros_like(spans),
            )
        for span in np.unique(spans).tolist():
            chosen = spans == span
            table, places = self._table(span), self._places(span, below[chosen], above[chosen])
            size = max(1, ELEMENTS // (len(table.start) + len(table.ends) + MOST_WAVES))
            parts = np.split(places, range(size, len(places), size))
            results[chosen] = np.concatenate([found(table, part, 0.0) for part in parts])
        return results

    def _places(self, span: int, below: Floats, above: Floats) -> Floats:
        """Return where true answers are, relative to what the table of their span is relative to."""
        if self._ground.lattice.low_list[span] != -FAR:
            return below
        return -above if self._ground.lattice.high_list[span] != FAR else np.zeros_like(above)

    @cached_property
    def _common(self) -> bool:
        """Whether all spans are so near to each other that one table does for all, and doubles hold all distances."""
        low, high = self._ground.lattice.low_list[0], self._ground.lattice.high_list[-1]
        near = high - low < min(2**40, 4 * self.noise.reach)
        return self._ground.lattice.bounded and near and not self.ends.rests(low, high)

    def _table(self, span: int) -> Table:
        """Return the pieces around a span, relative to its lower end, or its upper end, or zero: the first there is."""
        if span not in self._tables:
            low, high = self._ground.lattice.low_list[span], self._ground.lattice.high_list[span]
            high = self._ground.lattice.high_list[-1] if self._common else high
            origin = low if low != -FAR else high if high != FAR else 0
            self._tables[span] = self._around(low, high, origin)
        return self._tables[span]

    def _around(self, first: int, last: int, origin: int) -> Table:
        """Return the pieces that noise can reach from some indices, relative to an index."""
        reach = int(self.noise.reach) + 1
        start = -BEYOND if first == -FAR else first - reach
        stop = BEYOND if last == FAR else last + reach
        pieces, rests = self.ends.pieces(start, stop), self._seen_rests(first, last, start, stop, origin)
        if first == last and self.ends.rests(first, last):  # noise is centred in the midst of one
            pieces.append(Piece(first, first, 1, self.ends.apply(first) - first))
        return Table.of(pieces, origin, _images_of_ends(pieces, self._all_ends), rests)

    def _seen_rests(self, first: int, last: int, start: int, stop: int, origin: int) -> list[SeenRest]:
        """Return how noise that is centred from `first` to `last` meets what is folded too often to be followed."""
        parts = [part for rest in self.ends.rests(start, stop) for part in rest.beside(first, last)]
        return [part.seen(self.noise, origin, above=part.start > last) for part in parts]

    @cached_property
    def _all_ends(self) -> list[int]:
        lattice = self._ground.lattice
        return sorted({end for end in (*lattice.low_list, *lattice.high_list) if abs(end) != FAR})

    @np.errstate(under="ignore")
    def _expected(self, table: Table, places: Floats, excess: float) -> Floats:
        """Return the expected distances from true answers at these places."""
        at = places[:, None]
        start, stop = table.start - at, table.stop - at
        meeting = table.intercept + (table.slope - 1) * at  # the map minus the truth, where there is no noise
        constant = meeting - excess
        # Where the map meets the truth: an integer if the place is one, and a smooth function of the place.
        turning = np.where(table.slope == 0, np.inf, np.floor(excess * table.slope) - meeting * table.slope)
        middle = np.clip(turning, start - 1, stop)
        mass_below, moment_below = self.noise.between(start, middle)
        mass_above, moment_above = self.noise.between(middle + 1, stop)
        distance = abs(constant * mass_below + table.slope * moment_below)
        distance += abs(constant * mass_above + table.slope * moment_above)
        total, mass = distance.sum(1), (mass_below + mass_above).sum(1)
        for rest in table.rests:
            met = rest.mass(places)
            total, mass = total + rest.distance(places, excess, met), mass + met
        return total / mass

    def _probable(self, table: Table, places: Floats, _excess: float) -> Floats:
        """Return the probabilities that the rule gives an end of a span."""
        at = places[:, None]
        snapped = table.slope == 0
        mass, _ = self.noise.between(table.start[snapped] - at, table.stop[snapped] - at)
        found = mass.sum(1) + self.noise.probability(table.ends - at).sum(1)
        return found + sum(rest.at_ends(places, rest.mass(places)) for rest in table.rests)

    def _error(self, centre: int, excess: float) -> float:
        return float(self._expected(self._around(centre, centre, centre), np.zeros(1), excess)[0])

    def _probability(self, index: int, centre: int) -> float:
        reach = int(self.noise.reach) + abs(index - centre) + 1
        total = 0.0
        for piece in self.ends.pieces(centre - reach, centre + reach):
            if piece.slope == 0 and piece.intercept == index:
                first, last = (np.array(float(end - centre)) for end in (piece.start, piece.stop))
                total += float(self.noise.between(first, last)[0])
            elif piece.slope and piece.start <= (source := (index - piece.intercept) * piece.slope) <= piece.stop:
                total += float(self.noise.probability(np.array(float(source - centre))))
        return total + self._far_probability(index, centre)

    def _far_probability(self, index: int, centre: int) -> float:
        """Return the probability that an index is released from where folds are not followed."""
        here, total = np.zeros(1), 0.0
        for rest in self.ends.rests(-BEYOND, BEYOND):
            if rest.low <= index <= rest.high:
                for part in rest.beside(centre, centre):
                    seen = part.seen(self.noise, centre, above=part.start > centre, most=ALL_WAVES)
                    total += float(seen.probability(here, float(index - rest.low), seen.mass(here))[0])
                if rest.start <= centre <= rest.stop and self.ends.apply(centre) == index:
                    total += float(self.noise.probability(here)[0])
        return total

    # The second proof: by definition, from where every outcome of the noise goes, or from the tails of the noise.

    def prove_again(self) -> Certificate:
        """Compare every pair of neighbouring answers and every release, where they are few; else look at the tails."""
        lattice = self._ground.lattice
        standard = self._ground.promise.guarantee == "standard"
        small = standard and lattice.bounded and lattice.high_list[-1] - lattice.low_list[0] < SMALL
        if small and self.in_range and self.noise.reach * 3 < MOST_IMAGES and not self.noise.delta:
            return prove_by_definition(self._ground, self._row)
        return prove_by_tails(self._ground, self.noise, self.ends, self.certificate.delta)

    def _row(self, centre: int, bits: int) -> list[arb]:
        """Return balls around the probabilities of all possible answers."""
        lattice = self._ground.lattice  # every release must be reached, the rarest too
        reach = 3 * int(self.noise.reach) + 1 + lattice.high_list[-1] - lattice.low_list[0]
        found: dict[int, arb] = {}
        with lock(), workprec(bits):
            tails = [self.noise.tail(k, bits) for k in range(1, reach + 2)]
            singles = [1 - 2 * tails[0], *(near - far for near, far in pairwise(tails))]
            for noise in range(-reach, reach + 1):
                released = self.ends.apply(centre + noise)
                found[released] = found.get(released, arb(0)) + singles[abs(noise)]
            rest = arb(0).union(2 * tails[-1])  # where this goes was not looked at
            return [found.get(index, arb(0)) + rest for index in self._ground.lattice.indices()]


def _images_of_ends(pieces: list[Piece], ends: list[int]) -> list[int]:
    """Return which integers the pieces that are not constant send to an end."""
    found: list[int] = []
    for piece in pieces:
        if piece.slope:
            low, high = piece.intercept + piece.slope * piece.start, piece.intercept + piece.slope * piece.stop
            if piece.slope < 0:
                low, high = high, low
            hit = ends[bisect_left(ends, low) : bisect_right(ends, high)]
            found.extend((end - piece.intercept) * piece.slope for end in hit)
    return found


def _proved(ground: Ground, noise: Noise, ends: Ends) -> Certificate:
    """Write down what the noise says of itself, whatever happens at the ends; less may be lost there, never more."""
    loss = noise.loss * -(-ground.distance // noise.distance)
    return Certificate(
        holds=loss <= ground.epsilon,
        bound=loss,
        witnessed=loss if ends.name == "leave" else Fraction(0),
        worst_pair=neighbours(ground, ground.distance),
        epsilon=ground.epsilon,
        guarantee=ground.promise.guarantee,
        scale=None,
        step=ground.lattice.step,
        pairs=1,
        method="noise alone",
        precision=PRECISION,
        delta=noise.delta,
    )
