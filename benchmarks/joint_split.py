"""Who gets epsilon: the default split beside what it was before, plain splits, and private-pgm.

Five tables at two epsilons.  Every way but private-pgm makes its table as the library does; private-pgm gets the
measurements of some of the splits.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.joint_peers import JointPeer, PrivatePGM
from benchmarks.joint_ways import LIST, TABLE, TREE, Axes, Case, Counts, ours, shuffled, zipf
from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, Series
from inbounds.joint.measured.measurements import Measurements, measure
from inbounds.joint.plan.plan import JointPlan

MARGINS: dict[Axes, str] = {(0, 1, 2): "cells", (0, 1): "10 x 12", (0, 2): "10 x 8", (1, 2): "12 x 8"}

MOST_TIMES = 1.1
"""No grouping may be off by more than so many times the best of the other ways; where that cannot be, it is said."""

NOW, BEFORE, PGM = "by default", "by default, before", "private-pgm, "

Parts = tuple[Fraction, ...]
Way = Callable[[Measurements], NDArray[Any]]

TENTH, ONE = Fraction(1, 10), Fraction(1)

BEFORE_PARTS: dict[str, dict[Fraction, tuple[int, ...]]] = {
    "10 x 12 x 8 with three margins": {TENTH: (527, 166, 150, 157), ONE: (527, 166, 150, 157)},
    "30 x 40": {TENTH: (533, 194, 203, 70), ONE: (542, 190, 199, 69)},
    "500 cells": {TENTH: (828, 172), ONE: (835, 165)},
    "100 x 100, 300 cells not empty": {TENTH: (591, 178, 178, 53), ONE: (598, 176, 175, 51)},
    "tree of 8 x 8 x 8": {TENTH: (556, 209, 159, 76), ONE: (562, 207, 156, 75)},
}
"""Thousandths of epsilon when each grouping had three quarters or more of its share of independent noises."""


def split_cases() -> list[Case]:
    """Return the five tables, each at both epsilons; the same ones every time."""
    generator = np.random.default_rng(20260101)
    outer = np.outer(1 / np.arange(1.0, 31), 1 / np.arange(1.0, 41)).ravel()
    sparse = np.zeros(10_000, dtype=np.int64)
    sparse[generator.choice(10_000, 300, replace=False)] = 1 + generator.poisson(generator.lognormal(2, 1, 300))
    truths: list[tuple[Counts, dict[Axes, str]]] = [
        (generator.poisson(generator.lognormal(2, 1, (10, 12, 8))), MARGINS),
        (generator.multinomial(5000, generator.permutation(outer / outer.sum())).reshape(30, 40), TABLE),
        (zipf(500, 10_000, 1.2), LIST),
        (sparse.reshape(100, 100), TABLE),
        (shuffled(zipf(512, 5000, 1.2), (8, 8, 8)), TREE),
    ]
    return [
        Case(title, truth.astype(np.int64), names, epsilon, ())
        for title, (truth, names) in zip(BEFORE_PARTS, truths, strict=True)
        for epsilon in (TENTH, ONE)
    ]


def run_split(_peers: PeerProcess | None = None, *, quick: bool, interpreter: Path | None = None) -> Series:
    """Measure every way to divide epsilon on every table."""
    runs, fits = (20, 2) if quick else (200, 10)
    with ExitStack() as stack:
        peer = stack.enter_context(JointPeer(PrivatePGM.name, interpreter))
        found = tuple(_report(case, peer, runs, fits) for case in split_cases())
    notes = [
        f"Mean absolute errors over {runs} runs, with standard errors. 'aim' adds up errors times the root of the "
        "number of groups, over that of the default split; 'worst' is the greatest ratio of the default split to a "
        "way, over groupings, and in its own row to the best way of each grouping: at most "
        f"{MOST_TIMES} where that can be. {peer.version or 'private-pgm is not installed here, and left out'}; "
        f"{fits} runs of it.",
    ]
    return Series(found, notes)


def _report(case: Case, peer: JointPeer, runs: int, fits: int) -> Report:
    count = len(case.names)
    before = tuple(Fraction(part, 1000) for part in BEFORE_PARTS[case.title][case.epsilon])
    splits: dict[str, Parts | None] = {
        NOW: None,
        BEFORE: before,
        "all on the cells": (ONE, *[Fraction(0)] * (count - 1)),
        **{f"{percent} % on the cells": _on_cells(Fraction(percent, 100), count) for percent in (80, 35)},
    }
    errors = {name: _errors(case, case.plan_of(parts), ours, runs) for name, parts in splits.items()}
    if peer.version is not None:
        for name in (NOW, "35 % on the cells"):
            errors[PGM + name] = _errors(case, case.plan_of(splits[name]), _pgm(case, peer), fits)
    plan = case.plan_of(None)
    predicted = np.array(list(plan.errors.values()))
    now = errors[NOW].mean(axis=0)
    others = [one.mean(axis=0) for name, one in errors.items() if name != NOW]
    worst = float(np.max(now / np.min(others, axis=0)))
    parts = " / ".join(f"{100 * float(plan.split.get(grouping, 0) / case.epsilon):.3g}" for grouping in plan.asked)
    rows = [("predicted", *(f"{one:.3g}" for one in predicted), "", "")]
    measured: dict[str, float] = {}
    for name, one in errors.items():
        mean, deviation = one.mean(axis=0), one.std(axis=0) / np.sqrt(len(one))
        cells = (f"{value:.3g} ±{off:.1g}" for value, off in zip(mean, deviation, strict=True))
        verdict = (
            f"{worst:.2f} {'met' if worst <= MOST_TIMES else 'no'}" if name == NOW else f"{np.max(now / mean):.2f}"
        )
        rows.append((name, *cells, f"{_aim(case, mean) / _aim(case, now):.2f}", verdict))
        measured |= {
            f"{_title(case)}; {name}; {what}": float(value)
            for what, value in zip(case.names.values(), mean, strict=True)
        }
    return Report(f"{_title(case)}: {parts} %", ("", *case.names.values(), "aim", "worst"), rows, measured=measured)


def _title(case: Case) -> str:
    return f"{case.title}, epsilon {float(case.epsilon):g}"


def _on_cells(part: Fraction, count: int) -> Parts:
    return (part, *[(1 - part) / (count - 1)] * (count - 1))


def _errors(case: Case, plan: JointPlan, way: Way, runs: int) -> NDArray[np.float64]:
    return np.array([case.errors(way(measure(plan, case.truth))) for _ in range(runs)])


def _aim(case: Case, errors: NDArray[np.float64]) -> float:
    """Return what a default split makes small, as it was in fact."""
    groups = [case.layout.groups(case.layout.grouping(axes)) for axes in case.names]
    return float(np.sqrt(groups) @ errors)


def _pgm(case: Case, peer: JointPeer) -> Way:
    def cells(measured: Measurements) -> NDArray[Any]:
        return peer.cells(case.truth.shape, case.told(measured))

    return cells
