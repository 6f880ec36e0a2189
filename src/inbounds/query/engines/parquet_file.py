"""A released table as a parquet file.  DuckDB writes it, which every server has; pyarrow would be 150 MB more."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import duckdb
from sqlglot import exp

INT64 = range(-(2**63), 2**63)

TIMES: dict[type, str] = {date: "DATE", datetime: "TIMESTAMP", time: "TIME"}
"""The types of days and times."""


def parquet_bytes(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns of equal length as a parquet file; one whose name differs in capitals only gets a number."""
    picked = ", ".join(f"unnest(CAST(? AS {_type(values)}[])) AS {_quote(name)}" for name, values in columns.items())
    arrays = [_cells(values) for values in columns.values()]
    with tempfile.TemporaryDirectory(prefix="inbounds-parquet-") as folder, duckdb.connect() as connection:
        file = Path(folder, "answer.parquet")
        connection.execute("SET threads = 1")
        connection.execute(f"COPY (SELECT {picked}) TO ? (FORMAT parquet)", [*arrays, str(file)])
        return file.read_bytes()


def _quote(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("duckdb")


def _type(values: Sequence[Any]) -> str:
    """Return the type of a column; integers beyond 64 bits become doubles, values of several kinds become texts."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool}:
        return "BOOLEAN"
    if kinds == {int}:
        return "BIGINT" if all(value in INT64 for value in values if value is not None) else "DOUBLE"
    if kinds <= {int, float}:
        return "DOUBLE"
    (kind,) = kinds if len(kinds) == 1 else (str,)
    return TIMES.get(kind, "VARCHAR")


def _cells(values: Sequence[Any]) -> list[Any]:
    """Return the values of a column as its type has them."""
    kind = _type(values)
    if kind == "DOUBLE":
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values] if kind == "VARCHAR" else list(values)
