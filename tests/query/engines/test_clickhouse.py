"""ClickHouse: what it does otherwise than other engines changes no total, and no row makes a statement fail."""

from __future__ import annotations

import csv
import json
import random
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from sqlglot import exp

from inbounds.errors import EngineFailed, InvalidContract, InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.contract.listed_keys import MOST_FOUND
from inbounds.query.custodian.schema import Schema
from inbounds.query.engines.engine import Kind
from tests.helpers import oracle
from tests.helpers.clickhouse_server import Server
from tests.helpers.engine_places import InClickHouse, totals_of
from tests.query.statement.test_statement import is_read_once

pytestmark = pytest.mark.thorough

CONTRACT = '[dataset]\nname = "visits"\nUNIT\n[columns.x]\n{}\n[budget]\ntotal = 1\n'
ROWS, PEOPLE = 'unit = "row"', 'unit = "who"\nmax_rows_per_unit = 2'


@pytest.fixture
def place(tmp_path: Path, clickhouse: Server) -> Any:
    """A place for tables in ClickHouse."""
    found = InClickHouse(tmp_path, clickhouse)
    yield found
    found.close()


def dataset(place: InClickHouse, kind: str, values: list[str], said: str, unit: str = ROWS) -> Dataset:
    """Return a table of one column with a type of ClickHouse, its values as SQL has them."""
    name = f"own{len(place.tables)}"
    place.tables.append(name)
    place.client.command(
        f"CREATE TABLE {name} (x {kind}, who UInt64) ENGINE = Memory",
        settings={"allow_suspicious_low_cardinality_types": 1},
    )
    for value in values:
        place.client.command(
            f"INSERT INTO {name} SELECT CAST({value} AS {kind}), 18446744073709551615 - rowNumberInAllBlocks()"
        )
    text = CONTRACT.format(said).replace("UNIT", f"source = '{place.address}'\ntable = '{name}'\n{unit}")
    found = Dataset.parse(text, ledger=place.folder / f"{name}.db")
    place.opened.append(found)
    return found


WHOLE, KEYS = 'bounds = "[-5, 100] step 1"', "keys = [-1, 0, 7, 9223372036854775807]"
ENDS = {
    **{f"Int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64, 128, 256)},
    **{f"UInt{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64, 128)},
}


@pytest.mark.parametrize("kind", ENDS)
def test_integers_of_every_size_are_clipped_and_compared(place: InClickHouse, kind: str) -> None:
    """Integers of every type, up to the ends of it, are clipped to the bounds and compared with keys: none wraps."""
    values = [0, 1, 7, *ENDS[kind]]
    rows = [{"x": value} for value in values]
    texts = [f"'{value}'" for value in values]
    for said in (WHOLE, 'bounds = "[-0.5, 3] step 0.25"', KEYS):
        for form in (kind, f"Nullable({kind})"):
            asked = dataset(place, form, texts, said)
            query = asked.count().by("x") if said == KEYS else asked.sum("x")
            assert totals_of(query) == oracle.totals(query.question, rows, ["x"]), (form, said)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("LowCardinality(String)", ["'a'", "'A'", "'z'"]),
        ("LowCardinality(Nullable(String))", ["'a'", "NULL", "'z'"]),
        ("Enum8('a' = 1, 'b, \\'x\\'' = 2, 'z' = 3)", ["'a'", "'z'", "'b, \\'x\\''"]),
        ("Nullable(Enum16('a' = 1, 'z' = 300))", ["'a'", "'z'", "NULL"]),
    ],
)
def test_texts_of_every_type_are_keys(place: InClickHouse, kind: str, values: list[str]) -> None:
    """Texts however they are kept are compared with keys, also with keys that an enumeration cannot hold."""
    asked = dataset(place, kind, values, 'keys = ["a", "c", "z"]')
    assert totals_of(asked.count().by("x")) == [[1], [0], [1]]


