"""Errors over all true answers at once: what a mechanism's mean and worst error are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

from inbounds.accuracy.true_answers import TrueAnswers, greatest, mean
from inbounds.accuracy.window import Window, indices_of, refuse_infinite
from inbounds.answers.single import Answers
from inbounds.bounds import Bounds

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Spans = NDArray[np.intp]


class Averages(ABC):
    """Mean and worst error of a mechanism, from its error at each true answer."""

    _answers: Answers

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """Which answers are possible."""

    @abstractmethod
    def _errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the expected distances, in steps, for true answers so far from the ends of their spans."""

    @abstractmethod
    def _at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        """Return the probabilities that a release is an end of a span."""

    @abstractmethod
    def _looked_at(self, first: int, last: int) -> TrueAnswers:
        """Return the true answers from one index to another, and how closely to look at them."""

    def worst_error(self, window: Window | None = None) -> float:
        """Return the greatest expected absolute error over all possible true answers, or those in a window."""
        return greatest(self._true_answers(window), self._errors) * self._step

    def mean_error(self, window: Window | None = None) -> float:
        """Return the expected absolute error averaged over possible true answers, each counted alike.

        All of them, or those from `window[0]` to `window[1]`: if the bounds have no end, there must be a window.
        """
        return mean(self._true_answers(window, finite=True), self._errors) * self._step

    def at_ends(self, window: Window | None = None) -> float:
        """Return how probable it is that a release is an end of a span, averaged like `mean_error`."""
        return mean(self._true_answers(window, finite=True), self._at_ends)

    def _true_answers(self, window: Window | None, *, finite: bool = False) -> TrueAnswers:
        if finite:
            refuse_infinite(window, self.bounds)
        return self._looked_at(*indices_of(window, self.bounds, self._answers.lattice))

    @cached_property
    def _step(self) -> float:
        return float(self._answers.lattice.step)
