"""Groups that a condition rules out: never one that a row can be in, and no more than can be told without the rows."""

from __future__ import annotations

import random
from datetime import date, timedelta
from itertools import product
from typing import Any

import numpy as np
import pytest

from inbounds.query import Dataset, column, expression
from inbounds.query.columns.calendar_parts import PART, START
from inbounds.query.columns.integer_range import Range, against, part_of
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import ColumnRef
from inbounds.query.question.question import Question
from tests.helpers.audit_tables import contract
from tests.helpers.oracle import _Oracle

COLUMNS = """
[columns.n]
bounds = "[0, 5] step 1"
[columns.m]
bounds = "[-2, 2] step 1"
[columns.x]
bounds = "[0, 8]"
[columns.day]
bounds = "[2026-02-25, 2026-03-08]"
[columns.region]
keys = ["x", "y"]
[columns.place]
keys = ["a", "b", "c", "d"]
within = "region"
map = {a = "x", b = "x", c = "y", d = "y"}
"""
DAYS = [date(2026, 2, 25) + timedelta(days=i) for i in range(12)]
VALUES: dict[str, list[Any]] = {
    "n": [*range(6), None],
    "m": [*range(-2, 3), None],
    "x": [0.0, 0.9, 1.0, 1.5, 2.0, 3.3, 4.0, 5.0, 6.7, 7.999, 8.0, None],
    "day": [*DAYS, None],
    "region": ["x", "y", None],
    "place": ["a", "b", "c", "d", None],
}
REGION = dict(zip("abcd", "xxyy", strict=True))

NUMBERS = ["n", "m", "FLOOR(n / 2)", "n * m", "n + m", "n - 2 * m", "ABS(m)", "LEAST(n, 3)", "GREATEST(m, 0)"]
NUMBERS += ["COALESCE(m, 2)", "CASE WHEN n < 2 THEN m WHEN m > 0 THEN 1 END", "MONTH(day)", "WEEKDAY(day)"]
KEYS = ["region", "place", "UPPER(place)", "CASE WHEN n < 2 THEN 'low' WHEN m > 0 THEN 'up' END"]
KEYS += ["COALESCE(place, 'none')", "CASE WHEN region = 'x' THEN place ELSE 'other' END"]
GROUPS = [*NUMBERS, *KEYS, "day", "DATE_TRUNC('month', day)", "DATE_TRUNC('week', day)", "QUARTER(day)"]


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    """A dataset of which only the contract is looked at."""
    return Dataset.parse(contract(COLUMNS))


def named(text: str) -> Any:
    """Return a column, or one made of columns."""
    return column(text) if text.isidentifier() else expression(text)


def leaf(draw: random.Random, dataset: Dataset) -> Condition:
    """Return a comparison of some column with a constant."""
    kind = draw.randrange(10)
    if kind == 0:
        return named(draw.choice([*NUMBERS, *KEYS])).is_missing()
    if kind == 1:
        return column("day") >= draw.choice(DAYS)
    if kind == 2:
        return column("x") < draw.choice([1, 2, 3.3, 5, 9])
    if kind < 6:
        this = draw.choice(KEYS)
        keys = dataset.table.column(named(this)).keys  # type: ignore[union-attr]
        return named(this).is_in(draw.sample(keys, draw.randint(1, min(2, len(keys)))))
    this, value = named(draw.choice(NUMBERS)), draw.randint(-3, 6)
    return draw.choice([this < value, this <= value, this > value, this >= value, this == value, this != value])


def condition(draw: random.Random, dataset: Dataset, depth: int = 2) -> Condition:
    """Return a random condition."""
    kind = draw.randrange(5) if depth else 0
    if kind < 2:
        return leaf(draw, dataset)
    if kind == 2:
        return ~condition(draw, dataset, depth - 1)
    one, other = (condition(draw, dataset, depth - 1) for _ in range(2))
    return one & other if kind == 3 else one | other


def met(question: Question, *, by_any: bool = False) -> set[tuple[int, ...]]:
    """Return the groups of all rows there can be that meet a condition, or of any, by plain Python."""
    assert question.condition is not None
    looked_at = [*question.condition.columns(), *(group.column.name for group in question.groups)]
    names = sorted({name for one in looked_at for name in question.table.column(one).stored})
    oracle, found = _Oracle(question, frozenset({"n", "m"})), set()
    for values in product(*(VALUES[name] for name in names)):
        row = dict(zip(names, values, strict=True))
        place, region = row.get("place"), row.get("region")
        if place is not None and region is not None and REGION[place] != region:
            continue  # which the contract says cannot be
        cell = oracle.cell(row)
        if cell is not None and cell not in found and (by_any or oracle.kept(row)):
            found.add(cell)
    return found


def random_question(draw: random.Random, dataset: Dataset, groups: int) -> Question:
    """Return a question with a condition about few columns, so that all rows can be tried."""
    while True:
        query = dataset.count().by(*map(named, draw.sample(GROUPS, groups)))
        query = query.where(condition(draw, dataset))
        asked = query.question
        assert asked.condition is not None
        looked_at = [*asked.condition.columns(), *(group.column.name for group in asked.groups)]
        names = {name for one in looked_at for name in asked.table.column(one).stored}
        if np.prod([len(VALUES[name]) for name in names]) <= 500:
            return asked


