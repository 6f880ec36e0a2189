"""What is shown of an answer is computed from what was released: for nothing, in SQL as in Python."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from scipy import stats

from inbounds.errors import InvalidQuestion, LedgerConflict
from inbounds.query import Answer, Dataset, Query
from inbounds.query.answer.kept_answer import read_kept
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.place]
keys = ["b", "a", "c"]
[columns.fine]
keys = [true, false]
[columns.size]
bounds = "[0, 9] step 1"
[columns.weight]
bounds = "[0.5, 2]"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
"""
TYPES = "who BIGINT, place VARCHAR, fine BOOLEAN, size BIGINT, weight DOUBLE, day DATE"
ROWS = [(i, "aab"[i % 3], i % 2 == 0, i % 10, 0.5 + i % 4 / 4, f"2026-02-{i % 28 + 1:02}") for i in range(300)]
EPSILON = 50


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    """A table of 300 rows, 200 in place a, 100 in place b, none in place c."""
    ledger = tmp_path_factory.mktemp("shown") / "ledger.db"
    text = contract(COLUMNS, unit="row", budget="total = 1000000")
    with Playground(text, TYPES, ledger) as found:
        found.fill(ROWS)
        yield found


@pytest.fixture
def visits(playground: Playground) -> Dataset:
    """The dataset to ask."""
    return playground.dataset


def ask(query: Query, **options: Any) -> Answer:
    """Ask with so much epsilon that answers are near the truth."""
    return query.ask(EPSILON, analyst="ana", **options)


