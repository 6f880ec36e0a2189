"""Many exact draws at once.

Each draw inverts the distribution function at a uniform number, like a single draw, and of the same 64 random bits.
Floating point only proposes: a proposal stands if every number within an error bound of the one computed would have
led to the same index.  The bound covers the rounding of every operation, with exp and log up to 4 units in the last
place off (numpy and the C libraries claim 1; seen: below 1), several times over.  What doubles do not settle is
proposed again in the platform's extended precision, if it has one, and what is left is decided in ball arithmetic
(docs/sampling.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.lattice import FAR
from inbounds.law import Law
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.one import Sampler
from inbounds.sampling.rungs import OneSpan, Rung, Spans

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[Any]  # int64, or float64 holding integers

CHUNK = 1 << 14
"""Draws at a time: small enough for the temporary arrays to stay in the processor's cache."""


class ArraySampler:
    """Draws from a law, for arrays of centres."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._rungs = _ladder(sampler.law)

    def draw(self, centres: Indices, spans: NDArray[np.intp], entropy: Entropy) -> Indices:
        """Return one independent draw for each feasible centre, each by the exact law of `Sampler.draw`.

        `centres` is a flat array of int64, or of float64 that hold integers; the result is of the same kind.  An
        index beyond ±2**62 comes back as that; no law that is accepted has it more than once in e**1000 draws.
        """
        drawn = np.empty_like(centres)
        for start in range(0, len(centres), CHUNK):
            part = slice(start, start + CHUNK)
            words = np.frombuffer(entropy(8 * len(centres[part])), dtype="<u8")
            drawn[part] = self._draw_chunk(words, centres[part], spans[part], entropy)
        return drawn

    def _draw_chunk(
        self, words: NDArray[np.uint64], centres: Indices, spans: NDArray[np.intp], entropy: Entropy
    ) -> Indices:
        drawn, settled = self._rungs[0].propose(words, centres, spans)
        rest = np.flatnonzero(~settled)
        for rung in self._rungs[1:]:
            drawn[rest], settled = rung.propose(words[rest], centres[rest], spans[rest])
            rest = rest[~settled]
        for i in rest.tolist():
            exact = self._sampler.extend(int(centres[i]), int(spans[i]), int(words[i]), 64, entropy)
            drawn[i] = max(-FAR, min(FAR, exact)) if drawn.dtype == np.int64 else exact
        return drawn


def _ladder(law: Law) -> list[Rung]:
    """Return the ways to propose a draw, quickest first."""
    kinds: list[type[np.floating[Any]]] = [np.float64]
    if np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant:
        kinds.append(np.longdouble)
    rung = OneSpan if OneSpan.suits(law) else Spans
    return [rung(law, kind) for kind in kinds]
