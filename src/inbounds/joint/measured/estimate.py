"""What the table should come near to: least squares first, and only then what is possible.

Non-negative least squares in one go lets every cell near zero push its groups up: among 2,000 cells, most of them
empty, a total that was measured to within 80 comes out 1,200 too high.  So the measurements are first reconciled
without regard to signs, which is unbiased.  The table is then made possible near that, in every grouping that was asked
for: each weighed by how well it is known by then, and by the square root of the number of its cells as well, so that
cells give way before sums (docs/decisions/0035-signs-last.md, docs/decisions/0084-who-gets-epsilon.md).
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.measured.measurements import Measurements
from inbounds.joint.solve.projection import project
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.limit.program.deadline import Deadline

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Estimate:
    """Values of every grouping that was asked for, which agree with each other, and how much each counts from here."""

    values: dict[Grouping, NDArray[np.float64]]
    weights: dict[Grouping, float]

    @classmethod
    def of(cls, measured: Measurements, seconds: float) -> Estimate:
        """Reconcile measurements by least squares, without regard to signs; past the time they stay as they are."""
        plan = measured.plan
        values, weights = measured.as_floats(), plan.weights
        if len(plan.asked) == 1 or not plan.nonnegative:
            return cls(values, weights)
        with suppress(Exception):  # what follows takes any values, and the table is paid for
            values, weights = _reconcile(measured, seconds), plan.asked_weights
        return cls(values, _by_cells(plan.layout, weights))


def _by_cells(layout: Layout, weights: dict[Grouping, float]) -> dict[Grouping, float]:
    """Return weights times the roots of the numbers of cells in a group, the greatest as 1: cells give way first."""
    heavier = {
        grouping: weight * math.sqrt(layout.cells / layout.groups(grouping)) for grouping, weight in weights.items()
    }
    most = max(heavier.values())
    return {grouping: weight / most for grouping, weight in heavier.items()}


def _reconcile(measured: Measurements, seconds: float) -> dict[Grouping, NDArray[np.float64]]:
    plan, values, layout = measured.plan, measured.as_floats(), measured.plan.layout
    until = Deadline.after(seconds)
    flat = project(layout, values, plan.weights, plan.facts, nonnegative=False, deadline=until)
    cells = flat.reshape(layout.shape)
    return {grouping: np.asarray(layout.sum(cells, grouping), dtype=np.float64) for grouping in plan.asked}
