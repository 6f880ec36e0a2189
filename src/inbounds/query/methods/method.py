"""How a measure is answered: which integers a statement adds up, how noise is put on them, what the answer is then.

Each answers all groups of a question from their totals, and knows its sensitivity, its possible answers and its
expected noise.  What is released depends on the totals; whether and how it is, never.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from math import ceil, floor, inf

import numpy as np

from inbounds.accuracy.confidence import percent
from inbounds.bounds import Bounds
from inbounds.bounds.lattice import Lattice
from inbounds.display.figures import format_error
from inbounds.display.progress import Progress
from inbounds.mechanisms.additive.additive import Additive
from inbounds.mechanisms.truncated_laplace import TruncatedLaplace
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.privacy.rho import pure
from inbounds.query.methods.mechanism_choice import Choice
from inbounds.sampling.entropy import Entropy, system

REPORTED = 1000
"""Progress is told every so many groups."""

SHOWN_ROWS = (100, 1000, 10_000)
"""What depends on how many rows there are is foreseen for so many."""

RANKS = f"in rank, per cent of rows ({percent()} sure)"

FARTHEST = 2**160
"""No answer is more steps away from 0: what is beyond is brought there, which costs nothing after noise is on it.

Databases add up in 128 bits or fewer rows than that; it is a bound on what has to be kept, not on what is counted.
"""

LONGEST_CELL = 35
"""No double takes more characters, and no day or time as a ledger keeps it."""

Foreseen = dict[str, dict[str, float]]
"""How far off answers will be: of what, and then where."""

Value = int | float | date | time
Interval = tuple[Value, Value]
Surer = Callable[[float], Interval]


@dataclass(frozen=True)
class UpTo:
    """What is known of the sum of the answers up to one of them: its expected noise, and an interval."""

    noise: float
    interval: Interval


@dataclass(frozen=True)
class Answered:
    """One private answer, its expected noise as far as that can be told from the answer itself, and an interval.

    The interval is made of what was released alone: it holds the answer without noise with the confidence asked for.
    """

    value: Value | None
    """None where there is nothing to answer: the mean of a group whose released count is 0."""
    noise: float | None
    interval: Interval | None = None
    up_to: UpTo | None = None
    """Of its running total, where that was planned for."""
    surer: Surer | None = field(default=None, repr=False, compare=False)
    """Gives the interval at another confidence, for what is computed from several answers; it is not kept."""


class Answering(ABC):
    """Puts noise on the totals of all groups."""

    guarantee: GuaranteeName
    sensitivity: Fraction
    bounds: Bounds
    is_in_ranks = False
    """Whether what is predicted of its error is a number of ranks, which a value can be off by any amount for."""

    @abstractmethod
    def answer_all(
        self, totals: Sequence[list[int]], confidence: float, report: Progress, entropy: Entropy = system
    ) -> list[tuple[Answered, ...]]:
        """Return private answers: one tuple for each row of the answer, one answer for each of its columns."""

    @property
    def changed(self) -> str:
        """What the sensitivity is the change of, if not of an answer."""
        return ""

    def rho(self, epsilon: Fraction) -> Fraction:
        """Return at least the rho of all answers together, which lose at most epsilon."""
        return pure(epsilon)

    @property
    def divided(self) -> str | None:
        """Over what epsilon is divided, if all answers have it together."""
        return None

    def possible(self) -> str:
        """Say where answers can be."""
        return self.bounds.brief()

    @property
    def farthest(self) -> Fraction:
        """How far from 0 an answer and the ends of its interval are at most."""
        return farthest(self.bounds)

    @property
    def widest(self) -> Answered:
        """An answer that takes as many characters as any."""
        digits = max(LONGEST_CELL, len(str(ceil(self.farthest))))
        return Answered(-(10**digits), -1.2345678901234567e-300, (-(10**digits), -(10**digits)))

    @abstractmethod
    def mechanism(self) -> str:
        """Say which mechanism answers, and why."""

    @abstractmethod
    def proof(self) -> str:
        """Say why the loss is at most epsilon: the certificate of the mechanism, or the law that it follows."""

    @property
    def certificate(self) -> Certificate | None:
        """The same for others to check, where it can be stated in a certificate."""
        return None

    @abstractmethod
    def expected_noise(self) -> str:
        """Say how far off the noise will put an answer, before anything is asked."""

    @abstractmethod
    def foreseen(self) -> Foreseen:
        """Return the figures that `expected_noise` tells: no data are looked at."""

    @abstractmethod
    def predicted_error(self, place: int, rows: int | None) -> float | None:
        """Return how far off one of its answers is predicted to be, in the group where that is most.

        It is a mean, unless `expected_noise` tells a probability.  None if it depends on the number of rows in a group,
        and that is not given.
        """

    def spread(self, place: int) -> float:
        """Return how far apart the possible answers are; infinite without ends."""
        low, high = self.bounds.least, self.bounds.greatest
        return inf if low is None or high is None else float(high - low)

    def is_guess(self, rows: int | None) -> bool:
        """Return whether, of at most so many rows, nothing is expected to be nearer than a guess; a doubt says no.

        A guess is the middle of the possible answers, and as far off as that is on average over all of them.
        """
        return False


def guess_error(bounds: Bounds) -> float:
    """Return how far off the middle of the possible answers is, on average over all of them; infinite without ends."""
    low, high = bounds.least, bounds.greatest
    if low is None or high is None:
        return inf
    if bounds.step is None:
        return float(high - low) / 4
    points = int((high - low) / bounds.step) + 1
    return float(bounds.step * (points**2 // 4) / points)


def at_rows(error: Callable[[int], float]) -> dict[str, float]:
    """Return an error for each of some numbers of rows."""
    return {f"at {rows:,} rows": error(rows) for rows in SHOWN_ROWS}


def report_groups(totals: Sequence[list[int]], report: Progress) -> Iterator[list[int]]:
    """Yield the totals of one group after another, reporting progress."""
    for number, group in enumerate(totals):
        if number % REPORTED == 0:
            report(f"answering for group {number + 1} of {len(totals)}")
        yield group


@dataclass(frozen=True)
class OneNumber(Answering):
    """A count, a sum, or a mean over a public number of units: one draw for each group."""

    choice: Choice
    guarantee: GuaranteeName
    sensitivity: Fraction
    bounds: Bounds
    """The possible answers."""
    grain: Fraction
    """What 1 in the total is worth."""
    shift: Fraction
    """What the answer is when the total is 0."""

    def answer_all(
        self, totals: Sequence[list[int]], confidence: float, report: Progress, entropy: Entropy = system
    ) -> list[tuple[Answered, ...]]:
        """Return the total of each group, with noise, as a possible answer."""
        exact = (self.shift + total * self.grain for (total,) in report_groups(totals, report))
        released = [release(self.choice, answer, entropy) for answer in exact]
        at = lru_cache(2)(partial(self._intervals, released))
        surer = (partial(one_of, at, place) for place in range(len(released)))
        return [
            (Answered(write_value(self.bounds, on_step(self.bounds, answer)), self._noise(answer), ends, surer=again),)
            for answer, ends, again in zip(released, at(confidence), surer, strict=True)
        ]

    def _intervals(self, released: Sequence[Fraction], confidence: float) -> list[Interval]:
        ends = zip(*intervals(self.choice, released, confidence), strict=True)
        return [around(self.bounds, low, high) for low, high in ends]

    @cached_property
    def _noise(self) -> Callable[[Fraction], float]:
        """The expected noise if the truth were what was released; small counts are released again and again."""
        return lru_cache(maxsize=10_000)(self.choice.mechanism.error)

    def mechanism(self) -> str:
        return self.choice.reason

    def proof(self) -> str:
        """Return the certificate."""
        return self.choice.proof

    @property
    def certificate(self) -> Certificate:
        return self.choice.mechanism.certificate

    def expected_noise(self) -> str:
        return f"about ±{format_error(self.choice.error)} on average"

    def foreseen(self) -> Foreseen:
        """Return the mean error over the true answers that were considered."""
        return {"on average": {"each number": self.choice.error}}

    def predicted_error(self, place: int, rows: int | None) -> float:
        return self.choice.error

    def is_guess(self, rows: int | None) -> bool:
        """Return whether the mean error is that of a guess; how many rows there are does not change it."""
        return self.choice.error >= guess_error(self.bounds)


def one_of(intervals_at: Callable[[float], list[Interval]], place: int, confidence: float) -> Interval:
    """Return the interval of one of several answers at a confidence."""
    return intervals_at(confidence)[place]


def release(choice: Choice, answer: Fraction, entropy: Entropy) -> Fraction:
    """Return a private answer in place of an exact one."""
    return Fraction(choice.mechanism._release_one(answer, entropy))


def drawer(choice: Choice, step: Fraction) -> Callable[[int, Entropy], int]:
    """Return what releases totals that are counted in steps, in the same steps.

    Where these are the mechanism's own, they are its integers, and no fraction has to be made of any.
    """
    mechanism = choice.mechanism
    if isinstance(mechanism, Additive | TruncatedLaplace):
        lattices = mechanism._answers.lattice, mechanism._outputs.lattice
        if all(lattice.step == step and lattice.offset == 0 for lattice in lattices):
            return mechanism._draw
    return lambda total, entropy: int(release(choice, total * step, entropy) / step)


def intervals(
    choice: Choice, released: Sequence[Fraction | float], confidence: float
) -> tuple[list[float], list[float]]:
    """Return the ends of an interval around each release: of the true answers that may well have led to it."""
    if not released:
        return [], []
    lows, highs = choice.mechanism.interval(np.array([float(answer) for answer in released]), confidence)
    return [float(low) for low in lows], [float(high) for high in highs]


def around(bounds: Bounds, low: float, high: float) -> Interval:
    """Return an interval with ends that are written as answers are: outwards to steps, and within the bounds."""
    step = bounds.step
    if step is None:
        least, greatest = bounds.least, bounds.greatest
        return (
            low if least is None else max(low, float(least)),
            high if greatest is None else min(high, float(greatest)),
        )
    first = floor((Fraction(low) - bounds.offset) / step) * step + bounds.offset
    last = ceil((Fraction(high) - bounds.offset) / step) * step + bounds.offset
    return write_value(bounds, on_step(bounds, first)), write_value(bounds, on_step(bounds, last))


def within_64_bits(total: int) -> int:
    """Return a total as 64 bits hold it: what is beyond goes to the end on its side, and no two come farther apart."""
    return max(-(2**62), min(2**62, total))


def on_step(bounds: Bounds, value: Fraction) -> Fraction:
    """Return the possible answer nearest to what was released, which may be rounded and clamped for nothing."""
    if bounds.step is None:
        return value
    lattice = _lattice(bounds)
    index = max(-FARTHEST, min(FARTHEST, lattice.index(*value.as_integer_ratio())))
    return lattice.value(lattice.project(index)[0])


def farthest(bounds: Bounds) -> Fraction:
    """Return how far from 0 possible answers are at most: as far as their ends, or as there are steps."""
    ends = [abs(Fraction(end)) for end in (bounds.least, bounds.greatest) if end is not None]
    if len(ends) == 2 or bounds.step is None:
        return max(ends, default=Fraction(0))
    return max([*ends, FARTHEST * bounds.step + abs(bounds.offset)])


@lru_cache(maxsize=64)
def _lattice(bounds: Bounds) -> Lattice:
    assert bounds.step is not None
    return Lattice.of(bounds, bounds.step)


def write_value(bounds: Bounds, value: Fraction) -> Value:
    """Return an answer as people write it: an int, a date, a time, or a float."""
    if bounds.values != "number":
        answer = bounds.as_answer(on_step(bounds, value))
        assert not isinstance(answer, Fraction)
        return answer
    integral = bounds.step is not None and bounds.step.denominator == bounds.offset.denominator == 1
    return int(value) if integral else float(value)
