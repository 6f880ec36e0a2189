"""A scale whose loss was proved to be small enough: on one span the least there is.

On one span the loss falls as the scale grows, so the search ends at the least scale.  On unions that is not proved, and
with trusted answers false: there the search ends at a scale that was proved, next to one that was not, and smaller ones
are looked at once more (docs/mathematics.md, "A loss that rises with the scale").
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from inbounds.errors import InvalidParameter, LatticeTooFine, NotPrivate
from inbounds.exact.rational import concise, round_up, rounded
from inbounds.privacy.certificate import Certificate, prove
from inbounds.privacy.claim import Claim, Promise
from inbounds.privacy.guarantee import Pairs
from inbounds.privacy.loss import float_losses
from inbounds.privacy.one_span import OneSpanLoss
from inbounds.privacy.scale_search import first_fall, least_safe

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOLERANCE = 2.0**-40
"""How near, relatively, the scale found is to one that was seen to be too small."""

MARGIN = 2.0**-44
"""A scale that was found in doubles by a closed form is raised by this, relatively, before it is proved."""

NOTHING = 2.0**-50
"""Where the ends add less than this to the loss, relatively, the plain scale is right but for a hair."""

LOOSE_TOLERANCE = 2.0**-22
"""The same where every evaluation is long: far below the one millionth that is promised."""

WIDEST_NOISE = 54
"""On unbounded bounds the scale may be two to this many steps."""

MANY_SPANS = 500
"""From here on a search in doubles narrows the range before anything is proved."""

WORST = 4096
"""So many pairs take part in the search in doubles, unless another turns out to be worse."""

RAISES = 32
"""How often a scale may be raised in search of a proof."""

LOOKS = 64
"""At so many smaller scales it is looked whether one is safe too, where the loss need not fall as the scale grows."""

FEWER_LOOKS = 1_000_000
"""So many spans are looked at in all: on lattices of more than a few thousand, that is at fewer scales."""

_log = logging.getLogger("inbounds")


@dataclass(frozen=True)
class Calibrated:
    """A claim with the proof that it is true."""

    claim: Claim
    certificate: Certificate


def calibrate(promise: Promise) -> Calibrated:
    """Find a scale that keeps the promise, on one span the least, and prove that it does."""
    promise.refuse_extreme_noise()
    calibrated = _settle_lattice(promise)
    _refuse_wide_noise(calibrated.claim)
    if not calibrated.certificate.holds:
        raise NotPrivate(
            f"no scale could be proved to satisfy the guarantee. {calibrated.certificate}", calibrated.certificate
        )
    return calibrated


def _settle_lattice(promise: Promise) -> Calibrated:
    """Calibrate on the very lattice that the scale found asks for, so that a scale alone says which law is meant.

    Gaps can make the scale far larger or smaller than the plain one.  Then another step suits it, and on that lattice
    the least scale is a little different.  Should they lead in a circle, the largest scale in it is taken, on the
    lattice that it asks for: the coarsest in the circle, where less would do.
    """
    # 1. Calibrate on the lattice of the plain scale.
    # 2. The scale found asks for a step; go on until it asks for the step that it was found on.
    # 3. If steps repeat without that, take the largest scale of the circle.
    tried: dict[Fraction, Calibrated] = {}
    step = promise.step_for(promise.plain_scale)
    while step not in tried:
        tried[step] = calibrated = _on_lattice(promise, step)
        step = promise.step_for(calibrated.claim.scale)
    if step == calibrated.claim.lattice.step:
        return calibrated
    circle = list(tried.values())[list(tried).index(step) :]
    largest = max(candidate.claim.scale for candidate in circle)
    claim = Claim.on(promise, promise.step_for(largest), largest)
    return Calibrated(claim, prove(claim))


def _refuse_wide_noise(claim: Claim) -> None:
    """Refuse noise that would leave int64 more often than once in e**250 draws, where no end stops it."""
    if not claim.lattice.bounded and claim.law.rate < Fraction(1, 2**WIDEST_NOISE):
        raise LatticeTooFine(
            f"noise of scale {rounded(claim.scale, 6)} on unbounded bounds needs more than 62 bits to count in "
            f"steps of {concise(claim.lattice.step)}; give the bounds a larger step, or ends"
        )


def _on_lattice(promise: Promise, step: Fraction) -> Calibrated:
    claim = Claim.on(promise, step, promise.plain_scale)
    prover = _Prover(claim)
    if not len(claim.pairs):
        # Neighbours always have the same answer, so every scale will do: take the plain one.
        return prover.certify(round_up(claim.scale))
    # The loss is at least rate * distance, and at most twice that.
    needed = step * claim.pairs.reach / promise.epsilon
    if not Fraction(1, 2**960) < needed < 2**960:
        raise InvalidParameter(
            f"the scale of the noise must be from 2**-960 to 2**960, and these bounds need {rounded(needed, 6)}; "
            "use other units for the answer"
        )
    least = round_up(needed)
    calibrated = _search(prover, least)
    return _look_below(prover, least, calibrated) if promise.trusted and len(claim.lattice) > 1 else calibrated


def _search(prover: _Prover, least: float) -> Calibrated:
    """Search between the least scale that is not ruled out and twice that."""
    claim = prover.claim
    if len(claim.lattice) >= MANY_SPANS and not claim.law.constant:
        return prover.certify(_narrow(prover, _guess(prover, least), LOOSE_TOLERANCE))
    one_span = OneSpanLoss.of(claim) if len(claim.lattice) == 1 and not claim.law.constant else None
    if one_span is not None and (guess := _guess_on_one_span(one_span, prover.epsilon, least)) > least:
        calibrated = prover.certify(prover.raise_scale(guess * (1 + MARGIN), MARGIN))
        if calibrated.certificate.holds:
            return calibrated
    for scale in (least, math.nextafter(least, math.inf)):  # where the plain scale is right, a hair is enough
        if prover.excess(scale) <= 0:
            return prover.certify(scale)
    return prover.certify(least_safe(prover.excess, least, prover.raise_scale(2 * least, 2.0**-20), TOLERANCE))


def _guess_on_one_span(loss: OneSpanLoss, epsilon: Fraction, least: float) -> float:
    """Return the least scale by the closed form, in doubles; `least` if the ends add nothing to the loss.

    The loss rises with the rate, and every term of it is accurate to a few of the last bits, so the scale is as well.
    """
    if not loss.allowed:  # less than any double, so that there is nothing to divide by
        return least
    goal = float(epsilon)
    greatest = goal * loss.allowed / loss.distance  # the rate that goes with `least`
    if loss.extra(greatest) < NOTHING * goal:
        return least
    return least_safe(lambda scale: loss.at(greatest * least / scale) - goal, least, 2 * least, MARGIN / 4)


class _Prover:
    """Proves the claim at one scale after another and remembers the proofs."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.epsilon = claim.promise.epsilon
        self._latest: Calibrated | None = None
        self._safest: Calibrated | None = None

    def certify(self, scale: float) -> Calibrated:
        """Return the claim at a scale with its certificate."""
        for known in (self._latest, self._safest):
            if known is not None and known.claim.scale == scale:
                return known
        claim = self.claim.rescaled(scale)
        _log.debug("proving the loss over %d pairs", len(claim.pairs))
        self._latest = Calibrated(claim, prove(claim))
        if self._latest.certificate.holds:
            self._safest = self._latest
        return self._latest

    def excess(self, scale: float) -> float:
        """How far the proven loss is above epsilon; not positive if, and only if, the promise is proved."""
        certificate = self.certify(scale).certificate
        excess = float(certificate.bound - self.epsilon)
        return min(excess, 0.0) if certificate.holds else max(excess, math.ulp(0.0))

    def raise_scale(self, scale: float, by: float) -> float:
        """Raise a scale, faster and faster, until the promise is proved, or give up."""
        for _ in range(RAISES):
            if self.excess(scale) <= 0:
                break
            scale, by = scale * (1 + by), 2 * by
        return scale

    @property
    def doubt(self) -> float:
        """How far off, relatively, a scale may be that was found in doubles."""
        return max(2.0**-36, 2.0**-44 / float(self.epsilon))

    def float_losses(self, scale: float, pairs: Pairs) -> NDArray[np.float64]:
        """The losses of some pairs in doubles, for a first approximation."""
        lattice = self.claim.lattice
        rate = float(lattice.step / Fraction(scale))
        return float_losses(lattice, pairs, rate, float(self.claim.promise.pooling))

    def float_excess(self, pairs: Pairs) -> Callable[[float], float]:
        """How far the loss of some pairs is above epsilon, in doubles, as a function of the scale."""
        return lambda scale: float(self.float_losses(scale, pairs).max()) - float(self.epsilon)


