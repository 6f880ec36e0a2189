"""Quantiles have intervals in values, from other quantiles and the number of rows in the same answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from inbounds.results.answer_json import read_answer, write_answer
from tests.helpers.audit_tables import Playground, contract

COLUMNS = """
[columns.ward]
keys = ["a", "b"]
[columns.age]
bounds = "[0, 100] step 1"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
"""
TYPES = "who BIGINT, ward VARCHAR, age BIGINT, day DATE"


def ages(rows: int) -> list[int]:
    """Return ages with many ties, and some that lie far out."""
    drawn = np.random.default_rng(5).choice([20, 21, 40, 70, 95], rows, p=[0.3, 0.15, 0.25, 0.2, 0.1])
    return [int(age) for age in drawn]


ROWS = [
    (number // 2, "ab"[number % 5 == 0], age if number % 9 else None, f"2026-{1 + age % 12:02d}-15")
    for number, age in enumerate(ages(4000))
]


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Playground]:
    """Units with two rows each, some of them without an age."""
    folder: Path = tmp_path_factory.mktemp("units")
    text = contract(COLUMNS, limit=2, budget="total = 100000")
    with Playground(text, TYPES, folder / "ledger.db") as made:
        made.fill(ROWS)
        yield made


def true_values(values: Sequence[Any], level: float) -> tuple[Any, Any]:
    """Return the least and the greatest true quantile among the rows."""
    at = sorted(values)
    place = level * len(at)
    return at[max(int(np.ceil(place - 1e-9)) - 1, 0)], at[min(int(np.floor(place + 1e-9)), len(at) - 1)]


@pytest.mark.slow
@pytest.mark.parametrize("count", ["COUNT(age)", "COUNT(age), AVG(age)"])
@pytest.mark.parametrize("by", ["", "ward"])
def test_intervals_hold_the_true_quantiles(playground: Playground, by: str, count: str) -> None:
    """In every group at least 95 % of the intervals hold all that is a true quantile, however rows are counted."""
    levels, runs, good, found = (0.3, 0.5, 0.7), 30, 0, 0
    selected = ", ".join(part for part in (by, count, f"QUANTILES(age, {', '.join(map(str, levels))})") if part)
    query = playground.dataset.sql(f"SELECT {selected} FROM visits" + (f" GROUP BY {by}" if by else ""))
    for _ in range(runs):
        answer = query.ask(3, analyst="ana")
        hold = []
        for row, ends in zip(answer.rows, answer.intervals, strict=True):
            own = [age for _, ward, age, _ in ROWS if age is not None and (not by or ward == row[0])]
            for level, end in zip(levels, ends[-len(levels) :], strict=True):
                found += end is not None
                hold.append(end is None or all(end[0] <= true <= end[1] for true in true_values(own, level)))
        good += all(hold[: len(levels)])  # those of a group hold at once
    assert good >= stats.binom.ppf(1e-9, runs, 0.95)
    assert found >= runs


def test_days_have_intervals_of_days(playground: Playground) -> None:
    """Intervals of days begin and end with days, and are the same when they were written as JSON and read."""
    answer = playground.dataset.sql("SELECT COUNT(day), QUANTILES(day, 0.2, 0.5, 0.8) FROM visits").ask(
        5, analyst="ana"
    )
    (low, high) = answer.intervals[0][2] or (None, None)
    assert str(low).startswith("2026-")
    assert low < answer.rows[0][2] < high
    assert read_answer(write_answer(answer)).intervals == answer.intervals


def test_a_kept_answer_keeps_them(playground: Playground) -> None:
    """Asked again with its request id, an answer has the intervals that it had."""
    query = playground.dataset.sql("SELECT COUNT(age), QUANTILES(age, 0.25, 0.5, 0.75) FROM visits")
    first = query.ask(5, analyst="ana", request_id="kept")
    again = query.ask(5, analyst="ana", request_id="kept")
    assert first.intervals == again.intervals
    assert all(first.intervals[0])


def test_they_follow_into_expressions(playground: Playground) -> None:
    """What is computed of a quantile has an interval, as of other numbers."""
    selected = "COUNT(age) AS n, QUANTILE(age, 0.2) AS low, 2 * MEDIAN(age) AS twice, QUANTILE(age, 0.8) AS high"
    query = playground.dataset.sql(f"SELECT {selected} FROM visits")
    (_, _, twice, _) = query.ask(5, analyst="ana").intervals[0]
    assert twice is not None
    assert twice[0] <= 2 * 40 <= twice[1]


def test_a_count_of_other_rows_is_no_count_of_them(playground: Playground) -> None:
    """All rows are more than those that have a value, so COUNT(*) tells nothing of these."""
    quantiles = "QUANTILES(age, 0.25, 0.5, 0.75)"
    answer = playground.dataset.sql(f"SELECT COUNT(*), {quantiles} FROM visits").ask(5, analyst="ana")
    assert answer.intervals[0][1:] == (None, None, None)
    some = playground.dataset.sql(f"SELECT COUNT(*), {quantiles} FROM visits WHERE age >= 0").ask(5, analyst="ana")
    assert None not in some.intervals[0]


@pytest.mark.parametrize("measure", ["MEDIAN(age)", "QUANTILE(age, 0.9)", "MAX(age)", "QUANTILES(age, 0.3, 0.5, 0.7)"])
def test_what_is_said_of_a_missing_interval_works_when_typed(playground: Playground, measure: str) -> None:
    """Beside a quantile without an interval stands what to ask instead, before and after asking, and that has one."""
    query = playground.dataset.sql(f"SELECT {measure} FROM visits")
    answer, said = query.ask(5, analyst="ana"), query.explain(5).intervals
    assert answer.interval_names == (None,) * answer.measures
    assert said in answer.remarks
    added = re.search(r"(?:add|ask for) (COUNT.*)\.$", said or "")
    assert added is not None
    wanted = added[1] if "QUANTILES" in added[1] else f"{added[1]}, {measure}"
    better = playground.dataset.sql(f"SELECT {wanted} FROM visits")
    assert "intervals in values from about" in (better.explain(100).intervals or "")
    assert all(better.ask(100, analyst="ana").intervals[0])


def test_too_few_rows_are_told(playground: Playground) -> None:
    """Where no interval follows because there are too few rows, the answer says that."""
    query = playground.dataset.sql("SELECT COUNT(age), QUANTILES(age, 0.45, 0.5, 0.55) FROM visits WHERE age > 60")
    answer = query.ask("0.05", analyst="ana", force=True)
    assert answer.intervals[0][1:] == (None, None, None)
    assert any("too few rows" in remark for remark in answer.remarks)


def test_public_numbers_of_rows_serve_as_well(tmp_path: Path) -> None:
    """Where the contract tells the number of rows, no count is needed, if no row can be without a value."""
    known = "[known]\ntotal = 3000\n[known.by.ward]\na = 2000\nb = 1000\n"
    text = contract(COLUMNS, unit="row", budget=f"total = 1000\n{known}")
    with Playground(text, TYPES, tmp_path / "ledger.db") as made:
        made.fill([(number, "aab"[number % 3], number % 100, "2026-05-05") for number in range(3000)])
        for by in ("", " GROUP BY ward"):
            start = "SELECT ward, " if by else "SELECT "
            query = made.dataset.sql(f"{start} QUANTILES(COALESCE(age, 0), 0.3, 0.5, 0.7) FROM visits{by}")
            answer = query.ask(5, analyst="ana")
            for _, middle, _ in answer.intervals:
                assert middle is not None
                assert middle[0] <= 50 <= middle[1]
            query = made.dataset.sql(f"{start} QUANTILES(age, 0.3, 0.5, 0.7) FROM visits{by}")
            assert query.ask(5, analyst="ana").interval_names == (None,) * 3  # rows may have no age
            assert "COUNT(age)" in (query.explain(5).intervals or "")
