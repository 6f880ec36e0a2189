"""Whose rows they are, for the custodian's eyes: keys that repeat, rows of nobody and of several, as in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from inbounds.query import Dataset, Inspection
from inbounds.query.custodian.text import inspection_text
from tests.cli.conftest import within_80
from tests.helpers.engine_places import InPostgres, postgres_url, text

Rows = list[tuple[Any, ...]]
Make = Callable[[Mapping[str, Rows]], Dataset]

COLUMNS = {
    "patients": {"patient": "text", "born": "integer"},
    "stays": {"stay": "bigint", "patient": "text", "ward": "text"},
    "readings": {"stay": "text", "number": "bigint", "value": "integer"},
    "notes": {"stay": "text", "number": "bigint", "page": "integer"},
    "wards": {"ward": "text", "beds": "integer"},
}
LIMITS = {"patients": 2, "stays": 3, "readings": 5, "notes": 1}
CONTRACT = """
[dataset]
name = "patients"
{patients}
unit = "patient"
key = "patient"
max_rows_per_unit = 2
[columns.born]
bounds = "[1900, 2026] step 1"
[tables.stays]
{stays}
unit = "patient"
key = "stay"
max_rows_per_unit = 3
[tables.stays.columns.ward]
keys_of = "wards"
[tables.readings]
{readings}
belongs_to = "stays"
on = {{ stay = "stay" }}
key = ["stay", "number"]
max_rows_per_unit = 5
[tables.readings.columns.value]
bounds = "[0, 9] step 1"
[tables.notes]
{notes}
belongs_to = "readings"
on = {{ stay = "stay", number = "number" }}
max_rows_per_unit = 1
[tables.notes.columns.page]
bounds = "[1, 9] step 1"
[tables.wards]
{wards}
public = true
key = "ward"
[budget]
total = 1
"""


def made_up(seed: int, count: int = 60) -> dict[str, Rows]:
    """Return tables in which everything is missing, repeated or dangling now and then."""
    random = Random(seed)
    people = [None, *"abcdeABC", "é", "o'x"]
    stays = [None, *range(20)]

    def rows(*columns: list[Any]) -> Rows:
        return [tuple(map(random.choice, columns)) for _ in range(count)]

    return {
        "patients": rows(people, [None, 1950, 2030]),
        "stays": rows(stays, people, [None, "north", "nowhere"]),
        "readings": rows([None, *map(str, range(24)), "07", "x"], [None, *range(9)], [1, 2]),
        "notes": rows([None, *map(str, range(24)), "07"], [None, *range(9)], [1, 2]),
        "wards": [("north", 20), ("south", 15)],
    }


def statements(tables: Mapping[str, Rows], schema: str = "") -> Iterator[str]:
    """Yield what makes the tables in a database."""
    for name, rows in tables.items():
        yield f"CREATE TABLE {schema}{name} ({', '.join(f'{column} {kind}' for column, kind in COLUMNS[name].items())})"
        if rows:
            values = ", ".join(f"({', '.join(map(text, row))})" for row in rows)
            yield f"INSERT INTO {schema}{name} VALUES {values}"


@pytest.fixture(params=["duckdb", "parquet", "csv", pytest.param("postgres", marks=pytest.mark.thorough)])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Return what puts tables somewhere, and opens their contract."""
    opened: list[Dataset] = []
    place = InPostgres(tmp_path, postgres_url()) if request.param == "postgres" else None

    def put(tables: Mapping[str, Rows]) -> Dataset:
        if place is not None:
            place.run(*statements(tables, f"{place.schema}."))
            sources = {name: f"source = '{place.url}'\ntable = '{place.schema}.{name}'" for name in tables}
        else:
            path = tmp_path / "tables.duckdb"
            with duckdb.connect(path) as connection:
                for statement in statements(tables):
                    connection.execute(statement)
                if request.param != "duckdb":
                    for name in tables:
                        connection.execute(f"COPY {name} TO '{tmp_path / name}.{request.param}'")
            sources = {name: f"source = '{path}'\ntable = '{name}'" for name in tables}
            if request.param != "duckdb":
                sources = {name: f"source = '{tmp_path / name}.{request.param}'" for name in tables}
        opened.append(Dataset.parse(CONTRACT.format(**sources), ledger=tmp_path / "ledger.db"))
        return opened[-1]

    try:
        yield put
    finally:
        while opened:
            opened.pop().close()
        if place is not None:
            place.close()


def owners_of(tables: Mapping[str, Rows]) -> dict[str, list[list[str]]]:
    """Return of each row of each table its units, each once, in plain Python."""

    def follow(rows: Rows, above: Rows, units: list[list[str]], width: int) -> list[list[str]]:
        found: dict[tuple[str, ...], list[str]] = {}
        for row, own in zip(above, units, strict=True):
            if None not in row[:width]:
                units_there = found.setdefault(tuple(map(str, row[:width])), [])
                units_there += [unit for unit in own if unit not in units_there]
        return [[] if None in row[:width] else found.get(tuple(map(str, row[:width])), []) for row in rows]

    owners = {name: [[row[place]] if row[place] else [] for row in tables[name]] for name, place in PLACES.items()}
    owners["readings"] = follow(tables["readings"], tables["stays"], owners["stays"], 1)
    owners["notes"] = follow(tables["notes"], tables["readings"], owners["readings"], 2)
    return owners


