"""Requests for more budget: an analyst gives a reason, the custodian grants or declines with a note."""

from __future__ import annotations

from dataclasses import dataclass

from inbounds.server.basics import clock
from inbounds.server.state.database import Database

MOST_OPEN = 10
"""So many requests of one person can wait for a decision."""

_FIELDS = "number, person, dataset, amount, reason, asked, decided, granted, note"


@dataclass(frozen=True)
class BudgetRequest:
    """Somebody wants more."""

    number: int
    person: str
    dataset: str
    amount: str
    """Of epsilon, as a decimal."""
    reason: str
    asked: str
    """When, in UTC."""
    decided: str | None
    granted: str | None
    """How much was granted; None if nothing was."""
    note: str | None


class BudgetRequests:
    """All requests, in the server's file; what is granted is in the ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, person: str, dataset: str, amount: str, reason: str) -> bool:
        """Keep a request; return False if too many of this person's wait already."""
        with self._database.writing() as connection:
            sql = "SELECT count(*) FROM budget_requests WHERE person = ? AND decided IS NULL"
            if connection.execute(sql, (person,)).fetchone()[0] >= MOST_OPEN:
                return False
            connection.execute(
                "INSERT INTO budget_requests (person, dataset, amount, reason, asked) VALUES (?, ?, ?, ?, ?)",
                (person, dataset, amount, reason, clock.now().isoformat()),
            )
            return True

    def find_all(self, dataset: str | None = None, person: str | None = None) -> list[BudgetRequest]:
        """Return requests, the newest first: all, or those about a dataset or of a person."""
        filters = {"dataset = ?": dataset, "person = ?": person}
        conditions = {condition: value for condition, value in filters.items() if value is not None}
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        sql = f"SELECT {_FIELDS} FROM budget_requests{where} ORDER BY number DESC"
        return [BudgetRequest(*row) for row in self._database.rows(sql, tuple(conditions.values()))]

    def find(self, number: int) -> BudgetRequest | None:
        """Return one of them."""
        rows = self._database.rows(f"SELECT {_FIELDS} FROM budget_requests WHERE number = ?", (number,))
        return BudgetRequest(*rows[0]) if rows else None

    def decide(self, number: int, granted: str | None, note: str) -> bool:
        """Record a decision; return False if somebody else decided before."""
        with self._database.writing() as connection:
            sql = "UPDATE budget_requests SET decided = ?, granted = ?, note = ? WHERE number = ? AND decided IS NULL"
            return connection.execute(sql, (clock.now().isoformat(), granted, note, number)).rowcount == 1

    def reopen(self, number: int) -> None:
        """Take a decision back, because what was decided could not be done."""
        with self._database.writing() as connection:
            sql = "UPDATE budget_requests SET decided = NULL, granted = NULL, note = NULL WHERE number = ?"
            connection.execute(sql, (number,))
