"""DuckDB, in process: parquet and csv files, DuckDB files, and data frames."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping
from glob import glob
from pathlib import Path
from typing import Any

from sqlglot import exp

from inbounds.errors import EngineFailed, InvalidContract
from inbounds.query.column import Column, Keys
from inbounds.query.engines.engine import Dialect, Engine, Kind

try:
    import duckdb
except ImportError:
    raise ImportError("questions to tables need DuckDB: pip install 'inbounds[query]'") from None

KINDS = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), Kind.INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.FLOAT),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.TIMESTAMP),
    "VARCHAR": Kind.TEXT,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "UUID": Kind.UUID,
}


EXACT_DIGITS = 15
"""Decimals of so many digits are quotients of two doubles, and so converted by one rounding."""


class DuckDialect(Dialect):
    """How DuckDB writes what engines do not share."""

    name = "duckdb"

    def as_double(self, value: exp.Expr, kind: Kind) -> exp.Expr:
        """Return a number as a double; a wide decimal by way of text, so that it is rounded once."""
        if kind is Kind.WIDE_DECIMAL:
            return exp.cast(exp.cast(value.copy(), "VARCHAR"), "DOUBLE")
        return super().as_double(value, kind)


class DuckDB(Engine):
    """A table that DuckDB can read."""

    dialect = DuckDialect()

    def __init__(self, connection: duckdb.DuckDBPyConnection, relation: exp.Expr) -> None:
        self._connection = connection
        self._relation = relation
        self._kinds: dict[str, Kind] | None = None

    @classmethod
    def of_parquet(cls, pattern: str) -> DuckDB:
        """Open the parquet files that a pattern names."""
        _refuse_nothing(pattern)
        return cls(_connect(), _call("read_parquet", exp.Literal.string(pattern)))

    @classmethod
    def of_csv(cls, pattern: str, columns: Mapping[str, Column], delimiter: str) -> DuckDB:
        """Open the csv files that a pattern names.

        Nothing is guessed from their rows: every field is read as text, and converted as the contract says.  What does
        not convert is missing.  Lines are read one by one, whatever quotes they hold, so that no line can swallow
        another; the quotes around a field are taken off afterwards.
        """
        first = sorted(_refuse_nothing(pattern))[0]
        names = _header(first, delimiter)
        fields = [
            exp.PropertyEQ(this=exp.Literal.string(name), expression=exp.Literal.string("VARCHAR")) for name in names
        ]
        options = {
            "header": exp.true(),
            "auto_detect": exp.false(),
            "delim": exp.Literal.string(delimiter),
            "quote": exp.Literal.string(""),
            "escape": exp.Literal.string(""),
            "columns": exp.Struct(expressions=fields),
            "ignore_errors": exp.true(),
            "null_padding": exp.true(),
            "strict_mode": exp.false(),
        }
        given = [exp.EQ(this=exp.to_identifier(name), expression=value) for name, value in options.items()]
        rows = _call("read_csv", exp.Literal.string(pattern), *given)
        selected = [_converted(name, columns.get(name)) for name in names]
        return cls(_connect(), exp.select(*selected).from_(rows).subquery("t"))

    @classmethod
    def of_file(cls, path: str, table: str) -> DuckDB:
        """Open a table of a DuckDB file, for reading only."""
        _refuse_nothing(path)
        try:
            connection = duckdb.connect(path, read_only=True)
        except duckdb.Error as problem:
            raise InvalidContract(f"cannot open {path} as a DuckDB file ({type(problem).__name__})") from None
        return cls(connection, exp.to_table(table, dialect="duckdb"))

    @classmethod
    def of_frame(cls, frame: Any) -> DuckDB:
        """Read a pandas, polars or Arrow table where it is."""
        connection = _connect()
        connection.execute("SET GLOBAL pandas_analyze_sample = 0")  # types are not to be guessed from rows
        try:
            connection.register("frame", frame)
        except (duckdb.Error, TypeError, ImportError) as problem:
            got = f"{type(frame).__name__} ({type(problem).__name__})"
            raise InvalidContract(f"a frame must be a pandas, polars or Arrow table, got {got}") from None
        return cls(connection, exp.to_table("frame"))

    def kinds(self) -> dict[str, Kind]:
        """Return what each column holds."""
        if self._kinds is None:
            described = exp.select("*").from_(self._relation).sql(dialect="duckdb")
            try:
                rows = self._connection.cursor().execute(f"DESCRIBE {described}").fetchall()
            except duckdb.Error as problem:
                raise InvalidContract(
                    f"cannot read the source ({type(problem).__name__}); check source and table"
                ) from None
            self._kinds = {name: _kind(kind) for name, kind, *_ in rows}
        return self._kinds

    def relation(self) -> exp.Expr:
        """Return what to select from."""
        return self._relation.copy()

    def run(self, statement: str) -> list[tuple[int, ...]]:
        """Return the rows of a statement."""
        try:
            return self._connection.cursor().execute(statement).fetchall()
        except duckdb.Error as problem:
            raise EngineFailed(type(problem).__name__) from None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _connect() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:")


def _refuse_nothing(pattern: str) -> list[str]:
    if "://" in pattern:
        return [pattern]
    found = glob(pattern, recursive=True)
    if not found:
        raise InvalidContract(f"no file at {pattern}; a source is relative to the contract's folder")
    return found


def _call(name: str, *arguments: exp.Expr) -> exp.Table:
    return exp.Table(this=exp.Anonymous(this=name, expressions=list(arguments)))


def _header(path: str, delimiter: str) -> list[str]:
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file, delimiter=delimiter), [])
    except (OSError, UnicodeDecodeError, csv.Error):
        raise InvalidContract(f"the first line of {Path(path).name} must be a csv header in UTF-8") from None
    if not names or len({name.lower() for name in names}) < len(names) or not all(names):
        raise InvalidContract(f"the header of {Path(path).name} must name every column, each differently")
    return names


def _converted(name: str, column: Column | None) -> exp.Expr:
    """Return a field as what the contract says that it is, NULL if it is not."""
    this = _unquoted(exp.column(exp.to_identifier(name, quoted=True)))
    if column is None or (isinstance(column, Keys) and isinstance(column.keys[0], str)):
        return exp.alias_(this, name, quoted=True)
    if isinstance(column, Keys):
        kind = "BOOLEAN" if isinstance(column.keys[0], bool) else "BIGINT"
    else:
        kind = "DATE" if column.is_dates else "DOUBLE"
    return exp.alias_(exp.TryCast(this=this, to=exp.DataType.build(kind)), name, quoted=True)


def _unquoted(field: exp.Expr) -> exp.Expr:
    """Return a field without the quotes around it, if there are any, and with those inside it single."""
    quoted = exp.Like(this=field, expression=exp.Literal.string('"%"'))
    inside = exp.func("SUBSTRING", field, exp.Literal.number(2), exp.func("LENGTH", field) - 2)
    single = exp.Anonymous(this="REPLACE", expressions=[inside, exp.Literal.string('""'), exp.Literal.string('"')])
    return exp.Case(ifs=[exp.If(this=quoted, true=single)], default=field.copy())


def _kind(name: str) -> Kind:
    if name.startswith("DECIMAL("):
        return Kind.DECIMAL if int(name[8:].split(",", 1)[0]) <= EXACT_DIGITS else Kind.WIDE_DECIMAL
    if name.startswith("ENUM"):
        return Kind.TEXT
    return KINDS.get(name, Kind.OTHER)
