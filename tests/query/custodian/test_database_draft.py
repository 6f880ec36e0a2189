"""Drafts for several tables: what is declared is written down, what is guessed is left open, nothing is made public."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inbounds.errors import InvalidContract, InvalidParameter
from inbounds.query import Dataset, Inspection
from inbounds.query.custodian.database import Database
from inbounds.query.custodian.database_draft import DatabaseDraft, draft_contract
from inbounds.query.custodian.draft import Draft
from inbounds.query.custodian.links import Links, refers
from tests.cli.conftest import within_80
from tests.helpers.engine_places import InPostgres, postgres_url

SECRET, SECRET_NUMBER, ROWS = "Zebedee Quillfeather", 731954, 4177
SHOP = {
    "customers": "customer_id BIGINT, name VARCHAR, age INT",
    "orders": "order_id BIGINT, customer_id BIGINT, ordered DATE, remark VARCHAR",
    "lines": "order_id BIGINT, product_id INT, quantity INT, price DECIMAL(9, 2)",
    "products": "product_id INT, label VARCHAR, taxed BOOLEAN",
}
HOSPITAL = {
    "wards": "ward_id INT PRIMARY KEY, beds INT",
    "patients": "patient_id INT PRIMARY KEY, born DATE",
    "stays": "stay_id INT PRIMARY KEY, patient INT REFERENCES patients (patient_id), "
    "ward INT REFERENCES wards (ward_id)",
    "readings": "stay INT REFERENCES stays (stay_id), number INT, pulse INT, PRIMARY KEY (stay, number)",
    "notes": "stay INT, number INT, patient_id INT, page INT, "
    "FOREIGN KEY (stay, number) REFERENCES readings (stay, number)",
}


def leaks(text: str) -> bool:
    """Return whether a text holds anything of the secret rows, or how many there are."""
    return any(str(secret) in text for secret in (SECRET, "Zebedee", SECRET_NUMBER, ROWS))


def parquet(folder: Path, tables: Mapping[str, str], value: str = "", rows: int = 0) -> str:
    """Write a folder of files, with so many rows, the same text in all columns of text."""
    folder.mkdir(exist_ok=True)
    with duckdb.connect() as connection:
        for name, columns in tables.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            kinds = [kind for _, kind, *_ in connection.execute(f"DESCRIBE {name}").fetchall()]
            values = ", ".join(
                {"VARCHAR": f"'{value}'", "INTEGER": "i", "BIGINT": "i"}.get(kind, "NULL") for kind in kinds
            )
            connection.execute(f"INSERT INTO {name} SELECT {values} FROM range({rows}) AS t(i)")
            connection.execute(f"COPY {name} TO '{folder / name}.parquet' (FORMAT parquet)")
    return str(folder)


def database(path: Path, tables: Mapping[str, str]) -> str:
    """Make a DuckDB file."""
    with duckdb.connect(path) as connection:
        for name, columns in tables.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
    return str(path)


def read_draft(source: str, unit: str | None, **options: Any) -> DatabaseDraft:
    """Return the draft for several tables."""
    draft = draft_contract(source, unit=unit, **options)
    assert isinstance(draft, DatabaseDraft)
    assert within_80(re.sub(r"(?m)^(# )?source = .*", "", str(draft)))
    return draft


def ways_of(draft: DatabaseDraft) -> dict[str, list[tuple[str, dict[str, str], bool]]]:
    """Return where each table leads, and whether that is written down."""
    links = draft.links
    return {
        name: [(way.parent, dict(way.on), links.is_certain(name)) for way in ways] for name, ways in links.ways.items()
    }


def test_a_draft_holds_nothing_of_the_rows(tmp_path: Path) -> None:
    """Tables with the same names and types have the same draft, whatever is in them; a draft that looked is found."""
    texts = []
    for folder, row, rows in (("a", SECRET, ROWS), ("b", "", 0), ("c", "x", 2)):
        source = parquet(tmp_path / folder, SHOP, row, rows)
        texts.append(str(read_draft(source, "customers.customer_id")).replace(source, ""))
    assert texts[0] == texts[1] == texts[2]
    assert not leaks(texts[0])
    assert leaks(texts[0].replace("keys = []", f'keys = ["{SECRET}"]'))


def test_what_names_suggest_is_left_open(tmp_path: Path) -> None:
    """Without declared references every way to the unit is guessed, and the contract does not say it."""
    draft = read_draft(parquet(tmp_path / "shop", SHOP), "customers.customer_id")
    assert ways_of(draft) == {
        "orders": [("customers", {"customer_id": "customer_id"}, False)],
        "lines": [("orders", {"order_id": "order_id"}, False)],
    }
    said = tomllib.loads(str(draft))
    assert (said["dataset"]["name"], said["dataset"]["unit"]) == ("customers", "customer_id")
    assert list(said["tables"]) == ["orders", "lines"]
    assert (said["tables"]["orders"]["unit"], said["tables"]["lines"]["belongs_to"]) == ("", "")
    assert said["tables"]["lines"]["on"] == {"order_id": "order_id"}
    assert not any("key" in table for table in (said["dataset"], *said["tables"].values()))


def test_no_table_is_made_public_by_a_draft(tmp_path: Path) -> None:
    """A table from which no way to the unit is recognised is left out of the contract, with a question in its place."""
    text = str(read_draft(parquet(tmp_path / "shop", SHOP), "customers.customer_id"))
    assert "products" not in tomllib.loads(text)["tables"]
    assert "Whose rows are those of products" in text
    asked = text[text.index("# [tables.products]") : text.index("[budget]")]
    section = tomllib.loads(re.sub("(?m)^# ", "", asked))["tables"]["products"]
    assert (section["public"], section["key"]) == (True, "product_id")


def test_what_is_declared_is_written_down(tmp_path: Path) -> None:
    """Declared keys and references of one or more columns are in the draft of a DuckDB file, whatever names suggest."""
    draft = read_draft(database(tmp_path / "clinic.duckdb", HOSPITAL), "patients.patient_id")
    assert ways_of(draft) == {
        "stays": [("patients", {"patient": "patient_id"}, True)],
        "readings": [("stays", {"stay": "stay_id"}, True)],
        "notes": [("readings", {"stay": "stay", "number": "number"}, True)],
    }
    tables = tomllib.loads(str(draft))["tables"]
    assert (tables["stays"]["unit"], tables["stays"]["key"]) == ("patient", "stay_id")
    assert (tables["readings"]["belongs_to"], tables["readings"]["key"]) == ("stays", ["stay", "number"])
    assert tables["notes"]["on"] == {"stay": "stay", "number": "number"}
    assert tables["stays"]["columns"] == {"ward": {"keys_of": "wards"}}
    assert draft.links.others == ["wards"]


def test_several_ways_are_left_to_the_custodian(tmp_path: Path) -> None:
    """Where rows lead to units by two declared references, both are told and neither is written down."""
    tables = {
        "people": "person_id INT PRIMARY KEY",
        "mails": "sender INT REFERENCES people (person_id), receiver INT REFERENCES people (person_id), size INT",
    }
    draft = read_draft(database(tmp_path / "mails.duckdb", tables), "people.person_id")
    assert [on for _, on, _ in ways_of(draft)["mails"]] == [{"sender": "person_id"}, {"receiver": "person_id"}]
    text = str(draft)
    assert tomllib.loads(text)["tables"]["mails"]["unit"] == ""
    assert 'unit = "sender"' in text
    assert 'unit = "receiver"' in text


def test_the_other_person_of_a_row_is_told_to_be_unprotected(tmp_path: Path) -> None:
    """Where rows are about two people, the draft says that the one who is not chosen has no protection there."""
    tables = {
        "patient": "id INT PRIMARY KEY",
        "friendship": "a INT REFERENCES patient (id), b INT REFERENCES patient (id), since DATE",
        "visit": "patient INT REFERENCES patient (id), cost INT",
    }
    text = str(read_draft(database(tmp_path / "friends.duckdb", tables), "patient.id"))
    told = re.sub(r"\s*\n# ", " ", text)
    assert told.count("the other is then NOT protected in this table") == 1
    assert told.index("[tables.friendship]") < told.index("the other is then NOT") < told.index("[tables.visit]")


WARD = {
    "Patients": '"Patient No" INT, born DATE',
    "Hospital Stays": '"Patient No" INT, stay_no INT, ward VARCHAR',
    "vitals": '"Stay No" INT, pulse INT, ward VARCHAR',
    "stay": "hosp INT, nr INT, patient_num INT, PRIMARY KEY (hosp, nr)",
    "Lab Result": "HOSP INT, Nr INT, finding VARCHAR",
    "wards": "ward VARCHAR, floor INT, building_no INT",
    "doses": "stay_no INT REFERENCES drugs (drug), amount INT",
    "drugs": "drug INT PRIMARY KEY, ward VARCHAR",
}


def test_rows_that_share_columns_with_private_ones_are_not_offered_as_public(tmp_path: Path) -> None:
    """Equal names in any spelling, a whole declared key, and a name beside a declared reference are ways to confirm."""
    path = tmp_path / "ward.duckdb"
    with duckdb.connect(path) as connection:
        for name in ("Patients", "Hospital Stays", "vitals", "stay", "Lab Result", "wards", "drugs", "doses"):
            connection.execute(f'CREATE TABLE "{name}" ({WARD[name]})')
    draft = read_draft(str(path), "Patients.Patient No")
    ways = ways_of(draft)
    assert ways["Hospital_Stays"] == [("Patients", {"Patient No": "Patient No"}, False)]
    assert ("Hospital_Stays", {"Stay No": "stay_no"}, False) in ways["vitals"]
    assert ways["Lab_Result"] == [("stay", {"HOSP": "hosp", "Nr": "nr"}, False)]
    assert ("Hospital_Stays", {"stay_no": "stay_no"}, False) in ways["doses"]
    assert draft.links.others == ["drugs", "wards"]
    assert "stay_no" not in tomllib.loads(str(draft))["tables"]["Hospital_Stays"]["columns"]  # for bounds would clip it
    text = str(draft)
    assert not re.search(r"(?i)nothing leads", text)
    for line in re.findall(r"(?m)^.*public = true.*$", text):
        assert line.startswith("# ")
        assert "only if you would publish it" in line
    assert "It shares columns with private tables: ward with Hospital_Stays" in re.sub(r"\s*\n# ", " ", text)


def test_a_unit_that_is_named_alone_is_meant_in_every_table(tmp_path: Path) -> None:
    """A column that the custodian names without a table is the unit wherever it is; a mere id is not."""
    source = parquet(tmp_path / "shop", SHOP)
    draft = read_draft(source, "customer_id")
    assert tomllib.loads(str(draft))["tables"]["orders"]["unit"] == "customer_id"
    assert draft.links.unit.table == "customers"
    tables = {"people": "id INT, age INT", "visits": "id INT, person_id INT, cost INT", "days": "id INT, visit_id INT"}
    draft = read_draft(parquet(tmp_path / "ids", {**tables, "people": "id INT, person_id INT"}), "person_id")
    assert ways_of(draft)["visits"] == [("people", {"person_id": "person_id"}, True)]
    draft = read_draft(database(tmp_path / "ids.duckdb", {"person": "id INT, age INT", **tables}), "person.id")
    assert ways_of(draft)["visits"] == [("person", {"person_id": "id"}, False)]
    assert ways_of(draft)["days"] == [("visits", {"visit_id": "id"}, False)]


def test_a_unit_that_is_no_key_is_not_taken_for_one(tmp_path: Path) -> None:
    """Where units are households, rows of a person belong to that person's row, not to a household of that number."""
    tables = {
        "persons": "person_id INT, household_id INT, age INT",
        "visits": "person_id INT, cost INT",
        "meters": "household_id INT, used INT",
    }
    draft = read_draft(parquet(tmp_path / "homes", tables), "persons.household_id")
    assert ways_of(draft) == {
        "visits": [("persons", {"person_id": "person_id"}, False)],
        "meters": [("persons", {"household_id": "household_id"}, False)],
    }
    assert {name: way.is_unit for name, (way,) in draft.links.ways.items()} == {"visits": False, "meters": True}


