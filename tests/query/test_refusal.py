"""What cannot be asked is refused with the remedy that helps."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from inbounds.errors import InboundsError
from inbounds.query import Dataset, LedgerConflict
from tests.helpers.places import InParquet

CONTRACT = """
[dataset]
name = "visits"
unit = "patient"
max_rows_per_unit = 2
[columns]
age.bounds = "[0, 120] step 1"
day.bounds = "[2026-01-01, 2026-12-31]"
[budget]
total = 10
"""
TYPES = {"patient": "int", "age": "int", "day": "date"}

UNIT = r"patient is the unit; it can only be counted: COUNT\(DISTINCT patient\)"

REFUSED: list[tuple[Callable[[Dataset], Any], str]] = [
    (lambda d: d.sql("SELECT COUNT(*) FROM visits WHERE patient = 3"), UNIT),
    (lambda d: d.sql("SELECT patient, COUNT(*) FROM visits GROUP BY patient"), UNIT),
    (lambda d: d.mean("patient"), UNIT),
    (lambda d: d.count().where("day > '2026-02-30'"), "'2026-02-30' is not a day of the calendar; write a day like"),
    (lambda d: d.count().where("day > 'soon'"), "day holds days, so it cannot be compared with 'soon'"),
    (lambda d: d.count().explain(0), "epsilon must be from 1e-9 to 1000, got 0"),
    (lambda d: d.count().explain(-0.5), "epsilon must be from 1e-9 to 1000, got -0.5"),
    (lambda d: d.count().explain(Decimal("1e9")), "epsilon must be from 1e-9 to 1000, got 1e9"),
    (lambda d: d.count().explain(Decimal("NaN")), "epsilon must be a finite number"),
    (lambda d: d.quantile("age", "x"), "above 0 and below 1, got 'x'; give a number such as 0.9"),
    (lambda d: d.sql(""), "SQL must not be empty, got ''"),
    (lambda d: Dataset.parse(CONTRACT, ledger=3).ledger, "URL, got a value of type int; "),  # type: ignore[arg-type]
]


@pytest.fixture(scope="module")
def visits(files: InParquet) -> Dataset:
    """A table without rows."""
    return files.dataset([], TYPES, CONTRACT)


@pytest.mark.parametrize(("ask", "told"), REFUSED)
def test_a_refusal_says_what_helps(visits: Dataset, ask: Callable[[Dataset], Any], told: str) -> None:
    """The rule that was broken, what was received, and what to write instead."""
    with pytest.raises(InboundsError, match=told):
        ask(visits)


def test_bounds_on_text_are_told_in_one_word(files: InParquet) -> None:
    """A column with bounds must hold numbers, of whatever type of the database."""
    worded = files.dataset([], TYPES | {"age": "text"}, CONTRACT)
    with pytest.raises(InboundsError, match="column 'age' must hold numbers, and the table has text"):
        worded.count().explain(1)


def test_a_request_id_stays_with_its_question(visits: Dataset) -> None:
    """Another question under the same id is refused in the words of whoever asks."""
    visits.count().ask(0.1, analyst="ana", request_id="one", pooling=1)
    with pytest.raises(LedgerConflict, match="charged for another question, epsilon, analyst or dataset; ask that one"):
        visits.mean("age").ask(0.1, analyst="ana", request_id="one", pooling=1)
