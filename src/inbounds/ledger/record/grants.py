"""Grants, which raise what may be spent: a cap of epsilon, and that of rho with it, or what is reserved of delta.

Everything here runs inside a transaction of the store.
"""

from __future__ import annotations

from inbounds.errors import LedgerConflict
from inbounds.exact.amount import DELTA_UNIT, LIMIT, format_delta
from inbounds.ledger.record.late_delta import caps_of
from inbounds.ledger.record.refusals import no_grant
from inbounds.ledger.record.rows import TOTAL, Book
from inbounds.ledger.stores.schema import KNOWS_DELTA
from inbounds.ledger.values.account import Account
from inbounds.ledger.values.entry import Entry, Head


def record_grant(book: Book, head: Head, opening: Entry, who: str, more: int, delta: int | None, note: str) -> None:
    """Raise the cap of a dataset or of one of its analysts, and what is reserved of delta if any of it is granted."""
    dataset = opening.dataset
    if who != TOTAL:
        if opening.per_analyst is None:
            raise LedgerConflict(
                f"the dataset {dataset!r} has no cap per analyst, got a grant to {who!r}; leave the analyst out"
            )
        book.enter(dataset, who, caps_of(book, opening).account(opening.per_analyst))
    if more and not _raise_cap(book, opening, who, more):
        raise no_grant(dataset, who, more, book.account(dataset, who) or Account(0, 0))
    if delta is not None:
        _raise_reserve(book, dataset, delta)
    book.append(head, "grant", dataset, analyst=who, amount=more, text=note, delta=delta)


def _raise_cap(book: Book, opening: Entry, who: str, more: int) -> bool:
    """Change a cap of epsilon, and that of rho with it; return whether that is possible."""
    account = book.account(opening.dataset, who)
    if account is None or account.cap is None or account.rho_cap is None:
        return book.raise_cap(opening.dataset, who, more, LIMIT)
    cap = account.cap + more
    rho_cap = caps_of(book, opening).rho_cap(cap)
    if not 0 <= cap <= LIMIT or rho_cap is None:
        return False
    return book.set_caps(opening.dataset, who, cap, rho_cap)


def _raise_reserve(book: Book, dataset: str, delta: int) -> None:
    """Reserve more of delta for charges that have one of their own; all of it stays below 1."""
    book.upgrade(KNOWS_DELTA)
    account = book.account(dataset, TOTAL) or Account(0, 0)
    if account.reserve + delta >= DELTA_UNIT:
        raise LedgerConflict(
            f"a delta must stay below 1: charges of {dataset!r} may have {format_delta(account.reserve)}, and "
            f"{format_delta(delta)} more was requested; grant less"
        )
    book.raise_reserve(dataset, delta)