@pytest.mark.parametrize(
    "kind", ["Date", "Date32", "DateTime", "DateTime('Asia/Tokyo')", "DateTime64(3)", "DateTime64(9, 'America/Lima')"]
)
def test_days_are_those_that_a_clock_shows(place: InClickHouse, kind: str) -> None:
    """Days and times of every type are the days that the column's own clock shows, clipped to the bounds."""
    last = "" if kind.startswith("Date") and "Time" not in kind else " 23:59:59"
    values = [f"'2026-01-0{day}{last}'" for day in (1, 5)] + ["'2031-07-31'", "'1970-01-01'"]
    if kind == "DateTime":  # of the server's zone, in which its first day may be that before
        values[-1] = "'1970-01-02'"
    asked = dataset(place, kind, values, 'bounds = "[2026-01-01, 2026-01-31]"')
    assert totals_of(asked.median("x"))[0] == [2 if i == 0 else int(i in (4, 30)) for i in range(31)]
    assert totals_of(asked.count().where("WEEKDAY(x) = 0")) == [[1]]


def test_decimals_of_many_digits_are_rounded_once(place: InClickHouse) -> None:
    """A decimal of 38 digits is the double that is nearest to it, as Python finds it, and not one beside it."""
    draw = random.Random(7)
    numbers = [Decimal(draw.randint(-(10**18), 10**18)).scaleb(-17) for _ in range(60)]
    numbers += [Decimal(k) / 20 + Decimal(sign).scaleb(-30) for k in range(-21, 21, 2) for sign in (-1, 0, 1)]
    values = [f"'{number:f}'" for number in numbers]
    for step in ("0.1", "0.001"):
        asked = dataset(place, "Decimal(38, 30)", values, f'bounds = "[-1, 1] step {step}"')
        query = asked.median("x")
        assert totals_of(query) == oracle.totals(query.question, [{"x": number} for number in numbers])


@pytest.mark.parametrize("kind", ["FixedString(4)", "Array(Int8)", "UInt256", "IPv4", "Tuple(Int8, Int8)"])
def test_what_cannot_be_read_exactly_is_refused(place: InClickHouse, kind: str) -> None:
    """A type that no statement reads is refused before anything is charged, and is in nobody's way."""
    for said in (WHOLE, 'keys = ["a"]'):
        with pytest.raises(InvalidQuestion, match="must hold"):
            dataset(place, kind, [], said).count().plan(1)
    name = f"own{len(place.tables)}"
    place.tables.append(name)
    place.client.command(f"CREATE TABLE {name} (x Int8, other {kind}) ENGINE = Memory")
    place.client.command(f"INSERT INTO {name} (x) VALUES (7)")
    text = CONTRACT.format(WHOLE).replace("UNIT", f"source = '{place.address}'\ntable = '{name}'\n{ROWS}")
    with Dataset.parse(text) as asked:
        assert totals_of(asked.sum("x")) == [[7]]


def test_units_of_64_bits_without_sign_stay_apart(place: InClickHouse) -> None:
    """Units beyond 2**63 are units like any, and none becomes another."""
    asked = dataset(place, "Int8", ["5"] * 4, WHOLE, PEOPLE)
    query = asked.count_units()
    assert totals_of(query) == [[query.plan(1).request.weights.one]]  # each row is the first of its own statement
    place.client.command(f"INSERT INTO {place.tables[-1]} VALUES (5, 9223372036854775807), (5, 9223372036854775808)")
    assert totals_of(query) == [[3 * query.plan(1).request.weights.one]]


def test_a_table_is_read_once(place: InClickHouse) -> None:
    """No statement for units reads its table twice: rows that come in between would count for more than they may."""
    asked = dataset(place, "Int8", ["5"], WHOLE, PEOPLE)
    for query in (asked.count().by("x"), asked.sum("x"), asked.median("x"), asked.count_units().where("x > 1")):
        assert is_read_once(query.plan(1).sql, place.tables[-1], "clickhouse")


