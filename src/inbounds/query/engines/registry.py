"""Which engine reads a source, by how the source is written; drivers are imported when they are needed."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from inbounds.ledger.values.address import is_address, is_server
from inbounds.query.contract.csv_format import CSV_ENDINGS


@dataclass(frozen=True)
class SourceKind:
    """A kind of source: the engine that reads it, and how its name ends, if it is a file."""

    engine_name: str
    endings: tuple[str, ...] = ()

    @property
    def engine(self) -> Any:
        """The module of its engine."""
        return engine_module(self.engine_name)


SPARK = SourceKind("spark")
POSTGRES = SourceKind("postgres")
DUCKDB_FILE = SourceKind("duckdb", (".duckdb", ".db", ".ddb"))
CSV = SourceKind("duckdb", CSV_ENDINGS)
PARQUET = SourceKind("duckdb", (".parquet", ".pq"))


def source_kind(source: str) -> SourceKind | None:
    """Return what a source is, None if nothing here reads it."""
    if source == "spark":
        return SPARK
    if is_server(source):
        return POSTGRES
    if is_address(source) and "://" not in source:
        return None
    return next((kind for kind in (DUCKDB_FILE, CSV, PARQUET) if source.lower().endswith(kind.endings)), None)


def engine_module(name: str) -> Any:
    """Return a module of this package, whose driver may not be installed."""
    return importlib.import_module(f"inbounds.query.engines.{name}")
