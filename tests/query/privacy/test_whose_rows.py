"""Rows that could be taken for those of another unit: by a part of a reference, by what is clipped, or by a name."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from tests.helpers.unit_changes import part_of_sensitivity, quick_plan

CUSTOMERS = 40

CONTRACT = """
[dataset]
name = "orders"
source = "orders.parquet"
unit = "customer"
key = {key}
max_rows_per_unit = 5
[columns.size]
bounds = "[0, 3] step 1"
[columns.note]
text = true
{described}
[tables.lines]
source = "lines.parquet"
belongs_to = "orders"
on = {on}
max_rows_per_unit = 5
[tables.lines.columns.price]
bounds = "[0, 9] step 1"
{described_there}
[budget]
total = 1
"""

PLAIN = CONTRACT.format(key='"a"', on='{ a = "a" }', described="", described_there="")
COMPOSITE = CONTRACT.format(key='["a", "b"]', on='{ a = "a", b = "b" }', described="", described_there="")
MANY_ORDERS = "SELECT i AS customer, 10 + i AS a, i AS b, 1 AS size, CAST(9 + {n} AS TEXT) AS note FROM range({n}) t(i)"
"""Each has an order, and a note that names the order of the last one."""
TWO_ORDERS = """
    SELECT i AS customer, j AS a, j AS b, 1 AS size, '' AS note FROM range({n} - 1) t(i), range(2) u(j)
    UNION ALL SELECT {n}, 0, 1, 1, ''
