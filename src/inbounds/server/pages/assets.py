"""The few files that pages load: one style sheet, one script, one icon."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from inbounds.server.basics.problem import Problem
from inbounds.server.pages.page import STATIC

router = APIRouter(include_in_schema=False)

KINDS = {"style.css": "text/css", "script.js": "text/javascript", "icon.svg": "image/svg+xml"}
_FILES = {name: (STATIC / name).read_bytes() for name in KINDS}


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """Return a file; browsers keep it for an hour."""
    if name not in KINDS:
        raise Problem("not-found", "no such file; reload the page")
    return Response(_FILES[name], media_type=KINDS[name], headers={"Cache-Control": "public, max-age=3600"})
