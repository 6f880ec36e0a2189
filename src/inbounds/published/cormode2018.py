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
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from flint import arb

from inbounds.bounds import Bounds
from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, workprec
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.certify import SMALL
from inbounds.published.definition import prove_by_definition
from inbounds.published.listed import Listed
from inbounds.published.mechanism import SLACK, Ground, need_one_span, need_step
from inbounds.sampling.any_law import draw
from inbounds.sampling.entropy import Entropy

if TYPE_CHECKING:
    from inbounds.mechanisms.averages import Floats

MOST_LISTED = 1_000_000
"""Errors are listed for every point."""


@dataclass(frozen=True)
class Column:
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


class ExplicitFair(Listed):
    """The explicit fair mechanism on one bounded span of a lattice, such as the counts from 0 to n."""

    paper: ClassVar[str] = "Cormode et al. 2018"
    name = "explicit fair"

    def __init__(self, bounds: Bounds, sensitivity: Any, epsilon: Any) -> None:
        ground = Ground.of(bounds, sensitivity, epsilon)
        need_step(ground, "the explicit fair mechanism", "use bounded Laplace")
        need_one_span(ground, "the explicit fair mechanism", "use bounded Laplace, which is for any bounds")
        if ground.lattice.points > MOST_LISTED:
            raise InvalidParameter(
                f"the explicit fair mechanism is offered up to {MOST_LISTED:,} points, and {ground.bounds.brief()} has "
                "more; use bounded Laplace"
            )
        top = ground.lattice.points - 1
        # Exponents go up to ceil(n/2) only, so answers farther apart than that cost no more.
        rate = ground.epsilon * (1 - SLACK) / min(ground.distance, max(-(-top // 2), 1))
        super().__init__(ground, _proved(ground, rate, top), rate=rate, top=top)

    rate: Fraction
    """Minus the logarithm of the factor `a`."""
    top: int

    @property
    def scale(self) -> float:
        """Over which distance the probability falls by a factor e, near the true answer and far from the ends."""
        return float(self._ground.lattice.step / self.rate)

    @property
    def at_truth(self) -> float:
        """The probability that the release is the true answer, whatever it is: their `y`."""
        return float(1 / self._whole)

    def _place(self, index: int) -> tuple[int, bool]:
        """Return the true count, or its mirror image if it is in the upper half, and whether it is that."""
        count = self._ground.clipped(index) - self._ground.lattice.low_list[0]
        return (self.top - count, True) if 2 * count > self.top else (count, False)

    def _draw(self, index: int, entropy: Entropy) -> int:
        count, mirrored = self._place(index)
        drawn = draw(Column(self.top, count, self.rate), entropy)
        return self._ground.lattice.low_list[0] + (self.top - drawn if mirrored else drawn)

    @np.errstate(under="ignore")
    def _powers(self, count: int) -> Floats:
        """Return `a` to the exponents for a true count, over all outputs."""
        output = np.arange(self.top + 1.0)
        distance, room = abs(output - count), min(count, self.top - count)
        exponent = np.where(distance < room, distance, np.ceil((distance + room) / 2))
        return np.exp(-exponent * float(self.rate))

    @cached_property
    def _whole(self) -> float:
        return float(self._powers(0).sum())

    @cached_property
    @np.errstate(under="ignore")
    def errors(self) -> Floats:
        """The expected distance in steps for every true answer."""
        count = np.arange(self.top // 2 + 1.0)
        rate = float(self.rate)
        near = np.cumsum(2 * count * np.exp(-count * rate))  # up to twice the true count
        output = np.arange(self.top + 1.0)
        far = np.exp(-np.ceil(output / 2) * rate)
        mass, moment = (np.append(np.cumsum(x[::-1])[::-1], 0.0) for x in (far, output * far))
        start = np.minimum(2 * count + 1, self.top + 1).astype(np.intp)
        lower = (near + moment[start] - count * mass[start]) / self._whole
        return np.concatenate([lower, lower[: (self.top + 1) // 2][::-1]])

    @cached_property
    @np.errstate(under="ignore")
    def ends(self) -> Floats:
        """The probability that a release is the least or the greatest answer, for every true answer."""
        count = np.arange(self.top + 1.0)
        room = np.minimum(count, self.top - count)
        nearer = np.exp(-room * float(self.rate))
        farther = np.exp(-np.ceil(self.top / 2) * float(self.rate))
        return (nearer + farther) / self._whole if self.top else np.ones(1)

    @np.errstate(under="ignore")
    def _error(self, centre: int, excess: float) -> float:
        count = centre - self._ground.lattice.low_list[0]
        distances = abs(np.arange(self.top + 1.0) - count - excess)
        return float(self._powers(count) @ distances / self._whole)

    @np.errstate(under="ignore")
    def _probability(self, index: int, centre: int) -> float:
        low = self._ground.lattice.low_list[0]
        if not 0 <= index - low <= self.top:
            return 0.0
        return float(self._powers(centre - low)[index - low] / self._whole)

    def prove_again(self) -> Certificate:
        """Compare every pair of neighbouring answers and every release, where they are few."""
        if self.top >= SMALL:
            return _proved(self._ground, self.rate, self.top)
        return prove_by_definition(self._ground, self._row)

    def _row(self, centre: int, bits: int) -> list[arb]:
        count = centre - self._ground.lattice.low_list[0]
        room = min(count, self.top - count)
        with lock(), workprec(bits):
            distances = [abs(i - count) for i in range(self.top + 1)]
            exponents = [d if d < room else -(-(d + room) // 2) for d in distances]
            powers = [(-e * ball(self.rate)).exp() for e in exponents]
            total = sum(powers, arb(0))
            return [power / total for power in powers]


def _proved(ground: Ground, rate: Fraction, top: int) -> Certificate:
    """Write down what the exponents guarantee.

    From one true count to the next, no exponent changes by more than one: `|i-j|` and `min(j, n-j)` each change by at
    most one, so half their sum does too.  Hence `D` steps cost at most `D` times the rate, and never more than
    `ceil(n/2)` times, the greatest exponent.  The pair (0, D) and the output 0 reach that.
    """
    bounds, lattice, low = ground.bounds, ground.lattice, ground.lattice.low_list[0]
    far = min(ground.distance, top)
    loss = rate * min(far, -(-top // 2))
    return Certificate(
        holds=loss <= ground.epsilon,
        bound=loss,
        witnessed=loss,
        worst_pair=(bounds.as_answer(lattice.value(low)), bounds.as_answer(lattice.value(low + far))),
        epsilon=ground.epsilon,
        guarantee="standard",
        scale=None,
        step=lattice.step,
        pairs=1,
        method="exponents",
        precision=0,
    )
