"""A connection: what is lost is sent again and paid once, and the key goes nowhere else."""

from __future__ import annotations

import inspect
import logging
import socket
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, get_args

import httpx2
import pytest

import inbounds
from inbounds import errors
from inbounds.client import Connection, connect, waiting
from inbounds.ledger import Ledger
from tests.client.conftest import Clinic
from tests.helpers.cut_connections import Cut, Cutter
from tests.helpers.programs import PATIENCE
from tests.helpers.served_hospital import free_port

COUNT = "SELECT COUNT(*) FROM visits"
SECRET = "inb_0123456789ab_" + "k" * 43


@pytest.fixture
def cutter(clinic: Clinic) -> Iterator[Cutter]:
    """A way to the clinic on which connections are lost."""
    found = Cutter(clinic.running.address)
    yield found
    found.close()


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits, waits a little."""
    monkeypatch.setattr(waiting, "FIRST", 0.02)


def charges(clinic: Clinic, who: str) -> list[str]:
    """Return the requests that somebody was charged for."""
    with Ledger.open(clinic.ledger) as ledger:
        return [one.request_id for one in ledger.statement("visits", who).entries if one.kind == "charge"]


@pytest.mark.slow
@pytest.mark.parametrize("cut", get_args(Cut))
@pytest.mark.parametrize("times", [1, 2])
def test_a_question_whose_connection_is_lost_is_paid_once(clinic: Clinic, cutter: Cutter, cut: Cut, times: int) -> None:
    """Wherever the connection is lost, the question is sent again under the same id, answered, and charged once."""
    before = charges(clinic, "ana")
    cutter.cuts = [cut] * times
    with clinic.connect(url=cutter.url) as connection:
        found = connection.dataset("visits").sql(COUNT).ask("0.1")
    sent = {line for one in cutter.requests for line in one.split(b"\r\n") if line.startswith(b"Idempotency-Key")}
    assert sent == {b"Idempotency-Key: " + found.request_id.encode()}
    assert len(cutter.requests) > times
    assert charges(clinic, "ana") == [*before, f"ana/{found.request_id}"]
    with clinic.connect() as direct:
        assert direct.dataset("visits").answer(found.request_id).rows == found.rows


@pytest.mark.slow
def test_patience_ends(clinic: Clinic, cutter: Cutter) -> None:
    """After its time a question is given up; the error names the request id, by which it is asked again for nothing."""
    cutter.cuts = ["before the response"] * 1000
    with clinic.connect(url=cutter.url, patience=0.3) as connection, pytest.raises(errors.ServerUnreachable) as lost:
        connection.dataset("visits").sql(COUNT).ask("0.1")
    name = lost.value.request_id
    assert name is not None
    assert repr(name) in str(lost.value)
    assert f"ana/{name}" in charges(clinic, "ana")
    with clinic.connect() as direct:
        visits = direct.dataset("visits")
        spent = visits.budget()["own"]["spent"]
        assert visits.sql(COUNT).ask("0.1", request_id=name).rows
        assert visits.budget()["own"]["spent"] == spent


@pytest.mark.slow
def test_what_has_no_id_is_not_sent_again(clinic: Clinic, cutter: Cutter) -> None:
    """A grant has no request id: it is sent once, whatever becomes of it."""
    cutter.cuts = ["before the response"] * 5
    with clinic.connect("carla", url=cutter.url) as connection:
        body = {"amount": "1", "note": "more"}
        with pytest.raises(errors.ServerUnreachable):
            connection.post("/v1/datasets/visits/grants", body)
    assert len(cutter.requests) == 1


@pytest.mark.slow
def test_what_changes_nothing_is_sent_again(clinic: Clinic, cutter: Cutter) -> None:
    """An explanation is free, and asked for again when its connection is lost."""
    cutter.cuts = ["before the response", "within the response"]
    with clinic.connect(url=cutter.url) as connection:
        assert connection.dataset("visits").sql(COUNT).explain(1).fits
    assert len(cutter.requests) == 3


def test_nobody_there_is_told_at_once() -> None:
    """An address at which nobody ever was is not tried for a minute."""
    url = f"http://127.0.0.1:{free_port()}"
    with (
        inbounds.connect(url, key=SECRET, patience=1e9) as connection,
        pytest.raises(errors.ServerUnreachable, match="ConnectError"),
    ):
        connection.datasets()


class _Elsewhere:
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
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(PATIENCE)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("follow", [False, True])
def test_a_redirection_is_not_followed(status: int, follow: bool) -> None:
    """The key is for one address: what sends elsewhere is a refusal, whatever the options say."""
    goal = _Elsewhere(200, {"Content-Type": "application/json"}, b"[]")
    here = _Elsewhere(status, {"Location": f"{goal.url}/v1/datasets"})
    try:
        with (
            inbounds.connect(here.url, key=SECRET, follow_redirects=follow) as connection,
            pytest.raises(errors.ServerRefused, match="not from an inbounds server") as refused,
        ):
            connection.datasets()
        assert (refused.value.status, refused.value.code) == (status, "unknown")
        assert goal.sent == []
    finally:
        goal.close()
        here.close()


@pytest.mark.parametrize(
    ("status", "body"), [(200, b"<html>Sign in</html>"), (502, b"<html>"), (500, b"[]"), (404, b"{}"), (200, b"\xff")]
)
def test_what_is_no_answer_is_refused(status: int, body: bytes) -> None:
    """A page of somebody else, whatever its status, is told from an answer."""
    other = _Elsewhere(status, {}, body)
    try:
        with inbounds.connect(other.url, key=SECRET) as connection, pytest.raises(errors.ServerRefused) as refused:
            connection.datasets()
        assert refused.value.code == "unknown"
    finally:
        other.close()


def test_a_proxy_of_the_environment_does_not_see_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """To this machine requests go in the clear, and so never by a proxy that the environment names."""
    proxy = _Elsewhere(200, {}, b"[]")
    other = _Elsewhere(200, {}, b"[]")
    try:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        with inbounds.connect(other.url, key=SECRET) as connection:
            assert connection.datasets() == []
        assert (len(proxy.sent), len(other.sent)) == (0, 1)
    finally:
        proxy.close()
        other.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://inbounds.hospital.example",
        "http://10.0.0.7:8750",
        "http://localhost.evil.example",
        "http://127.0.0.1.evil.example",
        "http://0.0.0.0:1",
        "HTTP://hospital.example",
    ],
)
def test_a_key_does_not_travel_in_the_clear(url: str) -> None:
    """Without TLS only this machine is asked."""
    with pytest.raises(errors.InvalidParameter, match="must not be sent unencrypted"):
        inbounds.connect(url, key=SECRET)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://127.3.2.1", "http://localhost:1/", "http://[::1]:1"])
def test_this_machine_may_be_asked_in_the_clear(url: str) -> None:
    """What does not leave the machine needs no certificate."""
    inbounds.connect(url, key=SECRET).close()


@pytest.mark.parametrize(
    "url",
    [
        *("", "hospital.example", "ftp://hospital.example", "https://", "https://[", "https://x:port", None, 3, b"x"),
        *("https://ana:pw@hospital.example", "https://hospital.example?key=1", "https://hospital.example#x"),
    ],
)
def test_an_address_is_an_address(url: Any) -> None:
    """What is no address of a server, or holds more than that, is refused; what was given is not repeated."""
    with pytest.raises(errors.InvalidParameter, match="a server address must be a URL") as refused:
        inbounds.connect(url, key=SECRET)
    assert "pw" not in str(refused.value)


@pytest.mark.parametrize("key", ["", "  ", "a\nb", "schlüssel", "a\r\nX-Remote-User: carla"])
def test_a_key_is_one_line(key: str) -> None:
    """A key that would not fit a header is refused, and not repeated."""
    with pytest.raises(errors.InvalidParameter, match="give one as key, or set INBOUNDS_KEY") as refused:
        inbounds.connect("https://hospital.example", key=key)
    assert not key.strip() or key not in str(refused.value)


def test_the_key_is_found_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who gives no key is asked by that of the environment."""
    other = _Elsewhere(200, {}, b"[]")
    try:
        monkeypatch.setenv("INBOUNDS_KEY", f"{SECRET}\n")
        with inbounds.connect(other.url) as connection:
            connection.datasets()
        assert other.sent[0][1]["Authorization"] == f"Bearer {SECRET}"
        monkeypatch.delenv("INBOUNDS_KEY")
        with pytest.raises(errors.InvalidParameter):
            inbounds.connect(other.url)
    finally:
        other.close()


