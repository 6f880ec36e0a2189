"""DuckDB, in process: parquet and csv files, DuckDB files, and data frames."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from glob import escape, has_magic
from typing import Any

from sqlglot import exp

from inbounds.errors import OVERTIME, EngineFailed, InvalidContract
from inbounds.ledger.values.address import without_secrets
from inbounds.query.contract.csv_format import CsvForm
from inbounds.query.engines.by_contract import MACROS, PREFIX, call_macro, is_whole_key, kind_of, read
from inbounds.query.engines.catalogue import DeclaredTable, Reference, implies_unique
from inbounds.query.engines.csv_lines import CsvLines, find_files, read_files, read_parquet
from inbounds.query.engines.engine import ColumnTypes, Dialect, Engine, Fields, Kind, join_texts, nested_kind
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
    "TIMESTAMP WITH TIME ZONE": Kind.INSTANT,
    "TIME": Kind.TIME,
    "INTERVAL": Kind.INTERVAL,
    "UUID": Kind.UUID,
    '"NULL"': Kind.NOTHING,
}


USUAL_SCHEMA = "main"
PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""A name that needs no quotes, unless it is a word of SQL."""

TABLES = """
    SELECT table_name, table_name IN (SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved')
    FROM information_schema.tables WHERE table_schema = ? AND table_catalog = current_database() ORDER BY table_name
"""
CONSTRAINTS = """
    SELECT table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names
    FROM duckdb_constraints()
    WHERE schema_name = ? AND database_name = current_database()
        AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
    ORDER BY constraint_type = 'PRIMARY KEY' DESC, constraint_index
"""
"""What a database declares: first primary keys, then what is unique, and what refers to other tables."""

EXACT_DIGITS = 15
"""Decimals of so many digits are quotients of two doubles, and so converted by one rounding."""