PLACES = {"patients": 0, "stays": 1}
"""Where the tables that name their unit have it."""
WIDTHS = {"patients": 1, "stays": 1, "readings": 2}
"""Of how many columns the keys are."""


def check_against_python(found: Inspection, tables: Mapping[str, Rows]) -> None:
    """Compare every figure about keys, references and units with plain Python."""
    owners = owners_of(tables)
    for one in (found, *found.others):
        rows, units = tables[one.table], owners[one.table]
        assert one.misfits == {}
        assert one.rows == len(rows)
        check_units(one, units)
        if one.table in WIDTHS:
            check_key(one, [row[: WIDTHS[one.table]] for row in rows], units)
        else:
            assert one.key is None
        if one.table in PLACES:
            assert one.reference is None
        else:
            assert one.reference is not None
            width = 1 if one.table == "readings" else 2
            missing = sum(None in row[:width] for row in rows)
            assert one.reference.missing == missing
            assert one.reference.unmatched == sum(not own for own in units) - missing
            assert one.reference.several == sum(len(own) > 1 for own in units)


def check_units(found: Inspection, owners: list[list[str]]) -> None:
    """Compare the rows of each unit, and what the limit cuts."""
    rows = Counter(unit for own in owners for unit in own)
    limit = LIMITS[found.table]
    assert found.units is not None
    assert (found.units.units, found.units.rows) == (len(rows), sum(rows.values()))
    assert found.units.rows_without == sum(not own for own in owners)
    assert found.units.most == max(rows.values(), default=0)
    assert found.units.limit.limit == limit
    assert found.units.limit.rows == sum(max(0, n - limit) for n in rows.values())
    assert found.units.limit.units == sum(n > limit for n in rows.values())


def check_key(found: Inspection, keys: Rows, owners: list[list[str]]) -> None:
    """Compare which keys repeat, and which are of several units."""
    values = Counter(key for key in keys if None not in key)
    shared: dict[tuple[Any, ...], set[str]] = {}
    for key, own in zip(keys, owners, strict=True):
        shared.setdefault(key, set()).update(own)
    assert found.key is not None
    assert found.key.missing == len(keys) - sum(values.values())
    assert found.key.repeated == sum(n > 1 for n in values.values())
    assert found.key.rows == sum(n for n in values.values() if n > 1)
    assert found.key.shared == sum(len(units) > 1 for key, units in shared.items() if None not in key)


EMPTY: dict[str, Rows] = {**{name: [] for name in COLUMNS}, "wards": [("north", 20)]}


@pytest.mark.parametrize("tables", [made_up(1), made_up(2), EMPTY], ids=["one", "other", "empty"])
def test_figures_are_those_of_plain_python(make: Make, tables: dict[str, Rows]) -> None:
    """Wherever the tables are, keys, references and the rows of each unit are counted as plain Python does."""
    found = Inspection.of(make(tables))
    check_against_python(found, tables)
    if tables is not EMPTY:  # the comparison itself fails for a table with another row
        with pytest.raises(AssertionError):
            check_against_python(found, {**tables, "stays": [*tables["stays"], tables["stays"][1]]})
    assert within_80(inspection_text(found, "clinic.toml"))


def test_a_public_table_is_shown_as_it_was_read(make: Make) -> None:
    """A public table shows its rows, key and digest, and how many of its columns can be asked about."""
    dataset = make(made_up(1))
    found = Inspection.of(dataset)
    assert [(one.table, one.rows, one.key, one.columns) for one in found.public] == [("wards", 2, ("ward",), 2)]
    assert found.public[0].digest == dataset.tables.public["wards"].digest
    assert found.public[0].digest in inspection_text(found, "clinic.toml")
    assert all(one.public == () for one in found.others)


