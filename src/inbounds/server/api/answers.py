"""Answers: questions are asked under an Idempotency-Key, listed, and read again."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Header, Request
from fastapi import Query as FromAddress
from pydantic import AfterValidator
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.server.basics.person import Action, Person
from inbounds.server.service.amounts import Whole
from inbounds.server.service.answer_list import LETTERS, NEW_TOKEN, AnswerId, AskedOut, answers_of
from inbounds.server.service.answer_shape import AnswerOut, Question, to_answer_out, to_response
from inbounds.server.service.asking import answer_question, key_of
from inbounds.server.service.dataset_shape import Name
from inbounds.server.service.door import Serving, refusals, require
from inbounds.server.service.explaining import Owned, to_query
from inbounds.server.service.planning import run_planning
from inbounds.server.service.service import Service
from inbounds.server.service.stored_answers import derive_answer, load_answer

router = APIRouter(prefix="/v1", tags=["answers"])


KEY = rf'("{NEW_TOKEN}"|{NEW_TOKEN})'


def _check_key(value: str) -> str:
    if re.fullmatch(KEY, value) is None:
        raise ValueError(f"an Idempotency-Key has {LETTERS}, and is neither '.' nor '..'; choose another one")
    return value


IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        description="A name you choose for this query. Sending it again under the same name never charges twice.",
        examples=["7d4e5c9a-first"],
        json_schema_extra={"pattern": f"^{KEY}$"},
    ),
    AfterValidator(_check_key),
]
Reading = Annotated[Person, require(Action.READ_ANSWERS)]


@router.post(
    "/datasets/{name}/answers",
    summary="Run a query",
    responses=refusals(
        "not-found", "invalid-question", "useless-question", "invalid-parameter", "budget-exceeded",
        "question-too-expensive", "request-running", "request-reused", "too-many-statements", "ledger-conflict",
        "ledger-unavailable", "dataset-unavailable", "statement-failed", "statement-stopped", "no-table",
        "answer-failed",
    ),
    response_model=AnswerOut,
)  # fmt: skip
async def ask(
    name: Name,
    question: Question,
    idempotency_key: IdempotencyKey,
    request: Request,
    service: Serving,
    person: Annotated[Person, require(Action.ASK)],
) -> Response:
    """Run a query. It is charged first; the answer is stored, and sent at a fixed tick however long it took.

    Public knowledge is free and not stored; send the query again to get it again.
    """
    answer = await answer_question(request, person, name, question, idempotency_key.strip('"'))
    return await run_in_threadpool(to_response, answer)


@router.post(
    "/datasets/{name}/owned",
    summary="Derive an answer",
    responses=refusals(
        "not-found", "not-owned", "invalid-question", "ledger-unavailable", "dataset-unavailable", "too-many-statements"
    ),
    response_model=AnswerOut,
)
async def owned(
    name: Name,
    question: Owned,
    request: Request,
    service: Serving,
    person: Annotated[Person, require(Action.READ_ANSWERS)],
) -> Response:
    """Derive an answer from those you already have. This is free and does not read the data."""
    return await run_planning(request, person, _derive_answer, service, name, question, person)


def _derive_answer(service: Service, name: str, question: Owned, person: Person) -> Response:
    answer = derive_answer(service, name, question, person)
    query = to_query(service.holdings.holding(name, person), question)
    return to_response(to_answer_out(answer, name, str(query), key_of(person, answer.request_id), []))


@router.get("/answers", summary="List your queries", responses=refusals("ledger-unavailable"))
async def answers(
    service: Serving,
    person: Reading,
    after: Annotated[Whole, FromAddress(ge=0, le=2**62, description="Return queries after this number.")] = 0,
    most: Annotated[Whole, FromAddress(ge=1, le=1000)] = 100,
) -> list[AskedOut]:
    """List your own queries in the order they were charged."""
    return await run_in_threadpool(answers_of, service, person, after, most)


@router.get(
    "/answers/{key}",
    summary="Get an answer",
    responses=refusals(
        "not-found", "not-answered", "request-running", "ledger-unavailable", "too-many-statements", "answer-failed"
    ),
    response_model=AnswerOut,
)
async def answer(key: AnswerId, request: Request, service: Serving, person: Reading) -> Response:
    """Return one of your own answers, with everything that was released for it."""
    return await run_planning(request, person, _load_answer, service, person, key)


def _load_answer(service: Service, person: Person, key: str) -> Response:
    stored = load_answer(service, person, key)
    return to_response(to_answer_out(stored.answer, stored.dataset, stored.sql, key, stored.parts))
