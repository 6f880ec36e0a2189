"""Manage: everybody's keys."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.server.basics import clock
from inbounds.server.basics.person import Action
from inbounds.server.basics.problem import Problem
from inbounds.server.pages.page import redirect, render_page
from inbounds.server.pages.visitor import Form, Visitor, refuse_forged, require_visitor
from inbounds.server.service.door import Serving
from inbounds.server.service.service import Service

router = APIRouter(include_in_schema=False)

Keykeeper = Annotated[Visitor, require_visitor(Action.MANAGE_KEYS)]
DAYS = re.compile("[0-9]{1,5}")


@router.get("/keep/keys")
async def keys_page(request: Request, service: Serving, visitor: Keykeeper) -> Response:
    """List everybody's keys."""
    return await _render_keys(request, service, visitor, None)


async def _render_keys(
    request: Request, service: Service, visitor: Visitor, issued: tuple[str, str] | None
) -> Response:
    keys = await run_in_threadpool(service.keys.issued)
    people = list(service.file.people.values())
    return render_page(request, "keep_keys", visitor, keys=keys, now=clock.now(), people=people, issued=issued)


@router.post("/keep/keys")
async def issue(request: Request, service: Serving, visitor: Keykeeper, form: Form) -> Response:
    """Issue a key, and show it this once."""
    refuse_forged(request, visitor, form)
    person, days = form.get("person", ""), form.get("days", "")
    if person not in service.file.people or DAYS.fullmatch(days) is None:
        raise Problem("invalid-parameter", "choose a person and a number of days; go back and try again")
    text, _ = await run_in_threadpool(service.keys.issue, person, int(days))
    return await _render_keys(request, service, visitor, (person, text))


@router.post("/keep/keys/{prefix}/revoke")
async def revoke(request: Request, prefix: str, service: Serving, visitor: Keykeeper, form: Form) -> Response:
    """Revoke a key, at once."""
    refuse_forged(request, visitor, form)
    if await run_in_threadpool(service.keys.revoke, prefix) is None:
        raise Problem("not-found", "no API key has this prefix; go back and reload the list")
    return redirect("/keep/keys")
