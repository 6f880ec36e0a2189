"""Conditions: comparisons, lists, patterns, what is missing; and, or, not.

    column("age") >= 65
    (column("clinic") == "north") & ~column("age").is_missing()

On rows a column, stored or derived, is compared with constants, a closed grammar that no row can make fail; on an
answer anything released may be compared with anything.  As in SQL, what is missing compares neither true nor false,
and only rows for which a condition is true are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.expressions.arithmetic import Apart
from inbounds.query.expressions.node import Constant, Node, literal
from inbounds.query.expressions.raw import Raw

if TYPE_CHECKING:
    from inbounds.query.columns.column import Column

Comparison = Literal["=", "<>", "<", "<=", ">", ">="]

MOST_NODES = 500
"""A condition may have so many parts."""

MOST_DEPTH = 10
"""They may be nested so deep: databases and this package work through them on their stack."""


class Condition(Node):
    """What is true, false, or neither."""

    def __and__(self, other: Condition) -> Condition:
        return join_conditions(And, self, _condition(other))

    def __or__(self, other: Condition) -> Condition:
        return join_conditions(Or, self, _condition(other))

    def __invert__(self) -> Condition:
        return Not(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("a condition has no truth value of its own; write & for and, | for or, ~ for not")

    def conditions(self) -> tuple[Condition, ...]:
        """Return the conditions that this one joins, if it does."""
        return ()

    def rebuild(self, change: Callable[[Condition], Condition]) -> Condition:
        """Return it with each of the conditions that it joins changed."""
        return self

    def predicates(self) -> Iterator[Predicate]:
        """Yield the comparisons and the like that it joins."""
        for condition in self.conditions():
            yield from condition.predicates()

    def counted_parts(self) -> tuple[Node, ...]:
        """Return the conditions that it joins: what is compared does not count."""
        return self.conditions()

    def required(self) -> set[str]:
        """Return columns of which none can be missing where it is true: those of its comparisons, joined by AND."""
        return set()

    def conjuncts(self) -> tuple[Condition, ...]:
        """Return the conditions that must all be true: itself, or the parts of AND."""
        return (self,)

    def conjunct_texts(self) -> list[str]:
        """Return what must all be true, as SQL has it."""
        return [str(self)]

    def columns(self) -> tuple[Node, ...]:
        """Return the columns that it looks at, stored or derived, each once, in the order of their names."""
        return tuple(sorted({test.this for test in self.predicates()}, key=lambda column: column.name))


@dataclass(frozen=True)
class _OfValue(Condition):
    """What conditions on one value share."""

    this: Node


class Predicate(_OfValue):
    """A value compared with a constant, or with several, or with none: whether it is missing."""

    operator: Comparison = "="

    @property
    def constants(self) -> tuple[Any, ...]:
        """What it is compared with."""
        return ()

    def fit(self, column: Column) -> Condition:
        """Return it about a column, with its constants as that column writes them; refuse one that it cannot hold."""
        return replace(self, this=column.node)

    def parts(self) -> tuple[Node, ...]:
        """Return what is compared."""
        return (self.this,)

    def predicates(self) -> Iterator[Predicate]:
        """Yield itself."""
        yield self

    def required(self) -> set[str]:
        """Return the column, unless it is asked whether that is missing."""
        return {self.this.name} if self.constants else set()


@dataclass(frozen=True)
class Compare(Predicate):
    """A value compared with another; of a row, with a constant."""

    operator: Comparison = field()
    other: Node

    @property
    def value(self) -> Any:
        """The constant that a column is compared with."""
        assert isinstance(self.other, Constant)
        return self.other.value

    @property
    def constants(self) -> tuple[Any, ...]:
        """The constant."""
        return (self.value,)

    def fit(self, column: Column) -> Condition:
        """Return it about a column; refuse an order that keys do not have."""
        if not column.has_order and self.operator not in ("=", "<>"):
            raise InvalidQuestion(f"{column.name} is categorical and has no order; use =, <> or IN")
        return Compare(column.node, self.operator, Constant(column.constant(self.value)))

    def parts(self) -> tuple[Node, ...]:
        """Return both."""
        return self.this, self.other

    def __str__(self) -> str:
        if isinstance(self.this, Apart):
            return f"{self.this.left} {self.operator} {self.this.right}"
        if isinstance(self.this, Raw) and (self.operator, self.other) == ("=", Constant(True)):
            return str(self.this)  # which is a test
        other = literal(self.other.value) if isinstance(self.other, Constant) else str(self.other)
        return f"{self.this} {self.operator} {other}"


@dataclass(frozen=True)
class In(Predicate):
    """A value that is one of some constants."""

    options: tuple[Constant, ...]
    asked: Like | None = field(default=None, compare=False)
    """The pattern that was asked for, where these are all the keys that fit it."""

    @property
    def constants(self) -> tuple[Any, ...]:
        """The constants."""
        return tuple(option.value for option in self.options)

    def fit(self, column: Column) -> Condition:
        """Return it about a column; refuse a list that is empty or too long."""
        if self.asked is not None:
            return replace(self, this=column.node, asked=replace(self.asked, this=column.node))
        if not 1 <= len(self.options) <= MOST_NODES:
            raise InvalidQuestion(
                f"IN must list from 1 to {MOST_NODES} constants, got {len(self.options)}; list others"
            )
        return is_in(column.node, tuple(map(column.constant, self.constants)))

    def __str__(self) -> str:
        if self.asked is not None and len(self.options) > MOST_NODES:  # which could not be read again
            return str(self.asked)
        return f"{self.this} IN ({', '.join(map(literal, self.constants))})"


@dataclass(frozen=True)
class Like(Predicate):
    """A key that fits a pattern; with the public keys at hand it becomes a list of those that do."""

    pattern: str
    any_case: bool = False

    def fit(self, column: Column) -> Condition:
        """Return the condition that a column has one of those of its keys that fit."""
        keys = column.text_keys()
        if not isinstance(self.pattern, str):
            raise InvalidQuestion(f"LIKE takes text, got {shown(self.pattern)}; write it like 'n%'")
        if not isinstance(keys[0], str):
            raise InvalidQuestion(f"{self.this.name} holds no text, so LIKE does not apply; use = or IN")
        pattern = re.compile("".join(map(_wildcard, self.pattern)), re.DOTALL | re.IGNORECASE * self.any_case)
        fitting = tuple(key for key in keys if pattern.fullmatch(str(key)))
        if not fitting:  # a missing key fits neither, so this is the same as none of the keys
            return Not(is_in(self.this, keys, Like(self.this, "%")), asked=self)
        return is_in(self.this, fitting, self)

    def __str__(self) -> str:
        return f"{self.this} {'ILIKE' if self.any_case else 'LIKE'} {literal(self.pattern)}"


@dataclass(frozen=True)
class Missing(Predicate):
    """A value that is missing: NULL, NaN, or no key."""

    def __str__(self) -> str:
        of = self.this.text if isinstance(self.this, Raw) else self.this
        return f"{of} IS NULL"


@dataclass(frozen=True)
class And(Condition):
    """All of some conditions."""

    all: tuple[Condition, ...]

    def parts(self) -> tuple[Condition, ...]:
        """Return the conditions that must all be true."""
        return self.all

    conditions = conjuncts = parts

    def rebuild(self, change: Callable[[Condition], Condition]) -> Condition:
        """Return all of the conditions, changed."""
        return join_conditions(And, *map(change, self.all))

    def required(self) -> set[str]:
        """Return the columns of all comparisons."""
        return set().union(*(part.required() for part in self.all))

    def conjunct_texts(self) -> list[str]:
        """Return its parts; that a part of a text is one of a list is one of them."""
        return list(_write_all(self.all))

    def __str__(self) -> str:
        parts = self.conjunct_texts()
        return " AND ".join(f"({part})" for part in parts) if len(parts) > 1 else parts[0]


@dataclass(frozen=True)
class Or(Condition):
    """Any of some conditions."""

    any: tuple[Condition, ...]

    def parts(self) -> tuple[Condition, ...]:
        """Return the conditions of which one must be true."""
        return self.any

    conditions = parts

    def rebuild(self, change: Callable[[Condition], Condition]) -> Condition:
        """Return any of the conditions, changed."""
        return join_conditions(Or, *map(change, self.any))

    def __str__(self) -> str:
        return " OR ".join(f"({part})" for part in self.any)


@dataclass(frozen=True)
class Not(Condition):
    """The opposite of a condition."""

    this: Condition
    asked: Like | None = field(default=None, compare=False)
    """The pattern that was asked for, where no key fits it and this says the same."""

    def parts(self) -> tuple[Condition, ...]:
        """Return the condition that must be false."""
        return (self.this,)

    conditions = parts

    def rebuild(self, change: Callable[[Condition], Condition]) -> Condition:
        """Return the opposite of the condition, changed."""
        return replace(self, this=change(self.this))

    def __str__(self) -> str:
        return f"NOT ({self.this})"


def join_conditions(kind: type[And] | type[Or], *conditions: Condition) -> Condition:
    """Return all or any of some conditions; those that are of the same kind are taken apart."""
    apart = (condition.conditions() if type(condition) is kind else (condition,) for condition in conditions)
    parts = tuple(part for parts in apart for part in parts)
    return kind(parts) if len(parts) > 1 else parts[0]


def _write_all(parts: tuple[Condition, ...]) -> Iterator[str]:
    waiting = list(parts)
    while waiting:
        part = waiting.pop(0)
        listed = None if not waiting else _listed(part, waiting[0])
        if listed is not None:
            waiting.pop(0)
        yield str(part) if listed is None else listed


def _listed(present: Condition, among: Condition) -> str | None:
    """Return the list that a part of a text is one of, where two conditions say so: that it is there, and listed."""
    if not isinstance(present, Compare) or not isinstance(among, Not) or not isinstance(among.this, Missing):
        return None
    text, part = present.this, among.this.this
    if not isinstance(text, Raw) or not isinstance(part, Raw) or text.written != part.written:
        return None
    is_list = (text.function, part.function) == ("PRESENT", "PART")
    return f"{part.text} IN ({', '.join(map(literal, part.keys))})" if is_list else None


def conjuncts_of(condition: Condition | None) -> tuple[Condition, ...]:
    """Return the conditions that must all be true; none if there is no condition."""
    return () if condition is None else condition.conjuncts()


def is_in(this: Node, values: tuple[Any, ...], asked: Like | None = None) -> In:
    """Return the condition that something is one of some constants."""
    return In(this, tuple(map(Constant, values)), asked)


def _wildcard(character: str) -> str:
    """Return a character of a pattern as regular expressions have it."""
    return {"%": ".*", "_": "."}.get(character, re.escape(character))


def _condition(value: object) -> Condition:
    if not isinstance(value, Condition):
        raise InvalidQuestion(
            f"a condition can be joined with a condition only, got {shown(value)}; put each comparison in ( )"
        )
    return value
