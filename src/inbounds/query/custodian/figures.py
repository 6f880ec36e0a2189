"""The figures that a custodian sees of a table: of its units, of each kind of column, and of what the contract says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class LimitFigures:
    """What a row limit takes away."""

    limit: int
    rows: int
    """How many rows are beyond it: what they would add to a count, and do not."""
    units: int
    """How many units have more rows."""


@dataclass(frozen=True)
class UnreadFigures:
    """How many values of a column are there, and are not what the contract says."""

    column: str
    """Its name; empty for whole lines of csv files that are no row."""
    unread: int
    values: int
    """How many are there, read or not."""

    @property
    def share(self) -> Fraction:
        """Which part of them is not read."""
        return Fraction(self.unread, max(1, self.values))


@dataclass(frozen=True)
class UnitsFigures:
    """Whose rows they are, and what limits on their number do."""

    column: str
    units: int
    rows: int
    """How many rows have a unit; one that has several is counted for each."""
    rows_without: int
    """How many rows have no unit; they never count."""
    most: int
    """How many rows the unit has that has most."""
    limit: LimitFigures
    """What the contract's limit does."""
    others: tuple[LimitFigures, ...]
    """What other limits would do, up to the first that takes nothing away."""
    unread: int | None = None
    """How many rows without a unit have something in its place that tells nobody apart."""


@dataclass(frozen=True)
class KeyFigures:
    """The columns that the contract calls the key of a table, and whether they tell its rows apart."""

    columns: tuple[str, ...]
    missing: int
    """How many rows have none."""
    repeated: int
    """How many values of it are in more than one row."""
    rows: int
    """How many rows have one of these."""
    shared: int | None
    """How many values are in rows of several units; None if units are not known."""
    declared: bool | None
    """Whether the database declares that it is unique; None if it declares nothing of the kind."""


@dataclass(frozen=True)
class ReferenceFigures:
    """What the rows of a table find in the table that they belong to."""

    table: str
    on: tuple[tuple[str, str], ...]
    missing: int
    """How many rows refer to nothing, for a value is missing."""
    unmatched: int
    """How many refer to a row that is not there, or that is itself nobody's."""
    several: int
    """How many refer to rows of several units, and so belong to each of them."""


@dataclass(frozen=True)
class PublicFigures:
    """A public table, as the contract describes it or as it was read."""

    table: str
    rows: int
    key: tuple[str, ...]
    columns: int
    """How many columns have bounds or keys."""
    identifiers: int
    """How many others rows can be matched by."""
    digest: str


@dataclass(frozen=True)
class NumbersFigures:
    """The values of a column of numbers or days."""

    column: str
    bounds: str
    missing: int
    below: int
    """So many values are clipped to the least possible one."""
    above: int
    in_gaps: int | None
    """So many are between possible ones; None if there are too many gaps to look into."""
    unread: int | None = None
    """How many of the missing ones are there, and no number or day; None where a database says what they are."""


@dataclass(frozen=True)
class KeysFigures:
    """The values of a column of keys."""

    column: str
    keys: int
    missing: int
    rows: int
    """How many rows hold another value than a key; they fall in no group."""
    others: int
    """How many such values there are."""
    unused: int
    """How many keys have no row."""
    values: tuple[tuple[Any, int], ...] | None = None
    """The most frequent of the other values and their rows, if they were asked for."""
    unread: int | None = None


@dataclass(frozen=True)
class NoKeysFigures:
    """How many values of a column are no key, where that is most of them."""

    column: str
    others: int
    values: int
    """How many are there, keys or not."""


@dataclass(frozen=True)
class DerivedFigures:
    """The values of a column that the contract makes of others."""

    column: str
    made_of: str
    missing: int
    """How many rows have none: something that it is made of is missing there, or no key."""
    keys: int | None = None
    """How many keys it has; None if it holds numbers or days."""
    unused: int | None = None
    """How many of them have no row."""


@dataclass(frozen=True)
class KnownFigures:
    """A number of rows that the contract says is public, and how many there are."""

    of: str
    """The key or the keys that it is about; empty for all rows."""
    said: int
    rows: int
    at_most: bool = False
    """Whether the contract says that there are at most so many."""

    @property
    def agrees(self) -> bool:
        """Whether it is as the contract says."""
        return self.rows <= self.said if self.at_most else self.said == self.rows


@dataclass(frozen=True)
class WithinFigures:
    """Rows that are not where the map of a column within another says."""

    column: str
    within: str
    elsewhere: int
    """How many rows have another key there than the map says for theirs."""
    nowhere: int
    """How many rows have a key here, and nothing or no key there."""
