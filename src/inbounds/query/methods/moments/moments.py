"""Variances, standard deviations, covariances and correlations, with the rows, sums and means that go with them.

A row's value at the part `u` of the range is cut into parts that add up to 1 whatever it is: `(1 - u)^2`, `2u(1 - u)`
and `u^2`, or `1 - u` and `u` where no square is needed; for two columns, into all products of these.  A row moves the
sums of all parts by its weight together, so that all of them are released at the whole epsilon, and everything else
follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import product
from math import inf, prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from inbounds.bounds import Bounds
from inbounds.display.figures import format_error
from inbounds.display.progress import Progress
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.methods.mechanism_choice import Choice
from inbounds.query.methods.method import (
    SHOWN_ROWS,
    Answered,
    Answering,
    Foreseen,
    Interval,
    at_rows,
    drawer,
    guess_error,
    one_of,
    report_groups,
)
from inbounds.query.methods.moments.averages import CountOfRows, SumOfColumn
from inbounds.query.methods.moments.doubles import Doubles
from inbounds.query.methods.moments.noise import NUDGES, ROOM, SumNoise
from inbounds.query.methods.moments.pivots import Pivots
from inbounds.query.methods.moments.statistic import MomentColumn, Statistic, Summary
from inbounds.query.methods.moments.statistics import STATISTICS, Statistics
from inbounds.query.methods.moments.sums import MomentSums
from inbounds.query.methods.moments.tails import Tails
from inbounds.query.question.measure import Measure
from inbounds.sampling.entropy import Entropy, system

if TYPE_CHECKING:
    from inbounds.query.methods.moments.pivots import Numbers

THIRD = Fraction(1, 3)

LITTLE = 1e-6
"""A part of the sums that is so little that statistics move in a straight line, and enough for doubles."""


@dataclass(frozen=True)
class MomentsOfColumns(Answering):
    """Statistics of one or two columns, whichever are asked for, all from the same noisy sums."""

    choice: Choice
    guarantee: GuaranteeName
    sensitivity: Fraction
    grain: Fraction
    """What 1 in a total is worth."""
    row: Fraction
    """What a row adds to all sums together."""
    columns: tuple[MomentColumn, ...]
    of: tuple[Measure, ...]
    counts: Bounds
    noise: SumNoise
    """The noise on each sum, on average."""
    tails: Tails
    """How far out it can be."""

    kinds: ClassVar[Statistics] = STATISTICS
    """What each measure is answered by."""
    foreseen_at = guessed_at = Fraction(1, 4)
    """Of two values, the share of the greater for which errors are foreseen, and compared with those of a guess."""

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """What is asked for, in its order."""
        return tuple(self.kinds[type(measure)](measure, self.columns, self.counts) for measure in self.of)

    @property
    def number(self) -> int:
        """How many sums there are."""
        return prod(len(column.places) for column in self.columns)

    @property
    def farthest(self) -> Fraction:
        """How far from 0 any of what is asked for is at most."""
        return max(statistic.farthest for statistic in self.statistics)

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        """Where the first of what is asked for can be."""
        return self.statistics[0].bounds

    def possible(self) -> str:
        """Say where each of what is asked for can be."""
        if len(self.statistics) == 1:
            return self.statistics[0].shown()
        return ", ".join(f"{statistic.measure} in {statistic.shown()}" for statistic in self.statistics)

    def answer_all(
        self, totals: Sequence[list[int]], confidence: float, report: Progress, entropy: Entropy = system
    ) -> list[tuple[Answered, ...]]:
        """Return the answers of each group, made of its noisy sums."""
        # Draw every sum of every group; sum up each group; then answer measure by measure.
        if not totals:
            return []
        draw = drawer(self.choice, self.grain)
        measured = [[draw(total, entropy) for total in group] for group in report_groups(totals, report)]
        sums = self._sums(measured, self.grain)
        summaries = [self._summary(sums, group) for group in range(len(measured))]
        pivots = sums.pivots(self.tails, 1 - confidence)
        noises = self._noises(sums.doubles)
        pairs = zip(self.statistics, noises, strict=True)
        answers = (self._answers(statistic, sums, summaries, noise, pivots) for statistic, noise in pairs)
        return list(zip(*answers, strict=True))

    def _answers(
        self, statistic: Statistic, sums: MomentSums, summaries: list[Summary], noises: Numbers, pivots: Pivots
    ) -> list[Answered]:
        """Return what one of what is asked for is in all groups; a number of rows can be told more surely later."""
        answers = statistic.answers(sums, summaries, noises, pivots)
        if not isinstance(statistic, CountOfRows | SumOfColumn):
            return answers

        @lru_cache(2)
        def at(confidence: float) -> list[Interval]:
            surer = statistic.answers(sums, summaries, noises, sums.pivots(self.tails, 1 - confidence))
            return [answered.interval for answered in surer if answered.interval is not None]

        return [replace(answered, surer=partial(one_of, at, place)) for place, answered in enumerate(answers)]

    def _noises(self, sums: Doubles) -> list[Numbers]:
        """Return the expected noise of each measure in all groups: a few of them at a time, for there may be many."""
        parts: list[list[Numbers]] = [[] for _ in self.statistics]
        for some in sums.split(ROOM // (NUDGES * self.number)):
            nudged = some.nudged(self.noise)
            for part, statistic in zip(parts, self.statistics, strict=True):
                part.append(statistic.noise(some, nudged, self.noise))
        return [np.concatenate(part) for part in parts]

    def _sums(self, measured: Sequence[Sequence[int | Fraction]], step: Fraction) -> MomentSums:
        places = [*product(*(column.places for column in self.columns))]
        return MomentSums(measured, step, places, self.row)

    def _summary(self, sums: MomentSums, group: int) -> Summary:
        return Summary(sums, group, self.columns, self.counts)

    # How far off answers will be.

    def foreseen(self) -> Foreseen:
        """Return the error of each measure, for values spread over the range, and independent of each other."""
        return {self._title(statistic): self._errors(statistic) for statistic in self.statistics}

    def _title(self, statistic: Statistic) -> str:
        return f"in {statistic.measure}, on average about"

    def _errors(self, statistic: Statistic) -> dict[str, float]:
        error = partial(self._error, statistic, share=self.foreseen_at)
        return at_rows(error) if statistic.is_of_rows else {"on average": error(SHOWN_ROWS[0])}

    def predicted_error(self, place: int, rows: int | None) -> float | None:
        """Return what `expected_noise` tells, at a number of rows."""
        statistic = self.statistics[place]
        if rows is None and statistic.is_of_rows:
            return None
        return self._error(statistic, SHOWN_ROWS[0] if rows is None else rows, share=self.foreseen_at)

    def spread(self, place: int) -> float:
        low, high = self.statistics[place].hull
        return float(high - low)

    def is_guess(self, rows: int | None) -> bool:
        """Return whether none of what was asked for is nearer than a guess, if values are spread over the range."""
        return all(self._is_guess(statistic, rows) for statistic in self.statistics)

    def _is_guess(self, statistic: Statistic, rows: int | None) -> bool:
        if rows is None and statistic.is_of_rows:
            return False
        return self._error(statistic, max(rows or 0, 1), share=self.guessed_at) >= guess_error(statistic.bounds)

    def _error(self, statistic: Statistic, rows: int, *, share: Fraction) -> float:
        """Return the error for so many rows with values spread over the range, or a share at the greater of two.

        To first order: so much noise that clamping is what keeps an answer near is not called little.
        """
        # The sums that such rows have on average, as if they had been released; then how steep the statistic is there.
        spread = [
            [THIRD if len(column.places) == 3 else share if place else 1 - share for place in column.places]
            for column in self.columns
        ]
        released = [rows * self.row * prod(parts) for parts in product(*spread)]
        sums, (low, high) = self._sums([released], Fraction(1)).doubles, statistic.hull
        each = self.noise.each
        little = LITTLE * float(sums.together[0]) / each if each else inf  # hardly any noise is none in doubles
        moved = statistic.noise(sums, sums.moved(self.noise, little), self.noise)
        return min(float(moved[0]) / little, high - low)

    # In words.

    @property
    def all_sums(self) -> str:
        """What all sums are called."""
        return f"all {self.number} sums"

    @property
    def changed(self) -> str:
        return f" in {self.all_sums} together"

    def mechanism(self) -> str:
        parts = {2: "distances from the bounds", 3: "squared distances from the bounds and their product"}
        what = parts[max(len(column.places) for column in self.columns)]
        crossed = " of both columns, multiplied" if len(self.columns) == 2 else ""
        return f"{self.number} sums, of {what}{crossed}, each by {self.choice.reason}"

    def proof(self) -> str:
        """Return the certificate; what one unit changes in all sums adds up to the sensitivity."""
        return f"{self.choice.proof}; one unit changes {self.all_sums} together by at most the sensitivity"

    @property
    def certificate(self) -> Certificate:
        return self.choice.mechanism.certificate

    def expected_noise(self) -> str:
        return "; ".join(f"{statistic.measure}: {self._expected(statistic)}" for statistic in self.statistics)

    def _expected(self, statistic: Statistic) -> str:
        """Say the noise for values spread over the range, and independent of each other."""
        errors = self._errors(statistic)
        if not statistic.is_of_rows:
            return f"{format_error(errors['on average'])} on average"
        return f"{in_words(errors)}, if values are spread over the range"


def in_words(errors: dict[str, float]) -> str:
    """Say the errors for some numbers of rows."""
    return (
        f"on average about {', '.join(f'{format_error(error, brief=True)} {rows}' for rows, error in errors.items())}"
    )
