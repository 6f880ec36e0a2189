"""A hospital whose wards are public: how many beds each has, and since when."""

from __future__ import annotations

from pathlib import Path

import polars

from inbounds.query import Dataset

WARDS = {f"w{number}": 10 + 5 * number for number in range(8)}
"""The beds of each ward."""

CONTRACT = """
[dataset]
name = "stays"
unit = "patient"
max_rows_per_unit = 5
{more}
[columns.age]
bounds = "[0, 120] step 1"
[columns.ward]
keys = [{keys}]

[tables.wards]
source = "wards.csv"
public = true
key = "ward"
[tables.wards.columns.beds]
bounds = "[0, 100] step 1"
[tables.wards.columns.opened]
bounds = "[2019-01-01, 2021-01-01]"

[budget]
total = 1000
ledger = "ledger.db"
"""

OF_WARDS = "FROM stays s JOIN wards w ON s.ward = w.ward"
PER_PATIENT = "FROM (SELECT patient, COUNT(*) AS n FROM stays GROUP BY patient) AS t"


def hospital(folder: Path, *, rows: int = 900, more: str = "", lost: tuple[str, ...] = ()) -> Dataset:
    """Write a hospital into a folder, and open it; every patient has nine stays, and public wards may be lost."""
    told = [
        f"{ward},{beds},2020-01-0{place + 1}" for place, (ward, beds) in enumerate(WARDS.items()) if ward not in lost
    ]
    (folder / "wards.csv").write_text("\n".join(["ward,beds,opened", *told]) + "\n", encoding="utf-8")
    keys = ", ".join(f'"{ward}"' for ward in WARDS)
    (folder / "stays.toml").write_text(CONTRACT.format(keys=keys, more=more), encoding="utf-8")
    frame = polars.DataFrame(
        {
            "patient": [number // 9 for number in range(rows)],
            "age": [20 + number % 60 for number in range(rows)],
            "ward": [f"w{number % 8}" for number in range(rows)],
        },
        schema={"patient": polars.Int64, "age": polars.Int64, "ward": polars.String},
    )
    return Dataset.load(folder / "stays.toml", frame=frame)
