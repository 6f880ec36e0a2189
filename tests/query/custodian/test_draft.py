"""Drafts of contracts: from names and types alone, refused until everything is decided."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inbounds.errors import InvalidContract, InvalidParameter, InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.custodian.draft import Draft, looks_like_id
from inbounds.query.custodian.schema import Schema, without_password
from inbounds.query.engines.engine import Kind
from tests.helpers.engine_places import InPostgres, postgres_url

SECRET, SECRET_NUMBER, SECRET_DAY, ROWS = "Zebedee Quillfeather", 731954, "1987-03-29", 4177
COLUMNS = """
    CAST({number} AS BIGINT) AS patient_id, CAST({number} AS INT) AS age, CAST({number} AS DOUBLE) AS score,
    CAST({number} AS DECIMAL(12, 2)) AS cost, DATE '{day}' AS day, TIMESTAMP '{day}' AS seen, '{text}' AS clinic,
    {number} > 5 AS smoker, ['{text}'] AS notes
"""
SECRETS = COLUMNS.format(number=SECRET_NUMBER, day=SECRET_DAY, text=SECRET)
OTHERS = COLUMNS.format(number=1, day="2026-01-01", text="a")


def leaks(text: str) -> bool:
    """Return whether a text holds anything of the secret rows, or how many there are."""
    return any(str(secret) in text for secret in (SECRET, "Zebedee", SECRET_NUMBER, SECRET_DAY, "1987", ROWS))


def parquet(path: Path, columns: str, rows: int) -> str:
    """Write a file with the same row again and again."""
    duckdb.sql(f"COPY (SELECT {columns} FROM range({rows})) TO '{path}' (FORMAT parquet)")
    return str(path)


def test_a_draft_holds_nothing_of_the_rows(tmp_path: Path) -> None:
    """Tables with the same names and types have the same draft, whatever is in them; a draft that looked is found."""
    drafts = []
    for folder, columns, rows in (("a", SECRETS, ROWS), ("b", OTHERS, 0), ("c", OTHERS, 3)):
        (tmp_path / folder).mkdir()
        source = parquet(tmp_path / folder / "visits.parquet", columns, rows)
        drafts.append(str(Draft(Schema.read(source))).replace(f"{tmp_path}/{folder}", ""))
    assert drafts[0] == drafts[1] == drafts[2]
    assert not leaks(drafts[0])
    assert leaks(drafts[0].replace("keys = []", f'keys = ["{SECRET}"]'))
    assert leaks(drafts[0].replace("[?, ?]", f"[0, {SECRET_NUMBER}]"))


def test_each_type_has_its_own_decision(tmp_path: Path) -> None:
    """Numbers and days get bounds, text gets keys, truth values have theirs; what cannot be asked about is left out."""
    draft = Draft(Schema.read(parquet(tmp_path / "visits.parquet", OTHERS, 1)))
    text = str(draft)
    said = tomllib.loads(text)
    assert draft.candidates == ("patient_id",)
    assert '"patient_id"' in text
    assert said["dataset"]["name"] == "visits"
    assert said["columns"] == {
        "age": {"bounds": "[?, ?] step 1"},
        "score": {"bounds": "[?, ?]"},
        "cost": {"bounds": "[?, ?]"},
        "day": {"bounds": "[?, ?]"},
        "seen": {"bounds": "[?, ?] step 1s"},
        "clinic": {"keys": []},
        "smoker": {"keys": [True, False]},
    }
    assert "# [columns.notes]" in text
    assert max(len(line) for line in text.splitlines() if not line.startswith("source = ")) <= 80


TYPES = {
    "came": "TIMESTAMP", "went": "TIMESTAMPTZ", "clock": "TIME", "stay": "INTERVAL", "tags": "VARCHAR[]",
    "place": "STRUCT(town VARCHAR)", "notes": "MAP(VARCHAR, VARCHAR)", "more": "JSON", "ward": "ENUM('secret')",
}  # fmt: skip


def test_times_are_drafted_and_other_types_are_named(tmp_path: Path) -> None:
    """Times get bounds, a zone or a unit to decide; what cannot be asked about is named with what to make first."""
    with duckdb.connect(str(tmp_path / "v.duckdb")) as file:
        file.execute(f"CREATE TABLE v ({', '.join(f'{name} {kind}' for name, kind in TYPES.items())})")
    text = str(Draft(Schema.read(str(tmp_path / "v.duckdb"), table="v"), "row"))
    assert tomllib.loads(text)["columns"] == {
        "came": {"bounds": "[?, ?] step 1s"},
        "went": {"bounds": "[?, ?] step 1s", "timezone": "?"},
        "clock": {"bounds": "[00:00, 23:59:59] step 1s"},
        "stay": {"bounds": "[?, ?] step 1", "duration": "?"},
        "ward": {"keys": []},
    }
    assert "timestamps with a time zone (TIMESTAMP WITH TIME ZONE)" in text
    unwrapped = text.replace("\n# ", " ")
    assert "lists (VARCHAR[]); make a column with one value first" in unwrapped
    assert "make a column of one of its fields first" in unwrapped
    assert "make a column of one of its entries first" in unwrapped
    assert "an unsupported type (JSON); convert it first" in unwrapped
    assert "secret" not in text
    assert "something else" not in text


def test_a_type_that_does_not_fit_is_named(tmp_path: Path) -> None:
    """A table of other types than the contract says is refused with the type and what to do, before it is asked."""
    with duckdb.connect(str(tmp_path / "v.duckdb")) as file:
        file.execute(f"CREATE TABLE v ({', '.join(f'{name} {kind}' for name, kind in TYPES.items())})")
    for name, said, why in [
        ("went", 'bounds = "[2025-01-01 00:00, 2025-12-31 23:59]"', r"TIMESTAMP WITH TIME ZONE\); .* timezone = "),
        ("went", 'bounds = "[2025-01-01, 2025-12-31]"', r"TIMESTAMP WITH TIME ZONE\); .* timezone = "),
        ("stay", 'bounds = "[0, 5] step 1"', r"intervals \(INTERVAL\); .* duration = "),
        ("tags", 'keys = ["a"]', r"lists \(VARCHAR\[\]\); make a column with one value first"),
        ("place", 'keys = ["a"]', "make a column of one of its fields first"),
        ("notes", 'keys = ["a"]', "make a column of one of its entries first"),
        ("more", 'keys = ["a"]', r"an unsupported type \(JSON\); change the contract"),
        ("clock", 'bounds = "[2025-01-01, 2025-12-31]"', r"times of day \(TIME\)"),
    ]:
        contract = (
            f'[dataset]\nname = "v"\nunit = "row"\nsource = "{tmp_path}/v.duckdb"\ntable = "v"\n'
            f"[columns.{name}]\n{said}\n[budget]\ntotal = 1\n"
        )
        with Dataset.parse(contract) as dataset, pytest.raises(InvalidQuestion, match=why):
            dataset.sql(f"SELECT COUNT({name}) FROM v").plan(1)


DECIDED = {
    "unit": 'unit = "patient_id"',
    "max_rows_per_unit": "max_rows_per_unit = 2",
    "total": "total = 2",
    "per_analyst": "per_analyst = 1",
    "keys": 'keys = ["a", "b"]',
}


def decided(line: str, column: str) -> str:
    """Return a line of a draft with its decision made."""
    key = re.match(r"\w+", line)
    if key is None:  # a column of a csv file, of which only the name is known
        return f"{line.split('#', maxsplit=1)[0]}\n{DECIDED['keys']}"
    if key[0] == "bounds":
        return 'bounds = "[2026-01-01, 2026-12-31]"' if column in ("day", "seen") else 'bounds = "[0, 100] step 1"'
    return DECIDED[key[0]]


def fill_in(path: Path) -> int:
    """Decide what each refusal names, one after another; return how many there were."""
    for count in range(100):
        try:
            Dataset.load(path).close()
        except InvalidContract as refusal:
            named = re.search(r"\bline (\d+)", str(refusal))
            assert named is not None
            lines = path.read_text("utf-8").split("\n")
            place = int(named[1]) - 1
            assert lines[place].endswith("# decide")
            above = [line for line in lines[: place + 1] if line.startswith("[columns.")]
            lines[place] = decided(lines[place], above[-1][9:].split("]")[0] if above else "")
            path.write_text("\n".join(lines), encoding="utf-8")
        else:
            return count
    raise AssertionError("a draft that is never finished")


def test_a_draft_is_refused_line_by_line_until_it_is_decided(tmp_path: Path) -> None:
    """Every refusal names a line that is marked, every marked line is refused, and then the contract answers."""
    source = parquet(tmp_path / "visits.parquet", OTHERS, 9)
    path = tmp_path / "visits.toml"
    path.write_text(str(Draft(Schema.read(source, folder=tmp_path))), encoding="utf-8")
    marked = path.read_text("utf-8").count("# decide\n")
    assert fill_in(path) == marked == 10
    with Dataset.load(path) as visits:
        assert visits.sql("SELECT clinic, AVG(age) FROM visits GROUP BY clinic").plan(1, pooling=1).sql


def marked_lines(text: str) -> list[int]:
    """Return the lines of a draft that are to be decided."""
    return [number for number, line in enumerate(text.split("\n"), 1) if line.endswith("# decide")]


def told_lines(refusal: InvalidContract) -> list[int]:
    """Return the lines of all faults that are told to be open."""
    return [int(fault.split(",")[0].removeprefix("line ")) for fault in refusal.faults if "to decide: " in fault]


def test_all_that_is_to_be_decided_is_told_at_once(tmp_path: Path) -> None:
    """The first refusal of a draft names every marked line, with its section, and no other."""
    draft = str(Draft(Schema.read(parquet(tmp_path / "visits.parquet", OTHERS, 9), folder=tmp_path)))
    with pytest.raises(
        InvalidContract, match=r"has 10 faults; correct each of them:\n  line \d+, \[dataset\]"
    ) as refusal:
        Dataset.parse(draft)
    assert told_lines(refusal.value) == marked_lines(draft)
    assert all(";" in fault for fault in refusal.value.faults)


def test_a_csv_file_has_names_only(tmp_path: Path) -> None:
    """Names are the first line, whatever separates them; nothing is guessed from the others."""
    (tmp_path / "visits.csv").write_text(f'patient id;age;"the;clinic"\n1;{SECRET_NUMBER};{SECRET}\n', encoding="utf-8")
    draft = Draft(Schema.read(str(tmp_path / "visits.csv")))
    assert draft.schema.columns == {"patient id": None, "age": None, "the;clinic": None}
    assert draft.schema.delimiter == ";"
    assert draft.candidates == ("patient id",)
    assert "no types" in str(draft)
    assert not leaks(str(draft))
    path = tmp_path / "visits.toml"
    path.write_text(str(draft), encoding="utf-8")
    DECIDED["unit"] = 'unit = "patient id"'
    try:
        assert fill_in(path) == 6
    finally:
        DECIDED["unit"] = 'unit = "patient_id"'


@pytest.mark.parametrize(
    ("lines", "delimiter", "said"),
    [
        (f"{SECRET_NUMBER},north\n1,south\n", None, "must be a header"),
        (f"north;{SECRET_DAY}\n", None, "must be a header"),
        ("a,b;c\n", None, "more than one of comma"),
        ("a,b;c\n", ";;", "one character"),
        ("a,,c\n", None, "every column, named once"),
        ("", None, "every column, named once"),
    ],
)
def test_what_is_no_header_is_not_repeated(tmp_path: Path, lines: str, delimiter: str | None, said: str) -> None:
    """A first line that holds values, or is not clear, is refused without being shown."""
    (tmp_path / "visits.csv").write_text(lines, encoding="utf-8")
    with pytest.raises((InvalidContract, InvalidParameter), match=said) as refused:
        Schema.read(str(tmp_path / "visits.csv"), delimiter=delimiter)
    assert not leaks(str(refused.value))


def test_a_delimiter_can_be_given(tmp_path: Path) -> None:
    """Where a header is not clear, whoever knows says what is between its names."""
    (tmp_path / "visits.tsv").write_text("a,b;c\n", encoding="utf-8")
    assert list(Schema.read(str(tmp_path / "visits.tsv"), delimiter=";").columns) == ["a,b", "c"]


def test_a_duckdb_file_is_read_by_its_table(tmp_path: Path) -> None:
    """A table of a DuckDB file is named, in the draft too; types that list their values do not show them."""
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TYPE name AS ENUM ('{SECRET}', 'b')")
        connection.execute(f"CREATE TABLE visits AS SELECT {SECRETS}, '{SECRET}'::name AS named FROM range({ROWS})")
    draft = Draft(Schema.read(str(path), table="visits"))
    assert (draft.name, draft.schema.table) == ("visits", "visits")
    assert draft.schema.columns["named"] is Kind.TEXT
    assert not leaks(str(draft))
    with pytest.raises(InvalidParameter, match="name of a table"):
        Schema.read(str(path))


@pytest.mark.thorough
def test_a_table_in_postgresql(tmp_path: Path) -> None:
    """PostgreSQL is read likewise; a password does not enter the draft, for contracts are public."""
    place = InPostgres(tmp_path, postgres_url())
    types = {"patient": "bigint", "age": "integer", "clinic": "text", "smoker": "boolean", "at": "timestamptz"}
    row = {"patient": SECRET_NUMBER, "age": SECRET_NUMBER, "clinic": SECRET, "smoker": True, "at": SECRET_DAY}
    try:
        place.put("visits", [row], types, [])
        url = place.url.replace("inbounds@", "inbounds:hunter2@")
        assert url != place.url
        draft = Draft(Schema.read(url, table=f"{place.schema}.visits"))
    finally:
        place.close()
    assert (draft.name, draft.schema.source, draft.candidates) == ("visits", place.url, ("patient",))
    assert tomllib.loads(str(draft))["columns"] == {
        "age": {"bounds": "[?, ?] step 1"},
        "clinic": {"keys": []},
        "smoker": {"keys": [True, False]},
        "at": {"bounds": "[?, ?] step 1s", "timezone": "?"},
    }
    assert "PGPASSWORD" in str(draft)
    assert "hunter2" not in str(draft)
    assert not leaks(str(draft))


@pytest.mark.parametrize(
    ("given", "public"),
    [
        ("postgresql://ana:s?e%40cret@host:5432/clinic", "postgresql://ana@host:5432/clinic"),
        (
            "postgresql://host/clinic?user=ana&password=x&sslmode=require",
            "postgresql://host/clinic?user=ana&sslmode=require",
        ),
        ("postgresql://ana@host/clinic", "postgresql://ana@host/clinic"),
        ("postgresql:///clinic", "postgresql:///clinic"),
    ],
)
def test_passwords_are_left_out_of_addresses(given: str, public: str) -> None:
    """Everything of an address but its passwords is kept."""
    assert without_password(given) == public


@pytest.mark.parametrize("source", ["visits.xlsx", "host=x password=hunter2", "spark", "mysql://ana:hunter2@x/y"])
def test_other_sources_are_refused(source: str) -> None:
    """What cannot be asked is not drafted, and no password is repeated."""
    with pytest.raises(InvalidContract, match="postgresql://") as refused:
        Schema.read(source)
    assert "hunter2" not in str(refused.value)


def test_a_file_has_no_tables(tmp_path: Path) -> None:
    """A table is named in a database only, and a file must be there."""
    with pytest.raises(InvalidParameter, match="leave it out"):
        Schema.read(parquet(tmp_path / "visits.parquet", OTHERS, 1), table="visits")
    for missing in ("none.parquet", "none.csv"):
        with pytest.raises(InvalidContract, match="no file at"):
            Schema.read(str(tmp_path / missing))


def test_any_name_of_a_column_is_written_as_toml_reads_it() -> None:
    """Names with quotes, brackets, line breaks or control characters stay names, and print harmlessly."""
    names = ['a"b', "a]b", "a\nb = 1", "[budget]", "é", "a b", "'", "\x1b[31m", "\x7f\x9b", "\u2028", "#", "🙂", "\\"]
    kinds: Any = dict.fromkeys(names, Kind.TEXT)
    text = str(Draft(Schema("visits.parquet", kinds)))
    assert list(tomllib.loads(text)["columns"]) == names
    assert all(line.isprintable() for line in text.splitlines())
    ids = str(Draft(Schema("visits.parquet", {"x\nunit = 'row' id": Kind.TEXT})))
    assert tomllib.loads(ids)["dataset"]["unit"] == ""


@pytest.mark.parametrize(
    "name", ["id", "patient", "patient_id", "PatientID", "userId", "customer-nr", "E-Mail email", "SSN"]
)
def test_ids_are_known_by_their_names(name: str) -> None:
    """What is called like an id, or like somebody, may be the unit."""
    assert looks_like_id(name)


@pytest.mark.parametrize("name", ["age", "paid", "patient_age", "zip_code", "number", "valid", "clinic", "idea"])
def test_other_names_are_no_ids(name: str) -> None:
    """What only sounds like an id is a column like others."""
    assert not looks_like_id(name)
