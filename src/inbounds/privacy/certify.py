"""A second proof of a claim, by another road than the one that calibration took.

A small lattice is checked by the definition of the guarantee: every pair of answers, every output, with the weights and
their sums written out.  A large one is checked on its deciding pairs, at twice the precision, with `Z` summed span by
span as positive terms instead of through the recurrences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations, pairwise
from math import ceil
from typing import Protocol, runtime_checkable

from flint import arb

from inbounds.errors import InvalidParameter, NotPrivate
from inbounds.exact.balls import ball, lock, workprec
from inbounds.exact.rational import rounded
from inbounds.privacy.certificate import ROAD, Certificate, Worst, certificate_of, sharpen, worst_loss
from inbounds.privacy.claim import Claim
from inbounds.privacy.law import PRECISION, Law

SMALL = 48
"""Up to this many indices between the ends of the lattice, the definition is checked."""

SUMMED = 100
"""Up to this many spans, `Z` is summed anew for each pair, which takes a time that grows with their square."""

BITS = 2 * PRECISION

Pair = tuple[int, int]


class Claimant(Protocol):
    """Anything that makes a claim: a mechanism."""

    @property
    def claim(self) -> Claim:
        """What it claims."""


@runtime_checkable
class Provable(Protocol):
    """Anything that can prove its privacy by itself, by a second road."""

    def prove_again(self) -> Certificate:
        """Return what was proved."""


def certify(mechanism: Claimant | Provable | Claim) -> Certificate:
    """Prove a mechanism's label again, by another road where there is one; raise `NotPrivate` if that does not succeed.

    Of a `Claim`, and of a mechanism that has one, only the promise, the step and the exact scale are used.  A published
    mechanism says for itself how it is proved again, from the law that it draws from and not from what it says of its
    loss: by definition where answers are few, else noise from its tails and its form (`mechanisms/additive/proof.py`),
    and others by the arguments of their first proof.  The certificate names the road.
    """
    if isinstance(mechanism, Provable):
        return _require_proof(mechanism.prove_again())
    claim = mechanism if isinstance(mechanism, Claim) else getattr(mechanism, "claim", None)
    if not isinstance(claim, Claim):
        raise InvalidParameter(
            f"only a mechanism or a Claim can be certified, got {type(mechanism).__name__}; pass one of the two"
        )
    return _require_proof(prove_again(claim))


def prove_again(claim: Claim) -> Certificate:
    """Prove a claim by another road where there is one, from its promise, its step and its exact scale alone."""
    fresh = Claim.on(claim.promise, claim.lattice.step, claim.scale)
    return sharpen(lambda bits: _prove_again(fresh, bits), BITS)


def _require_proof(certificate: Certificate) -> Certificate:
    """Return a certificate that holds; refuse any other."""
    if certificate.holds:
        return certificate
    finding = "does not satisfy" if certificate.refuted else "could not be proved to satisfy"
    what = "the law" if certificate.scale is None else f"scale {rounded(certificate.scale, 6)}"
    raise NotPrivate(f"{what} {finding} the guarantee. {certificate}", certificate)


def _prove_again(claim: Claim, bits: int) -> Certificate:
    lattice = claim.lattice
    if lattice.bounded and lattice.width < SMALL:
        worst, method = _by_definition(claim, bits), "every pair, every output"
    elif len(lattice) <= SUMMED:
        worst, method = _by_sums(claim, bits), "deciding pairs, summed"
    else:
        worst, method = worst_loss(claim.law, claim.pairs, bits), ROAD
    return certificate_of(claim, worst, method, bits)


def _by_definition(claim: Claim, bits: int) -> Worst:
    """Enclose the greatest `|ln P_x(k) - ln P_y(k)|` over all neighbouring answers `x` and `y` and all outputs `k`."""
    # Nothing of the first road is used: no deciding pairs, no recurrences, no closed form of `Z`.  Answers that are not
    # trusted may be anywhere between the ends, and go to the law of the index that they are projected to.
    lattice, promise = claim.lattice, claim.promise
    feasible = lattice.indices()
    steps = ceil(promise.sensitivity / lattice.step)
    allowance = Fraction(1, steps) if promise.guarantee == "distance" else None
    reach = steps + (2 if promise.trusted and not lattice.ends_kept else 0)
    answers = feasible if promise.trusted else range(feasible[0], feasible[-1] + 1)
    with lock(), workprec(bits):
        table = _probabilities(claim.law, feasible)
    worst = worst_by_definition(
        answers, lambda answer: table[lattice.project(answer)[0]], None if allowance else reach, bits, allowance
    )
    pair = worst.pair and (lattice.project(worst.pair[0])[0], lattice.project(worst.pair[1])[0])
    return Worst(worst.loss, pair, worst.count)


def worst_by_definition(
    answers: Sequence[int],
    law: Callable[[int], list[arb]],
    reach: int | None,
    bits: int,
    allowance: Fraction | None = None,
) -> Worst:
    """Enclose the greatest `|ln P_x(k) - ln P_y(k)|` over answers `x`, `y` at most `reach` apart, and all outputs `k`.

    With an allowance, over all answers, and each loss divided by the allowance times the distance.
    """

    def losses() -> Iterator[tuple[Pair, arb]]:
        for x, y in combinations(answers, 2):
            first, second = law(x), law(y)
            if first is second or (reach is not None and y - x > reach):
                continue
            loss = _max_of(_log_ratio(p, r) for p, r in zip(first, second, strict=True))
            yield (x, y), loss if allowance is None else loss / ball(allowance * (y - x))

    return _greatest(losses(), bits)


def _log_ratio(p: arb, r: arb) -> arb:
    """Return `|ln p - ln r|`, nothing if neither ever happens."""
    return arb(0) if p.is_zero() and r.is_zero() else abs((p / r).log())


def _greatest(losses: Iterable[tuple[Pair, arb]], bits: int) -> Worst:
    """Enclose the greatest of some losses, computed with so many bits, and name its pair."""
    worst, witness, count = arb(0), None, 0
    with lock(), workprec(bits):
        for pair, loss in losses:
            count += 1
            if witness is None or loss > worst:
                witness = pair
            worst = worst.max(loss)
    return Worst(worst, witness, count)


def _max_of(balls: Iterable[arb]) -> arb:
    """Return a ball around the greatest of some numbers that are not negative."""
    return reduce(arb.max, balls, arb(0))


def _probabilities(law: Law, feasible: list[int]) -> dict[int, list[arb]]:
    """Return `P_m(k)` for every centre `m`, over all `k`."""
    weights = _weights(law)
    table = {}
    for centre in feasible:
        row = [_power(law, abs(index - centre)) * weights.get(index, arb(1)) for index in feasible]
        total = sum(row, arb(0))
        table[centre] = [mass / total for mass in row]
    return table


def _by_sums(claim: Claim, bits: int) -> Worst:
    """Enclose the greatest loss over the deciding pairs, with `Z` as a sum over the spans of what each one holds."""
    law, pairs = claim.law, claim.pairs

    def losses() -> Iterator[tuple[Pair, arb]]:
        weights = _weights(law)
        for first, second in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True):
            distance = abs(first - second)
            loss = distance * ball(law.rate) + abs((_z(law, weights, first) / _z(law, weights, second)).log())
            yield (first, second), loss if pairs.allowance is None else loss / ball(pairs.allowance * distance)

    return _greatest(losses(), bits)


def _z(law: Law, weights: dict[int, arb], centre: int) -> arb:
    """Return the sum of `w_k * q^|k - centre|` over all feasible `k`."""
    # First what pooling adds at the ends of spans, then each span as a geometric series on its side of the centre.
    total = sum(((weight - 1) * _power(law, abs(end - centre)) for end, weight in weights.items()), arb(0))
    for span in law.lattice.spans:
        low, high = span
        if high < centre:
            total += _run(law, centre - high, high - low + 1 if span.has_low else None)
        elif low > centre:
            total += _run(law, low - centre, high - low + 1 if span.has_high else None)
        else:
            total += 1 + _run(law, 1, centre - low if span.has_low else None)
            total += _run(law, 1, high - centre if span.has_high else None)
    return total


def _run(law: Law, start: int, count: int | None) -> arb:
    """Return the sum of `q^d` over `count` distances from `start` on, or over all of them."""
    shown = arb(1) if count is None else 1 - _power(law, count)
    return _power(law, start) * shown / (1 - _power(law, 1))


def _power(law: Law, distance: int) -> arb:
    return (-distance * ball(law.rate)).exp()


def _weights(law: Law) -> dict[int, arb]:
    """Return the weight of each index that is the end of a gap."""
    lattice, q, pooling = law.lattice, _power(law, 1), ball(law.pooling)
    # Each end of a gap takes the same mass, as seen from itself: seen from either of them, both together are what is
    # missing. The outermost ends take all that is beyond them.
    weights: dict[int, arb] = {}

    def pool(end: int, mass: arb) -> None:
        weights[end] = weights.get(end, arb(1)) + pooling * mass

    for (_, high), (low, _) in pairwise(lattice.spans):
        missing = _run(law, 1, low - high - 1)
        for end in (high, low):
            pool(end, missing / (1 + _power(law, low - high)))
    if not lattice.unbounded_below:
        pool(lattice.first, q / (1 - q))
    if not lattice.unbounded_above:
        pool(lattice.last, q / (1 - q))
    return weights
