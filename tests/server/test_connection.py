"""A connection ends when its other side does not say in time what it wants, and not while it is answered."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from inbounds.server import connection
from inbounds.server.connection import TimedProtocol
from inbounds.server.process import listening
from tests.helpers.served import build, free_port, wait_for

HEAD = b"GET /{} HTTP/1.1\r\nHost: a\r\n"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer at once, or after a while."""
    if scope["path"] == "/slow":
        await asyncio.sleep(0.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """Where a server listens that waits 0.2 seconds for headers."""
    monkeypatch.setattr(connection, "HEADER_SECONDS", 0.2)
    where = ("127.0.0.1", free_port())
    config = uvicorn.Config(app, *where, http=TimedProtocol, lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started)
    yield where
    server.should_exit = True
    thread.join(30)


def drip(address: tuple[str, int], first: bytes) -> bytes:
    """Send something, then a letter at a time for ever, and return what came back when the other side ended it."""
    with socket.create_connection(address, timeout=60) as talking:
        talking.sendall(first)
        talking.settimeout(0.02)
        found = b""
        while True:
            try:
                more = talking.recv(1000)
            except TimeoutError:
                if first:
                    talking.sendall(b"x")
                continue
            except ConnectionError:
                return found
            if not more:
                return found
            found += more


@pytest.mark.parametrize("first", [b"", b"G", HEAD, HEAD + b"X-Slow: "])
def test_slow_headers_end_a_connection(address: tuple[str, int], first: bytes) -> None:
    """Whoever says nothing, or only a letter now and then, is let go of without an answer."""
    assert drip(address, first) == b""


def test_slow_headers_after_an_answer_end_a_connection(address: tuple[str, int]) -> None:
    """A second request over the same connection has as much time as the first."""
    assert drip(address, HEAD + b"\r\n" + HEAD).endswith(b"ok")


def test_a_slow_answer_is_waited_for(address: tuple[str, int]) -> None:
    """What takes the server long is not held against who asks."""
    with socket.create_connection(address, timeout=60) as talking:
        talking.sendall(HEAD.replace(b"{}", b"slow") + b"Connection: close\r\n\r\n")
        found = b""
        while more := talking.recv(1000):
            found += more
    assert found.endswith(b"ok")


def test_others_are_answered_meanwhile(address: tuple[str, int]) -> None:
    """Many who say nothing keep nobody else waiting for them."""
    held = [socket.create_connection(address, timeout=60) for _ in range(20)]
    with socket.create_connection(address, timeout=60) as talking:
        talking.sendall(HEAD + b"Connection: close\r\n\r\n")
        assert talking.recv(1000).startswith(b"HTTP/1.1 200")
    for one in held:
        one.close()


def test_a_body_does_not_wait_for_its_headers(tmp_path: Path) -> None:
    """What is written is sent at once on every connection, also on one that is kept."""
    with listening(build(tmp_path).file) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
