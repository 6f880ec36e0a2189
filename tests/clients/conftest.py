"""What the tests of clients in other languages share: a server in a process of its own, and the languages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import inbounds
from inbounds.client import Connection
from inbounds.ledger import Ledger
from inbounds.ledger.values.entry import Entry
from tests.helpers.kinds_table import serve_kinds
from tests.helpers.r_language import R
from tests.helpers.served_hospital import Running, Served, running


@dataclass(frozen=True)
class Site:
    """The datasets, and the server that answers for them."""

    served: Served
    running: Running

    @property
    def ledger(self) -> str:
        """The ledger."""
        return str(self.served.folder / "budget.db")

    def connect(self, name: str = "ana") -> Connection:
        """Return a connection of somebody, in Python."""
        return inbounds.connect(self.running.url, key=self.served.keys[name])

    def charges(self, dataset: str, who: str = "ana") -> list[Entry]:
        """Return what somebody was charged for, in the order of the ledger."""
        with Ledger.open(self.ledger) as ledger:
            return [one for one in ledger.statement(dataset, who).entries if one.kind == "charge"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The datasets, served for all tests of a module."""
    served = serve_kinds(tmp_path_factory.mktemp("site"))
    with running(served) as found:
        yield Site(served, found)


@pytest.fixture(scope="session")
def r(tmp_path_factory: pytest.TempPathFactory) -> R:
    """R with the package."""
    return R.install(tmp_path_factory.mktemp("r") / "library")
