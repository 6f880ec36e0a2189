"""One release from a mechanism that exists."""

from __future__ import annotations

from statistics import median

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, at_most, duration, ratio
from benchmarks.stopwatch import median_seconds
from inbounds import BoundedLaplace, Bounds

GOAL = 5e-6


def run(peers: PeerProcess, *, quick: bool) -> Report:
    """Measure single releases of ours and of the peers in turn."""
    rounds, count = (3, 500) if quick else (9, 2000)
    interval = BoundedLaplace(Bounds(0, 100), sensitivity=1, epsilon=1)
    gap = BoundedLaplace(Bounds(0, 5) | Bounds(7, None), sensitivity=1, epsilon=1)
    counts = BoundedLaplace(Bounds(0, 100, step=1), sensitivity=1, epsilon=1)
    ours = {
        "[0, 100]": lambda: interval.release(42.0),
        "[0, 5] | [7, inf)": lambda: gap.release(42.0),
        "counts 0 to 100": lambda: counts.release(42),
    }
    plain = next(iter(ours))

    times: dict[str, list[float]] = {name: [] for name in (*ours, *peers.present)}
    for _ in range(rounds):
        for name, action in ours.items():
            times[name].append(median_seconds([action] * count))
        for peer in peers.present:
            times[peer].append(peers.measure(peer, "scalar", count=count))

    def speed(against: str) -> float:
        return median(other / own for own, other in zip(times[plain], times[against], strict=True))

    rows = [
        (
            f"ours, {name}",
            duration(median(times[name])),
            ratio(speed(name)),
            at_most(GOAL, median(times[name])),
        )
        for name in ours
    ]
    rows += [(peer, duration(median(times[peer])), ratio(speed(peer)), "") for peer in peers.present]
    return Report(
        title="One release, after construction",
        columns=("", "median", "ours is", "target"),
        rows=rows,
        notes=[f"'ours' of the third column is {plain}. Medians of {count} releases, then of {rounds} rounds."],
        measured={f"seconds: {name}": median(taken) for name, taken in times.items()},
    )
