"""Numbers as people read them on a page: no more digits than the noise leaves a meaning."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import ceil, log10
from typing import Any

from inbounds.bounds.notation import write_end
from inbounds.results.answer import Answer

MOST_DECIMALS = 6
FINENESS = 0.2
"""The last digit stands for no more than this part of the noise."""

LARGE = 1e15
"""Numbers from here on are written with an exponent."""


@dataclass(frozen=True)
class Figures:
    """How the numbers of a column are written."""

    decimals: int | None = None
    """None to write four digits, whatever they are."""

    @classmethod
    def of(cls, answer: Answer, measure: int) -> Figures:
        """Return how a measure is written: so finely that rounding is small beside the noise."""
        noises = [noise for row in answer.noise if (noise := row[measure])]
        if not noises:
            return cls()
        return cls(min(max(ceil(-log10(min(noises) * FINENESS)), 0), MOST_DECIMALS))

    def write(self, cell: Any) -> str:
        """Return a value as a text."""
        if isinstance(cell, bool) or not isinstance(cell, int | float):
            return write_key(cell)
        if isinstance(cell, int):
            return _signed(f"{cell:,}")
        if self.decimals is None or abs(cell) >= LARGE:
            return _signed(f"{cell:,.4g}" if abs(cell) < 1e4 or abs(cell) >= LARGE else f"{cell:,.1f}")
        return _signed(f"{cell:,.{self.decimals}f}")


def write_key(cell: Any) -> str:
    """Return a category, a day or a time as a text."""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, datetime):
        return cell.isoformat(" ", "minutes" if not (cell.second or cell.microsecond) else "auto")
    return "–" if cell is None else str(cell)


def write_noise(noise: float) -> str:
    """Return an expected noise: two digits, for it is an estimate."""
    return f"{noise:,.0f}" if noise >= 99.5 else f"{noise:.2g}"


def write_epsilon(epsilon: Fraction) -> str:
    """Return a cost exactly, and of a fraction about how much that is."""
    exact = write_end(epsilon)
    return f"{float(epsilon):.4g} ({exact})" if "/" in exact else exact


def _signed(text: str) -> str:
    """Return a number with a real minus; one that is zero when it is rounded has no sign."""
    if not text.startswith("-"):
        return text
    return text.replace("-", "\N{MINUS SIGN}", 1) if any(digit in text for digit in "123456789") else text[1:]
