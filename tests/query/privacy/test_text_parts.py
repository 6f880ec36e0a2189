"""Parts of free texts: no row decides whether a statement runs."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from tests.helpers.unit_changes import quick_plan

CONTRACT = """
[dataset]
name = "visits"
source = "visits.parquet"
unit = "patient"
max_rows_per_unit = 1
[columns.note]
text = true
[budget]
total = 1
"""


def total(folder: Path, part: str, rows: int) -> int:
    """Return what is added up for so many patients with a note of which a part is compared."""
    duckdb.sql(f"COPY (SELECT i AS patient, 'seen' AS note FROM range({rows}) t(i)) TO '{folder}/visits.parquet'")
    (folder / "contract.toml").write_text(CONTRACT, encoding="utf-8")
    with Dataset.load(folder / "contract.toml") as dataset:
        plan = quick_plan(dataset.sql(f"SELECT COUNT(*) FROM visits WHERE {part} = 'een'"))
        return plan.totals(dataset.engine.run(plan.sql))[0][0]


@pytest.mark.parametrize(
    "part",
    [
        "SUBSTRING(note, 99999999999, 3)",
        "SUBSTRING(note, 1, 99999999999)",
        "SUBSTRING(note, 99999999999999999999)",
        "SUBSTR(note, 1000001, 1)",
        "LEFT(note, 99999999999)",
        "SUBSTRING(note, 0, 3)",
    ],
)
def test_parts_beyond_what_engines_count_are_refused(tmp_path: Path, part: str) -> None:
    """What would fail at the first row that has a text is refused, whether there is such a row or not."""
    for rows in (0, 1):
        with pytest.raises(InvalidQuestion, match="begins at a character from 1"):
            total(tmp_path, part, rows)


@pytest.mark.parametrize("part", ["SUBSTRING(note, 2, 1000000)", "SUBSTRING(note, 2)", "SUBSTR(note, 2, 3)"])
def test_parts_within_are_compared(tmp_path: Path, part: str) -> None:
    """A part that ends after the text does is what there is of it."""
    assert total(tmp_path, part, 0) == 0 < total(tmp_path, part, 1)
