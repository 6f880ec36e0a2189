"""Questions about times that are refused, and what their remedies lead to."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from inbounds.query import Dataset, column
from tests.helpers.remedies.followed import Followed, followed

SHIFTS = """
[dataset]
name = "shifts"
source = "shifts.parquet"
unit = "row"
[columns.ward]
keys = ["a", "b"]
[columns.came]
bounds = "[2025-01-01 00:00, 2025-12-31 23:59:59] step 1s"
[columns.went]
bounds = "[2025-01-01 00:00, 2026-01-31 23:45] step 15min"
[columns.clock]
bounds = "[06:00, 21:59] step 1min"
[columns.cost]
bounds = "[0, 600] step 0.5"
[columns.day]
bounds = "[2025-01-01, 2025-12-31]"
[budget]
total = 1
"""

COUNT = "SELECT COUNT(*) FROM shifts"


def read_only(folder: Path) -> Dataset:
    """Return a dataset of shifts, each a unit of its own, whose rows are nowhere."""
    return Dataset.parse(SHIFTS, ledger=folder / "ledger.db")


CASES: list[Followed] = [
    followed(
        "SELECT CAST(came AS TEXT), COUNT(*) FROM shifts GROUP BY 1",
        "SELECT STRFTIME(came, '%H'), COUNT(*) FROM shifts GROUP BY 1",
    ),
    followed(
        lambda d: d.mean(column("cost") * timedelta(hours=1)), lambda d: d.median(column("came") + timedelta(hours=1))
    ),
    followed(
        lambda d: d.median(column("came") + timedelta(microseconds=1)),
        lambda d: d.median(column("came") + timedelta(seconds=1)),
    ),
    followed(f"{COUNT} WHERE came > 'noon'", f"{COUNT} WHERE came > '2026-12-31 23:59:59'"),
    followed(f"{COUNT} WHERE clock > '2025-03-01'", f"{COUNT} WHERE clock > '21:30:00'"),
    followed(
        f"{COUNT} WHERE came > TIMESTAMP '2025-03-01 12:00Z'", f"{COUNT} WHERE came > TIMESTAMP '2025-03-01 12:00:00'"
    ),
    followed("SELECT MEDIAN(came + went) FROM shifts", "SELECT MEDIAN(went - came) FROM shifts"),
    followed("SELECT MEDIAN(came + cost) FROM shifts", "SELECT MEDIAN(came + INTERVAL '6' HOUR) FROM shifts"),
    followed(
        "SELECT MEDIAN(cost + INTERVAL '6' HOUR) FROM shifts", "SELECT MEDIAN(came + INTERVAL '6' HOUR) FROM shifts"
    ),
    followed(
        f"{COUNT} WHERE clock + INTERVAL '6' HOUR > '12:00'", f"{COUNT} WHERE clock + INTERVAL '2' HOUR > '12:00'"
    ),
    followed(
        f"{COUNT} WHERE clock > TIME '22:00' + INTERVAL '6' HOUR",
        f"{COUNT} WHERE clock > TIME '12:00' + INTERVAL '1' HOUR",
    ),
    followed(
        f"{COUNT} WHERE came > TIMESTAMP '2025-03-01 12:00' + INTERVAL '1.5' DAY",
        f"{COUNT} WHERE came > TIMESTAMP '2025-03-01 12:00' + INTERVAL '3' MONTH",
    ),
]
