"""The bounded Gaussian mechanism on one interval: Chen & Hale, "The bounded Gaussian mechanism for differential
privacy", 2022 (Journal of Privacy and Confidentiality 14(1), 2024).

Gaussian noise around the true answer, truncated to `[l, u]` and normalised.  With `w = u - l`, `D` the sensitivity and
`C(c)` the mass that `[l, u]` has around `l + c`, they show epsilon for a standard deviation `s` with

    (w + D/2) D / s**2 + ln(C(c) / C(0)) <= epsilon,      c = min(D, w/2)

each of the two terms being as great as it can be.  They are not so at the same time.  The loss is, exactly, at most

    (w - D/2) D / s**2 - ln(C(D) / C(0))

(`_loss` says why), which less noise keeps at epsilon: `sigma="least"`.  What is released is the possible answer
nearest to the draw, which is post-processing; the two end points have half a cell.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, ClassVar, Literal, get_args

from flint import arb

from inbounds.accuracy.distribution import Distribution
from inbounds.accuracy.truncated_gaussian import GaussianRows, TruncatedGaussianDistribution
from inbounds.bounds import Bounds
from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, lower, upper, workprec
from inbounds.exact.rational import Number, round_nearest, shown
from inbounds.mechanisms.definition import SMALL, prove_by_definition
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.law import PRECISION
from inbounds.sampling.any_law import draw
from inbounds.sampling.entropy import Entropy

Sigma = Literal["published", "least"]

FEW = 4096
"""Up to so many points errors are sums over all of them; beyond that they are closed forms."""

SMOOTH = 16
"""For closed forms the standard deviation has to be at least so many steps: they are then good to about 1e-7."""

FINE = 2.0**-48
"""How near, relatively, a standard deviation comes to one for which the condition does not hold."""

HALF = Fraction(1, 2)


def _mass(start: Fraction, stop: Fraction, sigma: Fraction) -> arb:
    """Return twice the Gaussian probability of what is between these distances from the centre."""
    a, b = (ball(end / sigma) / arb(2).sqrt() for end in (start, stop))
    if start >= 0:
        return a.erfc() - b.erfc()
    return (-b).erfc() - (-a).erfc() if stop <= 0 else b.erf() - a.erf()


@dataclass(frozen=True)
class TruncatedColumn:
    """The law for one true answer, counted from the least one."""

    top: int
    """The greatest answer."""
    centre: int
    """The true answer."""
    sigma: Fraction
    """The standard deviation before truncation, in steps."""

    def _up_to(self, edge: Fraction) -> arb:
        return _mass(Fraction(-self.centre), edge - self.centre, self.sigma)

    def below(self, index: int, bits: int) -> arb:
        """Return a ball around the probability of at most `index`."""
        if index < 0:
            return arb(0)
        if index >= self.top:
            return arb(1)
        with lock(), workprec(bits):
            return self._up_to(index + HALF) / self._up_to(Fraction(self.top))

    def guess(self, probability: float, rest: float) -> int:
        """Return about the least index up to which there is this probability."""
        s, top, centre = math.sqrt(2) * float(self.sigma), self.top, self.centre
        start, stop = math.erf(-centre / s), math.erf((top - centre) / s)
        wanted = start + probability * (stop - start)
        place = bisect_left(range(top + 1), wanted, key=lambda index: math.erf((index + 0.5 - centre) / s))
        return min(place, top)

    def row(self, bits: int) -> list[arb]:
        """Return balls around the probabilities of all answers."""
        if not self.top:
            return [arb(1)]
        inner = [k - self.centre + HALF for k in range(self.top)]
        edges = [Fraction(-self.centre), *inner, Fraction(self.top - self.centre)]
        with lock(), workprec(bits):
            whole = _mass(edges[0], edges[-1], self.sigma)
            return [_mass(a, b, self.sigma) / whole for a, b in pairwise(edges)]


class BoundedGaussian(Mechanism):
    """Gaussian noise truncated to one interval and normalised: pure epsilon, without a delta.

    `sigma="published"` is the standard deviation of the paper; `"least"` is the smaller one that suffices for the exact
    loss.  A sensitivity greater than the width of the interval counts as that width.
    """

    title: ClassVar[str] = "bounded Gaussian"
    paper: ClassVar[str] = "Chen & Hale 2022"

    def __init__(
        self,
        bounds: Bounds,
        sensitivity: Number | timedelta,
        epsilon: Number,
        *,
        sigma: Sigma = "published",
    ) -> None:
        setting = Setting.of(bounds, sensitivity, epsilon)
        setting.need_one_span("the bounded Gaussian mechanism", "use bounded Laplace, which is for any bounds")
        self._way = _check_sigma(sigma)
        self._sigma = _standard_deviation(setting, self._way)
        if setting.lattice.points > FEW and self._sigma < SMOOTH:
            raise InvalidParameter(
                f"on more than {FEW:,} points the bounded Gaussian mechanism needs noise of at least {SMOOTH} steps, "
                f"and {bounds.brief()} leads to less; give the bounds a finer step, or use bounded Laplace"
            )
        super().__init__(setting, _prove(setting, self._sigma))

    @property
    def name(self) -> str:
        """What it is called in a comparison."""
        return self.title if self._way == "published" else f"{self.title}, least σ"

    @property
    def scale(self) -> float:
        """The standard deviation before truncation: over it the noise falls by the square root of e."""
        return round_nearest(self._sigma * self.step)

    @property
    def choices(self) -> dict[str, Any]:
        """Which standard deviation it has, if it is not that of the paper."""
        return {} if self._way == "published" else {"sigma": self._way}

    @cached_property
    def _distribution(self) -> Distribution:
        kind = GaussianRows if self._setting.lattice.points <= FEW else TruncatedGaussianDistribution
        return kind(self._setting.lattice, float(self._sigma))

    def _column(self, index: int) -> TruncatedColumn:
        lattice = self._setting.lattice
        return TruncatedColumn(lattice.width, self._setting.clip(index) - lattice.first, self._sigma)

    def _draw(self, index: int, entropy: Entropy) -> int:
        return self._setting.lattice.first + draw(self._column(index), entropy)

    def prove_again(self) -> Certificate:
        """Compare every pair of neighbouring answers and every release, where they are few."""
        if self._setting.lattice.points > SMALL:
            return _prove(self._setting, self._sigma, 2 * PRECISION)
        return prove_by_definition(
            self._setting, lambda centre, bits: self._column(centre).row(bits), partial(_state_law, self._sigma)
        )


def _check_sigma(sigma: Any) -> Sigma:
    for way in get_args(Sigma):
        if isinstance(sigma, str) and sigma == way:
            return way
    raise InvalidParameter(f"sigma must be 'published' or 'least', got {shown(sigma)}; 'least' has less error")


def _loss(top: int, distance: int, sigma: Fraction) -> arb:
    """Return the greatest loss between answers so many steps apart, before rounding.

    With `t` a true answer over the variance, the density at `x` is `h(x) exp(x t - A(t))`, where `A'(t)` is the mean of
    releases and rises with `t`.  The loss at `x` from `t` down to `r` is the integral of `x - A'` from `r` to `t`.  It
    is linear in `x`, so it is greatest at an end.  At the upper end `x - A'` is never negative and falls: the loss is
    greatest for the longest step from the least answer.  The lower end is the mirror image.
    """
    far = ball(distance * (top - Fraction(distance, 2)) / sigma**2)
    return far - (_around(top, Fraction(distance), sigma) / _around(top, Fraction(0), sigma)).log()


def _published_bound(top: int, distance: int, sigma: Fraction) -> arb:
    """Return the bound of the paper on that loss."""
    inside = min(Fraction(distance), Fraction(top, 2))
    far = ball(distance * (top + Fraction(distance, 2)) / sigma**2)
    return far + (_around(top, inside, sigma) / _around(top, Fraction(0), sigma)).log()


def _around(top: int, centre: Fraction, sigma: Fraction) -> arb:
    """Return twice the mass that the interval has around a centre."""
    return _mass(-centre, top - centre, sigma)


def _standard_deviation(setting: Setting, way: Sigma) -> Fraction:
    """Return the standard deviation in steps: one for which the loss or its bound is at most epsilon."""
    top = setting.lattice.width
    if not top:
        return Fraction(1)
    distance, bound = setting.distance, _published_bound if way == "published" else _loss

    def enough(sigma: float) -> bool:
        with lock(), workprec(PRECISION):
            return upper(bound(top, distance, Fraction(sigma))) <= setting.epsilon

    return Fraction(_least(enough, math.sqrt(distance * top / setting.epsilon)))


def _least(enough: Callable[[float], bool], start: float) -> float:
    """Return a number for which something holds, and does not a hair below it."""
    # Double until it holds, halve until it does not, then bisect: only a number for which it was seen to hold is
    # returned.
    high = start
    while not enough(high):
        high *= 2
    low = high / 2
    while enough(low):
        low, high = low / 2, low
    while high - low > FINE * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _prove(setting: Setting, sigma: Fraction, bits: int = PRECISION) -> Certificate:
    """Enclose the loss before rounding, and that between releases which is seen at the greatest one."""
    lattice = setting.lattice
    top, distance = lattice.width, setting.distance
    bound = witnessed = Fraction(0)
    if top:
        with lock(), workprec(bits):
            bound = upper(_loss(top, distance, sigma))
            highest = [_mass(top - HALF - c, Fraction(top - c), sigma) for c in (0, distance)]
            ratio = highest[1] / highest[0] * _around(top, Fraction(0), sigma)
            witnessed = lower((ratio / _around(top, Fraction(distance), sigma)).log())
    return Certificate.of(
        setting.promise,
        lattice,
        bound=bound,
        witnessed=max(witnessed, Fraction(0)),
        pair=(lattice.first, lattice.first + min(distance, top)),
        pairs=1,
        method="one pair, one output",
        precision=bits,
        law=partial(_state_law, sigma),
    )


def _state_law(sigma: Fraction) -> dict[str, str]:
    """Return the law in exact numbers; the standard deviation is one in steps."""
    return {"kind": "bounded Gaussian", "sigma": str(sigma)}
