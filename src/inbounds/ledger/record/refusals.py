"""What a ledger says when it refuses a charge, a grant or an opening: what was asked, what is left, and the remedy."""

from __future__ import annotations

from dataclasses import replace

from inbounds.errors import BudgetExceeded, LedgerConflict, LedgerReplaced
from inbounds.ledger.record.rows import TOTAL
from inbounds.ledger.values.account import MOST_SPENT, Account
from inbounds.ledger.values.amount import LIMIT, fraction, written, written_delta
from inbounds.ledger.values.caps import Caps
from inbounds.ledger.values.cost import Cost
from inbounds.ledger.values.entry import Head


def exceeded(dataset: str, analyst: str, cost: Cost, total: Account, own: Account) -> BudgetExceeded:
    """Return the refusal of a charge that goes over a cap."""
    left, left_own = total.left or 0, own.left
    if (cost.delta or 0) > total.reserve - total.spent_delta:
        what = f"the delta left for such charges is {written_delta(total.reserve - total.spent_delta)}"
        remedy = "ask for less, or ask the custodian to grant more delta"
    else:
        own_part = "" if left_own is None else f" and {analyst!r} has {_left(own)} left"
        what = f"the dataset has {_left(total)} left{own_part}"
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
    left = written(max(0, MOST_SPENT - int(total.spent)))
    return BudgetExceeded(
        f"{analyst!r} cannot spend {cost} on {dataset!r}: a ledger records at most {written(MOST_SPENT)} of epsilon, "
        f"even when rho is what counts; ask for at most {left}",
        dataset,
        analyst,
        fraction(cost.epsilon),
        fraction(total.left or 0),
        None if own.left is None else fraction(own.left),
    )


def _left(account: Account) -> str:
    rho = "" if account.left_rho is None else f" (or rho {written(account.left_rho)})"
    return f"{written(account.left or 0)}{rho}"


def no_grant(dataset: str, who: str, more: int, account: Account) -> LedgerConflict:
    """Return the refusal of a grant that takes a cap out of where it may be."""
    whose = repr(dataset) if who == TOTAL else f"{who!r} in {dataset!r}"
    return LedgerConflict(
        f"a cap must stay between what is spent and {written(LIMIT)}: {whose} has spent "
        f"{written(account.spent)} of {written(account.cap or 0)}, got a change by {written(more)}; "
        "change it by less"
    )


def refuse_other_caps(dataset: str, kept: Caps, caps: Caps) -> None:
    """Refuse caps that differ from those that a dataset has."""
    if kept == caps:
        return
    added = kept.delta is None and replace(caps, delta=None, reserved=None) == kept
    remedy = ", or let the custodian add the delta (inbounds budget delta)" if added else ""
    raise LedgerConflict(
        f"the budget of {dataset!r} was opened with {kept}, got {caps}; write the first ones again, and change what is "
        f"left with grant{remedy}"
    )


def replaced(where: str, known: Head, head: Head) -> LedgerReplaced:
    """Return the refusal of a ledger that lacks a head that is known of it."""
    return LedgerReplaced(
        f"the ledger {where} is an older copy or another ledger: it lacks entry {known.seq} ({known.digest[:12]}…) and "
        f"ends at entry {head.seq}; put the right one back, or let the custodian record why it was replaced "
        "(inbounds budget accept-restore)"
    )
