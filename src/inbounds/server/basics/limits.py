"""How much one person can have: of requests, of statements at once, and of time."""

from __future__ import annotations

from dataclasses import dataclass, fields

from inbounds.exact.rational import shown
from inbounds.query.contract.contract import Contract

GREATEST = 10_000_000
"""No limit is above: clocks and counters of the system take it."""


@dataclass(frozen=True)
class ServerLimits:
    """The section [limits]; each is a whole number."""

    requests_per_minute: int = 600
    """Of one person, and of wrong keys from one address."""
    statements_at_once: int = 2
    """Of one person: fewer than there are for everybody."""
    statements: int = 4
    """Of everybody in one process; others wait."""
    plans_at_once: int = 6
    """Questions of one person that are planned, to be explained or read again."""
    plans: int = 8
    """Of everybody in one process; others wait."""
    statement_seconds: int = 60
    """After which a statement is stopped."""
    body_bytes: int = 65_536
    body_seconds: int = 10
    """In which a request must have arrived."""
    connections: int = 1000
    """Of one process."""

    @classmethod
    def of(cls, file: Contract) -> ServerLimits:
        """Read the section, if there is one."""
        if not file.has("limits"):
            return cls()
        names = [field.name for field in fields(cls)]
        file.refuse_unknown(names, "limits")
        return cls(**{name: _limit(file, name) for name in names if file.has("limits", name)})


def _limit(file: Contract, name: str) -> int:
    limit = file.whole_of("limits", name)
    if limit > GREATEST:
        raise file.refuse(f"{name} must be at most {GREATEST:,}, got {shown(limit)}; lower it", "limits", name)
    return limit
