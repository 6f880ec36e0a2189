"""A statement adds up exactly what plain Python does, whatever the rows hold and on whatever engine."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from inbounds.query import Dataset, Query, column
from inbounds.query.engines.duckdb import DuckDialect
from inbounds.query.methods.method import OneNumber
from inbounds.query.methods.moments.moments import MomentsOfColumns
from inbounds.query.methods.quantiles.quantiles import QuantileByRank
from tests.helpers import oracle
from tests.helpers.engine_places import InDuckDB, InParquet, Place, distance, planned, totals_of
from tests.helpers.sparing import sparing

Row = dict[str, Any]

TYPES = {
    "person": "int", "small": "smallint", "whole": "int", "big": "bigint", "single": "float4", "fine": "float8",
    "money": "decimal(10, 2)", "wide": "decimal(38, 10)", "day": "date", "moment": "timestamp", "clinic": "text",
    "ward": "int", "smoker": "boolean",
}  # fmt: skip
INTEGERS = ("small", "whole", "big")
CONTRACT = """
[dataset]
name = "visits"
UNIT
[columns.small]
bounds = "[-3, 4] step 1"
[columns.whole]
bounds = "[0, 120] step 1"
[columns.big]
bounds = "[-1000, 1000] step 10"
[columns.single]
bounds = "[0, 1] step 0.1"
[columns.fine]
bounds = "[-5, 5]"
[columns.money]
bounds = "[0, 100] step 0.01"
[columns.wide]
bounds = "[-1.2, 3] step 0.3"
[columns.day]
bounds = "[2026-01-01, 2026-01-31]"
weekdays = "Mon-Fri"
closed = [["2026-01-12", "2026-01-13"]]
[columns.moment]
bounds = "[2026-01-01, 2026-12-31]"
[columns.clinic]
keys = ["north", "south", "it's"]
[columns.ward]
keys = [1, 2, 30]
[columns.smoker]
keys = [true, false]
[budget]
total = 100
"""
UNITS = ('unit = "row"', *(f'unit = "person"\nmax_rows_per_unit = {k}' for k in (1, 2, 5)))

QUESTIONS: list[Callable[[Dataset], Query]] = [
    lambda d: d.count(),
    lambda d: d.count().where("whole >= 60 OR NOT fine < 0.5").by("clinic"),
    lambda d: d.count().where(column("clinic").is_missing() | ~(column("smoker") == True)),  # noqa: E712
    lambda d: d.count_units(),
    lambda d: d.count_units().where("money BETWEEN 1.005 AND 70").by("ward", "smoker"),
    lambda d: d.sum("small"),
    lambda d: d.sum("big").by("clinic"),
    lambda d: d.sum("wide").where("wide <> 0.3 AND NOT (wide IN (0.6, 2.9999))"),
    lambda d: d.sum("money").by("smoker"),
    lambda d: d.mean("fine").where("fine <> 2.5 AND fine <= 4"),
    lambda d: d.mean("single").by("ward"),
    lambda d: d.mean("whole"),
    lambda d: d.mean("day").where("day > '2026-01-03' AND day <= '2026-01-24'"),
    lambda d: d.mean("moment").by("clinic"),
    lambda d: d.proportion("fine > 0"),
    lambda d: d.proportion("single >= 0.35 AND moment < '2026-06-01'").by("clinic"),
    lambda d: d.proportion("NOT (big = 10 OR ward = 2)").where("NOT whole IS NULL"),
    lambda d: d.median("small"),
    lambda d: d.quantile("fine", 0.9).by("smoker"),
    lambda d: d.quantile("day", 0.25).where("small IN (1, 2, 3.5)"),
    lambda d: d.median("money"),
    lambda d: d.histogram("whole", 7),
    lambda d: d.histogram("wide", [-1, 0.5, 2]).where("small < 2"),
    lambda d: d.histogram("day"),
    lambda d: d.histogram("clinic").by("ward"),
    lambda d: d.histogram("single").by("smoker"),
    lambda d: d.variance("fine"),
    lambda d: d.stddev("money").where("smoker = true").by("clinic"),
    lambda d: d.covariance("small", "fine").by("smoker"),
    lambda d: d.correlation("wide", "single").where("whole < 100"),
    lambda d: d.correlation("day", "big").by("clinic"),
    lambda d: d.together(d.count("whole"), d.variance("whole"), d.mean("whole"), d.sum("whole")).by("ward"),
    lambda d: d.count_keys("clinic").where("small > 0"),
    lambda d: d.count_keys("day").by("clinic", "smoker"),
]

days = st.dates(date(2025, 12, 20), date(2026, 2, 10))
rows_of = {
    "person": st.none() | st.integers(1, 4),
    "small": st.integers(-6, 8),
    "whole": st.integers(-10, 140),
    "big": st.integers(-1200, 1200) | st.sampled_from([2**63 - 1, -(2**63)]),
    "single": st.floats(-1, 2, width=32) | st.sampled_from([float("nan"), float("inf"), float("-inf"), -0.0, 0.25]),
    "fine": st.floats() | st.floats(-6, 6) | st.sampled_from([2.5, -0.0, 5e-324, 1e308]),
    "money": st.decimals(-200, 200, places=2, allow_nan=False),
    "wide": st.decimals(-2, 4, places=10, allow_nan=False) | st.sampled_from([Decimal("9" * 28), Decimal("0.15")]),
    "day": days,
    "moment": st.datetimes(datetime(2025, 12, 1), datetime(2027, 1, 31)),
    "clinic": st.sampled_from(["north", "south", "it's", "North", "", "east", " north"]),
    "ward": st.sampled_from([1, 2, 30, 3, -1]),
    "smoker": st.booleans(),
}  # fmt: skip
rows = st.fixed_dictionaries({name: st.none() | one if name != "person" else one for name, one in rows_of.items()})


def contract(unit: str) -> str:
    """Return the contract for one way to tell whose rows they are."""
    return CONTRACT.replace("UNIT", unit)


def random_rows(seed: int) -> list[Row]:
    """Return a table that is the same every time."""
    draw = random.Random(seed)
    special = [None, float("nan"), float("inf"), float("-inf"), -0.0, 5e-324, 1e308]

    def one() -> Row:
        start = datetime(2025, 12, 20)
        found: Row = {
            "small": draw.randint(-6, 8),
            "whole": draw.randint(-10, 140),
            "big": draw.choice([draw.randint(-1200, 1200), 2**63 - 1, -(2**63)]),
            "single": float(np.float32(draw.choice([draw.uniform(-0.2, 1.2), draw.randint(0, 20) / 20]))),
            "fine": draw.choice([draw.uniform(-6, 6), draw.randint(-20, 20) / 4]),
            "money": Decimal(draw.randint(-2000, 12000)) / 100,
            "wide": Decimal(draw.randint(-2 * 10**10, 4 * 10**10)) / 10**10,
            "day": (start + timedelta(days=draw.randint(0, 50))).date(),
            "moment": start + timedelta(seconds=draw.randint(0, 400 * 86400)),
            "clinic": draw.choice(["north", "south", "it's", "North", "", "east", " north"]),
            "ward": draw.choice([1, 2, 30, 3, -1]),
            "smoker": draw.choice([True, False]),
        }
        found = {name: None if draw.random() < 0.1 else value for name, value in found.items()}
        for name in ("single", "fine"):
            found[name] = draw.choice(special) if draw.random() < 0.2 else found[name]
        if found["single"] in (1e308, 5e-324):
            found["single"] = 0.5
        return {"person": draw.choice([None, 1, 1, 1, 1, 2, 2, 3, 4]), **found}

    return [one() for _ in range(draw.randint(0, 60))]


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(rows, max_size=25), st.sampled_from(UNITS), st.integers(0, 4), st.sampled_from([None, 1, 10]))
def test_totals_are_those_of_plain_python(
    files: InParquet, table: list[Row], unit: str, start: int, units: int | None
) -> None:
    """For any table, every question's totals are those that plain Python computes from the rows."""
    dataset = files.dataset(table, TYPES, contract(unit), units=units)
    for ask in QUESTIONS[start::5]:
        query = ask(dataset)
        assert totals_of(query) == oracle.totals(query.question, table, INTEGERS), str(query.question)
    files.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_every_engine_adds_up_the_same(engine_place: Place, seed: int) -> None:
    """On every engine the totals are those that plain Python computes from the rows."""
    table = random_rows(seed)
    dataset = engine_place.dataset(table, TYPES, contract(UNITS[seed % 4]))
    every = 10 if engine_place.name == "spark" else 5  # each question is asked at least once
    for ask in QUESTIONS[seed % every :: every]:
        query = ask(dataset)
        assert totals_of(query) == oracle.totals(query.question, table, INTEGERS), str(query.question)


