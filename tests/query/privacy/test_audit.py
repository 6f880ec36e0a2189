"""A statistical audit of grouped counts, from the table to the answer: does an event tell neighbours apart too well?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from inbounds.query.methods.mechanism_choice import choose
from inbounds.query.methods.method import OneNumber
from inbounds.query.methods.plan import Plan
from tests.helpers.audit_tables import Playground, contract
from tests.helpers.chi_square import FLOOR, p_value

EPSILON = 3
ROWS = 128
"""The unit has so many rows, half of them in each of two groups, and all of them count."""

MOST = 5
"""The event: every group's answer is at most this.  By exact probabilities, at a group's standard guarantee it loses
1.068 epsilon; more draws would be needed for a rarer or a more common event."""

DRAWS = 14_000_000
"""Enough: by exact probabilities the alarm is then 8 standard deviations clear of a miss."""

ALARM = 1e-10

CELLS = ("a", "b")
COLUMNS = f"[columns.place]\nkeys = {list(CELLS)}\n"


@pytest.fixture(scope="module")
def audited() -> Iterator[tuple[Plan, dict[str, list[list[int]]]]]:
    """A plan for a grouped count, and its totals on two neighbouring tables."""
    with Playground(contract(COLUMNS, limit=ROWS), "who BIGINT, place VARCHAR") as playground:
        plan = playground.dataset.count().by("place").alone().plan(EPSILON)
        unit = [(1, cell) for cell in CELLS for _ in range(ROWS // len(CELLS))]
        totals = {"without": playground.totals(plan, []), "with": playground.totals(plan, unit)}
        yield plan, totals


def standard(plan: Plan) -> OneNumber:
    """Return what would answer if each group's guarantee were thought to be enough."""
    answering = plan.answering
    assert isinstance(answering, OneNumber)
    bounds, sensitivity = answering.choice.mechanism.bounds, answering.sensitivity
    choice = choose(bounds, sensitivity, Fraction(EPSILON), "standard", Fraction(0))
    return replace(answering, choice=choice, guarantee="standard")


def happened(answering: OneNumber, totals: list[list[int]]) -> int:
    """Return how often the event happened, in very many answers."""
    found, chunk = 0, DRAWS // 14
    for _ in range(14):
        small = np.ones(chunk, dtype=bool)
        for (total,) in totals:
            truth = float(answering.shift + total * answering.grain)
            small &= answering.choice.mechanism.release(np.full(chunk, truth)) < MOST + 0.5  # rounds to at most MOST
        found += int(small.sum())
    return found


def at_least(answering: OneNumber, totals: dict[str, list[list[int]]]) -> float:
    """Return a lower bound of the event's loss, wrong once in 1 / ALARM audits."""
    more, less = happened(answering, totals["without"]), happened(answering, totals["with"])
    low = stats.beta.ppf(ALARM / 2, more, DRAWS - more + 1)
    high = stats.beta.ppf(1 - ALARM / 2, less + 1, DRAWS - less)
    return float(math.log(low / high))


def expected(answering: OneNumber, totals: list[list[int]]) -> float:
    """Return the exact probability of the event."""
    mechanism = answering.choice.mechanism
    below = Fraction(2 * MOST + 1, 2) - mechanism.step
    values = (answering.shift + total * answering.grain for (total,) in totals)
    return math.prod(mechanism.cdf(below, value) for value in values)


def test_all_rows_of_a_light_unit_count(audited: tuple[Plan, dict[str, list[list[int]]]]) -> None:
    """The two tables differ by all rows of one unit, half of them in each group."""
    plan, totals = audited
    answering = plan.answering
    assert isinstance(answering, OneNumber)
    assert answering.guarantee == "distance"
    assert [total * answering.grain for (total,) in totals["with"]] == [64, 64]
    assert totals["without"] == [[0], [0]]


def test_the_event_is_rare_enough_and_not_too_rare(audited: tuple[Plan, dict[str, list[list[int]]]]) -> None:
    """By exact probabilities the event loses less than epsilon, and visibly more by the standard guarantee."""
    plan, totals = audited
    assert isinstance(plan.answering, OneNumber)
    kept, broken = (
        math.log(expected(answering, totals["without"]) / expected(answering, totals["with"]))
        for answering in (plan.answering, standard(plan))
    )
    assert kept < EPSILON
    assert broken > 1.06 * EPSILON


@pytest.mark.thorough
def test_an_audit_finds_no_more_than_epsilon(audited: tuple[Plan, dict[str, list[list[int]]]]) -> None:
    """What very many answers show of the loss is no more than epsilon, and not far from what is exact."""
    plan, totals = audited
    assert isinstance(plan.answering, OneNumber)
    found = at_least(plan.answering, totals)
    exact = math.log(expected(plan.answering, totals["without"]) / expected(plan.answering, totals["with"]))
    assert exact - 0.1 < found < exact < EPSILON


@pytest.mark.thorough
def test_an_audit_catches_the_standard_guarantee(audited: tuple[Plan, dict[str, list[list[int]]]]) -> None:
    """The audit can fail: where each group is answered by the standard guarantee alone, it finds more than epsilon."""
    plan, totals = audited
    assert at_least(standard(plan), totals) > EPSILON


@pytest.mark.slow
def test_answers_have_the_law_that_was_audited(audited: tuple[Plan, dict[str, list[list[int]]]]) -> None:
    """Answers as they are given out have the distribution of the releases that were audited, rounded."""
    plan, totals = audited
    answering = plan.answering
    assert isinstance(answering, OneNumber)
    mechanism = answering.choice.mechanism
    answers = answering.answer_all([totals["with"][0]] * 15_000, 0.95, lambda text: None)
    drawn = Counter(answered.value for (answered,) in answers)
    edges = [-1, 5, 20, 35, 50, 60, 64, 68, 80, 100, 150]
    below = [0.0, *(mechanism.cdf(Fraction(2 * edge + 1, 2) - mechanism.step, Fraction(64)) for edge in edges[1:]), 1.0]
    masses = [b - a for a, b in pairwise(below)]
    ends = [*edges[1:], math.inf]
    counts = [
        sum(count for value, count in drawn.items() if isinstance(value, int) and low < value <= high)
        for low, high in zip(edges, ends, strict=True)
    ]
    assert sum(counts) == 15_000
    assert p_value(counts, masses) > FLOOR
    assert p_value(counts, masses[::-1]) < FLOOR
