"""A small hospital that is served: two datasets, six people with keys, in this process or in one of its own."""

from __future__ import annotations

import atexit
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import duckdb
import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI

from inbounds.ledger import Ledger
from inbounds.server.people.key_ring import KeyRing
from inbounds.server.run.app import application
from inbounds.server.service.service import Service
from inbounds.server.state.custodian_file import CustodianFile
from inbounds.server.state.database import Database
from tests.helpers.programs import PATIENCE, ROOT

VISITS = """\
[dataset]
name = "visits"
source = "ward-records.parquet"
unit = "patient"
max_rows_per_unit = 2
tick = 0.05

[columns.age]
bounds = "[0, 110] step 1"
[columns.clinic]
keys = ["north", "south"]

[budget]
total = {total}
per_analyst = {per_analyst}
"""

BIRTHS = """\
[dataset]
name = "births"
source = "cradle-records.parquet"
unit = "row"
tick = 0.05

[columns.weight]
bounds = "[0, 8000] step 1"

[budget]
total = 10
"""

CUSTODIAN = """\
[server]
contracts = ["visits.toml", "births.toml"]
ledger = "budget.db"
listen = "127.0.0.1:{port}"
workers = {workers}

[limits]
requests_per_minute = 1000000
{limits}

[people.ana]
role = "analyst"
datasets = ["visits"]
[people.ben]
role = "analyst"
datasets = ["visits"]
[people.eve]
role = "analyst"
datasets = ["births"]
[people.carla]
role = "custodian"
[people.dora]
role = "auditor"
[people.rita]
role = "reader"
{more}
"""

COUNT = "SELECT COUNT(*) FROM visits"
BY_CLINIC = "SELECT clinic, COUNT(*), AVG(age) FROM visits GROUP BY clinic"

SECRETS = ("ward-records", "cradle-records", "Quillfeather", "Zorbleville", "parquet", "budget.db", "SELECT SUM(")
"""What no refusal may show: where the data are, what is in them, and the statement that a database runs."""


@dataclass(frozen=True)
class As:
    """Somebody who sends requests to the server of this process, from any thread, and waits for the response."""

    portal: BlockingPortal
    client: httpx2.AsyncClient
    headers: Mapping[str, Any]

    def request(self, method: str, path: str, **more: Any) -> httpx2.Response:
        """Send a request."""
        headers = {**self.headers, **more.pop("headers", {})}
        return self.portal.call(partial(self.client.request, method, path, headers=headers, **more))

    def get(self, path: str, **more: Any) -> httpx2.Response:
        """Send a GET."""
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> httpx2.Response:
        """Send a POST."""
        return self.request("POST", path, **more)

    def delete(self, path: str, **more: Any) -> httpx2.Response:
        """Send a DELETE."""
        return self.request("DELETE", path, **more)

    def ask(self, key: str, sql: str = COUNT, epsilon: str = "0.5", dataset: str = "visits", **more: Any) -> Any:
        """Ask a question under an Idempotency-Key."""
        asked = {"sql": sql, "epsilon": epsilon, **more}
        return self.post(f"/v1/datasets/{dataset}/answers", json=asked, headers={"Idempotency-Key": key})


