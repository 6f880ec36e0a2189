"""A plan: everything about a question that can be known before it is paid for and the data are looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from inbounds.query.columns.column import Numbers
from inbounds.query.methods.method import Answered, Answering
from inbounds.query.methods.quantiles.law import Buckets
from inbounds.query.question.question import Question
from inbounds.query.statement.request import Request


@dataclass(frozen=True)
class Plan:
    """How a question will be answered, and what that costs."""

    question: Question
    epsilon: Fraction
    answering: Answering
    request: Request
    sql: str
    """The statement that will run."""

    @property
    def rho(self) -> Fraction:
        """At least what it counts in rho, where a budget has a delta."""
        return self.answering.rho(self.epsilon)

    @property
    def rows(self) -> list[tuple[int | None, ...]]:
        """The rows of the answer: the codes of their groups, None where a group is added up."""
        return self.question.rows

    @property
    def cells(self) -> list[tuple[int, ...]]:
        """The groups that the statement tells apart and the condition leaves, in the order of the contract."""
        return self.question.cells_of(self.request.groups)

    @property
    def widest(self) -> list[tuple[Answered, ...]]:
        """Answers that take as many characters as any to this question."""
        return [(self.answering.widest,) * len(self.question.measure.answer_names)] * len(self.rows)

    def totals(self, rows: list[tuple[int, ...]]) -> list[list[int]]:
        """Return the totals of every cell, zeros where a statement gave no row."""
        # Zeros for every cell; then each row of the statement is added to its own cell.
        depth, width = len(self.request.groups), self._width
        totals: dict[tuple[int, ...], list[int]] = {cell: [0] * width for cell in self.cells}
        for row in rows:
            if None not in row[:depth] and (cell := tuple(map(int, row[:depth]))) in totals:  # else it is of no group
                self._add(totals[cell], [int(number or 0) for number in row[depth:]])
        return list(totals.values())

    @property
    def _width(self) -> int:
        if self.request.bucket and isinstance(self.request.value, Numbers):
            return Buckets(self.request.value, self.request.bucket).count
        return self.request.width

    def _add(self, totals: list[int], numbers: list[int]) -> None:
        if self.request.bucket:
            totals[numbers[0]] += numbers[1]
        elif self.request.unit is None and not self.request.parts:
            rows, steps = numbers[0], numbers[1] if len(numbers) > 1 else 0
            for i, total in enumerate(self.request.totals):
                totals[i] += total.rows * rows + total.steps * steps
        else:
            for i, number in enumerate(numbers):
                totals[i] += number


def rho_of(plans: Iterable[Plan]) -> Fraction:
    """Return at least what some plans together count in rho."""
    return sum((plan.rho for plan in plans), Fraction(0))
