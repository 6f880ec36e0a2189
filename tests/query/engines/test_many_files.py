"""Several parquet files of one table, and moments that no clock can show: no type and no value decides anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from inbounds.query import Dataset
from inbounds.query.engines.frames import ends_in, to_readable
from tests.helpers.engine_places import database
from tests.helpers.sparing import sparing

CONTRACT = """
[dataset]
name = "stays"
source = "*.parquet"
unit = "patient"
max_rows_per_unit = 2

[columns.ward]
keys = ["1", "2"]
[columns.days]
bounds = "[0, 9] step 1"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"

[budget]
total = 100
per_analyst = 100
ledger = "budget.db"
"""

PLAIN = (
    "SELECT i AS patient, 1 + i % 2 AS ward, i % 10 AS days, DATE '2026-01-01' + CAST(i AS INTEGER) AS day "
    "FROM range(40) t(i)"
)
QUESTIONS = (
    "SELECT COUNT(DISTINCT patient) FROM stays",
    "SELECT ward, COUNT(days), SUM(days) FROM stays GROUP BY ward",
    "SELECT MEDIAN(day) FROM stays",
)
OTHER_TYPES = {
    "patient": ("BIGINT", "DOUBLE", "VARCHAR", "DECIMAL(9, 2)", "HUGEINT"),
    "ward": ("BIGINT", "DOUBLE", "VARCHAR", "DECIMAL(9, 2)"),
    "days": ("BIGINT", "DOUBLE", "VARCHAR", "DECIMAL(9, 2)", "FLOAT"),
    "day": ("DATE", "VARCHAR", "TIMESTAMP"),
}
"""Types that hold the same values, as a missing or an odd one makes them."""

UNFIT = ("DATE '2026-01-01'", "'x'", "BLOB 'ab'", "[1]", "TIME '01:02'", "TRUE", "TIMESTAMP '2026-01-01 00:00'")
"""Values of types that hold none of these values: with the next file's, they have a common type only by casts."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A contract and the first of several files."""
    (tmp_path / "stays.toml").write_text(CONTRACT, encoding="utf-8")
    write(tmp_path / "a[1].parquet", PLAIN)
    return tmp_path


def write(path: Path, select: str) -> None:
    """Write what a statement selects to a parquet file."""
    with database().cursor() as connection:
        connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet)")


def totals(folder: Path) -> list[Any]:
    """Return the totals of all questions, before there is noise."""
    with Dataset.load(folder / "stays.toml") as stays:
        plans = [plan for question in QUESTIONS for plan in stays.sql(question).plans(1)]
        return [(plan.sql, plan.totals(stays.engine.run(plan.sql))) for plan in plans]


@pytest.mark.slow
@pytest.mark.parametrize("column", OTHER_TYPES)
def test_each_file_is_read_by_itself(folder: Path, column: str) -> None:
    """Another type of the same values in a second file changes neither the statement nor a total."""
    write(folder / "b.parquet", PLAIN)
    expected = totals(folder)
    for kind in OTHER_TYPES[column]:
        write(folder / "b.parquet", f"SELECT * REPLACE (CAST({column} AS {kind}) AS {column}) FROM ({PLAIN})")
        assert totals(folder) == expected, kind


@pytest.mark.slow
@pytest.mark.parametrize("value", sparing(UNFIT, 2))
@pytest.mark.parametrize("column", OTHER_TYPES)
def test_no_type_of_a_file_makes_a_statement_fail(folder: Path, column: str, value: str) -> None:
    """Whatever a column of one file holds, every question is answered."""
    alone = totals(folder)
    write(folder / "b.parquet", f"SELECT * REPLACE ({value} AS {column}) FROM ({PLAIN})")
    assert len(totals(folder)) == len(alone)


def test_a_file_may_lack_a_column(folder: Path) -> None:
    """What a file lacks is missing in its rows, and in no others."""
    expected = totals(folder)[2][1]
    write(folder / "b.parquet", f"SELECT * EXCLUDE day FROM ({PLAIN})")
    assert totals(folder)[2][1] == expected


FAR = np.array([0, 2**63 - 1, 1 - 2**63, 10**9, -(2**63)], dtype="i8")
ZONES = ("Europe/Berlin", "UTC", "Pacific/Kiritimati", "America/Anchorage")


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_no_moment_makes_a_frame_fail(unit: str, zone: str) -> None:
    """Moments that the clock of a zone cannot show go to the first or the last that every clock can; others stay."""
    moments = pd.Series(FAR.view(f"M8[{unit}]")).dt.tz_localize("UTC").dt.tz_convert(zone)
    read = to_readable(pd.DataFrame({"d": moments}), {"d": None})["d"]
    near = pd.Series(np.clip(FAR[:4], *ends_in(unit)).view(f"M8[{unit}]")).dt.tz_localize("UTC").dt.tz_convert(zone)
    assert list(read)[:4] == list(near.dt.tz_localize(None))
    assert read.isna().tolist() == [False, False, False, False, True]
    if unit != "s":
        column = pl.Series("d", FAR[:4].tolist()).cast(pl.Datetime(unit, zone))  # type: ignore[arg-type]
        shown = to_readable(pl.DataFrame([column]), {"d": None})["d"]
        assert shown.dtype == pl.Datetime(unit)  # type: ignore[arg-type]
        expected = np.asarray(near.dt.tz_localize(None)).view("i8")
        hour = np.timedelta64(1, "h").astype(f"m8[{unit}]").astype("i8")  # of the summers to come, they know otherwise
        assert np.abs(shown.to_physical().to_numpy() - expected).max() <= hour
