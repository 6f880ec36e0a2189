"""SQLite files, through Python's own driver; what is in them is added up by DuckDB.

A column of SQLite has no type: any row may hold a text where a number is declared, and a sum that is too great makes a
statement fail.  So no statement runs there.  The columns of the contract are read row by row as Python objects of a
frame are (`object_text`), which no value can make fail, and copied into memory for each statement.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from sqlglot import exp

from inbounds.errors import OVERTIME, EngineFailed, InvalidContract
from inbounds.query.engines.duckdb import DuckDB, connect_to_memory
from inbounds.query.engines.engine import Engine, Kind
from inbounds.query.engines.frames import Wanted
from inbounds.query.engines.object_text import object_text
from inbounds.query.engines.timeout import interrupting

ROWS = "sqlite_rows"
"""What the copy is called in a statement."""

CHUNK = 100_000
"""So many rows are copied at a time."""

PATIENCE = 20
"""Seconds to wait for somebody who is writing the file."""


class SQLite(DuckDB):
    """A table of a SQLite file."""

    is_alone = True

    def __init__(self, path: str, table: str, wanted: Wanted) -> None:
        super().__init__(connect_to_memory(), exp.to_table(ROWS), wanted=wanted)
        self._file = _find(path)
        self._table = exp.to_table(table, dialect="sqlite")

    @cached_property
    def _columns(self) -> list[dict[str, Kind]]:
        """The columns of the table; what they are declared to hold says nothing about their rows."""
        statement = exp.select("*").from_(self._table.copy()).limit(0).sql(dialect="sqlite")
        try:
            with _open(self._file) as file:
                description = file.execute(statement).description or ()
        except sqlite3.Error as problem:
            raise InvalidContract(
                f"the table in the SQLite file cannot be read ({type(problem).__name__}); check source and table"
            ) from None
        return [dict.fromkeys((name for name, *_ in description), Kind.OTHER)]

    @property
    def names(self) -> list[str]:
        """What the columns are called."""
        return list(self._columns[0])

    def reads(self, other: Engine) -> bool:
        """Return whether a statement here can read the other table: only its own was copied."""
        return other is self

    def run(self, statement: str) -> list[tuple[int, ...]]:
        overtime = False
        try:
            with _open(self._file) as file, closing(self._connection.cursor()) as cursor:

                def interrupt() -> None:
                    with suppress(sqlite3.ProgrammingError):  # of a file that was just closed
                        file.interrupt()
                    cursor.interrupt()

                with interrupting(interrupt, self.statement_seconds) as stopped:
                    try:
                        self._copy(file, cursor)
                        return cursor.execute(statement).fetchall()
                    finally:
                        overtime = stopped()
        except (sqlite3.Error, duckdb.Error) as problem:
            failure = OVERTIME if overtime else type(problem).__name__
        raise EngineFailed(failure)  # out here, where the driver's message is forgotten

    def _copy(self, file: sqlite3.Connection, cursor: Any) -> None:
        """Copy the columns of the contract, as texts."""
        assert self._wanted is not None
        names = [name for name in self._wanted if name in self._columns[0]]
        identifiers = [exp.to_identifier(name, quoted=True) for name in names]
        selected = exp.select(*map(exp.column, identifiers)) if names else exp.select("1")
        rows = file.execute(selected.from_(self._table.copy()).sql(dialect="sqlite"))
        columns = [f"{identifier.sql(dialect='duckdb')} VARCHAR" for identifier in identifiers]
        cursor.execute(f"CREATE TEMP TABLE {ROWS} ({', '.join(columns or ['nothing VARCHAR'])})")
        specs = [self._wanted[name] for name in names]
        while chunk := rows.fetchmany(CHUNK):
            values = zip(*chunk, strict=True)
            texts = [
                [object_text(value, spec) for value in column] for spec, column in zip(specs, values, strict=False)
            ]
            arrays = [np.array(column, dtype=object) for column in texts or [[None] * len(chunk)]]
            cursor.register("chunk", {f"c{place}": array for place, array in enumerate(arrays)})
            cursor.execute(f"INSERT INTO {ROWS} SELECT * FROM chunk")
            cursor.unregister("chunk")


def column_names(path: str, table: str) -> list[str]:
    """Return what the columns of a table are called."""
    with closing(SQLite(path, table, {})) as engine:
        return engine.names


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file for reading only; a text that is none comes as its bytes."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=PATIENCE)) as file:
        file.text_factory = _read_text
        yield file


def _read_text(stored: bytes) -> str | bytes:
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored


def _find(pattern: str) -> Path:
    """Return the file that a source names."""
    files = glob(pattern)
    if len(files) != 1:
        raise InvalidContract(f"a SQLite source must be one file, got {len(files)}; name the file")
    return Path(files[0])