def is_read_once(sql: str, table: str, dialect: str) -> bool:
    """Return whether a statement names a table once, and nothing that it has named by WITH more than once."""
    statement = sqlglot.parse_one(sql, dialect=dialect)
    named = [found.alias for found in statement.find_all(exp.CTE)]
    read = [found.name for found in statement.find_all(exp.Table)]
    return sql.lower().count(table) == 1 and all(read.count(name) == 1 for name in named)


def test_the_test_for_reading_once_sees_a_second_time(files: InParquet) -> None:
    """The statement that joins what it has added up to itself is found out."""
    query = files.dataset([], TYPES, contract(UNITS[1])).count().by("clinic")
    assert not is_read_once(planned(query).sql, "read_parquet", "duckdb")
    files.close()


@pytest.mark.parametrize("unit", UNITS[1:])
def test_a_table_that_may_change_is_read_once(files: InParquet, monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    """Where a table may have other rows when it is read again, no statement does, and the totals are the same."""
    monkeypatch.setattr(DuckDialect, "reads_twice", True)
    table = random_rows(5)
    dataset = files.dataset(table, TYPES, contract(unit))
    for query in (ask(dataset) for ask in QUESTIONS[1::4]):
        assert is_read_once(planned(query).sql, "read_parquet", "duckdb")
        assert totals_of(query) == oracle.totals(query.question, table, INTEGERS), str(query.question)
    files.close()


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_what_a_unit_may_add_is_what_the_noise_is_for(files: InParquet, unit: str) -> None:
    """The sensitivity that noise is drawn for is limit times a row's most, in the grain of the totals."""
    dataset = files.dataset([], TYPES, contract(unit))
    for query in (ask(dataset) for ask in QUESTIONS):
        answering = planned(query).answering
        if isinstance(answering, QuantileByRank):
            found = Fraction(answering.limit * answering.row_weight)
        else:
            assert isinstance(answering, OneNumber | MomentsOfColumns)
            found = answering.sensitivity / answering.grain
        assert found == oracle.sensitivity(query.question), str(query.question)
    files.close()


def test_a_public_number_of_units_changes_the_mean_alone(files: InParquet) -> None:
    """With a public number of units, distances from the middle are added up, exactly as plain Python does."""
    table = random_rows(3)
    for unit in UNITS[:2]:
        dataset = files.dataset(table, TYPES, contract(unit), units=len(table))
        for query in (dataset.mean("whole"), dataset.mean("fine"), dataset.proportion("smoker = true")):
            assert totals_of(query) == oracle.totals(query.question, table, INTEGERS)
    files.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 4])
