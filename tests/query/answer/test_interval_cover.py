"""An interval is called what it is: about the true answer, or about the noise only where a row limit may cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inbounds.query import Answer
from inbounds.query.answer.kept_answer import read_kept
from inbounds.results.cover import CAVEAT, Cover, interval_name
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.place]
keys = ["a", "b", "c"]
[columns.kind]
keys = ["x", "y"]
[columns.size]
bounds = "[0, 100] step 1"
"""
TYPES = "who BIGINT, place VARCHAR, kind VARCHAR, size BIGINT"

ROWS = [
    (who, "abc"[number % 3], "xy"[number // 3 % 2], 10 + number)
    for who in range(800)
    for number in range(12 if who < 200 else 2)
]
"""Of 800 people, 200 have twelve rows each, everywhere; the others have two."""

SURE, NEAR = 0.999999999, 0.05
"""What lies near an interval is held by one that misses far less often than once in 10^9 times."""

PLAIN, RIDER = "% interval", "% interval (noise only)"

UNCUT: dict[str, list[float]] = {
    "SELECT COUNT(DISTINCT who) FROM visits": [800],
    "SELECT place, COUNT(DISTINCT who) FROM visits GROUP BY place": [800, 800, 200],
    "SELECT COUNT(DISTINCT place) FROM visits": [3],
    "SELECT AVG(m) FROM (SELECT who, MAX(size) AS m FROM visits GROUP BY who)": [(200 * 21 + 600 * 11) / 800],
    "SELECT AVG(n) FROM (SELECT who, LEAST(COUNT(*), 50) AS n FROM visits GROUP BY who)": [3600 / 800],
}
"""Questions of which nothing can be cut, with their true answers."""

CUT: dict[str, list[float]] = {
    "SELECT COUNT(*) FROM visits": [3600],
    "SELECT place, COUNT(*) FROM visits GROUP BY place": [1400, 1400, 800],
    "SELECT SUM(size) FROM visits": [sum(row[3] for row in ROWS)],
    "SELECT AVG(size) FROM visits": [sum(row[3] for row in ROWS) / 3600],
    "SELECT place, kind, COUNT(DISTINCT who) FROM visits GROUP BY place, kind": [800, 200, 800, 200, 200, 200],
    "SELECT place, COUNT(DISTINCT who) FROM visits GROUP BY ROLLUP(place)": [800, 800, 200, 800],
    "SELECT AVG(n) FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who)": [3600 / 800],
    "SELECT COUNT(*) / COUNT(DISTINCT who) AS each FROM visits": [3600 / 800],
}
"""Questions that the row limit of 3 may cut, and here does."""


@pytest.fixture
def playground(tmp_path: Path) -> Iterator[Playground]:
    """Rows of which a limit of 3 cuts some."""
    text = contract(COLUMNS, limit=3, budget="total = 100000")
    with Playground(text, TYPES, tmp_path / "ledger.db") as found:
        found.fill(ROWS)
        yield found


def asked(playground: Playground, sql: str) -> Answer:
    """Return an answer with little noise, and intervals that hardly ever miss."""
    return playground.dataset.sql(sql).ask(20, analyst="ana", confidence=SURE)


def held(answer: Answer, truths: list[float]) -> bool:
    """Return whether all true answers lie in their intervals."""
    ends = [one for row in answer.intervals for one in row]
    found = [end is not None and end[0] - NEAR <= true <= end[1] + NEAR for end, true in zip(ends, truths, strict=True)]
    return all(found)


@pytest.mark.slow
@pytest.mark.parametrize("sql", UNCUT)
def test_without_a_rider_the_interval_holds_the_truth(playground: Playground, sql: str) -> None:
    """Where nothing can be cut, the interval has no rider, and the true answer lies in it."""
    answer = asked(playground, sql)
    assert answer.intervals_noise_only == (False,)
    assert str(answer.interval_names[0]).endswith(PLAIN)
    assert answer.caveat is None
    assert "noise only" not in str(answer)
    assert {"low", "high"} <= set(answer.by_column())
    assert held(answer, UNCUT[sql])


@pytest.mark.slow
@pytest.mark.parametrize("sql", CUT)
def test_with_a_rider_the_interval_may_miss_the_truth(playground: Playground, sql: str) -> None:
    """Where a row limit may cut, every text and column says that the interval is about the noise only."""
    answer = asked(playground, sql)
    assert answer.intervals_noise_only == (True,)
    assert str(answer.interval_names[0]).endswith(RIDER)
    assert answer.caveat == CAVEAT
    assert CAVEAT in " ".join(str(answer).split())
    assert "(noise only)" in str(answer).split("---")[0]
    assert f"{RIDER}</th>" in answer._repr_html_()
    assert {"low_noise_only", "high_noise_only"} <= set(answer.by_column())
    assert not {"low", "high"} & set(answer.by_column())
    assert not held(answer, CUT[sql])


@pytest.mark.slow
def test_each_measure_has_its_own_name(playground: Playground) -> None:
    """Of several measures only those have the rider that a row limit may cut; a quantile has no interval to name."""
    answer = playground.dataset.sql("SELECT COUNT(*), COUNT(DISTINCT who), MEDIAN(size) FROM visits").ask(
        9, analyst="a"
    )
    assert answer.interval_names == ("95 % interval (noise only)", "95 % interval", None)
    ends = [name for name in answer.by_column() if name.startswith(("low", "high"))]
    assert ends == ["low_count_noise_only", "high_count_noise_only", "low_units", "high_units"]


def test_rows_that_are_units_have_no_rider(tmp_path: Path) -> None:
    """Where each row is a unit of its own, nothing can be cut, and nothing is said."""
    with Playground(contract(COLUMNS, unit="row"), TYPES, tmp_path / "ledger.db") as playground:
        answer = playground.dataset.sql("SELECT place, COUNT(*), AVG(size) FROM visits GROUP BY place").ask(
            1, analyst="a"
        )
    assert answer.interval_names == ("95 % interval", "95 % interval")
    assert "noise only" not in str(answer)


@pytest.mark.slow
def test_what_is_owned_or_asked_again_is_called_the_same(playground: Playground) -> None:
    """An answer that follows from one that is owned, and one that is asked for again, keep the rider."""
    whole = "SELECT place, COUNT(*) FROM visits GROUP BY ROLLUP(place)"
    first = playground.dataset.sql(whole).ask(1, analyst="ana", request_id="one")
    again = playground.dataset.sql(whole).ask(1, analyst="ana", request_id="one")
    owned = playground.dataset.sql("SELECT COUNT(*) FROM visits").owned("ana")
    assert owned is not None
    assert first.interval_names == again.interval_names == owned.interval_names == ("95 % interval (noise only)",)


@pytest.mark.parametrize(("confidence", "name"), [(0.95, "95"), (0.57, "57"), (0.999, "99.9"), (SURE, "99.9999999")])
def test_no_interval_is_called_surer_than_it_is(confidence: float, name: str) -> None:
    """The name has the confidence to its last digit: none of them is 100 %."""
    assert interval_name(confidence, Cover.TRUTH) == f"{name} % interval"
    assert interval_name(confidence, Cover.NOISE) == f"{name} % interval (noise only)"


def test_where_nothing_is_known_the_rider_is_there() -> None:
    """An answer of which nobody says what its intervals cover has the rider: the safe side."""
    kept = '{"columns":["count"],"rows":[[4]],"noise":[[1.0]],"intervals":[[[1,6]]],"confidence":0.95}'
    answer = read_kept(kept, 1, "r")  # type: ignore[arg-type]
    assert answer.interval_names == ("95 % interval (noise only)",)
    assert answer.caveat == CAVEAT
