"""Keys are found out once, for epsilon and delta, and stand in the contract afterwards."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inbounds.errors import BudgetExceeded, InvalidParameter, InvalidQuestion
from inbounds.query import Dataset

CONTRACT = """\
[dataset]
name = "trips"
source = "trips.{ending}"
{unit}
[columns.age]
bounds = "[0, 99] step 1"
[budget]
total = 50
delta = 1e-3
delta_reserved = 1e-3
"""
UNITS = 'unit = "person"\nmax_rows_per_unit = 3'
ROWS = 'unit = "row"'


def made(folder: Path, unit: str = UNITS, ending: str = "parquet") -> Path:
    """Write trips of 600 people: all to Rome, 300 of them also to Oslo, one to Nowhere, and their contract."""
    trips = """
        SELECT i AS person, i % 99 AS age, 'Rome' AS town, i % 2 AS twice FROM range(600) t(i)
        UNION ALL SELECT i, i % 99, 'Oslo', 1 FROM range(300) t(i)
        UNION ALL SELECT i, i % 99, 'Oslo', 0 FROM range(300) t(i)
        UNION ALL SELECT 7, 7, 'Nowhere', NULL UNION ALL SELECT 8, 8, NULL, 1
        UNION ALL SELECT 9, 9, repeat('long', 200), 1 FROM range(1000)
    """
    duckdb.sql(f"COPY ({trips}) TO '{folder}/trips.{ending}'")
    path = folder / "trips.toml"
    path.write_text(CONTRACT.format(unit=unit, ending=ending), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("unit", [UNITS, ROWS], ids=["units", "rows"])
def test_keys_that_many_have_are_found(tmp_path: Path, unit: str, ending: str) -> None:
    """What hundreds have is published, what one has is not, nor what is missing or too long; the charge is recorded."""
    with Dataset.load(made(tmp_path, unit, ending)) as trips:
        per_unit = 2 if unit == UNITS else 1
        found = trips.discover_keys("town", 1, 1e-6, analyst="ana", keys_per_unit=per_unit, request_id="towns")
        assert found.keys == ("Oslo", "Rome")
        assert trips.ledger.balance("trips").spent == 1
        again = trips.discover_keys("town", 1, 1e-6, analyst="ana", keys_per_unit=per_unit, request_id="towns")
        assert again == found
        assert trips.ledger.balance("trips").spent == 1
        assert trips.ledger.verify().ok
        (charge,) = [entry for entry in trips.ledger.statement("trips").entries if entry.kind == "charge"]
        assert charge.delta


def test_a_unit_counts_for_so_many_of_its_keys(tmp_path: Path) -> None:
    """With one key for each unit, the first one counts: those who went to Oslo and Rome count for Oslo only."""
    with Dataset.load(made(tmp_path)) as trips:
        from inbounds.query.ask.discovering.discovery import _open_engine, _OwnedKeys  # noqa: PLC0415  the statement that runs

        engine = _open_engine(trips, "town")
        rows: list[Any] = [engine.run(_OwnedKeys(trips, engine, "town").build_statement(limit)) for limit in (1, 2)]
        once, twice = map(dict, rows)
    assert once == {"Nowhere": 1, "Oslo": 299, "Rome": 300}
    assert twice == {"Nowhere": 1, "Oslo": 300, "Rome": 599}


@pytest.mark.parametrize("unit", [UNITS, ROWS], ids=["units", "rows"])
def test_no_unit_spells_the_key_of_others(tmp_path: Path, unit: str) -> None:
    """Texts that a collation holds for equal are keys of their own: else one unit's spelling could stand for all."""
    with duckdb.connect(str(tmp_path / "trips.duckdb")) as database:
        database.execute("CREATE TABLE trips (person BIGINT, age BIGINT, town VARCHAR COLLATE NOCASE)")
        database.execute("INSERT INTO trips VALUES (900, 5, 'ROME')")
        database.execute("INSERT INTO trips SELECT i, 5, 'Rome' FROM range(600) t(i)")
    path = tmp_path / "trips.toml"
    path.write_text(CONTRACT.format(unit=f'table = "trips"\n{unit}', ending="duckdb"), encoding="utf-8")
    with Dataset.load(path) as trips:
        assert trips.discover_keys("town", 1, 1e-9, analyst="ana").keys == ("Rome",)
        engine = trips.engine
        from inbounds.query.ask.discovering.discovery import _OwnedKeys  # noqa: PLC0415  the very statement that runs

        counted: list[Any] = engine.run(_OwnedKeys(trips, engine, "town").build_statement(1))
    assert sorted(counted) == [(b"ROME", 1), (b"Rome", 600)]


def test_whole_numbers_can_be_keys(tmp_path: Path) -> None:
    """Keys of a file are texts, whatever their type there, and the section reads as part of the contract."""
    path = made(tmp_path)
    with Dataset.load(path) as trips:
        found = trips.discover_keys("twice", 5, 1e-4, analyst="ana", keys_per_unit=2)
    assert found.keys == ("0", "1")
    path.write_text(path.read_text("utf-8") + found.section(), encoding="utf-8")
    with Dataset.load(path) as trips:
        trips.record_terms("keys were discovered")
        answer = trips.sql("SELECT twice, COUNT(*) FROM trips GROUP BY twice").ask(1, analyst="ana")
    assert [row[0] for row in answer.rows] == ["0", "1"]


def test_what_cannot_be_paid_or_is_no_key_is_refused(tmp_path: Path) -> None:
    """Bad parameters, columns that are not there, and more delta than is reserved are refused; nothing is charged."""
    with Dataset.load(made(tmp_path)) as trips:
        for column, told in (("nowhere", "no such column"), ("age", "already"), ("person", "already")):
            with pytest.raises(InvalidQuestion, match=told):
                trips.discover_keys(column, 1, 1e-6, analyst="ana")
        for epsilon, delta, per_unit in ((0, 1e-6, 1), (1, 0, 1), (1, 2, 1), (1, 1e-6, 0), (1, 1e-6, 101)):
            with pytest.raises(InvalidParameter):
                trips.discover_keys("town", epsilon, delta, analyst="ana", keys_per_unit=per_unit)
        with pytest.raises(BudgetExceeded):
            trips.discover_keys("town", 1, Fraction(1, 100), analyst="ana")
        assert trips.ledger.balance("trips").spent == 0
    with Dataset.load(made(tmp_path, ROWS), ledger=tmp_path / "other.db") as rows, pytest.raises(InvalidParameter):
        rows.discover_keys("town", 1, 1e-6, analyst="ana", keys_per_unit=2)