def test_nothing_but_numbers_is_fetched(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Following rows to their units fetches one row of numbers for each statement, and none of the data."""
    dataset = make(made_up(1))
    seen: list[list[tuple[Any, ...]]] = []
    run = type(dataset.engine).run

    def watched(self: Any, statement: str) -> list[tuple[Any, ...]]:
        seen.append(run(self, statement))
        return seen[-1]

    monkeypatch.setattr(type(dataset.engine), "run", watched)
    Inspection.of(dataset)
    assert len(seen) > 20
    assert all(len(rows) == 1 and not any(isinstance(one, str) for one in rows[0]) for rows in seen)


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("", "not declared unique"),
        (", UNIQUE (stay)", "declared unique"),
        (", PRIMARY KEY (stay, patient)", "not declared"),
    ],
)
def test_a_database_is_asked_whether_a_key_is_declared_unique(tmp_path: Path, declared: str, said: str) -> None:
    """What a DuckDB file declares is told beside what was counted: the key or a part of it must be unique."""
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            f"CREATE TABLE Stays (stay INT, patient INT{declared}); INSERT INTO Stays VALUES (1, 1), (2, 1)"
        )
    contract = (
        f"[dataset]\nname = 'stays'\nsource = '{path}'\ntable = 'stays'\nunit = 'patient'\nkey = 'stay'\n"
        "max_rows_per_unit = 2\n[budget]\ntotal = 1\n"
    )
    with Dataset.parse(contract, ledger=tmp_path / "ledger.db") as dataset:
        found = Inspection.of(dataset)
    assert found.key is not None
    assert found.key.declared == (said == "declared unique")
    assert said in " ".join(inspection_text(found, "clinic.toml").split())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("statement", "declared"),
    [
        ("SELECT 1", False),
        ("ALTER TABLE {} ADD PRIMARY KEY (stay)", True),
        ("CREATE UNIQUE INDEX ON {} (stay)", True),
        ("CREATE UNIQUE INDEX ON {} (stay) WHERE stay > 5", False),
        ("CREATE UNIQUE INDEX ON {} (abs(stay))", False),
        ("CREATE UNIQUE INDEX ON {} (stay, patient)", False),
        ("CREATE UNIQUE INDEX ON {} (stay) INCLUDE (patient)", True),
    ],
)
def test_the_catalogue_of_postgresql_is_asked(tmp_path: Path, statement: str, declared: bool) -> None:
    """PostgreSQL declares a key unique by a constraint or by an index over all rows."""
    place = InPostgres(tmp_path, postgres_url())
    try:
        table = f'{place.schema}."Stays"'
        place.run(f"CREATE TABLE {table} (stay bigint, patient bigint)", statement.format(table))
        contract = (
            f"[dataset]\nname = 'stays'\nsource = '{place.url}'\ntable = '{table}'\nunit = 'patient'\nkey = 'stay'\n"
            "max_rows_per_unit = 2\n[budget]\ntotal = 1\n"
        )
        with Dataset.parse(contract, ledger=tmp_path / "ledger.db") as dataset:
            found = Inspection.of(dataset)
    finally:
        place.close()
    assert found.key is not None
    assert found.key.declared is declared


@pytest.mark.parametrize(
    ("table", "column", "kind", "blamed", "unknown"),
    [
        ("stays", "stay", "double", "stays", {"readings"}),
        ("stays", "patient", "date", "stays", {"stays", "readings"}),
        ("readings", "stay", "double", "readings", {"readings"}),
        ("readings", "number", "double", "readings", set()),
        ("stays", "ward", "date", "stays", set()),
    ],
)
def test_what_does_not_fit_is_told_of_its_own_table(
    tmp_path: Path, table: str, column: str, kind: str, blamed: str, unknown: set[str]
) -> None:
    """A column of another type is named with its table; tables whose units it led to have other figures still."""
    path = tmp_path / "clinic.duckdb"
    tables = {name: COLUMNS[name] for name in ("patients", "stays", "readings", "wards")}
    with duckdb.connect(path) as connection:
        for name, columns in tables.items():
            kinds = {**columns, column: kind} if name == table else columns
            connection.execute(f"CREATE TABLE {name} ({', '.join(f'{own} {held}' for own, held in kinds.items())})")
        connection.execute("INSERT INTO wards VALUES ('north', 20)")
    contract = CONTRACT.replace(CONTRACT[CONTRACT.index("[tables.notes]") : CONTRACT.index("[tables.wards]")], "")
    sources = {name: f"source = '{path}'\ntable = '{name}'" for name in tables}
    with Dataset.parse(contract.format(**sources), ledger=tmp_path / "ledger.db") as dataset:
        found = Inspection.of(dataset)
    every = (found, *found.others)
    assert {one.table: set(one.misfits) for one in every if one.misfits} == {blamed: {column}}
    assert {one.table for one in every if one.units is None} == unknown
    assert found.seconds is not None


def test_columns_that_cannot_be_matched_are_told(tmp_path: Path) -> None:
    """A reference by columns that are true or false, which tell no rows apart, is named and not followed."""
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE stays (stay BOOLEAN, patient INT); CREATE TABLE readings (stay INT, value INT)"
        )
    contract = (
        f"[dataset]\nname = 'stays'\nsource = '{path}'\ntable = 'stays'\nunit = 'patient'\nmax_rows_per_unit = 2\n"
        "[columns.stay]\nkeys = [true, false]\n"
        f"[tables.readings]\nsource = '{path}'\ntable = 'readings'\nbelongs_to = 'stays'\non = {{ stay = 'stay' }}\n"
        "[tables.readings.columns.value]\nbounds = '[0, 9] step 1'\n[budget]\ntotal = 1\n"
    )
    with Dataset.parse(contract, ledger=tmp_path / "ledger.db") as dataset:
        (readings,) = Inspection.of(dataset).others
    assert list(readings.misfits) == ["stay"]
    assert "to be joined" in readings.misfits["stay"]
    assert (readings.units, readings.reference, readings.seconds) == (None, None, None)
    assert [one.column for one in readings.numbers] == ["value"]
