"""The privacy of the adaptive law: (epsilon, delta), with delta proved from above and from below.

The delta of two locations is the most by which the probability of an event at one of them exceeds `e^epsilon` times its
probability at the other.  For locations `m < n`, at most the sensitivity `D` apart, docs/erratum.md proves that

* nothing is too likely at `n`.  At `m` too likely are only the border, if `n - m = D`, and the far tail beyond `n`;
* the tail's part, `far`, taken over all real outputs, falls as both locations move away from the border together;
* as `n` alone moves away, `far` rises as long as its best output is beyond the `turn` of `n`, which grows with `n`.

So pairs can be bounded by the box.  Boxes are cut until none can hold a pair with a delta `TOLERANCE` above the
greatest one that was met.  All bounds are balls; doubles only say which box comes next.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush

from flint import arb

from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, lower, upper, workprec
from inbounds.privacy.claim import GREATEST_EPSILON, LEAST_EPSILON, RECOMMENDED_EACH
from inbounds.published.croft2022.adaptive_law import AdaptiveLaw, border_scale

TOLERANCE = Fraction(1, 200_000)
"""The proved bound is above the witnessed delta by this much of it."""

MOST_BOXES = 50_000

FAINT = 4096
"""A delta below 2**-4096 is not told from 0."""


@dataclass(frozen=True)
class Delta:
    """What was proved: a law is (epsilon, `bound`)-differentially private, and for no delta below `witnessed`."""

    bound: Fraction
    """Proved from above: no two locations at most the sensitivity apart have a greater delta."""
    witnessed: Fraction
    """Proved from below: the delta of the worst pair is at least this."""
    pair: tuple[int, int]
    """The worst pair met: an event can be too likely at the first location, seen from the second."""
    broken_from: float
    """From this output on, every single output is too likely at the first location of that pair."""


def certified_delta(law: AdaptiveLaw) -> Delta:
    """Enclose the least delta of a law."""
    if not LEAST_EPSILON <= law.epsilon <= GREATEST_EPSILON:
        raise InvalidParameter(
            f"epsilon must be from 1e-9 to 1000 for a delta to be proved, got {float(law.epsilon)!r}; "
            f"recommended is {RECOMMENDED_EACH} for a release"
        )
    bits = _precision(law, law.distance)
    with lock(), workprec(bits):
        search = PairSearch(law, bits)
        search.run()
        first, second = (search.place(location) for location in search.pair)
        broken = search.first_broken(first, second)
        return Delta(upper(search.limit), lower(search.best), search.pair, float(broken[-1]))


def pair_delta(law: AdaptiveLaw, first: int, second: int) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of the delta of two locations, the first one nearer to the border.

    They may be at most the sensitivity apart.  Seen the other way round, their delta is 0.
    """
    if not 0 <= first < second <= first + law.distance:
        raise InvalidParameter(
            f"locations must be at least 0 and rise by 1 to {law.distance} steps, got {first} and {second}; "
            "give such a pair"
        )
    bits = _precision(law, second)
    with lock(), workprec(bits):
        delta = PairSearch(law, bits).delta(first, second)
        faint = arb((1, -FAINT))
        return (lower(delta) if delta > faint else Fraction(0)), upper(delta.max(faint))


def _precision(law: AdaptiveLaw, location: int) -> int:
    """Return how many bits leave 128 in a difference as small as the fourth power of a step in scales."""
    return 128 + 4 * max(location, int(law.distance / law.epsilon)).bit_length()


