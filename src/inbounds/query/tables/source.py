"""Where a table is: from what the contract says to the engine that reads it."""

from __future__ import annotations

import importlib
from glob import escape
from pathlib import Path
from typing import Any

from inbounds.errors import InvalidContract
from inbounds.exact.rational import shown
from inbounds.ledger.values.address import HIDDEN, is_address, is_server, without_secrets
from inbounds.query.columns.column import Column
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.csv_format import CSV_ENDINGS, CsvForm
from inbounds.query.engines.engine import Engine
from inbounds.query.tables.table import Table

DUCKDB_ENDINGS = (".duckdb", ".db", ".ddb")

_RULE = (
    "source must be a .parquet or .csv path or glob, a .duckdb file, a postgresql:// address, or 'spark', got {}; "
    "rename or convert it"
)


def open_source(contract: Contract, table: Table, *, frame: Any = None, spark: Any = None) -> Engine:
    """Return the engine for a contract's source; drivers are imported only when they are needed."""
    if frame is not None:
        return _engine("duckdb").DuckDB.of_frame(frame, _wanted(table))
    try:
        return _opened(contract, table, spark)
    except InvalidContract as problem:
        if str(problem).startswith(contract.name):
            raise
        raise contract.refuse(str(problem), "dataset", "source") from None


def _opened(contract: Contract, table: Table, spark: Any) -> Engine:
    source = contract.text_of("dataset", "source")
    if source == "spark":
        if spark is None:
            raise contract.refuse(
                "a source in Spark needs a session; ask from Python, with the session that has the table (spark)",
                "dataset",
                "source",
            )
        return _engine("spark").Spark(spark, contract.text_of("dataset", "table"))
    if is_server(source):
        return _engine("postgres").Postgres(source, contract.text_of("dataset", "table"))
    if is_address(source) and "://" not in source:
        raise contract.refuse(_RULE.format(HIDDEN), "dataset", "source")
    path = source if "://" in source else _path(contract.folder, source)
    lowered = source.lower()
    if lowered.endswith(DUCKDB_ENDINGS):
        return _engine("duckdb").DuckDB.of_file(path, contract.text_of("dataset", "table"))
    if lowered.endswith(CSV_ENDINGS):
        return _engine("duckdb").DuckDB.of_csv(path, _wanted(table), CsvForm.of(contract, lowered))
    if lowered.endswith((".parquet", ".pq")):
        return _engine("duckdb").DuckDB.of_parquet(path, _wanted(table))
    raise contract.refuse(_RULE.format(shown(without_secrets(source))), "dataset", "source")


def _engine(name: str) -> Any:
    return importlib.import_module(f"inbounds.query.engines.{name}")


def _path(folder: Path, source: str) -> str:
    """Return a pattern of files; the folder of the contract is no pattern."""
    given = Path(source).expanduser()
    return str(given) if given.is_absolute() else str(Path(escape(str(folder))) / given)


def _wanted(table: Table) -> dict[str, Column | None]:
    """Return the columns to read, and None for what tells units apart."""
    unit = {} if table.rows_are_units else {table.unit: None}
    return {**table.stored, **unit}
