"""Showing an answer: expressions are computed from what was released, and rows are left out and put in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from typing import Any

from inbounds.exact.rational import round_nearest
from inbounds.query.answer.answer import Answer, unlike
from inbounds.query.answer.released.evaluate import evaluate, interval, is_true, slopes, to_cell, to_cells
from inbounds.query.answer.released.leaf import Key, MeasureRef, PublicValue, ReleasedRow, measures_in
from inbounds.query.answer.view import Order, Shown, ShownColumn
from inbounds.query.columns.column import Keys
from inbounds.query.expressions.node import Node
from inbounds.query.question.measure import Measure
from inbounds.query.question.question import Question


@dataclass(frozen=True)
class Showing:
    """An answer of which something is shown: what was measured in its columns, and what was released together."""

    released: Answer
    groups: tuple[str, ...]
    measures: tuple[Measure, ...]
    bundles: tuple[int, ...]
    """For each measure, which question answered it: intervals of one question hold at once."""
    ranks: Mapping[str, Mapping[Any, int]]
    """In which order the values of a column lie that has no keys: bins have names that do not tell."""

    @classmethod
    def of(
        cls, released: Answer, questions: Sequence[Question], measures: Sequence[Measure], bundles: Sequence[int]
    ) -> Showing:
        """Take an answer to some questions."""
        groups = questions[0].groups
        ranks = {
            group.column.name: {label: rank for rank, label in enumerate(labels)}
            for group, labels in zip(groups, questions[0].labels, strict=True)
            if not isinstance(group.column, Keys)
        }
        return cls(released, tuple(one.column.name for one in groups), tuple(measures), tuple(bundles), ranks)

    def shown(self, how: Shown) -> Answer:
        """Return what is to be shown."""
        if not how:
            return self.released
        columns = how.columns or tuple(ShownColumn(MeasureRef(one)) for one in self.measures)
        rows = [(place, self._row(place)) for place in range(len(self.released.rows))]
        if how.having is not None:
            rows = [(place, row) for place, row in rows if is_true(how.having, row)]
        for order in reversed(how.order):
            rows = self._ordered(rows, order)
        end = None if how.limit is None else how.offset + how.limit
        kept = [place for place, _ in rows[how.offset : end]]
        cells = [self._cells(columns, place) for place in kept]
        keys = len(self.groups)
        return replace(
            self.released,
            columns=self._names(how, columns),
            rows=tuple(
                (*self.released.rows[place][:keys], *(one[0] for one in row))
                for place, row in zip(kept, cells, strict=True)
            ),
            noise=tuple(tuple(one[1] for one in row) for row in cells),
            intervals=tuple(tuple(one[2] for one in row) for row in cells) if self.released.intervals else (),
            confidences=(),
            noise_only=tuple(self._noise_only(column.of) for column in columns),
            measured=len(columns),
            kept=self.released,
        )

    def _names(self, how: Shown, columns: Sequence[ShownColumn]) -> tuple[str, ...]:
        named = dict(how.keys)
        found = tuple(named.get(name, name) for name in self.groups)
        for column in columns:
            found = (*found, column.name or unlike(self._name(column.of), found))
        return found

    def _name(self, of: Node) -> str:
        if not isinstance(of, MeasureRef):
            return str(of)
        return self.released.columns[len(self.groups) + self.measures.index(of.measure)]

    def _row(self, place: int) -> ReleasedRow:
        row, count = self.released.rows[place], len(self.groups)
        intervals = self.released.intervals[place] if self.released.intervals else (None,) * len(self.measures)
        return ReleasedRow(
            dict(zip(self.groups, row[:count], strict=True)),
            dict(zip(self.measures, row[count:], strict=True)),
            dict(zip(self.measures, intervals, strict=True)),
        )

    def _ordered(self, rows: list[tuple[int, ReleasedRow]], order: Order) -> list[tuple[int, ReleasedRow]]:
        """Return rows in order; those that are alike stay as they are."""
        found = [(self._sorted_by(order.of, row), (place, row)) for place, row in rows]
        there = sorted((one for one in found if one[0] is not None), key=lambda one: one[0], reverse=order.descending)
        missing = [one for one in found if one[0] is None]
        return [one for _, one in (missing + there if order.missing_first else there + missing)]

    def _sorted_by(self, of: Node, row: ReleasedRow) -> Any:
        if not isinstance(of, Key) or of.of.name not in self.ranks:
            return evaluate(of, row)
        key = row.keys[of.of.name]
        return None if key is None else self.ranks[of.of.name][key]

    def _cells(self, columns: Sequence[ShownColumn], place: int) -> list[tuple[Any, float | None, Any]]:
        return [self._cell(column.of, self._row(place), place) for column in columns]

    def _cell(self, of: Node, row: ReleasedRow, place: int) -> tuple[Any, float | None, Any]:
        """Return the value of an expression, its expected noise and its interval, as far as they follow."""
        noise = dict(zip(self.measures, self.released.noise[place], strict=True))
        if isinstance(of, MeasureRef):
            return row.values[of.measure], noise[of.measure], row.intervals[of.measure]
        if isinstance(of, PublicValue):
            return of.cell(row)
        ends = to_cells(interval(of, row)) if self._is_sure(of) else None
        return to_cell(evaluate(of, row)), _noise(of, row, noise), ends

    def _noise_only(self, of: Node) -> bool:
        """Return whether what an expression is made of has an interval that is about the noise only."""
        each = dict(zip(self.measures, self.released.intervals_noise_only, strict=True))
        return any(each[measure] for measure in measures_in(of))

    def _is_sure(self, of: Node) -> bool:
        """Return whether all intervals that an expression needs hold at once with the confidence that is stated."""
        stated = self.released.confidence
        sure = dict(zip(self.bundles, self.released.confidences or (stated,) * len(self.bundles), strict=True))
        needed = {self.bundles[self.measures.index(one)] for one in measures_in(of)}
        return sum(1 - Fraction(sure[one]) for one in needed) <= 1 - Fraction(stated)


def _noise(of: Node, row: ReleasedRow, noise: Mapping[Measure, float | None]) -> float | None:
    """Return the expected noise of what is linear in one measure: noise on several does not simply add up."""
    growth = slopes(of, row)
    if growth is None or len(growth) != 1:
        return None
    ((measure, slope),) = growth.items()
    each = noise[measure]
    found = None if each is None else round_nearest(abs(slope) * Fraction(each))
    return found if found is not None and isfinite(found) else None
