"""SQLite files: whatever a row holds where, it is read as the contract says, and makes nothing fail."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import EngineFailed, InvalidContract, InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.custodian.schema import Schema
from inbounds.query.engines import sqlite
from tests.helpers import oracle
from tests.helpers.engine_places import distance, totals_of
from tests.helpers.sparing import sparing
from tests.query.statement.test_statement import CONTRACT, INTEGERS, QUESTIONS, UNITS, random_rows

DECLARED = {"person": "INTEGER", "small": "INTEGER", "fine": "REAL", "clinic": "TEXT", "smoker": "BOOLEAN"}


def make_file(path: Path, rows: list[dict[str, Any]], declared: dict[str, str]) -> None:
    """Write rows into a table of a new file."""
    columns = ", ".join(f'"{name}" {kind}' for name, kind in declared.items())
    with closing(sqlite3.connect(path)) as file, file:
        file.execute(f"CREATE TABLE visits ({columns})")
        marks = ", ".join("?" * len(declared))
        file.executemany(
            f"INSERT INTO visits VALUES ({marks})", [[as_stored(row[name]) for name in declared] for row in rows]
        )


def as_stored(value: Any) -> Any:
    """Return a value as programs store it in SQLite, which has neither days nor decimals."""
    if value is None or isinstance(value, int | float | str | bytes):
        return value
    return str(value)


def opened(path: Path, contract: str) -> Dataset:
    """Return a dataset on the table of a file."""
    return Dataset.parse(contract.replace("[dataset]\n", f"[dataset]\nsource = '{path}'\ntable = 'visits'\n", 1))


@pytest.mark.slow
@pytest.mark.parametrize("seed", sparing([3, 5, 9]))
@pytest.mark.parametrize("name", ["visits.sqlite", "visits.sqlite3", "visits.db"])
def test_a_sqlite_file_has_the_totals_of_plain_python(tmp_path: Path, seed: int, name: str) -> None:
    """Every question to a SQLite file, whatever its ending, has the totals that plain Python computes of the rows."""
    rows = random_rows(seed)
    whole = [{**row, "wide": Decimal("0.3"), "moment": row["day"]} for row in rows]
    make_file(tmp_path / name, whole, dict.fromkeys(whole[0], ""))
    for unit in (UNITS[0], UNITS[2]):
        with opened(tmp_path / name, CONTRACT.replace("UNIT", unit)) as dataset:
            for ask in QUESTIONS[seed::4]:
                query = ask(dataset)
                assert totals_of(query) == oracle.totals(query.question, whole, INTEGERS), str(query.question)


ONE = '[dataset]\nname = "visits"\nunit = "row"\n[columns.x]\n{}\n[budget]\ntotal = 1\n'
SAID = [
    'bounds = "[0, 9] step 1"',
    'bounds = "[0, 9] step 0.5"',
    'keys = ["1", "a"]',
    "keys = [1, 2]",
    "keys = [true, false]",
]
SAID.append('bounds = "[2026-01-01, 2026-01-31]"')
STRANGE: list[Any] = [
    2**63 - 1, -(2**63), float("inf"), float("-inf"), 1e308, 5e-324, -0.0, "", "a", "nan", "9" * 400, "1e400", "\0",
    b"\xff", b"1", b"", "2026-01-05", "99999-99-99", "é", "'; DROP TABLE visits; --", "a" * 100_000, None,
]  # fmt: skip


@pytest.mark.parametrize("kind", ["INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC", ""])
@pytest.mark.parametrize("said", SAID)
def test_no_value_makes_a_statement_fail(tmp_path: Path, kind: str, said: str) -> None:
    """In a column of any declared type, rows may hold anything: totals move by what each of them may move them."""
    usual = [{"x": value} for value in (1, "1", 2, "a", "2026-01-03")]
    found = []
    for number, rows in enumerate((usual, usual + [{"x": value} for value in STRANGE])):
        path = tmp_path / f"{number}.sqlite"
        make_file(path, rows, {"x": kind})
        with opened(path, ONE.format(said)) as dataset:
            found.append([totals_of(query) for query in (dataset.count(), dataset.count().by("x"))])
    assert [one[0] for one in found] == [[[len(usual)]], [[len(usual) + len(STRANGE)]]]
    assert distance(found[0][1], found[1][1]) <= len(STRANGE)


def test_texts_that_are_none_can_be_stored(tmp_path: Path) -> None:
    """A text whose bytes are none makes no statement fail, and is no key."""
    path = tmp_path / "visits.sqlite"
    make_file(path, [{"x": "a"}], {"x": "TEXT"})
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("INSERT INTO visits VALUES (CAST(X'FF61' AS TEXT))")
    with opened(path, ONE.format('keys = ["a"]')) as dataset:
        assert totals_of(dataset.count().by("x")) == [[1]]
        assert totals_of(dataset.count()) == [[2]]


def test_sums_beyond_64_bits_are_added_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Integers that SQLite could not add up are clipped and added up, however many rows are copied at a time."""
    monkeypatch.setattr(sqlite, "CHUNK", 2)
    path = tmp_path / "visits.sqlite"
    make_file(path, [{"x": 2**63 - 1}] * 5, {"x": "INTEGER"})
    with opened(path, ONE.format(f'bounds = "[0, {10**10}] step 1"')) as dataset:
        assert totals_of(dataset.sum("x")) == [[5 * 10**10]]


