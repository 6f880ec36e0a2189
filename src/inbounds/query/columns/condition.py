"""Which rows a question is about: a closed grammar that no row can make fail.

    column("age") >= 65
    (column("clinic") == "north") & ~column("age").is_missing()

Comparisons of a column with a constant, `in`, `between`, `like`, missing or not, and, or, not.  A column may be made of
columns; then it is named by its text in SQL (`Formula`).  As in SQL, what is missing
compares neither true nor false, and only rows for which a condition is true are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

from inbounds.bounds.notation import write_end
from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.columns.column import Column, Comparison

MOST_NODES = 500
"""A condition may have so many parts."""

MOST_DEPTH = 10
"""They may be nested so deep: databases and this package work through them on their stack."""


class Formula(str):
    """The name of a column that is made of columns: its text in SQL, which needs no quotes, and what it says."""

    expression: Any

    @classmethod
    def of(cls, expression: object) -> Formula:
        """Return the name of an expression."""
        found = cls(expression)
        found.expression = expression
        return found


class Condition:
    """A condition on one row."""

    def __and__(self, other: Condition) -> Condition:
        return joined(And, self, _condition(other))

    def __or__(self, other: Condition) -> Condition:
        return joined(Or, self, _condition(other))

    def __invert__(self) -> Condition:
        return Not(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("a condition has no truth value of its own; write & for and, | for or, ~ for not")

    def parts(self) -> tuple[Condition, ...]:
        """Return the conditions that this one is made of."""
        return ()

    def walk(self) -> Iterator[Condition]:
        """Yield this condition and all that it is made of."""
        waiting: list[Condition] = [self]
        while waiting:
            yield (found := waiting.pop())
            waiting.extend(found.parts())

    def settled_by(self) -> set[str]:
        """Return columns of which none can be missing where it is true: those of its comparisons, joined by AND."""
        return set()

    def conjuncts(self) -> tuple[Condition, ...]:
        """Return the conditions that must all be true: itself, or the parts of AND."""
        return (self,)

    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns that it looks at, each once, in order."""
        return tuple(sorted({part.column for part in self.walk() if isinstance(part, OfColumn)}))


@dataclass(frozen=True)
class OfColumn(Condition):
    """What conditions on one column share."""

    column: str


class ColumnTest(OfColumn):
    """A column compared with a constant, or with several, or with none: whether it is missing."""

    operator: Comparison = "="

    @property
    def constants(self) -> tuple[Any, ...]:
        """What the column is compared with."""
        return ()

    def codes(self, column: Column) -> tuple[Comparison, tuple[int, ...]]:
        """Return the same test of the column's code."""
        found = [column.against(self.operator, value) for value in self.constants]
        return found[0][0] if found else self.operator, tuple(number for _, number in found)

    def settled_by(self) -> set[str]:
        """Return the column, unless it is asked whether that is missing."""
        return {self.column} if self.constants else set()


@dataclass(frozen=True)
class Compare(ColumnTest):
    """A column compared with a constant."""

    operator: Comparison = field()
    value: Any

    @property
    def constants(self) -> tuple[Any, ...]:
        """The constant."""
        return (self.value,)

    def __str__(self) -> str:
        return f"{quoted(self.column)} {self.operator} {literal(self.value)}"


@dataclass(frozen=True)
class In(ColumnTest):
    """A column that is one of some constants."""

    values: tuple[Any, ...]

    @property
    def constants(self) -> tuple[Any, ...]:
        """The constants."""
        return self.values

    def __str__(self) -> str:
        return f"{quoted(self.column)} IN ({', '.join(map(literal, self.values))})"


@dataclass(frozen=True)
class Like(OfColumn):
    """A key that fits a pattern; with the public keys at hand it becomes a list of those that do."""

    pattern: str
    any_case: bool = False

    def among(self, keys: tuple[Any, ...]) -> Condition:
        """Return the condition that a column has one of those of its keys that fit."""
        if not isinstance(self.pattern, str):
            raise InvalidQuestion(f"LIKE takes text, got {shown(self.pattern)}; write it like 'n%'")
        if not isinstance(keys[0], str):
            raise InvalidQuestion(f"{self.column} holds no text, so LIKE does not apply; use = or IN")
        wanted = re.compile("".join(map(_wildcard, self.pattern)), re.DOTALL | re.IGNORECASE * self.any_case)
        found = tuple(key for key in keys if wanted.fullmatch(key))
        return In(self.column, found) if found else NothingLike(In(self.column, keys), self)

    def __str__(self) -> str:
        return f"{quoted(self.column)} {'ILIKE' if self.any_case else 'LIKE'} {literal(self.pattern)}"


@dataclass(frozen=True)
class Missing(ColumnTest):
    """A column that is missing: NULL, NaN, or no key."""

    def __str__(self) -> str:
        return f"{quoted(self.column)} IS NULL"


@dataclass(frozen=True)
class And(Condition):
    """All of some conditions."""

    all: tuple[Condition, ...]

    def parts(self) -> tuple[Condition, ...]:
        """Return the conditions that must all be true."""
        return self.all

    conjuncts = parts

    def settled_by(self) -> set[str]:
        """Return the columns of all comparisons."""
        return set().union(*(part.settled_by() for part in self.all))

    def __str__(self) -> str:
        return " AND ".join(f"({part})" for part in self.all)


@dataclass(frozen=True)
class Or(Condition):
    """Any of some conditions."""

    any: tuple[Condition, ...]

    def parts(self) -> tuple[Condition, ...]:
        """Return the conditions of which one must be true."""
        return self.any

    def __str__(self) -> str:
        return " OR ".join(f"({part})" for part in self.any)


@dataclass(frozen=True)
class Not(Condition):
    """The opposite of a condition."""

    this: Condition

    def parts(self) -> tuple[Condition, ...]:
        """Return the condition that must be false."""
        return (self.this,)

    def __str__(self) -> str:
        return f"NOT ({self.this})"


@dataclass(frozen=True)
class NothingLike(Not):
    """A pattern that no key fits, and a missing one neither: the same as none of the keys, and so written alike."""

    like: Like
    __str__ = Not.__str__


def joined(kind: type[And] | type[Or], *conditions: Condition) -> Condition:
    """Return all or any of some conditions; those that are of the same kind are taken apart."""
    parts = [part for one in conditions for part in (one.parts() if type(one) is kind else (one,))]
    return kind(tuple(parts))


def literal(value: object) -> str:
    """Write a constant as SQL does."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str | date):
        text = str(value).replace("'", "''")
        return f"'{text}'"
    if isinstance(value, int | Decimal | float):
        return str(value)
    if isinstance(value, Fraction):
        return write_end(value)
    return shown(value)


def quoted(name: str) -> str:
    """Write the name of a column as SQL does."""
    if isinstance(name, Formula):
        return str(name)
    if name.isidentifier():
        return name
    text = name.replace('"', '""')
    return f'"{text}"'


def _wildcard(character: str) -> str:
    """Return a character of a pattern as regular expressions have it."""
    return {"%": ".*", "_": "."}.get(character, re.escape(character))


def _condition(given: object) -> Condition:
    if not isinstance(given, Condition):
        raise InvalidQuestion(
            f"a condition can be joined with a condition only, got {shown(given)}; put each comparison in ( )"
        )
    return given
