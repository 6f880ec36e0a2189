"""Whether the columns of a table hold what the contract says; their types are no secret, their values are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Column, Numbers
from inbounds.query.columns.identifier import Identifier
from inbounds.query.columns.kind import CLOCK, DAY, NUMBER, TEXT_KEY, TIME, TRUTH_KEY, WHOLE_KEY
from inbounds.query.engines.engine import Kind, describe_type
from inbounds.query.tables.table import Table

NUMBERS = (Kind.FLOAT, Kind.INTEGER, Kind.DECIMAL, Kind.WIDE_DECIMAL)
FITTING = {
    NUMBER: NUMBERS,
    DAY: (Kind.DATE, Kind.TIMESTAMP),
    TIME: (Kind.TIMESTAMP,),
    CLOCK: (Kind.TIME,),
    TEXT_KEY: (Kind.TEXT,),
    WHOLE_KEY: (Kind.INTEGER,),
    TRUTH_KEY: (Kind.BOOLEAN,),
}
"""In which columns of a database values can be."""
IDENTIFIERS = (Kind.INTEGER, Kind.TEXT, Kind.UUID)
"""What rows are matched by: none of these fails to be compared, as it is or as text."""
UNITS = (Kind.TEXT, Kind.INTEGER, Kind.DECIMAL, Kind.WIDE_DECIMAL, Kind.UUID)

REMEDY = "change the contract, or convert the table"

OF_NESTED = {
    Kind.LIST: "make a column with one value first, in a view: its length, or one of its entries",
    Kind.STRUCT: "make a column of one of its fields first, in a view",
    Kind.MAP: "make a column of one of its entries first, in a view",
}
"""What to do about columns that hold several values in a row."""


MOST_NAMED = 20
"""So many columns of a table are named where one is missing."""


def check_kinds(table: Table, held: Mapping[str, Kind], there: Collection[str] | None = None) -> dict[str, Kind]:
    """Return what each column of the contract holds in the database; refuse a table that does not fit the contract.

    `there` are the columns that may be named where one is missing, those that are `held` if nothing else is said.  A
    column that says it holds nothing but missing values, as Arrow and polars have them, fits wherever it is.
    """
    fit = _Fit(table, held, held if there is None else there)
    kinds = {name: fit.check_column(name, column) for name, column in table.stored.items()}
    kinds |= {name: fit.check_identifier(identifier) for name, identifier in table.identifiers.items()}
    return kinds | {table.unit: fit.check_unit()} if fit.has_unit else kinds


def misfits(table: Table, held: Mapping[str, Kind], there: Collection[str] | None = None) -> dict[str, str]:
    """Return what is wrong with each column that does not hold what the contract says, the unit among them."""
    fit = _Fit(table, held, held if there is None else there)
    checks: dict[str, Callable[[], Kind]] = {
        name: partial(fit.check_column, name, column) for name, column in table.stored.items()
    }
    if fit.has_unit:
        checks[table.unit] = fit.check_unit
    checks |= {name: partial(fit.check_identifier, identifier) for name, identifier in table.identifiers.items()}
    problems: dict[str, str] = {}
    for name, check in checks.items():
        try:
            check()
        except InvalidQuestion as problem:
            problems[name] = str(problem)
    return problems


def remedy(column: Column, kind: Kind) -> str:
    """Say what to do about a column that is of another type than the contract says."""
    if kind is Kind.INSTANT and column.kind in (DAY, TIME):
        return 'say in the contract whose clock is read, such as timezone = "Europe/Zurich"'
    if kind is Kind.INTERVAL and column.kind == NUMBER:
        return 'say in the contract in which unit, such as duration = "min"'
    return OF_NESTED.get(kind, REMEDY)


def _fitting(column: Column) -> tuple[Kind, ...]:
    """Return in which columns of a database the values of a column can be."""
    if isinstance(column, Numbers) and column.zone is not None:
        return (Kind.INSTANT, Kind.TIMESTAMP)
    if isinstance(column, Numbers) and column.duration is not None:
        return (Kind.INTERVAL, *NUMBERS)
    return FITTING[column.kind]


@dataclass(frozen=True)
class _Fit:
    """Checks the columns of a table."""

    table: Table
    held: Mapping[str, Kind]
    there: Collection[str]

    @property
    def has_unit(self) -> bool:
        return not self.table.rows_are_units and self.table.parent is None

    def check_column(self, name: str, column: Column) -> Kind:
        kind, fitting = self.held.get(name), _fitting(column)
        if kind is None:
            raise self._refuse_missing(f"describes a column {name!r}")
        if kind is Kind.NOTHING:
            return fitting[0]
        if kind not in fitting:
            expected = "numbers" if fitting is NUMBERS else " or ".join(sorted(possible.value for possible in fitting))
            raise self._refuse(name, expected, remedy(column, kind))
        return kind

    def check_identifier(self, identifier: Identifier) -> Kind:
        kind, fitting = self.held.get(identifier.name), (Kind.TEXT,) if identifier.is_text else IDENTIFIERS
        if kind is None:
            raise self._refuse_missing(f"names {identifier.name!r}")
        if kind is Kind.NOTHING:
            return Kind.TEXT
        if kind not in fitting:
            expected = "text" if identifier.is_text else "whole numbers, text or identifiers"
            raise self._refuse(identifier.name, expected, OF_NESTED.get(kind, REMEDY))
        self._check_keys(identifier, kind)
        return kind

    def _check_keys(self, identifier: Identifier, kind: Kind) -> None:
        """Refuse a column that is declared to hold something else than the keys that it refers to.

        Files and frames are read as the contract says, so there the kinds are the same whatever rows hold.
        """
        is_said = identifier.name in self.table.whole and not identifier.has_whole_keys
        if identifier.has_whole_keys is None or is_said or identifier.has_whole_keys == (kind is Kind.INTEGER):
            return
        keys = "whole numbers" if identifier.has_whole_keys else "no whole numbers"
        raise InvalidQuestion(
            f"column {identifier.name!r} must hold what the keys of {identifier.keys_of!r} are, {keys}, but the table "
            f"{self.table.name!r} has {kind.value}; convert one of the two"
        )

    def check_unit(self) -> Kind:
        name = self.table.unit
        kind = self.held.get(name)
        if kind is None:
            raise self._refuse_missing(f"names {name!r} as the unit")
        if kind is Kind.NOTHING:
            return UNITS[0]
        if kind not in UNITS:
            raise InvalidQuestion(
                f"the unit {name!r} must be whole numbers or text, and the table {self.table.name!r} has "
                f"{describe_type(self.held, name)}; name another column, or convert it"
            )
        return kind

    def _refuse(self, name: str, expected: str, what_to_do: str) -> InvalidQuestion:
        got = describe_type(self.held, name)
        return InvalidQuestion(
            f"column {name!r} must hold {expected}, but the table {self.table.name!r} has {got}; {what_to_do}"
        )

    def _refuse_missing(self, said: str) -> InvalidQuestion:
        names = list(self.there)
        rest = ", …" if len(names) > MOST_NAMED else ""
        has = f"; it has {', '.join(names[:MOST_NAMED])}{rest}" if names else ""
        return InvalidQuestion(
            f"the contract {said}, but the table {self.table.name!r} has no such column{has}; {REMEDY}"
        )
