"""Noise: a law on the integers, symmetric about zero, that is added to an answer whatever the answer is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from flint import arb

from inbounds.exact.balls import lock, workprec
from inbounds.sampling.any_law import draw
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Sums = tuple[Floats, Floats]


@dataclass(frozen=True)
class Form:
    """How the probabilities `p(k)`, `k >= 0`, of a noise are built: of runs, which repeat themselves.

    From the first to the last index of a run, `p` changes by the same factor with each step.
    """

    starts: tuple[int, ...]
    """Where the runs of the first period begin, the first of them at 0."""
    period: int
    """How many steps a period has."""
    repeats: bool = True
    """Whether `p(k + period)` is always the same factor times `p(k)`; else nothing is beyond the first period."""


class Adder(Protocol):
    """Adds noise to many answers at once."""

    def draw(self, words: NDArray[np.uint64], centres: NDArray[Any], entropy: Entropy) -> NDArray[Any]:
        """Return each centre with a draw added; `words` are the first bits of the uniform numbers, one for each."""


class Noise(ABC):
    """Noise in whole steps, private for answers at most `distance` steps apart."""

    distance: int
    loss: Fraction
    """Proved: the greatest privacy loss between answers at most `distance` apart, apart from `delta`."""
    delta: Fraction = Fraction(0)
    """Proved: the probability, at most, that is exempt from that."""
    scale: float
    """Over how many steps the noise falls by a factor e."""
    reach: float
    """Noise beyond this many steps has a probability below 1e-17."""
    smooth: float
    """Over so many steps, quantities are smooth functions of where the noise is centred."""

    @property
    @abstractmethod
    def form(self) -> Form:
        """How its probabilities are built, told by the numbers that `tail` uses; the second proof rests on it."""

    @abstractmethod
    def state(self) -> dict[str, str]:
        """Return the law in exact numbers, for a certificate."""

    @abstractmethod
    def tail(self, index: int, bits: int) -> arb:
        """Return a ball around the probability of at least `index`, which is positive."""

    @abstractmethod
    def guess_tail(self, probability: float) -> int:
        """Return about the greatest positive index from which on there is this probability."""

    @abstractmethod
    def tails(self, index: Floats) -> Sums:
        """Return, in doubles, the sums of `p(k)` and `k p(k)` over `k >= index`, for positive integers."""

    @abstractmethod
    def squares(self, index: Floats) -> Floats:
        """Return, in doubles, the sums of `k**2 p(k)` over `k >= index`, for positive integers."""

    @abstractmethod
    def wraps(self, period: int) -> bool:
        """Return whether it has one peak, too, where it is wrapped around a circle of so many steps."""

    @abstractmethod
    def probability(self, index: Floats) -> Floats:
        """Return, in doubles, `p(index)` for integers of either sign."""

    @property
    @abstractmethod
    def mean_distance(self) -> float:
        """The expected distance from zero, in steps."""

    def below(self, index: int, bits: int) -> arb:
        """Return a ball around the probability of at most `index`."""
        with lock(), workprec(bits):
            return self.tail(-index, bits) if index < 0 else 1 - self.tail(index + 1, bits)

    def guess(self, probability: float, rest: float) -> int:
        """Return about the least index up to which there is this probability."""
        if probability < rest:
            return -max(self.guess_tail(probability), 0)
        return max(self.guess_tail(rest), 0)

    def draw(self, entropy: Entropy) -> int:
        """Return one draw of exactly this law."""
        return draw(self, entropy)

    def draw_double(self, entropy: Entropy) -> float:
        """`draw` as a double, to the nearest where doubles do not hold it."""
        return float(self.draw(entropy))

    def adder(self) -> Adder | None:
        """Return what adds it to many answers at once, if there is such a thing."""
        return None

    def at_least(self, index: Floats) -> Floats:
        """Return, in doubles, the probability of at least an integer of either sign."""
        tail = self.tails(np.maximum(np.where(index > 0, index, 1 - index), 1.0))[0]
        return np.where(index > 0, tail, 1 - tail)

    def between(self, first: Floats, last: Floats) -> Sums:
        """Return the sums of `p(k)` and `k p(k)` over `first <= k <= last`; nothing cancels but where it must."""
        is_above, is_below = first > 0, last < 0
        near_mass, near_moment = self.tails(np.maximum(np.where(is_below, -last, np.where(is_above, first, 1.0)), 1.0))
        far_mass, far_moment = self.tails(np.maximum(np.where(is_below, 1 - first, last + 1), 1.0))
        other_mass, other_moment = self.tails(np.maximum(1 - first, 1.0))
        across, empty = ~is_above & ~is_below, last <= first - 1
        mass = np.where(across, 1 - far_mass - other_mass, near_mass - far_mass)
        moment = np.where(across, other_moment - far_moment, (near_moment - far_moment) * np.where(is_below, -1.0, 1.0))
        return np.where(empty, 0.0, mass), np.where(empty, 0.0, moment)

    @np.errstate(under="ignore")
    def squares_between(self, first: Floats, last: Floats) -> Floats:
        """Return the sums of `k**2 p(k)` over `first <= k <= last`."""
        upper = self.squares(np.maximum(first, 1.0)) - self.squares(np.maximum(last + 1, 1.0))
        lower = self.squares(np.maximum(-last, 1.0)) - self.squares(np.maximum(1 - first, 1.0))
        return np.where(last <= first - 1, 0.0, upper + lower)
