"""What tests of questions share: places for small tables, on every engine that is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.engine_places import (
    InClickHouse,
    InDuckDB,
    InParquet,
    InPostgres,
    InSail,
    InSpark,
    Place,
    clickhouse_server,
    postgres_url,
    quiet,
    sail_session,
    spark_session,
)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The one Spark session of a run: one process runs all tests that name Spark (`tests/helpers/xdist_groups.py`)."""
    session = spark_session(tmp_path_factory.mktemp("warehouse"))
    yield session
    with quiet():
        session.stop()


@pytest.fixture(scope="session")
def sail() -> Iterator[Any]:
    """A session of Spark Connect, with Sail behind it."""
    with sail_session() as session:
        yield session


@pytest.fixture(scope="session")
def clickhouse() -> Iterator[Any]:
    """A ClickHouse in this process, asked over HTTP."""
    with clickhouse_server() as server:
        yield server


LEAKS = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
"""What PySpark leaves to the collector of garbage."""

SERVERS = [
    pytest.param("postgres", marks=pytest.mark.thorough),
    pytest.param("spark", marks=[pytest.mark.thorough, LEAKS]),
    pytest.param("sail", marks=pytest.mark.thorough),
    pytest.param("clickhouse", marks=pytest.mark.thorough),
]


@pytest.fixture(params=["duckdb", *SERVERS])
def engine_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place for tables on each engine; what was put there is removed afterwards."""
    place: Place
    if request.param == "duckdb":
        place = InDuckDB(tmp_path)
    elif request.param == "postgres":
        place = InPostgres(tmp_path, postgres_url())
    elif request.param == "clickhouse":
        place = InClickHouse(tmp_path, request.getfixturevalue("clickhouse"))
    elif request.param == "sail":
        place = InSail(tmp_path, request.getfixturevalue("sail"))
    else:
        place = InSpark(tmp_path, request.getfixturevalue("spark"))
    yield place
    place.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InParquet]:
    """A place for many small tables, one after another."""
    place = InParquet(tmp_path_factory.mktemp("files"))
    yield place
    place.close()
