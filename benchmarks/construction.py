"""Making a mechanism: calibration and proof, for one interval and for up to a million spans."""

from __future__ import annotations

from statistics import median

import numpy as np

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, at_most, duration, ratio
from benchmarks.stopwatch import median_seconds, seconds
from inbounds import BoundedLaplace, Bounds

ONE_GOAL = 0.5e-3
MILLION_GOAL = 20.0


def run(peers: PeerProcess, *, quick: bool) -> Report:
    """Measure the construction for one interval, ours and the peers' in turn."""
    rounds, count = (3, 20) if quick else (9, 50)
    bounds = Bounds(0, 100)

    # A different epsilon each time, so that nothing can be remembered from the last.
    epsilons = (1 + i / 2**16 for i in range(rounds * count))

    times: dict[str, list[float]] = {name: [] for name in ("ours", *peers.present)}
    for _ in range(rounds):
        round_of_ours = [next(epsilons) for _ in range(count)]
        times["ours"].append(
            median_seconds(
                lambda epsilon=epsilon: BoundedLaplace(bounds, sensitivity=1, epsilon=epsilon)  # type: ignore[misc]
                for epsilon in round_of_ours
            )
        )
        for peer in peers.present:
            times[peer].append(peers.measure(peer, "construction", count=count))

    def relative(name: str) -> float:
        return median(other / own for own, other in zip(times["ours"], times[name], strict=True))

    taken = {name: median(durations) for name, durations in times.items()}
    rows = [("ours, calibrated and proved", duration(taken["ours"]), "1x", at_most(ONE_GOAL, taken["ours"]))]
    rows += [(peer, duration(taken[peer]), ratio(relative(peer)), "") for peer in peers.present]
    return Report(
        title="Construction for [0, 100], epsilon 1, sensitivity 1",
        columns=("", "median", "ours is", "target"),
        rows=rows,
        notes=[
            "diffprivlib calibrates by bisection, OpenDP searches for the scale with its privacy map, PyDP divides; "
            "none of them proves anything."
        ],
        measured={f"seconds: {name}": value for name, value in taken.items()},
    )


def random_spans(count: int, generator: np.random.Generator) -> list[tuple[float, float]]:
    """Return `count` disjoint spans, widths and gaps uniform between 1/2 and 2, so about the sensitivity."""
    ends = np.cumsum(generator.uniform(0.5, 2.0, 2 * count)).reshape(count, 2)
    return [(float(low), float(high)) for low, high in ends]


def run_growth(peers: PeerProcess, *, quick: bool) -> Report:
    """Measure bounds and mechanism for more and more random spans; no peer takes more than one."""
    generator = np.random.default_rng(20260101)
    rows = []
    measured = {}
    for exponent in range(5 if quick else 7):
        count = 10**exponent
        building, proving = [], []
        for _ in range(5 if count <= 1000 else 3 if count <= 10_000 else 1):
            spans = random_spans(count, generator)
            building.append(seconds(lambda spans=spans: Bounds.union(spans)))  # type: ignore[misc]
            bounds = Bounds.union(spans)
            proving.append(
                seconds(lambda bounds=bounds: BoundedLaplace(bounds, sensitivity=1, epsilon=1))  # type: ignore[misc]
            )
        bounds_time, mechanism_time = median(building), median(proving)
        whole = bounds_time + mechanism_time
        rows.append(
            (
                f"{count:,}",
                duration(bounds_time),
                duration(mechanism_time),
                duration(whole / count),
                at_most(MILLION_GOAL, whole) if count == 10**6 else "",
            )
        )
        measured[f"seconds: bounds of {count} spans"] = bounds_time
        measured[f"seconds: mechanism of {count} spans"] = mechanism_time
    return Report(
        title="Construction for many random spans",
        columns=("spans", "Bounds", "BoundedLaplace", "per span", "target"),
        rows=rows,
        notes=["The target is for both together."],
        measured=measured,
    )
