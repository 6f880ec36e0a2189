"""Public numbers of rows as facts about a table that is laid out, and whether they can all be true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from inbounds.errors import InvalidParameter
from inbounds.joint.plan.facts import GREATEST, Facts
from inbounds.joint.table.axis import Axis, Level
from inbounds.joint.table.layout import MOST_CELLS, Grouping, Layout
from inbounds.query.columns.column import Column
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.hierarchy import ancestors
from inbounds.query.contract.public_counts import Known

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Cells = dict[Grouping, tuple[NDArray[np.int64], NDArray[np.bool_]]]


def axis_of(columns: Mapping[str, Column], column: Column, size: int, names: Iterable[str]) -> Axis:
    """Return the axis of a column, with those of some others that it lies within."""
    above = set(names)
    levels = [Level(name, codes) for name, codes in ancestors(columns, column) if name in above]
    return Axis(column.name, size, tuple(levels))


def facts_of(
    known: Known, layout: Layout, most: int | None, *, of_all_rows: bool, possible: NDArray[np.bool_] | None = None
) -> Facts:
    """Return what is public of a table: combinations that cannot be, and numbers of rows where all rows are counted.

    With `possible`: the cells that a condition leaves; all others are empty.
    """
    cells: Cells = {}
    # Facts about columns that the layout does not have are left out: they say nothing about its cells.
    names = {axis.name_of(level) for axis in layout.axes for level in range(len(axis.levels) + 1)}
    for zero in known.zeros:
        if set(zero) <= names and not _never_meets(layout, zero):
            _add_fact(layout, cells, zero, 0)
    if of_all_rows:
        if known.total is not None:
            _add_fact(layout, cells, {}, known.total)
        for name, numbers in known.by.items():
            for code, value in numbers.items() if name in names else ():
                _add_fact(layout, cells, {name: code}, value)
    if possible is not None:
        values, is_known = cells.get(layout.finest, (np.zeros(layout.shape, dtype=np.int64), False))
        cells[layout.finest] = values, is_known | ~possible
    return Facts(layout, cells, None if most is None or most >= GREATEST else most)


def _add_fact(layout: Layout, cells: Cells, codes: Mapping[str, int], value: int) -> None:
    grouping = layout.grouping(codes)
    place = tuple(codes[str(name)] for name in layout.names(grouping))
    if grouping not in cells:
        sizes = layout.sizes(grouping)
        cells[grouping] = np.zeros(sizes, dtype=np.int64), np.zeros(sizes, dtype=np.bool_)
    values, is_known = cells[grouping]
    if is_known[place] and values[place] != value:
        raise InvalidParameter(
            f"{', '.join(codes)} is said to have no rows, and some, for the same keys; leave out one of the two"
        )
    values[place], is_known[place] = value, True


def _never_meets(layout: Layout, codes: Mapping[str, int]) -> bool:
    """Return whether two of some keys lie in different places of a hierarchy: then there is nothing to be empty."""
    for axis in layout.axes:
        keys = np.ones(axis.size, dtype=np.bool_)
        for level in range(len(axis.levels) + 1):
            code = codes.get(str(axis.name_of(level)))
            if code is not None:
                keys &= np.asarray(axis.keys_at(level)) == code
        if not keys.any():
            return True
    return False


def refuse_contradictions(contract: Contract, columns: Mapping[str, Column], known: Known, units: int | None) -> None:
    """Refuse public facts that no table can have; those of many columns together are looked at again when asked for."""
    if known.total is not None and units is not None and known.total != units:
        raise contract.refuse(
            f"units says {units} and the known total {known.total}, though each row is a unit; correct one of them",
            "known",
            "total",
        )
    _refuse_sums(contract, columns, known, units)
    # Only columns that a fact names together are laid out together: all of them could have too many cells.
    together = [(name,) for name in known.by] + [tuple(zero) for zero in known.zeros]
    for names in dict.fromkeys(together):
        layout = _layout(columns, names, {*known.by, *(name for zero in known.zeros for name in zero)})
        if layout.cells <= MOST_CELLS:
            try:
                facts_of(known, layout, units, of_all_rows=True).check(nonnegative=True)
            except InvalidParameter as problem:
                raise contract.refuse(str(problem), "known") from None


def _refuse_sums(contract: Contract, columns: Mapping[str, Column], known: Known, units: int | None) -> None:
    """Refuse numbers by key that add up to more than all rows, or to something else if they are those of all keys."""
    all_rows = known.total if known.total is not None else units
    for name, numbers in known.by.items():
        total, is_all = sum(numbers.values()), len(numbers) == columns[name].size
        if all_rows is not None and (total > all_rows or (is_all and total != all_rows)):
            raise contract.refuse(
                f"the known rows of {name!r} add up to {total}, and all rows are {all_rows}; correct one of the two, "
                "or leave it out",
                "known",
                "by",
                name,
            )
        if is_all:  # the next column must then add up to the same
            all_rows = total


def _layout(columns: Mapping[str, Column], names: Iterable[str], levels: Iterable[str]) -> Layout:
    """Return a layout that tells some columns apart."""
    grouped = tuple(names)
    above = {outer for name in grouped for outer, _ in ancestors(columns, columns[name])}
    levels_of_axes = {*levels, *grouped}
    axes = [
        axis_of(columns, columns[name], columns[name].size, levels_of_axes) for name in grouped if name not in above
    ]
    return Layout(without_doubles(axes))


def without_doubles(axes: Iterable[Axis]) -> tuple[Axis, ...]:
    """Return axes of which no two have a level in common: it stays with the first of them."""
    distinct: list[Axis] = []
    seen: set[str] = set()
    for axis in axes:
        levels = tuple(level for level in axis.levels if str(level.name) not in seen)
        seen |= {str(level.name) for level in levels}
        distinct.append(Axis(axis.name, axis.size, levels))
    return tuple(distinct)
