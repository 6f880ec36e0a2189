"""`inbounds release --file`: a column of a file, whole or not at all, and every cell read for itself."""

from __future__ import annotations

import re
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds import Bounds
from inbounds.cli.files import csv_file, parquet_file
from inbounds.cli.files.answer_text import as_json, as_text, read_answer
from inbounds.errors import InvalidAnswer
from inbounds.mechanisms.bounded_laplace import BoundedLaplace
from tests.cli.conftest import Type, sql, within_80
from tests.helpers.sparing import sparing

CSV = 'id;name;score;day\n007;"";1.50;2026-01-05\n008;;;\n009;"a;""b";3;2026-02-03\n'
PARQUET = """
    SELECT * FROM (VALUES ('007', '', 1.5::DOUBLE, DATE '2026-01-05'), ('008', NULL, NULL, NULL),
                          ('009', 'a;"b', 3, DATE '2026-02-03')) t(id, name, score, day)
"""
SCORE = ("--column", "score", "--bounds", "[0, 10] step 1", "--sensitivity", "1", "--epsilon", "1", "--pooling", "1")
DAY = ("--column", "day", "--bounds", "[2026-01-01, 2026-12-31]", "--sensitivity", "3", "--epsilon", "1")
STILL = ("--sensitivity", "0.001", "--epsilon", "1000", "--pooling", "1")
"""Noise that is as good as none on a lattice of a step: what comes out is what was read."""


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


# Csv.


def test_everything_else_keeps_its_characters(typed: Type, source: Path) -> None:
    """From csv to csv only the released cells change, and what is missing stays missing."""
    found = typed("release", "--file", "source.csv", "--to", "out.csv", *SCORE)
    assert (found.code, found.err) == (0, "")
    assert within_80(found.out)
    assert "2 values of column score; 1 empty cell stayed empty" in found.out
    lines = [line.split(";") for line in Path("out.csv").read_text("utf-8").splitlines()]
    assert lines[0] == ["id", "name", "score", "day"]
    assert lines[1][:2] + lines[1][3:] == ["007", '""', "2026-01-05"]
    assert lines[2] == ["008", "", "", ""]
    assert lines[3][:3] + lines[3][4:] == ["009", '"a', '""b"', "2026-02-03"]
    assert {int(lines[1][2]), int(lines[3][3])} <= set(range(11))


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffid,score\r\n1,3\r\n\r\n#2,3\r\n,\r\n",  # a mark, a blank line, what looks like a comment
        'id,score,x\n"1", 3 ,"a""b, c"\n# no comment,3,\n1,"3",é\n2,,"\t"',  # no end of the last line
        "score\n3\n\n3\n",
        "id;score\nscore;3\n",
        "id\tscore\n 1 \t3e0\n",
    ],
)
def test_no_other_byte_changes(typed: Type, source: Path, text: str) -> None:
    """Marks, line ends, blanks, quotes and what looks like a comment stay; without noise the numbers stay too."""
    before = text.encode()
    source.write_bytes(before)
    words = ("--column", "score", "--bounds", "[0, 10] step 1", *STILL)
    assert typed("release", "--file", "source.csv", "--to", "out.csv", *words).code == 0
    after = Path("out.csv").read_bytes()
    for old in (b" 3 ", b'"3"', b"3e0"):
        before = before.replace(old, b"3")
    assert after == before


