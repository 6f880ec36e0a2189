"""Several SELECTs in one statement: one charge, each asked once, put together as SQL says; intervals follow."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import polars
import pytest

from inbounds.errors import BudgetExceeded, InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.answer.kept_answer import write_kept
from tests.helpers.months_clinic import months_clinic

BY_CLINIC = "SELECT clinic, COUNT(*) AS n FROM visits GROUP BY clinic"
BY_MONTH = "SELECT month, COUNT(*) AS n FROM visits GROUP BY month"
ALL = "SELECT COUNT(*) AS n FROM visits"
SHARE = "SELECT clinic, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM visits) AS part FROM visits GROUP BY clinic"


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """A clinic by month."""
    return months_clinic(tmp_path_factory.mktemp("clinic"))


ANSWERED = [
    SHARE,
    "SELECT clinic, AVG(age) AS a FROM visits GROUP BY clinic HAVING AVG(age) > (SELECT AVG(age) FROM visits)",
    "SELECT (SELECT COUNT(*) FROM visits WHERE died) AS died, (SELECT COUNT(*) FROM visits) AS everyone",
    f"WITH t AS ({BY_CLINIC}) SELECT clinic, n * 1.0 / (SELECT SUM(n) FROM t) AS part FROM t ORDER BY part DESC",
    f"WITH t AS ({BY_CLINIC}), a AS ({ALL}) SELECT t.clinic, t.n * 1.0 / a.n AS part FROM t CROSS JOIN a",
    f"WITH m AS ({BY_MONTH}) SELECT a.month, a.n, b.n AS before FROM m a LEFT JOIN m b ON b.month = a.month - 1 "
    "ORDER BY a.month",
    f"WITH t AS ({BY_CLINIC}), u AS (SELECT clinic, AVG(age) AS a FROM visits GROUP BY clinic) "
    "SELECT clinic, n, a FROM t JOIN u USING (clinic) WHERE n > 10",
    f"{BY_CLINIC} UNION ALL SELECT 'all', COUNT(*) FROM visits ORDER BY n DESC LIMIT 2",
    f"WITH t AS ({BY_CLINIC} UNION ALL SELECT 'all', COUNT(*) FROM visits) SELECT clinic, RANK() OVER (ORDER BY n) AS "
    "r FROM t WHERE n > 0",
    "PIVOT visits ON died USING COUNT(*) GROUP BY clinic",
    "PIVOT visits ON clinic IN ('north', 'south') USING AVG(age) GROUP BY month",
    "SELECT month, clinic, COUNT(*) AS n FROM visits JOIN (SELECT clinic AS c, COUNT(*) AS o FROM visits GROUP BY "
    "clinic ORDER BY o DESC LIMIT 2) AS top ON clinic = c GROUP BY month, clinic ORDER BY n DESC LIMIT 5",
]  # fmt: skip


@pytest.mark.parametrize("sql", ANSWERED)
def test_a_statement_is_read_back_as_itself(visits: Dataset, sql: str) -> None:
    """What is written of a statement of several SELECTs is read as the same statement."""
    written = str(visits.sql(sql))
    assert str(visits.sql(written)) == written


@pytest.mark.parametrize("sql", ANSWERED)
def test_all_of_it_is_one_charge(visits: Dataset, sql: str) -> None:
    """A statement of several SELECTs costs its epsilon once, and is answered again under its request id for free."""
    before = visits.ledger.balance("visits").spent
    first = visits.sql(sql).ask(2, analyst="ana", request_id=sql[:100])
    assert visits.ledger.balance("visits").spent == before + 2
    again = visits.sql(sql).ask(2, analyst="ana", request_id=sql[:100])
    assert (again.columns, again.rows, again.intervals) == (first.columns, first.rows, first.intervals)
    assert visits.ledger.balance("visits").spent == before + 2
    assert first.epsilon == 2


@pytest.mark.parametrize("sql", ANSWERED)
def test_parts_share_epsilon(visits: Dataset, sql: str) -> None:
    """The questions of a statement have shares of epsilon that add up to it, as their explanation says."""
    query = visits.sql(sql)
    plans, explained = query.plans(3), query.explain(3)
    assert sum((plan.epsilon for plan in plans), Fraction(0)) == explained.epsilon == 3
    assert [part.epsilon for part in explained.parts] == [plan.epsilon for plan in plans]
    assert "for free" in str(explained.shown)


@pytest.mark.parametrize("sql", ANSWERED)
def test_no_answer_is_longer_than_was_foreseen(visits: Dataset, sql: str) -> None:
    """The text that is kept of a statement is never longer than what is refused before the charge."""
    query = visits.sql(sql)
    answer = query.ask(1, analyst="ana")
    assert len(write_kept(answer.released)) <= query.longest(query.plans(1), answer.asked)


def test_the_same_select_is_asked_once(visits: Dataset) -> None:
    """A SELECT that is named several times, in whatever words, is released once: its numbers agree."""
    query = visits.sql(
        "SELECT (SELECT COUNT(*) FROM visits) AS a, (SELECT COUNT(*) AS n FROM visits AS v) AS b, "
        "(SELECT 2 * COUNT(*) FROM visits) AS c"
    )
    assert len(query.plans(1)) == 1
    ((a, b, c),) = query.ask(1, analyst="ana").rows
    assert a == b == c / 2


def test_one_question_is_the_same_as_alone(visits: Dataset) -> None:
    """A statement that asks one question only is that question: under its request id it is free."""
    visits.sql(BY_CLINIC).ask(1, analyst="ana", request_id="alone")
    before = visits.ledger.balance("visits").spent
    shown = visits.sql(f"WITH t AS ({BY_CLINIC}) SELECT a.clinic, b.n FROM t a JOIN t b USING (clinic)")
    assert len(shown.ask(1, analyst="ana", request_id="alone").rows) == 3
    assert visits.ledger.balance("visits").spent == before


def test_intervals_that_must_hold_at_once_are_surer(visits: Dataset) -> None:
    """What is made of two questions has an interval because each of theirs misses with half of the odds."""
    query = visits.sql(SHARE)
    assert query.confidences(0.95, query.plans(1)) == [0.975, 0.975]
    answer = query.ask(1, analyst="ana", confidence=0.95)
    counts, total = [row[0] for row in answer.released.intervals[:3]], answer.released.intervals[3][1]
    assert total is not None
    for own, (shown,) in zip(counts, answer.intervals, strict=True):
        assert own is not None
        assert shown == pytest.approx((own[0] / total[1], own[1] / total[0]))
    twice = visits.sql(f"{BY_CLINIC} UNION ALL {BY_CLINIC}")
    assert twice.confidences(0.95, twice.plans(1)) == [0.95]


def test_what_released_numbers_choose_has_no_interval(visits: Dataset) -> None:
    """A value from a row that released numbers choose has no interval: by the true ones it could be another row."""
    top = f"(SELECT n FROM ({BY_CLINIC}) AS t ORDER BY n DESC LIMIT 1)"
    answer = visits.sql(f"SELECT clinic, COUNT(*) AS n, {top} AS most FROM visits GROUP BY clinic").ask(
        1, analyst="ana"
    )
    assert all(own is not None and other is None for own, other in answer.intervals)


def test_rows_match_as_sql_says(visits: Dataset) -> None:
    """A LEFT JOIN keeps rows that nothing matches, a JOIN leaves them out, and each pair of others is one row."""
    on = "ON b.month = a.month - 1"
    left = visits.sql(f"WITH m AS ({BY_MONTH}) SELECT a.month, b.n FROM m a LEFT JOIN m b {on}").ask(9, analyst="ana")
    inner = visits.sql(f"WITH m AS ({BY_MONTH}) SELECT a.month, b.n FROM m a JOIN m b {on}").ask(9, analyst="ana")
    both = f"SELECT a.clinic, b.month, a.n * b.n AS x FROM ({BY_CLINIC}) a CROSS JOIN ({BY_MONTH}) b"
    assert len(visits.sql(both).ask(9, analyst="ana").rows) == 3 * 12
    assert [row[0] for row in left.rows] == list(range(1, 13))
    assert left.rows[0][1] is None
    assert [row[0] for row in inner.rows] == list(range(2, 13))


REFUSED = [
    ("SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits", "write UNION ALL"),
    (f"{BY_CLINIC} UNION ALL SELECT COUNT(*) FROM visits", "as many columns"),
    (f"{BY_CLINIC} UNION ALL SELECT 7, COUNT(*) FROM visits", "select them alike"),
    ("SELECT 1, COUNT(*) FROM visits UNION ALL SELECT COUNT(*), 1 FROM visits", "a category in one SELECT"),
    ("SELECT age FROM visits UNION ALL SELECT age FROM visits", "rows are never shown"),
    ("SELECT patient, COUNT(*) FROM visits GROUP BY patient UNION ALL SELECT 1, COUNT(*) FROM visits", "single people"),
    ("SELECT clinic, (SELECT age FROM visits LIMIT 1) AS a, COUNT(*) FROM visits GROUP BY clinic", "never shown"),
    (f"SELECT COUNT(*) / ({BY_CLINIC}) FROM visits", "must give one value"),
    ("SELECT clinic, (SELECT COUNT(*) FROM visits) AS a FROM visits GROUP BY clinic UNION SELECT 1", "UNION ALL"),
    (f"WITH t AS ({BY_CLINIC}) SELECT n FROM t a JOIN t b USING (clinic)", "may be a.n or b.n"),
    (f"WITH t AS ({BY_CLINIC}) SELECT a.n FROM t a FULL JOIN t b USING (clinic)", "FULL JOIN is not supported"),
    (f"WITH t AS ({BY_CLINIC}) SELECT c.n FROM t a JOIN t b USING (clinic)", "there is no table c"),
    ("PIVOT visits ON clinic USING COUNT(*)", "GROUP BY"),
    ("PIVOT visits ON patient USING COUNT(*) GROUP BY clinic", "single people"),
    (
        "SELECT clinic, COUNT(*) FROM visits JOIN (SELECT clinic AS c, month AS m, COUNT(*) AS n FROM visits "
        "GROUP BY 1, 2 ORDER BY n LIMIT 2) AS top ON clinic = c GROUP BY clinic",
        "join all that it is grouped by",
    ),
    ("SELECT COUNT(*) FROM visits WHERE age > (SELECT AVG(age) FROM visits)", "other people's rows"),
    (
        "WITH t AS (SELECT day, COUNT(*) AS n FROM visits GROUP BY day) SELECT a.n FROM t a, t b, t c",
        "pairs of released rows",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "why"), REFUSED)
def test_what_is_no_such_statement_is_refused(visits: Dataset, sql: str, why: str) -> None:
    """What shows rows, or does not fit together, is refused before the charge, with the reason."""
    before = visits.ledger.balance("visits").spent
    with pytest.raises(InvalidQuestion, match=why):
        visits.sql(sql).ask(1, analyst="ana")
    assert visits.ledger.balance("visits").spent == before


@pytest.mark.parametrize("join", ["CROSS JOIN", "UNION ALL"])
def test_selects_that_name_each_other_come_to_an_end(visits: Dataset, join: str) -> None:
    """Names that stand for each other again and again are refused, before they take long."""
    parts = [f"t0 AS ({ALL})"]
    for place in range(1, 5):
        several = [f"SELECT n FROM t{place - 1}"] * 12 if join == "UNION ALL" else []
        sources = f" {join} ".join(f"t{place - 1} a{i}" for i in range(12))
        parts.append(f"t{place} AS ({' UNION ALL '.join(several) or f'SELECT a0.n FROM {sources}'})")
    with pytest.raises(InvalidQuestion, match="again and again"):
        visits.sql(f"WITH {', '.join(parts)} SELECT n FROM t4")


def test_what_is_public_is_free(tmp_path: Path) -> None:
    """What the contract makes public has no share of epsilon, and a statement of nothing else costs nothing."""
    text = """
        [dataset]
        name = "visits"
        unit = "row"
        [known]
        total = 24
        [columns.clinic]
        keys = ["north", "south", "east"]
        [budget]
        total = 5
    """
    frame = polars.DataFrame({"clinic": ["north", "south", "east"] * 8})
    visits = Dataset.parse(text, frame=frame, ledger=str(tmp_path / "public.db"))
    assert [plan.epsilon for plan in visits.sql(SHARE).plans(1)] == [1]
    share = visits.sql(SHARE).ask(1, analyst="ana")
    assert "public knowledge" in " ".join(share.warnings)
    free = visits.sql("SELECT (SELECT COUNT(*) FROM visits) AS a, (SELECT 2 * COUNT(*) FROM visits) AS b")
    assert free.ask(1, analyst="ana").rows == ((24, 48),)
    assert visits.ledger.balance("visits").spent == 1


def test_it_is_changed_in_its_sql(visits: Dataset) -> None:
    """A statement of several SELECTs is not changed in Python; answering each cell by itself goes with all of them."""
    query = visits.sql(SHARE)
    changes = [lambda: query.where("age > 3"), lambda: query.by("month"), lambda: query.limit(3), query.with_totals]
    for change in changes:
        with pytest.raises(InvalidQuestion, match="changed in its SQL"):
            change()
    assert all(question.alone for question in query.alone().questions)


def test_no_part_is_charged_alone(tmp_path: Path) -> None:
    """Where the budget has no room for all of a statement, nothing of it is charged or shown."""
    visits = months_clinic(tmp_path)
    visits.ledger.charge("visits", "ana", 999_999, request_id="much", fingerprint="0" * 64, note="", terms=visits.terms)
    with pytest.raises(BudgetExceeded):
        visits.sql(SHARE).ask(2, analyst="ana")
    assert visits.ledger.balance("visits").spent == 999_999
