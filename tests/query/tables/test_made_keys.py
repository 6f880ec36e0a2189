"""Keys and units of tables that are made of tables: rows are matched by them as by those of the contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from inbounds.query import Dataset
from tests.helpers.oracle import fineness
from tests.helpers.unit_changes import quick_plan

CONTRACT = """
[dataset]
name = "patients"
source = "patients.parquet"
unit = "patient"
max_rows_per_unit = 100
[columns.size]
bounds = "[0, 3] step 1"
[tables.stays]
source = "stays.parquet"
belongs_to = "patients"
on = { patient = "patient" }
key = "stay"
max_rows_per_unit = 100
[tables.stays.columns.days]
bounds = "[0, 9] step 1"
[budget]
total = 1
"""


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """Nine patients, four of whom have stays, every third of which has no key."""
    folder = Path(tmp_path_factory.mktemp("made"))
    duckdb.sql(f"COPY (SELECT i AS patient, 1 AS size FROM range(9) t(i)) TO '{folder}/patients.parquet'")
    duckdb.sql(
        "COPY (SELECT i % 4 AS patient, CASE WHEN i % 3 > 0 THEN i END AS stay, i AS days FROM range(10) t(i)) "
        f"TO '{folder}/stays.parquet'"
    )
    (folder / "contract.toml").write_text(CONTRACT, encoding="utf-8")
    with Dataset.load(folder / "contract.toml") as found:
        yield found


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) FROM (SELECT patient AS who, size FROM patients) AS t JOIN stays s ON t.who = s.patient",
        "SELECT COUNT(*) FROM (SELECT patient, MAX(size) AS m FROM patients GROUP BY patient) AS t "
        "JOIN stays s ON t.patient = s.patient",
        "SELECT COUNT(*) FROM (SELECT patient AS p, stay AS n, MAX(days) AS m FROM stays GROUP BY patient, stay) AS t "
        "JOIN stays s ON t.p = s.patient AND t.n = s.stay",
        "SELECT COUNT(*) FROM (SELECT patient, stay, COUNT(*) AS n FROM stays GROUP BY patient, stay) AS t JOIN "
        "patients p ON p.patient = t.patient WHERE t.stay NOT IN (SELECT stay FROM stays WHERE days > 5)",
    ],
)
def test_made_tables_are_matched_like_others(dataset: Dataset, question: str) -> None:
    """By the unit and the keys of an inner SELECT the same rows match as in plain SQL."""
    query = dataset.sql(question)
    plan = quick_plan(query)
    ((total,),) = plan.totals(dataset.engine.run(plan.sql))
    plain = duckdb.connect()
    for table in ("patients", "stays"):
        plain.execute(f"CREATE VIEW {table} AS FROM '{dataset.contract.folder}/{table}.parquet'")
    ((expected,),) = plain.execute(question.replace("days > 5", "days > 5 AND stay IS NOT NULL")).fetchall()
    assert total == expected * fineness(query.question) > 0