SAME: list[tuple[str, str, str]] = [
    ("SELECT place, COUNT(*) AS n FROM visits GROUP BY place", "place, count AS n", ""),
    ("SELECT place AS p, COUNT(*) FROM visits GROUP BY p ORDER BY p", "place AS p, count", "ORDER BY p"),
    ("SELECT place, COUNT(*) FROM visits GROUP BY place ORDER BY 2 DESC LIMIT 2", "place, count",
     "ORDER BY count DESC LIMIT 2"),
    ("SELECT place, COUNT(*) FROM visits GROUP BY place ORDER BY COUNT(*) LIMIT 1 OFFSET 1", "place, count",
     "ORDER BY count LIMIT 1 OFFSET 1"),
    ("SELECT place, COUNT(*), AVG(weight) AS w FROM visits GROUP BY place HAVING COUNT(*) > 50 AND w > 0.1",
     "place, count, mean_weight AS w", "WHERE count > 50 AND mean_weight > 0.1"),
    ("SELECT place, SUM(size) / COUNT(*) AS each, ROUND(AVG(size), 1) AS r FROM visits GROUP BY place ORDER BY each",
     "place, sum_size / nullif(count, 0) AS each, round(mean_size, 1) AS r", "ORDER BY each"),
    ("SELECT place, 100.0 * COUNT(*) / 12, COUNT(*) - 5 AS fewer FROM visits GROUP BY place HAVING fewer > 0",
     'place, 100.0 * count / 12 AS "100 * COUNT(*) / 12", count - 5 AS fewer', "WHERE count - 5 > 0"),
    ("SELECT place, CASE WHEN COUNT(*) > 150 THEN 'many' WHEN place = 'c' THEN NULL ELSE 'few' END AS how FROM visits "
     "GROUP BY place ORDER BY how NULLS FIRST", "place, CASE WHEN count > 150 THEN 'many' WHEN place = 'c' THEN NULL "
     "ELSE 'few' END AS how", "ORDER BY how NULLS FIRST"),
    ("SELECT place, ABS(COUNT(*) - 150) AS a, LEAST(COUNT(*), 150) AS l, GREATEST(COUNT(*), 150) AS g, "
     "COALESCE(NULLIF(COUNT(*), 0), -1) AS o FROM visits GROUP BY place ORDER BY a, place DESC",
     "place, abs(count - 150) AS a, least(count, 150) AS l, greatest(count, 150) AS g, "
     "coalesce(nullif(count, 0), -1) AS o", "ORDER BY a, place DESC"),
    ("SELECT place, fine, COUNT(*) FROM visits GROUP BY CUBE(place, fine) HAVING COUNT(*) > 20 "
     "ORDER BY place NULLS FIRST, fine DESC", "place, fine, count",
     "WHERE count > 20 ORDER BY place NULLS FIRST, fine DESC"),
    ("SELECT place, COUNT(*) FROM visits GROUP BY ROLLUP(place) HAVING place IS NULL OR place IN ('a', 'b') "
     "ORDER BY COUNT(*) DESC", "place, count", "WHERE place IS NULL OR place IN ('a', 'b') ORDER BY count DESC"),
    ("SELECT size, COUNT(*) AS n FROM visits GROUP BY size HAVING size BETWEEN 2 AND 7 ORDER BY size DESC LIMIT 3",
     "size, count AS n", "WHERE size BETWEEN 2 AND 7 ORDER BY size DESC LIMIT 3"),
    ("SELECT place, COUNT(*) AS n FROM visits GROUP BY place HAVING NOT 150 BETWEEN 2 AND n", "place, count AS n",
     "WHERE NOT 150 BETWEEN 2 AND count"),
    ("SELECT place, COUNT(*) AS n FROM visits GROUP BY place HAVING 150 BETWEEN n AND 1000 / 5", "place, count AS n",
     "WHERE 150 BETWEEN count AND 1000 / 5"),
    ("SELECT HISTOGRAM(size, 5) AS n FROM visits ORDER BY size DESC LIMIT 2", "size, count AS n",
     "ORDER BY size DESC LIMIT 2"),
    ("SELECT CDF(size, 5) FROM visits HAVING share > 0.5 ORDER BY share DESC", "size, share",
     "WHERE share > 0.5 ORDER BY share DESC"),
    ("SELECT place, MEDIAN(day) AS m FROM visits GROUP BY place HAVING m > DATE '2026-01-15' ORDER BY m, place",
     "place, median_day AS m", "WHERE median_day > '2026-01-15' ORDER BY m, place"),
    ("SELECT place, QUANTILES(size, 0.25, 0.75) AS q FROM visits GROUP BY place ORDER BY QUANTILE(size, 0.75), 1",
     'place, "quantile_0.25_size" AS "q_0.25", "quantile_0.75_size" AS "q_0.75"', 'ORDER BY "q_0.75", place'),
    ("SELECT COUNT(*) AS n FROM visits HAVING n < 0", "count AS n", "WHERE count < 0"),
    ("SELECT FLOOR(Size / 4) * 4 AS s, COUNT(*) / (FLOOR(size / 4) * 4 + 1) AS x FROM visits GROUP BY s "
     "HAVING FLOOR(size / 4) * 4 > 2 ORDER BY FLOOR(size / 4) * 4 DESC",
     '"FLOOR(size / 4) * 4" AS s, count / ("FLOOR(size / 4) * 4" + 1) AS x',
     'WHERE "FLOOR(size / 4) * 4" > 2 ORDER BY s DESC'),
    ("SELECT MONTH(day) AS m, COUNT(*) FROM visits GROUP BY m HAVING m <= 3 ORDER BY MONTH(day) DESC",
     '"MONTH(day)" AS m, count', "WHERE m <= 3 ORDER BY m DESC"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("text", "columns", "rest"), SAME)
def test_what_is_shown_is_what_sql_makes_of_what_was_released(
    visits: Dataset, text: str, columns: str, rest: str
) -> None:
    """Names, expressions, HAVING, ORDER BY and LIMIT give what DuckDB makes of the released table."""
    answer = ask(visits.sql(text))
    with duckdb.connect() as connection:
        connection.register("released", answer.released.to_arrow())
        theirs = connection.execute(f"SELECT {columns} FROM released {rest}")
        assert answer.columns == tuple(column[0] for column in theirs.description or ())
        found = theirs.fetchall()
    assert len(found) == len(answer.rows)
    for ours, one in zip(answer.rows, found, strict=True):
        for a, b in zip(ours, one, strict=True):
            assert a == (pytest.approx(b, rel=1e-12) if isinstance(b, float) else b)


@pytest.mark.parametrize(("text", "columns", "rest"), SAME)
def test_the_text_of_what_is_shown_asks_it_again(visits: Dataset, text: str, columns: str, rest: str) -> None:
    """A question is written as SQL that reads as the same question, shown in the same way."""
    query = visits.sql(text)
    again = visits.sql(str(query))
    assert str(again) == str(query)
    assert again == query


def halved(operand: str, count: int) -> str:
    """Return a sum of so many operands as halves of halves, in parentheses."""
    return operand if count == 1 else f"({halved(operand, count // 2)} + {halved(operand, count - count // 2)})"


def test_each_part_of_an_expression_counts_once(visits: Dataset) -> None:
    """Parentheses are no parts, and a sum is one, however it is put together; what a name stands for counts as well."""
    most = halved("COUNT(*)", 250)  # 250 counts and 249 sums
    assert visits.sql(f"SELECT {most} AS n FROM visits").shown.columns
    assert visits.sql(f"SELECT SUM({halved('size', 50)}) FROM visits").questions
    many = halved("n", 10)
    for text in (
        f"SELECT {halved('COUNT(*)', 251)} FROM visits",
        f"SELECT SUM({halved('size', 51)}) FROM visits",
        f"SELECT {most} AS n FROM visits HAVING {many} > 1",
        f"SELECT {most} AS n FROM visits HAVING n > 1 AND n < 2",
        f"SELECT {most} AS n FROM visits ORDER BY CASE WHEN {many} > 1 THEN 1 END",
    ):
        with pytest.raises(InvalidQuestion, match=r"may have at most [15]00 parts"):
            visits.sql(text)


def test_a_span_of_constants_only_is_refused(visits: Dataset) -> None:
    """BETWEEN that is never true because of its constants is refused, as a comparison of constants is."""
    for span in ("5 BETWEEN 7 AND COUNT(*)", "5 BETWEEN COUNT(*) AND NULL", "5 BETWEEN 1 AND 9"):
        with pytest.raises(InvalidQuestion, match="compares constants only"):
            visits.sql(f"SELECT COUNT(*) FROM visits HAVING {span}")


def test_names_are_found_in_any_case(playground: Playground) -> None:
    """A column, a table and an alias are found in any case, and called as the contract calls them; quotes are exact."""
    visits = playground.dataset
    query = visits.sql("SELECT V.PLACE, Avg(v.Size) AS M FROM VISITS AS v WHERE SIZE > 1 GROUP BY Place ORDER BY m")
    assert str(query) == ("SELECT place, AVG(size) AS M FROM visits WHERE size > 1 GROUP BY place ORDER BY AVG(size)")
    for text in ('SELECT AVG("Size") FROM visits', 'SELECT COUNT(*) FROM visits "V" WHERE "v".size > 1'):
        with pytest.raises(InvalidQuestion):
            visits.sql(text)
    two = Dataset.parse(contract('[columns]\nage.bounds = "[0, 9]"\nAge.bounds = "[0, 5]"\n', unit="row"))
    assert str(two.sql("SELECT AVG(Age) FROM visits")) == "SELECT AVG(Age) FROM visits"
    with pytest.raises(InvalidQuestion, match="AGE may be age or Age"):
        two.sql("SELECT AVG(AGE) FROM visits")
    with pytest.raises(InvalidQuestion, match="AGE may be age or Age"):
        two.count().where("AGE > 3")


def test_names_of_joined_tables_are_found_in_any_case() -> None:
    """Tables, their aliases, units and columns are found in any case after FROM, JOIN, USING and ON too."""
    text = contract(
        '[columns.size]\nbounds = "[0, 9]"\n[tables.drugs]\n[tables.drugs.columns.dose]\nbounds = "[0, 5]"\n'
    )
    visits = Dataset.parse(text)
    expected = "SELECT AVG(dose) AS m FROM visits AS v JOIN drugs AS d USING (who) ORDER BY AVG(dose)"
    for join in ("USING (WHO)", "ON V.Who = D.WHO", "ON d.who = v.WHO"):
        asked = f"SELECT AVG(D.Dose) AS m FROM Visits v JOIN Drugs d {join} ORDER BY 1"
        assert str(visits.sql(asked)) == expected
    made = visits.sql("SELECT AVG(T.N) / 2 FROM (SELECT Who, COUNT(*) AS n FROM DRUGS GROUP BY WHO) AS t")
    assert str(made) == "SELECT AVG(n) / 2 FROM (SELECT who, COUNT(*) AS n FROM drugs GROUP BY who) AS t"


def test_python_shows_the_same(visits: Dataset) -> None:
    """Select, having, order_by and limit are the question that SQL asks."""
    asked = visits.together(visits.count(), visits.mean("size")).where("size > 0").by("place")
    python = asked.having("count > 10").having("mean_size < 9").order_by("mean_size", descending=True).order_by("place")
    python = python.select(n="count", more="100.0 * count / 12 + mean_size").limit(2, offset=1)
    sql = visits.sql(
        "SELECT place, COUNT(*) AS n, 100 * COUNT(*) / 12 + AVG(size) AS more FROM visits WHERE size > 0 "
        "GROUP BY place HAVING COUNT(*) > 10 AND AVG(size) < 9 ORDER BY AVG(size) DESC, place LIMIT 2 OFFSET 1"
    )  # fmt: skip
    assert python == sql
    assert str(python) == str(sql)
    assert ask(python).columns == ("place", "n", "more")
    binned = visits.histogram("size", 5).order_by("size", descending=True).having("count > 1")
    assert binned == visits.sql("SELECT HISTOGRAM(size, 5) FROM visits HAVING COUNT(*) > 1 ORDER BY size DESC")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            lambda query: query.having("counts > 5"),
            "counts is not a column of the answer; name one of place, count, mean",
        ),
        (lambda query: query.having("count"), "is not a condition on released values"),
        (lambda query: query.having("AVG(size) > 5"), "name columns of the answer"),
        (lambda query: query.having("size > 5"), "not a column of the answer"),
        (lambda query: query.having("v.count > 5"), "not a column of the answer"),
        (lambda query: query.having("count > 5; count > 6"), "is not a condition"),
        (lambda query: query.having(5), "must be text"),
        (lambda query: query.order_by(""), "must not be empty"),
        (lambda query: query.select(x="1 + 1"), "must hold a measure"),
        (lambda query: query.select(place="count"), "the name of a group"),
        (lambda query: query.select(x="place + 1"), "a number is needed here"),
        (lambda query: query.limit(-1), "whole numbers, 0 or more"),
        (lambda query: query.limit(1.5), "whole numbers, 0 or more"),
        (lambda query: query.limit(True), "whole numbers, 0 or more"),
    ],
)
def test_python_refuses_what_it_cannot_show(visits: Dataset, wrong: Any, told: str) -> None:
    """What is no expression over the columns of the answer is refused."""
    with pytest.raises(InvalidQuestion, match=told):
        wrong(visits.together(visits.count(), visits.mean("size")).by("place"))


