"""Windows and outer SELECTs: free, read back as themselves, what a database computes, or refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from inbounds.results.answer import Answer
from tests.helpers.hospital import OF_WARDS, WARDS, hospital
from tests.helpers.months_clinic import months_clinic

MONTHS = "FROM (SELECT month AS m, COUNT(*) AS n FROM visits GROUP BY month) AS t"
BOTH = "FROM (SELECT month, clinic, COUNT(*) AS n FROM visits GROUP BY month, clinic) AS t"


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A clinic by month."""
    return months_clinic(tmp_path_factory.mktemp("clinic"))


ANSWERED = [
    "SELECT month, COUNT(*) AS n, SUM(n) OVER (ORDER BY month) AS run FROM visits GROUP BY month",
    "SELECT clinic, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY clinic",
    "SELECT month, clinic, COUNT(*), RANK() OVER (PARTITION BY clinic ORDER BY COUNT(*) DESC, month) AS r "
    "FROM visits GROUP BY month, clinic QUALIFY r <= 2 ORDER BY clinic, r",
    "SELECT month, COUNT(*) - LAG(COUNT(*), 2, 0) OVER w AS d, AVG(COUNT(*)) OVER (w ROWS 2 PRECEDING) AS a "
    "FROM visits GROUP BY month WINDOW w AS (ORDER BY month) ORDER BY d DESC, month LIMIT 5",
    "SELECT month, clinic, COUNT(*), ROW_NUMBER() OVER (ORDER BY clinic, month) AS i FROM visits "
    "GROUP BY month, clinic HAVING month > 4 ORDER BY i DESC LIMIT 3 OFFSET 1",
    f"SELECT *, n - LAG(n) OVER (ORDER BY m) AS change {MONTHS}",
    f"SELECT m, n {MONTHS} WHERE n > 10 AND m BETWEEN 2 AND 9 ORDER BY n DESC, m LIMIT 3",
    f"SELECT AVG(n) AS a, MIN(n) AS low, MAX(n) AS high, SUM(n) AS total, COUNT(*) AS number {MONTHS}",
    f"SELECT SUM(n) AS total, COUNT(*) AS number {MONTHS} WHERE n > 1000000",
    f"SELECT clinic, SUM(n) AS total, MAX(n) - MIN(n) AS width {BOTH} WHERE month < 8 GROUP BY clinic "
    "HAVING SUM(n) > 1 ORDER BY total, clinic",
    "WITH a AS (SELECT month, COUNT(*) AS n FROM visits GROUP BY month), b AS (SELECT month, n, SUM(n) OVER (ORDER BY "
    "month) AS run FROM a WHERE n > 0) SELECT month, run, ROUND(100.0 * run / MAX(run) OVER (), 1) AS pct FROM b",
    "SELECT MAX(total) AS most FROM (SELECT clinic, SUM(n) AS total FROM (SELECT month, clinic, COUNT(*) AS n "
    "FROM visits GROUP BY month, clinic) AS t GROUP BY clinic) AS u",
]  # fmt: skip


def in_duckdb(answer: Answer, sql: str) -> list[tuple[Any, ...]]:
    """Return what DuckDB computes by the same text from a table whose rows are counted as they were released."""
    released = answer.released
    groups = released.columns[:-1]
    rows = [(keys.get("month"), keys.get("clinic")) for row in released.rows
            for keys in [dict(zip(groups, row, strict=False))] for _ in range(row[-1])]  # fmt: skip
    connection = duckdb.connect()
    connection.execute("CREATE TABLE visits (month INT, clinic TEXT)")
    connection.execute(
        "INSERT INTO visits SELECT UNNEST(?::INT[]), UNNEST(?::TEXT[])",
        [list(column) for column in zip(*rows, strict=True)],
    )
    return connection.execute(sql).fetchall()


