"""`inbounds init`: a draft of a contract, printed or in a new file."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from inbounds.cli.files import new_file
from inbounds.query import Dataset, InvalidContract
from tests.cli.conftest import Type, sql, within_80


def test_a_draft_is_printed_or_written(typed: Type, clinic: Path) -> None:
    """Standard output, a new file and JSON hold the same draft, which is refused as a contract, by its line."""
    printed = typed("init", "visits.parquet")
    assert (printed.code, printed.err) == (0, "")
    assert within_80(printed.out)
    written = typed("init", "visits.parquet", "--output", "new.toml")
    assert (written.code, written.err) == (0, "")
    assert within_80(written.out)
    assert "inbounds check new.toml" in written.out
    data = typed("init", "visits.parquet", "--json").data
    assert (clinic / "new.toml").read_text("utf-8") == printed.out == data["contract"]
    assert (data["unit_candidates"], data["columns"]["day"]) == (["patient"], "dates")
    with pytest.raises(InvalidContract, match=r"line 13, \[dataset\], to decide: unit must be a text, got an empty"):
        Dataset.load(clinic / "new.toml")
    assert sorted(path.name for path in clinic.iterdir()) == ["clinic.toml", "new.toml", "report.sql", "visits.parquet"]


def test_a_source_is_seen_from_the_folder_of_the_contract(typed: Type, clinic: Path) -> None:
    """A draft that is written elsewhere names the table from there."""
    (clinic / "contracts").mkdir()
    assert typed("init", "visits.parquet", "--output", "contracts/new.toml").code == 0
    said = tomllib.loads((clinic / "contracts" / "new.toml").read_text("utf-8"))
    assert said["dataset"]["source"] == "../visits.parquet"


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_nothing_is_overwritten(typed: Type, clinic: Path, kind: str) -> None:
    """Whatever has the name already stays as it is, also a link that leads nowhere."""
    taken = clinic / "taken.toml"
    if kind == "file":
        taken.write_text("old", encoding="utf-8")
    elif kind == "link":
        taken.symlink_to(clinic / "elsewhere.toml")
    else:
        taken.mkdir()
    found = typed("init", "visits.parquet", "--output", "taken.toml")
    assert (found.code, found.out) == (2, "")
    assert "must be a new file" in found.err
    assert not (clinic / "elsewhere.toml").exists()
    assert kind != "file" or taken.read_text("utf-8") == "old"


def test_a_file_that_appears_meanwhile_is_kept(typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else's file that has come to the place since it was looked at is not replaced, and nothing is left."""
    write = new_file._write

    def slowly(path: Path, text: str, mode: int) -> None:
        write(path, text, mode)
        (clinic / "new.toml").write_text("theirs", encoding="utf-8")

    monkeypatch.setattr(new_file, "_write", slowly)
    found = typed("init", "visits.parquet", "--output", "new.toml")
    assert (found.code, found.out) == (2, "")
    assert (clinic / "new.toml").read_text("utf-8") == "theirs"
    assert sorted(path.name for path in clinic.iterdir()) == ["clinic.toml", "new.toml", "report.sql", "visits.parquet"]


