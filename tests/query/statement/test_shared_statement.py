"""One statement for several measures finds what a statement for each of them finds."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from inbounds.query import Query
from tests.helpers import oracle
from tests.helpers.engine_places import InParquet, Place, distance
from tests.helpers.infirmary.exact import as_mean

CONTRACT = """
[dataset]
name = "visits"
unit = "patient"
max_rows_per_unit = 3
[columns.age]
bounds = "[10, 110] step 1"
[columns.pain]
bounds = "[0, 10] step 0.5"
[columns.day]
bounds = "[2026-01-01, 2026-12-31]"
[columns.ward]
keys = ["a", "b"]
[budget]
total = 1000
"""
TYPES = {"patient": "bigint", "age": "bigint", "pain": "float8", "day": "date", "ward": "text"}
ROWS: list[dict[str, Any]] = [
    {"patient": patient, "age": age, "pain": pain, "day": date(2026, 3, 1 + patient), "ward": ward}
    for patient, age, pain, ward in [
        (1, 30, 2.5, "a"), (1, 30, None, "a"), (1, None, 4.0, "b"), (1, 31, 4.0, "b"), (1, 31, 9.5, "a"),
        (2, 80, None, "a"), (2, 81, None, "a"), (3, None, 7.0, "b"), (4, None, None, "a"), (5, 44, None, "b"),
        (5, 44, 0.0, "a"), (6, 12, 10.0, None),
    ]
]  # fmt: skip
"""Some patients have no pain at all, or none in one ward."""

SEVERAL = [
    "SELECT SUM(pain), SUM(age) FROM visits",
    "SELECT AVG(pain), AVG(age) FROM visits",
    "SELECT COUNT(*), SUM(pain), AVG(age) FROM visits",
    "SELECT ward, SUM(pain), AVG(age), COUNT(*) FROM visits GROUP BY ward",
    "SELECT ward, AVG(pain), AVG(age) FROM visits WHERE age > 20 OR pain > 1 GROUP BY ward",
    "SELECT SUM(CASE WHEN ward = 'a' THEN age END), SUM(CASE WHEN ward = 'b' THEN age END) FROM visits",
    "SELECT AVG(CASE WHEN age > 200 THEN pain END), PROPORTION(pain > 3), SUM(age) FROM visits",
]


def totals_together(query: Query) -> list[list[list[int]]]:
    """Return the totals of each measure by the statements that are run when all are asked for."""
    return [plan.totals(query.dataset.engine.run(plan.sql)) for plan in query.plans(len(query.questions))]


def totals_apart(query: Query) -> list[list[list[int]]]:
    """Return the totals of each measure by a statement of its own."""
    plans = [query.dataset.planned(question, Fraction(1), None) for question in query.questions]
    return [plan.totals(query.dataset.engine.run(plan.sql)) for plan in plans]


def test_a_shared_statement_finds_the_same_totals(engine_place: Place) -> None:
    """Together every total is what it is apart, also of units without a number; so it is bounded by the same proof."""
    dataset = engine_place.dataset(ROWS, TYPES, CONTRACT)
    shared = 0
    for sql in SEVERAL:
        query = dataset.sql(sql)
        shared += len({plan.sql for plan in query.plans(len(query.questions))}) < len(query.questions)
        assert totals_together(query) == totals_apart(query), sql
    assert shared == len(SEVERAL), "the test saw statements that are not shared"


@pytest.mark.parametrize("sql", SEVERAL)
def test_no_unit_can_be_seen_by_what_it_lacks(files: InParquet, sql: str) -> None:
    """Without one patient all totals of a measure together change by no more than is paid for."""
    everyone = files.dataset(ROWS, TYPES, CONTRACT).sql(sql)
    for patient in range(1, 7):
        others = files.dataset([row for row in ROWS if row["patient"] != patient], TYPES, CONTRACT).sql(sql)
        pairs = zip(everyone.questions, totals_together(everyone), totals_together(others), strict=True)
        for question, here, there in pairs:
            assert distance(here, there) <= oracle.sensitivity(as_mean(question)), str(question)
