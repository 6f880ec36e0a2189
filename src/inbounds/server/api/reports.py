"""Reports: proposed by analysts, approved by custodians, and read by everybody."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from inbounds.server.basics.person import Action, Person
from inbounds.server.service.dataset_shape import Name
from inbounds.server.service.door import Serving, refusals, require
from inbounds.server.service.planning import run_planning
from inbounds.server.service.publishing.report_shape import (
    Proposal,
    ProposedFile,
    PublicId,
    Rejection,
    ReportOut,
    to_report_out,
)
from inbounds.server.service.publishing.reports import (
    approve_report,
    load_published,
    propose_report,
    propose_report_file,
    reject_report,
    reports_of,
)

router = APIRouter(prefix="/v1", tags=["reports"])

Reading = Annotated[Person, require(Action.READ_REPORTS)]
Proposing = Annotated[Person, require(Action.PROPOSE_REPORTS)]
Approving = Annotated[Person, require(Action.APPROVE_REPORTS)]


@router.get("/reports", summary="List reports", responses=refusals())
async def reports(service: Serving, person: Reading) -> list[ReportOut]:
    """List published reports, the newest first; analysts also see their own proposals, and custodians all of them."""
    return [to_report_out(stored) for stored in await run_in_threadpool(reports_of, service, person)]


@router.get("/reports/{report}", summary="Get a published report", responses=refusals("not-found"))
async def report(report: PublicId, service: Serving, person: Reading) -> dict[str, Any]:
    """Return a published report: all its tables, and a digest of everything in it."""
    found = await run_in_threadpool(load_published, service, person, report)
    return found.data()


@router.post(
    "/reports",
    summary="Propose a report",
    status_code=201,
    responses=refusals(
        "not-found", "invalid-question", "useless-question", "question-too-expensive", "invalid-parameter",
        "dataset-unavailable", "too-many-statements",
    ),
)  # fmt: skip
async def propose(proposal: Proposal, request: Request, service: Serving, person: Proposing) -> ReportOut:
    """Propose a report. This is free: its queries run, at your charge, when a custodian approves it."""
    return to_report_out(await run_planning(request, person, propose_report, service, proposal, person))


@router.post(
    "/datasets/{name}/reports",
    summary="Propose a report by its file",
    status_code=201,
    responses=refusals(
        "not-found", "invalid-question", "useless-question", "invalid-parameter", "dataset-unavailable",
        "too-many-statements",
    ),
)  # fmt: skip
async def propose_file(
    name: Name, proposed: ProposedFile, request: Request, service: Serving, person: Proposing
) -> ReportOut:
    """Propose the report of a report file. Costs are found for wanted errors and for a total; this is free."""
    return to_report_out(await run_planning(request, person, propose_report_file, service, name, proposed.file, person))


@router.post(
    "/reports/{report}/approve",
    summary="Approve a report",
    responses=refusals(
        "not-found", "invalid-question", "useless-question", "invalid-parameter", "budget-exceeded",
        "question-too-expensive", "request-running", "request-reused", "too-many-statements", "ledger-conflict",
        "ledger-unavailable", "dataset-unavailable", "statement-failed", "statement-stopped", "no-table",
        "answer-failed",
    ),
)  # fmt: skip
async def approve(report: PublicId, request: Request, person: Approving) -> ReportOut:
    """Run a report at the charge of its analyst, and publish it. Approved again after an interruption, it goes on."""
    return to_report_out(await approve_report(request, person, report))


@router.post(
    "/reports/{report}/reject",
    summary="Reject a report",
    responses=refusals("not-found", "invalid-parameter", "request-running"),
)
async def reject(report: PublicId, rejection: Rejection, service: Serving, person: Approving) -> ReportOut:
    """Reject a report that is not published yet. What was charged for it stays charged."""
    return to_report_out(await run_in_threadpool(reject_report, service, person, report, rejection.note))
