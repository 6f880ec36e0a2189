"""A wanted error instead of epsilon: the least short decimal at which what is predicted of every measure is within."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest

from inbounds.errors import InvalidParameter
from inbounds.query import Dataset
from inbounds.query.ask.epsilon_search import LEAST, PER_DECADE, decimal_at, search_epsilon
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.predicted_error import ROWS_REMEDY, predict_errors
from inbounds.results.wanted_error import Wanted
from tests.helpers.hospital import hospital

MEASURES = [
    ("SELECT COUNT(*) FROM stays WHERE age > 60", 20, None),
    ("SELECT COUNT(*) FROM stays WHERE age > 60", "2 %", 1000),
    ("SELECT COUNT(DISTINCT patient) FROM stays WHERE age > 60", "5 %", 500),
    ("SELECT COUNT(DISTINCT ward) FROM stays WHERE age > 60", "10 %", None),
    ("SELECT SUM(age) FROM stays", "2 %", 1000),
    ("SELECT ward, COUNT(*) FROM stays GROUP BY ROLLUP(ward)", 4, None),
    ("SELECT ward, AVG(age) FROM stays GROUP BY ward", "2 %", 1000),
    ("SELECT AVG(age), SUM(age), COUNT(*), STDDEV(age), MEDIAN(age) FROM stays", "3 %", 800),
    ("SELECT PROPORTION(age > 30) FROM stays", 0.02, 2000),
    ("SELECT QUANTILES(age, 0.1, 0.5) FROM stays", "5 %", 2000),
    ("SELECT CDF(age) FROM stays", "2 %", 2000),
    ("SELECT COUNT(*) FROM stays WHERE age > 60 UNION ALL SELECT COUNT(*) FROM stays WHERE age < 10", 5, None),
]


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """A hospital, none of whose numbers of rows is public."""
    with hospital(tmp_path_factory.mktemp("hospital"), rows=9) as found:
        yield found


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """Persons, whose number is public: each row is one of them."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "people.csv").write_text("age\n40\n", encoding="utf-8")
    with Dataset.parse(
        f"""
        [dataset]
        name = "people"
        source = '{folder / "people.csv"}'
        unit = "row"
        [known]
        total = 2000
        [columns.age]
        bounds = "[0, 120] step 1"
        [budget]
        total = 5
        per_analyst = 2
        """,
        ledger=folder / "ledger.db",
    ) as found:
        yield found


def worst(dataset: Dataset, sql: str, epsilon: Fraction, error: Any, rows: int | None) -> float:
    """Return how many times as far off as is wanted a query is predicted to be."""
    return max(one.ratio for one in predict_errors(dataset.sql(sql).plans(epsilon), Wanted.read(error), rows))


@pytest.mark.slow
@pytest.mark.parametrize(("sql", "error", "rows"), MEASURES)
def test_it_is_the_least_decimal_that_reaches_the_error(stays: Dataset, sql: str, error: Any, rows: int | None) -> None:
    """What is predicted is within at the epsilon that is found, and not at the decimal of three digits before it."""
    epsilon = stays.sql(sql).epsilon_for(error, rows=rows)
    index = next(index for index in range(9 * PER_DECADE) if decimal_at(index) == epsilon)
    assert worst(stays, sql, epsilon, error, rows) <= 1 < worst(stays, sql, decimal_at(index - 1), error, rows)


def test_what_explain_predicts_is_within(stays: Dataset) -> None:
    """The error that is wanted is the one that an explanation shows."""
    query = stays.sql("SELECT COUNT(*) FROM stays WHERE age > 60")
    (part,) = query.explain(query.epsilon_for(20)).parts
    shown = float(part.expected_noise.removeprefix("about ±").removesuffix(" on average"))
    assert 19.5 < shown <= 20


def test_a_number_is_in_the_unit_of_the_answer_and_a_percentage_of_what_is_public(stays: Dataset) -> None:
    """2 % of a mean is 2 % of its range, of a proportion 0.02, of a count that part of the rows."""
    for sql, number, percentage in (
        ("SELECT AVG(age) FROM stays", 2.4, "2 %"),
        ("SELECT PROPORTION(age > 30) FROM stays", 0.02, "2%"),
        ("SELECT COUNT(*) FROM stays", 20, "2 %"),
        ("SELECT SUM(age) FROM stays", 2400, "2 %"),
    ):
        query = stays.sql(sql)
        assert query.epsilon_for(number, rows=1000) == query.epsilon_for(percentage, rows=1000)


