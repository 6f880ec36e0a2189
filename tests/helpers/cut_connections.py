"""A way to a server on which connections are lost, when the test says so."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Literal

from tests.helpers.programs import PATIENCE

Cut = Literal["before the request", "after the request", "before the response", "within the response"]


class Cutter:
    """Hands on what clients and the server say, and cuts some connections, in the order of `cuts`."""

    def __init__(self, server: tuple[str, int]) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self.cuts: list[Cut] = []
        """Where the next requests to ask something are cut; the others go through."""
        self.requests: list[bytes] = []
        """The requests to ask something that came this way."""
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread.start()

    def _accept(self) -> None:
        while not self._ended.is_set():
            with suppress(OSError):
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        """Hand on the requests of one connection, each whole, and what is answered."""
        with suppress(OSError), client, socket.create_connection(self._server, PATIENCE) as server:
            client.settimeout(PATIENCE)
            while request := _message(client):
                cut = self._cut(request)
                if cut == "before the request":
                    return
                server.sendall(request)
                if cut == "after the request":
                    return
                response = _message(server)
                if cut == "within the response":
                    client.sendall(response[: len(response) // 2])
                if cut is not None:
                    return
                client.sendall(response)

    def _cut(self, request: bytes) -> Cut | None:
        if not request.startswith(b"POST"):
            return None
        self.requests.append(request)
        return self.cuts.pop(0) if self.cuts else None

    def close(self) -> None:
        """Let nobody through any more."""
        self._ended.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(PATIENCE)


def _message(connection: socket.socket) -> bytes:
    """Read one message of HTTP whose length its headers tell; nothing at the end."""
    found = b""
    while b"\r\n\r\n" not in found:
        more = connection.recv(65536)
        if not more:
            return b""
        found += more
    head, _, body = found.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while len(body) < int(lengths[0] if lengths else 0):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
