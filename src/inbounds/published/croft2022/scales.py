"""The paper, whole: Croft, Sack & Shi, "Differential privacy via a truncated and normalized Laplace mechanism", 2022.

Section 3, constraints and the guarantee, is in `guarantee` and offered here too.  Section 4 is here: the
scales of every class of constraints, and Table 2.  Class (a), a single infinite constraint, has a scale for each
location, from the Lambert W function; the others have one uniform scale, from a binary search.

Some things that the paper says are not so; docs/paper.md has the proofs.  Theorem 1 is false: the scales of class (a)
are not epsilon-differentially private (see `location_scale`).  Lemma 8 is false of a single bound: one that holds at a
scale may fail at a larger one, because L and R change with the scale.  Of all bounds together it is true on real
numbers; on lattices that is open.  So the search here returns a scale at which every bound was evaluated and holds, and
assumes nothing about the scales above it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, final

from flint import arb

from inbounds.bounds import Bounds
from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, workprec
from inbounds.exact.rational import Number, shown
from inbounds.published.croft2022.guarantee import (
    ConstraintClass,
    Constraints,
    TruncatedPDF,
    is_at_most,
    nearest_double,
    noise_scale,
    positive,
    promise_of,
)
from inbounds.published.croft2022.lambert import depth, depth_from, scale_at_border, w_at_border

DECIMALS = 12
"""To how many decimals a uniform scale is searched for, unless the caller says otherwise."""

MOST_DECIMALS = 300


def border_scale(sensitivity: Number | timedelta, epsilon: Number) -> float:
    """Return the scale of a location on the border of a single infinite constraint, about 1.586 dF/eps (Formula 32)."""
    promise = promise_of(Bounds.everything(), sensitivity, epsilon)
    return nearest_double(partial(location_scale_ball, Fraction(0), promise.sensitivity, promise.epsilon))


def location_scale(bounds: Bounds, location: Any, sensitivity: Number | timedelta, epsilon: Number) -> float:
    """Return the scale of a location beside a single infinite constraint (Lemma 2), as the nearest double.

    **Not epsilon-differentially private**, although Theorem 1 says so: two locations with different scales have
    densities whose ratio grows without limit away from the border.  The proof looks at the border only, where the ratio
    is e^(i epsilon) exactly.  What holds is (epsilon, delta)-differential privacy with some delta above 0, which
    `AdaptiveLaplace` proves.  The scale is derived for real numbers and is the same on a lattice.
    """
    constraints = Constraints.of(bounds)
    promise = promise_of(bounds, sensitivity, epsilon)
    if constraints.letter != "a":
        raise InvalidParameter(
            f"a scale for each location needs a single half-line, got {bounds.brief()}; use croft2022.uniform_scale"
        )
    low, high = constraints.spans[0]
    border = high if low is None else low
    distance = abs(constraints.read(location, "location") - (border or 0))
    return nearest_double(partial(location_scale_ball, distance, promise.sensitivity, promise.epsilon))


def location_scale_ball(distance: Fraction, sensitivity: Fraction, epsilon: Fraction, bits: int) -> arb:
    """Return the scale at a distance from a single infinite constraint as a ball, tight to 2**-bits of itself.

    Formula 32 on the border, elsewhere Formula 33 with the principal branch up to i = 1/epsilon and the branch -1
    beyond.  At i = 1/epsilon exactly, which is decided in rationals, both give W = -1.
    """
    if distance < 0 or sensitivity <= 0 or epsilon <= 0:
        raise InvalidParameter(
            "distance must not be negative, and sensitivity and epsilon must be positive; give such numbers"
        )
    precision = max(bits, 32)
    while True:
        precision *= 2
        with lock(), workprec(precision):
            scale = _location_scale(distance * epsilon / sensitivity, sensitivity / epsilon)
            if scale.rel_accuracy_bits() >= bits:
                return scale


def _location_scale(i_epsilon: Fraction, plain: Fraction) -> arb:
    return ball(plain * i_epsilon) / depth(i_epsilon) if i_epsilon else ball(plain) * scale_at_border()


class Lemma1(NamedTuple):
    """The four bounds of Lemma 1 on a scale beside a single infinite constraint.

    The guarantee towards the border wants `at_least <= scale <= at_most`; both are None where no scale will do, because
    the scale on the border is too small.  That W is real for every location farther away wants
    `scale >= or_at_least` or `scale <= or_at_most`, up to 1/epsilon sensitivities from the border; beyond, where
    the paper says so too, it is real for every scale.
    """

    at_most: float | None
    """Formula 28."""
    at_least: float | None
    """Formula 29."""
    or_at_least: float
    """Formula 30."""
    or_at_most: float
    """Formula 31."""


def lemma1(i: Any, scale_on_border: Any, sensitivity: Number | timedelta, epsilon: Number) -> Lemma1:
    """Return the bounds on the scale i sensitivities from the constraint, given the one on the border (Lemma 1)."""
    promise = promise_of(Bounds.everything(), sensitivity, epsilon)
    distance = positive(i, "i") * promise.sensitivity
    i_epsilon = distance * promise.epsilon / promise.sensitivity
    start = distance / noise_scale(scale_on_border, "scale_on_border")

    def towards_border(branch: int) -> float:
        return nearest_double(lambda _: ball(distance) / depth_from(ball(start) * ball(-i_epsilon).exp(), branch))

    def of_the_others(branch: int) -> float:
        return nearest_double(lambda _: ball(distance) / depth(i_epsilon, branch))

    # The branch point of W is at u = -W(-1/2e).  Beyond it W is not real, or the scale would be negative.
    exists = is_at_most(lambda: (ball(start) * ball(-i_epsilon).exp(), -w_at_border()))
    at_most, at_least = (towards_border(0), towards_border(-1)) if exists else (None, None)
    return Lemma1(at_most, at_least, of_the_others(0), of_the_others(-1))


@dataclass(frozen=True)
class LowerBound(ABC):
    """One of the 3n + 2 lower bounds on a uniform scale that Theorem 2 takes the maximum of.

    Every bound is an inequality in the scale.  Below, k stands for scale * epsilon / sensitivity.
    """

    constraints: Constraints
    sensitivity: Fraction
    epsilon: Fraction

    def holds(self, scale: Any) -> bool:
        """Return whether the inequality is proved at this scale; what balls cannot settle counts as not."""
        noise = noise_scale(scale)
        k = noise * self.epsilon / self.sensitivity
        # From k = 2 on it holds whatever is missing (Lemma 10), since ln n_j changes by at most distance / scale.
        return k >= 2 or is_at_most(lambda: self._sides(noise, k))

    def value(self, decimals: int = DECIMALS) -> Fraction:
        """Return the bound as a number, by bisection to so many decimals: a scale at which it was seen to hold."""
        return _least_scale(self.holds, 2 * self.sensitivity / self.epsilon, decimals)

    @abstractmethod
    def _sides(self, scale: Fraction, k: Fraction) -> tuple[arb, arb]:
        """Return two balls; the bound holds if the first is at most the second."""


@final
@dataclass(frozen=True)
class SpanBound(LowerBound):
    """Lemma 7: pairs within one span of truncated space, f(D_2) left of f(D_1), or right of it if `symmetric`.

    Formula 35 is to hold for every f(D_1) of the span.  Cleared of fractions it reads (1 - 2L)(2 - k) <= (1 - 2R) k.
    The left side falls with L and the right side with R.  Going right within a span L falls and R grows, so the bound
    is largest at the right end of the span, and in the symmetric form at the left end.  In a span without that end it
    grows towards L = R = 0, far away, where it says k >= 1.

    On a lattice D_2 is one step away, and Formula 34 takes the place of its derivative.  What is on the side of D_2
    gains a factor of exp(t), t = step/scale, and the rest loses it.  That gives the same inequality with
    exp((2 - k) t) - 1 for 2 - k and 1 - exp(-k t) for k.
    """

    end: Fraction | None
    """f(D_1); None where the span has no end."""
    symmetric: bool

    def _sides(self, scale: Fraction, k: Fraction) -> tuple[arb, arb]:
        if self.end is None:
            return arb(1), ball(k)
        left, here, right = TruncatedPDF(self.constraints, self.end, scale).masses()
        nearer, farther = (right, left) if self.symmetric else (left, right)
        rate = self.constraints.step / scale
        if rate == 0:
            return nearer * ball(2 - k), (here + farther) * ball(k)
        return nearer * ball((2 - k) * rate).expm1(), (here + farther) * -ball(-k * rate).expm1()


@final
@dataclass(frozen=True)
class GapBound(LowerBound):
    """Lemma 9: the pair of PDFs on the two endpoints of a finite constraint (Formula 37), in both forms.

    The proof of Theorem 2 drops the symmetric form as the weaker one.  It is the stronger one whenever more is missing
    beyond the left endpoint than beyond the right, so both are checked here.  On real numbers neither ever decides.
    """

    left: Fraction
    """f(D_2)."""
    right: Fraction
    """f(D_1)."""

    def _sides(self, scale: Fraction, k: Fraction) -> tuple[arb, arb]:
        first, second = (TruncatedPDF(self.constraints, end, scale) for end in (self.right, self.left))
        ratio = second.feasible_mass() / first.feasible_mass()
        return abs(ratio.log()), ball((k - 1) * (self.right - self.left) / scale)


def lower_bounds(bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> tuple[LowerBound, ...]:
    """Return the 3n + 2 lower bounds for n finite constraints: n + 1, their mirror images, and n (Theorem 2).

    A span of a single lattice point has no pair within it, and so no bound of its own.
    """
    constraints, promise = Constraints.of(bounds), promise_of(bounds, sensitivity, epsilon)
    common = (constraints, promise.sensitivity, promise.epsilon)
    spans = [(low, high) for low, high in constraints.spans if low is None or low != high]
    return (
        *(SpanBound(*common, high, symmetric=False) for _, high in spans),
        *(SpanBound(*common, low, symmetric=True) for low, _ in spans),
        *(GapBound(*common, left, right) for left, right in constraints.finite),
    )


def uniform_scale(
    bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number, decimals: int = DECIMALS
) -> Fraction:
    """Return the smallest uniform scale to `decimals` decimals (Theorem 3 and the corollary of section 4.3).

    It satisfies the generalised guarantee: the loss of answers i sensitivities apart is at most i * epsilon.  It is the
    upper end of the last bracket of a binary search on (0, 2 dF/eps], a scale at which every lower bound was proved,
    and exactly 2 dF/eps if there is an infinite constraint and no step.  To check one scale takes O(n**2) operations.

    Where a single lattice point is feasible, every scale will do, and the plain dF/eps is returned.
    """
    limits = lower_bounds(bounds, sensitivity, epsilon)
    promise = promise_of(bounds, sensitivity, epsilon)
    plain = promise.sensitivity / promise.epsilon
    if not limits:
        return plain
    return _least_scale(lambda scale: all(bound.holds(scale) for bound in limits), 2 * plain, decimals)


def _least_scale(holds: Callable[[Fraction], bool], top: Fraction, decimals: Any) -> Fraction:
    """Return the upper end of a bisection over the multiples of 10**-decimals below `top`, and `top` itself.

    Only a scale at which `holds` was seen to be true is returned; `top` must be one.
    """
    if isinstance(decimals, bool) or not isinstance(decimals, int) or not 0 <= decimals <= MOST_DECIMALS:
        raise InvalidParameter(
            f"decimals must be an int from 0 to {MOST_DECIMALS}, got {shown(decimals)}; give fewer, or leave it out"
        )
    grid = 10**decimals
    unsafe, safe, best = 0, -(-top * grid // 1), top
    while safe - unsafe > 1:
        middle = (unsafe + safe) // 2
        if holds(Fraction(middle, grid)):
            safe, best = middle, Fraction(middle, grid)
        else:
            unsafe = middle
    return best


@final
@dataclass(frozen=True)
class Summary:
    """A row of Table 2, with its numbers."""

    letter: ConstraintClass
    configuration: str
    calculation: str
    bound: str
    notes: str
    greatest: Fraction
    """The scale on the border for class (a), as the nearest double; for the others the uniform scale, exactly."""
    least: Fraction
    """The limit far from the border for class (a); for the others the uniform scale."""
    limit: Fraction
    """What the paper's bound is as a number: `greatest` for class (a), for the others 2 dF/eps."""
    remark: str
    """Not the paper's: what has to be known besides."""