def test_bytes_that_are_no_text_stay(typed: Type, source: Path) -> None:
    """Other columns may be in any encoding that leaves the delimiters alone."""
    source.write_bytes(b"id,score\n\xe9\xff,3\n")
    words = ("--column", "score", "--bounds", "[0, 10] step 1", *STILL)
    assert typed("release", "--file", "source.csv", "--to", "out.csv", *words).code == 0
    assert Path("out.csv").read_bytes() == b"id,score\n\xe9\xff,3\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bounds", "texts"),
    [
        ("[0, 2000000000000000000] step 1", ["1152921504606847104", "1152921504606847105", "1"]),
        ("[0, 2000000000000000000] step 1", ["9007199254740992.6", "9007199254740993.6", "0.5"]),
        ("[0, inf) step 1", ["1152921504606847105", "7", "0.4999"]),
        ("[0, 10] step 0.01", ["1.005", "8.345", "0.015"]),
    ],
)
@pytest.mark.parametrize("way", ["csv", "lines", "decimal", "text"])
def test_answers_are_read_exactly(typed: Type, source: Path, bounds: str, texts: list[str], way: str) -> None:
    """No number goes through a double on its way to the lattice, whichever way it comes: half a step goes up."""
    words = ("--bounds", bounds, *STILL)
    lattice = Bounds.parse(bounds)
    step = Fraction(lattice.step or 1)
    expected = [(Fraction(text) / step + Fraction(1, 2)).__floor__() * step for text in texts]
    if way == "lines":
        found = typed("release", "-", *words, stdin="\n".join(texts)).out.split()
    elif way != "csv":
        kind = "DECIMAL(38, 10)" if way == "decimal" else "VARCHAR"
        cells = ", ".join(f"('{text}'::{kind})" for text in texts)
        sql(f"COPY (SELECT * FROM (VALUES {cells}) t(score)) TO 'a.parquet'")
        assert typed("release", "--file", "a.parquet", "--to", "b.parquet", "--column", "score", *words).code == 0
        found = [str(row[0]) for row in rows("b.parquet")]
    else:
        source.write_text("score\n" + "\n".join(texts) + "\n", encoding="utf-8")
        assert typed("release", "--file", "source.csv", "--to", "b.csv", "--column", "score", *words).code == 0
        found = Path("b.csv").read_text().split()[1:]
    assert [Fraction(text) if step == 1 else Fraction(text).limit_denominator(100) for text in found] == expected


def test_long_texts_of_numbers_go_to_their_own_side(typed: Type, source: Path) -> None:
    """In a csv file, in a parquet file and on lines, the size of a number decides, not the length of its text."""
    texts = [f"0.{'0' * 4_001}1", f"1{'0' * 4_005}e-1", f"-1{'0' * 4_005}e-1", f"0.{'0' * 4_001}7e4002", "-1e-9999"]
    words = ("--bounds", "[-100, 100] step 1", *STILL)
    expected = ["0", "100", "-100", "7", "0"]
    assert typed("release", "-", *words, stdin="\n".join(texts)).out.split() == expected
    source.write_text("score\n" + "\n".join(texts) + "\n", encoding="utf-8")
    assert typed("release", "--file", "source.csv", "--to", "b.csv", "--column", "score", *words).code == 0
    assert Path("b.csv").read_text().split()[1:] == expected
    cells = ", ".join(f"('{text}')" for text in texts)
    sql(f"COPY (SELECT * FROM (VALUES {cells}) t(score)) TO 'a.parquet'")
    assert typed("release", "--file", "a.parquet", "--to", "b.parquet", "--column", "score", *words).code == 0
    assert [str(row[0]) for row in rows("b.parquet")] == expected


def test_a_number_that_no_double_holds_is_released(typed: Type, source: Path) -> None:
    """On a side without an end a vast number is no failure: parquet has the largest double, text has the number."""
    words = ("--column", "score", "--bounds", "[0, inf)", *STILL)
    sql("COPY (SELECT * FROM (VALUES ('1e400'), ('1e99999')) t(score)) TO 'a.parquet'")
    assert typed("release", "--file", "a.parquet", "--to", "b.parquet", *words).code == 0
    assert rows("b.parquet") == [(sys.float_info.max,), (sys.float_info.max,)]
    source.write_text("score\n1e400\n1e99999\n", encoding="utf-8")
    assert typed("release", "--file", "source.csv", "--to", "b.csv", *words).code == 0
    assert [
        len(text.partition(".")[0]) in (size, size + 1)
        for text, size in zip(Path("b.csv").read_text().split()[1:], (400, 1_000), strict=True)
    ] == [True, True]


