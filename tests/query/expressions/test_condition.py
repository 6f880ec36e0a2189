"""Conditions keep exactly the rows for which they are true, as SQL has it, and are written as SQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset, column
from inbounds.query.expressions.condition import And, Compare, Condition, In, Missing, Not, Or, is_in
from inbounds.query.expressions.node import ColumnRef, Constant
from tests.helpers import oracle
from tests.helpers.engine_places import InParquet, planned, totals_of

CONTRACT = """
[dataset]
name = "visits"
unit = "row"
[columns]
age.bounds = "[0, 9] step 1"
cost.bounds = "[0, 2]"
clinic.keys = ["north", "south"]
day.bounds = "[2026-01-01, 2026-01-09]"
smoker.keys = [true, false]
ward.keys = [1, 2]
[budget]
total = 1
"""
TYPES = {"age": "int", "cost": "float8", "clinic": "text", "day": "date", "smoker": "boolean", "ward": "int"}
ROWS = [
    {"age": age, "cost": cost, "clinic": clinic, "day": day, "smoker": smoker, "ward": ward}
    for age, cost, clinic in [
        (0, 0.5, "north"), (5, 1.0, "south"), (None, None, None), (9, float("nan"), "east"), (20, -3.0, "north"),
        (-4, 7.5, "South"), (3, 1.5, ""), (4, None, "south"),
    ]
    for day, smoker, ward in [(date(2026, 1, 3), True, 1), (None, None, 2), (date(2027, 1, 1), False, 3)]
]  # fmt: skip

AGE, COST, CLINIC, SMOKER, DAY = map(ColumnRef, ("age", "cost", "clinic", "smoker", "day"))
ages = st.integers(-2, 12) | st.sampled_from([Fraction(7, 2), 0.5, Decimal("8.25"), 3.0])
comparisons = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
leaves: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Compare, st.just(AGE), comparisons, ages.map(Constant)),
    st.builds(
        Compare,
        st.just(COST),
        comparisons,
        st.sampled_from([0.5, 1, 1.5, -3, 7.5, 2, 0, Fraction(1, 4)]).map(Constant),
    ),
    st.builds(
        Compare,
        st.just(CLINIC),
        st.sampled_from(["=", "<>"]),
        st.sampled_from(["north", "south"]).map(Constant),
    ),
    st.builds(Compare, st.just(SMOKER), st.sampled_from(["=", "<>"]), st.booleans().map(Constant)),
    st.builds(
        Compare,
        st.just(DAY),
        comparisons,
        st.sampled_from(["2026-01-03", date(2026, 1, 9), date(2027, 1, 1)]).map(Constant),
    ),
    st.builds(is_in, st.just(AGE), st.lists(ages, min_size=1, max_size=3).map(tuple)),
    st.builds(is_in, st.just(CLINIC), st.just(("north", "south"))),
    st.builds(Missing, st.sampled_from(list(TYPES)).map(ColumnRef)),
)
conditions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(And, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def visits(files: InParquet) -> Dataset:
    """A table with every kind of gap."""
    return files.dataset(ROWS, TYPES, CONTRACT)


@pytest.mark.slow
@settings(max_examples=30)
@given(conditions)
def test_a_condition_keeps_the_rows_for_which_it_is_true(visits: Dataset, condition: Condition) -> None:
    """For any condition, the rows kept are those for which it is true by the logic of three values."""
    for query in (visits.count().where(condition), visits.proportion(condition)):
        assert totals_of(query) == oracle.totals(query.question, ROWS, ["age"])


@pytest.mark.slow
@settings(max_examples=30)
@given(conditions)
def test_a_condition_reads_as_it_is_written(visits: Dataset, condition: Condition) -> None:
    """The text of a condition, read again, keeps the same rows."""
    query = visits.count().where(condition)
    assert totals_of(visits.count().where(str(condition))) == totals_of(query)


@pytest.mark.slow
@settings(max_examples=30)
@given(conditions)
def test_a_condition_its_opposite_and_neither_are_all_rows(visits: Dataset, condition: Condition) -> None:
    """A row is kept by a condition or by its opposite, never by both."""
    kept, left = (totals_of(visits.count().where(one))[0][0] for one in (condition, ~condition))
    both = totals_of(visits.count().where(condition & ~condition))[0][0]
    assert both == 0
    assert kept + left <= len(ROWS)


def test_operators_build_what_they_say() -> None:
    """Every operator of Python builds the condition of that name."""
    age = column("age")
    built: list[tuple[Any, Condition]] = [
        (age == 5, Compare(AGE, "=", Constant(5))),
        (age != 5, Compare(AGE, "<>", Constant(5))),
        (age < 5, Compare(AGE, "<", Constant(5))),
        (age <= 5, Compare(AGE, "<=", Constant(5))),
        (age > 5, Compare(AGE, ">", Constant(5))),
        (age >= 5, Compare(AGE, ">=", Constant(5))),
        (5 < age, Compare(AGE, ">", Constant(5))),  # noqa: SIM300  mirrored on purpose
        (age.is_in([1, 2]), In(AGE, (Constant(1), Constant(2)))),
        (age.between(1, 2), And((Compare(AGE, ">=", Constant(1)), Compare(AGE, "<=", Constant(2))))),
        (age.is_missing(), Missing(AGE)),
        (~age.is_missing(), Not(Missing(AGE))),
        ((age > 1) & (age < 2), And((Compare(AGE, ">", Constant(1)), Compare(AGE, "<", Constant(2))))),
        ((age > 1) | (age < 2), Or((Compare(AGE, ">", Constant(1)), Compare(AGE, "<", Constant(2))))),
    ]
    for found, expected in built:
        assert found == expected


def test_a_condition_is_neither_true_nor_false() -> None:
    """What would silently be taken for true in Python is an error: and, or, not, and chained comparisons."""
    age = column("age")
    wrong: list[Callable[[], object]] = [
        lambda: bool(age > 5),
        lambda: age > 5 and age < 7,
        lambda: not age > 5,
        lambda: 5 < age < 7,
        lambda: 5 if age > 5 else 7,
    ]
    for attempt in wrong:
        with pytest.raises(TypeError, match="no truth value of its own"):
            attempt()
    with pytest.raises(TypeError):
        hash(age)


@pytest.mark.parametrize("other", [True, None, "age > 5", 5])
def test_conditions_are_joined_with_conditions_only(other: Any) -> None:
    """A condition joined with anything else is refused."""
    with pytest.raises(InvalidQuestion, match="joined with a condition only"):
        _ = (column("age") > 5) & other
    with pytest.raises(InvalidQuestion, match="joined with a condition only"):
        _ = (column("age") > 5) | other


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (column("nothing") > 5, "no column"),
        (column("nothing").is_missing(), "no column"),
        (column("clinic") == "east", "not a category"),
        (column("clinic") == "North", "not a category"),
        (column("clinic").is_in(["north", "east"]), "not a category"),
        (column("clinic") > "north", "no order"),
        (column("smoker") == 1, "not a category"),
        (column("ward") == True, "not a category"),  # noqa: E712
        (column("ward") == 1.0, "not a category"),
        (column("age") > "5", "holds numbers"),
        (column("age") > True, "holds numbers"),
        (column("age") > None, "finite number"),
        (column("age") > Decimal("NaN"), "finite number"),
        (column("age") > float("inf"), "finite number"),
        (column("age") > 10**5000, "2048 bits"),
        (column("age") > Decimal("1e999999"), "2048 bits"),
        (column("age") > column("clinic"), "is categorical"),
        (column("age") > date(2026, 1, 1), "holds numbers"),
        (column("age") > [5], "finite number"),
        (column("age").is_in([]), "from 1 to"),
        (column("age").is_in(range(501)), "from 1 to"),
        (column("age").between(None, 5), "finite number"),
        (column("day") > 5, "holds dates"),
        (column("day") > "x", "holds dates"),
        (column("day") > datetime(2026, 1, 1, 12), "holds dates"),
        (5, "where takes a condition"),
        (None, "where takes a condition"),
        (True, "where takes a condition"),
    ],
)  # fmt: skip
def test_a_condition_that_does_not_fit_is_refused(visits: Dataset, condition: Any, why: str) -> None:
    """A condition on what is no column, or with a constant that it cannot have, is refused when it is asked."""
    with pytest.raises(InvalidQuestion, match=why):
        visits.count().where(condition)
    if isinstance(condition, Condition):
        with pytest.raises(InvalidQuestion, match=why):
            visits.proportion(condition)


@pytest.mark.parametrize(
    "number", [np.float64(3.5), np.float32(3.5), np.int64(3), np.int8(3), Fraction(7, 2), Decimal("3.5")]
)
def test_numbers_of_every_kind_are_constants(visits: Dataset, number: Any) -> None:
    """A constant may be any number of Python or NumPy, and keeps the same rows as the number that it is."""
    same = visits.count().where(column("age") > float(number))
    query = visits.count().where(column("age") > number)
    assert totals_of(query) == totals_of(same)
    assert str(query.question)


@pytest.mark.parametrize("bounds", ["[0, 0.3]", "[0.1, 0.7]", "[-0.3, 1]", "[0.7, 100]"])
def test_the_ends_of_a_column_without_a_step_are_equal_to_themselves(files: InParquet, bounds: str) -> None:
    """A row at an end of the bounds, or beyond it, is equal to that end, whatever both are rounded to."""
    low, high = map(float, bounds[1:-1].split(", "))
    rows = [{"x": x} for x in (low, high, low - 5, high + 5, (low + high) / 2)]
    text = f"[dataset]\nname = 'v'\nunit = 'row'\n[columns.x]\nbounds = '{bounds}'\n[budget]\ntotal = 1\n"
    dataset = files.dataset(rows, {"x": "float8"}, text)
    for condition in (f"x = {low}", f"x <= {low}", f"x = {high}", f"x >= {high}"):
        assert totals_of(dataset.count().where(condition)) == [[2]], condition


def test_a_day_may_be_a_date_or_its_text(visits: Dataset) -> None:
    """A day and its text are the same constant."""
    queries = [visits.count().where(column("day") == day) for day in (date(2026, 1, 3), "2026-01-03")]
    assert len({str(query.question) for query in queries}) == len({planned(query).sql for query in queries}) == 1


def nested(depth: int) -> Condition:
    """Return a condition so many levels deep."""
    found = column("age") > 5
    for _ in range(depth):
        found = ~found
    return found


def joined(count: int) -> Condition:
    """Return a condition of so many comparisons, joined one after another."""
    found = column("age") > 5
    for number in range(count - 1):
        found = found & (column("age") != number)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("depth", [10, 30, 100, 249, 1000, 10_000])
@pytest.mark.parametrize("build", [nested, joined])
def test_a_condition_is_answered_or_refused_however_deep(
    visits: Dataset, build: Callable[[int], Condition], depth: int
) -> None:
    """A condition of any depth is refused when it is asked, or else has a text and a statement that runs."""
    try:
        query = visits.count().where(build(depth))
    except InvalidQuestion:
        return
    assert str(query.question)
    assert totals_of(query)


@pytest.mark.parametrize("name", [None, 5, b"age", ["age"]])
def test_a_column_has_a_name(name: Any) -> None:
    """What is no text is no name of a column."""
    with pytest.raises(InvalidQuestion, match="must be text"):
        column(name)
