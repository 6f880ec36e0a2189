"""DuckDB, in process: parquet and csv files, DuckDB files, and data frames."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cached_property
from glob import escape, glob, has_magic
from typing import Any

from sqlglot import exp

from inbounds.errors import OVERTIME, EngineFailed, InvalidContract
from inbounds.ledger.values.address import without_secrets
from inbounds.query.contract.csv_format import CsvForm
from inbounds.query.engines.by_contract import MACROS, PREFIX, call_macro, kind_of, read
from inbounds.query.engines.csv_lines import CsvLines, read_files
from inbounds.query.engines.engine import Dialect, Engine, Fields, Kind
from inbounds.query.engines.frames import Wanted, to_readable
from inbounds.query.engines.timeout import interrupting

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
    """A table that DuckDB can read.

    What a table of a database holds is declared; columns of files and frames are read as the contract says (`wanted`).
    """

    dialect = DuckDialect()

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        relation: exp.Expr,
        *,
        frame: Any = None,
        path: str | None = None,
        wanted: Wanted | None = None,
        lines: CsvLines | None = None,
        files: tuple[exp.Expr, ...] = (),
    ) -> None:
        self._connection = connection
        self._relation = relation
        self._files = files or (relation,)
        self._frame = frame
        self._path = path
        self._wanted = wanted
        self._lines = lines
        self._has_collations = wanted is None
        """Whether a text may be compared other than by its bytes: in files of rows none is."""

    @classmethod
    def of_parquet(cls, pattern: str, wanted: Wanted | None = None) -> DuckDB:
        """Open the parquet files that a pattern names now; without a contract, their columns are as they are.

        With one, each file is read by itself: DuckDB would give a column of several the type that all of them can be
        turned into, and that one file of texts makes of the number 1.0 in another the text 1.0, and a second unit.
        """
        paths, connection = _find_files(pattern), _connect()
        if wanted is None:
            return cls(connection, _parquet(pattern))
        # Each file is opened by a pattern that names it alone, so what is magic in its name is escaped.
        if "://" not in pattern:
            paths = [escape(path) for path in sorted(paths)]
        elif has_magic(pattern):
            paths = _list_files(connection, pattern)
        return cls(connection, _parquet(pattern), wanted=wanted, files=tuple(map(_parquet, paths)))

    @classmethod
    def of_csv(cls, pattern: str, wanted: Wanted, form: CsvForm) -> DuckDB:
        """Open the csv files that a pattern names; nothing is guessed from their rows."""
        lines = CsvLines(pattern, _find_files(pattern), form)
        return cls(_connect(), lines.relation(wanted), wanted=wanted, lines=lines)

    @classmethod
    def of_frame(cls, frame: Any, wanted: Wanted) -> DuckDB:
        """Read a pandas, polars or Arrow table where it is."""
        connection = _connect()
        connection.execute("SET GLOBAL pandas_analyze_sample = 0")  # types are not to be guessed from rows
        try:
            engine = cls(connection, exp.to_table("frame"), frame=to_readable(frame, wanted), wanted=wanted)
            engine._cursor()
        except (duckdb.Error, TypeError, ImportError) as problem:
            got = f"{type(frame).__name__} ({type(problem).__name__})"
            raise InvalidContract(f"a frame must be a pandas, polars or Arrow table, got {got}; convert it") from None
        return engine

    def kinds(self) -> dict[str, Kind]:
        """Return what each column holds: of files and frames that are read as the contract says, what that says."""
        stored = self._stored_kinds()
        if self._wanted is None:
            return stored
        read_as = {name: Kind.TEXT if column is None else kind_of(column) for name, column in self._wanted.items()}
        return {name: kind for name, kind in read_as.items() if name in stored}

    def _stored_kinds(self) -> dict[str, Kind]:
        """Return what the columns are called, and what they hold before they are read as the contract says."""
        if self._lines is not None:
            return dict.fromkeys(self._lines.names, Kind.TEXT)
        kinds: dict[str, Kind] = {}
        for columns in self._columns:
            kinds = columns | kinds
        return kinds

    @cached_property
    def _columns(self) -> list[dict[str, Kind]]:
        """The columns of each file."""
        try:
            return [self._columns_of(file) for file in self._files]
        except duckdb.Error as problem:
            raise InvalidContract(
                f"cannot read the source ({type(problem).__name__}); check source and table"
            ) from None

    def _columns_of(self, file: exp.Expr) -> dict[str, Kind]:
        statement = exp.select("*").from_(file).sql(dialect="duckdb")
        rows = self._cursor().execute(f"DESCRIBE {statement}").fetchall()
        return {name: _kind(kind) for name, kind, *_ in rows}

    def relation(self) -> exp.Expr:
        if self._wanted is None or self._lines is not None:
            return self._relation.copy()
        wanted = self._wanted
        return self._select_each(lambda name, stored: exp.alias_(read(wanted[name], stored), name, quoted=True))

    def _select_each(self, select: Callable[[str, exp.Expr], exp.Expr], *first: exp.Expr) -> exp.Expr:
        """Return the rows of each file one after the other, with what is selected of each column, given its value.

        In a file that lacks a column, that is missing.
        """
        names = list(self.kinds())
        selects = []
        for file, columns in zip(self._files, self._columns, strict=True):
            values = [_column(name) if name in columns else exp.null() for name in names]
            selected = [select(name, value) for name, value in zip(names, values, strict=True)]
            selects.append(exp.select(*first, *selected).from_(file.copy(), copy=False))
        rows = exp.union(*selects, distinct=False, copy=False) if len(selects) > 1 else selects[0]
        return rows.subquery("t")

    def bytes_of(self, value: exp.Expr) -> exp.Expr:
        """Return a text that is compared by its bytes, as it is unless it may have a collation."""
        return super().bytes_of(value) if self._has_collations else exp.cast(value.copy(), "VARCHAR")

    def fields(self) -> Fields | None:
        """Return what is in files and frames before it is read as the contract says."""
        if self._wanted is None:
            return None
        if self._lines is not None:
            return self._lines.unread()
        names = {name: f"c{place}" for place, name in enumerate(self.kinds(), 1)}

        def mark(name: str, value: exp.Expr) -> exp.Expr:
            return exp.alias_(
                exp.Case(ifs=[exp.If(this=call_macro("THERE", value), true=exp.Literal.number(1))]), names[name]
            )

        return Fields(self._select_each(mark, exp.alias_(exp.true(), "w")), names)

    def reads(self, other: Engine) -> bool:
        """Return whether a statement here can read the other table: a file of rows, or a table of the same database."""
        return isinstance(other, DuckDB) and other._frame is None and other._path in (None, self._path)

    def run(self, statement: str) -> list[tuple[int, ...]]:
        overtime = False
        try:
            cursor = self._cursor()
            if self._path is not None and PREFIX in statement:  # files beside a database that cannot be written to
                _create_macros(cursor, temporary=True)
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
        if self._lines is not None:
            self._lines.close()


def open_table(path: str, table: str) -> DuckDB:
    """Open a table of a DuckDB file, for reading only."""
    _find_files(path)
    try:
        connection = duckdb.connect(path, read_only=True)
    except duckdb.Error as problem:
        raise InvalidContract(
            f"cannot open {without_secrets(path)} as a DuckDB file ({type(problem).__name__}); check that it is one"
        ) from None
    return DuckDB(connection, exp.to_table(table, dialect="duckdb"), path=path)


def _list_files(connection: duckdb.DuckDBPyConnection, pattern: str) -> list[str]:
    """Return the files that a pattern names elsewhere than on this machine."""
    try:
        files = [path for (path,) in connection.execute("SELECT file FROM glob(?) ORDER BY 1", [pattern]).fetchall()]
    except duckdb.Error as problem:
        files, why = [], f" ({type(problem).__name__})"
    else:
        why = ""
    if not files:
        raise InvalidContract(f"no file at {without_secrets(pattern)}{why}; name the files, or check the address")
    return files


def _parquet(pattern: str) -> exp.Expr:
    """Return the rows of the parquet files that a pattern names."""
    options = {
        "union_by_name": exp.true(),  # and by their common type
        "hive_partitioning": exp.false(),  # a folder named age=5 says nothing about the rows
    }
    return read_files("read_parquet", pattern, options)


def _connect() -> duckdb.DuckDBPyConnection:
    """Connect to a database in memory; what does not fit there goes where other temporary files are."""
    connection = duckdb.connect(":memory:", config={"temp_directory": tempfile.gettempdir()})
    _create_macros(connection)
    return connection


def _create_macros(connection: duckdb.DuckDBPyConnection, *, temporary: bool = False) -> None:
    """Make the macros that read columns as the contract says."""
    kind = "TEMP MACRO" if temporary else "MACRO"
    connection.execute("; ".join(f"CREATE {kind} {macro}" for macro in MACROS))


def _column(name: str) -> exp.Expr:
    return exp.column(exp.to_identifier(name, quoted=True))


def _find_files(pattern: str) -> list[str]:
    """Return the files that a pattern names on this machine, an address as it is; refuse a pattern that names none."""
    if "://" in pattern:
        return [pattern]
    files = glob(pattern, recursive=True)
    if not files:
        raise InvalidContract(f"no file at {without_secrets(pattern)}; a source is relative to the contract's folder")
    return files


def _kind(name: str) -> Kind:
    if name.startswith("DECIMAL("):
        return Kind.DECIMAL if int(name[8:].split(",", 1)[0]) <= EXACT_DIGITS else Kind.WIDE_DECIMAL
    if name.startswith("ENUM"):
        return Kind.TEXT
    return KINDS.get(name, Kind.OTHER)
