"""All conditions that a question states: in WHERE, in a measure, in groups, and on the rows that a table is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inbounds.query.expressions.arithmetic import cases_in
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import Node
from inbounds.query.question.question import Question
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import Join
from inbounds.query.tables.relation import Projected, UnitRows
from inbounds.query.tables.table import Table


@dataclass(frozen=True)
class Stated:
    """A condition, and the table whose rows it is about."""

    table: Table
    condition: Condition
    needed: bool = False
    """Whether a row has to meet it for there to be anything to answer."""


def stated_conditions(question: Question) -> Iterator[Stated]:
    """Yield the conditions of a question, those of each CASE too; not those that are inside a condition."""
    table = question.table
    if question.condition is not None:
        yield Stated(table, question.condition, needed=True)
    yield from (Stated(table, condition) for condition in question.measure.conditions)
    for node in (*question.measure.nodes, *(group.column.node for group in question.groups)):
        yield from _state_cases(table, node)
    yield from _state_inner(table, needed=True)


def _state_cases(table: Table, node: Node) -> Iterator[Stated]:
    """Yield the conditions of each CASE in what a column is made of."""
    yield from (Stated(table, test) for case in cases_in(node) for test in case.tests)


def _state_inner(table: Table, *, needed: bool) -> Iterator[Stated]:
    """Yield the conditions on rows that a table is made of; where rows without any stay, none of them is needed."""
    relation = table.relation
    if isinstance(relation, Joined):
        yield from _state_inner(relation.first, needed=needed)
        yield from _state_joins(relation, needed)
    elif relation is not None:
        if relation.condition is not None:
            yield Stated(relation.of, relation.condition, needed)
        for node in _made_columns(relation):
            yield from _state_cases(relation.of, node)
        if isinstance(relation, UnitRows) and relation.having is not None:
            yield Stated(relation.table, relation.having, needed)
        yield from _state_inner(relation.of, needed=needed)


def _made_columns(relation: UnitRows | Projected) -> Iterator[Node]:
    """Yield what the columns of a table are made of."""
    if isinstance(relation, Projected):
        yield from relation.columns.values()
    else:
        yield from relation.keys.values()
        yield from (measure.column for measure in relation.measures.values() if measure.column is not None)


def _state_joins(relation: Joined, needed: bool) -> Iterator[Stated]:
    for join in relation.joins:
        if not isinstance(join, Join):
            continue
        if join.condition is not None:
            yield Stated(relation.scope(join), join.condition)
        if join.private is not None:
            yield from _state_inner(join.private, needed=needed and not join.keep and not join.semi)
