"""Large tables: seconds and memory, beside plain NumPy noise on as many cells.

Each table has a process of its own, `python -m benchmarks.joint_scale NAME`, so that its memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peer_process import ROOT, PeerProcess
from benchmarks.report import Report, at_most, duration, ratio
from benchmarks.stopwatch import seconds
from inbounds.joint import Axis, JointRelease, Level, release

MOST_MEMORY = 4e9


@dataclass(frozen=True)
class Table:
    """A true table with its axes, and what is asked of it."""

    counts: NDArray[np.int64]
    axes: tuple[Axis, ...]
    groupings: list[Any]

    def released(self) -> JointRelease:
        """Release it at epsilon 1."""
        return release(self.counts, 1, axes=self.axes, groupings=self.groupings)


def tree(quick: bool) -> Table:
    """Return a tree with parents of very different sizes."""
    leaves, districts, regions = (10**4, 100, 10) if quick else (10**6, 10**4, 100)
    generator = np.random.default_rng(20260101)
    district, region = _parents(leaves, districts, generator), _parents(districts, regions, generator)
    levels = Level("district", tuple(district.tolist())), Level("region", tuple(region[district].tolist()))
    counts = np.minimum(generator.zipf(1.8, leaves), 10**5)
    return Table(counts, (Axis("leaf", leaves, levels),), ["leaf", "district", "region", ()])


def _parents(children: int, parents: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return a parent for each child, every one at least once, some of them often."""
    often = (parents * generator.random(children) ** 2).astype(np.int64)
    often[:parents] = np.arange(parents)
    return generator.permutation(often)


def two_ways(rows: int, columns: int) -> Table:
    """Return a table with its margins, three rows of data a cell, most of them in few cells."""
    odds = np.outer(1 / np.arange(1.0, rows + 1), 1 / np.arange(1.0, columns + 1)).ravel()
    counts = np.random.default_rng(20260101).multinomial(3 * odds.size, odds / odds.sum()).reshape(rows, columns)
    groupings = [("row", "column"), ("row",), ("column",), ()]
    return Table(counts, (Axis("row", rows), Axis("column", columns)), groupings)


TABLES: dict[str, tuple[Callable[[bool], Table], float]] = {
    "tree of a million leaves": (tree, 30.0),
    "1,000 x 1,000": (lambda quick: two_ways(*((100, 100) if quick else (1000, 1000))), 30.0),
    "400 x 250": (lambda quick: two_ways(*((40, 25) if quick else (400, 250))), 3.0),
}
"""Each with the seconds that it may take."""


def measured(name: str, quick: bool) -> dict[str, float]:
    """Return what one table takes in this process, and plain noise beside it."""
    made = TABLES[name][0](quick)
    generator = np.random.default_rng()
    before = resource.getrusage(resource.RUSAGE_SELF)
    taken = seconds(made.released)
    own = resource.getrusage(resource.RUSAGE_SELF)
    noise = seconds(lambda: made.counts + generator.laplace(0.0, 1.0, made.counts.shape), 5)
    return {
        "seconds": taken,
        "processor": own.ru_utime + own.ru_stime - before.ru_utime - before.ru_stime,
        "noise": noise,
        "bytes": own.ru_maxrss * 1024.0,
    }


def run(_peers: PeerProcess | None = None, *, quick: bool) -> Report:
    """Measure every table in processes of their own, some of them one after the other."""
    rows, figures = [], dict[str, float]()
    for name, (_, goal) in TABLES.items():
        runs = [_apart(name, quick) for _ in range(1 if quick else 3)]
        found = {key: median(one[key] for one in runs) for key in runs[0]}
        rows.append(
            (
                name,
                duration(found["seconds"]),
                duration(found["processor"]),
                ratio(found["seconds"] / found["noise"]),
                f"{found['bytes'] / 1e9:.2g} GB",
                at_most(goal, found["seconds"]),
                "met" if found["bytes"] <= MOST_MEMORY else "MISSED",
            )
        )
        figures |= {f"{name}: {key}": value for key, value in found.items()}
    return Report(
        title="Large tables that add up" + (" (quick: a hundredth of the cells)" if quick else ""),
        columns=("", "time", "processor", "/ noise", "memory", "target", "<= 4 GB"),
        rows=rows,
        notes=[
            "From the plan to the verified table, with intervals and errors not asked for. Medians of three processes; "
            "'/ noise' is the time over that of Laplace noise on all cells in NumPy."
        ],
        measured=figures,
    )


def _apart(name: str, quick: bool) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.joint_scale", name, *(["quick"] if quick else [])]
    told = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    found: dict[str, float] = json.loads(told)
    return found


if __name__ == "__main__":
    print(json.dumps(measured(sys.argv[1], "quick" in sys.argv[2:])))
