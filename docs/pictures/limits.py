"""Measure the least errors and those of other mechanisms: `python docs/pictures/limits.py`, about ten minutes.

What is found is in `limits.json`, which the pictures and the tests of `docs/limit.md` are made of.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from inbounds import BoundedLaplace, Bounds, Optimal
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.published import Hybrid, Laplace, OptimalPiecewise, Piecewise, SquareWave, Staircase, TwoPoint

FILE = Path(__file__).with_suffix(".json")

TABLE_EPSILONS = (0.1, 0.5, 1, 2, 5)
TABLE_WIDTHS = (1, 2, 5, 10, 50)

CURVE_EPSILONS = (0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 5)
CURVE_EPSILONS_ON = (1, 2)
"""On ranges of so many sensitivities."""
CURVE_WIDTHS = (1, 1.5, 2, 3, 5, 10, 20, 50)
CURVE_WIDTHS_AT = 1
"""At this epsilon."""

SECONDS = 10
"""For each search: enough on a machine that has other work as well."""

OTHERS: dict[str, Callable[[Bounds, float], Mechanism]] = {
    "Laplace, normalised": lambda bounds, epsilon: BoundedLaplace(bounds, 1, epsilon),
    "Laplace, clamped": lambda bounds, epsilon: BoundedLaplace(bounds, 1, epsilon, pooling=1),
    "Laplace, folded": lambda bounds, epsilon: Laplace(bounds, 1, epsilon, ends="fold"),
    "staircase, clamped": lambda bounds, epsilon: Staircase(bounds, 1, epsilon, ends="snap"),
    "staircase, folded": lambda bounds, epsilon: Staircase(bounds, 1, epsilon, ends="fold"),
}

LOCAL: dict[str, Callable[[Bounds, int, float], Mechanism]] = {
    "two-point": TwoPoint,
    "piecewise": Piecewise,
    "hybrid": Hybrid,
    "square wave": SquareWave,
    "optimal piecewise": OptimalPiecewise,
}
"""Mechanisms for the local model, where a neighbour may have any other answer: on a range of one sensitivity."""


def measured(epsilon: float, width: float) -> dict[str, Any]:
    """Return the least errors on `[0, width]` with a sensitivity of 1, and what others have."""
    bounds = Bounds(0, width)
    found: dict[str, Any] = {"epsilon": epsilon, "width": width}
    for minimise in ("mean", "worst"):
        proved = Optimal(bounds, 1, epsilon, minimise=minimise, time_limit=SECONDS).optimality
        found[minimise] = {"limit": proved.limit, "Optimal": proved.error}
    for name, make in OTHERS.items():
        made = make(bounds, epsilon)
        found["mean"][name], found["worst"][name] = made.mean_error(), made.worst_error()
    return found | (local(found) if width == 1 else {})


def local(found: dict[str, Any]) -> dict[str, Any]:
    """Return the same for the mechanisms for the local model."""
    made = {name: make(Bounds(0, 1), 1, found["epsilon"]) for name, make in LOCAL.items()}
    both = {goal: {name: found[goal][name] for name in ("limit", "Optimal")} for goal in ("mean", "worst")}
    return {
        "local mean": both["mean"] | {name: mechanism.mean_error() for name, mechanism in made.items()},
        "local worst": both["worst"] | {name: mechanism.worst_error() for name, mechanism in made.items()},
    }


def cells() -> Sequence[tuple[float, float]]:
    """Return every epsilon and width that is shown."""
    table = [(epsilon, width) for epsilon in TABLE_EPSILONS for width in TABLE_WIDTHS]
    curves = [(epsilon, width) for epsilon in CURVE_EPSILONS for width in CURVE_EPSILONS_ON]
    curves += [(CURVE_WIDTHS_AT, width) for width in CURVE_WIDTHS]
    return sorted({*table, *curves})


def measured_before() -> list[dict[str, Any]]:
    """Return what is in the file."""
    found: list[dict[str, Any]] = json.loads(FILE.read_text("utf-8"))
    return found


def table(minimise: str) -> str:
    """Return the table of the page: limits rounded down, and ratios rounded up."""
    found = {(cell["epsilon"], cell["width"]): cell[minimise] for cell in measured_before()}
    rows = [[f"{minimise}, ε", *(f"B = {width}" for width in TABLE_WIDTHS)], ["---"] * (1 + len(TABLE_WIDTHS))]
    for epsilon in TABLE_EPSILONS:
        shown = [found[epsilon, width] for width in TABLE_WIDTHS]
        rows.append([f"{epsilon}", *(_written(one["limit"], one["Optimal"]) for one in shown)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _written(limit: float, error: float) -> str:
    return f"{math.floor(limit * 1e4) / 1e4:.4f} × {math.ceil(max(error / limit, 1) * 1e3) / 1e3:.3f}"


if __name__ == "__main__":
    FILE.write_text(json.dumps([measured(*cell) for cell in cells()], indent=1) + "\n", "utf-8")