def test_what_is_not_shown_is_not_paid_for(visits: Dataset) -> None:
    """A measure that nothing needs any more is not asked for."""
    asked = visits.together(visits.count(), visits.mean("size"), visits.mean("weight")).by("place")
    assert len(asked.questions) == 3
    assert asked.select(n="count") == visits.sql("SELECT place, COUNT(*) AS n FROM visits GROUP BY place")
    kept = asked.where("weight IS NOT NULL").order_by("mean_weight").select(n="count")
    assert [str(one.measure) for one in kept.questions] == ["COUNT(*), AVG(weight)"]


def test_measures_in_expressions_are_released_once(visits: Dataset) -> None:
    """However often a measure stands in a question, it is released once, and shares what it can."""
    selected = "SUM(size) / COUNT(*), SUM(size), AVG(size) * COUNT(*)"
    query = visits.sql(f"SELECT {selected} FROM visits WHERE size >= 0 HAVING COUNT(*) > 1 ORDER BY SUM(size)")
    assert len(query.questions) == 1
    assert [str(one) for one in query.asked] == ["SUM(size)", "COUNT(*)", "AVG(size)"]
    before = visits.ledger.balance("visits").spent
    ((ratio, total, product),) = ask(query).rows
    assert visits.ledger.balance("visits").spent - before == EPSILON
    assert ratio == pytest.approx(total / round(total / ratio))
    assert product == pytest.approx(total)


