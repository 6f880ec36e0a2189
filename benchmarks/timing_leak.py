"""What the time of one release tells about the true value."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report
from benchmarks.stopwatch import timed_releases
from inbounds import BoundedLaplace, Bounds

EDGE, MIDDLE, OTHER_EDGE = 0.0, 50.0, 100.0

WHAT = ("AUC, 0 or 50", "AUC, 0 or 100", "rho at 0", "rho at 50")

Floats = NDArray[np.float64]


def ranks(sample: Floats) -> Floats:
    """Return the rank of each element from 1 on; equal ones share the mean of theirs."""
    _, place, count = np.unique(sample, return_inverse=True, return_counts=True)
    last = count.cumsum()
    return (last - (count - 1) / 2)[place]


def auc(first: Floats, second: Floats) -> float:
    """Return the probability that a random element of `first` exceeds one of `second`, ties half."""
    rank_sum = float(ranks(np.concatenate([first, second]))[: len(first)].sum())
    return (rank_sum - len(first) * (len(first) + 1) / 2) / (len(first) * len(second))


def rank_correlation(first: Floats, second: Floats) -> float:
    """Return Spearman's rho."""
    return float(np.corrcoef(ranks(first), ranks(second))[0, 1])


def run(peers: PeerProcess, *, quick: bool) -> Report:
    """Time releases of the edges and a middle value in random order, ours and the peers' in turn."""
    rounds, each = (2, 1000) if quick else (4, 2000)
    generator = np.random.default_rng()
    mechanism = BoundedLaplace(Bounds(0, 100), sensitivity=1, epsilon=1)
    timed_releases(mechanism.release, [EDGE, MIDDLE, OTHER_EDGE] * 100)  # warm up

    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in ("ours", *peers.present)}
    for _ in range(rounds):
        records = timed_releases(mechanism.release, shuffled(each, generator))
        found["ours"].append(telling(records))
        for peer in peers.present:
            found[peer].append(telling(peers.measure(peer, "timing_leak", truths=shuffled(each, generator))))

    rows = []
    measured: dict[str, float] = {}
    for name, figures in found.items():
        means = [float(mean) for mean in np.mean(figures, axis=0)]
        rows.append(
            (
                name,
                *(f"{mean:+.3f}" if "rho" in what else f"{mean:.3f}" for what, mean in zip(WHAT, means, strict=True)),
            )
        )
        measured |= {f"{name}: {what}": mean for what, mean in zip(WHAT, means, strict=True)}

    # Three standard deviations of each figure when time tells nothing.
    area_chance = 3 * math.sqrt((2 * each + 1) / (12 * each * each * rounds))
    rho_chance = 3 / math.sqrt((each - 1) * rounds)
    return Report(
        title="What the time of one release gives away",
        columns=("", *WHAT),
        rows=rows,
        notes=[
            "AUC, 0 or 50: how often the longer of two releases, one of the true value 0 and one of 50, is the one "
            f"of 0; 0.5 tells nothing, and chance stays within 0.5 +- {area_chance:.3f}.",
            f"rho: rank correlation of the time with |noise|; chance stays within +- {rho_chance:.3f}.",
            f"{rounds} rounds of {each} releases of each value, in random order.",
        ],
        measured=measured,
    )


def shuffled(each: int, generator: np.random.Generator) -> list[float]:
    """Return each of the three values `each` times, in random order."""
    truths = np.repeat([EDGE, MIDDLE, OTHER_EDGE], each)
    generator.shuffle(truths)
    return [float(truth) for truth in truths]


def telling(records: list[tuple[float, float, float]]) -> tuple[float, ...]:
    """Return the figures that `WHAT` names."""
    truth, taken, released = np.array(records).T
    noise = np.abs(released - truth)
    edge, middle, other = truth == EDGE, truth == MIDDLE, truth == OTHER_EDGE
    return (
        auc(taken[edge], taken[middle]),
        auc(taken[edge], taken[other]),
        rank_correlation(taken[edge], noise[edge]),
        rank_correlation(taken[middle], noise[middle]),
    )
