"""Tables of a report in DuckDB, which writes its own files and parquet, and reads them back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from typing import Any

from inbounds.errors import InvalidParameter
from inbounds.publish.destinations.sheet import Kind, Sheet

TYPES = {
    Kind.WHOLE: "BIGINT",
    Kind.WIDE: "DECIMAL(38, 0)",
    Kind.NUMBER: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.TRUTH: "BOOLEAN",
    Kind.DAY: "DATE",
    Kind.MOMENT: "TIMESTAMP",
    Kind.CLOCK: "TIME",
}

SAFE = {"enable_external_access": "false"}
"""A file of somebody else may not make us read other files."""


def duckdb_or_error() -> Any:
    """Return DuckDB."""
    try:
        import duckdb  # noqa: PLC0415  only for its own files and for parquet
    except ImportError:
        raise ImportError(
            "DuckDB and parquet files need DuckDB, which is not installed: pip install 'inbounds[query]'"
        ) from None
    return duckdb


def create_table(connection: Any, sheet: Sheet) -> None:
    """Create a table, and fill it."""
    kinds = {column.name: TYPES[column.kind] for column in sheet.columns}
    fill_table(connection, sheet.name, kinds, [list(column.cells) for column in sheet.columns])


def create_facts(connection: Any, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Create a table of facts, which all have the same names."""
    columns = {fact: [row[fact] for row in rows] for fact in rows[0]}
    kinds = {fact: _kind_of_facts(cells) for fact, cells in columns.items()}
    fill_table(connection, name, kinds, list(columns.values()))


def fill_table(connection: Any, name: str, kinds: Mapping[str, str], columns: Sequence[Sequence[Any]]) -> None:
    """Create a table, and fill it by columns: of thousands of rows in a moment."""
    columns = [list(cells) for cells in columns]
    fields = ", ".join(f"{quote(column)} {kind}" for column, kind in kinds.items())
    connection.execute(f"CREATE TABLE {quote(name)} ({fields})")
    lists = ", ".join(f"unnest(?::{kind}[])" for kind in kinds.values())
    connection.execute(f"INSERT INTO {quote(name)} SELECT {lists}", columns)


def _kind_of_facts(cells: Sequence[Any]) -> str:
    types = {type(cell) for cell in cells if cell is not None}
    return {bool: "BOOLEAN", float: "DOUBLE", date: "DATE"}.get(next(iter(types), str), "VARCHAR")


def fetch(connection: Any, source: str, parameters: Sequence[Any] = ()) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the names and the rows of what stands after FROM."""
    done = connection.execute(f"SELECT * FROM {source}", list(parameters))
    return [column[0] for column in done.description], done.fetchall()


def quote(name: str) -> str:
    """Write a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Write a text as SQL has it, where no parameter can be."""
    return "'" + text.replace("'", "''").replace("\0", "\N{SYMBOL FOR NULL}") + "'"


@contextmanager
def refusing(called: str, doing: str) -> Iterator[None]:
    """Say in our own words that DuckDB could not do something."""
    duckdb = duckdb_or_error()
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise MemoryError from None
    except duckdb.Error as problem:
        raise InvalidParameter(
            f"{called!r} cannot be {doing} ({type(problem).__name__}); close what uses it, check the disk, "
            "and try again"
        ) from None
