"""Mechanisms on a lattice of so few points that every true answer can be looked at."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inbounds.accuracy.true_answers import NODES, TrueAnswers
from inbounds.published.mechanism import Mechanism

if TYPE_CHECKING:
    from inbounds.mechanisms.averages import Floats, Spans


class Listed(Mechanism):
    """A mechanism whose error is known at every possible true answer, in the order of these."""

    in_range = True

    @property
    @abstractmethod
    def errors(self) -> Floats:
        """The expected distance in steps for every possible true answer."""

    @property
    @abstractmethod
    def ends(self) -> Floats:
        """The probability that a release is an end of a span, for every possible true answer."""

    @cached_property
    def _first(self) -> Floats:
        """The number of the first point of each span."""
        points = self._ground.lattice.lengths.astype(float) + 1
        return np.cumsum(points) - points

    def _places(self, spans: Spans, below: Floats) -> Spans:
        return (self._first[spans] + np.rint(below)).astype(np.intp)

    def _errors(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        return self.errors[self._places(spans, below)]

    def _at_ends(self, spans: Spans, below: Floats, above: Floats) -> Floats:
        return self.ends[self._places(spans, below)]

    def _looked_at(self, first: int, last: int) -> TrueAnswers:
        lattice = self._ground.lattice
        return TrueAnswers(lattice, NODES, float(lattice.high_list[-1] - lattice.low_list[0] + 1), first, last)
