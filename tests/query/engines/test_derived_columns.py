"""Columns made of columns are the same integers on every engine."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from tests.helpers import oracle
from tests.helpers.engine_places import Place, totals_of
from tests.query.columns.test_derived_column import QUESTIONS, ROWS, TYPES, UNITS, random_rows

CALENDAR = """
[dataset]
name = "t"
unit = "row"
[columns]
day.bounds = "[FIRST, LAST]"
[budget]
total = 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("contract", [ROWS, UNITS], ids=["rows", "units"])
def test_engines_agree_on_expressions(engine_place: Place, contract: str) -> None:
    """Totals of columns made of columns are those of plain Python, on every engine."""
    rows = random_rows(11)
    dataset = engine_place.dataset(rows, TYPES, contract)
    for text in QUESTIONS[::2] if contract is UNITS else QUESTIONS:
        query = dataset.sql(text)
        assert totals_of(query) == oracle.totals(query.question, rows, {"a", "n"}), text


CALENDARS = [(date(1582, 9, 1), 900, 1), (date(1895, 1, 1), 4000, 4), (date(1, 1, 1), 1200, 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("first", "days", "every"), CALENDARS, ids=["1582", "1895", "1"])
def test_engines_agree_on_the_calendar(engine_place: Place, first: date, days: int, every: int) -> None:
    """Parts of days and first days are those of one calendar, also around its odd days, on every engine."""
    rows: list[dict[str, Any]] = [{"day": first + timedelta(day)} for day in range(0, days, every)]
    contract = CALENDAR.replace("FIRST", str(first)).replace("LAST", str(first + timedelta(days)))
    dataset = engine_place.dataset(rows, {"day": "date"}, contract)
    asked = ["DAY(day) * 100 + MONTH(day)", "WEEK(day) * 10 + WEEKDAY(day)", "YEAR(day) * 4 + QUARTER(day)"]
    asked += [f"DATE_TRUNC('{part}', day + 1) - day" for part in ("year", "quarter", "month", "week")]
    for text in asked:
        query = dataset.histogram(text, 7)
        assert totals_of(query) == oracle.totals(query.question, rows), text
    for form in ("%Y-Q%q", "%b %Y", "%G-W%V", "%A"):
        query = dataset.count().by(f"STRFTIME(day, '{form}')")
        assert totals_of(query) == oracle.totals(query.question, rows), form
