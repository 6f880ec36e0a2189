"""What a charge promises depends on this part of a contract; the ledger keeps it, and refuses another one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inbounds.bounds import Bounds
from inbounds.ledger.values.address import distinct_place, is_address
from inbounds.ledger.values.terms import Terms, with_digest
from inbounds.query.columns.column import Column, Keys
from inbounds.query.columns.derived_column import Derived
from inbounds.query.contract.contract import Contract
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.table import Table

LONGEST = 500
"""A longer description of a column is cut, and the beginning of its digest added."""

LONGEST_CALENDAR = 2000
"""A column with closed days is described at more length, so that a change of them can be read."""


def terms_of(contract: Contract, tables: Tables, *, framed: bool, ledger: Path | None) -> Terms:
    """Return the terms of a contract: the unit, the row limit, the source, and the bounds or keys of each column.

    With `framed` the program hands over the table itself, instead of the source that the contract may name.  A relative
    source is told from where the file of the ledger is, if it is one (docs/decisions/0031-around-a-ledger.md).  Other
    tables of the contract are described likewise, and public ones by what they hold.
    """
    table = tables.main
    unit = "each row is another person" if table.rows_are_units else table.unit
    facts = {"unit": unit, "max_rows_per_unit": str(table.limit)}
    if table.units is not None:
        facts["units"] = str(table.units)
    if table.today is not None:
        facts["today"] = str(table.today)
    if framed:
        facts["source"] = "a data frame that the program hands over"
    else:
        facts.update(_describe_source(contract, ledger))
    facts.update(_describe_owner(table))
    facts.update(_describe_columns(contract, table.columns))
    for name, other in tables.others.items():
        part = contract.part("tables", name)
        own = {"unit": other.unit, "max_rows_per_unit": str(other.limit), **_describe_source(part, ledger)}
        own.update(_describe_owner(other))
        own.update(_describe_columns(part, other.columns))
        own.update(_describe_known(part))
        facts.update({f"table {name}: {key}": value for key, value in own.items()})
    for name, public in tables.public.items():
        part = contract.part("tables", name)
        described = part.table("columns") if part.has("columns") else {}
        own = _describe_columns(part, {key: column for key, column in public.columns.items() if key in described})
        facts.update({f"public table {name}: {key}": value for key, value in own.items()})
        facts[f"public table {name}"] = public.kind
    facts.update(_describe_known(contract))
    return Terms.of(facts)


def _describe_owner(table: Table) -> dict[str, str]:
    """Return whose rows they are by another table, and which columns rows are matched by."""
    facts = {}
    if table.parent is not None:
        on = ", ".join(f"{own} = {of}" for own, of in table.parent.on)
        facts["belongs to"] = f"{table.parent.table.name} on {on}"
    if table.key:
        facts["key"] = ", ".join(table.key)
    if table.whole:
        facts["whole numbers"] = ", ".join(sorted(table.whole))
    texts = [name for name, identifier in table.identifiers.items() if identifier.is_text]
    if texts:
        facts["texts"] = _cut(", ".join(texts), LONGEST)
    return facts


def _describe_known(contract: Contract) -> dict[str, str]:
    """Return what is public of the numbers of rows."""
    if not contract.has("known"):
        return {}
    return {"public facts": _cut(json.dumps(contract.value("known"), sort_keys=True, default=str), LONGEST)}


def _describe_source(contract: Contract, ledger: Path | None) -> dict[str, str]:
    """Return where a table is."""
    facts = {}
    for key in ("source", "table", "delimiter", "encoding"):  # which decide what is a row, and whose
        if contract.has("dataset", key):
            value = str(contract.value("dataset", key))
            facts[key] = distinct_place(_write_path(ledger, contract, value) if key == "source" else value)
    return facts


def _write_path(ledger: Path | None, contract: Contract, source: str) -> str:
    """Return the path of a relative source from the folder of the ledger, or from the root if that is no file."""
    if source == "spark" or is_address(source) or Path(source).expanduser().is_absolute():
        return source
    path = os.path.normpath(contract.folder / source)
    if ledger is None:
        return Path(path).as_posix()
    try:
        return Path(os.path.relpath(path, ledger.resolve().parent)).as_posix()
    except ValueError:  # on another drive
        return Path(path).as_posix()


def _describe_columns(contract: Contract, columns: Mapping[str, Column]) -> dict[str, str]:
    return {f"column {name}": _describe(contract, column) for name, column in columns.items()}


def _describe(contract: Contract, column: Column) -> str:
    """Return what the contract says of a column: its keys or its bounds, a calendar's days, and a clock's zone."""
    if isinstance(column, Derived):
        return _cut(f"from {column.formula}", LONGEST)
    if isinstance(column, Keys):
        within = f", within {column.within} by {column.parents}" if column.within else ""
        return _cut(f"keys {', '.join(map(repr, column.keys))}{within}", LONGEST)
    section = contract.table("columns", column.name)
    stored = "" if column.zone is None else f", timezone {column.zone}"
    stored += "" if column.duration is None else f", duration in {column.duration}"
    if not {"weekdays", "closed"} & section.keys():
        listed = f", keys {', '.join(map(str, column.listed))}" if column.listed else ""
        return _cut(f"{column.bounds!r}{stored}{listed}", LONGEST)
    calendar = [f", {part} {_write_days(section[part])}" for part in ("weekdays", "closed") if part in section]
    return _cut(f"{Bounds.parse(section['bounds'])}{''.join(calendar)}{stored}", LONGEST_CALENDAR)


def _write_days(days: Any) -> str:
    """Write weekdays or closed days as the contract has them, a pair of days as a stretch."""
    if not isinstance(days, list):
        return str(days)
    return ", ".join(f"{day[0]} to {day[1]}" if isinstance(day, list) else str(day) for day in days) or "none"


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return with_digest(f"{text[: longest // 5].rstrip()}…", text)
