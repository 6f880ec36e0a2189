"""Bounds are found out once, for epsilon, and stand in the contract afterwards."""

from __future__ import annotations

import tomllib
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbounds.bounds import Bounds
from inbounds.errors import InboundsError, InvalidContract
from inbounds.query import Dataset
from inbounds.query.ask.discovering.bounds_discovery import round_outwards
from inbounds.query.columns.column import Numbers, refuse_column
from tests.query.ask.discovering.test_limit_discovery import watch_plans

CONTRACT = """\
[dataset]
name = "trips"
source = "trips.{ending}"
unit = "person"
max_rows_per_unit = 2
[columns.age]
bounds = "[0, 99] step 1"
[budget]
total = 500
[tables.stops]
source = "stops.parquet"
[tables.stops.columns.place]
keys = ["x"]
"""
WIDE = "[0, 10000] step 1"
SURE = 100
"""An epsilon at which 10 rows of rank are missed with a probability below 1e-80."""


def made(folder: Path, ending: str = "parquet", text: str = CONTRACT) -> Path:
    """Write 2,000 trips that cost 21 to 180, on days from May to July, all their stops, and the contract."""
    duckdb.sql(
        "COPY (SELECT i // 2 AS person, i % 99 AS age, 21 + i % 160 AS cost, (21 + i % 160) / 8 AS rate, "
        f"DATE '2026-05-10' + (i % 70)::INT AS day FROM range(2000) t(i)) TO '{folder}/trips.{ending}'"
    )
    duckdb.sql(f"COPY (SELECT i AS person, 'x' AS place, i AS length FROM range(500) t(i)) TO '{folder}/stops.parquet'")
    path = folder / "trips.toml"
    path.write_text(text.format(ending=ending), encoding="utf-8")
    return path


def spent(trips: Dataset) -> Any:
    """Return what was spent."""
    return trips.ledger.balance("trips").spent


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("column", "within", "bounds"),
    [
        ("cost", WIDE, "[20, 180] step 1"),
        ("rate", "[0, 1000] step 0.125", "[2, 23] step 0.125"),
        ("day", "[2020-01-01, 2029-12-31]", "[2026-05-01, 2026-07-31]"),
    ],
)
def test_bounds_are_outer_quantiles_on_round_numbers(
    tmp_path: Path, ending: str, column: str, within: str, bounds: str
) -> None:
    """Nearly all values lie in them, of numbers and of days, in files of any kind; the charge is epsilon alone."""
    with Dataset.load(made(tmp_path, ending)) as trips:
        found = trips.discover_bounds(column, SURE, analyst="ana", within=within)
        assert str(found.bounds) == bounds
        assert spent(trips) == found.epsilon == SURE
        (charge,) = [entry for entry in trips.ledger.statement("trips").entries if entry.kind == "charge"]
        assert not charge.delta


