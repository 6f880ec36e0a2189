"""What a page says when something is refused: what happened, and what to do."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from inbounds.server.pages.page import page
from inbounds.server.problem import KINDS, Problem


def is_for_people(request: Request) -> bool:
    """Return whether a browser asks for a page: not for the interface of programs, and for HTML."""
    path = request.url.path
    program = path.startswith("/v1") or path in ("/metrics", "/healthz", "/readyz")
    return not program and "text/html" in request.headers.get("accept", "")


def refusal_page(request: Request, problem: Problem) -> Response:
    """Return the page of a refusal."""
    kind = KINDS[problem.code]
    found = page(request, "refusal", None, status=kind.status, title=kind.title, detail=problem.detail)
    found.headers.update(problem.headers)
    return found
