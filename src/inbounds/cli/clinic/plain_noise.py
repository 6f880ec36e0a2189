"""What plain noise answers if it keeps the same promise: Laplace noise, the contract's limit of visits, nothing free.

The visits of a patient with more than the limit are weighed, so that together they count as that many.  Whatever is
shown or divided by is paid for, and a sensitivity is one that holds for every table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.bounds import Bounds
from inbounds.published import Laplace

if TYPE_CHECKING:
    from numpy.typing import NDArray

EVERYTHING = Bounds.everything()

WEIGHED = """\
(SELECT *, least(1, {limit} / visits) AS weight, 1 / visits AS share_of_patient
 FROM (SELECT *, count(*) OVER (PARTITION BY patient) AS visits FROM visits{where}))"""
"""The visits of a question: those of a patient weigh at most the limit, and are one patient, together in all groups."""


class PlainNoise(ABC):
    """A way to answer a question with Laplace noise."""

    @property
    @abstractmethod
    def sums(self) -> tuple[str, ...]:
        """What noise is put on, in SQL over weighed visits; each has an equal part of epsilon."""

    @property
    @abstractmethod
    def sensitivities(self) -> tuple[Fraction, ...]:
        """The most that one patient changes each of them, in all groups together."""

    @abstractmethod
    def put_together(self, *noisy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return answers, as numbers, from draws of each."""

    def answer(self, number: float) -> Any:
        """Return an answer as people write it."""
        return number

    def draw(self, sums: Sequence[float], epsilon: Fraction, times: int) -> NDArray[np.float64]:
        """Return so many independent answers, as numbers, from the sums without noise."""
        laws = [Laplace(EVERYTHING, most, epsilon / len(sums), ends="leave") for most in self.sensitivities]
        noisy = [law.release(np.full(times, float(total))) for law, total in zip(laws, sums, strict=True)]
        return self.put_together(*noisy)


@dataclass(frozen=True)
class NoisyTotal(PlainNoise):
    """A count or a sum: noise on it, rounded to a whole number afterwards."""

    total: str
    sensitivity: int

    @property
    def sums(self) -> tuple[str, ...]:
        return (self.total,)

    @property
    def sensitivities(self) -> tuple[Fraction, ...]:
        return (Fraction(self.sensitivity),)

    def put_together(self, *noisy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Round it."""
        return np.rint(noisy[0])

    def answer(self, number: float) -> int:
        """Return a whole number."""
        return int(number)


@dataclass(frozen=True)
class NoisyMean(PlainNoise):
    """A mean: a noisy sum over a noisy count.

    Distances from the middle of the bounds are added up, which halves the noise; a count below 1 is taken as 1.
    """

    value: str
    low: int
    high: int
    limit: int
    """How many visits of a patient count."""

    @property
    def middle(self) -> float:
        """Where distances are measured from."""
        return (self.low + self.high) / 2

    @property
    def sums(self) -> tuple[str, ...]:
        return f"sum(weight * ({self.value} - {self.middle}))", "sum(weight)"

    @property
    def sensitivities(self) -> tuple[Fraction, ...]:
        return Fraction(self.limit * (self.high - self.low), 2), Fraction(self.limit)

    def put_together(self, *noisy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Divide one by the other."""
        distances, rows = noisy
        return self.middle + distances / np.maximum(rows, 1)


@dataclass(frozen=True)
class NoisyMedian(PlainNoise):
    """The median of some days, which one patient can move from the first possible day to the last."""

    column: str
    first: date
    last: date

    @property
    def sums(self) -> tuple[str, ...]:
        return (f"date_diff('day', DATE '0001-01-01', median({self.column})) + 1",)  # the ordinal of the day

    @property
    def sensitivities(self) -> tuple[Fraction, ...]:
        return (Fraction((self.last - self.first).days),)

    def put_together(self, *noisy: NDArray[np.float64]) -> NDArray[np.float64]:
        """Round it to a day."""
        return np.rint(noisy[0])

    def answer(self, number: float) -> date:
        """Return a day."""
        return date.fromordinal(int(number))
