"""Periods of a budget that refreshes: when one begins, what it finds in the accounts, and changes to the rule.

A period begins with an entry, written by the first charge or grant in it, under the lock that every writer takes.  All
accounts of the dataset are then empty again, but for the one of all periods together.  Periods only go forward: by a
clock that was set back, charges count in the period that has begun.

Everything here runs inside a transaction of the store.
"""

from __future__ import annotations

from dataclasses import replace

from inbounds.errors import LedgerConflict
from inbounds.exact.amount import format_amount
from inbounds.ledger.record import clock
from inbounds.ledger.record.late_delta import caps_of
from inbounds.ledger.record.rows import LIFETIME, TOTAL, Book
from inbounds.ledger.stores.schema import KNOWS_REFRESHES
from inbounds.ledger.values.account import Account
from inbounds.ledger.values.caps import Caps
from inbounds.ledger.values.entry import Entry, Head
from inbounds.ledger.values.refresh import Allowance, Period, RefreshRecord


def refresh_of(book: Book, dataset: str) -> RefreshRecord | None:
    """Return the allowance of a dataset and the period that has begun; None if it has never had one that refreshes."""
    if book.account(dataset, LIFETIME) is None:
        return None
    entry = book.refresh(dataset)
    record = None if entry is None else RefreshRecord.in_entry(entry)
    if record is None:
        raise LedgerConflict(f"the budget of {dataset!r}, which refreshes, cannot be read; verify the ledger")
    return record


def allowance_of(book: Book, opening: Entry) -> Allowance:
    """Return what may be spent of a dataset, as it is on record."""
    record = refresh_of(book, opening.dataset)
    return Allowance(opening.amount, opening.per_analyst) if record is None else record.allowance


def caps_now(book: Book, opening: Entry) -> Caps:
    """Return the caps of a dataset: what it was opened with, the delta that came later, and what each period has."""
    caps, record = caps_of(book, opening), refresh_of(book, opening.dataset)
    if record is None:
        return caps
    return replace(caps, total=record.allowance.total, per_analyst=record.allowance.per_analyst)


def account_now(book: Book, opening: Entry, who: str) -> Account:
    """Return an account as it is now: empty again, if another period has begun, though nobody has charged in it."""
    caps, record = caps_now(book, opening), refresh_of(book, opening.dataset)
    cap = caps.total if who == TOTAL else caps.per_analyst
    account = book.account(opening.dataset, who) or caps.account(cap)
    if record is None or record.at(clock.now().date()) is record:
        return account
    return account._replace(cap=cap, spent=0)


def period_now(book: Book, dataset: str) -> Period | None:
    """Return the period that it is now, None if the budget does not refresh."""
    record = refresh_of(book, dataset)
    return None if record is None else record.at(clock.now().date()).period


def turn(book: Book, head: Head, dataset: str) -> Head:
    """Begin the period that it is now, unless that has begun, and return where the chain ends."""
    record = refresh_of(book, dataset)
    now = None if record is None else record.at(clock.now().date())
    if record is None or now is None or now is record:
        return head
    allowance = now.allowance
    for who, account in book.accounts_of(dataset).items():
        if who != LIFETIME:
            cap = allowance.total if who == TOTAL else allowance.per_analyst
            book.set_account(dataset, who, account._replace(cap=cap, spent=0))
    return _append(book, head, dataset, now)


def change_allowance(book: Book, head: Head, opening: Entry, allowance: Allowance, reason: str) -> Head:
    """Record another allowance; the same again, and one that never refreshed and does not, changes nothing.

    Nothing is given back: all that was ever spent counts in the period in which it is changed.  Where that is more than
    the new cap, the cap is what was spent, and nothing is left.
    """
    dataset, record = opening.dataset, refresh_of(book, opening.dataset)
    if (record is None and allowance.refresh is None) or (record is not None and allowance == record.allowance):
        return head
    if caps_of(book, opening).delta is not None:
        raise LedgerConflict(
            f"the budget of {dataset!r} has a delta, and one that refreshes cannot have one; leave refresh out, or "
            "give the dataset another name"
        )
    ever = book.charged_by(dataset)
    total = sum(ever.values())
    if allowance.lifetime is not None and allowance.lifetime < total:
        raise LedgerConflict(
            f"a lifetime must not be below what was spent of {dataset!r}, {format_amount(total)}, got "
            f"{format_amount(allowance.lifetime)}; write at least that"
        )
    today = clock.now().date()
    begun = (
        RefreshRecord.begin(allowance, today, reason) if record is None else record.changed(allowance, today, reason)
    )
    book.upgrade(KNOWS_REFRESHES)
    book.enter(dataset, LIFETIME, Account(allowance.lifetime, total))
    for who, account in book.accounts_of(dataset).items():
        book.set_account(dataset, who, account_after(allowance, who, account, total if who in _OF_ALL else ever[who]))
    return _append(book, head, dataset, begun)


_OF_ALL = (TOTAL, LIFETIME)


def account_after(allowance: Allowance, who: str, account: Account, ever: int) -> Account:
    """Return an account after a change of the allowance: with all that was ever spent in it, and never over its cap."""
    if who == LIFETIME:
        return account._replace(cap=allowance.lifetime, spent=ever)
    cap = allowance.total if who == TOTAL else allowance.per_analyst
    return account._replace(cap=None if cap is None else max(cap, ever), spent=ever)


def _append(book: Book, head: Head, dataset: str, record: RefreshRecord) -> Head:
    allowance = record.allowance
    fields = {"amount": allowance.total, "per_analyst": allowance.per_analyst, "text": record.dump()}
    return book.append(head, "refresh", dataset, **fields).head