@pytest.mark.parametrize("sql", ANSWERED)
def test_what_is_computed_is_what_a_database_computes(visits: Dataset, sql: str) -> None:
    """From rows as they were released, DuckDB computes the same numbers by the same text, in the same order."""
    answer = visits.sql(sql).ask(20, analyst="a")
    assert all(row[-1] > 0 for row in answer.released.rows)  # a group without rows is in no table
    mine, theirs = list(answer.rows), in_duckdb(answer, sql)
    if "ORDER BY" not in sql.rsplit(")", maxsplit=1)[-1]:
        mine, theirs = sorted(mine, key=repr), sorted(theirs, key=repr)
    assert len(mine) == len(theirs)
    for row, other in zip(mine, theirs, strict=True):
        assert row == pytest.approx(tuple(float(cell) if isinstance(cell, Decimal) else cell for cell in other))


@pytest.mark.parametrize("sql", ANSWERED)
def test_a_question_reads_as_itself(visits: Dataset, sql: str) -> None:
    """The text of a question with windows or an inner SELECT is SQL that reads as the same question."""
    query = visits.sql(sql)
    again = visits.sql(str(query))
    assert again.shown == query.shown
    assert str(again) == str(query)


@pytest.mark.parametrize("sql", ANSWERED)
def test_windows_cost_nothing_beyond_what_is_released(tmp_path: Path, sql: str) -> None:
    """What is charged and run is what the plain question is, which is free afterwards under the same request id."""
    visits = months_clinic(tmp_path)
    by = "month, clinic" if "month, clinic" in sql else "clinic" if "GROUP BY clinic" in sql else "month"
    plain = visits.sql(f"SELECT {by}, COUNT(*) FROM visits GROUP BY {by}")
    query = visits.sql(sql)
    assert query.explain(1).statement == plain.explain(1).statement
    answer = query.ask(1, analyst="a", request_id="r")
    assert answer.epsilon == 1
    assert plain.ask(1, analyst="a", request_id="r").rows == answer.released.rows
    spent = visits.ledger.statement("visits", "a")
    assert sum(entry.kind == "charge" for entry in spent.entries) == 1


def test_python_computes_the_same(visits: Dataset) -> None:
    """Windows in `select`, `having` and `order_by` are those of SQL."""
    query = (
        visits.count()
        .by("month")
        .select(n="count", change="count - LAG(count) OVER (ORDER BY month)")
        .having("RANK() OVER (ORDER BY n DESC) <= 3")
        .order_by("SUM(n) OVER (ORDER BY month)", descending=True)
    )
    sql = visits.sql(
        "SELECT month, COUNT(*) AS n, n - LAG(n) OVER (ORDER BY month) AS change FROM visits GROUP BY month "
        "QUALIFY RANK() OVER (ORDER BY n DESC) <= 3 ORDER BY SUM(n) OVER (ORDER BY month) DESC"
    )
    assert query.shown == sql.shown
    assert str(query) == str(sql)


def test_year_over_year_is_a_lag(visits: Dataset) -> None:
    """LAG with an offset compares each row with the one so many rows before; the first have none."""
    sql = "SELECT month, COUNT(*) AS n, LAG(n, 3) OVER (ORDER BY month) AS before FROM visits GROUP BY month"
    answer = visits.sql(sql).ask(1, analyst="a")
    counts = [row[1] for row in answer.rows]
    assert [row[2] for row in answer.rows] == [None, None, None, *counts[:-3]]
    assert [row[1] for row in answer.intervals[3:]] == [row[0] for row in answer.intervals[:-3]]
    assert [row[1] for row in answer.noise[3:]] == [row[0] for row in answer.noise[:-3]]


def test_explain_tells_what_is_computed(visits: Dataset) -> None:
    """The preview says what is released, and what is computed from it for free, step by step."""
    told = visits.sql(f"SELECT AVG(n) AS usual {MONTHS}").explain(1)
    assert told.question == "SELECT month, COUNT(*) FROM visits GROUP BY month"
    assert told.shown is not None
    assert "COUNT(*) AS n; of that: AVG(n) AS usual (computed from the released values, for free)" in told.shown
    told = visits.sql(ANSWERED[0]).explain(1)
    assert told.shown is not None
    assert "SUM(COUNT(*)) OVER (ORDER BY month) AS run" in told.shown


