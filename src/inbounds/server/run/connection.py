"""A connection whose other side must say what it wants in time; uvicorn itself waits for ever.

What uvicorn refuses by itself, before the guard sees it, is refused as everything else.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from inbounds.server.basics.problem import RETRY, Problem
from inbounds.server.run.middleware import unguarded
from inbounds.server.run.request_head import LONGEST_FIELDS, LONGEST_LINE, Heads

HEADER_SECONDS = 10
"""From the first byte of a request, or the beginning of a connection, to the end of its headers."""

TOLD = 64
"""So many connections above the limit are told that they are too many, once they say something."""

TOO_MANY = Problem("server-unavailable", "the server has too many connections; try again later", headers=RETRY)


class TimedProtocol(H11Protocol):
    """HTTP/1.1 with a time for headers; what comes after them is the guard's (`middleware`)."""

    _timer: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.conn = self._heads = Heads(h11.SERVER, LONGEST_LINE + LONGEST_FIELDS)
        # uvicorn would refuse connections above its limit in plain text; `connection_made` does it in its place.
        self._most, self.limit_concurrency = self.limit_concurrency, None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request; of connections above the limit a few are told so, and others end at once."""
        super().connection_made(transport)
        above = 0 if self._most is None else len(self.connections) - self._most
        if above > TOLD:
            self.connections.discard(self)
            self.transport.abort()
            return
        if above > 0:
            self.app = refuse
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what comes; once a request is there, there is nothing to wait for."""
        if self._idle and self._timer is None:
            self._wait()
        super().data_received(data)
        if not self._idle:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read."""
        problem = self._heads.refusal
        headers, body = unguarded(problem)
        response = h11.Response(status_code=problem.status, headers=headers, reason=STATUS_PHRASES[problem.status])
        with suppress(h11.LocalProtocolError):  # in the middle of another response nothing can be said
            for event in (response, h11.Data(data=body), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    @property
    def _idle(self) -> bool:
        """Whether no request is being answered."""
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete

    def _wait(self) -> None:
        self._timer = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self._idle:
            self.transport.close()


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer that there are too many connections."""
    headers, body = unguarded(TOO_MANY)
    await send({"type": "http.response.start", "status": TOO_MANY.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
