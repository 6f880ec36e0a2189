"""The law of a release: `P_m(k) = q^|k-m| * w_k / Z(m)` over the feasible indices `k`, described exactly.

Masses are counted in units in which a single ordinary index has mass `1 - q`, so the whole line has mass `1 + q` seen
from anywhere.  Each end of a gap carries extra weight, `pooling` times what would make up for the gap; all that a gap
then takes away from `Z` is `1 - pooling` times its own mass.  Hence, seen from an index `m` of span `i`,

    Z(m) = 1 + q - q^(m - low_i) * left_i - q^(high_i - m) * right_i

where `left_i` is the mass missing to the left of span `i`, seen from its lower end, times `1 - pooling`, and `right_i`
its mirror image.  Both follow from one pass over the spans (docs/mathematics.md, "Missing mass").
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from flint import arb

from inbounds.bounds.lattice import Lattice
from inbounds.exact.balls import ball, lock, workprec

PRECISION = 128
"""Bits for proofs and for a first attempt at a draw."""


class Masses:
    """The law's constants and the missing mass beside every span, as balls of one precision."""

    __slots__ = ("_endless_below", "across", "bits", "extra", "left", "q", "rate", "right", "through", "total")

    def __init__(self, law: Law, bits: int) -> None:
        lattice = law.lattice
        self.bits, self._endless_below = bits, lattice.unbounded_below
        with lock(), workprec(bits):
            self.rate = ball(law.rate)
            self.q = self.power(1)
            self.total = 1 + self.q
            # From one end of a span to the other, and from one end of a gap to the other.
            self.through = [self.power(high - low) for low, high in lattice.spans]
            self.across = [self.power(gap + 1) for gap in lattice.gaps.tolist()]
            self._add_up_missing(law)

    def _add_up_missing(self, law: Law) -> None:
        # From left to right: what is missing below a span is the gap beside it, and what is missing below the span
        # before that, faded across that span and the gap.  From right to left likewise.
        pooling = ball(law.pooling)
        outer, through, across = self.q * (1 - pooling), self.through, self.across
        gaps = [self.q - power for power in across]  # the mass of each gap, seen from either end
        unpooled = gaps if law.pooling == 0 else [gap * (1 - pooling) for gap in gaps]
        self.left = [arb(0) if law.lattice.unbounded_below else outer]
        for i, gap in enumerate(unpooled):
            self.left.append(gap + across[i] * through[i] * self.left[-1])
        self.right = [arb(0) if law.lattice.unbounded_above else outer]
        for i in range(len(unpooled) - 1, -1, -1):
            self.right.append(unpooled[i] + across[i] * through[i + 1] * self.right[-1])
        self.right.reverse()
        # What is pooled at either end of each inner gap.
        self.extra = [arb(0)] * len(gaps)
        if law.pooling:
            self.extra = [pooling * gap / (1 + power) for gap, power in zip(gaps, across, strict=True)]

    def power(self, distance: int) -> arb:
        """Return `q ** distance`."""
        return (-distance * self.rate).exp()

    def z_at_low(self, span: int) -> arb:
        """Return `Z` at the lower end of a span."""
        return self.total - self.left[span] - self.through[span] * self.right[span]

    def z_at_high(self, span: int) -> arb:
        """Return `Z` at the upper end of a span."""
        return self.total - self.through[span] * self.left[span] - self.right[span]

    def z(self, below: int, above: int, span: int) -> arb:
        """Return `Z` so far above the lower end of a span and below the upper one, if it has both."""
        if span == 0 and self._endless_below:
            return self.total - self.power(above) * self.right[span]
        fade = self.power(below)
        return self.total - fade * self.left[span] - self.through[span] / fade * self.right[span]


@dataclass(frozen=True, eq=False)
class Law:
    """Truncated discrete Laplace laws with one rate, one for each feasible centre."""

    lattice: Lattice
    rate: Fraction
    """`step / scale`, so that `q = exp(-rate)`."""
    pooling: Fraction
    _masses: dict[int, Masses] = field(default_factory=dict, repr=False)

    @cached_property
    def constant(self) -> bool:
        """Whether `Z` is the same for every centre, because nothing is missing or all of it is pooled."""
        nothing_missing = len(self.lattice) == 1 and self.lattice.unbounded_below and self.lattice.unbounded_above
        return self.pooling == 1 or nothing_missing

    def masses(self, bits: int = PRECISION) -> Masses:
        """Return the masses at a precision, computed once."""
        masses = self._masses.get(bits)
        if masses is None:
            masses = self._masses[bits] = Masses(self, bits)
        return masses
