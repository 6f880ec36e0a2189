"""Whether the columns of a table hold what the contract says; their types are no secret, their values are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Column
from inbounds.query.columns.kind import DAY, NUMBER, TEXT_KEY, TRUTH_KEY, WHOLE_KEY
from inbounds.query.engines.engine import Kind
from inbounds.query.tables.table import Table

NUMBERS = (Kind.FLOAT, Kind.INTEGER, Kind.DECIMAL, Kind.WIDE_DECIMAL)
FITTING = {
    NUMBER: NUMBERS,
    DAY: (Kind.DATE, Kind.TIMESTAMP),
    TEXT_KEY: (Kind.TEXT,),
    WHOLE_KEY: (Kind.INTEGER,),
    TRUTH_KEY: (Kind.BOOLEAN,),
}
"""In which columns of a database values can be."""
UNITS = (Kind.TEXT, Kind.INTEGER, Kind.DECIMAL, Kind.WIDE_DECIMAL, Kind.UUID)

REMEDY = "change the contract, or convert the table"


def check_kinds(table: Table, held: Mapping[str, Kind]) -> dict[str, Kind]:
    """Return what each column of the contract holds in the database; refuse a table that does not fit the contract.

    A column that says it holds nothing but missing values, as Arrow and polars have them, fits wherever it is.
    """
    kinds = {name: _check_column(name, column, held) for name, column in table.stored.items()}
    return kinds if table.rows_are_units else kinds | {table.unit: _check_unit(table.unit, held)}


def misfits(table: Table, held: Mapping[str, Kind]) -> dict[str, str]:
    """Return what is wrong with each column that does not hold what the contract says, the unit among them."""
    problems: dict[str, str] = {}
    for name, column in table.stored.items():
        try:
            _check_column(name, column, held)
        except InvalidQuestion as problem:
            problems[name] = str(problem)
    try:
        check_kinds(replace(table, columns={}), held)
    except InvalidQuestion as problem:
        problems[table.unit] = str(problem)
    return problems


def _check_column(name: str, column: Column, held: Mapping[str, Kind]) -> Kind:
    kind, fitting = held.get(name), FITTING[column.kind]
    if kind is None:
        raise InvalidQuestion(f"the contract describes a column {name!r}, but the table has none; {REMEDY}")
    if kind is Kind.NOTHING:
        return fitting[0]
    if kind not in fitting:
        expected = "numbers" if fitting is NUMBERS else " or ".join(sorted(possible.value for possible in fitting))
        raise InvalidQuestion(f"column {name!r} must hold {expected}, but the table has {kind.value}; {REMEDY}")
    return kind


def _check_unit(name: str, held: Mapping[str, Kind]) -> Kind:
    kind = held.get(name)
    if kind is None:
        raise InvalidQuestion(f"the contract names {name!r} as the unit, but the table has no such column; {REMEDY}")
    if kind is Kind.NOTHING:
        return UNITS[0]
    if kind not in UNITS:
        raise InvalidQuestion(
            f"the unit {name!r} must be whole numbers or text, and the table has {kind.value}; name another column, or "
            "convert it"
        )
    return kind
