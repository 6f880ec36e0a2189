"""Questions to tables: private answers that are always possible, paid from a ledger."""

from inbounds.errors import BudgetExceeded, EngineFailed, InvalidContract, InvalidQuestion, QueryError
from inbounds.query.answer import Answer
from inbounds.query.condition import column
from inbounds.query.dataset import Dataset, Query
from inbounds.query.explanation import Explanation

__all__ = [
    "Answer",
    "BudgetExceeded",
    "Dataset",
    "EngineFailed",
    "Explanation",
    "InvalidContract",
    "InvalidQuestion",
    "Query",
    "QueryError",
    "column",
]
