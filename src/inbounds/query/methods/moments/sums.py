"""Released sums of the parts of rows, and what they say: exactly for a group, and in doubles for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.query.methods.moments.doubles import Doubles
from inbounds.query.methods.moments.pivots import Pivots

if TYPE_CHECKING:
    from inbounds.query.methods.moments.pivots import Numbers
    from inbounds.query.methods.moments.tails import Tails


@dataclass(frozen=True, eq=False)
class MomentSums:
    """The sums of all products of parts, for each group."""

    measured: Sequence[Sequence[int | Fraction]]
    """In steps, with noise, which may have taken them below 0."""
    step: Fraction
    places: Sequence[tuple[Fraction, ...]]
    """Where each of the sums of a group stands in the range of each column."""
    row: Fraction
    """What a row adds to all sums of its group together."""

    @cached_property
    def released(self) -> Sequence[Sequence[int | Fraction]]:
        """The sums as they can be: 0 or more."""
        return [[max(total, 0) for total in group] for group in self.measured]

    # What the sums of one group say, exactly.

    # There may be many groups, so this is done in integers where it can be: fractions take ten times as long.

    def nearest_rows(self, group: int) -> int:
        """Return the whole number nearest to how many rows there are, the upper one of two."""
        rows, steps = self._steps_of_row
        return (2 * sum(self.released[group]) * rows + steps) // (2 * steps)

    @cached_property
    def _steps_of_row(self) -> tuple[int, int]:
        """Some rows, and the steps that these are."""
        return (self.step / self.row).as_integer_ratio()

    def exact_mean(self, group: int, axis: int, low: Fraction, high: Fraction) -> Fraction:
        """Return the mean of a column between these ends; the middle where there are no rows."""
        sums = self.released[group]
        weighed = sum(part * twice for part, twice in zip(sums, self._twice_places[axis], strict=True))
        if (together := sum(sums)) == 0:
            return (low + high) / 2
        (least, below), (most, above) = low.as_integer_ratio(), high.as_integer_ratio()
        shares = most * below * weighed + least * above * (2 * together - weighed)
        return Fraction(shares, 2 * together * below * above)

    @cached_property
    def _twice_places(self) -> list[list[int]]:
        """Twice the places of the sums in each column, which are 0, a half or 1."""
        return [[int(2 * place[axis]) for place in self.places] for axis in range(len(self.places[0]))]

    # What the sums of all groups say, in doubles.

    @cached_property
    def doubles(self) -> Doubles:
        """What all groups say, as possible answers are made of it."""
        return Doubles(np.maximum(self._measured, 0), self.places, self.row)

    @cached_property
    def _measured(self) -> Numbers:
        numerator, denominator = self.step.as_integer_ratio()
        # An integer over an integer is the nearest double.
        return np.array([[part * numerator / denominator for part in sums] for sums in self.measured], dtype=np.float64)

    def pivots(self, tails: Tails, alpha: float) -> Pivots:
        """Return what intervals are made of: the sums as they were measured."""
        return Pivots(self._measured, [self.doubles.at(axis) for axis in self.doubles.axes], tails, alpha)
