"""What a charge takes from the accounts of a dataset and of an analyst, and how many like it would fit.

Everything here runs inside a transaction of the store.
"""

from __future__ import annotations

from inbounds.ledger.record.opening import opening_of
from inbounds.ledger.record.periods import account_now, caps_now, refresh_of
from inbounds.ledger.record.refusals import budget_exceeded, no_room
from inbounds.ledger.record.rows import LIFETIME, TOTAL, Book
from inbounds.ledger.values.account import MOST_SPENT, Account
from inbounds.ledger.values.cost import Cost
from inbounds.ledger.values.entry import Entry


def count_fitting(book: Book, opening: Entry, who: str, cost: Cost) -> int:
    """Return how many charges like this fit what is left of the total, and of an analyst's as well."""
    counts = [account_now(book, opening, TOTAL).more_like(cost, is_total=True)]
    lifetime = book.account(opening.dataset, LIFETIME)
    if lifetime is not None:
        counts.append(lifetime.more_like(cost, is_total=False))
    if who != TOTAL:
        counts.append(account_now(book, opening, who).more_like(cost, is_total=False))
    return min(count for count in counts if count is not None)


def spend(book: Book, dataset: str, analyst: str, cost: Cost) -> Cost:
    """Take a cost from all accounts that it goes to, and return what was taken: no rho where that does not count."""
    total, own = (book.account(dataset, who) for who in (TOTAL, analyst))
    if total is None or own is None:
        opening = opening_of(book, dataset)
        caps = caps_now(book, opening)
        own = caps.account(caps.per_analyst)
        book.enter(dataset, analyst, own)
    total, lifetime = total or Account(0, 0), book.account(dataset, LIFETIME)
    taken = cost.without_rho() if total.rho_cap is None else cost
    # Also before the accounts are asked: in a ledger of an earlier release they know of no delta.
    if (cost.delta or 0) > total.reserve - total.spent_delta:
        raise budget_exceeded(dataset, analyst, taken, total, own)
    if (lifetime or total).spent + taken.epsilon > MOST_SPENT:  # no account holds more than that of all periods
        raise no_room(dataset, analyst, taken, lifetime or total, own)
    # The caps are in the condition of the UPDATE, so two charges at the same time cannot both pass a check.
    if not book.spend(dataset, analyst, taken, has_lifetime=lifetime is not None):
        record = None if lifetime is None else refresh_of(book, dataset)
        raise budget_exceeded(dataset, analyst, taken, total, own, lifetime, None if record is None else record.period)
    return taken
