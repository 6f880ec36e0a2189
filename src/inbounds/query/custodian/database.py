"""The tables of a folder or a database that have no contract yet: names, types and what is declared; no row is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path, PurePath

from inbounds.errors import InvalidContract, InvalidParameter
from inbounds.ledger.values.address import without_secrets
from inbounds.query.custodian.schema import Schema, path_of
from inbounds.query.engines.catalogue import DeclaredTable, Reference
from inbounds.query.engines.registry import CSV, DUCKDB_FILE, PARQUET, POSTGRES, kind_at, source_kind


@dataclass(frozen=True)
class Database:
    """Tables by the names that a contract gives them, and what is declared of them."""

    tables: Mapping[str, Schema]
    keys: Mapping[str, tuple[tuple[str, ...], ...]]
    """Columns that no two rows share, the primary key first."""
    references: Mapping[str, tuple[Reference, ...]]
    """Columns that hold the values of other tables, which are called as here."""

    @staticmethod
    def is_at(source: str, table: str | None) -> bool:
        """Return whether a source, of which no table is named, may have several that one statement can read."""
        kind = source_kind(source)
        is_database = kind in (DUCKDB_FILE, POSTGRES) and kind == kind_at(kind, path_of(source))
        return table is None and (_is_folder(source) or is_database)

    @classmethod
    def read(
        cls,
        source: str,
        *,
        schema: str | None = None,
        delimiter: str | None = None,
        folder: Path | None = None,
        look: bool = False,
    ) -> Database:
        """Read the names and types of all tables; `folder` is where the contract will be, if not here.

        `schema` is the one in a database, if it is not the usual one; the rest is as for a `Schema`.
        """
        if _is_folder(source):
            if schema is not None:
                raise InvalidParameter("a schema is for databases only, and this is a folder; leave it out")
            return _of_folder(source, delimiter, folder, look=look)
        kind = source_kind(source)
        assert kind is not None
        if look:
            raise InvalidParameter("look is for csv files only, because other tables have types; leave look out")
        declared: list[DeclaredTable] = kind.engine.list_tables(path_of(source), schema)
        if not declared:
            where = "the usual schema" if schema is None else f"the schema {schema}"
            raise InvalidContract(
                f"{without_secrets(source)} has no table in {where}; check the address, or name a schema"
            )
        names = dict(zip((table.name for table in declared), _distinct(table.name for table in declared), strict=True))
        return cls(
            {names[table.name]: Schema.read(source, table=table.written, folder=folder) for table in declared},
            {names[table.name]: table.keys for table in declared},
            {
                names[table.name]: tuple(
                    replace(reference, table=names[reference.table])
                    for reference in table.references
                    if reference.table in names
                )
                for table in declared
            },
        )


def _of_folder(source: str, delimiter: str | None, folder: Path | None, *, look: bool) -> Database:
    """Return the files of a folder, each of which is a table."""
    files = sorted(
        path.name
        for path in Path(path_of(source)).iterdir()
        if path.is_file() and not path.name.startswith(".") and _is_table(path.name)
    )
    if not files:
        raise InvalidContract(f"no parquet or csv file in the folder {source}; name a folder that holds tables")
    if look and not any(source_kind(file) == CSV for file in files):
        raise InvalidParameter("look is for csv files only, because other tables have types; leave look out")
    tables = {}
    for name, file in zip(_distinct(PurePath(file).name.partition(".")[0] for file in files), files, strict=True):
        is_csv = source_kind(file) == CSV
        place = str(PurePath(escape(source)) / escape(file))  # a source is a pattern, and this one names a single file
        given = delimiter if is_csv else None
        tables[name] = Schema.read(place, delimiter=given, folder=folder, look=look and is_csv)
    return Database(tables, dict.fromkeys(tables, ()), dict.fromkeys(tables, ()))


def _is_folder(source: str) -> bool:
    return "://" not in source and Path(path_of(source)).is_dir()


def _is_table(file: str) -> bool:
    """Return whether a file is a table; a .txt file may be anything, and its first line no header."""
    return source_kind(file) in (CSV, PARQUET) and ".txt" not in file.lower()


def _distinct(labels: Iterable[str]) -> list[str]:
    """Return names for a contract and for SQL, each another."""
    names: list[str] = []
    for label in labels:
        name = plain = re.sub(r"\W+", "_", label).strip("_") or "data"
        number = 2
        while name.casefold() in map(str.casefold, names):  # SQL does not tell them apart
            name, number = f"{plain}_{number}", number + 1
        names.append(name)
    return names
