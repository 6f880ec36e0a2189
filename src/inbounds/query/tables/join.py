"""Joining in Python: the tables of a contract, by their names, put together along the keys that it declares.

`visits.join("stays")` says no more than that: rows are matched by what one table refers to the other with, else by the
unit.  Private rows that are matched are always of one unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inbounds.display.suggestion import find_nearest, suggest
from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.columns.condition_check import check_condition
from inbounds.query.columns.identifier import UNIT, Domain
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.qualified import rename_columns
from inbounds.query.grammar.rows import read_condition
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.join_order import in_order_as_written, put_in_order
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import Join, JoinPublic, Pair, Place, Semi
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.relation import Projected, UnitRows
from inbounds.query.tables.table import Table

On = str | Mapping[str, str]
"""A column, or for each column before the one of the table that is joined."""


def private_table(tables: Tables, name: object) -> Table:
    """Return a private table of a contract, by its name."""
    table = tables.private.get(str(name))
    if table is None:
        raise InvalidQuestion(tables.why_not(name))
    return table


@dataclass(frozen=True)
class Joining:
    """How a table is joined, as it was said."""

    on: On | None = None
    where: Condition | str | None = None
    name: str | None = None
    """What it is called, if not by its own name."""
    keep: bool = False
    semi: Semi = ""


def join_table(tables: Tables, table: Table, other: str | Table, said: Joining) -> Table:
    """Return a table with another one joined to it."""
    joined = _find_table(tables, other)
    name = joined.name if said.name is None else said.name
    if said.name is not None and isinstance(joined, Table):
        joined = _rename(joined, name)
    before = _Before.of(table)
    _check_names(before, joined, name)
    match = before.match(joined, name, said)
    join = match if said.where is not None or said.semi else _write_out(before, match)
    joins = (*before.joins, join)
    relation = put_in_order(before.name, before.first, joins)
    if said.where is None:
        return relation.table
    if name == relation.name and not _can_hold(relation, said.where):
        relation = in_order_as_written(before.name, before.first, joins)
    return _add_condition(relation, name, said.where).table


def _find_table(tables: Tables, other: object) -> Table | PublicTable:
    if isinstance(other, Table):
        return other
    public = tables.public.get(other) if isinstance(other, str) else None
    return private_table(tables, other) if public is None else public


def _check_names(before: _Before, joined: Table | PublicTable, name: object) -> None:
    """Refuse a name that stands for another table already, also inside what is joined."""
    if not isinstance(name, str) or not name:
        raise InvalidQuestion(f'a table is called by a text, got {shown(name)}; write it like name="b"')
    inner = [] if isinstance(joined, PublicTable) else [one for one in joined.names if one != joined.name]
    twice = next((one for one in (name, *inner) if one in before.names), None)
    if twice is not None:
        raise InvalidQuestion(f'{twice} is used twice; give it another name, as in name="{twice}_2"')


def _rename(table: Table, name: str) -> Table:
    """Return rows that are made of rows under another name; a table of the contract keeps its own."""
    if isinstance(table.relation, UnitRows | Projected):
        return replace(table.relation, name=name).table
    return table


def _write_out(before: _Before, join: Join) -> Join | JoinPublic:
    """Return a join by the one key of a small public table as such: its rows stand in the statement."""
    public, pair = join.table, join.pairs[0] if len(join.pairs) == 1 else None
    if not isinstance(public, PublicTable) or public.rows is None or public.identifiers or pair is None:
        return join
    if pair.right != public.key[0] or pair.left not in before.columns(pair.to):
        return join
    return JoinPublic(join.name, public, pair.to, pair.left, join.keep)


def _add_condition(relation: Joined, name: str, where: Condition | str) -> Joined:
    """Return a relation with a condition for one of its joins; what is looked for there goes by its own names first."""
    place = _place_of_condition(relation) if name == relation.name else _place_of(relation, name)
    join = relation.joins[place]
    assert isinstance(join, Join)
    join = replace(join, condition=_read(relation, join, where))
    return Joined(relation.name, relation.first, (*relation.joins[:place], join, *relation.joins[place + 1 :]))


def _read(relation: Joined, join: Join, where: Condition | str) -> Condition:
    scope = relation.scope(join)
    own = relation.names[join.name] if join.semi else {}
    condition: object = read_condition(where, scope, own) if isinstance(where, str) else where
    if own and isinstance(where, Condition):
        condition = rename_columns(where, own)
    return check_condition(scope, condition)


def _place_of(relation: Joined, name: str) -> int:
    return next(place for place, join in enumerate(relation.joins) if join.name == name)


def _place_of_condition(relation: Joined) -> int:
    """Return the last join of rows that must match: there, a condition leaves out rows as it would after all."""
    places = enumerate(relation.joins)
    return max(place for place, join in places if isinstance(join, Join) and not join.keep and not join.semi)


def _can_hold(relation: Joined, where: Condition | str) -> bool:
    """Return whether the tables that a condition is about have all been joined where it would stand."""
    place = _place_of_condition(relation)
    join = relation.joins[place]
    assert isinstance(join, Join)
    later = {label for join in relation.joins[place + 1 :] for label in relation.names[join.name].values()}
    columns = map(relation.table.column, _read(relation, join, where).columns())
    return not any(later & set(column.stored) for column in columns)


@dataclass(frozen=True)
class _Before:
    """What a table is joined to: a table, and what is joined to it already."""

    name: str
    first: Table
    joins: tuple[Join | JoinPublic, ...] = ()

    @classmethod
    def of(cls, table: Table) -> _Before:
        relation = table.relation
        if isinstance(relation, Joined):
            return cls(relation.name, relation.first, relation.joins)
        return cls(table.name, table)

    @property
    def names(self) -> list[str]:
        return [self.name, *(join.name for join in self.joins)]

    @property
    def tables(self) -> dict[str, Table | PublicTable]:
        """The tables whose columns a row has, by what they are called."""
        tables: dict[str, Table | PublicTable] = {self.name: self.first}
        for join in self.joins:
            if not join.semi:
                tables[join.name] = join.public if isinstance(join, JoinPublic) else join.table
        return tables

    def columns(self, name: str) -> Mapping[str, Any]:
        return self.tables[name].columns

    # What rows are matched by.

    def match(self, table: Table | PublicTable, name: str, said: Joining) -> Join:
        """Return a table joined by what was said, or by what the contract says."""
        join = Join(name, table, keep=said.keep, semi=said.semi, is_renamed=name != table.name)
        on: object = said.on
        if on is None:
            pairs = self._follow_key(table) if isinstance(table, PublicTable) else self._follow_reference(table, name)
        elif isinstance(on, str):
            pairs = [self._pair(on, _facing(table, on), table)]
        elif isinstance(on, Mapping) and on:
            pairs = [self._pair(left, right, table) for left, right in on.items()]
        else:
            raise InvalidQuestion(f'on takes a column, or columns by columns, got {shown(on)}; write on="stay_id"')
        if isinstance(table, PublicTable):
            return replace(join, pairs=tuple(pairs))
        of_units = [pair for pair in pairs if self._is_of_units(pair, table)]
        missing = [pair for pair in of_units if self._is_kept(pair.to)]
        if missing and not said.semi:
            raise InvalidQuestion(
                f"{missing[0].to}.{missing[0].left} is missing in rows without a match; join {name} to "
                f"{self.name}.{self.first.owner}"
            )
        others = [pair for pair in pairs if pair not in of_units]
        for pair in others:
            _refuse_unstored(self.tables[pair.to], pair.left)
            _refuse_unstored(table, pair.right)
        return self._tie(replace(join, pairs=(*missing, *others), by_unit=bool(of_units)))

    def _tie(self, join: Join) -> Join:
        """Return the join of a private table, by the unit too if nothing else says that rows are of one."""
        if self.first.owner is None or join.owner is None:
            return join  # which is refused
        is_tied = Joined(self.name, self.first, (*self.joins, replace(join, by_unit=True))).is_tied
        return join if is_tied(join) else replace(join, by_unit=True)

    def _is_of_units(self, pair: Pair, table: Table) -> bool:
        """Return whether a pair says that rows are of one unit; rows that belong to others have it in those only."""
        left = self.tables[pair.to]
        if not isinstance(left, Table) or pair.left != left.owner or pair.right != table.owner:
            return False
        if left.is_stored and table.is_stored:
            return True
        return not (_is_stored(left, pair.left) and _is_stored(table, pair.right))

    def _pair(self, left: object, right: object, table: Table | PublicTable) -> Pair:
        """Return a column of a table before and one of the table that is joined."""
        known = _names(table)
        if right not in known:
            raise InvalidQuestion(f"{table.name} has no column {shown(right)}; {suggest(right, known, 'it has')}")
        holders = list(self._holders(left))
        if not holders:
            names = [name for other in self.tables.values() for name in _names(other)]
            remedy = suggest(left, dict.fromkeys(names), "there are")
            raise InvalidQuestion(f"there is no column {shown(left)} to join {table.name} to; {remedy}")
        if len(holders) > 1 and not self._are_equal(holders):
            may_be = " or ".join(f"{to}.{own}" for to, own in holders)
            raise InvalidQuestion(f"{left} may be {may_be}; write one of them")
        return Pair(*holders[0], str(right))

    def _holders(self, name: object) -> Iterator[Place]:
        """Yield the tables that have a column, which may be told by both names."""
        for table, other in self.tables.items():
            for own in _names(other):
                if name in (own, f"{table}.{own}"):
                    yield table, own

    def _are_equal(self, columns: Sequence[Place]) -> bool:
        """Return whether columns are equal in every row, because tables are joined by them."""
        same = {columns[0]}
        for _ in self.joins:
            same.update(column for pair in self._pairs() if same & set(pair) for column in pair)
        return set(columns) <= same or all(self._is_unit(*column) for column in columns)

    def _is_unit(self, name: str, column: str) -> bool:
        table = self.tables[name]
        return isinstance(table, Table) and column == table.owner and not self._is_kept(name)

    def _is_kept(self, name: str) -> bool:
        """Return whether a row may have no match in a table."""
        return any(join.keep for join in self.joins if join.name == name)

    def _pairs(self) -> Iterator[tuple[Place, Place]]:
        """Yield the columns that are equal in every row."""
        for join in self.joins:
            if join.keep or join.semi:
                continue
            if isinstance(join, JoinPublic):
                yield (join.to, join.on), (join.name, join.public.key[0])
            else:
                yield from (((pair.to, pair.left), (join.name, pair.right)) for pair in join.pairs)

    def _follow_key(self, public: PublicTable) -> list[Pair]:
        """Return a public table's key with the columns of the same names."""
        if public.key and all(any(self._holders(name)) for name in public.key):
            return [self._pair(name, name, public) for name in public.key]
        on = f'on={{"…": "{public.names[0]}"}}' if len(public.key) != 1 else 'on="…"'
        by = f"by its key {', '.join(public.key)}" if public.key else "by one of its columns"
        raise InvalidQuestion(f"{public.name} is joined {by}; name the column that holds it: {on}")

    def _follow_reference(self, table: Table, name: str) -> list[Pair]:
        """Return how a table and those before refer to each other; nothing if they share the unit only."""
        found = []
        for to, other in self.tables.items():
            matched = _share(other, table) if isinstance(other, Table) else {}
            if matched and not (set(matched) == {UNIT} and self._is_kept(to)):  # others have the unit in every row
                found.append([Pair(to, left, right) for left, right in matched.values()])
        if not found:
            return []
        columns = [[(pair.to, pair.left) for pair in pairs] for pairs in found]
        if not all(
            len(one) == len(columns[0]) and all(map(self._are_equal, zip(columns[0], one, strict=True)))
            for one in columns
        ):
            may_be = " or ".join(dict.fromkeys(pairs[0].to for pairs in found))
            left = f"{found[0][0].to}.{found[0][0].left}"
            raise InvalidQuestion(
                f'{name} may go with {may_be}; say which, as in on={{"{left}": "{found[0][0].right}"}}'
            )
        return found[0]


