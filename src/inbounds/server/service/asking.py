"""Asking: a question is charged, asked and kept under its Idempotency-Key, and leaves at a tick."""

from __future__ import annotations

import functools
from contextlib import suppress

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
from inbounds.server.service.answer_shape import AnswerOut, Question, answer_out
from inbounds.server.service.door import service_of, waiting_for
from inbounds.server.service.explaining import PartOut, asked, part_out
from inbounds.server.service.service import Service
from inbounds.server.state.claims import running
from inbounds.server.state.open_datasets import Holding


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
        begun = Begun()
        work = functools.partial(_answer, service, holding, question, person, key, begun)
        try:
            found = await to_thread.run_sync(work, limiter=waiting_for(request, "statements"))
        except Exception as problem:
            if begun or not isinstance(problem, BEFORE):
                await ticks.next()
            raise
        await ticks.next()  # until then it is running, for whoever asks again or looks for the answer
    service.metrics.answers.labels(name).inc()
    return found


BEFORE = (InvalidQuestion, InvalidParameter, BudgetExceeded, RequestReused)
"""What is refused before any row is looked at, and leaves at once; unless a statement has begun all the same."""


class Begun:
    """Whether a statement has begun to run: from then on, all that is raised may depend on rows."""

    def __init__(self) -> None:
        self._is_true = False

    def __call__(self, text: str) -> None:
        """Take a line of progress: the first one is told when a statement begins."""
        del text
        self._is_true = True

    def __bool__(self) -> bool:
        return self._is_true


def _answer(
    service: Service, holding: Holding, question: Question, person: Person, key: str, begun: Begun
) -> AnswerOut:
    query = asked(holding, question)
    try:
        found = asked_with(query, question, person, key, begun)
    except (EngineFailed, ProjectionFailed, AnswerFailed):  # it is charged, and will be asked again
        _keep(service, holding, question, request_id(person, key))
        raise
    if found.epsilon:  # else it is public, and there is no request to keep it under
        _keep(service, holding, question, request_id(person, key))
    return answer_out(found, holding.name, question.sql, key, parts_of(holding, query, question))


def _keep(service: Service, holding: Holding, question: Question, request: str) -> None:
    """Keep a question as it was written; without that its answer is shown later as it was released."""
    with suppress(Problem):
        service.questions.keep(request, holding.name, question.model_dump(mode="json"))


def asked_with(query: Query, question: Question, person: Person, key: str, progress: Progress = silent) -> Answer:
    """Return the answer to a question: the one that is kept, if it was asked before."""
    return query.ask(
        question.epsilon,
        analyst=person.name,
        request_id=request_id(person, key),
        pooling=question.pooling,
        weights=question.weights,
        confidence=question.confidence,
        progress=progress,
        force=question.force,
    )


def parts_of(holding: Holding, query: Query, question: Question) -> list[PartOut]:
    """Say how a question is answered, with the proof."""
    plans = query.plans(question.epsilon, pooling=question.pooling, weights=question.weights)
    return [part_out(ExplainedPart.of(plan, holding.dataset.engine.dialect.name).data()) for plan in plans]


def request_id(person: Person, key: str) -> str:
    """Return what the ledger calls a request: nobody can use another person's, or see whether it is taken."""
    return f"{person.name}/{key}"
