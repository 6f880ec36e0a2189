"""A private law on cells: from a true answer to a row, from that to an outcome, from that to what is released."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from inbounds.answers.array import Reader
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, lower, upper, workprec
from inbounds.limit.cells.cell_distribution import CellDistribution
from inbounds.limit.cells.cells import Cells
from inbounds.limit.cells.cut_cells import CutCells
from inbounds.limit.cells.distance_kernel import DistanceKernel, allowed_ratio
from inbounds.limit.cells.exact_table import BITS, NEVER, TOTAL, ExactTable, greatest_ratio
from inbounds.limit.cells.kernel import ChainKernel, Kernel, TableKernel
from inbounds.mechanisms.definition import SMALL, prove_by_definition
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.law import PRECISION
from inbounds.published.ghosh2009 import Geometric, GeometricNoise
from inbounds.sampling.alias import FIRST
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[Any]

CHUNK = 2**16
"""Answers to draw for at a time."""


@dataclass(frozen=True, eq=False)
class CellLaw:
    """Cells, a kernel on their rows, and the index to release for each outcome."""

    setting: Setting
    cells: Cells | CutCells
    kernel: Kernel
    targets: NDArray[np.int64]

    @cached_property
    def distribution(self) -> CellDistribution:
        """The law in doubles."""
        return CellDistribution(self.setting.lattice, self.cells, self.kernel, self.targets)

    @cached_property
    def _targets(self) -> list[int]:
        return self.targets.tolist()

    def draw(self, index: int, entropy: Entropy) -> int:
        """Return the index to release for the index of a true answer."""
        if self._ends is None:
            return self._targets[self.kernel.draw(self.cells.draw(self.setting.clip(index), entropy), entropy)]
        return int(self._draw_near(self.setting.lattice.place(index), entropy))

    @property
    def draw_near(self) -> Callable[[float, Entropy], float] | None:
        """What does the same for an index that is a double, always with the same work, if doubles hold enough."""
        return None if self._ends is None else self._draw_near

    def _draw_near(self, place: float, entropy: Entropy) -> float:
        assert self._ends is not None
        low, high, sum_ = self._ends
        clamped = 0.5 * (abs(place - low) - abs(place - high) + sum_)  # without a choice
        row = self.cells.draw_in_doubles(clamped, entropy)
        return self._places[int(self.kernel.draw_in_doubles(row, entropy) + FIRST)]

    @cached_property
    def _places(self) -> array[float]:
        return array("d", [0.0] * FIRST + self.targets.astype(float).tolist())

    @cached_property
    def _ends(self) -> tuple[float, float, float] | None:
        """The ends of the lattice and their sum, if doubles hold all there is to compute."""
        lattice = self.setting.lattice
        if not (lattice.in_doubles and self.cells.in_doubles):
            return None
        return float(lattice.first), float(lattice.last), float(lattice.first + lattice.last)

    def draw_parts(self, read: Reader, count: int, entropy: Entropy) -> Iterator[tuple[slice, Indices]]:
        """Yield what was drawn for one part of an array after another."""
        lattice = self.setting.lattice
        for start in range(0, max(count, 1), CHUNK):
            part = slice(start, min(start + CHUNK, count))
            indices = read(part)
            clipped = np.clip(indices, lattice.first, lattice.last).astype(np.int64)
            rows = self.cells.draw_many(clipped, entropy)
            yield part, self.targets[self.kernel.draw_many(rows, entropy)].astype(indices.dtype)

    @property
    def name(self) -> str:
        """What kind of mechanism it is."""
        rows = "points" if self.cells.are_points else "cells"
        return f"{self.kernel.kind} {self.cells.rows} {rows}"

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it equal to another."""
        return self.pickle_parts()

    def pickle_parts(self) -> tuple[Any, ...]:
        """Return what it can be made of again."""
        return self.cells, self.kernel.kind, self.kernel.weights, tuple(self._targets)

    @classmethod
    def from_parts(
        cls,
        setting: Setting,
        cells: Cells | CutCells,
        kind: str,
        weights: tuple[tuple[int, ...], ...],
        targets: tuple[int, ...],
    ) -> CellLaw:
        """Make it again, or refuse what is none."""
        if kind == DistanceKernel.kind and isinstance(cells, CutCells):
            kernel: Kernel = DistanceKernel(cells, setting.distance, np.array(weights, dtype=np.uint64))
        elif kind == ChainKernel.kind:
            kernel = ChainKernel(cells.rows, GeometricNoise(1, setting.epsilon))
        else:
            if any(min(row) < 0 or sum(row) != 2**BITS for row in weights):
                raise InvalidParameter(
                    "every row of the table of an optimum must add up to 2**64; build the mechanism again"
                )
            kernel = TableKernel(ExactTable(weights))
        releases = np.array(targets, dtype=np.int64)
        fits = kernel.rows == cells.rows and len(releases) == kernel.outcomes and (np.diff(releases) >= 0).all()
        if not (fits and np.array_equal(setting.lattice.nearest(releases), releases)):
            raise InvalidParameter("an optimum releases possible answers in rising order; build the mechanism again")
        return cls(setting, cells, kernel, releases)

    def unmapped(self) -> CellLaw:
        """Return the law that releases the middle of a cell instead of the best guess of the truth."""
        return replace(self, targets=middles(self.setting.lattice, self.cells)) if self._is_remapped else self

    @cached_property
    def _is_remapped(self) -> bool:
        """Whether each outcome is a row, and the middle of a row belongs to no other: then both can be told apart."""
        if self.kernel.outcomes != self.cells.rows:
            return False
        rows, _ = self.cells.mixture(middles(self.setting.lattice, self.cells) - self.cells.start)
        return bool(np.array_equal(rows, np.arange(self.cells.rows)))

    def replace_releases(self, index: int) -> int:
        """Return what is released instead of the middle of a cell."""
        if not self._is_remapped:
            return index
        row, _ = self.cells.mixture(np.array([index - self.cells.start]))
        return self._targets[int(row[0])]

    def prove_again(self) -> Certificate:
        """Compare every pair of neighbouring answers and every release by definition, where there are few."""
        lattice = self.setting.lattice
        if isinstance(self.kernel, ChainKernel):
            rows = Bounds(0, self.cells.rows - 1, step=1)
            proof = Geometric(rows, 1, self.setting.given.epsilon, ends="snap").prove_again()
            return replace(self.certify(), bound=proof.bound, method=proof.method, pairs=proof.pairs)
        if lattice.width >= SMALL:
            return self.certify()

        def row(answer: int, bits: int) -> list[arb]:
            low, share = self.cells.row_and_share(answer)
            with lock(), workprec(bits):
                near_row = [ball(Fraction(weight, 2**BITS)) for weight in self.kernel.units(low)]
                if not share:
                    return near_row
                above = [ball(Fraction(weight, 2**BITS)) for weight in self.kernel.units(low + 1)]
                return [
                    at_low + ball(share) * (at_high - at_low) for at_low, at_high in zip(near_row, above, strict=True)
                ]

        return prove_by_definition(self.setting, row, self.state)

    def certify(self) -> Certificate:
        """Write down how much is lost between answers that neighbours can have."""
        bound, witnessed, pair, pairs, method = self._loss()
        return Certificate.of(
            self.setting.promise,
            self.setting.lattice,
            bound=bound,
            witnessed=witnessed,
            pair=pair,
            pairs=pairs,
            method=method,
            precision=PRECISION,
            law=self.state,
        )

    def state(self) -> dict[str, Any]:
        """Return the law in exact numbers, for a certificate: cells, table or noise, and what is released."""
        cells, kernel = self.cells, self.kernel
        if isinstance(kernel, DistanceKernel):
            return {
                "kind": "cells",
                "edges": list(map(str, cells.starts)),
                "total": str(TOTAL),
                "weights": [list(map(str, level)) for level in kernel.weights],
                "releases": list(map(str, self._targets)),
            }
        assert isinstance(cells, Cells)
        law = {
            "kind": "table",
            "start": str(cells.start),
            "width": str(cells.width),
            "interpolated": cells.interpolated,
            "releases": list(map(str, self._targets)),
        }
        if isinstance(kernel, ChainKernel):
            return {**law, "rate": str(kernel.noise.rate)}
        assert isinstance(kernel, TableKernel)
        return {**law, "total": str(TOTAL), "rows": [list(map(str, row)) for row in kernel.table.weights]}

    def _loss(self) -> tuple[Fraction, Fraction, tuple[int, int], int, str]:
        setting, cells = self.setting, self.cells
        self._refuse_unsound()
        if isinstance(self.kernel, ChainKernel):
            first = setting.lattice.first
            return self.kernel.noise.loss, Fraction(0), (first, first + setting.distance), 1, "noise on cells"
        exact = cells.are_points and not cells.interpolated
        method = "every pair, every output" if exact else "every pair of cells, every output"
        if isinstance(self.kernel, DistanceKernel):
            ratio = allowed_ratio(setting.epsilon)
            if not self.kernel.keeps(ratio):
                ratio = 1 / NEVER
            first, second, pairs = 0, min(1, cells.rows - 1), cells.rows - 1
        else:
            assert isinstance(self.kernel, TableKernel)
            adjacent = cells.adjacent(setting.distance)
            ratio, first, second, _ = greatest_ratio(self.kernel.table, adjacent)
            pairs = int(adjacent.sum()) // 2
        with lock(), workprec(PRECISION):
            loss = (1 + (ball(ratio) - 1) * ball(coarseness(cells, setting.distance))).log()
            bound, witnessed = upper(loss), lower(loss)
        witnessed = witnessed if exact and isinstance(self.kernel, TableKernel) else Fraction(0)
        return bound, witnessed, (self._answer_of(first), self._answer_of(second)), pairs, method

    def _refuse_unsound(self) -> None:
        """Refuse cells that are no cells for this sensitivity: a pickle may hold anything."""
        cells, lattice = self.cells, self.setting.lattice
        beyond = cells.start > lattice.first or cells.starts[-1] < lattice.last + (not cells.interpolated)
        if beyond or not cells.keep_close(self.setting.distance):
            raise InvalidParameter("cells must hold all answers, and neighbours' close by; build the mechanism again")
        if isinstance(self.kernel, ChainKernel) and not (isinstance(cells, Cells) and cells.reach == 1):
            raise InvalidParameter("noise on rows is for neighbours one row apart; build the mechanism again")

    def _answer_of(self, row: int) -> int:
        """Return an index between the first and the last that goes to a row."""
        return self.setting.clip(self.cells.starts[row])


