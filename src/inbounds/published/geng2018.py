"""The truncated Laplacian mechanism: Geng, Ding, Guo & Kumar, "Truncated Laplacian mechanism for approximate
differential privacy", 2018 (AISTATS 2020: "Tight analysis of privacy and utility tradeoff in approximate differential
privacy").

Laplace noise that never exceeds `A = s ln(1 + (exp(epsilon) - 1) / (2 delta))`, `s = sensitivity / epsilon`.  What is
cut off is the same wherever the answer is, so the loss stays at most epsilon where the laws overlap, and the rest has
probability `delta`: (epsilon, delta)-differential privacy, not epsilon.  On a lattice of `D` steps to the sensitivity,
with `q = exp(-epsilon / D)` and noise up to `n` steps,

    p(k) = (1 - q) q^|k| / (1 + q - 2 q^(n+1)),      delta = q^(n+1-D) (1 - q^D) / (1 + q - 2 q^(n+1))

the probability of the `D` largest outcomes, which the neighbour cannot have.
"""

from __future__ import annotations

import math
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from flint import arb

from inbounds.bounds import Bounds
from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, upper, workprec
from inbounds.exact.rational import Number, as_written, shown
from inbounds.mechanisms.additive.additive import Additive
from inbounds.mechanisms.additive.ends import EndsName
from inbounds.mechanisms.additive.noise import Form, Noise
from inbounds.mechanisms.setting import SLACK, Setting
from inbounds.privacy.law import PRECISION

if TYPE_CHECKING:
    from inbounds.mechanisms.additive.noise import Floats, Sums


class CutNoise(Noise):
    """Geometric noise that never exceeds a limit, private but for `delta`."""

    def __init__(self, distance: int, epsilon: Fraction, delta: Fraction) -> None:
        self.distance, self.loss = distance, epsilon * (1 - SLACK)
        self.rate = self.loss / distance
        self._rate, self._q, self._single = float(self.rate), math.exp(-self.rate), -math.expm1(-self.rate)
        self.limit, self.delta = self._least_limit(delta)
        self.scale, self.smooth = 1 / self._rate, max(1.0, min(1 / self._rate, distance / 16))
        self.reach = min(self.limit, 42 * self.scale) + 1
        self._beyond = math.exp(-(self.limit + 1) * self._rate)
        # 1 + q - 2 q^(n+1), of positive terms
        self._total = -math.expm1(-(self.limit + 1) * self._rate) - self._q * math.expm1(-self.limit * self._rate)

    def _least_limit(self, delta: Fraction) -> tuple[int, Fraction]:
        """Return a limit near the least that leaves at most delta, and what it leaves, proved."""
        # ln(1 + (exp(e) - 1) / 2d), so that nothing overflows
        loss, twice = float(self.loss), 2 * float(delta)
        logarithm = (
            math.log1p(math.expm1(loss) / twice)
            if loss < 1
            else (loss - math.log(twice) + math.log(twice * math.exp(-loss) - math.expm1(-loss)))
        )
        # The formula of the paper gives the limit in doubles; what it leaves is proved in balls, from just below on.
        limit = max(math.ceil(logarithm / self._rate) - 2, self.distance)
        while (left := self._mass_left(limit)) > delta:
            limit += max(1, math.floor(2**-40 / self._rate))
        return limit, left

    def _mass_left(self, limit: int) -> Fraction:
        with lock(), workprec(PRECISION):
            rate = ball(self.rate)
            q, beyond = (-rate).exp(), (-(limit + 1) * rate).exp()
            lost = ((self.distance - limit - 1) * rate).exp() * -(-self.distance * rate).expm1()
            return upper(lost / (1 + q - 2 * beyond))

    @property
    def form(self) -> Form:
        """The same factor with every step up to the limit, and nothing beyond."""
        return Form((0,), self.limit + 1, repeats=False)

    def state(self) -> dict[str, str]:
        return {"shape": "cut", "rate": str(self.rate), "limit": str(self.limit)}

    def tail(self, index: int, bits: int) -> arb:
        with lock(), workprec(bits):
            rate = ball(self.rate)
            beyond = (-(self.limit + 1) * rate).exp()
            if index > self.limit:
                return arb(0)
            return ((-index * rate).exp() - beyond) / (1 + (-rate).exp() - 2 * beyond)

    def guess_tail(self, probability: float) -> int:
        return min(math.floor(-math.log(probability * self._total + self._beyond) / self._rate), self.limit)

    def tails(self, index: Floats) -> Sums:
        """Return the sums of `p(k)` and `k p(k)` over `k >= index`, for positive integers."""
        count, mass, mean = self._from(index)
        return mass, np.where(count > 0, mass * mean, 0.0)

    def squares(self, index: Floats) -> Floats:
        """Return the sums of `k**2 p(k)` over `k >= index`, for positive integers."""
        count, mass, mean = self._from(index)
        variance = _excess_of_squares(np.array(self._rate)) - count**2 * _excess_of_squares(count * self._rate)
        return np.where(count > 0, mass * (mean**2 + variance), 0.0)

    @np.errstate(under="ignore")
    def _from(self, index: Floats) -> tuple[Floats, Floats, Floats]:
        """Return how many outcomes there are from an index on, their probability, and their mean."""
        start = np.minimum(index, self.limit + 1)
        count = self.limit + 1 - start
        mass = np.exp(-start * self._rate) * -np.expm1(-count * self._rate) / self._total
        return count, mass, start + _excess(np.array(self._rate)) - count * _excess(count * self._rate)

    def wraps(self, period: int) -> bool:
        """Return whether it has one peak where it is wrapped: its two ends must not overlap."""
        return 2 * self.limit < period

    def probability(self, index: Floats) -> Floats:
        """Return `p(index)`."""
        inside = abs(index) <= self.limit
        with np.errstate(under="ignore"):
            return np.where(inside, np.exp(-abs(index) * self._rate) * self._single / self._total, 0.0)

    @property
    def mean_distance(self) -> float:
        return 2 * float(self.tails(np.array([1.0]))[1][0])


