"""The contract of the infirmary, wherever its private tables are; public tables are files beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inbounds.query import Dataset
from tests.helpers.engine_places import InDuckDB, InOneDuckDB, InParquet, Place
from tests.helpers.infirmary.tables import PRIVATE, PUBLIC, Tables, private, public

CONTRACT = """
[dataset]
name = "patients"
unit = "patient_id"
max_rows_per_unit = 1

[columns.sex]
keys = ["f", "m"]
[columns.born]
bounds = "[1920-01-01, 2026-12-31]"
[columns.region]
keys = [1, 2, 3]
[columns.insured]
keys = [true, false]
[columns.weight]
bounds = "[0, 250] step 0.5"
[columns.note]
text = true

[tables.stays]
belongs_to = "patients"
on = { patient_id = "patient_id" }
key = "stay_id"
max_rows_per_unit = 5
[tables.stays.columns.ward]
keys_of = "wards"
[tables.stays.columns.diagnosis]
keys_of = "diagnoses"
[tables.stays.columns.admitted]
bounds = "[2026-01-01, 2026-12-31]"
[tables.stays.columns.discharged]
bounds = "[2026-01-01, 2027-01-31]"
[tables.stays.columns.cost]
bounds = "[0, 10000] step 0.5"
[tables.stays.columns.urgent]
keys = [true, false]
[tables.stays.columns.remark]
text = true

[tables.measurements]
belongs_to = "stays"
on = { stay_id = "stay_id" }
max_rows_per_unit = 15
[tables.measurements.columns.number]
bounds = "[1, 9] step 1"
[tables.measurements.columns.kind]
keys = ["pulse", "pressure", "heat"]
[tables.measurements.columns.value]
bounds = "[0, 200] step 0.1"
[tables.measurements.columns.taken]
bounds = "[2026-01-01, 2026-12-31]"

[tables.prescriptions]
unit = "taker"
max_rows_per_unit = 4
[tables.prescriptions.columns.drug]
keys_of = "drugs"
[tables.prescriptions.columns.dose]
bounds = "[0, 500] step 5"
[tables.prescriptions.columns.started]
bounds = "[2026-01-01, 2026-12-31]"
[tables.prescriptions.columns.days]
bounds = "[1, 60] step 1"
[tables.prescriptions.columns.hint]
text = true

[tables.wards]
public = true
key = "code"
[tables.drugs]
public = true
key = "drug"
[tables.diagnoses]
public = true
key = "diagnosis"
[tables.norms]
public = true
key = ["norm_kind", "norm_sex"]
[tables.offers]
public = true

[budget]
total = 1000000
"""

LIMITS = {"patients": 1, "stays": 5, "measurements": 15, "prescriptions": 4}
MANY = 10_000
"""A limit that nobody reaches: then every row counts in full, and an answer without noise is the truth."""


@contextmanager
def opened(place: Place, prefix: str, *, tables: Tables | None = None, loose: bool = False) -> Iterator[Dataset]:
    """Put all tables there, by names that begin with the prefix, and yield a dataset that asks them.

    If it is loose, every row counts in full.
    """
    rows = private() if tables is None else tables
    sources: dict[str, str] = {}
    session: Any = None
    target = InOneDuckDB(place.folder) if type(place) is InDuckDB else place
    for name, types in PRIVATE.items():
        sources[name], session = target.put(f"{prefix}_{name}", list(rows[name]), types, ())
    for name, types in PUBLIC.items():
        sources[name], _ = target.put(f"{prefix}_{name}", list(public()[name]), types, ())
    text = written(sources, loose=loose)
    with Dataset.parse(text, spark=session, ledger=place.folder / f"{prefix}.db") as found:
        yield found


def written(sources: dict[str, str], *, loose: bool = False) -> str:
    """Return the contract with the lines that tell where each table is."""
    text = CONTRACT.replace("[dataset]\n", f"[dataset]\n{sources['patients']}\n", 1)
    for name, source in sources.items():
        text = text.replace(f"[tables.{name}]\n", f"[tables.{name}]\n{source}\n", 1)
    if loose:
        for limit in LIMITS.values():
            text = text.replace(f"max_rows_per_unit = {limit}\n", f"max_rows_per_unit = {MANY}\n")
    return text


def read_only(folder: Path) -> Dataset:
    """Return a dataset whose private tables are nowhere: to read questions with."""
    files = InParquet(folder)
    sources = {name: files.put(name, list(public()[name]), types, ())[0] for name, types in PUBLIC.items()}
    nowhere = {name: f"source = '{folder / name}.parquet'" for name in PRIVATE}
    return Dataset.parse(written(sources | nowhere), ledger=folder / "ledger.db")