@pytest.mark.slow
def test_a_group_is_left_out_exactly_if_no_row_can_be_in_it(dataset: Dataset) -> None:
    """By one column, of the groups that have rows at all those are left in which a row can meet the condition."""
    draw, fewer = random.Random(1), 0
    for _ in range(120):
        question = random_question(draw, dataset, 1)
        assert question.condition is not None
        if ColumnRef("x") in question.condition.columns():
            assert met(question) <= set(question.left), str(question)  # not all values of x are tried
            continue
        assert met(question) == set(question.left) & met(question, by_any=True), str(question)
        fewer += len(question.left) < question.cells
    assert fewer > 20


@pytest.mark.slow
def test_a_group_with_rows_is_never_left_out(dataset: Dataset) -> None:
    """By several columns no combination is left out that some row there can be is in and meets the condition."""
    draw, fewer = random.Random(2), 0
    for _ in range(60):
        question = random_question(draw, dataset, 2)
        assert met(question) <= set(question.left), str(question)
        fewer += len(question.left) < question.cells
    assert fewer > 10


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 3, 8])
def test_longer_stretches_leave_out_less(dataset: Dataset, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Where codes are too many to be looked at one by one, no group with rows is left out either."""
    monkeypatch.setattr("inbounds.query.question.code_ranges.MOST_OF_A_COLUMN", most)
    monkeypatch.setattr("inbounds.query.question.code_ranges.MOST_STRETCHES", 40)
    draw = random.Random(most)
    for _ in range(40):
        question = random_question(draw, dataset, draw.randint(1, 2))
        assert met(question) <= set(question.left), str(question)


def test_a_wrong_ruling_is_noticed(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """If what is missing is forgotten, the same laws find groups with rows that are left out."""

    def forgetful(value: Range, operator: Any, numbers: Any) -> Any:
        found = against(value, operator, numbers)
        return found._replace(true=found.true & value.here)

    monkeypatch.setattr("inbounds.query.question.possible_groups.against", forgetful)
    draw = random.Random(3)
    questions = [random_question(draw, dataset, 1) for _ in range(80)]
    assert any(not met(question) <= set(question.left) for question in questions)


def test_bins_of_what_has_no_step_are_told_exactly(dataset: Dataset) -> None:
    """A histogram of a fine column has the bins in which a value can meet the condition, and no others."""
    query = dataset.histogram("x", 8)
    for text, bins in [
        ("x < 3", [0, 1, 2]),
        ("x <= 3", [0, 1, 2, 3]),
        ("x > 2.5 AND x < 4.5 AND NOT x BETWEEN 3 AND 4", [2, 4]),
        ("FLOOR(x) = 5 AND n > 2", [5]),
        ("x < 2.5 OR n = 1", list(range(8))),
    ]:
        assert [code for (code,) in query.where(text).question.left] == bins, text


def test_keys_within_others_go_both_ways(dataset: Dataset) -> None:
    """A condition on a region rules out districts, one on a district regions, and so in a made column."""
    count = dataset.count()
    assert count.by("place").where("region = 'y'").question.rows == [(2,), (3,)]
    assert count.by("region").where("place = 'a'").question.rows == [(0,)]
    assert count.by("region", "place").where("place IN ('b', 'c')").question.rows == [(0, 1), (1, 2)]
    assert count.by(named("UPPER(place)")).where("region <> 'y'").question.rows == [(0,), (1,)]
    assert count.by("place").where("region IS NULL").question.rows == [(0,), (1,), (2,), (3,)]


def test_a_column_that_the_contract_makes_tells_what_its_keys_lie_in() -> None:
    """It makes no difference whether a column is made in the contract or in the question."""
    count = Dataset.parse(contract(COLUMNS + '[columns.big]\nfrom = "UPPER(place)"\n')).count()
    for big in ("big", "UPPER(place)"):
        assert count.by("region").where(f"{big} = 'A'").question.rows == [(0,)]
        assert count.by(named(big)).where("region <> 'y'").question.rows == [(0,), (1,)]


def test_parts_of_days_are_those_of_the_calendar() -> None:
    """The parts of many days, and the first days of what they lie in, are what the calendar says."""
    draw = random.Random(4)
    days = np.array([draw.randint(1, date.max.toordinal()) for _ in range(400)] + list(range(738_000, 740_000)))
    for name, part in PART.items():
        assert part_of(name, days).tolist() == [part(date.fromordinal(day)) for day in days.tolist()]
    for name, start in START.items():
        assert part_of(name, days).tolist() == [start(date.fromordinal(day)).toordinal() for day in days.tolist()]


@pytest.mark.parametrize("test", ["BETWEEN 2 AND 4", "> 1 AND later - day < 5", "IN (2, 3, 4)"])
def test_a_condition_on_what_is_grouped_by_leaves_exactly_that(test: str) -> None:
    """Whatever a column is made of, however many values that has, what is said of the column decides its groups."""
    columns = (
        '[columns.day]\nbounds = "[2026-01-01, 2026-12-31]"\n[columns.later]\nbounds = "[2026-01-01, 2027-01-31]"\n'
    )
    count = Dataset.parse(contract(columns)).count().by(named("later - day")).where(f"later - day {test}")
    labels = count.question.labels[0]
    assert [labels[code] for (code,) in count.question.rows if code is not None] == [2, 3, 4]
