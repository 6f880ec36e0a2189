"""Constraints, normalization factors and the generalised guarantee: Croft, Sack & Shi, section 3.

W. L. Croft, J.-R. Sack, W. Shi: *Differential Privacy via a Truncated and Normalized Laplace Mechanism*, Journal of
Computer Science and Technology, 2022, doi 10.1007/s11390-020-0193-z.  The words and the letters here are the paper's;
formulas are counted in its main text unless the appendix is named.  Section 4, the scales, is in `scales`.

One formula weighs a stretch of the line both for real numbers and on a lattice: a step of 0 is the continuum.  On a
lattice the integrals of the paper are sums over lattice points, and a constraint is what lies strictly between the
ends of two spans.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, final

from flint import arb

from inbounds.bounds import Bounds
from inbounds.bounds.days import day_number
from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, workprec
from inbounds.exact.rational import Number, as_written, exact, shown
from inbounds.privacy.claim import Promise

PRECISIONS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
"""Bits of the balls, tried in turn until a question is settled."""

ConstraintClass = Literal["a", "b", "c"]
Spans: TypeAlias = "Sequence[tuple[Fraction | None, Fraction | None]]"


@final
@dataclass(frozen=True, repr=False)
class Constraints:
    """A constraint configuration: everything that is infeasible, the complement of some bounds (section 3.1)."""

    feasible: Bounds

    @classmethod
    def of(cls, bounds: Bounds) -> Constraints:
        """Return what `bounds` leave out."""
        if not isinstance(bounds, Bounds):
            raise InvalidParameter(f"bounds must be a Bounds, got {type(bounds).__name__}; try Bounds(low, high)")
        return cls(bounds)

    @cached_property
    def spans(self) -> tuple[tuple[Fraction | None, Fraction | None], ...]:
        """The spans of feasible space from left to right, exactly; None is no end."""
        offset, unit = self.feasible.offset, self.feasible.unit
        ends = [None if n is None else offset + n * unit for n in self.feasible.ends]
        return tuple(zip(ends[0::2], ends[1::2], strict=True))

    @property
    def finite(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The left and right endpoints of the finite constraints, which are feasible themselves."""
        rights, lefts = [low for low, _ in self.spans[1:]], [high for _, high in self.spans[:-1]]
        return tuple(
            (left, right) for left, right in zip(lefts, rights, strict=True) if left is not None and right is not None
        )

    @property
    def I_L(self) -> bool:
        """Whether there is a constraint that spans to negative infinity."""
        return self.spans[0][0] is not None

    @property
    def I_R(self) -> bool:
        """Whether there is a constraint that spans to infinity."""
        return self.spans[-1][1] is not None

    @property
    def step(self) -> Fraction:
        """The step of the lattice, 0 for real numbers."""
        return self.feasible.step or Fraction(0)

    @property
    def letter(self) -> ConstraintClass:
        """The class: (a) a single infinite constraint, (b) finite constraints only, (c) any other.

        No constraint at all, the whole line, is class (b) with n = 0.
        """
        if not (self.I_L or self.I_R):
            return "b"
        return "a" if self.I_L != self.I_R and len(self.spans) == 1 else "c"

    def read(self, value: Any, name: str) -> Fraction:
        """Return a feasible number or date exactly.  A message never shows it, for it may be a true answer."""
        bounds, day = self.feasible, day_number(value)
        if bounds.is_dates != (day is not None):
            kind = "a datetime.date" if bounds.is_dates else "a number"
            raise InvalidParameter(
                f"{name} must be {kind}, as the bounds are, got a {type(value).__name__}; convert it"
            )
        place = exact(value, name, InvalidParameter, echo=False) if day is None else Fraction(day)
        if value not in bounds:
            raise InvalidParameter(f"{name} must be feasible, got a value outside {bounds.brief()}; project it first")
        return bounds.nearest(place)

    def __repr__(self) -> str:
        return f"everything but {self.feasible!r}"


class SideMasses(NamedTuple):
    """What a Laplace PDF has in feasible space left of its location, at it (0 on real numbers) and right of it."""

    left: arb
    here: arb
    right: arb


