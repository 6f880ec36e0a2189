"""Laws that are sums of a few runs of equal probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from inbounds.sampling.entropy import Entropy
from inbounds.sampling.uniform import below

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class Run(NamedTuple):
    """Consecutive outputs that have the same weight from it; where runs overlap, weights are added."""

    first: int
    last: int
    weight: int


class SeenRun(NamedTuple):
    """A run for each of many true answers, in doubles: its ends from the true answer on, and the probability of each
    of its outputs."""

    first: Floats
    last: Floats
    probability: Floats | float


class RunsLaw(ABC):
    """For each true answer, a few runs of outputs.  Answers and outputs are counted in steps from the lower bound."""

    width: int
    """The greatest answer."""
    low: int
    """The least output."""
    high: int
    """The greatest output."""
    total: int
    """The sum of all weights, the same for every true answer: the probability of an output is its weight over this."""
    ratio: Fraction
    """No output is more than so many times as probable for one true answer as for another."""

    @abstractmethod
    def runs(self, answer: int) -> Sequence[Run]:
        """Return the runs for a true answer, always as many."""

    @abstractmethod
    def seen_runs(self, answer: Floats) -> Sequence[SeenRun]:
        """Return the same in doubles, for many true answers at once, also between whole numbers."""

    def state(self) -> dict[str, str]:
        """Return what bounds its loss in exact numbers, for a certificate."""
        return {"kind": "levels", "low": str(self.low), "high": str(self.high), "ratio": str(self.ratio)}

    @property
    def outputs(self) -> Sequence[int]:
        """All outputs there are."""
        return range(self.low, self.high + 1)

    def weight(self, output: int, answer: int) -> int:
        """Return the weight of an output for a true answer."""
        return sum(run.weight for run in self.runs(answer) if run.first <= output <= run.last)

    def draw(self, answer: int, entropy: Entropy) -> int:
        """Return an output with exactly its probability, from one whole number below the total.

        Every run is looked at, whichever the output is in.
        """
        # Every run takes its mass off what is left of the number; the one in which it falls below 0 has the output.
        left, output = below(self.total, entropy), self.low
        for first, last, weight in self.runs(answer):
            mass = (last - first + 1) * weight
            place = first + left // max(weight, 1)
            output = place if 0 <= left < mass else output
            left -= mass
        return output