class DuckDialect(Dialect):
    """How DuckDB writes what engines do not share."""

    name = "duckdb"

    def small(self, value: exp.Expr, most: int) -> exp.Expr:
        """Return a small integer in a byte if it fits: grouping by a byte needs no hash table."""
        kind = "UTINYINT" if most <= 256 else "USMALLINT"
        return exp.TryCast(this=value, to=exp.DataType.build(kind, dialect="duckdb"))

    def cut_list(self, texts: Sequence[str]) -> exp.Expr:
        joined, separator = join_texts(texts)
        return exp.Anonymous(this="STRING_SPLIT", expressions=[self.text(joined), self.text(separator)])

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

    def microseconds(self, value: exp.Expr, since: datetime, kind: Kind) -> exp.Expr:
        """Return the difference of two numbers of microseconds since 1970."""
        start = (since - datetime(1970, 1, 1)) // timedelta(microseconds=1)
        return exp.Sub(this=_call("EPOCH_US", value), expression=exp.paren(exp.convert(start)))

    def clock_microseconds(self, value: exp.Expr) -> exp.Expr:
        return _call("EPOCH_US", value)

    def interval_microseconds(self, value: exp.Expr) -> exp.Expr:
        """Return the sum of months, days and microseconds, each of which is kept apart and clipped."""
        return call_macro("INTERVAL", value)


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
        self._type_names: dict[str, str] = {}
        self.has_collations = wanted is None  # in files of rows and frames there are none

    @classmethod
    def of_parquet(cls, pattern: str, wanted: Wanted | None = None) -> DuckDB:
        """Open the parquet files that a pattern names now; without a contract, their columns are as they are.

        With one, each file is read by itself: DuckDB would give a column of several the type that all of them can be
        turned into, and that one file of texts makes of the number 1.0 in another the text 1.0, and a second unit.
        """
        connection = connect_to_memory()
        paths = _list_files(connection, pattern)
        if wanted is None:
            return cls(connection, read_parquet(paths))._without_collations()
        return cls(connection, read_parquet(pattern), wanted=wanted, files=tuple(map(read_parquet, paths)))

    @classmethod
    def of_csv(cls, pattern: str, wanted: Wanted, form: CsvForm) -> DuckDB:
        """Open the csv files that a pattern names; nothing is guessed from their rows."""
        lines = CsvLines(pattern, find_files(pattern), form)
        return cls(connect_to_memory(), lines.relation(wanted), wanted=wanted, lines=lines)

    @classmethod
    def of_public_csv(cls, pattern: str, form: CsvForm) -> DuckDB:
        """Open the public csv files that a pattern names now, whose columns are what their rows look like."""
        connection = connect_to_memory()
        options = {
            "header": exp.true(),
            "delim": exp.Literal.string(form.delimiter or ","),
            "union_by_name": exp.true(),
        }
        files = read_files("read_csv", _list_files(connection, pattern), options)
        return cls(connection, files)._without_collations()

    @classmethod
    def of_frame(cls, frame: Any, wanted: Wanted) -> DuckDB:
        """Read a pandas, polars or Arrow table where it is, and what else Arrow can read as it is now."""
        connection = connect_to_memory()
        connection.execute("SET GLOBAL pandas_analyze_sample = 0")  # types are not to be guessed from rows
        try:
            engine = cls(connection, exp.to_table("frame"), frame=to_readable(frame, wanted), wanted=wanted)
            engine._cursor()
        except (duckdb.Error, TypeError, ImportError) as problem:
            got = f"{type(frame).__name__} ({type(problem).__name__})"
            remedy = "convert it, or pip install pyarrow" if isinstance(problem, ImportError) else "convert it"
            raise InvalidContract(
                f"a frame must be a pandas, polars, Arrow or DuckDB table, got {got}; {remedy}"
            ) from None
        return engine

    def _without_collations(self) -> DuckDB:
        """Return it as files are, in which texts are compared by their bytes."""
        self.has_collations = False
        return self

    def kinds(self) -> dict[str, Kind]:
        """Return what each column holds: of files and frames that are read as the contract says, what that says."""
        stored = self._stored_kinds()
        if self._wanted is None:
            return ColumnTypes(stored, self._type_names)
        read_as = {name: Kind.TEXT if column is None else kind_of(column) for name, column in self._wanted.items()}
        return {name: kind for name, kind in read_as.items() if name in stored}

    def column_names(self) -> list[str]:
        # A header, or names of a frame, may be a row that somebody took for them: then only what the contract names is.
        return list(self._stored_kinds() if self._lines is None and self._frame is None else self.kinds())

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
        self._type_names |= {name: kind for name, kind, *_ in rows}
        return {name: _kind(kind) for name, kind, *_ in rows}

    def relation(self, matched: Collection[str] = ()) -> exp.Expr:
        if self._wanted is None or self._lines is not None:
            return self._relation.copy()
        wanted = self._wanted
        keys = [name for name in matched if is_whole_key(wanted.get(name))]

        def select(name: str, stored: exp.Expr) -> exp.Expr:
            value = call_macro("KEY", stored) if name in keys else read(wanted[name], stored)
            return exp.alias_(value, name, quoted=True)

        return self._select_each(select, keys=keys)

    def _select_each(
        self, select: Callable[[str, exp.Expr], exp.Expr], *first: exp.Expr, keys: Collection[str] = ()
    ) -> exp.Expr:
        """Return the rows of each file one after the other, with what is selected of each column, given its value.

        In a file that lacks a column, that is missing.  Rows without one of the `keys`, whole numbers, are left out.
        """
        names = list(self.kinds())
        selects = []
        for file, columns in zip(self._files, self._columns, strict=True):
            values = [_column(name) if name in columns else exp.null() for name in names]
            # Of a table without any column of the contract there are still rows to count.
            selected = [select(name, value) for name, value in zip(names, values, strict=True)] or [exp.true()]
            there = [call_macro("IS_KEY", value) for name, value in zip(names, values, strict=True) if name in keys]
            selects.append(exp.select(*first, *selected).from_(file.copy(), copy=False).where(*there, copy=False))
        rows = exp.union(*selects, distinct=False, copy=False) if len(selects) > 1 else selects[0]
        return rows.subquery("t")

    def bytes_of(self, value: exp.Expr) -> exp.Expr:
        """Return a text that is compared by its bytes, as it is unless it may have a collation."""
        return super().bytes_of(value) if self.has_collations else exp.cast(value.copy(), "VARCHAR")

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

    def declares_unique(self, columns: Collection[str]) -> bool | None:
        if self._path is None or not isinstance(self._relation, exp.Table):
            return None
        table = self._relation
        with self._cursor() as cursor:
            declared = _read_constraints(cursor, table.db or USUAL_SCHEMA)
        own = [of for of in declared if of[0].lower() == table.name.lower() and of[1] != "FOREIGN KEY"]
        return implies_unique([key for _, _, key, *_ in own], columns)

    def reads(self, other: Engine) -> bool:
        """Return whether a statement here can read the other table: a file of rows, or a table of the same database."""
        places = (None, self._path)
        return isinstance(other, DuckDB) and not other.is_alone and other._frame is None and other._path in places

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
    return DuckDB(_open_file(path), exp.to_table(table, dialect="duckdb"), path=path)


