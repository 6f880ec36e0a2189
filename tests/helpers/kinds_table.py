"""A table that has a column of every kind, beside the clinic of the demonstration, both served."""

from __future__ import annotations

from pathlib import Path

import duckdb

from inbounds.cli.clinic.clinic import CONTRACT
from inbounds.cli.clinic.clinic import build as build_clinic
from inbounds.cli.commands.serve import DEMO
from inbounds.server.people.key_ring import KeyRing
from inbounds.server.state.custodian_file import CustodianFile
from inbounds.server.state.database import Database
from tests.helpers.served_hospital import Served, begin_ledger, free_port

KINDS = """\
[dataset]
name = "{name}"
source = "kinds.parquet"
unit = "row"
tick = {tick}

[columns.seen]
bounds = "[2026-01-01 00:00, 2026-12-31 23:45] step 15min"
[columns.arrived]
bounds = "[2026-01-01 00:00, 2026-12-31 23:45] step 15min"
timezone = "Europe/Zurich"
[columns.clock]
bounds = "[00:00, 23:59] step 1min"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
[columns.amount]
bounds = "[0, 10000000000] step 1"
[columns.weight]
bounds = "[0, 1]"
[columns.urgent]
keys = [true, false]
[columns.ward]
keys = [1, 2, 30]
[columns.town]
keys = ["Zürich", "Basel"]

[budget]
total = 1000
"""

ROWS = """
    SELECT TIMESTAMP '2026-03-29 00:00:00' + to_minutes(CAST(i AS BIGINT)) AS seen,
           TIMESTAMPTZ '2026-10-25 00:00:00+00' + to_minutes(CAST(i AS BIGINT)) AS arrived,
           TIME '08:00:00' + to_minutes(CAST(i % 600 AS BIGINT)) AS clock,
           DATE '2026-02-01' + CAST(i % 200 AS INTEGER) AS day,
           i * 1000000 AS amount, (i % 100) / 100.0 AS weight, i % 3 = 0 AS urgent,
           CASE WHEN i % 2 = 0 THEN 1 ELSE 30 END AS ward, CASE WHEN i % 5 = 0 THEN 'Basel' ELSE 'Zürich' END AS town
    FROM range(4000) r(i)
"""

SLOW_TICK = 5
"""So many seconds a question to `slow` runs, at least: time enough to interrupt it."""


def serve_kinds(folder: Path) -> Served:
    """Write the clinic and the other table into a folder, with large budgets, and issue everybody a key."""
    build_clinic(folder)
    clinic = CONTRACT.replace('name = "visits"', 'name = "visits"\ntick = 0.05', 1)
    clinic = clinic.replace("total = 5.0", "total = 500").replace("per_analyst = 3.0", "per_analyst = 200")
    contracts = {
        "clinic.toml": clinic,
        "kinds.toml": KINDS.format(name="kinds", tick=0.05),
        "slow.toml": KINDS.format(name="slow", tick=SLOW_TICK),
    }
    for name, text in contracts.items():
        (folder / name).write_text(text, "utf-8")
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({ROWS}) TO '{folder / 'kinds.parquet'}' (FORMAT parquet)")
    text = DEMO.format(port=free_port()).replace('"clinic.toml"', ", ".join(f'"{name}"' for name in contracts))
    path = folder / "custodian.toml"
    path.write_text(text.replace('["visits"]', '["visits", "kinds", "slow"]'), "utf-8")
    file = CustodianFile.load(path)
    begin_ledger(file)
    ring = KeyRing(Database(file.state))
    return Served(folder, path, {name: ring.issue(name)[0] for name in file.people})
