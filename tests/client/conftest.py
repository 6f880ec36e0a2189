"""What the tests of the client share: the clinic of the demonstration, served by a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import inbounds
from inbounds.cli.clinic.clinic import CONTRACT
from inbounds.cli.clinic.clinic import build as build_clinic
from inbounds.cli.commands.serve import DEMO
from inbounds.client import Connection
from inbounds.server.people.key_ring import KeyRing
from inbounds.server.state.custodian_file import CustodianFile
from inbounds.server.state.database import Database
from tests.helpers.served_hospital import Running, Served, begin_ledger, free_port, running


@dataclass(frozen=True)
class Clinic:
    """The clinic, and the server that answers for it."""

    served: Served
    running: Running

    @property
    def contract(self) -> Path:
        """The contract, for whoever asks at hand."""
        return self.served.folder / "clinic.toml"

    @property
    def ledger(self) -> str:
        """The ledger."""
        return str(self.served.folder / "budget.db")

    def connect(self, name: str = "ana", url: str | None = None, **options: float) -> Connection:
        """Return a connection of somebody."""
        return inbounds.connect(url or self.running.url, key=self.served.keys[name], **options)


def serve_clinic(folder: Path) -> Served:
    """Build the clinic, with a short tick and a large budget, and issue everybody a key."""
    build_clinic(folder)
    text = CONTRACT.replace('name = "visits"', 'name = "visits"\ntick = 0.05', 1)
    text = text.replace("total = 5.0", "total = 500").replace("per_analyst = 3.0", "per_analyst = 200")
    (folder / "clinic.toml").write_text(text, "utf-8")
    path = folder / "custodian.toml"
    text = DEMO.format(port=free_port())
    path.write_text(f"{text}\n[limits]\nrequests_per_minute = 1000000\n", "utf-8")  # tests are quicker than people
    file = CustodianFile.load(path)
    begin_ledger(file)
    ring = KeyRing(Database(file.state))
    return Served(folder, path, {name: ring.issue(name)[0] for name in file.people})


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """The clinic, served for all tests of a module."""
    served = serve_clinic(tmp_path_factory.mktemp("clinic"))
    with running(served) as found:
        yield Clinic(served, found)
