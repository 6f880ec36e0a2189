"""The demonstration's clinic behind a server of its own, on loopback, with as many analysts as wanted."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2

from inbounds.cli.clinic.clinic import CONTRACT, build
from inbounds.ledger import Ledger
from inbounds.server.people.key_ring import KeyRing
from inbounds.server.state.custodian_file import CustodianFile
from inbounds.server.state.database import Database

SERVE = ("inbounds.cli", "serve")
"""The module and the words that start a server."""

PATIENCE = 60
"""Seconds in which a server must answer."""

CUSTODIAN = """\
[server]
contracts = [{contracts}]
ledger = "budget.db"
listen = "127.0.0.1:{port}"
workers = {workers}

[limits]
requests_per_minute = 1000000
{limits}
"""


@dataclass(frozen=True)
class ServedClinic:
    """A folder with everything that a server needs, and everybody's key."""

    path: Path
    file: CustodianFile
    keys: dict[str, str]

    @property
    def ledger(self) -> Path:
        """Where the ledger is."""
        return self.path.parent / "budget.db"

    @classmethod
    def build(
        cls, folder: Path, contracts: dict[str, str], analysts: int, workers: int = 1, limits: str = ""
    ) -> ServedClinic:
        """Write the clinic's visits, contracts by the names of their datasets, and the custodian's file."""
        build(folder)
        for name, text in contracts.items():
            (folder / f"{name}.toml").write_text(text, encoding="utf-8")
        named = ", ".join(f'"{name}.toml"' for name in contracts)
        asked = ", ".join(f'"{name}"' for name in contracts)
        head = CUSTODIAN.format(contracts=named, port=free_port(), workers=workers, limits=limits)
        people = [f'[people.a{number}]\nrole = "analyst"\ndatasets = [{asked}]\n' for number in range(analysts)]
        path = folder / "custodian.toml"
        path.write_text(head + "".join(people) + '[people.carla]\nrole = "custodian"\n', encoding="utf-8")
        file = CustodianFile.load(path)
        Ledger.open(file.ledger).close()  # as --new-ledger does
        ring = KeyRing(Database(file.state))
        return cls(path, file, {name: ring.issue(name)[0] for name in file.people})

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """Start a server, by the words after `python -m`; nobody reads what it says."""
        command = [sys.executable, "-m", *(words or SERVE), str(self.path)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))

    def wait(self, process: subprocess.Popen[bytes]) -> None:
        """Return when the server answers."""
        end = time.monotonic() + PATIENCE
        with httpx2.Client(base_url=self.file.url, trust_env=False) as client:
            while True:
                try:
                    if client.get("/healthz").is_success:
                        return
                except httpx2.TransportError:
                    if time.monotonic() > end or process.poll() is not None:
                        raise RuntimeError("the server does not answer") from None
                    time.sleep(0.005)

    @contextmanager
    def running(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """Serve for the time of the block."""
        process = self.start(*words)
        try:
            self.wait(process)
            yield process
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def contract(name: str, total: float, tick: float, per_analyst: float | None = None) -> str:
    """Return the clinic's contract under another name, with another budget."""
    head, _, _ = CONTRACT.partition("[budget]")
    text = head.replace('name = "visits"', f'name = "{name}"\ntick = {tick}')
    each = "" if per_analyst is None else f"per_analyst = {per_analyst}\n"
    return f"{text}[budget]\ntotal = {total}\n{each}"


def bearer(key: str) -> dict[str, str]:
    """Return the header that shows a key."""
    return {"Authorization": f"Bearer {key}"}


def free_port() -> int:
    """Return a port of loopback that nobody has at the moment, and that the system gives to nobody who connects."""
    while True:
        port = random.randrange(10_000, 32_000)
        with suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", port))
            return port
