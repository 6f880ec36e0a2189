"""A statistical audit of joins, inner groupings and expressions, from the tables to what is released.

Neighbouring tables are asked through the statement, the plan and its mechanism; an event that is likelier without the
unit is counted in very many releases.  Its loss is at most epsilon, for whatever rows; but not if a row of a join
belongs to two units.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from inbounds.query import Query
from inbounds.query.methods.method import OneNumber
from inbounds.query.methods.moments.ratio import Ratio
from inbounds.query.methods.plan import Plan
from inbounds.query.question.measure import Count
from inbounds.query.question.question import Question
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import Join
from inbounds.query.tables.table import Table
from tests.helpers.engine_places import planned
from tests.helpers.sparing import sparing
from tests.query.tables.test_relation import Clinic

EPSILON = 1
DRAWS = 1_000_000
ASKED = 800
ALARM = 1e-10

ASKED_ABOUT = [
    "SELECT COUNT(*) FROM visits JOIN drugs ON visits.who = drugs.taker",
    "SELECT place, COUNT(*) FROM visits LEFT JOIN drugs ON visits.who = drugs.taker GROUP BY place",
    "SELECT region, AVG(size * beds) FROM visits JOIN spots ON visits.place = spots.code GROUP BY region",
    "SELECT SUM(m) FROM (SELECT who, MAX(size * size) AS m FROM visits GROUP BY who) AS t",
    "SELECT SUM(m * n) FROM drugs JOIN (SELECT who, MAX(size) AS m, COUNT(*) AS n FROM visits GROUP BY who) AS t "
    "ON drugs.taker = t.who",
    "SELECT PROPORTION(n > 1) FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) AS t",
    "SELECT AVG(CASE WHEN dose > 5 THEN size ELSE -size END) FROM visits JOIN drugs ON visits.who = drugs.taker",
]

Rows = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def visit(who: int, size: int, place: str) -> dict[str, Any]:
    """Return a row of visits."""
    return {"who": who, "size": size, "weight": 1.0, "place": place, "day": "2026-01-02"}


def drug(taker: int, dose: int) -> dict[str, Any]:
    """Return a row of drugs."""
    return {"taker": taker, "dose": dose, "day": "2026-01-02"}


OTHERS: Rows = ([visit(5 * i, 7, "b") for i in range(1, 13)], [drug(5 * i, 20) for i in (1, 2)])
UNIT: Rows = (
    [visit(1, 7, "a"), visit(1, 7, "a"), visit(1, -3, "b")],
    [drug(1, 5 * i) for i in range(1, 13)],
)
"""The unit's doses are the numbers of twelve other units: a join by them makes a row of two units."""
TABLES: dict[str, Rows] = {"without": OTHERS, "with": (OTHERS[0] + UNIT[0], OTHERS[1] + UNIT[1])}


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    """Two private tables."""
    found = Clinic(tmp_path_factory.mktemp("clinic"))
    yield found
    found.dataset.close()


def of_two_units(clinic: Clinic) -> Query:
    """Return a count over a join that no parser lets through: visits of the unit whose number is the dose."""
    visits, drugs = clinic.dataset.table, clinic.dataset.tables.private["drugs"]
    wrong = Table("drugs", "dose", drugs.limit, {"day": drugs.columns["day"]}, is_main=False)
    joined = Joined("visits", visits, (Join("drugs", wrong, by_unit=True),))
    dataset = clinic.dataset._with_table(joined.table)
    return replace(dataset.count(), questions=(Question(joined.table, Count()),))


def totals_of(clinic: Clinic, plan: Plan) -> dict[str, list[int]]:
    """Return what is added up with and without the unit, all numbers in a row."""
    found = {}
    for name, (visits, drugs) in TABLES.items():
        clinic.fill(visits, drugs)
        found[name] = [number for one in plan.totals(clinic.dataset.engine.run(plan.sql)) for number in one]
    return found


def happened(plan: Plan, totals: list[int], ends: list[tuple[int, float]]) -> int:
    """Return how often all numbers were released on the side of those without the unit."""
    answering = plan.answering
    assert isinstance(answering, OneNumber | Ratio)
    mechanism, chunk, found = answering.choice.mechanism, DRAWS // 10, 0
    shift = answering.shift if isinstance(answering, OneNumber) else Fraction(0)
    for _ in range(10):
        event = np.ones(chunk, dtype=bool)
        for number, (sign, end) in zip(totals, ends, strict=True):
            if sign:
                released = mechanism.release(np.full(chunk, float(shift + number * answering.grain)))
                event &= (released - end) * sign < 0
        found += int(event.sum())
    return found


def ends_of(plan: Plan, totals: dict[str, list[int]]) -> list[tuple[int, float]]:
    """Return for each number in which direction the unit moves it, and a bound near to where it is without."""
    answering = plan.answering
    assert isinstance(answering, OneNumber | Ratio)
    shift = answering.shift if isinstance(answering, OneNumber) else Fraction(0)
    found = []
    for one, other in zip(totals["with"], totals["without"], strict=True):
        sign = (one > other) - (one < other)
        quarter = (3 * other + one) * answering.grain / 4
        found.append((sign, float(shift + quarter)))
    return found


def at_least(more: int, less: int, draws: int) -> float:
    """Return a lower bound of the loss of an event that happened so often, wrong once in 1 / ALARM audits."""
    low = stats.beta.ppf(ALARM / 2, more, draws - more + 1) if more else 0.0
    high = stats.beta.ppf(1 - ALARM / 2, less + 1, draws - less)
    return float(math.log(low / high)) if low else -math.inf


def audited(clinic: Clinic, query: Query) -> float:
    """Return a lower bound of what releases lose about the unit."""
    plan = planned(query)
    assert plan.epsilon == EPSILON
    totals = totals_of(clinic, plan)
    ends = ends_of(plan, totals)
    return at_least(happened(plan, totals["without"], ends), happened(plan, totals["with"], ends), DRAWS)


@pytest.mark.slow
@pytest.mark.parametrize("sql", sparing(ASKED_ABOUT, 2))
def test_an_audit_finds_no_more_than_epsilon(clinic: Clinic, sql: str) -> None:
    """Releases about joins, rows made of rows and expressions lose no more than epsilon, and something."""
    assert 0.2 * EPSILON < audited(clinic, clinic.dataset.sql(sql)) <= EPSILON


@pytest.mark.slow
def test_an_audit_catches_a_row_of_two_units(clinic: Clinic) -> None:
    """Negative control: a join that lets a row belong to two units loses more than epsilon."""
    assert audited(clinic, of_two_units(clinic)) > EPSILON


def asked(clinic: Clinic, query: Query, name: str) -> float:
    """Return a lower bound of the loss of answers as they are given out: statement, charge, noise and rounding."""
    counts: dict[str, int] = {}
    for side, (visits, drugs) in TABLES.items():
        clinic.fill(visits, drugs)
        ids = [f"{name} {side} {i}" for i in range(ASKED)]
        counts[side] = sum(query.ask(EPSILON, analyst="ana", request_id=one, pooling=1).value <= 3 for one in ids)
    return at_least(counts["without"], counts["with"], ASKED)


@pytest.mark.thorough
def test_answers_are_audited_all_the_way(clinic: Clinic) -> None:
    """Answers as analysts get them lose at most epsilon for a right join, and more for one with rows of two units."""
    right = clinic.dataset.sql("SELECT COUNT(*) FROM visits JOIN drugs ON visits.who = drugs.taker WHERE dose < 20")
    assert asked(clinic, right, "right") <= EPSILON
    assert asked(clinic, of_two_units(clinic), "wrong") > EPSILON
