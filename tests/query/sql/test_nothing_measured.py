"""What tools ask before they ask: columns alone, and which or how many groups there are; public, so it is free."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Answer, Dataset
from inbounds.results.answer_json import write_answer
from tests.helpers.engine_places import InParquet

CONTRACT = """
[dataset]
name = "visits"
unit = "patient"
max_rows_per_unit = 2
whole = ["patient"]
[columns]
age.bounds = "[0, 120] step 1"
day.bounds = "[2026-01-01, 2026-12-31]"
clinic.keys = ["north", "south", "west"]
urgent.keys = [true, false]
note.text = true
[tables.clinics]
source = 'FOLDER/clinics.csv'
public = true
key = "name"
[tables.clinics.columns.beds]
bounds = "[0, 300] step 1"
[budget]
total = 10
"""
TYPES = {"patient": "int", "age": "int", "day": "date", "clinic": "text", "urgent": "bool", "note": "text"}


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dataset]:
    """A table of which no statement may run."""
    (tmp_path / "clinics.csv").write_text("name,beds\nnorth,20\nsouth,40\n", encoding="utf-8")
    dataset = InParquet(tmp_path).dataset([], TYPES, CONTRACT.replace("FOLDER", str(tmp_path)))

    def refuse(statement: str) -> Any:
        raise AssertionError(f"this would look at rows: {statement}")

    monkeypatch.setattr(dataset.engine, "run", refuse)
    yield dataset
    assert dataset.ledger.balance("visits").spent == 0
    dataset.close()


def ask(dataset: Dataset, sql: str) -> Answer:
    """Ask, and explain; neither may cost anything."""
    query = dataset.sql(sql)
    assert query.explain(1).epsilon == 0
    answer = query.ask(1, analyst="ana")
    assert answer.epsilon == 0
    assert answer.is_public
    assert answer == query.owned("ana") or answer.warnings
    return answer


def kinds(answer: Answer) -> dict[str, str]:
    """Return what JSON says is in each column."""
    return {column["name"]: column["kind"] for column in write_answer(answer)["columns"]}


EVERY = {"age": "number", "day": "date", "clinic": "text", "urgent": "boolean", "note": "text", "patient": "number"}

COLUMNS: list[tuple[str, dict[str, str]]] = [
    ("SELECT * FROM visits LIMIT 0", EVERY),
    ("SELECT v.* FROM public.visits v ORDER BY age LIMIT 0 OFFSET 5", EVERY),
    ("SELECT TOP 0 * FROM visits", EVERY),
    ("SELECT * FROM visits FETCH FIRST 0 ROWS ONLY", EVERY),
    ("SELECT * FROM visits WHERE 1 = 0", EVERY),
    ("SELECT * FROM (SELECT * FROM visits WHERE age > 50) AS virtual_table WHERE FALSE", EVERY),
    ("WITH old AS (SELECT age, clinic FROM visits) SELECT * FROM old LIMIT 0", {"age": "number", "clinic": "text"}),
    (
        "SELECT patient, age + 1 AS next, clinic AS place FROM visits WHERE urgent LIMIT 0",
        {"patient": "number", "next": "number", "place": "text"},
    ),
    (
        "SELECT v.clinic, c.beds FROM visits v JOIN clinics c ON v.clinic = c.name LIMIT 0",
        {"clinic": "text", "beds": "number"},
    ),
    ("SELECT * FROM clinics LIMIT 0", {"beds": "number", "name": "text"}),
    (
        "SELECT clinic, AVG(age) AS mean, MEDIAN(day) AS middle FROM visits GROUP BY clinic LIMIT 0",
        {"clinic": "text", "mean": "number", "middle": "date"},
    ),
    ("SELECT COUNT(*) AS n FROM visits UNION ALL SELECT COUNT(*) FROM visits LIMIT 0", {"n": "number"}),
    ("SELECT n FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic) AS t LIMIT 0", {"n": "number"}),
]


@pytest.mark.parametrize(("sql", "columns"), COLUMNS, ids=[sql for sql, _ in COLUMNS])
def test_columns_alone_are_free(visits: Dataset, sql: str, columns: dict[str, str]) -> None:
    """A SELECT that shows no row has its columns and what would be in them; no row is looked at."""
    answer = ask(visits, sql)
    assert (answer.rows, kinds(answer)) == ((), columns)
    assert all(name in str(answer) for name in columns)


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT * FROM visits LIMIT 1", "or add LIMIT 0"),
        ("SELECT * FROM visits", "rows are never shown"),
        ("SELECT cost FROM visits LIMIT 0", "no column 'cost'"),
        ("SELECT age FROM visits WHERE cost > 3 LIMIT 0", "no column 'cost'"),
        ("SELECT age + 1 FROM visits LIMIT 0", "needs a name; write age [+] 1 AS x"),
        ("SELECT COUNT(*) FROM visits WHERE 1 = 0", "true of no row"),
        ("SELECT * FROM elsewhere LIMIT 0", "elsewhere"),
    ],
)
def test_what_shows_a_row_or_names_nothing_stays_refused(visits: Dataset, sql: str, told: str) -> None:
    """Rows are never shown, however few, and what has no column is told as ever."""
    with pytest.raises(InvalidQuestion, match=told):
        visits.sql(sql)


BY_CLINIC = "(SELECT clinic, urgent, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY clinic, urgent)"

OTHER = f"FROM {BY_CLINIC} AS t WHERE clinic <> 'north'"

GROUPS: list[tuple[str, list[tuple[Any, ...]]]] = [
    (f"SELECT COUNT(*) AS rowcount FROM {BY_CLINIC} AS rowcount_qry", [(6,)]),
    ("SELECT COUNT(*) FROM (SELECT clinic FROM visits GROUP BY clinic LIMIT 1000) AS t", [(3,)]),
    ("SELECT COUNT(*) FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic LIMIT 2) AS t", [(2,)]),
    ("SELECT COUNT(*) FROM (SELECT clinic FROM visits WHERE clinic <> 'north' GROUP BY clinic) AS t", [(2,)]),
    ("SELECT COUNT(*) FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY ROLLUP(clinic)) AS t", [(4,)]),
    (f"SELECT clinic FROM {BY_CLINIC} AS t GROUP BY clinic", [("north",), ("south",), ("west",)]),
    (f"SELECT clinic, COUNT(*) {OTHER} GROUP BY clinic ORDER BY clinic DESC",
     [("west", 2), ("south", 2)]),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "rows"), GROUPS, ids=[sql for sql, _ in GROUPS])
def test_which_groups_there_are_is_free(visits: Dataset, sql: str, rows: list[tuple[Any, ...]]) -> None:
    """What is made of groups alone follows from the contract: no measure of the inner SELECT is needed or paid."""
    assert list(ask(visits, sql).rows) == rows


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM {BY_CLINIC} AS t WHERE n > 5",
        "SELECT COUNT(*) FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic HAVING COUNT(*) > 5) AS t",
        f"SELECT clinic FROM {BY_CLINIC} AS t ORDER BY mean LIMIT 2",
        "SELECT clinic FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic ORDER BY n LIMIT 1) AS t",
        f"SELECT COUNT(n) FROM {BY_CLINIC} AS t",
        f"SELECT COUNT(*), (SELECT COUNT(*) FROM visits) AS n FROM {BY_CLINIC} AS t",
    ],
)
def test_groups_that_measures_choose_are_paid_for(visits: Dataset, sql: str) -> None:
    """Which groups are left by what was measured is no public knowledge."""
    assert visits.sql(sql).explain(1).epsilon == 1
