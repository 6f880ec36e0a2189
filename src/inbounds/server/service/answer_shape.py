"""How a question and its answer look in the interface."""

from __future__ import annotations

from datetime import date
from typing import Any

from pydantic import BaseModel, Field
from starlette.responses import Response

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.query import Answer
from inbounds.server.service.amounts import Part, plain, text
from inbounds.server.service.explaining import Asking, PartOut


class Question(Asking):
    """A question to be answered."""

    confidence: Part = Field(default=CONFIDENCE, gt=0, lt=1, description="Of the intervals.")
    force: bool = Field(default=False, description="Charge also for an answer that would tell nothing.")


class ColumnOut(BaseModel):
    """A column of an answer."""

    name: str
    kind: str = Field(description="text, whole, number, boolean or date: what its cells are.")
    is_key: bool = Field(description="Whether it is grouped by, or measured.")


class AnswerOut(BaseModel):
    """A private answer: a small table, with what it cost and how far off it is."""

    id: str
    dataset: str
    question: str
    epsilon: str
    columns: list[ColumnOut]
    rows: list[list[Any]]
    expected_noise: list[list[float | None]]
    intervals: list[list[list[Any] | None]]
    intervals_noise_only: list[bool] = Field(
        description="For each measure whether its intervals leave out what the contribution bound cuts."
    )
    confidence: float
    caveat: str | None = Field(description="What to say beside the intervals, in one line.")
    row_limit: str | None
    warnings: list[str]
    note: str | None
    remarks: list[str] = Field(default=[], description="What the released numbers show by themselves.")
    public: list[str] = Field(default=[], description="The columns that are public knowledge: exact, and free.")
    parts: list[PartOut] = Field(description="How it was answered, with the proof; of an answer read again, empty.")


def answer_out(answer: Answer, dataset: str, question: str, key: str, parts: list[PartOut]) -> AnswerOut:
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
        epsilon=text(answer.epsilon) or "0",
        columns=columns,
        rows=plain(answer.rows),
        expected_noise=[list(row) for row in answer.noise],
        intervals=plain(answer.intervals),
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


def written(answer: AnswerOut) -> Response:
    """Return an answer as it is sent; a long one takes a while to write, and is written where nobody waits for it."""
    return Response(answer.model_dump_json(), media_type="application/json")


def _kind(cells: list[Any]) -> str:
    """Return what the cells of a column are; missing ones do not tell."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {bool} and kinds:
        return "boolean"
    if kinds <= {int} and kinds:
        return "whole"
    if any(issubclass(one, date) for one in kinds):
        return "date"
    return "text" if str in kinds else "number"
