"""The tables of a ledger, in words: everything here runs inside a transaction of the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inbounds.errors import LedgerBroken
from inbounds.ledger.record import clock
from inbounds.ledger.stores.store import Store
from inbounds.ledger.values.account import Account
from inbounds.ledger.values.cost import Cost
from inbounds.ledger.values.entry import FIELDS, FIRST_FIELDS, START, Entry, Head

TOTAL = ""
"""The analyst of an account that is a dataset's own."""

LIFETIME = " "
"""The analyst of the account of all periods together: no name of an analyst is blank."""

# A ledger of an earlier release has the first of these columns; the others are None or 0 there, and are not written.
_ENTRIES = "SELECT * FROM ledger_entries"
_ACCOUNTS = "SELECT * FROM ledger_accounts"
_APPEND, _APPEND_FIRST = (
    f"INSERT INTO ledger_entries ({', '.join(fields)}) VALUES ({', '.join('?' * len(fields))})"
    for fields in (FIELDS, FIRST_FIELDS)
)

_EMPTY = {"analyst": TOTAL, "amount": 0, "per_analyst": None, "request_id": "", "fingerprint": "", "text": ""}

_ENTER = "INSERT INTO ledger_accounts (dataset, analyst, cap, spent) VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING"

_SPEND = """UPDATE ledger_accounts SET spent = spent + ?
    WHERE dataset = ? AND analyst IN (?, ?, ?) AND (cap IS NULL OR spent + ? <= cap)"""

_ENTER_RHO = """INSERT INTO ledger_accounts (dataset, analyst, cap, spent, rho_cap, reserve)
    VALUES (?, ?, ?, 0, ?, ?) ON CONFLICT DO NOTHING"""

_SPEND_RHO = """UPDATE ledger_accounts SET spent = spent + ?, spent_rho = spent_rho + ?
    WHERE dataset = ? AND analyst IN (?, ?)
    AND (cap IS NULL OR spent + ? <= cap OR spent_rho + ? <= COALESCE(rho_cap, -1))"""

_SPEND_DELTA = """UPDATE ledger_accounts SET spent_delta = spent_delta + ?
    WHERE dataset = ? AND analyst = ? AND spent_delta + ? <= reserve"""

_RAISE = """UPDATE ledger_accounts SET cap = cap + ?
    WHERE dataset = ? AND analyst = ? AND cap + ? >= spent AND cap + ? <= ?"""

_RAISE_RHO = """UPDATE ledger_accounts SET cap = ?, rho_cap = ?
    WHERE dataset = ? AND analyst = ? AND (? >= spent OR ? >= spent_rho)"""

_SET = "UPDATE ledger_accounts SET cap = ?, spent = ? WHERE dataset = ? AND analyst = ?"

_CHARGED = """SELECT analyst, SUM(amount) FROM ledger_entries WHERE kind = 'charge' AND dataset = ?
    GROUP BY analyst"""

_COUNT_RHO = "UPDATE ledger_accounts SET rho_cap = ?, spent_rho = ?, reserve = ? WHERE dataset = ? AND analyst = ?"

_RAISE_DELTA = "UPDATE ledger_accounts SET reserve = reserve + ? WHERE dataset = ? AND analyst = ?"


