"""Whose a joined row is: a row that belongs to one unit never becomes a row of another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from inbounds.errors import InvalidContract, InvalidQuestion
from inbounds.query import Dataset
from tests.helpers.engine_places import InParquet
from tests.helpers.infirmary.exact import answer_without_noise

Row = tuple[int, ...]

PARTS = """
[dataset]
name = "orders"
unit = "customer"
key = ["year", "number"]
max_rows_per_unit = 9
[tables.lines]
belongs_to = "orders"
on = { year = "year", number = "number" }
max_rows_per_unit = 9
[tables.lines.columns.price]
bounds = "[0, 10] step 1"
[budget]
total = 10
"""
BARE = """
[dataset]
name = "orders"
source = "orders.parquet"
unit = "customer"
key = "number"
[tables.lines]
source = "lines.parquet"
belongs_to = "orders"
on = { number = "number" }
max_rows_per_unit = 9
[budget]
total = 10
"""
BOTH = "orders a JOIN orders b ON a.customer = b.customer"
IN_PARTS = [
    f"SELECT COUNT(*) FROM {BOTH} JOIN lines l ON l.year = a.year AND l.number = b.number",
    f"SELECT COUNT(*) FROM {BOTH} LEFT JOIN lines l ON l.year = a.year AND l.number = b.number WHERE price IS NOT NULL",
    f"SELECT COUNT(*) FROM {BOTH} WHERE EXISTS (SELECT * FROM lines l WHERE l.year = a.year AND l.number = b.number)",
    f"SELECT COUNT(*) FROM (SELECT a.customer AS customer, a.year AS year, b.number AS number FROM {BOTH}) AS t "
    "JOIN lines l ON l.year = t.year AND l.number = t.number",
]


def count(folder: Path, orders: Sequence[Row], lines: Sequence[Row], sql: str) -> int:
    """Return how many rows a question is about."""
    files, whole = InParquet(folder), "bigint"
    order_types = dict.fromkeys(("customer", "year", "number"), whole)
    line_types = dict.fromkeys(("year", "number", "price"), whole)
    order_source, _ = files.put("orders", [dict(zip(order_types, row, strict=True)) for row in orders], order_types, ())
    line_source, _ = files.put("lines", [dict(zip(line_types, row, strict=True)) for row in lines], line_types, ())
    text = PARTS.replace("[dataset]", f"[dataset]\n{order_source}").replace(
        "[tables.lines]", f"[tables.lines]\n{line_source}"
    )
    with Dataset.parse(text, ledger=folder / "ledger.db") as dataset:
        found = answer_without_noise(dataset.sql(sql))
        return int(found.get((), [0])[0])


@pytest.mark.parametrize("sql", IN_PARTS)
def test_parts_of_a_reference_that_come_from_two_rows_do_not_tell_whose_it_is(tmp_path: Path, sql: str) -> None:
    """A line of an order that is somebody else's is no line of a customer who has its year and its number apart."""
    ours, theirs = [(1, 2025, 20), (1, 2026, 30)], [(2, 2025, 30)]
    assert count(tmp_path, ours + theirs, [(2025, 30, 7)], sql) == 1


def test_a_part_of_a_reference_does_not_group_rows_of_one_customer(tmp_path: Path) -> None:
    """Who groups by a part in a subquery is told that it mixes people; what the message says to write is true."""
    orders, lines = [(1, 2025, 30), (2, 2026, 30)], [(2025, 30, 7), (2026, 30, 1), (2026, 30, 2)]
    part = "SELECT COUNT(*) FROM (SELECT number, LEAST(COUNT(*), 3) AS n FROM lines GROUP BY {}) AS t WHERE n > 1"
    told = "grouping by number alone would mix people; write GROUP BY customer, number"
    with pytest.raises(InvalidQuestion, match=told):
        count(tmp_path, orders, lines, part.format("number"))
    assert count(tmp_path, orders, lines, part.format("customer, number")) == 1


@pytest.mark.parametrize("table", ["orders", "lines"])
def test_references_are_never_clipped(table: str) -> None:
    """Bounds would make one key of two that lie beyond them, and one customer's line another's."""
    columns = {"orders": "[columns.number]", "lines": "[tables.lines.columns.number]"}
    with pytest.raises(InvalidContract, match=r"bounds clip those of 'number'; leave its bounds out"):
        Dataset.parse(BARE.replace("[budget]", f"{columns[table]}\nbounds = '[0, 100] step 1'\n[budget]"))
    Dataset.parse(BARE.replace("[budget]", f"{columns[table]}\nkeys = [1, 2]\n[budget]")).close()
