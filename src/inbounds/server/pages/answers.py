"""Answers: one's own questions so far; and each answer, as a table, a picture and a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.files.csv_text import write_table
from inbounds.ledger.values.amount import fraction
from inbounds.query.answer.answer import unlike
from inbounds.query.engines.parquet_file import parquet_bytes
from inbounds.server.basics.person import Action, Person
from inbounds.server.basics.problem import Problem
from inbounds.server.pages.page import render_page, svg_response
from inbounds.server.pages.parts.answer_table import describe_answer
from inbounds.server.pages.pictures.answer_picture import answer_picture, drawable
from inbounds.server.pages.pictures.figure import Looks
from inbounds.server.pages.visitor import Visitor, require_visitor
from inbounds.server.service.amounts import Whole, format_amount
from inbounds.server.service.answer_list import AnswerId, AskedOut, answers_of
from inbounds.server.service.answer_shape import to_answer_out
from inbounds.server.service.asking import request_id
from inbounds.server.service.budgets import BudgetOut, budget_of
from inbounds.server.service.door import Serving
from inbounds.server.service.planning import run_planning
from inbounds.server.service.service import Service
from inbounds.server.service.stored_answers import StoredAnswer, load_answer

router = APIRouter(include_in_schema=False)

Analyst = Annotated[Visitor, require_visitor(Action.READ_ANSWERS)]
MOST = 50
"""So many questions are on one page."""


@router.get("/answers")
async def answers_page(
    request: Request, service: Serving, visitor: Analyst, before: Annotated[Whole, Query(ge=0, le=2**62)] = 0
) -> Response:
    """List one's own questions, the newest first, and one's requests for budget."""
    queries = await run_in_threadpool(_list_queries, service, visitor.person, before)
    older = queries[-1].number if queries and queries[-1].number > 1 else None
    requests = await run_in_threadpool(service.budget_requests.find_all, None, visitor.person.name)
    return render_page(request, "answers", visitor, queries=queries, older=older, requests=requests)


def _list_queries(service: Service, person: Person, before: int) -> list[AskedOut]:
    """Return a page of somebody's questions before a number, or of the last ones, the newest first."""
    with service.holdings.reading() as ledger:
        count = ledger.charges(analyst=person.name)
    # Questions are numbered from 1, so the page before a number ends with the one below it.
    last = min(before - 1, count) if before else count
    first = max(0, last - MOST)
    return answers_of(service, person, first, last - first)[::-1]


@router.get("/answers/{key}")
async def answer_page(request: Request, key: AnswerId, service: Serving, visitor: Analyst) -> Response:
    """Show an answer; if there is none yet, how to have it."""
    try:
        stored = await run_planning(request, visitor.person, load_answer, service, visitor.person, key)
    except Problem as problem:
        if problem.code != "not-answered":
            raise
        return await _render_waiting(request, key, service, visitor)
    facts: dict[str, Any] = {
        "key": key,
        "stored": stored,
        "budget": await run_in_threadpool(_budget, service, visitor, stored.dataset),
        "cost": format_amount(stored.answer.epsilon),
        "again": format_amount(2 * stored.answer.epsilon) or "1",
    }
    return render_page(request, "answers_one", visitor, **facts, **describe_answer(stored.answer))


async def _render_waiting(request: Request, key: str, service: Service, visitor: Visitor) -> Response:
    """Show a question that was charged and not answered, with a button that asks it again."""
    dataset, content = await run_in_threadpool(_find_charged, service, request_id(visitor.person, key))
    return render_page(request, "answers_waiting", visitor, status=409, key=key, dataset=dataset, content=content)


def _find_charged(service: Service, request: str) -> tuple[str, dict[str, Any]]:
    """Return the dataset and the question that was charged: as it was written or, after a crash, as the ledger says."""
    question = service.questions.find(request)
    if question is not None:
        return question
    with service.holdings.reading() as ledger:
        entries = ledger.request(request)
    assert entries is not None  # or nothing was charged
    charge, _ = entries
    options = {"alone": False, "pooling": None, "weights": None}
    return charge.dataset, {"sql": charge.text, "epsilon": format_amount(fraction(charge.amount)), **options}


def _budget(service: Service, visitor: Visitor, name: str) -> BudgetOut | None:
    """Return what is left of the budget, if the dataset is still this analyst's to ask."""
    try:
        return budget_of(service, name, visitor.person, visitor.person.name)
    except Problem:
        return None


@router.get("/answers/{key}/chart.svg")
async def chart(request: Request, key: AnswerId, service: Serving, visitor: Analyst, look: Looks) -> Response:
    """Draw an answer."""
    stored = await run_planning(request, visitor.person, load_answer, service, visitor.person, key)
    drawn = drawable(stored.answer)
    if drawn is None:
        raise Problem("not-found", "this answer has no chart; go back to the table")
    return svg_response(await run_in_threadpool(answer_picture, drawn, look))


@router.get("/answers/{key}/answer.{ending}")
async def download(request: Request, key: AnswerId, ending: str, service: Serving, visitor: Analyst) -> Response:
    """Return an answer as a file: csv, parquet, or json with the proof."""
    if ending not in FILES:
        raise Problem("not-found", "an answer can be downloaded as csv, parquet or json; choose one of these")
    content, kind = await run_planning(request, visitor.person, _export, service, visitor, key, ending)
    name = f'attachment; filename="{key}.{ending}"'
    return Response(content, media_type=kind, headers={"Content-Disposition": name})


def _export(service: Service, visitor: Visitor, key: str, ending: str) -> tuple[bytes, str]:
    make, kind = FILES[ending]
    return make(load_answer(service, visitor.person, key)), kind


def _columns(stored: StoredAnswer) -> dict[str, list[Any]]:
    """Return the columns of a file: the caveat is in each row, so that no row goes anywhere without it."""
    columns, caveat = stored.answer.by_column(), stored.answer.caveat
    note = {} if caveat is None else {unlike("caveat", tuple(columns)): [caveat] * len(stored.answer.rows)}
    return columns | note


def _csv(stored: StoredAnswer) -> bytes:
    columns = _columns(stored)
    return write_table(columns, zip(*columns.values(), strict=True))


def _parquet(stored: StoredAnswer) -> bytes:
    return parquet_bytes(_columns(stored))


def _json(stored: StoredAnswer) -> bytes:
    data = to_answer_out(stored.answer, stored.dataset, stored.sql, stored.key, stored.parts).model_dump(mode="json")
    return json.dumps(data, indent=2, ensure_ascii=False).encode()


FILES: dict[str, tuple[Callable[[StoredAnswer], bytes], str]] = {
    "csv": (_csv, "text/csv; charset=utf-8"),
    "parquet": (_parquet, "application/vnd.apache.parquet"),
    "json": (_json, "application/json"),
}
