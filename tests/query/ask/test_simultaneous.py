"""On request all intervals of an answer hold at once, with the confidence that is stated."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from scipy import stats

from inbounds.errors import InvalidParameter
from inbounds.query import Answer
from inbounds.query.ask.options import check_at_once
from inbounds.results.answer_json import read_answer, write_answer
from inbounds.results.cover import AT_ONCE_CAVEAT
from inbounds.server.pages.parts.answer_table import describe_answer
from tests.helpers.audit_tables import Playground, contract

COLUMNS = f"""
[columns.ward]
keys = {[f"w{number}" for number in range(40)]}
[columns.sex]
keys = ["f", "m"]
[columns.age]
bounds = "[0, 100] step 1"
"""
ROWS = [(number, f"w{number % 40}", "fm"[number % 2], number % 100) for number in range(2000)]
BY_WARD = "SELECT ward, COUNT(*) FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    """Forty wards with fifty rows each."""
    folder: Path = tmp_path_factory.mktemp("wards")
    with Playground(
        contract(COLUMNS, unit="row", budget="total = 1000000"),
        "who BIGINT, ward VARCHAR, sex VARCHAR, age BIGINT",
        folder / "ledger.db",
    ) as made:
        made.fill(ROWS)
        yield made


def asked(playground: Playground, sql: str, *, simultaneous: bool = True, epsilon: float = 1) -> Answer:
    """Return an answer with intervals that hold at once, or each by itself."""
    return playground.dataset.sql(sql).ask(epsilon, analyst="ana", simultaneous=simultaneous)


@pytest.mark.slow
def test_all_intervals_hold_at_once(playground: Playground) -> None:
    """Forty intervals hold at once with 95 %, where they are to; each by itself with 95 %, they hardly ever do."""
    runs = 60
    fewest = stats.binom.ppf(1e-9, runs, 0.95)

    def held(*, simultaneous: bool) -> int:
        answers = (asked(playground, BY_WARD, simultaneous=simultaneous) for _ in range(runs))
        return sum(all(ends[0][0] <= 50 <= ends[0][1] for ends in one.intervals) for one in answers)  # type: ignore[index]

    assert held(simultaneous=True) >= fewest
    assert held(simultaneous=False) < fewest


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT COUNT(*) FROM visits", 1),
        (BY_WARD, 40),
        ("SELECT sex, COUNT(age), SUM(age), AVG(age) FROM visits GROUP BY sex", 6),
        ("SELECT MEDIAN(age) FROM visits", 1),
        ("SELECT sex, COUNT(age), QUANTILES(age, 0.2, 0.5, 0.8) FROM visits GROUP BY sex", 4),
        ("SELECT sex, COUNT(*) FROM visits GROUP BY ROLLUP(sex)", 3),
        ("SELECT CDF(age, 20) FROM visits", 20),
        ("SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS up_to FROM visits GROUP BY age", 2 * 101),
        ("SELECT age, COUNT(*), SUM(COUNT(*)) OVER (ORDER BY age) AS up_to FROM visits GROUP BY age", 101),
        ("SELECT COUNT(*) FROM visits WHERE sex = 'f' UNION ALL SELECT SUM(age) FROM visits", 2),
    ],
)
def test_the_number_of_intervals_is_public(playground: Playground, sql: str, count: int) -> None:
    """Each misses with its part of the odds, of as many as are kept; a group's quantiles hold together."""
    query = playground.dataset.sql(sql)
    plans = query.plans(1)
    assert query.at_once(plans) == count
    assert f"{count:,} intervals" in (query.explain(1, simultaneous=True).intervals or "") or count == 1
    sure = query.confidences(0.95, plans, simultaneous=True)
    assert all(1 - Fraction(one) <= Fraction(1, 20) / count + Fraction(1, 10**15) for one in sure)
    assert sure == pytest.approx([1 - 0.05 / count] * len(sure))


def test_the_answer_says_so_everywhere(playground: Playground) -> None:
    """The name, the caveat, the page, JSON and the explanation say that intervals hold at once."""
    at_once, alone = (asked(playground, BY_WARD, simultaneous=choice) for choice in (True, False))
    assert at_once.interval_names == ("95 % simultaneous interval",)
    assert alone.interval_names == ("95 % interval",)
    assert AT_ONCE_CAVEAT in str(at_once).replace("\n    ", " ")
    assert alone.caveat is None
    assert "for all numbers at once" in describe_answer(at_once)["reading"]
    assert "at once" not in describe_answer(alone)["reading"]
    read = read_answer(json.loads(json.dumps(write_answer(at_once))))
    assert (read.simultaneous, read.caveat, read.intervals) == (True, at_once.caveat, at_once.intervals)
    said = playground.dataset.sql(BY_WARD).explain(1, simultaneous=True)
    assert said.intervals == "All 40 intervals hold at once: each of them misses with 1/40 of the odds."
    assert "All 40 intervals" in str(said)
    assert playground.dataset.sql(BY_WARD).explain(1).intervals is None


