"""TPC-H with the customer as the unit: each question is answered from the rows of its customers, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inbounds.errors import InvalidQuestion
from inbounds.query import Dataset, Query
from inbounds.query.question.measure import Count, Sum
from tests.helpers import oracle
from tests.helpers.engine_places import Place, planned, totals_of
from tests.helpers.tpch.contract import contract
from tests.helpers.tpch.oracle import OwnedRow, Shop, rows_behind, weighed
from tests.helpers.tpch.owned import OWNED
from tests.helpers.tpch.places import opened
from tests.helpers.tpch.questions import ANSWERED, REFUSED, Answered, RefusedQuestion


@pytest.fixture(scope="module")
def dataset(tpch: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dataset]:
    """The shop, in files."""
    with Dataset.parse(contract(tpch), ledger=tmp_path_factory.mktemp("ledger") / "ledger.db") as found:
        yield found


Totals = dict[tuple[Any, ...], int]

PRICE = "l_extendedprice * (1 - l_discount)"
SUMS = {
    # What is charged with tax has more possible values than are told apart, so it is rounded, and left out here.
    1: {"quantity": "l_quantity", "price": "l_extendedprice", "discounted": PRICE, "discount": "l_discount"},
    5: {"revenue": PRICE},
    6: {"revenue": "l_extendedprice * l_discount"},
    7: {"revenue": "volume"},
    8: {"volume": "volume", "of_brazil": "case when nation = 'BRAZIL' then volume else 0 end"},
    9: {"profit": "amount"},
    12: {
        "high": "case when o_orderpriority = '1-URGENT' or o_orderpriority = '2-HIGH' then 1 else 0 end",
        "low": "case when o_orderpriority <> '1-URGENT' and o_orderpriority <> '2-HIGH' then 1 else 0 end",
    },
    14: {"revenue": PRICE, "of_promotion": f"case when p_type like 'PROMO%' then {PRICE} else 0 end"},
    15: {"revenue": PRICE},
    19: {"revenue": PRICE},
    22: {"balance": "c_acctbal"},
}
"""What questions add up, in their own words, by the names that the rows behind them have for it."""


def totals_by_group(query: Query) -> Totals:
    """Return the one total of each group that is not zero, as the statement of a question finds it."""
    labels = query.question.labels
    groups = [tuple(labels[place][code] for place, code in enumerate(cell)) for cell in planned(query).cells]
    return {group: total for group, (total,) in zip(groups, totals_of(query), strict=True) if total}


def counts(query: Query, rows: list[OwnedRow]) -> Totals:
    """Return the weighed number of rows of each group in plain Python."""
    return _weighed(query, [OwnedRow(row.owner, row.group) for row in rows], 0)


def sums(query: Query, rows: list[OwnedRow], number: int, name: str) -> Totals:
    """Return the weighed sum of each group in plain Python, in the unit that all values are multiples of.

    A CASE that is zero in some rows is, by itself, about the others: zeros do not count for the row limit.
    """
    measure = query.question.measure
    place, scale = list(OWNED[number].values).index(name), OWNED[number].values[name]
    if SUMS[number][name].startswith("case"):
        rows = [row for row in rows if row.values[place]]
    if isinstance(measure, Count):
        return counts(query, rows)
    assert isinstance(measure, Sum)
    unit = oracle.grain(query.question.table.numbers(measure.column))
    values = [Fraction(row.values[place], scale) / unit for row in rows]
    assert all(value.denominator == 1 for value in values)
    return _weighed(query, [row._replace(values=(int(one),)) for row, one in zip(rows, values, strict=True)], 1)


def _weighed(query: Query, rows: list[OwnedRow], place: int) -> Totals:
    limit, one = oracle.limit(query.question), oracle.fineness(query.question)
    return {group: totals[place] for group, totals in weighed(rows, limit, one).items() if totals[place]}


@pytest.mark.slow
def test_every_engine_finds_the_integers_of_plain_python(engine_place: Place, tpch: Path, shop: Shop) -> None:
    """On every engine the rows behind each question count and add up, weighed, to exactly what plain Python finds."""
    wrong = []
    with opened(engine_place, tpch) as found:
        for question in ANSWERED:
            rows = rows_behind(question.number, shop)
            query = found.sql(question.counted)
            if totals_by_group(query) != counts(query, rows):
                wrong.append(question.counted)
            for name, expression in SUMS.get(question.number, {}).items():
                query = found.sql(question.summed(expression))
                if totals_by_group(query) != sums(query, rows, question.number, name):
                    wrong.append(question.summed(expression))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: str(question.number))
def test_every_question_is_answered_as_it_is_written(dataset: Dataset, question: Answered) -> None:
    """What the benchmark writes is read, planned and answered, with the columns that it names."""
    answer = dataset.sql(question.sql).ask(1, analyst="ana")
    assert answer.rows
    assert str(answer.columns[-1]) in question.sql


@pytest.mark.parametrize("question", ANSWERED, ids=lambda question: str(question.number))
def test_the_text_of_a_question_reads_as_itself(dataset: Dataset, question: Answered) -> None:
    """What the ledger keeps of a question is SQL that asks the same."""
    once = str(dataset.sql(question.sql))
    assert str(dataset.sql(once)) == once


@pytest.mark.parametrize("question", REFUSED, ids=lambda question: str(question.number))
def test_what_cannot_be_owned_is_refused(dataset: Dataset, question: RefusedQuestion) -> None:
    """A question that would show a customer, look at others' rows, or has nothing to protect is refused, unpaid."""
    before = dataset.ledger.balance("customer").spent
    with pytest.raises(InvalidQuestion) as refusal:
        dataset.sql(question.sql).ask(1, analyst="ana")
    assert any(words in str(refusal.value) for words in question.reason.words)
    assert dataset.ledger.balance("customer").spent == before
