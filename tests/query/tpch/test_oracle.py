"""The oracle of TPC-H finds what DuckDB finds: the answers, the rows of each customer, and their weighed sums."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.helpers.tpch.contract import contract
from tests.helpers.tpch.files import PRIVATE, TABLES
from tests.helpers.tpch.oracle import (
    QUESTIONS,
    Group,
    OwnedRow,
    Shop,
    rows_behind,
    share,
    sums_by_group,
    sums_by_owner,
    weighed,
)
from tests.helpers.tpch.owned import OWNED
from tests.helpers.tpch.questions import ANSWERED, REFUSED, Answered

Row = tuple[Any, ...]
KNOWN: dict[int, list[OwnedRow]] = {}


def rows_of(number: int, shop: Shop) -> list[OwnedRow]:
    """Return the rows behind a question, found once."""
    if number not in KNOWN:
        KNOWN[number] = rows_behind(number, shop)
    return KNOWN[number]


def _summed(group: Group, sums: list[Fraction]) -> Row:
    return (*group, *sums)


def _only_summed(group: Group, sums: list[Fraction]) -> Row:
    return (*group, *sums[1:])


def _averaged(group: Group, sums: list[Fraction]) -> Row:
    count, quantity, price, discounted, charge, discount = sums
    return (*group, quantity, price, discounted, charge, *(one / count for one in (quantity, price, discount)), count)


SHOWN: dict[int, Callable[[Group, list[Fraction]], Row]] = {
    1: _averaged,
    4: _summed,
    8: lambda group, sums: (*group, sums[2] / sums[1]),
    13: _summed,
    14: lambda group, sums: (100 * sums[2] / sums[1],),
    21: _summed,
    22: _summed,
}
"""What a question shows of the number of rows of a group and of its sums; of others, the sums."""


def answer(question: Answered, shop: Shop) -> Iterator[Row]:
    """Yield the rows of a question's answer in plain Python, in any order."""
    scales = [1, *OWNED[question.number].values.values()]
    show = SHOWN.get(question.number, _only_summed)
    for group, sums in sums_by_group(rows_of(question.number, shop)).items():
        yield show(group, [Fraction(one, scale) for one, scale in zip(sums, scales, strict=True)])


def plain(value: Any) -> Any:
    """Return a number as a fraction, and anything else as it is."""
    return Fraction(value) if isinstance(value, int | Decimal) else value


def near(value: Any) -> Any:
    """Return what a number of DuckDB is compared with: doubles nearly, others exactly."""
    return pytest.approx(value, rel=1e-12) if isinstance(value, float) else plain(value)


def test_all_questions_are_here() -> None:
    """Each of the 22 questions is answered or refused, and 22 is both: with a constant, and as it is written."""
    answered, refused = [one.number for one in ANSWERED], [one.number for one in REFUSED]
    assert sorted({*answered, *refused}) == list(range(1, 23))
    assert set(answered) & set(refused) == {22}
    assert answered == sorted(QUESTIONS) == sorted(OWNED)


@pytest.mark.slow
@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: str(question.number))
def test_plain_python_gives_the_answer_of_the_benchmark(
    question: Answered, shop: Shop, raw: duckdb.DuckDBPyConnection
) -> None:
    """The rows in plain Python, all counted in full, give what the question gives where nothing is protected."""
    shown = raw.execute(question.sql).fetchall()
    expected = list(answer(question, shop))
    assert shown
    if question.number == 13:  # where ours ends at the limit of orders
        limit = max(count for count, _ in expected)
        beyond = sum(customers for count, customers in shown if count >= limit)
        shown = [*((count, customers) for count, customers in shown if count < limit), (limit, beyond)]
    if question.number == 15:
        expected = [max(expected, key=lambda row: row[-1])]
    assert len(shown) == len(expected)
    for theirs, ours in zip(sorted(shown), sorted(expected), strict=True):
        assert tuple(map(plain, ours)) == tuple(map(near, theirs))


