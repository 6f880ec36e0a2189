"""Random trees of private tables with public ones beside them, and rows with everything odd in their keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from inbounds.query.columns.identifier import UNIT, Domain
from tests.helpers.engine_places import text
from tests.helpers.random_contracts import Dice

Row = dict[str, Any]
Rows = dict[str, list[Row]]

UNITS = [1, 2, 3, None]
KEYS = [1, 1, 1, 2, 3, 4, None]
"""What keys and references are: often the same, for one unit and for several, and sometimes nothing."""
ORPHAN = 99
KINDS = ["a", "b", "c"]
MANY = 6000
"""More rows than a public table may have that is written into a statement."""


@dataclass(frozen=True)
class PrivateTable:
    """A private table: its key, and the table that it belongs to."""

    name: str
    key: tuple[str, ...]
    parent: PrivateTable | None = None
    on: tuple[tuple[str, str], ...] = ()
    """Its columns and those of the parent."""
    unit: str = ""
    """The unit, of a table that names it."""
    limit: int = 1
    says_key: bool = True
    texts: frozenset[str] = frozenset()
    """The keys that are texts, and not whole numbers."""

    @property
    def references(self) -> tuple[str, ...]:
        """The columns that tell what a row belongs to."""
        return tuple(own for own, _ in self.on)

    @property
    def number(self) -> str:
        """The column of numbers."""
        return f"v{self.name}"

    @property
    def kind(self) -> str:
        """The column of categories."""
        return f"k{self.name}"

    @property
    def note(self) -> str:
        """The column of text."""
        return f"n{self.name}"

    @property
    def matched(self) -> list[str]:
        """The columns that rows are matched by."""
        return list(dict.fromkeys((*self.references, *self.key)))

    def domain(self, column: str) -> Domain:
        """Return what the values of a key refer to."""
        on = dict(self.on)
        if self.parent is not None and column in on:
            return self.parent.domain(on[column])
        return UNIT if column == self.unit else (self.name, column)

    @property
    def types(self) -> dict[str, str]:
        """Its columns, as DuckDB has them."""
        own = {self.unit: "BIGINT"} if self.unit else {}
        keys = {name: "VARCHAR" if name in self.texts else "BIGINT" for name in self.matched}
        return own | keys | {self.number: "BIGINT", self.kind: "VARCHAR", self.note: "VARCHAR"}

    def said(self, is_main: bool) -> str:
        """Return its part of the contract."""
        head, path = ('[dataset]\nname = "{0}"', "") if is_main else ("[tables.{0}]", f"tables.{self.name}.")
        lines = [head.format(self.name), f"max_rows_per_unit = {self.limit}"]
        if self.says_key:
            lines.append(f"key = {list(self.key)}")
        if self.parent is None:
            lines.append(f'unit = "{self.unit}"')
        else:
            pairs = ", ".join(f'{own} = "{of}"' for own, of in self.on)
            lines += [f'belongs_to = "{self.parent.name}"', f"on = {{ {pairs} }}"]
        lines += [f"[{path}columns.{self.number}]", 'bounds = "[0, 3] step 1"']
        lines += [f"[{path}columns.{self.kind}]", f"keys = {KINDS}", f"[{path}columns.{self.note}]", "text = true"]
        return "\n".join(lines)


@dataclass
class Schema:
    """The tables of a contract."""

    tables: list[PrivateTable]
    """The first is that of [dataset]."""
    public: list[str] = field(default_factory=list)

    @property
    def contract(self) -> str:
        """The contract's text."""
        said = [table.said(place == 0) for place, table in enumerate(self.tables)]
        return "\n".join([*said, *(PUBLIC[name].contract for name in self.public), "[budget]\ntotal = 1000000\n"])


# Public tables.


@dataclass(frozen=True)
class PublicRows:
    """A public table: what the contract says, and its rows."""

    contract: str
    select: str
    """Its rows, in DuckDB."""
    file: str
    joined: str
    """What joins it to a table, {k} its column of categories and {v} that of numbers."""
    number: str
    label: str | None = None


PUBLIC = {
    "small": PublicRows(
        '[tables.small]\nsource = "small.csv"\npublic = true\nkey = "code"\n[tables.small.columns.beds]\n'
        'bounds = "[0, 3] step 1"\n[tables.small.columns.area]\nkeys = ["x", "y"]',
        "SELECT * FROM (VALUES ('a', 3, 'x'), ('b', 2, 'y'), ('other', 1, 'x')) t(code, beds, area)",
        "small.csv",
        "{k} = {p}.code",
        "beds",
        "area",
    ),
    "often": PublicRows(
        '[tables.often]\nsource = "often.parquet"\npublic = true',
        "SELECT * FROM (VALUES ('a', 3), ('a', 3), ('a', 0), ('b', 1), (NULL, 2)) t(sort, rate)",
        "often.parquet",
        "{k} = {p}.sort",
        "rate",
        "sort",
    ),
    "double": PublicRows(
        '[tables.double]\nsource = "double.parquet"\npublic = true\nkey = ["form", "step"]',
        "SELECT * FROM (VALUES ('a', 3, 5), ('a', 1, 2), ('b', 3, 0), ('c', 0, 1)) t(form, step, gain)",
        "double.parquet",
        "{k} = {p}.form AND {v} = {p}.step",
        "gain",
        "form",
    ),
    "large": PublicRows(
        '[tables.large]\nsource = "large.parquet"\npublic = true\nkey = "place"',
        f"SELECT i AS place, i % 4 AS worth FROM range({MANY}) t(i)",
        "large.parquet",
        "{v} = {p}.place",
        "worth",
    ),
}
"""With a key and small, with rows that repeat, with a key of two columns, and large: constants first, else in place."""


