"""What a ledger says when it refuses a charge, a grant or an opening: what was asked, what is left, and the remedy."""

from __future__ import annotations

from dataclasses import replace

from inbounds.errors import BudgetExceeded, LedgerConflict, LedgerReplaced
from inbounds.exact.amount import LIMIT, format_amount, format_delta, fraction
from inbounds.ledger.record.rows import TOTAL
from inbounds.ledger.values.account import MOST_SPENT, Account
from inbounds.ledger.values.caps import Caps
from inbounds.ledger.values.cost import Cost
from inbounds.ledger.values.entry import Head


def budget_exceeded(dataset: str, analyst: str, cost: Cost, total: Account, own: Account) -> BudgetExceeded:
    """Return the refusal of a charge that goes over a cap."""
    left, left_own = total.left or 0, own.left
    if (cost.delta or 0) > total.reserve - total.spent_delta:
        what = f"the delta left for such charges is {format_delta(total.reserve - total.spent_delta)}"
        remedy = "ask for less, or ask the custodian to grant more delta"
    else:
        own_part = "" if left_own is None else f" and {analyst!r} has {_format_left(own)} left"
        what = f"the dataset has {_format_left(total)} left{own_part}"
        remedy = "ask for less, or ask the custodian to grant more"
    return BudgetExceeded(
        f"{analyst!r} cannot spend {cost} on {dataset!r}: {what}; {remedy}",
        dataset,
        analyst,
        fraction(cost.epsilon),
        fraction(left),
        None if left_own is None else fraction(left_own),
    )


def no_room(dataset: str, analyst: str, cost: Cost, total: Account, own: Account) -> BudgetExceeded:
    """Return the refusal of a charge that fits in rho, but takes the sum of epsilon beyond what an account holds."""
    left = format_amount(max(0, MOST_SPENT - int(total.spent)))
    return BudgetExceeded(
        f"{analyst!r} cannot spend {cost} on {dataset!r}: a ledger records at most {format_amount(MOST_SPENT)} of "
        f"epsilon, even when rho is what counts; ask for at most {left}",
        dataset,
        analyst,
        fraction(cost.epsilon),
        fraction(total.left or 0),
        None if own.left is None else fraction(own.left),
    )


def _format_left(account: Account) -> str:
    rho = "" if account.left_rho is None else f" (or rho {format_amount(account.left_rho)})"
    return f"{format_amount(account.left or 0)}{rho}"


def no_grant(dataset: str, who: str, more: int, account: Account) -> LedgerConflict:
    """Return the refusal of a grant that takes a cap out of where it may be."""
    whose = repr(dataset) if who == TOTAL else f"{who!r} in {dataset!r}"
    return LedgerConflict(
        f"a cap must stay between what is spent and {format_amount(LIMIT)}: {whose} has spent "
        f"{format_amount(account.spent)} of {format_amount(account.cap or 0)}, got a change by {format_amount(more)}; "
        "change it by less"
    )


def refuse_other_caps(dataset: str, opened_with: Caps, caps: Caps) -> None:
    """Refuse caps that differ from those that a dataset has."""
    if opened_with == caps:
        return
    added = opened_with.delta is None and replace(caps, delta=None, reserved=None) == opened_with
    remedy = ", or let the custodian add the delta (inbounds budget delta)" if added else ""
    raise LedgerConflict(
        f"the budget of {dataset!r} was opened with {opened_with}, got {caps}; write the first ones again, and "
        f"change what is left with grant{remedy}"
    )


def ledger_replaced(where: str, known: Head, head: Head) -> LedgerReplaced:
    """Return the refusal of a ledger that lacks a head that is known of it."""
    return LedgerReplaced(
        f"the ledger {where} is an older copy or another ledger: it lacks entry {known.seq} ({known.digest[:12]}…) and "
        f"ends at entry {head.seq}; put the right one back, or let the custodian record why it was replaced "
        "(inbounds budget accept-restore)"
    )
