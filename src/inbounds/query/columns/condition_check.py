"""Whether a condition fits the columns of a table: every name is a column, and every constant could be its value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.expressions.condition import MOST_DEPTH, MOST_NODES, Condition, Predicate

if TYPE_CHECKING:
    from inbounds.query.tables.table import Table


def check_condition(table: Table, condition: Any) -> Condition:
    """Return a condition with its constants written in one way; refuse one that does not fit the columns of a table."""
    if not isinstance(condition, Condition):
        raise InvalidQuestion(f"where takes a condition or its text, got {shown(condition)}; try 'age >= 65'")
    if condition.has_more_parts_than(MOST_NODES):
        raise InvalidQuestion(f"a condition may have at most {MOST_NODES} parts, got more; ask something simpler")
    return _fit(table, condition, MOST_DEPTH)


def _fit(table: Table, condition: Condition, depth: int) -> Condition:
    if depth == 0:
        raise InvalidQuestion(f"a condition may be nested at most {MOST_DEPTH} deep, got more; ask something simpler")
    if isinstance(condition, Predicate):
        return condition.fit(table.column(condition.this))
    return condition.rebuild(lambda part: _fit(table, part, depth - 1))
