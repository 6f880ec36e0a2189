"""A limit is found out once, for epsilon, and stands in the contract afterwards."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest

from inbounds.display.progress import Progress
from inbounds.errors import AnswerFailed, InboundsError, InvalidContract
from inbounds.query import Dataset
from inbounds.query.ask.discovering.limit_law import LimitLaw
from inbounds.query.ask.steps import Asking
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.quantiles.quantiles import QuantileByRank
from inbounds.query.tables.table import MOST_LIMIT

HEAD = """\
[dataset]
name = "trips"
source = "trips.parquet"
unit = "person"
"""
REST = """
[columns.age]
bounds = "[0, 99] step 1"
[budget]
total = 500
[tables.stops]
source = "stops.parquet"
[tables.stops.columns.minutes]
bounds = "[0, 60] step 1"
"""
LIMIT = "max_rows_per_unit = 1  # a guess\n"
SURE = 50
"""An epsilon at which 8 units of rank are missed with a probability below 1e-80."""


def made(folder: Path, head: str = HEAD + LIMIT) -> Path:
    """Write trips of 600 people, 580 of whom have three and 20 have seven, their stops, and the contract."""
    duckdb.sql(
        "COPY (SELECT i AS person, i % 99 AS age FROM range(600) t(i), range(7) s(j) WHERE j < 3 OR i < 20) "
        f"TO '{folder}/trips.parquet'"
    )
    duckdb.sql(
        f"COPY (SELECT i AS person, j AS minutes FROM range(600) t(i), range(2) s(j)) TO '{folder}/stops.parquet'"
    )
    path = folder / "trips.toml"
    path.write_text(head + REST, encoding="utf-8")
    return path


def spent(trips: Dataset) -> Any:
    """Return what was spent."""
    return trips.ledger.balance("trips").spent


def watch_plans(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Return the plans that are run from now on."""
    plans: list[Plan] = []
    run = Asking.run

    def watched(self: Asking, made: Sequence[Plan], report: Progress) -> list[Any]:
        plans.extend(made)
        return run(self, made, report)

    monkeypatch.setattr(Asking, "run", watched)
    return plans


@pytest.mark.parametrize(("level", "limit"), [(0.5, 3), (0.9, 3), (0.98, 7)])
def test_a_limit_is_a_quantile_of_rows_per_unit(tmp_path: Path, level: float, limit: int) -> None:
    """That share of units stays within it, whatever limit the contract has, and the charge is epsilon alone."""
    with Dataset.load(made(tmp_path)) as trips:
        found = trips.discover_limit(SURE, analyst="ana", level=level)
        assert found.limit == limit
        assert spent(trips) == found.epsilon == SURE
        assert trips.ledger.verify().ok
        (charge,) = [entry for entry in trips.ledger.statement("trips").entries if entry.kind == "charge"]
        assert not charge.delta


