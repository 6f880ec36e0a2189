"""Rows made of rows, and joins: what is asked of them is what it says, and a unit changes no more than it may."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from sqlglot import exp

from inbounds.errors import InvalidContract, InvalidQuestion, LedgerConflict
from inbounds.query import Dataset, Query
from inbounds.query.engines.duckdb import DuckDB
from inbounds.query.methods.contribution_bound import IN_FORCE
from inbounds.query.question.measure import CountUnits
from tests.helpers import oracle
from tests.helpers.engine_places import InParquet, Place, distance, planned, text, totals_of
from tests.helpers.relation_rows import rows_of
from tests.query.sql.test_unread import with_inserted

CONTRACT = """
[dataset]
name = "visits"
unit = "who"
max_rows_per_unit = 3

[columns.size]
bounds = "[-3, 7] step 1"
[columns.weight]
bounds = "[0.5, 2]"
[columns.place]
keys = ["a", "b", "c"]
[columns.day]
bounds = "[2026-01-01, 2026-01-05]"

[tables.drugs]
unit = "taker"
[tables.drugs.columns.dose]
bounds = "[5, 20] step 5"
[tables.drugs.columns.day]
bounds = "[2026-01-01, 2026-01-03]"

[tables.spots]
source = "spots.csv"
public = true
key = "code"
[tables.spots.columns.region]
keys = ["up", "down"]
[tables.spots.columns.beds]
bounds = "[0, 30] step 1"

[tables.sizes]
source = "sizes.csv"
public = true
key = "number"
[tables.sizes.columns.class]
keys = [1, 2]

