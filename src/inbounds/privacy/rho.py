"""Rho, of zero-concentrated privacy: what a release costs in it, and how much of it a budget (epsilon, delta) allows.

A release has `rho` if its Rényi divergence between neighbours is at most `alpha * rho` for every order `alpha > 1`, in
both directions.  Rhos of releases add up, also if each is chosen by the answers before.  Every bound here is the end of
a ball, rounded so that what is promised holds; the proofs are in docs/proofs.md, under "A budget that lasts longer".
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

from flint import arb

from inbounds.exact.balls import ball, lock, lower, upper, workprec

BITS = 256

HALVINGS = 60
"""So often is the stretch halved in which the best order lies; what is lost is far below any unit."""

FARTHEST = 80
"""The best order less 1 is looked for between two to the minus this and two to this."""


@lru_cache(maxsize=4096)
def pure(epsilon: Fraction) -> Fraction:
    """Return at least `epsilon * tanh(epsilon / 2)`, the rho of whatever loses at most epsilon."""
    with lock(), workprec(BITS):
        return upper(ball(epsilon) * (ball(epsilon) / 2).tanh())


def pure_in_parts(epsilon: Fraction, parts: Iterable[Fraction]) -> Fraction:
    """Return at least the rho of releases that lose at most their parts, which add up to epsilon."""
    return min(sum(map(pure, parts), Fraction(0)), pure(epsilon))


def bounded_range(epsilon: Fraction) -> Fraction:
    """Return the rho of a release whose loss has a range of epsilon: its greatest and least value differ by no more.

    So it is for the exponential mechanism.  Such a loss is at most epsilon too.
    """
    return min(epsilon * epsilon / 8, pure(epsilon))


@lru_cache(maxsize=1024)
def greatest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return nearly the greatest rho that implies (epsilon, delta), and never more than that; 0 if epsilon is 0.

    By the conversion of Canonne, Kamath & Steinke (2020): rho does if for some order `alpha = 1 + b`

        (alpha - 1) (alpha rho - epsilon) + alpha ln(1 - 1/alpha) - ln(alpha - 1) <= ln delta.

    Every order proves what it allows, so how the best one was found need not be trusted.
    """
    if epsilon <= 0:
        return Fraction(0)
    with lock(), workprec(BITS):
        # Double until the best order is passed, then halve the stretch it lies in.
        least = Fraction(1, 2**FARTHEST)
        while least < 2**FARTHEST and _is_below_best(2 * least, epsilon, delta):
            least *= 2
        width = least
        for _ in range(HALVINGS):
            width /= 2
            if _is_below_best(least + width, epsilon, delta):
                least += width
        return max(Fraction(0), lower(_allowed_rho(least, epsilon, delta)))


def _allowed_rho(b: Fraction, epsilon: Fraction, delta: Fraction) -> arb:
    """Return the greatest rho that the order `1 + b` proves to imply (epsilon, delta)."""
    excess, order = ball(b), ball(1 + b)
    return (ball(epsilon) + (ball(delta).log() + order * order.log() - excess * excess.log()) / excess) / order


def _is_below_best(b: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Return whether what an order proves still rises with the order; it rises up to the best one, and falls beyond."""
    slope = ball(1 + 2 * b) * _allowed_rho(b, epsilon, delta) - ball(epsilon) - (ball(1 + b) / ball(b)).log()
    return bool(slope < 0)