def test_the_question_is_the_ordinary_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One quantile over units is planned and run: the statement and the mechanism are those of asking for it."""
    plans = watch_plans(monkeypatch)
    with Dataset.load(made(tmp_path)) as trips:
        trips.discover_limit(1, analyst="ana", level=0.9, most=64)
        asked = trips.per_unit(rows="GREATEST(LEAST(COUNT(*), 64), 1)").quantile("rows", 0.9).plan(1)
    (plan,) = plans
    assert plan.sql == asked.sql
    assert plan.answering == asked.answering
    assert isinstance(plan.answering, QuantileByRank)
    assert plan.answering.epsilon == plan.answering.limit == 1


def test_the_same_request_is_free_also_once_it_stands_there(tmp_path: Path) -> None:
    """Asked again with its id, it is the same limit at no cost, before and after the contract has it."""
    path = made(tmp_path)
    with Dataset.load(path) as trips:
        found = trips.discover_limit(0.5, analyst="ana", request_id="limit")
        assert trips.discover_limit(0.5, analyst="ana", request_id="limit") == found
        assert spent(trips) == found.epsilon
    path.write_text(found.write_into(path.read_text("utf-8")), encoding="utf-8")
    with Dataset.load(path) as trips:
        trips.record_terms(found.reason)
        assert trips.discover_limit(0.5, analyst="ana", request_id="limit") == found
        assert spent(trips) == found.epsilon
        with pytest.raises(InboundsError, match="request"):
            trips.discover_limit(0.5, analyst="ana", level=0.5, request_id="limit")


def test_a_contract_may_say_no_limit_yet(tmp_path: Path) -> None:
    """It is opened for that on request only, under the largest limit; what is found makes it a contract like others."""
    path = made(tmp_path, HEAD)
    with pytest.raises(InvalidContract, match="inbounds discover limit"):
        Dataset.load(path)
    with Dataset.load(path, without_limit=True) as trips:
        assert {name: table.limit for name, table in trips.tables.private.items()} == {"trips": 1, "stops": MOST_LIMIT}
        found = trips.discover_limit(SURE, analyst="ana", request_id="limit")
    path.write_text(found.write_into(path.read_text("utf-8")), encoding="utf-8")
    with Dataset.load(path) as trips:
        trips.record_terms(found.reason)
        assert trips.table.limit == 3
        terms = trips.recorded_terms()
        assert terms is not None
        assert terms["max_rows_per_unit"] == "3"
        assert trips.discover_limit(SURE, analyst="ana", request_id="limit") == found


def test_a_table_alone_has_the_largest_limit_until_it_says_one(tmp_path: Path) -> None:
    """Without other private tables nothing implies a limit, so the largest stands for the one to be found."""
    path = made(tmp_path, HEAD)
    path.write_text((HEAD + REST).partition("[tables")[0], encoding="utf-8")
    with Dataset.load(path, without_limit=True) as trips:
        assert trips.table.limit == MOST_LIMIT


def test_limits_can_be_found_one_after_the_other(tmp_path: Path) -> None:
    """The limit that is implied for the table of the units counts: whichever others lack one, each can be found."""
    path = made(tmp_path, HEAD)
    legs = REST[REST.index("[tables.stops]") :].replace("stops]", "legs]").replace("stops.col", "legs.col")
    path.write_text(path.read_text("utf-8") + legs, encoding="utf-8")
    for table in ("stops", "legs", "stops"):
        with Dataset.load(path, without_limit=True) as trips:
            found = trips.rows_of(table).discover_limit(SURE, analyst="ana")
        path.write_text(found.write_into(path.read_text("utf-8")), encoding="utf-8")
        with Dataset.load(path, without_limit=True) as trips:
            trips.record_terms(found.reason)
    with Dataset.load(path) as trips:
        assert {name: table.limit for name, table in trips.tables.private.items()} == {
            "trips": 1,
            "stops": 2,
            "legs": 2,
        }
        assert spent(trips) == 3 * SURE
        assert trips.discover_limit(SURE, analyst="ana").limit == 3


def test_a_unit_may_have_any_name(tmp_path: Path) -> None:
    """A unit that is called as rows are counted is no obstacle."""
    text = (HEAD + REST).partition("[tables")[0].replace('"person"', '"rows"')
    frame = pyarrow.table({"rows": [1, 1, 2, 2], "age": [1, 2, 3, 4]})
    with Dataset.parse(text, frame=frame, ledger=tmp_path / "ledger.db", without_limit=True) as trips:
        assert 1 <= trips.discover_limit(1, analyst="ana", most=8).limit <= 8


def test_a_limit_on_record_is_not_dropped(tmp_path: Path) -> None:
    """Where the ledger knows a limit and the contract says none, the refusal names the number to write back."""
    path = made(tmp_path)
    with Dataset.load(path) as trips:
        assert spent(trips) == 0
    path.write_text(HEAD + REST, encoding="utf-8")
    with (
        Dataset.load(path, without_limit=True) as trips,
        pytest.raises(InvalidContract, match="max_rows_per_unit = 1 on record"),
    ):
        trips.discover_limit(1, analyst="ana")


def test_what_is_over_another_limit_is_taken_out_first(tmp_path: Path) -> None:
    """A limit below the one that public facts are about would make no contract: that is refused before the charge."""
    path = made(tmp_path, HEAD + "max_rows_per_unit = 4\n")
    path.write_text(path.read_text("utf-8") + "[known.over_limit]\nlimit = 4\nrows = 60\n", encoding="utf-8")
    with Dataset.load(path) as trips:
        for least_error in (False, True):
            with pytest.raises(InvalidContract, match="take it out of the contract"):
                trips.discover_limit(1, analyst="ana", least_error=least_error)
        assert spent(trips) == 0


def test_a_frame_can_be_asked_too(tmp_path: Path) -> None:
    """Of a table that the program hands over, under the text of a contract, a limit and bounds are found alike."""
    numbers = range(3000)
    columns = {
        "person": [i // 3 for i in numbers],
        "age": [i % 99 for i in numbers],
        "cost": [20 + i % 61 for i in numbers],
    }
    frame = pyarrow.table(columns)
    text = (HEAD + REST).partition("[tables")[0]
    with Dataset.parse(text, frame=frame, ledger=tmp_path / "ledger.db", without_limit=True) as trips:
        found = trips.discover_limit(SURE, analyst="ana")
        assert found.limit == 3
    with Dataset.parse(found.write_into(text), frame=frame, ledger=tmp_path / "ledger.db") as trips:
        trips.record_terms(found.reason)
        bounds = trips.discover_bounds("cost", SURE, analyst="ana", within="[0, 1000] step 1").bounds
        assert str(bounds) == "[20, 80] step 1"


def test_what_is_written_says_what_it_cost_and_cuts(tmp_path: Path) -> None:
    """The limit is replaced, with comments that are replaced the next time; everything else stays as it was."""
    path = made(tmp_path)
    before = path.read_text("utf-8")
    with Dataset.load(path) as trips:
        found = trips.discover_limit(SURE, analyst="ana", request_id="limit")
    once = found.write_into(before)
    assert (
        "# discovered for epsilon 50: request id limit\n# expected loss: about 5 % of the units (person) have" in once
    )
    assert "max_rows_per_unit = 3\n" in once
    assert "a guess" not in once
    assert found.write_into(once) == once
    content = tomllib.loads(before)
    content["dataset"]["max_rows_per_unit"] = 3
    assert tomllib.loads(once) == content


def test_another_table_has_its_own(tmp_path: Path) -> None:
    """Of another private table it is asked, and written there."""
    path = made(tmp_path)
    with Dataset.load(path) as trips:
        found = trips.rows_of("stops").discover_limit(SURE, analyst="ana")
    assert found.limit == 2
    written = tomllib.loads(found.write_into(path.read_text("utf-8")))
    assert written["tables"]["stops"]["max_rows_per_unit"] == 2
    assert written["dataset"]["max_rows_per_unit"] == 1


def test_what_can_be_refused_is_refused_before_the_charge(tmp_path: Path) -> None:
    """Bad parameters, tables without a limit of their own, and contracts that could not be written cost nothing."""
    inline = 'dataset = { name = "trips", source = "trips.parquet", unit = "person", max_rows_per_unit = 1 }\n'
    with Dataset.load(made(tmp_path)) as trips:
        refused: list[dict[str, Any]] = [
            {"level": 1},
            {"level": "much"},
            {"most": 1},
            {"most": MOST_LIMIT + 1},
            {"most": 2.5},
            {"next_epsilon": 1},
            {"least_error": True, "level": 0.9},
            {"least_error": True, "next_epsilon": 0},
            {"least_error": True, "next_epsilon": "much"},
            {"least_error": True, "most": 2049},
        ]
        for other in refused:
            with pytest.raises(InboundsError):
                trips.discover_limit(1, analyst="ana", **other)
        with pytest.raises(InboundsError):
            trips.discover_limit(0, analyst="ana")
        for table in (trips.per_unit(n="COUNT(*)"), trips.join("stops")):
            with pytest.raises(InboundsError, match="of the contract"):
                table.discover_limit(1, analyst="ana")
        assert spent(trips) == 0
    with Dataset.load(made(tmp_path, inline)) as trips, pytest.raises(InvalidContract, match="section with a line"):
        trips.discover_limit(1, analyst="ana")
    path = tmp_path / "rows.toml"
    path.write_text((HEAD + REST).partition("[tables")[0].replace('"person"', '"row"'), encoding="utf-8")
    with Dataset.load(path, without_limit=True) as rows, pytest.raises(InboundsError, match="nothing to discover"):
        rows.discover_limit(1, analyst="ana")


@pytest.mark.parametrize(("next_epsilon", "least"), [(100, 8), (0.025, 4)])
def test_a_limit_may_be_the_one_of_least_error(tmp_path: Path, next_epsilon: float, least: int) -> None:
    """With little noise to come nobody is cut; with much, those 20 with seven may be: 1 / (2 * 0.025) are tolerated."""
    path = made(tmp_path)
    with Dataset.load(path) as trips:
        found = trips.discover_limit(
            SURE, analyst="ana", least_error=True, next_epsilon=next_epsilon, request_id="limit"
        )
        assert found.limit in {2**j for j in range(11) if 2**j >= least}
        assert spent(trips) == found.epsilon == SURE
        (charge,) = [entry for entry in trips.ledger.statement("trips").entries if entry.kind == "charge"]
        assert not charge.delta
    path.write_text(found.write_into(path.read_text("utf-8")), encoding="utf-8")
    assert "# expected loss: with 95 % confidence at most" in path.read_text("utf-8")
    with Dataset.load(path) as trips:
        trips.record_terms(found.reason)
        again = trips.discover_limit(
            SURE, analyst="ana", least_error=True, next_epsilon=next_epsilon, request_id="limit"
        )
        assert again == found
        assert spent(trips) == SURE
        with pytest.raises(InboundsError, match="request"):
            trips.discover_limit(SURE, analyst="ana", least_error=True, next_epsilon=3, request_id="limit")
        with pytest.raises(InboundsError, match="request"):
            trips.discover_limit(SURE, analyst="ana", request_id="limit")


def test_the_count_that_follows_has_four_fifths(tmp_path: Path) -> None:
    """If nothing else is said, the choice costs a fifth of both together."""
    with Dataset.load(made(tmp_path)) as trips:
        found = trips.rows_of("stops").discover_limit(SURE, analyst="ana", most=2, least_error=True)
    assert found.limit == 2
    assert found.aim.data() == {"next_epsilon": 4 * SURE}


def test_units_are_counted_by_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn from is how many units have each number of rows, those with more than the cap together."""
    seen: list[Sequence[int]] = []

    def watched(_: LimitLaw, units: Sequence[int], *_others: Any) -> int:
        seen.append(units)
        return 4

    monkeypatch.setattr(LimitLaw, "draw", watched)
    with Dataset.load(made(tmp_path)) as trips:
        trips.discover_limit(1, analyst="ana", least_error=True, most=4)
        trips.discover_limit(1, analyst="ana", least_error=True, most=8)
    assert [list(units) for units in seen] == [[0, 0, 580, 0, 20], [0, 0, 580, 0, 0, 0, 20, 0, 0]]


