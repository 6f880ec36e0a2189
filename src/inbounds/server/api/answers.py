"""Answers: questions are asked under an Idempotency-Key, listed, and read again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Path, Request
from fastapi import Query as FromAddress
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.ledger.amount import fraction
from inbounds.ledger.entry import Entry
from inbounds.server.api.amounts import Whole, text
from inbounds.server.api.answer_shape import AnswerOut, Question, answer_out, written
from inbounds.server.api.asking import answered
from inbounds.server.api.datasets import Name, Owned, asked
from inbounds.server.api.door import Serving, allowed, refusals
from inbounds.server.api.kept import is_finished, kept, owned_by
from inbounds.server.api.planning import planned
from inbounds.server.person import Action, Person
from inbounds.server.service import Service

router = APIRouter(prefix="/v1", tags=["answers"])

TOKEN = r"[A-Za-z0-9._~-]{1,80}"
"""An Idempotency-Key: no slash, so that a request id tells where the person's name ends."""

NEW_TOKEN = r"(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]?|\.[A-Za-z0-9_~-]|[A-Za-z0-9._~-]{3,80})"
"""One for a new question: neither `.` nor `..`, which in an address lead to another one."""

IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern=rf'^("{NEW_TOKEN}"|{NEW_TOKEN})$',
        description="A name of your own for this question: sending it again with the same one never pays twice.",
        examples=["7d4e5c9a-first"],
    ),
]
AnswerId = Annotated[str, Path(pattern=f"^{TOKEN}$", description="The Idempotency-Key that a question was asked with.")]
Reading = Annotated[Person, allowed(Action.READ_ANSWERS)]


class AskedOut(BaseModel):
    """A question that was charged."""

    number: int = Field(description="Its number among your own, from 1: the next page is after the last one.")
    id: str
    dataset: str
    asked_at: str
    epsilon: str
    question: str
    answered: bool


@router.post(
    "/datasets/{name}/answers",
    responses=refusals(
        "not-found", "invalid-question", "useless-question", "invalid-parameter", "budget-exceeded", "request-running",
        "request-reused", "too-many-statements", "ledger-conflict", "ledger-unavailable", "dataset-unavailable",
        "statement-failed", "statement-stopped", "no-table", "answer-failed",
    ),
    response_model=AnswerOut,
)  # fmt: skip
async def ask(
    name: Name,
    question: Question,
    idempotency_key: IdempotencyKey,
    request: Request,
    service: Serving,
    person: Annotated[Person, allowed(Action.ASK)],
) -> Response:
    """Ask a question.  It is charged first; the answer is kept, and leaves at a tick, whatever it took.

    What is public knowledge costs nothing and is not kept: asking again tells it again.
    """
    found = await answered(request, person, name, question, idempotency_key.strip('"'))
    return await run_in_threadpool(written, found)


@router.post(
    "/datasets/{name}/owned",
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
    person: Annotated[Person, allowed(Action.READ_ANSWERS)],
) -> Response:
    """Return an answer that follows from those that you have, for nothing; the data are not looked at."""
    return await planned(request, person, _owned, service, name, question, person)


def _owned(service: Service, name: str, question: Owned, person: Person) -> Response:
    found = owned_by(service, name, question, person)
    query = asked(service.holdings.holding(name, person), question)
    return written(answer_out(found, name, str(query), found.request_id.removeprefix(f"{person.name}/"), []))


@router.get("/answers", responses=refusals("ledger-unavailable"))
async def answers(
    service: Serving,
    person: Reading,
    after: Annotated[Whole, FromAddress(ge=0, le=2**62, description="Those after this number.")] = 0,
    most: Annotated[Whole, FromAddress(ge=1, le=1000)] = 100,
) -> list[AskedOut]:
    """List your own questions, in the order in which they were charged."""
    return await run_in_threadpool(answers_of, service, person, after, most)


def answers_of(service: Service, person: Person, after: int, most: int) -> list[AskedOut]:
    """Return a person's own questions, in the order in which they were charged.

    They are counted by themselves: numbers of the ledger would tell whether another question was answered in between,
    and so, before its tick, how long it took.
    """
    with service.holdings.reading() as ledger:
        found = list(ledger.requests(person.name, after, most))
    return [
        AskedOut(
            number=number,
            id=_key(person, charge),
            dataset=charge.dataset,
            asked_at=charge.time,
            epsilon=text(fraction(charge.amount)) or "0",
            question=charge.text,
            answered=is_finished(answer) and not service.claims.is_running(charge.request_id),
        )
        for number, (charge, answer) in enumerate(found, after + 1)
    ]


def _key(person: Person, entry: Entry) -> str:
    return entry.request_id.removeprefix(f"{person.name}/")


@router.get(
    "/answers/{key}",
    responses=refusals(
        "not-found", "not-answered", "request-running", "ledger-unavailable", "too-many-statements", "answer-failed"
    ),
    response_model=AnswerOut,
)
async def answer(key: AnswerId, request: Request, service: Serving, person: Reading) -> Response:
    """Return one of your own answers: everything that was released for it."""
    return await planned(request, person, _kept, service, person, key)


def _kept(service: Service, person: Person, key: str) -> Response:
    found = kept(service, person, key)
    return written(answer_out(found.answer, found.dataset, found.sql, key, found.parts))
