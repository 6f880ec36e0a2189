"""The SQL that is read: DuckDB's, with quotes, brackets and TOP as other databases write them."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import sqlglot
from sqlglot.dialects.duckdb import DuckDB

SPECIAL = ("CAST", "TRY_CAST", "EXTRACT", "SUBSTRING", "TRIM", "POSITION")
"""Functions with a syntax of their own."""

BRACKETED = re.compile(r"\[\s*[A-Za-z_]")
"""A name in brackets, as SQL Server writes it; a list begins with a number or a text."""


class PlainCalls(DuckDB):
    """DuckDB's grammar with every function an ordinary one: sqlglot's own readers of functions drop arguments."""

    class Tokenizer(DuckDB.Tokenizer):
        """Takes backticks for quotes, and TOP for a word of the grammar."""

        IDENTIFIERS: ClassVar[list[Any]] = ['"', "`"]
        KEYWORDS: ClassVar[dict[str, Any]] = {**DuckDB.Tokenizer.KEYWORDS, "TOP": sqlglot.TokenType.TOP}

    class Parser(DuckDB.Parser):  # type: ignore[valid-type, misc]  # which is an attribute that holds a class
        """Reads a function as its name and all its arguments."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        JOINS_HAVE_EQUAL_PRECEDENCE: ClassVar[bool] = True  # so that a comma is a CROSS JOIN, and no JOIN without ON
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {name: DuckDB.Parser.FUNCTION_PARSERS[name] for name in SPECIAL}


class Bracketed(PlainCalls):
    """The same with names in brackets, where DuckDB has lists."""

    class Tokenizer(PlainCalls.Tokenizer):
        """Takes brackets for quotes."""

        IDENTIFIERS: ClassVar[list[Any]] = ['"', "`", ("[", "]")]

    class Parser(PlainCalls.Parser):
        """Reads what the other one reads."""


def dialect_of(sql: str) -> type[PlainCalls]:
    """Return the dialect that a text is written in."""
    return Bracketed if BRACKETED.search(sql) else PlainCalls
