"""What the table should come near to: least squares first, and only then what is possible.

Non-negative least squares in one go lets every cell near zero push its groups up: among 2,000 cells, most of them
empty, a total that was measured to within 80 comes out 1,200 too high.  So the measurements are first reconciled
without regard to signs, which is unbiased.  The table is then made possible near that, with every grouping weighed by
the square root of the number of its cells as well: cells give way before sums (docs/decisions/0035-signs-last.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds.joint.measured.measurements import Measurements
from inbounds.joint.solve.projection import project
from inbounds.joint.table.layout import Grouping
from inbounds.limit.program.deadline import Deadline

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Estimate:
    """Values of every measured grouping that agree with each other, and how much each counts from here on."""

    values: dict[Grouping, NDArray[np.float64]]
    weights: dict[Grouping, float]

    @classmethod
    def of(cls, measured: Measurements, seconds: float) -> Estimate:
        """Reconcile measurements by least squares, without regard to signs; past the time they stay as they are."""
        plan, layout = measured.plan, measured.plan.layout
        values, weights = measured.as_floats(), plan.weights
        if len(values) == 1 or not plan.nonnegative:
            return cls(values, weights)
        # Sums are known better by now than their own measurements say: cells give way before them.
        heavier = {
            grouping: weight * math.sqrt(layout.cells / layout.groups(grouping)) for grouping, weight in weights.items()
        }
        most = max(heavier.values())
        return cls(_reconcile(measured, seconds), {grouping: weight / most for grouping, weight in heavier.items()})


def _reconcile(measured: Measurements, seconds: float) -> dict[Grouping, NDArray[np.float64]]:
    plan, values, layout = measured.plan, measured.as_floats(), measured.plan.layout
    until = Deadline.after(seconds)
    try:
        flat = project(layout, values, plan.weights, plan.facts, nonnegative=False, deadline=until)
    except Exception:  # noqa: BLE001  what follows takes any values, and the table is paid for
        return values
    cells = flat.reshape(layout.shape)
    return {grouping: np.asarray(layout.sum(cells, grouping), dtype=np.float64) for grouping in values}
