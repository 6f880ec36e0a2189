"""Reports: what is published for everybody, and what analysts propose and custodians approve."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.publish import PublishedTable, Report
from inbounds.publish.destinations import make_page
from inbounds.server.basics.person import Action, Person
from inbounds.server.basics.problem import Problem
from inbounds.server.pages.page import redirect, render_page, svg_response
from inbounds.server.pages.parts.answer_chart import draw_answer
from inbounds.server.pages.parts.answer_files import CSV, HTML, JSON, answer_csv, file_response, json_bytes
from inbounds.server.pages.parts.answer_table import describe_answer
from inbounds.server.pages.pictures.figure import Looks
from inbounds.server.pages.visitor import Form, Visitor, refuse_forged, require_visitor
from inbounds.server.service.amounts import format_amount
from inbounds.server.service.door import Serving
from inbounds.server.service.planning import run_planning
from inbounds.server.service.publishing.report_shape import Proposal, PublicId, foreseen_of, proposal_of, to_report_out
from inbounds.server.service.publishing.reports import (
    UNKNOWN_REPORT,
    approve_report,
    find_report,
    load_published,
    propose_report,
    propose_report_file,
    reject_report,
    reports_of,
)
from inbounds.server.service.publishing.sharing import shared_with
from inbounds.server.service.service import Service

router = APIRouter(include_in_schema=False)

Reader = Annotated[Visitor, require_visitor(Action.READ_REPORTS)]
Analyst = Annotated[Visitor, require_visitor(Action.PROPOSE_REPORTS)]
Custodian = Annotated[Visitor, require_visitor(Action.APPROVE_REPORTS)]

PROPOSED_BADLY = (
    "a report needs a title, a name of lower-case letters, digits and underscores, and at least one saved query; enter "
    "them and send the form again"
)


@router.get("/reports")
async def reports_page(request: Request, service: Serving, visitor: Reader) -> Response:
    """List published reports and shared answers; for analysts also their proposals, and how to make one."""
    return render_page(request, "reports", visitor, **await run_in_threadpool(_list_facts, service, visitor.person))


def _list_facts(service: Service, person: Person) -> dict[str, Any]:
    stored = [to_report_out(one) for one in reports_of(service, person)]
    saved = service.saved.find_all(person.name) if person.may(Action.PROPOSE_REPORTS) else []
    datasets = [name for name in person.datasets if any(one.dataset == name for one in saved)]
    return {
        "published": [one for one in stored if one.state == "published"],
        "proposals": [one for one in stored if one.state != "published"],
        "shares": shared_with(service, person),
        "saved": {name: [one for one in saved if one.dataset == name] for name in datasets},
        "proposes": person.may(Action.PROPOSE_REPORTS),
        "datasets": person.datasets,
    }


@router.post("/reports")
async def propose(request: Request, service: Serving, visitor: Analyst, form: Form) -> Response:
    """Propose a report that is made of saved questions, or of the text of a report's file."""
    refuse_forged(request, visitor, form)
    if text := form.get("file", "").strip():
        facts = (service, form.get("dataset", ""), text, visitor.person)
        stored = await run_planning(request, visitor.person, propose_report_file, *facts)
    else:
        proposal = await run_in_threadpool(_read_proposal, service, visitor.person, form)
        stored = await run_planning(request, visitor.person, propose_report, service, proposal, visitor.person)
    return redirect(f"/reports/{stored.id}")


def _read_proposal(service: Service, person: Person, form: dict[str, str]) -> Proposal:
    """Read the form: each saved question that was ticked becomes a table, called by its place."""
    dataset = form.get("dataset", "")
    ticked = [one for one in service.saved.find_all(person.name, dataset) if form.get(f"saved-{one.id}") == "yes"]
    questions = [
        {"name": f"table_{place}", "title": one.name, "sql": one.sql, "epsilon": one.epsilon}
        for place, one in enumerate(ticked, 1)
    ]
    fields = {name: form.get(name, "").strip() for name in ("name", "title", "description", "edition")}
    given = {name: value for name, value in fields.items() if value}
    try:
        return Proposal.model_validate({"dataset": dataset, "questions": questions, **given})
    except ValidationError:
        raise Problem("invalid-parameter", PROPOSED_BADLY) from None


