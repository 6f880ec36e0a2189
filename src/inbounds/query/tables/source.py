"""Where a table is: from what the contract says to the engine that reads it."""

from __future__ import annotations

from collections.abc import Callable
from glob import escape
from pathlib import Path
from typing import Any

from inbounds.errors import InvalidContract
from inbounds.exact.rational import shown
from inbounds.ledger.values.address import HIDDEN, is_address, without_secrets
from inbounds.query.columns.column import Column
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.csv_format import CsvForm
from inbounds.query.engines.engine import Engine
from inbounds.query.engines.registry import CSV, PARQUET, SPARK, WRITTEN, SourceKind, engine_module, source_kind
from inbounds.query.tables.table import Table

_RULE = f"source must be {', '.join(WRITTEN)}, or 'spark', got {{}}; rename or convert it"


def open_source(contract: Contract, table: Table, *, frame: Any = None, spark: Any = None) -> Engine:
    """Return the engine for a contract's source; drivers are imported only when they are needed."""
    if frame is not None:
        return engine_module("duckdb").DuckDB.of_frame(frame, _columns_to_read(table))
    try:
        return _open(contract, table, spark)
    except InvalidContract as problem:
        if str(problem).startswith(contract.name):
            raise
        raise contract.refuse(str(problem), "dataset", "source") from None


def _open(contract: Contract, table: Table, spark: Any) -> Engine:
    source = contract.text_of("dataset", "source")
    kind = source_kind(source)
    if kind is None:
        hidden = is_address(source) and "://" not in source
        raise contract.refuse(_RULE.format(HIDDEN if hidden else shown(without_secrets(source))), "dataset", "source")
    if kind == SPARK and spark is None:
        raise contract.refuse(
            "a source in Spark needs a session; ask from Python, with the session that has the table (spark)",
            "dataset",
            "source",
        )

    def path() -> str:
        return source if "://" in source else _path(contract.folder, source)

    if kind.database is not None:
        return kind.open_table(path(), contract.text_of("dataset", "table"))
    openers: dict[SourceKind, Callable[[], Engine]] = {
        SPARK: lambda: kind.engine.Spark(spark, contract.text_of("dataset", "table")),
        CSV: lambda: kind.engine.DuckDB.of_csv(path(), _columns_to_read(table), CsvForm.of(contract, source.lower())),
        PARQUET: lambda: kind.engine.DuckDB.of_parquet(path(), _columns_to_read(table)),
    }
    return openers[kind]()


def _path(folder: Path, source: str) -> str:
    """Return a pattern of files; the folder of the contract is no pattern."""
    path = Path(source).expanduser()
    return str(path) if path.is_absolute() else str(Path(escape(str(folder))) / path)


def _columns_to_read(table: Table) -> dict[str, Column | None]:
    """Return the columns to read, and None for what tells units apart."""
    unit = {} if table.rows_are_units else {table.unit: None}
    return {**table.stored, **unit}
