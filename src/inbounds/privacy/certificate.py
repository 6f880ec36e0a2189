"""The proof that a law keeps its promise, in ball arithmetic on the lattice that is really used."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import repeat
from math import floor
from operator import truediv
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb

from inbounds.bounds.lattice import Lattice
from inbounds.display.facts import FactSheet
from inbounds.errors import InvalidParameter
from inbounds.exact.balls import ball, lock, lower, upper, workprec
from inbounds.exact.rational import concise, round_down, round_up, rounded
from inbounds.privacy.claim import Claim, Promise
from inbounds.privacy.guarantee import GuaranteeName, Pairs
from inbounds.privacy.label import format_up, plain_up
from inbounds.privacy.law import PRECISION, Law
from inbounds.privacy.statement import LawText, Statement, write

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROAD = "deciding pairs"

FEW = 16
"""Up to so many pairs are looked at one by one, without arrays."""

MOST_BITS = 8192

VAGUE = Fraction(1, 2**60)
"""A loss that is enclosed more widely than this, relative to epsilon, is worth computing with more bits."""


@dataclass(frozen=True)
class Certificate:
    """What was proved about a claim: no two neighbouring answers have a privacy loss above `bound`.

    For the distance guarantee losses are per sensitivity of distance.
    """

    holds: bool
    """Whether it was proved that the loss is at most epsilon."""
    bound: Fraction
    """Proved from above: no loss is greater."""
    witnessed: Fraction
    """Proved from below: the loss between the worst pair is at least this."""
    worst_pair: tuple[Any, Any]
    """The two possible answers between which the loss is greatest; None twice if no two answers are neighbours."""
    epsilon: Fraction
    guarantee: GuaranteeName
    scale: Fraction | None
    """The scale of the law, if it is a truncated Laplace law."""
    step: Fraction
    pairs: int
    """How many pairs were compared."""
    method: str
    """By which road: `deciding pairs`, `deciding pairs, summed` or `every pair, every output`; for published mechanisms
    also `noise alone`, `tails of the noise`, `exponents`, `levels`, `one pair, one output` or `branch and bound`."""
    precision: int
    """Bits of the ball arithmetic."""
    delta: Fraction = Fraction(0)
    """Proved from above: what is exempt from the bound on the loss; 0 for a pure guarantee."""
    statement: Statement | None = field(default=None, compare=False, repr=False)
    """What it is about: see `to_json`."""

    @classmethod
    def of(  # noqa: PLR0913  all that a proof has to say
        cls,
        promise: Promise,
        lattice: Lattice,
        *,
        bound: Fraction,
        witnessed: Fraction,
        pair: tuple[int, int] | None,
        pairs: int,
        method: str,
        precision: int,
        scale: Fraction | None = None,
        delta: Fraction = Fraction(0),
        delta_allowed: bool = True,
        law: Callable[[], LawText],
        compared: Pairs | None = None,
    ) -> Certificate:
        """Write down what was proved of a promise on a lattice; the worst pair is one of indices.

        `law` states the law, and `compared` are the pairs, if they are the ones that decide.
        """
        answers = (None, None) if pair is None else tuple(map(lattice.answer, pair))
        return cls(
            holds=bound <= promise.epsilon and delta_allowed,
            bound=bound,
            witnessed=witnessed,
            worst_pair=(answers[0], answers[1]),
            epsilon=promise.epsilon,
            guarantee=promise.guarantee,
            scale=scale,
            step=lattice.step,
            pairs=pairs,
            method=method,
            precision=precision,
            delta=delta,
            statement=Statement(promise, lattice.step, law, compared),
        )

    def to_json(self) -> str:
        """Return all that it takes to check the proof, as JSON: the claim, the law and the pairs that decide, exactly.

        `checker/check_certificate.py`, which uses nothing of this package, reads it (docs/check.md).
        """
        if self.statement is None:
            raise InvalidParameter("this certificate does not say which law it is about; take that of a mechanism")
        about = {
            "finding": self.finding,
            "witnessed": write(self.witnessed),
            "worst pair": [None if answer is None else str(answer) for answer in self.worst_pair],
            "how": self.how,
        }
        return json.dumps(self.statement.to_document(self.bound, self.delta, about))

    @property
    def refuted(self) -> bool:
        """Whether a loss above epsilon was proved."""
        return self.witnessed > self.epsilon

    @property
    def finding(self) -> str:
        """What was found of the loss, in a line."""
        exempt = f" but for delta <= {format_up(self.delta, 4)}" if self.delta else ""
        if self.holds:
            return f"proved: loss <= {round_up(self.bound)!r} <= epsilon{exempt}"
        if self.refuted:
            return f"REFUTED: loss >= {round_down(self.witnessed)!r} > epsilon = {float(self.epsilon)!r}"
        return f"not proved: loss <= {round_up(self.bound)!r}{exempt}"

    @property
    def how(self) -> str:
        """How it was found, in a line."""
        return f"{self.guarantee} guarantee, by {self.method}: {_count_pairs(self.pairs)}, {self.precision}-bit balls"

    def __str__(self) -> str:
        return f"{self.finding}; worst between {self._pair}\n({self.how})"

    def __repr__(self) -> str:
        return f"<Certificate: {self.finding.replace(': ', ', ', 1)}>"

    def _repr_html_(self) -> str:
        rows = [
            ("finding", self.finding),
            ("worst between", self._pair),
            ("guarantee", f"{self.guarantee}, epsilon {plain_up(self.epsilon, 6)}"),
            ("how", self.how),
        ]
        if self.scale is not None:
            rows.append(("scale", rounded(self.scale, 6)))
        return FactSheet(rows, "Certificate").html()

    @property
    def _pair(self) -> str:
        return " and ".join(brief(answer) for answer in self.worst_pair)


def brief(answer: Any) -> str:
    """Write an answer of a worst pair for people, what is long as a decimal number."""
    if isinstance(answer, Fraction) and answer.denominator > 10_000:
        return rounded(answer, 6)
    return concise(answer) if isinstance(answer, int | Fraction) else str(answer)


def _count_pairs(pairs: int) -> str:
    return f"{pairs} pair{'' if pairs == 1 else 's'}"


@dataclass(frozen=True)
class Worst:
    """The greatest loss over some pairs of indices, enclosed in a ball, and the pair where it was found."""

    loss: arb
    pair: tuple[int, int] | None
    count: int


def worst_loss(law: Law, pairs: Pairs, bits: int = PRECISION) -> Worst:
    """Enclose the greatest loss over the deciding pairs, each divided by the epsilons it is allowed.

    Two comparisons save most of the work, and are as much of a proof.  A pair no farther apart than the worst one so
    far, with a ratio of `Z` no farther from 1, cannot lose more.  And no pair loses more than twice its distance times
    the rate, so the farthest pairs come first, and those that are too near for that are not looked at.
    """
    # The loss of a pair is `distance * rate + |ln Z ratio|`, and the second term is at most the first: a ratio of `Z`
    # between two centres cannot be above `exp(distance * rate)`.
    rate, allowance = law.masses(bits).rate, pairs.allowance
    is_few = len(pairs) <= FEW
    distances = abs(pairs.first - pairs.second)
    order = np.argsort(-distances, kind="stable")
    worst, witness, reach, too_near = arb(0), None, -1, -1
    with lock(), workprec(bits):
        least = most = arb(1)
        for i, distance, ratio in zip(
            order, distances[order].tolist(), _ratios(law, pairs.only(order), bits), strict=True
        ):
            if distance <= too_near:
                break
            if allowance is None and distance <= reach and least < ratio < most:
                continue
            loss = distance * rate + abs(ratio.log())
            if allowance is not None:
                loss /= ball(allowance * distance)
            if witness is None or loss > worst:
                witness, reach, least, most = i, distance, ratio.min(1 / ratio), ratio.max(1 / ratio)
                too_near = _too_near(loss, rate) if allowance is None and not is_few else -1
            worst = worst.max(loss)
    pair = None if witness is None else (int(pairs.first[witness]), int(pairs.second[witness]))
    return Worst(worst, pair, len(pairs))


def _too_near(loss: arb, rate: arb) -> int:
    """Return a distance at which no pair can lose more than this; -1 if none is certain."""
    distance = lower(loss / (2 * rate))
    return floor(distance) if distance > 0 else -1


def _ratios(law: Law, pairs: Pairs, bits: int) -> Iterator[arb]:
    """Yield the ratio of `Z` between the two points of each pair."""
    if law.constant:
        return repeat(arb(1), len(pairs))
    masses = law.masses(bits)
    at_lows: dict[int, arb] = {}
    at_highs: dict[int, arb] = {}

    def z(indices: NDArray[np.int64], spans: NDArray[np.intp]) -> Iterator[arb]:
        # Most deciding pairs have an end of a span in them, whose `Z` is the same each time.
        for low, high, span in _to_the_ends(law.lattice, indices, spans):
            if not low:
                if span not in at_lows:
                    at_lows[span] = masses.z_at_low(span)
                yield at_lows[span]
            elif not high:
                if span not in at_highs:
                    at_highs[span] = masses.z_at_high(span)
                yield at_highs[span]
            else:
                yield masses.z(low, high, span)

    return map(truediv, z(pairs.first, pairs.first_span), z(pairs.second, pairs.second_span))


def _to_the_ends(
    lattice: Lattice, indices: NDArray[np.int64], spans: NDArray[np.intp]
) -> Iterator[tuple[int, int, int]]:
    """Yield how far each index is from the ends of its span, as the lattice counts it, and the number of that."""
    if len(indices) > FEW:
        below, above = lattice.below(indices, spans), lattice.above(indices, spans)
        yield from zip(below.tolist(), above.tolist(), spans.tolist(), strict=True)
        return
    for index, span in zip(indices.tolist(), spans.tolist(), strict=True):
        ends = lattice.spans[span]
        yield ends.below(index), ends.above(index), span


def prove(claim: Claim, bits: int = PRECISION) -> Certificate:
    """Prove a claim from its deciding pairs, or say what stands against it.

    Where balls of so many bits are too wide to tell, they get more.
    """
    return sharpen(lambda bits: certificate_of(claim, worst_loss(claim.law, claim.pairs, bits), ROAD, bits), bits)


def sharpen(attempt: Callable[[int], Certificate], bits: int) -> Certificate:
    """Try to prove with more and more bits until something is proved or more bits would tell no more."""
    certificate = attempt(bits)
    vague = certificate.bound - certificate.witnessed > VAGUE * certificate.epsilon
    undecided = not certificate.holds and not certificate.refuted
    return sharpen(attempt, 2 * bits) if vague and undecided and bits < MOST_BITS else certificate


def certificate_of(claim: Claim, worst: Worst, method: str, bits: int) -> Certificate:
    """Write down what a greatest loss says about a claim."""
    with lock(), workprec(bits):  # lest the caller's precision round the ends
        bound, witnessed = upper(worst.loss), lower(worst.loss)
        if claim.law.constant:  # then it is a distance times the rate, a rational number, and need not be enclosed
            rational = claim.law.rate * claim.pairs.reach
            bound, witnessed = (rational, rational) if worst.loss.overlaps(ball(rational)) else (bound, witnessed)
    return Certificate.of(
        claim.promise,
        claim.lattice,
        bound=bound,
        witnessed=witnessed,
        pair=worst.pair,
        pairs=worst.count,
        method=method,
        precision=bits,
        scale=claim.scale,
        law=claim.state_law,
        compared=claim.pairs,
    )
