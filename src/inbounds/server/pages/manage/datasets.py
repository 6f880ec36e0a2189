"""Manage: the budgets of datasets, who asked what, grants, and requests that wait for a decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.errors import InboundsError, InvalidParameter, LedgerUnavailable
from inbounds.ledger.values.entry import Entry
from inbounds.server.basics import clock
from inbounds.server.basics.person import Action
from inbounds.server.basics.problem import Problem
from inbounds.server.pages.page import redirect, render_page, svg_response
from inbounds.server.pages.parts.contract_history import history
from inbounds.server.pages.pictures.balances_picture import balances_picture
from inbounds.server.pages.pictures.figure import Looks
from inbounds.server.pages.visitor import Form, Visitor, refuse_forged, require_visitor
from inbounds.server.service.amounts import Whole
from inbounds.server.service.budgets import Grant, budget_of, grant_budget
from inbounds.server.service.dataset_shape import Name, describe_dataset
from inbounds.server.service.door import Serving
from inbounds.server.service.publishing.report_shape import to_report_out
from inbounds.server.service.publishing.reports import reports_of
from inbounds.server.service.service import Service

router = APIRouter(include_in_schema=False)

Custodian = Annotated[Visitor, require_visitor(Action.GRANT)]
MOST = 100
"""So many of the last questions are shown."""

LONGEST_NOTE = 900
ALL_PERIODS = " "
"""What the form calls a grant to all periods together: no analyst has a blank name."""

DECISIONS = {"grant": "granted", "decline": "declined"}
"""What can become of a request, and the note if there is no other."""

Number = Annotated[Whole, Path(ge=1, le=2**62)]


@router.get("/keep")
async def keep_page(request: Request, service: Serving, visitor: Custodian) -> Response:
    """Show every dataset's budget, and the requests and reports that wait for a decision."""
    names = service.holdings.names
    budgets = [await run_in_threadpool(budget_of, service, name, visitor.person, None) for name in names]
    requests = await run_in_threadpool(service.budget_requests.find_all)
    pending = [budget_request for budget_request in requests if budget_request.decided is None]
    reports = await run_in_threadpool(reports_of, service, visitor.person)
    waiting = [to_report_out(stored) for stored in reports if stored.is_open]
    return render_page(request, "keep", visitor, budgets=budgets, requests=pending, reports=waiting)


@router.get("/keep/{name}")
async def keep_one_page(request: Request, name: Name, service: Serving, visitor: Custodian) -> Response:
    """Show one dataset: balances over time, who asked what, requests, and the contract with its history."""
    return render_page(request, "keep_one", visitor, **await run_in_threadpool(_dataset_facts, service, visitor, name))


def _dataset_facts(service: Service, visitor: Visitor, name: str) -> dict[str, Any]:
    holding = service.holdings.holding(name, visitor.person)
    analysts = service.file.analysts_of(name)
    entries = _entries(service, name)
    return {
        "dataset": describe_dataset(holding),
        "total": budget_of(service, name, visitor.person, None),
        "analysts": [budget_of(service, name, visitor.person, analyst.name) for analyst in analysts],
        "charges": [entry for entry in entries if entry.kind == "charge"][: -MOST - 1 : -1],
        "grants": [entry for entry in entries if entry.kind == "grant"][::-1],
        "requests": service.budget_requests.find_all(name),
        "contracts": history(entries),
    }


def _entries(service: Service, name: str) -> Sequence[Entry]:
    with service.holdings.reading() as ledger:
        return ledger.statement(name).entries


@router.get("/keep/{name}/balances.svg")
async def balances(name: Name, service: Serving, visitor: Custodian, look: Looks) -> Response:
    """Draw what was spent over time."""
    await run_in_threadpool(service.holdings.holding, name, visitor.person)
    entries = await run_in_threadpool(_entries, service, name)
    return svg_response(await run_in_threadpool(balances_picture, entries, clock.now(), look))


@router.post("/keep/{name}/grants")
async def grant(request: Request, name: Name, service: Serving, visitor: Custodian, form: Form) -> Response:
    """Grant more, on the record."""
    refuse_forged(request, visitor, form)
    analyst = form.get("analyst") or None
    whole = analyst == ALL_PERIODS
    more = _read_grant(form.get("amount", ""), None if whole else analyst, form.get("note", ""), lifetime=whole)
    await run_in_threadpool(grant_budget, service, name, more, visitor.person)
    return redirect(f"/keep/{quote(name, safe='')}")


@router.post("/keep/requests/{number}")
async def decide(request: Request, number: Number, service: Serving, visitor: Custodian, form: Form) -> Response:
    """Grant or decline a request, with a note."""
    refuse_forged(request, visitor, form)
    decision, note = form.get("decision", ""), form.get("note", "").strip()
    if decision not in DECISIONS or len(note) > LONGEST_NOTE:
        raise Problem(
            "invalid-parameter", f"choose Grant or Decline, with a note of up to {LONGEST_NOTE} characters; go back"
        )
    await run_in_threadpool(_decide, service, visitor, number, decision == "grant", note or DECISIONS[decision])
    return redirect("/keep")


def _decide(service: Service, visitor: Visitor, number: int, grants: bool, note: str) -> None:
    """Decide a request: once, so that it is not granted twice; and not at all if the grant is refused.

    The decision is recorded first, and taken back if nothing was granted: two custodians cannot both grant.
    """
    pending = service.budget_requests.find(number)
    if pending is None or not service.budget_requests.decide(number, pending.amount if grants else None, note):
        raise Problem("not-found", "this request has already been decided; go back and reload the page")
    if grants:
        try:
            more = _read_grant(pending.amount, pending.person, f"{note} (request {number})")
            grant_budget(service, pending.dataset, more, visitor.person)
        except (InboundsError, Problem) as error:
            if not (isinstance(error, LedgerUnavailable) and error.uncertain):  # nothing was written
                service.budget_requests.reopen(number)
            raise


def _read_grant(amount: str, analyst: str | None, note: str, *, lifetime: bool = False) -> Grant:
    facts = {"amount": amount, "analyst": analyst, "note": note.strip(), "lifetime": lifetime}
    try:
        return Grant.model_validate(facts)
    except ValueError:
        raise InvalidParameter("a grant needs an amount such as 0.5 and a reason; go back and enter both") from None
