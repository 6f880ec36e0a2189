"""Digests of public tables: a table that has changed is not taken for the one that the terms are about."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from inbounds.errors import InvalidContract
from inbounds.query import Dataset
from tests.helpers.infirmary.exact import answer_without_noise

CONTRACT = """
[dataset]
name = "visits"
source = "visits.parquet"
unit = "patient"
max_rows_per_unit = 1
[columns.ward]
bounds = "[0, 1999] step 1"
[tables.wards]
{source}
public = true
key = "ward"
[budget]
total = 100
"""
QUESTION = "SELECT kind, COUNT(*) FROM visits JOIN wards ON visits.ward = wards.ward GROUP BY kind"


def opened(folder: Path, source: str, contract: str = CONTRACT) -> Dataset:
    """Open visits beside a public table."""
    duckdb.sql(f"COPY (SELECT i AS patient, i AS ward FROM range(50) t(i)) TO '{folder}/visits.parquet'")
    (folder / "contract.toml").write_text(contract.format(source=source), encoding="utf-8")
    return Dataset.load(folder / "contract.toml")


def write_wards(path: Path, rows: int, label: str, kind: str = "'a'") -> None:
    """Write wards with labels that are too many to be listed, if there are more than a thousand."""
    duckdb.sql(f"COPY (SELECT i AS ward, '{label}' || i AS label, {kind} AS kind FROM range({rows}) t(i)) TO '{path}'")


def test_a_kept_plan_is_refused_once_the_file_has_changed(tmp_path: Path) -> None:
    """The same question at the same epsilon, whose plan is kept, is refused when the file is another one."""
    wards = tmp_path / "wards.parquet"
    write_wards(wards, 6000, "x", "CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END")
    with opened(tmp_path, 'source = "wards.parquet"') as visits:
        visits.sql(QUESTION).ask(1, analyst="ana")
        assert visits.sql(QUESTION).ask(1, analyst="ana").rows
        write_wards(tmp_path / "new.parquet", 6000, "x", "CASE WHEN i % 2 = 1 THEN 'a' ELSE 'b' END")
        os.replace(tmp_path / "new.parquet", wards)
        with pytest.raises(InvalidContract, match="wards has changed since the contract was loaded"):
            visits.sql(QUESTION).ask(1, analyst="ana")
        assert visits.ledger.balance("visits").spent == 2


@pytest.mark.parametrize(("rows", "is_seen"), [(1500, True), (6000, False)])
def test_rows_of_a_small_table_in_a_database_are_in_its_digest(tmp_path: Path, rows: int, is_seen: bool) -> None:
    """Another text in a column that cannot be listed changes the terms of up to 5,000 rows; of more, nothing but what
    describes them does.
    """
    digests = set()
    for label in ("x", "y", "x"):
        (tmp_path / "x.duckdb").unlink(missing_ok=True)
        with duckdb.connect(tmp_path / "x.duckdb") as database:
            database.execute(
                f"CREATE TABLE wards AS SELECT i AS ward, '{label}' || i AS label, 'a' AS kind FROM range({rows}) t(i)"
            )
        with opened(tmp_path, 'source = "x.duckdb"\ntable = "wards"') as visits:
            assert "label" in visits.tables.public["wards"].identifiers
            digests.add(visits.terms["public table wards"])
    assert len(digests) == 1 + is_seen


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_only_the_files_that_were_looked_at_are_read(tmp_path: Path, kind: str) -> None:
    """A file that a pattern names later is of no question until the contract is loaded again, which has new terms."""
    source = f'source = "wards/part [[]*.{kind}"'  # the names have what is magic in patterns
    (tmp_path / "wards").mkdir()
    for part, kinds in (("1", "'a'"), ("2", "'b'")):
        write_wards(tmp_path / "wards" / f"part [{part}] x.{kind}", 20, "x", kinds)
    contract = CONTRACT.replace('key = "ward"\n', "").replace("max_rows_per_unit = 1", "max_rows_per_unit = 9")
    with opened(tmp_path, source, contract) as visits:
        assert answer_without_noise(visits.sql(QUESTION)) == {("a",): [20], ("b",): [20]}
        write_wards(tmp_path / "wards" / f"part [3] x.{kind}", 20, "x", "'a'")
        other = QUESTION.replace("GROUP BY", "WHERE visits.ward < 10 GROUP BY")
        assert answer_without_noise(visits.sql(QUESTION)) == {("a",): [20], ("b",): [20]}
        assert answer_without_noise(visits.sql(other)) == {("a",): [10], ("b",): [10]}
        before = visits.terms["public table wards"]
    with opened(tmp_path, source, contract) as visits:
        assert visits.terms["public table wards"] != before
        assert answer_without_noise(visits.sql(QUESTION)) == {("a",): [40], ("b",): [20]}
        (tmp_path / "wards" / f"part [1] x.{kind}").unlink()
        with pytest.raises(InvalidContract, match="wards has changed since the contract was loaded"):
            visits.sql(QUESTION).plans(1)
