"""Proposals for many draws in floating point, with the error bounds that say which of them stand."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from flint import arb

from inbounds.bounds.index_span import ends_by_dtype
from inbounds.exact.balls import ball, lock, workprec
from inbounds.privacy.law import PRECISION, Law

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floating = type[np.floating[Any]]
    Proposal = tuple[NDArray[Any], NDArray[np.bool_]]


EXACT = {np.dtype(np.int64): 2.0**62, np.dtype(np.float64): 2.0**53}
"""Distances from here on cannot be added to centres without rounding, which would tell something of the centre."""


LEAST_EXPONENT = -600.0
"""Exponents below this are raised to it, so that nothing underflows, which would take longer."""

WHOLE_ENOUGH = 0.5
"""Where a step is more than twice the scale, doubts count as if it were twice: so near to either end of the line that
errors are as large as what is left, nothing is settled."""


class Proposals(Protocol):
    """One way to propose draws."""

    def propose(self, words: NDArray[np.uint64], centres: NDArray[Any], spans: NDArray[np.intp]) -> Proposal:
        """Return an index for each centre, and whether it is certainly the one that the exact law draws."""


class OneSpanProposals:
    """Proposals on a single span that is not narrow against the noise: two exponentials and a logarithm a draw.

    Error bound: the position is a sum of a few terms of size at most 2, each off by at most a few units of 2^-p (4 for
    an exponential, 1 for its exponent, 1 for the constant; 1 for each product and sum; 1 for the bits not looked at),
    and the logarithm and the division add less than 4 / position: together under 24 (docs/sampling.md adds them up).
    32 units are allowed for.
    """

    ALLOWED = 5

    def __init__(self, law: Law, kind: Floating) -> None:
        masses, lattice = law.masses(), law.lattice
        self._kind, self._bits = kind, bits_of(kind)
        self._ends = lattice.ends
        with lock(), workprec(PRECISION):
            self.rate = number(-masses.rate, kind)
            self.per_rate = number(-1 / masses.rate, kind)
            self.left, self.right = number(masses.left[0], kind), number(masses.right[0], kind)
            self.total = number(masses.total, kind)
            self.doubt = max(-self.per_rate, kind(WHOLE_ENOUGH)) * kind(2) ** (self.ALLOWED - self._bits)

    @staticmethod
    def suits(law: Law) -> bool:
        """Whether there is one span, and no centre from which most of the mass is missing."""
        masses = law.masses()
        with lock(), workprec(PRECISION):
            return len(law.lattice) == 1 and bool(masses.z_at_low(0) > 0.25)

    @np.errstate(all="ignore")  # beside the words 0 and 2**64 - 1 there are zeros and infinities, never settled
    def propose(self, words: NDArray[np.uint64], centres: NDArray[Any], spans: NDArray[np.intp]) -> Proposal:
        """Return an index for each centre, and whether it is certainly the one that the exact law draws."""
        uniform = uniform_numbers(words, self._kind, self._bits)
        lows, highs = self._ends[centres.dtype]
        # Invert as if nothing were cut off: the uniform number is stretched over the mass that is there, moved up by
        # what is missing on the left, and its distance from the centre read off the untruncated law.  Buffers are used
        # again.
        left = self._missing(apart(centres, lows, self._kind), self.left)
        right = self._missing(apart(highs, centres, self._kind), self.right)
        position = self.total - left
        position -= right
        position *= uniform
        position += left
        mirrored = np.subtract(self.total, position, out=right)
        nearer = np.minimum(position, mirrored, out=left)
        side = np.subtract(position, mirrored, out=position)
        whole, settled = whole_steps(nearer, self.per_rate, self.doubt, EXACT[centres.dtype], mirrored)
        drawn = move(centres, np.copysign(whole, side, out=whole))
        return np.clip(drawn, lows, highs, out=drawn), settled

    def _missing(self, distance: NDArray[Any], mass: Any) -> NDArray[Any]:
        exponent = np.multiply(distance, self.rate, dtype=self._kind)
        np.maximum(exponent, LEAST_EXPONENT, out=exponent)
        np.exp(exponent, out=exponent)
        exponent *= mass
        return exponent


def whole_steps(
    mass: NDArray[Any], per_rate: Any, doubt: Any, exact: float, out: NDArray[Any] | None = None
) -> Proposal:
    """Return how many steps off a draw is, from its mass to the nearer end of the line, and whether that is certain.

    What is passed in is overwritten.
    """
    distance = np.log(mass, out=out)
    distance *= per_rate
    whole = np.floor(distance)
    distance -= whole
    distance -= 0.5
    np.abs(distance, out=distance)
    distance += np.divide(doubt, mass, out=mass)
    return whole, (distance < 0.5) & (whole < exact)


class GeneralProposals:
    """Proposals on any spans, from sums of positive terms, so that nothing cancels however narrow the spans are.

    Error bound: every quantity below is computed with a small relative error, so the index found is the right one for a
    uniform number at most 1024 units of 2^-p away; it stands if so much less and so much more lead to the same, for
    inverting is monotone.  docs/sampling.md adds up the errors.
    """

    ALLOWED = 10

    @np.errstate(all="ignore")
    def __init__(self, law: Law, kind: Floating) -> None:
        masses, lattice, n = law.masses(2 * PRECISION), law.lattice, len(law.lattice)
        self._kind, self._bits, self._n = kind, bits_of(kind), n
        self._tau = kind(2) ** (self.ALLOWED - self._bits)
        with lock(), workprec(2 * PRECISION):  # much of it cancels below, where gaps are wide against the noise
            self._rate, self._q = number(masses.rate, kind), number(masses.q, kind)
            self._single = number(-(-masses.rate).expm1(), kind)
            outer = ball(law.pooling) * masses.q
            below = (masses.q - missing for missing in chain(masses.left, reversed(masses.right)))
            pooled = chain(masses.extra, [outer], reversed(masses.extra), [outer])
            self._below, self._pooled = numbers(below, kind), numbers(pooled, kind)
        # Downwards first, then the mirror image.
        lows = np.concatenate([lattice.lows, -lattice.highs[::-1]])
        highs = np.concatenate([lattice.highs, -lattice.lows[::-1]])
        self._ends = ends_by_dtype(lows, highs)
        lengths = np.multiply(np.concatenate([lattice.lengths, lattice.lengths[::-1]]), self._rate, dtype=kind)
        self._whole = -np.expm1(-lengths - self._rate) + np.exp(-lengths) * self._below + self._pooled
        self._log_whole = np.log(self._whole)
        self._keys = (self._log_whole[:n] + self._rate * highs[:n], self._log_whole[n:] + self._rate * highs[n:])

    @np.errstate(all="ignore")
    def propose(self, words: NDArray[np.uint64], centres: NDArray[Any], spans: NDArray[np.intp]) -> Proposal:
        """Return an index for each centre, and whether it is certainly the one that the exact law draws."""
        uniform = uniform_numbers(words, self._kind, self._bits)
        # Twice, for the least and the greatest number that the uniform one may be: inverting is monotone, so if both
        # lead to one index, everything between does.
        left = self._mass(centres, spans)
        right = self._mass(-centres, 2 * self._n - 1 - spans) + self._single
        least, certain = self._invert(uniform - self._tau, centres, spans, left, right)
        most, too = self._invert(uniform + self._tau, centres, spans, left, right)
        inside = (uniform > self._tau) & (uniform < 1 - self._tau)
        return least, (least == most) & certain & too & inside

    def _mass(self, centres: NDArray[Any], spans: NDArray[np.intp]) -> NDArray[Any]:
        """Return the mass of all that lies below each centre."""
        lows, _ = self._ends[centres.dtype]
        exponent = np.multiply(apart(lows[spans], centres, self._kind), self._rate, dtype=self._kind)
        return np.exp(exponent) * self._below[spans] - self._q * np.expm1(exponent)

    def _invert(
        self,
        uniform: NDArray[Any],
        centres: NDArray[Any],
        spans: NDArray[np.intp],
        left: NDArray[Any],
        right: NDArray[Any],
    ) -> Proposal:
        """Return the index at which the distribution function passes each number, and whether its span is certain."""
        lows, highs = self._ends[centres.dtype]
        # Below the centre count from the lower end of the line, above it from the upper one: the smaller mass has the
        # smaller error.  Both sides are one computation, with signs and spans mirrored.
        mass = uniform * (left + right)
        down = mass < left
        depth = np.abs(mass - left)
        outside = np.where(down, mass, left + right - mass)
        centre = np.where(down, centres, -centres)
        own = np.where(down, spans, 2 * self._n - 1 - spans)
        target, certain = self._span(np.log(outside), centre, own, down)
        # From the centre down within its own span, or else from the upper end of the span that was reached.
        stays = target == own
        high = highs[target]
        beyond = np.multiply(apart(centre, high, self._kind), self._rate, dtype=self._kind)
        reached = np.exp(np.log(outside) + beyond)
        from_centre = np.where(down, depth / self._q, depth)
        beneath = np.where(stays, from_centre, self._whole[target] - reached - self._pooled[target])
        distance = np.floor(np.log1p(-np.clip(beneath, 0, 1)) / -self._rate)
        distance += stays & down
        drawn = np.clip(move(np.where(stays, centre, high), -distance), lows[target], highs[target])
        return np.where(down, drawn, -drawn), certain & (distance < EXACT[centres.dtype])

    def _span(
        self, logarithm: NDArray[Any], centre: NDArray[Any], own: NDArray[np.intp], down: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the span in which each mass is reached, counted from outside, and whether that is certain."""
        if self._n == 1:
            return own, np.ones(own.shape, dtype=bool)
        key = logarithm + centre * self._rate
        first = np.where(down, 0, self._n)
        guess = np.where(down, np.searchsorted(self._keys[0], key), self._n + np.searchsorted(self._keys[1], key))
        target = np.clip(guess, first, own)
        for _ in range(2):  # the keys of far spans are coarse: look again from near by
            too_low = (target < own) & (self._key(target, centre) < logarithm)
            too_high = (target > first) & (self._key(target - 1, centre) >= logarithm)
            moved = too_low.astype(np.intp) - too_high
            target = target + moved
        return target, moved == 0

    def _key(self, span: NDArray[np.intp], centre: NDArray[Any]) -> NDArray[Any]:
        """Return the logarithm of all mass up to the upper end of a span, seen from the centre."""
        _, highs = self._ends[centre.dtype]
        distance = apart(highs[span], centre, self._kind)
        return self._log_whole[span] + np.multiply(distance, self._rate, dtype=self._kind)


