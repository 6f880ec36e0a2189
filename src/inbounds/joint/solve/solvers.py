"""The two programs that are solved by others: greatest flows, and linear programs in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.errors import InvalidParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.joint.table.layout import Grouping, Layout

NOT_INSTALLED = (
    "this table needs a solver, and none is installed: pip install 'inbounds[joint]', which brings scipy; or ask for "
    "groupings that lie in one another"
)

UNLIMITED = 1 << 60
"""As a bound, of either sign: there is none."""

MOST_FLOW = 1 << 30
"""The solver of flows counts in 32 bits."""

Bounds = tuple["NDArray[np.int64]", "NDArray[np.int64]"]
"""The least and the greatest value of each group of a grouping, flat."""


def solver_is_installed() -> bool:
    """Return whether these programs can be solved here."""
    return find_spec("scipy") is not None


def greatest_flow(
    tails: NDArray[np.intp], heads: NDArray[np.intp], capacities: NDArray[np.int64], source: int, sink: int
) -> tuple[int, NDArray[np.int64]]:
    """Return how much can flow from source to sink, and a flow along each arc; no two arcs are parallel."""
    sparse, graphs = _scipy("scipy.sparse"), _scipy("scipy.sparse.csgraph")
    nodes = 1 + max(int(tails.max()), int(heads.max()))
    whole = np.minimum(capacities, MOST_FLOW).astype(np.int32)
    result = graphs.maximum_flow(sparse.csr_array((whole, (tails, heads)), shape=(nodes, nodes)), source, sink)
    arcs = result.flow.tocoo()
    # The solver returns a sparse matrix; find the entry of each arc by the number of its pair of nodes.
    flowing = arcs.data > 0  # the others are the same flow, told from its other end
    keys = arcs.row[flowing].astype(np.int64) * nodes + arcs.col[flowing]
    wanted = tails.astype(np.int64) * nodes + heads
    order = np.argsort(wanted)
    flow = np.zeros(len(wanted), dtype=np.int64)
    flow[order[np.searchsorted(wanted, keys, sorter=order)]] = arcs.data[flowing]
    return int(result.flow_value), flow


@dataclass(frozen=True, eq=False)
class SolverResult:
    """What a solver found: cells, or that there are none, or nothing before its time was over."""

    cells: NDArray[np.int64] | None
    is_decided: bool


def whole_cells(
    layout: Layout, bounds: Mapping[Grouping, Bounds], costs: NDArray[np.float64], seconds: float
) -> SolverResult:
    """Return whole cells of least cost with every group within its bounds."""
    optimize, sparse = _scipy("scipy.optimize"), _scipy("scipy.sparse")
    constraints = [
        optimize.LinearConstraint(_matrix(sparse, layout, grouping), *map(_limits, pair))
        for grouping, pair in bounds.items()
        if grouping != layout.finest
    ]
    result = optimize.milp(
        costs.ravel(),
        integrality=np.ones(layout.cells),
        bounds=optimize.Bounds(*map(_limits, bounds[layout.finest])),
        constraints=constraints,
        options={"time_limit": max(seconds, 0.1), "mip_rel_gap": 0.1},
    )
    if result.x is None:
        return SolverResult(None, is_decided=result.status == _INFEASIBLE)
    cells = np.rint(result.x).astype(np.int64).reshape(layout.shape)
    is_right = all(_is_between(layout.sum(cells, grouping).ravel(), pair) for grouping, pair in bounds.items())
    return SolverResult(
        cells if is_right else None, is_decided=is_right
    )  # the solver computes in doubles, facts are exact


_INFEASIBLE = 2


def _limits(side: NDArray[np.int64]) -> NDArray[np.float64]:
    limits = side.astype(np.float64)
    limits[side >= UNLIMITED] = math.inf
    limits[side <= -UNLIMITED] = -math.inf
    return limits


def _is_between(values: NDArray[np.int64], pair: Bounds) -> bool:
    return bool(np.all((pair[0] <= values) & (values <= pair[1])))


def _matrix(sparse: Any, layout: Layout, grouping: Grouping) -> Any:
    cells = layout.cells
    places = layout.group_of_cells(grouping).ravel(), np.arange(cells)
    return sparse.csr_array((np.ones(cells), places), shape=(layout.groups(grouping), cells))


def _scipy(name: str) -> Any:
    """Return a module of scipy: an extra that only tables beyond trees need."""
    try:
        if name == "scipy.optimize":
            import scipy.optimize as module  # noqa: PLC0415
        elif name == "scipy.sparse":
            import scipy.sparse as module  # noqa: PLC0415
        else:
            import scipy.sparse.csgraph as module  # noqa: PLC0415
    except ImportError as missing:
        raise InvalidParameter(NOT_INSTALLED) from missing
    return module