class Place:
    """The numbers of the law at one location.  One-letter names are those of the proof."""

    def __init__(self, search: PairSearch, location: int) -> None:
        self.location = location
        self.rate = search.law.rate(location, search.bits)
        self.relative = self.rate / search.plain  # R = 1/s
        self.depth = location * self.rate  # t
        self.q, self.w = (-self.rate).exp(), (-self.depth).exp()
        self.whole = 1 + self.q * (1 - self.w)  # W
        self.lean = self.depth - self.whole.log()  # u
        self._search = search

    @cached_property
    def at_border(self) -> arb:
        """The probability of the output 0."""
        return self.w * -(-self.rate).expm1() / self.whole

    @cached_property
    def shape(self) -> arb:
        """`a`, 1 on an infinitely fine lattice."""
        return self.rate / 2 * (self.rate / 2).coth()

    @cached_property
    def fade(self) -> arb:
        """What `at_border` would be on a fine lattice: it falls by `e^-x` exactly."""
        return self._search.plain * (-ball(self._search.law.position(self.location))).exp() / self._search.border

    @cached_property
    def turn(self) -> arb:
        """`du/dr`: beyond this output, tails get lighter as the location moves away from the border."""
        search, pull = self._search, 2 / (2 - self.w)
        is_peak = search.law.position(self.location) == 1  # where the other formula is 0/0
        slope = 1 / self.depth.sqrt() - 1 if is_peak else (pull * self.relative - 1) / (1 - pull * self.depth)
        share = 1 - self.q * self.w / self.whole
        return (self.location + 1 / (search.plain * slope)) * share + self.q * (1 - self.w) / self.whole


@dataclass(frozen=True)
class Box:
    """All pairs of a location from `low` to before `stop` (None: no end) with one `near` to before `end` steps on."""

    low: int
    stop: int | None
    near: int
    end: int

    def parts(self, scale: int) -> tuple[Box, Box]:
        """Cut a box of more than one pair in two; `scale` is about a scale in steps."""
        if self.end - self.near > 1:
            cut = (self.near + self.end) // 2
            return Box(self.low, self.stop, self.near, cut), Box(self.low, self.stop, cut, self.end)
        cut = 2 * self.low + scale + 1 if self.stop is None else (self.low + self.stop) // 2
        return Box(self.low, cut, self.near, self.end), Box(cut, self.stop, self.near, self.end)


