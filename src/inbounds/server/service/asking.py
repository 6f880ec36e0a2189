"""Asking: a question is charged, asked and kept under its Idempotency-Key, and leaves at a tick."""

from __future__ import annotations

import functools
import threading
from contextlib import suppress
from dataclasses import replace

from anyio import to_thread
from fastapi import Request
from starlette.concurrency import run_in_threadpool

from inbounds.display.progress import Progress, silent
from inbounds.errors import (
    AnswerFailed,
    BudgetExceeded,
    EngineFailed,
    InvalidParameter,
    InvalidQuestion,
    ProjectionFailed,
    RequestReused,
)
from inbounds.query import Answer, ExplainedPart, Query
from inbounds.server.basics.person import Person
from inbounds.server.basics.problem import AGAIN, Problem
from inbounds.server.basics.ticks import Ticks
from inbounds.server.service.answer_shape import AnswerOut, Question, to_answer_out
from inbounds.server.service.door import limiter_of, service_of
from inbounds.server.service.explaining import PartOut, to_part_out, to_query
from inbounds.server.service.service import Service
from inbounds.server.state.claims import running
from inbounds.server.state.open_datasets import Holding


async def answer_question(request: Request, person: Person, name: str, question: Question, key: str) -> AnswerOut:
    """Charge, ask and keep, and return the answer at a tick.

    1. Claim the request id, and one of the person's places; both are held until the answer leaves.
    2. Charge and run the statement in a thread, where it waits for its turn.
    3. Wait for the next tick, also with a refusal, once the statement has begun.
    """
    service = service_of(request)
    holding = await run_in_threadpool(service.holdings.holding, name, person)
    ticks = Ticks(holding.tick)
    with (
        service.claims.one_of(running(request_id(person, key)), 1) as first,
        service.claims.one_of(f"statement {person.name}", service.file.limits.statements_at_once) as free,
    ):
        if not first:
            raise Problem(
                "request-running",
                f"this query is still running; wait a moment, then {AGAIN}",
                headers={"Retry-After": "1"},
            )
        if not free:
            most = service.file.limits.statements_at_once
            raise Problem(
                "too-many-statements",
                f"the limit is {most} queries per person at once; wait for one of yours to finish",
            )
        begun = threading.Event()  # from then on, all that is raised may depend on rows
        answer_it = _practise if question.practise else _answer
        work = functools.partial(answer_it, service, holding, question, person, key, begun)
        try:
            answer = await to_thread.run_sync(work, limiter=limiter_of(request, "statements"))
        except Exception as problem:
            if begun.is_set() or not isinstance(problem, BEFORE):
                await ticks.next()
            raise
        await ticks.next()  # until then it is running, for whoever asks again or looks for the answer
    if not question.practise:
        service.metrics.answers.labels(name).inc()
    return answer


BEFORE = (InvalidQuestion, InvalidParameter, BudgetExceeded, RequestReused)
"""What is refused before any row is looked at, and leaves at once; unless a statement has begun all the same."""


def _answer(
    service: Service, holding: Holding, question: Question, person: Person, key: str, begun: threading.Event
) -> AnswerOut:
    query = to_query(holding, question)
    try:
        # The first line of progress is reported when a statement begins.
        answer = run_query(query, question, person, key, lambda _: begun.set())
    except (EngineFailed, ProjectionFailed, AnswerFailed):  # it is charged, and will be asked again
        _store_question(service, holding, question, request_id(person, key))
        raise
    if answer.epsilon:  # else it is public, and there is no request to keep it under
        _store_question(service, holding, question, request_id(person, key))
    return to_answer_out(answer, holding.name, question.sql, key, explain_parts(holding, query, question))


def _practise(
    service: Service, holding: Holding, question: Question, person: Person, key: str, begun: threading.Event
) -> AnswerOut:
    """Ask made-up rows; nothing is charged, and nothing stays."""
    with holding.dataset.practice() as made:
        made.engine.statement_seconds = service.file.limits.statement_seconds
        practising = replace(holding, dataset=made)
        query = to_query(practising, question)
        answer = run_query(query, question, person, key, lambda _: begun.set())
        parts = explain_parts(practising, query, question)
    return to_answer_out(answer, holding.name, question.sql, key, parts)


def _store_question(service: Service, holding: Holding, question: Question, request: str) -> None:
    """Keep a question as it was written; without that its answer is shown later as it was released."""
    with suppress(Problem):
        service.questions.keep(request, holding.name, question.model_dump(mode="json"))


def run_query(query: Query, question: Question, person: Person, key: str, progress: Progress = silent) -> Answer:
    """Return the answer to a question: the one that is kept, if it was asked before."""
    return query.ask(
        question.epsilon,
        analyst=person.name,
        request_id=request_id(person, key),
        pooling=question.pooling,
        weights=question.weights,
        confidence=question.confidence,
        simultaneous=question.simultaneous,
        progress=progress,
        force=question.force,
    )


def explain_parts(holding: Holding, query: Query, question: Question) -> list[PartOut]:
    """Say how a question is answered, with the proof."""
    plans = query.plans(question.epsilon, pooling=question.pooling, weights=question.weights)
    return [to_part_out(ExplainedPart.of(plan, holding.dataset.engine.dialect.name).data()) for plan in plans]


def request_id(person: Person, key: str) -> str:
    """Return what the ledger calls a request: nobody can use another person's, or see whether it is taken."""
    return f"{person.name}/{key}"


def key_of(person: Person, request: str) -> str:
    """Return the Idempotency-Key of one of a person's own requests."""
    return request.removeprefix(f"{person.name}/")