[budget]
total = 10000
"""
SPOTS = "code,region,beds\na,up,10\nb,down,99\nx,down,3\n"
SIZES = "number,class\n-3,1\n0,2\n1,2\n7,3\n"
PUBLIC: dict[str, dict[str, dict[str, Any]]] = {
    "spots": {"a": {"region": "up", "beds": 10}, "b": {"region": "down", "beds": 30}},
    "sizes": {"-3": {"class": 1}, "0": {"class": 2}, "1": {"class": 2}, "7": {"class": None}},
}
VISITS = {"who": "bigint", "size": "bigint", "weight": "float8", "place": "text", "day": "date"}
DRUGS = {"taker": "bigint", "dose": "bigint", "day": "date"}
VALUES: dict[str, list[Any]] = {
    "who": [1, 1, 2, 3, 4, None],
    "taker": [1, 1, 2, 3, 5, None],
    "size": [None, -(10**12), -3, 0, 1, 7, 100],
    "weight": [None, float("inf"), 0.5, 0.75, 1.999, 2.0, -1e300],
    "place": ["a", "b", "c", "elsewhere", None],
    "day": [None, "1999-01-01", "2026-01-01", "2026-01-03", "2026-01-05"],
    "dose": [None, 0, 5, 12, 20, 10**15],
}

MADE = [
    "SELECT COUNT(*) FROM (SELECT DISTINCT who FROM visits WHERE place = 'a')",
    "SELECT COUNT(DISTINCT who) FROM (SELECT who FROM visits GROUP BY who) AS t",
    "SELECT AVG(m) FROM (SELECT who, MAX(size) AS m, COUNT(*) AS n FROM visits GROUP BY who) AS t WHERE n >= 2",
    "SELECT n, COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) AS t GROUP BY n",
    "SELECT SUM(n) FROM (SELECT who, LEAST(COUNT(size), 9) AS n FROM visits WHERE size > 0 GROUP BY who) AS t",
    "SELECT SUM(n) FROM (SELECT who, GREATEST(LEAST(COUNT(*), 9), 2) AS n FROM visits GROUP BY who) AS t",
    "SELECT SUM(s) FROM (SELECT who, SUM(size) AS s FROM visits GROUP BY who) AS t",
    "SELECT AVG(s) FROM (SELECT who, GREATEST(SUM(size), -1) AS s FROM visits GROUP BY who) AS t",
    "SELECT SUM(s) FROM (SELECT who, SUM(weight) AS s FROM visits GROUP BY who) AS t",
    "SELECT SUM(s) FROM (SELECT who, LEAST(SUM(weight), 1) AS s FROM visits GROUP BY who) AS t",
    "SELECT MEDIAN(a) FROM (SELECT who, AVG(size) AS a FROM visits GROUP BY who) AS t",
    "SELECT AVG(a) FROM (SELECT who, AVG(weight) AS a, MIN(day) AS d FROM visits GROUP BY who) AS t "
    "WHERE d > '2026-01-01'",
    "SELECT AVG(a) FROM (SELECT who, AVG(day) AS a FROM visits GROUP BY who) AS t",
    "SELECT k, COUNT(*) FROM (SELECT who, COUNT(DISTINCT place) AS k FROM visits GROUP BY who) AS t GROUP BY k",
    "SELECT MEDIAN(d) FROM (SELECT taker, MAX(day) AS d FROM drugs WHERE dose IS NOT NULL GROUP BY taker) AS t",
    "SELECT SUM(s) FROM (SELECT taker, SUM(dose) AS s FROM drugs GROUP BY taker) AS t",
    "SELECT VARIANCE(m) FROM (SELECT who, MAX(size) AS m FROM visits GROUP BY who) AS t",
    "SELECT CORR(m, a) FROM (SELECT who, MAX(size) AS m, AVG(weight) AS a FROM visits GROUP BY who) AS t",
]
CHOSEN = [
    "SELECT p, COUNT(*) FROM (SELECT who, MAX(place) AS p FROM visits GROUP BY who) AS t GROUP BY p",
    "SELECT p, SUM(n) FROM (SELECT who, ANY_VALUE(place) AS p, COUNT(*) AS n FROM visits GROUP BY who) AS t GROUP BY p",
    "SELECT p, COUNT(*) FROM (SELECT who, MIN(CASE WHEN place = 'a' THEN 'z' ELSE place END) AS p FROM visits "
    "GROUP BY who) AS t GROUP BY p",
    "SELECT COUNT(*) FROM (SELECT who, MAX(place) AS p, MIN(place) AS q FROM visits GROUP BY who) AS t "
    "WHERE p = 'c' AND q <> 'c'",
    "SELECT COUNT(*) FROM (SELECT who, BOOL_OR(size > 0) AS b FROM visits GROUP BY who) AS t WHERE b",
    "SELECT COUNT(*) FROM (SELECT who FROM visits GROUP BY who HAVING EVERY(size < 5) AND NOT BOOL_OR(place = 'b')) t",
    "SELECT p, COUNT(*) FROM (SELECT who, FIRST(place ORDER BY day) AS p FROM visits GROUP BY who) AS t GROUP BY p",
    "SELECT p, COUNT(*) FROM (SELECT who, ARG_MAX(CASE WHEN place = 'a' THEN 'z' ELSE place END, day) AS p "
    "FROM visits GROUP BY who) AS t GROUP BY p",
    "SELECT p, COUNT(*) FROM (SELECT who, ARG_MIN(place, place) AS p FROM visits GROUP BY who) AS t GROUP BY p",
    "SELECT SUM(s) FROM (SELECT who, ARG_MAX(size, day) AS s FROM visits GROUP BY who) AS t",
    "SELECT SUM(s) FROM (SELECT who, FIRST(size ORDER BY day DESC) AS s FROM visits GROUP BY who) AS t",
    "SELECT AVG(w) FROM (SELECT who, ARG_MIN(weight, size) AS w FROM visits GROUP BY who) AS t",
    "SELECT MEDIAN(d) FROM (SELECT who, ARG_MAX(day, weight) AS d FROM visits GROUP BY who) AS t",
]
JOINS = [
    "SELECT region, COUNT(*) FROM visits JOIN spots ON visits.place = spots.code GROUP BY region",
    "SELECT SUM(beds) FROM visits LEFT JOIN spots ON visits.place = spots.code WHERE size > 0",
    "SELECT COUNT(*) FROM visits LEFT JOIN spots ON place = spots.code WHERE region IS NULL",
    "SELECT class, COUNT(DISTINCT who) FROM visits JOIN sizes ON visits.size = sizes.number GROUP BY class",
    "SELECT place, AVG(dose) FROM visits JOIN drugs ON visits.who = drugs.taker GROUP BY place",
    "SELECT COUNT(*) FROM visits LEFT JOIN drugs ON drugs.taker = visits.who WHERE dose IS NULL",
    "SELECT COUNT(*) FROM visits AS v JOIN drugs AS d ON v.who = d.taker WHERE v.day > '2026-01-01' "
    "AND d.day < '2026-01-03'",
    "SELECT region, SUM(size) FROM visits JOIN drugs ON visits.who = drugs.taker "
    "LEFT JOIN spots ON visits.place = spots.code GROUP BY region",
    "SELECT AVG(size) FROM visits JOIN (SELECT taker, COUNT(*) AS n FROM drugs GROUP BY taker) AS t "
    "ON visits.who = t.taker WHERE n > 1",
    "SELECT COUNT(*) FROM visits AS v JOIN visits AS w USING (who) WHERE v.size > 0 AND w.size < 5",
    "SELECT SUM(m) FROM (SELECT who, MAX(beds) AS m, COUNT(dose) AS n FROM visits "
    "LEFT JOIN spots ON visits.place = spots.code JOIN drugs ON visits.who = drugs.taker WHERE region = 'up' "
    "GROUP BY who) AS t WHERE n > 1",
    "SELECT AVG(n) FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) AS t "
    "LEFT JOIN (SELECT taker, MAX(dose) AS m FROM drugs GROUP BY taker) AS u ON t.who = u.taker WHERE m IS NULL",
    "SELECT n, COUNT(*) FROM (SELECT v.who, COUNT(d.taker) AS n FROM visits v LEFT JOIN drugs d ON v.who = d.taker "
    "GROUP BY v.who) AS t GROUP BY n",
    "SELECT COUNT(d.taker) FROM visits v LEFT JOIN drugs d ON v.who = d.taker WHERE size > 0",
    "SELECT COUNT(*) FROM visits LEFT JOIN drugs ON drugs.taker = visits.who WHERE drugs.taker IS NULL OR dose > 5",
    "SELECT SUM(CASE WHEN t.taker IS NOT NULL THEN size END) FROM visits v LEFT JOIN (SELECT taker, COUNT(*) AS n "
    "FROM drugs WHERE dose > 5 GROUP BY taker) AS t ON v.who = t.taker",
    "SELECT dose, COUNT(*) FROM drugs GROUP BY dose",
    "SELECT region, COVAR_POP(size, dose), AVG(size) FROM visits JOIN drugs ON visits.who = drugs.taker "
    "LEFT JOIN spots ON visits.place = spots.code GROUP BY region",
    "SELECT STDDEV(beds) FROM visits LEFT JOIN spots ON visits.place = spots.code WHERE size > 0",
    "SELECT COUNT(DISTINCT region) FROM visits JOIN spots ON visits.place = spots.code",
]


def random_rows(random: np.random.Generator, types: dict[str, str], most: int) -> list[dict[str, Any]]:
    """Return rows of a few units, with everything odd in them."""
    return [
        {name: VALUES[name][random.integers(len(VALUES[name]))] for name in types}
        for _ in range(random.integers(0, most))
    ]


class Clinic:
    """Two private tables in memory, and a dataset that asks them."""

    def __init__(self, folder: Path, contract: str = CONTRACT, spots: str = SPOTS) -> None:
        (folder / "spots.csv").write_text(spots, encoding="utf-8")
        (folder / "sizes.csv").write_text(SIZES, encoding="utf-8")
        (folder / "clinic.toml").write_text(contract, encoding="utf-8")
        self.connection = duckdb.connect(":memory:")
        self.connection.execute("CREATE TABLE v (who BIGINT, size BIGINT, weight DOUBLE, place VARCHAR, day DATE)")
        self.connection.execute("CREATE TABLE d (taker BIGINT, dose BIGINT, day DATE)")
        self.dataset = Dataset.load(folder / "clinic.toml")
        self.dataset.__dict__["engine"] = DuckDB(self.connection, exp.to_table("v"))
        self.dataset._others["drugs"] = DuckDB(self.connection.cursor(), exp.to_table("d"))

    def fill(self, visits: list[dict[str, Any]], drugs: list[dict[str, Any]]) -> None:
        """Put these rows in place of all others."""
        for table, rows in (("v", visits), ("d", drugs)):
            self.connection.execute(f"DELETE FROM {table}")
            if rows:
                tuples = ", ".join(f"({', '.join(map(text, row.values()))})" for row in rows)
                self.connection.execute(f"INSERT INTO {table} VALUES {tuples}")

    def totals(self, query: Query, visits: list[dict[str, Any]], drugs: list[dict[str, Any]]) -> list[list[int]]:
        """Return what a statement adds up over these rows."""
        self.fill(visits, drugs)
        return totals_of(query)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """Two private tables."""
    found = Clinic(tmp_path_factory.mktemp("clinic"))
    yield found
    found.dataset.close()


def as_dates(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with days in place of their texts."""
    return [row | {"day": row["day"] and date.fromisoformat(row["day"])} for row in rows]


