"""Groups that no row of a joined public table can give are neither charged for nor shown."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import polars
import pytest

from inbounds.query import Dataset

CONTRACT = """
[dataset]
name = "stays"
unit = "row"
[columns.age]
bounds = "[0, 120] step 1"
[columns.ward]
keys = ["a", "b", "c", "d"]
[tables.wards]
source = "wards.csv"
public = true
key = "ward"
[tables.wards.columns.floor]
bounds = "[0, 3] step 1"
[tables.wards.columns.building]
keys = ["main", "old", "new"]
[budget]
total = 1000
ledger = "ledger.db"
"""
WARDS = {"a": (1, "main"), "b": (2, "main"), "c": (2, "old")}
PAIRS = [(ward, building) for ward, (_, building) in WARDS.items()]


@pytest.fixture(params=[0, 60])
def stays(tmp_path: Path, request: pytest.FixtureRequest) -> Dataset:
    """A hospital with some rows or none: the public table tells nothing of ward d, nor of a new building."""
    lines = ["ward,floor,building", *(f"{ward},{floor},{name}" for ward, (floor, name) in WARDS.items())]
    (tmp_path / "wards.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "stays.toml").write_text(CONTRACT, encoding="utf-8")
    rows = range(request.param)
    frame = polars.DataFrame(
        {"age": list(rows), "ward": ["abcde"[number % 5] for number in rows]},
        schema={"age": polars.Int64, "ward": polars.String},
    )
    return Dataset.load(tmp_path / "stays.toml", frame=frame)


JOINED = "FROM stays s JOIN wards w ON s.ward = w.ward"
KEPT = "FROM stays s LEFT JOIN wards w ON s.ward = w.ward"

CASES = [
    (f"SELECT w.floor, COUNT(*) {JOINED} GROUP BY w.floor", [(1,), (2,)]),
    (f"SELECT w.floor, COUNT(*) {KEPT} GROUP BY w.floor", [(1,), (2,)]),
    (f"SELECT w.floor + 1, AVG(age) {JOINED} GROUP BY w.floor + 1", [(2,), (3,)]),
    (f"SELECT s.ward, w.building, COUNT(*) {JOINED} GROUP BY s.ward, w.building", PAIRS),
    (f"SELECT s.ward, w.building, SUM(age) {KEPT} GROUP BY s.ward, w.building", PAIRS),
    (f"SELECT s.ward, MEDIAN(age) {JOINED} WHERE w.building = 'main' GROUP BY s.ward", [("a",), ("b",)]),
    (f"SELECT s.ward, COUNT(*) {KEPT} WHERE w.building = 'main' GROUP BY s.ward", [("a",), ("b",)]),
    (f"SELECT s.ward, COUNT(*) {JOINED} GROUP BY s.ward", [("a",), ("b",), ("c",)]),
    (f"SELECT s.ward, COUNT(*) {KEPT} GROUP BY s.ward", [("a",), ("b",), ("c",), ("d",)]),
    (f"SELECT s.ward, COUNT(*) {KEPT} WHERE w.floor IS NULL GROUP BY s.ward", [("a",), ("b",), ("c",), ("d",)]),
    (
        f"SELECT w.floor, w.building, COUNT(*) {JOINED} WHERE age > 10 GROUP BY w.floor, w.building",
        [(1, "main"), (2, "main"), (2, "old")],
    ),
    (
        f"SELECT s.ward, w.floor, FLOOR(age / 50), COUNT(*) {JOINED} WHERE w.floor = 2 "
        "GROUP BY s.ward, w.floor, FLOOR(age / 50)",
        [(*one, fifty) for one, fifty in product([("b", 2), ("c", 2)], range(3))],
    ),
    (
        f"SELECT s.ward, w.building, COUNT(*) {JOINED} GROUP BY ROLLUP (s.ward, w.building)",
        [*PAIRS, *((ward, None) for ward in WARDS), (None, None)],
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("sql", "keys"), CASES)
def test_groups_are_those_that_rows_of_public_tables_can_give(
    stays: Dataset, sql: str, keys: list[tuple[object, ...]]
) -> None:
    """Whatever the rows: keys without a match stay if rows without one do, and then nothing public is told of them."""
    with stays:
        answer = stays.sql(sql).ask(1, analyst="ana")
    assert [row[: len(keys[0])] for row in answer.rows] == keys