@pytest.mark.parametrize(
    ("column", "target", "table"),
    [
        ("l_orderkey", "o_orderkey", "orders"),
        ("o_custkey", "c_custkey", "customer"),
        ("stay_id", "stay_id", "stays"),
        ("StayID", "stay_id", "stays"),
        ("patient_id", "id", "patients"),
        ("patient", "patient_id", "patients"),
        ("PatientNr", "id", "patients"),
        ("first_stay_id", "stay_id", "stays"),
        ("category_id", "id", "categories"),
        ("address_id", "id", "addresses"),
        ("household_id", "household_id", None),
        ("ps_partkey", "p_partkey", "part"),
    ],
)
def test_references_are_known_by_their_names(column: str, target: str, table: str | None) -> None:
    """A column refers to a key by its name, or by that of its table, whatever initials stand before it."""
    assert refers(column, target, table)


@pytest.mark.parametrize(
    ("column", "target", "table"),
    [
        ("id", "id", "patients"),
        ("code", "code", "wards"),
        ("sort_order", "o_orderkey", "orders"),
        ("sort_order", "order_id", "orders"),
        ("paid", "id", "patients"),
        ("stay_id", "id", "patients"),
        ("age", "patient_id", "patients"),
        ("o_orderdate", "o_orderkey", "orders"),
    ],
)
def test_other_names_refer_to_nothing(column: str, target: str, table: str) -> None:
    """What all tables may call a column, and what only contains the name of a table, refers to nothing."""
    assert not refers(column, target, table)


