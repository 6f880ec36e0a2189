"""Several measures from one statement: a unit that has no value of one of them changes nothing of it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from inbounds.query import Dataset
from tests.helpers.random_contracts import Dice
from tests.helpers.unit_changes import part_of_sensitivity

CONTRACT = """
[dataset]
name = "visits"
source = "visits.parquet"
unit = "who"
max_rows_per_unit = 2
[columns]
age.bounds = "[0, 3] step 1"
days.bounds = "[0, 5] step 1"
ward.keys = ["a", "b"]
[budget]
total = 1000
"""

QUESTIONS = [
    "SELECT SUM(age), SUM(days) FROM visits",
    "SELECT AVG(days), SUM(age) FROM visits",
    "SELECT COUNT(*), SUM(age), AVG(days), VARIANCE(age) FROM visits",
    "SELECT ward, SUM(age), SUM(days) FROM visits GROUP BY ward",
    "SELECT PROPORTION(age > 1), SUM(days), COUNT(*) FROM visits",
    "SELECT SUM(age), SUM(CASE WHEN ward = 'a' THEN days END) FROM visits",
]

Row = tuple[int, Any, Any, Any]


def visits_of(dice: Dice, units: int) -> list[Row]:
    """Return rows of units, of which some have no value of a column in any row."""
    rows: list[Row] = []
    for who in range(units):
        ages, days = ([None] if dice.chance(0.4) else [0, 1, 3, None] for _ in range(2))
        rows += [
            (who, dice.one(ages), dice.one(days), dice.one(["a", "b", "c", None])) for _ in range(dice.number(1, 5))
        ]
    return rows


def totals(folder: Path, rows: list[Row], question: str) -> list[tuple[Any, list[list[int]]]]:
    """Return the plans of a question, with what their statements add up."""
    folder.mkdir()
    values = ", ".join(f"({', '.join('NULL' if cell is None else repr(cell) for cell in row)})" for row in rows)
    table = f"(VALUES {values}) t(who, age, days, ward)"
    typed = "SELECT who, CAST(age AS INT) AS age, CAST(days AS INT) AS days, CAST(ward AS TEXT) AS ward"
    duckdb.sql(f"COPY ({typed} FROM {table}) TO '{folder}/visits.parquet'")
    (folder / "visits.toml").write_text(CONTRACT, encoding="utf-8")
    with Dataset.load(folder / "visits.toml") as dataset:
        return [(plan, plan.totals(dataset.engine.run(plan.sql))) for plan in dataset.sql(question).plans(1)]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("seed", range(4))
def test_a_unit_changes_what_its_values_allow(tmp_path: Path, question: str, seed: int) -> None:
    """Without one unit no total of any measure changes by more than its noise is made for."""
    rows = visits_of(Dice(11, seed), 4)
    more = totals(tmp_path / "more", rows, question)
    for who in range(4):
        less = totals(tmp_path / f"less{who}", [row for row in rows if row[0] != who], question)
        worst = [part_of_sensitivity(plan, all_, rest) for (plan, all_), (_, rest) in zip(more, less, strict=True)]
        assert max(worst, default=Fraction(0)) <= 1
