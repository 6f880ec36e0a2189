"""Questions to tables: private answers that are always possible, paid from a ledger."""

try:
    import sqlglot as _sqlglot  # noqa: F401  what every module here needs
except ImportError:
    raise ImportError("questions to tables need sqlglot and DuckDB: pip install 'inbounds[query]'") from None

from inbounds.errors import (
    AnswerFailed,
    BudgetExceeded,
    EngineFailed,
    InvalidContract,
    InvalidQuestion,
    LedgerBroken,
    LedgerConflict,
    LedgerUnavailable,
    QueryError,
    UselessQuestion,
)
from inbounds.query.answer import Answer
from inbounds.query.asking import Query
from inbounds.query.dataset import Dataset
from inbounds.query.explanation import ExplainedPart, Explanation
from inbounds.query.expression import case, column
from inbounds.query.inspection import Inspection
from inbounds.query.sql.conditions import read_expression as expression

__all__ = [
    "Answer",
    "AnswerFailed",
    "BudgetExceeded",
    "Dataset",
    "EngineFailed",
    "ExplainedPart",
    "Explanation",
    "Inspection",
    "InvalidContract",
    "InvalidQuestion",
    "LedgerBroken",
    "LedgerConflict",
    "LedgerUnavailable",
    "Query",
    "QueryError",
    "UselessQuestion",
    "case",
    "column",
    "expression",
]
