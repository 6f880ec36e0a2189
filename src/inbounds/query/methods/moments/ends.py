"""How small and how large a statistic can be if each of the sums behind it lies in its interval.

`docs/proofs.md` has the reasons.  Everything is in parts of the range, and for many groups at once: sums are arrays
with one row for each group, ends are pairs of them.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Ends = tuple[Numbers, Numbers]

HALVINGS = 40
"""Rounds of a search that leaves two thirds each time: 1e-7 of the range."""


def share_ends(above: Ends, below: Ends) -> Ends:
    """Return where `above / (above + below)` lies: it rises with one and falls with the other."""
    return _share(above[0], below[1], 0.0), _share(above[1], below[0], 1.0)


def variance_ends(sums: tuple[Ends, Ends, Ends]) -> Ends:
    """Return where the variance lies, from the sums of `(1 - u)^2`, `2u(1 - u)` and `u^2`.

    It is the least mean of `(u - c)^2` over all `c`, and for each `c` that mean is a ratio of linear functions of the
    sums, so that its extremes are at corners.  The least over everything is the least of the variances at the corners.
    Any `c` gives an upper end; a search finds the best.
    """
    # The least at the corners of the box; then search for the c whose greatest mean over the corners is least.
    corners = [tuple(side[i] for side, i in zip(sums, at, strict=True)) for at in product((0, 1), repeat=3)]
    variances = [_variance(*corner) for corner in corners]
    low = np.clip(np.min(variances, axis=0), 0.0, 0.25)

    def most(c: Numbers) -> Numbers:
        return np.max([_about(c, *corner) for corner in corners], axis=0)

    left, right = np.zeros_like(low), np.ones_like(low)
    for _ in range(HALVINGS):
        first, second = left + (right - left) / 3, right - (right - left) / 3
        falls = most(first) > most(second)
        left, right = np.where(falls, first, left), np.where(falls, right, second)
    high = np.minimum(most((left + right) / 2), most(np.full_like(low, 0.5)))
    return low, np.clip(high, low, 0.25)


def covariance_ends(both: Ends, first: Ends, second: Ends, none: Ends) -> Ends:
    """Return where the covariance lies, from the sums of `uv`, `u(1 - v)`, `(1 - u)v` and `(1 - u)(1 - v)`."""
    high = _most(both, none, first, second)
    return -_most(first, second, both, none), high


def correlation_ends(covariance: Ends, first: Ends, second: Ends) -> Ends:
    """Return where the correlation lies if the covariance and both variances lie in their intervals."""
    least, most = np.sqrt(first[0] * second[0]), np.sqrt(first[1] * second[1])
    low = np.where(covariance[0] < 0, _part(covariance[0], least), _part(covariance[0], most))
    high = np.where(covariance[1] > 0, _part(covariance[1], least), _part(covariance[1], most))
    return np.clip(low, -1, 1), np.clip(high, -1, 1)


def _share(above: Numbers, below: Numbers, nothing: float) -> Numbers:
    together = above + below
    return np.where(together > 0, above / np.where(together > 0, together, 1), nothing)


def _variance(below: Numbers, between: Numbers, above: Numbers) -> Numbers:
    together = below + between + above
    return (below * above - between**2 / 4) / np.where(together > 0, together, 1) ** 2


def _about(c: Numbers, below: Numbers, between: Numbers, above: Numbers) -> Numbers:
    """Return the mean of `(u - c)^2`; of no rows, the most that it can be."""
    together = below + between + above
    about = (below * c**2 - between * c * (1 - c) + above * (1 - c) ** 2) / np.where(together > 0, together, 1)
    return np.where(together > 0, about, np.maximum(c**2, (1 - c) ** 2))


def _most(x: Ends, y: Ends, z: Ends, w: Ends) -> Numbers:
    """Return the most of `(xy - zw) / (x + y + z + w)^2`.

    Where it is positive, it falls with `z` and `w`, and along `x` it rises until `y + z + w + 2zw/y` and falls then;
    one of `x` and `y` is at its upper end at the most.  Where it is negative everywhere, it is least in size at the
    upper ends of `x` and `y`, and at an end of `z` and of `w`.
    """
    # The most where it is positive; the most where it is negative everywhere; else it is 0 somewhere in the box.
    positive = np.maximum(_crossed(x, y, z[0], w[0]), _crossed(y, x, z[0], w[0]))
    negative = np.max([_cross(x[1], y[1], z[i], w[j]) for i, j in product((0, 1), repeat=2)], axis=0)
    is_negative = x[1] * y[1] < z[0] * w[0]
    return np.clip(np.where(positive > 0, positive, np.where(is_negative, negative, 0.0)), -0.25, 0.25)


def _crossed(x: Ends, y: Ends, z: Numbers, w: Numbers) -> Numbers:
    """Return the value at the upper end of `y` and the best `x`."""
    best = y[1] + z + w + 2 * z * w / np.where(y[1] > 0, y[1], 1)
    return _cross(np.clip(best, x[0], x[1]), y[1], z, w)


def _cross(x: Numbers, y: Numbers, z: Numbers, w: Numbers) -> Numbers:
    together = x + y + z + w
    return (x * y - z * w) / np.where(together > 0, together, 1) ** 2


def _part(covariance: Numbers, deviations: Numbers) -> Numbers:
    return np.where(deviations > 0, covariance / np.where(deviations > 0, deviations, 1), np.sign(covariance))
