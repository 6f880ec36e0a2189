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
from inbounds.ledger.ledger import Ledger
from inbounds.ledger.record.statement import Statement
from inbounds.ledger.record.verification import Verification
from inbounds.ledger.record.witness import Witness
from inbounds.ledger.recovery import Restored, restore
from inbounds.ledger.values.entry import Entry, Head
from inbounds.ledger.values.receipt import Balance, Receipt, Repeats
from inbounds.ledger.values.terms import Terms

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
