"""How a page is made: a template, strict headers, and who looks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from importlib.resources import files
from typing import Any

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from inbounds import __version__
from inbounds.server.basics.log import tell
from inbounds.server.basics.problem import MISTAKE
from inbounds.server.pages.menu import links_of
from inbounds.server.pages.visitor import Visitor
from inbounds.server.pages.words import first_sentence, in_words, moment, sentence

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'"
)
"""What a page may load: nothing from elsewhere, and no script or style that stands in it."""

HEADERS = {"Content-Security-Policy": POLICY}

_LATER = "<!-- later -->"
"""What stands in the text of a page for the part that follows."""

STATIC = files("inbounds.server") / "static"

_ENVIRONMENT = Environment(
    loader=PackageLoader("inbounds.server"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True,
)  # fmt: skip
_ENVIRONMENT.filters |= {
    "in_words": in_words, "moment": moment, "sentence": sentence, "first_sentence": first_sentence,
}  # fmt: skip


def render_page(
    request: Request, template: str, visitor: Visitor | None, /, *, status: int = 200, **facts: Any
) -> HTMLResponse:
    """Return a page."""
    text = render(template, **_frame(request, visitor), **facts)
    return HTMLResponse(text, status, HEADERS)


def _frame(request: Request, visitor: Visitor | None) -> dict[str, Any]:
    """Return what the layout of every page needs."""
    links = links_of(request, None if visitor is None else visitor.person)
    return {"visitor": visitor, "path": request.url.path, "version": __version__, "menu": links}


def stream_page(
    request: Request, template: str, visitor: Visitor | None, later: Awaitable[str], /, **facts: Any
) -> StreamingResponse:
    """Return a page that is shown at once, but for a part that takes a while and stands where it says `later`."""
    # The frame is rendered before anything is sent, so that a mistake in it is still refused with a status.
    whole = render(template, **_frame(request, visitor), later=Markup(_LATER), **facts)
    before, _, after = whole.partition(_LATER)

    async def parts() -> AsyncIterator[str]:
        yield before
        try:
            yield await later
        except Exception as mistake:  # noqa: BLE001  the page has begun: it says so, and the operator is told its kind
            tell("mistake", kind=type(mistake).__name__)
            yield render("problem", problem=MISTAKE.detail)
        yield after

    return StreamingResponse(parts(), media_type="text/html", headers=HEADERS)


def render_fragment(template: str, **facts: Any) -> HTMLResponse:
    """Return a part of a page, for the script of ours that puts it there."""
    return HTMLResponse(render(template, **facts), headers=HEADERS)


def render(template: str, **facts: Any) -> str:
    """Return the text of a page, or of a part of one."""
    return _ENVIRONMENT.get_template(f"{template}.html").render(facts)


def redirect(path: str) -> RedirectResponse:
    """Send the browser to another page, to be read."""
    return RedirectResponse(path, 303)


def svg_response(svg: bytes) -> Response:
    """Return a picture: an image, in which nothing runs."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"  # of the picture's own elements
    return Response(svg, media_type="image/svg+xml", headers={"Content-Security-Policy": policy})
