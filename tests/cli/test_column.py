"""`inbounds release --file`: a column of a file, whole or not at all."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Type, sql, within_80
from inbounds.cli import column as module
from inbounds.mechanism import BoundedLaplace

CSV = 'id;name;score;day\n007;"";1.50;2026-01-05\n008;;;\n009;"a;""b";3;2026-02-03\n'
SCORE = ("--column", "score", "--bounds", "[0, 10] step 1", "--sensitivity", "1", "--epsilon", "1", "--pooling", "1")
DAY = ("--column", "day", "--bounds", "[2026-01-01, 2026-12-31]", "--sensitivity", "3", "--epsilon", "1")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that holds one file."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "source.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def rows(path: str) -> list[tuple[Any, ...]]:
    """Return what is in a file."""
    return sql(f"FROM '{path}'")


def test_other_columns_keep_their_text(typed: Type, source: Path) -> None:
    """From csv to csv only the released column changes, and what is missing stays missing."""
    found = typed("release", "--file", "source.csv", "--to", "out.csv", *SCORE)
    assert (found.code, found.err) == (0, "")
    assert within_80(found.out)
    lines = [line.split(";") for line in Path("out.csv").read_text("utf-8").splitlines()]
    assert lines[0] == ["id", "name", "score", "day"]
    assert lines[1][:2] + lines[1][3:] == ["007", '""', "2026-01-05"]
    assert lines[2] == ["008", "", "", ""]
    assert lines[3][:3] + lines[3][4:] == ["009", '"a', '""b"', "2026-02-03"]
    assert {int(lines[1][2]), int(lines[3][3])} <= set(range(11))


@pytest.mark.parametrize(("options", "place"), [(SCORE, 2), (DAY, 3)])
def test_types_stay_in_parquet(typed: Type, source: Path, options: tuple[str, ...], place: int) -> None:
    """To parquet and back everything has its type, and the report counts what was released and what was missing."""
    data = typed("release", "--file", "source.csv", "--to", "out.parquet", *options, "--json").data
    assert (data["released"], data["missing"], data["to"]) == (2, 1, "out.parquet")
    typed("release", "--file", "out.parquet", "--to", "out.parquet", *options)
    before: list[tuple[Any, ...]] = [
        ("007", "", 1.5, date(2026, 1, 5)),
        ("008", None, None, None),
        ("009", 'a;"b', 3, date(2026, 2, 3)),
    ]
    after = rows("out.parquet")
    for old, new in zip(before, after, strict=True):
        assert [cell for i, cell in enumerate(new) if i != place] == [cell for i, cell in enumerate(old) if i != place]
        assert (old[place] is None) == (new[place] is None)
    kinds = dict(sql("SELECT column_name, column_type FROM (DESCRIBE FROM 'out.parquet')"))
    assert kinds["score" if place == 2 else "day"] == ("BIGINT" if place == 2 else "DATE")


def test_a_column_of_nan_and_nothing(typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN counts as missing, and a file without rows is copied."""
    monkeypatch.chdir(tmp_path)
    sql("COPY (SELECT unnest([1.5, 'nan'::DOUBLE, NULL]) AS score) TO 'a.parquet'")
    assert typed("release", "--file", "a.parquet", "--to", "b.parquet", *SCORE, "--json").data["missing"] == 2
    assert [row[0] is None for row in rows("b.parquet")] == [False, True, True]
    sql("COPY (SELECT 1 AS score LIMIT 0) TO 'a.parquet'")
    assert typed("release", "--file", "a.parquet", "--to", "b.parquet", *SCORE, "--json").data["released"] == 0


def test_the_target_is_replaced_with_its_mode(typed: Type, source: Path) -> None:
    """Source and target may be one file, which keeps who may read it."""
    source.chmod(0o640)
    assert typed("release", "--file", "source.csv", "--to", "source.csv", *SCORE).code == 0
    assert source.stat().st_mode & 0o777 == 0o640
    assert source.read_text("utf-8") != CSV or "1.50" not in source.read_text("utf-8")


@pytest.mark.parametrize(
    ("failure", "code"),
    [(KeyboardInterrupt(), 130), (RuntimeError("Query interrupted"), 130), (OSError(28, "full"), 1)],
)
def test_failing_leaves_everything_as_it_was(
    typed: Type, source: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException, code: int
) -> None:
    """Whatever stops a release half way, the old target is there, nothing else is, and the exit code says why."""
    Path("out.csv").write_text("old", encoding="utf-8")

    def fail(loaded: Any, column: str, released: Any, known: Any, target: Path) -> None:
        target.write_text("half", encoding="utf-8")
        raise type(failure)(*failure.args)  # a new one: the old would keep all that was open

    monkeypatch.setattr(module, "_write", fail)
    found = typed("release", "--file", "source.csv", "--to", "out.csv", *SCORE)
    assert (found.code, found.out) == (code, "")
    assert (found.err == "") == (code == 130)
    assert sorted(path.name for path in source.parent.iterdir()) == ["out.csv", "source.csv"]
    assert Path("out.csv").read_text("utf-8") == "old"


