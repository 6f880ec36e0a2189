"""The files of TPC-H put where each engine reads them; all of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from inbounds.query import Dataset
from tests.helpers.engine_places import InClickHouse, InDuckDB, InParquet, InPostgres, InSpark, Place
from tests.helpers.tpch.contract import contract
from tests.helpers.tpch.files import TABLES


@contextmanager
def opened(place: Place, folder: Path) -> Iterator[Dataset]:
    """Yield a dataset that asks the private tables of a folder, where they were put."""
    text = contract(folder)
    for table in TABLES:
        text = text.replace(f"source = '{folder}/{table}.parquet'", _put(place, folder, table))
    session = place.session if isinstance(place, InSpark) else None
    with Dataset.parse(text, spark=session, ledger=place.folder / "tpch.db") as found:
        yield found


def _put(place: Place, folder: Path, table: str) -> str:
    path = folder / f"{table}.parquet"
    if isinstance(place, InSpark):
        view = f"tpch_{table}"
        place.session.read.parquet(str(path)).createOrReplaceTempView(view)
        place.views.append(view)
        return f"source = 'spark'\ntable = '{view}'"
    if isinstance(place, InPostgres):
        return _put_postgres(place, path, table)
    if isinstance(place, InClickHouse):
        name = f"tpch_{table}"
        place.tables.append(name)
        place.client.command(f"CREATE TABLE {name} ENGINE = Memory AS SELECT * FROM file('{path}', Parquet)")
        return f"source = '{place.address}'\ntable = '{name}'"
    if isinstance(place, InParquet):
        return f"source = '{path}'"
    if type(place) is InDuckDB:
        together = place.folder / "tpch.duckdb"
        with duckdb.connect(str(together)) as database:
            database.execute(f"CREATE TABLE {table} AS FROM '{path}'")
        return f"source = '{together}'\ntable = '{table}'"
    raise TypeError(f"the files of TPC-H cannot be put {type(place).__name__}; say how")


def _put_postgres(place: InPostgres, path: Path, table: str) -> str:
    import psycopg  # noqa: PLC0415  only where there is a PostgreSQL

    name, lines = f"{place.schema}.{table}", place.folder / f"{table}.csv"
    with duckdb.connect() as database:
        described: list[tuple[Any, ...]] = database.execute(f"DESCRIBE FROM '{path}'").fetchall()
        database.execute(f"COPY (FROM '{path}') TO '{lines}' (FORMAT csv, HEADER false)")
    place.run(f"CREATE TABLE {name} ({', '.join(f'{column} {kind}' for column, kind, *_ in described)})")
    copying = f"COPY {name} FROM STDIN (FORMAT csv)".encode()
    with psycopg.connect(place.url) as connection, connection.cursor() as cursor, cursor.copy(copying) as copy:
        copy.write(lines.read_bytes())
    return f"source = '{place.url}'\ntable = '{name}'"
