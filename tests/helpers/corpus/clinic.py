"""The clinic of the corpus: visits and prescriptions are private, and what is known of each place is public."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any

from inbounds.query import Dataset
from tests.helpers.engine_places import Place

Row = dict[str, Any]

CONTRACT = """
[dataset]
name = "visits"
unit = "patient"
max_rows_per_unit = 3

[columns.age]
bounds = "[0, 120] step 1"
[columns.cost]
bounds = "[0, 500] step 0.5"
[columns.pain]
bounds = "[0, 10]"
[columns.admitted]
bounds = "[2026-01-01, 2026-12-31]"
[columns.discharged]
bounds = "[2026-01-01, 2027-01-31]"
[columns.clinic]
keys = ["north", "south", "West", "St. Mary's"]
[columns.sex]
keys = ["f", "m"]
[columns.ward]
keys = [1, 2, 30]
[columns.urgent]
keys = [true, false]
[columns.month]
from = "MONTH(admitted)"
[columns.agegroup]
from = "CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'senior' END"

[tables.prescriptions]
unit = "taker"
max_rows_per_unit = 2
[tables.prescriptions.columns.dose]
bounds = "[0, 200] step 5"
[tables.prescriptions.columns.drug]
keys = ["aspirin", "insulin", "Ibuprofen", "Insulin"]
[tables.prescriptions.columns.cost]
bounds = "[-20, 100] step 0.25"
[tables.prescriptions.columns.started]
bounds = "[2026-01-01, 2026-12-31]"

[tables.clinics]
source = 'FOLDER/clinics.csv'
public = true
key = "name"
[tables.clinics.columns.region]
keys = ["coast", "inland"]
[tables.clinics.columns.beds]
bounds = "[0, 300] step 1"

[budget]
total = 1000000
"""
CLINICS = 'name,region,beds\nnorth,coast,120\nsouth,inland,480\n"St. Mary\'s",coast,\nelsewhere,inland,3\n'
PUBLIC: dict[str, dict[str, Row]] = {
    "clinics": {
        "north": {"region": "coast", "beds": 120},
        "south": {"region": "inland", "beds": 300},
        "St. Mary's": {"region": "coast", "beds": None},
        "elsewhere": {"region": "inland", "beds": 3},
    }
}
VISITS = {
    "patient": "bigint", "age": "bigint", "cost": "float8", "pain": "float8", "admitted": "date", "discharged": "date",
    "clinic": "text", "sex": "text", "ward": "bigint", "urgent": "boolean",
}  # fmt: skip
PRESCRIPTIONS = {"taker": "bigint", "dose": "bigint", "drug": "text", "cost": "float8", "started": "date"}
INTEGERS = {"visits": ("age",), "prescriptions": ("dose",)}
"""The columns that the tables hold as integers."""

INFINITE, NO_NUMBER = float("inf"), float("nan")
FAR = [date(1, 1, 1), date(1999, 12, 31), date(2025, 12, 31), date(2027, 2, 1), date(9999, 12, 31)]
ENDS = [date(2026, 1, 1), date(2026, 12, 31), date(2026, 3, 31), date(2026, 4, 1)]
ODD: dict[str, list[Any]] = {
    "age": [-1, 0, 17, 18, 64, 65, 120, 121, -(10**12), 10**12],
    "cost": [INFINITE, -INFINITE, NO_NUMBER, -1e300, -20.0, -0.25, 0.0, 0.24, 0.25, 99.75, 500.0, 500.25, 1e300],
    "pain": [INFINITE, -INFINITE, NO_NUMBER, -1.0, 0.0, 5.0, 9.999999999, 10.0, 1e9],
    "admitted": FAR + ENDS,
    "discharged": FAR + ENDS,
    "started": FAR + ENDS,
    "clinic": ["NORTH", "north ", "", "west", "St. Mary''s", 'a "b"', "'; DROP TABLE visits; --", "ünï"],
    "sex": ["F", "x", ""],
    "ward": [0, 3, -1, 10**12],
    "urgent": [None],
    "dose": [-5, 0, 2, 3, 7, 200, 1000, 10**15],
    "drug": ["ASPIRIN", "%", "_nsulin", "insulin'"],
}
"""Values out of bounds, at the ends, between steps, and keys that no list has."""


def visits() -> list[Row]:
    """Return the visits: some patients come often, some once, and some rows belong to nobody."""
    random = Random(20261120)

    def row() -> Row:
        day = date(2026, 1, 1) + timedelta(random.randrange(365))
        return {
            "patient": random.choice([*range(60), 1, 1, 1, 2, 2, 3, None]),
            "age": random.randrange(121),
            "cost": random.randrange(1000) / 2,
            "pain": random.randrange(101) / 10,
            "admitted": day,
            "discharged": day + timedelta(random.randrange(30)),
            "clinic": random.choice(["north", "north", "south", "West", "St. Mary's"]),
            "sex": random.choice(["f", "m"]),
            "ward": random.choice([1, 1, 2, 30]),
            "urgent": random.choice([True, False]),
        }

    return _with_duplicates([_oddly(random, row()) for _ in range(240)])


def prescriptions() -> list[Row]:
    """Return the prescriptions: some takers have no visits, and some patients take nothing."""
    random = Random(20261121)

    def row() -> Row:
        return {
            "taker": random.choice([*range(20, 70), 1, 1, 2, None]),
            "dose": random.randrange(0, 205, 5),
            "drug": random.choice(["aspirin", "insulin", "Ibuprofen", "Insulin"]),
            "cost": random.randrange(-80, 400) / 4,
            "started": date(2026, 1, 1) + timedelta(random.randrange(365)),
        }

    return _with_duplicates([_oddly(random, row()) for _ in range(110)])


def _oddly(random: Random, row: Row) -> Row:
    """Return a row in which some values are missing, and some are what they should not be."""
    found = dict(row)
    for name in row:
        if name in ODD and random.random() < 0.15:
            found[name] = None if random.random() < 0.3 else random.choice(ODD[name])
    return found


def _with_duplicates(rows: list[Row]) -> list[Row]:
    """Return rows with every fifteenth there twice."""
    return [*rows, *rows[::15]]


@contextmanager
def opened(place: Place, table: str) -> Iterator[Dataset]:
    """Put all tables there, and yield a dataset that asks them; `table` is a name that nothing there has."""
    (place.folder / "clinics.csv").write_text(CLINICS, encoding="utf-8")
    source, _ = place.put(table, [*prescriptions()], PRESCRIPTIONS, ())
    contract = CONTRACT.replace("FOLDER", str(place.folder))
    contract = contract.replace("[tables.prescriptions]\n", f"[tables.prescriptions]\n{source}\n")
    yield place.dataset(visits(), VISITS, contract)


def read_only(folder: Path) -> Dataset:
    """Return a dataset whose tables are nowhere: to read questions with."""
    (folder / "clinics.csv").write_text(CLINICS, encoding="utf-8")
    return Dataset.parse(CONTRACT.replace("FOLDER", str(folder)), ledger=folder / "ledger.db")
