"""Bounds of random expressions, over random contracts: no row is outside of them, whatever it holds.

Each row is computed twice, by the statement in DuckDB and in fractions in plain Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query.columns import integer_expression
from inbounds.query.columns.column import Column, Keys, Numbers
from inbounds.query.columns.derived_column import Derived
from inbounds.query.columns.integer_expression import Whole
from inbounds.query.statement.expressions import code_name
from inbounds.query.statement.relations import TableReader
from inbounds.query.statement.wanted import Wanted
from inbounds.query.tables.table import Table
from tests.helpers import oracle
from tests.helpers.random_contracts import Dice, Private, random_row
from tests.helpers.random_places import RandomPlace
from tests.helpers.random_questions import Name, Words
from tests.helpers.sparing import sparing

CHUNKS = 4
CONTRACTS = int(os.environ.get("INBOUNDS_TEST_CONTRACTS", "40")) // 2 // CHUNKS
EXPRESSIONS = 25
ROWS = 60


def random_columns(dice: Dice, private: Private, table: Table) -> list[Column]:
    """Return random expressions over the columns of a table, as columns; those that are refused are left out."""
    words = Words(dice, [Name(one.name, one.kind, one.keys) for one in private.columns])
    kinds: list[Callable[[int], str]] = [words.number, words.number, words.number, words.day, words.key]
    found: list[Column] = []
    while len(found) < EXPRESSIONS:
        text = dice.one(kinds)(dice.number(1, 4))
        try:
            found.append(table.column(text))
        except InvalidQuestion:
            continue
    return found


def in_engine(place: RandomPlace, table: Table, columns: list[Column]) -> dict[int, dict[str, int | None]]:
    """Return the integers that a statement computes for all rows, by the unit, which each row has its own of."""
    names = {column.name for column in columns}
    reader = TableReader({table.name: place.dataset.engine}, place.dataset.engine.dialect)
    select = reader.select(table, Wanted(frozenset(column.node for column in columns)))
    at = {select.named_selects.index(code_name(name)): name for name in names}
    rows = place.run(place.dataset.engine.dialect.render(select), "every")
    return {row[0]: {name: row[i] for i, name in at.items()} for row in rows}


def violations(folder: Path, seeds: range) -> Iterator[str]:
    """Yield what is out of its bounds, off its step, or not what plain Python computes."""
    for seed in seeds:
        with RandomPlace(folder / str(seed), seed, 0, "BIGINT") as place:
            private, table = place.scene.main, place.dataset.table
            if table.rows_are_units:
                continue
            rows = [random_row(place.dice, private, number) for number in range(ROWS)]
            place.fill("every", {name: rows if name == private.name else [] for name in place.scene.private})
            columns = random_columns(place.dice, private, table)
            found = in_engine(place, table, columns)
            integers = frozenset(one.name for one in private.stored if one.type in ("BIGINT", "INTEGER", "HUGEINT"))
            by_hand = oracle._Oracle(place.dataset.count().question, integers)
            for column in columns:
                for number, row in enumerate(rows):
                    problem = _problem(column, found[number][column.name], by_hand, row)
                    if problem is not None:
                        yield f"{column.name}: {problem} in {row}\n{place.scene.contract}"


def _problem(column: Column, code: int | None, by_hand: oracle._Oracle, row: dict[str, Any]) -> str | None:
    """Return what is wrong with the value of a row, or None."""
    formula = column.formula if isinstance(column, Derived) else column.node
    value = by_hand.value(formula, row)
    if value is None or code is None:
        is_right = value is None and code is None
    elif isinstance(column, Keys):
        is_right = column.keys[code : code + 1] == (value,)
    else:
        is_right = 0 <= code <= column.steps and _fits(column, column.low + code * column.step, value)
    return None if is_right else f"{value} in Python, {code} in the engine"


def _fits(column: Numbers, held: Fraction, value: Any) -> bool:
    """Return whether a value lies in the stated bounds, and is what Python computes; if it is on a step, exactly."""
    ends = column.bounds.least, column.bounds.greatest
    assert ends[0] is not None
    assert ends[1] is not None
    exact = Fraction(value.toordinal()) if isinstance(value, date) else value
    within = all(ends[0] <= one <= ends[1] for one in (held, exact))
    if column.bounds.step is None:
        return within
    return within and held == exact and (value if column.is_dates else held) in column.bounds


@pytest.mark.slow
@pytest.mark.parametrize("chunk", sparing(range(CHUNKS)))
def test_no_row_leaves_the_bounds_of_an_expression(tmp_path: Path, chunk: int) -> None:
    """Whatever a row holds, an expression of it is in the bounds and on the step that were stated for it."""
    assert next(violations(tmp_path, range(chunk * CONTRACTS, (chunk + 1) * CONTRACTS)), None) is None


def ignoring_corners(left: Whole, right: Whole) -> Whole:
    """Return a product whose ends are taken for the products of the ends on the same side."""
    low, high = sorted((left.low * right.low, left.high * right.high))
    return integer_expression.Product(low, high, (left, right))


def ignoring_half(this: Whole) -> Whole:
    """Return a number without its sign, as if none were negative."""
    return integer_expression.Size(max(this.low, 0), max(this.high, 0), (this,))


def a_step_short(parts: list[Whole]) -> Whole:
    """Return the first of some numbers, with its greatest value forgotten."""
    right = integer_expression.FirstOf(min(part.low for part in parts), max(part.high for part in parts), tuple(parts))
    return replace(right, high=max(right.low, right.high - 1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "wrong"), [("product", ignoring_corners), ("size", ignoring_half), ("first_of", a_step_short)]
)
def test_a_wrong_rule_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, wrong: Callable[..., Whole]
) -> None:
    """Negative control: where one rule of interval arithmetic is wrong, rows are found outside of the bounds."""
    monkeypatch.setattr(integer_expression, rule, wrong)
    assert next(violations(tmp_path, range(1000, 1040)), None) is not None
