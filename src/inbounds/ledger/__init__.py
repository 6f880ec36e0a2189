"""The ledger: a durable record of what privacy budget was spent, by whom and on what."""

from inbounds.errors import (
    BudgetExceeded,
    LedgerBroken,
    LedgerConflict,
    LedgerError,
    LedgerMissing,
    LedgerReplaced,
    LedgerUnavailable,
    RequestReused,
)
from inbounds.ledger.entry import Entry, Head
from inbounds.ledger.ledger import Ledger
from inbounds.ledger.receipt import Balance, Receipt, Repeats
from inbounds.ledger.restoring import Restored, restore
from inbounds.ledger.statement import Statement
from inbounds.ledger.terms import Terms
from inbounds.ledger.verification import Verification
from inbounds.ledger.witness import Witness

__all__ = [
    "Balance",
    "BudgetExceeded",
    "Entry",
    "Head",
    "Ledger",
    "LedgerBroken",
    "LedgerConflict",
    "LedgerError",
    "LedgerMissing",
    "LedgerReplaced",
    "LedgerUnavailable",
    "Receipt",
    "Repeats",
    "RequestReused",
    "Restored",
    "Statement",
    "Terms",
    "Verification",
    "Witness",
    "restore",
]
