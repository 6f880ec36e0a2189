"""An epsilon that was found for a wanted error."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class FoundEpsilon:
    """The least epsilon with a wanted error, and what is predicted at it."""

    epsilon: Fraction
    words: str
    """What was wanted and what is predicted, for people."""

    def __str__(self) -> str:
        return self.words
