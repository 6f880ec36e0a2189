"""The step chosen for bounds that have none: far finer than the noise, and a power of two."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from inbounds.errors import LatticeTooFine
from inbounds.exact.rational import rounded

if TYPE_CHECKING:
    from inbounds.bounds.bounds import Bounds

FINENESS = 34
"""A chosen step is about 2**-34 of the noise: too fine to see in an answer, or in the scale."""

FINEST = 50
"""It is finer, though never below 2**-50 of the noise, where the sensitivity is very small against the noise."""

COARSEST = 10
"""A chosen step is never above 2**-10 of the noise."""


def fine_step(bounds: Bounds, noise: Fraction, sensitivity: Fraction) -> Fraction:
    """Choose a power of two far below the noise, the sensitivity and the narrowest span, for bounds without a step.

    Between the ends of bounds, every multiple of it is exactly a double (docs/decisions/0002-step.md).
    """
    finite = [end for end in bounds.ends if end is not None]
    spans = zip(bounds.ends[0::2], bounds.ends[1::2], strict=True)
    widths = [high - low for low, high in spans if low is not None and high is not None]
    # Powers of two, by their exponents: rounding down to one keeps the order, so each length is rounded by itself.
    lengths = [min(widths)] if widths else []
    spread = _exponent_below(noise)
    if bounds.bounded:
        spread = min(spread, _exponent_below((finite[-1] - finite[0]) * bounds.unit))
    narrowest = min((_exponent_below(width * bounds.unit) for width in lengths), default=spread)
    farthest = max((abs(end) for end in finite), default=0) * bounds.unit
    # A sensitivity is rounded up to whole steps: 2**-20 of it keeps that below a millionth.
    of_sensitivity = max(_exponent_below(sensitivity) - 20, spread - FINEST)
    exponent = min(spread - FINENESS, narrowest - 10, of_sensitivity)
    if farthest:
        coarsest = min(spread - COARSEST, narrowest - 4)
        exponent = max(exponent, min(_exponent_below(farthest) - 52, coarsest))
    step = Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
    if farthest > step * 2**53:
        narrow = rounded(lengths[0] * bounds.unit if lengths else noise, 6)
        raise LatticeTooFine(
            f"bounds as far from zero as {rounded(farthest, 6)} leave doubles no room for a step well below a noise of "
            f"about {rounded(noise, 6)} and below the narrowest span, {narrow}; give the bounds a step"
        )
    return step


def _exponent_below(limit: Fraction) -> int:
    """Return the exponent of the greatest power of two that is at most this."""
    numerator, denominator = limit.numerator, limit.denominator
    exponent = numerator.bit_length() - denominator.bit_length()
    reached = numerator >= denominator << exponent if exponent >= 0 else numerator << -exponent >= denominator
    return exponent if reached else exponent - 1
