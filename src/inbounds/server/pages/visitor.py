"""Who looks at a page: somebody who signed in, or nobody; and whether a form is really theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from inbounds.server.basics.person import Action, Person
from inbounds.server.basics.problem import Problem
from inbounds.server.people.sessions import Session
from inbounds.server.service.door import SLOWER, Serving, service_of
from inbounds.server.service.service import Service

MOST_FIELDS = 100


@dataclass(frozen=True)
class Visitor:
    """Somebody who is signed in."""

    person: Person
    session: Session


class SignInFirst(Exception):
    """Nobody is signed in; after signing in, the browser comes back."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.address = f"/sign-in?next={quote(path, safe='')}"


def cookie_name(service: Service) -> str:
    """Return what the cookie is called: over TLS by a name that browsers accept from this host only."""
    return "__Host-inbounds" if service.file.home.startswith("https://") else "inbounds"


async def find_visitor(request: Request, service: Serving) -> Visitor | None:
    """Return who looks, None if nobody is signed in."""
    cookie = request.cookies.get(cookie_name(service))
    visitor = None if cookie is None else await run_in_threadpool(admit_visitor, service, cookie)
    if visitor is not None:
        request.scope.setdefault("state", {}).update(person=visitor.person, visitor=visitor)
    return visitor


OptionalVisitor = Annotated[Visitor | None, Depends(find_visitor)]


def admit_visitor(service: Service, cookie: str) -> Visitor | None:
    """Return who has a cookie, None if its session is over; pages are counted as requests are."""
    visitor = visitor_of(service, cookie)
    if visitor is not None and not service.rates.take(f"person {visitor.person.name}"):
        raise Problem("too-many", "too many pages at once; wait a moment", headers=SLOWER)
    return visitor


def visitor_of(service: Service, cookie: str) -> Visitor | None:
    """Return who has a cookie, None if its session is over."""
    session = service.sessions.find(cookie)
    if session is None or (session.key is not None and not service.keys.is_valid(session.key)):
        return None
    person = service.file.people.get(session.person)
    return None if person is None else Visitor(person, session)


FORMS = {
    "/answers/{key}/shares": "/answers/{key}",
    "/answers/{key}/shares/{share}/revoke": "/answers/{key}",
    "/ask/{name}/requests": "/ask/{name}",
    "/ask/{name}/practice": "/ask/{name}",
    "/ask/{name}/saved": "/ask/{name}",
    "/ask/{name}/saved/{question}/remove": "/ask/{name}",
    "/reports/{report}/approve": "/reports/{report}",
    "/reports/{report}/reject": "/reports/{report}",
    "/keep/{name}/grants": "/keep/{name}",
    "/keep/{name}/contract/file": "/keep/{name}/contract",
    "/keep/requests/{number}": "/keep",
    "/keep/keys/{prefix}/revoke": "/keep/keys",
}
"""Addresses that take a form and are no page, and the page that the form stands on."""


async def _wanted_page(request: Request) -> str:
    """Return the page that somebody wanted; for a form the one that it stands on, with the question if it has one."""
    route, query = request.scope["route"].path, request.url.query
    if request.method == "POST":
        form = await read_form(request)
        query = urlencode([(field, form[field]) for field in ("sql", "epsilon") if field in form])
    names = {name: quote(str(value), safe="") for name, value in request.path_params.items()}
    path = FORMS.get(route, route).format_map(names)
    return f"{path}?{query}" if query else path


def require_visitor(action: Action) -> Any:
    """Return what a page depends on that only some roles may see: it gives the visitor."""

    async def authorise(request: Request, visitor: OptionalVisitor) -> Visitor:
        if visitor is None:
            raise SignInFirst(await _wanted_page(request))
        if not visitor.person.may(action):
            raise Problem(
                "not-allowed", f"this page is for {action.who}; you are signed in as {visitor.person.role.with_article}"
            )
        return visitor

    return Depends(authorise)


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form that was sent, the last of each name."""
    body = await request.body()
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except (ValueError, UnicodeDecodeError):
        raise Problem("invalid-request", "the form could not be read; go back and send it again") from None


Form = Annotated[dict[str, str], Depends(read_form)]


def is_from_elsewhere(request: Request) -> bool:
    """Return whether the browser says that another site sent this: as browsers do now, or did before."""
    # Browsers of before 2023 send no Sec-Fetch-Site, but an Origin; whoever sends neither is no browser.
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None or origin is None:
        return site not in (None, "same-origin", "none")
    own = request.headers.get("host"), urlsplit(service_of(request).file.home).netloc
    return urlsplit(origin).netloc not in own


def refuse_forged(request: Request, visitor: Visitor, form: dict[str, str]) -> None:
    """Refuse a form that another site could have sent: it lacks the session's token, or says where it comes from."""
    if is_from_elsewhere(request) or not visitor.session.has_token(form.get("token", "")):
        raise Problem("stale-form", "go back, reload the page and send it again")
