"""What the custodian sees of the real table: figures compared with plain Python, on every engine."""

from __future__ import annotations

import math
from collections import Counter
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from inbounds.errors import EngineFailed, InvalidQuestion
from inbounds.ledger import Ledger
from inbounds.query import Dataset, Inspection
from inbounds.query.custodian import statements
from inbounds.query.custodian.inspection import LIMITS
from inbounds.query.engines.duckdb import DuckDB
from tests.helpers.engine_places import InDuckDB, Place

CONTRACT = """
[dataset]
name = "visits"
unit = "patient"
max_rows_per_unit = 4
[columns.age]
bounds = "[0, 17] | [65, 110] step 1"
[columns.score]
bounds = "[-1.5, 2.5]"
[columns.cost]
bounds = "[0, 99.99] step 0.01"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
weekdays = "Mon-Fri"
[columns.seen]
bounds = "[2026-01-01, 2026-12-31]"
[columns.clinic]
keys = ["north", "south", "nowhere", "o'clock"]
[columns.grade]
keys = [1, 2, 3]
[columns.smoker]
keys = [true, false]
[budget]
total = 1
"""
TYPES = {
    "patient": "bigint", "age": "integer", "score": "float8", "cost": "numeric", "day": "date", "seen": "timestamp",
    "clinic": "text", "grade": "integer", "smoker": "boolean",
}  # fmt: skip
LISTED: list[list[Any]] = [["north", "south", "nowhere", "o'clock"], [1, 2, 3], [True, False]]
NEW_YEAR = date(2026, 1, 1)


def made_up(seed: int, count: int = 300) -> list[dict[str, Any]]:
    """Return rows with everything that a table can hold, on the ends and far beyond them."""
    random = Random(seed)
    days = [NEW_YEAR, date(2026, 12, 31), date(1, 1, 1), date(9999, 12, 31)]
    some = [*days, *(NEW_YEAR + timedelta(days=random.randrange(-20, 400)) for _ in range(40)), None]
    times = [None if day is None else datetime(day.year, day.month, day.day, 23, 59, 59) for day in some]
    return [
        {
            "patient": random.choice([None, *range(12), *([7] * 12), 2**62]),
            "age": random.choice([None, -1, 0, 17, 18, 64, 65, 110, 111, -(2**31), 2**31 - 1]),
            "score": random.choice([None, math.nan, math.inf, -math.inf, -1.5, 2.5, -1.6, 2.6, 0.25, 1e300]),
            "cost": random.choice([None, *map(Decimal, ("0", "-0.01", "99.99", "100", "12.345", "1e20"))]),
            "day": random.choice(some),
            "seen": random.choice(times),
            "clinic": random.choice([None, "north", "south", "o'clock", "North", "", "west", "\u00e9"]),
            "grade": random.choice([None, 1, 2, 4, -5]),
            "smoker": random.choice([None, True]),
        }
        for _ in range(count)
    ]


def numbers_of(rows: list[dict[str, Any]], name: str, low: Any, high: Any, is_gap: Any = None) -> list[int]:
    """Return how many values are missing, below, above and in gaps, in plain Python."""
    values = [row[name] for row in rows]
    if name == "seen":
        values = [value and value.date() for value in values]
    known = [value for value in values if value is not None and value == value]  # noqa: PLR0124  NaN is not
    within = [value for value in known if low <= value <= high]
    below, above = sum(value < low for value in known), sum(value > high for value in known)
    return [len(values) - len(known), below, above, sum(map(is_gap, within)) if is_gap else 0]


