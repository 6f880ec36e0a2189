"""The tables of the infirmary: patients, their stays, what was measured in a stay, and prescriptions; more are public.

Rows are odd on purpose: some refer to nothing, or to a key that two patients have; keys are missing or there twice;
days and values are beyond their bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from random import Random
from typing import Any

Row = dict[str, Any]
Tables = Mapping[str, Sequence[Row]]

PRIVATE: dict[str, dict[str, str]] = {
    "patients": {
        "patient_id": "bigint", "sex": "text", "born": "date", "region": "bigint", "insured": "boolean",
        "weight": "float8", "note": "text",
    },
    "stays": {
        "stay_id": "bigint", "patient_id": "bigint", "ward": "text", "diagnosis": "text", "admitted": "date",
        "discharged": "date", "cost": "float8", "urgent": "boolean", "remark": "text",
    },
    "measurements": {
        "stay_id": "bigint", "number": "bigint", "kind": "text", "value": "float8", "taken": "date",
    },
    "prescriptions": {
        "taker": "bigint", "drug": "bigint", "dose": "bigint", "started": "date", "days": "bigint", "hint": "text",
    },
}  # fmt: skip
"""The columns of private tables and what they hold, as PostgreSQL calls it."""

PUBLIC: dict[str, dict[str, str]] = {
    "wards": {"code": "text", "ward_name": "text", "floor": "bigint", "beds": "bigint", "building": "text"},
    "drugs": {"drug": "bigint", "drug_name": "text", "family": "text", "price": "float8"},
    "diagnoses": {"diagnosis": "text", "chapter": "text", "chronic": "boolean"},
    "norms": {"norm_kind": "text", "norm_sex": "text", "low": "float8", "high": "float8"},
    "offers": {"offered": "bigint", "seller": "text", "discount": "bigint"},
}

WARDS = [
    ("a1", "surgery", 1, 20, "old"),
    ("a2", "surgery", 2, 24, "old"),
    ("b1", "medicine", 1, 30, "old"),
    ("b2", "medicine", 3, 18, "new"),
    ("c1", "children", 2, 16, "new"),
    ("c2", "eyes", 3, 8, "new"),  # nobody lies there
]
DRUGS = [
    (1, "aspirin", "pain", 2.5),
    (2, "ibuprofen", "pain", 4.0),
    (3, "insulin", "hormone", 30.0),
    (4, "cortisone", "hormone", 12.5),
    (5, "amoxicillin", "antibiotic", 8.0),
    (6, "placebo", None, 0.5),
]
DIAGNOSES = [("I10", "heart", True), ("J06", "lungs", False), ("E11", "metabolism", True), ("S52", "injury", False)]
NORMS = [
    (kind, sex, low + (sex == "m"), high + (sex == "m"))
    for kind, low, high in (("pulse", 50.0, 100.0), ("pressure", 90.0, 140.0), ("heat", 36.0, 38.0))
    for sex in ("f", "m")
]
OFFERS = [(1, "north", 10), (1, "south", 20), (2, "north", 5), (3, "north", 0), (3, "south", 15), (3, "west", 30)]
"""A table without a key: a drug is offered by several."""

FAR = [date(1, 1, 1), date(1899, 12, 31), date(2025, 12, 31), date(2027, 6, 1), date(9999, 12, 31)]


@cache
def public() -> Tables:
    """Return the rows of the public tables."""
    tables: dict[str, list[Any]] = {
        "wards": WARDS,
        "drugs": DRUGS,
        "diagnoses": DIAGNOSES,
        "norms": NORMS,
        "offers": OFFERS,
    }
    return {name: [dict(zip(PUBLIC[name], row, strict=True)) for row in rows] for name, rows in tables.items()}


@cache
def private() -> Tables:
    """Return the rows of the private tables: 300 patients, and a few who are not among them."""
    random = Random(20261118)
    patients = [_patient(random, number) for number in range(300)]
    stays = [_stay(random, number) for number in range(700)]
    often = [_stay(random, 700 + number) | {"patient_id": 7} for number in range(14)]  # more than count in full
    stays += [*often, *_odd_stays(stays)]
    measurements = [_measurement(random, stays) for _ in range(2400)]
    measurements += [row | {"stay_id": 4} for row in measurements[:50]]  # of one stay
    measurements += [*measurements[::200], *_odd_measurements(measurements)]
    prescriptions = [_prescription(random) for _ in range(800)]
    prescriptions += prescriptions[::90]
    return {
        "patients": [*patients, patients[10], patients[20] | {"sex": "f"}, patients[5] | {"patient_id": None}],
        "stays": stays,
        "measurements": measurements,
        "prescriptions": prescriptions,
    }


def _day(random: Random) -> date:
    return date(2026, 1, 1) + timedelta(random.randrange(365))


def _oddly(random: Random, value: Any, *odd: Any) -> Any:
    """Return a value, or now and then what it should not be."""
    return random.choice([None, *odd]) if random.random() < 0.06 else value


def _patient(random: Random, number: int) -> Row:
    born = date(1920, 1, 1) + timedelta(random.randrange(38000))
    return {
        "patient_id": number,
        "sex": _oddly(random, random.choice("ffmm"), "F", "", "unknown"),
        "born": _oddly(random, born, *FAR),
        "region": _oddly(random, random.choice([1, 2, 2, 3]), 0, 17),
        "insured": _oddly(random, random.random() < 0.8),
        "weight": _oddly(random, random.randrange(60, 400) / 2, -3.0, 400.0, 71.3, float("nan")),
        "note": random.choice(["moved here", "likes tea", "special diet on requests", "", "100%"]),
    }


def _stay(random: Random, number: int) -> Row:
    day = _day(random)
    return {
        "stay_id": number,
        "patient_id": _oddly(random, random.choice([*range(250), 1, 1, 2]), 1000, 1001),
        "ward": _oddly(random, random.choice(["a1", "a1", "a2", "b1", "b2", "c1"]), "A1", "z9", ""),
        "diagnosis": _oddly(random, random.choice(["I10", "J06", "E11", "S52"]), "X00"),
        "admitted": _oddly(random, day, *FAR),
        "discharged": _oddly(random, day + timedelta(random.randrange(25)), *FAR),
        "cost": _oddly(random, random.randrange(0, 20000) / 2, -5.0, 1e9, float("inf"), 12.3),
        "urgent": _oddly(random, random.random() < 0.3),
        "remark": random.choice(["fall at home", "planned", "fell, at work", None]),
    }


def _odd_stays(stays: Sequence[Row]) -> list[Row]:
    """Return stays whose key is missing, is that of another patient's, or is there twice for the same patient."""
    of_others = [row | {"patient_id": (row["patient_id"] or 0) + 3} for row in stays[40:52]]
    return [
        stays[3] | {"stay_id": None},
        stays[8] | {"stay_id": None},
        *of_others,
        stays[60],
        stays[61] | {"cost": 1.0},
    ]


