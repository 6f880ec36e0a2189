"""Contracts of several tables: what is wrong is refused where it stands, and the table is named."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import pytest

from inbounds.errors import InvalidContract, InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.tables.contract_tables import MOST_DEPTH

PEOPLE = """
[dataset]
name = "people"
source = "people.parquet"
unit = "person"
max_rows_per_unit = 1
[columns.age]
bounds = "[0, 99] step 1"
[budget]
total = 100
"""
STAYS = """
[tables.stays]
source = "stays.parquet"
belongs_to = "people"
on = { person = "person" }
max_rows_per_unit = 3
"""
WARDS = """
[tables.wards]
source = "wards.csv"
public = true
key = "ward"
"""
REFERENCE = '[columns.ward]\nkeys_of = "wards"\n'


def made(folder: Path, *parts: str) -> Path:
    """Write three tables, and a contract of these parts."""
    duckdb.sql(f"COPY (SELECT i AS person, i AS age, 1 AS ward FROM range(9) t(i)) TO '{folder}/people.parquet'")
    duckdb.sql(f"COPY (SELECT i AS stay_no, i AS person FROM range(9) t(i)) TO '{folder}/stays.parquet'")
    (folder / "wards.csv").write_text("ward,beds\n1,2\n2,3\n", encoding="utf-8")
    path = folder / "contract.toml"
    path.write_text("".join(parts), encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    """Return what is said of a contract that cannot be loaded."""
    with pytest.raises(InvalidContract) as refused:
        Dataset.load(path)
    return str(refused.value)


def test_on_says_how_it_is_written(tmp_path: Path) -> None:
    """A text instead of pairs is refused with a pair to write, in other tables and in that of [dataset]."""
    told = refusal(made(tmp_path, PEOPLE, STAYS.replace('{ person = "person" }', '"person"')))
    assert "got 'person'; write it like on = { column = " in told
    main = PEOPLE.replace('unit = "person"', 'belongs_to = "stays"\non = "person"')
    stays = '[tables.stays]\nsource = "stays.parquet"\nunit = "person"\nmax_rows_per_unit = 3\n'
    assert "write it like on = { column = " in refusal(made(tmp_path, main, stays))


def test_a_misspelt_key_is_blamed_itself(tmp_path: Path) -> None:
    """What is unknown in a table is named before what follows from it elsewhere, with what is near."""
    told = refusal(made(tmp_path, PEOPLE.replace("[budget]", f"{REFERENCE}[budget]"), WARDS.replace("public", "publc")))
    assert "unknown key 'publc' in [tables.wards]" in told
    assert "did you mean public?" in told


@pytest.mark.parametrize(
    ("line", "key"),
    [('unit = "ward"', "unit"), ("max_rows_per_unit = 2", "max_rows_per_unit"), ('on = { a = "b" }', "on")],
)
def test_a_public_table_has_no_unit(tmp_path: Path, line: str, key: str) -> None:
    """What is said of private tables only is told to be left out."""
    assert f"a public table has no {key}; leave it out" in refusal(made(tmp_path, PEOPLE, WARDS, line, "\n"))


def chain(length: int, *, backwards: bool) -> str:
    """Return tables each of which belongs to the one before it."""
    tables = [
        f'[tables.t{place}]\nsource = "stays.parquet"\nbelongs_to = "{f"t{place - 1}" if place > 1 else "people"}"\n'
        'on = { person = "person" }\nmax_rows_per_unit = 3\n'
        for place in range(1, length + 1)
    ]
    return "".join(reversed(tables) if backwards else tables)


@pytest.mark.parametrize("backwards", [False, True])
def test_rows_belong_to_rows_so_many_times_at_most(tmp_path: Path, backwards: bool) -> None:
    """The greatest depth is accepted, and one more refused, in whatever order the tables stand."""
    Dataset.load(made(tmp_path, PEOPLE, chain(MOST_DEPTH, backwards=backwards))).close()
    for length in (MOST_DEPTH + 1, MOST_DEPTH + 2):
        told = refusal(made(tmp_path, PEOPLE, chain(length, backwards=backwards)))
        assert f"at most {MOST_DEPTH} times over" in told


def test_names_that_differ_by_case_only_are_refused(tmp_path: Path) -> None:
    """Names that SQL does not tell apart name one table only, whether both are other tables or one is the dataset."""
    upper = STAYS.replace("[tables.stays]", "[tables.STAYS]")
    assert "'STAYS' beside 'stays'" in refusal(made(tmp_path, PEOPLE, STAYS, upper))
    main = PEOPLE.replace('name = "people"', 'name = "Stays"')
    assert "'stays' beside 'Stays'" in refusal(made(tmp_path, main, STAYS))


def test_a_public_table_without_rows_has_no_keys(tmp_path: Path) -> None:
    """A column cannot hold the keys of an empty table, which is told when the contract is loaded."""
    path = made(tmp_path, PEOPLE.replace("[budget]", f"{REFERENCE}[budget]"), WARDS)
    Dataset.load(path).close()
    (tmp_path / "wards.csv").write_text("ward,beds\n", encoding="utf-8")
    assert "the public table 'wards' has no rows" in refusal(path)


def test_a_source_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Of several tables the one is named whose file is none."""
    path = made(tmp_path, PEOPLE, STAYS)
    (tmp_path / "stays.parquet").write_bytes(b"PAR1 but not really PAR1")
    with Dataset.load(path) as people, pytest.raises(InvalidContract, match=r"table 'stays': cannot read the source"):
        people.sql("SELECT COUNT(*) FROM stays").plans(1)


