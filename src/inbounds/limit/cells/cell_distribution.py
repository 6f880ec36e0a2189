"""The law of a mechanism on cells, for every true answer: what its accuracy is computed from."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.accuracy.distribution import Distribution
from inbounds.accuracy.interval import SLACK, no_better
from inbounds.accuracy.true_answers import CutAnswers
from inbounds.bounds.lattice import Lattice
from inbounds.limit.cells.cells import Cells
from inbounds.limit.cells.cut_cells import CutCells
from inbounds.limit.cells.kernel import Kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from inbounds.accuracy.distribution import Floats, Indices, Spans

NODES = 2
"""Between two cuts errors are polynomials of degree two at most, and two nodes add them up without a remainder."""

MOST_ROWS = 2048
"""Up to so many rows, intervals are found by looking at all of them."""


class CellDistribution(Distribution):
    """Releases are targets, in rising order; which one is the outcome of a kernel for the row of the true answer."""

    def __init__(self, lattice: Lattice, cells: Cells | CutCells, kernel: Kernel, targets: Indices) -> None:
        self.lattice, self.cells, self.kernel, self.targets = lattice, cells, kernel, targets
        self.scale = float(cells.typical_width)
        self.rises = kernel.rises and kernel.rows > MOST_ROWS
        self._values = (targets - lattice.first).astype(float)

    def _mix(self, of_rows: Callable[[Any], Floats], places: NDArray[Any]) -> Floats:
        """Return the mean of a quantity over the rows of places, which are counted from the first index."""
        rows, share = self.cells.mixture(places + (self.lattice.first - self.cells.start))
        values = of_rows(rows)
        if not self.cells.interpolated:
            return values
        above = of_rows(np.minimum(rows + 1, self.cells.rows - 1))
        return values + share * (above - values)

    def probability(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of a release: that of all outcomes that have this target."""
        released, places = np.broadcast_arrays(released, centres - self.lattice.first)
        first = np.searchsorted(self.targets, released)
        last = np.searchsorted(self.targets, released, side="right")
        total = np.zeros(released.shape)
        for more in range(int((last - first).max(initial=0))):
            probability = self._probability(np.maximum(np.minimum(first + more, last - 1), 0), places)
            total += np.where(first + more < last, probability, 0.0)
        return total

    def _probability(self, outcomes: Spans, places: NDArray[Any]) -> Floats:
        return self._mix(lambda rows: self.kernel.probability(rows, outcomes), places)

    def up_to(self, released: Indices, centres: Indices) -> Floats:
        released, places = np.broadcast_arrays(released, centres - self.lattice.first)
        cuts = np.searchsorted(self.targets, released, side="right")
        return self._mix(lambda rows: self.kernel.below(rows, cuts), places)

    def at_least(self, released: Indices, centres: Indices) -> Floats:
        released, places = np.broadcast_arrays(released, centres - self.lattice.first)
        cuts = np.searchsorted(self.targets, released)
        return self._mix(lambda rows: self.kernel.from_on(rows, cuts), places)

    def error(self, centres: Indices, excess: Floats) -> Floats:
        """Return the expected distance from true answers so far above these indices."""
        places = centres - self.lattice.first
        return self._distance(places, places + excess)

    def _distance(self, places: NDArray[Any], aims: Floats) -> Floats:
        """Return the expected distance of releases for some places from others."""
        # `E|x - aim|` from the mass and the moment below the aim, and the mean of everything.
        cuts = np.searchsorted(self._values, aims, side="right")
        everything = np.full(cuts.shape, len(self._values))

        def of_rows(rows: Spans) -> Floats:
            mass, moment = self.kernel.below(rows, cuts), self.kernel.sums_below(self._values, rows, cuts)
            whole = self.kernel.sums_below(self._values, rows, everything)
            return np.asarray(aims * (2 * mass - 1) + whole - 2 * moment)

        return self._mix(of_rows, places)

    def bias_and_variance(self, centres: Indices) -> tuple[Floats, Floats]:
        """Return how far above these indices the mean of releases is, and their variance."""
        places, middle = centres - self.lattice.first, float(self._values.mean())
        everything = np.full(centres.shape, len(self._values))

        def moment(values: Floats) -> Floats:
            return self._mix(lambda rows: self.kernel.sums_below(values, rows, everything), places)

        mean, square = moment(self._values - middle), moment((self._values - middle) ** 2)
        return mean + middle - places, np.maximum(square - mean**2, 0.0)

    def wide_interval(self, released: Indices, confidence: float) -> tuple[Indices, Indices]:
        """Return the least and the greatest truth that accepts each release, by likelihood ratio, a row at a time.

        Truths of one cell have one law.  Between two points a truth accepts what either point does: under a mixture of
        two laws that is as probable as it has to be.
        """
        # As on few points, with rows in place of truths; then from the accepted rows to the truths that can go to them.
        columns = np.clip(np.searchsorted(self._releases, released), 0, len(self._releases) - 1)
        accepted = self._odds[:, columns] > (1 - confidence) * (1 - SLACK)
        first = np.argmax(accepted, axis=0)
        last = len(accepted) - 1 - np.argmax(accepted[::-1], axis=0)
        starts = np.array(self.cells.starts)
        if isinstance(self.cells, Cells) and self.cells.interpolated:
            low, high = starts[first] - self.cells.width + 1, starts[last] + self.cells.width - 1
        else:
            low, high = starts[first], starts[last + 1] - 1
        return np.maximum(low, self.lattice.first), np.minimum(high, self.lattice.last)

    @cached_property
    def _releases(self) -> Indices:
        return np.unique(self.targets)

    @cached_property
    def _odds(self) -> Floats:
        """For each row and release the odds, under the row, of a release that speaks no better for it."""
        cuts = np.append(np.searchsorted(self.targets, self._releases), len(self.targets))
        below = self.kernel.below(np.arange(self.kernel.rows)[:, None], cuts[None, :])
        table = np.maximum(np.diff(below, axis=1), 0.0)
        with np.errstate(under="ignore", invalid="ignore", divide="ignore"):
            ratios = np.nan_to_num(table / table.max(axis=0))
        return np.array([no_better(*row) for row in zip(table, ratios, strict=True)])

    def errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the expected distances for possible answers so far from the ends of their spans."""
        places = self._places(spans, below)
        return self._distance(places, places)

    def at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the probabilities that releases are ends of spans."""
        places = self._places(spans, below)
        probabilities = np.zeros(places.shape)
        for outcome in np.flatnonzero(np.isin(self.targets, [*self.lattice.lows, *self.lattice.highs])).tolist():
            probabilities += self._probability(np.full(places.shape, outcome), places)
        return probabilities

    def _places(self, spans: Spans, below: Floats) -> Floats:
        return (self.lattice.lows[spans] - self.lattice.first) + below

    @cached_property
    def _cuts(self) -> NDArray[np.int64]:
        """Between two of these the error is a polynomial of the true answer, of degree two at most."""
        return np.union1d(np.array(self.cells.starts, dtype=np.int64), self.targets)

    def true_answers(self, first: int, last: int) -> CutAnswers:
        """Return true answers, cut where the error has a kink."""
        return CutAnswers(self.lattice, 1.0, float(self.lattice.width + 1), first, last, NODES, cuts=self._cuts)
