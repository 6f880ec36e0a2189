"""Conditions in SQL, as comparisons of integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from inbounds.query.columns.column import Column
from inbounds.query.columns.derived_column import codes_of
from inbounds.query.expressions.condition import And, Compare, Condition, In, Missing, Not, Or
from inbounds.query.statement.expressions import Expression, compare, whole


def true(condition: Condition, columns: Mapping[str, Column], this: Callable[[str], Expression]) -> Expression:
    """Return a condition in SQL, each column as the integer that `this` gives."""
    if isinstance(condition, And | Or):
        joined = [exp.paren(true(part, columns, this)) for part in condition.conditions()]
        return exp.and_(*joined) if isinstance(condition, And) else exp.or_(*joined)
    if isinstance(condition, Not):
        return exp.Not(this=exp.paren(true(condition.this, columns, this)))
    assert isinstance(condition, Missing | In | Compare)
    name = condition.this.name
    operator, numbers = codes_of(condition, columns[name])
    if isinstance(condition, Missing):
        return exp.Is(this=this(name), expression=exp.Null())
    if isinstance(condition, In):
        return exp.In(this=this(name), expressions=[whole(number) for number in numbers])
    return compare(this(name), operator, whole(numbers[0]))
