"""The second proof of noise: its privacy loss and its delta, from nothing but the tails that draws are made of.

Nothing is taken from `noise.loss`, `noise.delta` or `noise.distance`.  With `f(k) = ln p(k)`, where in balls
`p(0) = 1 - 2 tail(1)` and `p(k) = tail(k) - tail(k + 1)`, answers at most `D` steps apart lose the greatest
`|f(u) - f(v)|` over outcomes `u`, `v` of either sign at most `D` apart.  Finitely many tails bound that by way of the
noise's `Form`:

* `p` is symmetric, and `|u|` and `|v|` are no farther apart than `u` and `v`: it is enough to look at `u, v >= 0`.
* All repeats itself after a period, times a factor, which `f(u) - f(v)` does not see: the lesser of the two is in the
  first period.  With the greater one `j` periods on, the loss is convex in `j`: the least and the greatest `j` decide.
* While `u` stays in one run and `v` in another, `f(u) - f(v)` is linear in both, so its modulus is greatest at a corner
  of what `|u - v| <= D` leaves of the two runs: both are ends of runs, or one is and the other is `D` away.

That is a constant number of balls, however many steps a stair or the sensitivity has.

If the noise ends with its first period, at `n`, outcomes that one of the answers cannot have are exempt.  They are the
noise beyond `n - D` on one side and beyond `n` on the other, whatever is there, so that
`delta <= tail(n + 1 - D) + tail(n + 1)`.  On all others the loss is at most the bound: (bound, delta)-private.

Assumed, because no finite number of tails can show it: that the noise has the form that it states, and that `draw`
follows `tail`.  The form is looked at in the middles of runs, over three periods and after 4, 16, ... periods, and
refused if the tails contradict it there.  `Noise.draw` inverts `tail`; geometric noise draws from the same `Law` that
its `tail` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from flint import arb

from inbounds.exact.balls import lock, lower, upper, workprec
from inbounds.mechanisms.additive.noise import Form, Noise
from inbounds.mechanisms.setting import Setting
from inbounds.privacy.certificate import Certificate, sharpen
from inbounds.privacy.certify import BITS

if TYPE_CHECKING:
    from inbounds.mechanisms.additive.ends import Ends

METHOD = "tails of the noise"

AFTER = tuple(4**i for i in range(1, 32))
"""After so many periods it is looked at whether noise still repeats itself."""

Pair = tuple[int, int]
Logarithm = Callable[[int], arb]


def prove_by_tails(setting: Setting, noise: Noise, ends: Ends, delta: Fraction) -> Certificate:
    """Prove that noise keeps the promise but for at most `delta`, whatever happens at the ends afterwards.

    The distance guarantee is that of a single step: going several costs at most the sum of what each of them costs.
    """
    # The rule at the ends is post-processing, so what is proved of the noise alone holds for every rule.
    standard = setting.guarantee == "standard"
    apart, times = (setting.distance, 1) if standard else (1, setting.distance)
    # The distance guarantee is for any distance, and from two periods on all of a noise that ends is exempt.
    farthest = setting.distance if standard else 2 * noise.form.period

    def attempt(bits: int) -> Certificate:
        with lock(), workprec(bits):
            loss, pair, count = worst_of_tails(noise, apart, bits)
            bound, witnessed = upper(times * loss), lower(times * loss)
            exempt = upper(exempt_of_tails(noise, farthest, bits))
        return Certificate.of(
            setting.promise,
            setting.lattice,
            bound=bound,
            witnessed=witnessed,
            pair=neighbours(setting, abs(pair[0] - pair[1])),
            pairs=count,
            method=METHOD,
            precision=bits,
            delta=exempt,
            delta_allowed=exempt <= delta,
            law=partial(state_noise, noise, ends),
        )

    certificate = sharpen(attempt, BITS)
    # A rule at the ends may hide a loss, and so may a delta; without them the outcomes that differ are releases.
    several = setting.lattice.low_list[0] != setting.lattice.high_list[-1]
    seen = ends.name == "leave" and noise.form.repeats and several
    return replace(certificate, witnessed=max(certificate.witnessed, Fraction(0)) if seen else Fraction(0))


def state_noise(noise: Noise, ends: Ends) -> dict[str, Any]:
    """Return the law of noise with a rule at the ends in exact numbers, for a certificate."""
    return {"kind": "noise", "noise": noise.state(), "ends": ends.name}


def worst_of_tails(noise: Noise, apart: int, bits: int) -> tuple[arb, Pair, int]:
    """Enclose the greatest loss between answers so far apart or nearer; with the outcomes, and how many were compared.

    Where the tails contradict the form of the noise, nothing is known: the ball is everything.
    """

    @cache
    def logarithm(index: int) -> arb:
        return _probability(noise, index, bits).log()

    worst, witness, pairs = arb(0), (0, 0), set(deciding_outcomes(noise.form, apart))
    for pair in sorted(pairs):
        loss = abs(logarithm(pair[0]) - logarithm(pair[1]))
        if loss > worst:
            witness = pair
        worst = worst.max(loss)
    return worst if _fits(noise.form, logarithm) else arb("nan"), witness, len(pairs)


def exempt_of_tails(noise: Noise, apart: int, bits: int) -> arb:
    """Enclose the probability of what one of two answers so far apart cannot have, from above."""
    if noise.form.repeats:
        return arb(0)
    limit = noise.form.period - 1
    return _at_least(noise, limit + 1 - apart, bits) + _at_least(noise, limit + 1, bits)


def deciding_outcomes(form: Form, apart: int) -> Iterator[Pair]:
    """Yield outcomes that are at most so far apart, among them two that lose most."""
    # Within a run the logarithm of the probability is a straight line, and runs repeat.  So the greatest difference is
    # taken where one of the two outcomes is an end of a run, and the other is an end as well or as far away as is
    # allowed.
    ends = _ends_of_runs(form)
    for end in ends:
        for other in ends:
            between = _repetitions(form, other, end - apart, end + apart)
            yield from ((end, index) for index in (*between[:1], *between[-1:]))
        if form.repeats or end + apart < form.period:
            yield end, end + apart
        yield from ((index - apart, index) for index in _repetitions(form, end, apart, apart + form.period - 1))


def _repetitions(form: Form, index: int, low: int, high: int) -> range:
    """Return where an index of the first period is, or is again, between two others."""
    first = index + max(-((index - low) // form.period), 0) * form.period
    return range(first, (high if form.repeats else min(high, index)) + 1, form.period)


def _ends_of_runs(form: Form) -> list[int]:
    """Return the first and the last index of every run of the first period."""
    return sorted({index for run in _runs(form) for index in run})


def _runs(form: Form) -> list[Pair]:
    """Return the first and the last index of each run of the first period."""
    return [(start, stop - 1) for start, stop in zip(form.starts, (*form.starts[1:], form.period), strict=True)]


def _fits(form: Form, logarithm: Logarithm) -> bool:
    """Return whether the tails agree with the form wherever this looks."""
    # The form is what the proof rests on, and the tails are what is drawn from: they are compared at the ends and the
    # middle of each run, and from one period to the next.
    runs = [(first, (first + last) // 2, last) for first, last in _runs(form)]

    def straight(first: int, middle: int, last: int) -> bool:
        whole, part = logarithm(last) - logarithm(first), logarithm(middle) - logarithm(first)
        return _agree(whole * (middle - first), part, last - first)

    if not all(straight(*run) for run in runs):
        return False
    return not form.repeats or _repeats(form, {index for run in runs for index in run}, logarithm)


def _repeats(form: Form, indices: set[int], logarithm: Logarithm) -> bool:
    """Return whether some indices of the first period come again in the next two, and the first one ever after."""
    fall = logarithm(form.period) - logarithm(0)

    def falls(index: int, periods: int) -> bool:
        return _agree(logarithm(index + periods * form.period) - logarithm(index), fall, periods)

    return all(falls(index, periods) for index in indices for periods in (1, 2)) and all(falls(0, j) for j in AFTER)


def _agree(whole: arb, part: arb, times: int) -> bool:
    """Return whether a number can be so many times another."""
    return whole.is_finite() and part.is_finite() and whole.overlaps(times * part)


def _probability(noise: Noise, index: int, bits: int) -> arb:
    """Enclose `p(index)` for an index that is not negative."""
    return 1 - 2 * noise.tail(1, bits) if index == 0 else noise.tail(index, bits) - noise.tail(index + 1, bits)


def _at_least(noise: Noise, index: int, bits: int) -> arb:
    """Enclose the probability of at least an index of either sign."""
    return noise.tail(index, bits) if index > 0 else 1 - noise.tail(1 - index, bits)


def neighbours(setting: Setting, apart: int) -> Pair:
    """Return the indices of two answers that are so far apart, or as far as the bounds allow."""
    lattice = setting.lattice
    first = next(iter(lattice.finite_ends), 0)
    return first, setting.clip(first + apart if first + apart <= lattice.high_list[-1] else first - apart)
