"""What a question would answer if there were no noise: the totals of its statement, read as numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from inbounds.errors import EngineFailed
from inbounds.query import Query
from inbounds.query.methods.plan import Plan
from inbounds.query.question.measure import Count, CountUnits, Mean, Measure, Sum
from inbounds.query.question.question import Question
from inbounds.query.question.shared_measures import Totals
from tests.helpers.oracle import fineness, grain

Group = tuple[Any, ...]


def answer_without_noise(query: Query) -> dict[Group, list[Fraction]]:
    """Return the measures of every group that has rows, for counts, sums and means."""
    found: dict[Group, list[Fraction]] = {}
    for question in query.questions:
        for group, values in _groups(query, question).items():
            found.setdefault(group, []).extend(values)
    return {group: values for group, values in found.items() if any(values)}


def totals_of(query: Query) -> list[list[list[int]]]:
    """Return the totals that the statement of each question finds, before any noise."""
    return [_totals(query, question)[1] for question in query.questions]


def _totals(query: Query, question: Question) -> tuple[Plan, list[list[int]]]:
    pooling = None if question.sets is not None else Fraction(1)  # the mechanism does not matter
    plan = query.dataset.planned(question, Fraction(1), pooling)
    try:
        return plan, plan.totals(query.dataset.engine.run(plan.sql))
    except EngineFailed as problem:
        raise AssertionError(f"the statement failed ({problem.kind}):\n{plan.sql}") from None


def _groups(query: Query, question: Question) -> dict[Group, list[Fraction]]:
    plan, totals = _totals(query, question)
    labels = question.labels
    found = {}
    for cell, total in zip(plan.cells, totals, strict=True):
        group = tuple(labels[place][code] for place, code in enumerate(cell))
        found[group] = _values(question, [Fraction(one, fineness(as_mean(question))) for one in total])
    return found


def as_mean(question: Question) -> Question:
    """Return a question that is weighed alike: what shares its sums with a mean is weighed as one."""
    measure = question.measure
    return replace(question, measure=Mean(measure.column)) if isinstance(measure, Totals) else question


def _values(question: Question, totals: list[Fraction]) -> list[Fraction]:
    measure: Measure = question.measure
    if isinstance(measure, Count | CountUnits):
        return totals
    assert isinstance(measure, Sum | Mean | Totals), measure
    column = question.table.numbers(measure.column)
    if isinstance(measure, Sum):
        return [totals[0] * grain(column)]
    below, above = totals
    rows = (below + above) / column.steps
    total = rows * column.low + below * column.step
    asked = measure.of if isinstance(measure, Totals) else (measure,)
    kinds = {Count: rows, Sum: total, Mean: total / rows if rows else Fraction(0)}
    return [kinds[type(one)] for one in asked]
