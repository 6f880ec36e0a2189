"""The proof that a law keeps its promise, in ball arithmetic on the lattice that is really used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from inbounds.balls import ball, lower, precision, upper
from inbounds.claim import Claim
from inbounds.guarantee import GuaranteeName, Pairs
from inbounds.law import PRECISION, Law
from inbounds.rational import round_down, round_up


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
    scale: Fraction
    step: Fraction
    pairs: int
    """How many pairs were compared."""
    method: str
    """By which road: `deciding pairs`, or `every pair, every output`."""
    precision: int
    """Bits of the ball arithmetic."""

    @property
    def refuted(self) -> bool:
        """Whether a loss above epsilon was proved."""
        return self.witnessed > self.epsilon

    def __str__(self) -> str:
        first, second = self.worst_pair
        if self.holds:
            finding = f"proved: loss <= {round_up(self.bound)!r} <= epsilon"
        elif self.refuted:
            finding = f"REFUTED: loss >= {round_down(self.witnessed)!r} > epsilon = {float(self.epsilon)!r}"
        else:
            finding = f"not proved: loss <= {round_up(self.bound)!r}"
        return (
            f"{finding}; worst between {first} and {second}\n"
            f"({self.guarantee} guarantee, {self.pairs} pairs, {self.precision}-bit balls, by {self.method})"
        )


@dataclass(frozen=True)
class Worst:
    """The greatest loss over some pairs of indices, enclosed in a ball, and the pair where it was found."""

    loss: arb
    pair: tuple[int, int] | None
    count: int


def worst_loss(law: Law, pairs: Pairs, bits: int = PRECISION) -> Worst:
    """Enclose the greatest loss over the deciding pairs, each divided by the epsilons it is allowed."""
    masses = law.masses(bits)
    worst = _Greatest(masses.rate, pairs.allowance)
    with precision(bits):
        for first, second, first_span, second_span, *ends in _rows(law, pairs):
            ratio = arb(1)
            if not law.constant:
                ratio = masses.z(ends[0], ends[1], first_span) / masses.z(ends[2], ends[3], second_span)
            worst.consider(first, second, ratio)
    return Worst(worst.loss, worst.pair, len(pairs))


def _rows(law: Law, pairs: Pairs) -> Iterator[tuple[int, ...]]:
    """Yield each pair with its spans and its distances from their ends, as Python ints."""
    lattice = law.lattice
    columns = [pairs.first, pairs.second, pairs.first_span, pairs.second_span]
    for index, span in ((pairs.first, pairs.first_span), (pairs.second, pairs.second_span)):
        columns += [lattice.below(index, span), lattice.above(index, span)]
    return zip(*(column.tolist() for column in columns), strict=True)


class _Greatest:
    """The greatest loss so far.

    A pair no farther apart than the worst one, with a ratio of `Z` no farther from 1, cannot lose more: comparing saves
    most logarithms, and is as much of a proof.
    """

    def __init__(self, rate: arb, allowance: Fraction | None) -> None:
        self.loss = arb(0)
        self.pair: tuple[int, int] | None = None
        self._rate, self._allowance = rate, allowance
        self._distance, self._most, self._least = -1, arb(1), arb(1)

    def consider(self, first: int, second: int, ratio: arb) -> None:
        distance = abs(first - second)
        if self._allowance is None and distance <= self._distance and self._least < ratio < self._most:
            return
        loss = distance * self._rate + abs(ratio.log())
        if self._allowance is not None:
            loss /= ball(self._allowance * distance)
        if self.pair is None or loss > self.loss:
            self.pair = (first, second)
            self._distance, self._most, self._least = distance, ratio.max(1 / ratio), ratio.min(1 / ratio)
        self.loss = self.loss.max(loss)


def prove(claim: Claim, bits: int = PRECISION) -> Certificate:
    """Prove a claim from its deciding pairs, or say what stands against it."""
    worst = worst_loss(claim.law, claim.pairs, bits)
    return certificate_of(claim, worst, "deciding pairs", bits)


def certificate_of(claim: Claim, worst: Worst, method: str, bits: int) -> Certificate:
    """Write down what a greatest loss says about a claim."""
    bound, witnessed = upper(worst.loss), lower(worst.loss)
    if claim.law.constant:  # then the loss is the distance times the rate, a rational number
        bound = witnessed = claim.law.rate * claim.pairs.reach
    return Certificate(
        holds=bound <= claim.promise.epsilon,
        bound=bound,
        witnessed=witnessed,
        worst_pair=_as_answers(claim, worst.pair),
        epsilon=claim.promise.epsilon,
        guarantee=claim.promise.guarantee,
        scale=claim.scale,
        step=claim.lattice.step,
        pairs=worst.count,
        method=method,
        precision=bits,
    )


def _as_answers(claim: Claim, pair: tuple[int, int] | None) -> tuple[Any, Any]:
    if pair is None:
        return None, None
    first, second = (claim.promise.bounds.as_answer(claim.lattice.value(index)) for index in pair)
    return first, second
