"""From measurements to a table that may leave: project, round, verify."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from inbounds.errors import ProjectionFailed
from inbounds.joint.solve.projection import project, quick
from inbounds.joint.solve.rounding import round_cells
from inbounds.joint.solve.verification import verify
from inbounds.limit.program.deadline import Deadline

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.plan.facts import Facts
    from inbounds.joint.table.layout import Grouping, Layout

NEAREST = "the nearest possible table"
QUICK = "a possible table near the measurements of one chain of groupings"


@dataclass(frozen=True, eq=False)
class Solved:
    """A verified table, the groupings whose every sum is within 1 of the projected one, and how it was found."""

    cells: NDArray[np.int64]
    kept_groupings: tuple[Grouping, ...]
    method: str


def solve(
    layout: Layout,
    measured: Mapping[Grouping, NDArray[np.float64]],
    weights: Mapping[Grouping, float],
    groupings: Sequence[Grouping],
    facts: Facts,
    *,
    nonnegative: bool = True,
    seconds: float = 60.0,
) -> Solved:
    """Return a possible table for what was measured; it was verified in whole numbers.

    Facts have been checked before (`Facts.check`).  Half the time is for the nearest table; if that is not enough, a
    quick one takes its place.  Raise `ProjectionFailed` if neither leads to a table of which all facts are true.
    """
    deadline = Deadline.after(seconds)

    def finish(cells: NDArray[np.float64], method: str, until: Deadline) -> Solved:
        whole = round_cells(layout, cells, groupings, facts, nonnegative=nonnegative, deadline=until)
        verify(layout, whole.cells, facts, nonnegative=nonnegative)
        return Solved(whole.cells, whole.kept_groupings, method)

    try:
        cells = project(layout, measured, weights, facts, nonnegative=nonnegative, deadline=deadline.share(0.5))
        return finish(cells, NEAREST, deadline.share(0.7))
    except Exception:  # noqa: BLE001  a solver that breaks is one that found nothing: the table is paid for
        pass
    try:
        return finish(quick(layout, measured, weights, facts, nonnegative=nonnegative), QUICK, deadline)
    except ProjectionFailed:
        raise
    except Exception as broken:  # noqa: BLE001
        raise ProjectionFailed(
            f"no possible table was found, because of {type(broken).__name__}; the measurements remain valid: try "
            "again with more time or memory"
        ) from None
