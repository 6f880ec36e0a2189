"""What tests of destinations share: a place of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.helpers.engine_places import postgres_url

QUICK, SLOW = ("report.json", "report.html", "folder/"), ("report.xlsx", "report.duckdb", "report.parquet/")
FILES = (*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW))


@pytest.fixture
def schema() -> Iterator[str]:
    """Yield the target of a schema that is not there yet, and remove it afterwards."""
    import psycopg  # noqa: PLC0415

    url, name = postgres_url(), f"Report {uuid4().hex}"
    yield f"{url}{'&' if '?' in url else '?'}schema={name.replace(' ', '%20')}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE'.encode())


@pytest.fixture(params=[*FILES, pytest.param("postgres", marks=pytest.mark.thorough)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a target of each kind."""
    if request.param == "postgres":
        return str(request.getfixturevalue("schema"))
    return f"{tmp_path}/{request.param}"