def test_a_share_has_an_interval_at_the_confidence_that_is_asked_for(visits: Dataset) -> None:
    """Intervals of all rows are made wide enough to hold at once, so a share has one."""
    answer = visits.sql(ANSWERED[1]).ask(1, analyst="a")
    assert all(interval is not None and interval[0] <= row[1] <= interval[1] for row, (interval,) in zip(
        answer.rows, answer.intervals, strict=True))  # fmt: skip
    alone = visits.sql("SELECT clinic, COUNT(*) FROM visits GROUP BY clinic").ask(1, analyst="a", request_id="plain")
    shown = visits.sql(ANSWERED[1]).ask(1, analyst="a", request_id="plain")
    assert alone.request_id == shown.request_id
    assert all(interval is None for (interval,) in shown.intervals)  # those that were kept are not wide enough


REFUSED = [
    ("SELECT LAG(age) OVER (ORDER BY day) FROM visits", "looks at single rows"),
    ("SELECT month, SUM(age) OVER () FROM visits GROUP BY month", "looks at single rows"),
    ("SELECT COUNT(*) OVER (PARTITION BY clinic) FROM visits", "looks at single rows"),
    ("SELECT month, RANK() OVER (ORDER BY age) FROM visits GROUP BY month", "group by age"),
    ("SELECT month, COUNT(*) FROM visits GROUP BY month HAVING RANK() OVER (ORDER BY COUNT(*)) < 3", "after QUALIFY"),
    ("SELECT month, COUNT(*) FROM visits GROUP BY month QUALIFY COUNT(*) > 3", "after HAVING"),
    ("SELECT month, LAG(COUNT(*)) IGNORE NULLS OVER (ORDER BY month) FROM visits GROUP BY month", "leave it out"),
    ("SELECT month, LAG(COUNT(*) IGNORE NULLS) OVER (ORDER BY month) FROM visits GROUP BY month", "leave the word out"),
    ("SELECT month, LAG(COUNT(*), -1) OVER (ORDER BY month) FROM visits GROUP BY month", "from 0 on"),
    ("SELECT month, LAG(COUNT(*), 1, 'x') OVER (ORDER BY month) FROM visits GROUP BY month", "write them alike"),
    ("SELECT month, NTILE(0) OVER (ORDER BY month), COUNT(*) FROM visits GROUP BY month", "from 1 on"),
    ("SELECT month, MEDIAN(COUNT(*)) OVER () FROM visits GROUP BY month", "functions of them are"),
    ("SELECT month, SUM(COUNT(*)) OVER w FROM visits GROUP BY month", "write OVER"),
    ("SELECT clinic, SUM(clinic) OVER (), COUNT(*) FROM visits GROUP BY clinic", "needs numbers"),
    ("SELECT month, RANK() OVER (ORDER BY COUNT(*) ROWS 2 PRECEDING) FROM visits GROUP BY month", "leave that out"),
    ("SELECT month, SUM(COUNT(*)) OVER (ROWS 2 PRECEDING EXCLUDE TIES) FROM visits GROUP BY month", "EXCL"),
    ("SELECT month, SUM(COUNT(*)) OVER (ORDER BY day RANGE 2 PRECEDING) FROM visits GROUP BY month, day", "write ROWS"),
    ("SELECT month, SUM(COUNT(*)) OVER (ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING) FROM visits GROUP BY month", "swap"),
    ("SELECT month, SUM(COUNT(*)) OVER (ORDER BY 1) FROM visits GROUP BY month", "the same in every row"),
    (f"SELECT m, AVG(n) {MONTHS}", "not in the outer GROUP BY"),
    (f"SELECT AVG(z) {MONTHS}", "the inner SELECT has m, n"),
    (f"SELECT AVG(n) {MONTHS} GROUP BY n", "takes keys of the inner one"),
    (f"SELECT MEDIAN(n) {MONTHS}", "functions of them are SUM, AVG, MIN, MAX, COUNT"),
    ("SELECT age FROM (SELECT HISTOGRAM(age, 10) FROM visits) AS t", "select one as well"),
    (f"SELECT n {MONTHS} HAVING n > 3", "write WHERE"),
    (f"SELECT SUM(AVG(n)) OVER () {MONTHS}", "one SELECT further out"),
    (f"SELECT n {BOTH} WHERE clinic = 'nord'", "its categories are"),
    (f"SELECT n AS m, m {MONTHS}", "give them other names"),
    (f"SELECT DISTINCT n {MONTHS}", "DISTINCT"),
    (f"SELECT * {BOTH} PIVOT (SUM(n) FOR clinic IN ('north', 'south'))", "write it as a statement"),
    ("PIVOT visits ON clinic USING COUNT(*)", "PIVOT needs one column ON which"),
    ("SELECT n FROM (SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic) AS t JOIN visits USING (clinic)",
     "must belong to one patient"),
    ("SELECT n FROM (SELECT age, LAG(age) OVER (ORDER BY age) AS n FROM visits) AS t", "looks at other people's rows"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "words"), REFUSED, ids=[sql for sql, _ in REFUSED])