class PairSearch:
    """The search for the worst pair; its methods want the lock to be held and the precision to be set."""

    def __init__(self, law: AdaptiveLaw, bits: int) -> None:
        self.law, self.bits = law, bits
        self.epsilon, self.plain, self.border = ball(law.epsilon), ball(law.epsilon / law.distance), border_scale(bits)
        self.odds = self.epsilon.exp()
        self.best = self.limit = arb(0)
        self.pair = (0, law.distance)
        self._places: dict[int, Place] = {}
        self._heap: list[tuple[float, int, Box, arb]] = []
        self._count = 0

    def place(self, location: int) -> Place:
        """Return the numbers of a location, computed once."""
        place = self._places.get(location)
        if place is None:
            place = self._places[location] = Place(self, location)
        return place

    def run(self) -> None:
        """Look at boxes, the most promising one first, until none can hold a pair above the limit."""
        # Pairs a whole sensitivity apart have a border part, nearer ones have none; and the location 0 is on the border
        # itself. So four boxes hold all pairs, each with one formula.
        distance, scale = self.law.distance, int(self.law.distance / self.law.epsilon)
        for low, stop in ((0, 1), (1, None)):
            self._add(Box(low, stop, distance, distance + 1))
            if distance > 1:
                self._add(Box(low, stop, 1, distance))
        while self._heap:
            _, _, box, bound = heappop(self._heap)
            if not bound <= self.limit:
                for part in box.parts(scale):
                    self._add(part)

    def _add(self, box: Box) -> None:
        bound = self.bound(box)
        if bound <= self.limit:
            return
        self._count += 1
        if self._count > MOST_BOXES:
            raise InvalidParameter(
                f"no delta was proved for epsilon = {float(self.law.epsilon)!r} and a sensitivity of "
                f"{self.law.distance} steps; choose another step or a smaller epsilon"
            )
        promise = float(bound.log()) if bound.is_finite() else float("inf")
        heappush(self._heap, (-promise, self._count, box, bound))

    def bound(self, box: Box) -> arb:
        """Return a bound of the delta of every pair in a box, and try one of the pairs."""
        # A box of one pair is computed, not bounded.  Of others one pair is tried as well: a greater delta that is met
        # raises the limit, and closes other boxes.
        low, near, last = box.low, box.near, box.near if box.end - box.near == 1 else box.end
        if near == last and box.stop == low + 1:
            return self.try_pair(low, low + near).upper()
        middle = low if box.stop is None else (low + box.stop) // 2
        self.try_pair(middle, middle + (near + last) // 2)
        far = self.far_bound(self.place(low), self.place(low + near), self.place(low + last))
        return (far if near < self.law.distance else far + self.border_bound(low, box.stop)).upper()

    def try_pair(self, first: int, second: int) -> arb:
        """Return the delta of a pair, and remember the greatest one."""
        delta = self.delta(first, second)
        if delta > self.best:
            self.best, self.pair = delta.lower(), (first, second)
            self.limit = self.best * (1 + ball(TOLERANCE))
        return delta

    def delta(self, first: int, second: int) -> arb:
        """Return the delta of two locations, the first one nearer to the border, at most the sensitivity apart."""
        inner, outer = self.place(first), self.place(second)
        at_border = (inner.at_border - self.odds * outer.at_border).max(arb(0))
        far = arb(0)
        for output in self.first_broken(inner, outer):
            tails = [(place.lean - output * place.rate).exp() for place in (inner, outer)]
            far = far.max(tails[0] - self.odds * tails[1])
        return at_border + far

    def first_broken(self, inner: Place, outer: Place) -> range:
        """Return the first output beyond both locations that is too likely; two where rounding leaves that open."""
        # The logarithms of both laws are straight lines beyond both locations; they are `epsilon` apart at the
        # crossing.
        weights = (outer.whole * (-inner.rate).expm1() / (inner.whole * (-outer.rate).expm1())).log()
        crossing = (self.epsilon + outer.depth - inner.depth - weights) / (outer.rate - inner.rate)
        last_kept = crossing.floor()
        return range(int(lower(last_kept)) + 1, int(upper(last_kept)) + 2)

    def far_bound(self, inner: Place, near: Place, far: Place) -> arb:
        """Bound the tail's part between `inner` and all places from `near` to `far`, and all such pairs farther out."""
        # Where the tail's part is known to rise, or to fall, over the whole box, its greatest value is at one end of
        # it; else the numerator is taken at one end and the denominator at the other, which is more than any pair in
        # the box has.
        if self._best_output(inner, near, far) >= far.turn:
            near = far
        elif self._best_output(inner, far, near) <= near.turn:
            far = near
        gap = far.rate - inner.rate
        output = (self.epsilon + (far.rate / inner.rate).log() + near.lean - inner.lean) / gap
        return (inner.lean - output * inner.rate).exp() * gap / far.rate

    def _best_output(self, inner: Place, over: Place, under: Place) -> arb:
        """Return the real output of the greatest excess, its numerator at one place, its denominator at another."""
        numerator = self.epsilon + (over.rate / inner.rate).log() + over.lean - inner.lean
        return numerator / (under.rate - inner.rate)

    def border_bound(self, low: int, stop: int | None) -> arb:
        """Bound the border's part between all locations from `low` to `stop` and those a sensitivity farther out."""
        distance, inner, outer = self.law.distance, self.place(low), self.place(low + self.law.distance)
        # Each factor of the exact difference at its worst place in the box: what grows with the location at the upper
        # end, what falls at the lower one.
        half = arb(0) if stop is None else self.place(stop).fade / 2
        greatest = self.plain / 2 * (self.plain / 2).coth() if stop is None else self.place(stop + distance).shape
        gentle = self.plain**2 * self.epsilon * (1 - inner.relative) / 6
        growth = (greatest - inner.shape).min(gentle) - half * (1 - 1 / self.odds)
        return inner.fade * growth.max(arb(0)) / ((inner.shape + half) * (outer.shape + half / self.odds))
