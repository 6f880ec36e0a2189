"""What all ways of planning a question share: the request, the bounds, and one draw for each group or one table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from inbounds.bounds import Bounds
from inbounds.errors import InvalidQuestion
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.columns.column import Column, Numbers, grain_of
from inbounds.query.columns.kind import kind_of
from inbounds.query.expressions.condition import Condition
from inbounds.query.methods.joint.planning import finest_groups, joint_table
from inbounds.query.methods.mechanism_choice import choose
from inbounds.query.methods.method import Answering, OneNumber
from inbounds.query.question.question import Question
from inbounds.query.statement.relations import TableReader
from inbounds.query.statement.request import Parts, Request, Total
from inbounds.query.statement.row_weights import RowWeights

WHOLE_ROWS = Total(1, 0)

Planned = tuple[Answering, Request]
"""How a measure will be answered, and what has to be read for it."""

RELEASED_BITS = 16
"""In a table, sums without a step are released in at least 2**15 steps to what one unit can change: at the largest
epsilon there is, noise goes over dozens of them."""

MOST_RELEASED = 2**20
"""In a table, one unit changes sums by at most so many steps: then all sums of 2**30 units are numbers of steps that
tables can be made of (`joint/measured/measurements.py`).  Finer steps are taken by tens, hundreds and so on."""

MOST_GRAINS = 2**35
"""A value may be so many times what all values are multiples of: then the sum of a unit's rows stays below 2**63."""


@dataclass(frozen=True)
class Planner:
    """A question to be planned, and what every measure is planned with."""

    question: Question
    epsilon: Fraction
    reader: TableReader
    pooling: Fraction | None

    def request(
        self,
        totals: tuple[Total, ...],
        most: int,
        *,
        value: Numbers | Condition | None = None,
        bucket: int = 0,
        distinct: bool = False,
        limit: int | None = None,
        parts: tuple[Parts, ...] = (),
    ) -> Request:
        """Return what to read: totals that a row moves by at most `most`, for each of the groups."""
        table = self.question.table
        weigh = RowWeights.of_table if self.is_table else RowWeights.of
        return Request(
            columns=self._columns(value),
            kinds=self.reader.kinds(table),
            groups=self.question.groups,
            condition=self.question.condition,
            value=value,
            bucket=bucket,
            unit=None if table.rows_are_units else table.unit,
            distinct=distinct,
            totals=totals,
            weights=RowWeights(1, 0) if table.rows_are_units else weigh(limit or table.limit, most),
            parts=parts,
        )

    def _columns(self, value: Numbers | Condition | None) -> dict[str, Column]:
        """Return the columns of the table, and those made of columns that conditions look at."""
        table, conditions = self.question.table, (self.question.condition, value)
        nodes = [node for condition in conditions if isinstance(condition, Condition) for node in condition.columns()]
        return {**table.columns, **{node.name: table.column(node) for node in nodes}}

    @property
    def is_table(self) -> bool:
        """Whether the answer is a table that adds up: with groups to count or add up it is, unless asked not to be."""
        question = self.question
        together = bool(question.groups) and not question.alone and self.pooling is None
        return (together and question.measure.adds_up) or question.sets is not None

    @property
    def one_group(self) -> bool:
        """Whether a unit's rows can be in one group only."""
        return self.question.table.rows_are_units or not self.question.groups

    @property
    def is_over_all_units(self) -> bool:
        """Whether the number of rows is public: every unit counts as one row, and all of them are asked about."""
        question = self.question
        whole = question.condition is None and not question.groups
        return whole and question.table.units is not None and question.table.limit == 1

    def one_number(
        self, request: Request, bounds: Bounds, grain: Fraction, sensitivity: Fraction, shift: Fraction = Fraction(0)
    ) -> OneNumber:
        """Answer with one draw for each group; by the distance guarantee where a unit can change several of them."""
        guarantee: GuaranteeName = "standard" if self.one_group else "distance"
        fine = grain * request.weights.unit
        drawn_in = _drawn_in(bounds, None if self.one_group else fine)
        choice = choose(drawn_in, sensitivity, self.epsilon, guarantee, self.pooling)
        return OneNumber(choice, guarantee, sensitivity, bounds, fine, shift)

    def number_or_table(self, request: Request, bounds: Bounds, grain: Fraction, sensitivity: Fraction) -> Planned:
        """Answer with a number by itself, or with a table that adds up where there are groups, unless asked not to."""
        if self.is_table:
            return self.table(request, bounds, grain, sensitivity)
        return self.one_number(request, bounds, grain, sensitivity), request

    def table(self, request: Request, bounds: Bounds, grain: Fraction, sensitivity: Fraction) -> Planned:
        """Answer with a table that adds up."""
        if self.pooling is not None:
            raise InvalidQuestion("pooling does not apply to a table with totals; leave it out")
        fine = grain * request.weights.unit
        answering = joint_table(
            self.question,
            self.epsilon,
            sensitivity=sensitivity,
            bounds=bounds,
            step=_released_in(bounds.step, fine, sensitivity),
            grain=fine,
        )
        return answering, replace(request, groups=finest_groups(self.question))

    def counts(self, each: int) -> Bounds:
        """Return the possible counts, where a unit counts at most `each`."""
        units = self.question.table.units
        return Bounds(0, None if units is None else units * each, step=1)

    def sums(self, column: Numbers) -> Bounds:
        """Return the possible sums of a column: of no row up to all rows that can count, if that is known.

        Sums of days are never released: they are numbers of days that means are made of, and have no end.
        """
        if not column.kind.adds_up:
            return Bounds(0, None, step=1)
        table = self.question.table
        everyone = None if table.units is None else table.units * table.limit
        low, high = min(column.low, Fraction(0)), max(column.high, Fraction(0))
        ends = [Fraction(0) if end == 0 else None if everyone is None else end * everyone for end in (low, high)]
        return Bounds(ends[0], ends[1], step=None if column.bounds.step is None else grain_of(column))

    def grain(self, column: Numbers) -> Fraction:
        """Return what all values of a column are multiples of; those too fine for that are refused."""
        grain = grain_of(column)
        if max(abs(column.low), abs(column.high)) / grain > MOST_GRAINS:
            raise InvalidQuestion(
                f"values of {column.name} are too fine to be added up; give its bounds a coarser step"
            )
        return grain


def hull(column: Numbers) -> Bounds:
    """Return where the mean of a column can be: anywhere between its ends."""
    return column.kind.between(column.low, column.high)


def _released_in(step: Fraction | None, fine: Fraction, sensitivity: Fraction) -> Fraction:
    """Return the step of sums in a table: their own, or as much coarser as is not seen beside the noise, so that the
    sums of many rows are numbers of steps that doubles hold."""
    if step is None:
        return fine * 2 ** max(0, int(sensitivity / fine).bit_length() - RELEASED_BITS)
    while sensitivity > MOST_RELEASED * step:
        step *= 10
    return step


def _drawn_in(bounds: Bounds, fine: Fraction | None) -> Bounds:
    """Return the bounds as a mechanism is to see them: days as numbers, and where a unit can change several answers, on
    a lattice so fine that everything that it can change is a whole number."""
    if not kind_of(bounds).adds_up:
        return Bounds(bounds.least, bounds.greatest)
    if fine is None:
        return bounds
    return Bounds(bounds.low, bounds.high, step=fine)  # type: ignore[arg-type]
