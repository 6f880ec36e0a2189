"""What is true of the infirmary: a database in which plain SQL answers as if nothing were protected.

Values are clipped to their bounds and rounded to their step, a key that no list has is missing, and rows of nobody are
left out.  The key of a stay is written with the patient whose it is, `7:40`, in stays and in measurements: then rows
that meet by a key are of one patient, whatever keys repeat, and a question can be run there as it is written.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from fractions import Fraction
from typing import Any

import duckdb

from tests.helpers.engine_places import values
from tests.helpers.infirmary.contract import CONTRACT
from tests.helpers.infirmary.tables import PRIVATE, PUBLIC, Row, Tables, owners, private, public

HALF = Fraction(1, 2)
TYPES = {"float8": "DOUBLE", "text": "VARCHAR"}
OF_KEYS = {"wards": "code", "drugs": "drug", "diagnoses": "diagnosis"}
"""The keys of public tables that private ones point to."""

Possible = Callable[[Any], Any]


def possible_rows(tables: Tables | None = None) -> dict[str, list[Row]]:
    """Return the rows of private tables as questions see them, each with the owner in its key."""
    found = private() if tables is None else tables
    of_stays, of_measurements = owners(found)
    terms = tomllib.loads(CONTRACT)
    columns = {name: _columns(terms if name == "patients" else terms["tables"][name]) for name in PRIVATE}

    def possible(name: str, row: Row) -> Row:
        return {key: columns[name].get(key, _as_it_is)(value) for key, value in row.items()}

    return {
        "patients": [possible("patients", row) for row in found["patients"] if row["patient_id"] is not None],
        "stays": [
            possible("stays", row) | {"stay_id": _of(owner, row["stay_id"])}
            for row, own in zip(found["stays"], of_stays, strict=True)
            for owner in own
        ],
        "measurements": [
            possible("measurements", row) | {"stay_id": _of(owner, row["stay_id"])}
            for row, own in zip(found["measurements"], of_measurements, strict=True)
            for owner in own
        ],
        "prescriptions": [possible("prescriptions", row) for row in found["prescriptions"] if row["taker"] is not None],
    }


def _of(owner: Any, key: Any) -> str | None:
    return None if key is None else f"{owner}:{key}"


def _as_it_is(value: Any) -> Any:
    return value


def _columns(table: dict[str, Any]) -> dict[str, Possible]:
    return {name: _possible(column) for name, column in table["columns"].items()}


def _possible(column: dict[str, Any]) -> Possible:
    if "keys" in column:
        return _listed(column["keys"])
    if "keys_of" in column:
        named = column["keys_of"]
        return _listed([row[OF_KEYS[named]] for row in public()[named]])
    if "bounds" in column:
        ends, _, step = column["bounds"].partition(" step ")
        low, high = ends[1:-1].split(", ")
        if not step:
            return _clipped_day(date.fromisoformat(low), date.fromisoformat(high))
        return _clipped(Fraction(low), Fraction(high), Fraction(step))
    return _as_it_is


def _listed(keys: list[Any]) -> Possible:
    return lambda value: value if any(type(key) is type(value) and key == value for key in keys) else None


def _clipped_day(low: date, high: date) -> Possible:
    return lambda value: None if value is None else max(low, min(high, value))


def _clipped(low: Fraction, high: Fraction, step: Fraction) -> Possible:
    def nearest(value: Any) -> Any:
        if value is None or math.isnan(value):
            return None
        within = low if value <= low else high if value >= high else Fraction(str(value))
        return float(low + math.floor((within - low) / step + HALF) * step)

    return nearest


@contextmanager
def opened_truth(tables: Tables | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a database with the possible rows of all tables."""
    rows = possible_rows(tables) | {name: list(of_table) for name, of_table in public().items()}
    with duckdb.connect() as database:
        for name, types in {**PRIVATE, **PUBLIC}.items():
            columns = ", ".join(f"{key} {_kind(key, kind)}" for key, kind in types.items())
            written = ", ".join(f"({values(row, types)})" for row in rows[name])
            database.execute(f"CREATE TABLE {name} ({columns}); INSERT INTO {name} VALUES {written}")
        yield database


def _kind(key: str, kind: str) -> str:
    """Return the type of a column: numbers with a step are exact decimals, so that sums are exact too."""
    decimals = dict.fromkeys(("value", "cost", "weight"), "DECIMAL(9, 1)")
    return (decimals | {"stay_id": "VARCHAR", "days": "INTEGER"}).get(key, TYPES.get(kind, kind))
