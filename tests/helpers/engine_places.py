"""Places where a small table can be put, one for each engine."""

from __future__ import annotations

import atexit
import gc
import os
import subprocess
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inbounds.errors import EngineFailed
from inbounds.query import Dataset, Query
from inbounds.query.methods.plan import Plan
from inbounds.query.question.quantile import Quantile
from tests.helpers.clickhouse_server import Server, serving
from tests.helpers.programs import ROOT

Row = Mapping[str, Any]
Types = Mapping[str, str]
"""Columns and what they hold, as PostgreSQL calls it."""
Many = tuple[Row, int]
"""A row, and how many times it is to be there."""

_numbers = count(1)


def is_demanded() -> bool:
    """Whether a test may not be skipped because an engine is not there."""
    return os.environ.get("INBOUNDS_TEST_ENGINES") == "all"


def absent(why: str) -> None:
    """Skip the test, or fail it if every engine has to be there."""
    if is_demanded():
        pytest.fail(why)
    pytest.skip(why)


@dataclass
class Place(ABC):
    """Where tables are put during one test."""

    folder: Path
    name = ""
    opened: list[Dataset] = field(default_factory=list)

    def dataset(
        self, rows: Iterable[Row], types: Types, contract: str, many: Sequence[Many] = (), *, units: int | None = None
    ) -> Dataset:
        """Put a table there, and return a dataset for it: the contract's text lacks nothing but the source."""
        number = next(_numbers)
        source, session = self.put(f"t{number}", list(rows), types, many)
        text = contract.replace("[dataset]\n", f"[dataset]\n{source}\n" + (f"units = {units}\n" if units else ""), 1)
        found = Dataset.parse(text, spark=session, ledger=self.folder / f"ledger{number}.db")
        self.opened.append(found)
        return found

    @contextmanager
    def in_haste(self) -> Iterator[None]:
        """Run many statements over small tables as quickly as can be."""
        yield

    @abstractmethod
    def put(self, table: str, rows: list[Row], types: Types, many: Sequence[Many]) -> tuple[str, Any]:
        """Make a table; return the contract's lines that tell where it is, and the session to read it with."""

    def close(self) -> None:
        """Remove what was put here."""
        while self.opened:
            self.opened.pop().close()


@cache
def database() -> duckdb.DuckDBPyConnection:
    """Return the one database that files are made in: to start one takes longer than to make a file."""
    atexit.register(database.cache_clear)  # or DuckDB complains of what is left when Python ends
    return duckdb.connect()


class InDuckDB(Place):
    """Tables in DuckDB files."""

    name = "duckdb"
    types: Mapping[str, str] = {"float4": "FLOAT", "float8": "DOUBLE", "text": "VARCHAR", "numeric": "DECIMAL(38, 10)"}

    def put(self, table: str, rows: list[Row], types: Types, many: Sequence[Many]) -> tuple[str, Any]:
        """Make a file for the table."""
        path = self.file_of(table)
        with database().cursor() as connection:
            connection.execute(f"ATTACH '{path}' AS file_{table}; USE file_{table}")
            for statement in self.statements(table, rows, types, many):
                connection.execute(statement)
            connection.execute(f"USE memory; DETACH file_{table}")
        return f"source = '{path}'\ntable = '{table}'", None

    def file_of(self, table: str) -> Path:
        """Return the file that a table is in."""
        return self.folder / f"{table}.duckdb"

    def statements(self, table: str, rows: Sequence[Row], types: Types, many: Sequence[Many]) -> Iterator[str]:
        """Yield the statements that make the table."""
        columns = ", ".join(f"{quoted(name)} {self.types.get(kind, kind)}" for name, kind in types.items())
        yield f"CREATE TABLE {table} ({columns})"
        if rows:
            yield f"INSERT INTO {table} VALUES {', '.join(f'({values(row, types)})' for row in rows)}"
        for row, times in many:
            casts = (f"CAST({text(row[name])} AS {self.types.get(kind, kind)})" for name, kind in types.items())
            yield f"INSERT INTO {table} SELECT {', '.join(casts)} FROM generate_series(1, {times}) AS g(i)"


class InOneDuckDB(InDuckDB):
    """Tables in one DuckDB file, as those must be that are joined."""

    def file_of(self, table: str) -> Path:
        """Return the one file."""
        return self.folder / "together.duckdb"


class InParquet(InDuckDB):
    """Tables in parquet files, quickly made."""

    name = "parquet"

    def put(self, table: str, rows: list[Row], types: Types, many: Sequence[Many]) -> tuple[str, Any]:
        """Make a file for the table."""
        path = self.folder / f"{table}.parquet"
        with database().cursor() as connection:
            for statement in self.statements(table, rows, types, many):
                connection.execute(statement)
            connection.execute(f"COPY {table} TO '{path}' (FORMAT parquet); DROP TABLE {table}")
        return f"source = '{path}'", None


