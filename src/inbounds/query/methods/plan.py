"""A plan: everything about a question that can be known before it is paid for and the data are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from inbounds.errors import EngineFailed
from inbounds.query.columns.column import Numbers
from inbounds.query.methods.method import Answered, Answering
from inbounds.query.methods.quantiles.law import Buckets
from inbounds.query.question.question import Question
from inbounds.query.statement.request import Request

OUT_OF_RANGE = "a code out of range"
"""What kind of failure it is if a database returns a group that there is not."""


@dataclass(frozen=True)
class Plan:
    """How a question will be answered, and what that costs."""

    question: Question
    epsilon: Fraction
    answering: Answering
    request: Request
    sql: str
    """The statement that will run."""
    own: slice = field(default_factory=lambda: slice(None), compare=False)
    """Which of the numbers that the statement has for a group are its own, if other questions share it."""

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

    def totals(self, rows: Sequence[tuple[int | None, ...]]) -> list[list[int]]:
        """Return the totals of every cell, zeros where a statement gave no row."""
        # Zeros for every cell; then each row of the statement is added to its own cell.
        depth, width = len(self.request.groups), self._width
        totals: dict[tuple[int, ...], list[int]] = {cell: [0] * width for cell in self.cells}
        for row in rows:
            cell = self._cell_of(row[:depth])
            if cell in totals:  # else it is of no group, or of keys that the contract says never meet
                self._add(totals[cell], row[depth:][self.own])
        return list(totals.values())

    def _cell_of(self, codes: tuple[int | None, ...]) -> tuple[int, ...] | None:
        """Return the cell of a row, None if it has no group: where rows are units, a statement has such rows."""
        if self.request.unit is None and None in codes:
            return None
        return tuple(map(_check_code, codes, self._sizes))

    @cached_property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(group.size for group in self.request.groups)

    @property
    def _width(self) -> int:
        if self.request.bucket and isinstance(self.request.value, Numbers):
            return Buckets(self.request.value, self.request.bucket).count
        return self.request.width

    def _add(self, totals: list[int], found: tuple[int | None, ...]) -> None:
        numbers = [int(number or 0) for number in found]  # a sum over no rows is NULL
        if self.request.bucket:
            totals[_check_code(found[0], len(totals))] += numbers[1]
        elif self.request.unit is None and not self.request.parts:
            rows, steps = numbers[0], numbers[1] if len(numbers) > 1 else 0
            for i, total in enumerate(self.request.totals):
                totals[i] += total.rows * rows + total.steps * steps
        else:
            for i, number in enumerate(numbers):
                totals[i] += number


def _check_code(code: int | None, size: int) -> int:
    """Return the number of a group or a bucket; a statement that ran as it was written has no other."""
    if code is None or not 0 <= code < size or int(code) != code:
        raise EngineFailed(OUT_OF_RANGE)
    return int(code)


def rho_of(plans: Iterable[Plan]) -> Fraction:
    """Return at least what some plans together count in rho."""
    return sum((plan.rho for plan in plans), Fraction(0))
