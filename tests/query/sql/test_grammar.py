"""SQL and Python ask the same questions, and everything outside the grammar is refused with a mark under it."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import duckdb
import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset, Query, column
from tests.helpers.engine_places import planned
from tests.helpers.sparing import sparing

CONTRACT = """
[dataset]
name = "visits"
source = "SOURCE"
unit = "person"
max_rows_per_unit = 2
[columns.age]
bounds = "[0, 120] step 1"
[columns.cost]
bounds = "[-10, 1000] step 0.01"
[columns.clinic]
keys = ["north", "south", "it's"]
[columns.ward]
keys = [1, 2]
[columns.smoker]
keys = [true, false]
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
[budget]
total = 10
"""


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A dataset to ask."""
    path = tmp_path_factory.mktemp("visits") / "visits.parquet"
    duckdb.sql(
        f"""COPY (SELECT i % 7 AS person, i AS age, i * 1.5::DOUBLE AS cost, 'north' AS clinic, 1 AS ward,
        true AS smoker, DATE '2026-01-05' AS day FROM range(50) t(i)) TO '{path}' (FORMAT parquet)"""
    )
    return Dataset.parse(CONTRACT.replace("SOURCE", str(path)))


Ask = Callable[[Dataset], Query]
age, cost, clinic, day = column("age"), column("cost"), column("clinic"), column("day")
SAME: list[tuple[str, Ask]] = [
    ("SELECT COUNT(*) FROM visits", lambda d: d.count()),
    ("select count(1) from visits;", lambda d: d.count()),
    ("SELECT COUNT(*) AS n FROM visits -- how many", lambda d: d.count()),
    ("SELECT /* a note */ COUNT(*) FROM \"visits\"", lambda d: d.count()),
    ("SELECT COUNT(age) FROM visits", lambda d: d.count().where(~age.is_missing())),
    ("SELECT COUNT(DISTINCT person) FROM visits", lambda d: d.count_units()),
    ("SELECT COUNT(DISTINCT clinic) FROM visits", lambda d: d.count_keys("clinic")),
    ("SELECT COUNT(DISTINCT age) FROM visits", lambda d: d.count_keys("age")),
    ("SELECT MIN(age) FROM visits", lambda d: d.minimum("age")),
    ("SELECT max(cost) FROM visits", lambda d: d.maximum("cost")),
    ("SELECT VARIANCE(age) FROM visits", lambda d: d.variance("age")),
    ("SELECT VAR_SAMP(age) FROM visits", lambda d: d.variance("age")),
    ("SELECT var_pop(age) FROM visits", lambda d: d.variance("age", population=True)),
    ("SELECT STDDEV(cost) FROM visits", lambda d: d.stddev("cost")),
    ("SELECT STDDEV_SAMP(cost) FROM visits", lambda d: d.stddev("cost")),
    ("SELECT STDDEV_POP(cost) FROM visits", lambda d: d.stddev("cost", population=True)),
    ("SELECT COVAR_SAMP(age, cost) FROM visits", lambda d: d.covariance("age", "cost")),
    ("SELECT COVAR_POP(age, cost) FROM visits", lambda d: d.covariance("age", "cost", population=True)),
    ("SELECT CORR(cost, age) FROM visits", lambda d: d.correlation("cost", "age")),
    ("SELECT SUM(age) FROM visits", lambda d: d.sum("age")),
    ('SELECT SUM("age") FROM visits', lambda d: d.sum("age")),
    ("SELECT AVG(age) FROM visits", lambda d: d.mean("age")),
    ("SELECT MEDIAN(age) FROM visits", lambda d: d.median("age")),
    ("SELECT QUANTILE(age, 0.9) FROM visits", lambda d: d.quantile("age", 0.9)),
    ("SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age) FROM visits", lambda d: d.quantile("age", 0.9)),
    ("SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY age) FROM visits", lambda d: d.median("age")),
    ("SELECT AVG(CASE WHEN age >= 65 THEN 1 ELSE 0 END) FROM visits", lambda d: d.proportion(age >= 65)),
    ("SELECT PROPORTION(age >= 65) FROM visits", lambda d: d.proportion("age >= 65")),
    ("SELECT HISTOGRAM(age) FROM visits", lambda d: d.histogram("age")),
    ("SELECT HISTOGRAM(age, 7) FROM visits", lambda d: d.histogram("age", 7)),
    ("SELECT HISTOGRAM(clinic) FROM visits", lambda d: d.histogram("clinic")),
    ("SELECT clinic, AVG(age) FROM visits GROUP BY clinic", lambda d: d.mean("age").by("clinic")),
    ("SELECT AVG(age), clinic FROM visits GROUP BY clinic, ward", lambda d: d.mean("age").by("clinic", "ward")),
    ("SELECT COUNT(*) FROM visits GROUP BY smoker", lambda d: d.count().by("smoker")),
    ("SELECT COUNT(*) FROM visits GROUP BY ROLLUP (clinic, ward)",
     lambda d: d.count().groupings(("clinic", "ward"), ("clinic",), ())),
    ("SELECT COUNT(*) FROM visits GROUP BY CUBE (clinic, ward)",
     lambda d: d.count().by("clinic", "ward").with_totals()),
    ("SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic, ward), clinic, (ward), ())",
     lambda d: d.count().by("clinic", "ward").with_totals()),
    ("SELECT clinic, COUNT(*) FROM visits GROUP BY clinic, ROLLUP (ward)",
     lambda d: d.count().groupings(("clinic", "ward"), ("clinic",))),
    ("SELECT COUNT(*) FROM visits GROUP BY ROLLUP ((clinic, ward), smoker)",
     lambda d: d.count().groupings(("clinic", "ward", "smoker"), ("clinic", "ward"), ())),
    ("SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS (ROLLUP (clinic), CUBE (ward))",
     lambda d: d.count().groupings(("clinic",), (), ("ward",))),
    ("SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS (())", lambda d: d.count().groupings(())),
    ("SELECT COUNT(DISTINCT person) FROM visits GROUP BY ROLLUP (clinic)",
     lambda d: d.count_units().by("clinic").with_totals()),
    ("SELECT SUM(age) FROM visits GROUP BY ROLLUP (clinic)", lambda d: d.sum("age").by("clinic").with_totals()),
    ("SELECT HISTOGRAM(age, 7) FROM visits GROUP BY ROLLUP (clinic)",
     lambda d: d.histogram("age", 7).groupings(("clinic",), ())),
    ("SELECT COUNT(*) FROM visits WHERE age >= 65", lambda d: d.count().where(age >= 65)),
    ("SELECT COUNT(*) FROM visits WHERE 65 <= age", lambda d: d.count().where(age >= 65)),
    ("SELECT COUNT(*) FROM visits WHERE cost > -5", lambda d: d.count().where(cost > -5)),
    ("SELECT COUNT(*) FROM visits WHERE cost > 0.1", lambda d: d.count().where(cost > 0.1)),
    ("SELECT COUNT(*) FROM visits WHERE cost < 1e2", lambda d: d.count().where(cost < 100)),
    ("SELECT COUNT(*) FROM visits WHERE cost < 1e2", lambda d: d.count().where(cost < 100.0)),
    ("SELECT COUNT(*) FROM visits WHERE age != 3", lambda d: d.count().where(age != 3)),
    ("SELECT COUNT(*) FROM visits WHERE clinic = 'it''s'", lambda d: d.count().where(clinic == "it's")),
    ("SELECT COUNT(*) FROM visits WHERE smoker = TRUE", lambda d: d.count().where(column("smoker") == True)),  # noqa: E712
    ("SELECT COUNT(*) FROM visits WHERE clinic IN ('north', 'south')",
     lambda d: d.count().where(clinic.is_in(["north", "south"]))),
    ("SELECT COUNT(*) FROM visits WHERE clinic NOT IN ('north')", lambda d: d.count().where(~clinic.is_in(["north"]))),
    ("SELECT COUNT(*) FROM visits WHERE age BETWEEN 3 AND 5", lambda d: d.count().where(age.between(3, 5))),
    ("SELECT COUNT(*) FROM visits WHERE NOT age BETWEEN 3 AND 5", lambda d: d.count().where(~age.between(3, 5))),
    ("SELECT COUNT(*) FROM visits WHERE age IS NULL", lambda d: d.count().where(age.is_missing())),
    ("SELECT COUNT(*) FROM visits WHERE age IS NOT NULL", lambda d: d.count().where(~age.is_missing())),
    ("SELECT COUNT(*) FROM visits WHERE day < '2026-02-01'", lambda d: d.count().where(day < "2026-02-01")),
    ("SELECT COUNT(*) FROM visits WHERE day < DATE '2026-02-01'", lambda d: d.count().where("day < '2026-02-01'")),
    ("SELECT COUNT(*) FROM visits WHERE (age > 1 AND cost < 3) OR ward = 2",
     lambda d: d.count().where(((age > 1) & (cost < 3)) | (column("ward") == 2))),
    ("SELECT COUNT(*) FROM visits WHERE age > 1 AND cost < 3", lambda d: d.count().where(age > 1).where("cost < 3")),
    ("SELECT COUNT(*) FROM visits WHERE age > 1 AND cost < 3 AND ward = 2",
     lambda d: d.count().where((age > 1) & (cost < 3) & (column("ward") == 2))),
    ("SELECT COUNT(*) FROM visits WHERE age > 1 AND cost < 3 AND ward = 2",
     lambda d: d.count().where(age > 1).where(cost < 3).where("ward = 2")),
    ("SELECT V.Clinic, avg(v.AGE) FROM Visits v WHERE V.Cost > 1 GROUP BY v.CLINIC",
     lambda d: d.mean("age").where("COST > 1").by("clinic")),
    ("SELECT clinic, ward, COUNT(*) FROM visits GROUP BY 2, 1", lambda d: d.count().by("ward", "clinic")),
    ("SELECT COUNT(*), clinic AS c FROM visits GROUP BY c", lambda d: d.count().by("clinic")),
    ("SELECT COUNT(DISTINCT Person) FROM visits", lambda d: d.count_units()),
    ("SELECT avg(T.N) FROM (SELECT Person, COUNT(*) AS n FROM Visits GROUP BY PERSON) t",
     lambda d: d.per_unit(n="COUNT(*)").mean("n")),
    ("SELECT COUNT(*) FROM visits GROUP BY ROLLUP (clinic)", lambda d: d.count().groupings(("clinic",), ())),
    ("SELECT COUNT(*) FROM visits GROUP BY CUBE (clinic)", lambda d: d.count().by("clinic").with_totals()),
    ("SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic), ())",
     lambda d: d.count().groupings(("clinic",), ())),
]  # fmt: skip


