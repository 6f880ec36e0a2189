"""The one code that a column can have in each group: by the contract, public tables and the condition alone.

A column of numbers is cut where the condition and public tables tell its codes apart.  If one piece is left of it in a
group, and that is one code, no row of the group can have another.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inbounds.query.columns.column import Column, Keys, Numbers
from inbounds.query.columns.derived_column import codes_of, stored_columns, whole_of
from inbounds.query.columns.integer_range import Ranges
from inbounds.query.question.group import MOST_CELLS, Bins, Group, KeyGroup
from inbounds.query.question.question import Codes, Question
from inbounds.query.tables.implied_codes import each_one, following, names_following, public_joins


def only_codes(question: Question, column: Column) -> list[int | None] | None:
    """Return the code of a column in every group, None where rows have none; None if some group may have several."""
    group = KeyGroup(column) if isinstance(column, Keys) else Bins(column, _starts(question, column))
    sizes = _sizes(group)
    if 1 not in sizes or question.cells * group.size > MOST_CELLS:
        return None
    found: dict[Codes, int] = {}
    for *row, place in question.cells_of((*question.groups, group)):
        if tuple(row) in found or sizes[place] > 1:
            return None
        found[tuple(row)] = place if isinstance(column, Keys) else group.starts[place]
    return [found.get(row) for row in question.rows]


def _sizes(group: Group) -> list[int]:
    """Return how many codes each group has."""
    if isinstance(group.column, Keys):
        return [1] * group.size
    return np.diff([*group.starts, group.column.steps + 1]).tolist()


def _starts(question: Question, column: Numbers) -> tuple[int, ...]:
    """Return where the pieces of a column begin: at each code that is told apart, and behind it."""
    told = {start for code in (*_compared(question, column), *_joined(question, column)) for start in (code, code + 1)}
    return tuple(sorted({0} | {start for start in told if 0 <= start <= column.steps}))


def _compared(question: Question, column: Numbers) -> Iterator[int]:
    """Yield the codes that the condition compares with."""
    for test in question.condition.predicates() if question.condition is not None else ():
        if test.this == column.node:
            yield from codes_of(test, column)[1]


def _joined(question: Question, column: Numbers) -> Iterator[int]:
    """Yield the codes that public tables say."""
    for key, join in public_joins(question.table):
        if set(stored_columns(column)) <= names_following(question.table, {key.name}):
            keys = {key.name: each_one(list(join.public.codes_for(key)))}
            value = Ranges(following(question.table, keys)).value(whole_of(column))
            low, here = np.broadcast_arrays(value.low, value.here)
            yield from np.unique(low[here]).tolist()