def test_tables_of_a_benchmark_hang_together_by_their_names(tmp_path: Path) -> None:
    """Of names with initials, such as l_orderkey, customers, orders and their lines are found, and what is left."""
    tables = {
        "customer": "c_custkey INT, c_nationkey INT, c_acctbal DECIMAL(15, 2)",
        "orders": "o_orderkey INT, o_custkey INT, o_orderdate DATE",
        "lineitem": "l_orderkey INT, l_partkey INT, l_suppkey INT, l_linenumber INT",
        "part": "p_partkey INT, p_size INT",
        "supplier": "s_suppkey INT, s_nationkey INT",
        "partsupp": "ps_partkey INT, ps_suppkey INT, ps_availqty INT",
        "nation": "n_nationkey INT, n_regionkey INT",
    }
    draft = read_draft(parquet(tmp_path / "shop", tables), "customer.c_custkey")
    assert ways_of(draft) == {
        "orders": [("customer", {"o_custkey": "c_custkey"}, False)],
        "lineitem": [("orders", {"l_orderkey": "o_orderkey"}, False)],
    }
    assert draft.links.others == ["nation", "part", "partsupp", "supplier"]
    said = tomllib.loads(str(draft))
    assert said["columns"]["c_nationkey"] == {"keys_of": "nation"}
    assert said["tables"]["lineitem"]["columns"]["l_suppkey"] == {"keys_of": "supplier"}


