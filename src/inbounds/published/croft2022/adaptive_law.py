"""Laplace noise on a half-line whose scale depends on the location (Croft, Sack & Shi 2022, Lemma 2), on a lattice.

Outputs are `k = 0, 1, 2, ...` steps from the border.  A location `m` is `x = m * epsilon / distance` plain scales from
the border; `distance` is the sensitivity in steps.  The location's own scale is `s(x)` plain scales, so that it lies
`t = x / s(x)` scales of its own from the border.  The paper chooses `s` so that the density at the border falls exactly
by `e^-x`:

    s(x) * (2 e^t - 1) = c e^x,        c = s(0) = -1 / (e W(-1/(2e))) = 1.58595...

Of the two solutions the nearer one counts for `x < 1` and the farther one for `x > 1`; they meet at `x = 1`, where
`t = t* = 1 + W(-1/(2e))`.  `s` falls from `c` to 1 as `x` grows.  With the rate `r = epsilon / (distance * s(x))` and
`q = e^-r`, the law is

    P_m(k) = q^|k-m| (1 - q) / (1 + q - q^(m+1)),        k = 0, 1, 2, ...

Different locations have different rates, so no epsilon bounds the ratio of two such laws: this is not pure differential
privacy.  What it is, `adaptive_delta` says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from inbounds.exact.balls import ball, lock, workprec
from inbounds.exact.rational import round_nearest
from inbounds.published.croft2022 import lambert

if TYPE_CHECKING:
    from numpy.typing import NDArray

DOUBLE = 64
"""Bits of precision for a number that becomes a double."""

NEAR = 0.5
"""So near to `x = 1` doubles need a residual without cancellation."""

ITERATIONS = 5
"""Newton's method in doubles settles within this many steps from `_first_guess`."""


