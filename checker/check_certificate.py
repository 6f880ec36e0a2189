"""Checks a certificate of `inbounds` with this file and Python alone: `python check_certificate.py FILE`, - for stdin.
It says `holds` (exit code 0), `refuted` with two answers (4), or `cannot tell` with the reason (3).

WHAT IS CLAIMED.  Answers of neighbours are at most `sensitivity` apart.  Possible answers are the points
`offset + k * step` inside the spans, with indices k in K.  Any answer v has the index floor((v - offset) / step + 1/2),
so neighbours are at most `D = ceil(sensitivity / step)` indices apart.  If `trusted`, only possible answers occur.
  standard  for neighbours x and y, and all sets S of releases:  P(S | x) <= exp(loss) P(S | y) + delta
  distance  for all indices m and n, in K or of noise anywhere:  P(S | m) <= exp(loss |m - n| / D) P(S | n)
and `loss <= epsilon`.  Nothing else in a file is believed.  Its list of pairs must be complete, and proves nothing.

THE LAWS, from which all is computed.  `q^n` is `exp(-rate n)`; `~` leaves out the factor that makes the sum 1.
  laplace          the index goes to the nearest one in K, m (the lower of two).  P(k) ~ w(k) q^|k - m| for k in K, with
                   rate = step / scale.  w(k) is 1, and for each gap that k is an end of, `pooling` times this is added:
                   q / (1 - q) beside an infinite gap, q (1 - q^g) / ((1 - q) (1 + q^(g+1))) beside g missing indices.
  noise            the index goes to the nearest from the least to the greatest of K, and a random integer k is added,
                   p(k) ~ exp(-E(|k|)).  What is then outside K is left, snapped or folded: by a fixed map.
                   geometric: E(k) = rate k.  cut: the same up to k = limit, and nothing beyond.
                   staircase: E(k) = fall floor((k + flight - first) / flight).
  joint            geometric noise, of one rate for each list of sums; each cell is in one sum of each list, and is a
                   whole number of steps.  Between neighbours, changes of all cells add up to `sensitivity` at most.
  table            the index goes to the nearest from the least to the greatest of K, then to the row floor((index -
                   start + s) / width); s is 0, or floor(width word / 2^64) for a random word of 64 bits if rows are
                   `interpolated`.  A row has the probabilities of all outcomes, times `total`, and an outcome stands
                   for a release; or, in `rate`, geometric noise is added to the row, and clamped to the rows there are.
  rank             P(c) ~ exp(-rate d(c)) over possible values, d(c) = max(0, L - level N, level N - L - E); N, L and E
                   are the weights of all rows, those below c and those at c.  Then so `below` and `above`, with weights
                   divided between both by a constant; a row may be spread over places within its value.  Neighbours
                   have the rows of one unit more or fewer, which weigh at most `sensitivity`.
Why the pairs that are looked at stand for all is proved in docs/check.md.
"""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from math import ceil, floor, inf
from typing import Any

HOLDS, CANNOT_TELL, REFUTED = 0, 3, 4
MOST_BYTES, MOST_WORK, TOO_LONG = 2**24, 24 * 10**9, "cannot tell: the file is longer than 16 MiB"
NUMBER = re.compile(r"-?[0-9]{1,4000}(/0{0,9}[1-9][0-9]{0,3999})?", re.ASCII)


class Verdict(Exception):
    """What was found, if it is not that the claim holds: an exit code and a sentence."""


def require(condition: bool, reason: str) -> None:
    """Stop where nothing can be proved, neither that the claim is true nor that it is false."""
    if not condition:
        raise Verdict(CANNOT_TELL, f"cannot tell: {reason}")


def fields(part: Any, *names: str) -> list[Any]:
    """Return the values of a part that has exactly these fields."""
    require(isinstance(part, dict) and set(part) == set(names), f"the fields {', '.join(names)} are expected")
    return [part[name] for name in names]


def exact(text: Any, least: int | None = None, above: int | None = None) -> Fraction:
    """Return a number such as "-3/10", which is at least `least`, or greater than `above`."""
    require(isinstance(text, str) and NUMBER.fullmatch(text) is not None, "numbers are texts such as 3 and 3/10")
    number = Fraction(*map(int, text.split("/")))
    require((least is None or number >= least) and (above is None or number > above), "a number is too small")
    return number


def whole(text: Any, least: int | None = None) -> int:
    """Return a whole number."""
    number = exact(text, least)
    require(number.denominator == 1, "a number that must be whole is not")
    return number.numerator


