"""What the time of one release tells about the true value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.peer_process import PeerProcess
from benchmarks.report import Report
from benchmarks.stopwatch import durations, timed_releases
from inbounds import BoundedLaplace, Bounds, Optimal
from inbounds.published import Geometric

BOUNDS = Bounds(0, 100)
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
    mechanism = BoundedLaplace(BOUNDS, sensitivity=1, epsilon=1)
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


def run_evenness(peers: PeerProcess, *, quick: bool) -> Report:
    """Time releases of two answers at a time in random order: on several spans, in arrays, and far outside."""
    rounds, each = (3, 500) if quick else (5, 2000)
    generator = np.random.default_rng()
    counts = Bounds(0, 40, step=1) | Bounds(60, 100, step=1)
    snapped = Geometric(counts, sensitivity=1, epsilon=0.5, ends="snap").release
    parted = BoundedLaplace(Bounds(0, 40) | Bounds(60, 100), sensitivity=1, epsilon=1).release
    one = BoundedLaplace(BOUNDS, sensitivity=1, epsilon=1).release
    tables = {
        "table of cells": Optimal(Bounds(0, 5), sensitivity=1, epsilon=1).release,
        "table of points": Optimal(Bounds(0, 5), sensitivity=1, epsilon=1, minimise="worst").release,
        "geometric on cells, remapped": Optimal(Bounds(0, 5), sensitivity=1, epsilon=0.1).release,
    }
    pairs: dict[str, tuple[Callable[[Any], object], Any, Any, int]] = {
        "[0, 100]: 0 or 50": (one, 0.0, 50.0, each),
        "[0, 100]: 0.1 or 77.7": (one, 0.1, 77.7, each),
        "[0, 100]: 1e250 or 50": (one, 1e250, 50.0, each),
        "snapped geometric, gap: 0 or 90": (snapped, 0, 90, each),
        "bounded Laplace, gap: 0 or 90": (parted, 0.0, 90.0, each),
        "1,000 x 0 or 50 on [0, 100]": (one, np.full(1000, 0.0), np.full(1000, 50.0), each // 4),
        "1,000 x 0 or 90, gap": (parted, np.full(1000, 0.0), np.full(1000, 90.0), each // 4),
        "1,000 x 20 or 40, gap": (parted, np.full(1000, 20.0), np.full(1000, 40.0), each // 4),
        "1,000 x 0 or 90, snapped geometric, gap": (snapped, np.full(1000, 0), np.full(1000, 90), each // 4),
    }
    for name, table in tables.items():
        pairs[f"{name}: 0 or 2.4"] = (table, 0.0, 2.4, each)
        pairs[f"1,000 x 0 or 2.4, {name}"] = (table, np.full(1000, 0.0), np.full(1000, 2.4), each // 4)
    rows, measured = [], {}
    for name, (release, first, second, count) in pairs.items():
        found = [_told_apart(release, (first, second), count, generator) for _ in range(rounds)]
        rows.append((name, f"{float(np.mean(found)):.3f}", f"{min(found):.3f} to {max(found):.3f}"))
        measured[name] = float(np.mean(found))
    return Report(
        title="How well time tells one answer from another",
        columns=("", "AUC", "rounds"),
        rows=rows,
        notes=[
            "How often the longer of two releases is the one of the first answer; 0.5 tells nothing. "
            f"{rounds} rounds of {each} releases of either answer, a quarter of that for arrays, in random order."
        ],
        measured=measured,
    )


def _told_apart(
    release: Callable[[Any], object], answers: tuple[Any, Any], each: int, generator: np.random.Generator
) -> float:
    order = generator.permutation(np.repeat([0, 1], each))
    for answer in answers * 50:  # warm up
        release(answer)
    taken = np.array(durations(release, [answers[i] for i in order.tolist()]))
    return auc(taken[order == 0], taken[order == 1])


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
