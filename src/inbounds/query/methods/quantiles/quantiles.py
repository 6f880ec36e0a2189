"""Quantiles: values drawn by rank from all possible values of a column, several of them in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log

from inbounds.accuracy.confidence import CONFIDENCE, percent
from inbounds.bounds import Bounds
from inbounds.display.figures import format_error
from inbounds.display.progress import Progress
from inbounds.privacy.certificate import Certificate
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.privacy.rho import bounded_range
from inbounds.query.columns.column import Numbers
from inbounds.query.methods.method import RANKS, Answered, Answering, Foreseen, at_rows, report_groups, write_value
from inbounds.query.methods.quantiles.law import Buckets, QuantileLaw, rank_misses
from inbounds.query.methods.quantiles.ordered import OrderedQuantiles
from inbounds.sampling.entropy import Entropy, system

EXPONENTIAL = (
    "exponential mechanism: each value is drawn with probability proportional to exp(-epsilon d / (2 sensitivity)), "
    "where d is its distance in rank, computed exactly; no unit moves a rank by more than the sensitivity"
)


@dataclass(frozen=True)
class QuantileByRank(Answering):
    """A quantile: one draw from all possible values, by rank."""

    column: Numbers
    level: Fraction
    epsilon: Fraction
    limit: int
    """How many rows of a unit count."""
    row_weight: int
    """What a row that counts in full weighs."""
    guarantee: GuaranteeName
    changed = " in rank"
    is_in_ranks = True

    @property
    def sensitivity(self) -> Fraction:  # type: ignore[override]
        """The most that a unit can move a rank, up or down."""
        return self.limit * max(self.level, 1 - self.level)

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        """The possible values of the column."""
        return self.column.bounds

    @property
    def buckets(self) -> Buckets:
        """How values are told apart."""
        return Buckets.of(self.column)

    def answer_all(
        self, totals: Sequence[list[int]], confidence: float, report: Progress, entropy: Entropy = system
    ) -> list[tuple[Answered, ...]]:
        """Return a possible value for each group, by how many rows are below and above."""
        return [(self.answer(group, entropy),) for group in report_groups(totals, report)]

    def answer(self, totals: list[int], entropy: Entropy = system) -> Answered:
        """Return a possible value for one group."""
        return Answered(write_value(self.bounds, self.law(totals).draw(entropy)), None)

    def law(self, totals: list[int]) -> QuantileLaw:
        """Return the law of that value."""
        rate = self.epsilon / (2 * self.sensitivity * self.level.denominator * self.row_weight)
        return QuantileLaw(self.buckets, rank_misses(totals, self.level), rate)

    def rho(self, epsilon: Fraction) -> Fraction:
        """Return at least the rho of all groups together: their losses, added up, have a range of epsilon."""
        return bounded_range(epsilon)

    def mechanism(self) -> str:
        return f"the exponential mechanism over {describe_values(self.buckets)}: values closer in rank are more likely"

    def proof(self) -> str:
        """Say by which law the loss is at most epsilon."""
        return EXPONENTIAL

    @property
    def certificate(self) -> Certificate:
        return OrderedQuantiles(self.buckets, (self.level,), self.epsilon, self.limit, self.row_weight).certificate

    def expected_noise(self) -> str:
        near = f"within {format_error(self.rank_error)} ranks of the true one{describe_resolution(self.buckets)}"
        return f"with {percent()} probability, {near}"

    @property
    def rank_error(self) -> float:
        """By how many ranks it is off, at most, with the usual confidence."""
        return 2 * float(self.sensitivity) / float(self.epsilon) * log(self.column.points / (1 - CONFIDENCE))

    def foreseen(self) -> Foreseen:
        """Return by which part of all ranks it is off, in per cent with the usual confidence, at numbers of rows."""
        return {RANKS: at_rows(lambda rows: min(100.0, 100 * self.rank_error / rows))}

    def predicted_error(self, place: int, rows: int | None) -> float:
        """Return by how many ranks it is off at most, with the usual confidence."""
        return self.rank_error

    def is_guess(self, rows: int | None) -> bool:
        """Return whether every value is so likely that, whatever the rows are, one is drawn no nearer than a guess.

        No value is more than `rows` times the larger level away in rank, so none is likelier than another by more than
        the exponential below.
        """
        return rows is not None and float(self.epsilon) * rows / (2 * self.limit) <= log(self.buckets.even_to_guess)


@dataclass(frozen=True)
class QuantilesInOrder(Answering):
    """Several quantiles of a column: none is released below the one before."""

    law: OrderedQuantiles
    guarantee: GuaranteeName
    changed = " in rank"
    is_in_ranks = True

    @property
    def sensitivity(self) -> Fraction:  # type: ignore[override]
        """The most that a unit can move a rank, up or down."""
        return self.law.limit * max(max(level, 1 - level) for level in self.law.levels)

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        """The possible values of the column."""
        return self.law.buckets.column.bounds

    def answer_all(
        self, totals: Sequence[list[int]], confidence: float, report: Progress, entropy: Entropy = system
    ) -> list[tuple[Answered, ...]]:
        """Return possible values in order, for each group."""
        return [
            tuple(Answered(write_value(self.bounds, value), None) for value in self.law.draw(group, entropy))
            for group in report_groups(totals, report)
        ]

    def rho(self, epsilon: Fraction) -> Fraction:
        """Return at least the rho of all groups together."""
        return min(self.law.rho, super().rho(epsilon))

    def mechanism(self) -> str:
        return (
            f"{len(self.law.levels)} quantiles in order by the exponential mechanism over "
            f"{describe_values(self.law.buckets)}: the middle one first, then those on either side, each at epsilon "
            f"{float(self.law.epsilon_each):.3g} or more"
        )

    def proof(self) -> str:
        """Say by which law the loss is at most epsilon."""
        return f"{EXPONENTIAL}; the losses of all of them add up to epsilon"

    @property
    def certificate(self) -> Certificate:
        return self.law.certificate

    def expected_noise(self) -> str:
        rows = format_error(self.rank_error)
        return (
            f"with {percent()} probability, all of them are within {rows} ranks of the true ones, if no value has "
            f"more than {2**self.law.halvings:,} rows{describe_resolution(self.law.buckets)}; usually much closer"
        )

    def foreseen(self) -> Foreseen:
        """Return by which part of all ranks they are off, in per cent with the usual confidence, at numbers of rows."""
        most = self.rank_error
        return {RANKS: at_rows(lambda rows: min(100.0, 100 * most / rows))}

    def predicted_error(self, place: int, rows: int | None) -> float:
        """Return by how many ranks each is off at most, with the usual confidence."""
        return self.rank_error

    @property
    def rank_error(self) -> float:
        """By how many ranks each is off, at most, with the usual confidence, if no value has very many rows."""
        return max(self.law.rank_error())


def describe_values(buckets: Buckets) -> str:
    """Say how many possible values there are, and how they are told apart."""
    apart = "" if buckets.width == 1 else f" in {buckets.count} buckets"
    return f"{buckets.column.points} possible values{apart}"


def describe_resolution(buckets: Buckets) -> str:
    """Say how finely values are told apart, if not to the step."""
    if buckets.width == 1:
        return ""
    return f", with values resolved to {float(buckets.width * buckets.column.step):.3g}"
