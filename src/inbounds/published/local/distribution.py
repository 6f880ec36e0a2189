"""The distribution of a law of a few runs, in doubles: what its accuracy is computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.distribution import Distribution, apart
from inbounds.accuracy.true_answers import NODES, TrueAnswers
from inbounds.bounds.lattice import Lattice
from inbounds.published.local.runs import RunsLaw, SeenRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inbounds.accuracy.distribution import Floats, Indices, Spans

MOST_LISTED = 4096
"""Up to so many true answers, a mean looks at each of them."""

RUNS = 512
"""Elsewhere, errors are smooth over this part of the bounds, but where a window reaches an end; even there their slope
does not jump."""


class RunsDistribution(Distribution):
    """A few runs of equal probabilities around every true answer."""

    rises = True  # windows move up with the answer, and weight moves from lower atoms to upper ones

    def __init__(self, lattice: Lattice, law: RunsLaw) -> None:
        self.lattice, self._law = lattice, law
        self.in_range = law.low >= 0 and law.high <= law.width
        self.scale = (law.high - law.low) / 16

    @property
    def releases(self) -> tuple[int | None, int | None]:
        return self.lattice.first + self._law.low, self.lattice.first + self._law.high

    def _runs(self, centres: Indices) -> Sequence[SeenRun]:
        return self._law.seen_runs(apart(centres, np.full_like(centres, self.lattice.first)))

    def probability(self, released: Indices, centres: Indices) -> Floats:
        released, centres = np.broadcast_arrays(released, centres)
        return self._at(apart(released, centres), self._runs(centres))

    def _at(self, place: Floats, runs: Sequence[SeenRun]) -> Floats:
        probability = np.zeros(place.shape)
        for run in runs:
            probability = probability + np.where((run.first <= place) & (place <= run.last), run.probability, 0.0)
        return probability

    def up_to(self, released: Indices, centres: Indices) -> Floats:
        released, centres = np.broadcast_arrays(released, centres)
        place, probability = apart(released, centres), np.zeros(released.shape)
        for run in self._runs(centres):
            probability = probability + run.probability * np.clip(place - run.first + 1, 0, run.last - run.first + 1)
        return np.minimum(probability, 1.0)

    def at_least(self, released: Indices, centres: Indices) -> Floats:
        released, centres = np.broadcast_arrays(released, centres)
        place, probability = apart(released, centres), np.zeros(released.shape)
        for run in self._runs(centres):
            probability = probability + run.probability * np.clip(run.last - place + 1, 0, run.last - run.first + 1)
        return np.minimum(probability, 1.0)

    def error(self, centres: Indices, excess: Floats) -> Floats:
        """Return the expected distance from true answers so many steps above these indices."""
        return _distance(self._runs(centres), excess)

    def bias_and_variance(self, centres: Indices) -> tuple[Floats, Floats]:
        """Return bias and variance, as sums over the runs."""
        bias, squares = np.zeros(centres.shape), np.zeros(centres.shape)
        for run in self._runs(centres):
            count, middle = run.last - run.first + 1, (run.first + run.last) / 2
            bias = bias + run.probability * count * middle
            squares = squares + run.probability * count * (middle**2 + (count**2 - 1) / 12)
        return bias, squares - bias**2

    def errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the expected distances for possible answers so far from the ends of their spans."""
        return _distance(self._law.seen_runs(below), np.zeros(below.shape))

    def at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the probabilities that releases are ends of the bounds."""
        runs = self._law.seen_runs(below)
        return self._at(-below, runs) + self._at(above, runs)

    def true_answers(self, first: int, last: int) -> TrueAnswers:
        """Return true answers, every one of which is looked at if they are few."""
        width = float(self._law.width)
        return TrueAnswers(self.lattice, NODES if width < MOST_LISTED else width / RUNS, width + 1, first, last)


def _distance(runs: Sequence[SeenRun], excess: Floats) -> Floats:
    """Return the expected distance of the outputs of some runs from so many steps above the true answer."""
    distance = np.zeros(excess.shape)
    for run in runs:
        first, last = run.first - excess, run.last - excess
        count = run.last - run.first + 1
        lower = np.clip(np.floor(-first) + 1, 0, count)  # so many are at or below it
        upper = count - lower
        distance = distance + run.probability * (upper * (last - (upper - 1) / 2) - lower * (first + (lower - 1) / 2))
    return distance
