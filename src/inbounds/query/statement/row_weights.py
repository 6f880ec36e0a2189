"""How much one unit counts: each of its rows is weighed, so that together they weigh at most so many rows.

A unit with `n` rows that a question is about, in whatever groups, has each of them weighed by `min(1, k / n)`.  That
needs no order of rows, throws nothing away, treats sums and counts alike, and depends on nothing but the unit's own
rows; over all groups together they weigh at most `k`.

RowWeights are integers of 1/2**bits, rounded down, so that everything adds up exactly and the same on every engine: a
non-negative total `t` of a unit's rows in a group counts as `floor(t * k * 2**bits / max(n, k))`.  In a table, where
rows add more than leaves room for many units, that is divided by a power of ten and rounded down once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

MOST_ROWS = 2**26
"""A unit with more rows than this does not count at all.  Up to there, no product of a statement overflows."""

TOTAL_BITS = 36
"""The weights are as fine as leaves a row's most times `k` below 2**36; finer would not be seen in an answer."""

TABLE_BITS = 30
"""The same for tables that add up, which are computed in 64 bits: so 2**30 units have room, whatever they add."""

WEIGHT_BITS = 30
"""`k * 2**bits` stays below 2**30, so that times `MOST_ROWS` it fits into an integer."""


@dataclass(frozen=True)
class RowWeights:
    """How rows are weighed: `limit` rows of a unit count in full, each as `2**bits / divisor`."""

    limit: int
    bits: int
    divisor: int = 1
    """What the share of a unit in a group is divided by, downwards."""

    @classmethod
    def of(cls, limit: int, most: int, total_bits: int = TOTAL_BITS) -> RowWeights:
        """Return weights for at most `limit` rows of a unit, each of which adds at most `most` to any total."""
        bits = min(total_bits - (limit * most).bit_length(), WEIGHT_BITS - limit.bit_length())
        return cls(limit, max(bits, 0))

    @classmethod
    def of_table(cls, limit: int, most: int) -> RowWeights:
        """Return weights for a table that adds up: all that a unit may add stays below 2**TABLE_BITS, however fine."""
        weights, divisor = cls.of(limit, most, TABLE_BITS), 1
        while limit * most // divisor >= 2**TABLE_BITS:
            divisor *= 10
        return cls(limit, weights.bits, divisor)

    @property
    def one(self) -> int:
        """The weight of a row that counts in full, before it is divided."""
        return 2**self.bits

    @property
    def unit(self) -> Fraction:
        """What 1 in a weighed total is worth in rows, or in what they add."""
        return Fraction(self.divisor, self.one)