DECIDED = {
    "max_rows_per_unit": "max_rows_per_unit = 3",
    "total": "total = 2",
    "per_analyst": "per_analyst = 1",
    "keys": 'keys = ["a", "b"]',
    "unit": 'unit = "customer_id"',
    "belongs_to": 'belongs_to = "orders"',
}


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
            key = lines[place].split(" ", maxsplit=1)[0]
            bounds = (
                'bounds = "[2026-01-01, 2026-12-31]"' if "dates" in lines[place - 1] else 'bounds = "[0, 9] step 1"'
            )
            if key == "keys_of":  # products is public, then, and its section no longer a comment
                text = "\n".join(lines).replace(lines[place], lines[place].removesuffix("  # decide"))
                start, end = text.index("# [tables.products]"), text.index("[budget]")
                text = text[:start] + re.sub("(?m)^# ", "", text[start:end]) + text[end:]
                lines = text.split("\n")
            else:
                lines[place] = bounds if key == "bounds" else DECIDED[key]
            path.write_text("\n".join(lines), encoding="utf-8")
        else:
            return count
    raise AssertionError("a draft that is never finished")


def test_a_draft_is_refused_line_by_line_until_it_is_decided(tmp_path: Path) -> None:
    """Every refusal names a line that is marked, every marked line is refused, and then the contract can be checked."""
    source = parquet(tmp_path / "shop", SHOP, "a", 3)
    path = tmp_path / "shop.toml"
    path.write_text(str(read_draft(source, "customers.customer_id", folder=tmp_path)), encoding="utf-8")
    marked = path.read_text("utf-8").count("# decide\n")
    with pytest.raises(InvalidContract) as refusal:
        Dataset.load(path)
    assert len(refusal.value.faults) == marked
    assert fill_in(path) == marked
    assert marked > 10
    with Dataset.load(path) as shop:
        found = Inspection.of(shop)
        assert shop.rows_of("lines").count().plan(1, pooling=1).sql
    assert [one.table for one in (found, *found.others)] == ["customers", "orders", "lines"]
    assert [one.table for one in found.public] == ["products"]
    assert all(one.units is not None for one in (found, *found.others))