def test_the_same_request_is_shown_in_another_way_for_nothing(visits: Dataset) -> None:
    """With the same request id another order, limit, name or expression shows the same numbers, and costs nothing."""
    text = "SELECT place, COUNT(*), SUM(size) FROM visits GROUP BY place"
    first = ask(visits.sql(text), request_id="again")
    spent = visits.ledger.balance("visits").spent
    for other in (
        f"{text} ORDER BY 2 LIMIT 1",
        "SELECT place AS p, COUNT(*) AS n, SUM(size) AS s FROM visits GROUP BY place HAVING n > 5",
        "SELECT place, COUNT(*) / SUM(size) AS x FROM visits GROUP BY place ORDER BY x",
    ):
        again = ask(visits.sql(other), request_id="again")
        assert again.released == first
        assert again != first
    assert ask(visits.sql(text), request_id="again") == first
    assert first.released is first
    assert visits.ledger.balance("visits").spent == spent
    with pytest.raises(LedgerConflict):
        ask(visits.sql(f"{text} ORDER BY AVG(weight)"), request_id="again")  # which is one measure more
    (kept,) = [
        entry.text for entry in visits.ledger.statement("visits").entries
        if entry.kind == "answer" and entry.request_id == "again"
    ]  # fmt: skip
    assert read_kept(kept, first.epsilon, "again", first.row_limit) == first


