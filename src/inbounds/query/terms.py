"""What a charge promises depends on this part of a contract; the ledger keeps it, and refuses another one."""

from __future__ import annotations

from hashlib import sha256

from inbounds.ledger.address import without_secrets
from inbounds.ledger.terms import Terms
from inbounds.query.column import Column, Keys
from inbounds.query.contract import Contract
from inbounds.query.table import ROW, Table

LONGEST = 500
"""A longer description of a column is cut, and its digest added."""


def terms_of(contract: Contract, table: Table, *, framed: bool) -> Terms:
    """Return the terms of a contract: the unit, the row limit, the source, and the bounds or keys of each column.

    With `framed` the program hands over the table itself, instead of the source that the contract may name.
    """
    unit = "each row is another person" if table.unit == ROW else table.unit
    found = {"unit": unit, "most rows of one unit": str(table.limit)}
    if table.units is not None:
        found["number of units"] = str(table.units)
    if framed:
        found["source"] = "a data frame that the program hands over"
    else:
        for key in ("source", "table", "delimiter"):
            if contract.has("dataset", key):
                found[key] = without_secrets(str(contract.value("dataset", key)))
    found.update({f"column {name}": _described(column) for name, column in table.columns.items()})
    return Terms.of(found)


def _described(column: Column) -> str:
    text = f"keys {', '.join(map(repr, column.keys))}" if isinstance(column, Keys) else repr(column.bounds)
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 5]}… (SHA-256 {sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()})"
