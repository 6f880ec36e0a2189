"""Arriving: the first page, which says what this is, and signing in, with a key, and out again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.server.basics.person import Action, Person
from inbounds.server.basics.problem import Problem
from inbounds.server.pages.menu import home_of
from inbounds.server.pages.page import redirect, render_page
from inbounds.server.pages.visitor import Form, OptionalVisitor, cookie_name, is_from_elsewhere, refuse_forged
from inbounds.server.people.key import prefix_of
from inbounds.server.people.sessions import HOURS
from inbounds.server.people.sign_ins import BACK, MINUTES
from inbounds.server.service.door import SLOWER, Serving, address_of, service_of
from inbounds.server.service.service import Service

if TYPE_CHECKING:
    from inbounds.server.people.code_flow import CodeFlow

router = APIRouter(include_in_schema=False)

_HERE = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*")
"""An address of this server: no other host, no backslash, no blank."""

UNKNOWN_KEY = (
    "We don't recognise this API key. It may be mistyped, expired or revoked. Your custodian can issue a new one."
)
UNKNOWN_ACCOUNT = (
    "Sign-in failed: your account is not registered here, or it took too long. Try again, or ask your custodian."
)

LONGEST_AFTER = 25_000
Returned = Annotated[str, Query(max_length=4096)]
Next = Annotated[str, Query(alias="next", max_length=LONGEST_AFTER)]


@router.get("/")
async def home_page(request: Request, visitor: OptionalVisitor) -> Response:
    """Say what this is, and where to go: for people who are no statisticians."""
    allowed = {action.name for action in Action if visitor is None or visitor.person.may(action)}
    return render_page(request, "home", visitor, allowed=allowed)


@router.get("/sign-in")
async def sign_in_page(request: Request, service: Serving, visitor: OptionalVisitor, after: Next = "") -> Response:
    """Show where to sign in."""
    return render_page(request, "sign_in", visitor, after=after, refused=None, provider=service.file.provider)


@router.post("/sign-in")
async def sign_in(request: Request, service: Serving, visitor: OptionalVisitor, form: Form) -> Response:
    """Sign in with a key."""
    if is_from_elsewhere(request):
        raise Problem("stale-form", "open the sign-in page and sign in there")
    key, after = form.get("key", "").strip(), form.get("next", "")
    name = await run_in_threadpool(service.keys.holder, key)
    person = None if name is None else service.file.people.get(name)
    if person is None:
        if not await run_in_threadpool(service.rates.take, f"address {address_of(request)}"):
            raise Problem("too-many", "too many wrong API keys; wait a minute", headers=SLOWER)
        provider = service.file.provider
        return render_page(request, "sign_in", visitor, status=401, after=after, refused=UNKNOWN_KEY, provider=provider)
    return await start_session(request, person, prefix_of(key), after)


async def start_session(request: Request, person: Person, key: str | None, after: str) -> Response:
    """Return the answer to whoever signed in: a new session in place of the browser's, and the page that was wanted."""
    service = service_of(request)
    # Somebody else may have put the browser's session there, and would share one that went on.
    await run_in_threadpool(service.sessions.end, request.cookies.get(cookie_name(service), ""))
    cookie = await run_in_threadpool(service.sessions.begin, person.name, key)
    response = redirect(after if _HERE.fullmatch(after) else home_of(request, person).address)
    _set_cookie(response, service, cookie_name(service), cookie, HOURS * 3600)
    return response


def _set_cookie(response: Response, service: Service, name: str, value: str, seconds: int) -> None:
    """Set a cookie that no script reads, and that other sites send with nothing but a link to a page.

    For no seconds it is taken away, which needs the same words as setting it.
    """
    secure = service.file.home.startswith("https://") or service.file.proxy is not None
    response.set_cookie(name, value, max_age=seconds, path="/", secure=secure, httponly=True, samesite="lax")


@router.get("/sign-in/provider")
async def to_provider(request: Request, service: Serving, after: Next = "") -> Response:
    """Send the browser to the identity provider."""
    flow = _flow(service)
    if not await run_in_threadpool(service.rates.take, f"sign-in {address_of(request)}"):
        raise Problem("too-many", "too many sign-ins at once; wait a minute", headers=SLOWER)
    target = await run_in_threadpool(flow.begin, after)
    if target is None:
        raise Problem("server-unavailable", "the identity provider cannot be reached; try again later")
    response = redirect(target.address)
    _set_cookie(response, service, _pending_name(service), target.cookie, MINUTES * 60)
    return response


@router.get(BACK)
async def from_provider(
    request: Request, service: Serving, visitor: OptionalVisitor, state: Returned = "", code: Returned = ""
) -> Response:
    """Sign in whom the provider sends back."""
    flow, name = _flow(service), _pending_name(service)
    identity = await run_in_threadpool(flow.end, request.cookies.get(name, ""), state, code)
    person = None if identity is None else service.file.people.get(identity.name)
    if identity is None or person is None:
        provider = service.file.provider
        response: Response = render_page(
            request, "sign_in", visitor, status=401, after="", refused=UNKNOWN_ACCOUNT, provider=provider
        )
    else:
        response = await start_session(request, person, None, identity.after)
    _set_cookie(response, service, name, "", 0)
    return response


def _flow(service: Service) -> CodeFlow:
    if service.code_flow is None:
        raise Problem("not-found", "this server has no identity provider; sign in with an API key")
    return service.code_flow


def _pending_name(service: Service) -> str:
    return f"{cookie_name(service)}-sign-in"


@router.post("/sign-out")
async def sign_out(request: Request, service: Serving, visitor: OptionalVisitor, form: Form) -> Response:
    """Sign out, at once."""
    response = redirect("/")
    if visitor is not None:
        refuse_forged(request, visitor, form)
        name = cookie_name(service)
        await run_in_threadpool(service.sessions.end, request.cookies.get(name, ""))
        _set_cookie(response, service, name, "", 0)
    return response