def test_they_are_wider_than_each_by_itself(playground: Playground) -> None:
    """For holding at once, intervals are wider: for Laplace noise by the logarithm of their number."""

    def width(answer: Answer) -> float:
        return sum(ends[0][1] - ends[0][0] for ends in answer.intervals if ends[0] is not None)

    ratio = width(asked(playground, BY_WARD)) / width(asked(playground, BY_WARD, simultaneous=False))
    assert 1.5 < ratio < 3.5


def test_it_is_the_same_question(playground: Playground) -> None:
    """Asked again with its request id, the answer is the one that was kept, and says which intervals it has."""
    query = playground.dataset.sql(BY_WARD)
    kept = query.ask(1, analyst="ana", request_id="one", simultaneous=True)
    again = query.ask(1, analyst="ana", request_id="one")
    assert (again.simultaneous, again.intervals) == (True, kept.intervals)
    first = query.ask(1, analyst="ana", request_id="two")
    other = query.ask(1, analyst="ana", request_id="two", simultaneous=True)
    assert not other.simultaneous
    assert other.remarks[-1] == "The intervals were kept with the answer: 95 %, each by itself."
    assert again.remarks[-1] == "The intervals were kept with the answer: 95 %, all at once."
    assert not any("were kept" in remark for remark in (*kept.remarks, *first.remarks))
    assert not first.simultaneous


def test_what_is_computed_holds_with_them(playground: Playground) -> None:
    """Where all released numbers lie in their intervals, so does whatever is computed of them, and it has one."""
    sql = "SELECT ward, COUNT(*) AS n, SUM(COUNT(*)) OVER () AS all_of_them FROM visits GROUP BY ward"
    answer = asked(playground, sql)
    totals = {ends[1] for ends in answer.intervals}
    assert totals == {(sum(ends[0][0] for ends in answer.intervals), sum(ends[0][1] for ends in answer.intervals))}  # type: ignore[index]
    having = (
        "SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY ward HAVING COUNT(*) > 0"
    )
    assert asked(playground, having).interval_names[0] == "95 % simultaneous interval"
    ratio = asked(playground, "SELECT sex, 100 * SUM(age) / COUNT(*) AS it FROM visits GROUP BY sex", epsilon=5)
    assert all(ends[0] is not None for ends in ratio.intervals)


def test_several_selects_hold_together(playground: Playground) -> None:
    """A query of several SELECTs counts the intervals of all of them, and shows that they hold at once."""
    by_ward = "(SELECT ward, COUNT(*) AS n FROM visits WHERE sex = '{}' GROUP BY ward) AS {}"
    for sql in (
        "SELECT COUNT(*) FROM visits WHERE sex = 'f' UNION ALL SELECT SUM(age) FROM visits",
        "SELECT (SELECT COUNT(*) FROM visits WHERE sex = 'f') - (SELECT SUM(age) FROM visits) AS d",
        f"SELECT a.ward, a.n - b.n AS d FROM {by_ward.format('f', 'a')} JOIN {by_ward.format('m', 'b')} "
        "ON a.ward = b.ward",
    ):
        answer = asked(playground, sql, epsilon=2)
        assert answer.simultaneous
        assert all(ends[0] is not None for ends in answer.intervals)
        assert AT_ONCE_CAVEAT in (answer.caveat or "")


def test_parts_of_a_table_hold_with_it(playground: Playground) -> None:
    """What follows for free from an answer whose intervals hold at once has the same intervals, and says so."""
    query = playground.dataset.sql("SELECT sex, COUNT(*) FROM visits GROUP BY sex")
    query.ask(1, analyst="eve", simultaneous=True)
    owned = playground.dataset.sql("SELECT COUNT(*) FROM visits WHERE sex = 'f'").owned("eve")
    assert owned is not None
    assert owned.simultaneous


def test_so_sure_that_doubles_cannot_tell_is_refused(playground: Playground) -> None:
    """Where each interval would have to be surer than doubles tell, nothing is charged, and the remedy works."""
    query = playground.dataset.sql(BY_WARD)
    before = playground.dataset.ledger.balance("visits", "ana").spent
    with pytest.raises(InvalidParameter, match=r"confidence must be at most 1 - 40e-9 for 40 .*; give at most 0\.999"):
        query.ask(1, analyst="ana", confidence=1 - 1e-8, simultaneous=True)
    assert playground.dataset.ledger.balance("visits", "ana").spent == before
    assert query.ask(1, analyst="ana", confidence=0.999, simultaneous=True).confidence == 0.999
    with pytest.raises(InvalidParameter, match="ask for fewer groups"):
        check_at_once(0.5, 10**9)


def test_surest_intervals_can_be_made(playground: Playground) -> None:
    """At the limit of what is allowed every measure has its intervals."""
    measures = "COUNT(age), SUM(age), AVG(age), VARIANCE(age), QUANTILES(age, 0.2, 0.5, 0.8)"
    answer = playground.dataset.sql(f"SELECT sex, {measures} FROM visits GROUP BY sex").ask(
        50, analyst="ana", confidence=1 - 1.1e-8, simultaneous=True
    )
    assert all(ends is not None for row in answer.intervals for ends in row)
