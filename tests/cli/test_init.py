"""`inbounds init`: a draft of a contract, printed or in a new file."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest

from inbounds.cli import new_file
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
    with pytest.raises(InvalidContract, match="line 13: unit must be a text, got an empty one"):
        Dataset.load(clinic / "new.toml")
    assert sorted(path.name for path in clinic.iterdir()) == ["clinic.toml", "new.toml", "visits.parquet"]


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
    assert "must be a new one" in found.err
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
    assert sorted(path.name for path in clinic.iterdir()) == ["clinic.toml", "new.toml", "visits.parquet"]


def test_a_draft_is_written_whole_or_not_at_all(typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that is full no part of it stays, and a disk without links takes it as well."""

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        assert typed("init", "visits.parquet", "--output", "new.toml").code == 1
    assert sorted(path.name for path in clinic.iterdir()) == ["clinic.toml", "visits.parquet"]

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
        (("visits.duckdb",), "name of the table"),
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
    assert sorted(path.name for path in clinic.iterdir()) == ["broken.parquet", "clinic.toml", "visits.parquet"]


def test_a_csv_file_is_drafted_by_its_header(typed: Type, clinic: Path) -> None:
    """Nothing but the first line of a csv file is in the draft."""
    sql("COPY (SELECT 731954 AS age, 'Zebedee' AS name, 7 AS user_id) TO 'visits.csv' (HEADER, DELIMITER '|')")
    found = typed("init", "visits.csv")
    assert found.code == 0
    assert 'delimiter = "|"' in found.out
    assert "[columns.age]  # decide" in found.out
    assert "731954" not in found.out
    assert "Zebedee" not in found.out
