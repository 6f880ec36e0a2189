"""Nothing in a text of SQL is passed over: it is understood, or the text is refused."""

from __future__ import annotations

import pytest
import sqlglot

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset

CONTRACT = """
[dataset]
name = "visits"
unit = "person"
max_rows_per_unit = 2
[columns]
age.bounds = "[0, 120] step 1"
day.bounds = "[2026-01-01, 2026-12-31]"
clinic.keys = ["north", "south", "zz"]
[budget]
total = 10
"""
TEXTS = [
    "SELECT COUNT(*) FROM visits WHERE age BETWEEN 3 AND 5",
    "SELECT COUNT(DISTINCT person) FROM visits WHERE age IN (1, 2)",
    "SELECT clinic, AVG(age) FROM visits WHERE NOT (age > 1 OR 5 < age) GROUP BY clinic",
    "SELECT QUANTILE(age, 0.25) FROM visits WHERE clinic IS NULL",
    "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age) FROM visits",
    "SELECT AVG(CASE WHEN age = 65 THEN 1 ELSE 0 END) FROM visits",
    "SELECT PROPORTION(day < DATE '2026-02-01') FROM visits",
    "SELECT HISTOGRAM(age, 7) FROM visits WHERE clinic = 'north'",
    "SELECT SUM(age) FROM visits",
    "SELECT COUNT(*) FROM visits GROUP BY ROLLUP(clinic, age)",
    "SELECT SUM(age) FROM visits GROUP BY GROUPING SETS ((clinic), (age))",
    "SELECT MEDIAN(visits.age) FROM visits",
    "SELECT v.clinic AS c, ROUND(100 * COUNT(*) / 12, 1) AS share FROM visits v GROUP BY 1 ORDER BY share DESC LIMIT 3",
    "SELECT COUNT(*) FROM visits GROUP BY clinic HAVING SUM(age) > 5 AND clinic <> 'north' ORDER BY 1 OFFSET 2",
    "SELECT CASE WHEN AVG(age) BETWEEN 5 AND 9 THEN -1 ELSE NULL END FROM visits GROUP BY clinic ORDER BY clinic",
]


@pytest.fixture(scope="module")
def visits() -> Dataset:
    """A dataset to be asked, and never answered from."""
    return Dataset.parse(CONTRACT)


def with_inserted(text: str, inserted: str) -> list[str]:
    """Return a text with something put before each of its words, and at the end."""
    places = [token.start for token in sqlglot.tokenize(text, dialect="duckdb")] + [len(text)]
    return [f"{text[:place]} {inserted} {text[place:]}" for place in places]


@pytest.mark.slow
@pytest.mark.parametrize("constant", ["77", ", 77", "0.77", ", 0.77 ,", "'zz'", ", 'zz'", "'zz',"])
def test_a_constant_is_in_the_question_or_refused(visits: Dataset, constant: str) -> None:
    """Wherever a constant is put into a text, the text is refused, or the constant is part of the question."""
    read = 0
    for text in TEXTS:
        for changed in with_inserted(text, constant):
            try:
                question = str(visits.sql(changed))
            except InvalidQuestion:
                continue
            assert constant.strip(" ,'") in question, changed
            read += 1
    assert read or constant != ", 77"  # a list of constants takes one more


CHANGES = [
    "DISTINCT", "DESC", "NULLS FIRST", "IGNORE NULLS", "SYMMETRIC", "FILTER (WHERE age > 1)", "OVER ()", "LIMIT 1",
    "ORDER BY age DESC", "EXCLUDE (age)", "AS STRUCT", "TABLESAMPLE 10%", "USING SAMPLE 5", "OFFSET 1", "HAVING TRUE",
    "QUALIFY TRUE", "COLLATE nocase", "WITH ROLLUP", ", ()", "AT TIME ZONE 'UTC'", "ESCAPE '!'", "+ 1", "IS TRUE",
    "FETCH FIRST 1 ROWS ONLY", "FOR UPDATE", "UNION ALL SELECT 1", "TOP 1", "::INTEGER", "[1]", "-", "ONLY",
]  # fmt: skip


