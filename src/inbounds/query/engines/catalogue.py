"""What a database declares of its tables: names, unique keys and references; no row is looked at for it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """Columns that hold the values of columns of another table."""

    columns: tuple[str, ...]
    table: str
    """The other table, as the database calls it."""
    to: tuple[str, ...]
    """The columns there, in the same order."""


@dataclass(frozen=True)
class DeclaredTable:
    """A table of a database, and what is declared of it."""

    name: str
    """What the database calls it."""
    written: str
    """What a contract calls it: in quotes where SQL needs them, and with its schema unless that is the usual one."""
    keys: tuple[tuple[str, ...], ...] = ()
    """Columns that no two rows share, the primary key first."""
    references: tuple[Reference, ...] = ()


def implies_unique(keys: Collection[Collection[str]], columns: Collection[str]) -> bool:
    """Return whether no two rows share these columns, for they share no key that is a part of them."""
    return any(set(key) <= set(columns) for key in keys)
