"""The door of every route: who comes in, and whether this role may do that."""

from __future__ import annotations

from typing import Annotated, Any

from anyio import CapacityLimiter
from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from inbounds.server.basics.person import Action, Person
from inbounds.server.basics.problem import KINDS, MEDIA_TYPE, Problem
from inbounds.server.service.service import Service

SLOWER = {"Retry-After": "10"}


def service_of(request: Request) -> Service:
    """Return what all requests share."""
    service: Service = request.app.state.service
    return service


def limiter_of(request: Request, limit: str) -> CapacityLimiter:
    """Return what work of this process waits for, by the limit on it; it belongs to the loop, and so is made in it."""
    state = request.app.state
    if not hasattr(state, limit):
        setattr(state, limit, CapacityLimiter(getattr(service_of(request).file.limits, limit)))
    limiter: CapacityLimiter = getattr(state, limit)
    return limiter


def address_of(request: Request) -> str | None:
    """Return where a request comes from: the machine that is connected, whatever a header says."""
    return None if request.client is None else request.client.host


Serving = Annotated[Service, Depends(service_of)]


def require(action: Action) -> Any:
    """Return what a route depends on that only some roles may use: it gives the person who asks."""

    async def authorise(request: Request, service: Serving) -> Person:
        person = await run_in_threadpool(admit, service, request)
        request.scope.setdefault("state", {})["person"] = person  # for the log
        if not person.may(action):
            raise Problem("not-allowed", f"only {action.who} may {action.words}; your role is {person.role.value}")
        return person

    return Depends(authorise)


def admit(service: Service, request: Request) -> Person:
    """Return who asks, if not too often; wrong keys are counted for the address that they come from."""
    address = address_of(request)
    try:
        person = service.authentication.person(address, request.headers)
    except Problem:
        if not service.rates.take(f"address {address}"):
            raise Problem(
                "too-many", "too many requests without a valid API key; wait a minute", headers=SLOWER
            ) from None
        raise
    if not service.rates.take(f"person {person.name}"):
        most = service.file.limits.requests_per_minute
        raise Problem("too-many", f"the limit is {most} requests per person and minute; wait a moment", headers=SLOWER)
    return person


ALWAYS = (
    "invalid-request",
    "not-authenticated",
    "not-allowed",
    "too-large",
    "too-slow",
    "too-many",
    "server-unavailable",
)


def refusals(*codes: str) -> dict[int | str, dict[str, Any]]:
    """Return how the document of the interface tells of refusals: those that every route has, and some more."""
    responses: dict[int | str, dict[str, Any]] = {}
    for code in sorted({*ALWAYS, *codes}):
        kind = KINDS[code]
        schema = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        before = responses.get(kind.status)
        words = f"{code}: {kind.title}" if before is None else f"{before['description']}; {code}: {kind.title}"
        responses[kind.status] = {"description": words, "content": schema}
    return responses
