"""Every destination: what is written is what is read back, whole or not at all, and every change is found out."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from math import isnan
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import duckdb
import openpyxl
import pandas
import pytest

from inbounds.errors import InvalidParameter
from inbounds.files import whole_file
from inbounds.publish import Report
from inbounds.publish.destinations import check_target, read_report, verify, write
from tests.helpers.published_reports import PRACTICE, YEAR

Rows = list[list[Any]]


def test_what_is_read_back_is_what_was_written(target: str) -> None:
    """A report is the same after it was written and read, and nothing in it was changed."""
    check_target(target, "year")
    said = write(YEAR, target)
    assert said.startswith("wrote ")
    assert said.endswith("5 tables")
    assert read_report(target).digest == YEAR.digest
    found = verify(target)
    assert found.holds, found
    assert (found.digest, found.report.data()) == (YEAR.digest, YEAR.data())
    assert YEAR.digest in str(found)


def test_a_report_may_be_written_again(target: str) -> None:
    """The same report, in another edition, takes the place of the last one."""
    write(YEAR, target)
    check_target(target, "year")
    write(replace(YEAR, edition="2027", tables=YEAR.tables[:1]), target)
    found = verify(target)
    assert found.holds, found
    assert found.report.edition == "2027"


def test_no_other_report_takes_its_place(target: str) -> None:
    """A report never replaces one of another name, and practice never one that was published."""
    write(YEAR, target)
    with pytest.raises(InvalidParameter, match="only the same report may be replaced"):
        check_target(target, "month")
    with pytest.raises(InvalidParameter, match="only the same report may be replaced"):
        write(replace(YEAR, name="month"), target)
    with pytest.raises(InvalidParameter, match="practice"):
        check_target(target, "year", practice=True)
    with pytest.raises(InvalidParameter, match="practice"):
        write(PRACTICE, target)
    assert read_report(target).digest == YEAR.digest


def test_a_published_report_takes_the_place_of_practice(target: str) -> None:
    """What was written to try it is replaced by what counts."""
    write(PRACTICE, target)
    assert verify(target).holds
    write(YEAR, target)
    assert verify(target).report.practice is False


@pytest.mark.parametrize(
    "name", ["report.json", "report.html", "report.xlsx", "report.duckdb", "folder/", "r.parquet/"]
)
def test_a_failure_leaves_what_was_there(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If writing fails at the last step, the old report is still there, whole, and nothing else."""
    target = f"{tmp_path}/{name}"
    write(YEAR, target)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(whole_file, "flush", fail)
    monkeypatch.setattr("inbounds.publish.destinations.folder.flush", fail)
    with pytest.raises(InvalidParameter, match=r"No space left.*costs nothing again"):
        write(replace(YEAR, edition="2027"), target)
    monkeypatch.undo()
    assert verify(target).report.edition == "2026"
    assert [path.name for path in tmp_path.iterdir()] == [name.strip("/")]


# Each number, as other programs read it


def published(report: Report, place: int) -> Rows:
    """Return the rows of a table as Python has them."""
    columns = report.tables[place].columns
    return [list(row) for row in zip(*columns.values(), strict=True)]


def parts_of(target: str) -> tuple[str, str]:
    """Return the address of a server, and the name of a schema."""
    url, _, name = target.rpartition("schema=")
    return url.rstrip("?&"), unquote(name)


def plain(cell: Any) -> Any:
    """Return a cell without what programs have other types for."""
    if cell is None or (isinstance(cell, float) and isnan(cell)):
        return None
    if isinstance(cell, Decimal):
        return int(cell)
    return cell


def test_duckdb_reads_every_number(tmp_path: Path) -> None:
    """DuckDB has the columns of each table with their types, and comments on them."""
    write(YEAR, f"{tmp_path}/r.duckdb")
    with duckdb.connect(f"{tmp_path}/r.duckdb", read_only=True) as connection:
        names = ("clinics", "waits", "_report_", "names", "names_")
        for place, name in enumerate(names):
            rows = connection.execute(f'SELECT * FROM "{name}"').fetchall()
            assert [list(map(plain, row)) for row in rows] == published(YEAR, place)
        kinds = dict(
            connection.execute(
                "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = '_report_'"
            ).fetchall()
        )
        assert kinds["whole"] == "BIGINT"
        assert kinds["wide"] == "DECIMAL(38,0)"
        assert (kinds["day"], kinds["since"], kinds["at"], kinds["urgent"]) == ("DATE", "TIMESTAMP", "TIME", "BOOLEAN")
        assert {"Share", "share_", "nothing_learnt_share"} <= kinds.keys()
        comments = connection.execute("SELECT comment FROM duckdb_tables() WHERE table_name = 'clinics'").fetchall()
        for fact in ("1/3", YEAR.contract, YEAR.ledger_head, YEAR.digest, "contribution bound"):
            assert fact in comments[0][0]
        facts = connection.execute('SELECT name, practice, epsilon, published, digest FROM "_report"').fetchall()
        assert facts == [("year", False, float(YEAR.epsilon), date(2026, 11, 19), YEAR.digest)]


