"""Answers of which a condition leaves some groups: those rows and no others, and what is added up stays right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query.methods.joint.joint_table import JointTable
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.sparing import sparing

COLUMNS = """
[columns.age]
bounds = "[0, 9] step 1"
[columns.pay]
bounds = "[0, 100]"
[columns.sex]
keys = ["f", "m"]
[columns.region]
keys = ["x", "y"]
[columns.place]
keys = ["a", "b", "c", "d"]
within = "region"
map = {a = "x", b = "x", c = "y", d = "y"}
"""
TYPES = "who BIGINT, age BIGINT, pay DOUBLE, sex VARCHAR, region VARCHAR, place VARCHAR"
ROWS = [(i, i % 10, float(i % 100), "fm"[i % 2], "xxyy"[i % 4] if i % 7 else None, "abcd"[i % 4]) for i in range(2000)]


@pytest.fixture(params=["row", "who"])
def playground(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Playground]:
    """A table with a row for each person."""
    with Playground(contract(COLUMNS, unit=request.param), TYPES, tmp_path / "ledger.db") as found:
        found.fill(ROWS)
        yield found


def keys(rows: Any, count: int = 1) -> list[Any]:
    """Return the keys of the rows of an answer."""
    return [row[:count] if count > 1 else row[0] for row in rows]


MEASURES = ["COUNT(*)", "COUNT(DISTINCT who)", "SUM(pay)", "AVG(pay)", "MEDIAN(pay)", "VARIANCE(pay)", "CORR(pay, age)"]
MEASURES += ["COUNT(DISTINCT place)", "QUANTILES(pay, 0.2, 0.8)", "COUNT(*), SUM(pay), AVG(pay)"]
MEASURES += ["AVG(CASE WHEN sex = 'f' THEN 1 ELSE 0 END)"]


@pytest.mark.slow
@pytest.mark.parametrize("measure", sparing(MEASURES, 7))
def test_every_measure_answers_the_groups_that_are_left(playground: Playground, measure: str) -> None:
    """Whatever is measured, the answer has a row for each key that the condition leaves, near to the truth."""
    if measure == "COUNT(DISTINCT who)" and playground.dataset.table.rows_are_units:
        return
    query = playground.dataset.sql(f"SELECT age, {measure} FROM visits WHERE age >= 7 AND age <> 8 GROUP BY age")
    assert keys(query.ask(50, analyst="ana").rows) == [7, 9]
    assert len(query.plans(50)[0].totals([])) == (8 if "DISTINCT place" in measure else 2)


@pytest.mark.slow
def test_cells_alone_and_together_are_those_that_are_left(playground: Playground) -> None:
    """Alone and in a table that adds up, counts are those of the groups that are left: 200 of each age."""
    query = playground.dataset.count().by("age").where("age < 3")
    for asked in (query, query.alone()):
        answer = asked.ask(50, analyst="ana")
        assert keys(answer.rows) == [0, 1, 2]
        assert all(abs(row[1] - 200) < 10 for row in answer.rows)


@pytest.mark.slow
def test_a_histogram_and_a_distribution_have_the_bins_that_are_left(playground: Playground) -> None:
    """Bins that the condition rules out are not answered; shares rise to 1 over the others."""
    histogram = playground.dataset.sql("SELECT HISTOGRAM(pay, 10) FROM visits WHERE pay >= 75").ask(50, analyst="ana")
    assert len(histogram.rows) == 3
    shares = playground.dataset.sql("SELECT CDF(age) FROM visits WHERE age IN (2, 3, 7)").ask(50, analyst="ana")
    assert keys(shares.rows) == [2, 3, 7]
    assert [row[1] for row in shares.rows] == pytest.approx([1 / 3, 2 / 3, 1], abs=0.02)


@pytest.mark.slow
def test_totals_add_up_over_the_cells_that_are_left(playground: Playground) -> None:
    """With totals, cells that cannot be are in no row, and every total is the sum of the rows that it is of."""
    playground.fill(ROWS)
    sql = (
        "SELECT age, sex, COUNT(*) FROM visits WHERE (age < 2 AND sex = 'f') OR (age = 5 AND sex = 'm') OR age = 8 "
        "GROUP BY CUBE(age, sex)"
    )
    query = playground.dataset.sql(sql)
    rows = {row[:2]: row[2] for row in query.ask("0.5", analyst="ana").rows}
    cells = {key: value for key, value in rows.items() if None not in key}
    assert set(cells) == {(0, "f"), (1, "f"), (5, "m"), (8, "f"), (8, "m")}
    for age in (0, 1, 5, 8):
        assert rows[age, None] == sum(value for key, value in cells.items() if key[0] == age)
    for sex in "fm":
        assert rows[None, sex] == sum(value for key, value in cells.items() if key[1] == sex)
    assert rows[None, None] == sum(cells.values())
    assert len(rows) == 5 + 4 + 2 + 1
    answering = query.plan(1).answering
    assert isinstance(answering, JointTable)
    assert answering.plan.layout.shape == (4, 2)  # ages that are ruled out for both are cut off


@pytest.mark.slow
def test_a_hierarchy_is_cut_with_its_keys(playground: Playground) -> None:
    """A region without a district that is left is in no total, and those that are left add up."""
    playground.fill([(i, 1, 1.0, "f", "xxyy"[i % 4], "abcd"[i % 4]) for i in range(400)])
    sql = "SELECT region, place, COUNT(*) FROM visits WHERE place IN ('c', 'd') GROUP BY ROLLUP(region, place)"
    rows = playground.dataset.sql(sql).ask(50, analyst="ana").rows
    assert keys(rows, 2) == [("y", "c"), ("y", "d"), ("y", None), (None, None)]
    assert rows[0][2] + rows[1][2] == rows[2][2] == rows[3][2]
    assert abs(rows[0][2] - 100) < 10


@pytest.mark.slow
def test_fewer_groups_have_less_noise_in_their_sum(playground: Playground) -> None:
    """The predicted noise of a total over the groups that are left is that of a table with these keys only."""
    few = playground.dataset.count().by("age").where("age < 2").with_totals().plan(1).answering
    every = playground.dataset.count().by("age").where("sex = 'f'").with_totals().plan(1).answering
    assert isinstance(few, JointTable)
    assert isinstance(every, JointTable)
    assert few.plan.layout.cells == 2
    assert few.sensitivity == every.sensitivity
    assert sum(few.plan.errors.values()) < sum(every.plan.errors.values())


@pytest.mark.slow
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT age, COUNT(*) FROM visits WHERE age > 20 GROUP BY age",
        "SELECT age, AVG(pay) FROM visits WHERE age < 3 AND age > 5 GROUP BY age",
        "SELECT sex, COUNT(*) FROM visits WHERE place LIKE 'z%' GROUP BY ROLLUP(sex)",
        "SELECT place, MEDIAN(pay) FROM visits WHERE region = 'x' AND place = 'd' GROUP BY place",
        "SELECT HISTOGRAM(pay, 5) FROM visits WHERE pay < 0",
        "SELECT COUNT(DISTINCT place) FROM visits WHERE region = 'x' AND place = 'd'",
    ],
)
def test_a_question_without_a_group_is_refused_free_of_charge(playground: Playground, sql: str) -> None:
    """If no group can meet the condition, nothing is planned, charged or read."""
    playground.dataset.count().ask(1, analyst="ana")
    before = playground.dataset.ledger.balance("visits").spent
    for way in ("ask", "explain"):
        with pytest.raises(InvalidQuestion, match=r"no (group|category) .*can meet the condition"):
            getattr(playground.dataset.sql(sql), way)(1, analyst="ana")
    assert playground.dataset.ledger.balance("visits").spent == before


@pytest.mark.slow
def test_a_group_that_no_key_can_be_in_counts_none(playground: Playground) -> None:
    """Where rows of a group have no key that is counted, the group stays, and its number of keys is 0."""
    sql = "SELECT sex, COUNT(DISTINCT place) FROM visits WHERE sex = 'f' OR place IS NULL GROUP BY sex"
    answer = playground.dataset.sql(sql).ask(50, analyst="ana")
    assert keys(answer.rows) == ["f", "m"]
    assert answer.rows[1][1] == 0
    assert answer.intervals[1][0] == (0, 0)


@pytest.mark.slow
def test_an_answer_that_was_stored_keeps_its_rows(playground: Playground, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that was answered for every key gives the same answer again, for nothing."""
    sql = "SELECT age, COUNT(*) FROM visits WHERE age >= 8 GROUP BY age ORDER BY age DESC"
    with monkeypatch.context() as before:
        before.setattr("inbounds.query.question.question.possible_finest", lambda *_: None)
        first = playground.dataset.sql(sql).ask(1, analyst="ana", request_id="r")
    assert len(first.rows) == 10
    assert playground.dataset.sql(sql).ask(1, analyst="ana", request_id="r").rows == first.rows


