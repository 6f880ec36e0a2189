"""A fresh draft for tables that have a contract: what is decided of where they are stays, what columns hold is open."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inbounds.errors import InvalidContract
from inbounds.query import Dataset
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.faults import TO_DECIDE
from inbounds.query.contract.places import find_other_places
from inbounds.query.custodian.draft import Draft
from inbounds.query.custodian.redraft import Redraft
from inbounds.query.custodian.schema import Schema
from inbounds.query.custodian.trial import line_of, open_trial
from tests.helpers.engine_places import InPostgres, postgres_url

CONTRACT = """
[dataset]
name = "patients"
source = "patients.parquet"
unit = "patient"
key = "patient"
description = "Everybody who came"
max_rows_per_unit = 2
[columns.born]
bounds = "[1900, 2026] step 1"
[known]
zeros = []
[tables.stays]
source = "stays.csv"
delimiter = ";"
encoding = "latin-1"
belongs_to = "patients"
on = { who = "patient" }
key = "stay_id"
max_rows_per_unit = 3
[tables.stays.columns.ward]
keys_of = "wards"
[tables.wards]
source = "wards.csv"
public = true
key = "ward"
[tables.wards.columns.beds]
bounds = "[0, 9] step 1"
[budget]
total = 5.0
ledger = "budget.db"
"""


@pytest.fixture
def dataset(tmp_path: Path) -> Iterator[Dataset]:
    """Two private tables and a public one; columns that the contract does not describe are there, too."""
    with duckdb.connect() as connection:
        rows = "SELECT i AS patient, 1950 AS born, 'Ann' AS name, DATE '2026-01-01' AS seen FROM range(9) r(i)"
        connection.execute(f"COPY ({rows}) TO '{tmp_path / 'patients.parquet'}' (FORMAT parquet)")
    (tmp_path / "stays.csv").write_text("stay_id;who;ward;größe\n1;1;w1;Quillfeather\n", encoding="latin-1")
    (tmp_path / "wards.csv").write_text("ward,beds\nw1,4\n", encoding="utf-8")
    (tmp_path / "patients.toml").write_text(CONTRACT, encoding="utf-8")
    with Dataset.load(tmp_path / "patients.toml") as dataset:
        yield dataset


def test_where_tables_are_stays_and_columns_are_open(dataset: Dataset) -> None:
    """The places, links, units, keys and the budget are the contract's; limits and columns are to be decided."""
    text = str(Redraft.of(dataset))
    said, before = tomllib.loads(text), tomllib.loads(CONTRACT)
    assert list(find_other_places(Contract.parse(text), dataset.contract)) == []
    assert said["budget"] == before["budget"]
    assert said["dataset"] == {**before["dataset"], "max_rows_per_unit": 0}
    assert said["tables"]["wards"] == before["tables"]["wards"]
    stays = {key: value for key, value in said["tables"]["stays"].items() if key != "columns"}
    assert stays == {
        key: 0 if key == "max_rows_per_unit" else value
        for key, value in before["tables"]["stays"].items()
        if key != "columns"
    }
    assert set(said["columns"]) == {"born", "name", "seen"}
    assert set(said["tables"]["stays"]["columns"]) == {"ward", "größe"}
    assert "# [columns.patient]" in text
    assert "refers to patients" in text
    assert "it identifies rows" in text
    assert "under [known], are left out" in text


def test_every_open_line_is_told_and_no_other(dataset: Dataset) -> None:
    """Tried as it is, the draft is refused at each line that is marked, and at no other."""
    text = str(Redraft.of(dataset))
    marked = {number for number, line in enumerate(text.split("\n"), 1) if line.endswith(TO_DECIDE)}
    with pytest.raises(InvalidContract) as refusal:
        open_trial(text, dataset)
    assert {line_of(fault) for fault in refusal.value.faults} == marked
    assert all("to decide" in fault for fault in refusal.value.faults)


def test_a_draft_that_is_decided_is_a_contract(dataset: Dataset) -> None:
    """With every open line decided, the draft reads, and its columns are those that were decided."""
    text = str(Redraft.of(dataset)).replace("max_rows_per_unit = 0", "max_rows_per_unit = 4")
    text = text.replace("[?, ?] step 1", "[1900, 2026] step 1").replace("[?, ?]", "[2026-01-01, 2026-12-31]")
    text = (
        text.replace("# bounds", "bounds", 0)
        .replace("keys = []", 'keys = ["a"]')
        .replace('# keys = ["a"]', 'keys = ["a"]')
    )
    with open_trial(text, dataset) as trial:
        assert trial.table.limit == 4
        assert set(trial.table.columns) == {"born", "name", "seen"}


def test_a_draft_holds_nothing_of_the_rows(dataset: Dataset, tmp_path: Path) -> None:
    """Tables with the same names and types have the same draft, whatever is in them."""
    first = str(Redraft.of(dataset))
    with duckdb.connect() as connection:
        rows = "SELECT i AS patient, 7 AS born, 'Bob' AS name, DATE '1999-01-01' AS seen FROM range(99) r(i)"
        connection.execute(f"COPY ({rows}) TO '{tmp_path / 'patients.parquet'}' (FORMAT parquet)")
    with Dataset.load(tmp_path / "patients.toml") as again:
        assert str(Redraft.of(again)) == first
    assert "Quillfeather" not in first


def test_columns_are_drafted_as_for_a_new_contract(tmp_path: Path) -> None:
    """The sections of columns are, to the letter, those of a draft for the same table."""
    with duckdb.connect() as connection:
        rows = "SELECT 1 AS patient, 1.5 AS cost, true AS smoker, TIME '10:00' AS at, 'x' AS \"o'x\", [1] AS list"
        connection.execute(f"COPY ({rows}) TO '{tmp_path / 'visits.parquet'}' (FORMAT parquet)")
    text = '[dataset]\nname = "visits"\nsource = "visits.parquet"\nunit = "patient"\nmax_rows_per_unit = 1\n'
    (tmp_path / "visits.toml").write_text(f"{text}[columns.cost]\nbounds = '[0, 9]'\n[budget]\ntotal = 1\n", "utf-8")
    with Dataset.load(tmp_path / "visits.toml") as dataset:
        again = str(Redraft.of(dataset))
    new = str(Draft(Schema.read(str(tmp_path / "visits.parquet")), "patient"))
    columns: Any = [part[part.index("[columns.cost]") : part.index("[budget]")] for part in (again, new)]
    assert columns[0] == columns[1]


OF_DATABASE = """[dataset]
name = "{name}"
unit = "patient"
max_rows_per_unit = 1
[columns.age]
bounds = "[0, 9]"
[budget]
total = 1
"""


def test_a_database_is_looked_at_table_by_table(tmp_path: Path) -> None:
    """Of a database, no other table is drafted than the contract names; and no password is in the text."""
    place = InPostgres(tmp_path, postgres_url())
    types = {"patient": "bigint", "age": "integer"}
    try:
        place.dataset([{"patient": 1, "age": 5}], types, OF_DATABASE.format(name="other"))
        dataset = place.dataset([{"patient": 1, "age": 5}], types, OF_DATABASE.format(name="visits"))
        again = str(Redraft.of(dataset))
    finally:
        place.close()
    said = tomllib.loads(again)
    assert (set(said), set(said["columns"])) == ({"dataset", "columns", "budget"}, {"age"})
    assert list(find_other_places(Contract.parse(again), dataset.contract)) == []
    assert "password" not in again
