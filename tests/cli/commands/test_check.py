"""`inbounds check`: true figures, on a terminal or in a file that its owner alone can read, and nowhere else."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inbounds.ledger import Ledger
from inbounds.query.custodian.text import LARGE
from inbounds.query.engines.duckdb import DuckDB
from tests.cli.conftest import Type, sql, within_80
from tests.helpers.engine_places import InPostgres, Row, postgres_url
from tests.helpers.programs import PATIENCE, ROOT

INBOUNDS = (sys.executable, "-m", "inbounds.cli")


def on_terminal(*words: str, cwd: Path) -> tuple[int, str]:
    """Run a command whose standard output and error are a terminal; return its exit code and what it shows."""
    master, slave = os.openpty()
    try:
        process = subprocess.Popen([*INBOUNDS, *words], stdin=slave, stdout=slave, stderr=slave, cwd=cwd)
    finally:
        os.close(slave)
    shown = b""
    try:
        while part := os.read(master, 65536):
            shown += part
    except OSError:  # so Linux says that nobody holds the other end any more
        pass
    finally:
        os.close(master)
    return process.wait(timeout=PATIENCE), shown.decode().replace("\r\n", "\n")


@pytest.fixture
def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process believe that its standard output is a terminal."""
    monkeypatch.setattr("inbounds.cli.commands.check.is_terminal", lambda: True)


@pytest.mark.slow
def test_a_terminal_shows_the_figures_under_a_warning(clinic: Path) -> None:
    """On a terminal the first thing is whose eyes this is for, everything fits 80 columns, and no ledger is made."""
    code, shown = on_terminal("check", "clinic.toml", cwd=clinic)
    shown = re.sub(r"^\r[^\n]*?\r", "", shown)
    assert code == 0
    assert within_80(shown)
    assert LARGE in "\n".join(shown.splitlines()[:4])
    (rows, units) = sql("SELECT COUNT(*), COUNT(DISTINCT patient) FROM 'visits.parquet'")[0]
    ((cut,),) = sql("SELECT SUM(GREATEST(n - 4, 0)) FROM (SELECT COUNT(*) n FROM 'visits.parquet' GROUP BY patient)")
    assert f"\nrows                 {rows:,}\n" in shown
    assert f"\nunits                {units:,} distinct values of patient\n" in shown
    assert f"4: {cut:,} rows" in shown
    assert sorted(path.name for path in clinic.iterdir()) == ["clinic.toml", "report.sql", "visits.parquet"]


def test_without_a_terminal_nothing_is_looked_at(typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pipe or a redirection the command refuses, with the remedy, before the table is opened."""
    monkeypatch.setattr(DuckDB, "run", lambda *_: pytest.fail("the table was looked at"))
    monkeypatch.setattr(DuckDB, "kinds", lambda *_: pytest.fail("the table was looked at"))
    for words, said in (
        ((), "standard output is not one"),
        (("--values",), "is not one"),
        (("--json",), "add --output FILE"),
    ):
        found = typed("check", "clinic.toml", *words)
        assert (found.code, found.out) == (2, "")
        assert said in found.err
        assert "--output FILE" in found.err


@pytest.mark.slow
@pytest.mark.parametrize("place", ["| cat", "> figures.txt", ">&-"])
def test_a_shell_cannot_lead_it_elsewhere(clinic: Path, place: str) -> None:
    """A pipe, a file of everybody's or a closed output gets nothing at all."""
    line = f"{sys.executable} -m inbounds.cli check clinic.toml {place}"
    found = subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, check=False, cwd=clinic, timeout=PATIENCE
    )
    assert found.stdout == ""
    assert found.stderr.startswith("inbounds: check prints true figures to a terminal only")
    assert not (clinic / "figures.txt").exists() or (clinic / "figures.txt").read_text("utf-8") == ""


@pytest.mark.parametrize("as_json", [False, True])
def test_a_file_is_its_owners_alone(typed: Type, clinic: Path, as_json: bool) -> None:
    """Nobody else may read the file, whatever the mask; what is printed holds no figure."""
    mask = os.umask(0)
    try:
        found = typed("check", "clinic.toml", "--output", "figures.txt", *(["--json"] if as_json else []))
    finally:
        os.umask(mask)
    assert (found.code, found.err) == (0, "")
    assert not re.search(r"\d", found.out)
    path = clinic / "figures.txt"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text("utf-8")
    if as_json:
        data = json.loads(text, parse_constant=pytest.fail)
        assert "custodian" in data["for"]
        assert data["units"]["limit"]["limit"] == 4
    else:
        assert LARGE in text
        assert within_80(text)
    again = typed("check", "clinic.toml", "--output", "figures.txt")
    assert (again.code, again.out) == (2, "")
    assert "must be a new file" in again.err
    assert path.read_text("utf-8") == text
    assert sorted(path.name for path in clinic.iterdir()) == [
        "clinic.toml",
        "figures.txt",
        "report.sql",
        "visits.parquet",
    ]


