"""The ledger: a durable record of what privacy budget was spent, by whom and on what."""

from inbounds.errors import (
    BudgetExceeded,
    LedgerBroken,
    LedgerConflict,
    LedgerError,
    LedgerUnavailable,
    RequestReused,
)
from inbounds.ledger.entry import Entry, Head
from inbounds.ledger.ledger import Ledger
from inbounds.ledger.receipt import Balance, Receipt, Repeats
from inbounds.ledger.statement import Statement
from inbounds.ledger.terms import Terms
from inbounds.ledger.verification import Verification

__all__ = [
    "Balance",
    "BudgetExceeded",
    "Entry",
    "Head",
    "Ledger",
    "LedgerBroken",
    "LedgerConflict",
    "LedgerError",
    "LedgerUnavailable",
    "Receipt",
    "Repeats",
    "RequestReused",
    "Statement",
    "Terms",
    "Verification",
]
