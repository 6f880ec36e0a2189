"""A connection ends when its other side does not say in time what it wants, and not while it is answered."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from inbounds.server.run import connection
from inbounds.server.run.connection import TimedProtocol
from inbounds.server.run.process import listening
from tests.helpers.served_hospital import build, wait_for

HEAD = b"GET /{} HTTP/1.1\r\nHost: a\r\n"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer at once, or after a while."""
    if scope["path"] == "/slow":
        await asyncio.sleep(1.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@contextmanager
def listener(**more: Any) -> Iterator[tuple[str, int]]:
    """Have a server listen, and tell where."""
    config = uvicorn.Config(app, http=TimedProtocol, lifespan="off", log_level="critical", **more)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = threading.Thread(target=server.run, args=([door],))
        thread.start()
        try:
            wait_for(lambda: server.started)
            yield door.getsockname()
        finally:
            server.should_exit = True
            thread.join(60)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """Where a server listens that waits a second for headers: whoever sends them at once is in time."""
    monkeypatch.setattr(connection, "HEADER_SECONDS", 1)
    with listener() as where:
        yield where


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """Where a server listens that takes three connections, tells two more, and waits for headers for ten minutes."""
    monkeypatch.setattr(connection, "HEADER_SECONDS", 600)
    monkeypatch.setattr(connection, "TOLD", 2)
    with listener(limit_concurrency=3) as where:
        yield where


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


@pytest.mark.slow
@pytest.mark.parametrize("first", [b"", b"G", HEAD, HEAD + b"X-Slow: "])
def test_slow_headers_end_a_connection(address: tuple[str, int], first: bytes) -> None:
    """Whoever says nothing, or only a letter now and then, is let go of without an answer."""
    assert drip(address, first) == b""


@pytest.mark.slow
def test_slow_headers_after_an_answer_end_a_connection(address: tuple[str, int]) -> None:
    """A second request over the same connection has as much time as the first."""
    assert drip(address, HEAD + b"\r\n" + HEAD).endswith(b"ok")


@pytest.mark.slow
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


def test_silent_connections_above_the_limit_end_at_once(few: tuple[str, int]) -> None:
    """Some of them are told when they speak, all others end before; those within the limit are answered."""
    with ExitStack() as held:
        first = [held.enter_context(socket.create_connection(few, timeout=60)) for _ in range(3)]
        told = [held.enter_context(socket.create_connection(few, timeout=60)) for _ in range(2)]
        for _ in range(50):
            with socket.create_connection(few, timeout=60) as more:
                assert whole(more) == b""
        for one in first:
            one.sendall(HEAD + b"Connection: close\r\n\r\n")
            assert whole(one).endswith(b"ok")
        for one in told:
            one.sendall(HEAD + b"\r\n")
            assert whole(one).startswith(b"HTTP/1.1 503")
        wait_for(lambda: is_answered(few))


def whole(talking: socket.socket) -> bytes:
    """Return all that is said until the other side ends it."""
    return b"".join(iter(lambda: talking.recv(1000), b""))


def is_answered(address: tuple[str, int]) -> bool:
    """Return whether somebody new is let in."""
    with socket.create_connection(address, timeout=60) as talking, suppress(ConnectionError):
        talking.sendall(HEAD + b"Connection: close\r\n\r\n")
        return whole(talking).endswith(b"ok")
    return False


def test_a_body_does_not_wait_for_its_headers(tmp_path: Path) -> None:
    """What is written is sent at once on every connection, also on one that is kept."""
    with listening(build(tmp_path).file) as door, socket.create_connection(door.getsockname()):
        accepted, _ = door.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
