"""Made-up rows of all private tables, from the contract and its public tables alone.

The tables that rows belong to come first.  A unit has from one row to about its row limit in each table, keys are
unique, keys lie within those that the contract says, and combinations that the contract rules out are not there.  A few
rows of a table that belongs to another refer to nothing there, as in real tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.columns.identifier import Identifier
from inbounds.query.practice.made_values import make_value, sql_type
from inbounds.query.practice.picker import Picker
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.table import Table

MOST_OF_A_UNIT = 12
"""A unit has at most so many rows, whatever its row limit is."""

MOST_KNOWN = 10_000
"""A public number of rows or units is kept to if it is at most this."""

ATTEMPTS = 50
"""A row that may not be there, or has the key of another, is made anew so often, and then left out."""

ORPHANS = 25
"""One in so many rows that belong to rows of another table belongs to none."""

ABSENT = 8
"""One in so many units has no rows in a table that does not list the units."""

Row = dict[str, Any]


@dataclass
class MadeTable:
    """The rows of one table, by columns, and whose they are."""

    types: Mapping[str, str]
    """The type of each column in DuckDB."""
    key: tuple[str, ...] = ()
    """The columns that tell its rows apart, if the contract says so."""
    rows: list[Row] = field(default_factory=list)
    units: list[int] = field(default_factory=list)
    """The unit of each row, counted from 0; -1 if it belongs to nobody."""

    def column(self, name: str) -> list[Any]:
        """Return the values of a column."""
        return [row[name] for row in self.rows]


def make_rows(tables: Tables, references: Mapping[str, Sequence[Any]], rows: int, seed: int) -> dict[str, MadeTable]:
    """Return made-up rows of all private tables, by name; `references` are keys of public tables, by table."""
    maker = _Maker(tables, references, rows, Picker(seed))
    for table in tables.private.values():
        maker.make(table)
    return {name: maker.made[name] for name in tables.private}


class _Maker:
    """Makes tables, each after the one that it belongs to."""

    def __init__(self, tables: Tables, references: Mapping[str, Sequence[Any]], rows: int, picker: Picker) -> None:
        self.tables, self.references, self.rows, self.picker = tables, references, rows, picker
        self.made: dict[str, MadeTable] = {}
        self.units = 0
        """How many units there are, once the first table is made."""
        self.root = tables.main
        while self.root.parent is not None:
            self.root = self.root.parent.table
        self.make(self.root)

    def make(self, table: Table) -> MadeTable:
        """Return the rows of a table."""
        if table.name not in self.made:
            above = None if table.parent is None else self.make(table.parent.table)
            self.made[table.name] = _fill(self, table, above)
        return self.made[table.name]


def _fill(maker: _Maker, table: Table, above: MadeTable | None) -> MadeTable:
    """Return a table row by row: a unit, the row that it belongs to, and values that fit both and each other."""
    picker = maker.picker.at(table.name)
    made = MadeTable(_types(table), table.key)
    owners = _owners(maker, table, above, picker)
    forced, seen = _forced_codes(table, len(owners), picker), set[tuple[Any, ...]]()
    for number, (unit, parent) in enumerate(owners):
        links = {} if above is None else _links(table, above, parent, number)
        for attempt in range(ATTEMPTS):
            codes = {name: codes[number] for name, codes in forced.items()}
            row = _make_row(maker, table, unit, links, codes, picker.at(number, attempt), number)
            if row is None or (key := tuple(row[name] for name in table.key)) in seen:
                continue
            if key:
                seen.add(key)
            made.rows.append(row)
            made.units.append(unit)
            break
    return made


def _types(table: Table) -> dict[str, str]:
    types = {}
    if not table.rows_are_units and table.parent is None:
        types[table.unit] = "BIGINT" if table.unit in table.whole else "VARCHAR"
    types |= {name: "BIGINT" if _is_whole(table, name) else "VARCHAR" for name in table.identifiers}
    return types | {name: sql_type(column) for name, column in table.stored.items()}


def _is_whole(table: Table, name: str) -> bool:
    """Return whether an identifier holds whole numbers: as the contract says of it, or of what it refers to."""
    if name in table.whole:
        return True
    parent = table.parent
    of = None if parent is None else dict(parent.on).get(name)
    if parent is None or of is None:
        return False
    if of in parent.table.stored:
        return sql_type(parent.table.stored[of]) == "BIGINT"
    return _is_whole(parent.table, of)


def _owners(maker: _Maker, table: Table, above: MadeTable | None, picker: Picker) -> list[tuple[int, int]]:
    """Return for each row its unit and the place of the row that it belongs to, -1 for none."""
    if table.rows_are_units:
        known = table.known.total if table.known.total is not None else table.units
        return [(number, -1) for number in range(maker.rows if known is None or known > MOST_KNOWN else known)]
    if above is None:
        return [(unit, -1) for unit in _units_of_rows(maker, table, picker)]
    places: dict[int, list[int]] = {}
    for place, unit in enumerate(above.units):
        if unit >= 0:
            places.setdefault(unit, []).append(place)
    owners = [
        (unit, picker.at("parent", number).one_of(places[unit]))
        for number, unit in enumerate(_units_of_rows(maker, table, picker, list(places)))
    ]
    is_orphan = (picker.at("orphan", number).below(ORPHANS) == 0 for number in range(len(owners)))
    return [(-1, -1) if orphan else owner for orphan, owner in zip(is_orphan, owners, strict=True)]


def _units_of_rows(maker: _Maker, table: Table, picker: Picker, units: Sequence[int] = ()) -> list[int]:
    """Return the unit of each row: of some units, or of all that there are; of the first table it decides these."""
    lists_units = table is maker.root
    wanted = maker.tables.main.units if lists_units else None
    known = wanted if wanted is not None and wanted <= MOST_KNOWN else None
    there = units or (range(maker.rows if known is None else known) if lists_units else range(maker.units))
    found: list[int] = []
    for unit in there:
        own = picker.at("unit", unit)
        if not lists_units and own.at("absent").below(ABSENT) == 0:
            continue
        # Where the number of units is public, each of them has a row, however few rows are wanted.
        spare = maker.rows - len(found) - (known - unit - 1 if known is not None else 0)
        if spare <= 0 and known is None:
            break
        found += [unit] * min(1 + own.below(min(table.limit, MOST_OF_A_UNIT)), max(spare, 1))
    if lists_units:
        maker.units = len(set(found))
    return found


def _links(table: Table, above: MadeTable, place: int, number: int) -> Row:
    """Return what the columns hold that refer to a row of another table, or to none there is."""
    assert table.parent is not None
    links: Row = {}
    for own, of in table.parent.on:
        if place >= 0:
            links[own] = above.rows[place][of]
        elif own in table.identifiers:
            links[own] = -number - 1 if _is_whole(table, own) else f"no {own} {number}"
    return links


def _forced_codes(table: Table, count: int, picker: Picker) -> dict[str, list[int]]:
    """Return the codes of columns whose numbers of rows are public, for each row, if all rows are made."""
    if table.known.total != count:
        return {}
    forced = {}
    for name, numbers in table.known.by.items():
        column = table.columns[name]
        codes = [code for code, number in numbers.items() for _ in range(number)]
        others = [code for code in range(column.size) if code not in numbers]
        rest = count - len(codes)
        if rest and not others:
            continue
        codes += [picker.at("rest", name, place).one_of(others) for place in range(rest)]
        forced[name] = picker.at("by", name).shuffled(codes)
    return forced


def _make_row(
    maker: _Maker, table: Table, unit: int, links: Row, codes: dict[str, int], picker: Picker, number: int
) -> Row | None:
    """Return a row; None if the contract says that such a row cannot be."""
    row: Row = {}
    if not table.rows_are_units and table.parent is None:
        row[table.unit] = unit + 1 if table.unit in table.whole else f"unit {unit + 1}"
    for name, identifier in table.identifiers.items():
        row[name] = links[name] if name in links else _identify(maker, table, identifier, picker, number)
    keys = {name: column for name, column in table.stored.items() if isinstance(column, Keys)}
    for name, column in keys.items():
        if name in links and (code := column.find(links[name])) is not None:
            codes[name] = code
    _pick_codes(keys, codes, picker)
    if any(all(codes.get(name) == code for name, code in zero.items()) for zero in table.known.zeros):
        return None
    row |= {name: column.keys[codes[name]] for name, column in keys.items()}
    for name, values in table.stored.items():
        if isinstance(values, Numbers):
            row[name] = links.get(name, make_value(values, picker.at(name)))
    return row


def _identify(maker: _Maker, table: Table, identifier: Identifier, picker: Picker, number: int) -> Any:
    """Return an identifier: a key of a public table, or one that no other row has."""
    if identifier.keys_of is not None and maker.references.get(identifier.keys_of):
        return picker.at(identifier.name).one_of(maker.references[identifier.keys_of])
    return number + 1 if _is_whole(table, identifier.name) else f"{identifier.name} {number + 1}"


def _pick_codes(keys: Mapping[str, Keys], codes: dict[str, int], picker: Picker) -> None:
    """Pick a key of each column that has none yet, so that each lies within the key that it must lie within."""
    # What is fixed says what it lies within; then from the outermost columns inwards.
    for name in list(codes):
        column = keys.get(name)
        while column is not None and (outer := keys.get(column.within or "")) is not None:
            codes[outer.name] = column.parents[codes[column.name]]
            column = outer
    for name, column in sorted(keys.items(), key=lambda item: _depth(keys, item[1])):
        if name not in codes:
            lies_in = codes.get(column.within or "")
            fitting = [code for code in range(column.size) if lies_in is None or column.parents[code] == lies_in]
            codes[name] = picker.at(name).one_of(fitting)


def _depth(keys: Mapping[str, Keys], column: Keys) -> int:
    depth = 0
    while (outer := keys.get(column.within or "")) is not None:
        column, depth = outer, depth + 1
    return depth