def expected(query: Query, visits: list[dict[str, Any]], drugs: list[dict[str, Any]]) -> list[list[int]]:
    """Return the totals in plain Python."""
    question = query.question
    private = {"visits": as_dates(visits), "drugs": as_dates(drugs)}
    if question.table.relation is None:
        return oracle.totals(question, private[question.table.name], ["dose", "size"])
    rows = rows_of(question.table, private, PUBLIC)
    return oracle.totals(question, rows)


@pytest.mark.slow
@pytest.mark.parametrize("sql", MADE + CHOSEN + JOINS)
def test_totals_are_those_of_plain_python(clinic: Clinic, sql: str) -> None:
    """A statement over rows made of rows and over joins adds up what plain Python finds in the same rows."""
    random = np.random.default_rng(20261117)
    query = clinic.dataset.sql(sql)
    for _ in range(6):
        visits, drugs = random_rows(random, VISITS, 20), random_rows(random, DRUGS, 12)
        assert clinic.totals(query, visits, drugs) == expected(query, visits, drugs), sql


@pytest.mark.slow
@pytest.mark.parametrize("sql", MADE + CHOSEN + JOINS)
def test_no_unit_changes_more_than_the_sensitivity(clinic: Clinic, sql: str) -> None:
    """Removing all rows of a unit from all private tables changes all totals together by at most the sensitivity."""
    random = np.random.default_rng(20261118)
    query = clinic.dataset.sql(sql)
    most, most_seen = oracle.sensitivity(query.question), 0
    for _ in range(8):
        visits, drugs = random_rows(random, VISITS, 20), random_rows(random, DRUGS, 12)
        without = [[row for row in rows if next(iter(row.values())) != 1] for rows in (visits, drugs)]
        change = distance(clinic.totals(query, visits, drugs), clinic.totals(query, *without))
        most_seen = max(most_seen, change)
        assert change <= most, sql
    plan = planned(query)
    if query.question.table.rows_are_units:
        assert plan.request.unit is None
    assert most_seen > 0 or "d >" in sql or "m IS NULL" in sql, "the test saw no change at all"


def test_a_row_of_two_units_is_caught(clinic: Clinic) -> None:
    """Negative control: rows joined by a column that is not the unit change by more than the sensitivity."""
    query = clinic.dataset.sql("SELECT COUNT(*) FROM visits AS v JOIN visits AS w USING (who)")
    right = planned(query)
    wrong = right.sql.replace('j0."who" = j1."who"', 'j0."size" = j1."size"').replace(
        'SELECT "who" FROM v', 'SELECT "who", "size" FROM v'
    )
    assert wrong != right.sql
    one = [{"who": 1, "size": 0, "weight": None, "place": None, "day": None}]
    others = [{"who": who, "size": 0, "weight": None, "place": None, "day": None} for who in (2, 3)]
    most = oracle.sensitivity(query.question)
    found = []
    for rows in (one + others, others):
        clinic.fill(rows, [])
        found.append([right.totals(clinic.dataset.engine.run(sql)) for sql in (right.sql, wrong)])
    assert distance(found[0][0], found[1][0]) <= most
    assert distance(found[0][1], found[1][1]) > most


