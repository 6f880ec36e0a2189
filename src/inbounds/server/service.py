"""What all requests of a process share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inbounds.server.authentication import Authentication
from inbounds.server.claims import Claims
from inbounds.server.custodian_file import CustodianFile
from inbounds.server.database import Database
from inbounds.server.holdings import Holdings
from inbounds.server.key_ring import KeyRing
from inbounds.server.metrics import Metrics
from inbounds.server.rates import Rates


@dataclass(frozen=True)
class Service:
    """The parts of a server, opened once in each process."""

    file: CustodianFile
    holdings: Holdings
    keys: KeyRing
    authentication: Authentication
    claims: Claims
    rates: Rates
    metrics: Metrics

    @classmethod
    def open(cls, file: CustodianFile) -> Service:
        """Open what the custodian's file names."""
        keys = KeyRing(Database(file.state))
        claims = Claims(beside(file.state, "claims"))
        rates = Rates(beside(file.state, "rates"), file.limits.requests_per_minute)
        return cls(file, Holdings(file), keys, Authentication(file, keys), claims, rates, Metrics())

    def close(self) -> None:
        """Let go of everything."""
        self.holdings.close()
        self.claims.close()


def beside(state: Path, what: str) -> Path:
    """Return the path of a file that belongs to the server's own one."""
    return state.with_name(f"{state.name}.{what}")
