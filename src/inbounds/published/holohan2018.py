"""The bounded Laplace mechanism on one interval: Holohan, Antonatos, Braghin & Mac Aonghusa, "The bounded Laplace
mechanism in differential privacy", 2018 (Journal of Privacy and Confidentiality 10(1), 2020).

The scale `b` of the truncated and normalised law on `[l, u]` solves their fixed-point equation

    b = dQ / (epsilon - ln C(l + dQ)/C(l) - ln(1 - delta)),      C(x) = 1 - (exp(-(x-l)/b) + exp(-(u-x)/b)) / 2

in continuous terms.  With a delta it keeps `epsilon - ln(1 - delta)`, which implies (epsilon, delta).
"""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import Any, ClassVar, cast

from inbounds.bounds import Bounds
from inbounds.bounds.fine_step import fine_step
from inbounds.errors import InvalidParameter, NotPrivate
from inbounds.exact.balls import ball, lock, lower, workprec
from inbounds.exact.rational import Number, as_written, rounded, shown
from inbounds.mechanisms.setting import Given, Setting
from inbounds.mechanisms.truncated_laplace import TruncatedLaplace
from inbounds.privacy.certificate import Certificate, prove
from inbounds.privacy.claim import Claim, Promise
from inbounds.privacy.label import Label
from inbounds.privacy.law import PRECISION

HAIRS = 40
"""How often the scale may be raised by twice as little as before, to make up for rounding, in search of a proof."""


class HolohanLaplace(TruncatedLaplace):
    """Laplace noise truncated to one interval and normalised, at the scale of Holohan et al.

    The bounds must have no step.  `delta` relaxes the guarantee as in the paper.
    """

    paper: ClassVar[str] = "Holohan et al. 2018"
    title: ClassVar[str] = "Holohan's bounded Laplace"
    pure: ClassVar[bool] = False

    def __init__(self, bounds: Bounds, sensitivity: Number | timedelta, epsilon: Number, *, delta: Number = 0) -> None:
        # Their condition gives a scale for epsilon and delta.  It is proved here, on the lattice, for the pure loss
        # that this delta stands for, and raised where the paper's scale is a hair too small.
        promise = Promise.of(bounds, sensitivity, epsilon, "standard", 0, False)
        allowed = _delta(delta)
        _need_one_continuous_interval(bounds)
        relaxed = replace(promise, epsilon=_relax(promise.epsilon, allowed))
        claim, certificate = _safe(relaxed, published_scale(bounds, promise.sensitivity, promise.epsilon, allowed))
        super().__init__(Setting(promise, claim.lattice, Given(sensitivity, epsilon)), claim, certificate)
        self._delta = allowed

    @property
    def delta(self) -> Fraction:
        """The delta of the guarantee."""
        return self._delta

    @property
    def label(self) -> Label:
        """The guarantee that was proved; the certificate is for `epsilon - ln(1 - delta)`."""
        return Label(self._setting.epsilon, self._delta)

    @property
    def choices(self) -> dict[str, Any]:
        """Delta, where there is one."""
        return {"delta": self._delta} if self._delta else {}


def published_scale(bounds: Bounds, sensitivity: Fraction, epsilon: Fraction, delta: Fraction = Fraction(0)) -> float:
    """Return the least double at which their condition holds, by bisection as in their algorithm.

    A sensitivity above the width of the interval is that width: no two answers are farther apart.
    """
    low_end, high_end = (cast("int", end) * bounds.unit for end in bounds.ends)
    whole, part = high_end - low_end, min(sensitivity, high_end - low_end)
    if not Fraction(1, 2**900) < part / epsilon <= whole / epsilon < 2**900:
        raise InvalidParameter(
            "Holohan's bounded Laplace needs a sensitivity and a width of the bounds, both over epsilon, from 2**-900 "
            f"to 2**900, got {rounded(part / epsilon, 6)} and {rounded(whole / epsilon, 6)}; "
            "use other units for the answer"
        )
    width, reach = float(whole), float(part)
    budget = float(epsilon) - math.log1p(-float(delta))

    def enough(scale: float) -> bool:
        at_low = -math.expm1(-width / scale)
        beyond = -math.expm1(-reach / scale) - math.expm1(-(width - reach) / scale)
        return reach / scale + math.log(beyond / at_low) <= budget

    # The condition holds from some scale on, which is between the plain one and twice that.
    low = reach / budget
    high = 2 * low * (1 + 2**-50)
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _safe(promise: Promise, scale: float) -> tuple[Claim, Certificate]:
    """Return the claim for a scale that is no more than a hair above, with its proof."""
    step = fine_step(promise.bounds, Fraction(scale), promise.sensitivity)
    claim = Claim.on(promise, step, Fraction(scale))
    for hair in range(HAIRS, 0, -1):
        certificate = prove(claim)
        if certificate.holds:
            return claim, certificate
        claim = claim.rescaled(scale * (1 + 2.0**-hair / 2))
    raise NotPrivate(f"the published scale could not be proved. {certificate}", certificate)


def _need_one_continuous_interval(bounds: Bounds) -> None:
    if bounds.step is not None or not bounds.bounded or len(bounds) != 1:
        raise InvalidParameter(
            f"Holohan's bounded Laplace needs one bounded interval without a step, got {bounds.brief()}; "
            "use bounded Laplace, which is for any bounds"
        )


def _delta(delta: Number) -> Fraction:
    value = as_written(delta, "delta", InvalidParameter)
    if not 0 <= value < Fraction(1, 2):
        raise InvalidParameter(f"delta must be from 0 to below 1/2, got {shown(delta)}; leave it out for none")
    return value


def _relax(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return `epsilon - ln(1 - delta)`, rounded down."""
    if not delta:
        return epsilon
    with lock(), workprec(PRECISION):
        return lower(ball(epsilon) - ball(1 - delta).log())
