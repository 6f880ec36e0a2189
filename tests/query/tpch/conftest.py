"""The files of TPC-H at scale 0.01, made once in a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.helpers.tpch.files import GENERATOR, TABLES, generator, make_files
from tests.helpers.tpch.oracle import Shop


@pytest.fixture(scope="session")
def tpch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files: 1,500 customers, 15,000 orders, 60,175 lines."""
    program = generator()
    if program is None:
        pytest.skip(f"no {GENERATOR}: pip install '{GENERATOR}>=3,<5'")
    folder = tmp_path_factory.mktemp("tpch")
    make_files(program, folder, "0.01")
    return folder


@pytest.fixture(scope="session")
def shop(tpch: Path) -> Shop:
    """The same rows in plain Python."""
    return Shop(tpch)


@pytest.fixture(scope="session")
def raw(tpch: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The same files in DuckDB, with nothing protected."""
    with duckdb.connect() as database:
        for table in TABLES:
            database.execute(f"CREATE VIEW {table} AS FROM '{tpch / table}.parquet'")
        yield database
