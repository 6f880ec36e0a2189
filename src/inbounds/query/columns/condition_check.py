"""Whether a condition fits the columns of a table: every name is a column, and every constant could be its value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.columns.derived_column import keys_of
from inbounds.query.expressions.condition import (
    MOST_DEPTH,
    MOST_NODES,
    And,
    Compare,
    Condition,
    In,
    Like,
    Missing,
    Not,
    Or,
    is_in,
    joined,
)
from inbounds.query.expressions.node import Constant

if TYPE_CHECKING:
    from inbounds.query.tables.table import Table


def checked(table: Table, condition: Any) -> Condition:
    """Return a condition with its constants written in one way; refuse one that does not fit the columns of a table."""
    if not isinstance(condition, Condition):
        raise InvalidQuestion(f"where takes a condition or its text, got {shown(condition)}; try 'age >= 65'")
    if condition.has_more_parts_than(MOST_NODES):
        raise InvalidQuestion(f"a condition may have at most {MOST_NODES} parts, got more; ask something simpler")
    return _checked(table, condition, MOST_DEPTH)


def _checked(table: Table, condition: Condition, depth: int) -> Condition:
    if depth == 0:
        raise InvalidQuestion(f"a condition may be nested at most {MOST_DEPTH} deep, got more; ask something simpler")
    if isinstance(condition, And | Or):
        return joined(type(condition), *(_checked(table, part, depth - 1) for part in condition.conditions()))
    if isinstance(condition, Not):
        return replace(condition, this=_checked(table, condition.this, depth - 1))
    assert isinstance(condition, Compare | In | Like | Missing)
    column = table.column(condition.this)
    if isinstance(condition, Like):
        return condition.among(keys_of(column))
    if isinstance(condition, In):
        if not 1 <= len(condition.options) <= MOST_NODES:
            raise InvalidQuestion(
                f"IN must list from 1 to {MOST_NODES} constants, got {len(condition.options)}; list others"
            )
        return is_in(column.node, tuple(map(column.constant, condition.constants)))
    if isinstance(condition, Compare):
        if not column.has_order and condition.operator not in ("=", "<>"):
            raise InvalidQuestion(f"{column.name} is categorical and has no order; use =, <> or IN")
        return Compare(column.node, condition.operator, Constant(column.constant(condition.value)))
    return Missing(column.node)