def _shown(connection: Connection) -> Iterator[str]:
    """Yield all that a person may see of a connection and its errors."""
    yield from (repr(connection), str(connection), repr(vars(connection)), repr(connection._client.headers))
    with pytest.raises(errors.ServerError) as refused:
        connection.datasets()
    yield "".join(traceback.format_exception(refused.value))
    yield repr(refused.value)


@pytest.mark.parametrize("status", [401, 500, None])
def test_the_key_is_shown_nowhere(status: int | None, caplog: pytest.LogCaptureFixture) -> None:
    """Neither a repr, nor an error, nor a log at any level shows the key."""
    caplog.set_level(logging.DEBUG)
    other = _Elsewhere(status or 200, {}, SECRET.encode() if status else b"[]")
    try:
        url = other.url if status else f"http://127.0.0.1:{free_port()}"
        with inbounds.connect(url, key=SECRET, patience=0) as connection:
            for text in _shown(connection):
                assert SECRET not in text
    finally:
        other.close()
    assert SECRET not in caplog.text


def test_a_connection_ends_with_its_block() -> None:
    """After the block nothing is sent any more."""
    with inbounds.connect("http://127.0.0.1:1", key=SECRET) as connection:
        pass
    with pytest.raises(RuntimeError):
        connection.datasets()


