"""Running totals asked as such: the same price, closer, whole, never falling; and another question than the counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import LedgerConflict
from inbounds.query import Dataset
from inbounds.query.answer.kept_answer import read_kept, write_kept
from inbounds.query.ask.steps import longest_text
from inbounds.query.methods.joint.running_table import RunningTable
from inbounds.query.question.question import sql_of
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.day]
bounds = "[1, 90] step 1"
[columns.ward]
keys = ["a", "b"]
"""
COUNTS = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day"
RUNNING = "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) AS up_to FROM visits GROUP BY day"
ROWS = [(i, 1 + i * i % 90, "ab"[i % 2]) for i in range(2000)]

AS_SUCH = [
    RUNNING,
    "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day ROWS UNBOUNDED PRECEDING) FROM visits GROUP BY day",
    "SELECT day, SUM(COUNT(*)) OVER w FROM visits GROUP BY day WINDOW w AS (ORDER BY day) ORDER BY day DESC LIMIT 3",
    "SELECT day, 100.0 * SUM(COUNT(*)) OVER (ORDER BY day) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY day",
    f"WITH t AS ({COUNTS}) SELECT day, SUM(n) OVER (ORDER BY day) AS up_to FROM t",
    f"SELECT day, up_to + 1 AS more FROM ({RUNNING}) AS t WHERE day > 5",
    "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) AS t FROM visits GROUP BY day QUALIFY SUM(COUNT(*)) OVER () > 5",
    "SELECT ward, day, SUM(COUNT(*)) OVER (PARTITION BY ward ORDER BY day) FROM visits GROUP BY ward, day",
]
OTHERWISE = [
    COUNTS,
    "SELECT day, COUNT(*), SUM(COUNT(*)) OVER (ORDER BY day) FROM visits GROUP BY day",
    "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day DESC) FROM visits GROUP BY day",
    "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day ROWS 6 PRECEDING) FROM visits GROUP BY day",
    "SELECT day, SUM(COUNT(*)) OVER (ORDER BY COUNT(*)) FROM visits GROUP BY day",
    "SELECT day, SUM(COUNT(*)) OVER () FROM visits GROUP BY day",
    "SELECT day, AVG(COUNT(*)) OVER (ORDER BY day) FROM visits GROUP BY day",
    "SELECT day, SUM(2 * COUNT(*)) OVER (ORDER BY day) FROM visits GROUP BY day",
    "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) FROM visits GROUP BY day ORDER BY COUNT(*)",
    "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) FROM visits GROUP BY day HAVING day > 5",
    "SELECT ward, day, SUM(COUNT(*)) OVER (ORDER BY day) FROM visits GROUP BY ward, day",
    "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) FROM visits GROUP BY ward",
    "SELECT day, SUM(COUNT(DISTINCT who)) OVER (ORDER BY day) FROM visits GROUP BY day",
    f"SELECT MAX(up_to) AS most FROM ({RUNNING}) AS t",
    f"SELECT day, SUM(n) OVER (ORDER BY day) AS up_to FROM (SELECT day, n FROM ({COUNTS}) AS t WHERE n > 5) AS u",
]


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    """A table of 2,000 visits, of a person each."""
    ledger = tmp_path_factory.mktemp("running") / "ledger.db"
    with Playground(contract(COLUMNS), "who BIGINT, day BIGINT, ward VARCHAR", ledger) as found:
        found.fill(ROWS)
        yield found


@pytest.fixture
def dataset(playground: Playground) -> Dataset:
    """The same, to be asked."""
    return playground.dataset


def spent(dataset: Dataset) -> Any:
    """Return what was spent so far."""
    return dataset.ledger.balance(dataset.name).spent


@pytest.mark.parametrize("sql", AS_SUCH)
def test_whatever_shows_nothing_else_is_planned_for(dataset: Dataset, sql: str) -> None:
    """Running totals are planned for, however they are written and whatever is made of them; all have intervals."""
    query = dataset.sql(sql)
    assert isinstance(query.plan(1).answering, RunningTable)
    answer = query.ask(1, analyst="ana")
    assert all(row[-1] is not None for row in answer.intervals)


