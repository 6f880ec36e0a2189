"""Measured durations, taken the same way on our side and on the peers'."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter_ns
from typing import Any

NANOSECOND = 1e-9


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep the garbage collector from running inside a measurement."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def seconds(action: Callable[[], object], runs: int = 1) -> float:
    """Return how long `action` takes, the best of some runs right after each other.

    With several runs the first pays for the caches and the clock rate that were lost while another process
    had its turn, and drops out.
    """
    durations = []
    with undisturbed():
        for _ in range(runs):
            start = perf_counter_ns()
            action()
            durations.append(perf_counter_ns() - start)
    return min(durations) * NANOSECOND


def median_seconds(actions: Iterable[Callable[[], object]]) -> float:
    """Return the median duration of the actions, each run once."""
    durations = []
    with undisturbed():
        for action in actions:
            start = perf_counter_ns()
            action()
            durations.append(perf_counter_ns() - start)
    return median(durations) * NANOSECOND


def durations(action: Callable[[Any], object], arguments: Iterable[Any]) -> list[int]:
    """Return how many nanoseconds the action takes with each argument."""
    taken = []
    with undisturbed():
        for argument in arguments:
            start = perf_counter_ns()
            action(argument)
            taken.append(perf_counter_ns() - start)
    return taken


def timed_releases(release: Callable[[float], float], truths: Iterable[float]) -> list[tuple[float, float, float]]:
    """Release each truth once and return (truth, seconds, released) for each."""
    records = []
    with undisturbed():
        for truth in truths:
            start = perf_counter_ns()
            released = release(truth)
            stop = perf_counter_ns()
            records.append((truth, (stop - start) * NANOSECOND, float(released)))
    return records
