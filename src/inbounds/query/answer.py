"""What a question gives back: a small table of private answers, and what they cost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from inbounds.query.answering import Answered
from inbounds.query.plan import Plan

WIDTH, NARROWEST = 80, 6
"""The width of a terminal, and that below which no column is cut."""

WIDEST = Answered(-(10**60), -1.2345678901234567e-300)
"""No answer takes more characters."""


@dataclass(frozen=True)
class Answer:
    """Private answers, one for each group in the order of the contract."""

    columns: tuple[str, ...]
    """The columns grouped by, then what was measured."""
    rows: tuple[tuple[Any, ...], ...]
    errors: tuple[float | None, ...]
    """The expected absolute error of each row's answer, judged by what was released; None for quantiles."""
    epsilon: Fraction
    """What all of this cost together."""
    request_id: str
    """Asking again with it returns this answer, free of charge."""

    @property
    def value(self) -> Any:
        """The answer, if there is one group only."""
        if len(self.rows) != 1:
            raise ValueError(f"there are {len(self.rows)} answers, one for each group; use rows or data()")
        return self.rows[0][-1]

    def data(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def __str__(self) -> str:
        with_error = any(error is not None for error in self.errors)
        header = [*self.columns, *(["expected error"] if with_error else [])]
        lines = [header]
        for row, error in zip(self.rows, self.errors, strict=True):
            lines.append([_shown(cell) for cell in row] + ([_shown(error)] if with_error else []))
        widths = _fitted([max(len(line[i]) for line in lines) for i in range(len(header))])
        keys = len(self.columns) - 1
        shown = ["  ".join(_cell(text, widths[i], i < keys) for i, text in enumerate(line)).rstrip() for line in lines]
        return "\n".join([shown[0], "-" * max(map(len, shown)), *shown[1:]])

    def dump(self) -> str:
        """Write what a ledger keeps of the answer."""
        kept = {
            "columns": self.columns,
            "rows": [[_plain(cell) for cell in row] for row in self.rows],
            "errors": self.errors,
        }
        return json.dumps(kept, separators=(",", ":"))

    @classmethod
    def longest(cls, plan: Plan) -> int:
        """Return how long the text of an answer can get."""
        return len(cls.of(plan, [WIDEST] * len(plan.cells), "").dump())

    @classmethod
    def load(cls, text: str, epsilon: Fraction, request_id: str) -> Answer:
        """Read what a ledger kept."""
        kept = json.loads(text)
        rows = tuple(tuple(_read(cell) for cell in row) for row in kept["rows"])
        return cls(tuple(kept["columns"]), rows, tuple(kept["errors"]), epsilon, request_id)

    @classmethod
    def of(cls, plan: Plan, answered: list[Answered], request_id: str) -> Answer:
        """Put private answers beside what their groups are called."""
        labels = [group.labels for group in plan.question.groups]
        rows = tuple(
            (*(labels[i][code] for i, code in enumerate(cell)), one.value)
            for cell, one in zip(plan.cells, answered, strict=True)
        )
        errors = tuple(one.error for one in answered)
        return cls(columns_of(plan), rows, errors, plan.epsilon, request_id)


def columns_of(plan: Plan) -> tuple[str, ...]:
    """Return what the columns of an answer are called."""
    measure: Any = plan.question.measure
    measured = f"{measure.title}_{measure.column}" if hasattr(measure, "column") else measure.title
    return (*(group.column.name for group in plan.question.groups), measured)


def _fitted(widths: list[int]) -> list[int]:
    """Return widths that fit a terminal together, the widest cut first."""
    while sum(widths) + 2 * (len(widths) - 1) > WIDTH and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _cell(text: str, width: int, left: bool) -> str:
    cut = text if len(text) <= width else text[: width - 1] + "…"
    return cut.ljust(width) if left else cut.rjust(width)


def _shown(cell: Any) -> str:
    if not isinstance(cell, float):
        return str(cell)
    return f"{cell:.4g}" if abs(cell) < 1e4 else f"{cell:.1f}"


def _plain(cell: Any) -> Any:
    return {"date": cell.isoformat()} if isinstance(cell, date) else cell


def _read(cell: Any) -> Any:
    return date.fromisoformat(cell["date"]) if isinstance(cell, dict) else cell