@pytest.mark.parametrize("sql", OTHERWISE)
def test_whatever_shows_more_is_measured_as_before(dataset: Dataset, sql: str) -> None:
    """Where counts are shown as well, or other rows are added up, the counts are measured as they always were."""
    query = dataset.sql(sql)
    assert not any(isinstance(plan.answering, RunningTable) for plan in query.plans(1))


def test_what_is_asked_in_python_is_the_same(dataset: Dataset) -> None:
    """A column selected in Python is a running total as well; cells that are answered alone have none."""
    query = dataset.count().by("day").select(up_to="SUM(count) OVER (ORDER BY day)")
    assert isinstance(query.plan(1).answering, RunningTable)
    assert not isinstance(query.alone().plan(1).answering, RunningTable)
    assert not isinstance(query.plan(1, pooling=1).answering, RunningTable)


def test_running_totals_are_whole_and_never_fall_and_add_up(dataset: Dataset) -> None:
    """Running totals are whole, none is below the one before, and they are the sums of the counts that were kept."""
    answer = dataset.sql(RUNNING).ask("0.1", analyst="ana")
    totals = [row[1] for row in answer.rows]
    assert all(isinstance(total, int) for total in totals)
    assert all(before <= after for before, after in pairwise([0, *totals]))
    assert totals == list(accumulate(row[1] for row in answer.released.rows))


def test_intervals_are_far_narrower_and_hold(dataset: Dataset) -> None:
    """At the same price the intervals are a tenth as wide on average as sums of those of counts, and hold the truth."""
    truth = list(accumulate(sum(day == each for _, day, _ in ROWS) for each in range(1, 91)))
    answer = dataset.sql(RUNNING).ask(1, analyst="ana", confidence=1 - 1e-9)
    ends = [row[0] for row in answer.intervals]
    assert all(low <= total <= high for (low, high), total in zip(ends, truth, strict=True))  # type: ignore[misc]
    beside = dataset.sql(OTHERWISE[1]).ask(1, analyst="ana", confidence=1 - 1e-9)
    wide = [row[1] for row in beside.intervals]
    assert 10 * sum(high - low for low, high in ends) < sum(high - low for low, high in wide)  # type: ignore[misc]
    assert all(noise is not None for (noise,) in answer.noise)


def test_several_totals_in_one_expression_hold_at_once(dataset: Dataset) -> None:
    """Each of two running totals in a share is as sure as both need to be together."""
    share, alone = (dataset.sql(sql).ask(1, analyst="ana").released for sql in (AS_SUCH[3], RUNNING))
    assert share.confidences == (0.975,)
    assert alone.confidences == ()


def test_running_totals_are_another_question_than_counts(dataset: Dataset) -> None:
    """Counts are not answered by what was measured for running totals; asked again, these are free and the same."""
    query = dataset.sql(RUNNING)
    first = query.ask(1, analyst="ana", request_id="running")
    before = spent(dataset)
    again = dataset.sql(AS_SUCH[4]).ask(1, analyst="ana", request_id="running")
    assert again.rows == first.rows
    assert again.intervals == first.intervals
    assert spent(dataset) == before
    with pytest.raises(LedgerConflict, match="another question"):
        dataset.sql(COUNTS).ask(1, analyst="ana", request_id="running")
    with pytest.raises(LedgerConflict, match="another question"):
        dataset.sql(RUNNING.replace("day", "ward")).ask(1, analyst="ana", request_id="running")


def test_names_of_a_spelling_make_no_other_question(tmp_path: Path) -> None:
    """Running totals along a column that a SELECT inside names are found, and have their intervals, by any name."""
    text = (
        "SELECT {0}, SUM(COUNT(*)) OVER (ORDER BY {0}) AS t "
        "FROM (SELECT who, LEAST(COUNT(*), 80) AS {0} FROM visits GROUP BY who) AS v GROUP BY {0}"
    )
    with Playground(contract(COLUMNS, limit=90), "who BIGINT, day BIGINT, ward VARCHAR", tmp_path / "b.db") as visits:
        first, again = (
            visits.dataset.sql(text.format(name)).ask(1, analyst="ana", request_id="named") for name in ("n", "m")
        )
    assert first.released.running is not None
    assert (again.rows, again.intervals) == (first.rows, first.intervals)