@pytest.mark.slow
def test_what_is_owned_is_added_up_over_the_groups_that_are_left(playground: Playground) -> None:
    """A sum of a table of which cells were left out is that of its rows, and a part of one has the keys asked for."""
    dataset = playground.dataset
    table = dataset.count().by("age", "place").where("age >= 8 AND place <> 'a'").ask(1, analyst="ana")
    assert len(table.rows) == 6
    coarse = dataset.count().by("region").where("age >= 8 AND place <> 'a'").owned("ana")
    assert coarse is not None
    assert {row[0]: row[1] for row in coarse.rows} == {
        region: sum(row[2] for row in table.rows if row[1] in places) for region, places in (("x", "b"), ("y", "cd"))
    }
    if dataset.table.rows_are_units:
        part = dataset.count().by("place").where("age >= 8 AND place <> 'a' AND region = 'y'").owned("ana")
        assert part is not None
        assert keys(part.rows) == ["c", "d"]


def test_combinations_that_cannot_be_stay_so_under_a_condition(tmp_path: Path) -> None:
    """Public zeros of the contract are of the same keys after others were cut off."""
    known = '[known]\nzeros = [{ sex = "m", place = "c" }, { sex = "m", place = "a" }]\n'
    with Playground(contract(COLUMNS + known), TYPES, tmp_path / "ledger.db") as playground:
        playground.fill([(i, 1, 1.0, "f", "y", "cd"[i % 2]) for i in range(100)])
        query = playground.dataset.count().by("place", "sex").where("region = 'y'")
        for _ in range(10):
            rows = {row[:2]: row[2] for row in query.ask("0.05", analyst="ana").rows}
            assert list(rows) == [("c", "f"), ("c", "m"), ("d", "f"), ("d", "m")]
            assert rows["c", "m"] == 0