@final
@dataclass(frozen=True)
class TruncatedPDF:
    """The Laplace PDF of a location and a scaling parameter, truncated by constraints and normalized (section 3.2)."""

    constraints: Constraints
    location: Fraction
    scale: Fraction

    @classmethod
    def of(cls, bounds: Bounds, location: Any, scale: Any) -> TruncatedPDF:
        """Check what a caller passed and make it exact; the location must be feasible."""
        constraints = Constraints.of(bounds)
        return cls(constraints, constraints.read(location, "location"), noise_scale(scale))

    @property
    def L(self) -> float:
        """The summed integrals of all constraints left of the location (Formula 4)."""
        return nearest_double(lambda _: self._constrained_mass(-1))

    @property
    def R(self) -> float:
        """The summed integrals of all constraints right of the location (Formula 5)."""
        return nearest_double(lambda _: self._constrained_mass(1))

    @property
    def n(self) -> float:
        """The normalization factor, 1 / (1 - (L + R)) (Formula 6)."""
        return nearest_double(lambda _: 1 / self.feasible_mass())

    def feasible_mass(self) -> arb:
        """Return 1 - (L + R) in balls, summed over feasible space so that nothing cancels."""
        whole_line = self.constraints.spans == ((None, None),)
        return arb(1) if whole_line else sum(self.masses(), arb(0))

    def masses(self) -> SideMasses:
        """Return the parts of `feasible_mass`; on real numbers they are 1/2 - L, 0 and 1/2 - R."""
        return SideMasses(self._feasible(-1), self._stretch(Fraction(0), self.constraints.step), self._feasible(1))

    def line(self) -> arb:
        """Return the integral of exp(-distance / scale) over the whole line: 2 * scale, on a lattice a sum."""
        step = self.constraints.step
        if step == 0:
            return 2 * ball(self.scale)
        return (1 + self._power(step)) / -(-ball(step / self.scale)).expm1()

    def _feasible(self, sign: int) -> arb:
        """Weigh feasible space strictly on one side, without the location itself."""
        step = self.constraints.step
        seen = self._reaches(sign)
        return sum((self._stretch(near or step, None if far is None else far + step) for near, far in seen), arb(0))

    def _constrained_mass(self, sign: int) -> arb:
        """Weigh the constraints on one side: each begins a step beyond the end of one span and stops at the next."""
        step = self.constraints.step
        seen = self._reaches(sign)
        stops = [*(near for near, _ in seen[1:]), None]
        starts = [far for _, far in seen]
        weights = (
            self._stretch(start + step, stop) for start, stop in zip(starts, stops, strict=True) if start is not None
        )
        return sum(weights, arb(0))

    def _reaches(self, sign: int) -> list[tuple[Fraction, Fraction | None]]:
        """Return how far the spans on one side reach, nearest first; the first begins at the location."""
        spans: Spans = self.constraints.spans
        if sign < 0:
            spans = [(None if high is None else -high, None if low is None else -low) for low, high in reversed(spans)]
        here = sign * self.location
        return [
            (Fraction(0) if low is None else max(low - here, Fraction(0)), None if high is None else high - here)
            for low, high in spans
            if high is None or high >= here
        ]

    def _stretch(self, start: Fraction, stop: Fraction | None) -> arb:
        """Weigh the distances on one side from `start` on that are below `stop`, of a whole line of 1."""
        weight = self._power(start) / (1 + self._power(self.constraints.step))
        return weight if stop is None else weight * -(ball((start - stop) / self.scale)).expm1()

    def _power(self, distance: Fraction) -> arb:
        return (-ball(distance / self.scale)).exp()


def log_ratio(first: TruncatedPDF, second: TruncatedPDF, x: Any) -> float:
    """Return ln(first(x) / second(x)), the logarithm of the left side of the guarantee, at a feasible point.

    With `first` to the right of `second` this is Formula 13, otherwise its symmetric form (Formula 9 with e^(i epsilon)
    for its bound).  Each PDF has its own scale.
    """
    point = _common(first, second).read(x, "x")
    return nearest_double(lambda _: ball(_exponent(first, second, point)) + _log_normalization(first, second))