RANDOM_MEASURES = [
    "MAX(size)", "MIN(weight)", "COUNT(*)", "LEAST(COUNT(*), {c})", "SUM(size)",
    "LEAST(GREATEST(SUM(size), -{c}), {c})",
    "AVG(weight)", "COUNT(DISTINCT place)", "SUM(weight)", "COUNT(size)",
    "ARG_MIN(size, weight)", "ARG_MAX(weight, size)",
]  # fmt: skip
RANDOM_FROM = [
    "visits",
    "visits JOIN drugs ON visits.who = drugs.taker",
    "visits LEFT JOIN spots ON visits.place = spots.code",
    "visits LEFT JOIN drugs ON visits.who = drugs.taker JOIN sizes ON visits.size = sizes.number",
]
RANDOM_ASKED = ["COUNT(*)", "SUM(m)", "AVG(m)", "PROPORTION(m > 1)", "n, COUNT(*)"]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 2, 7, 40])
def test_random_contracts_groupings_and_joins(tmp_path: Path, limit: int) -> None:
    """Whatever the row limit, the grouping, the join and the rows, a unit changes no more than the sensitivity."""
    random = np.random.default_rng(limit)
    found = Clinic(tmp_path, CONTRACT.replace("max_rows_per_unit = 3", f"max_rows_per_unit = {limit}"))

    def one(choices: list[str]) -> str:
        return choices[random.integers(len(choices))]

    with found.dataset:
        for _ in range(40):
            measure = one(RANDOM_MEASURES).replace("{c}", str(random.integers(1, 50)))
            asked, where = one(RANDOM_ASKED), one(["", "WHERE size > 0", "WHERE place <> 'b' OR size IS NULL"])
            inner = f"SELECT who, {measure} AS m, LEAST(COUNT(*), 4) AS n FROM {one(RANDOM_FROM)} {where} GROUP BY who"
            query = found.dataset.sql(f"SELECT {asked} FROM ({inner}) AS t" + (" GROUP BY n" if "n," in asked else ""))
            visits, drugs = random_rows(random, VISITS, 30), random_rows(random, DRUGS, 12)
            without = [[row for row in rows if next(iter(row.values())) != 1] for rows in (visits, drugs)]
            more = found.totals(query, visits, drugs)
            assert more == expected(query, visits, drugs), str(query)
            assert distance(more, found.totals(query, *without)) <= oracle.sensitivity(query.question), str(query)


@pytest.mark.parametrize("sql", MADE + CHOSEN + JOINS)
def test_the_text_of_a_question_reads_as_itself(clinic: Clinic, sql: str) -> None:
    """A question about made rows is written as SQL that reads as the same question."""
    once = str(clinic.dataset.sql(sql))
    assert str(clinic.dataset.sql(once)) == once


GROUPED = [
    ("SELECT who, day, place FROM visits GROUP BY who, day, place", 3),
    ("SELECT who, CASE WHEN size > 0 THEN 'a' END AS k FROM visits GROUP BY who, k", 2),
    ("SELECT taker, dose FROM drugs JOIN visits ON taker = who GROUP BY taker, dose", 2),
    ("SELECT who, dose FROM visits JOIN drugs ON who = taker GROUP BY who, dose", 2),
    ("SELECT who, dose FROM visits LEFT JOIN drugs ON who = taker AND dose > size GROUP BY who, dose", 3),
    ("SELECT who, region FROM visits JOIN spots ON place = code GROUP BY who, region", 3),
]


@pytest.mark.parametrize(("inner", "limit"), GROUPED)
def test_a_unit_counts_with_as_many_groups_as_it_can_have(tmp_path: Path, inner: str, limit: int) -> None:
    """The row limit of groups follows from the keys, and from the limits of the tables that they are of."""
    contract = CONTRACT.replace('unit = "taker"\n', 'unit = "taker"\nmax_rows_per_unit = 2\n')
    found = Clinic(tmp_path, contract)
    assert found.dataset.sql(f"SELECT COUNT(*) FROM ({inner}) AS t").question.table.limit == limit
    found.dataset.close()


def test_python_and_sql_ask_the_same(clinic: Clinic) -> None:
    """What is asked in Python is what is asked in SQL."""
    d = clinic.dataset
    pairs = [
        (
            d.per_unit(n="COUNT(*)", m="MAX(size)", where="place = 'a'").mean("m").where("n > 1"),
            "SELECT AVG(m) FROM (SELECT who, COUNT(*) AS n, MAX(size) AS m FROM visits WHERE place = 'a' GROUP BY who) "
            "AS t WHERE n > 1",
        ),
        (
            d.per_unit(first="FIRST(place ORDER BY day)", big="BOOL_OR(size > 5)").count().by("first", "big"),
            "SELECT first, big, COUNT(*) FROM (SELECT who, ARG_MIN(place, day) AS first, MAX(CASE WHEN size > 5 "
            "THEN TRUE WHEN NOT size > 5 THEN FALSE END) AS big FROM visits GROUP BY who) AS t GROUP BY first, big",
        ),
        (d.per_unit().count_units(), "SELECT COUNT(DISTINCT who) FROM (SELECT DISTINCT who FROM visits)"),
        (
            d.join("drugs", keep=True).per_unit(n="COUNT(drugs.taker)").mean("n"),
            "SELECT AVG(n) FROM (SELECT visits.who, COUNT(drugs.taker) AS n FROM visits LEFT JOIN drugs ON "
            "visits.who = drugs.taker GROUP BY visits.who) AS t",
        ),
        (
            d.not_exists("drugs").count(),
            "SELECT COUNT(*) FROM visits LEFT JOIN drugs ON visits.who = drugs.taker WHERE drugs.taker IS NULL",
        ),
        (d.rows_of("drugs").sum("dose"), "SELECT SUM(dose) FROM drugs"),
        (
            d.join("drugs").join("spots", on="place", keep=True).count().by("region"),
            "SELECT region, COUNT(*) FROM visits JOIN drugs ON who = drugs.taker LEFT JOIN spots ON place = spots.code "
            "GROUP BY region",
        ),
        (
            d.join(d.rows_of("drugs").per_unit(n="COUNT(*)")).mean("n"),
            "SELECT AVG(n) FROM visits JOIN (SELECT taker, COUNT(*) AS n FROM drugs GROUP BY taker) t "
            "ON visits.who = t.taker",
        ),
    ]
    for asked, sql in pairs:
        assert str(asked) == str(d.sql(sql))


