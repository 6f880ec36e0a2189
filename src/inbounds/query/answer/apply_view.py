"""Showing an answer: expressions are computed from what was released, and rows are left out and put in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isfinite
from typing import Any

from inbounds.exact.rational import round_nearest
from inbounds.query.answer.released.evaluate import evaluate, interval, is_true, slopes, to_cell, to_cells
from inbounds.query.answer.released.leaf import (
    Cell,
    KeyRef,
    MeasureRef,
    Named,
    PublicValue,
    ReleasedRow,
    inner_row,
    measures_in,
)
from inbounds.query.answer.released.window import Window, WindowCell, windows_in
from inbounds.query.answer.released.window_rows import put_in_order
from inbounds.query.answer.released.window_values import Followed, compute_window
from inbounds.query.answer.running_totals import running_cells, shows_all_rows
from inbounds.query.answer.view import View, ViewColumn
from inbounds.query.expressions.node import Node
from inbounds.query.question.measure import Measure
from inbounds.query.question.question import Question
from inbounds.results.answer import Answer, unlike
from inbounds.results.cover import Cover
from inbounds.results.nothing_learnt import WholeRange


class _Cells(Mapping[Any, Any]):
    """Cells of a row by what they are of: the places are the same for all rows, of which there may be many."""

    __slots__ = ("_cells", "_places")

    def __init__(self, places: Mapping[Any, int], cells: Sequence[Any]) -> None:
        self._places, self._cells = places, cells

    def __getitem__(self, of: Any) -> Any:
        return self._cells[self._places[of]]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True)
class Viewer:
    """Shows answers: knows what was measured in their columns, and what was released together."""

    released: Answer
    groups: tuple[Node, ...]
    measures: tuple[Measure, ...]
    ranks: Mapping[str, Mapping[Any, int]]
    """In which order the values of a column lie that has no keys: bins have names that do not tell."""
    public_rows: bool = True
    """Whether public keys alone say which rows there are."""

    @classmethod
    def of(cls, released: Answer, questions: Sequence[Question], measures: Sequence[Measure]) -> Viewer:
        """Take an answer to some questions."""
        groups = questions[0].groups
        ranks = {
            group.column.name: {label: rank for rank, label in enumerate(labels)}
            for group, labels in zip(groups, questions[0].labels, strict=True)
            if group.column.has_order
        }
        return cls(released, tuple(group.column.node for group in groups), tuple(measures), ranks)

    def apply(self, view: View) -> Answer:
        """Return what is to be shown."""
        # Rows are chosen and ordered by what was released; only then are the columns of those that stay computed.
        if not view:
            return self.released
        columns = self.columns_of(view)
        places = tuple(place for place, column in enumerate(columns) if column.key is None)
        rows = self._choose_rows(view)
        cells = [[self._evaluate(column.of, row) for column in columns] for row in rows]
        return replace(
            self.released,
            columns=self._name_columns(columns),
            rows=tuple(tuple(cell[0] for cell in line) for line in cells),
            noise=tuple(tuple(line[place][1] for place in places) for line in cells),
            intervals=tuple(tuple(line[place][2] for place in places) for line in cells)
            if self.released.intervals
            else (),
            confidences=(),
            covers=tuple(self._cover_of(columns[place].of) for place in places),
            measured=places,
            kept=self.released,
        )

    def columns_of(self, view: View) -> tuple[ViewColumn, ...]:
        """Return what a view shows; everything if it does not say."""
        return view.columns or self._every_column

    @cached_property
    def _every_column(self) -> tuple[ViewColumn, ...]:
        """All that was released: keys, then measures."""
        keys = (ViewColumn(KeyRef(group)) for group in self.groups)
        return *keys, *(ViewColumn(MeasureRef(measure)) for measure in self.measures)

    def _choose_rows(self, view: View) -> list[ReleasedRow]:
        """Return the rows that are shown, in order, with what windows are in them."""
        # As in SQL: first the SELECT inside, then HAVING, then windows, QUALIFY, ORDER BY, LIMIT.
        if view.inner is None:
            rows = [self._read_row(place) for place in range(len(self.released.rows))]
        else:
            rows = [replace(row, windows={}, inner=row) for row in self._choose_rows(view.inner)]
        if view.having is not None:
            rows = [row for row in rows if is_true(view.having, row)]
        rows = self._add_windows(rows, view)
        if view.grouped is not None:
            rows = self._group_rows(rows, view, view.grouped)
        if view.qualify is not None:
            rows = [row for row in rows if is_true(view.qualify, row)]
        for order in reversed(view.order):  # sorting is stable, so what comes first in the view prevails
            keys = [self._sort_key(order.of, row) for row in rows]
            rows = [rows[place] for place in put_in_order(range(len(rows)), keys, order)]
        return rows[view.offset : None if view.limit is None else view.offset + view.limit]

    def _add_windows(self, rows: list[ReleasedRow], view: View) -> list[ReleasedRow]:
        """Return rows with what each window is in them."""
        followed = Followed(self._risk, _expect_noise, self.public_rows and view.has_public_rows)
        for window in dict.fromkeys(windows_in(*view.nodes)):
            cells = compute_window(window, rows, self._sort_key, followed)
            cells = self._know_running(window, rows, cells, view) or cells
            rows = [replace(row, windows={**row.windows, window: cell}) for row, cell in zip(rows, cells, strict=True)]
        return rows

    def _know_running(
        self, window: Window, rows: Sequence[ReleasedRow], cells: Sequence[WindowCell], view: View
    ) -> list[WindowCell] | None:
        """Return a running total in each row with what is known of it; None if nothing is."""
        if self.released.running is None or len(self.measures) != 1 or not shows_all_rows(view):
            return None
        names = [group.name for group in self.groups]
        known = running_cells(self.released.running, window, rows, cells, names)
        return known and [replace(cell, risk=self._risks[self.measures[0]]) for cell in known]

    def _group_rows(self, rows: list[ReleasedRow], view: View, by: Sequence[Node]) -> list[ReleasedRow]:
        """Return the first row of each group, in which windows over all rows of the group were computed."""
        first: dict[tuple[Any, ...], ReleasedRow] = {}
        for row in rows:
            first.setdefault(tuple(evaluate(key, row) for key in by), row)
        if not by and not rows:  # as in SQL, nothing at all is one group
            cells: dict[Node, WindowCell] = {
                window: WindowCell(0 if window.function == "COUNT" else None) for window in windows_in(*view.nodes)
            }
            return [ReleasedRow({}, {}, {}, windows=cells)]
        return list(first.values())

    def _name_columns(self, columns: Sequence[ViewColumn]) -> tuple[str, ...]:
        """Return what columns are called: names that were given and those of keys stay, whatever is beside them."""
        taken = tuple(column.given_name for column in columns if column.given_name is not None)
        names = []
        for column in columns:
            names.append(column.given_name or unlike(self._name_of(column.of), taken))
            taken = (*taken, names[-1])
        return tuple(names)

    def _name_of(self, of: Node) -> str:
        if not isinstance(of, MeasureRef):
            return of.name
        return self.released.columns[len(self.groups) + self.measures.index(of.measure)]

    def _read_row(self, place: int) -> ReleasedRow:
        row, count = self.released.rows[place], len(self.groups)
        intervals = self.released.intervals[place] if self.released.intervals else (None,) * len(self.measures)
        groups, measures = self._places
        return ReleasedRow(
            _Cells(groups, row[:count]),
            _Cells(measures, row[count:]),
            _Cells(measures, intervals),
            _Cells(measures, self.released.noise[place]),
        )

    @cached_property
    def _places(self) -> tuple[dict[str, int], dict[Measure, int]]:
        """The place of each group and of each measure among the cells of a row."""
        groups = {group.name: place for place, group in enumerate(self.groups)}
        return groups, {measure: place for place, measure in enumerate(self.measures)}

    def _sort_key(self, of: Node, row: ReleasedRow) -> Any:
        if isinstance(of, Named):
            return self._sort_key(of.of, inner_row(row))
        if not isinstance(of, KeyRef) or of.of.name not in self.ranks:
            return evaluate(of, row)
        key = row.keys[of.of.name]
        return None if key is None else self.ranks[of.of.name][key]

    def _evaluate(self, of: Node, row: ReleasedRow) -> Cell:
        """Return the value of an expression, its expected noise and its interval, as far as they follow."""
        if isinstance(of, KeyRef | MeasureRef | PublicValue):
            return of.cell(row)
        if isinstance(of, Named):
            return self._evaluate(of.of, inner_row(row))
        noise = row.windows[of].noise if isinstance(of, Window) else _expect_noise(of, row)
        ends = to_cells(interval(of, row)) if self._risk(of, row) <= self._most_risk else None
        if ends is not None and self._tells_nothing(of, row):
            ends = WholeRange(ends)
        return to_cell(evaluate(of, row)), noise, ends

    def _tells_nothing(self, of: Node, row: ReleasedRow) -> bool:
        """Return whether an expression is made of nothing but measures of which nothing was learnt."""
        released = [(node, seen) for node, seen, _ in _released_in(of, row)]
        return bool(released) and all(
            isinstance(node, MeasureRef) and isinstance(seen.intervals[node.measure], WholeRange)
            for node, seen in released
        )

    def _cover_of(self, of: Node) -> Cover:
        """Return what the interval of an expression is about, by those of what it is made of."""
        covers = dict(zip(self.measures, self.released.interval_covers, strict=True))
        return Cover.of_all(covers[measure] for measure in measures_in(of))

    @cached_property
    def _most_risk(self) -> Fraction:
        """With which probability an interval may be wrong."""
        return 1 - Fraction(self.released.confidence)

    @cached_property
    def _risks(self) -> Mapping[Measure, Fraction]:
        """For each measure with which probability an interval of it may be wrong."""
        confidences = self.released.confidences or (self.released.confidence,) * len(self.measures)
        return {of: 1 - Fraction(confidence) for of, confidence in zip(self.measures, confidences, strict=True)}

    def _risk(self, of: Node, row: ReleasedRow) -> Fraction:
        """Return with which probability something in an expression may lie outside its interval, by the union bound.

        Where all intervals hold at once that is never more than their confidence allows, and need not be added up.
        """
        if self.released.simultaneous:
            return Fraction(0)
        # Each measure counts once, and then each window.
        measures: dict[Measure, Fraction] = {}
        windows: dict[tuple[int, Node], Fraction] = {}
        for node, seen, depth in _released_in(of, row):
            if isinstance(node, Window):
                windows[depth, node] = seen.windows[node].risk
            else:
                measures[node.measure] = self._risks[node.measure]
        return sum(measures.values(), Fraction(0)) + sum(windows.values(), Fraction(0))


def _released_in(of: Node, row: ReleasedRow) -> Iterator[tuple[MeasureRef | Window, ReleasedRow, int]]:
    """Yield the measures and windows in an expression, each with the row and the depth of the SELECT that has it."""
    pending = [(of, row, 0)]
    while pending:
        node, seen, depth = pending.pop()
        if isinstance(node, Window | MeasureRef):
            yield node, seen, depth
        elif isinstance(node, Named):
            pending.append((node.of, inner_row(seen), depth + 1))
        else:
            pending.extend((part, seen, depth) for part in node.parts())


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
