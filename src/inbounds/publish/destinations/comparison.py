"""Whether a table that was read back is the one that was published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from inbounds.exact.rational import shown
from inbounds.publish.destinations.sheet import Sheet

BEFORE, SHOWN = 15, 40
"""So many letters are shown before a change, and in all."""


def compare_sheet(
    sheet: Sheet,
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    published: Sequence[Sequence[Any]] | None = None,
) -> Iterator[str]:
    """Yield what is not as it was published; `published` are the rows as the place has them, if it takes not all."""
    wanted, found = [column.name for column in sheet.columns], list(names)
    if found != wanted:
        yield f"table {sheet.name}: its columns are {shown(found)} instead of {shown(wanted)}"
        return
    yield from compare_rows(sheet.name, wanted, sheet.rows if published is None else published, rows)


def compare_rows(
    table: str, names: Sequence[str], published: Sequence[Sequence[Any]], found: Sequence[Sequence[Any]]
) -> Iterator[str]:
    """Yield what is not as it was published: the first cell, and how many others."""
    if len(found) != len(published):
        yield f"table {table}: it has {len(found):,} rows instead of {len(published):,}"
        return
    others = []
    for at, (row, was) in enumerate(zip(found, published, strict=True), 1):
        if len(row) != len(was):
            others.append(f"row {at}: it has {len(row)} cells instead of {len(was)}")
            continue
        cells = zip(names, row, was, strict=True)
        others += [
            f"row {at}, {name}: {shown(cell)} instead of {shown(meant)}"
            for name, cell, meant in cells
            if not is_same(cell, meant)
        ]
    if others:
        more = f" (and {len(others) - 1:,} more places)" if len(others) > 1 else ""
        yield f"table {table}: {others[0]}{more}"


def is_same(cell: Any, published: Any) -> bool:
    """Return whether a cell is what was published; a truth is no number, and a number no text."""
    if cell is None or published is None or isinstance(cell, bool) != isinstance(published, bool):
        return cell is published
    return bool(cell == published)


def describe_change(found: str, published: str) -> str:
    """Say in which words two lines differ, with a few letters before them."""
    pairs = zip_longest(found, published)
    alike = next((at for at, (one, other) in enumerate(pairs) if one != other), len(found))
    start = max(alike - BEFORE, 0)
    return f"{shown(found[start : start + SHOWN])} instead of {shown(published[start : start + SHOWN])}"