def test_rows_without_a_match_are_those_for_which_none_is_found(clinic: Clinic) -> None:
    """LEFT JOIN and IS NULL of what rows are matched by is NOT EXISTS, if no other column of the table is named."""
    found = clinic.dataset.sql("SELECT COUNT(*) FROM visits WHERE NOT EXISTS (SELECT 1 FROM drugs WHERE taker = who)")
    for joined in ("drugs ON visits.who = drugs.taker", "drugs ON drugs.TAKER = visits.who"):
        asked = clinic.dataset.sql(f"SELECT COUNT(*) FROM visits LEFT JOIN {joined} WHERE drugs.taker IS NULL")
        assert str(asked) == str(found).replace("taker = who", "visits.who = drugs.taker")
    for where in (
        "drugs.taker IS NULL OR drugs.dose > 5",
        "drugs.dose IS NULL",
        "drugs.taker IS NULL AND drugs.dose > 5",
    ):
        sql = f"SELECT COUNT(*) FROM visits LEFT JOIN drugs ON visits.who = drugs.taker WHERE {where}"
        assert "NOT EXISTS" not in str(clinic.dataset.sql(sql))


def test_the_unit_of_a_table_without_a_match_is_missing(clinic: Clinic) -> None:
    """After LEFT JOIN the unit of the table that is joined is not taken for that of the row, which is always there."""
    joined = "visits LEFT JOIN drugs ON visits.who = drugs.taker"
    for sql, words in [
        (f"SELECT COUNT(DISTINCT drugs.taker) FROM {joined}", "drugs.taker"),
        (f"SELECT COUNT(*) FROM (SELECT DISTINCT drugs.taker FROM {joined})", "drugs.taker"),
        (f"SELECT COUNT(*) FROM {joined} JOIN visits AS v ON drugs.taker = v.who", "drugs.taker = v.who"),
    ]:
        with pytest.raises(InvalidQuestion, match=r"without a match.*visits\.who") as refused:
            clinic.dataset.sql(sql)
        assert str(refused.value).endswith("^" * len(words))
        assert str(refused.value).count("^") == len(words)
    for unit, by in [("visits.who", joined), ("who", joined), ("drugs.taker", joined.replace("LEFT ", ""))]:
        assert clinic.dataset.sql(f"SELECT COUNT(DISTINCT {unit}) FROM {by}").question.measure == CountUnits("who")


def test_an_inner_select_has_names_of_its_own(clinic: Clinic) -> None:
    """A table that is joined outside can be asked inside by its name, and one that is asked outside only cannot."""
    sql = (
        "SELECT AVG(n) FROM visits LEFT JOIN drugs ON visits.who = drugs.taker "
        "JOIN (SELECT drugs.taker, COUNT(*) AS n FROM drugs GROUP BY {0}.taker) AS s ON visits.who = s.taker"
    )
    clinic.dataset.sql(sql.format("drugs"))
    with pytest.raises(InvalidQuestion, match=r"visits\.taker names another table"):
        clinic.dataset.sql(sql.format("visits"))


def test_explanations_tell_bounds_and_that_no_limit_is_in_force(clinic: Clinic) -> None:
    """For rows made of rows, an explanation says where each column can be, why, and that there is no row limit."""
    sql = "SELECT AVG(s) FROM (SELECT who, SUM(size) AS s, LEAST(COUNT(*), 9) AS n FROM visits GROUP BY who) AS t"
    told = clinic.dataset.sql(sql).explain(1, pooling=1)
    assert told.row_limit == "none: each row summarises all rows of one who"
    assert told.made == (
        "s = SUM(size) in [-9, 21] step 1 (clamped to what 3 rows can give, the contract's max_rows_per_unit)",
        "n = LEAST(COUNT(*), 9) in [0, 9] step 1 (clamped)",
    )
    assert "input columns" in str(told)
    joined = clinic.dataset.sql("SELECT SUM(beds) FROM visits JOIN spots ON visits.place = spots.code")
    assert "beds follows from visits.place, by the public table spots" in joined.explain(1, pooling=1).made
    assert joined.explain(1, pooling=1).row_limit.startswith(IN_FORCE)


@pytest.mark.slow
@pytest.mark.parametrize("inserted", ["77", ", 77", "0.77", ", 'zz'", "'zz',", ", zz", "zz ,"])
def test_nothing_inside_is_passed_over(clinic: Clinic, inserted: str) -> None:
    """Whatever is put into an inner SELECT or a join, the text is refused, or it is part of the question."""
    for sql in (MADE[4], MADE[0], JOINS[7], JOINS[8]):
        for changed in with_inserted(sql, inserted):
            try:
                question = str(clinic.dataset.sql(changed).question)
            except InvalidQuestion:
                continue
            named = changed.replace(inserted, f"AS {inserted}")  # a name changes nothing
            assert inserted.strip(" ,'") in question or question == str(clinic.dataset.sql(named).question), changed


