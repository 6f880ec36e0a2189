"""Many exact draws of staircase noise at once.

A stair has `distance` steps of one probability, but for the first, which has `first` of them on either side of zero.
With `T = distance / expm1(epsilon)`, and `w` the probability of being as far out or farther, in units of the first
stair, a number `w` is reached in stair

    g = max(ceil(ln(T / w) / epsilon), 0)      at      x = g distance + first + T - w exp(g epsilon)

steps from zero, where the tail is continued linearly between indices; the index is `floor(x)`.  Floating point only
proposes: a proposal stands if no integer lies within an error bound of `x`.  Whether `g` is right needs no proof of its
own: two stairs meet at an integer.  docs/sampling.md adds up the errors.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.bounds.index_span import within_64_bits
from inbounds.exact.balls import ball, lock, workprec
from inbounds.privacy.law import PRECISION
from inbounds.sampling.any_law import IntegerLaw, extend
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.proposals import EXACT, Imprecise, bits_of, kinds, move, number, uniform_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.sampling.proposals import Floating, Proposal


class StaircaseSampler:
    """Adds staircase noise to arrays of centres."""

    def __init__(self, law: IntegerLaw, distance: int, first: int, epsilon: Fraction) -> None:
        self._law = law
        try:
            self._proposals = [StaircaseProposals(distance, first, epsilon, kind) for kind in kinds()]
        except Imprecise:
            self._proposals = []  # then every draw is made in balls, which notice by themselves

    def draw(self, words: NDArray[np.uint64], centres: NDArray[Any], entropy: Entropy) -> NDArray[Any]:
        """Return each centre with an independent draw added, by the exact law.

        `words` are the first 64 bits of the uniform numbers, `entropy` is where more come from.  `centres` is a flat
        array of int64, or of float64 that hold integers; the result is of the same kind.
        """
        drawn, rest = centres.copy(), np.arange(len(centres))
        for proposals in self._proposals:
            noise, settled = proposals.propose(words[rest], centres.dtype)
            chosen, rest = rest[settled], rest[~settled]
            drawn[chosen] = move(centres[chosen], noise[settled])
        for i in rest.tolist():
            exact = int(centres[i]) + extend(self._law, int(words[i]), 64, entropy)
            drawn[i] = within_64_bits(exact) if drawn.dtype == np.int64 else exact
        return drawn


class StaircaseProposals:
    """Proposals in one kind of float: a logarithm and an exponential a draw."""

    FAR_OUT, FLIGHTS, ALWAYS = 4.0, 32.0, 64.0
    """The error bound: so many units of 2^-p over the probability, for each epsilon of flights, and in any case."""

    def __init__(self, distance: int, first: int, epsilon: Fraction, kind: Floating) -> None:
        self._kind, self._bits = kind, bits_of(kind)
        with lock(), workprec(PRECISION):
            rate, width = ball(epsilon), ball(Fraction(distance))
            beyond = width / rate.expm1()
            self._rate, self._per_rate = number(rate, kind), number(1 / rate, kind)
            self._width, self._first = number(width, kind), number(ball(Fraction(first)), kind)
            self._beyond = number(beyond, kind)
            self._all = number(2 * (first + beyond) - 1, kind)
            self._doubt = number(width + beyond, kind) * kind(2) ** -self._bits

    @np.errstate(all="ignore")  # where epsilon is strong, nothing at all is beyond the first stair
    def propose(self, words: NDArray[np.uint64], dtype: np.dtype[Any]) -> Proposal:
        """Return the noise of each word, and whether it is certainly what the exact law draws."""
        # The formula of the module, one operation at a time into the same buffers; then how far `x` is from the next
        # integer.
        position = uniform_numbers(words, self._kind, self._bits)
        side = position - 0.5
        nearer = np.minimum(position, 1 - position, out=position)
        outside = nearer * self._all
        stair = np.ceil(np.log(self._beyond / outside) * self._per_rate)
        np.maximum(stair, 0, out=stair)
        flights = stair * self._rate
        reached = np.exp(flights)
        reached *= outside
        reached -= self._beyond
        distance = stair * self._width + self._first
        distance -= reached
        whole = np.floor(distance)
        distance -= whole
        distance -= 0.5
        np.abs(distance, out=distance)
        distance += (self.FAR_OUT / nearer + self.FLIGHTS * flights + self.ALWAYS) * self._doubt
        settled = (distance < 0.5) & (whole < EXACT[dtype])
        return np.copysign(whole, side, out=whole), settled
