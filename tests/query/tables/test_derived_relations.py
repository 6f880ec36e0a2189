"""Columns made of columns over rows made of rows and over joins: computed where they stand, and never otherwise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from inbounds.errors import InvalidContract
from inbounds.query import column
from inbounds.query.custodian.inspection import Inspection
from tests.helpers import oracle
from tests.helpers.engine_places import distance
from tests.query.tables.test_relation import CONTRACT, DRUGS, VISITS, Clinic, expected, random_rows

WITH_MADE = CONTRACT.replace(
    "[tables.drugs]\n",
    """[columns.load]
from = "size * weight / 3"
[columns.late]
from = "CASE WHEN day > '2026-01-02' THEN 'late' ELSE place END"
[columns.spot]
from = "CASE WHEN size > 0 THEN place END"
[tables.drugs]
""",
).replace("[tables.spots]\n", '[tables.drugs.columns.half]\nfrom = "dose / 2"\n[tables.spots]\n')

ASKED = [
    "SELECT VARIANCE(size * 2 - 1) FROM visits",
    "SELECT CORR(size, weight * 3) FROM visits WHERE size + 1 > 0",
    "SELECT COUNT(DISTINCT UPPER(place)) FROM visits",
    "SELECT COUNT(DISTINCT late) FROM visits",
    "SELECT region, SUM(size * beds) FROM visits JOIN spots ON visits.place = spots.code GROUP BY region",
    "SELECT UPPER(region), COUNT(*) FROM visits LEFT JOIN spots ON visits.place = spots.code "
    "WHERE COALESCE(beds, 0) + size < 9 GROUP BY UPPER(region)",
    "SELECT COUNT(*) FROM visits AS v JOIN drugs AS d ON v.who = d.taker WHERE v.day > d.day",
    "SELECT DATE_TRUNC('week', v.day), COUNT(*) FROM visits AS v JOIN drugs AS d ON v.who = d.taker "
    "GROUP BY DATE_TRUNC('week', v.day)",
    "SELECT late, AVG(load) FROM visits JOIN drugs ON visits.who = drugs.taker GROUP BY late",
    "SELECT SUM(load + 1) FROM visits JOIN drugs ON visits.who = drugs.taker WHERE half * 2 < 20",
    "SELECT COVAR_POP(load, half) FROM visits JOIN drugs ON visits.who = drugs.taker",
    "SELECT region, COUNT(*) FROM visits JOIN spots ON visits.spot = spots.code GROUP BY region",
    "SELECT CASE WHEN late = 'late' THEN 'x' ELSE region END, COUNT(*) FROM visits JOIN spots "
    "ON visits.place = spots.code GROUP BY CASE WHEN late = 'late' THEN 'x' ELSE region END",
    "SELECT AVG(m - n) FROM (SELECT who, MAX(size) AS m, COUNT(*) AS n FROM visits GROUP BY who) AS t WHERE m * n > 0",
    "SELECT AVG(m) FROM (SELECT who, MAX(size * size) AS m FROM visits WHERE size + 1 > 0 GROUP BY who) AS t",
    "SELECT AVG(m) FROM (SELECT who, MIN(weight * 3) AS m FROM visits GROUP BY who) AS t",
    "SELECT AVG(m * 2) FROM (SELECT who, AVG(load) AS m FROM visits GROUP BY who) AS t",
    "SELECT SUM(s) FROM (SELECT who, SUM(size - 3) AS s FROM visits WHERE place LIKE 'a%' GROUP BY who) AS t",
    "SELECT SUM(s) FROM (SELECT who, SUM(ROUND(weight, 1) / 3) AS s FROM visits GROUP BY who) AS t",
    "SELECT k, COUNT(*) FROM (SELECT who, COUNT(DISTINCT late) AS k FROM visits GROUP BY who) AS t GROUP BY k",
    "SELECT MEDIAN(m) FROM (SELECT who, MAX(size * beds) AS m, COUNT(DISTINCT UPPER(region)) AS k FROM visits "
    "JOIN spots ON visits.place = spots.code WHERE size + beds > 2 GROUP BY who) AS t WHERE k = 1",
    "SELECT MONTH(d + 30), COUNT(*) FROM (SELECT who, MAX(day) AS d FROM visits GROUP BY who) AS t "
    "GROUP BY MONTH(d + 30)",
]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """Two private tables, some of whose columns are made of others."""
    found = Clinic(tmp_path_factory.mktemp("clinic"), WITH_MADE)
    yield found
    found.dataset.close()


@pytest.mark.slow
@pytest.mark.parametrize("sql", ASKED)
def test_totals_are_those_of_plain_python(clinic: Clinic, sql: str) -> None:
    """A statement adds up what plain Python computes of the same rows, wherever a column is made of columns."""
    random = np.random.default_rng(20261119)
    query, seen = clinic.dataset.sql(sql), False
    for _ in range(5):
        visits, drugs = random_rows(random, VISITS, 30), random_rows(random, DRUGS, 12)
        found = clinic.totals(query, visits, drugs)
        assert found == expected(query, visits, drugs), sql
        seen = seen or any(any(row) for row in found)
    assert seen, "the test saw no rows at all"


@pytest.mark.slow
@pytest.mark.parametrize("sql", ASKED)
def test_no_unit_changes_more_than_the_sensitivity(clinic: Clinic, sql: str) -> None:
    """Removing all rows of a unit changes all totals together by at most the sensitivity."""
    random = np.random.default_rng(20261120)
    query = clinic.dataset.sql(sql)
    most = oracle.sensitivity(query.question)
    for _ in range(5):
        visits, drugs = random_rows(random, VISITS, 20), random_rows(random, DRUGS, 12)
        without = [[row for row in rows if next(iter(row.values())) != 1] for rows in (visits, drugs)]
        assert distance(clinic.totals(query, visits, drugs), clinic.totals(query, *without)) <= most, sql


def test_both_ways_of_asking_are_one_question(clinic: Clinic) -> None:
    """Measures, joins and rows of units take expressions in Python as they do in SQL."""
    dataset, size, weight = clinic.dataset, column("size"), column("weight")
    assert str(dataset.variance(size * 2).question) == "SELECT VAR_SAMP(size * 2) FROM visits"
    assert str(dataset.correlation(size, weight * 3).question) == "SELECT CORR(size, weight * 3) FROM visits"
    made = dataset.per_unit(m="MAX(size * weight)", where=size + 1 > 0).mean(column("m") + 1)
    asked = "SELECT AVG(m + 1) FROM (SELECT who, MAX(size * weight) AS m FROM visits WHERE size + 1 > 0 GROUP BY who)"
    assert str(made.question) == str(dataset.sql(f"{asked} AS t").question)


def test_what_is_made_is_not_inspected(clinic: Clinic) -> None:
    """A custodian is shown the columns that the database has; those made of them cannot leave their bounds."""
    clinic.fill([{"who": 1, "size": 3, "weight": 1.0, "place": "a", "day": "2026-01-01"}], [])
    found = Inspection.of(clinic.dataset)
    assert not found.misfits
    assert {one.column for one in found.numbers} == {"size", "weight", "day"}
    assert [one.column for one in found.keys] == ["place"]


def test_a_public_table_holds_its_columns(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A public table makes no columns: what it says stands in its file."""
    wrong = CONTRACT.replace("[tables.sizes]\n", '[tables.spots.columns.twice]\nfrom = "beds * 2"\n[tables.sizes]\n')
    with pytest.raises(InvalidContract, match="'twice' of a public table must stand in its file"):
        Clinic(tmp_path_factory.mktemp("clinic"), wrong)