@pytest.mark.slow
def test_pandas_reads_every_number_of_parquet(tmp_path: Path) -> None:
    """Parquet files have the columns with their types, and in their metadata what is known of them."""
    write(YEAR, f"{tmp_path}/r.parquet/")
    for place, name in ((0, "clinics"), (1, "waits"), (3, "names"), (4, "names_")):
        frame = pandas.read_parquet(tmp_path / "r.parquet" / f"{name}.parquet")
        assert [list(map(plain, row)) for row in frame.itertuples(index=False, name=None)] == published(YEAR, place)
    assert pandas.read_parquet(tmp_path / "r.parquet" / "clinics.parquet")["visits"].dtype == "int64"
    source = duckdb.execute(f"SELECT * FROM '{tmp_path}/r.parquet/_report.parquet'").fetchall()
    assert [list(map(plain, row)) for row in source] == published(YEAR, 2)
    found = duckdb.execute(
        f"SELECT key, value FROM parquet_kv_metadata('{tmp_path}/r.parquet/clinics.parquet')"
    ).fetchall()
    facts = {key.decode(): value.decode() for key, value in found}
    assert (facts["epsilon"], facts["contract"], facts["digest"]) == ("1/3", YEAR.contract, YEAR.digest)
    assert (facts["ledger_head"], facts["practice"], facts["unit"]) == (YEAR.ledger_head, "false", "patient")


def test_csv_has_every_number(tmp_path: Path) -> None:
    """A csv file has all digits of every number, and an empty field for what is missing."""
    write(YEAR, f"{tmp_path}/out/")
    for place, name in enumerate(("clinics", "waits", "_report", "names", "names_")):
        with (tmp_path / "out" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            _, *rows = csv.reader(file)
        for row, was in zip(rows, published(YEAR, place), strict=True):
            assert [_typed(text, cell) for text, cell in zip(row, was, strict=True)] == was
    frame = pandas.read_csv(tmp_path / "out" / "clinics.csv")
    assert frame["visits"].tolist() == [1204, 731, -3, 1932]
    assert json.loads((tmp_path / "out" / "report.json").read_text())["ledger_head"] == YEAR.ledger_head


def _typed(text: str, cell: Any) -> Any:
    if cell is None:
        return text or None
    if isinstance(cell, bool):
        return {"true": True, "false": False}[text]
    if isinstance(cell, date | time):
        return type(cell).fromisoformat(text)
    return type(cell)(text)


@pytest.mark.slow
def test_openpyxl_reads_every_number(tmp_path: Path) -> None:
    """A workbook has numbers with all digits, days as days, and as texts only what Excel cannot hold."""
    write(YEAR, f"{tmp_path}/r.xlsx")
    book = openpyxl.load_workbook(tmp_path / "r.xlsx")
    assert book.sheetnames == ["About", "clinics", "waits", "_report", "names", "names_", "report.json"]
    for place, name in enumerate(book.sheetnames[1:-1]):
        head, *rows = book[name].iter_rows(values_only=True)
        assert len(set(head)) == len(head)
        for row, was in zip(rows, published(YEAR, place), strict=True):
            assert [_as_cell(cell) for cell in row] == [_as_cell(cell) for cell in was]
    about = {row[0]: row[1] for row in book["About"].iter_rows(values_only=True)}
    assert (about["contract"], about["ledger head"], about["digest"]) == (YEAR.contract, YEAR.ledger_head, YEAR.digest)
    assert about["published"] == datetime(2026, 11, 19)
    frame = pandas.read_excel(tmp_path / "r.xlsx", sheet_name="waits")
    assert frame["mean wait"].tolist() == YEAR.tables[1].columns["mean wait"]


def _as_cell(cell: Any) -> Any:
    if isinstance(cell, datetime):
        return cell if cell.microsecond == 0 else cell.isoformat(" ")
    if isinstance(cell, date):
        return datetime.combine(cell, time()) if cell.year > 1900 else cell.isoformat()
    if isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) > 2**53:
        return str(cell)
    return cell


