"""What a charge takes from the accounts of a dataset and of an analyst, and how many like it would fit.

Everything here runs inside a transaction of the store.
"""

from __future__ import annotations

from inbounds.ledger.record.late_delta import caps_of
from inbounds.ledger.record.opening import opening_of
from inbounds.ledger.record.refusals import budget_exceeded, no_room
from inbounds.ledger.record.rows import TOTAL, Book
from inbounds.ledger.values.account import MOST_SPENT, Account
from inbounds.ledger.values.cost import Cost
from inbounds.ledger.values.entry import Entry


def count_fitting(book: Book, opening: Entry, who: str, cost: Cost) -> int:
    """Return how many charges like this fit what is left of the total, and of an analyst's as well."""
    caps, dataset = caps_of(book, opening), opening.dataset
    total = book.account(dataset, TOTAL) or caps.account(caps.total)
    counts = [total.more_like(cost, is_total=True)]
    if who != TOTAL:
        own = book.account(dataset, who) or caps.account(caps.per_analyst)
        counts.append(own.more_like(cost, is_total=False))
    return min(count for count in counts if count is not None)


def spend(book: Book, dataset: str, analyst: str, cost: Cost) -> Cost:
    """Take a cost from both accounts, and return what was taken: without rho where that does not count."""
    total, own = (book.account(dataset, who) for who in (TOTAL, analyst))
    if total is None or own is None:
        opening = opening_of(book, dataset)
        own = caps_of(book, opening).account(opening.per_analyst)
        book.enter(dataset, analyst, own)
    total = total or Account(0, 0)
    taken = cost.without_rho() if total.rho_cap is None else cost
    # Also before the accounts are asked: in a ledger of an earlier release they know of no delta.
    if (cost.delta or 0) > total.reserve - total.spent_delta:
        raise budget_exceeded(dataset, analyst, taken, total, own)
    if total.spent + taken.epsilon > MOST_SPENT:  # nobody's account holds more than that of the dataset
        raise no_room(dataset, analyst, taken, total, own)
    # The caps are in the condition of the UPDATE, so two charges at the same time cannot both pass a check.
    if not book.spend(dataset, analyst, taken):
        raise budget_exceeded(dataset, analyst, taken, total, own)
    return taken
