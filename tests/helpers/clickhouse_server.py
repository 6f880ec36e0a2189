"""A ClickHouse in this process that is asked over HTTP, as a server is."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

OF_HTTP = ("query", "database", "client_protocol_version", "wait_end_of_query", "send_progress_in_http_headers")
"""Parameters of an address that are no settings of a statement."""


class Server(ThreadingHTTPServer):
    """Answers statements on this machine alone."""

    daemon_threads = True

    def __init__(self, client: Any) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.client = client
        self.lock = threading.Lock()
        self.asked: list[dict[str, str]] = []
        """The settings of each statement."""

    def answer(self, address: str, body: bytes) -> bytes:
        """Return what ClickHouse answers to a statement."""
        given = dict(parse_qsl(urlsplit(address).query))
        settings = {name: value for name, value in given.items() if name not in OF_HTTP}
        self.asked.append(settings)
        with self.lock:
            found: bytes = self.client.raw_query(given.get("query", "") + body.decode(), settings=settings)
        return found


class Answering(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # or what is sent in pieces waits for each of them to be received
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            status, found = 200, self.server.answer(self.path, body)
        except Exception as problem:  # noqa: BLE001  whatever it is, it is told as ClickHouse tells it
            status, found = 500, str(problem).encode()
            print(problem, file=sys.stderr)  # noqa: T201  pytest shows it with what failed: the engine forgets it
        self.send_response(status)
        self.send_header("Content-Length", str(len(found)))
        if status != 200:
            self.send_header("X-ClickHouse-Exception-Code", "0")
        self.end_headers()
        self.wfile.write(found)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(client: Any) -> Iterator[Server]:
    """Serve what a client of a ClickHouse in this process answers."""
    server = Server(client)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
