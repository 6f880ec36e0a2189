"""Columns made of columns in SQL: arithmetic, functions of one row, CASE, parts of days."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.condition import Condition
from inbounds.query.columns.expression import (
    ARGUMENTS,
    MOST_PARTS,
    OTHER_WEEKDAYS,
    TIMES,
    Case,
    Constant,
    Expression,
    Named,
    binary,
    call,
    operand,
    refuse_function,
)
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.grammar.values import read_column, read_constant

OPERATORS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.IntDiv: "//"}

OTHER_NAMES = {"CEILING": "CEIL", "DAYOFMONTH": "DAY", "WEEKOFYEAR": "WEEK", "DATETRUNC": "DATE_TRUNC"}

KNOWN = {*ARGUMENTS, *TIMES, *OTHER_WEEKDAYS, *OTHER_NAMES, "CEIL", "DATE_PART"}
"""Functions of columns, and those that are refused by their name."""

ReadCondition = Callable[[SqlText, exp.Expr], Condition]


def is_made(node: exp.Expr) -> bool:
    """Return whether a node looks like a column that is made of columns."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in KNOWN
    return isinstance(node, (*OPERATORS, exp.Mod, exp.Neg, exp.Paren, exp.Case, exp.Extract))


def is_constant(node: exp.Expr | None) -> bool:
    """Return whether a node is a constant, or is to be read and refused as one."""
    return isinstance(node, exp.Literal | exp.Boolean | exp.Cast | exp.Null)


def read(text: SqlText, node: exp.Expr | None, condition: ReadCondition) -> Expression:
    """Read an expression; `condition` reads the conditions of CASE."""
    text.parts = 0
    return _read(text, node, condition)


def _read(text: SqlText, node: exp.Expr | None, condition: ReadCondition) -> Expression:  # noqa: PLR0911  by kind
    text.parts += 1
    if text.parts > MOST_PARTS:
        raise InvalidQuestion(f"an expression may have at most {MOST_PARTS} parts, got more; ask something simpler")
    if isinstance(node, exp.Paren):
        text.take(node, "this")
        return _read(text, node.this, condition)
    if is_constant(node) or (isinstance(node, exp.Neg) and is_constant(node.this)):
        value = read_constant(text, node)
        return _made(text, node, lambda: operand(value))
    if isinstance(node, exp.Neg):
        text.take(node, "this")
        return -_read(text, node.this, condition)
    if node is not None and type(node) in OPERATORS:
        return _binary(text, node, condition)
    if isinstance(node, exp.Case):
        return _case(text, node, condition)
    if isinstance(node, exp.Extract):
        return _extract(text, node, condition)
    if isinstance(node, exp.Anonymous):
        return _call(text, node, condition)
    if isinstance(node, exp.Mod):
        text.refuse(node, f"{kind(node)} is not supported; write x - FLOOR(x / 10) * 10 for x % 10")
    name = read_column(text, node)
    text.fit(node, lambda table: table.column(name))
    return Named(name)


def _binary(text: SqlText, node: exp.Expr, condition: ReadCondition) -> Expression:
    """Read a chain of operators; what stands on the left is not recursed into."""
    chain, this = [], node
    while type(this) in OPERATORS:
        text.take(this, "this", "expression")
        chain.append(this)
        this = this.this
    found = _read(text, this, condition)
    for one in reversed(chain):
        operator, right = OPERATORS[type(one)], _read(text, one.expression, condition)
        found = _made(text, one, partial(_joined, operator, found, right))
    return found


def _joined(operator: str, left: Expression, right: Expression) -> Expression:
    return left // right if operator == "//" else binary(operator, left, right)


def _made(text: SqlText, node: exp.Expr | None, make: Callable[[], Expression]) -> Expression:
    """Return what is made, or refuse it with a mark."""
    try:
        return make()
    except InvalidQuestion as problem:
        text.refuse(node, str(problem))


def _case(text: SqlText, node: exp.Case, condition: ReadCondition) -> Expression:
    if node.this is not None:
        text.refuse(node.this, "CASE takes conditions; write it like CASE WHEN age < 18 THEN 0 ELSE 1 END")
    text.take(node, "ifs", "default")
    branches = []
    for branch in node.args["ifs"]:
        text.take(branch, "this", "true")
        branches.append((condition(text, branch.this), _read(text, branch.args["true"], condition)))
    default = node.args.get("default")
    if isinstance(default, exp.Null):
        text.take(default)
        default = None
    return Case(tuple(branches), None if default is None else _read(text, default, condition))


def _extract(text: SqlText, node: exp.Extract, condition: ReadCondition) -> Expression:
    text.take(node, "this", "expression")
    text.take(node.this, "this")
    for word in ("EXTRACT", str(node.this.name)):
        text.take_word(word)
    day = _read(text, node.expression, condition)
    return _made(text, node, lambda: call(_plain(str(node.this.name)), day))


def _call(text: SqlText, node: exp.Anonymous, condition: ReadCondition) -> Expression:
    name = _plain(node.name)
    if name not in KNOWN and (problem := refuse_function(name)) is not None:
        text.refuse(node, problem)
    text.take(node, "this", "expressions")
    given = [_read(text, one, condition) for one in node.expressions]
    if name == "DATE_PART" and len(given) == 2 and isinstance(given[0], Constant):
        part = str(given[0].value)
        return _made(text, node, lambda: call(_plain(part), given[1]))
    if name == "CEIL" and len(given) == 1:
        return _made(text, node, lambda: -call("FLOOR", -given[0]))
    return _made(text, node, lambda: call(name, *given))


def _plain(name: str) -> str:
    return OTHER_NAMES.get(name.upper(), name.upper())
