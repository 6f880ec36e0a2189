"""A private answer for a model: every number beside its interval, and what to know of them in words."""

from __future__ import annotations

from datetime import date, time
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from inbounds.bounds.notation import write_end
from inbounds.display.figures import format_error
from inbounds.gateways.assistants.text import draw_table, list_facts, write_value

if TYPE_CHECKING:
    from inbounds.query import Answer

MOST_ROWS = 500
"""So many rows of an answer are sent at once; the others can be asked for by LIMIT and OFFSET, for free."""

NOISY = (
    "Every number is noisy, on purpose. Give numbers with their intervals, not as exact figures. A difference that the "
    "intervals do not show may be noise."
)

Value = str | int | float | bool | None


class Column(BaseModel):
    """A column of an answer."""

    name: str
    is_key: bool = Field(description="True for a grouping column, false for a released number.")
    interval: str | None = Field(default=None, description="What the intervals of this column are.")


class Cell(BaseModel):
    """A cell: a category, or a released number with its interval."""

    value: Value = Field(description="A category or a noisy number; null if nothing was learnt, or for a total's keys.")
    low: Value = None
    high: Value = None
    expected_error: float | None = Field(default=None, description="Average size of the noise in this number.")
    nothing_learnt: bool = Field(default=False, description="True if the noise leaves every possible value open.")


class AnswerFields(BaseModel):
    """A private answer."""

    question: str
    epsilon: str = Field(description="What the answer cost, once.")
    charged_now: str = Field(description="What this call charged; 0 for a repeated or public answer, or practice.")
    request_id: str
    practice: bool = Field(description="True for made-up rows: it tells nothing about anybody.")
    columns: list[Column]
    rows: list[list[Cell]]
    rows_left_out: int = 0
    confidence: float
    public: list[str] = Field(description="Columns that are public knowledge: exact and free.")
    notes: list[str]


def to_answer_fields(answer: Answer, sql: str, charged: str) -> AnswerFields:
    """Return an answer as fields."""
    measures = list(answer.measure_places)
    names = answer.interval_names
    columns = [
        Column(
            name=name,
            is_key=place not in measures,
            interval=names[measures.index(place)] if place in measures else None,
        )
        for place, name in enumerate(answer.columns)
    ]
    return AnswerFields(
        question=sql,
        epsilon=write_end(answer.epsilon),
        charged_now=charged,
        request_id=answer.request_id,
        practice=answer.practice,
        columns=columns,
        rows=[_to_cells(answer, at) for at in range(min(len(answer.rows), MOST_ROWS))],
        rows_left_out=max(0, len(answer.rows) - MOST_ROWS),
        confidence=answer.confidence,
        public=list(answer.public),
        notes=_notes_of(answer),
    )


def _to_cells(answer: Answer, at: int) -> list[Cell]:
    """Return the cells of a row."""
    row = [Cell(value=_plain(value)) for value in answer.rows[at]]
    for i, place in enumerate(answer.measure_places):
        ends = answer.intervals[at][i] if answer.intervals else None
        learnt = answer.learnt[at][i]
        low, high = (None, None) if ends is None else ends
        row[place] = Cell(
            value=_plain(answer.rows[at][place]) if learnt else None,
            low=_plain(low),
            high=_plain(high),
            expected_error=answer.noise[at][i] if learnt else None,
            nothing_learnt=not learnt,
        )
    return row


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date | time) else value


def _notes_of(answer: Answer) -> list[str]:
    noisy = None if answer.is_public or answer.practice else NOISY
    notes = (answer.practice_notice, noisy, answer.caveat, answer.too_few_rows, answer.row_limit)
    return [note for note in (*notes, *answer.warnings, *answer.remarks, answer.note) if note]


def draw_answer(fields: AnswerFields) -> str:
    """Return the table and the notes of an answer as text."""
    heads: list[str] = []
    for column in fields.columns:
        heads.append(column.name)
        if not column.is_key:
            heads += [column.interval or "interval", "expected error"]
    lines: list[list[str]] = []
    for row in fields.rows:
        line: list[str] = []
        for column, cell in zip(fields.columns, row, strict=True):
            if column.is_key:
                line.append("(all)" if cell.value is None else write_value(cell.value))
                continue
            interval = "" if cell.low is None else f"{write_value(cell.low)} to {write_value(cell.high)}"
            error = "" if cell.expected_error is None else format_error(cell.expected_error)
            line += ["nothing learnt" if cell.nothing_learnt else write_value(cell.value), interval, error]
        lines.append(line)
    rest = (
        f"{fields.rows_left_out} more rows are not shown; add LIMIT and OFFSET to the same query at the same epsilon, "
        "which is free"
        if fields.rows_left_out
        else None
    )
    above = f"{fields.notes[0]}\n\n" if fields.practice else ""  # where it is not overlooked
    notes = "\n".join(filter(None, (rest, *fields.notes[1 if fields.practice else 0 :])))
    return f"{above}{draw_table(heads, lines)}\n\n{notes}"


def describe_cost(fields: AnswerFields) -> str:
    """Say what an answer cost."""
    if fields.practice:
        return list_facts([("cost (epsilon)", "0: practice is free")])
    why = (
        "public knowledge is free"
        if fields.epsilon == "0"
        else "charged now, once; the same query at the same epsilon is free from now on"
        if fields.charged_now != "0"
        else f"paid before, at epsilon {fields.epsilon}; repeating it is free"
    )
    return list_facts([("cost (epsilon)", f"{fields.charged_now}: {why}"), ("request id", fields.request_id)])