@pytest.mark.slow
@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: str(question.number))
def test_counts_count_the_rows_of_the_answer(question: Answered, shop: Shop, raw: duckdb.DuckDBPyConnection) -> None:
    """The question that counts has as many rows in all as plain Python finds."""
    found = sum(count for *_, count in raw.execute(question.counted).fetchall())
    assert found == len(rows_of(question.number, shop)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("number", OWNED)
def test_each_row_has_its_owner(number: int, shop: Shop, raw: duckdb.DuckDBPyConnection) -> None:
    """Each customer has the rows and sums in each group that the SELECT written by hand finds."""
    owned = OWNED[number]
    scales = [1, *owned.values.values()]
    found = {}
    for owner, *row in raw.execute(owned.by_owner()).fetchall():
        group, sums = tuple(row[: len(owned.keys)]), row[len(owned.keys) :]
        found[owner, group] = [int(one * scale) for one, scale in zip(sums, scales, strict=True)]
    assert found == sums_by_owner(rows_of(number, shop))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 3, 120])
@pytest.mark.parametrize("number", OWNED)
def test_weighed_sums_are_those_in_doubles(number: int, limit: int, shop: Shop, raw: duckdb.DuckDBPyConnection) -> None:
    """Weighed in whole numbers and rounded down, sums are those in doubles but for less than a unit an owner."""
    one = 2**20
    rows = rows_of(number, shop)
    owned = OWNED[number]
    scales = [1, *owned.values.values()]
    written = replace(owned, limit=limit).weighed()
    ours = weighed(rows, limit, one)
    shown = raw.execute(written).fetchall()
    assert len(shown) == len(ours)
    owners = len({row.owner for row in rows})
    for row in shown:
        group, sums = tuple(row[: len(owned.keys)]), row[len(owned.keys) :]
        for theirs, scale, total in zip(sums, scales, ours[group], strict=True):
            assert total == pytest.approx(float(theirs) * scale * one, rel=1e-9, abs=owners)


@pytest.mark.slow
def test_rows_of_another_are_noticed(shop: Shop) -> None:
    """Negative control: a row that is given to another customer changes what plain Python finds."""
    rows = rows_of(12, shop)
    first, *others = rows
    moved = [first._replace(owner=others[-1].owner), *others]
    assert sums_by_group(moved) == sums_by_group(rows)
    assert sums_by_owner(moved) != sums_by_owner(rows)
    assert weighed(moved, 1, 2**20) != weighed(rows, 1, 2**20)


@pytest.mark.parametrize(("total", "expected"), [(7, 7), (-7, -7), (0, 0)])
def test_few_rows_count_in_full(total: int, expected: int) -> None:
    """Within the limit nothing is weighed down."""
    assert share(total, 3, 5, 8) == expected * 8


def test_many_rows_count_for_the_limit() -> None:
    """Beyond the limit a customer counts for less, rounded towards zero, whatever the sign."""
    assert [share(total, 7, 5, 4) for total in (7, 1, -1, -7)] == [20, 2, -2, -20]


@pytest.mark.slow
def test_values_are_as_the_specification_says(tpch: Path, raw: duckdb.DuckDBPyConnection) -> None:
    """No value of a private table is beyond its bounds, and no key is missing from its list."""
    terms = tomllib.loads(contract(tpch))
    tables = {"customer": terms, **terms["tables"]}
    assert set(tables) == set(TABLES)
    for table in PRIVATE:
        for name, column in tables[table]["columns"].items():
            if "bounds" in column:
                low, high = column["bounds"].partition("]")[0][1:].split(", ")
                outside = f"{name} NOT BETWEEN '{low}' AND '{high}'"
            elif "keys" in column:
                outside = f"{name} NOT IN ({', '.join(repr(key) for key in column['keys'])})"
            elif "keys_of" in column:
                key = tables[column["keys_of"]]["key"]
                outside = f"{name} NOT IN (SELECT {key} FROM {column['keys_of']})"
            else:
                assert column == {"text": True}
                outside = f"{name} IS NULL"
            found = raw.execute(f"SELECT COUNT(*) FROM {table} WHERE {outside} OR {name} IS NULL").fetchone()
            assert (name, found) == (name, (0,))