def apart(high: NDArray[Any], low: NDArray[Any], kind: Floating) -> NDArray[Any]:
    """Return the difference of indices: exact for integers, rounded once for floats."""
    return high - low if low.dtype == np.int64 else np.subtract(high, low, dtype=kind)


def kinds() -> list[Floating]:
    """Return the kinds of floats to propose in, quickest first: doubles, and what the platform has beyond them."""
    types: list[Floating] = [np.float64]
    if np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant:
        types.append(np.longdouble)
    return types


def bits_of(kind: Floating) -> int:
    """How many of a word's 64 bits a kind of float holds."""
    return min(64, np.finfo(kind).nmant + 1)


def uniform_numbers(words: NDArray[np.uint64], kind: Floating, bits: int) -> NDArray[Any]:
    """Return the middle of all numbers in [0, 1) that begin with the first bits of each word."""
    shifted = words >> np.uint64(64 - bits)
    uniform = (shifted.view(np.int64) if bits < 64 else shifted).astype(kind)
    uniform += 0.5
    uniform *= kind(2) ** -bits
    return uniform


NOTHING = arb((1, -180))
"""A mass below this is as good as none."""


class Imprecise(Exception):
    """A constant is not known well enough, because another thread changed python-flint's precision meanwhile."""


def number(ball_: arb, kind: Floating) -> Any:
    """Return a ball that encloses one number of a kind of float, and hardly more, as that."""
    return numbers([ball_], kind)[0]


def numbers(balls: Iterable[arb], kind: Floating) -> NDArray[Any]:
    """`number` of many balls."""
    balls = list(balls)
    if any(x.rel_accuracy_bits() < bits_of(kind) + 2 and not x.abs_upper() < NOTHING for x in balls):
        raise Imprecise
    heads = [float(x) for x in balls]
    if kind is np.float64:
        return np.array(heads)
    tails = [float(x - head) for x, head in zip(balls, heads, strict=True)]
    return np.array(heads, dtype=kind) + np.array(tails, dtype=kind)


def move(centres: NDArray[Any], distance: NDArray[Any]) -> NDArray[Any]:
    """Return `centres + distance` in the dtype of the centres."""
    if centres.dtype == np.int64:
        return centres + np.clip(distance, -(2.0**62), 2.0**62).astype(np.int64)
    return centres + distance.astype(np.float64, copy=False)