"""
"""Each but the last has the orders (0, 0) and (1, 1), and the last one has (0, 1)."""
LAST_LINES = "SELECT {a} AS a, 1 AS b, i AS price FROM range(9) t(i)"


def worst_change(folder: Path, contract: str, orders: str, lines: str, question: str) -> float:
    """Return what the last customer changes, who has all lines, as a part of the sensitivity."""
    totals = []
    for side in ("more", "less"):
        place = folder / side
        place.mkdir()
        gone = "" if side == "more" else f" WHERE customer < (SELECT MAX(customer) FROM ({orders}))"
        duckdb.sql(f"COPY (SELECT * FROM ({orders}){gone}) TO '{place}/orders.parquet'")
        duckdb.sql(f"COPY (SELECT * FROM ({lines}) WHERE {side == 'more'}) TO '{place}/lines.parquet'")
        (place / "contract.toml").write_text(contract, encoding="utf-8")
        with Dataset.load(place / "contract.toml") as dataset:
            plan = quick_plan(dataset.sql(question))
            totals.append(plan.totals(dataset.engine.run(plan.sql)))
    return float(part_of_sensitivity(plan, *totals))


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) FROM orders o JOIN orders p ON o.customer = p.customer JOIN lines l "
        "ON l.a = o.a AND l.b = p.b",
        "SELECT COUNT(*) FROM orders o JOIN orders p ON o.customer = p.customer WHERE EXISTS "
        "(SELECT * FROM lines l WHERE l.a = o.a AND l.b = p.b)",
        "SELECT COUNT(*) FROM (SELECT o.customer AS who, o.a AS a, p.b AS b FROM orders o JOIN orders p "
        "ON o.customer = p.customer) AS t JOIN lines l ON l.a = t.a AND l.b = t.b",
    ],
)
def test_parts_of_a_reference_are_of_one_row(tmp_path: Path, question: str) -> None:
    """A row that refers by two columns to an order of one customer does not join two orders of another one."""
    orders = TWO_ORDERS.format(n=CUSTOMERS)
    assert worst_change(tmp_path, COMPOSITE, orders, LAST_LINES.format(a=0), question) <= 1


@pytest.mark.parametrize(
    "question",
    [
        'SELECT COUNT(*) FROM (SELECT customer, note AS "K", a AS "k", COUNT(*) AS n FROM orders GROUP BY customer, '
        'note, a) AS t JOIN lines l ON t."k" = l.a',
        'SELECT COUNT(*) FROM (SELECT customer, note AS "K", a AS "k" FROM orders) AS t JOIN orders o '
        'ON o.customer = t.customer AND o.note = t."K" JOIN lines l ON t."k" = l.a',
        f'SELECT COUNT(*) FROM (SELECT customer, note AS "{"k" * 70}1", a AS "{"k" * 70}2", COUNT(*) AS n FROM orders '
        f'GROUP BY customer, note, a) AS t JOIN lines l ON t."{"k" * 70}2" = l.a',
    ],
)
def test_names_alike_are_not_taken_for_each_other(tmp_path: Path, question: str) -> None:
    """A note that the question calls nearly as the order is not what lines are matched by."""
    orders = MANY_ORDERS.format(n=CUSTOMERS)
    assert worst_change(tmp_path, PLAIN, orders, LAST_LINES.format(a=9 + CUSTOMERS), question) <= 1


@pytest.mark.parametrize(
    ("question", "why"),
    [
        (
            'SELECT COUNT(*) FROM (SELECT t." key k" AS who, t.k FROM (SELECT customer AS " key k", a AS k, COUNT(*) '
            'AS n FROM orders GROUP BY customer, a) AS t JOIN orders o ON o.customer = t." key k") AS u '
            "JOIN lines l ON u.k = l.a",
            "begins with a space",
        ),
        (
            "SELECT COUNT(*) FROM (SELECT customer AS a, size FROM orders) AS orders JOIN lines l ON orders.a = l.a",
            "could belong to two units",
        ),
    ],
)
def test_a_unit_is_not_called_like_another_column(tmp_path: Path, question: str, why: str) -> None:
    """A unit that is called as a statement calls keys, or as the contract calls a key, is taken for neither."""
    orders = MANY_ORDERS.format(n=CUSTOMERS)
    with pytest.raises(InvalidQuestion, match=why):
        worst_change(tmp_path, PLAIN, orders, LAST_LINES.format(a=9 + CUSTOMERS), question)


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) FROM (SELECT customer AS row, a FROM orders GROUP BY customer, a) AS t",
        'SELECT COUNT(*) FROM (SELECT DISTINCT customer AS "row", a FROM orders) AS t',
        'SELECT SUM(size) FROM (SELECT customer AS "row", a, size FROM orders) AS t JOIN lines l ON t.a = l.a',
        'WITH t("row", a) AS (SELECT customer, a FROM orders) SELECT COUNT(*) FROM t JOIN lines l ON t.a = l.a',
    ],
)
def test_a_unit_that_is_called_row_is_a_unit(tmp_path: Path, question: str) -> None:
    """Rows of a unit that a question calls `row` are weighed like any others: they are not units of their own."""
    orders = f"SELECT 0 AS customer, i AS a, i AS b, 3 AS size, '' AS note FROM range({CUSTOMERS}) t(i)"
    assert worst_change(tmp_path, PLAIN, orders, "SELECT i AS a, i AS b, 1 AS price FROM range(40) t(i)", question) <= 1


CHAIN = """
[dataset]
name = "grounds"
source = "grounds.parquet"
unit = "who"
key = ["a", "b"]
max_rows_per_unit = 1
[columns.size]
bounds = "[0, 3] step 1"
[tables.plots]
source = "plots.parquet"
belongs_to = "grounds"
on = { a = "a", b = "b" }
max_rows_per_unit = 1
[tables.plots.columns.size]
bounds = "[0, 3] step 1"
[tables.crops]
source = "crops.parquet"
belongs_to = "plots"
on = { a = "a" }
max_rows_per_unit = 1
[tables.crops.columns.size]
bounds = "[0, 3] step 1"
[budget]
total = 1
"""
CHAINED = {
    "grounds": "SELECT i AS who, 1 AS a, i AS b, 1 AS size FROM range(10) t(i)",
    "plots": "SELECT 1 AS a, 0 AS b, 1 AS size",
    "crops": "SELECT 1 AS a, 3 AS size FROM range(3)",
}
"""Ten people have a ground, all with the same `a`; one of them has a plot there, and all crops."""


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) FROM grounds g JOIN crops c ON g.a = c.a",
        "SELECT SUM(c.size) FROM crops c, grounds g WHERE g.a = c.a",
        "SELECT COUNT(*) FROM grounds g WHERE EXISTS (SELECT * FROM crops c WHERE c.a = g.a)",
        "SELECT COUNT(*) FROM grounds WHERE a NOT IN (SELECT a FROM crops)",
    ],
)
def test_a_part_of_what_is_between_does_not_tell_the_unit(tmp_path: Path, question: str) -> None:
    """Crops on a plot are of who has the plot, not of everybody whose ground shares a column with it."""
    totals = []
    for side in ("more", "less"):
        place = tmp_path / side
        place.mkdir()
        for name, rows in CHAINED.items():
            there = "TRUE" if side == "more" else "who > 0" if name == "grounds" else "FALSE"
            duckdb.sql(f"COPY (SELECT * FROM ({rows}) WHERE {there}) TO '{place}/{name}.parquet'")
        (place / "contract.toml").write_text(CHAIN, encoding="utf-8")
        with Dataset.load(place / "contract.toml") as dataset:
            plan = quick_plan(dataset.sql(question))
            totals.append(plan.totals(dataset.engine.run(plan.sql)))
    assert part_of_sensitivity(plan, *totals) <= 1


def test_rows_without_a_unit_take_no_part(tmp_path: Path) -> None:
    """Crops whose plot is missing belong to nobody, whatever they are joined to."""
    for name, rows in CHAINED.items():
        duckdb.sql(f"COPY (SELECT * FROM ({rows}) WHERE {name != 'plots'}) TO '{tmp_path}/{name}.parquet'")
    (tmp_path / "contract.toml").write_text(CHAIN, encoding="utf-8")
    with Dataset.load(tmp_path / "contract.toml") as dataset:
        for question in ("SELECT COUNT(*) FROM crops", "SELECT COUNT(*) FROM grounds g JOIN crops c ON g.a = c.a"):
            plan = quick_plan(dataset.sql(question))
            assert plan.totals(dataset.engine.run(plan.sql)) == [[0]]


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) FROM (SELECT o.a AS z FROM orders o JOIN lines l ON l.a = o.a JOIN (SELECT customer, size AS "
        '"o.a" FROM orders) AS p ON p.customer = o.customer) AS t JOIN lines b ON b.a = t.z',
        'SELECT SUM("b.size") FROM (SELECT customer, MAX(size) AS "b.size" FROM orders GROUP BY customer) AS c '
        "WHERE EXISTS (SELECT * FROM orders b WHERE b.customer = c.customer AND b.size > 1)",
    ],
)
def test_a_column_is_not_called_like_one_of_a_table(tmp_path: Path, question: str) -> None:
    """A column whose name has a table before its point is taken for no column of that table."""
    orders = MANY_ORDERS.format(n=CUSTOMERS)
    with pytest.raises(InvalidQuestion, match="has the name of another one"):
        worst_change(tmp_path, PLAIN, orders, LAST_LINES.format(a=9 + CUSTOMERS), question)
