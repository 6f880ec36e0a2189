"""Numbers rounded to whole numbers of steps, exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

SHIFT = 2**63
"""Beyond every index between finite ends."""


@dataclass(frozen=True, eq=False)
class Rounding:
    """Finds the point `offset + k * step` that is nearest to a value, the upper one of two."""

    step: Fraction
    offset: Fraction

    @cached_property
    def _integers(self) -> tuple[int, int, int]:
        """The integers `(a, b, c)` with index of n/d = floor((n * a + d * b) / (d * c))."""
        shift = Fraction(1, 2) - self.offset / self.step
        step = self.step
        return (
            step.denominator * shift.denominator,
            step.numerator * shift.numerator,
            step.numerator * shift.denominator,
        )

    def index(self, numerator: int, denominator: int) -> int:
        """Return `floor((value - offset) / step + 1/2)` for the value `numerator / denominator`, exactly.

        Rounding half up, unlike half to even, never brings two values farther apart than `ceil(distance / step)`.
        """
        a, b, c = self._integers
        return (numerator * a + denominator * b) // (denominator * c)

    @cached_property
    def _for_doubles(self) -> tuple[float, int, int, int, int, int] | None:
        """What `index_of_double` multiplies by and divides by, None where a double would overflow."""
        a, b, c = self._integers
        # What lies half way between two points is a multiple of 1/d.
        d = 2 * math.lcm(self.step.denominator, self.offset.denominator)
        bits = d.bit_length() + 54
        c <<= bits + 1
        # So many steps are added and subtracted that every number in between has the same size.
        return (2.0**bits, SHIFT * c, a, b << bits + 1, c, SHIFT * a) if bits < 900 else None

    def index_of_double(self, value: float) -> int | None:
        """Return the index nearest to a double exactly, in a time that its digits do not tell; None for what is vast.

        A double is cut off at a bit so low that it only ever counts whether there was more: one that has more is below
        1/d, and of the multiples of 1/d only zero is there.
        """
        if (constants := self._for_doubles) is None:
            return None
        # In integers of one fixed size: a shift by the same number of bits, one product and one division for every
        # double.
        scale, more, a, b, c, less = constants
        scaled = value * scale  # exactly
        if scaled - scaled != 0.0:  # NaN or infinite
            return None
        return ((2 * math.floor(scaled) + (not scaled.is_integer()) + more) * a + b) // c - less