def guarantee_holds(
    first: TruncatedPDF, second: TruncatedPDF, x: Any, sensitivity: Number | timedelta, epsilon: Number
) -> bool:
    """Return whether first(x) is proved to be at most e^(i epsilon) * second(x), i sensitivities apart (Formula 13).

    An equality that balls cannot settle counts as broken.
    """
    constraints = _common(first, second)
    point = constraints.read(x, "x")
    promise = promise_of(constraints.feasible, sensitivity, epsilon)
    allowed = abs(first.location - second.location) * promise.epsilon / promise.sensitivity
    remaining = allowed - _exponent(first, second, point)
    return is_at_most(lambda: (_log_normalization(first, second), ball(remaining)))


def _common(first: TruncatedPDF, second: TruncatedPDF) -> Constraints:
    if first.constraints != second.constraints:
        got = " and ".join(pdf.constraints.feasible.brief() for pdf in (first, second))
        raise InvalidParameter(f"both PDFs must have the same bounds, got {got}; make both from one Bounds")
    return first.constraints


def _exponent(first: TruncatedPDF, second: TruncatedPDF, x: Fraction) -> Fraction:
    """Return the exponent of Formula 14."""
    return abs(x - second.location) / second.scale - abs(x - first.location) / first.scale


def _log_normalization(first: TruncatedPDF, second: TruncatedPDF) -> arb:
    """Return the logarithm of the first two factors of Formula 13."""
    if first == second:
        return arb(0)
    ratio = second.feasible_mass() / first.feasible_mass()
    return (ratio if first.scale == second.scale else ratio * second.line() / first.line()).log()


class MotivatingExample(NamedTuple):
    """A ratio of densities, and the bound that it should not exceed."""

    ratio: float
    allowed: float


def motivating_example(epsilon: Number, i: Any = 1) -> MotivatingExample:
    """Return 2 e^(i epsilon) - 1 and e^(i epsilon), the two sides of Formula 24.

    The first is the ratio between the PDF on the border of an infinite constraint and the one i sensitivities away, at
    the border, when both have the scale of the plain Laplace mechanism.  It is above the second for every i > 0.
    """
    bounds = Bounds(0, None)
    promise = promise_of(bounds, 1, epsilon)
    distance = positive(i, "i")
    border, away = (TruncatedPDF(Constraints(bounds), at, 1 / promise.epsilon) for at in (Fraction(0), distance))
    ratio = nearest_double(
        lambda _: (ball(_exponent(border, away, Fraction(0))) + _log_normalization(border, away)).exp()
    )
    return MotivatingExample(ratio, nearest_double(lambda _: ball(distance * promise.epsilon).exp()))


def promise_of(bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number) -> Promise:
    """Check the parameters of the generalised guarantee and make them exact; all answers are taken to be feasible."""
    return Promise.of(bounds, sensitivity, epsilon, "distance", 0, trusted=True)


def positive(number: Any, name: str) -> Fraction:
    """Return a positive number as it was written."""
    return _above_zero(as_written(number, name, InvalidParameter), number, name)


def noise_scale(scale: Any, name: str = "scale") -> Fraction:
    """Return a scale as the double that it is, for that is what a proof was for."""
    return _above_zero(exact(scale, name, InvalidParameter), scale, name)


def _above_zero(number: Fraction, given: Any, name: str) -> Fraction:
    if number <= 0:
        raise InvalidParameter(f"{name} must be positive, got {shown(given)}; give a number above 0")
    return number


def is_at_most(sides: Callable[[], tuple[arb, arb]]) -> bool:
    """Return whether the first side is proved to be at most the second; what balls cannot settle counts as not."""
    for bits in PRECISIONS:
        with lock(), workprec(bits):
            first, second = sides()
            if first <= second:
                return True
            if first > second:
                return False
    return False


def nearest_double(compute: Callable[[int], arb]) -> float:
    """Return the double nearest to a number, from balls of as many bits as that takes."""
    # Both ends of the ball round to one double, or more bits are needed.
    low = math.nan
    for bits in PRECISIONS:
        with lock(), workprec(bits):
            enclosure = compute(bits)
            low, high = float(enclosure.lower()), float(enclosure.upper())
        if low == high:
            break
    return low + 0.0  # which turns -0.0 into 0.0
