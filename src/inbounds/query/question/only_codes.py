"""The one code that a column can have in each group: by the contract, public tables and the condition alone.

A column of numbers is cut where the condition and public tables tell its codes apart.  If one piece is left of it in a
group, and that is one code, no row of the group can have another.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inbounds.query.columns.column import Column, Keys, Numbers
from inbounds.query.columns.derived_column import codes_of
from inbounds.query.columns.integer_range import Ranges
from inbounds.query.question.group import MOST_CELLS, Bins, Group, KeyGroup
from inbounds.query.question.question import Codes, Question
from inbounds.query.tables.implied_codes import add_public_codes, add_public_names, public_joins, row_codes


def only_codes(question: Question, column: Column) -> list[int | None] | None:
    """Return the code of a column in every group, None where rows have none; None if some group may have several."""
    # The column is one more group of the question.  A cell of the question has one code where it goes with one of them
    # only, and that is one code wide.
    group: Group = KeyGroup(column) if isinstance(column, Keys) else Bins(column, _starts(question, column))
    widths = group.widths
    if 1 not in widths or question.cells * group.size > MOST_CELLS:
        return None
    codes: dict[Codes, int] = {}
    for *row, place in question.cells_of((*question.groups, group)):
        if tuple(row) in codes or widths[place] > 1:
            return None
        codes[tuple(row)] = group.starts[place] if group.starts else place
    return [codes.get(row) for row in question.rows]


def _starts(question: Question, column: Numbers) -> tuple[int, ...]:
    """Return where the pieces of a column begin: at each code that is told apart, and behind it."""
    codes = (*_codes_in_condition(question, column), *_codes_in_public_tables(question, column))
    starts = {start for code in codes for start in (code, code + 1)}
    return tuple(sorted({0} | {start for start in starts if 0 <= start <= column.steps}))


def _codes_in_condition(question: Question, column: Numbers) -> Iterator[int]:
    """Yield the codes that the condition compares with."""
    for test in question.condition.predicates() if question.condition is not None else ():
        if test.this == column.node:
            yield from codes_of(test, column)[1]


def _codes_in_public_tables(question: Question, column: Numbers) -> Iterator[int]:
    """Yield the codes that public tables say."""
    for key, join in public_joins(question.table):
        if set(column.stored) <= add_public_names(question.table, {key.name}):
            keys = {key.name: row_codes(list(join.public.codes_for(key)))}
            value = Ranges(add_public_codes(question.table, keys)).value(column.whole)
            low, here = np.broadcast_arrays(value.low, value.here)
            yield from np.unique(low[here]).tolist()
