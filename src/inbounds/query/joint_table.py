"""A table of counts or sums that adds up: every grouping is measured, and one possible table is made of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from inbounds.bounds import Bounds
from inbounds.display.progress import Progress
from inbounds.joint.interval import intervals
from inbounds.joint.joint_release import JointRelease
from inbounds.joint.layout import Grouping
from inbounds.joint.measuring import measure
from inbounds.joint.plan import JointPlan
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.answering import Answered, Answering, Interval, Value, within_64_bits, written
from inbounds.sampling.entropy import Entropy, system

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Rows:
    """The rows of an answer that one grouping has: where each of them stands in the flattened grouping."""

    grouping: Grouping
    places: tuple[int, ...]
    title: str
    """What the grouping is called."""


@dataclass(frozen=True)
class JointTable(Answering):
    """Counts or sums whose totals add up, from unclamped measurements of each grouping."""

    plan: JointPlan
    rows: tuple[Rows, ...]
    bounds: Bounds
    step: Fraction
    """What 1 in a released cell is worth."""
    sign: int = 1
    """-1 where sums cannot be positive: they are measured the other way round."""
    guarantee: GuaranteeName = "distance"

    @property
    def sensitivity(self) -> Fraction:  # type: ignore[override]
        """The most that one unit changes all cells together."""
        return self.plan.sensitivity * self.step

    def answer_all(
        self, totals: Sequence[list[int]], confidence: float, report: Progress, entropy: Entropy = system
    ) -> list[tuple[Answered, ...]]:
        """Return the rows of every grouping."""
        cells = np.array([within_64_bits(total) * self.sign for (total,) in totals], dtype=np.int64)
        report(f"measuring {len(self.plan.measured)} groupings of {len(cells)} cells")
        measured = measure(self.plan, cells.reshape(self.plan.layout.shape), entropy)
        report("making a table that adds up")
        released = JointRelease.of(measured)
        found: list[tuple[Answered, ...]] = []
        for rows in self.rows:
            values = np.asarray(self.plan.layout.sum(released.cells, rows.grouping)).ravel()
            lows, highs = (ends.ravel() for ends in intervals(measured, rows.grouping, confidence))
            noise = self.plan.error(rows.grouping) * float(self.step)
            found += [(self._answered(values, lows, highs, place, noise),) for place in rows.places]
        return found

    def _answered(
        self, values: NDArray[np.int64], lows: NDArray[np.int64], highs: NDArray[np.int64], place: int, noise: float
    ) -> Answered:
        ends = sorted((self._value(int(lows[place])), self._value(int(highs[place]))))
        interval: Interval = ends[0], ends[1]
        return Answered(self._value(int(values[place])), noise, interval)

    def _value(self, steps: int) -> Value:
        return written(self.bounds, self.sign * steps * self.step)

    def mechanism(self) -> str:
        """Say which mechanism answers, and why."""
        split = "; ".join(f"{self._title(one)} at {float(part):.4g}" for one, part in self.plan.split.items())
        return (
            f"two-sided geometric noise on every group, epsilon divided for the least predicted error: {split}. Then "
            "the nearest table of whole numbers that adds up, which costs nothing"
        )

    def _title(self, grouping: Grouping) -> str:
        named = {rows.grouping: rows.title for rows in self.rows}
        return named.get(grouping, "the total" if grouping == self.plan.layout.total else "cells")

    def expected_noise(self) -> str:
        """Say how far off the noise will put an answer, before anything is asked."""
        told = {rows.title: self.plan.error(rows.grouping) * float(self.step) for rows in self.rows}
        total = self.plan.layout.total
        if total not in {rows.grouping for rows in self.rows}:
            told["the sum of all"] = self.plan.error(total) * float(self.step)
        return ", ".join(f"{error:.4g} in {title}" for title, error in told.items()) + ", on average, as predicted"