def test_files_of_a_folder_are_tables(tmp_path: Path) -> None:
    """Parquet and csv files are taken, each by itself whatever its name; other files are not looked at."""
    (tmp_path / "a [1].csv").write_text("person_id,age\n1,2\n", encoding="utf-8")
    (tmp_path / "a-1.csv").write_text("person_id;day\n1;31.12.2026\n", encoding="utf-8")
    (tmp_path / ".hidden.csv").write_text("secret\n1\n", encoding="utf-8")
    (tmp_path / "check.txt").write_text(f"{SECRET}\n", encoding="utf-8")
    draft = read_draft(str(tmp_path), "person_id")
    assert list(draft.tables) == ["a_1", "a_1_2"]
    assert not leaks(str(draft))
    assert "no row was read" in draft.scope
    said = tomllib.loads(str(draft))
    assert (said["dataset"]["source"], said["tables"]["a_1_2"]["delimiter"]) == (f"{tmp_path}/a [[]1].csv", ";")
    looked = read_draft(str(tmp_path), "person_id", look=True)
    assert tomllib.loads(str(looked))["tables"]["a_1_2"]["date_format"] == "%d.%m.%Y"
    assert "the first lines were read" in looked.scope


def test_one_table_has_the_draft_of_one(tmp_path: Path) -> None:
    """A folder or a database with a single table is drafted like that table."""
    source = database(tmp_path / "clinic.duckdb", {"visits": "patient INT, age INT"})
    assert str(draft_contract(source)) == str(draft_contract(source, table="visits"))
    draft = draft_contract(source, unit="patient")
    assert isinstance(draft, Draft)
    assert tomllib.loads(str(draft))["dataset"]["unit"] == "patient"
    with pytest.raises(InvalidParameter, match="a unit must be a column of whole numbers or text"):
        draft_contract(source, unit="nobody")


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        (None, "5 tables need a unit: .* such as --unit patients.patient_id"),
        ("nobody", "no table has the unit 'nobody'; give it, such as --unit patients.patient_id"),
        ("patients.age", "no table has the unit 'patients.age'"),
        ("patients.born", "patients.born holds dates"),
    ],
)
def test_a_unit_must_be_named(tmp_path: Path, unit: str | None, said: str) -> None:
    """Whose privacy is protected is not guessed, and a refusal says how it is given."""
    with pytest.raises(InvalidParameter, match=said):
        draft_contract(database(tmp_path / "clinic.duckdb", HOSPITAL), unit=unit)


def test_what_has_no_tables_is_named(tmp_path: Path) -> None:
    """An empty folder, an empty schema, and options that are for something else are refused."""
    source = database(tmp_path / "clinic.duckdb", HOSPITAL)
    for options, said in (
        ({"schema": "none"}, "no table in the schema none"),
        ({"look": True}, "look is for csv files only"),
        ({"schema": "main", "table": "stays"}, "a schema is for all tables"),
    ):
        with pytest.raises((InvalidContract, InvalidParameter), match=said):
            draft_contract(source, unit="patients.patient_id", **options)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InvalidContract, match="no parquet or csv file"):
        draft_contract(str(tmp_path / "empty"))
    with pytest.raises(InvalidParameter, match="a schema is for databases only"):
        draft_contract(str(tmp_path / "empty"), schema="main")
    with pytest.raises(InvalidParameter, match="look is for csv files only"):
        draft_contract(parquet(tmp_path / "shop", SHOP), look=True)