def test_there_is_one_way_to_connect() -> None:
    """`inbounds.connect` takes and says what the client's own `connect` does."""
    ours, its = (inspect.signature(way).parameters.values() for way in (inbounds.connect, connect))
    assert [(one.name, one.kind, one.default) for one in ours] == [(one.name, one.kind, one.default) for one in its]
    assert (inspect.getdoc(inbounds.connect) or "").replace("  Needs `inbounds[client]`.", "") == inspect.getdoc(
        connect
    )


_WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"duckdb", "numpy", "flint", "sqlglot", "fastapi",
                                      "starlette", "uvicorn", "pydantic", "typer", "psycopg",
                                      "pyspark", "joserfc", "scipy", "prometheus_client", "rich"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import inbounds
print(inbounds.connect("http://127.0.0.1:1", key="k"))
from inbounds.client import Connection, RemoteDataset, RemoteQuery
found = RemoteDataset(Connection("http://127.0.0.1:1", key="k"), {"name": "visits", "tables": []})
print(repr(found))
"""


@pytest.mark.slow
def test_the_client_needs_httpx_only() -> None:
    """Without the engine, databases, web frameworks and the command line the client is all there."""
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (done.stdout, done.stderr) == (
        "<Connection http://127.0.0.1:1>\n<RemoteDataset visits on http://127.0.0.1:1>\n",
        "",
    )


@pytest.mark.slow
def test_without_httpx_the_remedy_is_named() -> None:
    """Who lacks httpx2 is told what to install, and the rest of the package works without it."""
    text = _WITHOUT.replace('"duckdb",', '"httpx2", "duckdb",')
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.stderr.splitlines()[-1] == "ImportError: querying a server needs httpx2: pip install 'httpx2>=2.0,<3'"


@pytest.mark.slow
def test_a_silent_server_is_given_up() -> None:
    """A server that accepts a connection and never answers is given up after the time of the options."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        options = {"timeout": httpx2.Timeout(0.1)}
        with (
            inbounds.connect(url, key=SECRET, patience=0, **options) as connection,
            pytest.raises(errors.ServerUnreachable, match="ReadTimeout"),
        ):
            connection.datasets()
