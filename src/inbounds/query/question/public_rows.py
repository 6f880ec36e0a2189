"""What the rows of joined public tables leave possible: which groups there can be, and which conditions can be met.

A row has the codes of one row of a public table that joins it, or, if rows without a match stay, none of them.  All
other columns are left open, so nothing that a row can be is ruled out, whatever the private tables hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inbounds.query.columns.column import Column, Keys
from inbounds.query.columns.integer_range import Ranges
from inbounds.query.expressions.condition import And, Condition, conjuncts_of, join_conditions
from inbounds.query.question.group import Group
from inbounds.query.question.possible_groups import Possible, mark_groups
from inbounds.query.tables.implied_codes import add_public_codes, add_public_names, public_joins, row_codes
from inbounds.query.tables.joining import JoinPublic
from inbounds.query.tables.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]


def left_by_public(table: Table, condition: Condition | None, groups: tuple[Group, ...]) -> Flags:
    """Return for every combination of groups whether rows of each public table can be in it and meet a condition."""
    possible = np.ones([group.size for group in groups], dtype=np.bool_)
    for key, join in public_joins(table):
        names = add_public_names(table, {key.name})
        if not _is_listed(key, join):
            names.remove(key.name)
        parts = [part for part in conjuncts_of(condition) if _stored_names(table, part) <= names]
        places = [place for place, group in enumerate(groups) if set(group.column.stored) <= names]
        if parts or places:
            shape = [group.size if place in places else 1 for place, group in enumerate(groups)]
            possible &= _mark_possible(table, (key, join), parts, [groups[place] for place in places]).reshape(shape)
    return possible


def _mark_possible(table: Table, by: tuple[Column, JoinPublic], parts: list[Condition], groups: list[Group]) -> Flags:
    """Return which combinations of groups have a row of a public table that meets the parts of a condition."""
    key, join = by
    matched, others = list(join.public.codes_for(key)), _unmatched_codes(key, join)
    codes = add_public_codes(table, {key.name: row_codes([*matched, *[None] * len(others)])})
    codes[key.name] = row_codes([*matched, *others])
    met = np.ones(len(matched) + len(others), dtype=np.bool_)
    if parts:
        test = join_conditions(And, *parts) if len(parts) > 1 else parts[0]
        met = met & Possible(table.columns, table.column, test, ()).truth(codes).true
    return mark_groups(groups, Ranges(codes), met)


def _unmatched_codes(key: Column, join: JoinPublic) -> list[int | None]:
    """Return the codes that the key of a row without a match may have, of keys that are listed; None for all others.

    A key that the public table knows is among them: that it matches is left open.
    """
    if not join.keep:
        return []
    return [*(range(len(key.keys)) if isinstance(key, Keys) else ()), None]


def _is_listed(key: Column, join: JoinPublic) -> bool:
    """Return whether all codes that a key can have are looked at."""
    return not join.keep or isinstance(key, Keys)


def _stored_names(table: Table, condition: Condition) -> set[str]:
    return {name for node in condition.columns() for name in table.column(node).stored}
