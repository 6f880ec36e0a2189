"""Who looks at a page: somebody who signed in, or nobody; and whether a form is really theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from inbounds.server.api.door import SLOWER, Serving
from inbounds.server.person import Action, Person
from inbounds.server.problem import Problem
from inbounds.server.service import Service
from inbounds.server.sessions import Session

MOST_FIELDS = 100


@dataclass(frozen=True)
class Visitor:
    """Somebody who is signed in."""

    person: Person
    session: Session

    def may(self, action: str) -> bool:
        """Return whether this role may do something; for templates, by the action's name."""
        return self.person.may(Action[action])


class SignInFirst(Exception):
    """Nobody is signed in; after signing in, the browser comes back."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.address = f"/sign-in?next={quote(path, safe='')}"


def cookie_name(service: Service) -> str:
    """Return what the cookie is called: over TLS by a name that browsers accept from this host only."""
    return "__Host-inbounds" if service.file.home.startswith("https://") else "inbounds"


async def visitor(request: Request, service: Serving) -> Visitor | None:
    """Return who looks, None if nobody is signed in."""
    cookie = request.cookies.get(cookie_name(service))
    found = None if cookie is None else await run_in_threadpool(found_by, service, cookie)
    if found is not None:
        request.scope.setdefault("state", {}).update(person=found.person, visitor=found)
    return found


Looking = Annotated[Visitor | None, Depends(visitor)]


def found_by(service: Service, cookie: str) -> Visitor | None:
    """Return who has a cookie, None if its session is over; pages are counted as requests are."""
    session = service.sessions.find(cookie)
    if session is None or (session.key is not None and not service.keys.is_valid(session.key)):
        return None
    person = service.file.people.get(session.person)
    if person is None:
        return None
    if not service.rates.take(f"person {person.name}"):
        raise Problem("too-many", "too many pages at once; wait a little", headers=SLOWER)
    return Visitor(person, session)


def signed_in(action: Action) -> Any:
    """Return what a page depends on that only some roles may see: it gives the visitor."""

    async def allowed(request: Request, looking: Looking) -> Visitor:
        if looking is None:
            path, query = quote(request.url.path), request.url.query
            raise SignInFirst(f"{path}?{query}" if query else path)
        if not looking.person.may(action):
            raise Problem("not-allowed", f"{looking.person.role.one} may not {action.words}; ask somebody who may")
        return looking

    return Depends(allowed)


async def form(request: Request) -> dict[str, str]:
    """Return the fields of a form that was sent, the last of each name."""
    body = await request.body()
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except (ValueError, UnicodeDecodeError):
        raise Problem("invalid-request", "the form cannot be read; go back and send it again") from None


Form = Annotated[dict[str, str], Depends(form)]


def is_from_elsewhere(request: Request) -> bool:
    """Return whether the browser says that another site sent this."""
    return request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


def refuse_forged(request: Request, looking: Visitor, sent: dict[str, str]) -> None:
    """Refuse a form that another site could have sent: it lacks the session's token, or says where it comes from."""
    if is_from_elsewhere(request) or not looking.session.sent(sent.get("token", "")):
        raise Problem("not-allowed", "this form is not from here, or too old; go back, load the page and send it again")
