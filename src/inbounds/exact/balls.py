"""Ball arithmetic at a chosen precision: the one place that touches python-flint's global settings.

A ball is a midpoint and a radius that encloses the real number meant (Johansson 2017, Arb).  Comparisons of balls are
true only when they hold for every pair of members, so a true comparison is a proof.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager
from fractions import Fraction

from flint import arb, ctx, fmpq

VAST = Fraction(2**1100)
"""Beyond all doubles."""

_lock = threading.RLock()


def _new_lock() -> None:
    """Give a forked child a lock of its own; the parent's may have been held by a thread that is gone."""
    global _lock  # noqa: PLW0603  a lock cannot be made anew in place
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


def lock() -> AbstractContextManager[bool]:
    """Return the lock to hold while computing with balls: `with lock(), workprec(bits):`.

    The precision is a global setting of python-flint.  Both context managers are compiled, so that an interrupt cannot
    come between taking and giving back.  A thread that changes the precision without the lock can make our balls wider,
    never wrong.
    """
    return _lock


workprec = ctx.workprec


def precision() -> int:
    """Return how many bits balls are computed with just now."""
    return ctx.prec


def ball(number: Fraction) -> arb:
    """Return a ball around a rational number, exact where the precision allows."""
    return arb(fmpq(number.numerator, number.denominator))


def upper(ball_: arb) -> Fraction:
    """Return the upper end of a ball, exactly; something vast for one that says nothing."""
    return _rational(ball_.upper()) if ball_.is_finite() else VAST


def lower(ball_: arb) -> Fraction:
    """Return the lower end of a ball, exactly; minus something vast for one that says nothing."""
    return _rational(ball_.lower()) if ball_.is_finite() else -VAST


def _rational(exact: arb) -> Fraction:
    mantissa, exponent = (int(part) for part in exact.mid().man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