SHOWN = [
    "SELECT clinic AS c, ROUND(100.0 * COUNT(*) / 12, 1) AS share FROM visits v GROUP BY 1 ORDER BY share DESC LIMIT 3",
    "SELECT SUM(cost) / SUM(age) AS n, AVG(age) FROM visits GROUP BY clinic HAVING n > 2 AND AVG(age) < 5 ORDER BY 2",
    "SELECT CASE WHEN COUNT(*) > 5 THEN 'a' ELSE NULL END AS n FROM visits GROUP BY ward ORDER BY ward NULLS FIRST",
    "SELECT HISTOGRAM(age, 7) AS n FROM visits HAVING n > 5 ORDER BY age DESC LIMIT 2 OFFSET 1",
    "SELECT LEAST(COUNT(*), -5) - -1, COALESCE(AVG(cost), 0) FROM visits WHERE age > 5 OFFSET 2",
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "ask"), SAME)
def test_sql_and_python_ask_the_same(visits: Dataset, text: str, ask: Ask) -> None:
    """A question in SQL and the same one in Python have the same text and the same statement."""
    in_sql, in_python = visits.sql(text), ask(visits)
    assert planned(in_sql).sql == planned(in_python).sql
    assert str(in_sql.question) == str(in_python.question)


@pytest.mark.parametrize(("text", "ask"), SAME)
def test_the_text_of_a_question_asks_it_again(visits: Dataset, text: str, ask: Ask) -> None:
    """The text that a question is written as, which the ledger keeps, is a question with the same statement."""
    query = ask(visits)
    written = str(query.question)
    if "[" in written:
        pytest.skip("bins that begin where they are told have no SQL of their own")
    assert planned(visits.sql(written)).sql == planned(query).sql


