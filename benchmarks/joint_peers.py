"""Other libraries that make a table of noisy groupings: their side of the process, and ours.

`python -m benchmarks.joint_peers PEER` runs in an environment of that peer, where nothing of ours is installed.  It
says its version, then reads one request a line and answers each with the cells that the peer makes of it:

    {"shape": [50, 40], "measured": [[[0, 1], 0.6, [3, -1, ...]], ..., [[], 0.1, [4998]]]}

Each grouping comes with its part of epsilon, from fine to coarse.  Everyone gets the same measurements.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parent.parent

Grouping = tuple[int, ...]
Measured = dict[Grouping, tuple[float, NDArray[np.int64]]]
"""For each grouping its part of epsilon, and what was measured."""


class OpenDP:
    """OpenDP's consistent trees: least squares as by Hay and others, for equal parts and equally many children."""

    name = "OpenDP tree"
    package = "opendp"
    place = ""

    def __init__(self) -> None:
        import opendp.prelude as dp  # noqa: PLC0415  may not be installed

        dp.enable_features("contrib")
        self._dp = dp
        self._made: dict[int, Any] = {}

    def cells(self, shape: list[int], measured: list[tuple[list[int], float, list[int]]]) -> list[float]:
        """Hand over the tree from its root on, and return its leaves."""
        branches = shape[0]
        if branches not in self._made:
            self._made[branches] = self._dp.t.make_consistent_b_ary_tree(branches, TIA=int, TOA=float)
        tree = [count for _, _, values in reversed(measured) for count in values]
        leaves: list[float] = self._made[branches](tree)
        return leaves


class PrivatePGM:
    """private-pgm (mbi): a graphical model with a fixed total, fitted by mirror descent."""

    name = "private-pgm"
    package = "mbi"
    place = "pgm"

    def __init__(self) -> None:
        import jax  # noqa: PLC0415  may not be installed

        jax.config.update("jax_enable_x64", True)
        warnings.simplefilter("ignore")
        import mbi  # noqa: PLC0415  may not be installed

        self._mbi = mbi

    def cells(self, shape: list[int], measured: list[tuple[list[int], float, list[int]]]) -> list[float]:
        """Fit a model of all groupings, each weighed by its noise, and return what it says of the cells."""
        mbi = self._mbi
        names = tuple(f"axis {i}" for i in range(len(shape)))
        measurements = [
            mbi.LinearMeasurement(
                np.array(values, dtype=float), tuple(names[axis] for axis in axes), stddev=float(2**0.5 / part)
            )
            for axes, part, values in measured
        ]
        model = mbi.estimation.MirrorDescent().estimate(mbi.Domain(names, shape), measurements)
        cells: list[float] = np.asarray(model.project(names).datavector()).tolist()
        return cells


KINDS = OpenDP, PrivatePGM


class JointPeer:
    """A peer in a process of its own, if it is installed."""

    kinds: ClassVar = {kind.name: kind for kind in KINDS}

    def __init__(self, name: str, interpreter: Path | None) -> None:
        self.name = name
        self.version: str | None = None
        self._process: subprocess.Popen[str] | None = None
        place = self.kinds[name].place
        python = None if interpreter is None else interpreter.absolute().parents[1] / place / "bin" / "python"
        if python is None or not python.exists():
            return
        self._process = subprocess.Popen(
            [python, "-m", "benchmarks.joint_peers", name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
        )
        assert self._process.stdout is not None
        self.version = self._process.stdout.readline().strip() or None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.communicate()

    def can(self, shape: tuple[int, ...], groupings: list[Grouping]) -> bool:
        """Return whether the peer is there and for such tables."""
        if self.version is None:
            return False
        is_tree = len(groupings) == len(shape) + 1
        is_tree = is_tree and all(len(finer) == len(coarser) + 1 for finer, coarser in pairwise(groupings))
        return self.name != OpenDP.name or (is_tree and len(set(shape)) == 1)

    def cells(self, shape: tuple[int, ...], measured: Measured) -> NDArray[np.float64]:
        """Have the peer make cells of measurements."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        told = [(axes, part, values.ravel().tolist()) for axes, (part, values) in measured.items()]
        self._process.stdin.write(json.dumps({"shape": shape, "measured": told}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of {self.name} ended early; its own message is above")
        return np.array(json.loads(line), dtype=np.float64).reshape(shape)


def main() -> None:
    """Answer requests until the input ends."""
    kind = JointPeer.kinds[sys.argv[1]]
    try:
        peer = kind()
    except ImportError:
        return
    print(f"{kind.package} {version(kind.package)}", flush=True)
    for line in sys.stdin:
        print(json.dumps(peer.cells(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