def _measurement(random: Random, stays: Sequence[Row]) -> Row:
    stay = random.choice(stays)
    kind, middle = random.choice([("pulse", 80), ("pressure", 120), ("heat", 37)])
    day = stay["admitted"]
    later = day + timedelta(random.randrange(10)) if day is not None and day.year == 2026 else _day(random)
    return {
        "stay_id": _oddly(random, stay["stay_id"], 90000, 90001),
        "number": random.randrange(1, 10),
        "kind": _oddly(random, kind, "PULSE", "mood"),
        "value": _oddly(random, middle + random.randrange(-300, 301) / 10, -40.0, 999.0, float("nan")),
        "taken": _oddly(random, later, *FAR),
    }


def _odd_measurements(measurements: Sequence[Row]) -> list[Row]:
    """Return measurements that refer to nothing, or to stays that two patients have."""
    return [measurements[0] | {"stay_id": None}, *(measurements[i] | {"stay_id": 40 + i} for i in range(12))]


def _prescription(random: Random) -> Row:
    return {
        "taker": _oddly(random, random.choice([*range(100, 300), 5, 5, 6]), 2000, 2001),
        "drug": _oddly(random, random.choice([1, 1, 2, 3, 4, 5, 6]), 0, 99),
        "dose": _oddly(random, random.randrange(0, 505, 5), -10, 7, 10**9),
        "started": _oddly(random, _day(random), *FAR),
        "days": _oddly(random, random.randrange(1, 61), 0, 400),
        "hint": random.choice(["after meals", "before meals", "at night", None]),
    }


def owners(tables: Tables) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return whose each stay and each measurement is: nobody's, somebody's, or of several; in the order of the rows."""
    known = {row["patient_id"] for row in tables["patients"]} - {None}
    of_stays = [[row["patient_id"]] if row["patient_id"] in known else [] for row in tables["stays"]]
    of_keys: dict[Any, list[Any]] = {}
    for row, of_stay in zip(tables["stays"], of_stays, strict=True):
        if row["stay_id"] is not None:
            have = of_keys.setdefault(row["stay_id"], [])
            have.extend(one for one in of_stay if one not in have)
    return of_stays, [of_keys.get(row["stay_id"], []) for row in tables["measurements"]]


def without(tables: Tables, patient: Any) -> Tables:
    """Return the tables without all rows of one patient; what is of another as well stays the other's."""
    _, of_measurements = owners(tables)
    return {
        "patients": [row for row in tables["patients"] if row["patient_id"] != patient],
        "stays": [row for row in tables["stays"] if row["patient_id"] != patient],
        "measurements": [
            row for row, own in zip(tables["measurements"], of_measurements, strict=True) if own != [patient]
        ],
        "prescriptions": [row for row in tables["prescriptions"] if row["taker"] != patient],
    }
