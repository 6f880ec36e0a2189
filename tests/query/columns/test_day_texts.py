"""Days as texts: the texts that there are between two days, each day with its own."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset
from inbounds.query.columns.column import Keys
from inbounds.query.expressions.day_form import PARTS
from tests.helpers import oracle
from tests.helpers.engine_places import InParquet, totals_of

CONTRACT = """
[dataset]
name = "t"
unit = "row"
[columns.day]
bounds = "[{}, {}]"
[budget]
total = 1
"""

FORMS = [
    *PARTS,
    "%Y-%m",
    "%Y-Q%q",
    "%Y-%m-%d",
    "%d.%m.%y",
    "%B %Y",
    "%b",
    "%G-W%V",
    "%Y-%V",
    "%A, %-d %B",
    "year %Y",
    "%q/%y",
]
ENDS = [
    (date(2024, 12, 15), date(2026, 2, 3)),
    (date(2023, 12, 31), date(2024, 1, 1)),
    (date(1999, 2, 27), date(2001, 10, 1)),
    (date(1, 1, 1), date(2, 3, 1)),
    (date(9998, 11, 30), date(9999, 12, 31)),
]


def written(form: str, day: date) -> str:
    """Return a day as Python writes it."""
    text: str = oracle.COMPUTED["STRFTIME"](day, form)
    return text


@pytest.mark.parametrize(("first", "last"), ENDS, ids=str)
def test_texts_are_those_of_the_days(first: date, last: date) -> None:
    """The texts of a form are those that the days between the bounds have, and no others."""
    table = Dataset.parse(CONTRACT.format(first, last)).table
    days = [first + timedelta(number) for number in range((last - first).days + 1)]
    for form in FORMS:
        column = table.column(f"STRFTIME(day, '{form}')")
        assert isinstance(column, Keys)
        assert set(column.keys) == {written(form, day) for day in days}, form
        assert len(set(column.keys)) == len(column.keys)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "last"), ENDS, ids=str)
def test_each_day_has_its_own_text(tmp_path: Path, first: date, last: date) -> None:
    """A statement counts each day under the text that Python writes for it."""
    place = InParquet(tmp_path)
    rows = [{"day": first + timedelta(number)} for number in range((last - first).days + 1)]
    dataset = place.dataset(rows, {"day": "date"}, CONTRACT.format(first, last))
    for form in FORMS:
        query = dataset.sql(f"SELECT STRFTIME(day, '{form}'), COUNT(*) FROM t GROUP BY 1")
        assert totals_of(query) == oracle.totals(query.question, rows), form
    place.close()


def test_texts_of_many_days_are_few() -> None:
    """A form may give at most 1000 texts; parts that have few values do, however far apart the days are."""
    table = Dataset.parse(CONTRACT.format("1600-01-01", "2400-12-31")).table
    for form, count in (("%q", 4), ("%V", 53), ("%d", 31), ("%Y", 801), ("%y", 100)):
        column = table.column(f"STRFTIME(day, '{form}')")
        assert isinstance(column, Keys)
        assert len(column.keys) == count
    for form in ("%Y-%m", "%j", "%G-%V", "%d %m"):
        with pytest.raises(InvalidQuestion, match="gives more than 1000 texts here"):
            table.column(f"STRFTIME(day, '{form}')")
