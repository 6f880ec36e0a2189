"""How much one unit counts, in Python's integers and in a database's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbounds.joint.measured.measurements import MOST
from inbounds.query.columns.column import MOST_STEPS
from inbounds.query.methods.planner import MOST_GRAINS
from inbounds.query.statement.row_weights import MOST_ROWS, RowWeights
from inbounds.query.tables.table import MOST_LIMIT
from tests.helpers.audit_tables import Playground, contract

CELLS = ("a", "b", "c")
LOW, HIGH = -3, 7
COLUMNS = f"[columns.place]\nkeys = {list(CELLS)}\n[columns.size]\nbounds = '[{LOW}, {HIGH}] step 1'\n"

Row = tuple[str, int]
rows_of_one = st.lists(st.tuples(st.sampled_from(CELLS), st.integers(LOW, HIGH)), max_size=40)


@pytest.fixture(scope="module", params=[1, 2, 5, 16])
def place(request: pytest.FixtureRequest) -> Iterator[tuple[int, Playground]]:
    """A table of visits, and how many rows of a unit count in full."""
    with Playground(contract(COLUMNS, limit=request.param), "who BIGINT, place VARCHAR, size BIGINT") as playground:
        yield request.param, playground


def counted(total: int, weights: RowWeights, rows: int) -> int:
    """Return what a total of a unit's rows counts for, by the definition in `weights`."""
    share = abs(total) * weights.limit * weights.one // max(rows, weights.limit) // weights.divisor
    return share if total >= 0 else -share


@given(limit=st.integers(1, MOST_LIMIT), most=st.integers(1, max(MOST_STEPS, MOST_GRAINS)))
def test_no_product_of_a_statement_overflows(limit: int, most: int) -> None:
    """The greatest integers that a statement makes of a unit's rows fit into 64 bits."""
    for weights in (RowWeights.of(limit, most), RowWeights.of_table(limit, most)):
        assert weights.limit * weights.one * MOST_ROWS < 2**63
        assert weights.limit * weights.one * most < 2**63
        assert most * MOST_ROWS < 2**63


@given(limit=st.integers(1, MOST_LIMIT), most=st.integers(1, max(MOST_STEPS, MOST_GRAINS)))
def test_a_table_has_room_for_a_billion_units(limit: int, most: int) -> None:
    """Units that each add as much as they may are added up in a table without a cut, and hardly rounded."""
    weights = RowWeights.of_table(limit, most)
    together = limit * most * weights.one // weights.divisor
    assert 2**30 * together <= MOST
    assert weights.divisor == 1 or together >= 2**30 // 11


def test_distances_from_the_middle_do_not_overflow() -> None:
    """The doubled sum of a mean over a public number of units fits into 64 bits too."""
    assert 2 * MOST_STEPS * MOST_ROWS < 2**63


@given(st.data(), st.integers(1, 50), st.one_of(st.integers(1, 1000), st.integers(2**28, MOST_GRAINS)))
def test_a_unit_counts_for_at_most_the_limit(data: st.DataObject, limit: int, most: int) -> None:
    """However many rows a unit has and wherever they are, what they count for together is within the bound."""
    weights = data.draw(st.sampled_from([RowWeights.of(limit, most), RowWeights.of_table(limit, most)]))
    rows = data.draw(st.lists(st.lists(st.integers(0, most), max_size=30), min_size=1, max_size=5))
    every = sum(map(len, rows))
    above = [counted(sum(cell), weights, every) for cell in rows]
    below = [counted(most * len(cell) - sum(cell), weights, every) for cell in rows]
    assert sum(above) + sum(below) <= limit * most / weights.unit
    if every <= limit and weights.divisor == 1:
        assert above == [sum(cell) * weights.one for cell in rows]
        assert sum(above) + sum(below) == every * most * weights.one


