"""The cumulative distribution of a column: which part of the rows is at or below each value.

The bins of the column are the leaves of a tree, each level of which is measured, so that the rows up to any value are a
sum of few measured groups.  One possible table is made of all of them; what is added up along it never falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.confidence import CONFIDENCE, percent
from inbounds.bounds import Bounds
from inbounds.display.figures import format_error
from inbounds.display.progress import Progress
from inbounds.joint.joint_release import JointRelease
from inbounds.joint.measured.measurements import Measurements, measure
from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.noise_sum import reach
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.table.axis import Axis, Level
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.privacy.rho import pure_in_parts
from inbounds.query.methods.joint.joint_table import GEOMETRIC
from inbounds.query.methods.method import RANKS, Answered, Answering, Foreseen, at_rows, within_64_bits
from inbounds.sampling.entropy import Entropy, system

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARES = Bounds(0, 1)


@dataclass(frozen=True)
class CumulativeShares(Answering):
    """Shares of the rows up to the end of each bin: from 0 to 1, never falling."""

    plan: JointPlan
    branching: int
    guarantee: GuaranteeName = "distance"
    bounds: Bounds = SHARES

    @classmethod
    def of(cls, bins: int, epsilon: Fraction, sensitivity: Fraction, grain: Fraction) -> CumulativeShares:
        """Plan to measure so many bins, and a tree above them, each level at the same part of epsilon."""
        branching = best_branching(bins)
        layout = tree_of(bins, branching)
        groupings: list[Grouping] = [(level,) for level in range(len(layout.axes[0].levels) + 1)]
        split = {grouping: epsilon / len(groupings) for grouping in groupings}
        facts = Facts(layout, {}, None)
        plan = JointPlan.of(layout, epsilon, groupings, sensitivity=sensitivity, facts=facts, grain=grain, split=split)
        return cls(plan, branching)

    @property
    def sensitivity(self) -> Fraction:  # type: ignore[override]
        """The most that one unit changes all bins together."""
        return self.plan.sensitivity

    def answer_all(
        self, totals: Sequence[list[int]], confidence: float, report: Progress, entropy: Entropy = system
    ) -> list[tuple[Answered, ...]]:
        """Return a share for each bin; none if the released table is empty."""
        cells = np.array([within_64_bits(total) for (total,) in totals], dtype=np.int64)
        report(f"measuring {len(self.plan.measured)} levels of {len(cells)} bins")
        measured = measure(self.plan, cells, entropy)
        up_to = np.cumsum(JointRelease.of(measured).cells)
        whole = int(up_to[-1])
        ends = self._intervals(measured, (1 + confidence) / 2)
        return [
            (Answered(None if whole == 0 else float(rows) / whole, None, (low, high)),)
            for rows, (low, high) in zip(up_to.tolist(), ends, strict=True)
        ]

    def _intervals(self, measured: Measurements, confidence: float) -> list[tuple[float, float]]:
        """Return where each share lies: rows up to a bin, and rows beyond it, each in its interval."""
        bins = self.plan.layout.cells
        shares = []
        for last in range(bins):
            below, above = (self._ends(measured, part, confidence) for part in ((0, last + 1), (last + 1, bins)))
            low = below[0] / (below[0] + above[1]) if below[0] else 0.0
            high = below[1] / (below[1] + above[0]) if below[1] else float(above[0] == 0)
            shares.append((low, high))
        return shares

    def _ends(self, measured: Measurements, part: tuple[int, int], confidence: float) -> tuple[float, float]:
        """Return the ends of an interval for the rows in a stretch of bins, from the fewest measured groups.

        The noise of the groups of one level goes beyond its reach with at most an equal part of the odds.
        """
        # Take whole groups as high in the tree as they fit; add them up; add up how far each level's noise may reach.
        levels = stretch(part, self.branching, len(self.plan.measured))
        used = [level for level, groups in enumerate(levels) if groups]
        each = 1 - (1 - confidence) / max(len(used), 1)
        total, far = 0, 0
        for level in used:
            grains: NDArray[np.int64] = measured.grains[self._grouping(level)]
            total += int(grains[levels[level]].sum())
            far += reach(len(levels[level]), self.plan.rate(self._grouping(level)), each)
        return max(0.0, float(total - far)), max(0.0, float(total + far))

    def _grouping(self, level: int) -> Grouping:
        return (level,)

    def rho(self, epsilon: Fraction) -> Fraction:
        """Return at least the rho of all measurements: those of each grouping lose their part of epsilon."""
        return pure_in_parts(epsilon, self.plan.split.values())

    def mechanism(self) -> str:
        levels = len(self.plan.measured)
        return (
            f"two-sided geometric noise on {levels} level{'s' if levels > 1 else ''} of a tree over "
            f"{self.plan.layout.cells} bins, {self.branching} to a branch; then the nearest table of whole numbers "
            "that adds up, summed from the least value up"
        )

    def proof(self) -> str:
        """Say by which law the loss is at most epsilon."""
        return GEOMETRIC

    def expected_noise(self) -> str:
        rows = format_error(self._farthest)
        return f"with {percent()} probability, a count up to a value is within {rows} rows of the true one"

    def foreseen(self) -> Foreseen:
        """Return by which part of all rows a share is off, in per cent and with the usual confidence."""
        most = self._farthest
        return {RANKS: at_rows(lambda rows: min(100.0, 100 * most / rows))}

    def predicted_error(self, place: int, rows: int | None) -> float | None:
        """Return by how much a share is off at most, with the usual confidence."""
        return None if rows is None else min(1.0, self._farthest / rows)

    @property
    def _farthest(self) -> float:
        return max(self._reach(last) for last in range(self.plan.layout.cells))

    def _reach(self, last: int) -> float:
        levels = stretch((0, last + 1), self.branching, len(self.plan.measured))
        used = [level for level, groups in enumerate(levels) if groups]
        miss = (1 - CONFIDENCE) / max(len(used), 1)
        far = sum(reach(len(levels[level]), self.plan.rate(self._grouping(level)), 1 - miss) for level in used)
        return far * float(self.plan.grain)


def tree_of(bins: int, branching: int) -> Layout:
    """Return bins in a tree: so many of one level in each of the next, up to but without the total."""
    levels = []
    width = branching
    while -(-bins // width) > 1:
        levels.append(Level(f"{width} bins", tuple(i // width for i in range(bins))))
        width *= branching
    return Layout((Axis("bins", bins, tuple(levels)),))


def best_branching(bins: int) -> int:
    """Return how many go to a branch, for the least noise of rows up to a value.

    With `L` levels each has noise of `L / epsilon`, and a value's rows are about `L (b - 1) / 2` measured groups.
    """
    return min(range(2, max(bins, 2) + 1), key=lambda b: (_depth(bins, b) ** 3 * (b - 1), b))


def _depth(bins: int, branching: int) -> int:
    return len(tree_of(bins, branching).axes[0].levels) + 1


def stretch(part: tuple[int, int], branching: int, levels: int) -> list[list[int]]:
    """Return a stretch of leaves as whole groups: for each level, from the leaves up, the groups that are taken."""
    # On each level, take what sticks out beyond whole groups of the level above, and go on there with the rest.
    first, last = part
    groups: list[list[int]] = [[] for _ in range(levels)]
    for level in range(levels):
        if level == levels - 1:
            groups[level] += range(first, last)
            break
        up_first, up_last = -(-first // branching), last // branching
        if up_first >= up_last:
            groups[level] += range(first, last)
            break
        groups[level] += [*range(first, up_first * branching), *range(up_last * branching, last)]
        first, last = up_first, up_last
    return groups
