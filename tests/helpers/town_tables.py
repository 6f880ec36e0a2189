"""A table of people in streets, districts and regions, and the check that an answer about it adds up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inbounds.query import Answer
from inbounds.query.methods.plan import Plan

COLUMNS = """
[columns.region]
keys = ["city", "land"]
[columns.district]
keys = ["harbour", "hills", "old town"]
within = "region"
map = { "old town" = "city", "harbour" = "city", "hills" = "land" }
[columns.street]
keys = ["a", "b", "c", "d"]
within = "district"
map = { a = "harbour", b = "harbour", c = "hills", d = "old town" }
[columns.sex]
keys = ["f", "m"]
[columns.size]
bounds = "[-3, 7] step 1"
[columns.debt]
bounds = "[-4, 0] step 0.5"
[columns.cost]
bounds = "[0, 2]"
"""
TYPES = (
    "who BIGINT, region VARCHAR, district VARCHAR, street VARCHAR, sex VARCHAR, size BIGINT, debt DOUBLE, cost DOUBLE"
)

PLACES = [("city", "harbour", "a"), ("city", "harbour", "b"), ("land", "hills", "c"), ("city", "old town", "d")]

ROWS = [
    (i // 2, *PLACES[i % 7 % 4], "fm"[i % 3 == 0], i % 11 - 3, -(i % 9) / 2, i % 5 / 2) for i in range(90)
]  # fmt: skip


def quiet(text: str) -> None:
    """Take a line of progress, and do nothing."""


def rows_of(plan: Plan, totals: Sequence[list[int]]) -> list[tuple[Any, ...]]:
    """Answer a plan from totals, and return rows as an answer has them."""
    labels = [group.labels for group in plan.question.groups]
    answered = plan.answering.answer_all(totals, 0.95, quiet)
    return [
        (*(None if code is None else labels[i][code] for i, code in enumerate(codes)), row[0].value)
        for codes, row in zip(plan.rows, answered, strict=True)
    ]


def sums_that_differ(rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows that are not what the rows of some finer grouping add up to, from nothing but the rows."""
    told = [tuple(i for i, key in enumerate(row[:-1]) if key is not None) for row in rows]
    found = []
    for row, places in zip(rows, told, strict=True):
        for finer in {one for one in told if set(places) < set(one)}:
            parts = [
                other[-1]
                for other, its in zip(rows, told, strict=True)
                if its == finer and all(other[i] == row[i] for i in places)
            ]
            if abs(sum(parts) - row[-1]) > 1e-6:
                found.append(row)
    return found


def answer_adds_up(answer: Answer) -> bool:
    """Return whether every grouping of an answer is the sum of every finer one."""
    return not sums_that_differ(answer.rows)
