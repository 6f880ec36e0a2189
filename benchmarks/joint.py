"""Whole tables: how far off cells and sums are, beside cells one by one, least squares, top-down and the peers.

Every way to make a table of measured groupings gets the same measurements, run by run.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.joint_peers import JointPeer
from benchmarks.joint_ways import (
    Case,
    LeastSquares,
    cases,
    in_bounds,
    nonnegative,
    ours,
    top_down,
    unclamped,
)
from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, Series
from inbounds.joint.measured.measurements import Measurements, measure

OURS, SQUARES, SIGNS, DOWN = "ours", "least squares", "not negative", "top-down"
ALONE, PLAIN = "in bounds, one by one", "plain, unclamped"

MOST_TIMES = 1.15
"""No measured grouping may be off by more than so many times the best of the others at the same split."""

Errors = dict[str, list[list[float]]]
"""For each way and run the errors of the groupings."""


def run(_peers: PeerProcess | None = None, *, quick: bool, interpreter: Path | None = None) -> Series:
    """Measure the errors of every way on every table."""
    runs = 30 if quick else 300
    with ExitStack() as stack:
        others = [stack.enter_context(JointPeer(name, interpreter)) for name in JointPeer.kinds]
        found = tuple(_report(case, others, runs) for case in cases())
    missing = [peer.name for peer in others if peer.version is None]
    notes = [
        f"Mean absolute errors over {runs} runs, with standard errors. Below each split stand the ways to make a table "
        "of the same measurements; the last column is the greatest ratio of ours to the best of the others, over "
        f"groupings: at most {MOST_TIMES}. Least squares and OpenDP's trees have negative cells; only ours and "
        "top-down have whole ones. OpenDP's trees take all measurements for equally exact, as they are at equal parts.",
        "Peers: "
        + (", ".join(peer.version for peer in others if peer.version) or "none")
        + (f"; not installed here, so left out: {', '.join(missing)}" if missing else ""),
    ]
    return Series(found, notes)


def _report(case: Case, others: list[JointPeer], runs: int) -> Report:
    whole: Errors = {}
    for name, release in ((ALONE, in_bounds(case)), (PLAIN, unclamped(case))):
        whole[name] = [case.errors(release()) for _ in range(runs)]
    rows = [(name, *_shown(errors), "") for name, errors in whole.items()]
    measured = _figures(case, "cells alone", whole)
    for split in case.splits:
        title, errors = _errors(case, split, others, runs)
        ratios = np.mean(errors[OURS], axis=0) / np.min(
            [np.mean(one, axis=0) for name, one in errors.items() if name != OURS], axis=0
        )
        worst = float(ratios.max())
        rows.append((title, *[""] * len(case.names), ""))
        for name, one in errors.items():
            verdict = f"{worst:.2f} {'met' if worst <= MOST_TIMES else 'MISSED'}" if name == OURS else ""
            rows.append((f"  {name}", *_shown(one), verdict))
        measured |= _figures(case, title, errors)
    return Report(case.title, ("", *case.names.values(), "ours / best"), rows, measured=measured)


def _errors(case: Case, split: tuple[int, ...] | None, others: list[JointPeer], runs: int) -> tuple[str, Errors]:
    """Return what a split is called, and the errors of all ways, run by run of the same measurements."""
    plan = case.plan(split)
    ways: dict[str, Callable[[Measurements], NDArray[Any]]] = {
        OURS: ours,
        SIGNS: nonnegative,
        SQUARES: LeastSquares(case, plan),
    }
    told = [axes for axes in case.names if case.layout.grouping(axes) in plan.split]
    if len(told) == len(case.names):
        ways[DOWN] = top_down  # which needs every level
    ways |= {peer.name: _asked(case, peer) for peer in others if peer.can(case.truth.shape, told)}
    errors: Errors = {name: [] for name in ways}
    for _ in range(runs):
        drawn = measure(plan, case.truth)
        for name, way in ways.items():
            errors[name].append(case.errors(way(drawn)))
    parts = " / ".join(f"{100 * float(plan.split.get(one, 0) / case.epsilon):.3g}" for one in plan.asked)
    return f"{parts} %{', by default' if split is None else ''}", errors


def _asked(case: Case, peer: JointPeer) -> Callable[[Measurements], NDArray[Any]]:
    def cells(measured: Measurements) -> NDArray[Any]:
        return peer.cells(case.truth.shape, case.told(measured))

    return cells


def _mean(errors: list[list[float]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    runs = np.array(errors)
    return runs.mean(axis=0), runs.std(axis=0) / np.sqrt(len(runs))


def _shown(errors: list[list[float]]) -> list[str]:
    return [f"{mean:.3g} ±{deviation:.1g}" for mean, deviation in zip(*_mean(errors), strict=True)]


def _figures(case: Case, title: str, errors: Errors) -> dict[str, float]:
    return {
        f"{case.title}; {title}; {way}; {name}{what}": float(value)
        for way, one in errors.items()
        for what, values in zip(("", " ±"), _mean(one), strict=True)
        for name, value in zip(case.names.values(), values, strict=True)
    }
