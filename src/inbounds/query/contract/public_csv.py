"""Public csv files that a contract names: lists of keys, and maps from one column to another."""

from __future__ import annotations

import csv

from inbounds.exact.rational import shown
from inbounds.query.contract.contract import Contract


def read_public(
    contract: Contract, path: str, *where: str, what: str = "", instead: str = ""
) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a public csv file, each row as long as the header.

    `where` is the contract's key, `what` the file is, and `instead` what could be written in its place.
    """
    try:
        with open(contract.folder / path, encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except (OSError, ValueError, csv.Error):
        raise contract.refuse(
            f"cannot read {what}{shown(path)}; {instead}give the path of a public csv file", *where
        ) from None
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise contract.refuse(f"{shown(path)} must have a header, and as many fields in each line; correct it", *where)
    return rows[0], rows[1:]