class Book:
    """The head, the entries and the accounts."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.due = START
        """The last entry that was written, or an answer in it given out, in this transaction."""

    @property
    def where(self) -> str:
        """The path, or the server and database; never a password."""
        return self._store.where

    def head(self) -> Head:
        """Return where the chain ends."""
        return self._read_head("")

    def lock(self) -> Head:
        """Return where the chain ends, and let nobody else write before this transaction is over."""
        return self._read_head(self._store.locking)

    def _read_head(self, locking: str) -> Head:
        row = self._store.row(f"SELECT seq, digest FROM ledger_head WHERE only_row = 1{locking}")
        return Head(*row) if row else START

    def append(self, head: Head, kind: str, dataset: str, **fields: Any) -> Entry:
        """Write the entry that follows `head`, with what is given of the other fields, and move the head to it."""
        now = clock.now().isoformat(timespec="microseconds")
        entry = Entry.after(head, **{**_EMPTY, "time": now, "kind": kind, "dataset": dataset, **fields})
        later = any(value is not None for value in entry.row()[len(FIRST_FIELDS) :])
        self._store.execute(
            _APPEND if later else _APPEND_FIRST, entry.row() if later else entry.row()[: len(FIRST_FIELDS)]
        )
        self._store.execute("UPDATE ledger_head SET seq = ?, digest = ? WHERE only_row = 1", (entry.seq, entry.digest))
        self.due = entry.head
        return entry

    def goes_through(self, head: Head) -> bool:
        """Return whether the chain has this head."""
        row = self._store.row("SELECT digest FROM ledger_entries WHERE seq = ?", (head.seq,))
        return head == START or row == (head.digest,)

    def give_out(self, entries: Sequence[Entry]) -> None:
        """Note that entries with answers leave the ledger."""
        last = max(entries, key=lambda entry: entry.seq, default=None)
        if last is not None and last.seq > self.due.seq:
            self.due = last.head

    def opening(self, dataset: str) -> Entry | None:
        """Return the entry that opened a dataset."""
        return self._entry("kind = 'open' AND dataset = ?", dataset)

    def charge(self, request_id: str) -> Entry | None:
        """Return the entry that charged a request."""
        return self._entry("kind = 'charge' AND request_id = ?", request_id)

    def last_charge(self, dataset: str, analyst: str | None) -> Entry | None:
        """Return the last charge of a dataset, or of one of its analysts."""
        if analyst is None:
            return self._entry("kind = 'charge' AND dataset = ? ORDER BY seq DESC LIMIT 1", dataset)
        return self._entry(
            "kind = 'charge' AND dataset = ? AND analyst = ? ORDER BY seq DESC LIMIT 1", dataset, analyst
        )

    def answer(self, request_id: str) -> Entry | None:
        """Return the entry that holds the answer to a request."""
        return self._entry("kind = 'answer' AND request_id = ?", request_id)

    def contract(self, dataset: str) -> Entry | None:
        """Return the entry that holds the terms of a dataset: the last one."""
        return self._entry("kind = 'contract' AND dataset = ? ORDER BY seq DESC LIMIT 1", dataset)

    def refresh(self, dataset: str) -> Entry | None:
        """Return the entry that began the period of a budget that refreshes: the last one."""
        return self._entry("kind = 'refresh' AND dataset = ? ORDER BY seq DESC LIMIT 1", dataset)

    def charged_by(self, dataset: str) -> Counter[str]:
        """Return how much each analyst was ever charged for a dataset."""
        return Counter({analyst: int(amount) for analyst, amount in self._store.rows(_CHARGED, (dataset,))})

    def late_delta(self, dataset: str) -> Entry | None:
        """Return the entry that gave a dataset a delta after it was opened."""
        return self._entry("kind = 'delta' AND dataset = ?", dataset)

    def count_rho(self, dataset: str, analyst: str, account: Account) -> None:
        """Let an account count rho from now on, with what it has already."""
        rho = (account.rho_cap, account.spent_rho, account.reserve)
        self._store.execute(_COUNT_RHO, (*rho, dataset, analyst))

    def upgrade(self, needed: int) -> None:
        """Make room for entries that a ledger of a version below `needed` does not know."""
        self._store.upgrade(needed)

    def _entry(self, condition: str, *values: str) -> Entry | None:
        row = self._store.row(f"{_ENTRIES} WHERE {condition}", values)
        return Entry.of(row) if row else None

    def entries(
        self,
        dataset: str | None = None,
        analyst: str | None = None,
        *,
        kind: str | None = None,
        after: int = 0,
        most: int | None = None,
        skip: int = 0,
    ) -> Iterator[Entry]:
        """Yield entries in order, all of them or those about a dataset or an analyst; from a number on, so many.

        Of those that were found, the first `skip` are left out; that needs `most`.
        """
        wanted = {"dataset = ?": dataset, "analyst = ?": analyst, "kind = ?": kind, "seq > ?": after or None}
        where, values = _where(wanted)
        limit = "" if most is None else f" LIMIT {most:d} OFFSET {skip:d}"
        rows = self._store.rows(f"{_ENTRIES}{where} ORDER BY seq{limit}", values)
        return map(Entry.of, rows)

    def charges(self, dataset: str | None, analyst: str | None) -> int:
        """Return how many charges there are, of all or those about a dataset or an analyst."""
        wanted = {"dataset = ?": dataset, "analyst = ?": analyst, "kind = ?": "charge"}
        where, values = _where(wanted)
        row = self._store.row(f"SELECT count(*) FROM ledger_entries{where}", values)
        return 0 if row is None else int(row[0])

    def accounts(self) -> dict[tuple[str, str], Account]:
        """Return every account, by dataset and analyst."""
        return {(dataset, analyst): Account(*rest) for dataset, analyst, *rest in self._store.rows(_ACCOUNTS)}

    def accounts_of(self, dataset: str) -> dict[str, Account]:
        """Return every account of a dataset, by analyst."""
        rows = list(self._store.rows(f"{_ACCOUNTS} WHERE dataset = ?", (dataset,)))
        return {analyst: Account(*rest) for _, analyst, *rest in rows}

    def account(self, dataset: str, analyst: str) -> Account | None:
        """Return the account of a dataset or of one of its analysts, if it has been used."""
        # A sum beyond 64 bits becomes a real number in SQLite: no amount is read from one.
        row = self._store.row(f"{_ACCOUNTS} WHERE dataset = ? AND analyst = ?", (dataset, analyst))
        if row is None:
            return None
        if not all(value is None or isinstance(value, int) for value in row[2:]):
            raise LedgerBroken(
                f"the account of {analyst or dataset!r} in {dataset!r} must hold whole numbers, got others; verify the "
                "ledger, and restore a copy that agrees with a saved head"
            )
        return Account(*row[2:])

    def enter(self, dataset: str, analyst: str, account: Account) -> None:
        """Create an account, if there is none yet."""
        if account.rho_cap is None and not account.reserve:
            self._store.execute(_ENTER, (dataset, analyst, account.cap))
        else:
            self._store.execute(_ENTER_RHO, (dataset, analyst, account.cap, account.rho_cap, account.reserve))

    def spend(self, dataset: str, analyst: str, cost: Cost, *, has_lifetime: bool) -> bool:
        """Take a cost from the accounts of a dataset and of an analyst, unless one of them would go over its caps.

        With `has_lifetime` also from that of all periods together.  If it is not taken from each, or its delta is not
        there, the transaction must be dropped.
        """
        spent, accounts = cost.epsilon, (dataset, TOTAL, analyst)
        if cost.rho is None:
            done = self._store.execute(_SPEND, (spent, *accounts, LIFETIME, spent)) == (3 if has_lifetime else 2)
        else:
            done = self._store.execute(_SPEND_RHO, (spent, cost.rho, *accounts, spent, cost.rho)) == 2
        if not done or cost.delta is None:
            return done
        return self._store.execute(_SPEND_DELTA, (cost.delta, dataset, TOTAL, cost.delta)) == 1

    def set_account(self, dataset: str, analyst: str, account: Account) -> None:
        """Let an account have another cap, and another sum of epsilon in it."""
        self._store.execute(_SET, (account.cap, account.spent, dataset, analyst))

    def raise_cap(self, dataset: str, analyst: str, amount: int, limit: int) -> bool:
        """Add `amount` to a cap, unless that goes over the limit or below what is spent."""
        return self._store.execute(_RAISE, (amount, dataset, analyst, amount, amount, limit)) == 1

    def set_caps(self, dataset: str, analyst: str, cap: int, rho_cap: int) -> bool:
        """Set the caps of an account that counts rho, unless both sums would then be over them."""
        return self._store.execute(_RAISE_RHO, (cap, rho_cap, dataset, analyst, cap, rho_cap)) == 1

    def raise_reserve(self, dataset: str, delta: int) -> None:
        """Let charges of a dataset have so much more delta together."""
        self._store.execute(_RAISE_DELTA, (delta, dataset, TOTAL))


def _where(wanted: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    """Return what a query asks for, and the values in it; None asks for nothing."""
    given = {condition: value for condition, value in wanted.items() if value is not None}
    return (f" WHERE {' AND '.join(given)}" if given else ""), tuple(given.values())
