"""Waves: what repeats itself every so many steps, and is the same upwards and downwards, is a sum of these."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Waves:
    """The first waves, but for the constant, of what repeats every `2 * length` steps and is the same either way."""

    length: int
    frequency: Floats
    """By how much each turns with one step."""
    times: Floats
    """How often each counts: the one that changes its sign with every step once, the others twice."""
    even: Floats
    """2 for waves that are the same at both ends of the span, 0 for the others."""

    @classmethod
    def of(cls, length: int, count: int) -> Waves:
        """Return so many of them, at most `length`."""
        number = np.arange(1.0, count + 1)
        return cls(length, np.pi * number / length, np.where(number == length, 1.0, 2.0), 2.0 * (number % 2 == 0))

    def turned(self, steps: float | Floats) -> Complex:
        """Return `exp(i w steps)`."""
        return np.exp(1j * self._angle(steps))

    def summed(self, steps: float | Floats) -> Complex:
        """Return the sum of `exp(i w j)` over `0 <= j < steps`."""
        return np.expm1(1j * self._angle(steps)) / np.expm1(1j * self.frequency)

    def repeated(self, loss: float, steps: int) -> Complex:
        """Return the sum of `exp((i w steps - loss) j)` over `j >= 0`."""
        turn = np.expm1(1j * self._angle(steps % (2 * self.length)))
        return 1 / (-math.expm1(-loss) - math.exp(-loss) * turn)

    def _angle(self, steps: float | Floats) -> Floats:
        # Whole turns are taken off before anything is rounded.
        return np.asarray(np.mod(steps, 2.0 * self.length))[..., None] * self.frequency
