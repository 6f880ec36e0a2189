"""Epsilon in the SQL: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) is what ask(0.5) is, and no question."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from inbounds.errors import InvalidParameter, InvalidQuestion, RequestReused
from inbounds.query import Dataset, LedgerConflict
from inbounds.query.ask.privacy_options import cut_options, drop_options
from tests.helpers.engine_places import InParquet

CONTRACT = """
[dataset]
name = "visits"
unit = "patient"
max_rows_per_unit = 2
[columns]
age.bounds = "[0, 120] step 1"
clinic.keys = ["north", "south"]
[budget]
total = 10
"""
TYPES = {"patient": "int", "age": "int", "clinic": "text"}
ROWS = [{"patient": place, "age": place % 90, "clinic": "north"} for place in range(40)]

COUNT = "SELECT COUNT(*) FROM visits"
STATED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*) FROM visits"


@pytest.fixture
def visits(tmp_path: Path) -> Dataset:
    """A small table with a ledger of its own."""
    return InParquet(tmp_path).dataset(ROWS, TYPES, CONTRACT)


def test_the_sql_says_what_is_charged(visits: Dataset) -> None:
    """A query that says its epsilon is explained and asked at it, and charged so much."""
    query = visits.sql(STATED)
    assert query.explain().epsilon == Fraction(1, 2)
    assert query.ask(analyst="ana").epsilon == Fraction(1, 2)
    assert visits.ledger.balance("visits").spent == Fraction(1, 2)


def test_it_is_the_same_question(visits: Dataset) -> None:
    """Asked again under its request id, with epsilon beside the SQL instead, it is the stored answer, for free."""
    paid = visits.sql(STATED).ask(analyst="ana", request_id="one")
    again = visits.sql(COUNT).ask(0.5, analyst="ana", request_id="one")
    assert again.rows == paid.rows
    assert str(visits.sql(STATED)) == str(visits.sql(COUNT))
    assert visits.sql(STATED) == visits.sql(COUNT)
    assert visits.ledger.balance("visits").spent == Fraction(1, 2)
    with pytest.raises(RequestReused):
        visits.sql(STATED.replace("0.5", "0.25")).ask(analyst="ana", request_id="one")


def test_two_epsilons_are_refused_unless_they_are_one(visits: Dataset) -> None:
    """An epsilon beside the SQL may not be another one than the SQL's; the same one is fine."""
    with pytest.raises(InvalidParameter, match=r"got 0\.3 beside the SQL and 0\.5 in it; leave one of them out"):
        visits.sql(STATED).ask(0.3, analyst="ana")
    assert visits.sql(STATED).ask("0.50", analyst="ana").epsilon == Fraction(1, 2)
    with pytest.raises(InvalidParameter, match="a query needs an epsilon, got none"):
        visits.sql(COUNT).ask(analyst="ana")
    assert visits.ledger.balance("visits").spent == Fraction(1, 2)


PLACES = [
    "WITH t AS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) clinic, COUNT(*) AS n FROM visits "
    "GROUP BY clinic) SELECT SUM(n) FROM t",
    "SELECT MAX(n) FROM (select with\n  differential_privacy -- ε\n options(EPSILON=.5) clinic, COUNT(*) AS n "
    "FROM visits GROUP BY clinic) AS t",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 5e-1, delta = 1e-6, privacy_unit_column = v.Patient, "
    "max_rows_contributed = 2) AVG(age) FROM visits v",
    "SELECT COUNT(*) FROM visits UNION ALL SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*) "
    "FROM visits WHERE age > 50",
]


@pytest.mark.parametrize("sql", PLACES)
def test_it_stands_in_any_select_of_the_query(visits: Dataset, sql: str) -> None:
    """Wherever the options stand, they are about the whole query, which is the same question without them."""
    query, plain = visits.sql(sql), visits.sql(drop_options(sql))
    assert "PRIVACY" not in drop_options(sql).upper()
    assert (str(query), query.facts) == (str(plain), plain.facts)
    assert query.stated == Fraction(1, 2)
    assert query.alone().stated == Fraction(1, 2)
    assert sum(plan.epsilon for plan in query.plans()) == Fraction(1, 2)


def test_what_stands_in_quotes_or_comments_says_nothing(visits: Dataset) -> None:
    """Texts, names and comments are left as they are."""
    for sql in (
        'SELECT COUNT(*) AS "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1)" FROM visits',
        "SELECT COUNT(*) FROM visits -- SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1)",
        "SELECT COUNT(*) FROM visits WHERE clinic <> 'SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1)'",
    ):
        assert cut_options(sql)[0] == sql == drop_options(sql)
        assert cut_options(sql)[1].epsilon is None
    assert visits.sql("SELECT COUNT(*) FROM visits /* WITH DIFFERENTIAL_PRIVACY */").stated is None


def test_a_mark_is_under_the_part_that_is_meant(visits: Dataset) -> None:
    """What is refused behind the options is pointed at where it stands in the text."""
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY\n  OPTIONS (epsilon = 0.5) COUNT(*) FROM visits WHERE ag > 3"
    with pytest.raises(InvalidQuestion) as refused:
        visits.sql(sql)
    _, line, mark = str(refused.value).split("\n")
    assert line[mark.index("^") : mark.rindex("^") + 1] == "ag"


def test_public_knowledge_stays_free(visits: Dataset) -> None:
    """A query all of which is public is not charged, whatever its SQL says."""
    answer = visits.sql("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) DISTINCT clinic FROM visits")
    assert answer.ask(analyst="ana").epsilon == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("epsilon = -1", "epsilon must be from 1e-9 to 1000, got -1"),
        ("epsilon = 0", "epsilon must be"),
        ("epsilon = 1 2", "epsilon must be a number, got '1 2'"),
        ("delta = -1", "delta must be from 0 to 1, got -1"),
        ('privacy_unit_column = "Patient"', 'the unit is patient, as the contract says, got "Patient"; write patient'),
        ("max_rows_contributed = NULL", "at most 2 rows of visits, as the contract says, got NULL; write 2"),
        ("group_selection_strategy = PUBLIC_GROUPS", "groups are the categories of the contract"),
        ("kappa = 3", "there is no option kappa; leave it out"),
    ],
)
def test_other_options_are_compared_with_the_contract(visits: Dataset, options: str, told: str) -> None:
    """What contradicts the contract, or is none of its terms, is refused with what the contract says."""
    with pytest.raises((InvalidQuestion, InvalidParameter)) as refused:
        visits.sql(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({options}) COUNT(*) FROM visits")
    assert told in str(refused.value)
    assert not isinstance(refused.value, LedgerConflict)
