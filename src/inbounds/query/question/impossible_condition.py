"""Conditions that no row can meet, by the contract and public tables alone, whatever the table holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Numbers
from inbounds.query.expressions.arithmetic import Case, cases_in
from inbounds.query.expressions.condition import Compare, Condition, Missing, Not, Or, join_conditions
from inbounds.query.expressions.node import ColumnRef, Node
from inbounds.query.question.clipping_warnings import beyond
from inbounds.query.question.possible_groups import Possible
from inbounds.query.question.public_rows import left_by_public
from inbounds.query.question.question import Question
from inbounds.query.question.stated_conditions import stated_conditions
from inbounds.query.tables.relation import UnitRows
from inbounds.query.tables.table import Table
from inbounds.query.tables.unit_measure import UnitColumn


def why_impossible(question: Question) -> str | None:
    """Return why no row can be what a question asks about, and what to ask instead; None if one can."""
    for table, condition in _conditions(question):
        if not can_be_met(table, condition):
            return (
                f"no row can meet {_write_as_asked(condition)}, whatever the table holds{_say_why(table, condition)}; "
                f"{_say_instead(table, condition)}"
            )
    return None


def _write_as_asked(condition: Condition) -> str:
    """Write a condition with the patterns that were asked for."""
    text = str(condition)
    for part in condition.walk():
        if isinstance(part, Not) and part.asked is not None:
            text = text.replace(str(part), str(part.asked), 1)
    return text


def can_be_met(table: Table, condition: Condition) -> bool:
    """Return whether some row of some table that the contract allows meets a condition; a doubt says that it does."""
    by_itself = Possible(table.columns, table.column, condition, ()).combinations()
    return bool(by_itself.all() and left_by_public(table, condition, ()).all())


def is_there(table: Table, condition: Condition | None, node: Node) -> bool:
    """Return whether every row that meets a condition has a value of a column, whatever the table holds."""
    relation = table.relation
    made = relation.columns.get(node.name) if isinstance(relation, UnitRows) else None
    if made is not None and made.measure.function in ("COUNT", "COUNT DISTINCT"):
        return True
    missing = Missing(node)
    return not can_be_met(table, missing if condition is None else condition & missing)


def _conditions(question: Question) -> Iterator[tuple[Table, Condition]]:
    """Yield the conditions that rows have to meet for there to be something to answer, those of measures too."""
    yield from ((stated.table, stated.condition) for stated in stated_conditions(question) if stated.needed)
    for condition in question.measure.conditions:
        yield question.table, condition if question.condition is None else question.condition & condition
    for measured in question.measure.nodes:
        if _is_constant(question.table, measured):
            yield from ((question.table, join_conditions(Or, *case.tests)) for case in cases_in(measured))


def _is_constant(table: Table, node: Node) -> bool:
    """Return whether an expression is the same for all rows, or missing, as no row meets a condition of its CASE."""
    if isinstance(node, Case):
        if can_be_met(table, join_conditions(Or, *node.tests)):
            return False
        return node.otherwise is None or _is_constant(table, node.otherwise)
    return not isinstance(node, ColumnRef) and all(_is_constant(table, part) for part in node.parts())


def _find_clipped(table: Table, condition: Condition) -> Iterator[tuple[Numbers, Fraction]]:
    """Yield what is compared with a constant beyond its bounds, or asked to be above or below their very end."""
    yield from ((column, value) for _, column, value in beyond(table, condition))
    for test in condition.predicates():
        column = table.column(test.this)
        if isinstance(test, Compare) and isinstance(column, Numbers):
            end = {"<": column.ends[0], ">": column.ends[1]}.get(test.operator)
            if end is not None and column.literal(test.value) == end:
                yield column, end


def _say_why(table: Table, condition: Condition) -> str:
    reasons = dict.fromkeys(
        f"values of {column.name} are clipped to {column.bounds.brief()} before they are compared"
        for column, _ in _find_clipped(table, condition)
    )
    return f": {', and '.join(reasons)}" if reasons else ""


def _say_instead(table: Table, condition: Condition) -> str:
    """Say what can be asked: within the bounds, or of wider ones where the question itself gives them."""
    for column, value in _find_clipped(table, condition):
        relation = table.relation
        unit_column = relation.columns.get(column.name) if isinstance(relation, UnitRows) else None
        if unit_column is not None and unit_column.measure.has_ends and value >= column.ends[1] and value > 0:
            later = replace(unit_column.measure, most=ceil(2 * value / column.step) * column.step)
            if _is_possible(replace(unit_column, measure=later)):
                return (
                    f"compare {column.name} with what it can be, or clip it later, as in {later} AS {unit_column.name}"
                )
        return f"compare {column.name} with what it can be"
    return "ask with another condition"


def _is_possible(unit_column: UnitColumn) -> bool:
    """Return whether a column can be made of rows."""
    try:
        return isinstance(unit_column.numbers, Numbers)
    except InvalidQuestion:
        return False
