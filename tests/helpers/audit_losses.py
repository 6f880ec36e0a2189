"""Exact losses of mechanisms, by definition: the probabilities of all releases around two answers, compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Losses:
    """The losses of one mechanism between any two of some answers, over some releases."""

    def __init__(self, mechanism: Any, answers: Sequence[Fraction], releases: Sequence[Fraction]) -> None:
        rows = [[mechanism.pmf(released, answer) for released in releases] for answer in answers]
        with np.errstate(divide="ignore"):  # a release that is impossible for all answers is no news
            self._logs: NDArray[np.float64] = np.log(np.array(rows))

    def between(self, first: int, second: int) -> float:
        """Return the greatest loss when the truth is the first answer and might be the second."""
        possible = np.isfinite(self._logs[first]) | np.isfinite(self._logs[second])
        return float((self._logs[first] - self._logs[second])[possible].max())

    def of_change(self, steps: int, *, lower: bool) -> float:
        """Return the greatest loss between answers so many places apart, the truth being the lower or the higher."""
        starts = range(len(self._logs) - steps)
        return max(self.between(low, low + steps) if lower else self.between(low + steps, low) for low in starts)


def joint(losses: Losses, changes: Sequence[int]) -> float:
    """Return the greatest loss of independent releases, each of whose answers changes by so many places, all up."""
    return max(sum(losses.of_change(change, lower=lower) for change in changes) for lower in (False, True))


def spreads(most: int, cells: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to spread up to so many over some cells, up to their order."""
    for found in product(range(most + 1), repeat=cells):
        if 0 < sum(found) <= most and list(found) == sorted(found):
            yield found
