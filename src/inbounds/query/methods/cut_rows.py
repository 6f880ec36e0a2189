"""How far the truth can be from what is counted under a row limit, by what is public of the rows over the limit.

A unit with `n` rows that a question is about, of which `c` are in a group, counts there as `c * min(1, k / n)` rows.
So a count lacks `c * (n - k) / n` of them, in all groups together at most `n - k`, which is at most the unit's rows
over the limit in the whole table; and over all units at most the number that the contract says.  A sum lacks that many
rows of some value between the least and the greatest.  A unit that is counted once in each group is weighed down only
if it has more rows than the limit.  Two smaller things are added: what weights lose by being whole numbers
(`row_weights`), and units with more than `MOST_ROWS` rows, which do not count at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, isfinite, nextafter
from typing import Any

from inbounds.query.columns.column import Numbers, grain_of
from inbounds.query.contract.over_limit import OverLimit
from inbounds.query.question.measure import Count, CountOf, CountUnits, Measure, Sum
from inbounds.query.question.question import Question
from inbounds.query.question.shared_measures import Totals
from inbounds.query.statement.row_weights import MOST_ROWS, RowWeights

Interval = tuple[Any, Any]


@dataclass(frozen=True)
class CutRows:
    """The truth is what is counted and something between these two."""

    least: Fraction
    greatest: Fraction

    @classmethod
    def of(cls, question: Question, place: int) -> CutRows | None:
        """Return them for one of the answers to a question; None if nothing is public that tells."""
        over, measure = question.table.known.over_limit, question.measure
        if over is None or question.table.relation is not None:
            return None
        if isinstance(measure, CountUnits):
            return None if question.sets is not None else cls(Fraction(0), Fraction(over.units))
        if over.rows is None:
            return None
        if isinstance(measure, Totals):
            return _cut(question, over, measure.of[place], question.table.numbers(measure.column))
        if isinstance(measure, Count):
            return _cut(question, over, measure, None)
        return _cut(question, over, measure, question.table.addends(measure.column)) if type(measure) is Sum else None

    def widen(self, ends: Interval | None) -> Interval | None:
        """Return the interval of the truth, given that of what is counted: outwards, and of the same kind."""
        if ends is None:
            return None
        return _add(ends[0], self.least, floor, -inf), _add(ends[1], self.greatest, ceil, inf)


def _cut(question: Question, over: OverLimit, measure: Measure, column: Numbers | None) -> CutRows | None:
    """Return what a count or a sum can lack; a column's mean is made of the same sums, and has no such ends."""
    assert over.rows is not None
    limit = question.table.limit
    # How many rows of units over the limit there are, and what a row of them may lose by rounding.
    rows = over.rows + over.rows // (MOST_ROWS + 1 - limit) * limit
    owned = over.rows + over.units * limit
    most = 1 if column is None else max(column.steps, int(_far(column) / grain_of(column)))
    weights = RowWeights.of_table(limit, most)
    if weights.divisor > 1:  # then rows of every unit are rounded, and how many there are is not public
        return None
    if isinstance(measure, Count | CountOf):  # from one sum, or from two over the number of steps
        return CutRows(Fraction(0), rows + 4 * owned * RowWeights.of_table(limit, 1).unit)
    if column is None or not isinstance(measure, Sum):
        return None
    rounded = owned * weights.unit * (column.step + 2 * _far(column) / column.steps)
    return CutRows(rows * min(column.low, Fraction(0)) - rounded, rows * max(column.high, Fraction(0)) + rounded)


def _far(column: Numbers) -> Fraction:
    return max(abs(column.low), abs(column.high))


def _add(end: Any, number: Fraction, whole: Callable[[Fraction], int], outwards: float) -> Any:
    if number == 0:
        return end
    if isinstance(end, int):
        return whole(end + number)
    return nextafter(float(Fraction(end) + number), outwards) if isfinite(end) else end
