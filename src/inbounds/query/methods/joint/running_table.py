"""A table that running totals are made of: blocks of keys are measured too, where that makes the totals more accurate.

One possible table is made of all that was measured, so running totals are whole, add up and, of counts, never fall.
Their intervals are made of few measured blocks, instead of the intervals of all cells.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.measured.measurements import Measurements
from inbounds.joint.measured.running_interval import running_intervals
from inbounds.joint.plan.facts import Facts
from inbounds.joint.plan.plan import JointPlan, variance
from inbounds.joint.plan.running_sums import block_widths, blocked_axis, running_errors, running_variances
from inbounds.joint.table.axis import Axis
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.query.methods.joint.joint_table import JointTable
from inbounds.query.methods.method import Answered, Foreseen, UpTo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WORTH = 0.9
"""Blocks are measured if running totals are then off by at most this part: they cost accuracy in each cell."""

FEWEST = 3
"""Of fewer keys there are no blocks."""

MOST_BRANCHING = 64
"""So many blocks make one of the next at most: more are best only where two levels of thousands of keys are."""

MOST_KEPT = 50_000
"""Of more cells no ledger has room for the intervals of running totals as well."""


@dataclass(frozen=True)
class RunningTable(JointTable):
    """Counts or sums that add up, and what is known of the sums up to each key of one axis."""

    along: int = 0
    """The place of that axis."""

    @classmethod
    def of(cls, table: JointTable, name: str) -> JointTable:
        """Return the table with the least predicted error of running totals along an axis, of this one and of those
        with blocks; this one as it is, if it is not simply the cells, is too large or something of it is public."""
        axes = table.plan.layout.axes
        place = next((i for i, axis in enumerate(axes) if axis.name == name and not axis.levels), None)
        is_cells = [rows.grouping for rows in table.rows] == [table.plan.layout.finest]
        is_kept = table.plan.layout.cells <= MOST_KEPT
        if place is None or not is_cells or not is_kept or table.plan.facts.known:
            return table
        plain = cls(**{part.name: getattr(table, part.name) for part in fields(table)}, along=place)
        if axes[place].size < FEWEST:
            return plain
        # Levels have no smaller part of epsilon than cells or a total have at times: noise for it can be had.
        blocked = replace(plain, plan=_plan_blocks(table.plan, place, _best_widths(table.plan, axes[place].size)))
        return blocked if blocked.mean_error <= WORTH * plain.mean_error else plain

    @property
    def has_blocks(self) -> bool:
        """Whether more is measured than for the cells alone."""
        return bool(self._axis.levels)

    @property
    def _axis(self) -> Axis:
        return self.plan.layout.axes[self.along]

    @cached_property
    def _errors(self) -> Floats:
        """How far off the running total up to each key is predicted to be."""
        return running_errors(self.plan, self.along) * float(self.step)

    @property
    def mean_error(self) -> float:
        """The same, on average."""
        return float(self._errors.mean())

    @property
    def widest(self) -> Answered:
        cell = super().widest
        assert cell.interval is not None
        return replace(cell, up_to=UpTo(-1.2345678901234567e-300, cell.interval))

    def made_of(self, measured: Measurements, confidence: float) -> list[tuple[Answered, ...]]:
        """Return the cells, each with the interval and the expected error of the sum up to it."""
        (rows,) = self.rows
        keys = np.indices(self.plan.layout.shape)[self.along]
        ends = running_intervals(measured, self.along, confidence)
        lows, highs, keys = (part.ravel()[list(rows.places)].tolist() for part in (*ends[:: self.sign], keys))
        answers = super().made_of(measured, confidence)
        return [
            (replace(cell, up_to=UpTo(float(self._errors[key]), (self._write_end(low), self._write_end(high)))),)
            for (cell,), key, low, high in zip(answers, keys, lows, highs, strict=True)
        ]

    def _is_of(self, layout: Layout) -> bool:
        """Return whether cells are laid out as here, whichever blocks were measured."""
        return [(axis.name, axis.size) for axis in layout.axes] == [
            (axis.name, axis.size) for axis in self.plan.layout.axes
        ]

    def _title(self, grouping: Grouping) -> str:
        if self.plan.layout.names(grouping) and grouping not in {rows.grouping for rows in self.rows}:
            return ", ".join(map(str, self.plan.layout.names(grouping)))
        return super()._title(grouping)

    def foreseen(self) -> Foreseen:
        """Return the error that is predicted of running totals, and of the cells that they are made of."""
        (errors,) = super().foreseen().values()
        return {"on average": {f"running totals over {self._axis.name}": self.mean_error, **errors}}


def _best_widths(plan: JointPlan, size: int) -> list[int]:
    """Return the widths of blocks, single keys among them, with the least predicted error of running totals."""

    def error(widths: list[int]) -> float:
        noise = variance(float(plan.epsilon * plan.grain / plan.sensitivity / len(widths)))
        return float(np.sqrt(running_variances(size, widths, [noise] * len(widths))).mean())

    branchings = range(2, min(MOST_BRANCHING + 1, size))
    return min((block_widths(size, branching) for branching in branchings), key=error)


def _plan_blocks(plan: JointPlan, place: int, widths: list[int]) -> JointPlan:
    """Return a plan that measures blocks of these widths, each with the same part of epsilon."""
    axes = list(plan.layout.axes)
    axes[place] = blocked_axis(axes[place], widths, (axis.name for axis in axes))
    layout = Layout(tuple(axes))
    cells = layout.finest
    groupings = [(*cells[:place], level, *cells[place + 1 :]) for level in range(len(widths))]
    return JointPlan.of(
        layout,
        plan.epsilon,
        groupings,
        sensitivity=plan.sensitivity,
        grain=plan.grain,
        facts=Facts(layout, {}, plan.facts.most),
        nonnegative=plan.nonnegative,
        split=dict.fromkeys(groupings, plan.epsilon / len(groupings)),
    )
