"""What an analyst owns already: sums and parts of tables that add up are right, free, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inbounds.query import Answer, Dataset, Query
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.town_tables import COLUMNS, ROWS, TYPES


@pytest.fixture(params=[("row", 1), ("who", 3)], ids=["rows", "units"])
def towns(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Playground]:
    """A table of 90 rows, and a ledger."""
    unit, limit = request.param
    with Playground(contract(COLUMNS, unit=unit, limit=limit), TYPES, tmp_path / "ledger.db") as found:
        found.fill(ROWS)
        yield found


def values(answer: Answer | None) -> dict[tuple[Any, ...], Any]:
    """Return what an answer says of each of its keys."""
    assert answer is not None
    return {row[:-1]: row[-1] for row in answer.rows}


def test_sums_are_free_and_right(towns: Playground) -> None:
    """Every coarser grouping of an owned table is the sum of its rows; nothing is charged and no row looked at."""
    dataset = towns.dataset
    owned = values(dataset.count().by("street", "sex").ask(1, analyst="ana", request_id="mine"))
    towns.fill([])
    entries = len(dataset.ledger.statement().entries)
    assert values(dataset.count().owned("ana"))[()] == sum(owned.values())
    assert values(dataset.count().by("sex").owned("ana")) == {
        (sex,): sum(value for key, value in owned.items() if key[1] == sex) for sex in "fm"
    }
    city = sum(value for key, value in owned.items() if key[0] != "c")
    found = dataset.count().by("region", "district").with_totals().owned("ana")
    assert values(found)["city", None] == city
    assert values(found)["land", "hills"] == sum(owned.values()) - city
    assert found is not None
    assert (found.epsilon, found.request_id) == (Fraction(0), "mine")
    assert found.note is not None
    assert "rows outside the categories there are not included" in found.note
    assert dataset.ledger.balance("visits").spent == 1
    assert len(dataset.ledger.statement().entries) == entries


def test_parts_are_free_where_rows_are_units(towns: Playground) -> None:
    """A question about some keys is a part of a table; under a row limit it would weigh rows otherwise, and is not."""
    dataset = towns.dataset
    owned = values(dataset.count().by("district", "sex").ask(1, analyst="ana"))
    parts: dict[str, Any] = {
        "sex = 'f'": [key for key in owned if key[1] == "f"],
        "district IN ('hills', 'harbour')": [key for key in owned if key[0] != "old town"],
        "region <> 'city' AND sex = 'm'": [("hills", "m")],
    }
    for condition, keys in parts.items():
        found = dataset.count().where(condition).owned("ana")
        if dataset.table.rows_are_units:
            assert values(found)[()] == sum(owned[key] for key in keys)
        else:
            assert found is None


def test_sums_of_tenths_are_tenths(tmp_path: Path) -> None:
    """What is added up is what is written: sums in steps of a tenth have no other decimals."""
    columns = '[columns.place]\nkeys = [1, 2, 3, 4, 5]\n[columns.x]\nbounds = "[0, 5] step 0.1"\n'
    with Playground(contract(columns, unit="row"), "place BIGINT, x DOUBLE", tmp_path / "ledger.db") as playground:
        playground.fill([(i % 5 + 1, i % 51 / 10) for i in range(500)])
        asked = playground.dataset.sum("x")
        owned = asked.by("place").ask(1, analyst="ana")
        found = asked.owned("ana")
    assert found is not None
    assert found.value == round(found.value, 1) == pytest.approx(sum(row[-1] for row in owned.rows))


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        lambda d: d.sum("size"),
        lambda d: d.count_units().by("sex"),
        lambda d: d.count().by("street"),
        lambda d: d.count().where("size > 1"),
        lambda d: d.count().where("street = 'a'"),
        lambda d: d.count().where("sex IS NULL"),
        lambda d: d.count().where("sex = 'f' OR sex = 'm'"),
        lambda d: d.mean("size").by("sex"),
        lambda d: d.histogram("size", 3),
        lambda d: d.together(d.count(), d.sum("size")).by("sex"),
    ],
)
def test_what_does_not_follow_is_not_offered(towns: Playground, other: Any) -> None:
    """Other measures, finer groups, and conditions on anything but the keys of the table do not follow from it."""
    dataset = towns.dataset
    dataset.count().by("district", "sex").ask(1, analyst="ana")
    if towns.dataset.table.rows_are_units and str(other(dataset)).startswith("SELECT sex, COUNT(*)"):
        pytest.skip("each row is a unit, so that this is a count of rows")
    assert other(dataset).owned("ana") is None


def test_what_was_answered_alone_or_for_another_is_not_offered(towns: Playground) -> None:
    """Nobody owns what another analyst paid for, and cells that were answered alone do not add up."""
    dataset = towns.dataset
    dataset.count().by("sex").ask(1, analyst="bob")
    dataset.count().by("sex").alone().ask(1, analyst="ana", pooling=1)
    dataset.sql("SELECT sex, COUNT(*), SUM(size), SUM(cost) FROM visits GROUP BY sex").ask(1, analyst="ana")
    assert dataset.count().by("sex").owned("ana") is None
    assert dataset.count().by("sex").owned("carl") is None
    assert dataset.count().by("sex").owned("bob") is not None


def test_another_contract_owns_nothing(towns: Playground, tmp_path: Path) -> None:
    """Answers under another contract are answers about other numbers."""
    dataset = towns.dataset
    dataset.count().by("sex").ask(1, analyst="ana")
    text = dataset.contract.text.replace("[-3, 7]", "[-3, 8]")
    with Dataset.parse(text, ledger=tmp_path / "ledger.db") as other:
        assert other.count().by("sex").owned("ana") is None
        assert dataset.count().owned("ana") is not None


def test_bins_are_told_by_their_ends(tmp_path: Path) -> None:
    """A histogram tells its own bins and their sum, and no other bins or values of the column."""
    with Playground(contract(COLUMNS, unit="row"), TYPES, tmp_path / "ledger.db") as playground:
        playground.fill(ROWS)
        dataset = playground.dataset
        owned = values(dataset.histogram("size", 3).by("sex").ask(1, analyst="ana"))
        assert values(dataset.histogram("size", 3).owned("ana")) == {
            (label,): owned[label, "f"] + owned[label, "m"] for label, _ in owned
        }
        assert dataset.histogram("size", 2).owned("ana") is None
        assert dataset.count().by("size").owned("ana") is None
        assert values(dataset.count().owned("ana"))[()] == sum(owned.values())


def test_the_same_again_is_owned_with_its_intervals(towns: Playground) -> None:
    """The very table that is owned comes back as it is; an interval goes with what is one row of it."""
    asked = towns.dataset.sql("SELECT COUNT(*) FROM visits GROUP BY CUBE(district, sex)")
    first = asked.ask(1, analyst="ana", confidence=0.9)
    again = asked.owned("ana")
    assert again is not None
    assert (again.rows, again.noise, again.intervals) == (first.rows, first.noise, first.intervals)
    assert (again.confidence, again.note) == (0.9, None)
    part = towns.dataset.count().by("district").owned("ana")
    assert part is not None
    assert part.intervals == first.intervals[6:9]
    assert part.note == "Summed from answers by sex: rows outside the categories there are not included."


def test_a_ledger_is_not_made_by_looking(tmp_path: Path) -> None:
    """To look for what is owned, and to explain for an analyst, creates no ledger and enters no dataset."""
    with Playground(contract(COLUMNS, unit="row"), TYPES, tmp_path / "ledger.db") as playground:
        query: Query = playground.dataset.count().by("sex")
        assert query.owned("ana") is None
        assert query.explain(1, analyst="ana").owned is None
        assert list(tmp_path.iterdir()) == []


def test_an_explanation_says_that_it_is_free(towns: Playground) -> None:
    """Explained for whoever owns it, a question tells by which request, and that it costs nothing; for others not."""
    dataset = towns.dataset
    dataset.count().by("sex").ask(1, analyst="ana", request_id="mine")
    told = dataset.count().explain(1, analyst="ana")
    assert told.owned == "ana already has this, as a sum or a part of mine"
    assert "ask with an epsilon of 0" in " ".join(str(told).split())
    assert dataset.count().explain(1, analyst="bob").owned is None
    assert dataset.ledger.balance("visits").spent == 1


@pytest.mark.slow
def test_a_large_table_is_added_up_at_once(tmp_path: Path) -> None:
    """A table of thousands of rows is added up group by group, without comparing each row with each other."""
    columns = f"[columns.a]\nkeys = {list(range(200))}\n[columns.b]\nkeys = {list(range(100))}\n"
    with Playground(contract(columns, unit="row"), "a BIGINT, b BIGINT", tmp_path / "ledger.db") as playground:
        owned = values(playground.dataset.count().by("a", "b").ask(1, analyst="ana"))
        found = values(playground.dataset.count().by("b", "a").owned("ana"))
    assert found == {(b, a): value for (a, b), value in owned.items()}
