"""What every engine offers: the kinds of its columns, and one statement run."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import ClassVar

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import cut


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
    INSTANT = "timestamps with a time zone"
    TIME = "times of day"
    INTERVAL = "intervals"
    UUID = "identifiers"
    NOTHING = "nothing but missing values"
    LIST = "lists"
    STRUCT = "structs"
    MAP = "maps"
    OTHER = "an unsupported type"
    CODE = "integers that a statement has made of a column"


class ColumnTypes(dict[str, Kind]):
    """What each column of a table holds, and what the database calls its type."""

    def __init__(self, kinds: Mapping[str, Kind], names: Mapping[str, str]) -> None:
        super().__init__(kinds)
        self.names = names


def describe_type(held: Mapping[str, Kind | None], name: str) -> str:
    """Say what a column of a table holds, with its type where words do not say it; without what a type lists."""
    kind = held[name]
    assert kind is not None
    if not isinstance(held, ColumnTypes) or name not in held.names or kind not in NAMED:
        return kind.value
    return f"{kind.value} ({cut(OF_ENUM.sub('', held.names[name]), LONGEST_TYPE)})"


def nested_kind(type_name: str) -> Kind:
    """Return whether a type holds several values in a row, by what a database calls it."""
    name = type_name.lower()
    if name.endswith("]") or name.startswith(("array", "list", "nested")):
        return Kind.LIST
    if name.startswith(("struct", "tuple", "record")):
        return Kind.STRUCT
    return Kind.MAP if name.startswith("map") else Kind.OTHER


@dataclass(frozen=True)
class Fields:
    """What a file or a frame holds before it is read as the contract says; lines that are no row are there, too."""

    relation: exp.Expr
    """With a column `w`, whether a line is a row, and for each column something that is NULL where nothing is."""
    names: dict[str, str]
    """What a column of the table is called there."""
    lost: int | None = None
    """How many lines of files cannot be read at all, and so are not there; None where there are no lines."""


NAMED = (Kind.TIMESTAMP, Kind.INSTANT, Kind.TIME, Kind.INTERVAL, Kind.LIST, Kind.STRUCT, Kind.MAP, Kind.OTHER)
"""What messages call by its type as well: of these, databases have several."""

OF_ENUM = re.compile(r"(?<=enum)(8|16)?\(.*\)", re.IGNORECASE | re.DOTALL)
"""The texts that a type of texts lists, which may be many."""

LONGEST_TYPE = 60

FIRST_DAY = exp.cast(exp.Literal.string("0001-01-01"), "DATE")


SEPARATORS = (",", ";", "|", "\t", "\x1f", "\x1e", *map(chr, range(0xE000, 0xF900)))
"""What may stand between the texts of a list that is one constant, the most readable first."""

LISTED, RESULT = "  listed", "  result"
"""What the columns of a list are called in which values are looked up: no other name in a statement begins so."""

ESCAPE = "!"
"""What stands before a character of a pattern that is to be taken as it is: left to themselves, engines differ."""


class Dialect:
    """The few expressions that engines do not share."""

    name: ClassVar[str]
    """What sqlglot calls it."""

    reads_twice: ClassVar[bool] = False
    """Whether a table that WITH names is read as often as it is named, and rows may come in between."""

    def total(self, value: exp.Expr) -> exp.Expr:
        """Return the sum of integers, in a type that does not overflow."""
        return exp.Sum(this=value)

    def small(self, value: exp.Expr, most: int) -> exp.Expr:
        """Return an integer from 0 on and below `most`, which may come as a double, in the type that is quickest."""
        assert most > 0
        return exp.TryCast(this=value, to=exp.DataType.build(exp.DataType.Type.BIGINT))

    def as_double(self, value: exp.Expr, kind: Kind) -> exp.Expr:
        """Return a number as a double, whatever its size."""
        return value.copy() if kind is Kind.FLOAT else exp.cast(value.copy(), exp.DataType.Type.DOUBLE)

    def text(self, value: str) -> exp.Expr:
        """Return a constant text."""
        return exp.Literal.string(value)

    def find_text(self, value: exp.Expr, texts: Sequence[str]) -> exp.Expr:
        """Return the place of a text in a list, counted from 0, NULL if it is not there or missing.

        A long list is one constant, cut by the engine: a constant or a branch for each text would take minutes to plan.
        """
        places = exp.Anonymous(this="RANGE", expressions=[exp.Literal.number(len(texts))])
        return _join_list(value, self.cut_list(texts), places)

    def pick_number(self, place: exp.Expr, numbers: Sequence[int]) -> exp.Expr:
        """Return the number at a place of a list, counted from 0, NULL if the place is missing."""
        places = exp.Anonymous(this="RANGE", expressions=[exp.Literal.number(len(numbers))])
        return exp.cast(_join_list(place, places, self.cut_list(list(map(str, numbers)))), "BIGINT")

    def cut_list(self, texts: Sequence[str]) -> exp.Expr:
        """Return a list of texts as one constant that is cut."""
        raise NotImplementedError

    def bytes_of(self, value: exp.Expr) -> exp.Expr:
        """Return a text that is compared by its bytes, whatever its collation: equal for one unit only."""
        return value.copy()

    def as_timestamp(self, value: exp.Expr) -> exp.Expr:
        """Return a timestamp as one that can be compared with any date."""
        return value.copy()

    def stored_time(self, name: str, kind: Kind, *, in_zone: bool) -> exp.Expr:
        """Return a time of the table as it can be compared: what a clock shows, or the moment itself for a zone."""
        assert isinstance(in_zone, bool)
        value = exp.column(exp.to_identifier(name, quoted=True))
        return self.as_timestamp(value) if kind is Kind.TIMESTAMP else value

    def moment(self, at: datetime, kind: Kind) -> exp.Expr:
        """Return a constant moment: as a clock shows it, or in UTC beside moments with a zone."""
        if kind is Kind.INSTANT:
            return exp.cast(exp.Literal.string(f"{at.isoformat(sep=' ')}+00:00"), "TIMESTAMPTZ")
        return exp.cast(exp.Literal.string(at.isoformat(sep=" ")), "TIMESTAMPNTZ")

    def microseconds(self, value: exp.Expr, since: datetime, kind: Kind) -> exp.Expr:
        """Return how many microseconds a moment is after another that is not later, as an integer."""
        raise NotImplementedError

    def clock_microseconds(self, value: exp.Expr) -> exp.Expr:
        """Return the microseconds since midnight of a time of day, as an integer."""
        raise NotImplementedError

    def interval_microseconds(self, value: exp.Expr) -> exp.Expr:
        """Return the microseconds of an interval, as an integer; a day has 24 hours in it, and a month 30 days."""
        raise NotImplementedError

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

    def plain_text(self, value: exp.Expr) -> exp.Expr:
        """Return a text that can be compared and matched with patterns, whatever its collation."""
        return value.copy()

    def rounded(self, value: exp.Expr, digits: int) -> exp.Expr:
        """Return a number of a public table rounded to so many digits."""
        return exp.Anonymous(this="ROUND", expressions=[value.copy(), exp.Literal.number(digits)])

    def like(self, value: exp.Expr, pattern: str) -> exp.Expr:
        """Return whether a text fits a pattern in which nothing escapes anything."""
        like = exp.Like(this=value.copy(), expression=self.text(pattern.replace(ESCAPE, ESCAPE * 2)))
        return exp.Escape(this=like, expression=exp.Literal.string(ESCAPE))

    def part_of_text(self, value: exp.Expr, part: Sequence[str | int]) -> exp.Expr:
        """Return a part of a text: from a character on, and so many of them."""
        return exp.Anonymous(this="SUBSTR", expressions=[value.copy(), *(exp.Literal.number(int(at)) for at in part)])

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


def _join_list(value: exp.Expr, keys: exp.Expr, results: exp.Expr) -> exp.Expr:
    """Return what a list has for a value, the first if it is there twice: the engine joins the list to the rows."""
    lists = {LISTED: keys, RESULT: results}
    unnested = [
        exp.alias_(exp.Anonymous(this="UNNEST", expressions=[of]), name, quoted=True) for name, of in lists.items()
    ]
    listed, result = (exp.column(exp.to_identifier(name, quoted=True)) for name in lists)
    rows = exp.select(*unnested).subquery(exp.to_identifier(LISTED, quoted=True))
    same = exp.EQ(this=listed, expression=value.copy())
    return exp.select(exp.Min(this=result)).from_(rows, copy=False).where(same, copy=False).subquery()


def join_texts(texts: Sequence[str]) -> tuple[str, str]:
    """Return texts as one, and what stands between them and in none of them."""
    used = set().union(*texts)
    separator = next((character for character in SEPARATORS if character not in used), None)
    if separator is None:
        raise InvalidQuestion(
            "a list of keys must leave one character of U+E000 to U+F8FF unused; leave out keys that hold all of them"
        )
    return separator.join(texts), separator


class Engine(ABC):
    """A table in some database."""

    dialect: Dialect

    has_collations = True
    """Whether texts of the table may be compared other than by their bytes."""

    statement_seconds: float | None = None
    """After so long a statement is stopped; None if it may take as long as it takes."""
    is_alone: ClassVar[bool] = False
    """Whether a table is copied to be read, so that no statement reads another one beside it."""

    @abstractmethod
    def kinds(self) -> dict[str, Kind]:
        """Return what each column of the table holds; looks at no row."""

    def column_names(self) -> list[str]:
        """Return what columns are called that a message may name."""
        return list(self.kinds())

    def explain_apart(self, other: Engine, own: str, name: str) -> str:
        """Say why one statement cannot read two tables, of these names, and what to do."""
        if self.is_alone or other.is_alone:
            return (
                f"tables of SQLite files are copied one by one, so {own!r} and {name!r} cannot be joined; convert them "
                "to DuckDB or parquet"
            )
        return (
            f"the tables of a contract must be where one statement can read them, and {name!r} is elsewhere than "
            f"{own!r}; bring them together"
        )

    @abstractmethod
    def relation(self, matched: Collection[str] = ()) -> exp.Expr:
        """Return what to select from; rows that lack one of the `matched` columns, all keys, need not be there."""

    def bytes_of(self, value: exp.Expr) -> exp.Expr:
        """Return a text of the table that is compared by its bytes."""
        return self.dialect.bytes_of(value)

    def fields(self) -> Fields | None:
        """Return what is in the table before it is read as the contract says, if it is; else None."""
        return None

    def declares_unique(self, columns: Collection[str]) -> bool | None:
        """Return whether the database declares that no two rows share these columns; None if it declares nothing."""
        assert columns
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