def _excess(x: Floats) -> Floats:
    """Return `1 / (exp(x) - 1) - 1 / x`; nothing cancels."""
    small = np.minimum(x, 0.1)
    series = -0.5 + small / 12 - small**3 / 720 + small**5 / 30240
    large = np.minimum(np.maximum(x, 0.1), 700.0)
    return np.where(x < 0.1, series, 1 / np.expm1(large) - 1 / np.maximum(x, 0.1))


def _excess_of_squares(x: Floats) -> Floats:
    """Return `exp(x) / (exp(x) - 1)**2 - 1 / x**2`; nothing cancels."""
    small = np.minimum(x, 0.1)
    series = -1 / 12 + small**2 / 240 - small**4 / 6048 + small**6 / 172800
    large = np.minimum(np.maximum(x, 0.1), 700.0)
    return np.where(x < 0.1, series, 1 / (4 * np.sinh(large / 2) ** 2) - 1 / np.maximum(x, 0.1) ** 2)


class TruncatedLaplacian(Additive[CutNoise]):
    """Laplace noise of bounded size: (epsilon, delta)-differentially private.

    The noise is bounded; releases may still be outside the bounds.  `delta` must be above 0 and below 1/2.
    """

    paper: ClassVar[str] = "Geng et al. 2018"
    title: ClassVar[str] = "truncated Laplacian"
    pure: ClassVar[bool] = False

    def __init__(
        self,
        bounds: Bounds,
        sensitivity: Number | timedelta,
        epsilon: Number,
        *,
        delta: Number = 1e-6,
        ends: EndsName = "leave",
    ) -> None:
        setting = Setting.of(bounds, sensitivity, epsilon)
        allowed = as_written(delta, "delta", InvalidParameter)
        if not Fraction(1, 10**300) <= allowed < Fraction(1, 2):
            raise InvalidParameter(
                f"delta must be from 1e-300 to below 1/2, got {shown(delta)}; "
                "it should be far below one over the number of people"
            )
        super().__init__(setting, CutNoise(setting.distance, setting.epsilon, allowed), ends)
        self._delta = allowed

    @property
    def choices(self) -> dict[str, Any]:
        """The rule at the ends, and delta."""
        return {**super().choices, "delta": self._delta}

    @property
    def greatest_noise(self) -> float:
        """The largest possible noise, in the units of the answer."""
        return self._length(self._noise.limit)
