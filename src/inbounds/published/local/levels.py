"""The two levels of probability: whole numbers whose ratio is just below exp(epsilon)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from inbounds.exact.balls import ball, lock, lower, workprec
from inbounds.mechanisms.setting import SLACK

UNIT = 2**96
"""The lower level."""

GREATEST = 100
"""For a greater epsilon the levels are those for this one: what is rarer than exp(-100) is never seen."""


@dataclass(frozen=True)
class Levels:
    """Two whole numbers."""

    low: int
    high: int
    epsilon: Fraction
    """What they are for."""

    @classmethod
    def of(cls, epsilon: Fraction) -> Levels:
        """Return levels with `high / low` at most `exp(epsilon)`, proved in balls, and no more than a hair below it."""
        capped = min(epsilon, Fraction(GREATEST))
        with lock(), workprec(512):
            high = floor(lower(ball(capped * (1 - SLACK)).exp()) * UNIT)
        return cls(UNIT, high, capped)

    @property
    def step(self) -> int:
        """How much the higher level is above the lower one."""
        return self.high - self.low

    @property
    def ratio(self) -> Fraction:
        """How many times the lower level the higher one is."""
        return Fraction(self.high, self.low)
