"""What happens to every request and response: limits on what comes in, headers on what goes out, a line in the log."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from uuid import uuid4

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from inbounds.server.basics import clock
from inbounds.server.basics.log import tell
from inbounds.server.basics.problem import MEDIA_TYPE, MISTAKE, Problem
from inbounds.server.run.repetition import refuse_repeated
from inbounds.server.service.service import Service

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
OVER_TLS = {"Strict-Transport-Security": "max-age=31536000"}
NUMBER = "X-Request-Number"
"""What a request is called in the log."""

ONCE = (b"content-length", b"content-type", b"host", b"idempotency-key", b"origin", b"sec-fetch-site")
"""Headers that say one thing; of two, a proxy may believe the other.  With two Authorizations nobody is known."""

Page = Callable[[Scope, Problem], Awaitable[Response | None]]
"""What is shown of a refusal to people; None to programs."""


class Guard:
    """Reads a request whole before anybody looks at it, within limits, and puts headers on whatever is answered."""

    def __init__(self, app: ASGIApp, service: Service, page: Page) -> None:
        self._app = app
        self._service = service
        self._page = page
        self._headers = _pairs(HEADERS if service.file.tls is None else {**HEADERS, **OVER_TLS})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request: check and read it whole, hand it on, and log it, whatever became of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, number, method = clock.seconds(), uuid4().hex, scope["method"]
        scope = {**scope, "method": "GET"} if method == "HEAD" else scope
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {name for name, _ in message.get("headers", [])}
                added = [(name, value) for name, value in self._headers if name not in own]
                message["headers"] = [*message.get("headers", []), *added, *_pairs({NUMBER: number})]
            elif method == "HEAD":  # answered as a GET is, without the body
                message = {**message, "body": b""}
            await send(message)

        try:
            self._refuse_others(scope)
            body = await self._body(scope, receive)
            refuse_repeated(scope["path"], scope["query_string"], body)
            await self._app(scope, _replay(body, receive), sending)
        except Problem as problem:
            await self._refuse(problem, scope, sending)
        except Exception as mistake:  # noqa: BLE001  its message may hold anything: the operator is told its kind only
            tell("mistake", kind=type(mistake).__name__, number=number)
            if status == 0:  # else a response has begun, and cannot become another one
                await self._refuse(MISTAKE, scope, sending)
        finally:
            self._note({**scope, "method": method}, status, start, number)

    async def _refuse(self, problem: Problem, scope: Scope, send: Send) -> None:
        self._service.metrics.problems.labels(problem.code).inc()
        headers, body = _encode(problem)
        with suppress(Exception):  # a mistake in the page about a mistake
            page = await self._page(scope, problem)
            if page is not None:
                headers, body = [*page.raw_headers, *_pairs({"connection": "close"})], bytes(page.body)
        await send({"type": "http.response.start", "status": problem.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _refuse_others(self, scope: Scope) -> None:
        """Behind a proxy, without a certificate of its own, the server talks to nobody else."""
        file, peer = self._service.file, (scope.get("client") or (None,))[0]
        if file.proxy is not None and not file.is_local and file.tls is None and not file.proxy.names(peer):
            raise Problem("wrong-address", "send this request to the proxy in front of the server")

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        limits = self._service.file.limits
        too_large = Problem("too-large", f"a request may have at most {limits.body_bytes:,} bytes; send less")
        _refuse_ambiguous([name for name, _ in scope["headers"]])
        for name, value in scope["headers"]:  # a declared length only refuses sooner: bytes are counted below
            if name == b"content-length" and value.isdigit() and int(value) > limits.body_bytes:
                raise too_large
        body = b""
        try:
            async with asyncio.timeout(limits.body_seconds):
                while True:
                    message = await receive()
                    body += message.get("body", b"")
                    if len(body) > limits.body_bytes:
                        raise too_large
                    if message["type"] != "http.request" or not message.get("more_body", False):
                        return body
        except TimeoutError:
            raise Problem(
                "too-slow", f"a request must arrive within {limits.body_seconds} seconds; send it faster"
            ) from None

    def _note(self, scope: Scope, status: int, start: float, number: str) -> None:
        route = getattr(scope.get("route"), "path", "elsewhere")
        seconds = clock.seconds() - start
        self._service.metrics.requests.labels(route, str(status)).inc()
        self._service.metrics.seconds.labels(route).observe(seconds)
        person = scope.get("state", {}).get("person")
        tell(
            "request",
            method=scope["method"],
            route=route,
            status=status,
            seconds=round(seconds, 4),
            person=None if person is None else person.name,
            number=number,
        )


def _refuse_ambiguous(names: list[bytes]) -> None:
    """Refuse headers that can be read in two ways."""
    for name in ONCE:
        if names.count(name) > 1:
            raise Problem("invalid-request", f"{name.decode().title()} must appear once, got several; send one")
    if b"content-length" in names and b"transfer-encoding" in names:
        raise Problem(
            "invalid-request", "a request cannot have both Content-Length and Transfer-Encoding; send one of them"
        )


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return what gives a request's body once, and then waits for the other side as before."""
    is_sent = False

    async def again() -> Message:
        nonlocal is_sent
        if is_sent:
            return await receive()
        is_sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _encode(problem: Problem) -> tuple[list[tuple[bytes, bytes]], bytes]:
    body = json.dumps(problem.data()).encode()
    headers = {"content-type": MEDIA_TYPE, "content-length": str(len(body)), "connection": "close", **problem.headers}
    return _pairs(headers), body


def _pairs(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def unguarded(problem: Problem) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Return headers and body of a refusal that no guard sees, because there is no request or too many of them."""
    headers, body = _encode(problem)
    return [*headers, *_pairs({**HEADERS, NUMBER: uuid4().hex})], body
