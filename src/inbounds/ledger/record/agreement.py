"""What a dataset is charged under: the first terms are recorded, others are refused until a change is recorded.

Everything here runs inside a transaction of the store.
"""

from __future__ import annotations

from inbounds.errors import LedgerConflict
from inbounds.ledger.record.rows import Book
from inbounds.ledger.stores.schema import KNOWS_CONTRACTS
from inbounds.ledger.values.entry import Head
from inbounds.ledger.values.terms import Terms


def terms_of(book: Book, dataset: str) -> Terms | None:
    """Return the terms that were recorded last, None if there are none."""
    entry = book.contract(dataset)
    loaded = None if entry is None else Terms.load(entry.text)
    if entry is not None and (loaded is None or loaded[0].digest != entry.fingerprint):
        raise LedgerConflict(f"the terms of {dataset!r} in entry {entry.seq} cannot be read; verify the ledger")
    return None if loaded is None else loaded[0]


def agree(book: Book, head: Head, dataset: str, terms: Terms | None) -> Head:
    """Record the first terms of a dataset, refuse others, and return where the chain ends now."""
    if terms is None or refuse_other_terms(book, dataset, terms):
        return head
    return record(book, head, dataset, terms, "")


def record(book: Book, head: Head, dataset: str, terms: Terms, reason: str) -> Head:
    """Record terms and why they change, and return where the chain ends now."""
    book.upgrade(KNOWS_CONTRACTS)
    fields = {"fingerprint": terms.digest, "text": terms.dump(reason)}
    return book.append(head, "contract", dataset, **fields).head


def refuse_other_terms(book: Book, dataset: str, terms: Terms | None) -> bool:
    """Return whether these are the terms that were recorded, false if none were; others are refused."""
    recorded = None if terms is None else terms_of(book, dataset)
    if terms is None or recorded is None:
        return False
    if recorded != terms:
        raise LedgerConflict(
            f"the dataset {dataset!r} is charged under other terms: {recorded.changes(terms)}; keep to the "
            "contract that was recorded, let the custodian record the change (inbounds budget contract), or give "
            "the dataset another name"
        )
    return True
