"""Running totals: what is known of sums of the rows up to each key, which were asked for as such."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

Interval = tuple[Any, Any]


@dataclass(frozen=True)
class RunningTotals:
    """For each released row what is known of the sum of the rows up to it, along one of the keys."""

    along: int
    """By its place among the keys."""
    noise: tuple[float, ...]
    intervals: tuple[Interval, ...]

    @classmethod
    def load(cls, data: Mapping[str, Any] | None) -> RunningTotals | None:
        """Read what `data` gave; None of an answer that was kept without it."""
        if data is None:
            return None
        return cls(data["along"], tuple(data["noise"]), tuple((low, high) for low, high in data["intervals"]))

    def data(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return asdict(self)

    def widen(self, widen: Callable[[Interval], Interval | None]) -> RunningTotals:
        """Return the same with other intervals: what is cut off all rows together is cut off each sum at most."""
        return replace(self, intervals=tuple(widen(ends) or ends for ends in self.intervals))