def test_a_public_number_of_rows_is_taken_where_it_is_that_of_the_rows(people: Dataset) -> None:
    """Of all rows it need not be said; of those that meet a condition it must be, for that is not public."""
    mean = people.sql("SELECT AVG(age) FROM people")
    assert mean.epsilon_for("1 %") == mean.epsilon_for("1 %", rows=2000)
    some = people.sql("SELECT AVG(age) FROM people WHERE age > 30")
    with pytest.raises(InvalidParameter, match="depends on the number of rows"):
        some.epsilon_for("1 %")
    count = people.sql("SELECT COUNT(*) FROM people WHERE age > 30")
    assert count.epsilon_for("1 %") == count.epsilon_for(20)


@pytest.mark.parametrize(
    ("sql", "error", "remedy"),
    [
        ("SELECT AVG(age) FROM stays", "2 %", {"rows": 1000}),
        ("SELECT COUNT(*) FROM stays", "2 %", {"rows": 1000}),
        ("SELECT COUNT(*) FROM stays", "2 %", {"error": 20}),
        ("SELECT MEDIAN(age) FROM stays", "2 %", {"rows": 1000}),
        ("SELECT MEDIAN(age) FROM stays", 3, {"error": "2 %", "rows": 1000}),
        ("SELECT COUNT(*) FROM stays", "twenty", {"error": "20"}),
        ("SELECT COUNT(*) FROM stays", "101 %", {"error": "2 %", "rows": 1000}),
        ("SELECT COUNT(*) FROM stays", 0, {"error": 20}),
        ("SELECT COUNT(*) FROM stays", True, {"error": 20}),
        ("SELECT COUNT(*) FROM stays", None, {"error": 20}),
        ("SELECT AVG(age) FROM stays", 1, {"rows": 1000}),
    ],
)
def test_a_refusal_has_a_remedy_that_works(stays: Dataset, sql: str, error: Any, remedy: dict[str, Any]) -> None:
    """What cannot be predicted is refused; with what the message says, it is found."""
    query = stays.sql(sql)
    with pytest.raises(InvalidParameter) as refused:
        query.epsilon_for(error)
    assert ";" in str(refused.value)
    assert not (("rows" in remedy) and "error" not in remedy) or ROWS_REMEDY in str(refused.value)
    assert query.epsilon_for(**{"error": error, **remedy}) > 0


@pytest.mark.parametrize("rows", [0, -1, 2.5, True, "1000", 2**60])
def test_assumed_rows_are_a_whole_number(stays: Dataset, rows: Any) -> None:
    """Nothing else is a number of rows."""
    with pytest.raises(InvalidParameter, match="rows must be a whole number"):
        stays.sql("SELECT AVG(age) FROM stays").epsilon_for(1, rows=rows)


def test_what_the_budget_cannot_reach_is_refused_with_the_best(people: Dataset) -> None:
    """No epsilon above the cap of one analyst is returned; the message says what is best, and that is then found."""
    query = people.sql("SELECT COUNT(*) FROM people WHERE age > 30")
    with pytest.raises(InvalidParameter, match=r"at most 2, .* the best is COUNT\(\*\) off by 0\.\d+ .* at epsilon 2;"):
        query.epsilon_for("0.0001")
    assert query.epsilon_for(0.5) <= 2


def test_what_is_public_costs_nothing_to_know(people: Dataset) -> None:
    """Of an exact and free answer no error can be wanted."""
    with pytest.raises(InvalidParameter, match="public and exact"):
        people.sql("SELECT COUNT(*) FROM people").epsilon_for(20)


def test_few_plans_are_made_and_always_the_same(stays: Dataset) -> None:
    """The search halves: it makes at most 14 plans, whatever is wanted, and finds the same again."""
    query = stays.sql("SELECT COUNT(*) FROM stays WHERE age > 60")
    tried: list[Fraction] = []

    def plans(epsilon: Fraction) -> Sequence[Plan]:
        tried.append(epsilon)
        return query.plans(epsilon)

    for error in (0.1, 20, 10**6):
        tried.clear()
        first = search_epsilon(plans, error, None, Fraction(1000)).epsilon
        assert len(tried) <= 14
        assert first == query.epsilon_for(error)


def test_a_wide_error_takes_the_least_that_is_tried(stays: Dataset) -> None:
    """However far off it may be, some epsilon is paid."""
    assert stays.sql("SELECT COUNT(*) FROM stays").epsilon_for(10**12) == LEAST
