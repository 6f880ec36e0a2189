"""A fresh draft for tables that have a contract: where they are and whose rows they have stays, columns are open.

The columns are drafted as for a new contract, from names and types alone.  No other table is looked at than those that
the contract names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from inbounds.query.contract.contract import Contract
from inbounds.query.contract.csv_format import CsvForm
from inbounds.query.contract.faults import TO_DECIDE
from inbounds.query.contract.places import hide_password
from inbounds.query.contract.toml_text import write_key, write_toml, write_value
from inbounds.query.custodian.draft import (
    describe_draft,
    draft_column,
    explain_columns,
    looks_like_id,
    write_comment,
    write_name,
    write_parts,
)
from inbounds.query.custodian.schema import Schema
from inbounds.query.dataset import Dataset
from inbounds.query.tables.source import path_of
from inbounds.query.tables.table import Table

LIMIT = "max_rows_per_unit"


@dataclass(frozen=True)
class Redraft:
    """The text of a fresh draft for the tables of a dataset."""

    contract: Contract
    tables: Mapping[str, Table]
    """The private ones, by name."""
    schemas: Mapping[str, Schema]

    @classmethod
    def of(cls, dataset: Dataset) -> Redraft:
        """Read the names and types of a dataset's private tables; no row is read."""
        tables = dataset.tables.private
        parts = {name: _part(dataset.contract, name, table) for name, table in tables.items()}
        return cls(dataset.contract, tables, {name: _read_schema(part) for name, part in parts.items()})

    def __str__(self) -> str:
        main, *others = self.tables
        parts = [describe_draft("no row was read"), self._dataset(), self._explain(), self._columns(main)]
        for name in others:
            parts += [self._table(name), self._columns(name)]
        public = (name for name in self.contract.content.get("tables", {}) if name not in self.tables)
        return write_parts([*parts, *map(self._public, public), self._budget()])

    def _dataset(self) -> Iterator[str]:
        yield "[dataset]"
        yield from write_comment("The table and whose rows it has: as in the present contract.")
        yield from _keep(self.contract.table("dataset"))

    def _explain(self) -> Iterator[str]:
        yield from explain_columns(
            has_types=all(None not in schema.columns.values() for schema in self.schemas.values())
        )
        if self.contract.has("known"):
            yield from write_comment("Public facts, under [known], are left out: copy them from the present contract.")

    def _table(self, name: str) -> Iterator[str]:
        yield f"[tables.{write_name(name)}]"
        yield from _keep(self.contract.table("tables", name))

    def _columns(self, name: str) -> Iterator[str]:
        schema, is_main = self.schemas[name], self.tables[name].is_main
        within = "columns" if is_main else f"tables.{write_name(name)}.columns"
        for place, (column, kind) in enumerate(schema.columns.items()):
            lines = list(draft_column(schema, column, kind, self._why_left_out(name, column), within))
            yield from lines if place else lines[1:]

    def _why_left_out(self, name: str, column: str) -> str | None:
        table = self.tables[name]
        if column == table.unit and table.parent is None:
            return "the unit"
        if table.parent is not None and column in dict(table.parent.on):
            return f"refers to {table.parent.table.name}"
        if column in table.key:
            return "it identifies rows"
        others = (other.parent for other in self.tables.values() if other.parent is not None)
        if any(parent.table.name == name and column in dict(parent.on).values() for parent in others):
            return "other tables refer to it"
        return "its name suggests an identifier" if looks_like_id(column) else None

    def _public(self, name: str) -> Iterator[str]:
        """Yield a public table as it is: that it is public has been decided."""
        described = {"tables": {name: _without_password(self.contract.table("tables", name))}}
        yield from write_toml(described).rstrip("\n").split("\n")

    def _budget(self) -> Iterator[str]:
        yield "[budget]"
        yield from write_comment("As in the present contract: the ledger keeps the budget that it was opened with.")
        yield from _write_values(_without_password(self.contract.table("budget")))


def _part(contract: Contract, name: str, table: Table) -> Contract:
    """Return what a contract says of one of its private tables."""
    return contract if table.is_main else contract.part("tables", name)


def _read_schema(part: Contract) -> Schema:
    form = CsvForm.of(part, part.text_of("dataset", "source"))
    table = part.text_of("dataset", "table") if part.has("dataset", "table") else None
    return Schema.read(path_of(part), table=table, delimiter=form.delimiter, encoding=form.encoding)


def _keep(described: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a contract says of a table, with the limit left open if it has one."""
    kept = {key: value for key, value in described.items() if key not in (LIMIT, "columns", "known")}
    yield from _write_values(_without_password(kept))
    if LIMIT in described:
        yield f"{LIMIT} = 0  {TO_DECIDE}"


def _write_values(values: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{write_key(key)} = {write_value(value)}" for key, value in values.items())


def _without_password(described: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: hide_password(value) if key in ("source", "ledger") and isinstance(value, str) else value
        for key, value in described.items()
    }
