"""The last head of every dataset's ledger, in the server's file: an older ledger would have budget left again."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping

from inbounds.errors import LedgerConflict
from inbounds.ledger.stores.store import Failure
from inbounds.ledger.values.entry import START, Head
from inbounds.server.basics.problem import Problem
from inbounds.server.state.database import Database

UNREADABLE = (
    "the server's own file, which holds its last checkpoint, cannot be read; check the disk and the file's permissions"
)

UNWRITABLE = "its checkpoint cannot be saved in the server's own file; free some space on that disk"

OTHER = (
    "the server's own file has the checkpoint of another ledger for entry {seq}; put the right ledger back, or see "
    '"A lost ledger" in docs/ledger.md'
)

_LATER = """INSERT INTO ledger_heads (dataset, seq, digest) VALUES (?, ?, ?)
    ON CONFLICT (dataset) DO UPDATE SET seq = excluded.seq, digest = excluded.digest
    WHERE excluded.seq > ledger_heads.seq"""

_ACCEPTED = "INSERT OR REPLACE INTO ledger_heads (dataset, seq, digest) VALUES (?, ?, ?)"


class LedgerHeads:
    """The witness of a server's ledger, for the datasets that it serves; all of its processes share what is known.

    What is kept never goes back, whoever is slower, except that a custodian accepts another ledger.
    """

    def __init__(self, database: Database, datasets: Iterable[str]) -> None:
        self._database = database
        self._datasets = tuple(datasets)
        self._turn = threading.Lock()

    def heads(self) -> Collection[Head]:
        """Return the heads that are known."""
        return set(self.known().values())

    def known(self) -> dict[str, Head]:
        """Return the last head of each dataset that has one."""
        try:
            rows = self._database.rows("SELECT dataset, seq, digest FROM ledger_heads")
        except Problem:
            raise Failure(UNREADABLE) from None
        return {dataset: Head(seq, digest) for dataset, seq, digest in rows if dataset in self._datasets}

    def keep(self, head: Head) -> None:
        """Keep a head durably, unless a later one is kept already; those who wait are served by one write."""
        if head == START:
            return
        with self._turn:
            known = self.known()
            _refuse_other(known, head)
            if not all(name in known and known[name].seq >= head.seq for name in self._datasets):
                self._write(head)

    def _write(self, head: Head) -> None:
        try:
            with self._database.writing() as connection:
                _refuse_other(self.known(), head)  # again, inside the transaction: another process may have been faster
                connection.executemany(_LATER, [(name, head.seq, head.digest) for name in self._datasets])
        except Problem:
            raise Failure(UNWRITABLE) from None

    def accept(self, before: Mapping[str, Head], head: Head) -> None:
        """Let every dataset have the head of a ledger that takes another's place; it may be an earlier one."""
        try:
            with self._database.writing() as connection:
                if self.known() != before:
                    raise LedgerConflict(
                        "the ledger was used while it was being accepted; stop the server and try again"
                    )
                connection.executemany(_ACCEPTED, [(name, head.seq, head.digest) for name in self._datasets])
        except Problem:
            raise Failure(UNWRITABLE) from None


def _refuse_other(known: Mapping[str, Head], head: Head) -> None:
    """Refuse a head that has the number of one that is known, and is not that one."""
    if any(last.seq == head.seq and last != head for last in known.values()):
        raise Failure(OTHER.format(seq=head.seq), lasting=True)