@given(st.decimals(allow_nan=False, allow_infinity=False) | st.integers().map(Decimal))
def test_every_decimal_is_read_as_it_is_written(number: Decimal) -> None:
    """Reading loses nothing, but where a number is vast or tiny beyond all use."""
    if -900 < number.adjusted() <= 900:
        assert read_answer(f"{number}", Bounds.everything(), "here") == Fraction(number)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e99999999999999999999", 10),
        ("-1e99999", 0),
        ("1e-99999999999", 0),
        ("0e999999999", 0),
        (f"0.{'0' * 4_001}1", 0),
        (f"1{'0' * 4_005}e-1", 10),
        ("inf", 10),
        ("-inf", 0),
    ],
    ids=range(8),
)
def test_what_is_vast_goes_to_the_end_and_what_is_tiny_to_zero(text: str, value: int) -> None:
    """No number is too long to be read; where there is no end, an infinity has nowhere to go."""
    still = BoundedLaplace(Bounds(0, 10, step=1), 1, 1000)
    assert still.release(read_answer(text, still.bounds, "here")) == value
    if "inf" in text:
        with pytest.raises(InvalidAnswer, match="here may be infinite only"):
            read_answer(text, Bounds.everything(), "here")


def test_one_row_does_not_decide_how_another_is_read(typed: Type, source: Path) -> None:
    """What a cell is depends on that cell: a row more changes no other, and what cannot be read names its line only."""
    words = ("--column", "score", "--bounds", "[0, 2000000000000000000] step 1", *STILL)
    big = "score\n1152921504606847105\n"
    for text in (big, f"{big}0.5\n", f"{big}\n", f"{big}nan\n", f'{big}"3"\n'):
        source.write_text(text, encoding="utf-8")
        assert typed("release", "--file", "source.csv", "--to", "out.csv", *words).code == 0
        assert Path("out.csv").read_text("utf-8").split()[1] == "1152921504606847105"
    source.write_text("day\n03/04/2026\n04/13/2026\n", encoding="utf-8")
    found = typed("release", "--file", "source.csv", "--to", "out.csv", *DAY)
    assert (found.code, "line 2 of source.csv must be a date" in found.err) == (2, True)


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"id,score;x\n1,2;731954\n", "first line"),
        (b"\xff\xfei\x00d\x00\n731954", "first line"),
        (b"", "first line"),
        (b"id,score\n1,2\n3,4,731954\n", "line 3 of source.csv must have 2 fields, like the first line"),
        (b'id,score\n1,"731954\n3",4\n', "line 2 of source.csv must have quotes around whole fields only"),
        (b'id,score\n1,2\n73"1954,4\n', "line 3 of source.csv must have quotes around whole fields only"),
        (b"score,score\n1,731954\n", "has 2 columns 'score'"),
        (b"Score\n731954\n", "no column 'score' among its 1"),
        (b"score\n3\n731954 years\n", "line 3 of source.csv must be a number"),
        (b"score\n1_0\n", "line 2 of source.csv must be a number"),
    ],
)
def test_what_is_not_sure_is_refused(typed: Type, source: Path, text: bytes, told: str) -> None:
    """Nothing is guessed: a line that is no row, a cell that is no number, is told by its number, not by its text."""
    source.write_bytes(text)
    found = typed("release", "--file", "source.csv", "--to", "out.csv", *SCORE)
    assert (found.code, found.out) == (2, "")
    assert told in found.err
    assert "731954" not in found.err
    assert [path.name for path in source.parent.iterdir()] == ["source.csv"]


@pytest.mark.slow
@pytest.mark.parametrize("bounds", sparing(["[0, inf)", "[0, 10] step 0.5", "[0, 100]", "[0, 20] step 1"], 2))
@pytest.mark.parametrize("way", ["csv", "lines", "json", "one"])
def test_how_a_release_is_written_tells_nothing_of_the_answer(typed: Type, source: Path, bounds: str, way: str) -> None:
    """Whether the true answer was whole, or who is beside it, does not change how a release is written."""
    words = ("--bounds", bounds, "--sensitivity", "1", "--epsilon", "0.3", "--pooling", "1")
    forms = set()
    for cells in (["1"] * 60, ["1.5"] * 60, ["1", "1.5"] * 30):
        if way == "csv":
            source.write_text("score\n" + "\n".join(cells) + "\n", encoding="utf-8")
            typed("release", "--file", "source.csv", "--to", "out.csv", "--column", "score", *words)
            found = Path("out.csv").read_text("utf-8").split()[1:]
        elif way == "one":
            outs = [typed("release", cell, *words).out for cell in cells[:20]]  # in 60, a zero is missed once in 10¹⁰
            found = [out.split("\n", maxsplit=1)[0].split()[1] for out in outs]
        else:
            more = ("--json",) if way == "json" else ()
            found = re.findall(r"[\d.e+-]+", typed("release", "-", *words, *more, stdin="\n".join(cells)).out)
        forms |= {text for text in found if float(text) == 0}
    assert forms == {"0"}


