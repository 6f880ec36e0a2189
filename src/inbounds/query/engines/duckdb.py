"""DuckDB, in process: parquet and csv files, DuckDB files, and data frames."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from glob import glob
from typing import Any

from sqlglot import exp

from inbounds.errors import OVERTIME, EngineFailed, InvalidContract
from inbounds.ledger.address import without_secrets
from inbounds.query.column import Column
from inbounds.query.engines.csv_lines import lines, unconverted
from inbounds.query.engines.engine import Dialect, Engine, Fields, Kind
from inbounds.query.engines.frames import readable
from inbounds.query.engines.overtime import interrupting

try:
    import duckdb
except ImportError:
    raise ImportError("questions to tables need DuckDB: pip install 'inbounds[query]'") from None

KINDS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), Kind.INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.FLOAT),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.TIMESTAMP),
    "VARCHAR": Kind.TEXT,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "UUID": Kind.UUID,
    '"NULL"': Kind.NOTHING,
}


EXACT_DIGITS = 15
"""Decimals of so many digits are quotients of two doubles, and so converted by one rounding."""


class DuckDialect(Dialect):
    """How DuckDB writes what engines do not share."""

    name = "duckdb"

    def small(self, value: exp.Expr, most: int) -> exp.Expr:
        """Return a small integer in a byte if it fits: grouping by a byte needs no hash table."""
        kind = "UTINYINT" if most <= 256 else "USMALLINT"
        return exp.TryCast(this=value, to=exp.DataType.build(kind, dialect="duckdb"))

    def as_double(self, value: exp.Expr, kind: Kind) -> exp.Expr:
        """Return a number as a double; a wide decimal by way of text, so that it is rounded once."""
        if kind is Kind.WIDE_DECIMAL:
            return exp.cast(exp.cast(value.copy(), "VARCHAR"), "DOUBLE")
        return super().as_double(value, kind)

    def bytes_of(self, value: exp.Expr) -> exp.Expr:
        """Return the bytes of a text."""
        return exp.Anonymous(this="ENCODE", expressions=[exp.cast(value.copy(), "VARCHAR")])

    def part_of_day(self, name: str, day: exp.Expr) -> exp.Expr:
        """Return a part of a day, an integer of 64 bits: by its function, which takes half as long as EXTRACT."""
        return exp.Anonymous(this="DAYOFYEAR" if name == "DOY" else name, expressions=[day.copy()])

    def as_timestamp(self, value: exp.Expr) -> exp.Expr:
        """Return a timestamp in microseconds: no date is beyond those, and in nanoseconds most are."""
        return exp.TryCast(this=value.copy(), to=exp.DataType.build("TIMESTAMP", dialect="duckdb"))


class DuckDB(Engine):
    """A table that DuckDB can read."""

    dialect = DuckDialect()

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, relation: exp.Expr, frame: Any = None, path: str | None = None
    ) -> None:
        self._connection = connection
        self._relation = relation
        self._frame = frame
        self._path = path
        self._kinds: dict[str, Kind] | None = None
        self._fields: Fields | None = None
        self._has_collations = True
        """Whether a text may be compared other than by its bytes: in files of rows none is."""

    @classmethod
    def of_parquet(cls, pattern: str) -> DuckDB:
        """Open the parquet files that a pattern names."""
        _refuse_nothing(pattern)
        options = {
            "union_by_name": exp.true(),  # and by their common type
            "hive_partitioning": exp.false(),  # a folder named age=5 says nothing about the rows
        }
        given = [exp.EQ(this=exp.to_identifier(name), expression=value) for name, value in options.items()]
        read = exp.Anonymous(this="read_parquet", expressions=[exp.Literal.string(pattern), *given])
        engine = cls(_connect(), exp.Table(this=read))
        engine._has_collations = False
        return engine

    @classmethod
    def of_csv(cls, pattern: str, columns: Mapping[str, Column], delimiter: str) -> DuckDB:
        """Open the csv files that a pattern names; nothing is guessed from their rows."""
        files = _refuse_nothing(pattern)
        engine = cls(_connect(), lines(pattern, files, columns, delimiter))
        engine._fields = unconverted(pattern, files, delimiter)
        engine._has_collations = False
        return engine

    @classmethod
    def of_file(cls, path: str, table: str) -> DuckDB:
        """Open a table of a DuckDB file, for reading only."""
        _refuse_nothing(path)
        try:
            connection = duckdb.connect(path, read_only=True)
        except duckdb.Error as problem:
            raise InvalidContract(
                f"cannot open {without_secrets(path)} as a DuckDB file ({type(problem).__name__}); check that it is one"
            ) from None
        return cls(connection, exp.to_table(table, dialect="duckdb"), path=path)

    @classmethod
    def of_frame(cls, frame: Any) -> DuckDB:
        """Read a pandas, polars or Arrow table where it is."""
        connection = _connect()
        connection.execute("SET GLOBAL pandas_analyze_sample = 0")  # types are not to be guessed from rows
        try:
            engine = cls(connection, exp.to_table("frame"), readable(frame))
            engine._cursor()
        except (duckdb.Error, TypeError, ImportError) as problem:
            got = f"{type(frame).__name__} ({type(problem).__name__})"
            raise InvalidContract(f"a frame must be a pandas, polars or Arrow table, got {got}; convert it") from None
        return engine

    def kinds(self) -> dict[str, Kind]:
        """Return what each column holds."""
        if self._kinds is None:
            described = exp.select("*").from_(self._relation).sql(dialect="duckdb")
            try:
                rows = self._cursor().execute(f"DESCRIBE {described}").fetchall()
            except duckdb.Error as problem:
                raise InvalidContract(
                    f"cannot read the source ({type(problem).__name__}); check source and table"
                ) from None
            self._kinds = {name: _kind(kind) for name, kind, *_ in rows}
        return self._kinds

    def relation(self) -> exp.Expr:
        """Return what to select from."""
        return self._relation.copy()

    def bytes_of(self, value: exp.Expr) -> exp.Expr:
        """Return a text that is compared by its bytes, as it is unless it may have a collation."""
        return super().bytes_of(value) if self._has_collations else exp.cast(value.copy(), "VARCHAR")

    def fields(self) -> Fields | None:
        """Return the lines of csv files before they are converted."""
        return self._fields

    def reads(self, other: Engine) -> bool:
        """Return whether a statement here can read the other table: a file of rows, or a table of the same database."""
        return isinstance(other, DuckDB) and other._frame is None and other._path in (None, self._path)

    def run(self, statement: str) -> list[tuple[int, ...]]:
        """Return the rows of a statement."""
        overtime = False
        try:
            cursor = self._cursor()
            with interrupting(cursor.interrupt, self.statement_seconds) as stopped:
                try:
                    return cursor.execute(statement).fetchall()
                finally:
                    overtime = stopped()
        except duckdb.Error as problem:
            failure = OVERTIME if overtime else type(problem).__name__
        raise EngineFailed(failure)  # out here, where the driver's message is forgotten

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a cursor of its own for each statement, so that threads do not meet; a frame is seen by one only."""
        cursor = self._connection.cursor()
        return cursor if self._frame is None else cursor.register("frame", self._frame)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _connect() -> duckdb.DuckDBPyConnection:
    """Connect to a database in memory; what does not fit there goes where other temporary files are."""
    return duckdb.connect(":memory:", config={"temp_directory": tempfile.gettempdir()})


def _refuse_nothing(pattern: str) -> list[str]:
    if "://" in pattern:
        return [pattern]
    found = glob(pattern, recursive=True)
    if not found:
        raise InvalidContract(f"no file at {without_secrets(pattern)}; a source is relative to the contract's folder")
    return found


def _kind(name: str) -> Kind:
    if name.startswith("DECIMAL("):
        return Kind.DECIMAL if int(name[8:].split(",", 1)[0]) <= EXACT_DIGITS else Kind.WIDE_DECIMAL
    if name.startswith("ENUM"):
        return Kind.TEXT
    return KINDS.get(name, Kind.OTHER)
