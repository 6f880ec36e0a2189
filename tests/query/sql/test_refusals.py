"""What cannot be asked is refused with the remedy that helps."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InboundsError, InvalidQuestion
from inbounds.query import Dataset, LedgerConflict
from inbounds.query.sql.measures import MEASURES, PERCENTILES
from tests.helpers.engine_places import InDuckDB, InParquet

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

BY_RANK = "0.5) WITHIN GROUP (ORDER BY age)"

UNIT = r"patient is the unit; it can only be counted, with COUNT\(DISTINCT patient\)"

REFUSED: list[tuple[Callable[[Dataset], Any], str]] = [
    (lambda d: d.sql("SELECT COUNT(*) FROM visits WHERE patient = 3"), UNIT),
    (lambda d: d.sql("SELECT patient, COUNT(*) FROM visits GROUP BY patient"), "would show single people"),
    (lambda d: d.mean("patient"), UNIT),
    (lambda d: d.count().where("day > '2026-02-30'"), "'2026-02-30' is not a date of the calendar; write it like"),
    (lambda d: d.count().where("day > 'soon'"), "day holds dates, so it cannot be compared with 'soon'"),
    (lambda d: d.count().explain(0), "epsilon must be from 1e-9 to 1000, got 0"),
    (lambda d: d.count().explain(-0.5), "epsilon must be from 1e-9 to 1000, got -0.5"),
    (lambda d: d.count().explain(Decimal("1e9")), "epsilon must be from 1e-9 to 1000, got 1e9"),
    (lambda d: d.count().explain(Decimal("NaN")), "epsilon must be a finite number"),
    (lambda d: d.quantile("age", "x"), "above 0 and below 1, got 'x'; give a number such as 0.9"),
    (
        lambda d: d.sql("SELECT COUNT(*) FROM (SELECT AS STRUCT patient FROM visits GROUP BY patient)"),
        "STRUCT is not supported in a subquery; leave it out",
    ),
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


@pytest.mark.parametrize(
    "call", [*(f"{name}(age)" for name in MEASURES), *(f"{name}({BY_RANK}" for name in PERCENTILES)]
)
def test_no_measure_stands_in_a_condition_on_rows(visits: Dataset, call: str) -> None:
    """Whichever measure is compared after WHERE, it is told to be of many rows, and where to put it."""
    for condition in (f"{call} > 3", f"3 > {call}", f"age = {call}"):
        with pytest.raises(
            InboundsError, match="combines many rows, but one row is needed here; filter on it with HAVING"
        ):
            visits.sql(f"SELECT COUNT(*) FROM visits WHERE {condition}")


def test_bounds_on_text_are_told_in_one_word(tmp_path: Path) -> None:
    """A column with bounds must hold numbers, of whatever type of the database."""
    place = InDuckDB(tmp_path)
    worded = place.dataset([], TYPES | {"age": "text"}, CONTRACT)
    with pytest.raises(InboundsError, match="column 'age' must hold numbers, but the table 'visits' has text"):
        worded.count().explain(1)
    place.close()


def test_a_request_id_stays_with_its_question(visits: Dataset) -> None:
    """Another question under the same id is refused in the words of whoever asks."""
    visits.count().ask(0.1, analyst="ana", request_id="one", pooling=1)
    with pytest.raises(LedgerConflict, match="charged for another question, epsilon, analyst or dataset; ask that one"):
        visits.mean("age").ask(0.1, analyst="ana", request_id="one", pooling=1)


TOGETHER = """
[dataset]
name = "visits"
unit = "patient"
max_rows_per_unit = 2
[columns]
age.bounds = "[0, 120] step 1"
clinic.keys = ["north", "south"]
sex.keys = ["f", "m"]
[budget]
total = 10
"""

NOT_CHARGED: list[tuple[str, dict[str, Any], str]] = [
    ("AVG(age) FROM visits GROUP BY ROLLUP(clinic)", {}, "other totals need COUNT.* got a mean"),
    ("COUNT(*), AVG(age) FROM visits GROUP BY CUBE(clinic)", {}, "got a mean; ask for these"),
    ("MEDIAN(age) FROM visits GROUP BY ROLLUP(clinic)", {}, "got a median"),
    ("COUNT(*) FROM visits GROUP BY ROLLUP(clinic)", {"pooling": 1}, "pooling does not apply to a table with totals"),
    ("COUNT(*) FROM visits GROUP BY ROLLUP(ward)", {}, "no column 'ward'"),
    ("COUNT(*) FROM visits GROUP BY clinic, clinic", {}, "clinic appears twice in GROUP BY; name it once"),
    ("COUNT(*) FROM visits GROUP BY ROLLUP()", {}, "ROLLUP takes columns, got none"),
    ("HISTOGRAM(age, 3), COUNT(*) FROM visits", {}, "HISTOGRAM cannot be combined with other measures"),
    ("COUNT(*), AVG(age), MEDIAN(age) FROM visits", {"weights": [1, 2]}, "weights must be 3 numbers above 0"),
    ("COUNT(*), AVG(age), MEDIAN(age) FROM visits", {"weights": [1, 2, 0]}, "weights must be 3 numbers above 0"),
    ("COUNT(*), AVG(age), MEDIAN(age) FROM visits", {"weights": [1, 2, "x"]}, "a weight must be"),
    ("COUNT(*), AVG(age), MEDIAN(age) FROM visits", {"weights": [1, 2, float("inf")]}, "a weight must be"),
    ("COUNT(*) FROM visits GROUP BY clinic", {"confidence": 0}, "confidence must be above 0 and below 1"),
    ("COUNT(*) FROM visits GROUP BY clinic", {"confidence": 1}, "confidence must be above 0 and below 1"),
    ("COUNT(*) FROM visits GROUP BY clinic", {"confidence": Decimal("0.99999999999999999999")}, "by 1e-9 or more"),
    ("AVG(age) FROM visits GROUP BY clinic", {"confidence": 0.9999999999999999}, "confidence must be above 0 and"),
    ("AVG(age) FROM visits GROUP BY clinic", {"confidence": 1e-300}, "confidence must be above 0 and"),
    ("COUNT(*) FROM visits", {"confidence": float("nan")}, "confidence must be"),
    ("COUNT(*) FROM visits", {"confidence": "x"}, "confidence must be"),
    ("COUNT(*) FROM visits", {"confidence": True}, "confidence must be"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "given", "told"), NOT_CHARGED)
def test_what_cannot_be_answered_together_is_not_charged(
    files: InParquet, text: str, given: dict[str, Any], told: str
) -> None:
    """What would fail after the charge is refused before it, with the remedy, and the ledger is as it was."""
    dataset = files.dataset([], {"patient": "int", "age": "int", "clinic": "text", "sex": "text"}, TOGETHER)
    before = len(dataset.ledger.statement().entries)
    with pytest.raises(InboundsError, match=told) as refusal:
        dataset.sql(f"SELECT {text}").ask(1, analyst="ana", **given)
    assert ";" in str(refusal.value)
    assert dataset.ledger.balance("visits").spent == 0
    assert len(dataset.ledger.statement().entries) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT COUNT(*) FROM", "Expected table name, but the text ends, at line 1"),
        ("SELECT COUNT(*) FROM WHERE age > 3", "Expected table name, got WHERE, at line 1"),
        ("SELECT COUNT( FROM visits", "Expecting )"),
    ],
)
def test_what_a_parser_shows_of_itself_is_not_repeated(visits: Dataset, text: str, said: str) -> None:
    """A text that is no SQL is told by what is missing in it, in words, and not by objects of the parser."""
    with pytest.raises(InvalidQuestion) as refused:
        visits.sql(text)
    assert said in str(refused.value)
    assert "Token" not in str(refused.value)
