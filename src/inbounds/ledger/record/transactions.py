"""Transactions of a ledger with a witness: none sees an older ledger, and nothing leaves before its head is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from inbounds.errors import LedgerUnavailable
from inbounds.ledger.record.refusals import ledger_replaced
from inbounds.ledger.record.rows import Book
from inbounds.ledger.record.witness import Witness
from inbounds.ledger.stores.store import Failure, Store
from inbounds.ledger.values.entry import START, Head


class Transactions:
    """The transactions of one ledger: each sees all that the witness knows, and tells it what is about to leave."""

    def __init__(self, store: Store, book: Book, witness: Witness | None) -> None:
        self._store = store
        self._book = book
        self._witness = witness
        self._owed = START  # what the witness could not keep

    @contextmanager
    def writing(self, nothing: str, unsure: str) -> Iterator[None]:
        """Make one transaction of the block; say what became of it if the store fails."""
        try:
            known = self._known_heads()
            with self._store.writing():
                self._begin(known)
                yield
                due = self._book.due
            self._keep(due)
        except Failure as failure:
            outcome = unsure if failure.in_commit else nothing
            message = f"the ledger {self._store.where} cannot be written: {failure}; {outcome}"
            raise LedgerUnavailable(message, failure.in_commit, lasting=failure.lasting) from None

    @contextmanager
    def reading(self, *, spent: bool = False) -> Iterator[None]:
        """Let the block see one state of the ledger; `spent` if it tells what was spent until now."""
        try:
            known = self._known_heads()
            with self._store.reading():
                self._begin(known)
                if spent:
                    self._book.due = self._book.head()
                yield
                due = self._book.due
            self._keep(due)
        except Failure as failure:
            message = f"the ledger {self._store.where} cannot be read: {failure}"
            raise LedgerUnavailable(message, lasting=failure.lasting) from None

    def settle(self) -> None:
        """Let the witness have what it could not keep before; while it cannot, nothing more is charged."""
        if self._witness is not None and self._owed != START:
            self._witness.keep(self._owed)
            self._owed = START

    def _known_heads(self) -> Collection[Head]:
        """Return what the witness knows: before a transaction begins, so that it has to see all of that."""
        return () if self._witness is None else self._witness.heads()

    def _begin(self, known: Collection[Head]) -> None:
        """Refuse a ledger that is not the one that the witness knows; call it inside a transaction."""
        self._book.due = START
        for head in known:
            if not self._book.goes_through(head):
                raise ledger_replaced(self._store.where, head, self._book.head())

    def _keep(self, due: Head) -> None:
        """Let the witness have what is about to leave; until it has that, nothing does."""
        if self._witness is None or due == START:
            return
        try:
            self._witness.keep(due)
        except Failure as failure:
            self._owed = max(self._owed, due, key=lambda head: head.seq)
            raise Failure(str(failure), in_commit=True, lasting=failure.lasting) from None