def test_the_order_of_rows_changes_no_total(engine_place: Place, seed: int) -> None:
    """A table with its rows in another order has the same totals."""
    table = random_rows(seed)
    shuffled = random.Random(seed).sample(table, len(table))
    one, other = (engine_place.dataset(rows, TYPES, contract(UNITS[2])) for rows in (table, shuffled))
    for ask in QUESTIONS[seed :: 25 if engine_place.name == "spark" else 9]:
        assert totals_of(ask(one)) == totals_of(ask(other))


@pytest.mark.slow
def test_threads_and_row_groups_change_no_total(tmp_path: Path) -> None:
    """Many rows, read by several threads, in other row groups and another order, have the same totals."""
    made = """SELECT hash(i) % 5000 AS person, sin(i) * 7 AS fine, (hash(i + 1) % 150)::INT AS whole,
        ['north', 'south', 'it''s', 'east'][1 + (hash(i + 2) % 4)::INT] AS clinic FROM range(300000) t(i)"""
    found = []
    for number, order in enumerate(("i", "-i", "hash(i + 3)")):
        path = tmp_path / f"{number}.parquet"
        duckdb.sql(
            f"COPY ({made} ORDER BY {order}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {2048 * (1 + 9 * number)})"
        )
        text = f"""
            [dataset]
            name = "visits"
            source = '{path}'
            unit = "person"
            max_rows_per_unit = 7
            [columns]
            fine.bounds = "[-5, 5]"
            whole.bounds = "[0, 120] step 1"
            clinic.keys = ["north", "south", "it's"]
            [budget]
            total = 1
            """
        with Dataset.parse(text) as dataset:
            dataset.engine._connection.execute("SET threads = 4")  # type: ignore[attr-defined]
            queries = (
                dataset.mean("fine").by("clinic"),
                dataset.sum("whole").where("fine > 0"),
                dataset.count_units(),
                dataset.median("fine"),
            )
            found.append([totals_of(query) for query in queries])
    assert found[0] == found[1] == found[2]