def table2(bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number, decimals: int = DECIMALS) -> Summary:
    """Return the row of the paper's Table 2 for these bounds, and the scales that follow from it."""
    promise, letter = promise_of(bounds, sensitivity, epsilon), Constraints.of(bounds).letter
    plain = promise.sensitivity / promise.epsilon
    if letter == "a":
        greatest = Fraction(border_scale(promise.sensitivity, promise.epsilon))
        return Summary(letter, *_ROWS[letter], greatest, plain, greatest, _REMARKS[letter])
    scale = uniform_scale(bounds, sensitivity, epsilon, decimals)
    return Summary(letter, *_ROWS[letter], scale, scale, 2 * plain, _REMARKS[letter])


_ROWS: dict[ConstraintClass, tuple[str, str, str, str]] = {
    "a": (
        "single infinite constraint",
        "sigma_1: Formula 32, sigma_2: Formula 33",
        "sigma_1 ~ 1.586 dF/eps, sigma_2 < 1.586 dF/eps",
        "optimal scales",
    ),
    "b": (
        "arbitrary finite constraints",
        "section 4.2",
        "sigma < 2 dF/eps",
        "approximation of the optimal scale",
    ),
    "c": (
        "arbitrary constraints",
        "section 4.2",
        "sigma <= 2 dF/eps",
        "approximation of the optimal uniform scale",
    ),
}

_REMARKS: dict[ConstraintClass, str] = {
    "a": "a scale for each location is not epsilon-DP, only (epsilon, delta)-DP: away from the border the ratio of two "
    "densities is unbounded; it is derived for real numbers; epsilon-DP needs a uniform scale",
    "b": "this scale was evaluated and holds; that larger ones do too is proved on real numbers only (not by Lemma 8)",
    "c": "this scale was evaluated and holds; with an infinite constraint it is 2 dF/eps, on a lattice a little less",
}