def middles(lattice: Lattice, cells: Cells | CutCells) -> NDArray[np.int64]:
    """Return the middle of each cell, or each point, where that is possible, or else the nearest possible answer."""
    starts = np.clip(np.array(cells.starts), lattice.first, lattice.last + (not cells.interpolated))
    if cells.interpolated:
        return lattice.nearest(starts)
    return lattice.nearest(starts[:-1] + (starts[1:] - starts[:-1]) // 2)


def coarseness(cells: Cells | CutCells, distance: int) -> Fraction:
    """Return which share of the way to the next row a neighbour's answer can move: all of it, unless points are coarse.

    Where they are, a word of 64 bits decides between two points, which adds a unit of its last bit.
    """
    if not (isinstance(cells, Cells) and cells.interpolated and cells.reach == 1 and cells.width > distance):
        return Fraction(1)
    return min(Fraction(1), Fraction(distance, cells.width) + Fraction(1, 2**63))


def row_epsilon(cells: Cells | CutCells, distance: int, epsilon: Fraction) -> Fraction:
    """Return how much rows next to each other may lose, so that neighbours' answers lose epsilon at most."""
    share = coarseness(cells, distance)
    if share == 1:
        return epsilon
    with lock(), workprec(PRECISION):
        return lower((1 + (ball(epsilon).exp() - 1) / ball(share)).log())