class InPostgres(InDuckDB):
    """Tables in a schema of their own."""

    name = "postgres"
    types: Mapping[str, str] = {}

    def __init__(self, folder: Path, url: str) -> None:
        super().__init__(folder)
        self.url = url
        self.schema = f"inbounds_{os.getpid()}_{next(_numbers)}"
        self.run(f"CREATE SCHEMA {self.schema}")

    def run(self, *statements: str) -> None:
        """Run statements in one transaction."""
        import psycopg  # noqa: PLC0415  only where there is a PostgreSQL

        with psycopg.connect(self.url) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def put(self, table: str, rows: list[Row], types: Types, many: Sequence[Many]) -> tuple[str, Any]:
        """Make the table."""
        name = f"{self.schema}.{table}"
        self.run(*self.statements(name, rows, types, many))
        return f"source = '{self.url}'\ntable = '{name}'", None

    def close(self) -> None:
        """Drop the schema."""
        super().close()
        self.run(f"DROP SCHEMA {self.schema} CASCADE")


class InSpark(Place):
    """Temporary views of the one session."""

    name = "spark"
    leaves_sockets = True
    types: Mapping[str, str] = {
        "float4": "float", "float8": "double", "text": "string", "timestamp": "timestamp_ntz",
        "timestamptz": "timestamp", "numeric": "decimal(38, 10)",
    }  # fmt: skip

    def __init__(self, folder: Path, session: Any) -> None:
        super().__init__(folder)
        self.session = session
        self.views: list[str] = []

    def put(self, table: str, rows: list[Row], types: Types, many: Sequence[Many]) -> tuple[str, Any]:
        """Make the view."""
        schema = ", ".join(f"`{name}` {self.types.get(kind, kind)}" for name, kind in types.items())
        frame = self.session.createDataFrame([tuple(row[name] for name in types) for row in rows], schema)
        for row, times in many:
            one = self.session.createDataFrame([tuple(row[name] for name in types)], schema)
            frame = frame.union(one.crossJoin(self.session.range(times)).drop("id"))
        frame.createOrReplaceTempView(table)
        self.views.append(table)
        return f"source = 'spark'\ntable = '{table}'", self.session

    @contextmanager
    def in_haste(self) -> Iterator[None]:
        """Keep small tables in memory and compile nothing: then many statements take a tenth of the time."""
        settings = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
        before = {name: self.session.conf.get(name) for name in settings}
        for view in self.views:
            self.session.catalog.cacheTable(view)
        try:
            for name, value in settings.items():
                self.session.conf.set(name, value)
            yield
        finally:
            for name, value in before.items():
                self.session.conf.set(name, value)
            for view in self.views:
                self.session.catalog.uncacheTable(view)

    def close(self) -> None:
        """Drop the views."""
        super().close()
        if self.leaves_sockets:
            gc.collect()  # those that PySpark left open, while it is known whose they are
        while self.views:
            self.session.catalog.dropTempView(self.views.pop())


class InSail(InSpark):
    """Temporary views of a session of Spark Connect, with Sail behind it."""

    name = "sail"
    leaves_sockets = False

    @contextmanager
    def in_haste(self) -> Iterator[None]:
        """Run statements as they are: nothing is compiled here."""
        yield


class InClickHouse(InDuckDB):
    """Tables of the one ClickHouse that runs in this process."""

    name = "clickhouse"
    types: Mapping[str, str] = {
        "smallint": "Int16", "int": "Int32", "bigint": "Int64", "float4": "Float32", "float8": "Float64",
        "text": "String", "boolean": "Bool", "date": "Date32", "timestamp": "DateTime64(6, 'UTC')", "uuid": "UUID",
        "timestamptz": "DateTime64(6, 'Asia/Tokyo')", "numeric": "Decimal(38, 10)",
    }  # fmt: skip

    def __init__(self, folder: Path, server: Server) -> None:
        super().__init__(folder)
        self.client = server.client
        self.address = f"clickhouse://127.0.0.1:{server.server_port}/default"
        self.tables: list[str] = []

    def put(self, table: str, rows: list[Row], types: Types, many: Sequence[Many]) -> tuple[str, Any]:
        """Make the table."""
        self.tables.append(table)
        for statement in self.statements(table, rows, types, many):
            self.client.command(statement)
        return f"source = '{self.address}'\ntable = '{table}'", None

    def statements(self, table: str, rows: Sequence[Row], types: Types, many: Sequence[Many]) -> Iterator[str]:
        """Yield the statements that make the table."""
        kinds = {name: self.types.get(kind, kind.replace("decimal", "Decimal")) for name, kind in types.items()}
        columns = ", ".join(f"{self.quoted(name)} Nullable({kind})" for name, kind in kinds.items())
        yield f"CREATE TABLE {table} ({columns}) ENGINE = Memory"
        if rows:
            tuples = (", ".join(self.constant(row[name]) for name in types) for row in rows)
            yield f"INSERT INTO {table} VALUES {', '.join(f'({one})' for one in tuples)}"
        for row, times in many:
            casts = (f"CAST({self.constant(row[name])} AS Nullable({kind}))" for name, kind in kinds.items())
            yield f"INSERT INTO {table} SELECT {', '.join(casts)} FROM numbers({times})"

    @staticmethod
    def quoted(name: str) -> str:
        """Write the name of a column."""
        escaped = name.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'

    @staticmethod
    def constant(value: Any) -> str:
        """Write a value as text."""
        return text(value).replace("\\", "\\\\")

    def close(self) -> None:
        """Drop the tables."""
        super().close()
        while self.tables:
            self.client.command(f"DROP TABLE {self.tables.pop()}")


