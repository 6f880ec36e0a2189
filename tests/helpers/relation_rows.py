"""The rows of tables that are made of tables, in plain Python: what the statement must find, by another road."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date
from fractions import Fraction
from typing import Any

from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.expressions.raw import Raw
from inbounds.query.question.measure import Count
from inbounds.query.question.question import Question
from inbounds.query.tables.joined import Joined
from inbounds.query.tables.joining import Join, JoinPublic
from inbounds.query.tables.relation import UnitRows
from inbounds.query.tables.table import Table
from inbounds.query.tables.unit_measure import UnitMeasure
from tests.helpers.oracle import _Oracle, grain, value_at

Row = Mapping[str, Any]
Private = Mapping[str, Sequence[Row]]
"""The rows of each private table of a contract."""


def rows_of(table: Table, private: Private, public: Mapping[str, Mapping[str, Row]]) -> list[dict[str, Any]]:
    """Return the rows of a table: values that are possible, and None for what is missing."""
    relation = table.relation
    if relation is None:
        return [_possible(table, row) for row in private[table.name] if row[table.owner or ""] is not None]
    if isinstance(relation, UnitRows):
        return _unit_rows(relation, rows_of(relation.of, private, public))
    assert isinstance(relation, Joined)
    found = [
        {(relation.name, name): value for name, value in row.items()}
        for row in rows_of(relation.first, private, public)
    ]
    for join in relation.joins:
        others = _by_unit(join, private, public)
        found = [after for before in found for after in _joined(relation, join, before, others, public)]
    said = {(called, name): to for called, names in relation.names.items() for name, to in names.items()}
    said[relation.name, relation.unit or ""] = relation.unit or ""
    units = {
        Raw(label, "PRESENT").name: (name, label.removeprefix(f"{name}.")) for label, name in relation.matched.items()
    }
    return [
        {said[place]: value for place, value in row.items() if place in said}
        | {name: True if row.get(unit) is not None else None for name, unit in units.items()}
        for row in found
    ]


def _by_unit(join: Join | JoinPublic, private: Private, public: Any) -> Mapping[Any, list[Row]]:
    """Return the rows that are joined, by their unit; none of a public table."""
    found: dict[Any, list[Row]] = defaultdict(list)
    if isinstance(join, Join) and join.private is not None:
        for row in rows_of(join.private, private, public):
            found[row[join.owner or ""]].append(row)
    return found


def _joined(
    relation: Any, join: Any, before: dict[tuple[str, str], Any], others: Mapping[Any, list[Row]], public: Any
) -> list[Any]:
    if isinstance(join, JoinPublic):
        known = public[join.public.name].get(str(before[join.to, join.on]))
        if known is None:
            return [before | {(join.name, name): None for name in join.public.columns}] if join.keep else []
        return [before | {(join.name, name): value for name, value in known.items()}]
    assert isinstance(join, Join)
    unit = before[relation.name, relation.unit]
    same = others.get(unit, [])
    if not same and join.keep:
        same = [dict.fromkeys(join.table.columns)]
    return [before | {(join.name, name): value for name, value in row.items()} for row in same]


def _possible(table: Table, row: Row) -> dict[str, Any]:
    """Return a row with every value clipped and on its step."""
    oracle = _Oracle(Question(table, Count()), frozenset())
    found: dict[str, Any] = {table.owner or "": row[table.owner or ""]}
    for name, column in table.columns.items():
        index = oracle.index(column.node, row)
        if index is None:
            found[name] = None
        elif isinstance(column, Keys):
            found[name] = column.keys[index]
        else:
            found[name] = value_at(column, index)
    return found


def _unit_rows(relation: UnitRows, rows: Sequence[Row]) -> list[dict[str, Any]]:
    oracle = _Oracle(Question(relation.of, Count(), relation.condition), frozenset())
    units: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        if oracle.kept(row):
            units[row[relation.unit or ""]].append(row)
    made = [
        {relation.unit or "": unit}
        | {name: _made(relation, name, measure, of_unit) for name, measure in relation.measures.items()}
        for unit, of_unit in units.items()
    ]
    having = _Oracle(Question(relation.table, Count(), relation.having), frozenset())
    return made if relation.having is None else [row for row in made if having.kept(row)]


def _made(relation: UnitRows, name: str, measure: UnitMeasure, rows: Sequence[Row]) -> Any:
    if measure.column is None:
        return _clipped(relation.table.numbers(name), Fraction(len(rows)))
    oracle = _Oracle(Question(relation.of, Count()), frozenset())
    if measure.by is not None:
        return _first(measure, [(oracle.plain(measure.by, row), oracle.plain(measure.column, row)) for row in rows])
    values = [value for row in rows if (value := oracle.plain(measure.column, row)) is not None]
    if measure.function == "COUNT":
        return _clipped(relation.table.numbers(name), Fraction(len(values)))
    if measure.function == "COUNT DISTINCT":
        return Fraction(len(set(values)))
    if measure.function in ("MAX", "MIN"):
        return (max if measure.function == "MAX" else min)(values, default=None)
    return _added(relation, name, measure, values) if values else None


def _first(measure: UnitMeasure, pairs: Sequence[tuple[Any, Any]]) -> Any:
    """Return the value of the row with the least or the greatest of another; of several such rows, the least."""
    there = [pair for pair in pairs if None not in pair]
    if not there:
        return None
    at = (min if measure.function == "ARG_MIN" else max)(by for by, _ in there)
    return min(value for by, value in there if by == at)


def _added(relation: UnitRows, name: str, measure: UnitMeasure, values: Sequence[Any]) -> Any:
    assert measure.column is not None
    column = relation.of.column(measure.column)
    assert isinstance(column, Numbers)
    numbers = [Fraction(one.toordinal()) if isinstance(one, date) else one for one in values]
    total = sum(numbers, Fraction(0))
    if measure.function == "SUM":
        assert (total / grain(column)).denominator == 1
        return _clipped(relation.table.numbers(name), total)
    steps = math.floor((total / len(numbers) - column.low) / column.step + Fraction(1, 2))
    return value_at(column, steps)


def _clipped(column: Numbers, value: Fraction) -> Fraction:
    """Return the nearest step, half up, of a value within the ends."""
    within = max(column.low, min(column.high, value))
    return column.low + math.floor((within - column.low) / column.step + Fraction(1, 2)) * column.step
