"""An attack on tables that add up, through everything that leaves: cells, groupings, intervals, and what is owned.

All of these are made of the measurements and of what is public.  So the measurements are attacked by their exact law,
between tables that differ in one unit, and then it is shown that nothing else goes into what leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inbounds.joint.measured.measurements import Measurements
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.table.layout import Grouping
from inbounds.query.methods.joint import joint_table
from inbounds.query.methods.joint.joint_table import JointTable
from inbounds.query.methods.plan import Plan
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.town_tables import COLUMNS, ROWS, TYPES

EPSILON = 2
QUESTIONS = [
    "SELECT COUNT(*) FROM visits GROUP BY ROLLUP(region, district)",
    "SELECT COUNT(*) FROM visits GROUP BY CUBE(region, sex)",
    "SELECT COUNT(*) FROM visits GROUP BY district",
    "SELECT COUNT(DISTINCT who) FROM visits GROUP BY CUBE(region, sex)",
    "SELECT SUM(size) FROM visits GROUP BY ROLLUP(region, district)",
    "SELECT COUNT(*) FROM visits GROUP BY GROUPING SETS ((region), (district), (sex), (), REST())",
    "SELECT SUM(size) FROM visits GROUP BY GROUPING SETS ((district), (sex), (), REST())",
]

PEOPLE: list[list[tuple[Any, ...]]] = [
    [(1, "city", "harbour", "a", "f", 7, 0, 0)],
    [(1, "city", "harbour", "a", "f", 7, 0, 0), (1, "land", "hills", "c", "m", -3, 0, 0)],
    [(1, "city", "harbour", "a", sex, 7, 0, 0) for sex in "fmfm"],
    [(1, "land", place, "c", "f", 7, 0, 0) for place in ("harbour", "hills", "old town", "elsewhere")],
    [(1, "city", "harbour", "a", "f", 7, 0, 0)] * 50,
    [(1, "city", None, None, "f", 7, 0, 0), (1, None, "elsewhere", None, "x", 7, 0, 0)],
    [(1, None, None, None, None, 7, 0, 0)] * 50,
]
"""A unit as it might be: with one row, in several groups, with too many rows, against the map, in no group."""


@pytest.fixture
def towns(tmp_path: Path) -> Iterator[Playground]:
    """A table of people who each count for two rows."""
    with Playground(contract(COLUMNS, limit=2), TYPES, tmp_path / "ledger.db") as found:
        yield found


def greatest_loss(plan: JointPlan, more: np.ndarray[Any, Any], less: np.ndarray[Any, Any]) -> float:
    """Return the greatest loss over all that can be measured of two tables, by definition from the probabilities.

    Draws are independent, so the worst output has the worst value of each group; noise falls geometrically, so the
    worst value of a group lies beyond both truths.
    """
    loss = 0.0
    for grouping in plan.measured:
        mechanism = plan.mechanism(grouping)
        sums = (plan.layout.sum(table, grouping).ravel().tolist() for table in (more, less))
        for here, there in zip(*sums, strict=True):
            ends = np.array([min(here, there), max(here, there)], dtype=np.int64)
            ratios = np.log(mechanism.pmf(ends, int(here))) - np.log(mechanism.pmf(ends, int(there)))
            loss += float(np.abs(ratios).max())
    return loss


def cells(playground: Playground, plan: Plan, rows: list[tuple[Any, ...]]) -> np.ndarray[Any, Any]:
    """Return the true cells of a table."""
    assert isinstance(plan.answering, JointTable)
    totals = [total for (total,) in playground.totals(plan, rows)]
    return np.array(totals, dtype=np.int64).reshape(plan.answering.plan.layout.shape)


@pytest.mark.slow
@pytest.mark.parametrize("text", QUESTIONS)
def test_all_measurements_together_lose_epsilon(towns: Playground, text: str) -> None:
    """However one unit's rows are spread, all that is measured loses at most epsilon; and nearly that for some unit."""
    (plan,) = towns.dataset.sql(text).plans(EPSILON)
    assert isinstance(plan.answering, JointTable)
    losses = [
        greatest_loss(plan.answering.plan, cells(towns, plan, ROWS[10:] + unit), cells(towns, plan, ROWS[10:]))
        for unit in PEOPLE
    ]
    assert 0.9 * EPSILON < max(losses) <= EPSILON * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("text", QUESTIONS)
def test_a_grouping_that_is_not_paid_for_is_caught(towns: Playground, text: str) -> None:
    """The attack can succeed: with one grouping more than epsilon was divided over, it finds more than epsilon."""
    (plan,) = towns.dataset.sql(text).plans(EPSILON)
    assert isinstance(plan.answering, JointTable)
    honest = plan.answering.plan
    every: list[Grouping] = list(product(*((None, *range(len(axis.levels) + 1)) for axis in honest.layout.axes)))
    unpaid = next((one for one in every if one not in honest.split), honest.layout.total)
    split = {**honest.split, unpaid: honest.split.get(unpaid, Fraction(0)) + Fraction(1, 4)}
    wrong = replace(honest, split=split)
    found = max(
        greatest_loss(wrong, cells(towns, plan, ROWS[10:] + unit), cells(towns, plan, ROWS[10:])) for unit in PEOPLE
    )
    assert found > EPSILON * 1.05


@pytest.mark.slow
@pytest.mark.parametrize("text", QUESTIONS)
def test_nothing_but_the_measurements_leaves(towns: Playground, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two tables lead to the same measurements, everything is the same: cells, groupings, noise, intervals, what
    is kept in the ledger, and what follows from it for free."""
    query = towns.dataset.sql(text)
    (plan,) = query.plans(EPSILON)
    assert isinstance(plan.answering, JointTable)
    joint = plan.answering.plan
    rng = np.random.default_rng(20261117)
    drawn = {g: rng.integers(-(2**34), 2**36, joint.layout.sizes(g)) for g in joint.measured}
    monkeypatch.setattr(joint_table, "measure", lambda made, table, entropy: Measurements(made, drawn))
    found = []
    for number, rows in enumerate((ROWS, ROWS[10:] + PEOPLE[1], [])):
        towns.fill(rows)
        answer = query.ask(EPSILON, analyst=f"analyst {number}")
        sums = [query.owned(answer_of) for answer_of in (f"analyst {number}",)]
        sums += [towns.dataset.sql(one).owned(f"analyst {number}") for one in QUESTIONS]
        free = [None if one is None else (one.rows, one.noise, one.intervals) for one in sums]
        kept = [one.text for one in towns.dataset.ledger.statement().entries if one.kind == "answer"][-1]
        found.append((answer.rows, answer.noise, answer.intervals, kept, free))
    assert found[0] == found[1] == found[2]


def test_noise_comes_from_the_entropy_and_nothing_else(towns: Playground) -> None:
    """A table is answered with other numbers each time: no measurement is used twice for one question."""
    query = towns.dataset.sql(QUESTIONS[0])
    towns.fill(ROWS)
    assert len({query.ask(Fraction(1, 10), analyst="ana").rows for _ in range(5)}) == 5
