"""What one unit changes, as a part of what the mechanisms of a plan are calibrated with: never above 1."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from inbounds.joint.plan.plan import JointPlan
from inbounds.query import Query
from inbounds.query.methods.category_count import KeysPresent
from inbounds.query.methods.cdf import CumulativeShares
from inbounds.query.methods.joint.joint_table import JointTable
from inbounds.query.methods.method import OneNumber
from inbounds.query.methods.moments.moments import MomentsOfColumns
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.quantiles.law import rank_misses
from inbounds.query.methods.quantiles.quantiles import QuantileByRank, QuantilesInOrder
from inbounds.query.question.measure import Cdf, Count, Sum
from inbounds.query.question.quantile import Quantile
from inbounds.query.question.shared_measures import Quantiles

Totals = list[list[int]]
MANY = Fraction(10**6)
"""What is told of a change that a guarantee says nothing about, however small it is."""


def quick_plan(query: Query) -> Plan:
    """Return a plan that is quickly made: a mechanism of a fixed pooling where one draws each number by itself."""
    question = query.question
    joint = isinstance(question.measure, Count | Sum) and question.groups and not question.alone
    has_none = isinstance(question.measure, Quantile | Quantiles | Cdf) or question.sets is not None or joint
    return query.plan(1) if has_none else query.plan(1, pooling=1)


def part_of_sensitivity(plan: Plan, more: Totals, less: Totals) -> Fraction:
    """Return the change of all totals between neighbours over the sensitivity that the noise is made for.

    Everything is taken from the mechanisms that draw, not from what a plan says of them: their sensitivity, their
    guarantee and their part of epsilon.
    """
    answering = plan.answering
    if isinstance(answering, JointTable | CumulativeShares):
        return _of_tables(plan, answering.plan, more, less)
    if isinstance(answering, QuantileByRank):
        return _of_ranks(answering, more, less)
    if isinstance(answering, QuantilesInOrder):  # a draw loses epsilon * w / k for rows of weight w
        return Fraction(sum(_changes(more, less)), answering.law.limit * answering.law.row_weight)
    assert isinstance(answering, OneNumber | MomentsOfColumns)
    if isinstance(answering, KeysPresent):
        more, less = ([[one] for one in _keys(answering, totals)] for totals in (more, less))
    changes = _changes(more, less)
    mechanism = answering.choice.mechanism
    assert mechanism.certificate.holds
    assert mechanism.certificate.epsilon == plan.epsilon
    sensitivity, step = mechanism.sensitivity, mechanism.step
    assert isinstance(sensitivity, Fraction)
    found = sum(changes) * answering.grain / sensitivity
    if isinstance(answering, OneNumber) and answering.shift:  # units are replaced, and one that is gone is the middle
        found *= 2
    if mechanism.certificate.guarantee == "standard":  # which says nothing of several answers
        return found if sum(map(bool, changes)) <= 1 else max(found, MANY)
    whole = (answering.grain / step).denominator == (sensitivity / step).denominator == 1
    assert whole, "what a unit changes must be whole numbers of steps"
    return found


def _changes(more: Totals, less: Totals) -> list[int]:
    pairs = zip(more, less, strict=True)
    return [abs(a - b) for one, other in pairs for a, b in zip(one, other, strict=True)]


def _keys(answering: KeysPresent, totals: Totals) -> Iterable[int]:
    """Return how many keys are there in each group, in weights of units."""
    ends = list(accumulate(answering.of_each, initial=0))
    return [sum(min(total, answering.unit_weight) for (total,) in totals[first:last]) for first, last in pairwise(ends)]


def _of_ranks(answering: QuantileByRank, more: Totals, less: Totals) -> Fraction:
    """Return by how much the ranks of all values move, the most of each group, over what the law takes them for."""
    missed = [
        max(abs(a - b) for a, b in zip(*(rank_misses(one, answering.level) for one in pair), strict=True))
        for pair in zip(more, less, strict=True)
    ]
    return sum(missed) / (answering.sensitivity * answering.level.denominator * answering.row_weight)


def _of_tables(plan: Plan, joint: JointPlan, more: Totals, less: Totals) -> Fraction:
    """Return the greatest part that a measured grouping changes by; all parts of epsilon are no more than it."""
    assert sum(joint.split.values()) == plan.epsilon
    changes = np.zeros(joint.layout.cells, dtype=object)
    places = plan.answering.places if isinstance(plan.answering, JointTable) else None
    changes[slice(None) if places is None else list(places)] = [a - b for (a,), (b,) in zip(more, less, strict=True)]
    found = Fraction(0)
    for grouping in joint.measured:
        of_groups: dict[int, int] = {}
        for group, change in zip(np.ravel(joint.layout.group_of_cells(grouping)).tolist(), changes, strict=True):
            of_groups[group] = of_groups.get(group, 0) + change
        mechanism = joint.mechanism(grouping)
        assert mechanism.certificate.guarantee == "distance"
        assert mechanism.certificate.epsilon == joint.split[grouping]
        assert isinstance(mechanism.sensitivity, Fraction)
        found = max(found, sum(map(abs, of_groups.values())) / mechanism.sensitivity)
    return found
