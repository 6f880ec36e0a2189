"""What a question gives back: a small table of private answers, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.display import frame_export
from inbounds.display.listing import fold
from inbounds.results.answer_table import lay_out
from inbounds.results.cell_kinds import find_kind
from inbounds.results.cover import AT_ONCE_CAVEAT, Cover, end_name, interval_name
from inbounds.results.nothing_learnt import TOO_FEW_ROWS, WholeRange
from inbounds.results.pivot_table import pivot_answer
from inbounds.results.running_totals import RunningTotals
from inbounds.results.survival_curve import estimate_survival

PRACTICE = "PRACTICE DATA: made-up rows, tells nothing about anybody"
"""Stands above an answer to a question that was asked of made-up rows, and in each of its rows in frames."""

Interval = tuple[Any, Any]


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
        return frame_export.to_arrow(self.by_column(), self._kinds())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the same table to whatever reads Arrow: `polars.DataFrame(answer)`, `duckdb.sql("FROM answer")`."""
        table = frame_export.to_arrow(self.by_column(), self._kinds(), "handing over an answer through Arrow")
        return table.__arrow_c_stream__(requested_schema)

    def _kinds(self) -> dict[str, str]:
        """Return what the cells of each column are; of a measure, also where nothing was learnt."""
        kinds = {name: find_kind(cells) for name, cells in self.by_column().items()}
        return kinds | {name: find_kind(row[i] for row in self.rows) for i, name in enumerate(self.columns)}

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

    @property
    def notes(self) -> tuple[str, ...]:
        """What stands below a table of it: what to know about its intervals, its rows and its numbers."""
        first = self.caveat, self.too_few_rows, self.row_limit
        return tuple(note for note in (*first, *self.warnings, *self.remarks, self.note) if note)

    def __str__(self) -> str:
        return str(lay_out(self))

    def _repr_html_(self) -> str:
        return lay_out(self).html() + ("" if self.sql is None else fold("Query", self.sql))


def unlike(name: str, others: tuple[str, ...]) -> str:
    """Return a name that none of some others is."""
    return name if name not in others else unlike(f"{name}_", others)
