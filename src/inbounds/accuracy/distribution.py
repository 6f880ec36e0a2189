"""The distribution of a release around every true answer, in indices of the lattice: what accuracy is computed from.

Distances are exact integers; the rest is closed forms in doubles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.search import least_from
from inbounds.accuracy.true_answers import TrueAnswers
from inbounds.bounds.lattice import Lattice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]
    Spans = NDArray[np.intp]


class Distribution(ABC):
    """The distribution of releases for every index that a true answer can have once it is in range.

    All methods take arrays of int64 that broadcast, and return doubles.
    """

    lattice: Lattice
    """Of the possible answers."""
    scale: float
    """Over so many steps, about, probabilities change by a factor e."""
    in_range = True
    """Whether every release is a possible answer."""
    rises = True
    """Whether greater true answers have greater releases: no release is less probable to be reached or passed."""

    @abstractmethod
    def probability(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of a release for the index of a true answer."""

    @abstractmethod
    def up_to(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of at most this release, to full relative accuracy where it is small."""

    @abstractmethod
    def at_least(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of at least this release, to full relative accuracy where it is small."""

    @abstractmethod
    def error(self, centres: Indices, excess: Floats) -> Floats:
        """Return the expected distance, in steps, from true answers so many steps above these indices."""

    @abstractmethod
    def bias_and_variance(self, centres: Indices) -> tuple[Floats, Floats]:
        """Return how far above these indices the mean of releases is, in steps, and their variance."""

    @abstractmethod
    def errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the expected distances, in steps, for possible answers so far from the ends of their spans.

        A smooth function of the distances between whole numbers, too, over runs of `true_answers`.
        """

    @abstractmethod
    def at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the probabilities that a release is an end of a span, likewise."""

    @abstractmethod
    def true_answers(self, first: int, last: int) -> TrueAnswers:
        """Return the true answers from one index to another, and how closely to look at them."""

    def truths(self, indices: Indices) -> Indices:
        """Return the indices that true answers count as: here they are brought between the least and the greatest."""
        lows, highs = self.lattice.ends[np.dtype(np.int64)]
        return np.clip(indices, lows[0], highs[-1])

    def possible(self, places: Indices) -> Indices:
        """Return releases nearby that can occur."""
        return places if not self.in_range else self.lattice.project_many(places)[0]

    def tail_bound(self, released: Indices, centres: Indices) -> Floats:
        """Return an upper bound on `at_least` for this true answer and every smaller one."""
        return self.at_least(released, centres)

    def head_bound(self, released: Indices, centres: Indices) -> Floats:
        """Return an upper bound on `up_to` for this true answer and every larger one."""
        return self.up_to(released, centres)

    def wide_interval(self, released: Indices, confidence: float) -> tuple[Indices, Indices]:
        """Return an interval where truths can neither be listed nor rise: here all possible answers."""
        return np.full_like(released, self.lattice.first), np.full_like(released, self.lattice.last)

    @property
    def releases(self) -> tuple[int | None, int | None]:
        """The least and the greatest release; None where there is none."""
        return self.least_answer, self.greatest_answer

    @cached_property
    def least_answer(self) -> int | None:
        """The index of the least possible answer, if there is one."""
        return self.lattice.least

    @cached_property
    def greatest_answer(self) -> int | None:
        """The index of the greatest possible answer, if there is one."""
        return self.lattice.greatest

    @cached_property
    def stride(self) -> int:
        """The length of the first step of a search."""
        return max(1, min(2**60, int(self.scale)))

    def quantile(self, probabilities: Floats, centres: Indices) -> Indices:
        """Return the smallest release that is not exceeded with at least this probability."""

        def reached(places: Indices) -> NDArray[np.bool_]:
            return self.up_to(places, centres[:, None]) >= probabilities[:, None]

        first, last = self.releases
        quantiles = least_from(reached, centres, self.stride, first, last)
        return quantiles if last is None else np.minimum(quantiles, last)


def apart(first: Indices | np.int64, second: Indices | np.int64) -> Floats:
    """Return `first - second` in doubles; exact below 2**53, and never wrapped."""
    if first.size == second.size == 1:  # for one number, Python is quicker
        return np.full(max(first.shape, second.shape, key=len), float(first.item() - second.item()))
    near = (first - second).astype(float)
    return np.where((first < 0) == (second < 0), near, first.astype(float) - second.astype(float))


def either(condition: NDArray[np.bool_], where_true: Callable[[], Floats], where_false: Callable[[], Floats]) -> Floats:
    """Return `np.where` of these, of which only what is taken somewhere is computed."""
    if condition.size == 1:
        return where_true() if condition.item() else where_false()
    if condition.all():
        return where_true()
    return np.where(condition, where_true(), where_false()) if condition.any() else where_false()


def spans_of(lattice: Lattice, indices: Indices) -> tuple[Spans, Floats, Floats]:
    """Return the span of each possible answer, and how far it is from the ends of that, as the lattice counts."""
    spans = lattice.last_span(indices)
    return spans, lattice.below(indices, spans).astype(float), lattice.above(indices, spans).astype(float)