def check_against_python(found: Inspection, rows: list[dict[str, Any]]) -> None:
    """Compare every figure with plain Python."""
    assert found.rows == len(rows)
    assert found.misfits == {}
    assert found.lines is None
    assert found.seconds is not None
    assert found.seconds >= 0
    seen = {one.column: [one.missing, one.below, one.above, one.in_gaps] for one in found.numbers}
    ends = (NEW_YEAR, date(2026, 12, 31))
    assert seen == {
        "age": numbers_of(rows, "age", 0, 110, lambda age: 17 < age < 65),
        "score": numbers_of(rows, "score", -1.5, 2.5),
        "cost": numbers_of(rows, "cost", 0, Decimal("99.99")),
        "day": numbers_of(rows, "day", *ends, lambda day: day.weekday() > 4),
        "seen": numbers_of(rows, "seen", *ends),
    }
    for keys, listed in zip(found.keys, LISTED, strict=True):
        values = Counter(row[keys.column] for row in rows)
        missing = values.pop(None, 0)
        others = {value: n for value, n in values.items() if value not in listed}
        assert (keys.keys, keys.missing) == (len(listed), missing)
        assert (keys.rows, keys.others) == (sum(others.values()), len(others))
        assert keys.unused == sum(key not in values for key in listed)
        assert keys.values is not None
        assert dict(keys.values) == others
    units = Counter(row["patient"] for row in rows)
    without = units.pop(None, 0)
    assert found.units is not None
    assert (found.units.units, found.units.rows_without) == (len(units), without)
    assert found.units.most == max(units.values(), default=0)
    for one in (found.units.limit, *found.units.others):
        assert one.rows == sum(max(0, n - one.limit) for n in units.values())
        assert one.units == sum(n > one.limit for n in units.values())
    limits = [one.limit for one in found.units.others]
    assert limits == sorted({limit for limit in LIMITS if limit <= limits[-1]} | {4})
    assert found.units.others[-1].units == 0


@pytest.mark.slow
@pytest.mark.parametrize("rows", [made_up(1), made_up(2), []], ids=["one", "other", "empty"])
def test_figures_are_those_of_plain_python(engine_place: Place, rows: list[dict[str, Any]]) -> None:
    """On every engine, whatever the rows hold, every figure is what plain Python counts."""
    dataset = engine_place.dataset(rows, TYPES, CONTRACT)
    check_against_python(Inspection.of(dataset, values=True), rows)


@pytest.mark.slow
def test_a_wrong_figure_is_found(files: Any) -> None:
    """The comparison itself fails for a table with one row more."""
    rows = made_up(3)
    found = Inspection.of(files.dataset([*rows, rows[0]], TYPES, CONTRACT), values=True)
    with pytest.raises(AssertionError):
        check_against_python(found, rows)


def test_infinite_days_are_clipped_and_do_not_fail(engine_place: Place) -> None:
    """Days and times that a database calls infinite are beyond the ends."""
    if engine_place.name not in ("duckdb", "postgres"):
        pytest.skip("only DuckDB and PostgreSQL have infinite days")
    rows = [{**made_up(1)[0], "day": sign + "infinity", "seen": sign + "infinity"} for sign in ("", "-")]
    found = Inspection.of(engine_place.dataset(rows, TYPES, CONTRACT))
    days = [(one.missing, one.below, one.above) for one in found.numbers if one.column in ("day", "seen")]
    assert days == [(0, 1, 1)] * 2


