"""The tables of a ledger, in words: everything here runs inside a transaction of the store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from inbounds.ledger.entry import FIELDS, START, Entry, Head
from inbounds.ledger.store import Store

TOTAL = ""
"""The analyst of an account that is a dataset's own."""

_COLUMNS = ", ".join(FIELDS)
_ENTRIES = f"SELECT {_COLUMNS} FROM ledger_entries"
_APPEND = f"INSERT INTO ledger_entries ({_COLUMNS}) VALUES ({', '.join('?' * len(FIELDS))})"

_EMPTY = {"analyst": TOTAL, "amount": 0, "per_analyst": None, "request_id": "", "fingerprint": "", "text": ""}

_ENTER = "INSERT INTO ledger_accounts (dataset, analyst, cap, spent) VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING"

_SPEND = """UPDATE ledger_accounts SET spent = spent + ?
    WHERE dataset = ? AND analyst IN (?, ?) AND (cap IS NULL OR spent + ? <= cap)"""

_RAISE = """UPDATE ledger_accounts SET cap = cap + ?
    WHERE dataset = ? AND analyst = ? AND cap + ? >= spent AND cap + ? <= ?"""


class Account(NamedTuple):
    """A cap, if there is one, and what was spent of it, in units."""

    cap: int | None
    spent: int

    @property
    def left(self) -> int | None:
        """What is left, in units."""
        return None if self.cap is None else self.cap - self.spent


class Book:
    """The head, the entries and the accounts."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def head(self) -> Head:
        """Return where the chain ends."""
        return self._read_head("")

    def lock(self) -> Head:
        """Return where the chain ends, and let nobody else write before this transaction is over."""
        return self._read_head(self._store.locking)

    def _read_head(self, locking: str) -> Head:
        found = self._store.row(f"SELECT seq, digest FROM ledger_head WHERE only_row = 1{locking}")
        return Head(*found) if found else START

    def append(self, head: Head, kind: str, dataset: str, **fields: Any) -> Entry:
        """Write the entry that follows `head`, with what is given of the other fields, and move the head to it."""
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        entry = Entry.after(head, **{**_EMPTY, "time": now, "kind": kind, "dataset": dataset, **fields})
        self._store.execute(_APPEND, entry.row())
        self._store.execute("UPDATE ledger_head SET seq = ?, digest = ? WHERE only_row = 1", (entry.seq, entry.digest))
        return entry

    def opening(self, dataset: str) -> Entry | None:
        """Return the entry that opened a dataset."""
        return self._entry("kind = 'open' AND dataset = ?", dataset)

    def charge(self, request_id: str) -> Entry | None:
        """Return the entry that charged a request."""
        return self._entry("kind = 'charge' AND request_id = ?", request_id)

    def answer(self, request_id: str) -> Entry | None:
        """Return the entry that holds the answer to a request."""
        return self._entry("kind = 'answer' AND request_id = ?", request_id)

    def contract(self, dataset: str) -> Entry | None:
        """Return the entry that holds the terms of a dataset: the last one."""
        return self._entry("kind = 'contract' AND dataset = ? ORDER BY seq DESC LIMIT 1", dataset)

    def upgrade(self) -> None:
        """Make room for entries that a ledger of an earlier release does not know."""
        self._store.upgrade()

    def _entry(self, condition: str, value: str) -> Entry | None:
        found = self._store.row(f"{_ENTRIES} WHERE {condition}", (value,))
        return Entry.of(found) if found else None

    def entries(self, dataset: str | None = None, analyst: str | None = None) -> Iterator[Entry]:
        """Yield entries in order, all of them or those about a dataset or an analyst."""
        wanted = {"dataset = ?": dataset, "analyst = ?": analyst}
        given = {condition: value for condition, value in wanted.items() if value is not None}
        where = f" WHERE {' AND '.join(given)}" if given else ""
        rows = self._store.rows(f"{_ENTRIES}{where} ORDER BY seq", tuple(given.values()))
        return map(Entry.of, rows)

    def accounts(self) -> dict[tuple[str, str], Account]:
        """Return every account, by dataset and analyst."""
        rows = self._store.rows("SELECT dataset, analyst, cap, spent FROM ledger_accounts")
        return {(dataset, analyst): Account(cap, spent) for dataset, analyst, cap, spent in rows}

    def account(self, dataset: str, analyst: str) -> Account | None:
        """Return the account of a dataset or of one of its analysts, if it has been used."""
        found = self._store.row(
            "SELECT cap, spent FROM ledger_accounts WHERE dataset = ? AND analyst = ?", (dataset, analyst)
        )
        return Account(*found) if found else None

    def enter(self, dataset: str, analyst: str, cap: int | None) -> None:
        """Create an account, if there is none yet."""
        self._store.execute(_ENTER, (dataset, analyst, cap))

    def spend(self, dataset: str, analyst: str, amount: int) -> bool:
        """Take `amount` from the accounts of a dataset and of an analyst, unless one of them would go over its cap."""
        return self._store.execute(_SPEND, (amount, dataset, TOTAL, analyst, amount)) == 2

    def raise_cap(self, dataset: str, analyst: str, amount: int, limit: int) -> bool:
        """Add `amount` to a cap, unless that goes over the limit or below what is spent."""
        return self._store.execute(_RAISE, (amount, dataset, analyst, amount, amount, limit)) == 1