def quoted(name: str) -> str:
    """Write the name of a column."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def values(row: Row, types: Types) -> str:
    """Write a row."""
    return ", ".join(text(row[name]) for name in types)


def text(value: Any) -> str:
    """Write a value as text, which databases read as what the column holds."""
    if value is None:
        return "NULL"
    doubled = str(value).replace("'", "''")
    return f"'{doubled}'"


def postgres_url() -> str:
    """Return the address of the server for tests."""
    url = os.environ.get("INBOUNDS_TEST_POSTGRES")
    if not url:
        absent("no PostgreSQL: run the tests by `scripts/postgres run …`, which sets INBOUNDS_TEST_POSTGRES")
    assert url is not None
    try:
        import psycopg  # noqa: F401, PLC0415
    except ImportError:
        absent("no psycopg: pip install 'psycopg[binary]'")
    return url


@contextmanager
def quiet() -> Iterator[None]:
    """Let nothing through to standard error, also of what other programs write there."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def spark_session(folder: Path) -> Any:
    """Return a Spark session on this machine; the test is skipped where none was asked for."""
    if not is_demanded():
        pytest.skip("no Spark asked for: set INBOUNDS_TEST_ENGINES=all")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pyspark.sql import SparkSession  # noqa: PLC0415  only where there is Spark
    except ImportError:
        absent("no PySpark: pip install 'pyspark>=4.0,<4.4'")
    java = os.environ.get("JAVA_HOME") or _java()
    if java is None:
        absent("no Java 17 or 21 for Spark: set JAVA_HOME, or run scripts/java")
    os.environ.update({"JAVA_HOME": java or "", "SPARK_LOCAL_IP": "127.0.0.1"})
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.adaptive.enabled": "false",  # which is slower for a handful of rows
        "spark.sql.warehouse.dir": str(folder),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2]").appName("inbounds")
    for key, value in settings.items():
        builder = builder.config(key, value)
    with quiet():
        return builder.getOrCreate()


@contextmanager
def sail_session() -> Iterator[Any]:
    """Start a server of Spark Connect in this process, on this machine alone, and yield a session of it."""
    os.environ.setdefault("RUST_LOG", "off")  # or Sail tells of every session
    if not hasattr(main := sys.modules["__main__"], "__file__"):  # a worker, which PySpark would end as its doctests
        main.__file__ = __file__
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import_module("pyspark.sql")  # first, or its modules import each other in a circle
            from pysail.spark import SparkConnectServer  # noqa: PLC0415  only where there is Sail
            from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415
    except ImportError:
        absent("no Sail: run `make engines`, or pip install pysail pyspark-client")
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").create()
    try:
        yield session
    finally:
        session.stop()
        server.stop()


@contextmanager
def clickhouse_server() -> Iterator[Server]:
    """Serve a ClickHouse that runs in this process."""
    try:
        import chdb  # noqa: F401, PLC0415  only where there is ClickHouse
        import clickhouse_connect  # noqa: PLC0415
    except ImportError:
        absent("no ClickHouse: run `make engines`, or pip install chdb clickhouse-connect")
    client = clickhouse_connect.get_client(interface="chdb")
    with serving(client) as server:
        yield server
    client.close()


def _java() -> str | None:
    """Return the home of a Java that is there, without installing one."""
    found = sorted(Path("/usr/lib/jvm").glob("*-1[7]-*/bin/java")) + sorted(
        Path("/usr/lib/jvm").glob("*-21-*/bin/java")
    )
    if found:
        return str(found[0].parents[1])
    if is_demanded():
        run = subprocess.run([ROOT / "scripts" / "java"], capture_output=True, text=True, check=False)
        return run.stdout.strip() or None
    return None


def planned(query: Query) -> Plan:
    """Return a plan that is quickly made: the mechanism does not matter."""
    has_none = isinstance(query.question.measure, Quantile) or query.question.sets is not None
    return query.plan(1) if has_none else query.plan(1, pooling=1)


def totals_of(query: Query) -> list[list[int]]:
    """Return the totals that a question's statement finds, before any noise."""
    plan = planned(query)
    try:
        return plan.totals(query.dataset.engine.run(plan.sql))
    except EngineFailed as problem:
        raise AssertionError(f"the statement failed ({problem.kind}):\n{plan.sql}") from None


def distance(some: list[list[int]], others: list[list[int]]) -> int:
    """Return by how much all totals together differ."""
    pairs = zip(some, others, strict=True)
    return sum(abs(a - b) for one, other in pairs for a, b in zip(one, other, strict=True))