def test_one_cell_does_not_decide_how_another_is_released(typed: Type, source: Path) -> None:
    """A vast number comes back as itself, whether the others are whole or not."""
    for bounds in ("[0, inf) step 1", "[0, inf)"):
        for other in ("5", "5.5", "1e400", ""):
            source.write_text(f"score\n3000000000000000000\n{other}\n", encoding="utf-8")
            words = ("--column", "score", "--bounds", bounds, *STILL)
            assert typed("release", "--file", "source.csv", "--to", "out.csv", *words).code == 0
            released = Fraction(Path("out.csv").read_text("utf-8").split()[1])
            assert abs(released - 3 * 10**18) < Fraction(1, 10)


@pytest.mark.parametrize(
    ("point", "text", "number"),
    [
        (Fraction(0), "0", 0),
        (Fraction(617, 50), "12.34", 12.34),
        (Fraction(1, 2**32), "2.3283064365386963e-10", 2.3283064365386963e-10),
        (Fraction(2**53 * 4 + 1, 4), "9007199254740992.25", "9007199254740992.25"),
        (Fraction(1, 3), "0.3333333333333333", 0.3333333333333333),
        (Fraction(10**400), "1" + "0" * 400, 10**400),
        (Fraction(-7, 2), "-3.5", -3.5),
    ],
)
def test_a_release_is_written_exactly_where_a_decimal_can(point: Fraction, text: str, number: object) -> None:
    """The text is that of the point: as short as a double's if that is exact, else as a decimal."""
    assert (as_text(point), as_json(point)) == (text, number)
    for same in (int(point), float(point) if abs(point) < 10**300 else point):
        if same == point:
            assert (as_text(same), as_json(same)) == (text, number)
    assert Fraction(text) == point or Fraction(float(text)) == point or point.denominator == 3


# Parquet.


@pytest.mark.slow
@pytest.mark.parametrize(("options", "place"), [(SCORE, 2), (DAY, 3)])
def test_types_stay_in_parquet(typed: Type, source: Path, options: tuple[str, ...], place: int) -> None:
    """Everything keeps its type, and the report counts what was released and what was missing."""
    sql(f"COPY ({PARQUET}) TO 'in.parquet'")
    data = typed("release", "--file", "in.parquet", "--to", "out.parquet", *options, "--json").data
    assert (data["released"], data["missing"], data["to"]) == (2, 1, "out.parquet")
    for old, new in zip(rows("in.parquet"), rows("out.parquet"), strict=True):
        assert (old[place] is None) == (new[place] is None)
        assert [cell for i, cell in enumerate(new) if i != place] == [c for i, c in enumerate(old) if i != place]
    kinds = dict(sql("SELECT column_name, column_type FROM (DESCRIBE FROM 'out.parquet')"))
    assert kinds["score" if place == 2 else "day"] == ("BIGINT" if place == 2 else "DATE")


