"""Where a table is: from what the contract says to the engine that reads it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from glob import escape, glob
from pathlib import Path
from typing import Any

from inbounds.errors import InvalidContract
from inbounds.exact.rational import shown
from inbounds.ledger.values.address import HIDDEN, distinct_place, is_address, without_secrets
from inbounds.query.columns.column import Column, Keys
from inbounds.query.contract.contract import Contract, dotted
from inbounds.query.contract.csv_format import CsvForm
from inbounds.query.engines.engine import Engine
from inbounds.query.engines.registry import (
    CSV,
    PARQUET,
    SPARK,
    SQLITE,
    WRITTEN,
    SourceKind,
    engine_module,
    kind_at,
    source_kind,
)
from inbounds.query.tables.table import Table

_RULE = f"source must be {', '.join(WRITTEN)}, or 'spark', got {{}}; rename or convert it"


def open_source(contract: Contract, table: Table, *, frame: Any = None, spark: Any = None) -> Engine:
    """Return the engine for a contract's source; drivers are imported only when they are needed."""
    if frame is not None:
        return engine_module("duckdb").DuckDB.of_frame(frame, _columns_to_read(table))
    return _open_or_refuse(contract, table, spark)


def open_public(contract: Contract, spark: Any = None) -> Engine:
    """Return the engine for a public table, whose columns are what they are there."""
    return _open_or_refuse(contract, None, spark)


def _open_or_refuse(contract: Contract, table: Table | None, spark: Any) -> Engine:
    try:
        engine = _open(contract, table, spark)
        engine.kinds()  # which engines remember, and refuse if there is nothing that they can read
    except InvalidContract as problem:
        if str(problem).startswith(contract.name):
            raise
        name = contract.at[-1] if contract.at else contract.text_of("dataset", "name")
        raise contract.refuse(f"table {name!r}: {problem}", "dataset", "source") from None
    return engine


def find_kind(contract: Contract) -> SourceKind:
    """Return what the source of a contract is."""
    source = contract.text_of("dataset", "source")
    kind = source_kind(source)
    if kind is None:
        hidden = is_address(source) and "://" not in source
        raise contract.refuse(_RULE.format(HIDDEN if hidden else shown(without_secrets(source))), "dataset", "source")
    return kind


def path_of(contract: Contract) -> str:
    """Return where the source of a contract is: an address, or a pattern of files."""
    source = contract.text_of("dataset", "source")
    return source if "://" in source else _path(contract.folder, source)


def refuse_shared(parts: Mapping[str, Contract], public: Collection[str]) -> None:
    """Refuse a public table that is where a private one is: whoever reads the one reads the other."""
    private = {name: _places(part) for name, part in parts.items() if name not in public}
    for name in public:
        part, places = parts[name], _places(parts[name])
        of_both = next((other for other, theirs in private.items() if places & theirs), None)
        if of_both is not None:
            raise part.refuse(
                f"the public table {name!r} is where the private table {of_both!r} is, so nothing in it is protected; "
                "give it a source of its own, or leave out public = true",
                "dataset",
                "source",
            )


def _places(contract: Contract) -> set[tuple[str, ...]]:
    """Return the files that a source names now, or the table of a database."""
    source = contract.value("dataset", "source") if contract.has("dataset", "source") else None
    kind = source_kind(source) if isinstance(source, str) else None
    if kind is None:
        return set()
    table = str(contract.value("dataset", "table")) if contract.has("dataset", "table") else ""
    names = dotted(table.casefold()) or (table,)
    usual = names[1:] if names[:1] in (("main",), ("public",)) and len(names) > 1 else names
    path = path_of(contract)
    files = [] if "://" in path else [str(Path(file).resolve()) for file in glob(path, recursive=True)]
    return {(file, *usual) for file in files or [distinct_place(path)]}


def _open(contract: Contract, table: Table | None, spark: Any) -> Engine:
    """Open a source, as the contract describes a table of it or, without one, as it is."""
    kind = find_kind(contract)
    if kind == SPARK and spark is None:
        raise contract.refuse(
            "a source in Spark needs a session; ask from Python, with the session that has the table (spark)",
            "dataset",
            "source",
        )
    if kind.database is not None and (kind := kind_at(kind, path_of(contract))) != SQLITE:
        return kind.open_table(path_of(contract), contract.text_of("dataset", "table"))
    openers: dict[SourceKind, Callable[[], Engine]] = {
        SPARK: lambda: kind.engine.Spark(spark, contract.text_of("dataset", "table")),
        SQLITE: lambda: _open_sqlite(contract, kind, table),
        CSV: lambda: _open_csv(contract, kind, table),
        PARQUET: lambda: kind.engine.DuckDB.of_parquet(
            path_of(contract), None if table is None else _columns_to_read(table)
        ),
    }
    return openers[kind]()


def _open_sqlite(contract: Contract, kind: SourceKind, table: Table | None) -> Engine:
    if table is None:
        raise contract.refuse(
            "a public table cannot be in SQLite, whose columns have no types; export it to csv or parquet",
            "dataset",
            "source",
        )
    engine: Engine = kind.engine.SQLite(
        path_of(contract), contract.text_of("dataset", "table"), _columns_to_read(table)
    )
    return engine


def _open_csv(contract: Contract, kind: SourceKind, table: Table | None) -> Engine:
    form = CsvForm.of(contract, contract.text_of("dataset", "source").lower())
    if table is None:
        opened: Engine = kind.engine.DuckDB.of_public_csv(path_of(contract), form)
        return opened
    engine: Engine = kind.engine.DuckDB.of_csv(path_of(contract), _columns_to_read(table), form)
    return engine


def _path(folder: Path, source: str) -> str:
    """Return a pattern of files; the folder of the contract is no pattern."""
    path = Path(source).expanduser()
    return str(path) if path.is_absolute() else str(Path(escape(str(folder))) / path)


def _columns_to_read(table: Table) -> dict[str, Column | None]:
    """Return the columns to read: what tells rows apart as text (None), or as whole numbers, of which any will do."""
    unit = [] if table.rows_are_units or table.parent is not None else [table.unit]
    raws = {name: Keys(name, (0,)) if name in table.whole else None for name in (*table.identifiers, *unit)}
    return {**table.stored, **raws}
