"""A connection to a server: it sends the key with every request, tries again what can be, and never pays twice."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlsplit

from inbounds.client.refusals import refusal
from inbounds.client.remote_dataset import RemoteDataset
from inbounds.client.waiting import Waiting
from inbounds.errors import InvalidParameter, ServerUnreachable

try:
    import httpx
except ImportError:
    raise ImportError("asking a server needs httpx: pip install 'inbounds[client]'") from None

KEY = "INBOUNDS_KEY"
"""The environment variable that holds the key, if it is not given."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")

AGAIN = {
    409: ("request-running",),
    429: ("too-many", "too-many-statements"),
    503: ("ledger-unavailable", "server-unavailable"),
}
"""What is worth asking again, by status and code: nothing of it was charged, or it is charged once only."""


def connect(url: str, *, key: str | None = None, patience: float = 60, **options: Any) -> Connection:
    """Return a connection to a server.

    * `key`: who you are; if not given, the environment variable INBOUNDS_KEY tells.
    * `patience`: for how many seconds a request is tried again after a lost connection.
    * `options`: for `httpx.Client`, such as `verify` with the certificates of your own authority.
    """
    return Connection(url, key=key, patience=patience, **options)


class Connection:
    """Somebody at the door of a server."""

    def __init__(self, url: str, *, key: str | None = None, patience: float = 60, **options: Any) -> None:
        found = os.environ.get(KEY) if key is None else key
        if not found or not found.isascii() or not found.isprintable():
            raise InvalidParameter(f"a server wants to know who asks; give a key, or put it into {KEY}")
        place = urlsplit(str(url))
        if place.scheme not in ("http", "https") or not place.hostname:
            raise InvalidParameter(
                "a server is named by its address; give one like 'https://inbounds.hospital.example'"
            )
        if place.scheme == "http" and place.hostname not in LOOPBACK:
            raise InvalidParameter(f"a key must not travel in the clear to {place.hostname!r}; use https://")
        self.url = url.rstrip("/")
        self._patience = patience
        options = {"timeout": httpx.Timeout(120, connect=5), "follow_redirects": False, **options}
        self._client = httpx.Client(headers={"Authorization": f"Bearer {found.strip()}"}, **options)

    def datasets(self) -> list[str]:
        """Return the names of the datasets that are yours to ask."""
        return [one["name"] for one in self.get("/v1/datasets")]

    def dataset(self, name: str) -> RemoteDataset:
        """Return a dataset that is yours to ask."""
        return RemoteDataset(self, self.get(f"/v1/datasets/{quote(name, safe='')}"))

    def me(self) -> dict[str, Any]:
        """Return who you are for the server: name, role and datasets."""
        found: dict[str, Any] = self.get("/v1/me")
        return found

    def get(self, path: str, **parameters: Any) -> Any:
        """Read something."""
        return self._sent("GET", path, params={name: one for name, one in parameters.items() if one is not None})

    def post(self, path: str, body: dict[str, Any], request_id: str | None = None) -> Any:
        """Send something; with a request id, again after a lost connection, for then it is charged once only."""
        headers = {} if request_id is None else {"Idempotency-Key": request_id}
        return self._sent("POST", path, json=body, headers=headers)

    def _sent(self, method: str, path: str, **content: Any) -> Any:
        waiting = Waiting(self._patience)
        while True:
            try:
                response = self._client.request(method, f"{self.url}{path}", **content)
            except httpx.TransportError as problem:
                if waiting.again():
                    continue
                raise ServerUnreachable(
                    type(problem).__name__, content.get("headers", {}).get("Idempotency-Key")
                ) from None
            if response.is_success:
                return response.json()
            problem_found = refusal(response)
            if problem_found.code in AGAIN.get(response.status_code, ()) and waiting.again():
                continue
            raise problem_found.error

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Connection {self.url}>"
