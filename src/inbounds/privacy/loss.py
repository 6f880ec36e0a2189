"""Masses and the privacy loss on many pairs at once, in doubles: fast enough to search with, never trusted for a proof.

The masses are sums of positive terms only, by one recurrence from the left and one from the right (docs/mathematics.md,
"Masses without cancellation"), so nothing cancels when the noise is far wider than the bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inbounds.bounds.lattice import Lattice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.privacy.guarantee import Pairs

    Floats = NDArray[np.float64]


class FloatMasses:
    """Masses beside every span, in doubles, in units in which an ordinary index has mass `1 - q`."""

    @np.errstate(under="ignore")  # whatever the caller has set
    def __init__(self, lattice: Lattice, rate: float, pooling: float) -> None:
        self.lattice, self.rate = lattice, rate
        self.q, self.single = float(np.exp(-rate)), float(-np.expm1(-rate))
        # The same masses as in `law.Masses`, counted as what is there instead of what is missing: sums of positive
        # terms.
        gaps = lattice.gaps.astype(float)
        lengths = lattice.lengths.astype(float) + 1
        across = np.exp(-(gaps + 1) * rate)
        extra = pooling * self.q * -np.expm1(-gaps * rate) / (1 + across)
        self.through = np.exp(-(lengths - 1) * rate)
        self.inside = -np.expm1(-lengths * rate)
        outer = pooling * self.q
        self.extra_low = np.concatenate([[0.0 if lattice.unbounded_below else outer], extra])
        self.extra_high = np.concatenate([extra, [0.0 if lattice.unbounded_above else outer]])
        self.across = across
        self.outside_left = linear_scan(
            across * self.through[:-1],
            self.extra_low[1:] + across * (self.inside + self.extra_high)[:-1],
            self.extra_low[0],
        )
        self.outside_right = linear_scan(
            (across * self.through[1:])[::-1],
            (self.extra_high[:-1] + across * (self.inside + self.extra_low)[1:])[::-1],
            self.extra_high[-1],
        )[::-1]

    @np.errstate(under="ignore")
    def left(self, indices: NDArray[np.int64], spans: NDArray[np.intp]) -> Floats:
        """Return the mass below each feasible index, with what is pooled at the lower end of its span."""
        exponent = self.lattice.below(indices, spans) * -self.rate
        return np.exp(exponent) * self.outside_left[spans] - self.q * np.expm1(exponent)

    @np.errstate(under="ignore")
    def right(self, indices: NDArray[np.int64], spans: NDArray[np.intp]) -> Floats:
        """Return the mass above each feasible index, with what is pooled at the upper end of its span."""
        exponent = self.lattice.above(indices, spans) * -self.rate
        return np.exp(exponent) * self.outside_right[spans] - self.q * np.expm1(exponent)

    def z(self, indices: NDArray[np.int64], spans: NDArray[np.intp]) -> Floats:
        """Return `Z` at feasible indices."""
        return self.single + self.left(indices, spans) + self.right(indices, spans)

    @np.errstate(under="ignore")
    def up_to_high(self) -> Floats:
        """Return all mass up to the upper end of each span, seen from there."""
        return self.inside + self.through * self.outside_left + self.extra_high

    @np.errstate(under="ignore")
    def down_to_low(self) -> Floats:
        """Return all mass from the lower end of each span on, seen from there."""
        return self.inside + self.through * self.outside_right + self.extra_low


def float_losses(lattice: Lattice, pairs: Pairs, rate: float, pooling: float) -> Floats:
    """Return the loss of each pair, divided by the epsilons it is allowed."""
    masses = FloatMasses(lattice, rate, pooling)
    distance = abs(pairs.first - pairs.second).astype(float)
    ratio = masses.z(pairs.first, pairs.first_span) / masses.z(pairs.second, pairs.second_span)
    loss = rate * distance + abs(np.log(ratio))
    return loss if pairs.allowance is None else loss / (float(pairs.allowance) * distance)


def linear_scan(factors: Floats, terms: Floats, first: float) -> Floats:
    """Return `x` with `x[0] = first` and `x[i+1] = factors[i] * x[i] + terms[i]`.

    Runs of about sqrt(n) elements go through the recurrence side by side, then each run's start is carried in.
    """
    # sqrt(n) runs of sqrt(n) elements: two loops of that length over arrays, instead of one of length n over numbers.
    n = len(factors)
    width = int(n**0.5) + 1
    a, b = np.zeros((2, width * width))
    a[:n], b[:n] = factors, terms
    product, x = a.reshape(width, width).T.copy(), b.reshape(width, width).T.copy()
    for i in range(1, width):
        x[i] += product[i] * x[i - 1]
        product[i] *= product[i - 1]
    carried, carry = np.empty(width), first
    for run in range(width):
        carried[run] = carry
        carry = product[-1, run] * carry + x[-1, run]
    return np.concatenate([[first], (x + product * carried).T.ravel()[:n]])
