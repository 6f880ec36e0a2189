"""The cells of a question: combinations of groups that can be, by the contract and by the condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from inbounds.query.columns.column import Column
from inbounds.query.contract.hierarchy import ancestors
from inbounds.query.expressions.condition import Condition
from inbounds.query.question.group import Group, cells
from inbounds.query.question.possible_groups import Possible
from inbounds.query.question.public_rows import left_by_public

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from inbounds.query.tables.table import Table


def finest(columns: Mapping[str, Column], groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Return the groups that no other of them lies within: their keys tell those of all others."""
    above = {name for group in groups for name, _ in ancestors(columns, group.column)}
    return tuple(group for group in groups if group.column.name not in above)


def possible_finest(table: Table, groups: tuple[Group, ...], condition: Condition | None) -> NDArray[np.bool_] | None:
    """Return for each combination of the finest groups whether a row in it can meet a condition.

    None if all can be, by the condition and by the public tables that are joined.
    """
    if not groups:
        return None
    # What is above the finest groups follows from them, so only these are looked at: by what public tables say, and by
    # the condition.
    bottom = finest(table.columns, groups)
    possible = left_by_public(table, condition, bottom)
    if condition is not None:
        possible &= Possible(table.columns, table.column, condition, bottom).combinations()
    return None if possible.all() else possible


def possible_cells(
    table: Table, groups: tuple[Group, ...], possible: NDArray[np.bool_] | None = None
) -> list[tuple[int, ...]]:
    """Return every combination of groups that can be: a key that lies within another goes with that one only.

    With `possible`: of the finest groups only those combinations.
    """
    bottom = finest(table.columns, groups)
    lowest: list[tuple[int, ...]] = (
        cells(bottom) if possible is None else list(map(tuple, np.argwhere(possible).tolist()))
    )
    if len(bottom) == len(groups):
        return lowest
    above = [ancestors(table.columns, group.column) for group in bottom]
    completed = (_complete(groups, bottom, above, cell) for cell in lowest)
    return sorted(cell for cell in completed if cell is not None)


def _complete(
    groups: tuple[Group, ...],
    bottom: tuple[Group, ...],
    above: Sequence[Sequence[tuple[str, tuple[int, ...]]]],
    cell: tuple[int, ...],
) -> tuple[int, ...] | None:
    """Return the codes of all groups for those of the finest; None if two of these lie in different keys of a third."""
    # Each of the finest groups tells the code of every column above it; two that tell different ones never meet.
    row = {group.column.name: code for group, code in zip(bottom, cell, strict=True)}
    for levels, code in zip(above, cell, strict=True):
        for name, codes in levels:
            if row.setdefault(name, codes[code]) != codes[code]:
                return None
    return tuple(row[group.column.name] for group in groups)


def project(cells: Sequence[tuple[int | None, ...]], places: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the combinations of some of the groups, by place, that cells of all of them have; without their rests."""
    combinations = {tuple(cell[place] for place in places) for cell in cells}
    return sorted(cast("tuple[int, ...]", codes) for codes in combinations if None not in codes)