def test_a_contract_may_have_many_keys(place: InClickHouse, tmp_path: Path) -> None:
    """A column of as many keys as a contract may list is grouped by, and a public table of them is joined."""
    keys = [f"it's key {number}" for number in range(MOST_FOUND)]
    with (tmp_path / "names.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("x", "size"), *((key, number % 5) for number, key in enumerate(keys))])
    said = f"keys = {json.dumps(keys)}\n[tables.names]\npublic = true\nsource = '{tmp_path / 'names.csv'}'\nkey = 'x'\n"
    said += '[tables.names.columns.size]\nbounds = "[0, 4] step 1"'
    asked = dataset(place, "String", ["'it''s key 9'", "'it''s key 8'", "'no key'"], said)
    found = totals_of(asked.count().by("x"))
    assert [number for number, (rows,) in enumerate(found) if rows] == [8, 9]
    assert totals_of(asked.sql("SELECT SUM(size) FROM visits JOIN names ON visits.x = names.x")) == [[3 + 4]]


def test_rows_of_constants_are_read_whatever_their_columns(place: InClickHouse) -> None:
    """A table of constants has its rows, also with one column, where parentheses alone make no row."""
    engine = dataset(place, "Int64", [], WHOLE).engine
    for row in ((1,), (1, 2)):
        names = [f"c{number}" for number, _ in enumerate(row)]
        rows = exp.values([row, row], alias="v", columns=names)
        assert engine.run(engine.dialect.render(exp.select(*names).from_(rows))) == [row, row]


@pytest.mark.parametrize("legacy", [0, 1])
def test_settings_of_a_server_change_no_total(place: InClickHouse, clickhouse: Server, legacy: int) -> None:
    """What a server has set about NULL, joins, limits and names decides nothing."""
    settings = {
        "least_greatest_legacy_null_behavior": legacy,
        "join_use_nulls": 0,
        "prefer_column_name_to_alias": 0,
        "aggregate_functions_null_for_empty": legacy,
        "group_by_overflow_mode": "any",
    }
    asked = dataset(place, "Nullable(Int8)", ["5", "NULL", "-100", "100"], WHOLE)
    for name, value in settings.items():
        place.client.command(f"SET {name} = {value!r}")
    try:
        assert totals_of(asked.sum("x")) == [[5 - 5 + 100]]
        assert totals_of(asked.count().where("x IS NULL OR x > 99")) == [[2]]
    finally:
        for name in settings:
            place.client.command(f"SET {name} = DEFAULT")
    assert clickhouse.asked[-1]["group_by_overflow_mode"] == "throw"


def test_what_a_server_says_is_kept_back(place: InClickHouse) -> None:
    """A statement that fails is a failure of the engine, one that is over its time such a one, and neither repeats."""
    engine = dataset(place, "Int8", [], WHOLE).engine
    with pytest.raises(EngineFailed) as failed:
        engine.run("SELECT throwIf(1, 'the secret 731954')")
    assert "731954" not in str(failed.value)
    assert not failed.value.stopped
    engine.statement_seconds = 0.5
    with pytest.raises(EngineFailed) as failed:
        engine.run("SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1")
    assert failed.value.stopped


def test_a_table_that_is_not_there_is_told(place: InClickHouse) -> None:
    """A table that ClickHouse does not have, a server that is not there, and an address with options are refused."""
    for source, why in (
        (place.address, "the table in ClickHouse cannot be read"),
        ("clickhouse://ana:hunter2@127.0.0.1:1/clinic", "the table in ClickHouse cannot be read"),
        (f"{place.address}?secure=true", "no options"),
    ):
        text = CONTRACT.format(WHOLE).replace("UNIT", f"source = '{source}'\ntable = 'nothing'\n{ROWS}")
        with Dataset.parse(text) as asked, pytest.raises(InvalidContract, match=why) as refused:
            asked.count().plan(1)
        assert "hunter2" not in str(refused.value)


def test_an_address_says_where_and_the_environment_who(clickhouse: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """User, password, port and database are those of the address; a password that it lacks is the environment's."""
    engine: Any = import_module("inbounds.query.engines.clickhouse.database")
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(engine.clickhouse_connect, "get_client", lambda **said: given.append(said))
    monkeypatch.setenv("CLICKHOUSE_PASSWORD", "from outside")
    engine.connect("clickhouses://ana@db.example/clinic", 7)
    engine.connect("clickhouse://bob:a%40b@[::1]:9000", 7)
    told = [
        (one["host"], one["port"], one["username"], one["password"], one["database"], one["secure"]) for one in given
    ]
    assert told == [
        ("db.example", 8443, "ana", "from outside", "clinic", True),
        ("::1", 9000, "bob", "a@b", "default", False),
    ]


def test_a_draft_has_no_password(place: InClickHouse) -> None:
    """A draft names the columns that a table has, and where the password belongs instead of the contract."""
    dataset(place, "LowCardinality(String)", [], 'keys = ["a"]')
    address = place.address.replace("//", "//default:@")
    schema = Schema.read(address, table=place.tables[-1])
    assert schema.columns == {"x": Kind.TEXT, "who": Kind.INTEGER}
    assert schema.password_place == "CLICKHOUSE_PASSWORD"
    assert schema.source == place.address.replace("//", "//default@")
