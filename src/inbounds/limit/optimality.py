"""What was proved of how good a mechanism is: its error from above, and from below what no mechanism can do better."""

from __future__ import annotations

import math
from dataclasses import dataclass

from inbounds.display.facts import FactSheet
from inbounds.limit.goal import Minimise

TELLING = 100.0
"""A ratio above this says nothing: the limit was not found, rather."""

AS_GOOD = 1e-6
"""A ratio so near to one says that nothing is better."""


def format_ratio_up(ratio: float) -> str:
    """Write a ratio that is claimed to be the most: three places, none too low."""
    return f"{math.ceil(ratio * 1000) / 1000:.3f}" if math.isfinite(ratio) else "infinitely many"


@dataclass(frozen=True)
class Optimality:
    """The error of a mechanism beside the limit: an error that no mechanism is below that keeps epsilon."""

    minimise: Minimise
    error: float
    """Its mean or worst expected error, rounded up."""
    limit: float
    """Proved from below, and rounded down: no mechanism that keeps epsilon has a smaller one."""
    found_by: str
    """What kind of mechanism it is."""

    @property
    def ratio(self) -> float:
        """How many times the limit the error is, at most; infinite where nothing is known."""
        if self.error <= self.limit:
            return 1.0
        return self.error / self.limit if self.limit > 0 else float("inf")

    def __str__(self) -> str:
        start = f"{self.minimise} error {self.error:.6g} ({self.found_by})"
        if self.ratio <= 1 + AS_GOOD:
            return f"{start}: no mechanism that keeps epsilon can do better"
        if self.ratio > TELLING:
            return f"{start}: how much better a mechanism could be is not known"
        most = format_ratio_up(self.ratio)
        return f"{start}: at most {most} times what any mechanism can reach, which is {self.limit:.6g} or more"

    def _repr_html_(self) -> str:
        facts = [
            (f"{self.minimise} error", f"{self.error:.6g}"),
            ("no mechanism is below", f"{self.limit:.6g}"),
            ("ratio, at most", format_ratio_up(self.ratio)),
            ("found by", self.found_by),
        ]
        return FactSheet(facts, "Optimality").html()