REFUSED = [
    (
        "SELECT COUNT(*) FROM visits JOIN (SELECT place, COUNT(*) AS n FROM visits GROUP BY place) AS t USING (place)",
        "place",
        "GROUP BY who",
    ),
    ("SELECT COUNT(*) FROM (SELECT who, place FROM visits GROUP BY who)", "place", "may differ"),
    ("SELECT COUNT(*) FROM (SELECT who, SUM(place) AS p FROM visits GROUP BY who)", "place", "no SUM; take MAX"),
    ("SELECT COUNT(*) FROM (SELECT who, ARG_MIN(place) AS p FROM visits GROUP BY who)", "place", "in which row"),
    ("SELECT COUNT(*) FROM (SELECT who, MAX(size) FROM visits GROUP BY who)", "size", "needs a name"),
    ("SELECT COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM visits)", "who", "add GROUP BY who"),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT place FROM visits)", "place", "SELECT DISTINCT who"),
    ("SELECT COUNT(*) FROM (SELECT who, SUM(day) AS s FROM visits GROUP BY who)", "day", "no sum"),
    ("SELECT COUNT(*) FROM (SELECT who, MEDIAN(size) AS s FROM visits GROUP BY who)", "size", "MAX, MIN, AVG, SUM"),
    ("SELECT COUNT(*) FROM (SELECT who, LEAST(MAX(size), 3) AS s FROM visits GROUP BY who)", "size", "COUNT and SUM"),
    ("SELECT COUNT(*) FROM (SELECT who, LEAST(COUNT(*), 2.5) AS s FROM visits GROUP BY who)", "2.5", "multiples"),
    ("SELECT COUNT(*) FROM (SELECT who, LEAST(COUNT(*), 0) AS s FROM visits GROUP BY who)", "0", "no room"),
    (
        "SELECT COUNT(*) FROM (SELECT who, COUNT(DISTINCT size) AS s FROM visits GROUP BY who)",
        "size",
        "only categories",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who ORDER BY n)",
        "n",
        "subquery; leave it out",
    ),
    ("SELECT COUNT(*) FROM (SELECT who, COUNT(*) AS n, SUM(size) AS n FROM visits GROUP BY who)", "size", "twice"),
    ("SELECT COUNT(*) FROM visits JOIN drugs ON visits.day = drugs.day", "day", "visits.who = drugs.taker"),
    ("SELECT COUNT(*) FROM visits JOIN drugs USING (day)", "day", "two units"),
    ("SELECT COUNT(*) FROM visits, drugs", "drugs", "which rows of drugs match"),
    ("SELECT COUNT(*) FROM visits CROSS JOIN drugs", "drugs", "which rows of drugs match"),
    ("SELECT COUNT(*) FROM visits RIGHT JOIN drugs ON visits.who = drugs.taker", "drugs", "RIGHT JOIN"),
    ("SELECT COUNT(*) FROM visits FULL JOIN drugs ON visits.who = drugs.taker", "drugs", "FULL JOIN"),
    ("SELECT COUNT(*) FROM visits NATURAL JOIN drugs", "drugs", "NATURAL JOIN"),
    ("SELECT COUNT(*) FROM visits JOIN drugs ON visits.who < drugs.taker", "taker", "two units"),
    ("SELECT COUNT(*) FROM visits JOIN spots ON visits.size = spots.code", "code", "possible value"),
    ("SELECT COUNT(*) FROM visits JOIN elsewhere USING (who)", "elsewhere", "no table"),
    ("SELECT COUNT(*) FROM visits JOIN visits USING (who)", "visits", "another name with AS"),
    (
        "SELECT COUNT(*) FROM visits JOIN drugs ON visits.who = drugs.taker WHERE day > '2026-01-01'",
        "day",
        "visits.day",
    ),
    ("SELECT COUNT(*) FROM elsewhere", "elsewhere", "the contract has"),
    ("SELECT AVG(size) FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who)", "size", "has no column 'size'"),
    ("SELECT COUNT(*) FROM (SELECT who FROM visits UNION SELECT taker FROM drugs)", "who", "must be one SELECT"),
]


@pytest.mark.parametrize(("sql", "marked", "said"), REFUSED)
def test_what_has_no_one_unit_is_refused(clinic: Clinic, sql: str, marked: str | None, said: str) -> None:
    """Every other inner SELECT and join is refused with a mark under it, and it is said what would do."""
    with pytest.raises(InvalidQuestion) as refusal:
        clinic.dataset.sql(sql)
    message, _, below = str(refusal.value).partition("\n")
    assert said in message
    if marked is not None:
        line, _, marks = below.partition("\n")
        start = marks.index("^")
        assert marked in line[start : start + marks.count("^")]


BROKEN = [
    ('key = "code"', 'key = "region"', "must be unique", "region"),
    ('key = "code"', 'key = "nothing"', "header of the public table", "spots.csv"),
    ('source = "spots.csv"', 'source = "nothing.csv"', "cannot read the public table", "nothing.csv"),
    ("public = true\nkey", 'public = "yes"\nkey', "public must be true", '"yes"'),
    ("columns.beds]", "columns.code]", "does not hold", "spots.csv"),
    ("[tables.drugs.columns.dose]", "[tables.drugs.columns.who]", "cannot be queried as a column", "columns.who]"),
    ("[5, 20] step 5", "[5, 20] stop 5", "bounds of 'dose'", "stop 5"),
    ('bounds = "[5, 20]', 'bonds = "[5, 20]', "unknown key 'bonds' in [tables.drugs.columns.dose]", "bonds"),
    ('unit = "taker"', 'unit = "row"', "the same units", '"row"'),
    ('unit = "taker"', 'name = "taker"', "unknown key 'name' in [tables.drugs]", '"taker"'),
    ('unit = "who"\nmax_rows_per_unit = 3', 'unit = "row"', "would belong to a row", "[tables.drugs]"),
    ("[tables.drugs]", "[tables.visits]", "is the table of [dataset]", "[tables.visits]"),
]


