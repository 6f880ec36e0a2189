"""How a question and its answer look in the interface."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field
from starlette.responses import Response

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.query import Answer
from inbounds.results.answer_json import write_answer
from inbounds.server.service.amounts import Part
from inbounds.server.service.explaining import Asking, PartOut


class Question(Asking):
    """A query to run."""

    confidence: Part = Field(default=CONFIDENCE, gt=0, lt=1, description="Confidence level of the intervals.")
    force: bool = Field(
        default=False, description="Run and charge the query even if its answer would tell you nothing."
    )
    practise: bool = Field(
        default=False, description="Run it on made-up rows: nothing is charged, and the answer is not stored."
    )


class ColumnOut(BaseModel):
    """A column of an answer."""

    name: str
    kind: str = Field(description="Type of its cells: text, whole, number, boolean, date, datetime or time.")
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
    learnt: list[list[bool]] = Field(
        default=[],
        description="For each measure of each row, false if its interval is the whole possible range.",
    )
    intervals_with_cut_rows: list[bool] = Field(
        default=[],
        description="For each measure, whether its intervals include the rows over the contribution bound, by what the "
        "contract says is public of them.",
    )
    confidence: float
    simultaneous: bool = Field(
        default=False, description="Whether all intervals hold at once with the confidence, instead of each by itself."
    )
    caveat: str | None = Field(description="A one-line note to show with the intervals.")
    row_limit: str | None
    warnings: list[str]
    note: str | None
    remarks: list[str] = Field(default=[], description="Observations on the released numbers.")
    practice: bool = Field(default=False, description="True for made-up rows: it tells nothing about anybody.")
    public: list[str] = Field(default=[], description="Columns that are public knowledge: exact and free.")
    parts: list[PartOut] = Field(
        description="How each part was answered, with its proof. May be empty for an answer fetched later."
    )


def to_answer_out(answer: Answer, dataset: str, question: str, key: str, parts: list[PartOut]) -> AnswerOut:
    """Return an answer as the interface has it."""
    return AnswerOut(**{**write_answer(answer), "id": key}, dataset=dataset, question=question, parts=parts)


def to_response(answer: AnswerOut) -> Response:
    """Return an answer as it is sent; a long one takes a while to write, and is written where nobody waits for it."""
    return Response(answer.model_dump_json(), media_type="application/json")