def test_what_is_not_released_is_refused(visits: Dataset, sql: str, words: str) -> None:
    """Windows over single rows, and what is not understood, are refused before anything is charged, with a remedy."""
    with pytest.raises(InvalidQuestion, match=words):
        visits.sql(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT month, LAG(COUNT(*)) OVER (ORDER BY month) FROM visits GROUP BY month",
        "SELECT month, COUNT(*) FROM visits GROUP BY month QUALIFY RANK() OVER (ORDER BY COUNT(*)) < 3",
        "SELECT month, COUNT(*) FROM visits GROUP BY month HAVING COUNT(*) > 3",
        "SELECT month, age, RANK() OVER (ORDER BY age), COUNT(*) FROM visits GROUP BY month, age",
        f"SELECT AVG(n) {MONTHS}",
        f"SELECT m, n {MONTHS}",
        f"SELECT n {MONTHS} WHERE n > 3",
        f"SELECT SUM(a) OVER () FROM (SELECT m, AVG(n) AS a {MONTHS} GROUP BY m) AS u",
    ],
)
def test_a_remedy_is_accepted(visits: Dataset, sql: str) -> None:
    """What refusals say to write instead is accepted."""
    assert visits.sql(sql).explain(1).epsilon == 1


def test_per_unit_subqueries_stay_what_they_are(visits: Dataset) -> None:
    """An inner SELECT that groups by the unit is asked about as before: its rows are private."""
    query = visits.sql("SELECT AVG(n) FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) AS t")
    assert query.shown.inner is None
    assert query.questions[0].table.relation is not None


def test_public_values_are_computed_with(tmp_path: Path) -> None:
    """What is public beside a measure is exact in windows and outer SELECTs, and is not paid for."""
    stays = hospital(tmp_path)
    inner = f"SELECT s.ward, MAX(w.beds) AS beds, COUNT(*) AS n {OF_WARDS} GROUP BY s.ward"
    answer = stays.sql(f"SELECT SUM(beds) AS beds, SUM(n) AS n FROM ({inner}) AS t").ask(1, analyst="a")
    assert answer.rows[0][0] == sum(WARDS.values())
    assert answer.intervals[0][0] == (sum(WARDS.values()),) * 2
    free = stays.sql(f"SELECT s.ward, SUM(MAX(w.beds)) OVER () AS beds {OF_WARDS} GROUP BY s.ward").ask(1, analyst="a")
    assert free.epsilon == 0
    assert {row[-1] for row in free.rows} == {sum(WARDS.values())}


def test_an_inner_select_is_changed_in_its_text(visits: Dataset) -> None:
    """Expressions in Python name columns of the released table, so they are refused where SQL has an inner SELECT."""
    query = visits.sql(f"SELECT AVG(n) AS a {MONTHS}")
    with pytest.raises(InvalidQuestion, match="changed in its SQL"):
        query.select(x="count")
