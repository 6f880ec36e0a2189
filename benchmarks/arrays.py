"""A million different true values, released in one call."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.naive import naive_release
from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report, at_least, duration, ratio, times_at_most
from benchmarks.stopwatch import seconds
from inbounds import BoundedLaplace, Bounds, Optimal

LOWER, UPPER = 0.0, 100.0

# Runs of everybody's work in each round, of which the best counts.
RUNS = 3

# A peer that takes long does a part of the work; its time is scaled up.
SHARE = {"Diffprivlib": 50, "OpenDP": 20, "PyDP": 10}
# Every variant of ours should take at most this many times as long as unsafe NumPy on one interval.
SLOWEST = 4.0
GOALS = {"naive": 0.25, "Diffprivlib": 80, "OpenDP": 20, "PyDP": 10}
DESCRIPTIONS = {
    "naive": "NumPy inverse CDF, unsafe",
    "Diffprivlib": "diffprivlib, rejection",
    "OpenDP": "OpenDP vector, clamped",
    "PyDP": "PyDP loop, clamped",
}


def variants(values: NDArray[np.float64]) -> dict[str, Callable[[], object]]:
    """Return one release of the values for each kind of bounds and law, the plain one first."""
    counts = values.round().astype(np.int64)
    hundred = Bounds.union([(i, i + 0.5) for i in range(100)])

    def mechanism(bounds: Bounds, pooling: float = 0.0) -> BoundedLaplace:
        return BoundedLaplace(bounds, sensitivity=1, epsilon=1, pooling=pooling)

    interval = mechanism(Bounds(0, 100))
    half_line = mechanism(Bounds(0, None))
    gap = mechanism(Bounds(0, 5) | Bounds(7, None))
    spans = mechanism(hundred)
    integers = mechanism(Bounds(0, 100, step=1))
    cents = mechanism(Bounds(0, 100, step=Fraction(1, 100)))
    pooled = mechanism(Bounds(0, 100), pooling=0.5)
    table = Optimal(Bounds(0, 5), sensitivity=1, epsilon=1)
    return {
        "[0, 100]": lambda: interval.release(values),
        "[0, inf)": lambda: half_line.release(values),
        "[0, 5] | [7, inf)": lambda: gap.release(values),
        "100 spans": lambda: spans.release(values),
        "counts 0 to 100, int64": lambda: integers.release(counts),
        "[0, 100] step 1/100": lambda: cents.release(values),
        "[0, 100] pooling 1/2": lambda: pooled.release(values),
        "[0, 5], optimal for the mean": lambda: table.release(values / 20),
    }


def run(peers: PeerProcess, *, quick: bool) -> Report:
    """Measure every variant of ours, the yardstick and the peers in turn, several rounds."""
    size, rounds = (100_000, 3) if quick else (1_000_000, 5)
    generator = np.random.default_rng()
    values = generator.permutation(np.linspace(LOWER, UPPER, size))
    ours = variants(values)
    plain = next(iter(ours))
    scale = float(BoundedLaplace(Bounds(0, 100), sensitivity=1, epsilon=1).scale)

    def naive() -> object:
        return naive_release(values, LOWER, UPPER, scale, generator)

    times: dict[str, list[float]] = {name: [] for name in ("naive", *ours, *peers.present)}
    for _ in range(rounds):
        times["naive"].append(seconds(naive, RUNS))
        for name, action in ours.items():
            times[name].append(seconds(action, RUNS))
        for peer in peers.present:
            share = SHARE[peer]
            times[peer].append(peers.measure(peer, "arrays", count=size // share, runs=RUNS) * share)

    def speed(of: str, against: str) -> float:
        """How many times as fast `of` is as `against`, the median over the rounds."""
        return median(other / own for own, other in zip(times[of], times[against], strict=True))

    rows = [(f"ours, {plain}", duration(median(times[plain])), "1x", "")]
    measured = {f"seconds: {name}": median(taken) for name, taken in times.items()}
    for other in ("naive", *peers.present):
        times_as_fast = speed(plain, other)
        measured[f"times as fast as {other}"] = times_as_fast
        rows.append(
            (
                DESCRIPTIONS[other],
                duration(median(times[other])),
                ratio(times_as_fast),
                at_least(GOALS[other], times_as_fast),
            )
        )
    rows += [
        (
            f"ours, {name}",
            duration(median(times[name])),
            ratio(speed(plain, name)),
            times_at_most(SLOWEST, speed("naive", name)),
        )
        for name in ours
        if name != plain
    ]
    measured |= {f"times as long as naive: {name}": speed("naive", name) for name in ours}

    notes = [
        f"'ours' of the third column is [0, 100]: how many times as fast it is as the row. Medians of {rounds} rounds, "
        f"each the best of {RUNS} runs.",
        "NumPy draws from the law that ours has, without any of the care. Clamping is another law: it piles up at "
        "the ends.",
        "The targets of our other rows are how many times as long they take as NumPy on one interval.",
    ]
    if peers.present:
        parts = ", ".join(f"1/{SHARE[peer]} ({peer})" for peer in peers.present)
        notes.append(f"The peers did a part of the work, scaled up: {parts}.")
    return Report(
        title=f"{size:,} releases in [0, 100], epsilon 1, sensitivity 1",
        columns=("", "time", "ours is", "target"),
        rows=rows,
        notes=notes,
        measured=measured,
    )
