"""Answers: one's own questions so far; and each answer, as a table, a picture and a file."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.code.notebook import KIND as NOTEBOOK
from inbounds.code.notebook import write_notebook
from inbounds.code.place import OnServer
from inbounds.code.question_code import WrittenQuestion, write_code
from inbounds.exact.amount import fraction
from inbounds.query.ask.privacy_options import drop_options
from inbounds.server.basics.person import Action, Person
from inbounds.server.basics.problem import Problem
from inbounds.server.pages.page import redirect, render_page, svg_response
from inbounds.server.pages.parts.answer_chart import draw_answer
from inbounds.server.pages.parts.answer_files import check_ending, export_answer, file_response
from inbounds.server.pages.parts.answer_table import describe_answer
from inbounds.server.pages.pictures.answer_picture import ChosenChart
from inbounds.server.pages.pictures.figure import Looks
from inbounds.server.pages.visitor import Form, Visitor, refuse_forged, require_visitor
from inbounds.server.service.amounts import Whole, format_amount
from inbounds.server.service.answer_list import AnswerId, AskedOut, answers_of
from inbounds.server.service.asking import request_id
from inbounds.server.service.budgets import BudgetOut, budget_of
from inbounds.server.service.door import Serving
from inbounds.server.service.planning import run_planning
from inbounds.server.service.publishing.report_shape import PublicId
from inbounds.server.service.publishing.sharing import Sharing, revoke_share, share_answer, shares_of
from inbounds.server.service.service import Service
from inbounds.server.service.stored_answers import StoredAnswer, load_answer

router = APIRouter(include_in_schema=False)

Analyst = Annotated[Visitor, require_visitor(Action.READ_ANSWERS)]
Owner = Annotated[Visitor, require_visitor(Action.SHARE)]
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
async def answer_page(
    request: Request, key: AnswerId, service: Serving, visitor: Analyst, chart: ChosenChart = None
) -> Response:
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
        "repeated": drop_options(stored.sql),
        "again": format_amount(2 * stored.answer.epsilon) or "1",
        "shares": await run_in_threadpool(shares_of, service, visitor.person, key),
        "address": f"/answers/{key}",
        "code": write_code(_as_written(service, stored)),
    }
    return render_page(request, "answers_one", visitor, **facts, **describe_answer(stored.answer, chart))


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
async def chart_picture(
    request: Request, key: AnswerId, service: Serving, visitor: Analyst, look: Looks, chart: ChosenChart = None
) -> Response:
    """Draw an answer."""
    stored = await run_planning(request, visitor.person, load_answer, service, visitor.person, key)
    return svg_response(await run_in_threadpool(draw_answer, stored.answer, look, chart))


@router.post("/answers/{key}/shares")
async def share(request: Request, key: AnswerId, service: Serving, visitor: Owner, form: Form) -> Response:
    """Make a link to an answer, for people who are named."""
    refuse_forged(request, visitor, form)
    people = [name.strip() for name in form.get("people", "").splitlines() if name.strip()]
    try:
        sharing = Sharing(
            title=form.get("title", "").strip(), description=form.get("description", "").strip() or None, people=people
        )
    except ValidationError:
        raise Problem(
            "invalid-parameter", "a link needs a title and names of people, one per line; go back and enter both"
        ) from None
    await run_planning(request, visitor.person, share_answer, service, visitor.person, key, sharing)
    return redirect(f"/answers/{key}#shares")


@router.post("/answers/{key}/shares/{share}/revoke")
async def revoke(
    request: Request, key: AnswerId, share: PublicId, service: Serving, visitor: Owner, form: Form
) -> Response:
    """Take a link back, at once."""
    refuse_forged(request, visitor, form)
    await run_in_threadpool(revoke_share, service, visitor.person, key, share)
    return redirect(f"/answers/{key}#shares")


@router.get("/answers/{key}/answer.ipynb")
async def notebook(request: Request, key: AnswerId, service: Serving, visitor: Analyst) -> Response:
    """Return an answer as a notebook, which fetches it from here."""
    stored = await run_planning(request, visitor.person, load_answer, service, visitor.person, key)
    text = write_notebook(_as_written(service, stored), "0")
    return file_response(text.encode(), NOTEBOOK, f"{key}.ipynb")


def _as_written(service: Service, stored: StoredAnswer) -> WrittenQuestion:
    """Return a question that was answered, to be written as code that fetches the answer."""
    epsilon = format_amount(stored.answer.epsilon) or "0"
    place = OnServer(service.file.home, stored.dataset)
    return WrittenQuestion(place, stored.sql, epsilon, stored.key, is_answered=True)


@router.get("/answers/{key}/answer.{ending}")
async def download(request: Request, key: AnswerId, ending: str, service: Serving, visitor: Analyst) -> Response:
    """Return an answer as a file: csv, parquet, or json with the proof."""
    check_ending(ending)
    content, kind = await run_planning(request, visitor.person, _export, service, visitor, key, ending)
    return file_response(content, kind, f"{key}.{ending}")


def _export(service: Service, visitor: Visitor, key: str, ending: str) -> tuple[bytes, str]:
    return export_answer(load_answer(service, visitor.person, key), ending)
