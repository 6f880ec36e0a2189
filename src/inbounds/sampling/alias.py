"""Exact draws from a table of probabilities in units of 2**-64, with the same work for every row: Walker's aliases.

A row is cut into as many equal parts as a power of two, each filled by at most two outcomes (Walker 1977, Vose 1991).
The first bits of a random word choose the part, the others which of the two: one look-up and one comparison, whatever
the row and whatever comes out.  All is done in integers, so each outcome has exactly the probability of the table.
"""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BITS = 64
"""Bits of a random word; every row adds up to two to this power."""

FIRST = 1024
"""Places are counted from here."""


class AliasTable:
    """Draws from the rows of a table."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        self._part_bits = max(1, (len(rows[0]) - 1).bit_length())
        self._rest_bits = BITS - self._part_bits
        parts = [_divide(row, self._part_bits) for row in rows]
        # Small integers are not made anew, so no place is one; and arrays are compact: what a row needs fits the cache,
        # whether it was needed just now or not.
        self._parts = float(1 << self._part_bits)
        self._limits = array("Q", [0] * FIRST + [limit for limits, _ in parts for limit in limits])
        self._outcomes = array("d", [0] * 2 * FIRST + [outcome for _, outcomes in parts for outcome in outcomes])

    def draw(self, row: float, entropy: Entropy) -> float:
        """Return one outcome of a row, both whole numbers as doubles: the same work whatever the row is."""
        word = int.from_bytes(entropy(BITS // 8))
        place = int(row * self._parts + FIRST + (word >> self._rest_bits))
        rest = word & ((1 << self._rest_bits) - 1)
        return self._outcomes[2 * place + (rest >= self._limits[place])]

    def draw_many(self, rows: NDArray[np.intp], words: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return one outcome of each row, by its word."""
        rest_bits = np.uint64(self._rest_bits)
        places = (rows << self._part_bits) + (words >> rest_bits).astype(np.intp)
        rest = words & np.uint64((1 << self._rest_bits) - 1)
        return self._outcome_array[2 * places + (rest >= self._limit_array[places])]

    @cached_property
    def _limit_array(self) -> NDArray[np.uint64]:
        return np.array(self._limits[FIRST:], dtype=np.uint64)

    @cached_property
    def _outcome_array(self) -> NDArray[np.int32]:
        return np.array(self._outcomes[2 * FIRST :]).astype(np.int32)


def _divide(row: Sequence[int], bits: int) -> tuple[list[int], list[int]]:
    """Return for each part how much of it is its first outcome, and both outcomes of each part, one after the other."""
    # Fill each part that has too little with what another has too much, until all are full: the giver shrinks, and
    # becomes one that has too little once it is below a part itself (Vose).
    count, size = 1 << bits, 1 << (BITS - bits)
    left = [*row, *[0] * (count - len(row))]
    limits, outcomes = [size] * count, [outcome for part in range(count) for outcome in (part, part)]
    scarce = [outcome for outcome, weight in enumerate(left) if weight < size]
    plenty = [outcome for outcome, weight in enumerate(left) if weight > size]
    while scarce:
        part, giver = scarce.pop(), plenty[-1]
        limits[part], outcomes[2 * part + 1] = left[part], giver
        left[giver] -= size - left[part]
        if left[giver] <= size:
            plenty.pop()
            if left[giver] < size:
                scarce.append(giver)
    return limits, outcomes
