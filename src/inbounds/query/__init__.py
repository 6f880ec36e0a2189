"""Querying tables: private answers that are always possible, charged to a ledger."""

try:
    import sqlglot as _sqlglot  # noqa: F401  what every module here needs
except ImportError:
    raise ImportError("querying tables needs sqlglot and DuckDB: pip install 'inbounds[query]'") from None

from inbounds.errors import (
    AnswerFailed,
    BudgetExceeded,
    EngineFailed,
    InvalidContract,
    InvalidQuestion,
    InvalidReport,
    LedgerBroken,
    LedgerConflict,
    LedgerUnavailable,
    QueryError,
    UselessQuestion,
)
from inbounds.query.answer.explanation import ExplainedPart, Explanation
from inbounds.query.custodian.inspection import Inspection
from inbounds.query.dataset import Dataset
from inbounds.query.expressions.expression import case, column
from inbounds.query.grammar.rows import read_expression as expression
from inbounds.query.query import Query
from inbounds.results.answer import Answer

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
    "InvalidReport",
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
