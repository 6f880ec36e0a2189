"""Measures of some of the rows: FILTER, a CASE without ELSE, and sums of ones and zeros.

If all measures of a SELECT are of the same rows, that is a condition like those after WHERE, and limits of rows are
about these rows alone.  Beside others, rows that do not count have no value of the column that is measured.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from inbounds.query.expressions.arithmetic import Case
from inbounds.query.expressions.condition import And, Condition, Missing, Not, join_conditions
from inbounds.query.expressions.node import Constant, Node
from inbounds.query.expressions.normal_form import indicator
from inbounds.query.question.measure import Count, CountUnits, Mean, Measure, Proportion, Sum

ONE, ZERO = Constant(Fraction(1)), Constant(Fraction(0))

Conditions = tuple[Condition, ...]


def split_rows(node: Node) -> tuple[Node, Conditions]:
    """Return what a CASE without ELSE chooses, and the conditions that rows must meet to have it."""
    if not isinstance(node, Case) or node.otherwise is not None or len(node.branches) != 1:
        return node, ()
    ((test, value),) = node.branches
    inner, conditions = split_rows(value)
    return inner, (test, *conditions)


def count_rows(node: Node) -> tuple[Measure, Conditions]:
    """Return the number of rows in which a column is there."""
    value, conditions = split_rows(node)
    there = () if isinstance(value, Constant) else (Not(Missing(value)),)
    return Count(), (*conditions, *there)


def count_values(node: Node) -> Sum:
    """Return the number of rows in which a column is there, as a measure of all rows."""
    return Sum(Case(((Not(Missing(node)), ONE),), ZERO))


def counted_column(measure: Measure) -> Node | None:
    """Return the column whose rows a measure counts, if it does nothing else."""
    case = measure.column if isinstance(measure, Sum) else None
    if not isinstance(case, Case) or not isinstance(case.branches[0][0], Not):
        return None
    test = case.branches[0][0].this
    return test.this if isinstance(test, Missing) and measure == count_values(test.this) else None


def sum_rows(node: Node) -> tuple[Measure, Conditions]:
    """Return the sum of a column: a number of rows, where it is one or nothing in each."""
    value, conditions = split_rows(node)
    if isinstance(value, Case):
        (test, chosen), *others = value.branches
        rest = [other.number for _, other in others] + ([] if value.otherwise is None else [value.otherwise.number])
        if chosen.number == 1 and all(number == 0 for number in rest):
            return Count(), (*conditions, test)
        if not others and rest == [0] and chosen.number is None:
            return Sum(chosen), (*conditions, test)
    if isinstance(value, Constant):
        return Sum(node), ()
    return Sum(value), conditions


def mean_rows(node: Node) -> tuple[Measure, Conditions]:
    """Return the mean of a column: a proportion, where it is one if something is so, and else nothing."""
    value, conditions = split_rows(node)
    if isinstance(value, Constant):
        return Mean(node), ()
    of = indicator(value)
    return (Mean(value) if of is None else Proportion(of)), conditions


def among(measure: Measure, conditions: Conditions) -> Measure | None:
    """Return a measure of the rows that meet conditions, beside measures of others; None if there is none."""
    if not conditions:
        return measure
    test = conditions[0] if len(conditions) == 1 else join_conditions(And, *conditions)
    if isinstance(measure, Count):
        return Sum(Case(((test, ONE),), ZERO))
    if isinstance(measure, Sum):
        return Sum(Case(((test, measure.column),), ZERO))
    if isinstance(measure, Proportion):
        return Mean(Case(((test, Case(((measure.condition, ONE),), ZERO)),)))
    if isinstance(measure, CountUnits) or not hasattr(measure, "column"):
        return None
    changed: Any = measure
    return replace(changed, column=Case(((test, changed.column),)))
