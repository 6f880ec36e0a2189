"""The two-sided geometric mechanism: Ghosh, Roughgarden & Sundararajan, "Universally utility-maximizing privacy
mechanisms", STOC 2009.

Noise `k` has probability `(1 - a) / (1 + a) * a^|k|` with `a = exp(-epsilon)` for counts, that is for a sensitivity of
one step; for `D` steps `a = exp(-epsilon / D)`.  Snapped to `{0, ..., n}` it is their truncated geometric mechanism.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from flint import arb

from inbounds.bounds import Bounds
from inbounds.bounds.lattice import FAR, Lattice
from inbounds.exact.balls import lock, workprec
from inbounds.exact.rational import round_up
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.privacy.law import Law
from inbounds.published.additive import Additive
from inbounds.published.ends import EndsName
from inbounds.published.mechanism import WIDEST, Ground, need_step
from inbounds.published.noise import Form, Noise
from inbounds.sampling.array import ArraySampler
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.scalar import Sampler

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.published.noise import Adder, Floats
    from inbounds.published.waves import Complex, Waves


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
        whole_line = Lattice(Fraction(1), Fraction(0), np.array([-FAR]), np.array([FAR]), ends_kept=True)
        self.law = Law(whole_line, self.rate, Fraction(0))
        self._one = Sampler(self.law)

    def draw(self, entropy: Entropy) -> int:
        """Return one draw of exactly this law."""
        return self._one.draw(0, 0, entropy)

    def adder(self) -> Adder | None:
        """Return what adds it to many answers at once, as far as it stays within 64 bits."""
        return OnLine(ArraySampler(self.law)) if self.scale <= WIDEST else None

    @property
    def form(self) -> Form:
        """The same factor with every step."""
        return Form((0,), 1)

    def tail(self, index: int, bits: int) -> arb:
        """Return a ball around `q^index / (1 + q)`."""
        masses = self.law.masses(bits)
        with lock(), workprec(bits):
            return masses.power(index) / masses.total

    def guess_tail(self, probability: float) -> int:
        """Return about the greatest positive index from which on there is this probability."""
        return math.floor(-(math.log(probability) + math.log1p(math.exp(-self._rate))) / self._rate)

    @np.errstate(under="ignore")
    def tails(self, index: Floats) -> tuple[Floats, Floats]:
        """Return the sums of `p(k)` and `k * p(k)` over `k >= index`, for positive integers."""
        mass = np.exp(-index * self._rate) / (1 + math.exp(-self._rate))
        with np.errstate(invalid="ignore"):
            return mass, np.where(mass == 0, 0.0, mass * (index + _inverse_expm1(self._rate)))

    def waves_from(self, index: Floats, waves: Waves) -> Complex:
        """Return the sums of `p(index + j) * exp(i w j)` over `j >= 0`, for positive integers."""
        return np.asarray(self.probability(index)[:, None] * waves.repeated(self._rate, 1))

    @np.errstate(under="ignore")
    def probability(self, index: Floats) -> Floats:
        """Return `p(index)`."""
        return np.exp(-abs(index) * self._rate) * math.tanh(self._rate / 2)

    @property
    def mean_distance(self) -> float:
        """The expected distance from zero: `2 q / (1 - q^2)`."""
        return 2 * math.exp(-self._rate) / -math.expm1(-2 * self._rate)


def _inverse_expm1(rate: float) -> float:
    return math.exp(-rate) / -math.expm1(-rate)


class Geometric(Additive):
    """Two-sided geometric noise on the lattice of the bounds, which must have a step.

    `ends="snap"` is the truncated geometric mechanism; `"fold"` reflects at the ends; `"leave"` may leave the bounds.
    `guarantee` as for `Laplace`.
    """

    paper: ClassVar[str] = "Ghosh et al. 2009"
    noise_name: ClassVar[str] = "geometric"
    noise: GeometricNoise

    def __init__(
        self,
        bounds: Bounds,
        sensitivity: Any,
        epsilon: Any,
        *,
        ends: EndsName = "leave",
        guarantee: GuaranteeName = "standard",
    ) -> None:
        ground = Ground.of(bounds, sensitivity, epsilon, guarantee)
        need_step(ground, "the two-sided geometric mechanism", "use Laplace")
        super().__init__(ground, GeometricNoise(ground.distance, ground.epsilon), ends)
