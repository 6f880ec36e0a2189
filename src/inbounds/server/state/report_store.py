"""Reports: proposed by an analyst, approved by the custodian, and published as they were released."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from inbounds.server.basics import clock
from inbounds.server.basics.secret import new_id
from inbounds.server.state.database import Database

MOST_OPEN = 10
"""So many reports of one person can wait for a decision or for their answers."""

PROPOSED, APPROVED, PUBLISHED, REJECTED = "proposed", "approved", "published", "rejected"
OPEN = (PROPOSED, APPROVED)

_FIELDS = "id, person, content, cost, proposed, state, decided, decider, note, published, head"


@dataclass(frozen=True)
class StoredReport:
    """A report as it was proposed, and what became of it."""

    id: str
    person: str
    """Whose proposal it is, and who pays."""
    content: dict[str, Any]
    """What was proposed."""
    cost: str
    """What it was said to cost, in epsilon."""
    proposed: str
    """When, in UTC."""
    state: str
    decided: str | None
    decider: str | None
    note: str | None
    published: dict[str, Any] | None
    """The report itself, once it has every answer."""
    head: str | None
    """Where the ledger's chain ended then: for those who may read the ledger, and in no report."""

    @property
    def is_open(self) -> bool:
        """Whether a custodian can still approve or reject it."""
        return self.state in OPEN


class ReportStore:
    """All reports, in the server's file; what they cost, and every answer, is in the ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def propose(self, person: str, content: dict[str, Any], cost: str) -> str | None:
        """Keep a proposal, and return what it is called; None if too many of this person's are open."""
        name = new_id()
        with self._database.writing() as connection:
            count = "SELECT count(*) FROM reports WHERE person = ? AND state IN (?, ?)"
            if connection.execute(count, (person, *OPEN)).fetchone()[0] >= MOST_OPEN:
                return None
            connection.execute(
                "INSERT INTO reports (id, person, content, cost, proposed, state) VALUES (?, ?, ?, ?, ?, ?)",
                (name, person, json.dumps(content), cost, clock.now().isoformat(), PROPOSED),
            )
        return name

    def find_all(self) -> list[StoredReport]:
        """Return all of them, the newest first."""
        rows = self._database.rows(f"SELECT {_FIELDS} FROM reports ORDER BY proposed DESC, rowid DESC")
        return [_read(row) for row in rows]

    def find(self, name: str) -> StoredReport | None:
        """Return one of them."""
        rows = self._database.rows(f"SELECT {_FIELDS} FROM reports WHERE id = ?", (name,))
        return _read(rows[0]) if rows else None

    def approve(self, name: str, decider: str) -> None:
        """Record that a proposal was approved; the first custodian who did so counts."""
        sql = "UPDATE reports SET state = ?, decided = ?, decider = ? WHERE id = ? AND state = ?"
        with self._database.writing() as connection:
            connection.execute(sql, (APPROVED, clock.now().isoformat(), decider, name, PROPOSED))

    def reject(self, name: str, decider: str, note: str) -> bool:
        """Record that one was rejected; return False if it is no longer open."""
        sql = "UPDATE reports SET state = ?, decided = ?, decider = ?, note = ? WHERE id = ? AND state IN (?, ?)"
        values = (REJECTED, clock.now().isoformat(), decider, note, name, *OPEN)
        with self._database.writing() as connection:
            return connection.execute(sql, values).rowcount == 1

    def publish(self, name: str, published: dict[str, Any], head: str) -> None:
        """Record the report itself; from now on it does not change."""
        sql = "UPDATE reports SET state = ?, published = ?, head = ? WHERE id = ? AND state = ?"
        with self._database.writing() as connection:
            connection.execute(sql, (PUBLISHED, json.dumps(published, ensure_ascii=False), head, name, APPROVED))


def _read(row: tuple[Any, ...]) -> StoredReport:
    facts = dict(zip(_FIELDS.split(", "), row, strict=True))
    published = facts["published"]
    facts |= {
        "content": json.loads(facts["content"]),
        "published": None if published is None else json.loads(published),
    }
    return StoredReport(**facts)
