"""What every engine offers: the kinds of its columns, and one statement run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from sqlglot import exp


class Kind(Enum):
    """What a column of a table holds, as far as statements tell apart."""

    INTEGER = "integers"
    DECIMAL = "decimal numbers"
    WIDE_DECIMAL = "decimal numbers of more than 15 digits"
    FLOAT = "floating-point numbers"
    TEXT = "text"
    BOOLEAN = "true or false"
    DATE = "dates"
    TIMESTAMP = "timestamps without a time zone"
    UUID = "identifiers"
    NOTHING = "nothing but missing values"
    OTHER = "something else"
    CODE = "integers that a statement has made of a column"


@dataclass(frozen=True)
class Fields:
    """What a file or a frame holds before it is read as the contract says; lines that are no row are there, too."""

    relation: exp.Expr
    """With a column `w`, whether a line is a row, and for each column something that is NULL where nothing is."""
    names: dict[str, str]
    """What a column of the table is called there."""
    lost: int | None = None
    """How many lines of files cannot be read at all, and so are not there; None where there are no lines."""


FIRST_DAY = exp.cast(exp.Literal.string("0001-01-01"), "DATE")


class Dialect:
    """The few expressions that engines do not share."""

    name: ClassVar[str]
    """What sqlglot calls it."""

    def total(self, value: exp.Expr) -> exp.Expr:
        """Return the sum of integers, in a type that does not overflow."""
        return exp.Sum(this=value)

    def small(self, value: exp.Expr, most: int) -> exp.Expr:
        """Return an integer from 0 on and below `most`, which may come as a double, in the type that is quickest."""
        assert most > 0
        return exp.TryCast(this=value, to=exp.DataType.build("BIGINT"))

    def as_double(self, value: exp.Expr, kind: Kind) -> exp.Expr:
        """Return a number as a double, whatever its size."""
        return value.copy() if kind is Kind.FLOAT else exp.cast(value.copy(), "DOUBLE")

    def text(self, value: str) -> exp.Expr:
        """Return a constant text."""
        return exp.Literal.string(value)

    def bytes_of(self, value: exp.Expr) -> exp.Expr:
        """Return a text that is compared by its bytes, whatever its collation: equal for one unit only."""
        return value.copy()

    def as_timestamp(self, value: exp.Expr) -> exp.Expr:
        """Return a timestamp as one that can be compared with any date."""
        return value.copy()

    def days(self, later: exp.Expr, earlier: exp.Expr) -> exp.Expr:
        """Return how many days one date is after another."""
        return exp.Sub(this=later.copy(), expression=earlier.copy())

    def divide(self, value: exp.Expr, by: exp.Expr) -> exp.Expr:
        """Return how often an integer goes into another, neither of them negative."""
        return exp.IntDiv(this=value.copy(), expression=by.copy())

    def day_at(self, number: exp.Expr) -> exp.Expr:
        """Return the day of a number, counted from 1 for the first of the calendar."""
        days = exp.Sub(this=exp.paren(number.copy()), expression=exp.Literal.number(1))
        return exp.Add(this=FIRST_DAY.copy(), expression=exp.cast(days, "INT"))

    def day_number(self, day: exp.Expr) -> exp.Expr:
        """Return the number of a day."""
        return exp.Add(this=self.days(day, FIRST_DAY), expression=exp.Literal.number(1))

    def part_of_day(self, name: str, day: exp.Expr) -> exp.Expr:
        """Return a part of a day as an integer of 64 bits."""
        return exp.cast(exp.Extract(this=exp.var(name), expression=day.copy()), "BIGINT")

    def weekday(self, day: exp.Expr) -> exp.Expr:
        """Return the weekday of a day, 0 for Monday."""
        return exp.Sub(this=self.part_of_day("ISODOW", day), expression=exp.Literal.number(1))

    def first_of_month(self, year: exp.Expr, month: exp.Expr) -> exp.Expr:
        """Return the first day of a month."""
        parts = [exp.cast(part.copy(), "INT") for part in (year, month)]
        return exp.Anonymous(this="MAKE_DATE", expressions=[*parts, exp.Literal.number(1)])

    def render(self, statement: exp.Expr) -> str:
        """Write a statement."""
        return statement.sql(dialect=self.name)


class Engine(ABC):
    """A table in some database."""

    dialect: Dialect

    statement_seconds: float | None = None
    """After so long a statement is stopped; None if it may take as long as it takes."""

    @abstractmethod
    def kinds(self) -> dict[str, Kind]:
        """Return what each column of the table holds; looks at no row."""

    @abstractmethod
    def relation(self) -> exp.Expr:
        """Return what to select from."""

    def bytes_of(self, value: exp.Expr) -> exp.Expr:
        """Return a text of the table that is compared by its bytes."""
        return self.dialect.bytes_of(value)

    def fields(self) -> Fields | None:
        """Return what is in the table before it is read as the contract says, if it is; else None."""
        return None

    def reads(self, other: Engine) -> bool:
        """Return whether a statement that runs here can select from the other table as well."""
        return type(self) is type(other) and self._where == other._where

    @property
    def _where(self) -> object:
        """What tables must share to be read by one statement."""
        return self

    @abstractmethod
    def run(self, statement: str) -> list[tuple[int, ...]]:
        """Return the rows of a statement, integers all."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what was opened."""
