"""What a question gives back: a small table of private answers, and what they cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from inbounds.display.table import Column, Table
from inbounds.query import frame_export
from inbounds.query.answering import Answered
from inbounds.query.plan import Plan
from inbounds.query.row_limit import row_limit

WIDEST = Answered(-(10**60), -1.2345678901234567e-300)
"""No answer takes more characters."""


@dataclass(frozen=True)
class Answer:
    """Private answers, one for each group in the order of the contract."""

    columns: tuple[str, ...]
    """The columns grouped by, then what was measured."""
    rows: tuple[tuple[Any, ...], ...]
    noise: tuple[float | None, ...]
    """The expected noise: by how much each row's answer is off on average, judged by what was released; None for
    quantiles.  What the row limit and the bounds cut off is not in it."""
    epsilon: Fraction
    """What all of this cost together."""
    request_id: str
    """Asking again with it returns this answer, free of charge."""
    row_limit: str | None = None
    """What the row limit does to these answers; None where each row is a unit of its own."""

    @property
    def value(self) -> Any:
        """The answer, if there is one group only."""
        if len(self.rows) != 1:
            raise ValueError(f"there are {len(self.rows)} answers, one for each group; use rows or data()")
        return self.rows[0][-1]

    def data(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> Any:
        """Return the rows as a pandas DataFrame, with their expected noise."""
        return frame_export.to_pandas(self._columns())

    def to_polars(self) -> Any:
        """Return the rows as a polars DataFrame, with their expected noise."""
        return frame_export.to_polars(self._columns())

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table, with their expected noise."""
        return frame_export.to_arrow(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        found = {name: [row[i] for row in self.rows] for i, name in enumerate(self.columns)}
        if self._has_noise:
            found[unlike("expected_noise", self.columns)] = list(self.noise)
        return found

    @property
    def _has_noise(self) -> bool:
        return any(noise is not None for noise in self.noise)

    def _table(self) -> Table:
        keys = len(self.columns) - 1
        columns = [Column(name, left=i < keys) for i, name in enumerate(self.columns)]
        rows = [[_shown(cell) for cell in row] for row in self.rows]
        if self._has_noise:
            columns.append(Column("expected noise"))
            rows = [[*row, _shown(noise)] for row, noise in zip(rows, self.noise, strict=True)]
        return Table(columns, rows, notes=[self.row_limit] if self.row_limit else [])

    def __str__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().html()

    def dump(self) -> str:
        """Write what a ledger keeps of the answer."""
        kept = {
            "columns": self.columns,
            "rows": [[_plain(cell) for cell in row] for row in self.rows],
            "noise": self.noise,
        }
        return json.dumps(kept, separators=(",", ":"))

    @classmethod
    def longest(cls, plan: Plan) -> int:
        """Return how long the text of an answer can get."""
        return len(cls.of(plan, [WIDEST] * len(plan.cells), "").dump())

    @classmethod
    def load(cls, text: str, epsilon: Fraction, request_id: str, row_limit: str | None = None) -> Answer:
        """Read what a ledger kept."""
        kept = json.loads(text)
        rows = tuple(tuple(_read(cell) for cell in row) for row in kept["rows"])
        return cls(tuple(kept["columns"]), rows, tuple(kept["noise"]), epsilon, request_id, row_limit)

    @classmethod
    def of(cls, plan: Plan, answered: list[Answered], request_id: str) -> Answer:
        """Put private answers beside what their groups are called."""
        labels = [group.labels for group in plan.question.groups]
        rows = tuple(
            (*(labels[i][code] for i, code in enumerate(cell)), one.value)
            for cell, one in zip(plan.cells, answered, strict=True)
        )
        noise = tuple(one.noise for one in answered)
        return cls(columns_of(plan), rows, noise, plan.epsilon, request_id, row_limit(plan.question))


def columns_of(plan: Plan) -> tuple[str, ...]:
    """Return what the columns of an answer are called, each by a name of its own."""
    keys = tuple(group.column.name for group in plan.question.groups)
    return (*keys, unlike(plan.question.measure.answer_name, keys))


def unlike(name: str, others: tuple[str, ...]) -> str:
    """Return a name that none of some others is."""
    return name if name not in others else unlike(f"{name}_", others)


def _shown(cell: Any) -> str:
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.4g}" if abs(cell) < 1e4 else f"{cell:.1f}"


def _plain(cell: Any) -> Any:
    return {"date": cell.isoformat()} if isinstance(cell, date) else cell


def _read(cell: Any) -> Any:
    return date.fromisoformat(cell["date"]) if isinstance(cell, dict) else cell
