"""A connection to a server: it sends the key with every request, tries again what can be, and never pays twice."""

from __future__ import annotations

import os
from ipaddress import ip_address
from ssl import SSLCertVerificationError
from types import TracebackType
from typing import Any
from urllib.parse import quote, urlsplit

from inbounds.client.refusals import read_refusal
from inbounds.client.remote_dataset import RemoteDataset
from inbounds.client.waiting import Waiting
from inbounds.errors import InvalidParameter, ServerUnreachable

try:
    import httpx2
except ImportError:
    raise ImportError("querying a server needs httpx2: pip install 'httpx2>=2.0,<3'") from None

KEY = "INBOUNDS_KEY"
"""The environment variable that holds the key, if it is not given."""

AGAIN = {
    409: ("request-running",),
    429: ("too-many", "too-many-statements"),
    503: ("ledger-unavailable", "server-unavailable"),
}
"""What is worth asking again, by status and code: nothing of it was charged, or it is charged once only."""


def connect(url: str, *, key: str | None = None, patience: float = 60, **options: Any) -> Connection:
    """Connect to a server, which is then queried like a local table.

    * `key`: your API key; by default the environment variable INBOUNDS_KEY.
    * `patience`: for how many seconds a request is retried after a lost connection.
    * `options`: passed to `httpx2.Client`, such as `verify` with the certificates of your own authority.
    """
    return Connection(url, key=key, patience=patience, **options)


class Connection:
    """A connection to a server, as returned by `connect`."""

    def __init__(self, url: str, *, key: str | None = None, patience: float = 60, **options: Any) -> None:
        self.url, local = _check_address(url)
        secret = (os.environ.get(KEY, "") if key is None else key).strip()
        if not secret or not secret.isascii() or not secret.isprintable():
            raise InvalidParameter(f"a server needs an API key; give one as key, or set {KEY}")
        self._patience = patience
        self._reached = False
        settings = {"timeout": httpx2.Timeout(120, connect=5), **options, "follow_redirects": False}
        if local:  # a proxy that the environment names is not this machine
            settings.update(trust_env=False, proxy=None, mounts=None)
        self._client = httpx2.Client(headers={"Authorization": f"Bearer {secret}"}, **settings)

    def datasets(self) -> list[str]:
        """Return the names of the datasets you may query."""
        return [dataset["name"] for dataset in self.get("/v1/datasets")]

    def dataset(self, name: str) -> RemoteDataset:
        """Return a dataset you may query."""
        return RemoteDataset(self, self.get(f"/v1/datasets/{quote(name, safe='')}"))

    def me(self) -> dict[str, Any]:
        """Return your identity on the server: name, role and datasets."""
        return dict(self.get("/v1/me"))

    def get(self, path: str, **parameters: Any) -> Any:
        """Send a GET request."""
        known = {name: value for name, value in parameters.items() if value is not None}
        return self._send("GET", path, None, Waiting(self._patience), params=known)

    def consult(self, path: str, body: dict[str, Any]) -> Any:
        """Send a POST request that changes nothing, and so may be repeated."""
        return self._send("POST", path, None, Waiting(self._patience), json=body)

    def post(self, path: str, body: dict[str, Any], request_id: str | None = None) -> Any:
        """Send a POST request; with a request id it is retried after a lost connection, and takes effect once only."""
        headers = {} if request_id is None else {"Idempotency-Key": request_id}
        waiting = Waiting(0 if request_id is None else self._patience)
        return self._send("POST", path, request_id, waiting, json=body, headers=headers)

    def _send(self, method: str, path: str, request_id: str | None, waiting: Waiting, **content: Any) -> Any:
        while True:
            try:
                response = self._client.request(method, f"{self.url}{path}", **content)
            except httpx2.RequestError as problem:
                if not self._is_final(problem) and waiting.again():
                    continue
                raise ServerUnreachable(_describe_problem(problem), request_id) from None
            self._reached = True
            refused = read_refusal(response, request_id)
            if refused is None:
                return response.json()
            if refused.code not in AGAIN.get(response.status_code, ()) or not waiting.again():
                raise refused.error

    def _is_final(self, problem: Exception) -> bool:
        """Whether trying again is no use: nobody was ever there, or it is somebody else."""
        return isinstance(problem, httpx2.ConnectError) and (not self._reached or _is_stranger(problem))

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Connection {self.url}>"


def _check_address(url: str) -> tuple[str, bool]:
    """Return the address of a server, and whether it is in the clear, which is for this machine only."""
    try:
        place = urlsplit(url)
        host, _ = place.hostname, place.port
    except (ValueError, TypeError, AttributeError):
        host = None
    if not host or place.scheme not in ("http", "https") or place.query or place.fragment or "@" in place.netloc:
        raise InvalidParameter("a server address must be a URL; write it like 'https://inbounds.hospital.example'")
    if place.scheme == "http" and not _is_here(host):
        raise InvalidParameter(f"an API key must not be sent unencrypted to {host!r}; use https://")
    return url.rstrip("/"), place.scheme == "http"


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_stranger(problem: BaseException | None) -> bool:
    """Whether the other side has shown a certificate that nobody vouches for."""
    while problem is not None and not isinstance(problem, SSLCertVerificationError):
        problem = problem.__cause__ or problem.__context__
    return problem is not None


def _describe_problem(problem: Exception) -> str:
    return "its certificate is not trusted" if _is_stranger(problem) else type(problem).__name__
