"""Answers: a question is charged, asked and kept under its Idempotency-Key, and leaves at a tick."""

from __future__ import annotations

import functools
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Header, Path, Request
from fastapi import Query as FromAddress
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from inbounds.errors import BudgetExceeded, InboundsError, InvalidParameter, InvalidQuestion, RequestReused
from inbounds.ledger.amount import fraction
from inbounds.ledger.entry import Entry
from inbounds.query import Answer, ExplainedPart, Query
from inbounds.query.row_limit import row_limit
from inbounds.query.unfinished import load as unfinished
from inbounds.server.api.amounts import plain, text
from inbounds.server.api.datasets import Asking, Name, Owned, PartOut, asked, part_out
from inbounds.server.api.door import Serving, allowed, refusals, service_of
from inbounds.server.claims import running
from inbounds.server.holdings import Holding
from inbounds.server.person import Action, Person
from inbounds.server.problem import AGAIN, Problem
from inbounds.server.service import Service
from inbounds.server.ticks import Ticks

router = APIRouter(prefix="/v1", tags=["answers"])

TOKEN = r"[A-Za-z0-9._~-]{1,80}"
"""An Idempotency-Key: no slash, so that a request id tells where the person's name ends."""

IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        pattern=rf'^("{TOKEN}"|{TOKEN})$',
        description="A name of your own for this question: sending it again with the same one never pays twice.",
        examples=["7d4e5c9a-first"],
    ),
]
AnswerId = Annotated[str, Path(pattern=f"^{TOKEN}$", description="The Idempotency-Key that a question was asked with.")]
Reading = Annotated[Person, allowed(Action.READ_ANSWERS)]


class Question(Asking):
    """A question to be answered."""

    confidence: float = Field(default=0.95, gt=0, lt=1, description="Of the intervals.")


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
    confidence: float
    row_limit: str | None
    warnings: list[str]
    note: str | None
    parts: list[PartOut] = Field(description="How it was answered, with the proof; of an answer read again, empty.")


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
        "not-found", "invalid-question", "invalid-parameter", "budget-exceeded", "request-running", "request-reused",
        "too-many-statements", "ledger-conflict", "ledger-unavailable", "dataset-unavailable", "statement-failed",
        "statement-stopped", "no-table",
    ),
)  # fmt: skip
async def ask(
    name: Name,
    question: Question,
    idempotency_key: IdempotencyKey,
    request: Request,
    service: Serving,
    person: Annotated[Person, allowed(Action.ASK)],
) -> AnswerOut:
    """Ask a question.  It is charged first; the answer is kept, and leaves at a tick, whatever it took."""
    return await answered(request, person, name, question, idempotency_key.strip('"'))


async def answered(request: Request, person: Person, name: str, question: Question, key: str) -> AnswerOut:
    """Charge, ask and keep, and return the answer at a tick."""
    service = service_of(request)
    holding = await run_in_threadpool(service.holdings.holding, name, person)
    ticks = Ticks(holding.tick)
    with (
        service.claims.one_of(running(request_id(person, key)), 1) as first,
        service.claims.one_of(f"statement {person.name}", service.file.limits.statements_at_once) as free,
    ):
        if not first:
            raise Problem("request-running", f"this question is being answered; {AGAIN}", headers={"Retry-After": "1"})
        if not free:
            most = service.file.limits.statements_at_once
            raise Problem("too-many-statements", f"everybody has {most} questions at once; wait for an answer")
        work = functools.partial(_answer, service, holding, question, person, key)
        try:
            found = await to_thread.run_sync(work, limiter=_limiter(request, service))
        except (InvalidQuestion, InvalidParameter, BudgetExceeded, RequestReused):
            raise  # before any row was looked at
        except Exception:
            await ticks.next()
            raise
        await ticks.next()  # until then it is running, for whoever asks again or looks for the answer
    service.metrics.answers.labels(name).inc()
    return found


def _limiter(request: Request, service: Service) -> CapacityLimiter:
    """Return what statements of this process wait for; it belongs to the loop, and so is made in it."""
    state = request.app.state
    if not hasattr(state, "statements"):
        state.statements = CapacityLimiter(service.file.limits.statements)
    return state.statements


def _answer(service: Service, holding: Holding, question: Question, person: Person, key: str) -> AnswerOut:
    query = asked(holding, question)
    found = _ask(query, question, person, key)
    with suppress(Problem):  # it is charged and there: without this it is shown later as it was released
        service.questions.keep(request_id(person, key), holding.name, question.model_dump(mode="json"))
    return answer_out(found, holding.name, question.sql, key, _parts(holding, query, question))


def _ask(query: Query, question: Question, person: Person, key: str) -> Answer:
    return query.ask(
        question.epsilon,
        analyst=person.name,
        request_id=request_id(person, key),
        pooling=question.pooling,
        weights=question.weights,
        confidence=question.confidence,
        progress=_silent,
    )


