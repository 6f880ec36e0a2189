"""How near to the least error that is possible a recommendation is, and how long it takes to find and to prove."""

from __future__ import annotations

from math import inf
from time import perf_counter
from typing import Literal, get_args

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, at_most
from inbounds import Bounds, recommend

Goal = Literal["mean", "worst"]

EPSILONS = (0.01, 0.1, 0.5, 1, 2, 3, 5, 8, 12, 20)
WIDTHS = (1, 2, 5, 10, 50)

GAPS = {
    "[0, 1] | [2, 3] | [10, 12]": Bounds.union([(0, 1), (2, 3), (10, 12)]),
    "[0, 3.3] | [4.1, 7] | [9, 9.5] | [20, 21.7]": Bounds.union([(0, 3.3), (4.1, 7), (9, 9.5), (20, 21.7)]),
}
"""Ranges with gaps, for which there is no goal: docs/limit.md says where less is proved."""

RATIO_GOAL = 1.05
SECONDS_GOAL = 3.0


def run(peers: PeerProcess, *, quick: bool) -> Report:
    """Ask for a recommendation on ranges of so many sensitivities, each time from scratch; no peer knows a limit."""
    widths = WIDTHS[::2] if quick else WIDTHS
    rows: list[tuple[str, ...]] = []
    measured: dict[str, float] = {}
    gaps: list[str] = []
    for goal in get_args(Goal):
        for epsilon in EPSILONS:
            cells = []
            for width in widths:
                times, taken = _measured(goal, epsilon, Bounds(0, width))
                measured[f"ratio: {goal}, epsilon {epsilon}, width {width}"] = times
                measured[f"seconds: {goal}, epsilon {epsilon}, width {width}"] = taken
                cells.append(f"{times:.3f} {taken:.1f} s")
            rows.append((f"{goal}, {epsilon}", *cells))
        for name, bounds in () if quick else GAPS.items():
            ratios = [f"{epsilon}: {_measured(goal, epsilon, bounds)[0]:.3f}" for epsilon in EPSILONS]
            gaps.append(f"{goal} error on {name}, times the limit at epsilon {', '.join(ratios)}.")
    greatest = max(value for name, value in measured.items() if name.startswith("ratio"))
    slowest = max(value for name, value in measured.items() if name.startswith("seconds"))
    reached = "met" if greatest <= RATIO_GOAL else "MISSED"
    return Report(
        title="Recommended for the least error on [0, B], and times the limit",
        columns=("error, epsilon", *(f"B = {width}" for width in widths)),
        rows=rows,
        notes=[
            f"Greatest: {greatest:.3f} times what nothing is below, <= {RATIO_GOAL} {reached}.",
            f"Slowest: {slowest:.2f} s, {at_most(SECONDS_GOAL, slowest)}.",
            *gaps,
        ],
        measured=measured,
    )


def _measured(goal: Goal, epsilon: float, bounds: Bounds) -> tuple[float, float]:
    start = perf_counter()
    found = recommend(bounds, 1, epsilon, minimise=goal)
    taken = perf_counter() - start
    return (found.error / found.limit if found.limit else inf), taken
