"""Public tables: what everyone knows of a key, such as the country of an airport.

    [tables.airports]
    source = "airports.csv"        # with a header
    public = true                  # NOT protected: its rows stand in the statement as constants
    key = "code"                   # each once
    [tables.airports.columns.country]
    keys = ["DE", "FR", "PL"]

The file is read when the contract is, and refused if a key is there twice: then a row that is joined
to it stays one row.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.columns.column import Column
from inbounds.query.contract.contract import Contract

MOST_PUBLIC_ROWS = 5000
"""A public table may have so many rows: they are written into the statement."""

PUBLIC_KEYS = ("source", "public", "key", "delimiter")

Codes = tuple[int | None, ...]


@dataclass(frozen=True, eq=False)
class PublicTable:
    """A public table: for each key, the codes of what is known of it."""

    name: str
    key: str
    columns: Mapping[str, Column]
    rows: Mapping[str, Codes]
    """By the text of the key, in the order of the columns."""

    @classmethod
    def of(cls, contract: Contract, name: str, columns: Mapping[str, Column]) -> PublicTable:
        """Read a public table; the contract is the part of it that describes this table."""
        contract.refuse_unknown(PUBLIC_KEYS, "dataset")
        if contract.value("dataset", "public") is not True:
            raise contract.refuse(
                "public must be true; write that, or leave it out for a private table", "dataset", "public"
            )
        derived = next((column for column in columns.values() if column.is_derived), None)
        if derived is not None:
            raise contract.refuse(
                f"column {derived.name!r} of a public table must stand in its file; write it there, or compute it in "
                "the question",
                "columns",
                derived.name,
                "from",
            )
        key = contract.text_of("dataset", "key")
        header, lines = _lines(contract)
        for column in (key, *columns):
            if header.count(column) != 1:
                raise contract.refuse(
                    f"the header of the public table must have {column!r} once, got {shown(header)}; correct it",
                    "dataset",
                    "source",
                )
        return cls(name, key, columns, _rows(contract, header, lines, key, columns))

    @property
    def digest(self) -> str:
        """What tells its rows from others."""
        return sha256(repr(sorted(self.rows.items())).encode()).hexdigest()[:16]

    def codes_for(self, column: Column) -> dict[int, Codes]:
        """Return the rows by the code of their key in a column of a private table."""
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
                f"no key of {self.name} is a possible value of {column.name}; join it by {self.key} to a column that "
                "holds such keys"
            )
        return rows


def _lines(contract: Contract) -> tuple[list[str], list[list[str]]]:
    source = contract.text_of("dataset", "source")
    delimiter = contract.text_of("dataset", "delimiter") if contract.has("dataset", "delimiter") else ","
    try:
        with open(contract.folder / source, encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
    except (OSError, UnicodeDecodeError, csv.Error, TypeError):
        raise contract.refuse(
            f"cannot read the public table {shown(source)}; give the path of a csv file, in UTF-8 and with a header",
            "dataset",
            "source",
        ) from None
    if not 2 <= len(rows) <= MOST_PUBLIC_ROWS + 1 or any(len(row) != len(rows[0]) for row in rows):
        raise contract.refuse(
            f"a public table must have a header, from 1 to {MOST_PUBLIC_ROWS} rows, and as many fields in each, and "
            f"{shown(source)} has not; leave out what no question needs",
            "dataset",
            "source",
        )
    return rows[0], rows[1:]


def _rows(
    contract: Contract, header: list[str], lines: list[list[str]], key: str, columns: Mapping[str, Column]
) -> dict[str, Codes]:
    places = [header.index(name) for name in columns]
    rows: dict[str, Codes] = {}
    for number, line in enumerate(lines, 2):
        text = line[header.index(key)]
        if not text or text in rows:
            raise contract.refuse(
                f"key {key!r} must be unique in the public table, and row {number} has {shown(text)} "
                f"{'again' if text else 'instead'}; correct the file, or name another key",
                "dataset",
                "key",
            )
        try:
            rows[text] = tuple(
                column.nearest(line[place]) if line[place] else None
                for column, place in zip(columns.values(), places, strict=True)
            )
        except ValueError:
            raise contract.refuse(
                f"row {number} of the public table does not hold what its columns say; correct it", "dataset", "source"
            ) from None
    return rows
