"""An axis: where values are drawn, and which of them are written beside it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10


@dataclass(frozen=True)
class Scale:
    """From values to places on a line."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def of(cls, values: list[float], start: float, end: float) -> Scale:
        """Return an axis with all values, and zero, on it."""
        low, high = min(0.0, *values), max(0.0, *values)
        if low == high:
            high = 1.0
        return cls(low, high, start, end)

    def place(self, value: float) -> float:
        """Return where a value is; one beyond the ends at the end."""
        part = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return up to about so many round values, with what is written beside them."""
        step = _step(self.low, self.high, most)
        decimals = max(0, -floor(log10(step)))
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [(at * step, _write(at * step, decimals)) for at in range(first, last + 1)]


def _write(value: float, decimals: int) -> str:
    """Return a round value as shortly as it can be told."""
    for size, letter in ((1e9, "bn"), (1e6, "m"), (1e3, "k")):
        if abs(value) >= 10 * size or (abs(value) >= size and value % size == 0 and size > 1e3):
            return f"{value / size:,.4g} {letter}".replace("-", "\N{MINUS SIGN}")
    return f"{value:,.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def _step(low: float, high: float, most: int) -> float:
    """Return the least step of 1, 2 or 5 times a power of ten by which up to so many are made."""
    rough = max((high - low) / most, 5e-300)
    power = 10.0 ** floor(log10(rough))
    return next(size * power for size in (1, 2, 5, 10) if size * power >= rough * (1 - 1e-9))
