"""Expressions in Python, put together with its operators.

    column("age") // 10 * 10
    column("price") * column("quantity")
    case((column("age") < 18, 0), otherwise=column("price"))

Here `==` makes a condition, so what it makes is kept apart from the tree itself, in which it tells what is equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.expressions import normal_form
from inbounds.query.expressions.arithmetic import Case, Operator
from inbounds.query.expressions.condition import MOST_NODES, And, Comparison, Condition, Like, Missing, is_in
from inbounds.query.expressions.functions import call, chain
from inbounds.query.expressions.node import ColumnRef, Constant, Node


@dataclass(frozen=True, eq=False)
class Expression:
    """A value computed from the columns of a row."""

    node: Node

    def __str__(self) -> str:
        return str(self.node)

    def __add__(self, other: object) -> Expression:
        return self._combine("+", other)

    def __radd__(self, other: object) -> Expression:
        return _operand(other)._combine("+", self)

    def __sub__(self, other: object) -> Expression:
        return self._combine("-", other)

    def __rsub__(self, other: object) -> Expression:
        return _operand(other)._combine("-", self)

    def __mul__(self, other: object) -> Expression:
        return self._combine("*", other)

    def __rmul__(self, other: object) -> Expression:
        return _operand(other)._combine("*", self)

    def __truediv__(self, other: object) -> Expression:
        return self._combine("/", other)

    def __rtruediv__(self, other: object) -> Expression:
        return _operand(other)._combine("/", self)

    def __floordiv__(self, other: object) -> Expression:
        return Expression(normal_form.floor_divide(self.node, _operand(other).node))

    def __neg__(self) -> Expression:
        return Expression(normal_form.negate(self.node))

    def __abs__(self) -> Expression:
        return self._call("ABS")

    def __floor__(self) -> Expression:
        return self._call("FLOOR")

    def __ceil__(self) -> Expression:
        return -(-self)._call("FLOOR")

    def __round__(self, digits: int = 0) -> Expression:
        return self._call("ROUND", digits)

    # Comparisons.

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        return self._compare("=", value)

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return self._compare("<>", value)

    def __lt__(self, value: object) -> Condition:
        return self._compare("<", value)

    def __le__(self, value: object) -> Condition:
        return self._compare("<=", value)

    def __gt__(self, value: object) -> Condition:
        return self._compare(">", value)

    def __ge__(self, value: object) -> Condition:
        return self._compare(">=", value)

    __hash__ = None  # type: ignore[assignment]

    def is_in(self, values: Iterable[object]) -> Condition:
        """Return the condition that it is one of some constants."""
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InvalidQuestion(f"is_in takes a list of constants, got {shown(values)}; put them in [ ]")
        return is_in(self._column, tuple(values))

    def between(self, low: object, high: object) -> Condition:
        """Return the condition that it is from `low` to `high`, both included."""
        return And((self._compare(">=", low), self._compare("<=", high)))

    def is_missing(self) -> Condition:
        """Return the condition that it is NULL or NaN, or not in the category list."""
        return Missing(self._column)

    def like(self, pattern: str, *, any_case: bool = False) -> Condition:
        """Return the condition that a category matches a pattern: `%` for any characters, `_` for one."""
        return Like(self._column, pattern, any_case)

    # What days and keys have, and what fills gaps.

    def part(self, name: str) -> Expression:
        """Return a part of a day: year, quarter, month, week (ISO), weekday (Monday is 0) or day.

        A time has these and hour, minute, second, and epoch, which is seconds since 1970.
        """
        return self._call(str(name).upper())

    def truncated(self, name: str) -> Expression:
        """Return the first day of the year, quarter, month or week (from Monday) that a day or a time lies in.

        A time can also be truncated to the day, the hour, the minute or the second.
        """
        return _operand(name)._call("DATE_TRUNC", self)

    def upper(self) -> Expression:
        """Return a category in upper case."""
        return self._call("UPPER")

    def lower(self) -> Expression:
        """Return a category in lower case."""
        return self._call("LOWER")

    def substr(self, start: int, length: int | None = None) -> Expression:
        """Return a part of a category: from a character on, counted from 1, and how many of them."""
        return self._call("SUBSTR", start, *(() if length is None else (length,)))

    def left(self, length: int) -> Expression:
        """Return the first characters of a category."""
        return self._call("LEFT", length)

    def right(self, length: int) -> Expression:
        """Return the last characters of a category."""
        return self._call("RIGHT", length)

    def length(self) -> Expression:
        """Return how many characters a category has."""
        return self._call("LENGTH")

    def joined(self, *others: object) -> Expression:
        """Return a category and others after it, as one text: `column("sex").joined("-", column("region"))`."""
        return Expression(chain([self.node, *(_operand(other).node for other in others)]))

    def null_if(self, value: object) -> Expression:
        """Return it, missing where it is some constant."""
        return self._call("NULLIF", value)

    def or_else(self, other: object) -> Expression:
        """Return it, or where it is missing, something else."""
        return self._call("COALESCE", other)

    def at_least(self, other: object) -> Expression:
        """Return the greater of it and another value."""
        return self._call("GREATEST", other)

    def at_most(self, other: object) -> Expression:
        """Return the lesser of it and another value."""
        return self._call("LEAST", other)

    @property
    def _column(self) -> Node:
        """The expression as a column that a condition is about."""
        return normal_form.limit_size(self.node)

    def _combine(self, operator: Operator, other: object) -> Expression:
        return Expression(normal_form.combine(operator, self.node, _operand(other).node))

    def _call(self, function: str, *others: object) -> Expression:
        return Expression(call(function, self.node, *(_operand(other).node for other in others)))

    def _compare(self, operator: Comparison, value: object) -> Condition:
        # A constant stays as it was given: the column that it is compared with knows how to read it.
        other = value.node if isinstance(value, Expression) else Constant(value)
        return normal_form.compare(self.node, operator, other)


def column(name: str) -> Expression:
    """Return a column, to be compared or computed with: `column("age") >= 65`, `column("age") // 10`."""
    if not isinstance(name, str):
        raise InvalidQuestion(f"the name of a column must be text, got {shown(name)}; name one from the contract")
    return Expression(ColumnRef(name))


def case(*branches: tuple[Condition, object], otherwise: object = None) -> Expression:
    """Return the expression of the first condition that is true: `case((column("age") < 18, 0), otherwise=1)`."""
    for branch in branches or (None,):
        pair: object = branch
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], Condition):
            raise InvalidQuestion(
                f"case takes pairs of a condition and an expression, got {shown(branch)}; write them like "
                "(column('age') < 18, 0)"
            )
    if len(branches) > MOST_NODES:
        raise InvalidQuestion(f"case may have at most {MOST_NODES} branches, got {len(branches)}; give fewer")
    values = tuple((test, _operand(value).node) for test, value in branches)
    return Expression(Case(values, None if otherwise is None else _operand(otherwise).node))


def _operand(value: object) -> Expression:
    """Return an expression, or a constant as one."""
    return value if isinstance(value, Expression) else Expression(normal_form.constant(value))