def test_a_column_that_is_missing_is_told_with_those_that_are_there(tmp_path: Path) -> None:
    """The table and its columns are named; of a csv file only those of the contract, for its header may be a row."""
    path = made(tmp_path, PEOPLE, STAYS.replace('{ person = "person" }', '{ persn = "person" }'))
    with Dataset.load(path) as people, pytest.raises(InvalidQuestion) as refused:
        people.sql("SELECT COUNT(*) FROM stays").plans(1)
    assert "names 'persn', but the table 'stays' has no such column; it has stay_no, person;" in str(refused.value)
    (tmp_path / "stays.csv").write_text("Zebedee Quillfeather,7\n", encoding="utf-8")
    path.write_text(path.read_text("utf-8").replace("stays.parquet", "stays.csv"), encoding="utf-8")
    with Dataset.load(path) as people, pytest.raises(InvalidQuestion, match="'stays' has no such column") as refused:
        people.sql("SELECT COUNT(*) FROM stays").plans(1)
    assert "Zebedee" not in str(refused.value)


@pytest.mark.parametrize(("own", "keys"), [("'w' || i", "i"), ("i::VARCHAR", "i"), ("i", "'w' || i")])
def test_declared_types_of_keys_must_agree(tmp_path: Path, own: str, keys: str) -> None:
    """A column declared to hold other things than the many keys that it refers to is refused before the charge."""
    path = made(tmp_path, PEOPLE.replace("[budget]", f"{REFERENCE}[budget]"), WARDS)
    text = path.read_text("utf-8").replace('people.parquet"', 'x.duckdb"\ntable = "people"')
    path.write_text(text.replace('wards.csv"', 'x.duckdb"\ntable = "wards"'), encoding="utf-8")
    question = "SELECT beds, COUNT(*) FROM people JOIN wards ON people.ward = wards.ward GROUP BY beds"
    for held, is_fitting in ((own, False), (keys, True)):
        (tmp_path / "x.duckdb").unlink(missing_ok=True)
        with duckdb.connect(tmp_path / "x.duckdb") as database:
            database.execute(f"CREATE TABLE people AS SELECT i AS person, i AS age, {held} AS ward FROM range(9) t(i)")
            database.execute(f"CREATE TABLE wards AS SELECT {keys} AS ward, i % 2 AS beds FROM range(1500) t(i)")
        with Dataset.load(path) as people:
            if is_fitting:
                assert sum(count for _, count in people.sql(question).ask(50, analyst="ana").rows) == 9
            else:
                with pytest.raises(InvalidQuestion, match="must hold what the keys of 'wards' are"):
                    people.sql(question).ask(50, analyst="ana")
                assert people.ledger.balance("people").spent == 0