def test_a_disk_that_lets_others_read_is_refused(typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file cannot be the owner's alone, none is written."""
    monkeypatch.setattr(os, "open", _open_for_all)
    found = typed("check", "clinic.toml", "--output", "figures.txt")
    assert (found.code, found.out) == (2, "")
    assert "choose a folder on another disk" in found.err
    assert sorted(path.name for path in clinic.iterdir()) == ["clinic.toml", "report.sql", "visits.parquet"]


_open = os.open


def _open_for_all(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
    """Open a file as a disk without permissions does."""
    found = _open(path, flags, mode, **more)
    if flags & os.O_EXCL:
        os.fchmod(found, 0o644)
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("at_terminal")
def test_the_ledger_is_not_opened(typed: Type, clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a ledger that is there nor one that is not is touched: nothing is charged, and nothing recorded."""
    assert (
        typed(
            "query", "--dataset", "clinic.toml", "--epsilon", "1", "--analyst", "ana", "SELECT COUNT(*) FROM visits"
        ).code
        == 0
    )
    before = {path.name: path.read_bytes() for path in clinic.iterdir()}
    assert "clinic.ledger.db" in before
    monkeypatch.setattr(Ledger, "open", lambda *_, **__: pytest.fail("a ledger was opened"))
    found = typed("check", "clinic.toml")
    assert (found.code, found.err) == (0, "")
    assert {path.name: path.read_bytes() for path in clinic.iterdir()} == before


SECRET = "Zebedee"


@pytest.mark.usefixtures("at_terminal")
def test_values_are_shown_only_if_they_are_asked_for(typed: Type, clinic: Path) -> None:
    """A value that is no key is counted; it is shown with --values, and a control character in it does nothing."""
    table = f"SELECT 1 AS patient, 200 AS age, CASE WHEN i = 0 THEN '{SECRET}' || chr(27) || '[2J' END AS clinic"
    sql(f"COPY ({table} FROM range(3) t(i)) TO 'visits.parquet'")
    text = (clinic / "clinic.toml").read_text("utf-8")
    kept = "".join(
        part for part in text.split("[columns.") if not part.startswith(("satisfied", "minutes", "day", "find"))
    )
    kept = kept.replace("age]", "[columns.age]").replace("clinic]", "[columns.clinic]") + "\n[budget]\ntotal = 1\n"
    (clinic / "clinic.toml").write_text(kept, encoding="utf-8")
    hidden = typed("check", "clinic.toml").out
    shown = typed("check", "clinic.toml", "--values").out
    assert SECRET not in hidden
    assert "--values shows" in hidden
    assert SECRET in shown
    assert "\x1b" not in shown
    assert re.search(r"\nage +\[0, 110\] step 1 +0 +0 +3 +0\n", hidden)
    assert re.search(r"\nclinic +4 +4 +2 +1 +1\n", hidden)


@pytest.mark.usefixtures("at_terminal")
def test_types_that_do_not_fit_are_told(typed: Type, clinic: Path) -> None:
    """A column of another type is named with the reason, and the rest is shown."""
    with duckdb.connect("other.duckdb") as connection:
        connection.execute("CREATE TABLE v AS SELECT * REPLACE (CAST(age AS VARCHAR) AS age) FROM 'visits.parquet'")
    text = (clinic / "clinic.toml").read_text("utf-8").replace('visits.parquet"', 'other.duckdb"\ntable = "v"')
    (clinic / "clinic.toml").write_text(text, encoding="utf-8")
    found = typed("check", "clinic.toml")
    assert found.code == 0
    assert (
        "TYPES THAT DO NOT MATCH\n\nage  column 'age' must hold numbers, but the table 'visits' has text" in found.out
    )
    assert "not measured until all types match" in found.out
    assert "\nminutes" in found.out


@pytest.mark.usefixtures("at_terminal")
def test_a_draft_is_refused_by_its_line(typed: Type, clinic: Path) -> None:
    """Before everything is decided, check names every line that is not."""
    assert typed("init", "visits.parquet", "--output", "new.toml").code == 0
    found = typed("check", "new.toml")
    assert (found.code, found.out) == (2, "")
    assert "new.toml has 12 faults; correct each of them:\n  line 13, [dataset], to decide: unit" in found.err
    assert found.err.count(", to decide: ") == (clinic / "new.toml").read_text("utf-8").count("# decide\n") == 12


@pytest.mark.usefixtures("at_terminal")
@pytest.mark.thorough
def test_a_table_in_postgresql_is_checked(typed: Type, tmp_path: Path) -> None:
    """The figures of a table in PostgreSQL are shown likewise."""
    place = InPostgres(tmp_path, postgres_url())
    try:
        rows: list[Row] = [{"patient": i % 3, "age": i} for i in range(200)]
        source, _ = place.put("visits", rows, {"patient": "integer", "age": "integer"}, [])
        contract = f"[dataset]\nname = 'visits'\n{source}\nunit = 'patient'\nmax_rows_per_unit = 50\n"
        (tmp_path / "visits.toml").write_text(
            contract + "[columns.age]\nbounds = '[10, 110] step 1'\n[budget]\ntotal = 1\n", encoding="utf-8"
        )
        found = typed("check", str(tmp_path / "visits.toml"))
    finally:
        place.close()
    assert found.code == 0
    assert "50: 50 rows (25.0 %) of 3 units (100.0 %) exceed it" in found.out
    assert re.search(r"\nage +\[10, 110\] step 1 +0 +10 +89 +0\n", found.out)


@pytest.mark.usefixtures("at_terminal")
def test_one_row_over_the_limit_is_one(typed: Type, clinic: Path) -> None:
    """A single row of a single unit that is over the limit is spoken of in the singular."""
    (clinic / "visits.csv").write_text("patient,age\n1,5\n1,6\n2,7\n", encoding="utf-8")
    head = "[dataset]\nname = 'visits'\nsource = 'visits.csv'\nunit = 'patient'\nmax_rows_per_unit = 1\n"
    text = f"{head}[columns.age]\nbounds = '[0, 9] step 1'\n[budget]\ntotal = 1\n"
    (clinic / "one.toml").write_text(text, encoding="utf-8")
    found = typed("check", "one.toml")
    assert "1: 1 row (33.3 %) of 1 unit (50.0 %) exceeds it" in found.out


@pytest.mark.usefixtures("at_terminal")
def test_a_broken_source_is_no_traceback(typed: Type, clinic: Path) -> None:
    """A table that cannot be read is named as such, without anything that is in it."""
    (clinic / "visits.parquet").write_text("not parquet", encoding="utf-8")
    found = typed("check", "clinic.toml")
    assert (found.code, found.out) == (2, "")
    assert "cannot read the source" in found.err
    assert "not parquet" not in found.err


@pytest.mark.usefixtures("at_terminal")
def test_the_page_shows_what_comes_out(typed: Type, clinic: Path) -> None:
    """The figures on the page about a first contract are those of the clinic of the demonstration."""
    page = (ROOT / "docs" / "first-contract.md").read_text("utf-8")
    (shown,) = re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    lines = [" ".join(line.split()) for line in typed("check", "clinic.toml").out.splitlines()]
    assert [line for line in shown.splitlines() if line and " ".join(line.split()) not in lines] == []


SAID = """
[dataset]
name = "stays"
source = "stays.csv"
unit = "who"
max_rows_per_unit = 2
[columns.region]
keys = ["city", "country"]
[columns.district]
keys = ["harbour", "hills"]
within = "region"
map = { "harbour" = "city", "hills" = "country" }
[columns.cost]
bounds = "[0, 100] step 1"
[columns.dear]
from = "CASE WHEN cost >= 50 THEN 'dear' ELSE 'cheap' END"
[known]
zeros = [{ region = "city", dear = "dear" }, { district = "hills", dear = "dear" }]
[tables.drugs]
source = "drugs.csv"
[tables.drugs.columns.dose]
bounds = "[0, 6] step 1"
[tables.drugs.columns.half]
from = "dose / 2"
[budget]
total = 1
"""


@pytest.mark.slow
@pytest.mark.usefixtures("at_terminal")
def test_what_the_contract_says_is_shown_beside_the_table(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns made of columns, known numbers that are not so, keys within keys, and each table, on 80 columns."""
    (tmp_path / "stays.toml").write_text(SAID, encoding="utf-8")
    rows = ["1,city,harbour,70", "2,country,harbour,20", "3,sea,hills,", "4,city,harbour,60"]
    (tmp_path / "stays.csv").write_text("\n".join(["who,region,district,cost", *rows, ""]), encoding="utf-8")
    (tmp_path / "drugs.csv").write_text("who,dose\n1,5\n1,\n1,7\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = typed("check", "stays.toml")
    assert (found.code, found.err) == (0, "")
    assert within_80(found.out)
    lines = [re.sub(" +", " ", line) for line in found.out.splitlines()]
    assert "public counts 1 of 2 are correct" in lines
    assert "region = city, dear = dear 0 2" in lines
    assert "district region 1 1" in lines
    assert "dear 0 2 0" in lines
    assert "table drugs, of dataset stays" in lines
    assert "half 1" in lines
    assert sum("advice" in line for line in lines) == 1


UNREAD = """
[dataset]
name = "bills"
source = "bills.csv"
unit = "row"
[columns.cost]
bounds = "[0, 100] step 1"
[columns.town]
keys = ["Bonn"]
[budget]
total = 1
"""


@pytest.mark.slow
@pytest.mark.usefixtures("at_terminal")
@pytest.mark.parametrize(("unread", "is_loud", "code"), [(5, False, 0), (6, True, 0), (50, True, 0), (51, True, 1)])
def test_values_that_are_not_read_are_shouted_about(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unread: int, is_loud: bool, code: int
) -> None:
    """Above 5 % of a column that is not read there is a warning before all figures, above one half a failure."""
    lines = ["cost,town", *(["x,Bonn"] * unread), *(["5,Bonn"] * (100 - unread)), *([",Bonn"] * 30)]
    (tmp_path / "bills.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "bills.toml").write_text(UNREAD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = typed("check", "bills.toml")
    assert found.code == code
    assert ("W A R N I N G" in found.out) == is_loud
    assert within_80(found.out)
    assert not is_loud or found.out.index("W A R N I N G") < found.out.index("NUMBERS AND DATES")
    written = typed("check", "bills.toml", "--output", "check.txt")
    assert (written.code, "WARNING" in written.out) == (code, is_loud)
    assert not re.search("[0-9]", written.out.replace("check.txt", ""))


@pytest.mark.slow
@pytest.mark.usefixtures("at_terminal")
@pytest.mark.parametrize(("others", "is_loud"), [(50, False), (51, True), (100, True)])
def test_columns_with_hardly_a_key_are_shouted_about(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: int, is_loud: bool
) -> None:
    """If more than half of a column's values are no key there is a warning, and no failure: it can be on purpose."""
    lines = ["cost,town", *(["5,K\u00f6ln"] * others), *(["5,Bonn"] * (100 - others)), *(["5,"] * 30)]
    (tmp_path / "bills.csv").write_text("\n".join(lines) + "\n", encoding="cp1252")
    contract = UNREAD.replace('"bills.csv"', '"bills.csv"\nencoding = "cp850"').replace(
        '["Bonn"', '["Bonn", "K\u00f6ln"'
    )
    (tmp_path / "bills.toml").write_text(contract, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = typed("check", "bills.toml")
    assert (found.code, "N O T   I N   T H E   L I S T" in found.out) == (0, is_loud)
    assert within_80(found.out)
    assert not is_loud or found.out.index("W A R N I N G") < found.out.index("NUMBERS AND DATES")
    written = typed("check", "bills.toml", "--output", "check.json", "--json")
    assert (written.code, "WARNING" in written.out) == (0, is_loud)
    assert not re.search("[0-9]", written.out)
    figures = json.loads((tmp_path / "check.json").read_text("utf-8"))
    told = [(one["column"], one["others"], one["values"]) for one in figures["hardly_keys"]]
    assert told == ([("town", others, 100)] if is_loud else [])


@pytest.mark.parametrize(
    ("wrong", "table", "column"),
    [('on = { stay = "number" }', "stays", "number"), ('on = { stey = "stay" }', "notes", "stey")],
)
def test_a_key_that_is_not_there_is_warned_of_first(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_terminal: None, wrong: str, table: str, column: str
) -> None:
    """A column of `on` that a table lacks stands in a warning above all figures, and the exit code is 1."""
    monkeypatch.chdir(tmp_path)
    sql("COPY (SELECT 1 AS patient, 2 AS stay, 3 AS age) TO 'stays.parquet'")
    sql("COPY (SELECT 2 AS stay, 3 AS size) TO 'notes.parquet'")
    text = (
        '[dataset]\nname = "stays"\nsource = "stays.parquet"\nunit = "patient"\nkey = "stay"\nmax_rows_per_unit = 3\n'
        '[columns.age]\nbounds = "[0, 9] step 1"\n[tables.notes]\nsource = "notes.parquet"\nbelongs_to = "stays"\n'
        'on = { stay = "stay" }\nmax_rows_per_unit = 3\n[budget]\ntotal = 1\n'
    )
    Path("right.toml").write_text(text, encoding="utf-8")
    Path("wrong.toml").write_text(text.replace('on = { stay = "stay" }', wrong), encoding="utf-8")
    assert typed("check", "right.toml").code == 0
    found = typed("check", "wrong.toml")
    assert found.code == 1
    above, _, below = found.out.partition("\nrows  ")
    assert "W A R N I N G :   K E Y S" in above
    assert re.search(rf"!!! +{table} +{column}\n", above)
    assert f"'{column}'" in below
    assert "it has " in " ".join(below.split())
    assert within_80(found.out)
    written = typed("check", "wrong.toml", "--output", "check.txt")
    assert (written.code, "does not exist" in written.out) == (1, True)