def test_what_follows_from_an_owned_table_is_shown_too(visits: Dataset) -> None:
    """A sum of a table that is owned can be ordered, named and cut for nothing."""
    visits.sql("SELECT place, fine, COUNT(*) FROM visits GROUP BY place, fine").ask(1, analyst="owner")
    found = visits.sql("SELECT place, COUNT(*) AS n FROM visits GROUP BY place ORDER BY n DESC LIMIT 1").owned("owner")
    assert found is not None
    assert found.columns == ("place", "n")
    assert found.epsilon == 0
    assert found.rows[0][0] == "a"


def test_intervals_of_several_questions_hold_at_once(visits: Dataset) -> None:
    """What an expression needs from k questions misses with a k-th part of the odds each; kept intervals that are not
    sure enough give none."""
    query = visits.sql("SELECT place, SUM(size) / SUM(weight) AS x, COUNT(*) AS n FROM visits GROUP BY place")
    answer = ask(query, request_id="sure", confidence=0.9)
    assert [round(one, 12) for one in answer.released.confidences] == [0.95, 0.95, 0.9]
    assert sum(1 - Fraction(one) for one in answer.released.confidences[:2]) <= 1 - Fraction(0.9)
    for shown, released, row in zip(answer.intervals, answer.released.intervals, answer.released.rows, strict=True):
        (low, high), (down, up) = released[0], released[1]  # type: ignore[misc]
        if down > 0:
            assert shown[0] == (pytest.approx(low / up), pytest.approx(high / down)), row
        else:
            assert shown[0] is None
    plain = "SELECT place, SUM(size), SUM(weight), COUNT(*) FROM visits GROUP BY place"
    apart = ask(visits.sql(plain), request_id="apart")
    assert apart.confidences == ()
    shown_later = ask(query, request_id="apart")
    assert shown_later.released == apart
    assert all(one[0] is None and one[1] is not None for one in shown_later.intervals)
    together = visits.sql("SELECT SUM(size) / COUNT(size) AS x FROM visits")
    assert [round(one, 12) for one in ask(together).released.confidences] == [0.975, 0.975]  # of the same two sums
    assert ask(together).interval is not None


