"""A released table for people, with its totals, on 80 columns.

The last axis goes across, the others down.  What does not fit is added up in a row and a column of its own, so that
what is shown adds up as well.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from inbounds.display.table import Column, TextTable
from inbounds.display.text import WIDTH
from inbounds.joint.table.axis import Name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

MOST_ROWS = 20
"""Rows that are shown one by one."""

GAP = 2
"""Blanks between columns."""


def table_of(cells: Whole, names: tuple[Name, ...], notes: list[str]) -> TextTable:
    """Return cells with totals as a table: all axes but the last go down."""
    if cells.ndim <= 1:
        return _list_of(cells.reshape(-1), names, notes)
    across = cells.shape[-1]
    flat = cells.reshape(-1, across)
    labels = _labels(cells.shape[:-1])
    head = f"{', '.join(map(title_of, names[:-1]))} / {title_of(names[-1])}"
    shown = min(across, WIDTH // 3)
    while True:
        rows = _rows(_with_total(_first(flat, shown, axis=1), axis=1), labels)
        keys = [head, *map(str, range(shown)), *([_more(across - shown)] if shown < across else []), "total"]
        if shown == 1 or _fits(keys, rows):
            columns = [Column(key, left=place == 0) for place, key in enumerate(keys)]
            return TextTable(columns, rows, notes=notes)
        shown -= 1


def title_of(name: Name) -> str:
    """Return what an axis is called: those without a name by their number."""
    return f"axis {name}" if isinstance(name, int) else name


def _list_of(cells: Whole, names: tuple[Name, ...], notes: list[str]) -> TextTable:
    labels = _labels(cells.shape) if names else []
    rows = _rows(cells[:, None], labels) if names else [["total", f"{cells[0]:,}"]]
    return TextTable([Column(title_of(names[0]) if names else "", left=True), Column("count")], rows, notes=notes)


def _rows(columns: Whole, labels: list[str]) -> list[list[str]]:
    down = len(columns)
    shown = down if down <= MOST_ROWS else MOST_ROWS - 1
    names = [*labels[:shown], *([_more(down - shown)] if shown < down else []), "total"]
    table = _with_total(_first(columns, shown, axis=0), axis=0)
    return [[name, *(f"{value:,}" for value in row)] for name, row in zip(names, table.tolist(), strict=True)]


def _labels(shape: tuple[int, ...]) -> list[str]:
    count = min(prod(shape), MOST_ROWS)
    return [", ".join(map(str, np.unravel_index(place, shape))) for place in range(count)]


def _first(values: Whole, shown: int, axis: int) -> Whole:
    """Return the first along an axis, and the sum of the others if there are any."""
    if shown >= values.shape[axis]:
        return values
    first, others = np.split(values, [shown], axis=axis)
    return np.concatenate([first, others.sum(axis=axis, keepdims=True)], axis=axis)


def _with_total(values: Whole, axis: int) -> Whole:
    return np.concatenate([values, values.sum(axis=axis, keepdims=True)], axis=axis)


def _more(count: int) -> str:
    return f"… {count:,} more"


def _fits(keys: list[str], rows: list[list[str]]) -> bool:
    widths = [max(map(len, column)) for column in zip(keys, *rows, strict=True)]
    return sum(widths) + GAP * (len(widths) - 1) <= WIDTH
