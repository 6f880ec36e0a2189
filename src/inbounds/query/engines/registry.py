"""Which engine reads a source, by how the source is written; drivers are imported when they are needed."""

from __future__ import annotations

import importlib
from contextlib import suppress
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from inbounds.ledger.values.address import is_address, is_server
from inbounds.query.contract.csv_format import CSV_ENDINGS
from inbounds.query.engines.engine import Engine


@dataclass(frozen=True)
class SourceKind:
    """A kind of source: the engine that reads it, how its name ends, if it is a file, and what its tables are in."""

    engine_name: str
    endings: tuple[str, ...] = ()
    database: str | None = None
    """What a message calls it, if it holds tables by their names, which `open_table` of the engine's module opens."""
    password_place: str | None = None
    """Where the password of a server is kept, since a contract is public; None for what is no server."""

    @property
    def engine(self) -> Any:
        """The module of its engine."""
        return engine_module(self.engine_name)

    def open_table(self, source: str, table: str) -> Engine:
        """Open a table of a database."""
        opened: Engine = self.engine.open_table(source, table)
        return opened


SPARK = SourceKind("spark")
POSTGRES = SourceKind("postgres", database="a table in PostgreSQL", password_place="PGPASSWORD or ~/.pgpass")
CLICKHOUSE = SourceKind("clickhouse", database="a table in ClickHouse", password_place="CLICKHOUSE_PASSWORD")
DUCKDB_FILE = SourceKind("duckdb", (".duckdb", ".db", ".ddb"), "a DuckDB file")
SQLITE = SourceKind("sqlite", (".sqlite", ".sqlite3"), "a SQLite file")
CSV = SourceKind("duckdb", CSV_ENDINGS)
PARQUET = SourceKind("duckdb", (".parquet", ".pq"))

FILES = (DUCKDB_FILE, SQLITE, CSV, PARQUET)
SQLITE_START = b"SQLite format 3\0"
"""How every SQLite file begins, whatever it is called."""
CLICKHOUSE_ADDRESSES = ("clickhouse://", "clickhouses://")
WRITTEN = ("a .parquet or .csv path or glob", "a .duckdb or .sqlite file", "a postgresql:// or clickhouse:// address")
"""How sources are written, in the words of a refusal; one in Spark needs a session, and so is only for Python."""


def source_kind(source: str) -> SourceKind | None:
    """Return what a source is, None if nothing here reads it."""
    if source == "spark":
        return SPARK
    if is_server(source):
        return POSTGRES
    if source.startswith(CLICKHOUSE_ADDRESSES):
        return CLICKHOUSE
    if is_address(source) and "://" not in source:
        return None
    return next((kind for kind in FILES if source.lower().endswith(kind.endings)), None)


def kind_at(kind: SourceKind, path: str) -> SourceKind:
    """Return what a file is that may be of two kinds by its name: `.db` is the ending of either database."""
    files = glob(path) if kind == DUCKDB_FILE else []
    for file in files:
        with suppress(OSError), Path(file).open("rb") as opened:
            if opened.read(len(SQLITE_START)) == SQLITE_START:
                return SQLITE
    return kind


def engine_module(name: str) -> Any:
    """Return a module of this package, whose driver may not be installed."""
    return importlib.import_module(f"inbounds.query.engines.{name}")
