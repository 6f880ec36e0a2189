"""The keys of a column: a list in the contract, or a column of a public csv file.

    [columns.icd]
    keys = "icd.csv"
    keys_column = "code"

They are public, like everything in a contract, so messages may show them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from inbounds.exact.rational import shown
from inbounds.query.columns.column import Column, Key, Keys
from inbounds.query.contract.contract import Contract
from inbounds.query.contract.public_csv import read_public

MOST_KEYS = 100_000
"""A column may have so many keys."""

MOST_FOUND = 1000
"""So many values become keys without being listed: those of a public table, and those that are discovered."""

WHOLE = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
"""A whole number as programs write it."""


def read_keys(contract: Contract, name: str) -> tuple[Key, ...]:
    """Return the keys of a column; those in a file are texts, unless bounds beside them say that they are numbers."""
    path = ("columns", name, "keys")
    table = contract.table(*path[:2])
    keys = table["keys"]
    if isinstance(keys, str):
        keys = _read_file(contract, name, keys, whole="bounds" in table)
    elif "keys_column" in table:
        raise contract.refuse(
            "keys_column names a column of a file, but keys is not the path of one; leave it out, or write it like "
            'keys = "icd.csv"',
            *path[:2],
            "keys_column",
        )
    _check(contract, keys, path)
    return tuple(keys)


def digest_keys(columns: Mapping[str, Column]) -> list[str]:
    """Return what tells long lists of keys from others, which a contract has in files."""
    long = [column for column in columns.values() if isinstance(column, Keys) and column.size > MOST_FOUND]
    stored = [column for column in long if not column.is_derived]
    return [f"{column.name} {sha256(repr(column.keys).encode()).hexdigest()}" for column in stored]


def _check(contract: Contract, keys: Any, path: tuple[str, ...]) -> None:
    """Refuse what is not a list of keys."""
    if not isinstance(keys, list) or not 1 <= len(keys) <= MOST_KEYS:
        got = f"{len(keys):,} of them" if isinstance(keys, list) else shown(keys)
        raise contract.refuse(
            f"keys must be a list of 1 to {MOST_KEYS:,} texts, whole numbers or truth values, got {got}; "
            'list them in [ ], or name a public csv file, as in keys = "icd.csv"',
            *path,
        )
    kinds = {type(key) for key in keys}
    if len(kinds) > 1 or kinds & {str, int, bool} != kinds:
        raise contract.refuse(
            f"keys must be all texts, all whole numbers, or true and false, got {shown(keys)}; write them alike", *path
        )
    if len(set(keys)) < len(keys):
        repeated = Counter(keys).most_common(1)[0][0]
        raise contract.refuse(
            f"keys must differ from each other, and {shown(repeated)} is there twice; list each once", *path
        )
    if any(isinstance(key, int) and abs(key) >= 2**63 for key in keys):
        raise contract.refuse(
            f"keys must be below 2^63, got {shown(keys)}; leave out what the table cannot hold", *path
        )
    if any(isinstance(key, str) and "\0" in key for key in keys):
        raise contract.refuse(
            f"keys must not hold a NUL character, got {shown(keys)}; leave out what the table cannot hold", *path
        )


def _read_file(contract: Contract, name: str, path: str, *, whole: bool) -> list[Any]:
    """Return the keys that a public csv file lists."""
    where = ("columns", name, "keys")
    header, rows = read_public(contract, path, *where, instead="list the keys in [ ], or ")
    at = _find_column(contract, name, path, header)
    keys = [row[at] for row in rows]
    empty = next((number for number, key in enumerate(keys, 2) if not key), None)
    if empty is not None:
        raise contract.refuse(
            f"keys must not be empty, and row {empty} of {shown(path)} has nothing in {shown(header[at])}; remove that "
            "row: what is missing in the table needs no key",
            *where,
        )
    if not whole:
        return keys
    odd = next((key for key in keys if WHOLE.fullmatch(key) is None), None)
    if odd is not None:
        raise contract.refuse(
            f"keys beside bounds must be whole numbers, and {shown(path)} has {shown(odd)}; correct it, or leave "
            "bounds out",
            *where,
        )
    return list(map(int, keys))


def _find_column(contract: Contract, name: str, path: str, header: list[str]) -> int:
    """Return the place of the column that holds the keys: the one that is named, of the same name, or the only one."""
    if contract.has("columns", name, "keys_column"):
        wanted = contract.text_of("columns", name, "keys_column")
        if header.count(wanted) != 1:
            raise contract.refuse(
                f"keys_column must name one column of {shown(path)}, got {shown(wanted)}; it has "
                f"{', '.join(header[:10])}",
                "columns",
                name,
                "keys_column",
            )
        return header.index(wanted)
    if name not in header and len(header) > 1:
        raise contract.refuse(
            f"{shown(path)} must have a column {name!r}, or only one; say which with "
            f'keys_column = "{header[0]}", or name it so in its header',
            "columns",
            name,
            "keys",
        )
    return header.index(name) if name in header else 0
