"""Expressions over what is released, in SELECT, HAVING and ORDER BY: read from SQL, with every kind checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal, NoReturn

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.answer.released.calls import FUNCTIONS, MOST_DIGITS, SAME, Call
from inbounds.query.answer.released.conditions import Between, Chosen, Compared, IsMissing, Joined, OneOf, Opposite
from inbounds.query.answer.released.expression import (
    Arithmetic,
    Constant,
    Key,
    Kind,
    Negative,
    Released,
    column_of,
    too_large,
)
from inbounds.query.columns.column import Keys
from inbounds.query.grammar.conditions import COMPARISONS
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.grammar.values import is_number, read_constant

OPERATORS: dict[type[exp.Expr], Literal["+", "-", "*", "/"]] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}

ORDERED: tuple[Kind, ...] = ("number", "day", "nothing")
"""What can be more or less than another."""


@dataclass(frozen=True)
class Scope:
    """A text, and what its calls and names stand for."""

    text: SqlText
    call: Callable[[exp.Expr], Released]
    """Reads a measure, and refuses what is none."""
    name: Callable[[exp.Column], Released]
    """Reads the name of a key, or of something selected."""
    key: Callable[[exp.Expr], Released | None]
    """Reads a key that is made of columns, if a node is one."""


def read_expression(scope: Scope, node: exp.Expr) -> Released:
    """Read an expression over released values."""
    return _sized(scope, node, _value(scope, node))


def read_having(scope: Scope, node: exp.Expr) -> Released:
    """Read a condition on released values."""
    return _sized(scope, node, _truth(scope, node))


def _sized(scope: Scope, node: exp.Expr, found: Released) -> Released:
    problem = too_large(found)
    if problem is not None:
        scope.text.refuse(node, problem)
    return found


def _value(scope: Scope, node: exp.Expr) -> Released:
    if (key := scope.key(node)) is not None:
        return key
    if isinstance(node, exp.Anonymous) and _function(node) in FUNCTIONS:
        return _call(scope, node)
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        return scope.name(node)
    if isinstance(node, exp.Literal | exp.Boolean) or _is_negative(node) or _is_day(node):
        return _constant(scope, node)
    reader = _VALUES.get(type(node))
    return scope.call(node) if reader is None else reader(scope, node)


def _function(node: exp.Expr) -> str:
    name = node.name.upper()
    return SAME.get(name, name)


def _paren(scope: Scope, node: exp.Expr) -> Released:
    scope.text.take(node, "this")
    return _value(scope, node.this)


def _null(scope: Scope, node: exp.Expr) -> Released:
    scope.text.take(node)
    return Constant(None)


def _arithmetic(scope: Scope, node: exp.Expr) -> Released:
    scope.text.take(node, "this", "expression")
    return Arithmetic(OPERATORS[type(node)], _number(scope, node.this), _number(scope, node.expression))


def _negative(scope: Scope, node: exp.Expr) -> Released:
    scope.text.take(node, "this")
    return Negative(_number(scope, node.this))


def _is_negative(node: exp.Expr) -> bool:
    return isinstance(node, exp.Neg) and is_number(node.this)


def _is_day(node: exp.Expr) -> bool:
    return isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DATE and isinstance(node.this, exp.Literal)


def _constant(scope: Scope, node: exp.Expr) -> Constant:
    found = Constant(read_constant(scope.text, node))
    return _day(scope, node, found) if _is_day(node) else found


def _day(scope: Scope, node: exp.Expr, text: Constant) -> Constant:
    try:
        return Constant(date.fromisoformat(str(text.value)))
    except ValueError:
        scope.text.refuse(node, f"{kind(node)} is not a date; write it like '2026-12-31'")


def _window(scope: Scope, node: exp.Expr) -> NoReturn:
    scope.text.refuse(
        node,
        "OVER is not supported; ask without it and compute it from the answer, which is free, or get totals with "
        "GROUP BY ROLLUP(…)",
    )


def _number(scope: Scope, node: exp.Expr) -> Released:
    found = _value(scope, node)
    if found.kind not in ("number", "nothing"):
        scope.text.refuse(node, f"a number is needed here, got {kind(node)}; compare it, or order by it")
    return found


def _call(scope: Scope, node: exp.Anonymous) -> Released:
    name = _function(node)
    known = FUNCTIONS[name]
    given = scope.text.arguments(node, known.most, known.like)
    if len(given) < known.least:
        scope.text.refuse(node, f"{name} takes {known.least} arguments, got {len(given)}; write it like {known.like}")
    if known.of_numbers:
        found = [_number(scope, one) for one in given]
    else:
        found = _alike(scope, given, [_value(scope, one) for one in given])
    if name == "ROUND" and len(found) > 1:
        digits = found[1].value if isinstance(found[1], Constant) else None
        if not isinstance(digits, int) or abs(digits) > MOST_DIGITS:
            scope.text.refuse(
                given[1], f"ROUND takes a whole number of digits up to {MOST_DIGITS}, got {kind(given[1])}; write one"
            )
    return Call(name, tuple(found))


def _case(scope: Scope, node: exp.Expr) -> Released:
    if node.this:
        scope.text.refuse(node.this, "CASE takes conditions here; write it like CASE WHEN COUNT(*) > 100 THEN 1 END")
    scope.text.take(node, "ifs", "default")
    conditions, values, default = [], [], node.args.get("default")
    for one in node.args["ifs"]:
        scope.text.take(one, "this", "true")
        conditions.append(_truth(scope, one.this))
        values.append(one.args["true"])
    nodes = [*values, *([] if default is None else [default])]
    found = _alike(scope, nodes, [_value(scope, one) for one in nodes])
    cases = tuple(zip(conditions, found, strict=False))
    return Chosen(cases, Constant(None) if default is None else found[-1])


def _alike(scope: Scope, nodes: list[exp.Expr], found: list[Released]) -> list[Released]:
    """Return values that can stand for each other: a text beside a day is one."""
    kinds = [one.kind for one in found]
    if "day" in kinds:
        found = [
            _day(scope, node, one) if isinstance(one, Constant) and one.kind == "text" else one
            for node, one in zip(nodes, found, strict=True)
        ]
    first = next((one.kind for one in found if one.kind != "nothing"), "nothing")
    for node, one in zip(nodes, found, strict=True):
        if one.kind not in (first, "nothing"):
            scope.text.refuse(node, f"{kind(node)} is a {one.kind}, but the other side is a {first}; write them alike")
    return found


def _truth(scope: Scope, node: exp.Expr) -> Released:
    reader = _TRUTHS.get(type(node))
    if reader is None:
        _refuse_no_truth(scope, node)
    return reader(scope, node)


def _refuse_no_truth(scope: Scope, node: exp.Expr) -> NoReturn:
    told = f"{kind(node)} is not a condition on released values"
    scope.text.refuse(node, f"{told}; use comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL")


def _paren_truth(scope: Scope, node: exp.Expr) -> Released:
    scope.text.take(node, "this")
    return _truth(scope, node.this)


def _not(scope: Scope, node: exp.Expr) -> Released:
    scope.text.take(node, "this")
    return Opposite(_truth(scope, node.this))


def _between(scope: Scope, node: exp.Expr) -> Released:
    scope.text.take(node, "this", "low", "high")
    this, low, high = _compared(scope, [node.this, node.args["low"], node.args["high"]], ordered=True)
    return Between(this, low, high)


def _is_null(scope: Scope, node: exp.Expr) -> Released:
    if not isinstance(node.expression, exp.Null):
        _refuse_no_truth(scope, node)
    scope.text.take(node, "this", "expression")
    scope.text.take(node.expression)
    return IsMissing(_value(scope, node.this))


def _comparison(scope: Scope, node: exp.Expr) -> Released:
    scope.text.take(node, "this", "expression")
    operator = COMPARISONS[type(node)]
    left, right = _compared(scope, [node.this, node.expression], ordered=operator not in ("=", "<>"))
    return Compared(left, operator, right)


def _joined(scope: Scope, node: exp.Expr) -> Released:
    """Read a chain of AND or OR; it is flattened, not recursed into."""
    parts, found = [node], []
    while parts:
        part = parts.pop()
        if type(part) is type(node):
            scope.text.take(part, "this", "expression")
            parts += [part.expression, part.this]
        else:
            found.append(_truth(scope, part))
    return Joined("AND" if isinstance(node, exp.And) else "OR", tuple(found))


def _one_of(scope: Scope, node: exp.Expr) -> Released:
    if not node.expressions:
        _refuse_no_truth(scope, node)
    scope.text.take(node, "this", "expressions")
    nodes = [node.this, *node.expressions]
    this, *values = _compared(scope, nodes, ordered=False)
    found = [one.value for one in values if isinstance(one, Constant) and one.value is not None]
    if len(found) < len(values):
        at = next(n for n, one in zip(node.expressions, values, strict=True) if getattr(one, "value", None) is None)
        scope.text.refuse(at, f"IN takes a list of constants, got {kind(at)}; write it like clinic IN ('a', 'b')")
    return OneOf(this, tuple(found))


def _compared(scope: Scope, nodes: list[exp.Expr], *, ordered: bool) -> list[Released]:
    """Return what is compared, if it can be."""
    found = [_value(scope, node) for node in nodes]
    for node, one in zip(nodes, found, strict=True):
        if one.kind == "bin":
            scope.text.refuse(node, f"the bins of {kind(node)} cannot be compared; choose its values in WHERE")
    found = _alike(scope, nodes, found)
    for node, one in zip(nodes, found, strict=True):
        if ordered and one.kind not in ORDERED:
            scope.text.refuse(node, f"{kind(node)} has no order to compare by; use =, <> or IN")
    if not ordered:
        _refuse_no_key(scope, nodes, found)
    if all(one.is_constant for one in found):
        scope.text.refuse(nodes[0], "this compares constants only; compare a measure or a category with them")
    return found


def _refuse_no_key(scope: Scope, nodes: list[exp.Expr], found: list[Released]) -> None:
    """Refuse a constant beside a key that no key is: it would be false without a word."""
    columns = [column_of(scope.text.columns, one.column) for one in found if isinstance(one, Key)]
    for column in columns:
        for node, one in zip(nodes, found, strict=True):
            if isinstance(column, Keys) and isinstance(one, Constant) and one.value is not None:
                try:
                    column.code(one.value)
                except InvalidQuestion as problem:
                    scope.text.refuse(node, str(problem))


def whole(text: SqlText, node: exp.Expr, what: str) -> int:
    """Return a whole number from 0 on."""
    found = read_constant(text, node)
    if isinstance(found, bool | str | Fraction) or found < 0:
        text.refuse(node, f"{what} takes a whole number, 0 or more, got {kind(node)}; write it like {what} 10")
    return found


Reader = Callable[[Scope, exp.Expr], Released]

_VALUES: dict[type[exp.Expr], Reader] = {
    exp.Paren: _paren,
    exp.Null: _null,
    exp.Neg: _negative,
    exp.Case: _case,
    exp.Window: _window,
    **dict.fromkeys(OPERATORS, _arithmetic),
}

_TRUTHS: dict[type[exp.Expr], Reader] = {
    exp.Paren: _paren_truth,
    exp.Not: _not,
    exp.And: _joined,
    exp.Or: _joined,
    exp.Between: _between,
    exp.In: _one_of,
    exp.Is: _is_null,
    **dict.fromkeys(COMPARISONS, _comparison),
}