# Hostile units. The law: whatever one unit's rows are, nothing but the noise's argument depends on them.

USUAL: Row = {
    "person": 1, "small": 1, "whole": 50, "big": 10, "single": 0.5, "fine": 1.5, "money": Decimal("9.99"),
    "wide": Decimal("0.3"), "day": date(2026, 1, 5), "moment": datetime(2026, 5, 5, 12), "clinic": "north", "ward": 2,
    "smoker": True,
}  # fmt: skip
EXTREMES: Mapping[str, list[Any]] = {
    "small": [-(2**15), 2**15 - 1, None],
    "whole": [-(2**31), 2**31 - 1, None, 0],
    "big": [-(2**63), 2**63 - 1, None, 0],
    "single": [float("nan"), float("inf"), float("-inf"), -0.0, float(np.float32(3e38)), 2.0**-149, None],
    "fine": [float("nan"), float("inf"), float("-inf"), -0.0, 1e308, -1e308, 5e-324, -5e-324, 2.0**63, None],
    "money": [Decimal("-99999999.99"), Decimal("99999999.99"), Decimal("0.00"), None],
    "wide": [Decimal("9" * 28 + "." + "9" * 10), Decimal("-" + "9" * 28 + "." + "9" * 10), Decimal("1e-10"), None],
    "day": [date(1, 1, 1), date(9999, 12, 31), None],
    "moment": [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), None],
    "clinic": ["", "NORTH", "north ", "n" * 10_000, "'; DROP TABLE visits; --", "\\", "%s", "é\u0301\U0001f600", None],
    "ward": [-(2**31), 2**31 - 1, 0, None],
    "smoker": [None, False],
}  # fmt: skip
OF_ENGINE: Mapping[str, Mapping[str, list[Any]]] = {
    "duckdb": {
        "day": ["infinity", "-infinity", "5881580-07-10", "5877642-06-25 (BC)"],
        "moment": ["infinity", "-infinity", "294247-01-10 04:00:54.775806", "290309-12-22 (BC) 00:00:00"],
    },
    "postgres": {
        "day": ["infinity", "-infinity", "5874897-12-31", "4713-01-01 BC"],
        "moment": ["infinity", "-infinity", "294276-12-31 23:59:59.999999", "4713-01-01 00:00:00 BC"],
        "wide": ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "-1e-400", "1e-310", "1e131071"],
    },
    "spark": {},
    "sail": {},
    "clickhouse": {},
}
HOSTILE_QUESTIONS = [ask for number, ask in enumerate(QUESTIONS) if number not in (0, 3, 11, 17, 20)]