@dataclass
class Served:
    """A folder with all that a server needs; it is opened in this process when somebody first asks."""

    folder: Path
    path: Path
    keys: dict[str, str]
    """Everybody's key, by name."""
    _opened: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def file(self) -> CustodianFile:
        """The custodian's file."""
        return CustodianFile.load(self.path)

    @cached_property
    def service(self) -> Service:
        """What the requests of this process share."""
        return Service.open(self.file)

    @cached_property
    def app(self) -> FastAPI:
        """The application of this process."""
        return application(self.service)

    @cached_property
    def nobody(self) -> As:
        """Somebody without a key; all requests to this process are answered in one loop."""
        self._opened.callback(self.service.close)
        portal = self._opened.enter_context(start_blocking_portal())
        transport = httpx2.ASGITransport(self.app, raise_app_exceptions=False)
        return As(portal, httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1"), {})

    def bearing(self, key: str) -> As:
        """Return somebody who shows a key."""
        return replace(self.nobody, headers=bearer(key))

    def person(self, name: str) -> As:
        """Return somebody whom the custodian's file names."""
        return self.bearing(self.keys[name])

    @property
    def ring(self) -> KeyRing:
        """The keys, as the command line opens them."""
        return KeyRing(Database(self.file.state))

    def close(self) -> None:
        """Let go of what is open in this process."""
        self._opened.close()


def bearer(key: str) -> dict[str, str]:
    """Return the header that shows a key."""
    return {"Authorization": f"Bearer {key}"}


def build(
    folder: Path,
    *,
    limits: str = "",
    more: str = "",
    workers: int = 1,
    total: str = "50",
    per_analyst: str = "20",
    patients: int = 200,
) -> Served:
    """Write tables, contracts, the custodian's file and an empty ledger into a folder, and issue everybody a key."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in _tables(patients).items():
        (folder / name).write_bytes(content)
    (folder / "visits.toml").write_text(VISITS.format(total=total, per_analyst=per_analyst), encoding="utf-8")
    (folder / "births.toml").write_text(BIRTHS, encoding="utf-8")
    path = folder / "custodian.toml"
    text = CUSTODIAN.format(port=free_port(), limits=limits, more=more, workers=workers)
    path.write_text(text, encoding="utf-8")
    file = CustodianFile.load(path)
    begin_ledger(file)
    ring = KeyRing(Database(file.state))
    return Served(folder, path, {name: ring.issue(name)[0] for name in file.people})


@cache
def _tables(patients: int) -> dict[str, bytes]:
    """Return the files of both tables: they are made once, however many hospitals there are."""
    rows = f"FROM range({patients}) r(i)"
    selects = {
        "ward-records.parquet": "SELECT 'Quillfeather-' || i // 2 AS patient, 20 + i % 61 AS age, "
        f"'Zorbleville' AS town, CASE WHEN i % 3 = 0 THEN 'north' ELSE 'south' END AS clinic {rows}",
        "cradle-records.parquet": f"SELECT 2500 + i AS weight {rows}",
    }
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        for name, select in selects.items():
            connection.execute(f"COPY ({select}) TO '{Path(folder, name)}' (FORMAT parquet)")
        return {name: Path(folder, name).read_bytes() for name in selects}


def begin_ledger(file: CustodianFile) -> None:
    """Create an empty ledger, as `--new-ledger` does: without one no server starts."""
    Ledger.open(file.ledger).close()


MOST_SIGNS = 100

_SIGNS: list[socket.socket] = []


def free_port() -> int:
    """Return a port of loopback that nobody has, nor is given here while it is one of this process's last ones.

    It is none of those that the system gives to whoever connects, and the datagrams of it are kept as a sign that it is
    taken: tests of other processes choose another one before anybody listens.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)
        sign = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            sign.bind(("127.0.0.1", port))
            with socket.socket() as tried:
                tried.bind(("127.0.0.1", port))
        except OSError:
            sign.close()
            continue
        _SIGNS.append(sign)
        if len(_SIGNS) > MOST_SIGNS:
            _SIGNS.pop(0).close()
        return port


@atexit.register
def _close_signs() -> None:
    for one in _SIGNS:
        one.close()


@dataclass
class Running:
    """A server in a process of its own."""

    url: str
    process: subprocess.Popen[bytes]
    lines: list[str]
    """What it wrote to standard error so far."""

    @property
    def address(self) -> tuple[str, int]:
        """Where to connect to."""
        url = httpx2.URL(self.url)
        return url.host, url.port or 0

    def client(self, key: str | None = None) -> httpx2.Client:
        """Return what sends requests there; to be closed by whoever asked for it."""
        return httpx2.Client(
            base_url=self.url, headers={} if key is None else bearer(key), timeout=PATIENCE, trust_env=False
        )

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Stop it, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(PATIENCE)


@contextmanager
def running(served: Served, **environment: str) -> Iterator[Running]:
    """Serve in a process of its own for the time of the block."""
    command = [sys.executable, "-m", "inbounds.cli", "serve", str(served.path)]
    environ = {**os.environ, **environment}
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=ROOT, env=environ) as process:
        lines: list[str] = []
        reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
        reader.start()
        found = Running(served.file.url, process, lines)
        try:
            wait_until_there(found)
            yield found
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
            process.wait(PATIENCE)
            reader.join(PATIENCE)


def _read(process: subprocess.Popen[bytes], lines: list[str]) -> None:
    assert process.stderr is not None
    lines.extend(line.decode(errors="replace") for line in process.stderr)  # one by one, as they come


def wait_until_there(found: Running, seconds: float = PATIENCE) -> None:
    """Return when a server answers; it must not end before."""
    end = time.monotonic() + seconds
    with found.client() as client:
        while True:
            assert found.process.poll() is None, "".join(found.lines)
            assert time.monotonic() < end, "the server did not answer"
            try:
                if client.get("/healthz").status_code == 200:
                    return
            except httpx2.TransportError:
                time.sleep(0.02)


def wait_for(condition: Any, seconds: float = PATIENCE) -> None:
    """Return when something has become true, also on a machine that has much else to do."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not become true"
        time.sleep(0.005)
