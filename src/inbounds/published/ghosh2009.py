"""The two-sided geometric mechanism: Ghosh, Roughgarden & Sundararajan, "Universally utility-maximizing privacy
mechanisms", STOC 2009.

Noise `k` has probability `(1 - a) / (1 + a) * a^|k|` with `a = exp(-epsilon)` for counts, that is for a sensitivity of
one step; for `D` steps `a = exp(-epsilon / D)`.  Snapped to `{0, ..., n}` it is their truncated geometric mechanism.
"""

from __future__ import annotations

import math
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from flint import arb

from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.exact.balls import lock, workprec
from inbounds.exact.rational import Number, round_up
from inbounds.mechanisms.additive.additive import Additive
from inbounds.mechanisms.additive.ends import EndsName
from inbounds.mechanisms.additive.noise import Form, Noise
from inbounds.mechanisms.setting import WIDEST, Setting
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.privacy.law import Law
from inbounds.sampling.array import ArraySampler
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.scalar import Sampler

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.mechanisms.additive.noise import Adder, Floats, Sums


class OnLine:
    """Draws around centres anywhere on the line, which is one span."""

    def __init__(self, sampler: ArraySampler) -> None:
        self._sampler = sampler

    def draw(self, words: NDArray[np.uint64], centres: NDArray[Any], entropy: Entropy) -> NDArray[Any]:
        """Return each centre with a draw added."""
        return self._sampler.draw(words, centres, np.zeros(len(centres), dtype=np.intp), entropy)


class GeometricNoise(Noise):
    """Noise that falls by the same factor with each step away from zero."""

    def __init__(self, distance: int, epsilon: Fraction) -> None:
        self.distance = distance
        # A double, so that the scale that is shown is the one that is used, and never quite epsilon: a proof in balls
        # can confirm an inequality, not an equality.
        steps = math.nextafter(round_up(distance / epsilon), math.inf)
        self.rate = 1 / Fraction(steps)
        self.loss = distance * self.rate
        self.scale, self.smooth = steps, max(steps, 1.0)
        self.reach = 42 * steps + 1
        self._rate = float(self.rate)
        self.law = Law(Lattice.everywhere(Fraction(1)), self.rate, Fraction(0))
        self._one = Sampler(self.law)

    def draw(self, entropy: Entropy) -> int:
        return self._one.draw(0, 0, entropy)

    def draw_double(self, entropy: Entropy) -> float:
        """`draw` as a double, and in doubles."""
        return self._one.draw_near(0.0, entropy)

    def adder(self) -> Adder | None:
        """Return what adds it to many answers at once, as far as it stays within 64 bits."""
        return OnLine(ArraySampler(self.law)) if self.scale <= WIDEST else None

    @property
    def form(self) -> Form:
        """The same factor with every step."""
        return Form((0,), 1)

    def state(self) -> dict[str, str]:
        return {"shape": "geometric", "rate": str(self.rate)}

    def tail(self, index: int, bits: int) -> arb:
        """Return a ball around `q^index / (1 + q)`."""
        masses = self.law.masses(bits)
        with lock(), workprec(bits):
            return masses.power(index) / masses.total

    def guess_tail(self, probability: float) -> int:
        return math.floor(-(math.log(probability) + math.log1p(math.exp(-self._rate))) / self._rate)

    def tails(self, index: Floats) -> Sums:
        """Return the sums of `p(k)` and `k p(k)` over `k >= index`, for positive integers."""
        mass = np.exp(-index * self._rate) / (1 + math.exp(-self._rate))
        return mass, mass * (np.where(mass == 0, 0.0, index) + _inverse_expm1(self._rate))

    @np.errstate(under="ignore")
    def squares(self, index: Floats) -> Floats:
        """Return the sums of `k**2 p(k)` over `k >= index`, for positive integers."""
        mass = np.exp(-index * self._rate) / (1 + math.exp(-self._rate))
        farther, index = _inverse_expm1(self._rate), np.where(mass == 0, 0.0, index)
        return np.asarray(mass * (index * (index + 2 * farther) + farther * (1 + 2 * farther)))

    def wraps(self, period: int) -> bool:
        """Return that it has one peak wherever it is wrapped: what is added falls by the same factor as it does."""
        return True

    def probability(self, index: Floats) -> Floats:
        """Return `p(index)`."""
        return np.exp(-abs(index) * self._rate) * math.tanh(self._rate / 2)

    @property
    def mean_distance(self) -> float:
        """The expected distance from zero: `2 q / (1 - q^2)`."""
        return 2 * math.exp(-self._rate) / -math.expm1(-2 * self._rate)


def _inverse_expm1(rate: float) -> float:
    return math.exp(-rate) / -math.expm1(-rate)


class Geometric(Additive[GeometricNoise]):
    """Two-sided geometric noise on the lattice of the bounds, which must have a step.

    `ends="snap"` is the truncated geometric mechanism; `"fold"` reflects at the ends; with `"leave"` releases may be
    outside the bounds.  For `guarantee` see `Laplace`.
    """

    paper: ClassVar[str] = "Ghosh et al. 2009"
    title: ClassVar[str] = "geometric"
    keeps_distance: ClassVar[bool] = True

    def __init__(
        self,
        bounds: Bounds,
        sensitivity: Number | timedelta,
        epsilon: Number,
        *,
        ends: EndsName = "leave",
        guarantee: GuaranteeName = "standard",
    ) -> None:
        setting = Setting.of(bounds, sensitivity, epsilon, guarantee)
        setting.need_step("the two-sided geometric mechanism", "use Laplace")
        super().__init__(setting, GeometricNoise(setting.distance, setting.epsilon), ends)