@pytest.mark.parametrize(("right", "wrong", "said", "at"), BROKEN)
def test_mistakes_in_tables_are_told_with_their_line(
    tmp_path: Path, right: str, wrong: str, said: str, at: str
) -> None:
    """A contract with a mistake in one of its tables is refused, and the message names the line."""
    assert right in CONTRACT
    text = CONTRACT.replace(right, wrong, 1)
    with pytest.raises(InvalidContract) as refusal:
        Clinic(tmp_path, text)
    assert said in str(refusal.value)
    line = next(number for number, one in enumerate(text.split("\n"), 1) if at in one)
    assert f"line {line}:" in str(refusal.value)


@pytest.mark.parametrize("beds", ["1_0", "١٠", "\u20030", "0x10", "ten", "NaN", "1e99999999999999999999"])
def test_a_number_of_a_public_table_is_a_decimal(tmp_path: Path, beds: str) -> None:
    """What only Python reads as a number is refused there too, with the row."""
    with pytest.raises(InvalidContract, match="row 2 of the public table does not hold"):
        Clinic(tmp_path, spots=SPOTS.replace("a,up,10", f"a,up,{beds}"))


def test_tables_share_the_account_and_the_terms(tmp_path: Path) -> None:
    """All tables are charged to one account, and another source, bound or public row needs the custodian's record."""
    found = Clinic(tmp_path)
    with found.dataset as d:
        d.per_unit(n="COUNT(*)").sum("n").ask(1, analyst="ana", pooling=1)
        d.rows_of("drugs").count().ask(1, analyst="ana", pooling=1)
        d.sql(JOINS[0]).ask(1, analyst="ana")
        assert d.ledger.balance("visits", "ana").spent == 3
    changes = [
        (CONTRACT.replace("[5, 20] step 5", "[5, 25] step 5"), SPOTS),
        (CONTRACT.replace('unit = "taker"', 'unit = "other"'), SPOTS),
        (CONTRACT, SPOTS.replace("10", "11")),
    ]
    for contract, spots in changes:
        with Clinic(tmp_path, contract, spots).dataset as d, pytest.raises(LedgerConflict):
            d.count().ask(1, analyst="ana", pooling=1)


def test_a_table_that_is_owned_is_not_taken_for_another(tmp_path: Path) -> None:
    """What an analyst owns of one table answers no question about what is made of it."""
    found = Clinic(tmp_path)
    with found.dataset as d:
        d.count().by("place").ask(1, analyst="ana")
        assert d.count().owned("ana") is not None
        assert d.join("drugs").count().owned("ana") is None
        assert d.rows_of("drugs").count().owned("ana") is None
        d.per_unit(n="COUNT(*)").count().by("n").ask(1, analyst="ana")
        assert d.per_unit(n="COUNT(*)").count().owned("ana") is not None
        assert d.per_unit(n="COUNT(*)", where="place = 'a'").count().owned("ana") is None


def test_a_question_is_the_same_whatever_was_asked_before(tmp_path: Path) -> None:
    """What tells the contract of a table made of tables from others does not depend on what the dataset did before."""
    within = '[columns.part]\nkeys = ["a"]\nwithin = "place"\nmap = { "a" = "x" }\n[columns.place]\nkeys = ["x"]\n'
    text = (
        f"[dataset]\nname = 'v'\nsource = 'v.csv'\nunit = 'who'\nmax_rows_per_unit = 2\n{within}[budget]\ntotal = 1\n"
    )
    (tmp_path / "v.toml").write_text(text, encoding="utf-8")
    fresh, used = (Dataset.load(tmp_path / "v.toml") for _ in range(2))
    assert used.identity != used.contract.text  # the map is told, too
    assert used.per_unit(n="COUNT(*)").identity == fresh.per_unit(n="COUNT(*)").identity


def test_texts_are_joined_by_their_bytes(tmp_path: Path) -> None:
    """A collation in which two units are equal does not make a row belong to both."""
    contract = CONTRACT.replace('unit = "taker"', 'unit = "who"')
    found = Clinic(tmp_path, contract)
    with found.dataset as d:
        found.connection.execute(
            "CREATE OR REPLACE TABLE v (who VARCHAR, size BIGINT, weight DOUBLE, place VARCHAR, day DATE)"
        )
        found.connection.execute("CREATE OR REPLACE TABLE d (who VARCHAR COLLATE NOCASE, dose BIGINT, day DATE)")
        found.connection.execute("INSERT INTO v VALUES ('A', 1, 1, 'a', NULL), ('a', 1, 1, 'a', NULL)")
        found.connection.execute("INSERT INTO d VALUES ('a', 5, NULL)")
        query = d.join("drugs").count()
        assert totals_of(query) == [[planned(query).request.weights.one]]