def test_counts_serve_running_totals(dataset: Dataset) -> None:
    """Whoever has the counts has their running totals under the same request id, for free and as they add up."""
    counts = dataset.sql(COUNTS).ask(1, analyst="ana", request_id="counts")
    before = spent(dataset)
    totals = dataset.sql(RUNNING).ask(1, analyst="ana", request_id="counts")
    assert [row[1] for row in totals.rows] == list(accumulate(row[1] for row in counts.rows))
    assert totals.released.running is None
    assert spent(dataset) == before


@pytest.mark.parametrize("more", [[], ["in any spelling"]])
def test_an_answer_of_before_is_still_found(dataset: Dataset, more: list[str]) -> None:
    """Running totals that were asked when counts were measured for them are free, whichever way they were noted."""
    query, request = dataset.sql(RUNNING), f"of before {more}"
    facts = query.facts if more else (dataset.identity, sql_of(query.questions))
    fingerprint = sha256("\0".join([*facts, "1", "None", *more]).encode()).hexdigest()
    receipt = dataset.ledger.charge(
        dataset.name, "ana", 1, request_id=request, fingerprint=fingerprint, terms=dataset.terms
    )
    kept = dataset.sql(COUNTS).ask(1, analyst="ana").released
    dataset.ledger.answered(receipt, write_kept(kept))
    before = spent(dataset)
    totals = query.ask(1, analyst="ana", request_id=request)
    assert [row[1] for row in totals.rows] == list(accumulate(row[1] for row in kept.rows))
    assert spent(dataset) == before


def test_counts_follow_from_running_totals_for_free(dataset: Dataset) -> None:
    """Whoever has running totals can derive the counts, with the error that these have, and other sums of them."""
    totals = dataset.sql(RUNNING).ask(1, analyst="eve")
    counts, everything = (dataset.sql(sql).owned("eve") for sql in (COUNTS, "SELECT COUNT(*) FROM visits"))
    assert counts is not None
    assert everything is not None
    assert list(accumulate(row[1] for row in counts.rows)) == [row[1] for row in totals.rows]
    assert everything.rows == ((totals.rows[-1][1],),)
    assert counts.noise[0][0] == totals.released.noise[0][0]
    assert dataset.sql(RUNNING).owned("eve") is not None


def test_what_is_kept_fits_and_is_read_as_it_was(dataset: Dataset) -> None:
    """The text that is kept is no longer than was foreseen, and reading it gives what was written."""
    query = dataset.sql(RUNNING)
    released = query.ask("0.000001", analyst="ana").released
    text = write_kept(released)
    assert len(text) <= longest_text(query, query.plans("0.000001"))
    read = read_kept(text, released.epsilon, released.request_id)
    assert read.running == released.running
    assert "running" not in json.loads(write_kept(dataset.sql(COUNTS).ask(1, analyst="ana").released))


def test_what_the_limit_cuts_is_in_the_intervals_once(tmp_path: Path) -> None:
    """Where it is public how many rows are over the limit, each interval reaches further up by that number, once."""
    known = "[known]\nover_limit = { limit = 2, units = 3, rows = 7 }\n"
    text = contract(COLUMNS + known, limit=2)
    with Playground(text, "who BIGINT, day BIGINT, ward VARCHAR", tmp_path / "ledger.db") as visits:
        query = visits.dataset.sql(RUNNING)
        answer = query.ask(1, analyst="ana", request_id="one")
        entries = visits.dataset.ledger.statement("visits", "ana").entries
        (kept,) = (read_kept(entry.text, answer.epsilon, "one") for entry in entries if entry.kind == "answer")
    assert kept.running is not None
    pairs = zip(answer.intervals, kept.running.intervals, strict=True)
    assert {(a[0] - b[0], a[1] - b[1]) for (a,), b in pairs if a is not None} <= {(0, 7), (0, 8)}