def means_the_same(text: str) -> bool:
    """Return whether something is written that changes nothing.

    The table is named, what is selected or grouped by is DISTINCT, zero has a sign, or whole numbers are cast.
    """
    named = sqlglot.parse_one(text, dialect="duckdb").find(sqlglot.exp.TableAlias)
    distinct = text.startswith("SELECT  DISTINCT") or "GROUP BY  DISTINCT" in text
    return named is not None or distinct or "- 0" in text or "::INTEGER" in text


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_clause_changes_the_question_or_is_refused(visits: Dataset, change: str) -> None:
    """Wherever a clause or a word that changes its meaning is put into a text, it is refused or asks something else."""
    for text in TEXTS:
        asked = str(visits.sql(text))
        for changed in with_inserted(text, change):
            try:
                question = str(visits.sql(changed))
            except InvalidQuestion:
                continue
            assert question != asked or means_the_same(changed), changed


@pytest.mark.parametrize(
    ("measure", "marked"),
    [
        ("QUANTILE(age, 0.25, 0.9)", "0.9"),
        ("QUANTILE(age, 0.25, 'x')", "'x'"),
        ("PERCENTILE_CONT(0.5, 2) WITHIN GROUP (ORDER BY age)", "2"),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age NULLS FIRST)", "age"),
        ("COUNT(* EXCLUDE (age))", "age"),
        ("SUM(age, 3)", "3"),
        ("MEDIAN(age, 3)", "3"),
        ("AVG(age, 3)", "3"),
        ("PROPORTION(age > 60, 3)", "3"),
        ("MIN(age, 3)", "3"),
        ("STDDEV(age, 3)", "3"),
        ("CORR(age, day, 3)", "3"),
    ],
)
def test_an_argument_too_many_is_refused(visits: Dataset, measure: str, marked: str) -> None:
    """A function with an argument that it does not have is refused, with a mark under that argument."""
    with pytest.raises(InvalidQuestion) as refusal:
        visits.sql(f"SELECT {measure} FROM visits")
    _, line, mark = str(refusal.value).split("\n")
    assert line[mark.index("^") : mark.rindex("^") + 1] == marked


@pytest.mark.parametrize(
    ("selected", "told"),
    [
        ("DATE_TRUNC('month', day), COUNT(*)", r"DATE_TRUNC\('month', day\) is selected but not in GROUP BY"),
        ("MIN(age), MIN(age)", r"this measure appears twice"),
        ("CORR(age, age)", r"CORR takes two different columns"),
        ("VARIANCE(DISTINCT age)", r"VARIANCE does not take DISTINCT; leave DISTINCT out"),
        ("COUNT(DISTINCT age, day)", r"COUNT\(DISTINCT\) takes one column"),
        ("MEDIAN((age > 3))", r"MEDIAN takes a column, got \(age > 3\); a proportion is written PROPORTION"),
        ("AVG(DISTINCT age)", r"AVG does not take DISTINCT; leave DISTINCT out"),
        ("AVG(age), AVG(age)", r"this measure appears twice"),
        ("HISTOGRAM(age, 3), AVG(age)", r"HISTOGRAM cannot be combined with other measures"),
    ],
)
def test_a_refusal_blames_what_is_wrong(visits: Dataset, selected: str, told: str) -> None:
    """What is no measure is told so, before anything is said of how many there are."""
    with pytest.raises(InvalidQuestion, match=told):
        visits.sql(f"SELECT {selected} FROM visits")


def test_units_that_are_counted_are_rows(visits: Dataset) -> None:
    """Every row that counts has a unit, so counting units without DISTINCT counts rows."""
    assert str(visits.sql("SELECT COUNT(person) FROM visits")) == str(visits.sql("SELECT COUNT(*) FROM visits"))


def test_where_nothing_can_be_joined_a_refusal_says_so() -> None:
    """A contract of one table whose rows are units has no join that would do, and none is named."""
    text = '[dataset]\nname = "t"\nunit = "row"\n[columns.age]\nbounds = "[0, 9] step 1"\n[budget]\ntotal = 1\n'
    with pytest.raises(InvalidQuestion, match="two units; nothing can be joined here; query one table"):
        Dataset.parse(text).sql("SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.age = b.age")


def test_grouping_by_a_function_is_told_the_remedy(visits: Dataset) -> None:
    """What is no column after GROUP BY is refused with what can be asked instead."""
    with pytest.raises(InvalidQuestion, match=r"GROUP BY takes columns, got COUNT\(\*\)"):
        visits.sql("SELECT clinic, COUNT(*) FROM visits GROUP BY 2")
    with pytest.raises(InvalidQuestion, match=r"3 is not the position of anything selected"):
        visits.sql("SELECT clinic, COUNT(*) FROM visits GROUP BY 3")