@pytest.mark.parametrize("kind", ["BIGINT", "HUGEINT", "VARCHAR"])
def test_what_64_bits_do_not_hold_is_the_last_that_fits(typed: Type, source: Path, kind: str) -> None:
    """Every release is a possible answer, in a column of parquet too."""
    vast = 2**63 - 1 if kind == "BIGINT" else 3 * 10**25
    sql(f"COPY (SELECT x::{kind} AS score FROM (VALUES ({vast}), (1500)) t(x)) TO 'a.parquet'")
    words = ("--column", "score", "--bounds", "[0, inf) step 1000", "--sensitivity", "1000", "--epsilon", "1")
    assert typed("release", "--file", "a.parquet", "--to", "b.parquet", *words, "--pooling", "1").code == 0
    (first,), (second,) = rows("b.parquet")
    assert first % 1000 == second % 1000 == 0
    assert 2**63 - 10**6 < first < 2**63


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["TINYINT", "UINTEGER", "BIGINT", "UBIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL(9, 2)", "VARCHAR"]
)
def test_numbers_of_every_type_are_released(typed: Type, source: Path, kind: str) -> None:
    """Whatever type holds the numbers, without noise they come out as they went in."""
    sql(f"COPY (SELECT x::{kind} AS score FROM (VALUES (3), (NULL), (7)) t(x)) TO 'a.parquet'")
    words = ("--column", "score", "--bounds", "[0, 10] step 1", *STILL)
    data = typed("release", "--file", "a.parquet", "--to", "b.parquet", *words, "--json").data
    assert (data["released"], data["missing"]) == (2, 1)
    assert rows("b.parquet") == [(3,), (None,), (7,)]


def test_a_column_of_nan_and_nothing(typed: Type, source: Path) -> None:
    """NaN counts as missing, and a file without rows is copied."""
    sql("COPY (SELECT unnest([1.5, 'nan'::DOUBLE, NULL]) AS score) TO 'a.parquet'")
    assert typed("release", "--file", "a.parquet", "--to", "b.parquet", *SCORE, "--json").data["missing"] == 2
    assert [row[0] is None for row in rows("b.parquet")] == [False, True, True]
    sql("COPY (SELECT 1 AS score LIMIT 0) TO 'a.parquet'")
    assert typed("release", "--file", "a.parquet", "--to", "b.parquet", *SCORE, "--json").data["released"] == 0
    source.write_text("score", encoding="utf-8")
    assert typed("release", "--file", "source.csv", "--to", "b.csv", *SCORE, "--json").data["released"] == 0


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_is_the_one_that_was_named(typed: Type, source: Path, kind: str) -> None:
    """A name that looks like a pattern is a name, and a folder that looks like a column is a folder."""
    sql(f"COPY (SELECT 1 AS score FROM range(9)) TO 'a1.{kind}'")
    Path("score=5").mkdir()
    Path(f"a1.{kind}").rename(f"score=5/a[1]*.{kind}")
    sql(f"COPY (SELECT 1 AS score FROM range(5)) TO 'score=5/a1.{kind}'")
    words = ("--column", "score", "--bounds", "[0, 10] step 1", *STILL)
    found = typed("release", "--file", f"score=5/a[1]*.{kind}", "--to", f"b[1]?.{kind}", *words, "--json").data
    assert found["released"] == 9
    Path(f"b[1]?.{kind}").rename(f"b.{kind}")
    assert rows(f"b.{kind}") == [(1,)] * 9


# Whole or not at all.


def test_the_target_is_replaced_with_its_mode(typed: Type, source: Path) -> None:
    """Source and target may be one file, which keeps who may read it."""
    source.chmod(0o640)
    assert typed("release", "--file", "source.csv", "--to", "source.csv", *SCORE).code == 0
    assert source.stat().st_mode & 0o777 == 0o640
    assert "1.50" not in source.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (KeyboardInterrupt(), 130),
        (RuntimeError("Query interrupted"), 130),
        (OSError(28, "full"), 1),
        (MemoryError(), 1),
    ],
)
@pytest.mark.parametrize("place", [(csv_file, "_release", "csv"), (parquet_file, "_write", "parquet")])
def test_failing_leaves_everything_as_it_was(
    typed: Type,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    failure: BaseException,
    code: int,
    place: tuple[Any, str, str],
) -> None:
    """Whatever stops a release half way, the old target is there, nothing else is, and the exit code says why."""
    sql(f"COPY ({PARQUET}) TO 'source.parquet'")
    target = Path(f"out.{place[2]}")
    target.write_text("old", encoding="utf-8")

    def fail(*_: Any) -> None:
        raise type(failure)(*failure.args)  # a new one: the old would keep all that was open

    monkeypatch.setattr(place[0], place[1], fail)
    found = typed("release", "--file", f"source.{place[2]}", "--to", str(target), *SCORE)
    assert (found.code, found.out) == (code, "")
    assert (found.err == "") == (code == 130)
    assert sorted(path.name for path in source.parent.iterdir()) == [target.name, "source.csv", "source.parquet"]
    assert target.read_text("utf-8") == "old"