def test_a_key_matches_one_public_row_in_any_collation(tmp_path: Path) -> None:
    """A collation in which two public keys are equal does not make two rows of one."""
    spots = "code,region,beds\na,up,10\nA,down,20\n"
    found = Clinic(tmp_path, CONTRACT.replace('["a", "b", "c"]', '["a", "A"]'), spots)
    with found.dataset as d:
        found.connection.execute("ALTER TABLE v ALTER place TYPE VARCHAR COLLATE NOCASE")
        found.connection.execute("INSERT INTO v VALUES (1, 1, 1, 'a', NULL)")
        query = d.join("spots", on="place").count()
        assert totals_of(query) == [[planned(query).request.weights.one]]


LONG = "m" * 70
NAMED_ALIKE = [
    'SELECT SUM("WHO") FROM (SELECT who, MAX(size) AS "WHO" FROM visits GROUP BY who) AS t',
    'SELECT AVG("M") FROM (SELECT who, MAX(size) AS m, MAX(weight) AS "M" FROM visits GROUP BY who) AS t WHERE m > 0',
    'SELECT SUM(t."TAKER") FROM visits JOIN (SELECT taker, MAX(dose) AS "TAKER" FROM drugs GROUP BY taker) AS t '
    "ON visits.who = t.taker",
    'SELECT SUM("SIZE") FROM visits JOIN (SELECT taker, MAX(dose) AS "SIZE" FROM drugs GROUP BY taker) AS t '
    "ON visits.who = t.taker WHERE size > 0",
    f"SELECT SUM({LONG}a) FROM (SELECT who, MAX(size) AS {LONG}a, MAX(weight) AS {LONG}b FROM visits GROUP BY who) "
    f"AS t WHERE {LONG}b > 1",
]


@pytest.mark.parametrize("sql", NAMED_ALIKE)
def test_no_column_is_taken_for_one_named_alike(clinic: Clinic, sql: str) -> None:
    """Names that an engine does not tell apart, such as those of the unit in capitals, are told apart all the same.

    Else a question would add up the numbers of units, which nothing clips.
    """
    visits = [
        {"who": who, "size": size, "weight": 1.5, "place": "a", "day": None}
        for who, size in ((10**9, 3), (10**9 + 1, 1))
    ]
    drugs = [{"taker": 10**9, "dose": 10, "day": None}]
    query = clinic.dataset.sql(sql)
    assert clinic.totals(query, visits, drugs) == expected(query, visits, drugs)


def test_a_table_of_another_contract_is_not_joined(clinic: Clinic, tmp_path: Path) -> None:
    """Another contract may call another column the unit: a row joined by that would belong to two units."""
    other = CONTRACT.replace('unit = "taker"', 'unit = "dose"').replace(
        "[tables.drugs.columns.dose]", "[tables.drugs.columns.taker]"
    )
    with Clinic(tmp_path, other).dataset as stranger:
        for joined in (stranger.rows_of("drugs"), stranger.rows_of("drugs").per_unit(n="COUNT(*)")):
            with pytest.raises(InvalidQuestion, match="of another contract"):
                clinic.dataset.join(joined)
    with pytest.raises(InvalidQuestion, match="there is no table"):
        clinic.dataset.join(None)  # type: ignore[arg-type]


def test_units_of_different_kinds_are_not_joined(clinic: Clinic) -> None:
    """Units that a row could keep from being compared are refused before there is a charge."""
    kept = clinic.dataset._others["drugs"]
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE d (taker DECIMAL(9, 2), dose BIGINT, day DATE)")
    clinic.dataset._others["drugs"] = DuckDB(connection, exp.to_table("d"))
    try:
        with pytest.raises(InvalidQuestion, match="convert one of the tables"):
            clinic.dataset.join("drugs").mean("dose").plan(1, pooling=1)
    finally:
        clinic.dataset._others["drugs"] = kept


ON_ENGINES = [*MADE[1::3], *CHOSEN, *JOINS[::2], JOINS[3], *NAMED_ALIKE]


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["bigint", "text", "digits"])
def test_every_engine_gives_the_same_integers(engine_place: Place, tmp_path: Path, unit: str) -> None:
    """Rows made of rows and joins give on every engine the totals that plain Python finds.

    Units are numbers, or texts, or numbers in one table and their digits in the other.
    """
    place = InParquet(tmp_path) if engine_place.name == "duckdb" else engine_place
    random = np.random.default_rng(20261119)
    visits, drugs = random_rows(random, VISITS, 60), random_rows(random, DRUGS, 40)
    if unit == "text":
        names = {None: None, 1: "A", 2: "a", 3: "a ", 4: "ä", 5: "b"}
        visits = [row | {"who": names[row["who"]]} for row in visits]
        drugs = [row | {"taker": names[row["taker"]]} for row in drugs]
    (tmp_path / "spots.csv").write_text(SPOTS, encoding="utf-8")
    (tmp_path / "sizes.csv").write_text(SIZES, encoding="utf-8")
    contract = CONTRACT.replace('"spots.csv"', f"'{tmp_path}/spots.csv'").replace(
        '"sizes.csv"', f"'{tmp_path}/sizes.csv'"
    )
    stored = drugs
    if unit == "digits":
        stored = [row | {"taker": None if row["taker"] is None else str(row["taker"])} for row in drugs]
    types = ("bigint", "text") if unit == "digits" else (unit, unit)
    source, _ = place.put(f"drugs_{place.name}", list(as_dates(stored)), DRUGS | {"taker": types[1]}, ())
    contract = contract.replace("[tables.drugs]\n", f"[tables.drugs]\n{source}\n")
    dataset = place.dataset(as_dates(visits), VISITS | {"who": types[0]}, contract)
    for sql in ON_ENGINES:
        query = dataset.sql(sql)
        assert totals_of(query) == expected(query, visits, drugs), sql
