"""The scale of a location beside a single infinite constraint, from the Lambert W function (Lemma 2 of the paper).

In plain scales (sensitivity / epsilon): a location `x` from the border has the scale `s(x)`, and so lies `t = x / s(x)`
scales of its own from it, with

    s(x) * (2 e^t - 1) = c e^x,        c = s(0) = -1 / (e W(-1/(2e))) = 1.58595...

The principal branch of W belongs to `x < 1` and the branch -1 to `x > 1`; they meet at `x = 1`, where `t` is
`1 + W(-1/(2e))`.

Everything here is computed in balls of the precision that is set; call it under the lock.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from flint import arb

from inbounds.exact.balls import ball, precision


def w_at_border() -> arb:
    """Return `W(-1/(2e))`, about -0.232."""
    return _at_border(precision())[0]


def scale_at_border() -> arb:
    """Return `c`, the scale at the border in plain scales (Formula 32): as `W e^W = -1/(2e)`, that is `2 e^W`."""
    return _at_border(precision())[1]


@cache
def _at_border(_bits: int) -> tuple[arb, arb]:
    """Return both, once for each precision."""
    w = (-arb(-1).exp() / 2).lambertw()
    return w, 2 * w.exp()


def depth(position: Fraction, branch: int | None = None) -> arb:
    """Return `t` at `x`: how many scales of its own a location is from the border (Formulas 30, 31 and 33).

    On the branch of W that the paper takes, or on another one.  The argument of W is exactly -1/e at `x = 1`, which is
    decided in rationals, and above that everywhere else.
    """
    if position == 0:
        return arb(0)
    if position == 1:
        return 1 + w_at_border()
    x = ball(position)
    return depth_from(x * (-x).exp() / scale_at_border(), (0 if position < 1 else -1) if branch is None else branch)


def depth_from(u: arb, branch: int) -> arb:
    """Return `t` from `u = t / (2 e^t - 1)`, on a branch of W."""
    return -(-2 * u * (-u).exp()).lambertw(branch) - u