def hostile_rows(place: Place) -> list[Row]:
    """Return rows of one new unit, each with one value that is a trap, and some with nothing but traps."""
    traps = {name: [*values, *OF_ENGINE[place.name].get(name, [])] for name, values in EXTREMES.items()}
    single = [{**USUAL, "person": 99, name: value} for name, values in traps.items() for value in values]
    longest = max(map(len, traps.values()))
    every = [
        {"person": 99, **{name: values[i % len(values)] for name, values in traps.items()}} for i in range(longest)
    ]
    return single + every


def types_of(place: Place) -> dict[str, str]:
    """Return what the columns hold: in PostgreSQL, numbers without end."""
    return {**TYPES, "wide": "numeric"} if place.name == "postgres" else TYPES


@pytest.mark.slow
@pytest.mark.parametrize("unit", [UNITS[0], UNITS[2]])
def test_a_hostile_unit_changes_no_more_than_it_may(engine_place: Place, unit: str) -> None:
    """Whatever one unit's rows hold, the statement is the same and the totals move by at most the sensitivity."""
    table, hostile = random_rows(7), hostile_rows(engine_place)
    types = types_of(engine_place)
    without = engine_place.dataset(table, types, contract(unit))
    with_all = engine_place.dataset([*table, *hostile], types, contract(unit))
    step = {"duckdb": 1, "postgres": 3}.get(engine_place.name, 7)
    for ask in HOSTILE_QUESTIONS[::step]:
        before, after = ask(without), ask(with_all)
        texts = {planned(q).sql.replace(name_of(q), "t").replace(place_of(q), "p") for q in (before, after)}
        assert len(texts) == 1
        units = len(hostile) if unit == UNITS[0] else 1
        moved = distance(totals_of(before), totals_of(after))
        assert moved <= units * oracle.sensitivity(before.question), str(before.question)


@pytest.mark.slow
@pytest.mark.parametrize("name", sparing([name for name in TYPES if name != "person"], 5))
def test_one_hostile_row_changes_no_more_than_it_may(tmp_path: Path, name: str) -> None:
    """Where each row is a unit, any one row moves the totals by at most the sensitivity of one row."""
    place = InDuckDB(tmp_path)
    table = random_rows(8)
    without = place.dataset(table, TYPES, contract(UNITS[0]))
    asked = [ask for ask in QUESTIONS if name in str(ask(without).question)]
    before = [totals_of(ask(without)) for ask in asked]
    for value in [*EXTREMES[name], *OF_ENGINE["duckdb"].get(name, [])]:
        after = place.dataset([*table, {**USUAL, name: value}], TYPES, contract(UNITS[0]))
        for ask, found in zip(asked, before, strict=True):
            query = ask(after)
            assert distance(found, totals_of(query)) <= oracle.sensitivity(query.question), (value, query.question)
    place.close()


