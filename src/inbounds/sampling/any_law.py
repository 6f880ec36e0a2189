"""One exact draw from any law on the integers whose distribution function can be enclosed in balls."""

from __future__ import annotations

from typing import Protocol

from flint import arb, fmpz

from inbounds.exact.balls import lock, workprec
from inbounds.privacy.law import PRECISION
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.reference import EXTENSION, WORD


class IntegerLaw(Protocol):
    """A law on the integers."""

    def below(self, index: int, bits: int) -> arb:
        """Return a ball, computed with so many bits, around the probability of at most this index."""

    def guess(self, probability: float, rest: float) -> int:
        """Return about the least index up to which there is this probability; `rest` is one minus it."""


def draw(law: IntegerLaw, entropy: Entropy) -> int:
    """Return an index with exactly the probability that the law gives it.

    Inverts the distribution function at a uniform number of which only the first bits are known.  A guess in doubles
    says where to look; whether it is right is decided in balls.  When the bits do not settle it, more bits of the
    *same* number are drawn and the balls get narrower.
    """
    return extend(law, int.from_bytes(entropy(WORD // 8)), WORD, entropy)


def extend(law: IntegerLaw, word: int, bits: int, entropy: Entropy) -> int:
    """Return the draw of a uniform number whose first bits are those of a word; more are drawn as needed."""
    precision = PRECISION
    while (drawn := _try_to_settle(law, word, bits, precision)) is None:
        word = word << EXTENSION | int.from_bytes(entropy(EXTENSION // 8))
        bits += EXTENSION
        precision += EXTENSION
    return drawn


def _try_to_settle(law: IntegerLaw, word: int, bits: int, precision: int) -> int | None:
    """Return the index where the distribution function passes every number that begins with `word`, if there is one."""
    whole = 1 << bits
    index = law.guess((2 * word + 1) / (2 * whole), (2 * (whole - word) - 1) / (2 * whole))  # of integers: of any size
    with lock(), workprec(precision):
        least, most = arb(fmpz(word)) / fmpz(whole), arb(fmpz(word + 1)) / fmpz(whole)
        low: int | None = None  # known to be too small
        high: int | None = None  # known to be large enough
        stride = 1
        while True:
            # Both neighbours are always looked at, so that the time does not tell on which side the guess was off.
            up_to, before = law.below(index, precision), law.below(index - 1, precision)
            too_small, too_large = up_to <= least, before >= most
            if not too_small and not too_large:
                return index if before <= least and up_to >= most else None
            low, high = (index, high) if too_small else (low, index - 1)
            if low is not None and high is not None:
                index = (low + high + 1) // 2
            else:
                index, stride = (index + stride if too_small else index - stride), 2 * stride