def listed(value: Any) -> list[Any]:
    """Return a list that is not empty."""
    require(isinstance(value, list) and len(value) > 0, "a list is missing or empty")
    return list(value)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a part; of a field that is there twice, two readers could see two values."""
    require(len(dict(pairs)) == len(pairs), "a field is there twice")
    return dict(pairs)


# Numbers of at least 0, known to lie between two decimals: lower ends are rounded down, upper ends up.
DOWN, UP = (Context(60, rounding, MIN_EMIN, MAX_EMAX) for rounding in (ROUND_FLOOR, ROUND_CEILING))


@dataclass(frozen=True)
class Interval:
    """A number from `low` to `high`."""

    low: Decimal
    high: Decimal

    def __add__(self, other: Interval) -> Interval:
        return Interval(DOWN.add(self.low, other.low), UP.add(self.high, other.high))

    def __sub__(self, other: Interval) -> Interval:
        return Interval(max(Decimal(0), DOWN.subtract(self.low, other.high)), UP.subtract(self.high, other.low))

    def __mul__(self, other: Interval) -> Interval:
        return Interval(DOWN.multiply(self.low, other.low), UP.multiply(self.high, other.high))

    def __truediv__(self, other: Interval) -> Interval:
        return Interval(DOWN.divide(self.low, other.high), UP.divide(self.high, other.low))

    def is_at_most(self, other: Interval) -> bool | None:
        """Return whether it is at most another number; None if that is not clear."""
        return True if self.high <= other.low else False if self.low > other.high else None


ZERO, ONE = Interval(Decimal(0), Decimal(0)), Interval(Decimal(1), Decimal(1))


def near(number: Fraction) -> Interval:
    """Return an interval around a number."""
    over, under = Decimal(number.numerator), Decimal(number.denominator)
    return Interval(DOWN.divide(over, under), UP.divide(over, under))


def exp(exponent: Fraction) -> Interval:
    """Return an interval around the exponential of a number of at most 0."""
    # Decimals round it correctly; the next number on either side is taken, so that nearly correctly would do.
    size = near(-exponent)
    low, high = DOWN.exp(size.high.copy_negate()), UP.exp(size.low.copy_negate())
    return Interval(max(Decimal(0), DOWN.next_minus(low)), UP.next_plus(high))


def decide(is_true: Callable[[], bool | None], work: int = 1) -> bool:
    """Return whether something is true, computed with more and more digits until that is clear."""
    known, DOWN.prec = None, 30
    while known is None:
        DOWN.prec = UP.prec = 2 * DOWN.prec
        require(DOWN.prec < 1000 and work * DOWN.prec**3 <= MOST_WORK, "it is too close or too large to be decided")
        known = is_true()
    return known


class Claim:
    """What is claimed, and K as intervals of indices; an infinity is no end."""

    def __init__(self, part: Any, step: Any) -> None:
        names = "bounds sensitivity epsilon delta guarantee trusted loss"
        bounds, sensitivity, epsilon, delta, guarantee, trusted, loss = fields(part, *names.split())
        spans, own_step, offset = fields(bounds, "spans", "step", "offset")
        require(guarantee in ("standard", "distance") and isinstance(trusted, bool), "the guarantee is not known")
        self.distance, self.trusted = guarantee == "distance", trusted
        self.step, self.offset, self.delta = exact(step, above=0), exact(offset), exact(delta, 0)
        require(own_step is None or exact(own_step) == self.step, "the law and the bounds have different steps")
        self.sensitivity, self.allowed = exact(sensitivity, above=0), min(exact(epsilon, above=0), exact(loss, 0))
        require(self.allowed <= 1000, "a loss above 1000 is no promise")
        self.steps = ceil(self.sensitivity / self.step)
        self.lows, self.highs, self.inner_ends_kept = list[Any](), list[Any](), True
        for place, span in enumerate(listed(spans)):
            self._add(span, is_first=place == 0, is_last=place == len(spans) - 1)
        self.first, self.last = self.lows[0], self.highs[-1]
        self.bounded = -inf < self.first and self.last < inf
        self.inner = [(high, low - high - 1, low) for high, low in zip(self.highs, self.lows[1:], strict=False)]
        self.starts = [high + (gap + 1) // 2 + 1 for high, gap, _ in self.inner]
        # No farther apart are neighbours that were brought between the least and the greatest of K.
        self.apart = min(self.steps, self.last - self.first) if self.bounded else self.steps

    def _add(self, span: Any, *, is_first: bool, is_last: bool) -> None:
        """Add a span, its ends moved inward to indices; join it to the one before if no index is missing between."""
        require(len(listed(span)) == 2 and (span[0] or is_first) and (span[1] or is_last), "an inner end is missing")
        low, high = (None if end is None else (exact(end) - self.offset) / self.step for end in span)
        first, last = -inf if low is None else ceil(low), inf if high is None else floor(high)
        self.inner_ends_kept &= (is_first or first == low) and (is_last or last == high)
        require(first <= last and (is_first or first > self.highs[-1]), "spans must rise and hold points")
        if not is_first and first == self.highs[-1] + 1:
            self.highs[-1] = last
        else:
            self.lows.append(first)
            self.highs.append(last)

    def nearest(self, index: int) -> Any:
        """Return the nearest index in K, the lower one of two."""
        span = bisect_right(self.starts, index)
        return min(max(index, self.lows[span]), self.highs[span])

    def farthest(self, end: int, move: int) -> Any:
        """Return the index in K that is farthest from an end, but no farther than this, on this side."""
        if move > 0:
            return min(end + move, self.highs[bisect_right(self.lows, end + move) - 1])
        return max(end + move, self.lows[bisect_left(self.highs, end + move)])

    def refute(self, first: int, second: int, *, beyond_delta: bool = False) -> None:
        """Say that two indices lose more than is claimed; where losses may be exempt, only if these were counted."""
        require(beyond_delta or self.distance or self.delta == 0, "answers lose more, but delta may exempt them")
        answers = " and ".join(str(self.offset + index * self.step) for index in (first, second))
        raise Verdict(REFUTED, f"refuted: the answers {answers} lose more than {float(self.allowed):.9g}")


def check_laplace(claim: Claim, law: dict[str, Any], pairs: Any) -> None:
    """Check that ln P(m) / P(n) = rate |m - n| + |ln Z(m) - ln Z(n)| is small enough between all pairs that decide."""
    scale, pooling = fields(law, "scale", "pooling")
    rate, pooled = claim.step / exact(scale, above=0), exact(pooling, 0)
    require(pooled <= 1 and (claim.trusted or not claim.distance or not claim.inner), "it is not defined for these")
    known = {tuple(sorted(whole(end) for end in listed(pair))) for pair in listed(pairs)} if pairs != [] else set()
    deciding = {(min(pair), max(pair)) for pair in deciding_pairs(claim) if pair[0] != pair[1]}
    # Where trusted answers can lie beside the lattice, and where they cannot, D was rounded up.
    occurs = not claim.trusted or claim.distance
    occurs |= claim.inner_ends_kept and claim.sensitivity == claim.steps * claim.step
    constant = pooled == 1 or (claim.first == -inf and claim.last == inf and not claim.inner)  # then Z is
    masses_with = cache(lambda digits: masses(claim, rate, pooled))

    def is_private(m: int, n: int, excess: Fraction) -> bool | None:
        z, shrunk = masses_with(DOWN.prec), exp(excess)
        both = {(shrunk * z(m)).is_at_most(z(n)), (shrunk * z(n)).is_at_most(z(m))}
        return False if False in both else None if None in both else True

    for m, n in sorted(deciding):
        loss = rate * (n - m)  # and at most as much again for Z
        allowed = claim.allowed * (n - m) / claim.steps if claim.distance else claim.allowed
        if 2 * loss <= allowed or (constant and loss <= allowed):
            continue
        if loss > allowed or not decide(partial(is_private, m, n, loss - allowed), len(deciding)):
            require(occurs, "a pair loses too much, but such answers may not be neighbours")
            claim.refute(m, n)
    require(deciding <= known, "the list of pairs leaves out some that decide")


def deciding_pairs(claim: Claim) -> Iterator[tuple[Any, Any]]:
    """Yield pairs of indices in K, among them one that loses most (docs/check.md proves it)."""
    lows, highs = [low for low in claim.lows if low > -inf], [high for high in claim.highs if high < inf]
    if not lows and not highs:
        yield 0, 1 if claim.distance else claim.steps
    elif claim.distance:
        long = [(low, high) for low, high in zip(claim.lows, claim.highs, strict=True) if low < high]
        yield from ((low, low + 1) for low, _ in long if low > -inf)
        yield from ((high - 1, high) for _, high in long if high < inf)
        yield from ((high, low) for high, _, low in claim.inner)
    elif claim.trusted:
        move = claim.steps if claim.inner_ends_kept else claim.steps + 2
        yield from ((end, claim.farthest(end, side)) for end in (*lows, *highs) for side in (move, -move))
    else:
        yield from ((low, claim.nearest(low + claim.steps)) for low in lows)
        yield from ((high, claim.nearest(high - claim.steps)) for high in highs)
        yield from ((high, claim.nearest(high + (gap + 1) // 2 + claim.steps)) for high, gap, _ in claim.inner)
        yield from ((low, claim.nearest(low - gap // 2 - claim.steps)) for _, gap, low in claim.inner)


def masses(claim: Claim, rate: Fraction, pooled: Fraction) -> Callable[[int], Interval]:
    """Return Z, times 1 - q: the sum of w(k) q^|k - m| over K, span by span from both sides."""

    def power(low: Any, high: Any) -> Interval:
        return ZERO if low == -inf or high == inf else exp(-rate * (high - low))

    q, share, spans = power(0, 1), near(pooled), list(zip(claim.lows, claim.highs, strict=True))
    through = [power(*span) for span in spans]
    across = [power(high, low) for high, _, low in claim.inner]
    extra = [share * (q - over) / (ONE + over) for over in across]

    def outside(outer: Interval, order: range) -> list[Interval]:
        seen = [outer]  # what is beyond the near end of each span, with what is pooled at that end, seen from there
        for span, following in pairwise(order):
            gap = min(span, following)
            seen.append(extra[gap] + across[gap] * (through[span] * seen[-1] + ONE - q * through[span] + extra[gap]))
        return seen

    left = outside(ZERO if claim.first == -inf else share * q, range(len(spans)))
    right = outside(ZERO if claim.last == inf else share * q, range(len(spans) - 1, -1, -1))[::-1]

    def z(index: int) -> Interval:
        span = bisect_right(claim.lows, index) - 1
        below, above = power(claim.lows[span], index), power(index, claim.highs[span])
        return ONE - q + below * left[span] + q * (ONE - below) + above * right[span] + q * (ONE - above)

    return z


def check_noise(claim: Claim, law: dict[str, Any], pairs: Any) -> None:
    """Check that the E of two integers that are so far apart differ by no more; the map at the ends costs nothing."""
    noise, ends = fields(law, "noise", "ends")
    require(pairs is None and isinstance(noise, dict) and ends in ("leave", "snap", "fold"), "the ends are not known")
    apart, times, is_private = *((1, claim.steps) if claim.distance else (claim.apart, 1)), True
    if (shape := noise.get("shape")) == "staircase":
        _, fall, flight, first = fields(noise, "shape", "fall", "flight", "first")
        require(1 <= whole(first) <= whole(flight), "the first stair is not within the flight")
        loss = times * exact(fall, 0) * ceil(Fraction(apart, whole(flight)))
    elif shape == "geometric":
        loss = times * apart * exact(fields(noise, "shape", "rate")[1], above=0)
    else:
        require(shape == "cut" and not claim.distance, "the noise is not known")
        rate, limit = exact(fields(noise, "shape", "rate", "limit")[1], above=0), whole(noise["limit"], apart)
        loss = apart * rate
        # Only one of two neighbours can have noise above `limit - apart`; all noise is 1 + q - 2 q^(limit + 1).
        beyond, delta = -rate * (limit + 1), claim.delta
        is_private = decide(
            lambda: (exp(beyond + rate * apart) + near(2 * delta) * exp(beyond)).is_at_most(
                exp(beyond) + near(delta) * (ONE + exp(-rate))
            )
        )
    if loss > claim.allowed or not is_private:
        # Noise that is left shows it; clamped at the first of several indices, geometric noise shows as much.
        shown = ends == "leave" or (ends == "snap" and shape == "geometric" and -inf < claim.first < claim.highs[0])
        require(shown and (shape != "cut" or not is_private), "the noise loses more, but the ends may hide it")
        first = claim.first if claim.first > -inf else claim.last - apart if claim.last < inf else 0
        claim.refute(first, first + apart, beyond_delta=shape == "cut")


def check_joint(claim: Claim, law: dict[str, Any], pairs: Any) -> None:
    """Check that the rates add up: the sums of a list change by no more than the cells do."""
    require(pairs is None and claim.distance, "joint noise is for the distance guarantee")
    rates = [exact(fields(part, "of", "rate")[1], above=0) for part in listed(*fields(law, "noises"))]
    if claim.steps * sum(rates) > claim.allowed:
        require(claim.sensitivity == claim.steps * claim.step, "no cell can change by a part of a step")
        raise Verdict(REFUTED, f"refuted: tables that differ by {claim.sensitivity} in one cell lose more")


def check_table(claim: Claim, law: dict[str, Any], pairs: Any) -> None:
    """Check rows that neighbours can go to: for every word, they are at most ceil(apart / width) from each other."""
    names = ("start", "width", "interpolated", "releases", *(["rate"] if "rate" in law else ["total", "rows"]))
    at, wide, interpolated, releases = fields(law, *names)[:4]
    at, wide, releases = whole(at), whole(wide, 1), [whole(release) for release in listed(releases)]
    count = len(releases) if "rate" in law else len(listed(law["rows"]))
    require(pairs is None and not claim.distance, "tables are for the standard guarantee")
    require(claim.bounded and isinstance(interpolated, bool), "the table is not for these bounds")
    require(at <= claim.first and claim.last < at + (count - interpolated) * wide + interpolated, "rows are missing")
    far = ceil(Fraction(claim.apart, wide))
    if "rate" in law:
        require(far * exact(law["rate"], above=0) <= claim.allowed, "noise on rows loses more; releases may hide it")
        return
    table = [[whole(entry, 0) for entry in listed(row)] for row in law["rows"]]
    require(all(len(row) == len(releases) and sum(row) == whole(law["total"]) for row in table), "a row is not whole")
    require(count**2 * len(releases) <= MOST_WORK // 100, "it would take too long")
    outcomes = {release: [0] * count for release in releases}
    for release, entries in zip(releases, zip(*table, strict=True), strict=True):
        outcomes[release] = [before + entry for before, entry in zip(outcomes[release], entries, strict=True)]
    worst, pair = Fraction(1), (0, 0)
    for column in outcomes.values():
        for row, entry in enumerate(column):
            window = column[max(row - far, 0) : row + far + 1]
            if (greatest := max(window)) > worst * entry:
                worst = Fraction(greatest) / (entry or Fraction(1, 10**4000))
                pair = row, max(row - far, 0) + window.index(greatest)
    # Between points farther apart than neighbours these go a share of the way only; a share is off by up to 2^-64.
    share = Fraction(claim.apart, wide) + Fraction(1, 2**63) if interpolated and claim.apart < wide else Fraction(1)
    ratio = 1 + min(share, Fraction(1)) * (worst - 1)
    if ratio > 1 and not decide(lambda: (exp(-claim.allowed) * near(ratio)).is_at_most(ONE)):
        first = max(claim.first, at + (min(pair) + 1) * wide - 1)
        second = min(claim.last, first + claim.apart, at + max(pair) * wide)
        occur = [(index - at) // wide for index in (first, second)] == sorted(pair) and (not interpolated or wide == 1)
        require(occur, "rows lose too much, but perhaps no answers do")
        claim.refute(first, second)


def check_rank(claim: Claim, law: dict[str, Any], pairs: Any) -> None:
    """Check that changes of d add up: rows of weight w change it by at most max(level, 1 - level) w, up or down."""
    require(pairs is None and not claim.distance, "ranks are for the standard guarantee")

    def loss(draw: Any) -> Fraction:  # of a row of weight 1; what is divided between below and above loses in parts
        if draw is None:
            return Fraction(0)
        level, rate, below, above = fields(draw, "level", "rate", "below", "above")
        require(0 < exact(level) < 1, "a level is not between 0 and 1")
        return 2 * exact(rate, 0) * max(exact(level), 1 - exact(level)) + max(loss(below), loss(above))

    require(claim.sensitivity * loss(*fields(law, "draw")) <= claim.allowed, "draws may lose more, but for which rows?")


LAWS = {"laplace": check_laplace, "noise": check_noise, "joint": check_joint, "table": check_table, "rank": check_rank}


def check(text: str) -> tuple[int, str]:
    """Return what is found of a certificate: an exit code, and a sentence."""
    try:
        document = json.loads(text, object_pairs_hook=once)
        form, version, claimed, law, pairs, _ = fields(document, "format", "version", "claim", "law", "pairs", "about")
        require(form == "inbounds certificate" and version == 1, "it is no certificate of version 1")
        require(isinstance(law, dict) and isinstance(law.get("kind"), str), "the law is not stated")
        kind, claim = law.pop("kind"), Claim(claimed, law.pop("step", None))
        require(kind in LAWS, f"this program does not know the law of {kind[:60]!r}")
        LAWS[kind](claim, law, pairs)
        return HOLDS, f"holds: no neighbours lose more than {float(claim.allowed):.9g}"
    except Verdict as found:
        return found.args[0], found.args[1]
    except (ValueError, ArithmeticError, RecursionError, MemoryError) as problem:
        return CANNOT_TELL, f"cannot tell: it cannot be read or computed with ({type(problem).__name__})"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(str(__doc__))
    with sys.stdin.buffer if sys.argv[1] == "-" else open(sys.argv[1], "rb") as file:
        data = file.read(MOST_BYTES + 1)
    code, finding = check(data.decode("utf-8", "replace")) if len(data) <= MOST_BYTES else (CANNOT_TELL, TOO_LONG)
    sys.stdout.write(f"{finding}\n")
    sys.exit(code)
