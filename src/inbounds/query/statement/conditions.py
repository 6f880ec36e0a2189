"""Conditions in SQL, as comparisons of integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from inbounds.query.columns.column import Column
from inbounds.query.columns.condition import And, Compare, Condition, In, Missing, Not, Or
from inbounds.query.statement.expressions import Expression, compare, whole


def true(condition: Condition, columns: Mapping[str, Column], this: Callable[[str], Expression]) -> Expression:
    """Return a condition in SQL, each column as the integer that `this` gives."""
    if isinstance(condition, And | Or):
        joined = [exp.paren(true(part, columns, this)) for part in condition.parts()]
        return exp.and_(*joined) if isinstance(condition, And) else exp.or_(*joined)
    if isinstance(condition, Not):
        return exp.Not(this=exp.paren(true(condition.this, columns, this)))
    if isinstance(condition, Missing):
        return exp.Is(this=this(condition.column), expression=exp.Null())
    if isinstance(condition, In):
        tests = (_compared(Compare(condition.column, "=", value), columns) for value in condition.values)
        return exp.In(this=this(condition.column), expressions=[number for _, number in tests])
    assert isinstance(condition, Compare)
    operator, number = _compared(condition, columns)
    return compare(this(condition.column), operator, number)


def _compared(test: Compare, columns: Mapping[str, Column]) -> tuple[str, Expression]:
    """Return a comparison with a constant as one of integers."""
    operator, number = columns[test.column].against(test.operator, test.value)
    return operator, whole(number)