OUTSIDE: list[tuple[str, str | None]] = [
    ("SELECT * FROM visits", "*"),
    ("SELECT age FROM visits", "age"),
    ("SELECT age, COUNT(*) FROM visits", "age"),
    ("SELECT visits.* FROM visits", "visits"),
    ("SELECT DISTINCT COUNT(*) FROM visits GROUP BY clinic", None),
    ("SELECT COUNT(*), COUNT(*) FROM visits", "*"),
    ("SELECT MEDIAN(age), QUANTILE(age, 0.5) FROM visits", "age"),
    ("SELECT QUANTILES(age, 0.5, 0.5) FROM visits", "age"),
    ("SELECT QUANTILES(age) FROM visits", "age"),
    ("SELECT QUANTILES(age, 1) FROM visits", "1"),
    ("SELECT QUANTILES(age, 0.1, cost) FROM visits", "cost"),
    ("SELECT HISTOGRAM(age), COUNT(*) FROM visits", "age"),
    ("SELECT AVG(age), HISTOGRAM(age, 3) FROM visits", "age"),
    ("SELECT SUM(DISTINCT age) FROM visits", "age"),
    ("SELECT AVG(DISTINCT age) FROM visits", "age"),
    ("SELECT MIN(DISTINCT age) FROM visits", "age"),
    ("SELECT MAX(age, cost) FROM visits", "cost"),
    ("SELECT STDDEV(age, cost) FROM visits", "cost"),
    ("SELECT STDDEV(DISTINCT age) FROM visits", "age"),
    ("SELECT VARIANCE(*) FROM visits", None),
    ("SELECT CORR(age) FROM visits", "age"),
    ("SELECT CORR(age, age) FROM visits", "age"),
    ("SELECT COVAR_POP(age, cost, age) FROM visits", "age"),
    ("SELECT COVAR_SAMP(age, clinic) FROM visits", None),
    ("SELECT KURTOSIS(age) FROM visits", "age"),
    ("SELECT ANY_VALUE(age) FROM visits", "age"),
    ("SELECT LIST(age) FROM visits", "age"),
    ("SELECT STRING_AGG(clinic) FROM visits", "clinic"),
    ("SELECT COUNT(DISTINCT person, age) FROM visits", "person"),
    ("SELECT COUNT(DISTINCT 1) FROM visits", "1"),
    ("SELECT COUNT(age, cost) FROM visits", "cost"),
    ("SELECT COUNT(*) OVER () FROM visits", None),
    ("SELECT SUM(age) OVER (PARTITION BY clinic) FROM visits", "age"),
    ("SELECT ROW_NUMBER() OVER () FROM visits", None),
    ("SELECT AVG(CASE WHEN age > 5 THEN 1 END) FROM visits", None),
    ("SELECT QUANTILE(age, 1.5) FROM visits", "1.5"),
    ("SELECT QUANTILE(age, 0) FROM visits", "0"),
    ("SELECT QUANTILE(age, [0.1, 0.2]) FROM visits", "0.1"),
    ("SELECT QUANTILE(age, 0.12345678) FROM visits", None),
    ("SELECT PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY age, cost) FROM visits", "age"),
    ("SELECT HISTOGRAM(age, 1.5) FROM visits", "1.5"),
    ("SELECT HISTOGRAM(age, 5, 6) FROM visits", "6"),
    ("SELECT (SELECT age FROM visits LIMIT 1), COUNT(*) FROM visits", "age"),
    ("SELECT 1", None),
    ("SELECT COUNT(*)", None),
    ("SELECT age FROM visits GROUP BY age", None),
    ("SELECT COUNT(*) FROM visits, visits", "visits"),
    ("SELECT COUNT(*) FROM visits JOIN other ON true", "other"),
    ("SELECT COUNT(*) FROM visits CROSS JOIN other", "other"),
    ("SELECT COUNT(*) FROM visits NATURAL JOIN other", "other"),
    ("SELECT COUNT(*) FROM (SELECT * FROM others)", "others"),
    ("SELECT COUNT(*) FROM (SELECT *, weights FROM visits) visits", "weights"),
    ("SELECT COUNT(*) FROM (VALUES (1)) visits", "1"),
    ("SELECT COUNT(*) FROM other", None),
    ("SELECT COUNT(*) FROM a.b.visits", "a"),
    ("SELECT COUNT(*) FROM read_csv('/etc/passwd')", "/etc/passwd"),
    ("SELECT COUNT(*) FROM '/etc/passwd'", None),
    ("SELECT COUNT(*) FROM visits TABLESAMPLE 10%", "visits"),
    ("SELECT COUNT(*) FROM visits USING SAMPLE 10%", None),
    ("SELECT COUNT(*) FROM visits AS v(a, b)", "visits"),
    ("SELECT COUNT(*) FROM visits PIVOT (COUNT(*) FOR ward IN (1))", "ward"),
    ("SELECT COUNT(*) FROM visits, LATERAL (SELECT 1)", "1"),
    ("SELECT COUNT(*) FROM visits WHERE other.age > 5", "other"),
    ("SELECT COUNT(*) FROM visits QUALIFY true", None),
    ("SELECT COUNT(*) FROM visits WINDOW w AS ()", None),
    ("SELECT COUNT(*) FROM visits FOR UPDATE", None),
    ("SELECT COUNT(*) INTO x FROM visits", "x"),
    ("SELECT COUNT(*) FROM visits GROUP BY 1", "COUNT"),
    ("SELECT clinic, COUNT(*) FROM visits GROUP BY 3", "3"),
    ("SELECT clinic, COUNT(*) FROM visits GROUP BY 1.0", "1.0"),
    ("SELECT clinic, COUNT(*) FROM visits GROUP BY 0", "0"),
    ("SELECT clinic, COUNT(*) FROM visits v GROUP BY visits.clinic", "visits"),
    ('SELECT COUNT(*) FROM visits GROUP BY "Clinic"', None),
    ('SELECT COUNT(*) FROM "Visits"', None),
    ("SELECT COUNT(*) FROM visits 'v'", "v"),
    ("SELECT COUNT(*) AS 'n' FROM visits", "n"),
    ("SELECT COUNT(*) AS n, SUM(age) AS n FROM visits", "n"),
    ("SELECT clinic, COUNT(*) AS clinic FROM visits GROUP BY clinic", "clinic"),
    ("SELECT COUNT(*), COUNT(*) AS n FROM visits", "COUNT"),
    ("SELECT COUNT(*) + age FROM visits", "age"),
    ("SELECT clinic, COUNT(*) + clinic FROM visits GROUP BY clinic", "clinic"),
    ("SELECT COUNT(*) + 'x' FROM visits", "x"),
    ("SELECT MEDIAN(day) + 1 FROM visits", "day"),
    ("SELECT COUNT(*) % 2 FROM visits", None),
    ("SELECT COUNT(*) // 2 FROM visits", None),
    ("SELECT COUNT(*) || 'x' FROM visits", None),
    ("SELECT SQRT(COUNT(*)) FROM visits", None),
    ("SELECT ROUND(AVG(age), COUNT(*)) FROM visits", "COUNT"),
    ("SELECT ROUND(AVG(age), 1.5) FROM visits", "1.5"),
    ("SELECT ROUND(AVG(age), 99) FROM visits", "99"),
    ("SELECT ROUND(AVG(age), 1, 2) FROM visits", "2"),
    ("SELECT NULLIF(COUNT(*)) FROM visits", "COUNT"),
    ("SELECT COALESCE(AVG(age), 'none') FROM visits", "none"),
    ("SELECT CASE WHEN COUNT(*) THEN 2 END FROM visits", "COUNT"),
    ("SELECT CASE WHEN COUNT(*) > 1 THEN 2 ELSE 'x' END FROM visits", "x"),
    ("SELECT CASE WHEN 1 > 1 THEN COUNT(*) END FROM visits", "1"),
    ("SELECT QUANTILES(age, 0.1, 0.5) / 2 FROM visits", "age"),
    ("SELECT HISTOGRAM(age, 7) / 2 FROM visits", "age"),
    ("SELECT COUNT(*) / SUM(age) OVER () FROM visits GROUP BY clinic", "age"),
    ("SELECT LAG(COUNT(*)) OVER (ORDER BY age) FROM visits GROUP BY clinic", "age"),
    ("SELECT 1, COUNT(*) FROM visits", "1"),
    ("SELECT 1 + 1, COUNT(*) FROM visits", "1"),
    ("SELECT UPPER(clinic), COUNT(*) FROM visits GROUP BY clinic", "clinic"),
    ("SELECT COUNT(*) FROM visits HAVING TRUE", None),
    ("SELECT COUNT(*) FROM visits HAVING 1 = 1", "1"),
    ("SELECT COUNT(*) FROM visits HAVING age > 5", "age"),
    ("SELECT COUNT(*) FROM visits HAVING COUNT(*) > 'x'", "x"),
    ("SELECT COUNT(*) FROM visits HAVING COUNT(*) LIKE 'x'", None),
    ("SELECT COUNT(*) FROM visits HAVING COUNT(*) IN (1, AVG(age))", "age"),
    ("SELECT COUNT(*) FROM visits HAVING COUNT(*) IS TRUE", None),
    ("SELECT COUNT(*) FROM visits GROUP BY clinic HAVING clinic = 'east'", "east"),
    ("SELECT COUNT(*) FROM visits GROUP BY clinic HAVING clinic > 'north'", "clinic"),
    ("SELECT MEDIAN(day) FROM visits HAVING MEDIAN(day) > '2026-02-30'", "2026-02-30"),
    ("SELECT HISTOGRAM(age, 7) FROM visits HAVING age > 5", "age"),
    ("SELECT COUNT(*) FROM visits HAVING (SELECT 1) > 0", None),
    ("SELECT COUNT(*) FROM visits ORDER BY age", "age"),
    ("SELECT COUNT(*) FROM visits ORDER BY 2", "2"),
    ("SELECT COUNT(*) FROM visits ORDER BY 'count'", "count"),
    ("SELECT QUANTILES(age, 0.1, 0.5) FROM visits ORDER BY 1", "1"),
    ("SELECT COUNT(*) FROM visits ORDER BY RANDOM()", None),
    ("SELECT COUNT(*) FROM visits LIMIT -1", "1"),
    ("SELECT COUNT(*) FROM visits LIMIT 1.5", "1.5"),
    ("SELECT COUNT(*) FROM visits LIMIT COUNT(*)", None),
    ("SELECT COUNT(*) FROM visits LIMIT 10 PERCENT", None),
    ("SELECT COUNT(*) FROM visits LIMIT ALL", None),
    ("SELECT COUNT(*) FROM visits OFFSET -1", "1"),
    ("SELECT COUNT(*) FROM visits GROUP BY ROLLUP ()", None),
    ("SELECT COUNT(*) FROM visits GROUP BY CUBE ()", None),
    ("SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ()", None),
    ("SELECT COUNT(*) FROM visits GROUP BY ROLLUP (1)", "COUNT"),
    ("SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((clinic, 1), ())", "COUNT"),
    ("SELECT COUNT(*) FROM visits GROUP BY ROLLUP (clinic, ROLLUP (ward))", None),
    ("SELECT COUNT(*) FROM visits GROUP BY ROLLUP (clinic, ())", "clinic"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (clinic)", "ward"),
    ("SELECT COUNT(*) FROM visits GROUP BY CUBE (clinic, ward, smoker, age, clinic, ward, smoker)", "clinic"),
    ("SELECT COUNT(*) FROM visits GROUP BY clinic, clinic", None),
    ("SELECT COUNT(*) FROM visits GROUP BY cost", None),
    ("SELECT COUNT(*) FROM visits GROUP BY person", None),
    ("SELECT COUNT(*) FROM visits GROUP BY nothing", None),
    ("SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits", None),
    ("SELECT COUNT(*) FROM visits EXCEPT SELECT 1", None),
    ("SELECT COUNT(*) FROM visits INTERSECT SELECT 1", None),
    ("WITH x AS (SELECT 1) SELECT COUNT(*) FROM visits", "x"),
    ("WITH visits AS (SELECT * FROM other) SELECT COUNT(*) FROM visits", "other"),
    ("SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits", None),
    ("SELECT COUNT(*) FROM visits; DROP TABLE visits", None),
    ("INSERT INTO visits VALUES (1)", "visits"),
    ("DELETE FROM visits", "visits"),
    ("UPDATE visits SET age = 1", "visits"),
    ("DROP TABLE visits", "visits"),
    ("CREATE TABLE x AS SELECT 1", "x"),
    ("COPY visits TO 'x'", "visits"),
    ("ATTACH 'x'", None),
    ("PRAGMA database_list", None),
    ("SET threads = 1", None),
    ("EXPLAIN SELECT COUNT(*) FROM visits", None),
    ("DESCRIBE visits", "visits"),
    ("FROM visits", None),
    ("VALUES (1)", "1"),
    ("TABLE visits", None),
    ("", None),
    (" ", None),
    (";", None),
    ("--", None),
    ("/*", None),
    ("SELEC COUNT(*) FROM visits", None),
    ("SELECT COUNT(* FROM visits", None),
    ("SELECT COUNT(*) FROM visits WHERE", None),
    ("SELECT COUNT(*) FROM visits WHERE clinic = 'north", None),
    ("SELECT COUNT(*) FROM visits WHERE \x00", None),
    ("SELECT SUM(clinic) FROM visits", None),
    ("SELECT SUM() FROM visits", None),
    ("SELECT QUANTILE(age) FROM visits", None),
    ("SELECT QUANTILE() FROM visits", None),
    ("SELECT HISTOGRAM() FROM visits", None),
    ("SELECT PROPORTION() FROM visits", None),
    ("SELECT PERCENTILE_CONT(0.5) FROM visits", None),
    ("SELECT SUM(nothing) FROM visits", None),
    ("SELECT AVG(person) FROM visits", None),
    ("SELECT COUNT(nothing) FROM visits", None),
]  # fmt: skip

CONDITIONS: list[tuple[str, str | None]] = [
    ("1 = 0", "1"),
    ("age > 5 OR 1 = 1", "1"),
    ("FALSE", None),
    ("age", "age"),
    ("NOT age", "age"),
    ("age > RANDOM()", None),
    ("age::DATE = '2025-01-01'", "age"),
    ("age > '5'::INT", "5"),
    ("age > CAST(5 AS INT)", "5"),
    ("1 / age > 0", "age"),
    ("SQRT(age) > 0", "age"),
    ("clinic || age / 7 = 'north3'", "clinic"),
    ("clinic SIMILAR TO 'n%'", "clinic"),
    ("clinic ~ 'n'", "clinic"),
    ("clinic GLOB 'n*'", "clinic"),
    ("clinic COLLATE NOCASE = 'NORTH'", "clinic"),
    ("age IS TRUE", "age"),
    ("age = NULL", None),
    ("age IN (NULL)", None),
    ("age IN ()", None),
    ("age IN (SELECT 1)", "1"),
    ("age = (SELECT 1)", "1"),
    ("age > ALL (SELECT 1)", "1"),
    ("EXISTS (SELECT 1)", "1"),
    ("(age, cost) = (1, 2, 3)", "age"),
    ("age IN (1, cost)", "cost"),
    ("CASE WHEN age > 5 THEN TRUE ELSE FALSE END", "age"),
    ("IF(age > 5, TRUE, FALSE)", "age"),
    ("age > 5 XOR cost > 5", None),
    ("(age > 5) = (cost > 5)", "age"),
    ("(age > 5) = TRUE", "age"),
    ("COUNT(*) > 5", "*"),
    ("SUM(age) > 5", "age"),
    ("age > ?", None),
    ("age > $1", None),
    ("age > :x", None),
    ("age > @x", None),
    ("nothing > 5", None),
    ("person = 5", None),
    ("person IS NULL", None),
    ("rowid = 5", None),
    ("clinic = 'east'", None),
    ("clinic = 'North'", None),
    ("clinic = 5", None),
    ("clinic < 'north'", None),
    ("clinic BETWEEN 'a' AND 'z'", None),
    ("ward = '1'", None),
    ("ward = 3", None),
    ("ward = 1.5", None),
    ("ward = TRUE", None),
    ("age = 'x'", None),
    ("age = TRUE", None),
    ("age = '2026-01-01'", None),
    ("age = DATE '2026-01-01'", None),
    ("day = 5", None),
    ("day = 'x'", None),
    ("day = '2026-02-30'", None),
    ("day > CURRENT_DATE", None),
    ("age > 1e999999", None),
    ("age > " + "1" * 5000, None),
    ("age > 0." + "1" * 5000, None),
    ("age > 1e", None),
    ("age > 5E", None),
    ("age > 0x1F", None),
    ("age > 'NaN'", None),
    ("age > 'Infinity'::DOUBLE", "Infinity"),
    ("age > b'101'", None),
    ("age > x'1F'", None),
    ("age > INTERVAL 5 DAY", None),
    ("age > [5]", "5"),
    ("age > {'a': 5}", None),
    ("age[1] > 5", "age"),
    ("age.x > 5", None),
    ("COLUMNS(*) > 5", None),
    ("* > 5", None),
    ("age > 5; DROP TABLE visits", None),
    ("age > 5) OR (1 = 1", None),
    ("age > 5 UNION SELECT 1", None),
    ("age > 5 GROUP BY clinic", None),
    ("age > 5 LIMIT 1", None),
        ("x -> x > 5", None),
    ("LAMBDA x: x > 5", None),
]  # fmt: skip

MARKED = re.compile(r"\n  (?P<line>[^\n]*)\n  (?P<space> *)(?P<mark>\^+)$")


def check_mark(message: str, marked: str | None) -> None:
    """Check that the mark is under the offending part, or at least not beside the text."""
    found = MARKED.search(message)
    if found is None:
        assert marked is None, f"no mark in {message!r}"
        return
    start = len(found["space"])
    under = found["line"][start : start + len(found["mark"])]
    assert under.strip()
    assert marked is None or marked in under, f"{under!r} is marked, not {marked!r}"


@pytest.mark.slow
@pytest.mark.parametrize(("text", "marked"), OUTSIDE)
def test_what_is_outside_the_grammar_is_refused(visits: Dataset, text: str, marked: str | None) -> None:
    """Every other statement is refused, with a mark under what is not answered."""
    with pytest.raises(InvalidQuestion) as refusal:
        visits.sql(text)
    check_mark(str(refusal.value), marked)
    assert ";" in str(refusal.value)  # what to do


@pytest.mark.slow
@pytest.mark.parametrize(("text", "marked"), CONDITIONS)
def test_what_is_no_condition_is_refused(visits: Dataset, text: str, marked: str | None) -> None:
    """Every other condition is refused, in SQL and as the text of a condition, with a mark under it."""
    if not text.endswith(("GROUP BY clinic", "LIMIT 1")):
        with pytest.raises(InvalidQuestion) as refusal:
            visits.sql(f"SELECT COUNT(*) FROM visits WHERE {text}")
        check_mark(str(refusal.value), marked)
    with pytest.raises(InvalidQuestion) as refusal:
        visits.count().where(text)
    check_mark(str(refusal.value), marked)
    with pytest.raises(InvalidQuestion):
        visits.proportion(text)


@pytest.mark.parametrize("number", ["1_0", "-1_000.5", "1e1_0", ".1_5", "1e", "１０", "٣", "½", "1__0", "10_"])
def test_a_number_is_written_in_plain_digits(visits: Dataset, number: str) -> None:
    """What sqlglot or Python would read as a number, but is not in the digits 0 to 9, is refused wherever it stands."""
    for text in (f"age > {number}", f"age IN (1, {number})", f"age BETWEEN {number} AND 5"):
        with pytest.raises(InvalidQuestion, match=";"):
            visits.count().where(text)
    for measure in (f"QUANTILE(age, {number})", f"HISTOGRAM(age, {number})", f"COUNT({number})"):
        with pytest.raises(InvalidQuestion, match=";"):
            visits.sql(f"SELECT {measure} FROM visits")


def test_a_text_may_look_like_any_number(visits: Dataset) -> None:
    """Underscores in names, texts and comments are nobody's business."""
    found = visits.sql("SELECT COUNT(*) /* 1_0 */ FROM visits WHERE clinic <> 'north' -- 1_0")
    assert str(found.question) == str(visits.count().where(clinic != "north").question)
    with pytest.raises(InvalidQuestion, match="'1_0' is not a category of clinic"):
        visits.count().where("clinic = '1_0'")


def test_a_number_of_a_few_characters_takes_no_time(visits: Dataset) -> None:
    """A number with a vast exponent is refused before it is computed."""
    for text in ("age > 1e3000000", "age > 1e-3000000", "age IN (1, 1e3000000)"):
        with pytest.raises(InvalidQuestion):
            visits.count().where(text)
    with pytest.raises(InvalidQuestion):
        visits.sql("SELECT QUANTILE(age, 1e-3000000) FROM visits")


DEEP: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "SELECT COUNT(*) FROM visits WHERE " + "(" * n + "age > 5" + ")" * n,
    "not": lambda n: "SELECT COUNT(*) FROM visits WHERE " + "NOT " * n + "age > 5",
    "minus": lambda n: "SELECT COUNT(*) FROM visits WHERE age > " + "- " * n + "5",
    "plus": lambda n: "SELECT COUNT(*) FROM visits WHERE age > " + "1 + " * n + "5",
    "calls": lambda n: "SELECT COUNT(*) FROM visits WHERE age > " + "ABS(" * n + "5" + ")" * n,
    "casts": lambda n: "SELECT age" + "::INT" * n + " FROM visits",
    "dots": lambda n: "SELECT a" + ".a" * n + " FROM visits",
    "elements": lambda n: "SELECT a" + "[1]" * min(n, 300) + " FROM visits",
    "subqueries": lambda n: "SELECT COUNT(*) FROM " + "(SELECT 1 FROM " * n + "visits" + ")" * n,
    "unions": lambda n: "SELECT 1 UNION " * n + "SELECT 1",
    "cases": lambda n: "SELECT " + "CASE WHEN a THEN " * n + "5" + " END" * n + " FROM visits",
    "lists": lambda n: "SELECT " + "[" * n + "1" + "]" * n + " FROM visits",
    "and": lambda n: "SELECT COUNT(*) FROM visits WHERE " + "age > 5 AND " * max(n, 600) + "age > 5",
    "and or": lambda n: "SELECT COUNT(*) FROM visits WHERE " + "age > 5 AND (age < 5 OR " * n + "age > 5" + ")" * n,
    "negatives": lambda n: "SELECT " + "- " * n + "COUNT(*) FROM visits",
    "sums": lambda n: "SELECT COUNT(*)" + " + 1" * n + " FROM visits",
    "roundings": lambda n: "SELECT " + "ROUND(" * n + "COUNT(*)" + ")" * n + " FROM visits",
    "choices": lambda n: "SELECT " + "CASE WHEN COUNT(*) > 1 THEN " * n + "5" + " END" * n + " FROM visits",
    "having": lambda n: "SELECT COUNT(*) FROM visits HAVING " + "COUNT(*) > 5 AND " * max(n, 600) + "COUNT(*) > 5",
    "orders": lambda n: "SELECT COUNT(*) FROM visits ORDER BY COUNT(*)" + " * 2" * n,
    "constants": lambda n: "SELECT COUNT(*) FROM visits WHERE age IN (" + "1, " * max(n, 600) + "1)",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("depth", sparing([300, 1000, 10_000], 2))
def test_what_is_nested_too_deeply_is_refused(visits: Dataset, kind: str, depth: int) -> None:
    """However deep a text is nested, it is refused as any other, and no stack overflows."""
    with pytest.raises(InvalidQuestion):
        visits.sql(DEEP[kind](depth))


@pytest.mark.parametrize("depth", [5, 10, 20, 30, 40, 60, 80, 100, 150, 200])
@pytest.mark.parametrize("kind", ["parentheses", "not", "and or"])
def test_what_is_read_can_be_planned(visits: Dataset, kind: str, depth: int) -> None:
    """A text that is nested is either refused when it is read, or answered: it has a statement and a text."""
    try:
        query = visits.sql(DEEP[kind](depth))
    except InvalidQuestion:
        return
    plan = planned(query)
    assert visits.engine.run(plan.sql)
    assert str(query.question)
    assert str(query.explain(1, pooling=1))


def test_a_text_of_a_million_characters_is_refused(visits: Dataset) -> None:
    """What is longer than any question is refused at once."""
    with pytest.raises(InvalidQuestion, match="at most 100000 characters"):
        visits.sql("SELECT COUNT(*) FROM visits WHERE age > 5" + " " * 10**6)


@pytest.mark.parametrize("given", [None, 5, b"SELECT 1", ["SELECT 1"]])
def test_sql_is_a_text(visits: Dataset, given: object) -> None:
    """What is no text is refused."""
    with pytest.raises(InvalidQuestion, match="must be text"):
        visits.sql(given)  # type: ignore[arg-type]


def test_the_mark_is_in_the_line_of_the_mistake(visits: Dataset) -> None:
    """In a text of several lines, the line that is shown is the one with the mistake, and the mark under it."""
    with pytest.raises(InvalidQuestion) as refusal:
        visits.sql("SELECT COUNT(*)\nFROM visits\nWHERE age > 5\n  AND clinic GLOB 'n%'\nGROUP BY ward")
    assert "\n    AND clinic GLOB 'n%'\n        ^^^^^^" in str(refusal.value)


PIECES = [
    "SELECT", "COUNT(*)", "COUNT(", "DISTINCT", "person", "age", "clinic", "cost", ",", "FROM", "visits", "WHERE",
    "AND", "OR", "NOT", "(", ")", "=", "<", ">=", "<>", "5", "-1", "0.5", "1e3", "'north'", "'", '"', "IN", "BETWEEN",
    "IS", "NULL", "GROUP BY", "AVG(", "SUM(age)", "MEDIAN(", "CASE", "WHEN", "THEN 1", "ELSE 0", "END", "QUANTILE(age,",
    "PERCENTILE_CONT(0.5)", "WITHIN GROUP", "(ORDER BY age)", "HISTOGRAM(age)", "PROPORTION(", "*", ".", ";", "--",
    "/*", "*/", "::", "INT", "DATE", "'2026-01-01'", "TRUE", "[", "]", "{", "}", "$", "?", ":", "@", "\\", "\0",
    "\n", "é", "OVER ()", "FILTER", "HAVING", "LIMIT 1", "UNION", "WITH x AS", "JOIN", "AS", "x", "->", "||",
    "%", "0x1F", "1_000",
    "ORDER BY", "ORDER BY 1 DESC", "NULLS FIRST", "LIMIT", "OFFSET 2", "AS n", "n", "+ 1", "/ COUNT(*)", "- SUM(age)",
    "ROUND(", "COALESCE(", "HAVING COUNT(*) > 5", "GROUP BY 1", "v", "v.age", "count",
    "EXISTS", "INTERVAL", "LIKE", "ALL", "ROLLUP", "VALUES", "STRUCT", "MAP", "EXCLUDE", "REPLACE", "COLUMNS(*)", "1.",
    ".5", "1e", "E'x'", "$$x$$", "U&'x'", "PIVOT", "TRY_CAST(", "AT TIME ZONE", "1..2", "BY", "INSERT INTO", "=>", ":=",
]  # fmt: skip


def mutated(draw: random.Random, text: str) -> str:
    """Return a text with some pieces or characters put in, taken out, doubled or swapped."""
    words = re.findall(r"\w+|\s+|.", text)
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(words) + 1)
        match draw.randrange(5):
            case 0:
                words.insert(place, f" {draw.choice(PIECES)} ")
            case 1:
                words[place : place + draw.randint(1, 3)] = []
            case 2:
                words[place : place + 1] = [draw.choice(PIECES)]
            case 3:
                other = draw.randrange(len(words) + 1)
                words[place:place] = words[min(place, other) : max(place, other)]
            case _:
                words.insert(place, chr(draw.choice([*range(32, 127), 0, 9, 0x2028, 0x1F600, 0xA0])))
    return "".join(words)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_mutated_texts_are_asked_or_refused(visits: Dataset, seed: int) -> None:
    """Whatever is done to a text, it is a question whose text reads as the same, or an InvalidQuestion."""
    draw = random.Random(seed)
    texts = [text for text, _ in SAME] + SHOWN + [text for text, marked in OUTSIDE if marked]
    for _ in range(250):
        text = mutated(draw, draw.choice(texts))
        try:
            query = visits.sql(text)
        except InvalidQuestion as refusal:
            check_mark(str(refusal), None)
            continue
        if "[" not in str(query):  # bins that begin where they are told have no SQL of their own
            assert str(visits.sql(str(query))) == str(query)


@pytest.mark.parametrize("seed", range(4))
def test_mutated_conditions_are_asked_or_refused(visits: Dataset, seed: int) -> None:
    """Whatever is done to the text of a condition, it is one or is refused; and one that is read can be planned."""
    draw = random.Random(seed)
    texts = [text.split(" WHERE ", 1)[1] for text, _ in SAME if " WHERE " in text] + [text for text, _ in CONDITIONS]
    texts = [text for text in texts if len(text) < 200]
    for _ in range(150):
        text = mutated(draw, draw.choice(texts))
        try:
            query = visits.count().where(text)
        except InvalidQuestion:
            continue
        assert planned(query).sql