def test_an_interrupt_while_releasing(typed: Type, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, in the middle of the draws."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(BoundedLaplace, "_draw_parts", interrupt)
    assert typed("release", "--file", "source.csv", "--to", "out.csv", *SCORE).code == 130
    assert [path.name for path in source.parent.iterdir()] == ["source.csv"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("--file", "source.csv", "--to", "out.xlsx", *SCORE), "both files must end in .csv or both in .parquet"),
        (("--file", "source.csv", "--to", "out.parquet", *SCORE), "convert one with another tool"),
        (("--file", "twice.parquet", "--to", "out.parquet", *SCORE), "differ in more than letter case"),
        (("--file", "endless.parquet", "--to", "out.parquet", *DAY), "infinite ones too; replace these"),
        (("--file", "nowhere.csv", "--to", "out.csv", *SCORE), "check the name given as --file"),
        (("--file", "folder.csv", "--to", "out.csv", *SCORE), "check the name given as --file"),
        (("--file", "source.csv", "--to", "no/where.csv", *SCORE), "create it first"),
        (("--file", "source.csv", "--to", "folder.csv", *SCORE), "name a file"),
        (("--file", "source.csv", "--to", "out.csv", "--column", "scor", *SCORE[2:]), "among its 4"),
        (("--file", "source.csv", "--to", "out.csv", "--column", "name", *SCORE[2:]), "line 4 of source.csv"),
        (("--file", "source.csv", "--to", "out.csv", "--column", "score", *DAY[2:]), "line 2 of source.csv"),
        (("--file", "in.parquet", "--to", "out.parquet", "--column", "day", *SCORE[2:]), "got DATE; convert it"),
        (("--file", "in.parquet", "--to", "out.parquet", "--column", "score", *DAY[2:]), "got DOUBLE; convert it"),
        (("--file", "in.parquet", "--to", "out.parquet", "--column", "name", *SCORE[2:]), "row 3 of 'name' must be"),
        (("--file", "in.parquet", "--to", "out.parquet", "--column", "Score", *SCORE[2:]), "and its letter case"),
        (("--file", "wrong.parquet", "--to", "out.parquet", *SCORE), "check that it is a parquet file"),
        (("--file", "source.csv", *SCORE), "give one or the other"),
    ],
)
def test_bad_input_is_named(typed: Type, source: Path, words: tuple[str, ...], remedy: str) -> None:
    """A file or column that cannot be used is named with the remedy, without anything that is in it."""
    sql(f"COPY ({PARQUET}) TO 'in.parquet'")
    Path("folder.csv").mkdir()
    Path("wrong.parquet").write_text("not parquet", encoding="utf-8")
    pq.write_table(pa.table({"score": [1], "Score": [2]}), "twice.parquet")
    sql("COPY (SELECT 'infinity'::DATE AS day) TO 'endless.parquet'")
    before = sorted(path.name for path in source.parent.iterdir())
    found = typed("release", *words)
    assert (found.code, found.out) == (2, "")
    assert remedy in found.err
    assert not any(cell in found.err for cell in ("1.50", 'a;"b', "2026-02-03", "not parquet"))
    assert sorted(path.name for path in source.parent.iterdir()) == before


def test_without_duckdb_the_extra_is_named(typed: Type, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that is not installed is a failure that says what to install; csv needs none."""
    sql(f"COPY ({PARQUET}) TO 'in.parquet'")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    found = typed("release", "--file", "in.parquet", "--to", "out.parquet", *SCORE)
    assert found.code == 1
    assert "pip install 'inbounds[query]'" in found.err
    assert sorted(path.name for path in source.parent.iterdir()) == ["in.parquet", "source.csv"]
    assert typed("release", "--file", "source.csv", "--to", "out.csv", *SCORE).code == 0
