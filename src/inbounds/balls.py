"""Ball arithmetic at a chosen precision: the one place that touches python-flint's global settings.

A ball is a midpoint and a radius that encloses the real number meant (Johansson 2017, Arb).  Comparisons of balls are
true only when they hold for every pair of members, so a true comparison is a proof.
"""

from __future__ import annotations

import os
import threading
from fractions import Fraction

from flint import arb, ctx, fmpq

_lock = threading.RLock()


def _new_lock() -> None:
    """Give a forked child a lock of its own; the parent's may have been held by a thread that is gone."""
    global _lock  # noqa: PLW0603  a lock cannot be made anew in place
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)


class precision:
    """Compute with balls of this many bits, then restore what was set before.

    The setting is global in python-flint, hence the lock.  Another thread that changes it meanwhile can make our balls
    wider, never wrong.
    """

    __slots__ = ("_before", "_bits")

    def __init__(self, bits: int) -> None:
        self._bits = bits

    def __enter__(self) -> None:
        _lock.acquire()
        self._before = ctx.prec
        ctx.prec = self._bits

    def __exit__(self, *_: object) -> None:
        ctx.prec = self._before
        _lock.release()


def ball(number: Fraction) -> arb:
    """Return a ball around a rational number, exact where the precision allows."""
    return arb(fmpq(number.numerator, number.denominator))


def upper(ball_: arb) -> Fraction:
    """Return the upper end of a ball, exactly."""
    return _rational(ball_.upper())


def lower(ball_: arb) -> Fraction:
    """Return the lower end of a ball, exactly."""
    return _rational(ball_.lower())


def _rational(exact: arb) -> Fraction:
    mantissa, exponent = (int(part) for part in exact.mid().man_exp())
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
