"""Units that are missing, or look as if they were there: an answer is that of plain SQL, or there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.expressions.node import ColumnRef
from inbounds.query.tables.relation import Projected
from tests.helpers.infirmary.exact import answer_without_noise

CONTRACT = """
[dataset]
name = "people"
source = "people.parquet"
unit = "pid"
key = "pid"
[tables.stays]
source = "stays.parquet"
key = "stay_id"
max_rows_per_unit = 99
[tables.stays.columns.level]
bounds = "[0, 9] step 1"
[tables.diary]
source = "diary.parquet"
belongs_to = "people"
on = { who = "pid" }
max_rows_per_unit = 99
[tables.diary.columns.mood]
bounds = "[0, 9] step 1"
[tables.scripts]
source = "scripts.parquet"
unit = "taker"
max_rows_per_unit = 99
[tables.scripts.columns.dose]
bounds = "[0, 9] step 1"
[budget]
total = 100
"""
ROWS = {
    "people": "SELECT i AS pid FROM range(1, 8) t(i)",
    "stays": "SELECT 1 + i % 4 AS pid, 1 + i AS stay_id, i % 5 AS level FROM range(9) t(i)",
    "diary": "SELECT 1 + i % 3 AS who, i % 4 AS mood FROM range(5) t(i)",
    "scripts": "SELECT 1 + i % 5 AS taker, i AS dose FROM range(7) t(i)",
}
KNOWN = "(SELECT p.pid, d.who AS w FROM people p LEFT JOIN diary d ON d.who = p.pid AND d.mood < 3) AS t"
RENAMED = "(SELECT p.pid AS z, d.who AS w FROM people p LEFT JOIN diary d ON d.who = p.pid) AS t"

MISSING = [
    f"SELECT COUNT(*) FROM {KNOWN} JOIN scripts x ON x.taker = t.w",
    f"SELECT COUNT(*) FROM {KNOWN} LEFT JOIN scripts x ON x.taker = t.w",
    f"SELECT COUNT(*) FROM {RENAMED}, scripts x WHERE x.taker = t.w",
    f"SELECT COUNT(*) FROM people q WHERE EXISTS (SELECT * FROM {KNOWN} WHERE t.w = q.pid)",
    f"SELECT COUNT(*) FROM people q WHERE q.pid NOT IN (SELECT t.w FROM {KNOWN} WHERE t.w IS NOT NULL)",
    "SELECT COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM diary GROUP BY who) AS t JOIN scripts x ON x.taker = t.who",
    "SELECT COUNT(*) FROM people p LEFT JOIN (SELECT who, COUNT(*) AS n FROM diary GROUP BY who) AS t ON t.who = p.pid "
    "WHERE NOT EXISTS (SELECT * FROM scripts x WHERE x.taker = t.who)",
    "SELECT COUNT(*) FROM people p LEFT JOIN stays s ON s.pid = p.pid AND s.level > 2 WHERE NOT EXISTS (SELECT * FROM "
    "diary d JOIN scripts x ON x.taker = d.who WHERE d.who = s.pid)",
    "SELECT COUNT(*) FROM people p LEFT JOIN stays s ON s.pid = p.pid AND s.level > 2 WHERE EXISTS (SELECT * FROM "
    "scripts x WHERE x.taker = p.pid AND x.taker = s.pid AND x.dose > s.level)",
]


@contextmanager
def opened(folder: Path) -> Iterator[tuple[Dataset, duckdb.DuckDBPyConnection]]:
    """Yield the tables as the contract has them, and as a database has them that protects nothing."""
    with duckdb.connect() as database:
        for name, rows in ROWS.items():
            database.execute(f"CREATE TABLE {name} AS {rows}; COPY {name} TO '{folder}/{name}.parquet'")
        (folder / "contract.toml").write_text(CONTRACT, encoding="utf-8")
        with Dataset.load(folder / "contract.toml") as dataset:
            yield dataset, database


@pytest.mark.parametrize("sql", MISSING)
def test_a_missing_unit_matches_nothing(tmp_path: Path, sql: str) -> None:
    """What LEFT JOIN leaves missing is no unit, also under another name; the text of the question says so, too."""
    with opened(tmp_path) as (dataset, database):
        (count,) = database.execute(sql).fetchone() or (0,)
        text = str(dataset.sql(sql))
        assert answer_without_noise(dataset.sql(sql)).get((), [0]) == [count]
        assert str(dataset.sql(text)) == text
        assert answer_without_noise(dataset.sql(text)).get((), [0]) == [count]


def test_a_unit_that_may_be_missing_is_joined_by_another(tmp_path: Path) -> None:
    """In Python as in SQL, a table is joined to the unit that is always there, and the message names it."""
    with opened(tmp_path) as (dataset, _):
        kept = dataset.join("stays", keep=True)
        with pytest.raises(InvalidQuestion, match=r"stays\.pid is missing in rows .* join scripts to people\.pid"):
            kept.join("scripts", on={"stays.pid": "taker"})
        assert kept.join("scripts", on={"people.pid": "taker"}).count().questions
        with pytest.raises(InvalidQuestion, match=r"s\.pid is missing in rows .* join x to p\.pid"):
            dataset.sql("SELECT COUNT(*) FROM people p LEFT JOIN stays s ON s.pid = p.pid JOIN scripts x "
                        "ON x.taker = s.pid")  # fmt: skip


HIDDEN = [
    "SELECT COUNT(*) FROM (SELECT stay_id AS pid, level FROM stays) AS t JOIN people p ON p.pid = t.pid",
    "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT * FROM (SELECT stay_id AS pid FROM stays) AS t WHERE "
    "t.pid = p.pid)",
    "SELECT COUNT(*) FROM people p WHERE pid IN (SELECT t.pid FROM (SELECT level AS pid FROM stays) AS t)",
    "SELECT COUNT(DISTINCT pid) FROM (SELECT level AS pid FROM stays) AS t",
    "SELECT COUNT(*) FROM (SELECT mood AS pid FROM diary) AS t",
    "WITH t(pid) AS (SELECT stay_id FROM stays) SELECT COUNT(*) FROM t JOIN people p ON p.pid = t.pid",
]


@pytest.mark.parametrize("sql", HIDDEN)
def test_no_column_takes_the_name_of_a_unit_that_is_not_selected(tmp_path: Path, sql: str) -> None:
    """A column of an inner SELECT is not taken for the unit, which is there although nobody selected it."""
    with opened(tmp_path) as (dataset, _), pytest.raises(InvalidQuestion, match="pid is the unit, and this column is"):
        dataset.sql(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM (SELECT pid, stay_id AS sid, level FROM stays) AS t JOIN people p ON p.pid = t.pid",
        "SELECT COUNT(*) FROM (SELECT pid AS z, stay_id AS pid FROM stays) AS t JOIN people p ON p.pid = t.z",
        "SELECT COUNT(*) FROM (SELECT pid AS z, level AS pid FROM stays) AS t WHERE pid > 2",
        "SELECT SUM(n) FROM (SELECT p.pid, t.pid AS sid, COUNT(*) AS n FROM people p JOIN (SELECT pid AS z, stay_id AS "
        "pid FROM stays) AS t ON t.z = p.pid GROUP BY p.pid, t.pid HAVING COUNT(*) < 2) AS u",
    ],
)
def test_a_column_takes_the_name_of_a_unit_that_is_called_otherwise(tmp_path: Path, sql: str) -> None:
    """Under another name, or beside the unit under another name, each is what plain SQL takes it for."""
    with opened(tmp_path) as (dataset, database):
        (count,) = database.execute(sql).fetchone() or (0,)
        assert answer_without_noise(dataset.sql(sql)).get((), [0]) == [count]


def test_the_unit_keeps_its_name_in_every_relation(tmp_path: Path) -> None:
    """Rows of other columns are refused in Python too, if one of them would hide the unit."""
    with opened(tmp_path) as (dataset, _):
        stays = dataset.rows_of("stays").table
        for columns, identifiers in (({"pid": ColumnRef("level")}, {}), ({}, {"pid": "stay_id"})):
            with pytest.raises(InvalidQuestion, match="pid is the unit; choose another name"):
                Projected("t", stays, columns, identifiers)