@router.get("/reports/{report}")
async def report_page(request: Request, report: PublicId, service: Serving, visitor: Reader) -> Response:
    """Show a published report; to its analyst and to custodians also one that is still a proposal."""
    facts = await run_in_threadpool(_report_facts, service, visitor.person, report)
    return render_page(request, "reports_one", visitor, **facts)


def _report_facts(service: Service, person: Person, name: str) -> dict[str, Any]:
    stored = find_report(service, person, name)
    report = None if stored.published is None else Report.read(stored.published)
    return {
        "entry": to_report_out(stored),
        "questions": proposal_of(stored).questions,
        "noise": foreseen_of(stored).noise,
        "report": report,
        "cost": stored.cost if report is None else format_amount(report.epsilon),
        "tables": [] if report is None else [_table_facts(name, report, table) for table in report.tables],
        "head": stored.head if person.may(Action.READ_LEDGER) else None,
        "decides": person.may(Action.APPROVE_REPORTS) and stored.is_open,
    }


def _table_facts(name: str, report: Report, table: PublishedTable) -> dict[str, Any]:
    """Return what the template needs of one table."""
    request = table.answer.request_id
    return {
        "published": table,
        "address": f"/reports/{name}/{table.name}",
        "cost": format_amount(table.epsilon),
        "beside": [other.title for other in report.tables if other is not table and other.answer.request_id == request],
        **describe_answer(table.answer, table.chart),
    }


@router.get("/reports/{report}/report.json")
async def report_file(report: PublicId, service: Serving, visitor: Reader) -> Response:
    """Return a published report as a file, with its digest."""
    found = await run_in_threadpool(load_published, service, visitor.person, report)
    return file_response(json_bytes(found.data()), JSON, f"{found.name}.json")


@router.get("/reports/{report}/report.html")
async def report_page_file(report: PublicId, service: Serving, visitor: Reader) -> Response:
    """Return a published report as one page that needs nothing else, to be kept or passed on."""
    found = await run_in_threadpool(load_published, service, visitor.person, report)
    page = await run_in_threadpool(make_page, found)
    return file_response(page.encode(), HTML, f"{found.name}.html")


@router.get("/reports/{report}/{table}/chart.svg")
async def chart_picture(report: PublicId, table: str, service: Serving, visitor: Reader, look: Looks) -> Response:
    """Draw a table of a published report."""
    found = await run_in_threadpool(_find_table, service, visitor.person, report, table)
    return svg_response(await run_in_threadpool(draw_answer, found.answer, look, found.chart))


@router.get("/reports/{report}/{table}/table.csv")
async def table_file(report: PublicId, table: str, service: Serving, visitor: Reader) -> Response:
    """Return a table of a published report as csv."""
    found = await run_in_threadpool(_find_table, service, visitor.person, report, table)
    return file_response(await run_in_threadpool(answer_csv, found.answer), CSV, f"{found.name}.csv")


def _find_table(service: Service, person: Person, report: str, table: str) -> PublishedTable:
    published = load_published(service, person, report)
    found = next((one for one in published.tables if one.name == table), None)
    if found is None:
        raise Problem("not-found", UNKNOWN_REPORT)
    return found


@router.post("/reports/{report}/approve")
async def approve(request: Request, report: PublicId, visitor: Custodian, form: Form) -> Response:
    """Run a report at the charge of its analyst, and publish it."""
    refuse_forged(request, visitor, form)
    await approve_report(request, visitor.person, report)
    return redirect(f"/reports/{report}")


@router.post("/reports/{report}/reject")
async def reject(request: Request, report: PublicId, service: Serving, visitor: Custodian, form: Form) -> Response:
    """Reject a report, with a note."""
    refuse_forged(request, visitor, form)
    note = form.get("note", "").strip()
    if len(note) > 900:
        raise Problem("invalid-parameter", "a note may have up to 900 characters; go back and shorten it")
    await run_in_threadpool(reject_report, service, visitor.person, report, note)
    return redirect(f"/reports/{report}")