def test_any_name_of_a_table_can_be_asked(tmp_path: Path) -> None:
    """Tables of another schema, with names that are words of SQL or hold anything, are named as SQL reads them."""
    tables = {'"order"': "id INT, customer INT", '"a ""b"" c"': "customer INT", "Plain": "customer INT"}
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE SCHEMA own")
        for name, columns in tables.items():
            connection.execute(f"CREATE TABLE own.{name} ({columns})")
        connection.execute("CREATE VIEW own.seen AS SELECT customer FROM own.Plain")
    read = Database.read(str(path), schema="own")
    assert {name: list(schema.columns) for name, schema in read.tables.items()} == {
        "Plain": ["customer"], "a_b_c": ["customer"], "order": ["id", "customer"], "seen": ["customer"],
    }  # fmt: skip
    draft = DatabaseDraft(Links.of(read, "customer"))
    assert [table["unit"] for table in tomllib.loads(str(draft))["tables"].values()] == ["customer"] * 3


def test_any_name_of_a_column_prints_harmlessly(tmp_path: Path) -> None:
    """Names with quotes, brackets, line breaks or control characters stay names, in comments too."""
    odd = 'person "x]\n\x1b[31m id'
    name = '"' + odd.replace('"', '""') + '"'
    tables = {"people": f"{name} INT PRIMARY KEY", "visits": f"{name} INT, cost INT", "days": "cost INT"}
    draft = read_draft(database(tmp_path / "clinic.duckdb", tables), f"people.{odd}")
    text = str(draft)
    assert all(character.isprintable() or character == "\n" for character in text)
    assert tomllib.loads(text)["dataset"]["unit"] == odd
    assert ways_of(draft) == {"visits": [("people", {odd: odd}, False)]}
    assert "Whose rows are those of days" in text


def test_a_proposed_unit_can_be_typed(tmp_path: Path) -> None:
    """What a refusal proposes is what the shell hands over when it is typed."""
    source = database(tmp_path / "clinic.duckdb", {"patients": '"patient id" INT PRIMARY KEY', "days": "cost INT"})
    with pytest.raises(InvalidParameter) as refusal:
        draft_contract(source)
    words = shlex.split(str(refusal.value).rpartition("such as ")[2])
    assert words == ["--unit", "patients.patient id"]
    assert read_draft(source, words[1]).links.unit.column == "patient id"


@pytest.mark.thorough
def test_a_schema_in_postgresql(tmp_path: Path) -> None:
    """PostgreSQL is read likewise: declared references are written down, and no password is."""
    place = InPostgres(tmp_path, postgres_url())
    try:
        for name, columns in HOSPITAL.items():
            own = re.sub(r"REFERENCES (\w+)", rf"REFERENCES {place.schema}.\1", columns)
            place.run(f"CREATE TABLE {place.schema}.{name} ({own})")
        place.run(f'CREATE TABLE {place.schema}."Order" (stay INT REFERENCES {place.schema}.stays (stay_id), size INT)')
        url = place.url.replace("inbounds@", "inbounds:hunter2@")
        draft = read_draft(url, "patients.patient_id", schema=place.schema)
        with pytest.raises(InvalidContract, match="no table in the schema none"):
            draft_contract(url, schema="none")
    finally:
        place.close()
    assert ways_of(draft) == {
        "stays": [("patients", {"patient": "patient_id"}, True)],
        "Order": [("stays", {"stay": "stay_id"}, True)],
        "readings": [("stays", {"stay": "stay_id"}, True)],
        "notes": [("readings", {"stay": "stay", "number": "number"}, True)],
    }
    tables = tomllib.loads(str(draft))["tables"]
    assert tables["Order"]["table"] == f'{place.schema}."Order"'
    assert (tables["readings"]["key"], tables["stays"]["unit"]) == (["stay", "number"], "patient")
    assert "hunter2" not in str(draft)
    assert draft.links.others == ["wards"]
