"""How a question and its answer look in the interface."""

from __future__ import annotations

from datetime import date
from typing import Any

from pydantic import BaseModel, Field
from starlette.responses import Response

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.query import Answer
from inbounds.server.service.amounts import Part, format_amount, to_json
from inbounds.server.service.explaining import Asking, PartOut


class Question(Asking):
    """A query to run."""

    confidence: Part = Field(default=CONFIDENCE, gt=0, lt=1, description="Confidence level of the intervals.")
    force: bool = Field(
        default=False, description="Run and charge the query even if its answer would tell you nothing."
    )


class ColumnOut(BaseModel):
    """A column of an answer."""

    name: str
    kind: str = Field(description="Type of its cells: text, whole, number, boolean or date.")
    is_key: bool = Field(description="True for a group column, false for a measure.")


class AnswerOut(BaseModel):
    """A private answer: a small table, with its cost and its error."""

    id: str
    dataset: str
    question: str
    epsilon: str
    columns: list[ColumnOut]
    rows: list[list[Any]]
    expected_noise: list[list[float | None]]
    intervals: list[list[list[Any] | None]]
    intervals_noise_only: list[bool] = Field(
        description="For each measure, whether its intervals cover the noise only, not the contribution bound."
    )
    confidence: float
    caveat: str | None = Field(description="A one-line note to show with the intervals.")
    row_limit: str | None
    warnings: list[str]
    note: str | None
    remarks: list[str] = Field(default=[], description="Observations on the released numbers.")
    public: list[str] = Field(default=[], description="Columns that are public knowledge: exact and free.")
    parts: list[PartOut] = Field(
        description="How each part was answered, with its proof. May be empty for an answer fetched later."
    )


def to_answer_out(answer: Answer, dataset: str, question: str, key: str, parts: list[PartOut]) -> AnswerOut:
    """Return an answer as the interface has it."""
    keys = len(answer.columns) - answer.measures
    kinds = [_kind([row[at] for row in answer.rows]) for at in range(len(answer.columns))]
    columns = [
        ColumnOut(name=name, kind=kind, is_key=at < keys)
        for at, (name, kind) in enumerate(zip(answer.columns, kinds, strict=True))
    ]
    return AnswerOut(
        id=key,
        dataset=dataset,
        question=question,
        epsilon=format_amount(answer.epsilon) or "0",
        columns=columns,
        rows=to_json(answer.rows),
        expected_noise=[list(row) for row in answer.noise],
        intervals=to_json(answer.intervals),
        intervals_noise_only=list(answer.intervals_noise_only),
        confidence=answer.confidence,
        caveat=answer.caveat,
        row_limit=answer.row_limit,
        warnings=list(answer.warnings),
        note=answer.note,
        remarks=list(answer.remarks),
        public=list(answer.public),
        parts=parts,
    )


def to_response(answer: AnswerOut) -> Response:
    """Return an answer as it is sent; a long one takes a while to write, and is written where nobody waits for it."""
    return Response(answer.model_dump_json(), media_type="application/json")


def _kind(cells: list[Any]) -> str:
    """Return what the cells of a column are; missing ones do not tell."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "whole"
    if any(issubclass(kind, date) for kind in kinds):
        return "date"
    return "text" if str in kinds else "number"