def _names(table: Table | PublicTable) -> tuple[str, ...]:
    return table.names if isinstance(table, PublicTable) else _matchable(table)


def _matchable(table: Table) -> tuple[str, ...]:
    """Return the columns of a private table that rows may be matched by."""
    return tuple(dict.fromkeys((*table.columns, *table.identifiers, *([] if table.owner is None else [table.owner]))))


def _facing(table: Table | PublicTable, on: str) -> str:
    """Return the column that one before is equal to: the one key of a public table, else the one of the same name."""
    if isinstance(table, PublicTable) and len(table.key) == 1:
        return table.key[0]
    own = on.rpartition(".")[2]
    if own in _names(table):
        return own
    names = _names(table)
    other = (find_nearest(own, names) or [names[0] if isinstance(table, PublicTable) else names[-1]])[0]
    raise InvalidQuestion(
        f'{table.name} has no column {shown(own)}; say which one equals it, as in on={{"{on}": "{other}"}}'
    )


def _is_stored(table: Table | PublicTable, name: str) -> bool:
    """Return whether a column is one that rows can be matched by: not a unit that follows from other tables."""
    if isinstance(table, PublicTable) or name in table.columns or name in table.identifiers:
        return True
    return table.is_stored and name == table.owner


def _refuse_unstored(table: Table | PublicTable, name: str) -> None:
    if not _is_stored(table, name):
        raise InvalidQuestion(f"{name} is the unit of {table.name}, and no column of it; join it to a unit")


def _share(left: Table, right: Table) -> dict[Domain, tuple[str, str]]:
    """Return the columns by which one of two tables refers to the other, or both to a third, by what that is."""
    ours, theirs = _columns_by_domain(left), _columns_by_domain(right)
    for reference in (_reference(right), _reference(left)):
        if reference and reference <= set(ours) and reference <= set(theirs):
            return {domain: (ours[domain], theirs[domain]) for domain in sorted(reference)}
    return {}


def _reference(table: Table) -> frozenset[Domain]:
    """Return what the rows of a table refer to: those that they belong to, or the groups that they are made of."""
    if isinstance(table.relation, Joined):
        return _reference(table.relation.first)
    if table.relation is not None:
        return frozenset(identifier.domain for identifier in table.identifiers.values())
    return frozenset() if table.parent is None else frozenset(table.domain(own) for own, _ in table.parent.on)


def _columns_by_domain(table: Table) -> dict[Domain, str]:
    """Return the columns that refer to something, by what that is."""
    columns: dict[Domain, str] = {}
    for name, identifier in table.identifiers.items():
        columns.setdefault(identifier.domain, name)
    if table.is_stored and table.owner is not None:
        columns[table.domain(table.owner)] = table.owner
    return columns