def test_a_sqlite_file_beside_others_is_refused(tmp_path: Path) -> None:
    """A table of SQLite is not joined to a file either: its copy is in no other statement."""
    with sqlite3.connect(tmp_path / "s.sqlite") as database:
        database.execute("CREATE TABLE stays (stay_no INT, person INT)")
    path = made(tmp_path, PEOPLE, STAYS.replace('stays.parquet"', 's.sqlite"\ntable = "stays"'))
    with Dataset.load(path) as people, pytest.raises(InvalidContract, match="convert them to DuckDB or parquet"):
        people.sql("SELECT COUNT(*) FROM stays").plans(1)


CHILD = """
[tables.notes]
source = "notes.parquet"
belongs_to = "stays"
on = { stay_no = "stay_no" }
max_rows_per_unit = 3
"""
OTHER = """
[tables.notes]
source = "notes.parquet"
unit = "writer"
max_rows_per_unit = 3
"""


@pytest.mark.parametrize(
    ("table", "said", "line"),
    [
        (CHILD, "[tables.notes.columns.person]\ntext = true\n", "[tables.notes.columns.person]"),
        (CHILD, "[tables.notes.columns.person]\nkeys = [1]\n", "[tables.notes.columns.person]"),
        (CHILD, 'key = ["person", "note"]\n', 'key = ["person", "note"]'),
        (CHILD.replace("stay_no =", "person ="), "", None),
        (OTHER, 'key = "person"\n', 'key = "person"'),
    ],
)
def test_no_other_column_is_called_like_the_unit(tmp_path: Path, table: str, said: str, line: str | None) -> None:
    """Text, keys and what refers to other things than units cannot have the name by which a question names the unit."""
    path = made(tmp_path, PEOPLE, STAYS, table, said)
    told = refusal(path)
    assert "'person' is the unit, and no other column" in told or "the unit 'person' cannot be queried" in told
    if line is not None:
        place = path.read_text("utf-8").split("\n").index(line) + 1
        assert f"line {place}:" in told


def test_a_column_that_holds_the_unit_is_called_like_it(tmp_path: Path) -> None:
    """What refers to the unit may have its name, also as a part of the key."""
    with Dataset.load(made(tmp_path, PEOPLE, STAYS, 'key = ["person", "stay_no"]\n')) as people:
        assert people.sql("SELECT COUNT(DISTINCT person) FROM stays").questions


@pytest.mark.parametrize("source", ["people.parquet", "../{folder}/people.parquet", "p*.parquet", "link.parquet"])
def test_a_file_is_not_private_and_public(tmp_path: Path, source: str) -> None:
    """However it is written, the file of a private table is no public one; a copy of it is."""
    public = f'[tables.known]\nsource = "{source.format(folder=tmp_path.name)}"\npublic = true\n'
    path = made(tmp_path, PEOPLE, STAYS, public)
    (tmp_path / "link.parquet").symlink_to(tmp_path / "people.parquet")
    assert "the public table 'known' is where the private table 'people' is" in refusal(path)
    (tmp_path / "copy.parquet").write_bytes((tmp_path / "people.parquet").read_bytes())
    path.write_text(
        "".join((PEOPLE, STAYS, '[tables.known]\nsource = "copy.parquet"\npublic = true\n')), encoding="utf-8"
    )
    Dataset.load(path).close()


def test_a_table_of_a_database_is_not_private_and_public(tmp_path: Path) -> None:
    """Two tables of one database are two; one is refused, also with its schema or in other letters."""
    with duckdb.connect(tmp_path / "x.duckdb") as database:
        database.execute("CREATE TABLE people AS SELECT 1 AS person, 2 AS age; CREATE TABLE wards AS SELECT 1 AS ward")
    main = PEOPLE.replace('people.parquet"', 'x.duckdb"\ntable = "people"')
    path = tmp_path / "contract.toml"
    for table in ("people", "main.people", "PEOPLE"):
        path.write_text(f'{main}[tables.known]\nsource = "x.duckdb"\ntable = "{table}"\npublic = true\n')
        assert "the public table 'known' is where the private table 'people' is" in refusal(path)
    path.write_text(f'{main}[tables.known]\nsource = "x.duckdb"\ntable = "wards"\npublic = true\n')
    Dataset.load(path).close()