def test_noise_of_what_is_linear_in_one_measure(visits: Dataset) -> None:
    """The expected noise of 2 * COUNT(*) - 5 is twice that of the count; of other expressions it is not told."""
    text = "SELECT 5 - 2 * COUNT(*) AS a, COUNT(*) AS n, COUNT(*) * COUNT(*) AS b, ROUND(COUNT(*), 1) AS c FROM visits"
    answer = ask(visits.sql(text))
    ((a, n, b, c),) = answer.noise
    assert n is not None
    assert a == pytest.approx(2 * n)
    assert (b, c) == (None, None)


def test_nothing_shown_is_an_empty_answer(visits: Dataset) -> None:
    """An answer of which no row is shown has its columns, and no row; what was released is still there."""
    answer = ask(visits.sql("SELECT place, COUNT(*) AS n, SUM(size) FROM visits GROUP BY place LIMIT 3 OFFSET 3"))
    assert (answer.columns, answer.rows) == (("place", "n", "sum_size"), ())
    assert len(answer.released.rows) == 3
    assert "sum_size" in str(answer)
    assert len(answer.to_pandas()) == 0
    with pytest.raises(ValueError, match="needs a single answer, got 0"):
        _ = answer.value


def test_an_explanation_says_what_is_free(visits: Dataset) -> None:
    """What is computed from what is released is told apart from what is paid for."""
    query = visits.sql("SELECT place, SUM(size) / COUNT(*) AS x FROM visits GROUP BY place ORDER BY x LIMIT 2")
    found = query.explain(1, pooling=1)
    assert found.question == "SELECT place, SUM(size), COUNT(*) FROM visits GROUP BY place"
    free = "computed from the released values, for free"
    assert found.shown == f"place, SUM(size) / COUNT(*) AS x; ORDER BY SUM(size) / COUNT(*); LIMIT 2 ({free})"
    assert "shown           place, SUM(size) / COUNT(*) AS x" in str(found)
    assert visits.sql("SELECT COUNT(*) FROM visits").explain(1, pooling=1).shown is None


@pytest.mark.slow
def test_intervals_of_expressions_cover_what_they_say(tmp_path: Path) -> None:
    """The ratio of two sums lies in its interval at least as often as stated; shrunk to a fifth it would not."""
    columns = '[columns]\ng.bounds = "[0, 599] step 1"\nx.bounds = "[0, 10] step 1"\ny.bounds = "[0, 10]"\n'
    confidence, groups = 0.6, 600
    with Playground(contract(columns, unit="row"), "g BIGINT, x BIGINT, y DOUBLE", tmp_path / "l.db") as found:
        found.fill([(i % groups, i % 7 + 2, i % 5 + 4.0) for i in range(groups * 8)])
        query = found.dataset.sql("SELECT g, SUM(x) / SUM(y) AS ratio FROM visits GROUP BY g").alone()
        answer = query.ask(2, analyst="ana", pooling=1, confidence=confidence)
    held = narrow = 0
    for (g, _), (ends,) in zip(answer.rows, answer.intervals, strict=True):
        rows = [i for i in range(groups * 8) if i % groups == g]
        truth = sum(i % 7 + 2 for i in rows) / sum(i % 5 + 4.0 for i in rows)
        low, high = (-1e9, 1e9) if ends is None else ends
        middle = (low + high) / 2
        held += low <= truth <= high
        narrow += ends is not None and abs(truth - middle) <= (high - low) / 10
    assert stats.binom.cdf(held, groups, confidence) > 1e-9
    assert stats.binom.cdf(narrow, groups, confidence) < 1e-9
