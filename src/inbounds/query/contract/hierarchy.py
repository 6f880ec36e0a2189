"""Columns within columns: the contract says which district lies in which region.

    [columns.district]
    keys = ["old town", "harbour", "hills"]
    within = "region"
    map = { "old town" = "city", "harbour" = "city", "hills" = "country" }

The map may also be the path of a public csv file with a header that names the two columns.  It is public, like keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from inbounds.exact.rational import shown
from inbounds.files.csv_text import key_text
from inbounds.query.columns.column import Column, Keys
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.public_csv import read_public


def with_parents(contract: Contract, columns: Mapping[str, Column]) -> dict[str, Column]:
    """Return the columns of a contract with the keys that theirs lie in."""
    placed = {name: _place(contract, columns, column) for name, column in columns.items()}
    for name in placed:
        _refuse_circle(contract, placed, name)
    return placed


def ancestors(columns: Mapping[str, Column], column: Column) -> list[tuple[str, tuple[int, ...]]]:
    """Return what the keys of a column lie in, from near to far: a column's name, and its key for each key of this."""
    levels: list[tuple[str, tuple[int, ...]]] = []
    codes: Sequence[int] = range(column.size)
    while column.within is not None:
        codes = of_parents = tuple(column.parents[code] for code in codes)
        levels.append((column.within, of_parents))
        column = columns[column.within]
    return levels


def _place(contract: Contract, columns: Mapping[str, Column], column: Column) -> Column:
    path = ("columns", column.name)
    table = contract.table(*path)
    if "within" not in table and "map" not in table:
        return column
    if not isinstance(column, Keys):
        raise contract.refuse(f"within and map need keys, but {column.name!r} has bounds; leave them out", *path)
    parent = columns.get(contract.text_of(*path, "within"))
    if not isinstance(parent, Keys) or parent is column:
        raise contract.refuse(
            f"within must name another column with keys, got {shown(table['within'])}; describe that column too",
            *path,
            "within",
        )
    pairs = _read_map(contract, column, parent)
    parents = tuple(_parent_code(contract, column, parent, key, outer) for key, outer in pairs)
    if len(set(parents)) < len(parent.keys):
        lonely = next(key for code, key in enumerate(parent.keys) if code not in parents)
        raise contract.refuse(
            f"no key of {column.name!r} lies within {shown(lonely)} of {parent.name!r}; add one, or leave that key out",
            *path,
            "map",
        )
    return replace(column, within=parent.name, parents=parents)


def _read_map(contract: Contract, column: Keys, parent: Keys) -> list[tuple[Any, Any]]:
    """Return each key of a column with what the map says that it lies in."""
    path = ("columns", column.name, "map")
    value = contract.value(*path)
    outer_of = _read_file(contract, column, parent, value) if isinstance(value, str) else value
    if not isinstance(outer_of, Mapping):
        raise contract.refuse(
            f"map must be a table of keys, or the path of a csv file, got {shown(value)}; write it like "
            '{ "harbour" = "city" }',
            *path,
        )
    known = {key_text(key) for key in column.keys}
    if set(outer_of) != known:
        odd = min([*(known - set(outer_of)), *(set(outer_of) - known)], key=lambda key: (key not in known, key))
        raise contract.refuse(
            f"map must name each key of {column.name!r} once and nothing else, and {shown(odd)} is "
            f"{'missing' if odd in known else 'not one of them'}; correct it",
            *path,
        )
    return [(key, outer_of[key_text(key)]) for key in column.keys]


def _read_file(contract: Contract, column: Keys, parent: Keys, path: str) -> dict[str, str]:
    where = ("columns", column.name, "map")
    header, rows = read_public(contract, path, *where, what="the map ")
    if sorted(header) != sorted((column.name, parent.name)):
        raise contract.refuse(
            f"the map {shown(path)} must have a header with {column.name} and {parent.name}, and no other columns; "
            "correct it",
            *where,
        )
    at = header.index(column.name)
    pairs = [(row[at], row[1 - at]) for row in rows]
    if len({key for key, _ in pairs}) < len(pairs):
        raise contract.refuse(f"the map {shown(path)} must name each key once; correct it", *where)
    return dict(pairs)


def _parent_code(contract: Contract, column: Keys, parent: Keys, key: Any, outer: Any) -> int:
    code = parent.find(outer)
    if code is None:
        raise contract.refuse(
            f"map says that {shown(key)} is within {shown(outer)}, which is not a key of {parent.name!r}; add that "
            "key, or correct the map",
            "columns",
            column.name,
            "map",
        )
    return code


def _refuse_circle(contract: Contract, columns: Mapping[str, Column], name: str) -> None:
    seen = [name]
    column = columns[name]
    while column.within is not None:
        if column.within in seen:
            raise contract.refuse(
                f"within must not go in a circle, got {' within '.join([*seen, column.within])}; leave one out",
                "columns",
                name,
                "within",
            )
        seen.append(column.within)
        column = columns[column.within]