@pytest.mark.slow
@settings(max_examples=15)
@given(rows=rows_of_one, others=rows_of_one)
def test_a_statement_weighs_by_the_definition(
    place: tuple[int, Playground], rows: list[Row], others: list[Row]
) -> None:
    """A statement's totals are those of the definition, to the last bit, for counts, sums, means and quantiles."""
    limit, playground = place
    table = [(1, *row) for row in rows] + [(2, *row) for row in others]
    dataset = playground.dataset
    spread = HIGH - LOW
    count, total, mean = (
        query.by("place").plan(1) for query in (dataset.count(), dataset.sum("size"), dataset.mean("size"))
    )
    median = dataset.median("size").by("place").plan(1)
    found = {plan.sql: playground.totals(plan, table) for plan in (count, total, mean, median)}
    for i, cell in enumerate(CELLS):
        sizes = [[size for where, size in owned if where == cell] for owned in (rows, others)]
        every = [len(rows), len(others)]
        pairs = list(zip(sizes, every, strict=True))
        assert found[count.sql][i] == [sum(counted(len(own), count.request.weights, n) for own, n in pairs)]
        assert found[total.sql][i] == [sum(counted(sum(own), total.request.weights, n) for own, n in pairs)]
        weights = mean.request.weights
        above = sum(counted(sum(size - LOW for size in own), weights, n) for own, n in pairs)
        below = sum(counted(sum(HIGH - size for size in own), weights, n) for own, n in pairs)
        assert found[mean.sql][i] == [above, below]
        ranks = [Counter(own) for own in sizes]
        assert found[median.sql][i] == [
            sum(counted(rank[LOW + step], median.request.weights, n) for rank, n in zip(ranks, every, strict=True))
            for step in range(spread + 1)
        ]
    assert limit == mean.request.weights.limit


@pytest.mark.slow
@settings(max_examples=15)
@given(rows=st.lists(st.sampled_from(CELLS), max_size=12))
def test_a_unit_is_counted_once_in_each_group(place: tuple[int, Playground], rows: list[str]) -> None:
    """A count of units weighs the groups a unit is in, not its rows: at most so many as the limit."""
    limit, playground = place
    plan = playground.dataset.count_units().by("place").plan(1)
    found = playground.totals(plan, [(1, cell, 0) for cell in rows])
    weights, groups = plan.request.weights, len(set(rows))
    assert weights.limit == min(limit, len(CELLS)) == plan.answering.sensitivity
    assert found == [[counted(int(cell in rows), weights, groups)] for cell in CELLS]


def test_rows_that_are_not_weighed_break_the_bound() -> None:
    """The bound is not idle: without weights a unit with a row more than the limit is above it."""
    weights, most = RowWeights.of(3, 10), 10
    rows = [most] * 4
    assert sum(rows) * weights.one > weights.limit * most * weights.one
    assert counted(sum(rows), weights, len(rows)) <= weights.limit * most * weights.one


@pytest.mark.parametrize("cells", [("a", "b"), ("a", "b", "c")])
def test_rows_weigh_alike_in_one_question_and_anew_in_another(
    place: tuple[int, Playground], cells: tuple[str, ...]
) -> None:
    """The groups of one question add up to its total; asked one by one, each counts as much or more.

    So a count can only be too low, and numbers that have to agree are asked for in one question.
    """
    limit, playground = place
    table = [(who, cell, 0) for who in range(3) for cell in cells for _ in range(4)]
    count = playground.dataset.count()
    ((everything,),) = playground.totals(count.plan(1, pooling=1), table)
    together = [total for (total,) in playground.totals(count.by("place").plan(1, pooling=1), table)]
    alone = [playground.totals(count.where(f"place = '{cell}'").plan(1, pooling=1), table)[0][0] for cell in CELLS]
    one = RowWeights.of(limit, 1).one
    rounded = 3 * len(cells)  # each unit's share of each group is rounded down
    assert everything - rounded <= sum(together) <= everything
    assert all(low <= high <= 4 * 3 * one for low, high in zip(together, alone, strict=True))
    assert (sum(alone) > everything) == (limit < 4 * len(cells))
