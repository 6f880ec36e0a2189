"""How far a sum of independent noises goes: what the interval of a sum of measured groups is made of.

One noise is two-sided geometric: `k` has a probability in proportion to `exp(-rate |k|)`.  With `s = sinh(rate / 2)`
its characteristic function is `1 / (1 + (sin(t/2) / s)^2)`, and its moment generating function, for `t < rate`, is
`1 / (1 - (sinh(t/2) / s)^2)`.  Those of a sum of `n` are the n-th powers.  What follows from them is proved in
docs/proofs.md, "How far a sum of noises goes".
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SLACK = 1e-9
"""Odds that a sum of doubles may be off, far above what rounding can do: a reach is rather too far than too near."""

LEAST_ODDS = 1e-6
"""Below these odds the slack would be seen, and Chernoff's bound alone is taken."""

WRAPPED = 1e-13
"""The odds of noise so far that it comes round the circle on which laws are added up."""

EXACT_COUNTS = 64
"""Up to so many noises, each number of them has a reach of its own; above it is rounded up to seven binary digits."""


def reach(count: int, rate: float, confidence: float) -> int:
    """Return how far a sum of so many noises goes with at least this confidence, on either side.

    More noises never go less far: each has one peak and is symmetric, so adding another one to a sum makes every span
    around zero less probable.  So the number of noises may be rounded up.
    """
    if count > EXACT_COUNTS:
        unit = 1 << (count.bit_length() - 7)
        count = -(-count // unit) * unit
    return _reach(count, rate, confidence)


@lru_cache(maxsize=4096)
def _reach(count: int, rate: float, confidence: float) -> int:
    odds = 1 - confidence
    if count == 0:
        return 0
    if count == 1:
        return _reach_of_one(rate, odds)
    # Chernoff's bound is always safe, and a little wide.  Where doubles can tell, the law itself is searched below it.
    far = _chernoff(count, rate, odds)
    if odds < LEAST_ODDS:
        return far
    law = _Circle(count, rate, far)
    least, most = 0, far
    while least < most:
        middle = (least + most) // 2
        if law.beyond(middle) + SLACK <= odds:
            most = middle
        else:
            least = middle + 1
    return most


def _reach_of_one(rate: float, odds: float) -> int:
    """Return the least `w` with `2 q^(w+1) / (1 + q) <= odds`, rather one too many."""
    enough = (math.log(2 / odds) - math.log1p(math.exp(-rate))) / rate - 1
    return max(0, math.ceil(enough * (1 + SLACK) + SLACK))


def _chernoff(count: int, rate: float, odds: float) -> int:
    """Return a `w` that a sum passes on either side with at most these odds: `2 M(t)^n exp(-t w)` for the best `t`.

    The bound holds for every `t`, so how well the best one is found costs width and nothing else.
    """
    shares = np.arange(1, 1000) / 1000
    logs = -np.log1p(-((_sinh_ratio(shares, rate)) ** 2))
    bounds = (count * logs + math.log(2 / odds)) / (shares * rate)
    return math.ceil(float(bounds.min()) * (1 + SLACK) + SLACK)


def _sinh_ratio(shares: Floats, rate: float) -> Floats:
    """Return `sinh(share * rate / 2) / sinh(rate / 2)`, which is below 1, also where both are vast."""
    return np.exp((shares - 1) * rate / 2) * np.expm1(-shares * rate) / math.expm1(-rate)


class _Circle:
    """The law of a sum, wrapped around a circle so large that hardly anything comes round.

    On a circle of `N` places the probability of `-w, ..., w` is the mean over `j` of the characteristic function at
    `2 pi j / N` times `sin((2w+1) pi j / N) / sin(pi j / N)`.  What is left out beyond a `j` is bounded: there
    `sin(pi j / N) >= 2 j / N`, so that with `y = (2 j / (N s))^2` it is at most `(1 + y)^(1-n) / (2 y (n-1))`.
    """

    def __init__(self, count: int, rate: float, far: int) -> None:
        self._places = 2 * (far + _chernoff(count, rate, WRAPPED)) + 1
        half = math.sinh(rate / 2)
        whole = (self._places - 1) // 2
        last, self._left_out = _terms(count, self._places * half, whole)
        self._number = np.arange(1, last + 1)
        angles = np.pi * (self._number / self._places)
        self._weights = np.exp(-count * np.log1p((np.sin(angles) / half) ** 2)) / np.sin(angles)

    def beyond(self, far: int) -> float:
        """Return an upper bound for the odds of a sum farther from zero than this, up to rounding."""
        # Angles are reduced in whole numbers, before they are multiplied by pi: a vast angle in doubles has no digits
        # left.
        turns = (2 * far + 1) * self._number.astype(object if far > 2**40 else np.int64) % (2 * self._places)
        waves = np.sin(np.pi * (turns / self._places).astype(np.float64))
        within = (2 * far + 1) / self._places + 2 / self._places * float(self._weights @ waves)
        return 1 - within + self._left_out + WRAPPED


def _terms(count: int, size: float, whole: int) -> tuple[int, float]:
    """Return how many terms to add up, and a bound for those that are left out."""
    last = 1024
    while last < whole:
        y = (2 * last / size) ** 2
        left_out = math.exp((1 - count) * math.log1p(y)) / (2 * y * (count - 1))
        if left_out < SLACK / 10:
            return last, left_out
        last *= 2
    return whole, 0.0
