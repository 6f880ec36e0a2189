"""A question as somebody writes it, where it is written so, and what is true."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tests.helpers.spellings.hospital import Hospital

Rows = Sequence[tuple[Any, ...]]


class Style(Enum):
    """Where SQL is written in this way: by people who learnt it there, or by a tool."""

    DUCKDB = "DuckDB"
    POSTGRESQL = "PostgreSQL"
    MODE = "Mode"
    DBT = "dbt"
    METABASE = "Metabase"
    SUPERSET = "Superset"
    SQL_SERVER = "SQL Server"
    BIGQUERY = "BigQuery"
    SNOWFLAKE = "Snowflake"
    MYSQL = "MySQL"
    SPARK = "Spark"
    SQLITE = "SQLite"
    STANDARD = "the standard"


class Same(Enum):
    """Which statement plain DuckDB runs to check what is said to be true."""

    SQL = "the question itself"


@dataclass(frozen=True)
class Spelling:
    """A question that has to be answered."""

    name: str
    style: Style
    sql: str
    truth: Callable[[Hospital], Rows]
    """All rows of the true answer, by plain Python: keys and measures, in the order in which they are selected."""
    plain: str | Same | None = Same.SQL
    """What DuckDB answers with the same rows: the question itself, another statement, or none."""
    ordered: bool = False
    """Whether the order of rows is a part of the question."""
    near: float = 0.0
    """By how much a number may differ from the truth, beside the thousandth part that each may: where numbers of other
    sizes cancel."""

    @property
    def plain_sql(self) -> str | None:
        """The statement for plain DuckDB."""
        return self.sql if isinstance(self.plain, Same) else self.plain


class Reason(Enum):
    """Why a question must be refused, and words of which one is in the refusal."""

    SHOWS_ROWS = ("the answer would show rows", "never shown", "would show", "not in GROUP BY")
    NOT_A_MEASURE = ("no answer of this kind can be private", "measures are", "never shown", "would show")
    SHOWS_UNITS = ("the answer would show a patient", "single people", "is the unit", "never shown", "would show")
    OTHERS_ROWS = ("a row would change with rows of others", "other people", "one person", "would mix")
    ACROSS_UNITS = ("rows of two patients would meet", "two units", "two people", "which rows of")
    PUBLIC = ("it is about public tables only", "is public")
    TODAY = ("no contract says which day is today", "today", "which day")
    UNKNOWN = ("there is no such name", "no column", "no table", "did you mean")
    WRITES = ("it is not one question", "only SELECT", "one statement")

    @property
    def words(self) -> tuple[str, ...]:
        """What the message has to have, at least one of them."""
        return self.value[1:]


@dataclass(frozen=True)
class Refused:
    """A question that must stay refused."""

    name: str
    style: Style
    sql: str
    reason: Reason
