"""Many exact draws at once.

Each draw inverts the distribution function at a uniform number, like a single draw, of 64 random bits.
Floating point only proposes: a proposal stands if every number within an error bound of the one computed would have
led to the same index.  The bound covers the rounding of every operation, with exp and log up to 4 units in the last
place off (numpy and the C libraries claim 1; seen: below 1).  What doubles do not settle is proposed again in the
platform's extended precision, if it has one, and what is left is decided in ball arithmetic (docs/sampling.md).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from inbounds.bounds.index_span import within_64_bits
from inbounds.privacy.law import Law
from inbounds.sampling.entropy import Entropy
from inbounds.sampling.proposals import GeneralProposals, Imprecise, OneSpanProposals, Proposals, kinds
from inbounds.sampling.reference import ReferenceSampler
from inbounds.sampling.union_proposals import UnionProposals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Indices = NDArray[Any]  # int64, or float64 holding integers

CHUNK = 1 << 15
"""Draws at a time."""

BLOCK = 1 << 13
"""Proposals at a time: few enough for the temporary arrays to stay in the processor's cache, and to be allocated anew
without asking the operating system."""

USUAL, USUALLY = 8, 256
"""Of a part of an array, so many draws and one in so many may be left over without taking longer."""

AHEAD = 8
"""Chunks for which random words are made ahead; smaller arrays are not worth a thread."""


class ArraySampler:
    """Draws from a law, for arrays of centres."""

    def __init__(self, law: Law) -> None:
        self._reference = ReferenceSampler(law)
        self._proposals = _proposals_of(law)

    def draw(self, words: NDArray[np.uint64], centres: Indices, spans: NDArray[np.intp], entropy: Entropy) -> Indices:
        """Return one independent draw for each feasible centre, each by the exact law of `ReferenceSampler.draw`.

        `words` are the first 64 bits of the uniform numbers, `entropy` is where more come from.  `centres` is a flat
        array of int64, or of float64 that hold integers; the result is of the same kind.  An int64 beyond ±FAR comes
        back as that; no law that is accepted has it more than once in e**250 draws.
        """
        if not self._proposals:
            drawn, rest = np.empty_like(centres), np.arange(len(centres))
        else:
            # 1. Propose everything in doubles, in blocks that fit the cache.
            # 2. Propose what is left in extended precision, padded so that how much it was does not show in the time.
            # 3. Decide what is left then, next to nothing, in balls.
            first, *others = self._proposals
            drawn, settled = np.empty_like(centres), np.empty(len(centres), dtype=np.bool_)
            for start in range(0, len(centres), BLOCK):
                block = slice(start, start + BLOCK)
                drawn[block], settled[block] = first.propose(words[block], centres[block], spans[block])
            rest = np.flatnonzero(~settled)
            for proposals in others:
                tried = pad(rest, len(centres))
                again, settled = proposals.propose(words.take(tried), centres.take(tried), spans.take(tried))
                drawn[rest], settled = again[: len(rest)], settled[: len(rest)]
                rest = rest[~settled]
        for i in rest.tolist():
            exact = self._reference.extend(int(centres[i]), int(spans[i]), int(words[i]), 64, entropy)
            drawn[i] = within_64_bits(exact) if drawn.dtype == np.int64 else exact
        return drawn


def pad(rest: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return what is left over of so many draws, filled up with the first of them to as many as are usually left over.

    How many there are depends a little on the answers; how long they take then does not, as long as they are no more.
    """
    missing = (USUAL + count // USUALLY if count else 0) - len(rest)
    return np.concatenate([rest, np.zeros(missing, dtype=np.intp)]) if missing > 0 else rest


def chunks(count: int, entropy: Entropy) -> Iterator[tuple[slice, NDArray[np.uint64]]]:
    """Yield what to draw at a time, with a random word for each draw.

    For large arrays a second thread asks the operating system for the next words meanwhile: it takes about as long to
    make random words as to use them.
    """
    starts = range(0, count, CHUNK) or [0]  # nothing to draw is one empty part
    parts = [slice(start, min(start + CHUNK, count)) for start in starts]

    def words(part: slice) -> NDArray[np.uint64]:
        return np.frombuffer(entropy(8 * (part.stop - part.start)), dtype="<u8")

    if len(parts) < AHEAD:
        yield from ((part, words(part)) for part in parts)
        return
    with ThreadPoolExecutor(1, "inbounds-entropy") as other:
        waiting = deque(other.submit(words, part) for part in parts[:AHEAD])
        for i, part in enumerate(parts):
            random_words = waiting.popleft().result()
            if i + AHEAD < len(parts):
                waiting.append(other.submit(words, parts[i + AHEAD]))
            yield part, random_words


def _proposals_of(law: Law) -> list[Proposals]:
    """Return the ways to propose a draw, quickest first."""
    try:
        if OneSpanProposals.suits(law):
            return [OneSpanProposals(law, kind) for kind in kinds()]
        if UnionProposals.suits(law):
            return [UnionProposals(law, kind) for kind in kinds()]
        return [GeneralProposals(law, kind) for kind in kinds()]
    except Imprecise:
        return []  # then every draw is made in balls, which notice by themselves
