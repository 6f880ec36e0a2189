"""Targets: what they are by their names, and what is refused before anything is spent."""

from __future__ import annotations

import builtins
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidParameter
from inbounds.publish.destinations import check_target, read_report, verify, write
from inbounds.publish.destinations.target import FILES, open_destination
from tests.helpers.published_reports import YEAR


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("out.htm", "out.html"),
        ("out.HTLM", "out.html"),
        ("out.pdf", "out.html"),
        ("out.xls", "out.xlsx"),
        ("out.ods", "out.xlsx"),
        ("out.jsn", "out.json"),
        ("out.sqlite", "out.duckdb"),
        ("out.csv", "out.csv/"),
        ("out.parquet", "out.parquet/"),
        ("out.html/", "out.html"),
        ("out.zip/", "out/"),
        ("out", "out.html"),
    ],
)
def test_a_remedy_is_a_target(target: str, meant: str) -> None:
    """What is written otherwise is refused with a target that is accepted when it is typed."""
    with pytest.raises(InvalidParameter, match="a target must end in") as refusal:
        check_target(target)
    remedy = re.findall(r"'([^']*)'\??$", str(refusal.value))
    assert remedy == [meant]
    check_target(remedy[0])


@pytest.mark.parametrize("target", ["", ".", "/", "..", "a\0b.html", ".html", "./"])
def test_what_names_nothing_is_refused(target: str) -> None:
    """A target has a name."""
    with pytest.raises(InvalidParameter, match="a target must end in"):
        check_target(target)


@pytest.mark.parametrize(
    "target",
    [
        "mysql://ana:s3cret@host/db",
        "postgres//ana:s3cret@host/db",
        "s3cret@host",
        "https://ana:s3cret@host/r.html",
        "postgresq://ana:s3cret@host/r.db",
        "s3://ana:s3cret@host/r.parquet/",
    ],
)
def test_no_refusal_shows_a_password(target: str) -> None:
    """What could hold a password is not repeated."""
    with pytest.raises(InvalidParameter) as refusal:
        check_target(target)
    assert "s3cret" not in str(refusal.value)


@pytest.mark.parametrize(
    "target", ["postgresql://ana:s3cret@127.0.0.1:1/db?schema=r", "postgresql://ana:s3cret@127.0.0.1:1/db"]
)
def test_a_server_that_is_not_there_is_refused(target: str) -> None:
    """A schema needs a name, and a server that answers; its password is not repeated."""
    with pytest.raises(InvalidParameter, match=r"needs a schema|cannot be written \(OperationalError\)") as refusal:
        check_target(target)
    assert "s3cret" not in str(refusal.value)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """No folder is made that nobody asked for."""
    for name in ("no/out.html", "no/out/", "no/out.parquet/", "no/out.duckdb"):
        with pytest.raises(InvalidParameter, match="does not exist; create it first"):
            check_target(f"{tmp_path}/{name}")
    assert list(tmp_path.iterdir()) == []


def foreign_text(path: Path) -> None:
    """Write a text of somebody else."""
    path.write_text("{}")


def foreign_database(path: Path) -> None:
    """Make a database of somebody else."""
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE _report (report)")
    connection.close()


@pytest.mark.parametrize("make", [foreign_text, foreign_database])
@pytest.mark.parametrize("ending", FILES)
def test_a_file_of_somebody_else_is_not_replaced(ending: str, make: Callable[[Path], None], tmp_path: Path) -> None:
    """Only what a report wrote is ever replaced."""
    path = tmp_path / f"out{ending}"
    make(path)
    before = path.read_bytes()
    for attempt in (lambda: check_target(str(path)), lambda: write(YEAR, str(path))):
        with pytest.raises(InvalidParameter, match="only a report may be replaced"):
            attempt()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InvalidParameter, match="holds none"):
        verify(str(path))


@pytest.mark.parametrize("name", ["out/", "out.parquet/"])
def test_a_folder_of_somebody_else_is_not_replaced(name: str, tmp_path: Path) -> None:
    """A folder with anything else in it stays; an empty one is filled."""
    target, folder = f"{tmp_path}/{name}", tmp_path / name
    folder.mkdir()
    check_target(target)
    (folder / "mine.csv").write_text("a")
    with pytest.raises(InvalidParameter, match="only a report may be replaced"):
        check_target(target)
    (folder / "mine.csv").unlink()
    write(YEAR, target)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(InvalidParameter, match=r"may hold nothing but a report, got 'notes.txt'"):
        write(YEAR, target)
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """A folder is not written over a file, nor a file over a folder."""
    (tmp_path / "out").write_text("mine")
    (tmp_path / "out.html").mkdir()
    with pytest.raises(InvalidParameter, match="is a file"):
        check_target(f"{tmp_path}/out/")
    with pytest.raises(InvalidParameter, match="got the folder"):
        check_target(f"{tmp_path}/out.html")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidParameter, match=r"did you mean '.*/folder/'"):
        check_target(f"{tmp_path}/folder")


def test_what_cannot_be_named_is_refused(tmp_path: Path) -> None:
    """A name that the system does not take is refused beforehand."""
    with pytest.raises(InvalidParameter, match="cannot be written"):
        check_target(f"{tmp_path}/{'x' * 300}.html")


@pytest.mark.parametrize("target", ["nothing.html", "nothing/", "nothing.db", "nothing.xlsx", "nothing.json"])
def test_what_is_not_there_cannot_be_verified(target: str, tmp_path: Path) -> None:
    """Reading back names what is needed."""
    for read in (verify, read_report):
        with pytest.raises(InvalidParameter, match="holds none; check the name"):
            read(f"{tmp_path}/{target}")


def test_a_report_without_its_parts_is_none(tmp_path: Path) -> None:
    """What begins like a report and is none is refused in the same words."""
    path = tmp_path / "out.json"
    for text in ('{"format": "inbounds report 1"}', '{"format": "inbounds report 1", "tables": 7}', "[" * 100_000):
        path.write_text(text)
        with pytest.raises(InvalidParameter, match="holds none"):
            verify(str(path))


@pytest.mark.parametrize(
    ("target", "library", "extra"),
    [("out.xlsx", "openpyxl", "xlsx"), ("out.duckdb", "duckdb", "query"), ("out.parquet/", "duckdb", "query")],
)
def test_a_missing_extra_is_named(target: str, library: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a destination needs is asked for before anything is spent."""
    real = builtins.__import__

    def refuse(name: str, *more: Any) -> Any:
        if name == library:
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=re.escape(f"pip install 'inbounds[{extra}]'")):
        check_target(target)


def test_endings_are_read_in_any_case() -> None:
    """Capital letters do not matter."""
    assert type(open_destination("OUT.HTML")) is type(open_destination("out.html"))
