"""The hospital that is asked: visits and patients are private, wards are public, and every row counts in full."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import duckdb

from inbounds.query import Dataset
from tests.helpers.engine_places import InParquet, values

WARDS = ("cardiology", "emergency", "geriatrics", "surgery")
REGIONS = ("east", "north", "south")
INSURANCES = ("basic", "private", "state")
DIAGNOSES = ("E11", "I10", "I21", "J18", "J45", "S72")
MOST_VISITS = 6

CONTRACT = """
[dataset]
name = "visits"
unit = "patient_id"
max_rows_per_unit = 6

[columns.ward]
keys = ["cardiology", "emergency", "geriatrics", "surgery"]
[columns.region]
keys = ["east", "north", "south"]
[columns.sex]
keys = ["f", "m"]
[columns.insurance]
keys = ["basic", "private", "state"]
[columns.diagnosis]
keys = ["E11", "I10", "I21", "J18", "J45", "S72"]
[columns.readmitted]
keys = [true, false]
[columns.age]
bounds = "[0, 110] step 1"
[columns.cost]
bounds = "[0, 999.99] step 0.01"
[columns.stay]
bounds = "[0, 30] step 1"
[columns.pain]
bounds = "[0, 10] step 1"
[columns.admitted]
bounds = "[2025-01-01, 2025-12-31]"
[columns.discharged]
bounds = "[2025-01-01, 2026-01-31]"

[tables.patients]
max_rows_per_unit = 1
[tables.patients.columns.sex]
keys = ["f", "m"]
[tables.patients.columns.region]
keys = ["east", "north", "south"]
[tables.patients.columns.smoker]
keys = [true, false]
[tables.patients.columns.birth_year]
bounds = "[1920, 2025] step 1"

[tables.wards]
public = true
key = "ward"

[budget]
total = 1000000
"""


@dataclass(frozen=True)
class Visit:
    """One visit of a patient; what a patient did not say is None."""

    patient_id: int
    ward: str
    region: str
    sex: str
    insurance: str | None
    diagnosis: str
    readmitted: bool
    age: int
    cost: float
    stay: int
    pain: int | None
    admitted: date
    discharged: date


@dataclass(frozen=True)
class Patient:
    """One patient; some have never come."""

    patient_id: int
    sex: str
    region: str
    smoker: bool
    birth_year: int


@dataclass(frozen=True)
class Ward:
    """What is public of a ward."""

    ward: str
    building: str
    beds: int


@dataclass(frozen=True)
class Hospital:
    """All rows, for plain Python."""

    visits: tuple[Visit, ...]
    patients: tuple[Patient, ...]
    wards: tuple[Ward, ...]


TYPES: dict[type, dict[str, str]] = {
    Visit: {
        "patient_id": "bigint", "ward": "text", "region": "text", "sex": "text", "insurance": "text",
        "diagnosis": "text", "readmitted": "boolean", "age": "bigint", "cost": "float8", "stay": "bigint",
        "pain": "bigint", "admitted": "date", "discharged": "date",
    },
    Patient: {
        "patient_id": "bigint", "sex": "text", "region": "text", "smoker": "boolean", "birth_year": "bigint",
    },
    Ward: {"ward": "text", "building": "text", "beds": "bigint"},
}  # fmt: skip


@cache
def hospital() -> Hospital:
    """Return the one hospital: some patients have never come, all others one to six times."""
    random = Random(20251118)
    patients = tuple(
        Patient(
            patient_id=number,
            sex=random.choice("fm"),
            region=random.choice(REGIONS),
            smoker=random.random() < 0.3,
            birth_year=random.randrange(1930, 2015),
        )
        for number in range(1, 1001)
    )
    visits = tuple(
        _visit(random, patient) for patient in patients[:-60] for _ in range(random.randrange(1, MOST_VISITS + 1))
    )
    wards = (
        Ward("cardiology", "main", 24),
        Ward("emergency", "annex", 12),
        Ward("geriatrics", "annex", 40),
        Ward("surgery", "main", 30),
    )
    return Hospital(visits, patients, wards)


def _visit(random: Random, patient: Patient) -> Visit:
    """Return a visit; long stays of the old are dear, and more of them come back."""
    admitted = date(2025, 1, 1) + timedelta(random.randrange(365))
    stay = min(random.randrange(31), random.randrange(31))
    age = 2025 - patient.birth_year
    return Visit(
        patient_id=patient.patient_id,
        ward=random.choices(WARDS, (4, 6, 3, 5))[0],
        region=patient.region,
        sex=patient.sex,
        insurance=random.choice((*INSURANCES, *INSURANCES, "basic", None)),
        diagnosis=random.choices(DIAGNOSES, (5, 4, 3, 2, 2, 1))[0],
        readmitted=random.random() < 0.1 + age / 300,
        age=age,
        cost=(random.randrange(1000, 40_000) + 1500 * stay + 100 * age) / 100,
        stay=stay,
        pain=random.choice((*range(11), None)),
        admitted=admitted,
        discharged=admitted + timedelta(stay),
    )


def without(patient: int) -> Hospital:
    """Return the hospital without one patient: its neighbour."""
    every = hospital()
    visits = tuple(visit for visit in every.visits if visit.patient_id != patient)
    return Hospital(visits, tuple(one for one in every.patients if one.patient_id != patient), every.wards)


def _tables(of: Hospital) -> dict[str, tuple[type, tuple[Any, ...]]]:
    return {"visits": (Visit, of.visits), "patients": (Patient, of.patients), "wards": (Ward, of.wards)}


def _put(folder: Path, of: Hospital) -> str:
    """Put all tables there as files, and return the contract that says where they are."""
    files = InParquet(folder)
    text = CONTRACT
    for name, (kind, rows) in _tables(of).items():
        source, _ = files.put(f"spelt_{name}", [asdict(row) for row in rows], TYPES[kind], ())
        head = "[dataset]\n" if name == "visits" else f"[tables.{name}]\n"
        text = text.replace(head, f"{head}{source}\n", 1)
    return text


@contextmanager
def opened(folder: Path, of: Hospital | None = None) -> Iterator[Dataset]:
    """Put all tables there as files, and yield a dataset that asks them."""
    with Dataset.parse(_put(folder, of or hospital()), ledger=folder / "ledger.db") as found:
        yield found


@contextmanager
def opened_plainly() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a database in which nothing is protected, with the tables in the schema `public`."""
    with duckdb.connect() as database:
        database.execute("CREATE SCHEMA public; SET schema = 'public'")
        for name, (kind, rows) in _tables(hospital()).items():
            types = TYPES[kind]
            assert [field.name for field in fields(kind)] == list(types)
            columns = ", ".join(f"{column} {InParquet.types.get(sort, sort)}" for column, sort in types.items())
            database.execute(f"CREATE TABLE {name} ({columns})")
            inserted = ", ".join(f"({values(asdict(row), types)})" for row in rows)
            database.execute(f"INSERT INTO {name} VALUES {inserted}")
        yield database
