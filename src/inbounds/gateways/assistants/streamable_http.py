"""Serving assistants over HTTP on this machine: everybody shows a key of their own, and nothing is shared.

No key is kept.  Whoever connects shows one with every request, and the server is asked whose it is.  So another user or
program of this machine, or a page in a browser, can ask nothing.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import uvicorn
from mcp.server import ServerRequestContext
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import inbounds
from inbounds.errors import InboundsError, InvalidParameter, ServerRefused, ServerUnreachable
from inbounds.gateways.allowance import Account, Allowance
from inbounds.gateways.assistants.mcp_server import Visitor, make_server
from inbounds.gateways.background import Background

PATH = "/mcp"

MOST_REQUESTS = 64
"""So many requests are answered at once; more are refused."""

MOST_CHECKS = 8
"""So many keys are checked at once."""

BODY_BYTES = 128 * 1024

BODY_SECONDS = 10.0
"""A request must have arrived by then."""

HEAD_BYTES = 32 * 1024

LOCAL_NAME = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?")
"""What this machine is called in addresses; a name of somebody else that leads here is refused."""

VISITOR = "inbounds.visitor"

INVALID = -32600
"""What the protocol calls a request that is refused before it is read."""


class Door:
    """Lets requests of this machine's programs in, each with the key of whoever sends it."""

    def __init__(self, app: ASGIApp, server: str, allowance: Allowance) -> None:
        self._app = app
        self._server = server
        self._allowance = allowance
        self._accounts: dict[str, Account] = {}
        """What everybody spent here, by the name that the server knows them by."""
        self._checks: Background | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check where a request is from and whose it is, then hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
        refusal = _refuse_place(headers)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        try:
            scope[VISITOR] = await self._find_visitor(headers)
            async with asyncio.timeout(BODY_SECONDS):
                body = await _read_body(receive)
        except InboundsError as problem:
            await _refuse(send, _status_of(problem), str(problem))
        except TimeoutError:
            await _refuse(send, 408, f"a request must arrive within {BODY_SECONDS:g} seconds; send it faster")
        else:
            await self._app(scope, _replay(body, receive), send)

    async def _find_visitor(self, headers: Iterable[tuple[bytes, str]]) -> Visitor:
        shown = [value for name, value in headers if name == b"authorization"]
        kind, _, key = shown[0].partition(" ") if len(shown) == 1 else ("", "", "")
        if kind.lower() != "bearer" or not key.strip():
            raise ServerRefused(
                "this gateway needs your API key; send it once, in the header Authorization: Bearer inb_…",
                "not-authenticated",
                401,
            )
        if self._checks is None:
            self._checks = Background(MOST_CHECKS)
        name = await self._checks.run(lambda: self._ask_name(key.strip()))
        account = self._accounts.setdefault(name, Account(self._allowance))
        return Visitor(self._server, key.strip(), account)

    def _ask_name(self, key: str) -> str:
        with inbounds.connect(self._server, key=key, patience=0) as connection:
            return str(connection.me()["name"])


def _refuse_place(headers: list[tuple[bytes, str]]) -> tuple[int, str] | None:
    """Refuse what a page of a browser sends, and what believes that this machine is called otherwise.

    A page can have the name of its host lead to this machine, and then be of the same origin as we are.  It has no key;
    and it is not even asked for one.
    """
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) != 1 or LOCAL_NAME.fullmatch(hosts[0]) is None:
        return 421, "this gateway is called 127.0.0.1, localhost or [::1]; use one of these addresses"
    origins = [value for name, value in headers if name == b"origin"]
    if any(origin != f"http://{hosts[0]}" for origin in origins):
        return 403, "this gateway answers no pages of other sites; connect from a program"
    return None


def _status_of(problem: InboundsError) -> int:
    if isinstance(problem, InvalidParameter):  # a key that cannot be one
        return 401
    if isinstance(problem, ServerRefused):
        return problem.status
    return 503 if isinstance(problem, ServerUnreachable) else 502


async def _refuse(send: Send, status: int, words: str) -> None:
    """Refuse a request, as the protocol has it."""
    error = {"code": INVALID, "message": words}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}, ensure_ascii=False).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _read_body(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > BODY_BYTES:
            raise ServerRefused(f"a request may have at most {BODY_BYTES:,} bytes; send less", "too-large", 413)
        if message["type"] != "http.request" or not message.get("more_body", False):
            return body


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body again, and then waits for the end of the connection."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receiving() -> Message:
        return messages.pop() if messages else await receive()

    return receiving


def make_app(server: str, allowance: Allowance) -> ASGIApp:
    """Return the application: without sessions, so that a request is what its own key says and nothing more."""
    served = make_server(_find_visitor)
    app = served.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the door checks that
    )
    return Door(app, server, allowance)


def _find_visitor(context: ServerRequestContext[Any, Any]) -> Visitor:
    request = context.request
    visitor = None if request is None else request.scope.get(VISITOR)
    if not isinstance(visitor, Visitor):
        raise InvalidParameter("a request came without a key; send one with every request")
    return visitor


def serve_http(server: str, listener: socket.socket, allowance: Allowance) -> None:
    """Answer on a socket, until a signal says to stop."""
    config = uvicorn.Config(
        make_app(server, allowance),
        proxy_headers=False,
        server_header=False,
        access_log=False,
        log_level="critical",
        ws="none",
        limit_concurrency=MOST_REQUESTS,
        h11_max_incomplete_event_size=HEAD_BYTES,
        http="h11",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
    )
    with listener, suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
