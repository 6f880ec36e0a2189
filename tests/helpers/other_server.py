"""A server that is not ours: it answers every request in one way."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from tests.helpers.programs import PATIENCE


class OtherServer:
    """A server that answers every request in one way, and keeps what it was sent."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes = b"") -> None:
        self.sent: list[tuple[str, dict[str, str]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.sent.append((self.path, dict(self.headers)))
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        """Stop it."""
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(PATIENCE)