def test_the_question_is_the_ordinary_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two quantiles in order are planned and run: the statement and the mechanism are those of asking for them."""
    plans = watch_plans(monkeypatch)
    path = made(tmp_path)
    with Dataset.load(path) as trips:
        trips.discover_bounds("cost", 1, analyst="ana", within=WIDE, outside=0.05)
    text = f'{CONTRACT.format(ending="parquet")}[columns.cost]\nbounds = "{WIDE}"\n'
    path.write_text(text, encoding="utf-8")
    with Dataset.load(path) as wide:
        asked = wide.quantiles("cost", [0.05, 0.95]).plan(1)
    (plan,) = plans
    assert plan.sql == asked.sql
    assert plan.answering == asked.answering
    assert plan.epsilon == 1


def test_the_same_request_is_free_also_once_it_stands_there(tmp_path: Path) -> None:
    """Asked again with its id, they are the same bounds at no cost, before and after the contract has them."""
    path = made(tmp_path)
    asked: dict[str, Any] = {"analyst": "ana", "within": WIDE, "request_id": "bounds"}
    with Dataset.load(path) as trips:
        found = trips.discover_bounds("cost", 1, **asked)
        assert trips.discover_bounds("cost", 1, **asked) == found
    written = found.write_into(path.read_text("utf-8"))
    path.write_text(written, encoding="utf-8")
    with Dataset.load(path) as trips:
        trips.record_terms(found.reason)
        terms = trips.recorded_terms()
        assert terms is not None
        assert terms["column cost"] == str(found.bounds)
        assert trips.discover_bounds("cost", 1, **asked) == found
        assert found.write_into(written) == written
        with pytest.raises(InboundsError, match="already describes"):
            trips.discover_bounds("cost", 1, analyst="ana", within=WIDE)
        assert spent(trips) == 1
        trips.mean("cost").ask(1, analyst="ana")


def test_what_is_written_says_what_it_cost_and_cuts(tmp_path: Path) -> None:
    """The section has the bounds, with comments; everything else stays as it was."""
    path = made(tmp_path)
    before = path.read_text("utf-8")
    with Dataset.load(path) as trips:
        found = trips.discover_bounds("cost", SURE, analyst="ana", within=WIDE, request_id="bounds")
    written = found.write_into(before)
    assert written.startswith(before)
    assert (
        "# discovered for epsilon 100: request id bounds\n# expected loss: about 1 % of the rows lie below" in written
    )
    content = tomllib.loads(before)
    content["columns"]["cost"] = {"bounds": "[20, 180] step 1"}
    assert tomllib.loads(written) == content


def test_columns_of_another_table_have_bounds_too(tmp_path: Path) -> None:
    """Of another private table they are asked, and written there."""
    path = made(tmp_path)
    with Dataset.load(path) as trips:
        found = trips.rows_of("stops").discover_bounds("length", SURE, analyst="ana", within=WIDE)
    path.write_text(found.write_into(path.read_text("utf-8")), encoding="utf-8")
    with Dataset.load(path) as trips:
        assert "length" in trips.rows_of("stops").table.columns


def test_what_can_be_refused_is_refused_before_the_charge(tmp_path: Path) -> None:
    """Bad parameters, columns that are not there, and contracts that could not be written cost nothing."""
    with Dataset.load(made(tmp_path)) as trips:
        for column, told in (("nowhere", "no such column"), ("age", "already"), ("person", "already")):
            with pytest.raises(InboundsError, match=told):
                trips.discover_bounds(column, 1, analyst="ana", within=WIDE)
        for within in ("[0, inf)", "[0, 1] | [3, 4]", "[3, 3]", "0-100", "[0, 1e40] step 1"):
            with pytest.raises(InboundsError):
                trips.discover_bounds("cost", 1, analyst="ana", within=within)
        for outside in (0, 0.5, -1, "much"):
            with pytest.raises(InboundsError, match="outside"):
                trips.discover_bounds("cost", 1, analyst="ana", within=WIDE, outside=outside)
        with pytest.raises(InboundsError):
            trips.discover_bounds("cost", 0, analyst="ana", within=WIDE)
        with pytest.raises(InboundsError, match="of the contract"):
            trips.per_unit(n="COUNT(*)").discover_bounds("cost", 1, analyst="ana", within=WIDE)
        assert spent(trips) == 0
    inline = CONTRACT.replace('[columns.age]\nbounds = "[0, 99] step 1"', "")
    inline = f'columns = {{{{ age = {{{{ bounds = "[0, 99] step 1" }}}} }}}}\n{inline}'
    with (
        Dataset.load(made(tmp_path, text=inline)) as trips,
        pytest.raises(InvalidContract, match="section with a line"),
    ):
        trips.discover_bounds("cost", 1, analyst="ana", within=WIDE)


WIDER = [
    Bounds.parse(text)
    for text in (
        "[0, 1000000] step 1",
        "[-1000, 70000] step 3",
        "[0.5, 99.5] step 1 offset 0.5",
        "[0, 1] step 0.01",
        "[0, 1] step 1",
        "[1000000000, 2000000000]",
        "[-5, 1e-3]",
        "[2026-01-31, 2026-03-01]",
        "[0001-01-01, 9999-12-31]",
    )
]


@given(st.sampled_from(WIDER), st.lists(st.floats(0, 1), min_size=2, max_size=2))
def test_rounding_goes_outwards_and_stays_within(wider: Bounds, places: list[float]) -> None:
    """Whatever two values come out, a contract can have the bounds, which hold both and lie within the wide ones."""
    wide = Numbers("x", wider)
    steps = sorted(round(place * wide.steps) for place in places)
    low, high = (wide.value(step) for step in steps)
    first, last = (date.fromordinal(int(end)) if wider.is_dates else float(end) for end in (low, high))
    found = Numbers("x", round_outwards(first, last, wide))
    assert refuse_column(found) is None
    assert wide.ends[0] <= found.ends[0] < found.ends[1] <= wide.ends[1]
    slack = Fraction(0) if wider.step is not None else Fraction(1, 10**5)  # ends as doubles
    assert found.ends[0] <= low + slack
    assert found.ends[1] >= high - slack
    assert found.bounds.step == wider.step
    assert Bounds.parse(str(found.bounds)) == found.bounds


@pytest.mark.parametrize(
    ("low", "high", "rounded"),
    [
        (2, 88, "[0, 90] step 1"),
        (21, 178, "[20, 180] step 1"),
        (1234, 5678, "[1200, 5800] step 1"),
        (7, 7, "[6, 8] step 1"),
        (0, 0, "[0, 1] step 1"),
        (1_000_000, 1_000_000, "[999999, 1000000] step 1"),
        (3, 999_999, "[0, 1000000] step 1"),
    ],
)
def test_the_rule_of_rounding(low: int, high: int, rounded: str) -> None:
    """Ends are multiples of 1, 2 or 5 times a power of ten, at most a tenth of their distance."""
    assert str(round_outwards(low, high, Numbers("x", WIDER[0]))) == rounded
