"""A draft of a contract for several tables: one names the units, others lead to it, and the rest may be public.

Like every draft it follows from names and types, and from what a database declares.  A way to the unit is written down
if it is declared and the only one.  What is guessed from names is left open, and no table is said to be public.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inbounds.errors import InvalidParameter
from inbounds.query.contract.faults import TO_DECIDE
from inbounds.query.custodian.database import Database
from inbounds.query.custodian.draft import (
    Draft,
    describe_draft,
    draft_budget,
    draft_column,
    draft_source,
    explain_columns,
    looks_like_id,
    name_kinds,
    quote,
    write_comment,
    write_name,
    write_parts,
    write_remark,
)
from inbounds.query.custodian.links import Links, Way
from inbounds.query.custodian.schema import Schema
from inbounds.query.engines.engine import Kind


@dataclass(frozen=True)
class DatabaseDraft:
    """The text of a contract for several tables, as far as it follows from their names, types and declarations."""

    links: Links

    @property
    def tables(self) -> dict[str, Schema]:
        """The tables, the one that names the units first."""
        unit = self.links.unit.table
        return {unit: self.links.database.tables[unit], **self.links.database.tables}

    @property
    def scope(self) -> str:
        """What it was made of."""
        columns = sum(len(schema.columns) for schema in self.tables.values())
        read = "the first lines were read" if self._has_looked else "no row was read"
        return f"{len(self.tables)} tables with {columns} columns; {read}"

    def facts(self) -> list[tuple[str, str]]:
        """Return what is to be known before it is edited."""
        links = self.links
        facts = [("unit", f"{links.unit.column} of {links.unit.table}")]
        certain = [name for name in links.ways if links.is_certain(name)]
        if certain:
            facts.append(("linked", f"{', '.join(certain)}: as declared, or as you said"))
        if guessed := [name for name in links.ways if name not in certain]:
            facts.append(("to confirm", f"{', '.join(guessed)}: whose rows they are"))
        if links.others:
            facts.append(("left out", f"{', '.join(links.others)}: no link was recognised by name"))
        return facts

    def data(self) -> dict[str, Any]:
        """Return what it was made of, as JSON has it."""
        links = self.links
        return {
            "tables": {name: name_kinds(schema) for name, schema in self.tables.items()},
            "unit": {"table": links.unit.table, "column": links.unit.column},
            "links": {name: [_describe_way(way) for way in ways] for name, ways in links.ways.items()},
            "left_out": links.others,
        }

    @property
    def _has_looked(self) -> bool:
        return any(schema.shape is not None for schema in self.tables.values())

    def __str__(self) -> str:
        unit = self.links.unit.table
        effort = "rows were read only to see how they are written" if self._has_looked else "no row was read"
        parts = [describe_draft(effort), self._dataset(), self._explain_columns(), self._columns(unit)]
        for name in self.links.ways:
            parts += [self._table(name), self._columns(name)]
        parts += [self._public(name) for name in self.links.others]
        return write_parts([*parts, draft_budget()])

    def _dataset(self) -> Iterator[str]:
        unit = self.links.unit
        yield "[dataset]"
        yield f"name = {quote(unit.table)}  # its name in SQL"
        yield from draft_source(self.tables[unit.table])
        yield f"unit = {quote(unit.column)}  # whose privacy is protected, in all tables"
        yield from self._key(unit.table)
        yield from write_comment(
            "How many rows of this table may one unit contribute at most? 1 if the table lists the units. Rows beyond "
            "the limit are down-weighted. A lower limit means less noise. Each table has its own."
        )
        yield f"max_rows_per_unit = 0  {TO_DECIDE}"

    def _explain_columns(self) -> Iterator[str]:
        types = [kind for schema in self.tables.values() for kind in schema.columns.values()]
        yield from explain_columns(has_types=None not in types)
        yield from write_comment("Free text, which is compared but never listed, is text = true.")

    def _key(self, table: str) -> Iterator[str]:
        """Yield the key of a table: a declared one, or one to confirm, for joins rely on it."""
        key = self.links.keys.get(table)
        if key is None:
            return
        written = _write_key(key)
        if self.links.database.keys[table]:
            yield f"key = {written}  # declared unique"
        else:
            yield f"# key = {written}  # uncomment it if no two rows share one"

    def _table(self, name: str) -> Iterator[str]:
        yield f"[tables.{write_name(name)}]"
        yield from draft_source(self.tables[name])
        ways = self.links.ways[name]
        is_certain = self.links.is_certain(name)
        if not is_certain:
            yield from write_comment(f"Whose rows are they? {_explain(ways)}")
        yield from _way(ways[0], is_certain=is_certain)
        yield from self._key(name)
        yield f"max_rows_per_unit = 0  {TO_DECIDE}"

    def _columns(self, table: str) -> Iterator[str]:
        within = "columns" if table == self.links.unit.table else f"tables.{write_name(table)}.columns"
        schema = self.tables[table]
        for name, kind in schema.columns.items():
            why = self._why_left_out(table, name)
            public = None if why is not None else self.links.referred(table, name)
            lines = draft_column(schema, name, kind, why, within)
            if public is not None:
                lines = _reference(name, kind, public, within)
            yield from lines if name != next(iter(schema.columns)) else list(lines)[1:]

    def _why_left_out(self, table: str, column: str) -> str | None:
        links = self.links
        ways = links.ways.get(table, ())
        units = [on[0] for way in ways[:1] if way.is_unit for on in way.on]
        if column in units or (table, column) == (links.unit.table, links.unit.column):
            return "the unit"
        if column == links.unit.column:
            return "called like the unit"
        if column in (found := {own: way.parent for way in ways for own, _ in way.on}):
            return f"refers to {found[column]}"
        if column in links.keys.get(table, ()):
            return "it identifies rows"
        if any(way.parent == table and column in dict(way.on).values() for ways in links.ways.values() for way in ways):
            return "other tables refer to it"
        is_public_key = links.referred(table, column) is not None
        return "its name suggests an identifier" if looks_like_id(column) and not is_public_key else None

    def _say_shared(self, name: str) -> str:
        """Say which columns a table has in common with those that lead to a unit."""
        shared = self.links.shared_names(name)
        told = "; ".join(f"{', '.join(map(write_name, names))} with {other}" for other, names in shared.items())
        return f"It shares columns with private tables: {told}. " if told else ""

    def _public(self, name: str) -> Iterator[str]:
        unit, schema = self.links.unit, self.tables[name]
        column = write_name(unit.column)
        yield from write_comment(
            f"Whose rows are those of {name}? No link to {unit.table}.{column} was recognised by name, which proves "
            f"nothing, so it is left out. {self._say_shared(name)}If they are about people, say whose they are (unit, "
            "or belongs_to and on), or leave it out. Uncomment the lines below only if you would publish it, every "
            "row: it is then NOT protected, and described by reading it."
        )
        lines = [f"[tables.{write_name(name)}]", *draft_source(schema)]
        lines.append("public = true  # NOT protected: only if you would publish it")
        key = self.links.keys.get(name)
        if key is not None:
            lines.append(f"key = {_write_key(key)}")
        yield from (line if line.startswith("#") else f"# {line}" for line in lines)


def draft_contract(
    source: str,
    *,
    table: str | None = None,
    unit: str | None = None,
    schema: str | None = None,
    delimiter: str | None = None,
    folder: Path | None = None,
    look: bool = False,
) -> Draft | DatabaseDraft:
    """Draft a contract for a table, or for all tables of a folder or a database of which none is named."""
    if not Database.is_at(source, table):
        if schema is not None:
            raise InvalidParameter("a schema is for all tables of a database; leave it out, or name it in the table")
        return Draft(Schema.read(source, table=table, delimiter=delimiter, folder=folder, look=look), unit)
    database = Database.read(source, schema=schema, delimiter=delimiter, folder=folder, look=look)
    if len(database.tables) == 1:
        (only,) = database.tables.values()
        return Draft(only, unit)
    return DatabaseDraft(Links.of(database, unit))


def _describe_way(way: Way) -> dict[str, Any]:
    return {"table": way.parent, "on": dict(way.on), "is_unit": way.is_unit, "is_declared": way.is_declared}


def _write_key(key: tuple[str, ...]) -> str:
    return quote(key[0]) if len(key) == 1 else f"[{', '.join(map(quote, key))}]"


def _explain(ways: tuple[Way, ...]) -> str:
    """Say how the rows of a table may lead to a unit."""
    if len(ways) == 1:
        answer = ways[0].on[0][0] if ways[0].is_unit else ways[0].parent
        return f"Judging by the names, {_explain_way(ways[0])}: if so, write {quote(answer)}."
    how = "There are" if all(way.is_declared for way in ways) else "Judging by the names, there are"
    told = [
        f"{_explain_way(way)} ({', '.join(f'{key} = {value}' for key, value in _answers(way).items())})" for way in ways
    ]
    return (
        f"{how} {len(ways)} ways to a unit; choose one: {'; or '.join(told)}. If a row can be about two people, "
        "only the one you choose is protected: the other is then NOT protected in this table. Leave the table out if "
        "both must be."
    )


def _explain_way(way: Way) -> str:
    own, of = (" and ".join(write_name(pair[place]) for pair in way.on) for place in (0, 1))
    return f"{own} is the unit" if way.is_unit else f"{own} refers to {of} of {way.parent}"


def _answers(way: Way) -> dict[str, str]:
    """Return what the contract says if a way is the right one."""
    if way.is_unit:
        return {"unit": quote(way.on[0][0])}
    pairs = ", ".join(f"{write_name(own)} = {quote(of)}" for own, of in way.on)
    return {"belongs_to": quote(way.parent), "on": f"{{ {pairs} }}"}


def _way(way: Way, *, is_certain: bool) -> Iterator[str]:
    """Yield the lines that say whose rows they are, the first left open unless it is certain."""
    (key, answer), *rest = _answers(way).items()
    yield f"{key} = {answer}" if is_certain else f'{key} = ""  {TO_DECIDE}'
    yield from (f"{other} = {value}" for other, value in rest)


def _reference(name: str, kind: Kind | None, public: str, within: str) -> Iterator[str]:
    """Yield the section of a column that seems to hold the keys of a table which may be public."""
    type_name = "" if kind is None else f"{kind.value}; "
    yield ""
    yield from write_remark(f"[{within}.{write_name(name)}]", f"{type_name}refers to {public}")
    yield f"keys_of = {quote(public)}  {TO_DECIDE}"
