"""The staircase mechanism: Geng & Viswanath, "The optimal mechanism in differential privacy", ISIT 2014 and IEEE
Transactions on Information Theory 62(2), 2016.

Among all noise that does not depend on the answer, the least expected distance.  Its probabilities are stairs: with
sensitivity `D` steps, `b = exp(-epsilon)` and a first stair of `r` steps on either side of zero,

    p(k) = a           for 0 <= k < r
    p(k) = a b         for r <= k < D
    p(k + D) = b p(k)  and  p(-k) = p(k),      a = (1 - b) / (2 r + 2 b (D - r) - (1 - b))

(their discrete setting; as the step goes to zero it becomes the continuous one with `gamma = r / D`).  The noise is
private because going `d <= D` steps never changes the number of stairs by more than one, up or down.
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
from inbounds.exact.balls import ball, lock, workprec
from inbounds.exact.rational import Number, as_written, round_half_up, shown
from inbounds.mechanisms.additive.additive import Additive
from inbounds.mechanisms.additive.ends import EndsName
from inbounds.mechanisms.additive.noise import Form, Noise
from inbounds.mechanisms.setting import SLACK, WIDEST, Setting
from inbounds.sampling.staircase import StaircaseSampler

if TYPE_CHECKING:
    from inbounds.mechanisms.additive.noise import Adder, Floats, Sums


class StaircaseNoise(Noise):
    """Noise whose probability falls in stairs, by a factor of `exp(-epsilon)` every `distance` steps."""

    def __init__(self, distance: int, epsilon: Fraction, first: int) -> None:
        self.distance, self.first = distance, first
        self.loss = epsilon * (1 - SLACK)
        self._epsilon = float(self.loss)
        self.scale = distance / self._epsilon
        self.reach = distance * (math.ceil(42 / self._epsilon) + 1)
        self.smooth = max(1.0, distance / 16)
        self._b = math.exp(-self._epsilon)
        self._rise = -math.expm1(-self._epsilon)
        self._stair = first + self._b * (distance - first)
        self._a = self._rise / (2 * self._stair - self._rise)
        self._balls: dict[int, tuple[arb, arb, arb]] = {}

    def adder(self) -> Adder | None:
        """Return what adds it to many answers at once, as far as it stays within 64 bits."""
        return StaircaseSampler(self, self.distance, self.first, self.loss) if self.scale <= WIDEST else None

    @property
    def form(self) -> Form:
        """Two stairs, or one, which repeat themselves."""
        return Form((0, self.first) if self.first < self.distance else (0,), self.distance)

    def state(self) -> dict[str, str]:
        return {
            "shape": "staircase", "fall": str(self.loss), "flight": str(self.distance), "first": str(self.first)
        }  # fmt: skip

    def tail(self, index: int, bits: int) -> arb:
        """Return a ball around the probability of at least `index`: the rest of its flight of stairs, and the next."""
        flight, stair = divmod(index, self.distance)
        b, all_flights, height = self._at(bits)
        with lock(), workprec(bits):
            if stair < self.first:
                rest = (self.first - stair) + b * (self.distance - self.first)
            else:
                rest = b * (self.distance - stair)
            return height * (-flight * ball(self.loss)).exp() * (rest + b * all_flights)

    def _at(self, bits: int) -> tuple[arb, arb, arb]:
        """Return `b`, the sum of one flight and all that follow, and `a`."""
        if bits not in self._balls:
            with lock(), workprec(bits):
                b = (-ball(self.loss)).exp()
                all_flights = (self.first + b * (self.distance - self.first)) / (1 - b)
                self._balls[bits] = b, all_flights, 1 / (2 * all_flights - 1)
        return self._balls[bits]

    def guess_tail(self, probability: float) -> int:
        all_flights = self._stair / self._rise
        flight = max(math.floor(-math.log(probability / (self._a * all_flights)) / self._epsilon), 0)
        rest = probability / self._a * math.exp(min(flight * self._epsilon, 700.0)) - self._b * all_flights
        lower = self._b * (self.distance - self.first)
        stair = self.first - (rest - lower) if rest >= lower else self.distance - rest / max(self._b, 1e-300)
        return flight * self.distance + min(max(math.floor(stair), 0), self.distance)

    @np.errstate(under="ignore")
    def tails(self, index: Floats) -> Sums:
        """Return the sums of `p(k)` and `k * p(k)` over `k >= index`: the rest of a flight, and all that follow."""
        # A flight is `D` steps, its upper stair `r` of them.  What is left of the flight that the index is in, then all
        # flights after it as a geometric series, and everything moved by where the flight begins.
        d, r, b = float(self.distance), float(self.first), self._b
        flight = np.floor(index / d)
        stair = index - flight * d
        fade = np.exp(-flight * self._epsilon)
        upper, lower = np.maximum(r - stair, 0), d - np.maximum(stair, r)
        mass = upper + b * lower
        moment = upper * (stair + r - 1) / 2 + b * lower * (np.maximum(stair, r) + d - 1) / 2
        flight_mass = self._stair
        flight_moment = r * (r - 1) / 2 + b * (d - r) * (d + r - 1) / 2
        following = b / self._rise
        base = np.where(fade == 0, 0.0, flight) * d
        total = mass + following * flight_mass
        first = base * total + moment + following * (flight_moment + d * flight_mass / self._rise)
        return self._a * fade * total, self._a * fade * first

    @np.errstate(under="ignore")
    def squares(self, index: Floats) -> Floats:
        """Return the sums of `k**2 * p(k)` over `k >= index`, likewise."""
        d, r, b, rise = float(self.distance), float(self.first), self._b, self._rise
        flight = np.floor(index / d)
        stair = index - flight * d
        fade = np.exp(-flight * self._epsilon)
        lower = np.maximum(stair, r)
        mass, first, second = (
            upper + b * below for upper, below in zip(_powers(stair, r), _powers(lower, d), strict=True)
        )
        # All flights that follow, each d farther on, and its part of `b`.
        whole = [float(upper + b * below) for upper, below in zip(_powers(0.0, r), _powers(r, d), strict=True)]
        once, farther = b / rise, d / rise
        mass = mass + once * whole[0]
        first = first + once * (whole[1] + farther * whole[0])
        second = second + once * (whole[2] + farther * (2 * whole[1] + (1 + b) * farther * whole[0]))
        base = np.where(fade == 0, 0.0, flight) * d
        return np.asarray(self._a * fade * (base * (base * mass + 2 * first) + second))

    def wraps(self, period: int) -> bool:
        """Return that it may have more than one peak where it is wrapped: stairs may end anywhere."""
        return False

    @np.errstate(under="ignore")
    def probability(self, index: Floats) -> Floats:
        """Return `p(index)`."""
        flight = np.floor(abs(index) / self.distance)
        on_upper = abs(index) - flight * self.distance < self.first
        return self._a * np.exp(-flight * self._epsilon) * np.where(on_upper, 1.0, self._b)

    @property
    def mean_distance(self) -> float:
        return 2 * float(self.tails(np.array([1.0]))[1][0])


def _powers(start: Floats | float, stop: float) -> tuple[Floats, Floats, Floats]:
    """Return how many integers there are from `start` to before `stop`, their sum, and that of their squares."""
    count = np.maximum(stop - start, 0.0)
    first = count * (start + (count - 1) / 2)
    return count, first, count * (start * (start + count - 1) + (count - 1) * (2 * count - 1) / 6)


def best_first_stair(distance: int, epsilon: Fraction) -> int:
    """Return the length of the first stair that makes the expected distance least.

    In the continuous limit that is `1 / (1 + exp(epsilon / 2))` of the sensitivity (their equation for the magnitude
    cost); on a lattice it is next to it.
    """
    # The cost has one valley, and the lattice moves its lowest point by less than two steps.
    near = distance / (1 + math.exp(min(float(epsilon) / 2, 700.0)))
    candidates = {min(max(math.floor(near) + shift, 1), distance) for shift in range(-2, 4)}
    return min(sorted(candidates), key=lambda first: StaircaseNoise(distance, epsilon, first).mean_distance)


class Staircase(Additive[StaircaseNoise]):
    """Staircase noise; values outside the bounds are left, snapped to the nearest end, or folded in.

    `width` is the length of the first stair as a share of the sensitivity, above 0 and at most 1 (gamma in the paper).
    By default it is the one that minimises the expected absolute noise.
    """

    paper: ClassVar[str] = "Geng & Viswanath 2014"
    title: ClassVar[str] = "staircase"

    def __init__(
        self,
        bounds: Bounds,
        sensitivity: Number | timedelta,
        epsilon: Number,
        *,
        ends: EndsName = "leave",
        width: Number | None = None,
    ) -> None:
        setting = Setting.of(bounds, sensitivity, epsilon)
        distance = setting.distance
        first = best_first_stair(distance, setting.epsilon) if width is None else _steps(width, distance)
        super().__init__(setting, StaircaseNoise(distance, setting.epsilon, first), ends)
        self._width = Fraction(first, distance)

    @property
    def choices(self) -> dict[str, Any]:
        """The rule at the ends, and the width of the first stair."""
        return {**super().choices, "width": self._width}

    @property
    def width(self) -> float:
        """The length of the first stair, as a share of the sensitivity."""
        return float(self._width)


def _steps(width: Number, distance: int) -> int:
    part = as_written(width, "width", InvalidParameter)
    if not 0 < part <= 1:
        raise InvalidParameter(
            f"width must be above 0 and at most 1, got {shown(width)}; it is the first stair as part of the sensitivity"
        )
    return min(max(round_half_up(part * distance), 1), distance)
