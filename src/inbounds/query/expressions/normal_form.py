"""Expressions over the columns of a row, in the one form that they are kept in: constants computed, none divided by."""

from __future__ import annotations

import operator as operators
import re
from collections.abc import Callable
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeGuard

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import as_written, shown
from inbounds.query.expressions.arithmetic import Binary, Case, Operator
from inbounds.query.expressions.condition import Compare, Comparison, Condition
from inbounds.query.expressions.functions import call
from inbounds.query.expressions.node import Constant, Node

MOST_PARTS = 100
"""An expression over columns may have so many parts."""

ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

MIRRORED: dict[Comparison, Comparison] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

OPPOSITE: dict[Operator, Operator] = {"+": "-", "-": "+"}

COMPUTED: dict[Operator, Callable[[Any, Any], Any]] = {
    "+": operators.add, "-": operators.sub, "*": operators.mul, "/": operators.truediv,
}  # fmt: skip


def constant(value: object) -> Constant:
    """Return a constant to compute with: a number exactly, a text that is a day as that day."""
    if isinstance(value, str) and ISO_DAY.fullmatch(value):
        try:
            return Constant(date.fromisoformat(value))
        except ValueError:
            raise InvalidQuestion(f"{value} is not a date of the calendar; write it like '2026-12-31'") from None
    if isinstance(value, timedelta):
        return _interval(value)
    if isinstance(value, bool | str | date | time):
        return Constant(value)
    if isinstance(value, int | float | Decimal | Fraction):
        return Constant(_number(value))
    raise InvalidQuestion(f"columns can be computed with columns and constants, got {shown(value)}; give one of these")


def combine(operator: Operator, left: Node, right: Node) -> Node:
    """Return two expressions joined by + - * or /; constants are computed at once."""
    if _is_interval(left) and operator == "+":
        left, right = right, left
    if _is_interval(right) and right.value < timedelta(0) and operator in OPPOSITE:
        operator, right = OPPOSITE[operator], Constant(-right.value)
    a, b = left.number, right.number
    if operator == "/":
        if b is None:
            raise InvalidQuestion(
                f"{left} / {right} divides by a value that may be zero; divide by a constant, or ask for the two sums"
            )
        if b == 0:
            raise InvalidQuestion(f"{left} / 0 divides by zero; divide by another constant")
    if a is None or b is None:
        return Binary(operator, left, right)
    return Constant(_number(COMPUTED[operator](a, b)))


def floor_divide(left: Node, right: Node) -> Node:
    """Return how often a constant goes into an expression."""
    return call("FLOOR", combine("/", left, right))


def negate(this: Node) -> Node:
    """Return an expression with the other sign."""
    return combine("*", Constant(Fraction(-1)), this)


def compare(left: Node, operator: Comparison, right: Node) -> Compare:
    """Return a comparison with a constant; one of two columns compares their difference with zero."""
    if isinstance(right, Constant):
        return Compare(limit_size(left), operator, right)
    if isinstance(left, Constant):
        return Compare(limit_size(right), MIRRORED[operator], left)
    return Compare(limit_size(combine("-", left, right)), operator, Constant(Fraction(0)))


def limit_size(node: Node) -> Node:
    """Return an expression over columns; refuse one that is too large to be worked with."""
    if node.has_more_parts_than(MOST_PARTS):
        raise InvalidQuestion(f"an expression may have at most {MOST_PARTS} parts, got more; ask something simpler")
    return node


def indicator(node: Node) -> Condition | None:
    """Return the condition of `CASE WHEN condition THEN 1 ELSE 0 END`, the mean of which is a proportion."""
    if not isinstance(node, Case) or len(node.branches) != 1:
        return None
    ((test, value),) = node.branches
    return test if node.otherwise is not None and (value.number, node.otherwise.number) == (1, 0) else None


def _interval(value: timedelta) -> Constant:
    """Return an interval; whole days as their number, which days are moved by, too."""
    if not value % timedelta(days=1):
        return Constant(Fraction(value // timedelta(days=1)))
    if value % timedelta(milliseconds=1):
        raise InvalidQuestion(f"an interval must be in whole milliseconds, got {value}; round it")
    return Constant(value)


def _is_interval(node: Node) -> TypeGuard[Constant]:
    return isinstance(node, Constant) and isinstance(node.value, timedelta)


def _number(value: Any) -> Fraction:
    number = as_written(value, "a constant", InvalidQuestion)
    if max(abs(number.numerator), number.denominator) > 10**400:
        raise InvalidQuestion("a constant may have at most 400 digits; round it")
    return number
