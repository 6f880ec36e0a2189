"""The peers' side: a process in the peers' own environment that measures on request.

It reads one JSON request a line and answers each with one line of JSON, so that the benchmarks can have
the peers take turns with us without paying for their imports each time:

    {"task": "versions"}
    {"task": "arrays", "peer": "OpenDP", "count": 1000}

Every peer answers for the true values in [0, 100], with sensitivity 1 and epsilon 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.stopwatch import median_seconds, seconds, timed_releases

LOWER, UPPER = 0.0, 100.0

Release = Callable[[float], float]


def clamped(value: float) -> float:
    """Return the possible value nearest to `value`."""
    return min(max(value, LOWER), UPPER)


class Diffprivlib:
    """IBM's diffprivlib: the bounded Laplace mechanism, by rejection, one value at a time."""

    package = "diffprivlib"

    def __init__(self) -> None:
        from diffprivlib.mechanisms import LaplaceBoundedDomain  # noqa: PLC0415 - may not be installed

        self._kind = LaplaceBoundedDomain
        self.release: Release = self.mechanism(1.0).randomise

    def mechanism(self, epsilon: float) -> Any:
        """Return a calibrated mechanism."""
        mechanism = self._kind(epsilon=epsilon, delta=0, sensitivity=1, lower=LOWER, upper=UPPER)
        mechanism.effective_epsilon()  # calibrates, which it would otherwise put off to the first release
        return mechanism

    def release_many(self, values: list[float]) -> object:
        """Release each value: the library has no array form."""
        release = self.release
        return [release(value) for value in values]


class OpenDP:
    """OpenDP: the Laplace mechanism on floats, clamped afterwards."""

    package = "opendp"

    def __init__(self) -> None:
        import opendp.prelude as dp  # noqa: PLC0415 - may not be installed

        dp.enable_features("contrib")
        self._dp = dp
        self._one = self.mechanism(1.0)
        self._many = dp.m.make_laplace(
            dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float), scale=1.0
        )

    def mechanism(self, epsilon: float) -> Any:
        """Return a mechanism whose scale the library's own search found for `epsilon`."""
        dp = self._dp
        space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
        return dp.binary_search_chain(lambda scale: dp.m.make_laplace(*space, scale), 1.0, epsilon)

    def release(self, value: float) -> float:
        """Release one value."""
        return clamped(self._one(value))

    def release_many(self, values: list[float]) -> object:
        """Release a vector in one call."""
        return np.clip(self._many(values), LOWER, UPPER)


class PyDP:
    """PyDP, Google's C++ library in Python: the Laplace mechanism, clamped afterwards."""

    package = "python-dp"

    def __init__(self) -> None:
        from pydp.algorithms.numerical_mechanisms import LaplaceMechanism  # noqa: PLC0415 - may not be installed

        self._kind = LaplaceMechanism
        self._add_noise: Release = self.mechanism(1.0).add_noise

    def mechanism(self, epsilon: float) -> Any:
        """Return a mechanism; its scale is a quotient, so there is nothing to search for."""
        return self._kind(epsilon=epsilon, sensitivity=1.0)

    def release(self, value: float) -> float:
        """Release one value."""
        return clamped(self._add_noise(value))

    def release_many(self, values: list[float]) -> object:
        """Release each value: the library has no array form."""
        add_noise = self._add_noise
        return [min(max(add_noise(value), LOWER), UPPER) for value in values]


Peer = Diffprivlib | OpenDP | PyDP


def arrays(peer: Peer, count: int, runs: int) -> float:
    """Return the seconds that `count` releases of different values take, the best of some runs."""
    values = np.linspace(LOWER, UPPER, count).tolist()
    return seconds(lambda: peer.release_many(values), runs)


def scalar(peer: Peer, count: int) -> float:
    """Return the median seconds of one release."""
    return median_seconds([lambda: peer.release(42.0)] * count)


def construction(peer: Peer, count: int) -> float:
    """Return the median seconds to make and calibrate one mechanism, each for an epsilon of its own."""
    return median_seconds([lambda e=1 + i / 1024: peer.mechanism(e) for i in range(count)])  # type: ignore[misc]


def timing_leak(peer: Peer, truths: list[float]) -> list[tuple[float, float, float]]:
    """Return (truth, seconds, released) for each truth."""
    return timed_releases(peer.release, truths)


TASKS: dict[str, Callable[..., object]] = {task.__name__: task for task in (arrays, scalar, construction, timing_leak)}


def main() -> None:
    """Answer requests until the input ends."""
    found: dict[str, Peer] = {}
    versions: dict[str, str | None] = {}
    for kind in (Diffprivlib, OpenDP, PyDP):
        try:
            found[kind.__name__] = kind()
            versions[kind.__name__] = f"{kind.package} {version(kind.package)}"
        except ImportError:
            versions[kind.__name__] = None

    for line in sys.stdin:
        request = json.loads(line)
        task = request.pop("task")
        answer = versions if task == "versions" else TASKS[task](found[request.pop("peer")], **request)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
