"""Tables that running totals are made of: when blocks are measured, what a unit changes, and what comes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from inbounds.query import Query
from inbounds.query.methods.joint.joint_table import JointTable
from inbounds.query.methods.joint.running_table import MOST_KEPT, RunningTable
from inbounds.query.methods.method import Answered
from inbounds.query.methods.plan import Plan
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.unit_changes import part_of_sensitivity

COLUMNS = """
[columns.day]
bounds = "[1, 100] step 1"
[columns.month]
bounds = "[1, 12] step 1"
[columns.ward]
keys = ["a", "b"]
[columns.cost]
bounds = "[0, 50] step 0.5"
[columns.change]
bounds = "[-5, 5] step 1"
"""
TYPES = "who BIGINT, day BIGINT, month BIGINT, ward VARCHAR, cost DOUBLE, change BIGINT"
BY_DAY = "SELECT day, SUM({}) OVER (ORDER BY day) AS up_to FROM visits GROUP BY day"


def quiet(text: str) -> None:
    """Take a line of progress, and do nothing."""


@pytest.fixture(scope="module")
def visits() -> Iterator[Playground]:
    """A table without rows, of people with up to three visits."""
    with Playground(contract(COLUMNS, limit=3), TYPES) as found:
        yield found


def ends_of(cell: Answered) -> tuple[Any, Any]:
    """Return where the sum up to a cell lies."""
    assert cell.up_to is not None
    return cell.up_to.interval


def table_of(query: Query, epsilon: object = 1) -> JointTable:
    """Return how a question is answered."""
    answering = query.plan(epsilon).answering
    assert isinstance(answering, JointTable)
    return answering


def test_blocks_are_measured_where_they_are_worth_it(visits: Playground) -> None:
    """Of many keys blocks are measured too, at the same epsilon in all; of twelve months they would cost accuracy."""
    days = table_of(visits.dataset.sql(BY_DAY.format("COUNT(*)")))
    assert isinstance(days, RunningTable)
    assert days.has_blocks
    assert len(days.plan.split) > 1
    assert sum(days.plan.split.values()) == 1
    plain = table_of(visits.dataset.count().by("day"))
    assert type(plain) is JointTable
    cells = replace(days, plan=plain.plan)
    assert not cells.has_blocks
    assert days.mean_error < 0.85 * cells.mean_error
    months = table_of(visits.dataset.sql(BY_DAY.format("COUNT(*)").replace("day", "month")))
    assert isinstance(months, RunningTable)
    assert not months.has_blocks
    assert months.plan.split == table_of(visits.dataset.count().by("month")).plan.split


@pytest.mark.parametrize("of", ["COUNT(*)", "SUM(cost)", "SUM(change)"])
@pytest.mark.parametrize("by", ["day", "ward, day"])
def test_a_unit_changes_what_is_measured_by_no_more_than_is_said(visits: Playground, of: str, by: str) -> None:
    """Whatever rows one unit has, all groups of each measured grouping change by no more than its noise is made for."""
    over = "ORDER BY day" if by == "day" else "PARTITION BY ward ORDER BY day"
    plan = visits.dataset.sql(f"SELECT {by}, SUM({of}) OVER ({over}) AS t FROM visits GROUP BY {by}").plan(1)
    assert isinstance(plan.answering, RunningTable)
    assert plan.answering.has_blocks
    rng = np.random.default_rng(5)

    def rows(who: int, count: int) -> list[tuple[object, ...]]:
        numbers = zip(rng.integers(1, 101, count).tolist(), rng.integers(0, 2, count).tolist(), strict=True)
        return [(who, day, 1, "ab"[ward], 50 if day % 2 else 0.5, -5 if day % 3 else 5) for day, ward in numbers]

    others = [row for who in range(5) for row in rows(who, 4)]
    empty = visits.totals(plan, others)
    parts = []
    for count in (1, 2, 3, 4, 9):
        more = visits.totals(plan, others + rows(99, count))
        parts.append(part_of_sensitivity(plan, more, empty))
        assert parts[-1] <= 1
    assert max(parts) > Fraction(1, 4)
    too_many = [
        [total + 2 * (total - before) * 9 for total, before in zip(*pair, strict=True)]
        for pair in zip(more, empty, strict=True)
    ]
    assert part_of_sensitivity(plan, too_many, empty) > 1


@pytest.mark.parametrize("totals", [[0] * 100, [2**62, *[0] * 99], [-(2**70)] * 100, [3] * 100])
def test_running_totals_never_fall_and_are_whole(visits: Playground, totals: list[int]) -> None:
    """Whatever the totals are, cells are whole and not negative, and each sum up to one has an interval in order."""
    table = table_of(visits.dataset.sql(BY_DAY.format("COUNT(*)")), Fraction(1, 10))
    for _ in range(5):
        cells = [cell for (cell,) in table.answer_all([[total] for total in totals], 0.9, quiet)]
        assert all(isinstance(cell.value, int) and cell.value >= 0 for cell in cells)
        for cell in cells:
            low, high = ends_of(cell)
            assert 0 <= low <= high
            assert cell.up_to is not None
            assert cell.up_to.noise > 0


def test_sums_below_zero_have_their_intervals_the_right_way_round(visits: Playground) -> None:
    """Sums that cannot be positive are measured the other way round, and their intervals turned back."""
    text = contract('[columns.day]\nbounds = "[1, 40] step 1"\n[columns.debt]\nbounds = "[-9, 0] step 1"\n')
    with Playground(text, "who BIGINT, day BIGINT, debt BIGINT") as debts:
        plan = debts.dataset.sql(BY_DAY.format("SUM(debt)")).plan(100)
        totals = debts.totals(plan, [(i, 1 + i % 40, -9) for i in range(4000)])
        cells = [cell for (cell,) in plan.answering.answer_all(totals, 0.999999, quiet)]
        for number, cell in enumerate(cells, 1):
            low, high = ends_of(cell)
            assert low <= -900 * number <= high <= 0


def test_what_is_public_is_measured_as_before() -> None:
    """Where numbers of rows are public, or there are too many cells to keep, running totals are not planned for."""
    known = '[columns.day]\nbounds = "[1, 100] step 1"\n[known]\ntotal = 10\n'
    with Playground(contract(known, unit="row"), "who BIGINT, day BIGINT") as visits:
        assert type(table_of(visits.dataset.sql(BY_DAY.format("COUNT(*)")))) is JointTable
    many = '[columns.day]\nbounds = "[1, 900] step 1"\n[columns.bed]\nbounds = "[1, 60] step 1"\n'
    with Playground(contract(many, unit="row"), "who BIGINT, day BIGINT, bed BIGINT") as visits:
        query = "SELECT day, bed, SUM(COUNT(*)) OVER (PARTITION BY bed ORDER BY day) AS t FROM visits GROUP BY day, bed"
        table = table_of(visits.dataset.sql(query))
        assert type(table) is JointTable
        assert table.plan.layout.cells > MOST_KEPT


def test_cells_that_a_condition_leaves_have_their_own_sums(visits: Playground) -> None:
    """A condition on the key leaves fewer cells, and blocks are those of what is left."""
    query = visits.dataset.sql(
        "SELECT day, SUM(COUNT(*)) OVER (ORDER BY day) AS t FROM visits WHERE day > 40 GROUP BY day"
    )
    table = table_of(query, 100)
    assert isinstance(table, RunningTable)
    assert table.plan.layout.shape == (60,)
    assert len(table.answer_all([[7]] * 60, 0.9, quiet)) == 60


def test_measurements_without_blocks_make_a_table_too(visits: Playground) -> None:
    """What was measured before blocks were, and kept because no table was found, makes running totals later."""
    blocked = table_of(visits.dataset.sql(BY_DAY.format("COUNT(*)")), 50)
    plain = table_of(visits.dataset.count().by("day"), 50)
    unit = int(1 / plain.plan.grain)
    for source in (blocked, plain):
        cells = [cell for (cell,) in blocked.made_of(source.measure([[4 * unit]] * 100), 0.999999)]
        assert sum(cell.value for cell in cells) == pytest.approx(400, abs=100)  # type: ignore[misc]
        for number, cell in enumerate(cells, 1):
            low, high = ends_of(cell)
            assert low <= 4 * number <= high


@pytest.mark.parametrize("epsilon", ["1e-6", 1000])
def test_running_totals_cost_what_counts_cost(visits: Playground, epsilon: object) -> None:
    """Whatever epsilon counts can be had for, running totals can, with a certificate for as much."""
    table = table_of(visits.dataset.sql(BY_DAY.format("COUNT(*)")), epsilon)
    assert isinstance(table, RunningTable)
    assert table.certificate.holds
    assert table.certificate.epsilon == table_of(visits.dataset.count().by("day"), epsilon).certificate.epsilon


@pytest.mark.parametrize("keys", [2, 3, 7])
def test_few_keys_are_measured_as_their_counts_are(keys: int) -> None:
    """Of a few keys no blocks are measured, so that running totals are the same measurement as counts."""
    with Playground(contract(f'[columns.day]\nbounds = "[1, {keys}] step 1"\n'), "who BIGINT, day BIGINT") as visits:
        table = table_of(visits.dataset.sql(BY_DAY.format("COUNT(*)")))
        assert isinstance(table, RunningTable)
        assert not table.has_blocks
        assert table.plan.split == table_of(visits.dataset.count().by("day")).plan.split


def test_the_plan_says_what_is_measured_and_how_far_off_totals_are(visits: Playground) -> None:
    """The mechanism names the blocks, and the expected noise begins with that of running totals."""
    plan: Plan = visits.dataset.sql(BY_DAY.format("COUNT(*)")).plan(1)
    assert "day in blocks of" in plan.answering.mechanism()
    assert "in running totals over day, " in plan.answering.expected_noise()