def test_a_draft_is_written_whole_or_not_at_all(typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that is full no part of it stays, and a disk without links takes it as well."""

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        assert typed("init", "visits.parquet", "--output", "new.toml").code == 1
    assert sorted(path.name for path in clinic.iterdir()) == ["clinic.toml", "report.sql", "visits.parquet"]

    def without_links(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", without_links)
    assert typed("init", "visits.parquet", "--output", "new.toml").code == 0
    assert (clinic / "new.toml").read_text("utf-8").endswith("# decide\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("visits.parquet", "--output", "nowhere/new.toml"), "does not exist"),
        (("visits.parquet", "--table", "visits"), "leave it out"),
        (("none.parquet",), "no file at"),
        (("visits.xlsx",), "'visits.xlsx'"),
        (("clinic.toml",), "'clinic.toml'"),
        (("visits.duckdb",), "no file at"),
        (("visits.sqlite", "--unit", "patient"), "give it as --table NAME"),
        (("visits.parquet", "--unit", "nobody"), "got 'nobody'"),
        (("visits.parquet", "--schema", "main"), "a schema is for all tables"),
        (("broken.parquet",), "cannot read the source"),
        (("postgresql://ana:hunter2@127.0.0.1:1/clinic", "--table", "visits"), "cannot be read"),
    ],
)
def test_what_cannot_be_drafted_is_named(typed: Type, clinic: Path, words: tuple[str, ...], said: str) -> None:
    """A source that is not there, or not of a known kind, is bad input; no password is repeated, nothing written."""
    (clinic / "broken.parquet").write_text("not parquet", encoding="utf-8")
    found = typed("init", *words)
    assert (found.code, found.out) == (2, "")
    assert said in found.err
    assert "hunter2" not in found.err
    assert found.err.count("\n") == 1
    assert sorted(path.name for path in clinic.iterdir()) == [
        "broken.parquet",
        "clinic.toml",
        "report.sql",
        "visits.parquet",
    ]


def test_a_csv_file_is_drafted_by_its_header(typed: Type, clinic: Path) -> None:
    """Nothing but the first line of a csv file is in the draft."""
    sql("COPY (SELECT 731954 AS age, 'Zebedee' AS name, 7 AS user_id) TO 'visits.csv' (HEADER, DELIMITER '|')")
    found = typed("init", "visits.csv")
    assert found.code == 0
    assert 'delimiter = "|"' in found.out
    assert "[columns.age]  # decide" in found.out
    assert "731954" not in found.out
    assert "Zebedee" not in found.out


GERMAN = """patient;cost;day;town;since
1;1.050,50;31.12.2026;K\u00f6ln;3/14/2026
2;7,5;1.3.2026;Bonn;12/1/2026
"""


def test_the_form_of_a_csv_file_is_proposed_if_it_is_asked_for(typed: Type, clinic: Path) -> None:
    """With --look, and only then, a draft says how fields seem to be written, and nothing of what they hold."""
    (clinic / "bills.csv").write_bytes(GERMAN.encode("cp1252"))
    plain = typed("init", "bills.csv")
    assert (plain.code, "decimal" in plain.out) == (0, False)
    assert "no row was read" in " ".join(plain.out.replace("#", "").split())
    found = typed("init", "bills.csv", "--look", "--output", "new.toml")
    assert (found.code, "the first lines were read" in " ".join(found.out.split())) == (0, True)
    text = (clinic / "new.toml").read_text("utf-8")
    said = tomllib.loads(text)
    assert {key: said["dataset"].get(key) for key in ("delimiter", "decimal", "thousands", "encoding")} == {
        "delimiter": ";", "decimal": ",", "thousands": ".", "encoding": "cp1252",
    }  # fmt: skip
    assert said["columns"]["day"]["date_format"] == "%d.%m.%Y"
    assert said["columns"]["since"]["date_format"] == "%m/%d/%Y"
    assert not any(value in text for value in ("1.050", "7,5", "Bonn", "K\u00f6ln", "31.12"))
    assert within_80(text)


@pytest.mark.parametrize(
    ("line", "proposed", "unclear"),
    [
        ("1,5;2026-01-01", {"decimal": ","}, False),
        ('"1,050.50";x', {"thousands": ","}, False),
        ("1,050;x", {}, True),
        ("1.5;2026-01-01", {}, False),
        ("5;3/4/2026", {}, True),
        ("5;13/4/2026", {"date_format": "%d/%m/%Y"}, False),
        ("5;3/14/26", {"date_format": "%m/%d/%y"}, False),
        ("1 050,5;x", {"decimal": ",", "thousands": " "}, False),
    ],
)
def test_what_is_not_clear_is_not_proposed(
    typed: Type, clinic: Path, line: str, proposed: dict[str, str], unclear: bool
) -> None:
    """A form is proposed if it is the only one that the first lines can have, and else its columns are named."""
    (clinic / "bills.csv").write_text(f"amount;day\n{line}\n", encoding="utf-8")
    text = typed("init", "bills.csv", "--look").out
    said = tomllib.loads(text)["dataset"]
    assert {key: said[key] for key in ("decimal", "thousands", "date_format", "encoding") if key in said} == proposed
    assert ("Unclear" in text) == unclear


@pytest.mark.parametrize("other", ["1950-01-01", "1950-01-01 10:30", "1950/1/2", "3/4/1950"])
def test_a_form_is_proposed_for_the_columns_that_have_it(typed: Type, clinic: Path, other: str) -> None:
    """Where some days are written otherwise, or not clearly, the form of others goes to their columns alone."""
    lines = ["born;admitted;left;name", *[f"{other};31.12.2026;30.11.2026;x"] * 3]
    (clinic / "bills.csv").write_text("\n".join(lines), encoding="utf-8")
    said = tomllib.loads(typed("init", "bills.csv", "--look").out)
    assert "date_format" not in said["dataset"]
    formats = {name: column["date_format"] for name, column in said["columns"].items() if "date_format" in column}
    assert formats == {"admitted": "%d.%m.%Y", "left": "%d.%m.%Y"}


def test_only_lines_can_be_looked_at(typed: Type, clinic: Path) -> None:
    """A table that has types has no lines to look at."""
    found = typed("init", "visits.parquet", "--look")
    assert (found.code, found.out) == (2, "")
    assert "look is for csv files only" in found.err


def test_all_tables_of_a_folder_are_drafted(typed: Type, clinic: Path) -> None:
    """A folder has one draft for all its tables, printed, in a file that tells what is open, or in JSON."""
    (clinic / "shop").mkdir()
    sql("COPY (SELECT 1 AS customer_id, 40 AS age) TO 'shop/customers.parquet'")
    sql("COPY (SELECT 1 AS order_id, 1 AS customer_id) TO 'shop/orders.parquet'")
    sql("COPY (SELECT 1 AS order_id, 1 AS product_id) TO 'shop/lines.parquet'")
    sql("COPY (SELECT 1 AS product_id, 'x' AS label) TO 'shop/products.csv'")
    asked = typed("init", "shop")
    assert (asked.code, "such as --unit customers.customer_id" in asked.err) == (2, True)
    words = ("init", "shop", "--unit", "customer_id")
    printed = typed(*words)
    assert (printed.code, printed.err) == (0, "")
    assert within_80(printed.out)
    written = typed(*words, "--output", "new.toml")
    assert (written.code, within_80(written.out)) == (0, True)
    facts = " ".join(written.out.split())
    assert "4 tables with 8 columns; no row was read" in facts
    assert "orders: as declared, or as you said" in facts
    assert "lines: whose rows they are" in facts
    assert "products: no link was recognised by name" in facts
    data = typed(*words, "--json").data
    assert (clinic / "new.toml").read_text("utf-8") == printed.out == data["contract"]
    assert (data["unit"], data["left_out"]) == ({"table": "customers", "column": "customer_id"}, ["products"])
    assert data["tables"]["products"] == {"product_id": None, "label": None}
    assert data["links"]["lines"] == [
        {"table": "orders", "on": {"order_id": "order_id"}, "is_unit": False, "is_declared": False}
    ]
    with pytest.raises(InvalidContract, match=r"new\.toml has \d+ faults"):
        Dataset.load(clinic / "new.toml")


def test_a_unit_that_is_given_is_decided(typed: Type, clinic: Path) -> None:
    """With --unit the draft of one table names it, and asks for it no more."""
    found = typed("init", "visits.parquet", "--unit", "patient", "--output", "new.toml")
    assert (found.code, "unit   patient\n" in found.out) == (0, True)
    text = (clinic / "new.toml").read_text("utf-8")
    said = tomllib.loads(text)
    assert (said["dataset"]["unit"], "patient" in said["columns"]) == ("patient", False)
    assert "Which column identifies" not in text
