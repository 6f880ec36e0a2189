"""Showing an answer: expressions are computed from what was released, and rows are left out and put in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from operator import itemgetter
from typing import Any

from inbounds.exact.rational import round_nearest
from inbounds.query.answer.answer import Answer, unlike
from inbounds.query.answer.released.evaluate import evaluate, interval, is_true, slopes, to_cell, to_cells
from inbounds.query.answer.released.leaf import Cell, KeyRef, MeasureRef, PublicValue, ReleasedRow, measures_in
from inbounds.query.answer.view import Order, View, ViewColumn
from inbounds.query.expressions.node import Node
from inbounds.query.question.measure import Measure
from inbounds.query.question.question import Question


@dataclass(frozen=True)
class Viewer:
    """Shows answers: knows what was measured in their columns, and what was released together."""

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
    ) -> Viewer:
        """Take an answer to some questions."""
        groups = questions[0].groups
        ranks = {
            group.column.name: {label: rank for rank, label in enumerate(labels)}
            for group, labels in zip(groups, questions[0].labels, strict=True)
            if group.column.has_order
        }
        return cls(released, tuple(group.column.name for group in groups), tuple(measures), tuple(bundles), ranks)

    def apply(self, view: View) -> Answer:
        """Return what is to be shown."""
        # Rows are chosen and ordered by what was released; only then are the columns of those that stay computed.
        if not view:
            return self.released
        columns = view.columns or tuple(ViewColumn(MeasureRef(measure)) for measure in self.measures)
        rows = [self._read_row(place) for place in range(len(self.released.rows))]
        if view.having is not None:
            rows = [row for row in rows if is_true(view.having, row)]
        for order in reversed(view.order):  # sorting is stable, so what comes first in the view prevails
            rows = self._order_rows(rows, order)
        rows = rows[view.offset : None if view.limit is None else view.offset + view.limit]
        cells = [[self._evaluate(column.of, row) for column in columns] for row in rows]
        return replace(
            self.released,
            columns=self._name_columns(view, columns),
            rows=tuple(
                (*row.keys.values(), *(cell[0] for cell in line)) for row, line in zip(rows, cells, strict=True)
            ),
            noise=tuple(tuple(cell[1] for cell in line) for line in cells),
            intervals=tuple(tuple(cell[2] for cell in line) for line in cells) if self.released.intervals else (),
            confidences=(),
            noise_only=tuple(self._is_noise_only(column.of) for column in columns),
            measured=len(columns),
            kept=self.released,
        )

    def _name_columns(self, view: View, columns: Sequence[ViewColumn]) -> tuple[str, ...]:
        aliases = {key.name: alias for key, alias in view.keys}
        names = tuple(aliases.get(name, name) for name in self.groups)
        for column in columns:
            names = (*names, column.name or unlike(self._name_of(column.of), names))
        return names

    def _name_of(self, of: Node) -> str:
        if not isinstance(of, MeasureRef):
            return str(of)
        return self.released.columns[len(self.groups) + self.measures.index(of.measure)]

    def _read_row(self, place: int) -> ReleasedRow:
        row, count = self.released.rows[place], len(self.groups)
        intervals = self.released.intervals[place] if self.released.intervals else (None,) * len(self.measures)
        return ReleasedRow(
            dict(zip(self.groups, row[:count], strict=True)),
            dict(zip(self.measures, row[count:], strict=True)),
            dict(zip(self.measures, intervals, strict=True)),
            dict(zip(self.measures, self.released.noise[place], strict=True)),
        )

    def _order_rows(self, rows: list[ReleasedRow], order: Order) -> list[ReleasedRow]:
        """Return rows in order; those that are alike stay as they are."""
        keyed = [(self._sort_key(order.of, row), row) for row in rows]
        present = [pair for pair in keyed if pair[0] is not None]
        present.sort(key=itemgetter(0), reverse=order.descending)
        missing = [pair for pair in keyed if pair[0] is None]
        return [row for _, row in (missing + present if order.missing_first else present + missing)]

    def _sort_key(self, of: Node, row: ReleasedRow) -> Any:
        if not isinstance(of, KeyRef) or of.of.name not in self.ranks:
            return evaluate(of, row)
        key = row.keys[of.of.name]
        return None if key is None else self.ranks[of.of.name][key]

    def _evaluate(self, of: Node, row: ReleasedRow) -> Cell:
        """Return the value of an expression, its expected noise and its interval, as far as they follow."""
        if isinstance(of, MeasureRef | PublicValue):
            return of.cell(row)
        ends = to_cells(interval(of, row)) if self._hold_at_once(of) else None
        return to_cell(evaluate(of, row)), _expect_noise(of, row), ends

    def _is_noise_only(self, of: Node) -> bool:
        """Return whether what an expression is made of has an interval that is about the noise only."""
        noise_only = dict(zip(self.measures, self.released.intervals_noise_only, strict=True))
        return any(noise_only[measure] for measure in measures_in(of))

    def _hold_at_once(self, of: Node) -> bool:
        """Return whether all intervals that an expression needs hold at once with the confidence that is stated."""
        stated = self.released.confidence
        confidences = dict(zip(self.bundles, self.released.confidences or (stated,) * len(self.bundles), strict=True))
        needed = {self.bundles[self.measures.index(measure)] for measure in measures_in(of)}
        # By the union bound: each bundle misses with the rest of its confidence.
        return sum(1 - Fraction(confidences[bundle]) for bundle in needed) <= 1 - Fraction(stated)


def _expect_noise(of: Node, row: ReleasedRow) -> float | None:
    """Return the expected noise of what is linear in one measure: noise on several does not simply add up."""
    growth = slopes(of, row)
    if growth is None or len(growth) != 1:
        return None
    ((measure, slope),) = growth.items()
    if (noise := row.noise[measure]) is None:
        return None
    expected = round_nearest(abs(slope) * Fraction(noise))
    return expected if isfinite(expected) else None