def test_an_interrupt_while_releasing(typed: Type, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, in the middle of the draws."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(BoundedLaplace, "release", interrupt)
    assert typed("release", "--file", "source.csv", "--to", "out.csv", *SCORE).code == 130
    assert [path.name for path in source.parent.iterdir()] == ["source.csv"]


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("--file", "source.csv", "--to", "out.xlsx", *SCORE), "convert or rename"),
        (("--file", "nowhere.csv", "--to", "out.csv", *SCORE), "check its name"),
        (("--file", "source.csv", "--to", "no/where.csv", *SCORE), "make it first"),
        (("--file", "source.csv", "--to", "folder.csv", *SCORE), "name a file"),
        (("--file", "source.csv", "--to", "out.csv", "--column", "scor", *SCORE[2:]), "among its 4"),
        (("--file", "source.csv", "--to", "out.csv", "--column", "name", *SCORE[2:]), "leave empty"),
        (("--file", "source.csv", "--to", "out.csv", "--column", "score", *DAY[2:]), "leave empty"),
        (("--file", "source.csv", "--to", "out.parquet", "--column", "day", *SCORE[2:]), "leave empty"),
        (("--file", "wrong.parquet", "--to", "out.csv", *SCORE), "is it what its name says"),
        (("--file", "source.csv", *SCORE), "give one or the other"),
    ],
)
def test_bad_input_is_named(typed: Type, source: Path, words: tuple[str, ...], remedy: str) -> None:
    """A file or column that cannot be used is named with the remedy, without anything that is in it."""
    Path("folder.csv").mkdir()
    Path("wrong.parquet").write_text("not parquet", encoding="utf-8")
    before = sorted(path.name for path in source.parent.iterdir())
    found = typed("release", *words)
    assert (found.code, found.out) == (2, "")
    assert remedy in found.err
    assert not any(cell in found.err for cell in ("1.50", 'a;"b', "2026-02-03", "not parquet"))
    assert sorted(path.name for path in source.parent.iterdir()) == before


def test_without_duckdb_the_extra_is_named(typed: Type, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is not installed is a failure that says what to install."""
    monkeypatch.setitem(sys.modules, "duckdb", None)
    found = typed("release", "--file", "source.csv", "--to", "out.csv", *SCORE)
    assert found.code == 1
    assert "pip install 'inbounds[query]'" in found.err


@pytest.mark.parametrize(("delimiter", "name"), [(",", "score"), (";", "score"), ("\t", "score"), ("|", "a,b")])
def test_the_first_line_says_what_is_between_fields(typed: Type, source: Path, delimiter: str, name: str) -> None:
    """Whatever separates the names separates the fields, however the values look."""
    header = delimiter.join(["id", f'"{name}"', "note"])
    lines = [delimiter.join([str(i), "3", '"1,5;2|7"']) for i in range(30)]
    source.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    assert typed("release", "--file", "source.csv", "--to", "out.csv", "--column", name, *SCORE[2:]).code == 0
    rows_after = Path("out.csv").read_text("utf-8").splitlines()
    assert len(rows_after) == 31
    assert all("1,5;2|7" in line for line in rows_after[1:])


@pytest.mark.parametrize("header", [b"id,score;x", b"\xff\xfei\x00d\x00"])
def test_an_unsure_first_line_is_refused(typed: Type, source: Path, header: bytes) -> None:
    """Two things that may separate names, or no text at all, are not guessed about."""
    source.write_bytes(header + b"\n1,2;731954\n")
    found = typed("release", "--file", "source.csv", "--to", "out.csv", *SCORE)
    assert (found.code, found.out) == (2, "")
    assert "first line" in found.err
    assert "731954" not in found.err
    assert [path.name for path in source.parent.iterdir()] == ["source.csv"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_is_the_one_that_was_named(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A name that looks like a pattern is a name."""
    monkeypatch.chdir(tmp_path)
    sql(f"COPY (SELECT 1 AS score FROM range(9)) TO 'a1.{kind}'")
    Path(f"a1.{kind}").rename(f"a[1]*.{kind}")
    sql(f"COPY (SELECT 1 AS score FROM range(5)) TO 'a1.{kind}'")
    found = typed("release", "--file", f"a[1]*.{kind}", "--to", f"b[1]?.{kind}", *SCORE, "--json").data
    assert found["released"] == 9
    assert Path(f"b[1]?.{kind}").is_file()
