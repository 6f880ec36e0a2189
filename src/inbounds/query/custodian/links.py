"""Which tables lead to a unit: by what a database declares, and where it declares nothing, by what columns are called.

Names prove nothing.  So what follows from them is proposed, and the custodian decides.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from shlex import quote

from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.query.custodian.database import Database
from inbounds.query.custodian.draft import UNITS, looks_like_id, looks_like_somebody, split_words
from inbounds.query.engines.engine import Kind

MATCHED = (None, Kind.TEXT, Kind.INTEGER, Kind.UUID)
"""What rows can be matched by; None where a file has no types."""

ENDINGS = ("id", "key", "no", "nr", "num", "number", "code", "uuid", "guid", "uid", "pk")
"""What is behind the name of a thing in the name of its key; alone, it says nothing about which thing."""
ALONE = ("id", "key", "uuid", "guid", "uid", "pk")
"""What a key may be called in its own table."""
_INITIALS = re.compile(r"^[a-z]{1,2}_(?=.)")
"""What some databases put before all columns of a table."""
_SHORT = re.compile(r"(.{3,}?)_?(id|key)")
MOST_PROPOSED = 3
"""So many units are proposed where none is given."""


@dataclass(frozen=True)
class Unit:
    """The column that tells units apart, in the table that is asked about first."""

    table: str
    column: str
    is_everywhere: bool = False
    """Whether the custodian named the column alone, and so means it in every table that has it."""


@dataclass(frozen=True)
class Way:
    """How the rows of a table lead to a unit: a column that names it, or columns that refer to another table."""

    parent: str
    """The table that they refer to."""
    on: tuple[tuple[str, str], ...]
    """The columns, and those of the other table."""
    is_unit: bool
    """Whether what they refer to is the unit itself."""
    is_declared: bool
    """Whether the database declares it, or the custodian said so: names are only guessed by."""


@dataclass(frozen=True)
class Links:
    """How tables hang together, seen from a unit."""

    database: Database
    unit: Unit

    @classmethod
    def of(cls, database: Database, unit: str | None) -> Links:
        """Find the unit that a custodian names, as `table.column` or `column`, and what leads to it."""
        return cls(database, _find_unit(database, unit))

    @cached_property
    def keys(self) -> dict[str, tuple[str, ...]]:
        """What seems to tell the rows of each table apart; nothing, if neither a declaration nor a name says so."""
        return {name: key for name in self.database.tables if (key := find_key(self.database, name))}

    @cached_property
    def ways(self) -> dict[str, tuple[Way, ...]]:
        """The ways from each table to a unit, the shortest first; tables that do not lead there have none."""
        references = {name: list(self._references(name)) for name in self.database.tables if name != self.unit.table}
        depths = {self.unit.table: 0}
        _follow(references, depths)
        # What is left may share columns with a table that leads to a unit, and then so may its rows.
        while shared := {
            name: ways for name in references if name not in depths and (ways := list(self._shared(name, depths)))
        }:
            for name, ways in shared.items():
                references[name] += ways
            _follow(references, depths)
        return {
            name: tuple(
                sorted(
                    (way for way in references[name] if depths.get(way.parent, depth + 1) <= depth),
                    key=lambda way: (not way.is_unit, depths[way.parent]),
                )
            )
            for name, depth in depths.items()
            if name in references
        }

    @property
    def others(self) -> list[str]:
        """The tables from which no way to a unit was recognised."""
        return [name for name in self.database.tables if name != self.unit.table and name not in self.ways]

    def is_certain(self, table: str) -> bool:
        """Return whether there is one way from a table to a unit, and it is not guessed."""
        ways = self.ways[table]
        return len(ways) == 1 and ways[0].is_declared

    def referred(self, table: str, column: str) -> str | None:
        """Return the table that a column seems to refer to, of those that do not lead to a unit."""
        declared = self.database.references[table]
        for other in self.others:
            key = self.keys.get(other, ())
            if len(key) != 1 or other == table or self.database.tables[table].columns[column] not in MATCHED:
                continue
            is_declared = any((of.columns, of.table, of.to) == ((column,), other, key) for of in declared)
            if is_declared or (not declared and self._refers(table, column, other, key[0])):
                return other
        return None

    def _references(self, table: str) -> Iterator[Way]:
        """Yield what columns of a table refer to in others: as declared, if anything is, and else by their names."""
        unit = self.unit
        if unit.is_everywhere and unit.column in self.database.tables[table].columns:
            yield Way(unit.table, ((unit.column, unit.column),), is_unit=True, is_declared=True)
            return
        if self.database.references[table]:
            for reference in self.database.references[table]:
                is_unit = (reference.table, reference.to) == (unit.table, (unit.column,))
                on = tuple(zip(reference.columns, reference.to, strict=True))
                if reference.table != table:
                    yield Way(reference.table, on, is_unit=is_unit, is_declared=True)
            return
        yield from self._named(table)

    def _named(self, table: str) -> Iterator[Way]:
        """Yield what columns of a table refer to in others, judging by their names."""
        unit = self.unit
        for column in self.database.tables[table].columns:
            for other in self.database.tables:
                found = [to for to in self._targets(other) if other != table and self._refers(table, column, other, to)]
                if found:
                    is_unit = (other, found[0]) == (unit.table, unit.column)
                    yield Way(other, ((column, found[0]),), is_unit=is_unit, is_declared=False)

    def _shared(self, table: str, leading: Collection[str]) -> Iterator[Way]:
        """Yield what a table has in common with those that lead to a unit: a whole key, or a column like an id."""
        named = list(self._named(table))
        if self.database.references[table]:  # whose names were not looked at
            yield from (way for way in named if way.parent in leading)
        explained = {*self.keys.get(table, ()), *(own for way in named for own, _ in way.on)}
        for other in leading:
            equal = self._equal_columns(table, other)
            key = self.keys.get(other, ())
            if len(key) > 1 and set(key) <= set(equal.values()):
                yield Way(
                    other,
                    tuple((own, of) for of in key for own in equal if equal[own] == of),
                    is_unit=False,
                    is_declared=False,
                )
                continue
            for own, of in equal.items():
                if own not in explained and (_is_like_id(own) or _is_like_id(of)):
                    is_unit = (other, of) == (self.unit.table, self.unit.column)
                    yield Way(other, ((own, of),), is_unit=is_unit, is_declared=False)

    def _equal_columns(self, table: str, other: str) -> dict[str, str]:
        """Return the columns of a table that are called like those of another, which rows can be matched by."""
        columns, others = self.database.tables[table].columns, self.database.tables[other].columns
        names = {_flat(name): name for name, kind in reversed(list(others.items())) if kind in MATCHED}
        return {name: names[_flat(name)] for name, kind in columns.items() if kind in MATCHED and _flat(name) in names}

    def shared_names(self, table: str) -> dict[str, list[str]]:
        """Return the columns of a table that does not lead to a unit which those that do have, too, by these."""
        own = self.keys.get(table, ())
        shared = {
            other: [name for name in self._equal_columns(table, other) if name not in own]
            for other in (self.unit.table, *self.ways)
        }
        return {other: names for other, names in shared.items() if names}

    def _targets(self, table: str) -> list[str]:
        """Return the columns of a table that others may refer to: the unit first, and a key of one column."""
        key = self.keys.get(table, ())
        unit = [self.unit.column] if table == self.unit.table else []
        return list(dict.fromkeys([*unit, *(key if len(key) == 1 else ())]))

    def _refers(self, table: str, column: str, other: str, target: str) -> bool:
        kinds = self.database.tables[table].columns, self.database.tables[other].columns
        if kinds[0][column] not in MATCHED or kinds[1][target] not in UNITS:
            return False
        return refers(column, target, other if self.keys.get(other) == (target,) else None)


def find_key(database: Database, table: str) -> tuple[str, ...]:
    """Return the key of a table: the declared one, or the column that is called like it; nothing if there is none."""
    if database.keys[table]:
        return database.keys[table][0]
    columns = [name for name, kind in database.tables[table].columns.items() if kind in MATCHED]
    elsewhere = {_flat(stem) for other in database.tables if other != table for stem in _stems(other)}
    for is_key in (
        lambda name: _forms(name) & {_flat(stem + end) for stem in _stems(table) for end in ENDINGS},
        lambda name: _flat(name) in ALONE,
        lambda name: _forms(name) & set(map(_flat, _stems(table))),
        lambda name: _is_short_for(name, table, elsewhere),
    ):
        found = [name for name in columns if is_key(name)]
        if found:
            return (found[0],)
    return ()


def refers(column: str, target: str, table: str | None = None) -> bool:
    """Return whether a column seems to refer to another, the key of a table if one is named, by what it is called."""
    words, stems = split_words(column), set() if table is None else _stems(table)
    names = {f"{stem}_{end}" for stem in stems for end in ENDINGS}
    plain = _INITIALS.sub("", split_words(target), count=1)
    if _flat(plain) not in ENDINGS and len(plain) > 2:
        names.add(plain)
    if _flat(column) in {_flat(name) for name in (*names, *stems)}:
        return True
    return any(words.endswith(f"_{ending}") for name in names for ending in (name, _flat(name)))


def _follow(references: Mapping[str, list[Way]], depths: dict[str, int]) -> None:
    """Add the tables that refer to those that are there, and those that refer to them, and so on."""
    while near := [
        name for name, ways in references.items() if name not in depths and any(way.parent in depths for way in ways)
    ]:
        depth = max(depths.values()) + 1
        depths.update(dict.fromkeys(near, depth))


def _is_like_id(name: str) -> bool:
    """Return whether a name is that of something and what its key is called, such as stay_no."""
    stem, _, ending = split_words(name).rpartition("_")
    return bool(stem) and ending in ENDINGS


def _is_short_for(name: str, table: str, elsewhere: Collection[str]) -> bool:
    """Return whether a name is made of the beginning of a table's, and not of all of another's."""
    found = _SHORT.fullmatch(_INITIALS.sub("", split_words(name), count=1))
    return found is not None and found[1] not in elsewhere and any(stem.startswith(found[1]) for stem in _stems(table))


def _stems(table: str) -> set[str]:
    """Return what one row of a table may be called."""
    words = split_words(table)
    stems = {words}
    for ending, instead in (("s", ""), ("es", ""), ("ies", "y")):
        if words.endswith(ending) and len(words) > len(ending) + 1:
            stems.add(words[: -len(ending)] + instead)
    return stems


def _forms(name: str) -> set[str]:
    """Return a name in small letters, with and without the initials of its table."""
    words = split_words(name)
    return {_flat(words), _flat(_INITIALS.sub("", words, count=1))}


def _flat(name: str) -> str:
    return split_words(name).replace("_", "")


# The unit.


def _find_unit(database: Database, given: str | None) -> Unit:
    if given is None or not given.strip():
        raise InvalidParameter(
            f"{len(database.tables)} tables need a unit: the column that tells people apart; {_propose(database)}"
        )
    places = [name for name, schema in database.tables.items() if given in schema.columns]
    unit = None
    if places:
        unit = Unit(_choose_table(database, places, given), given, _flat(given) not in ENDINGS)
    else:
        for name, schema in database.tables.items():
            if given.startswith(f"{name}.") and given[len(name) + 1 :] in schema.columns:
                unit = Unit(name, given[len(name) + 1 :])
    if unit is None:
        raise InvalidParameter(f"no table has the unit {shown(given)}; {_propose(database)}")
    kind = database.tables[unit.table].columns[unit.column]
    if kind is not None and kind not in UNITS:
        raise InvalidParameter(
            f"a unit must be whole numbers or text, and {unit.table}.{unit.column} holds {kind.value}; name another "
            "column"
        )
    return unit


def _choose_table(database: Database, places: list[str], column: str) -> str:
    """Return the table that seems to list the units, of those that name them."""
    listing = [name for name in places if find_key(database, name) == (column,)]
    return (listing or places)[0]


def _propose(database: Database) -> str:
    """Say how a unit is given: by the keys of tables that seem to list people, if there are any."""
    keys = [(name, key[0]) for name in database.tables if len(key := find_key(database, name)) == 1]
    ids = [
        (name, column) for name, schema in database.tables.items() for column in filter(looks_like_id, schema.columns)
    ]
    people = [(name, column) for name, column in keys if any(map(looks_like_somebody, (*_stems(name), column)))]
    found = [f"--unit {quote(f'{name}.{column}')}" for name, column in people or keys or ids if column.isprintable()]
    return f"give it, such as {' or '.join(found[:MOST_PROPOSED])}" if found else "give it as --unit TABLE.COLUMN"
