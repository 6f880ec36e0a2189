"""What lies below each span of a law, and of its mirror image, as a draw needs it.

Drawing upwards is drawing downwards in a mirror, so there is only one direction to get right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import arb

from inbounds.bounds.index_span import IndexSpan
from inbounds.exact.balls import ball, lock, workprec
from inbounds.privacy.law import Law
from inbounds.privacy.loss import FloatMasses

Ints = tuple[int, ...]

HEAD_START = 64
"""Scales added to every distance and divided out beforehand: the small numbers that occur near an end would be quicker
to compute with than others."""


@dataclass(frozen=True, eq=False)
class LowerTail:
    """What lies below each span of a law, or of its mirror image, in balls of one precision."""

    lows: Ints
    highs: Ints
    rate: arb
    head_start: int
    missing: list[arb]
    """The mass missing below each span, seen from its lower end; with the head start."""
    beyond: list[arb]
    """The mass of all spans below each span, seen from its lower end; with the head start."""
    keys: list[float]
    """Rising: the logarithm of all mass up to the upper end of each span, seen from index 0.  Approximate."""

    def mass_seen(self, centre: int, masses: list[arb], span: int) -> arb:
        """Return a mass that stands at the lower end of a span as seen from `centre`, which is not below it."""
        return ((self.lows[span] - self.head_start - centre) * self.rate).exp() * masses[span]

    def clip(self, span: int, index: int) -> int:
        """Return the index of a span that is nearest to an index."""
        return IndexSpan(self.lows[span], self.highs[span]).clip(index)


def lower_tails(law: Law, bits: int) -> tuple[LowerTail, LowerTail]:
    """Return the law seen downwards, and the mirrored law seen downwards."""
    masses, lattice = law.masses(bits), law.lattice
    mirrored_lows, mirrored_highs = (tuple(-n for n in reversed(e)) for e in (lattice.high_list, lattice.low_list))
    down_keys, up_keys = _keys(law)
    head_start = int(HEAD_START / law.rate) | 1
    with lock(), workprec(bits):
        # Masses are multiplied by what the head start divides by again, so that they stay what they were.
        undo = (head_start * masses.rate).exp()
        outer = ball(law.pooling) * masses.q

        def tail(lows: Ints, highs: Ints, missing: list[arb], extra: list[arb], keys: list[float]) -> LowerTail:
            beyond = [(masses.q - m - e) * undo for m, e in zip(missing, [outer, *extra], strict=True)]
            return LowerTail(lows, highs, masses.rate, head_start, [m * undo for m in missing], beyond, keys)

        return (
            tail(lattice.low_list, lattice.high_list, masses.left, masses.extra, down_keys),
            tail(mirrored_lows, mirrored_highs, masses.right[::-1], masses.extra[::-1], up_keys),
        )


def _keys(law: Law) -> tuple[list[float], list[float]]:
    if len(law.lattice) == 1:
        return [0.0], [0.0]
    masses = FloatMasses(law.lattice, float(law.rate), float(law.pooling))
    down = np.log(masses.up_to_high()) + masses.rate * law.lattice.highs
    up = np.log(masses.down_to_low()) - masses.rate * law.lattice.lows
    return down.tolist(), up[::-1].tolist()