def list_tables(path: str, schema: str | None = None) -> list[DeclaredTable]:
    """Return the tables and views in a schema of a DuckDB file, and what is declared of them."""
    with _open_file(path) as connection:
        names = connection.execute(TABLES, [schema or USUAL_SCHEMA]).fetchall()
        declared = _read_constraints(connection, schema or USUAL_SCHEMA)
    tables = []
    for name, is_reserved in names:
        own = [constraint for constraint in declared if constraint[0] == name]
        keys = tuple(tuple(columns) for _, kind, columns, *_ in own if kind != "FOREIGN KEY")
        references = tuple(
            Reference(tuple(columns), to, tuple(others))
            for _, kind, columns, to, others in own
            if kind == "FOREIGN KEY"
        )
        parts = [_write_name(schema)] if schema is not None else []
        written = ".".join([*parts, _write_name(name, quoted=is_reserved)])
        tables.append(DeclaredTable(name, written, keys, references))
    return tables


def _open_file(path: str) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB file for reading only."""
    find_files(path)
    try:
        return duckdb.connect(path, read_only=True)
    except duckdb.Error as problem:
        raise InvalidContract(
            f"cannot open {without_secrets(path)} as a DuckDB file ({type(problem).__name__}); check that it is one"
        ) from None


def _read_constraints(connection: duckdb.DuckDBPyConnection, schema: str) -> list[tuple[Any, ...]]:
    return connection.execute(CONSTRAINTS, [schema]).fetchall()


def _write_name(name: str, *, quoted: bool = False) -> str:
    """Write the name of a table, in quotes if it needs them."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"' if quoted or PLAIN_NAME.fullmatch(name) is None else name


def _list_files(connection: duckdb.DuckDBPyConnection, pattern: str) -> list[str]:
    """Return the files that a pattern names now, each by a pattern that names it alone; refuse one that names none."""
    if "://" not in pattern:
        return [escape(path) for path in sorted(find_files(pattern))]
    if not has_magic(pattern):
        return [pattern]
    try:
        files = [path for (path,) in connection.execute("SELECT file FROM glob(?) ORDER BY 1", [pattern]).fetchall()]
    except duckdb.Error as problem:
        files, why = [], f" ({type(problem).__name__})"
    else:
        why = ""
    if not files:
        raise InvalidContract(f"no file at {without_secrets(pattern)}{why}; name the files, or check the address")
    return files


def connect_to_memory() -> duckdb.DuckDBPyConnection:
    """Connect to a database in memory; what does not fit there goes where other temporary files are."""
    connection = start_database()
    _create_macros(connection)
    return connection


def start_database() -> duckdb.DuckDBPyConnection:
    """Start a database in memory that nothing else is in."""
    return duckdb.connect(":memory:", config={"temp_directory": tempfile.gettempdir()})


def _create_macros(connection: duckdb.DuckDBPyConnection, *, temporary: bool = False) -> None:
    """Make the macros that read columns as the contract says."""
    kind = "TEMP MACRO" if temporary else "MACRO"
    connection.execute("; ".join(f"CREATE {kind} {macro}" for macro in MACROS))


def _call(name: str, value: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[value.copy()])


def _column(name: str) -> exp.Expr:
    return exp.column(exp.to_identifier(name, quoted=True))


def _kind(name: str) -> Kind:
    if name.startswith("DECIMAL("):
        return Kind.DECIMAL if int(name[8:].split(",", 1)[0]) <= EXACT_DIGITS else Kind.WIDE_DECIMAL
    if name.startswith("ENUM"):
        return Kind.TEXT
    return KINDS.get(name) or nested_kind(name)