def test_the_page_has_every_number(tmp_path: Path) -> None:
    """A page shows every number that was learnt, with all its digits for programs."""
    write(YEAR, f"{tmp_path}/r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    for table in YEAR.tables:
        answer = table.answer
        for row, learnt in zip(answer.rows, answer.learnt, strict=True):
            for place, tells in zip(answer.measure_places, learnt, strict=True):
                if tells and isinstance(row[place], int | float):
                    assert f'<data value="{row[place]!r}">' in page


@pytest.mark.thorough
def test_postgres_reads_every_number(schema: str) -> None:
    """PostgreSQL has the columns of each table with their types, comments on them, and rights for everybody."""
    import psycopg  # noqa: PLC0415

    write(YEAR, schema)
    url, name = parts_of(schema)
    with psycopg.connect(url) as connection:
        for place, table in enumerate(("clinics", "waits", "_report_", "names", "names_")):
            rows = connection.execute(f'SELECT * FROM "{name}"."{table}"'.encode()).fetchall()
            assert [list(map(plain, row)) for row in rows] == published(YEAR, place)
        found = connection.execute(
            "SELECT obj_description(format('%%I.%%I', %s::text, 'clinics')::regclass), "
            "has_table_privilege('public', format('%%I.%%I', %s::text, 'clinics'), 'SELECT'), "
            "has_schema_privilege('public', %s, 'USAGE'), "
            "has_table_privilege('public', format('%%I.%%I', %s::text, 'clinics'), 'UPDATE')",
            [name] * 4,
        ).fetchone()
        assert found is not None
        assert YEAR.ledger_head in found[0]
        assert found[1:] == (True, True, False)


# Tampering


def tamper_json(folder: Path) -> None:
    """Change a digit in the report itself."""
    path = folder / "report.json"
    path.write_text(path.read_text("utf-8").replace("1204", "1205"), "utf-8")


def tamper_page(folder: Path) -> None:
    """Change a digit that is seen, and no other."""
    path = folder / "report.html"
    path.write_text(path.read_text("utf-8").replace(">1,204<", ">1,205<"), "utf-8")


def tamper_data_of_page(folder: Path) -> None:
    """Change a digit in what programs read."""
    path = folder / "report.html"
    before, begins, after = path.read_text("utf-8").partition("<template")
    path.write_text(before + begins + after.replace("1204", "1205", 1), "utf-8")


def tamper_workbook(folder: Path) -> None:
    """Change a cell."""
    book = openpyxl.load_workbook(folder / "report.xlsx")
    book["clinics"]["B2"].value = 1205
    book.save(folder / "report.xlsx")


def tamper_formula(folder: Path) -> None:
    """Change a text to a formula, as whoever wants to run something would."""
    source = folder / "report.xlsx"
    with zipfile.ZipFile(source) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    sheet = parts["xl/worksheets/sheet2.xml"].decode()
    assert "<v>1204</v>" in sheet
    parts["xl/worksheets/sheet2.xml"] = sheet.replace("<v>1204</v>", "<f>1204</f><v>1204</v>").encode()
    with zipfile.ZipFile(source, "w") as new:
        for name, content in parts.items():
            new.writestr(name, content)


def tamper_duckdb(folder: Path) -> None:
    """Change a cell."""
    with duckdb.connect(str(folder / "report.duckdb")) as connection:
        connection.execute("UPDATE clinics SET high_noise_only = 1218 WHERE high_noise_only = 1217")


def tamper_comment(folder: Path) -> None:
    """Change what is said of a table."""
    with duckdb.connect(str(folder / "report.duckdb")) as connection:
        connection.execute("COMMENT ON TABLE clinics IS 'exact'")


def tamper_csv(folder: Path) -> None:
    """Change a digit."""
    path = folder / "folder" / "clinics.csv"
    path.write_bytes(path.read_bytes().replace(b"1204", b"1205"))


def tamper_files(folder: Path) -> None:
    """Take a file away, and put another one there."""
    (folder / "folder" / "clinics.csv").rename(folder / "folder" / "wards.csv")


def tamper_parquet(folder: Path) -> None:
    """Change a cell of a file, and keep the rest."""
    path = folder / "report.parquet" / "waits.parquet"
    duckdb.sql(f"CREATE OR REPLACE TABLE changed AS SELECT * FROM '{path}'")
    duckdb.sql('UPDATE changed SET "mean wait" = "mean wait" + 1e-9 WHERE month = DATE \'2026-03-01\'')
    duckdb.sql(f"COPY changed TO '{path}' (FORMAT parquet)")


TAMPERED: list[tuple[str, Callable[[Path], None], str]] = [
    ("report.json", tamper_json, "digest"),
    ("report.html", tamper_page, r"1,205.*instead of.*1,204"),
    ("report.html", tamper_data_of_page, "digest"),
    ("report.xlsx", tamper_workbook, "1205 instead of 1204"),
    ("report.xlsx", tamper_formula, "formulas"),
    ("report.duckdb", tamper_duckdb, "row 1, high_noise_only: 1218 instead of 1217"),
    ("report.duckdb", tamper_comment, "comment"),
    ("folder/", tamper_csv, r"line 2.*1205.*instead of.*1204"),
    ("folder/", tamper_files, "wards.csv: this file is not part"),
    ("report.parquet/", tamper_parquet, "row 3, mean wait"),
]


@pytest.mark.parametrize(("name", "tamper", "fault"), TAMPERED)
def test_whatever_is_changed_is_found_out(
    name: str, tamper: Callable[[Path], None], fault: str, tmp_path: Path
) -> None:
    """A single digit, word or file that is not as it was published is named."""
    write(YEAR, f"{tmp_path}/{name}")
    tamper(tmp_path)
    found = verify(f"{tmp_path}/{name}")
    assert not found.holds
    assert re.search(fault, str(found))


@pytest.mark.thorough
def test_a_changed_row_of_postgres_is_found_out(schema: str) -> None:
    """A single digit, view or comment that is not as it was published is named; another order is no change."""
    import psycopg  # noqa: PLC0415

    write(YEAR, schema)
    url, name = parts_of(schema)

    def run(statement: str) -> None:
        with psycopg.connect(url) as connection:
            connection.execute(statement.format(f'"{name}"').encode())

    run("UPDATE {}.clinics SET visits = visits WHERE clinic = 'north'")
    assert verify(schema).holds
    run("UPDATE {}.clinics SET visits = 1205 WHERE clinic = 'north'")
    assert "row 1, visits: 1205 instead of 1204" in str(verify(schema))
    run("CREATE VIEW {0}.seen AS SELECT * FROM {0}.waits")
    assert "table seen: it is not part of the report" in str(verify(schema))
    with pytest.raises(InvalidParameter, match="'seen'"):
        check_target(schema, "year")
    run('CREATE VIEW public."seen elsewhere" AS SELECT * FROM {}.waits')
    run("DROP VIEW {}.seen")
    try:
        with pytest.raises(InvalidParameter, match="while views use them"):
            write(YEAR, schema)
    finally:
        run('DROP VIEW public."seen elsewhere"')
    write(YEAR, schema)
    assert verify(schema).holds


@pytest.mark.thorough
def test_rights_may_be_for_one_role(schema: str) -> None:
    """With a role nobody else is given the right to read; one that there is not is refused beforehand."""
    import psycopg  # noqa: PLC0415

    with pytest.raises(InvalidParameter, match="role must be one that the server has"):
        check_target(f"{schema}&role=nobody_at_all")
    write(YEAR, f"{schema}&role=inbounds")
    url, name = parts_of(schema)
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT has_schema_privilege('public', %s, 'USAGE')", [name]).fetchone()
    assert found == (False,)


# Practice


@pytest.mark.slow
def test_practice_cannot_be_overlooked(tmp_path: Path) -> None:
    """Each destination of a practice report says so where one looks first, and where programs look."""
    for name in ("r.html", "r.xlsx", "r.duckdb", "r/", "r.parquet/", "r.json"):
        write(PRACTICE, f"{tmp_path}/{name}")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert page.count('<span class="mark">PRACTICE</span>') == 1 + len(PRACTICE.tables)
    assert page.count("<caption>PRACTICE: ") == len(PRACTICE.tables)
    assert "<title>PRACTICE: " in page
    assert 'content: "PRACTICE"' in page  # across each printed page
    book = openpyxl.load_workbook(tmp_path / "r.xlsx")
    assert book["About"]["A1"].value.startswith("PRACTICE")
    assert all(name.startswith("PRACTICE ") for name in book.sheetnames[1:-1])
    assert book.properties.title.startswith("PRACTICE")
    assert all(path.name.startswith(("practice_", "report.json")) for path in (tmp_path / "r").iterdir())
    assert all(path.name.startswith(("practice_", "report.json")) for path in (tmp_path / "r.parquet").iterdir())
    with duckdb.connect(f"{tmp_path}/r.duckdb", read_only=True) as connection:
        comments = connection.execute(
            "SELECT comment FROM duckdb_tables() WHERE table_name NOT IN ('_report', '_tables')"
        )
        assert all(comment.startswith("PRACTICE") for (comment,) in comments.fetchall())
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["practice"] is True
    write(YEAR, f"{tmp_path}/real.html")
    assert "PRACTICE" not in (tmp_path / "real.html").read_text("utf-8")
