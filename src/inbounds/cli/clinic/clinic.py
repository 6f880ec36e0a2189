"""A small clinic, made up: the same visits every time, so that everyone sees the same story."""

from __future__ import annotations

import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

from inbounds.bounds import Bounds
from inbounds.cli.shell.extras import import_duckdb
from inbounds.errors import InvalidParameter
from inbounds.files.whole_file import replacing

CONTRACT = """\
[dataset]
name = "visits"
source = "visits.parquet"
unit = "patient"                 # whose privacy is protected
max_rows_per_unit = 4            # each patient contributes at most 4 visits

[columns.age]
bounds = "[0, 110] step 1"
[columns.satisfied]
bounds = "[0, 100]"              # per cent
[columns.minutes]
bounds = "[0, 240] step 1"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
weekdays = "Mon-Fri"
closed = [["2026-08-03", "2026-08-14"], "2026-12-25"]
[columns.clinic]
keys = ["north", "south", "east", "west"]
[columns.finding]
keys = ["common", "chronic", "rare"]

[budget]
total = 5.0                      # for everyone together
per_analyst = 3.0
"""

REPORT_NAME = "clinic_year"

REPORT = f"""\
-- report: {REPORT_NAME}
-- title: The clinic's year
-- edition: 2026
-- total: 1.5

-- name: visits
SELECT COUNT(*) AS visits FROM visits;

-- name: visits_by_clinic
-- title: Visits by clinic
-- weight: 2
-- chart: bars
SELECT clinic, COUNT(*) AS visits FROM visits GROUP BY clinic ORDER BY visits DESC;

-- name: visits_by_month
SELECT MONTH(day) AS month, COUNT(*) AS visits FROM visits GROUP BY month;

-- name: age_by_clinic
-- title: Mean age of a visitor, by clinic
-- epsilon: 0.5
SELECT clinic, AVG(age) AS age FROM visits GROUP BY clinic;
"""
"""What could be published of it."""

_SAID = tomllib.loads(CONTRACT)
_DAY = _SAID["columns"]["day"]
YEAR: Any = Bounds.parse(_DAY["bounds"])
"""The days of all visits, also those on which the clinic is closed."""

LIMIT: int = _SAID["dataset"]["max_rows_per_unit"]
"""How many visits of a patient count in full."""

OPEN = Bounds.dates(YEAR.low, YEAR.high, weekdays=_DAY["weekdays"], closed=_DAY["closed"])
"""The days on which the clinic can have been visited."""

MIXED = """
    CREATE MACRO mixed(x, salt) AS
        ((((x * 7919 + salt * 104729 + 1) * 2654435761) % 4294967296) * 40503 % 1000003) / 1000003.0
"""
"""Numbers from 0 to 1 that look random, from arithmetic that is the same everywhere."""

VISITS = """
    SELECT patient, age, satisfied, minutes, day,
           CASE WHEN home < 0.5 THEN 'north' WHEN home < 0.9 THEN 'south' WHEN home < 0.96 THEN 'east' ELSE 'west' END
               AS clinic,
           CASE WHEN patient IN (17, 402) AND visit = 0 THEN 'rare' WHEN ill < 0.3 THEN 'chronic' ELSE 'common' END
               AS finding,  -- and two that the contract does not describe
           ['Birch', 'Cedar', 'Elm'][CAST(1 + patient % 3 AS INT)] AS town, cost
    FROM (
        SELECT patient, visit, mixed(patient, 1) AS home, mixed(patient, 2) AS ill,
               CAST(2 + 50 * mixed(patient, 3) + 48 * mixed(patient, 4) AS INT) AS age,
               round(100 - 8 * mixed(10 * patient + visit, 5) ** 2, 1) AS satisfied,
               CAST(5 + 50 * mixed(10 * patient + visit, 6) * mixed(10 * patient + visit, 7) AS INT) AS minutes,
               DATE '2026-01-01' + CAST(364 * mixed(10 * patient + visit, 8) ** 0.72 AS INT) AS day,
               CAST(20 + 150 * mixed(10 * patient + visit, 10) * mixed(10 * patient + visit, 11) AS INT) AS cost
        FROM range(1000) p(patient), range(9) v(visit)
        WHERE visit <= 5 * mixed(patient, 9) OR patient % 50 = 0
    )
    WHERE isodow(day) <= 5 AND day NOT BETWEEN DATE '2026-08-03' AND DATE '2026-08-14' AND day <> DATE '2026-12-25'
"""


def build(folder: Path) -> Path:
    """Write the visits, the contract and a report into a folder, and return the path of the contract."""
    contract, table = folder / "clinic.toml", folder / "visits.parquet"
    if contract.exists() and contract.read_text(encoding="utf-8") != CONTRACT:
        raise InvalidParameter(f"{str(contract)!r} is not the demonstration's contract; name a new folder")
    contract.write_text(CONTRACT, encoding="utf-8")  # first, so that an unfinished folder is known again
    report = folder / "report.sql"
    if not report.exists():  # which whoever tries things out may have changed
        report.write_text(REPORT, encoding="utf-8")
    with replacing(table) as unfinished, import_duckdb().connect() as connection:
        connection.execute(MIXED)
        connection.execute(f"COPY ({VISITS} ORDER BY patient, visit) TO ? (FORMAT parquet)", [str(unfinished)])
    return contract


def true_rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return what a question would get without any privacy: for the story only, for these patients are made up."""
    with import_duckdb().connect() as connection:
        connection.execute("CREATE MACRO proportion(x) AS avg(CASE WHEN x THEN 1 ELSE 0 END)")
        connection.from_parquet(str(folder / "visits.parquet"), hive_partitioning=False).create_view("visits")
        rows = connection.execute(sql).fetchall()
    return [tuple(cell.date() if isinstance(cell, datetime) else cell for cell in row) for row in rows]
