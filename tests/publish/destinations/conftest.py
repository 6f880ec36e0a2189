"""What tests of destinations share: a place of each kind."""

from __future__ import annotations

from pathlib import Path

import pytest

QUICK, SLOW = ("report.json", "report.html", "folder/"), ("report.xlsx", "report.duckdb", "report.parquet/")
FILES = (*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW))


@pytest.fixture(params=[*FILES, pytest.param("postgres", marks=pytest.mark.thorough)])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return a target of each kind."""
    if request.param == "postgres":
        return str(request.getfixturevalue("schema"))
    return f"{tmp_path}/{request.param}"