@pytest.mark.slow
def test_a_unit_with_many_rows_changes_no_more_than_it_may(engine_place: Place) -> None:
    """However many rows a unit has, in one group or in several, the totals move by at most the sensitivity."""
    table, times = random_rows(9), 10**6 if engine_place.name == "duckdb" else 10**5
    many = [({**USUAL, "person": 99}, times), ({**USUAL, "person": 99, "clinic": "south", "fine": 5.0}, times // 3)]
    without = engine_place.dataset(table, TYPES, contract(UNITS[3]))
    with_all = engine_place.dataset(table, TYPES, contract(UNITS[3]), many)
    for number in (4, 18) if engine_place.name in ("spark", "sail") else (0, 4, 6, 13, 14, 18, 22):
        before, after = QUESTIONS[number](without), QUESTIONS[number](with_all)
        moved = distance(totals_of(before), totals_of(after))
        assert moved <= oracle.sensitivity(before.question), str(before.question)


@pytest.mark.slow
def test_a_hostile_unit_shows_in_nothing_but_the_values(engine_place: Place) -> None:
    """With and without a hostile unit, answers have the same columns, groups and order, and cost the same."""
    table, types = random_rows(7), types_of(engine_place)
    shapes = []
    for rows in (table, [*table, *hostile_rows(engine_place)]):
        dataset = engine_place.dataset(rows, types, contract(UNITS[2]))
        asked = (
            dataset.sum("big").by("clinic"),
            dataset.mean("wide").by("smoker", "ward"),
            dataset.median("day"),
            dataset.histogram("money", 5),
            dataset.mean("moment"),
        )
        answers = [query.ask("0.5", analyst="ana") for query in asked]
        shapes.append(
            [(answer.columns, [row[:-1] for row in answer.rows], answer.epsilon) for answer in answers]
            + [(("spent",), [], dataset.ledger.balance(dataset.name).spent)]
        )
    assert shapes[0] == shapes[1]


def name_of(query: Query) -> str:
    """Return what the table is called in the database."""
    return str(query.dataset.contract.content["dataset"]["table"]).rsplit(".", 1)[-1]


def place_of(query: Query) -> str:
    """Return where the table is."""
    return str(query.dataset.contract.content["dataset"]["source"])


NAMES = ["v", "u", "g0", "g1", "c0", "c1", "n", "s", "m", "k0", "t0", "one", "r", "p", "w", "k", "t", "select", "x.y",
         "it's", "a b", "é", "Group", "frame"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("start", range(2))
def test_names_of_columns_clash_with_nothing(engine_place: Place, start: int) -> None:
    """A column may be called anything, also what statements call their own."""
    draw = random.Random(start)
    names = NAMES[start:] + NAMES[:start]
    unit, value, kept, by = names[0], names[5], names[10], names[15]
    types = dict.fromkeys(names, "int")
    table = [{name: draw.choice([None, *range(6)]) for name in names} for _ in range(40)]
    columns = "\n".join(f"[columns.\"{name}\"]\nbounds = '[0, 5] step 1'" for name in names if name != unit)
    text = f'[dataset]\nname = "visits"\nunit = "{unit}"\nmax_rows_per_unit = 2\n{columns}\n[budget]\ntotal = 1'
    for one in (text, text.replace(f'"{unit}"\nmax_rows_per_unit = 2', '"row"', 1)):
        dataset = engine_place.dataset(table, types, one)
        query = dataset.sum(value).where((column(kept) > 1) | column(names[20]).is_missing()).by(by)
        assert totals_of(query) == oracle.totals(query.question, table, names)


KEYS = ["it's", 'say "hi"', "back\\slash", "\\'", "100%", "%s", "${HOME}", "{x}", ":name", "?", "$1", "--", "/*", "\t",
        "line\nbreak", "\r", "é", "\U0001f600", " ", "NULL", "e'x", "\\n", "\\u0041", "@x", "#"]  # fmt: skip


@pytest.mark.slow
def test_any_text_is_a_key(engine_place: Place) -> None:
    """A row whose key is in the list, whatever characters it has, is in the group of that key and of no other."""
    table = [{"key": key, "person": i} for i, key in enumerate(KEYS) for _ in range(i + 1)]
    listed = json.dumps(KEYS, ensure_ascii=True).replace("\\ud83d\\ude00", "\U0001f600")
    text = f'[dataset]\nname = "visits"\nunit = "row"\n[columns.key]\nkeys = {listed}\n[budget]\ntotal = 1'
    dataset = engine_place.dataset(table, {"key": "text", "person": "int"}, text)
    assert totals_of(dataset.count().by("key")) == [[i + 1] for i in range(len(KEYS))]
    if engine_place.name == "duckdb":
        for i, key in enumerate(KEYS):
            assert totals_of(dataset.count().where(column("key") == key)) == [[i + 1]]
