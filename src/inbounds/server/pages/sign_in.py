"""Signing in, with a key, and out again."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.server.api.door import SLOWER, Serving
from inbounds.server.key import prefix_of
from inbounds.server.pages.page import page, to
from inbounds.server.pages.visitor import Form, Looking, cookie_name, refuse_forged
from inbounds.server.person import Person, Role
from inbounds.server.problem import Problem
from inbounds.server.service import Service
from inbounds.server.sessions import HOURS

router = APIRouter(include_in_schema=False)

_HERE = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*")
"""An address of this server: no other host, no backslash, no blank."""

HOME = {Role.ANALYST: "/ask", Role.CUSTODIAN: "/keep", Role.AUDITOR: "/verify"}
"""Where each role begins."""

Next = Annotated[str, Query(alias="next", max_length=25_000)]


@router.get("/sign-in")
async def sign_in_page(request: Request, service: Serving, looking: Looking, after: Next = "") -> Response:
    """Show where to sign in."""
    return page(request, "sign_in", looking, after=after, refused=None, provider=service.file.provider)


@router.post("/sign-in")
async def sign_in(request: Request, service: Serving, looking: Looking, sent: Form) -> Response:
    """Sign in with a key."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Problem("not-allowed", "this form is not from here; open the page and sign in there")
    key, after = sent.get("key", "").strip(), sent.get("next", "")
    name = await run_in_threadpool(service.keys.holder, key)
    person = None if name is None else service.file.people.get(name)
    if person is None:
        address = None if request.client is None else request.client.host
        if not await run_in_threadpool(service.rates.take, f"address {address}"):
            raise Problem("too-many", "too many wrong keys; wait a minute", headers=SLOWER)
        refused = "Nobody is known by this key. It may be mistyped, expired or revoked; the custodian issues another."
        return page(
            request, "sign_in", looking, status=401, after=after, refused=refused, provider=service.file.provider
        )
    cookie = await run_in_threadpool(service.sessions.begin, person.name, prefix_of(key))
    return signed(service, person, cookie, after)


def signed(service: Service, person: Person, cookie: str, after: str) -> Response:
    """Return the answer to whoever signed in: a cookie, and the page that was wanted."""
    found = to(after if _HERE.fullmatch(after) else HOME[person.role])
    secure = service.file.tls is not None or service.file.proxy is not None
    found.set_cookie(
        cookie_name(service), cookie, max_age=HOURS * 3600, path="/", secure=secure, httponly=True, samesite="lax"
    )
    return found


@router.post("/sign-out")
async def sign_out(request: Request, service: Serving, looking: Looking, sent: Form) -> Response:
    """Sign out, at once."""
    found = to("/")
    if looking is not None:
        refuse_forged(request, looking, sent)
        name = cookie_name(service)
        await run_in_threadpool(service.sessions.end, request.cookies.get(name, ""))
        found.delete_cookie(name, path="/")
    return found
