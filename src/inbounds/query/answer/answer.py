"""What a question gives back: a small table of private answers, and what they cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from fractions import Fraction
from functools import cached_property
from typing import Any

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.display import frame_export
from inbounds.display.figures import format_error
from inbounds.display.listing import fold
from inbounds.display.table import Column, TextTable
from inbounds.query.answer.interval_cover import AT_ONCE_CAVEAT, Cover, end_name, interval_name
from inbounds.query.answer.reshaped.pivot_table import pivot_answer
from inbounds.query.answer.reshaped.survival_curve import estimate_survival
from inbounds.query.answer.running_totals import RunningTotals
from inbounds.query.answer.shown_rows import choose_rows
from inbounds.query.answer.whole_range import NOTHING_LEARNT, TOO_FEW_ROWS, WholeRange, mark_whole_ranges
from inbounds.query.methods.contribution_bound import row_limit
from inbounds.query.methods.cut_rows import CutRows
from inbounds.query.methods.method import Answered
from inbounds.query.methods.plan import Plan
from inbounds.query.question.measure import Measure
from inbounds.query.question.question import Question
from inbounds.query.question.shared_measures import answer_names

PRACTICE = "PRACTICE DATA: made-up rows, tells nothing about anybody"
"""Stands above an answer to a question that was asked of made-up rows, and in each of its rows in frames."""

ALL = "(all)"
"""What is shown for a column that is added up."""

MOST_WITH_INTERVALS = 2
"""A table of text has room for the intervals of so many measures; frames and JSON have them all."""

NO_ROOM = "There is no room here for the intervals of so many measures; JSON, csv and data frames have them."

FIRST_CONFIDENCE = 0.95
"""The confidence of answers that were kept before it was stored with them; it never changes."""

Interval = tuple[Any, Any]

TIMES: dict[str, type[datetime | date | time]] = {"datetime": datetime, "date": date, "time": time}
"""What JSON calls days and times; a datetime, which Python takes for a date, before a date."""


KINDS = {
    "text": "text", "bin": "text", "number": "number", "nothing": "number", "truth": "boolean", "day": "date",
    "time": "datetime", "clock": "time",
}  # fmt: skip
"""What JSON calls the values of an expression, where no cell tells."""


@dataclass(frozen=True)
class Answer:
    """Private answers, one row for each group in the order of the contract, one column for each measure."""

    columns: tuple[str, ...]
    """What is selected, in that order; everything that was released is the grouping columns, then the measures."""
    rows: tuple[tuple[Any, ...], ...]
    """None stands for a column that is totalled, and for the mean of a group whose count is 0."""
    noise: tuple[tuple[float | None, ...], ...]
    """The expected noise: the average error of each answer, estimated from what was released; None for quantiles.  It
    does not account for the contribution bound or for clamping."""
    epsilon: Fraction
    """The total cost."""
    request_id: str
    """Repeating it returns this answer for free."""
    row_limit: str | None = None
    """How the contribution bound affects these answers; None where each row is a unit of its own."""
    intervals: tuple[tuple[Interval | None, ...], ...] = ()
    """A confidence interval for each answer without noise, computed from what was released; None where nothing says.
    `intervals_noise_only` says which of them cover the noise only, and `intervals_with_cut_rows` which of them the
    rows over the row limit."""
    confidence: float = CONFIDENCE
    warnings: tuple[str, ...] = ()
    """Comparisons with values that never occur."""
    asked: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    """What a table that adds up is an answer to, for whoever asks for a sum or a part of it later."""
    note: str | None = None
    """A further note on these answers."""
    running: RunningTotals | None = field(default=None, repr=False, compare=False)
    """What is known of running totals, if they were asked for."""
    confidences: tuple[float, ...] = field(default=(), repr=False, compare=False)
    """Of the interval of each measure, where they are above `confidence` so that several hold at once."""
    measured: tuple[int, ...] | None = field(default=None, repr=False, compare=False)
    """Which of the columns are no keys, by place, if it is not simply the last ones."""
    kept: Answer | None = field(default=None, repr=False, compare=False)
    covers: tuple[Cover, ...] = field(default=(), repr=False, compare=False)
    """For each measure what its intervals are about; where nothing is said, the noise only."""
    public: tuple[str, ...] = ()
    """The columns that are public knowledge: exact and free."""
    remarks: tuple[str, ...] = ()
    """Remarks on the released numbers, such as those that the noise has pushed to the edge of the possible range."""
    sql: str | None = field(default=None, repr=False, compare=False)
    """The query that it answers, if it has just been asked."""
    simultaneous: bool = False
    """Whether all intervals hold at once with the confidence, rather than each by itself."""
    practice: bool = False
    """Whether it is about made-up rows, and so tells nothing about anybody."""

    kinds: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """What the cells of each column would be, if there are no rows; else they tell."""

    @property
    def practice_notice(self) -> str | None:
        """What stands above an answer about made-up rows; None above others."""
        return PRACTICE if self.practice else None

    @property
    def released(self) -> Answer:
        """Everything that was released, of which this answer may show a part: every row and every measure."""
        return self if self.kept is None else self.kept

    @property
    def value(self) -> Any:
        """The single value, if there is one row with one measure, or with one column."""
        if len(self.rows) == 1 and len(self.columns) == 1:
            return self.rows[0][0]
        if len(self.rows) != 1 or self.measures != 1:
            count = len(self.rows) * self.measures
            raise ValueError(f"value needs a single answer, got {count}; use rows or data()")
        return self.rows[0][self.measure_places[0]]

    @property
    def interval(self) -> Interval | None:
        """The single interval, if there is one group and one measure."""
        assert self.value is not None or self.rows
        return self.intervals[0][0] if self.intervals and self.measures else None

    @property
    def interval_covers(self) -> tuple[Cover, ...]:
        """For each measure, what its intervals are about."""
        return self.covers or (Cover.NOISE,) * self.measures

    @property
    def intervals_noise_only(self) -> tuple[bool, ...]:
        """For each measure, whether its intervals cover the noise only, without the contribution bound."""
        return tuple(cover is Cover.NOISE for cover in self.interval_covers)

    @property
    def intervals_with_cut_rows(self) -> tuple[bool, ...]:
        """For each measure, whether its intervals include the rows over the row limit, by what is public of them."""
        return tuple(cover is Cover.WITH_CUT_ROWS for cover in self.interval_covers)

    @property
    def interval_names(self) -> tuple[str | None, ...]:
        """The name of each measure's intervals; None for a measure without intervals."""
        return tuple(
            interval_name(self.confidence, cover, simultaneous=self.simultaneous)
            if any(row[i] is not None for row in self.intervals)
            else None
            for i, cover in enumerate(self.interval_covers)
        )

    @property
    def caveat(self) -> str | None:
        """What to know about the intervals, in one line; None if every interval simply covers the true value."""
        pairs = zip(self.interval_names, self.interval_covers, strict=True)
        named = {cover for name, cover in pairs if name is not None}
        caveats = [cover.caveat for cover in reversed(Cover) if cover in named and cover.caveat]
        return " ".join([*([AT_ONCE_CAVEAT] if self.simultaneous and named else []), *caveats]) or None

    @property
    def is_noise_only(self) -> bool:
        """Whether any interval covers the noise only."""
        pairs = zip(self.interval_names, self.interval_covers, strict=True)
        return any(name is not None and cover is Cover.NOISE for name, cover in pairs)

    @property
    def too_few_rows(self) -> str | None:
        """What to know where nothing was learnt, in one line; None if something was everywhere."""
        return None if all(map(all, self.learnt)) else TOO_FEW_ROWS

    @cached_property
    def learnt(self) -> tuple[tuple[bool, ...], ...]:
        """For each measure of each row, whether anything was learnt: its interval is not the whole possible range."""
        if not self.intervals:
            return ((True,) * self.measures,) * len(self.rows)
        return tuple(tuple(not isinstance(ends, WholeRange) for ends in row) for row in self.intervals)

    @property
    def measures(self) -> int:
        """The number of measures; the other columns are grouping columns."""
        return len(self.measure_places)

    @property
    def measure_places(self) -> tuple[int, ...]:
        """Which of the columns are measures; noise and intervals have their order."""
        if self.measured is not None:
            return self.measured
        count = len(self.columns)
        return tuple(range(count - (len(self.noise[0]) if self.noise else 1), count))

    @property
    def key_places(self) -> tuple[int, ...]:
        """Which of the columns are grouping columns."""
        measured = set(self.measure_places)
        return tuple(place for place in range(len(self.columns)) if place not in measured)

    @property
    def keys_first(self) -> Answer:
        """The same with its grouping columns before its measures, as pictures need it."""
        keys, measures = self.key_places, self.measure_places
        places = (*keys, *measures)
        if places == tuple(range(len(places))):
            return self
        columns = tuple(self.columns[place] for place in places)
        rows = tuple(tuple(row[place] for place in places) for row in self.rows)
        return replace(self, columns=columns, rows=rows, measured=tuple(range(len(keys), len(places))))

    @property
    def is_public(self) -> bool:
        """Whether all of it is public knowledge: exact, free, and not kept."""
        return bool(self.public) and {self.columns[place] for place in self.measure_places} <= set(self.public)

    def about(
        self, questions: Sequence[Question], places: Sequence[tuple[int, int]], measures: Sequence[Measure]
    ) -> Answer:
        """Return what was kept with what its intervals are about, and with those wider that include what is cut."""
        covers = tuple(Cover.of(questions[which], column) for which, column in places)
        cuts = [CutRows.of(questions[which], column) for which, column in places]
        widened = [cut if cover is Cover.WITH_CUT_ROWS else None for cut, cover in zip(cuts, covers, strict=True)]
        intervals = tuple(
            tuple(ends if cut is None else cut.widen(ends) for ends, cut in zip(row, widened, strict=True))
            for row in self.intervals
        )
        running, cut = self.running, widened[0]
        if running is not None and cut is not None:
            running = running.widen(cut.widen)
        answer = replace(self, covers=covers, intervals=intervals, running=running)
        return mark_whole_ranges(answer, questions, places, measures)

    def data(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def pivot(self, column: str) -> Answer:
        """Return the answer with a column for each category of a grouping column: `answer.pivot("sex")`.

        Noise and intervals go along; what a row does not have is missing.  This is free.
        """
        return pivot_answer(self, column)

    def survival(self, time: str, event: str, happened: Any = True) -> Answer:
        """Return the Kaplan-Meier curve of counts by time and event: `answer.survival("month", "died")`.

        `happened` is the category of `event` that means it; all others are censored.  Other groups have a curve each.
        The band holds the whole curve if every count lies in its interval.  Ask with `simultaneous=True`, and it holds
        with the confidence that you ask for; else `confidence` says how sure it is, by the union bound.  This is free.
        """
        return estimate_survival(self, time, event, happened)

    def to_pandas(self) -> Any:
        """Return the rows as a pandas DataFrame, with their expected noise and the ends of their intervals."""
        return frame_export.to_pandas(self.by_column())

    def to_polars(self) -> Any:
        """Return the rows as a polars DataFrame, with their expected noise and the ends of their intervals."""
        return frame_export.to_polars(self.by_column())

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table, with their expected noise and the ends of their intervals."""
        return frame_export.to_arrow(self.by_column())

    def by_column(self) -> dict[str, list[Any]]:
        """Return everything by columns: groups, measures, their expected noise and the ends of their intervals.

        Where nothing was learnt there is no number, and a column says so; `rows` has what was drawn.  Of practice data
        a column says in each row that they are made up.
        """
        columns = {name: [row[i] for row in self.rows] for i, name in enumerate(self.columns)}
        several, titles, covers = self.measures > 1, self.interval_names, self.interval_covers
        for i, name in enumerate(self.columns[place] for place in self.measure_places):
            of, learnt = name if several else "", [row[i] for row in self.learnt]
            columns[name] = [cell if tells else None for cell, tells in zip(columns[name], learnt, strict=True)]
            if any(row[i] is not None for row in self.noise):
                columns[unlike(end_name("expected_noise", of, Cover.TRUTH), tuple(columns))] = [
                    row[i] if tells else None for row, tells in zip(self.noise, learnt, strict=True)
                ]
            if not all(learnt):
                nothing = unlike(end_name("nothing_learnt", of, Cover.TRUTH), tuple(columns))
                columns[nothing] = [not tells for tells in learnt]
            if titles[i] is not None:
                for end, what in enumerate(("low", "high")):
                    ends = [None if row[i] is None else row[i][end] for row in self.intervals]  # type: ignore[index]
                    columns[unlike(end_name(what, of, covers[i]), tuple(columns))] = ends
        if self.practice:
            columns[unlike("practice", tuple(columns))] = [PRACTICE] * len(self.rows)
        return columns

    def _table(self) -> TextTable:
        measures, shown = self.measure_places, choose_rows(self)
        released = [self.rows[place] for place in shown.places]
        intervals = [self.intervals[place] for place in shown.places] if self.intervals else []
        noise = [self.noise[place] for place in shown.places]
        learnt = [self.learnt[place] for place in shown.places]
        columns: list[Column] = []
        rows: list[list[str]] = [[] for _ in released]
        titles = self.interval_names
        for place, name in enumerate(self.columns):
            if place not in measures:
                columns.append(Column(name, left=True))
                _append(rows, (ALL if row[place] is None else _shown(row[place]) for row in released))
                continue
            i = measures.index(place)
            columns.append(Column(name))
            known = [row[i] for row in learnt]
            cells = zip((row[place] for row in released), known, strict=True)
            _append(rows, (_shown(cell) if tells else NOTHING_LEARNT for cell, tells in cells))
            title = titles[i]
            if len(measures) <= MOST_WITH_INTERVALS and title is not None:
                columns.append(Column.in_two(title))
                _append(rows, (_interval(row[i]) for row in intervals))
            if len(measures) == 1 and any(row[i] is not None for row in noise):
                columns.append(Column("expected noise"))
                sizes = zip((row[i] for row in noise), known, strict=True)
                _append(rows, (_noise(size) if tells else "" for size, tells in sizes))
        no_room = NO_ROOM if len(measures) > MOST_WITH_INTERVALS and any(titles) else None
        notes = [note for note in (shown.rest, no_room, *self._notes) if note]
        return TextTable(columns, rows, title=self.practice_notice or "", notes=notes)

    @property
    def _notes(self) -> tuple[str | None, ...]:
        return self.caveat, self.too_few_rows, self.row_limit, *self.warnings, *self.remarks, self.note

    def __str__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().html() + ("" if self.sql is None else fold("Query", self.sql))

    def dump(self) -> str:
        """Write what a ledger keeps of the answer."""
        record: dict[str, Any] = {
            "columns": self.columns,
            "rows": self.rows,
            "noise": self.noise,
            "intervals": self.intervals,
            "confidence": self.confidence,
        }
        if self.asked is not None:
            record["asked"] = self.asked
        if self.confidences:
            record["confidences"] = self.confidences
        if self.running is not None:
            record["running"] = self.running.data()
        if self.simultaneous:
            record["simultaneous"] = True
        return _write(record)

    @classmethod
    def longest(
        cls, plans: Sequence[Plan], places: Sequence[tuple[int, int]], asked: Mapping[str, Any] | None = None
    ) -> int:
        """Return how long the text of an answer can get, whatever is drawn: no row is longer than the widest."""
        confidence = 1.2345678901234567e-300
        columns = columns_of([plan.question for plan in plans], places)
        frame = cls(columns, (), (), Fraction(0), "", None, (), confidence, asked=asked)
        cells = [plans[which].answering.widest for which, _ in places]
        row = [[cell.value for cell in cells], [cell.noise for cell in cells], [cell.interval for cell in cells]]
        keys, running = plans[0].question.row_keys, RunningTotals.of(plans[0].question, plans[0].widest)
        frame = replace(frame, running=running, simultaneous=True)
        text = replace(frame, confidences=(confidence,) * len(places)).dump()
        return len(text) + len(_write(keys)) + len(keys) * len(_write(row))

    @classmethod
    def load(cls, text: str, epsilon: Fraction, request_id: str, row_limit: str | None = None) -> Answer:
        """Read what a ledger kept; before answers had intervals, there was one measure, and its noise stood alone."""
        record = json.loads(text, object_hook=_read_object)
        rows = tuple(map(tuple, record["rows"]))
        noise = tuple(tuple(row) if isinstance(row, list) else (row,) for row in record["noise"])
        intervals = tuple(
            tuple(None if ends is None else (ends[0], ends[1]) for ends in row) for row in record.get("intervals", [])
        )
        columns, confidence = tuple(record["columns"]), record.get("confidence", FIRST_CONFIDENCE)
        confidences, asked = tuple(record.get("confidences", ())), record.get("asked")
        facts = (rows, noise, epsilon, request_id, row_limit, intervals, confidence)
        running, simultaneous = RunningTotals.load(record.get("running")), record.get("simultaneous", False)
        more = {"asked": asked, "confidences": confidences, "running": running, "simultaneous": simultaneous}
        return cls(columns, *facts, **more)

    @classmethod
    def of(
        cls,
        plans: Sequence[Plan],
        places: Sequence[tuple[int, int]],
        answers: Sequence[Sequence[tuple[Answered, ...]]],
        request_id: str,
        confidence: float,
    ) -> Answer:
        """Put private answers beside what their groups are called."""
        labels = plans[0].question.labels
        rows, noise, intervals = [], [], []
        for at, codes in enumerate(plans[0].rows):
            cells = [answers[which][at][column] for which, column in places]
            names = (None if code is None else labels[i][code] for i, code in enumerate(codes))
            rows.append((*names, *(cell.value for cell in cells)))
            noise.append(tuple(cell.noise for cell in cells))
            intervals.append(tuple(cell.interval for cell in cells))
        cost = sum((plan.epsilon for plan in plans), Fraction(0))
        limit = row_limit([plan.question for plan in plans])
        columns = columns_of([plan.question for plan in plans], places)
        facts = (cost, request_id, limit, tuple(intervals), confidence)
        running = RunningTotals.of(plans[0].question, answers[0])
        return cls(columns, tuple(rows), tuple(noise), *facts, running=running)


def columns_of(questions: Sequence[Question], places: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    """Return what the columns of an answer are called, each by a name of its own."""
    names = tuple(group.column.name for group in questions[0].groups)
    for which, column in places:
        names = (*names, unlike(answer_names(questions[which].measure)[column], names))
    return names


def unlike(name: str, others: tuple[str, ...]) -> str:
    """Return a name that none of some others is."""
    return name if name not in others else unlike(f"{name}_", others)


def _append(rows: list[list[str]], cells: Iterable[str]) -> None:
    for row, cell in zip(rows, cells, strict=True):
        row.append(cell)


def _interval(ends: Interval | None) -> str:
    return "" if ends is None else f"{_shown(ends[0])} to {_shown(ends[1])}"


def _noise(noise: float | None) -> str:
    return format_error(noise) if noise is not None and noise < 1e4 else _shown(noise)


def _shown(cell: Any) -> str:
    if not isinstance(cell, float):
        return "none" if cell is None else str(cell)
    return f"{cell:.4g}" if abs(cell) < 1e4 else f"{cell:.1f}"


def _write(record: Any) -> str:
    return json.dumps(record, separators=(",", ":"), default=plain)


def plain(cell: Any) -> Any:
    """Return a key, a value or the ends of an interval as JSON has them."""
    if isinstance(cell, tuple):
        return [plain(end) for end in cell]
    kind = next((name for name, of in TIMES.items() if isinstance(cell, of)), None)
    return cell if kind is None else {kind: cell.isoformat()}


def read_plain(cell: Any) -> Any:
    """Read a key or a value that `plain` gave."""
    if not isinstance(cell, dict):
        return cell
    ((kind, text),) = cell.items()
    return TIMES[kind].fromisoformat(text)


def _read_object(record: dict[str, Any]) -> Any:
    """Read what stands in braces: a day, a time, or a record."""
    return read_plain(record) if len(record) == 1 and record.keys() <= TIMES.keys() else record
