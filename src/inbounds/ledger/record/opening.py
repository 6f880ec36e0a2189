"""The opening of a dataset: the entry that has its caps, and the account of its total.

Everything here runs inside a transaction of the store.
"""

from __future__ import annotations

from inbounds.errors import LedgerConflict
from inbounds.ledger.record.rows import TOTAL, Book
from inbounds.ledger.stores.schema import KNOWS_DELTA
from inbounds.ledger.values.caps import Caps
from inbounds.ledger.values.entry import Entry, Head


def record_opening(book: Book, head: Head, dataset: str, caps: Caps) -> Head:
    """Give a new dataset its caps, and return where the chain ends now."""
    if caps.delta is not None:
        book.upgrade(KNOWS_DELTA)
    fields = {"per_analyst": caps.per_analyst, "delta": caps.delta, "reserved": caps.reserved}
    book.enter(dataset, TOTAL, caps.account(caps.total, reserve=caps.reserved or 0))
    return book.append(head, "open", dataset, amount=caps.total, **fields).head


def opening_of(book: Book, dataset: str) -> Entry:
    """Return the entry that opened a dataset; refuse one that was never opened."""
    opening = book.opening(dataset)
    if opening is None:
        raise LedgerConflict(
            f"the ledger {book.where} has no dataset {dataset!r}; check the name and the ledger, or open "
            "it first: with open_dataset, or by a question to it"
        )
    return opening
