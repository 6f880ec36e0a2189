"""Comparisons with values that no row can have are warned of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inbounds.query import UselessQuestion
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.delay]
bounds = "[0, 240] step 1"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
[columns.place]
keys = ["a", "b"]
"""
TYPES = "who BIGINT, delay BIGINT, day DATE, place VARCHAR"


@pytest.fixture
def playground(tmp_path: Path) -> Iterator[Playground]:
    """A table of delays that are clipped to 240."""
    with Playground(contract(COLUMNS, unit="row"), TYPES, tmp_path / "ledger.db") as found:
        yield found


@pytest.mark.parametrize(
    "condition",
    ["delay > 500", "delay = -1", "delay IN (3, 241)", "NOT (place = 'a' OR delay < -5)", "day >= '2027-01-01'"],
)
def test_a_constant_beyond_the_bounds_is_warned_of(playground: Playground, condition: str) -> None:
    """Answer and explanation name the column, its bounds and the comparison, if who asks insists on an answer."""
    query = playground.dataset.count().where(condition)
    answer, explanation = query.ask(1, analyst="ana", pooling=1, force=True), query.explain(1, pooling=1)
    (warning,) = answer.warnings
    named = "day is clamped to [2026" if "day" in condition else "delay is clamped to [0, 240] step 1"
    assert warning.startswith(named)
    assert explanation.warnings == answer.warnings
    assert warning in " ".join(str(answer).split())
    assert warning in " ".join(str(explanation).split())
    assert max(map(len, str(answer).splitlines())) <= 80


@pytest.mark.parametrize("condition", ["delay > 239", "delay <= 240", "delay = 0", "place = 'a'", "day < '2026-12-31'"])
def test_what_is_possible_has_no_warning(playground: Playground, condition: str) -> None:
    """Constants within the bounds, the ends too, need none."""
    assert playground.dataset.count().where(condition).explain(1, pooling=1).warnings == ()


def test_proportions_are_warned_of_too(playground: Playground) -> None:
    """A proportion is about its own condition, and each warning is given once."""
    query = playground.dataset.proportion("delay > 500").where("delay > 500")
    assert len(query.explain(1, pooling=1).warnings) == 1


INNER = "FROM (SELECT who, {measure} AS n FROM visits {where} GROUP BY who) AS t"
PLACES = [
    "SELECT CASE WHEN delay > 500 THEN 'late' ELSE 'soon' END AS k, COUNT(*) FROM visits GROUP BY k",
    "SELECT COVAR_POP(delay, CASE WHEN delay > 500 THEN 1 WHEN delay > 5 THEN 2 ELSE 0 END) FROM visits",
    f"SELECT AVG(n) {INNER.format(measure='SUM(CASE WHEN delay > 500 THEN 1 ELSE 0 END)', where='')}",
    f"SELECT AVG(n) {INNER.format(measure='COUNT(*)', where='WHERE delay > 500 OR delay < 5')}",
    "SELECT AVG(delay) FROM visits WHERE delay = 5 AND delay < 500",
]


@pytest.mark.parametrize("sql", PLACES)
def test_constants_are_warned_of_wherever_they_are(tmp_path: Path, sql: str) -> None:
    """In a group, a second column, an inner SELECT and beside what is public, a comparison is warned of, once."""
    with Playground(contract(COLUMNS, unit="who"), TYPES, tmp_path / "ledger.db") as found:
        warnings = [one for one in found.dataset.sql(sql).explain(1).warnings if "is clamped to" in one]
    assert len(warnings) == 1
    assert "500" in warnings[0]


def test_a_second_column_that_is_the_same_for_all_rows_is_refused(playground: Playground) -> None:
    """A covariance with what no row can change tells nothing, whichever of the two columns it is."""
    made = "CASE WHEN delay > 500 THEN 1 ELSE 0 END"
    for pair in (f"delay, {made}", f"{made}, delay"):
        with pytest.raises(UselessQuestion, match="no row can meet delay > 500"):
            playground.dataset.sql(f"SELECT COVAR_POP({pair}) FROM visits").ask(1, analyst="ana")