@dataclass(frozen=True, eq=False)
class AdaptiveLaw:
    """The laws of all locations on a half-line."""

    distance: int
    """The sensitivity in steps, at least 1."""
    epsilon: Fraction

    def state(self) -> dict[str, str]:
        """Return the law in exact numbers, for a certificate."""
        return {"kind": "adaptive Laplace", "distance": str(self.distance), "epsilon": str(self.epsilon)}

    def position(self, location: int) -> Fraction:
        """Return how many plain scales a location is from the border: `x`."""
        return location * self.epsilon / self.distance

    @cached_property
    def _guard(self) -> int:
        """Bits lost on the way to a rate, wherever the location is within 64 bits: near `x = 1` and far out."""
        wide = (self.distance * self.epsilon.denominator).bit_length()
        return 2 * wide + self.epsilon.numerator.bit_length() + 96

    def depth(self, location: int, bits: int) -> arb:
        """Return how many of its own scales a location is from the border, `t`, to about this many bits."""
        position = self.position(location)
        with lock(), workprec(bits + self._guard):  # the same for every location
            return lambert.depth(position)

    def rate(self, location: int, bits: int) -> arb:
        """Return one step in scales of the location's own, `r = epsilon / (distance * s)`, to about this many bits."""
        depth = self.depth(location, bits)
        with lock(), workprec(bits):
            return depth / location if location else ball(self.epsilon / self.distance) / border_scale(bits)

    def below(self, output: int, location: int, bits: int, rate: arb | None = None) -> arb:
        """Return the probability of an output up to this one, as a ball; the location's rate may be known already."""
        if output < 0:
            return arb(0)
        rate = self.rate(location, bits) if rate is None else rate
        with lock(), workprec(bits):
            whole = 1 - (-rate).exp() * (-location * rate).expm1()
            if output < location:
                return -((output - location) * rate).exp() * (-(output + 1) * rate).expm1() / whole
            return 1 - ((location - output - 1) * rate).exp() / whole

    def guess(self, probability: float, rest: float, location: int) -> int:
        """Return about the least output up to which there is this much probability, and beyond which there is the rest.

        Computed in doubles.
        """
        rate = float(self.rate(location, DOUBLE))
        whole = 1 - math.exp(-rate) * math.expm1(-location * rate)
        position = probability * whole + math.exp(-(location + 1) * rate)  # as if nothing were missing
        if position <= 0:
            return 0
        if position <= 1:
            return max(location + math.ceil(math.log(position) / rate), 0)
        return max(location - 1 - math.floor(math.log(rest * whole) / rate), location)

    def rates(self, locations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rates of some locations."""
        plain = round_nearest(self.epsilon / self.distance)
        return plain * relative_rates(plain * np.asarray(locations, dtype=np.float64))

    def probabilities(self, outputs: NDArray[np.float64], locations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of each output around its location, 0 beyond the border."""
        outputs, rates = np.asarray(outputs, dtype=np.float64), self.rates(locations)
        masses = np.exp(-rates * np.abs(outputs - locations)) * -np.expm1(-rates)
        return np.where(outputs < 0, 0.0, masses / _whole(rates, locations))

    def nearer(self, outputs: NDArray[np.float64], locations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of at most each output around its location."""
        rates = self.rates(locations)
        whole, near = _whole(rates, locations), np.minimum(outputs - locations, 0.0)
        before = np.exp(rates * near) * -np.expm1(-rates * np.maximum(outputs + 1, 0.0)) / whole
        return np.where(
            outputs < locations, before, 1 - np.exp(-rates * np.maximum(outputs + 1 - locations, 0.0)) / whole
        )

    def farther(self, outputs: NDArray[np.float64], locations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of at least each output around its location."""
        rates = self.rates(locations)
        after = np.exp(-rates * np.maximum(outputs - locations, 0.0)) / _whole(rates, locations)
        return np.where(outputs > locations, after, 1 - self.nearer(outputs - 1, locations))

    def errors(self, locations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected distance of the output from each location, in steps."""
        rates = self.rates(locations)
        one_minus_q = -np.expm1(-rates)
        missing = np.exp(-rates * locations) * (1 + locations * one_minus_q)  # at most 1
        return np.exp(-rates) * (2 - missing) / (one_minus_q * _whole(rates, locations))

    def biases(self, locations: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far above each location its mean output is, in steps."""
        rates = self.rates(locations)
        one_minus_q = -np.expm1(-rates)
        missing = np.exp(-rates * locations) * (1 + locations * one_minus_q)
        return np.exp(-rates) * missing / (one_minus_q * _whole(rates, locations))


def _whole(rates: NDArray[np.float64], locations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the total mass in units of which a single output at the location has `1 - q`."""
    return 1 - np.exp(-rates) * np.expm1(-rates * locations)


def border_scale(bits: int) -> arb:
    """Return the scale at the border in plain scales, `c`."""
    with lock(), workprec(bits):
        return lambert.scale_at_border()


with lock(), workprec(DOUBLE):
    _OMEGA = float(lambert.w_at_border())
_PEAK = 1 + _OMEGA
"""t*, at `x = 1`."""
_C = 2 * math.exp(_OMEGA)
_BEND = (-1 / 3 - _PEAK**1.5 / 6 * ((2 / _PEAK - 1) * (1 / _PEAK - 1) / _PEAK - 2 / _PEAK**3)) * math.sqrt(_PEAK)
"""Half the second derivative of `t` at `x = 1`; the first one is the root of t*."""


def relative_rates(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `1 / s(x)` in doubles: from 1/c at the border up to 1."""
    # Newton's method for the equation of the module, in logarithms.  Near `x = 1` its two solutions meet and the slope
    # is nearly 0, so there the first guess is a Taylor series, and the residual is written without cancellation.
    x = np.asarray(positions, dtype=np.float64)
    beyond = x - 1
    rates = _first_guess(x, beyond)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # of branches that are not taken
        for _ in range(ITERATIONS):
            t = x * rates
            steepness = 2 * t / (2 - np.exp(-t)) - 1  # 0 at `x = 1`, or nearer to it than doubles can tell
            step = rates * _residual(x, beyond, rates) / steepness
            rates = np.clip(rates - np.where(steepness == 0, 0.0, step), 1 / _C, 1.0)
    return rates


def _first_guess(x: NDArray[np.float64], beyond: NDArray[np.float64]) -> NDArray[np.float64]:
    near = (_PEAK + beyond * (math.sqrt(_PEAK) + _BEND * beyond)) / np.maximum(x, NEAR)
    inside = 1 / _C + x * (_PEAK - 1 / _C)
    outside = 1 - 0.3 / np.maximum(x, 1)
    return np.where(np.abs(beyond) <= NEAR / 2, near, np.where(beyond < 0, inside, outside))


def _residual(x: NDArray[np.float64], beyond: NDArray[np.float64], rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `ln(2 e^t - 1) - ln(t) - (x - ln(x) + ln(c))` at `t = rates * x`."""
    t = x * rates
    off = t - _PEAK
    close = np.log1p(np.expm1(np.minimum(off, 1)) / _PEAK) - np.log1p(off / _PEAK) - (beyond - np.log1p(beyond))
    apart = (t - x) + np.log((2 - np.exp(-t)) / (_C * rates))
    return np.where(np.abs(beyond) <= NEAR, close, apart)