@pytest.mark.slow
def test_values_are_looked_at_only_if_they_are_asked_for(files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `values`, no statement returns anything but numbers, in one row."""
    seen: list[list[tuple[Any, ...]]] = []
    run = DuckDB.run

    def watched(self: DuckDB, statement: str) -> list[tuple[Any, ...]]:
        seen.append(run(self, statement))
        return seen[-1]

    monkeypatch.setattr(DuckDB, "run", watched)
    dataset = files.dataset(made_up(1), TYPES, CONTRACT)
    assert all(keys.values is None for keys in Inspection.of(dataset).keys)
    assert len(seen) == 1 + 1 + 3 + 1 + 1  # numbers, what is there, each column of keys, units, the one that is timed
    assert all(len(rows) == 1 and all(isinstance(one, int) for one in rows[0]) for rows in seen)
    Inspection.of(dataset, values=True)
    assert any(isinstance(one, str) for rows in seen for row in rows for one in row)


def test_no_ledger_is_opened(files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at a table opens no ledger, and so records nothing."""
    monkeypatch.setattr(Ledger, "open", lambda *_, **__: pytest.fail("a ledger was opened"))
    dataset = files.dataset(made_up(1), TYPES, CONTRACT)
    assert Inspection.of(dataset).rows == 300
    with pytest.raises(pytest.fail.Exception):  # which asking would
        dataset.count().ask(1, analyst="ana", pooling=1)


def test_columns_that_do_not_fit_are_told_and_the_others_looked_at(tmp_path: Path) -> None:
    """A column of another type, or none, is named with the reason, the unit too; no other figure is missing."""
    text = CONTRACT.replace("[columns.age]\nbounds", "[columns.clinic2]\nkeys = ['a']\n[columns.age]\nbounds")
    text = text.replace('unit = "patient"', 'unit = "score"').replace("[columns.score]", "[columns.patient]")
    text = text.replace("[columns.grade]\nkeys = [1, 2, 3]", '[columns.grade]\nkeys = ["1"]')
    place = InDuckDB(tmp_path)
    found = Inspection.of(place.dataset(made_up(1), TYPES, text))
    place.close()
    assert set(found.misfits) == {"clinic2", "score", "grade"}
    assert "whole numbers or text" in found.misfits["score"]
    assert (found.units, found.seconds) == (None, None)
    assert {one.column for one in found.numbers} == {"age", "patient", "cost", "day", "seen"}
    assert {one.column for one in found.keys} == {"clinic", "smoker"}


def test_rows_that_are_units_have_no_limit(files: Any) -> None:
    """Where each row is a unit of its own, nothing is said of limits."""
    text = CONTRACT.replace('unit = "patient"\nmax_rows_per_unit = 4', 'unit = "row"')
    found = Inspection.of(files.dataset(made_up(1), TYPES, text))
    assert (found.units, found.rows) == (None, 300)


@pytest.mark.slow
def test_too_many_gaps_are_said_to_be_uncounted(files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values in more gaps than a statement should hold are not counted as none."""
    monkeypatch.setattr(statements, "MOST_SPANS", 10)
    found = Inspection.of(files.dataset(made_up(1), TYPES, CONTRACT))
    in_gaps = {one.column: one.in_gaps for one in found.numbers}
    assert in_gaps["day"] is None
    assert in_gaps["age"] is not None
    assert in_gaps["seen"] == 0


@pytest.mark.slow
def test_many_columns_are_looked_at_in_parts(files: Any) -> None:
    """More columns than one statement takes have the same figures."""
    names = [f"c{i}" for i in range(205)]
    text = "[dataset]\nname = 'wide'\nunit = 'row'\n[budget]\ntotal = 1\n"
    text += "".join(f"[columns.{name}]\nbounds = '[0, {i + 1}] step 1'\n" for i, name in enumerate(names))
    rows = [dict.fromkeys(names, 100), dict.fromkeys(names, None), dict.fromkeys(names, -1)]
    found = Inspection.of(files.dataset(rows, dict.fromkeys(names, "integer"), text))
    assert [one.column for one in found.numbers] == names
    assert [one.above for one in found.numbers] == [int(i + 1 < 100) for i in range(205)]
    assert {(one.missing, one.below) for one in found.numbers} == {(1, 1)}


def test_lines_and_fields_of_csv_that_are_not_read_are_counted(tmp_path: Path) -> None:
    """Lines that are no row, and fields that are no number or day, are told apart from what is missing."""
    lines = ["patient,age,clinic,day", "1,30,north,2026-05-05", "2,old,north,", "3,,south,soon", "4,5", '5,"6,north,']
    (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    contract = tmp_path / "visits.toml"
    contract.write_text(
        "[dataset]\nname = 'visits'\nsource = 'visits.csv'\nunit = 'patient'\nmax_rows_per_unit = 1\n"
        "[columns.age]\nbounds = '[0, 20] step 1'\n[columns.clinic]\nkeys = ['north']\n"
        "[columns.day]\nbounds = '[2026-01-01, 2026-12-31]'\n[budget]\ntotal = 1\n",
        encoding="utf-8",
    )
    with Dataset.load(contract) as dataset:
        found = Inspection.of(dataset)
    assert (found.rows, found.lines) == (3, 2)
    age, day = found.numbers
    assert (age.missing, age.unread, age.above) == (2, 1, 1)
    assert (day.missing, day.unread) == (2, 1)
    assert (found.keys[0].rows, found.keys[0].unread) == (1, 0)


def test_a_database_that_fails_says_that_nothing_was_charged(files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails while looking is not told as if it had been paid for, and holds nothing that the database said."""

    def fail(*_: object) -> None:
        raise duckdb.IOException("the secret 731954")

    dataset = files.dataset(made_up(1), TYPES, CONTRACT)
    assert dataset.engine.kinds()
    monkeypatch.setattr(DuckDB, "_cursor", fail)
    with pytest.raises(EngineFailed, match="nothing was charged") as failed:
        Inspection.of(dataset)
    assert "731954" not in str(failed.value)
    assert failed.value.__context__ is None


SAID = """
[dataset]
name = "stays"
unit = "row"
[columns.region]
keys = ["city", "country"]
[columns.district]
keys = ["old town", "harbour", "hills"]
within = "region"
map = { "old town" = "city", "harbour" = "city", "hills" = "country" }
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
[columns.cost]
bounds = "[0, 100] step 1"
[columns.month]
from = "MONTH(day)"
[columns.double]
from = "2 * cost"
[columns.dear]
from = "CASE WHEN cost >= 101 THEN 'never' WHEN cost >= 50 THEN 'dear' ELSE 'cheap' END"
[known]
total = 120
zeros = [{ region = "country", dear = "dear" }, { dear = "never" }]
[known.by.region]
city = 50
[known.by.dear]
cheap = 80
[budget]
total = 1
"""
SAID_TYPES = {"region": "text", "district": "text", "day": "date", "cost": "integer"}
PARENT = {"old town": "city", "harbour": "city", "hills": "country"}


def stays(seed: int, count: int = 120) -> list[dict[str, Any]]:
    """Return rows that agree with their contract, and rows that do not."""
    random = Random(seed)
    return [
        {
            "region": random.choice(["city", "country", "country", "sea", None]),
            "district": random.choice([*PARENT, "moor", None]),
            "day": random.choice([None, date(2026, 2, 3), date(2026, 11, 30)]),
            "cost": random.choice([None, 0, 49, 50, 400]),
        }
        for _ in range(count)
    ]


def dear(row: dict[str, Any]) -> str:
    """Return what is made of a cost, in plain Python: a comparison with what is missing is not true."""
    return "dear" if (row["cost"] or 0) >= 50 else "cheap"


def check_said(found: Inspection, rows: list[dict[str, Any]]) -> None:
    """Compare the figures of what a contract says of its columns with plain Python."""
    made = {one.column: (one.missing, one.keys, one.unused) for one in found.made}
    no_cost = sum(row["cost"] is None for row in rows)
    assert made == {
        "month": (sum(row["day"] is None for row in rows), None, None),
        "double": (no_cost, None, None),
        "dear": (0, 3, 3 - len({dear(row) for row in rows})),
    }
    (within,) = found.within
    placed = [(PARENT[row["district"]], row["region"]) for row in rows if row["district"] in PARENT]
    assert (within.column, within.within) == ("district", "region")
    assert within.elsewhere == sum(there in PARENT.values() and there != said for said, there in placed)
    assert within.nowhere == sum(there not in PARENT.values() for _, there in placed)
    known = {one.of: (one.said, one.rows) for one in found.known}
    assert known == {
        "": (120, len(rows)),
        "region = city": (50, sum(row["region"] == "city" for row in rows)),
        "dear = cheap": (80, sum(dear(row) == "cheap" for row in rows)),
        "region = country, dear = dear": (0, sum(row["region"] == "country" and dear(row) == "dear" for row in rows)),
        "dear = never": (0, 0),
    }
    assert [one.agrees for one in found.known] == [one.said == one.rows for one in found.known]


@pytest.mark.parametrize("rows", [stays(1), stays(2, 200), []], ids=["one", "other", "empty"])
def test_what_a_contract_says_is_compared_with_the_table(engine_place: Place, rows: list[dict[str, Any]]) -> None:
    """On every engine, columns made of columns, known numbers and keys within keys have the figures of plain Python."""
    check_said(Inspection.of(engine_place.dataset(rows, SAID_TYPES, SAID)), rows)


def test_a_row_at_another_place_is_found(files: Any) -> None:
    """The comparison itself fails for a table in which one row lies elsewhere."""
    rows = stays(3)
    moved = [*rows[1:], {"region": "country", "district": "harbour", "day": None, "cost": 1}]
    found = Inspection.of(files.dataset(moved, SAID_TYPES, SAID))
    with pytest.raises(AssertionError):
        check_said(found, rows)


def test_what_is_made_of_a_column_that_does_not_fit_is_left_out(tmp_path: Path) -> None:
    """A column of another type takes with it what is made of it, what is known of it, and its keys within keys."""
    types = {**SAID_TYPES, "cost": "text", "region": "integer"}
    rows = [{"region": 1, "district": "hills", "day": date(2026, 5, 5), "cost": "1"}]
    place = InDuckDB(tmp_path)
    found = Inspection.of(place.dataset(rows, types, SAID))
    place.close()
    assert set(found.misfits) == {"cost", "region"}
    assert [one.column for one in found.made] == ["month"]
    assert found.within == ()
    assert [one.of for one in found.known] == [""]


@pytest.mark.slow
def test_every_private_table_is_looked_at(tmp_path: Path) -> None:
    """Where a contract has several tables, each has its own figures, with its own unit and limit."""
    (tmp_path / "visits.csv").write_text("patient,age\n1,30\n1,200\n2,40\n", encoding="utf-8")
    (tmp_path / "drugs.csv").write_text("who,dose\n1,5\n1,6\n1,7\n,8\n", encoding="utf-8")
    contract = tmp_path / "visits.toml"
    contract.write_text(
        "[dataset]\nname = 'visits'\nsource = 'visits.csv'\nunit = 'patient'\nmax_rows_per_unit = 1\n"
        "[columns.age]\nbounds = '[0, 120] step 1'\n"
        "[tables.drugs]\nsource = 'drugs.csv'\nunit = 'who'\nmax_rows_per_unit = 2\n"
        "[tables.drugs.columns.dose]\nbounds = '[0, 6] step 1'\n[tables.drugs.columns.half]\nfrom = 'dose / 2'\n"
        "[budget]\ntotal = 1\n",
        encoding="utf-8",
    )
    with Dataset.load(contract) as dataset:
        found = Inspection.of(dataset)
        (drugs,) = found.others
        assert Inspection.of(dataset.rows_of("drugs")).numbers == drugs.numbers
        with pytest.raises(InvalidQuestion, match="a joined one"):
            Inspection.of(dataset.join("drugs"))
    assert (found.table, found.rows, found.numbers[0].above, found.made) == ("visits", 3, 1, ())
    assert found.units is not None
    assert found.units.limit.rows == 1
    assert (drugs.dataset, drugs.table, drugs.rows, drugs.numbers[0].above) == ("visits", "drugs", 4, 2)
    assert drugs.units is not None
    assert (drugs.units.rows_without, drugs.units.limit.limit, drugs.units.limit.rows) == (1, 2, 1)
    assert [(one.column, one.made_of, one.missing) for one in drugs.made] == [("half", "dose / 2", 0)]
    assert drugs.seconds is not None
    assert found.data()["others"][0]["table"] == "drugs"


def test_ids_that_a_file_lost_are_shouted_about(tmp_path: Path) -> None:
    """Ids of twenty digits in decimals of more than 38 are read as floats, and so not at all: check says so."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    ids = [Decimal(12345678901234567890 + one) for one in range(9)]
    parquet.write_table(pyarrow.table({"who": [*ids, Decimal(10**40)], "age": [1] * 10}), tmp_path / "visits.parquet")
    text = (
        f"[dataset]\nname = 'visits'\nsource = '{tmp_path / 'visits.parquet'}'\nunit = 'who'\nmax_rows_per_unit = 1\n"
        "[columns.age]\nbounds = '[0, 9] step 1'\n[budget]\ntotal = 1\n"
    )
    with Dataset.parse(text) as dataset:
        found = Inspection.of(dataset)
    assert [(one.column, one.unread, one.values) for one in found.hardly_read] == [("who", 10, 10)]
    assert not found.is_readable
