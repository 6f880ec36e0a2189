"""What follows from the key of a row by public tables: the codes of all that they say of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from inbounds.query.columns.column import Column
from inbounds.query.columns.integer_range import Range
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import JoinPublic
from inbounds.query.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence


def add_public_codes(table: Table, codes: Mapping[str, Range]) -> dict[str, Range]:
    """Return the codes of some stored columns, row by row, and those that public tables join to them."""
    known = dict(codes)  # joins come in order, so what one adds may be the key of the next
    for key, join in public_joins(table):
        if key.name in known:
            rows = join.public.codes_for(key)
            for place, name in enumerate(public_names(table, join)):
                known[name] = _look_up(known[key.name], {code: row[place] for code, row in rows.items()})
    return known


def public_joins(table: Table) -> Iterator[tuple[Column, JoinPublic]]:
    """Yield the public tables that are joined to a table, each after those that it is joined to, and by which key."""
    relation = table.relation
    if isinstance(relation, Joined):
        for join in relation.joins:
            if isinstance(join, JoinPublic):
                key = table.columns[relation.names[join.to][join.on]]
                if is_stored(key):
                    yield key, join


def public_names(table: Table, join: JoinPublic) -> tuple[str, ...]:
    """Return what a table calls the columns of a public table that is joined to it."""
    assert isinstance(table.relation, Joined)
    return tuple(table.relation.names[join.name][name] for name in join.public.columns)


def add_public_names(table: Table, names: Iterable[str]) -> set[str]:
    """Return the names of some stored columns, and of those that public tables join to them."""
    known = set(names)
    for key, join in public_joins(table):
        if key.name in known:
            known.update(public_names(table, join))
    return known


def is_stored(column: Column) -> bool:
    """Return whether a column has a code of its own, and is not made of others."""
    return column.name in column.stored


def row_codes(codes: Sequence[int | None]) -> Range:
    """Return a code for each row, None where it is missing."""
    low = np.array([0 if code is None else code for code in codes], dtype=np.int64)
    here = np.array([code is not None for code in codes], dtype=np.bool_)
    return Range(low, low, here, ~here)


def _look_up(keys: Range, known: Mapping[int, int | None]) -> Range:
    keys_of_rows = zip(keys.low.tolist(), keys.here.tolist(), strict=True)
    return row_codes([known.get(code) if here else None for code, here in keys_of_rows])
