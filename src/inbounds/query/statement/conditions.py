"""Conditions in SQL, as comparisons of integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from inbounds.query.columns.column import Column
from inbounds.query.columns.derived_column import codes_of
from inbounds.query.expressions.condition import And, Compare, Condition, In, Missing, Not, Or, Predicate
from inbounds.query.statement.expressions import Expression, compare, is_among, whole

JOINS: dict[type[Condition], Callable[..., Expression]] = {
    And: exp.and_,
    Or: exp.or_,
    Not: lambda part: exp.Not(this=part),
}


def build_condition(
    condition: Condition, columns: Mapping[str, Column], code: Callable[[str], Expression]
) -> Expression:
    """Return a condition in SQL, each column as the integer that `code` gives."""
    if not isinstance(condition, Predicate):
        parts = [exp.paren(build_condition(part, columns, code)) for part in condition.conditions()]
        return JOINS[type(condition)](*parts)
    name = condition.this.name
    operator, numbers = codes_of(condition, columns[name])
    match condition:
        case Missing():
            return exp.Is(this=code(name), expression=exp.Null())
        case In():
            return is_among(code(name), numbers)
        case Compare():
            return compare(code(name), operator, whole(numbers[0]))
    raise AssertionError(condition)
