"""One exact draw, in ball arithmetic from the first step: the reference for every other way to draw."""

from __future__ import annotations

from bisect import bisect_left
from functools import cache

from flint import arb

from inbounds.exact.balls import lock, workprec
from inbounds.privacy.law import PRECISION, Law
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.tails import LowerTail, lower_tails

WORD = 96
"""Random bits for a first attempt.  With 128-bit balls and a step of 2**-34 scales, they leave one draw in about 2**56
undecided."""

EXTENSION = 128
"""Further random bits, and bits of precision, for each attempt after that."""


class ReferenceSampler:
    """Draws from a law in balls, one index at a time."""

    def __init__(self, law: Law) -> None:
        self.law = law
        self._inverses: dict[int, Inverse] = {}

    def draw(self, centre: int, span: int, entropy: Entropy) -> int:
        """Return a feasible index `k` with probability exactly `q^|k-centre| * w_k / Z(centre)`.

        `centre` is a feasible index and `span` the number of its span.  The draw inverts the distribution function at
        a uniform real number of which only the first bits are known, as a ball; when they do not settle the answer,
        more bits of the *same* number are drawn.  That apart, every draw does the same operations, wherever the centre
        is and whatever comes out.
        """
        return self.extend(centre, span, int.from_bytes(entropy(WORD // 8)), WORD, entropy)

    def extend(self, centre: int, span: int, word: int, bits: int, entropy: Entropy) -> int:
        """Finish a draw for which the first `bits` bits of the uniform number are already known to be `word`."""
        attempt = PRECISION
        while (drawn := self.inverse(attempt).at(centre, span, word, bits)) is None:
            word = word << EXTENSION | int.from_bytes(entropy(EXTENSION // 8))
            bits += EXTENSION
            attempt += EXTENSION
        return drawn

    def prepare(self) -> None:
        """Compute what every draw needs."""
        self.inverse(PRECISION)
        _half(WORD)

    def inverse(self, bits: int) -> Inverse:
        """Return the inverse distribution function at a precision, computed once."""
        inverse = self._inverses.get(bits)
        if inverse is None:
            inverse = self._inverses[bits] = Inverse(self.law, bits)
        return inverse


class Inverse:
    """The inverse distribution function of a law, at numbers of which some bits are known.

    If missing mass counted as if it were there, the mass up to the index `d` below the centre would be `q^d`, and so
    would be the mass from the index `d` above the centre on: one logarithm finds `d`.
    """

    def __init__(self, law: Law, bits: int) -> None:
        masses = law.masses(bits)
        self.bits = bits
        self.down, self.up = lower_tails(law, bits)
        self.last = len(law.lattice) - 1
        self.rate, self.total = masses.rate, masses.total

    def at(self, centre: int, span: int, word: int, bits: int) -> int | None:
        """Return the index where the distribution function passes the number that begins with `word`, if settled."""
        with lock(), workprec(self.bits):
            # Missing mass counts as if it were there: the uniform number is stretched over what is there, and moved up
            # by what is missing on the left.  The side with less mass is the one that is inverted.
            left = self.down.mass_seen(centre, self.down.missing, span)
            right = self.up.mass_seen(-centre, self.up.missing, self.last - span)
            position = left + _uniform(word, bits) * (self.total - left - right)
            mirrored = self.total - position
            # Both sides do the same operations: the time must not tell which one it was.
            is_down, is_up = position < mirrored, mirrored < position
            if not is_down and not is_up:
                return None
            sign, tail, own = (1, self.down, span) if is_down else (-1, self.up, self.last - span)
            position, mass = (position, position - left) if is_down else (mirrored, mirrored - right)
            drawn = self._below(tail, sign * centre, own, position, mass)
            return None if drawn is None else sign * drawn

    def _below(self, tail: LowerTail, centre: int, span: int, position: arb, mass: arb) -> int | None:
        """Return the index at or below the centre up to which there is this much mass, if settled."""
        target = span
        if self.last:
            span_index = self._span(tail, centre, span, mass)
            if span_index is None:
                return None
            target = span_index
            position = mass + tail.mass_seen(centre, tail.missing, target)
        distance = (-position.log() / self.rate).floor().unique_fmpz()
        if distance is None:
            return None
        return tail.clip(target, centre - int(distance))

    def _span(self, tail: LowerTail, centre: int, span: int, mass: arb) -> int | None:
        """Return the span, not above that of the centre, in which this much mass is reached, if settled."""
        logarithm = float(mass.log() + centre * self.rate)
        target = min(bisect_left(tail.keys, logarithm), span)
        while True:
            # Both neighbours are always looked at, so that the time does not tell whether the draw stayed in its span.
            above = tail.mass_seen(centre, tail.beyond, min(target + 1, span))
            below = tail.mass_seen(centre, tail.beyond, target)
            if target > 0 and not mass > below:
                if not mass < below:
                    return None
                target -= 1
            elif target < span and not mass < above:
                if not mass > above:
                    return None
                target += 1
            else:
                return target


def _uniform(word: int, bits: int) -> arb:
    """Return a ball around every number in [0, 1) whose first bits are `word`."""
    unit, spread = _half(bits)
    return (2 * word + 1) * unit + spread


@cache
def _half(bits: int) -> tuple[arb, arb]:
    """Return half a unit of the last of that many bits, exactly, and a ball of that radius around zero."""
    return arb((1, -bits - 1)), arb(0, (1, -bits - 1))
