"""The best of all private tables, found in doubles and made exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

import numpy as np

from inbounds.display.progress import Progress
from inbounds.errors import InvalidParameter
from inbounds.limit.column_generation import solved
from inbounds.limit.exact_table import ExactTable, repaired
from inbounds.limit.extreme_rays import Line
from inbounds.limit.linear_program import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Minimise = Literal["mean", "worst"]

MOST_TRUE_ANSWERS = 400
"""More than this many true answers are not asked about: it would take long, and memory."""

MOST_EPSILON = 15
"""Beyond this the errors of a table are lost among the rounding errors of doubles."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best table, and how good it is."""

    table: ExactTable
    limit: float
    """No private table has an error below this, as far as doubles can tell: the bound of the program's prices."""


def solver_is_installed() -> bool:
    """Return whether the optimum can be computed here."""
    return find_spec("highspy") is not None


def solve(
    costs: Floats,
    adjacent: NDArray[np.bool_],
    epsilon: Fraction,
    *,
    minimise: Minimise,
    prior: Floats,
    progress: Progress | None = None,
) -> Optimum:
    """Return the table of probabilities with the least mean or worst cost that keeps epsilon between adjacent rows.

    Rows are true answers and columns releases.  The rows adjacent to one are all rows from one before it to one after
    it.  The prior is how much each row counts in the mean.
    """
    if epsilon > MOST_EPSILON:
        raise InvalidParameter(
            f"the optimal mechanism is for epsilon up to {MOST_EPSILON}, got {float(epsilon):g}; beyond, errors are "
            "lost among rounding errors: do without it"
        )
    line = Line(np.where(adjacent.any(1), np.minimum(adjacent.argmax(1), np.arange(len(costs))), 0), float(epsilon))
    if len(costs) == 1:
        return Optimum(repaired((costs == costs.min()).astype(float), adjacent, epsilon), float(costs.min()))
    weighed = costs if minimise == "worst" else costs * prior[:, None]
    mirrored = _is_mirrored(weighed) and _is_mirrored(adjacent)
    problem = Problem(line, weighed, minimise == "worst", mirrored)
    found = solved(problem, progress)
    limit, _ = problem.bound(found.prices)
    return Optimum(repaired(found.table, adjacent, epsilon), limit)


def _is_mirrored(table: NDArray[np.generic]) -> bool:
    return bool(np.array_equal(table, table[::-1, ::-1]))
