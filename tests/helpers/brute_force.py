"""The mechanism and its guarantees straight from their definitions: every answer, every pair of them, every output.

An answer is rounded to the lattice and moved to the nearest possible index `m` (the left one of two).  The output is
the possible index `k` with probability `P_m(k) = w_k * q^|k-m| / Z(m)`, where `Z(m)` is the sum over all `k`.  The loss
between two answers is the greatest `|ln P_m(k) - ln P_n(k)|` over all outputs.  All of this is written out in doubles;
only the tails of infinite spans are geometric sums.  Nothing here comes from the package.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Spans = list[tuple[int | None, int | None]]
"""The possible indices, in order: low and high end of each span, None for no end."""


class BruteForce:
    """One law around every possible index, those of infinite spans as far as `pad` beyond the outermost ends."""

    def __init__(self, spans: Spans, rate: float, pooling: float, pad: int) -> None:
        self.spans, self.rate = spans, rate
        ends = [end for span in spans for end in span if end is not None] or [0]
        self.first, self.last = min(ends) - pad, max(ends) + pad
        windows = [(self.first if a is None else a, self.last if b is None else b) for a, b in spans]
        self.points = [k for low, high in windows for k in range(low, high + 1)]
        self.place = {k: i for i, k in enumerate(self.points)}
        self.weights = self._weights(pooling)

    def _weights(self, pooling: float) -> dict[int, float]:
        """Pool at each end a share of what makes up for what is missing beside it.

        Beside an infinite gap that is the mass of the gap.  At the two ends of an inner gap it is equal weights that,
        seen from either end, add up to the mass of the gap.
        """
        weights = dict.fromkeys(self.points, 1.0)
        (lowest, _), (_, highest) = self.spans[0], self.spans[-1]
        for end in (lowest, highest):
            if end is not None:
                weights[end] += pooling * self._tail(1)
        for (_, left), (right, _) in zip(self.spans[:-1], self.spans[1:], strict=True):
            assert left is not None
            assert right is not None
            missing = math.fsum(self._power(d) for d in range(1, right - left))
            for end in (left, right):
                weights[end] += pooling * missing / (1 + self._power(right - left))
        return weights

    @cached_property
    def z(self) -> list[float]:
        """The total mass seen from every point."""
        return [self._z(m) for m in self.points]

    def _z(self, centre: int) -> float:
        masses = [self.weights[k] * self._power(abs(k - centre)) for k in self.points]
        if self.spans[0][0] is None:
            masses.append(self._tail(centre - self.first + 1))
        if self.spans[-1][1] is None:
            masses.append(self._tail(self.last - centre + 1))
        return math.fsum(masses)

    def _power(self, distance: int) -> float:
        return math.exp(-self.rate * distance)

    def _tail(self, start: int) -> float:
        """Return the sum of `q^d` over all distances from `start` on."""
        return self._power(start) / -math.expm1(-self.rate)

    @cached_property
    def losses(self) -> NDArray[np.float64]:
        """The loss between any two points; outputs farther out have the same ratios as the last ones here."""
        k = np.array(self.points)
        weights = np.array([self.weights[point] for point in self.points])
        # Logarithms are taken term by term, for a probability can be too small for a double.
        table = np.log(weights) - self.rate * abs(k - k[:, None]) - np.log(self.z)[:, None]
        return np.array([abs(table - row).max(axis=1) for row in table])

    def loss(self, first: int, second: int) -> float:
        """Return the loss between two possible indices."""
        return float(self.losses[self.place[first], self.place[second]])

    def nearest(self, index: int) -> int:
        """Return the possible index nearest to any index, the left one of two."""
        return min(self.points, key=lambda point: (abs(point - index), point))

    def neighbours(self, sensitivity: Fraction, *, trusted: bool) -> Iterator[tuple[int, int]]:
        """Yield the possible indices that answers at most `sensitivity` steps apart are moved to.

        Answers `x` with `i - 1/2 <= x < i + 1/2` are rounded to `i`, so two that are rounded to `i < j` are more than
        `j - i - 1` steps apart and can be as little more as you like.  Trusted answers are rounded to possible indices.
        """
        nearest = {i: i if i in self.place else self.nearest(i) for i in range(self.first, self.last + 1)}
        for i, j in combinations(self.points if trusted else nearest, 2):
            if j - i - 1 < sensitivity and nearest[i] != nearest[j]:
                yield nearest[i], nearest[j]

    def worst_standard(self, sensitivity: Fraction, *, trusted: bool) -> float:
        """Return the greatest loss between answers at most `sensitivity` steps apart."""
        return self._greatest(self.neighbours(sensitivity, trusted=trusted))

    def worst_of_answers(self, answers: list[Fraction], sensitivity: Fraction) -> float:
        """Return the greatest loss between any of these answers, in steps, that are at most `sensitivity` apart."""
        moved = {x: self.nearest(math.floor(x + Fraction(1, 2))) for x in answers}
        return self._greatest((moved[x], moved[y]) for x, y in combinations(answers, 2) if abs(x - y) <= sensitivity)

    def worst_distance(self, sensitivity: Fraction) -> float:
        """Return the greatest loss between possible indices, per as many steps as a sensitivity is rounded up to."""
        per_step = (self.loss(i, j) / (j - i) for i, j in combinations(self.points, 2))
        return max(per_step, default=0.0) * math.ceil(sensitivity)

    def _greatest(self, pairs: Iterable[tuple[int, int]]) -> float:
        return max((self.loss(i, j) for i, j in set(pairs)), default=0.0)
