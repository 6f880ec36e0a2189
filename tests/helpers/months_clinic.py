"""A clinic whose visits are counted by month: released tables of which more is computed."""

from __future__ import annotations

from pathlib import Path

import polars

from inbounds.query import Dataset

CONTRACT = """
[dataset]
name = "visits"
unit = "patient"
max_rows_per_unit = 2

[columns.month]
bounds = "[1, 12] step 1"
[columns.day]
bounds = "[2025-01-01, 2025-12-31]"
[columns.clinic]
keys = ["north", "south", "east"]
[columns.died]
keys = [true, false]
[columns.age]
bounds = "[0, 110] step 1"

[budget]
total = 1000000
ledger = "ledger.db"
"""


def months_clinic(folder: Path, rows: int = 2400) -> Dataset:
    """Write a clinic into a folder, and open it; every patient has two visits."""
    (folder / "visits.toml").write_text(CONTRACT, encoding="utf-8")
    frame = polars.DataFrame(
        {
            "patient": [number // 2 for number in range(rows)],
            "month": [1 + (number * 7 // 5 + number // 12) % 12 for number in range(rows)],
            "clinic": [("north", "south", "east", "north")[number // 3 % 4] for number in range(rows)],
            "died": [number % 5 == 0 for number in range(rows)],
            "age": [20 + number % 60 for number in range(rows)],
        }
    ).with_columns(polars.date(2025, polars.col("month"), 1).alias("day"))
    return Dataset.load(folder / "visits.toml", frame=frame)
