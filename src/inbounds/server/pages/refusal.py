"""What a page says when something is refused: what happened, and what to do."""

from __future__ import annotations

from contextlib import suppress

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from inbounds.query.methods.usefulness import INSIST
from inbounds.server.basics.problem import AGAIN, FAILED_ANSWER, KINDS, REUSED, Problem
from inbounds.server.pages.menu import home_of
from inbounds.server.pages.page import render_page
from inbounds.server.pages.visitor import Visitor, cookie_name, visitor_of
from inbounds.server.service.door import service_of
from inbounds.server.service.stored_answers import UNKNOWN_REQUEST

WORDS = {
    AGAIN: "open it under “Answers” and run it again, at no extra cost",
    "; see /v1/openapi.json": "",
    INSIST: "to run it anyway, go back to the query and press “Run anyway”",
    UNKNOWN_REQUEST: "you have no query at this address; choose one under “Answers”",
    FAILED_ANSWER: (
        "the answer could not be computed; the charge stands. Tell your custodian, or run it as a new query, which is "
        "charged again"
    ),
    REUSED: "this form was already sent with another query; go back, reload the page and run the query again",
}
"""What programs are told, and people in place of it."""

TITLES = {"request-reused": "This form was already used for another query"}

LOOK_AGAIN = ("request-running", "too-many", "too-many-statements", "statement-failed", "dataset-unavailable")
LATER = (*LOOK_AGAIN, "ledger-unavailable", "server-unavailable")
"""What passes by itself."""


def is_for_people(request: Request) -> bool:
    """Return whether a browser asks for a page: not for the interface of programs, and for HTML."""
    path = request.url.path
    program = path.startswith("/v1") or path in ("/metrics", "/healthz", "/readyz")
    return not program and "text/html" in request.headers.get("accept", "")


async def refusal_page(request: Request, problem: Problem) -> Response:
    """Return the page of a refusal, with a way on."""
    kind, visitor = KINDS[problem.code], await _visitor(request)
    detail = problem.detail
    for words, instead in WORDS.items():
        detail = detail.replace(words, instead)
    ways, title = _ways(request, problem, visitor), TITLES.get(problem.code, kind.title)
    response = render_page(request, "refusal", visitor, status=kind.status, title=title, detail=detail, ways=ways)
    response.headers.update(problem.headers)
    return response


async def _visitor(request: Request) -> Visitor | None:
    """Return who looks, also at an address where there is nothing."""
    known: Visitor | None = request.scope.get("state", {}).get("visitor")
    cookie = request.cookies.get(cookie_name(service_of(request)))
    if known is not None or cookie is None:
        return known
    with suppress(Problem):  # of the server's own file: whoever looks is then told what is wrong, as nobody
        return await run_in_threadpool(visitor_of, service_of(request), cookie)
    return None


def _ways(request: Request, problem: Problem, visitor: Visitor | None) -> list[tuple[str, str]]:
    """Return where to go from here: addresses, and what they are called."""
    ways = []
    if problem.code in LATER and request.method == "GET":
        target = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
        ways.append((target, "Try again"))
    if problem.code == "budget-exceeded" and request.url.path.startswith("/ask/"):
        ways.append((f"{request.url.path}#budget", "View or request budget"))
    if visitor is None:
        return [*ways, ("/", "Home"), ("/sign-in", "Sign in")]
    home = home_of(request, visitor.person)
    ways.append((home.address, home.way or home.words))
    return ways