def _narrow(prover: _Prover, guess: float, tolerance: float) -> float:
    """Prove a scale that was found in doubles; search again in balls if doubles are too coarse for this epsilon."""
    doubt = prover.doubt
    _log.info("calibrated %d spans in doubles; proving", len(prover.claim.lattice))
    safe = prover.raise_scale(guess * (1 + doubt), doubt)
    lower = guess * (1 - doubt)
    if safe - lower <= tolerance * safe:
        return safe
    return least_safe(prover.excess, lower, safe, tolerance)


def _guess(prover: _Prover, least: float) -> float:
    """Search with the pairs that look worst; if another turns out to be worse still, with all of them."""
    # Which pairs are worst hardly changes with the scale, so a few thousand of perhaps millions do for the search.
    every, excess = prover.claim.pairs, prover.float_excess
    worst = every.only(np.argsort(prover.float_losses(1.5 * least, every))[-WORST:])
    guess = least_safe(excess(worst), least, 2 * least, TOLERANCE)
    return guess if excess(every)(guess) <= 0 else least_safe(excess(every), guess, 2 * least, TOLERANCE)


def _look_below(prover: _Prover, least: float, calibrated: Calibrated) -> Calibrated:
    """Return the smallest scale below the one found that is safe too, if looking at some of them shows one."""
    # With trusted answers the loss may fall, rise and fall again as the scale grows.  Look from the least scale up for
    # the first fall below epsilon; what doubles show there is proved in balls before it is used.
    lattice, safe = prover.claim.lattice, float(calibrated.claim.scale)
    looks = min(LOOKS, max(FEWER_LOOKS // len(lattice), 2))
    if prover.claim.law.constant or safe <= least * (1 + 4 * looks * prover.doubt):  # what doubles can tell apart
        return calibrated
    excess = prover.float_excess(prover.claim.pairs)
    bracket = first_fall(excess, np.geomspace(least, safe, looks + 1)[:-1].tolist())
    if bracket is None:
        return calibrated
    tolerance = LOOSE_TOLERANCE if len(lattice) >= MANY_SPANS else TOLERANCE
    lower = prover.certify(_narrow(prover, least_safe(excess, *bracket, TOLERANCE), tolerance))
    return lower if lower.certificate.holds and lower.claim.scale < calibrated.claim.scale else calibrated