def test_a_file_is_read_anew_for_each_question(tmp_path: Path) -> None:
    """Rows that were added since a dataset was opened count."""
    path = tmp_path / "visits.sqlite"
    make_file(path, [{"x": 1}], {"x": "INTEGER"})
    with opened(path, ONE.format(SAID[0])) as dataset:
        assert totals_of(dataset.count()) == [[1]]
        with closing(sqlite3.connect(path)) as file, file:
            file.execute("INSERT INTO visits VALUES (2)")
        assert totals_of(dataset.count()) == [[2]]


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    """A file, a table or a column that is not there is refused before anything is charged; a file is never made."""
    path = tmp_path / "visits.sqlite"
    with opened(path, ONE.format(SAID[0])) as dataset, pytest.raises(InvalidContract, match="must be one file"):
        dataset.count().plan(1)
    assert not path.exists()
    make_file(path, [], {"y": "INTEGER"})
    with (
        opened(path, ONE.format(SAID[0])) as dataset,
        pytest.raises(InvalidQuestion, match="has no such column; it has y"),
    ):
        dataset.count().plan(1)
    text = ONE.format(SAID[0]).replace("[dataset]\n", f"[dataset]\nsource = '{path}'\ntable = 'nothing'\n", 1)
    with Dataset.parse(text) as dataset, pytest.raises(InvalidContract, match="cannot be read"):
        dataset.count().plan(1)


def test_a_file_that_breaks_is_a_failure_without_words(tmp_path: Path) -> None:
    """A statement that fails says which kind of failure it is, and one that is over its time is stopped."""
    path = tmp_path / "visits.sqlite"
    make_file(path, [{"x": 1}], {"x": "INTEGER"})
    with opened(path, ONE.format(SAID[0])) as dataset:
        with pytest.raises(EngineFailed, match="CatalogException"):
            dataset.engine.run("SELECT secret FROM nothing")
        with closing(sqlite3.connect(path)) as file, file:
            endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) AS x FROM n"
            file.executescript(f"ALTER TABLE visits RENAME TO old; CREATE VIEW visits AS {endless};")
        dataset.engine.statement_seconds = 0.2
        with pytest.raises(EngineFailed) as stopped:
            dataset.engine.run("SELECT COUNT(*) FROM sqlite_rows")
        assert stopped.value.stopped


def test_tables_of_one_file_are_not_joined(tmp_path: Path) -> None:
    """A second private table is refused before anything is charged: a statement has a copy of one only."""
    path = tmp_path / "visits.sqlite"
    make_file(path, [], DECLARED)
    text = ONE.format(SAID[0]).replace('"row"', '"person"\nmax_rows_per_unit = 1').replace("columns.x", "columns.small")
    text += f"[tables.drugs]\nsource = '{path}'\ntable = 'visits'\nunit = 'person'\nmax_rows_per_unit = 1\n"
    text += '[tables.drugs.columns.clinic]\nkeys = ["a"]\n'
    with (
        opened(path, text) as dataset,
        pytest.raises(InvalidContract, match="tables of SQLite files are copied one by one"),
    ):
        dataset.sql("SELECT COUNT(*) FROM visits JOIN drugs ON visits.person = drugs.person").plan(1)


def test_a_draft_names_the_columns(tmp_path: Path) -> None:
    """A draft has the names of the columns, and leaves it to the custodian what they hold."""
    make_file(tmp_path / "visits.db", [], DECLARED)
    schema = Schema.read(str(tmp_path / "visits.db"), table="visits")
    assert schema.columns == dict.fromkeys(DECLARED)
