"""Manage: what a contract does to the real table, and texts that are tried in its place; none is applied from here."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import quote, quote_plus

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.errors import InboundsError, InvalidContract
from inbounds.query.contract.places import has_password
from inbounds.query.custodian.trial import line_of
from inbounds.server.basics.person import Action
from inbounds.server.basics.problem import Problem, to_problem
from inbounds.server.pages.page import render_page
from inbounds.server.pages.parts.contract_changes import changes_between, other_changes
from inbounds.server.pages.parts.contract_trial import (
    bounds_picture,
    changes_budget,
    check_text,
    needs_attention,
    next_steps,
)
from inbounds.server.pages.parts.limits_shown import LimitsShown
from inbounds.server.pages.visitor import Form, Visitor, refuse_forged, require_visitor
from inbounds.server.service.dataset_shape import Name
from inbounds.server.service.door import Serving
from inbounds.server.service.inspecting import inspect_tables, run_inspection
from inbounds.server.service.planning import run_planning
from inbounds.server.service.service import Service
from inbounds.server.service.trying import ContractTrial, Wish, draft_again, try_contract, write_served
from inbounds.server.state.open_datasets import Holding

router = APIRouter(include_in_schema=False)

Inspector = Annotated[Visitor, require_visitor(Action.INSPECT)]

ROOM = 0.9
"""A text that fills more of what a request may have is said to be too long for a form."""

PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


@router.get("/keep/{name}/check")
async def check_page(request: Request, name: Name, service: Serving, visitor: Inspector) -> Response:
    """Show what the contract does to the real table: for the custodian's eyes only."""
    holding = await run_in_threadpool(service.holdings.holding, name, visitor.person)
    inspection = await run_inspection(request, visitor.person, inspect_tables, service, holding.dataset)
    text = check_text(inspection, holding.dataset.contract.name)
    return render_page(request, "keep_check", visitor, name=name, text=text)


@router.get("/keep/{name}/contract")
async def contract_page(
    request: Request, name: Name, service: Serving, visitor: Inspector, draft: Annotated[bool, Query()] = False
) -> Response:
    """Show the contract that is served, or a fresh draft, to be changed and tried; no row is read."""
    holding = await run_in_threadpool(service.holdings.holding, name, visitor.person)
    text = await run_planning(request, visitor.person, draft_again if draft else write_served, holding)
    facts = _facts(service, holding, Wish(text)) | {"is_draft": draft}
    return render_page(request, "keep_contract", visitor, **facts)


@router.post("/keep/{name}/contract")
async def try_page(request: Request, name: Name, service: Serving, visitor: Inspector, form: Form) -> Response:
    """Show what a text would do: its faults, or true figures; what was typed stays, whatever becomes of it."""
    refuse_forged(request, visitor, form)
    holding = await run_in_threadpool(service.holdings.holding, name, visitor.person)
    wish = Wish(_typed_text(form), form.get("epsilon", Wish.epsilon).strip(), form.get("mean", ""))
    facts, status = _facts(service, holding, wish), 200
    try:
        found = await run_inspection(request, visitor.person, try_contract, service, holding, wish)
        facts |= await run_in_threadpool(_describe, service, holding, wish, found)
    except InvalidContract as error:
        facts["faults"] = [(fault, _line_at(wish.text, fault)) for fault in error.faults or (str(error),)]
    except InboundsError as error:
        problem = to_problem(error)
        facts["problem"], status = problem.detail, problem.status
    except Problem as problem:
        facts["problem"], status = problem.detail, problem.status
    return render_page(request, "keep_contract", visitor, status=status, **facts)


@router.post("/keep/{name}/contract/file")
async def contract_file(request: Request, name: Name, service: Serving, visitor: Inspector, form: Form) -> Response:
    """Return the text that was typed as a file; nothing on the server changes."""
    refuse_forged(request, visitor, form)
    holding = await run_in_threadpool(service.holdings.holding, name, visitor.person)
    called = PLAIN.sub("-", holding.dataset.contract.name).strip("-.") or "contract.toml"
    headers = {"Content-Disposition": f'attachment; filename="{called}"'}
    return Response(_typed_text(form).encode(), media_type="application/toml", headers=headers)


def _typed_text(form: dict[str, str]) -> str:
    """Return the text as a file has it: browsers send both signs of a line break."""
    return form.get("text", "").replace("\r\n", "\n")


def _facts(service: Service, holding: Holding, wish: Wish) -> dict[str, Any]:
    """Return what the page shows of any text."""
    return {
        "name": holding.name,
        "file": holding.dataset.contract.name,
        "wish": wish,
        "is_draft": False,
        "lacks_password": has_password(holding.dataset.contract),
        "is_long": len(quote_plus(wish.text.replace("\n", "\r\n"))) > ROOM * service.file.limits.body_bytes,
        "address": f"/keep/{quote(holding.name, safe='')}/contract",
        "faults": [],
        "problem": None,
        "trial": None,
    }


def _describe(service: Service, holding: Holding, wish: Wish, found: ContractTrial) -> dict[str, Any]:
    """Return what the page shows of a text that reads."""
    present = holding.dataset
    changes = changes_between(present.terms, found.terms)
    others = other_changes(present.contract.content, found.content)
    return {
        "trial": found,
        "changes": changes,
        "others": others,
        "limits": None if found.limits is None else LimitsShown(found.limits, wish.epsilon),
        "bounds": bounds_picture(found.inspection),
        "text": check_text(found.inspection, present.contract.name),
        "is_warned": needs_attention(found.inspection),
        "changes_budget": changes_budget(others),
        "steps": list(next_steps(service, holding, changes, others)),
    }


def _line_at(text: str, fault: str) -> str:
    """Return the line that a fault is about."""
    number = line_of(fault)
    lines = text.split("\n")
    return lines[number - 1].strip() if number is not None and number <= len(lines) else ""
