"""The explicit fair mechanism: Cormode, Kulkarni & Srivastava, "Constrained private mechanisms for count data", ICDE
2018 (IEEE Transactions on Knowledge and Data Engineering 33(2), 2021).

For counts `0..n` with `a = exp(-epsilon)`, the output `i` for the true count `j` has probability

    y a^|i-j|                          if |i-j| < min(j, n-j)
    y a^ceil((|i-j| + min(j, n-j))/2)  otherwise

so that the exponents are the same for every `j`, only in another order: the truth is equally likely to come out
whatever it is (fairness), and no count is likelier than one nearer to the truth.  For a sensitivity of `D` steps
`a = exp(-epsilon / D)`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from flint import arb

from inbounds.accuracy.few_points import FewPoints
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, workprec
from inbounds.exact.rational import Number, round_nearest
from inbounds.mechanisms.definition import SMALL, prove_by_definition
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.mechanisms.setting import SLACK, Setting
from inbounds.privacy.certificate import Certificate
from inbounds.sampling.any_law import draw
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from inbounds.accuracy.distribution import Floats, Indices

MOST_LISTED = 1_000_000
"""Errors are listed for every point."""


@dataclass(frozen=True)
class FairColumn:
    """The law for one true count in the lower half: `a^|i-j|` up to `i = 2j`, then `a^ceil(i/2)`."""

    top: int
    """The greatest count, `n`."""
    count: int
    """The true count, `j <= n/2`."""
    rate: Fraction

    def below(self, index: int, bits: int) -> arb:
        """Return a ball around the probability of at most `index`."""
        if index < 0:
            return arb(0)
        if index >= self.top:
            return arb(1)
        with lock(), workprec(bits):
            return self._sum(index) / self._sum(self.top)

    def _sum(self, index: int) -> arb:
        """Return the sum of the first powers; all of them have been multiplied by `1 - a`."""
        rate, j = ball(self.rate), self.count

        def power(exponent: int) -> arb:
            return (-exponent * rate).exp()

        # Three stretches: rising powers up to the truth, falling ones up to twice the truth, and from there each power
        # twice.
        if index <= j:
            return power(j - index) - power(j + 1)
        if index <= 2 * j:
            return 1 - power(j + 1) + power(1) - power(index - j + 1)
        pairs, single = divmod(index - 2 * j, 2)
        total = 1 - power(j + 1) + power(1) - power(j + 1) + 2 * (power(j + 1) - power(j + pairs + 1))
        return total + power(j + pairs + 1) * (1 - power(1)) if single else total

    def guess(self, probability: float, rest: float) -> int:
        """Return about the least index up to which there is this probability."""
        rate, j = float(self.rate), self.count

        def total(index: int) -> float:
            lower = math.exp(-max(j - index, 0) * rate) - math.exp(-(j + 1) * rate)
            middle = math.exp(-rate) - math.exp(-(min(max(index - j, 0), j) + 1) * rate)
            upper = 2 * (math.exp(-(j + 1) * rate) - math.exp(-(j + 1 + max(index - 2 * j, 0) / 2) * rate))
            return lower + middle + upper

        whole = total(self.top)
        return min(bisect_left(range(self.top + 1), probability * whole, key=total), self.top)


class FairDistribution(FewPoints):
    """The laws of all true counts, in doubles."""

    rises = True  # from one true count to the next, probabilities fall by `a` up to the first, then rise, then stay

    def __init__(self, lattice: Lattice, rate: float) -> None:
        super().__init__(lattice)
        self.scale = 1 / rate
        self._low, self._top, self._rate = lattice.first, lattice.points - 1, rate
        self.whole = float(self._powers(np.zeros(1), np.arange(self._top + 1.0)).sum())

    @np.errstate(under="ignore")
    def _powers(self, counts: Floats, outputs: Floats) -> Floats:
        """Return `a` to the exponent of each output for a true count."""
        distance, room = abs(outputs - counts), np.minimum(counts, self._top - counts)
        exponent = np.where(distance < room, distance, np.ceil((distance + room) / 2))
        return np.exp(-exponent * self._rate)

    def rows(self, centres: Indices) -> Floats:
        """Return the probabilities of all counts, a row for each true count."""
        counts = (centres - self._low).astype(float)[:, None]
        return self._powers(counts, np.arange(self._top + 1.0)) / self.whole

    def probability(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of a count."""
        outputs = released - self._low
        powers = self._powers((centres - self._low).astype(float), outputs.astype(float))
        return np.where((outputs >= 0) & (outputs <= self._top), powers / self.whole, 0.0)

    def up_to(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of at most this count."""
        return self._sum(released - self._low, centres - self._low)

    def at_least(self, released: Indices, centres: Indices) -> Floats:
        """Return the probability of at least this count: the mirror image."""
        high = self._low + self._top
        return self._sum(high - released, high - centres)

    @np.errstate(under="ignore")
    def _sum(self, outputs: Indices, counts: Indices) -> Floats:
        """Return the probability of at most an output, as a sum of three: where exponents go by halves, where they are
        distances, and where they go by halves again."""
        output, count = np.broadcast_arrays(outputs.astype(float), counts.astype(float))
        room = np.minimum(count, self._top - count)
        first, last = count - room, count + room
        low, near, high = np.minimum(output, first - 1), np.clip(output, first - 1, last), np.maximum(output, last)
        mass = self._by_halves(self._top - low, np.full_like(low, self._top + 1.0))
        mass = np.where(low >= 0, mass, 0.0) + np.where(near >= first, self._by_distance(near - count, room), 0.0)
        mass = (mass + self._by_halves(last + 1, high + 1)) / (self.whole * -np.expm1(-self._rate))
        return np.where(output < 0, 0.0, np.where(output >= self._top, 1.0, mass))

    def _by_distance(self, until: Floats, room: Floats) -> Floats:
        """Return the sum of `a**|d|` from `-room` to a distance, times `1 - a`."""
        rate = self._rate
        left = np.exp(np.minimum(until, 0) * rate) * -np.expm1(-(room + 1 + np.minimum(until, 0)) * rate)
        return left + np.exp(-rate) * -np.expm1(-np.maximum(until, 0) * rate)

    def _by_halves(self, start: Floats, stop: Floats) -> Floats:
        """Return the sum of `a**ceil(i / 2)` from `start` to before `stop`, times `1 - a`."""
        single = -np.expm1(-self._rate)
        halves = [np.ceil(end / 2) for end in (start, stop)]
        weights = [2 - np.where(end % 2 == 0, single, 0.0) for end in (start, stop)]
        fall = weights[1] * -np.expm1((halves[0] - halves[1]) * self._rate)
        return np.exp(-halves[0] * self._rate) * (weights[0] - weights[1] + fall)

    @cached_property
    @np.errstate(under="ignore")
    def errors_of_all(self) -> Floats:
        """The expected distance in steps for every true count."""
        count = np.arange(self._top // 2 + 1.0)
        near = np.cumsum(2 * count * np.exp(-count * self._rate))  # up to twice the true count
        output = np.arange(self._top + 1.0)
        far = np.exp(-np.ceil(output / 2) * self._rate)
        mass, moment = (np.append(np.cumsum(x[::-1])[::-1], 0.0) for x in (far, output * far))
        start = np.minimum(2 * count + 1, self._top + 1).astype(np.intp)
        lower = (near + moment[start] - count * mass[start]) / self.whole
        return np.concatenate([lower, lower[: (self._top + 1) // 2][::-1]])

    @cached_property
    @np.errstate(under="ignore")
    def ends_of_all(self) -> Floats:
        """The probability that a release is the least or the greatest count, for every true count."""
        count = np.arange(self._top + 1.0)
        room = np.minimum(count, self._top - count)
        nearer = np.exp(-room * self._rate)
        farther = np.exp(-np.ceil(self._top / 2) * self._rate)
        return (nearer + farther) / self.whole if self._top else np.ones(1)


class ExplicitFair(Mechanism):
    """The explicit fair mechanism on one bounded span of a lattice, for example the counts from 0 to n."""

    title: ClassVar[str] = "explicit fair"
    paper: ClassVar[str] = "Cormode et al. 2018"

    def __init__(self, bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> None:
        setting = Setting.of(bounds, sensitivity, epsilon)
        setting.need_step("the explicit fair mechanism", "use bounded Laplace")
        setting.need_one_span("the explicit fair mechanism", "use bounded Laplace, which is for any bounds")
        if setting.lattice.points > MOST_LISTED:
            raise InvalidParameter(
                f"the explicit fair mechanism takes at most {MOST_LISTED:,} points, and {bounds.brief()} has more; "
                "use bounded Laplace"
            )
        self._low, self._top = setting.lattice.first, setting.lattice.points - 1
        # Exponents go up to ceil(n/2) only, so answers farther apart than that cost no more.
        self._rate = setting.epsilon * (1 - SLACK) / min(setting.distance, max(-(-self._top // 2), 1))
        super().__init__(setting, _prove(setting, self._rate, self._top))

    @property
    def rate(self) -> Fraction:
        """Minus the logarithm of the factor `a`."""
        return self._rate

    @property
    def top(self) -> int:
        """The greatest count, if the least is 0."""
        return self._top

    @property
    def scale(self) -> float:
        """Over which distance the probability falls by a factor e, near the true answer and far from the ends."""
        return round_nearest(self.step / self._rate)

    @property
    def at_truth(self) -> float:
        """The probability that the release is the true answer, whatever it is: their `y`."""
        return 1 / self._distribution.whole

    @cached_property
    def _distribution(self) -> FairDistribution:
        return FairDistribution(self._setting.lattice, float(self._rate))

    def _draw(self, index: int, entropy: Entropy) -> int:
        count = self._setting.clip(index) - self._low
        mirrored = 2 * count > self._top
        drawn = draw(FairColumn(self._top, self._top - count if mirrored else count, self._rate), entropy)
        return self._low + (self._top - drawn if mirrored else drawn)

    def prove_again(self) -> Certificate:
        """Compare every pair of neighbouring answers and every release, where they are few."""
        if self._top >= SMALL:
            return _prove(self._setting, self._rate, self._top)
        return prove_by_definition(self._setting, self._row, partial(_state_law, self._rate))

    def _row(self, centre: int, bits: int) -> list[arb]:
        count = centre - self._low
        room = min(count, self._top - count)
        with lock(), workprec(bits):
            distances = [abs(i - count) for i in range(self._top + 1)]
            exponents = [d if d < room else -(-(d + room) // 2) for d in distances]
            powers = [(-e * ball(self._rate)).exp() for e in exponents]
            total = sum(powers, arb(0))
            return [power / total for power in powers]


def _prove(setting: Setting, rate: Fraction, top: int) -> Certificate:
    """Write down what the exponents guarantee.

    From one true count to the next, no exponent changes by more than one: `|i-j|` and `min(j, n-j)` each change by at
    most one, so half their sum does too.  Hence `D` steps cost at most `D` times the rate, and never more than
    `ceil(n/2)` times, the greatest exponent.  The pair (0, D) and the output 0 reach that.
    """
    low, far = setting.lattice.first, min(setting.distance, top)
    loss = rate * min(far, -(-top // 2))
    return Certificate.of(
        setting.promise,
        setting.lattice,
        bound=loss,
        witnessed=loss,
        pair=(low, low + far),
        pairs=1,
        method="exponents",
        precision=0,
        law=partial(_state_law, rate),
    )


def _state_law(rate: Fraction) -> dict[str, str]:
    """Return the law in exact numbers."""
    return {"kind": "explicit fair", "rate": str(rate)}