def _parts(holding: Holding, query: Query, question: Question) -> list[PartOut]:
    plans = query.plans(question.epsilon, pooling=question.pooling, weights=question.weights)
    return [part_out(ExplainedPart.of(plan, holding.dataset.engine.dialect.name).data()) for plan in plans]


def _silent(line: str) -> None:
    """A server has nobody to show progress to."""
    assert line


def request_id(person: Person, key: str) -> str:
    """Return what the ledger calls a request: nobody can use another person's, or see whether it is taken."""
    return f"{person.name}/{key}"


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
        confidence=answer.confidence,
        row_limit=answer.row_limit,
        warnings=list(answer.warnings),
        note=answer.note,
        parts=parts,
    )


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


@router.post(
    "/datasets/{name}/owned",
    responses=refusals("not-found", "not-owned", "invalid-question", "ledger-unavailable", "dataset-unavailable"),
)
async def owned(
    name: Name, question: Owned, service: Serving, person: Annotated[Person, allowed(Action.READ_ANSWERS)]
) -> AnswerOut:
    """Return an answer that follows from those that you have, for nothing; the data are not looked at."""
    return await run_in_threadpool(_owned, service, name, question, person)


def _owned(service: Service, name: str, question: Owned, person: Person) -> AnswerOut:
    holding = service.holdings.holding(name, person)
    query = asked(holding, question)
    with service.holdings.reading() as ledger:
        found = query.owned(person.name, ledger, service.claims.is_running)
    if found is None:
        raise Problem("not-owned", "no answer that you have tells this one; ask it, for an epsilon")
    return answer_out(found, holding.name, str(query), found.request_id.removeprefix(f"{person.name}/"), [])


@router.get("/answers", responses=refusals("ledger-unavailable"))
async def answers(
    service: Serving,
    person: Reading,
    after: Annotated[int, FromAddress(ge=0, le=2**62, description="Those after this number.")] = 0,
    most: Annotated[int, FromAddress(ge=1, le=1000)] = 100,
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
            answered=_is_finished(kept) and not service.claims.is_running(charge.request_id),
        )
        for number, (charge, kept) in enumerate(found, after + 1)
    ]


def _is_finished(kept: Entry | None) -> bool:
    """Return whether an answer is there, and is not what was measured for one only."""
    return kept is not None and unfinished(kept.text) is None


def _key(person: Person, entry: Entry) -> str:
    return entry.request_id.removeprefix(f"{person.name}/")


@router.get("/answers/{key}", responses=refusals("not-found", "not-answered", "request-running", "ledger-unavailable"))
async def answer(key: AnswerId, service: Serving, person: Reading) -> AnswerOut:
    """Return one of your own answers: everything that was released for it."""
    return await run_in_threadpool(_kept, service, person, key)


def _kept(service: Service, person: Person, key: str) -> AnswerOut:
    found = kept(service, person, key)
    return answer_out(found.answer, found.dataset, found.sql, key, found.parts)


@dataclass(frozen=True)
class Kept:
    """An answer that was given before, as it was asked for."""

    dataset: str
    sql: str
    """The question as it was written."""
    asked_at: str
    answer: Answer
    parts: list[PartOut]


def kept(service: Service, person: Person, key: str) -> Kept:
    """Return one of a person's own answers; the data are not looked at."""
    request = request_id(person, key)
    with service.holdings.reading() as ledger:
        found = ledger.request(request)
    if found is None or found[0].analyst != person.name:
        raise Problem("not-found", "you have asked no question with this key")
    charge, answer = found
    if service.claims.is_running(request):
        raise Problem("request-running", "this question is being answered; look again in a moment")
    if answer is None or not _is_finished(answer):
        raise Problem("not-answered", f"this question was charged, and has no answer yet; {AGAIN}")
    written = service.questions.find(request)
    if written is not None and person.may_see(charge.dataset):
        with suppress(InboundsError):  # the contract was changed since: then what was released is shown
            return _as_asked(service, person, key, charge, written[1])
    released = Answer.load(answer.text, fraction(charge.amount), key, _row_limit(service, charge))
    return Kept(charge.dataset, charge.text, charge.time, released, [])


def _row_limit(service: Service, charge: Entry) -> str | None:
    """Return what was said beside an answer of a row limit, None where the contract no longer has its question."""
    with suppress(InboundsError):
        if charge.dataset in service.holdings.names:
            return row_limit(service.holdings.opened(charge.dataset).dataset.sql(charge.text).questions)
    return None


def _as_asked(service: Service, person: Person, key: str, charge: Entry, content: dict[str, Any]) -> Kept:
    """Return what was released as the question wanted it shown: asking again with its id gives what is kept."""
    question = Question(**content)
    holding = service.holdings.holding(charge.dataset, person)
    query = asked(holding, question)
    return Kept(
        charge.dataset, question.sql, charge.time, _ask(query, question, person, key), _parts(holding, query, question)
    )