def write_public(folder: Path) -> None:
    """Write the files of all public tables."""
    for public in PUBLIC.values():
        how = "(FORMAT csv, HEADER)" if public.file.endswith("csv") else "(FORMAT parquet)"
        duckdb.sql(f"COPY ({public.select}) TO '{folder / public.file}' {how}")


# Random tables and rows.


def random_schema(dice: Dice) -> Schema:
    """Return a tree of up to five tables, four deep at most, and perhaps another table of the same units."""
    tables = [_root(dice, "t0", "who")]
    for number in range(1, dice.number(2, 5)):
        near = [table for table in tables if _depth(table) < 3]
        parent = near[-1] if dice.chance(0.5) else dice.one(near)
        tables.append(_child(dice, f"t{number}", parent))
    if dice.chance(0.5):
        tables.append(_root(dice, "s0", dice.one(["who", "whose"])))
    if dice.chance(0.3):  # that of [dataset] need not be the root
        tables = [tables[1], tables[0], *tables[2:]]
    return Schema(tables, dice.some(list(PUBLIC), 3))


def _depth(table: PrivateTable) -> int:
    return 0 if table.parent is None else 1 + _depth(table.parent)


def _limit(dice: Dice) -> int:
    return int(dice.one([1, 1, 1, 2, 3]))


def _key(dice: Dice, name: str) -> tuple[str, ...]:
    return (f"id{name}", f"no{name}") if dice.chance(0.35) else (f"id{name}",)


def _root(dice: Dice, name: str, unit: str) -> PrivateTable:
    key = _key(dice, name)
    texts = frozenset(column for column in key if dice.chance(0.3))
    return PrivateTable(name, key, unit=unit, limit=_limit(dice), says_key=dice.chance(0.7), texts=texts)


def _child(dice: Dice, name: str, parent: PrivateTable) -> PrivateTable:
    """Return a table that refers to the key of another, to a part of it, to its unit, or to what it refers by."""
    referred = parent.key
    if parent.unit and dice.chance(0.25):
        referred = (parent.unit,)
    elif len(parent.key) > 1 and dice.chance(0.25):
        referred = parent.key[:1]
    elif parent.references and dice.chance(0.3):
        referred = tuple(dice.some(parent.matched, 2)) or parent.references[:1]
    same = dice.chance(0.5)
    on = tuple((of if same else f"r{name}{of}", of) for of in referred)
    key = _key(dice, name)
    texts = frozenset(column for column in (*key, *(own for own, _ in on)) if dice.chance(0.3))
    return PrivateTable(name, key, parent, on, "", _limit(dice), dice.chance(0.7), texts)


def random_rows(dice: Dice, schema: Schema) -> Rows:
    """Return a few rows for each table; mostly those with the first key are many."""
    many = dice.chance(0.7)
    rows: Rows = {}
    for table in schema.tables:
        some = [_random_row(dice, table) for _ in range(dice.number(0, 6))]
        if many:
            some += [_random_row(dice, table, KEYS[0]) for _ in range(dice.number(1, 4))]
        rows[table.name] = some
    return rows


def _random_row(dice: Dice, table: PrivateTable, key: Any = ...) -> Row:
    row: Row = {table.unit: dice.one(UNITS) if key is ... else UNITS[0]} if table.unit else {}
    for name in table.matched:
        value = dice.one([*KEYS, ORPHAN]) if key is ... else key
        row[name] = str(value) if name in table.texts and value is not None else value
    values: Sequence[Any] = [0, 3, 3, 3, 1, 2, -5, 7, None] if key is ... else [3, 3, 3, 1]
    row[table.number] = dice.one(values)
    row[table.kind] = dice.one([*KINDS, "a", "a", "elsewhere", None] if key is ... else ["a", "a", "b"])
    row[table.note] = dice.one(["ab", "ba", "a%b", "A_", "", None] if key is ... else ["ab", "a%b"])
    return row


def owners(schema: Schema, rows: Rows) -> dict[str, list[set[Any]]]:
    """Return the units that each row is of: those of all rows that it refers to."""
    found: dict[str, list[set[Any]]] = {}

    def find(table: PrivateTable) -> list[set[Any]]:
        if table.name not in found:
            found[table.name] = [_owners_of(table, row) for row in rows[table.name]]
        return found[table.name]

    def _owners_of(table: PrivateTable, row: Row) -> set[Any]:
        if table.parent is None:
            return {row[table.unit]} - {None}
        units: set[Any] = set()
        for above, own in zip(rows[table.parent.name], find(table.parent), strict=True):
            if all(_same(row[left], above[right]) for left, right in table.on):
                units |= own
        return units

    for table in schema.tables:
        find(table)
    return found


def _same(one: Any, other: Any) -> bool:
    """Return whether two keys are the same: a number and its digits are, and what is missing is not."""
    return one is not None and other is not None and str(one) == str(other)


def without(schema: Schema, rows: Rows, unit: Any) -> Rows:
    """Return the rows of a neighbour: those that are of one unit and no other are gone."""
    whose = owners(schema, rows)
    return {
        name: [row for row, own in zip(some, whose[name], strict=True) if own != {unit}] for name, some in rows.items()
    }


def fill(connection: duckdb.DuckDBPyConnection, place: str, schema: Schema, rows: Rows | None = None) -> None:
    """Make the tables of a schema in a schema of the database, with some rows."""
    for table in schema.tables:
        types = ", ".join(f"{name} {kind}" for name, kind in table.types.items())
        connection.execute(f"CREATE TABLE {place}{table.name} ({types})")
        some = [] if rows is None else rows[table.name]
        if some:
            tuples = ", ".join(f"({', '.join(text(row[name]) for name in table.types)})" for row in some)
            connection.execute(f"INSERT INTO {place}{table.name} VALUES {tuples}")
