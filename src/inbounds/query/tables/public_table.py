"""Public tables: what everyone knows of a key, such as the country of an airport.

    [tables.airports]
    source = "airports.parquet"    # parquet, csv, DuckDB, PostgreSQL or Spark, of any size
    public = true                  # NOT protected
    key = "code"                   # each once; or several columns, or none

Nothing here is private, so the table may be looked at when the contract is read: what its columns hold, whether its key
is unique, how many rows it has.  What is not described in the contract is described by what is there.  A digest of it
belongs to the terms of the contract, because bounds follow from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from inbounds.errors import InvalidContract, InvalidQuestion
from inbounds.query.columns.column import Column, Key, Keys
from inbounds.query.columns.identifier import Identifier
from inbounds.query.contract.listed_keys import WHOLE
from inbounds.query.engines.engine import Engine, Kind

MOST_PUBLIC_ROWS = 5000
"""A public table of so many rows is written into the statement where it cannot be read beside the private ones."""

Codes = tuple[int | None, ...]

Stamp = tuple[tuple[str, int, int], ...]
"""Of each file its path, its size and when it was changed."""


@dataclass(frozen=True, eq=False)
class PublicTable:
    """A public table: what its columns hold, and its rows if they are few."""

    name: str
    key: tuple[str, ...]
    """The columns whose values are there once; none if rows repeat."""
    columns: Mapping[str, Column]
    identifiers: Mapping[str, Identifier] = field(default_factory=dict)
    """Columns with more values than can be listed, by which rows are matched, and texts compared."""
    count: int = 0
    rows: Mapping[str, Codes] | None = None
    """By the text of its one key, in the order of the columns; None if they are many or have no such key."""
    key_values: tuple[Key, ...] = ()
    """The values of its one key, if they are few enough to be listed."""
    engine: Engine | None = None
    """What reads it where it is; None if it was read from a small csv file."""
    digest: str = ""
    """What tells it from others."""
    stamp: Stamp = ()
    """What its files show of themselves that changes with them."""

    @property
    def has_whole_keys(self) -> bool | None:
        """Whether its one key is a whole number; None if it was read as a csv file has it, without types."""
        return None if self.engine is None else self.engine.kinds().get(self.key[0]) is Kind.INTEGER

    @property
    def kind(self) -> str:
        """What the terms of a contract say of it."""
        by = f" by {', '.join(self.key)}" if self.key else ""
        return f"{self.count} rows{by}, digest {self.digest}"

    def refuse_changed(self) -> None:
        """Refuse a file that is not the one that was looked at."""
        if stamp_of(path for path, _, _ in self.stamp) != self.stamp:
            raise InvalidContract(
                f"the public table {self.name} has changed since the contract was loaded; load the contract again, and "
                "record its new terms"
            )

    def codes_for(self, column: Column) -> dict[int, Codes]:
        """Return the rows by the code of their key in a column of a private table."""
        assert self.rows is not None
        rows: dict[int, Codes] = {}
        for text, codes in self.rows.items():
            code = column.exact(text)
            if code in rows:
                raise InvalidQuestion(
                    f"two keys of {self.name} are the same value of {column.name}; join it to a column of keys"
                )
            if code is not None:
                rows[code] = codes
        if not rows:
            raise InvalidQuestion(
                f"no key of {self.name} is a possible value of {column.name}; join it by {self.key[0]} to a column "
                "that holds such keys"
            )
        return rows

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All columns that a question may name."""
        return (*self.columns, *self.identifiers, *(name for name in self.key if name not in self.columns))


def stamp_of(paths: Iterable[str]) -> Stamp:
    """Return what files show of themselves."""
    return tuple(map(_stamp_file, paths))


def _stamp_file(path: str) -> tuple[str, int, int]:
    try:
        state = Path(path).stat()
    except OSError:
        return path, -1, -1
    return path, state.st_size, state.st_mtime_ns


def digest_rows(rows: Mapping[str, Codes]) -> str:
    """Return what tells some rows from others."""
    return sha256(repr(sorted(rows.items())).encode()).hexdigest()[:16]


def list_keys(texts: list[str], column: Column | None, most: int) -> tuple[Key, ...]:
    """Return the values of a key by their texts, if they are few: as whole numbers, if that is what they are."""
    if len(texts) > most:
        return ()
    if column is not None and isinstance(column, Keys):
        return column.keys
    if all(WHOLE.fullmatch(text) and abs(int(text)) < 2**63 for text in texts):
        return tuple(sorted(int(text) for text in texts))
    return tuple(sorted(texts))