def test_a_choice_that_fails_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong after the draw of a least error is told again under its id, and nothing is drawn anew."""

    def fail(*_: Any) -> None:
        raise ValueError("a secret")

    with Dataset.load(made(tmp_path)) as trips:
        with monkeypatch.context() as patch:
            patch.setattr(LimitLaw, "draw", fail)
            with pytest.raises(AnswerFailed) as told:
                trips.discover_limit(1, analyst="ana", least_error=True, request_id="limit")
        assert "secret" not in str(told.value)
        with pytest.raises(AnswerFailed):
            trips.discover_limit(1, analyst="ana", least_error=True, request_id="limit")
        assert spent(trips) == 1


def test_a_draw_that_fails_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong after the draw is told again under its id, and nothing is drawn or charged anew."""

    def fail(*_: Any) -> None:
        raise ValueError("a secret")

    with Dataset.load(made(tmp_path)) as trips:
        with monkeypatch.context() as patch:
            patch.setattr(QuantileByRank, "answer", fail)
            with pytest.raises(AnswerFailed) as told:
                trips.discover_limit(1, analyst="ana", request_id="limit")
        assert "secret" not in str(told.value)
        with pytest.raises(AnswerFailed):
            trips.discover_limit(1, analyst="ana", request_id="limit")
        assert spent(trips) == 1


def test_the_dataset_stays_as_it_was(tmp_path: Path) -> None:
    """Afterwards the same dataset is asked under its own contract, from its own ledger."""
    with Dataset.load(made(tmp_path)) as trips:
        trips.discover_limit(1, analyst="ana")
        assert trips.table.limit == 1
        trips.count().ask(1, analyst="ana")
        assert spent(trips) == 2
