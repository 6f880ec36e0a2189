"""A delta that a dataset gets after it was opened: what was charged before is counted in rho as whatever loses it.

Everything here runs inside a transaction of the store.  Why the promise holds: docs/proofs.md, "A budget that lasts
longer".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from inbounds.errors import LedgerConflict
from inbounds.exact.amount import DELTA_UNIT, format_delta
from inbounds.ledger.record.rows import TOTAL, Book
from inbounds.ledger.stores.schema import KNOWS_LATE_DELTA
from inbounds.ledger.values.caps import Caps
from inbounds.ledger.values.cost import pure_rho
from inbounds.ledger.values.entry import Entry, Head


def caps_of(book: Book, opening: Entry) -> Caps:
    """Return what a dataset was opened with, and the delta that it got later, if it did."""
    caps = Caps.in_entry(opening)
    if caps.delta is not None:
        return caps
    total = book.account(opening.dataset, TOTAL)
    late = None if total is None or total.rho_cap is None else book.late_delta(opening.dataset)
    return caps if late is None else replace(caps, delta=late.delta, reserved=late.reserved)


def add_delta(book: Book, head: Head, opening: Entry, given: Caps, reason: str) -> None:
    """Give a dataset the delta that `given` has, on the record; the same again does nothing."""
    dataset, caps = opening.dataset, caps_of(book, opening)
    if caps.delta is not None:
        if (caps.delta, caps.reserved) == (given.delta, given.reserved):
            return
        raise LedgerConflict(
            f"the dataset {dataset!r} already has a delta: {caps}; it cannot be changed, so write the same one"
        )
    accounts = {who: account for (of, who), account in book.accounts().items() if of == dataset}
    reserve = accounts[TOTAL].reserve
    if reserve + (given.delta or 0) >= DELTA_UNIT:
        raise LedgerConflict(
            f"a delta must stay below 1: charges of {dataset!r} may have {format_delta(reserve)}, and "
            f"{format_delta(given.delta or 0)} more was requested; give less"
        )
    # From here on every account has a cap of rho, and has spent in rho what its charges of epsilon come to at most.
    book.upgrade(KNOWS_LATE_DELTA)
    before = _before(book, dataset)
    for who, account in accounts.items():
        more = given.reserved or 0 if who == TOTAL else 0
        counted = account._replace(
            rho_cap=given.rho_cap(account.cap), spent_rho=before[who], reserve=account.reserve + more
        )
        book.count_rho(dataset, who, counted)
    book.append(head, "delta", dataset, delta=given.delta, reserved=given.reserved, text=reason)


def _before(book: Book, dataset: str) -> Counter[str]:
    """Return what the charges of a dataset count in rho that were made without it, of each analyst and of all."""
    charged: Counter[tuple[str, int]] = Counter()
    for entry in book.entries(dataset):
        if entry.kind == "charge":
            charged.update([(TOTAL, entry.amount), (entry.analyst, entry.amount)])
    spent_rho: Counter[str] = Counter()
    for (who, amount), times in charged.items():
        spent_rho[who] += times * pure_rho(amount)
    return spent_rho
