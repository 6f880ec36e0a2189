"""What stands after WHERE: comparisons of columns with constants, joined by AND, OR and NOT."""

from __future__ import annotations

from collections.abc import Callable

import sqlglot
from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.column import Comparison
from inbounds.query.condition import MOST_NODES, And, Compare, Condition, In, Missing, Not, Or, joined
from inbounds.query.sql.text import PlainCalls, SqlText, kind
from inbounds.query.sql.values import read_column, read_constant

COMPARISONS: dict[type[exp.Expr], Comparison] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip

MIRRORED: dict[Comparison, Comparison] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def read_condition(given: str) -> Condition:
    """Read what could stand after WHERE."""
    text = SqlText(given, "a condition")

    def parse() -> exp.Expr:
        return sqlglot.parse_one(given, into=exp.Condition, dialect=PlainCalls)

    return text.read(parse, lambda tree: condition(text, tree), "age >= 65")


def condition(text: SqlText, node: exp.Expr) -> Condition:
    """Read a condition."""
    text.conditions += 1
    if text.conditions > MOST_NODES:
        raise InvalidQuestion(f"a condition may have at most {MOST_NODES} parts, got more; ask something simpler")
    reader = _readers().get(type(node))
    if reader is None:
        text.refuse(
            node,
            f"{kind(node)} is not a condition; use comparisons with constants, AND, OR, NOT, IN, BETWEEN, IS NULL",
        )
    return reader(text, node)


def _readers() -> dict[type[exp.Expr], Callable[[SqlText, exp.Expr], Condition]]:
    return {
        exp.Paren: _paren,
        exp.And: _joined,
        exp.Or: _joined,
        exp.Not: _not,
        exp.Between: _between,
        exp.In: _in,
        exp.Is: _is_null,
        **dict.fromkeys(COMPARISONS, _comparison),
    }


def _paren(text: SqlText, node: exp.Expr) -> Condition:
    text.take(node, "this")
    return condition(text, node.this)


def _not(text: SqlText, node: exp.Expr) -> Condition:
    text.take(node, "this")
    return Not(condition(text, node.this))


def _joined(text: SqlText, node: exp.Expr) -> Condition:
    """Read a chain of AND or OR; it is flattened, not recursed into."""
    joins: type[And] | type[Or] = And if isinstance(node, exp.And) else Or
    parts, found = [node], []
    while parts:
        part = parts.pop()
        if type(part) is type(node):
            text.take(part, "this", "expression")
            parts += [part.expression, part.this]
        else:
            found.append(condition(text, part))
    return joined(joins, *found)


def _comparison(text: SqlText, node: exp.Expr) -> Condition:
    text.take(node, "this", "expression")
    left, right, operator = node.this, node.expression, COMPARISONS[type(node)]
    if isinstance(left, exp.Column) or not isinstance(right, exp.Column):
        return Compare(read_column(text, left), operator, read_constant(text, right))
    return Compare(read_column(text, right), MIRRORED[operator], read_constant(text, left))


def _between(text: SqlText, node: exp.Expr) -> Condition:
    text.take(node, "this", "low", "high")
    name = read_column(text, node.this)
    low, high = read_constant(text, node.args["low"]), read_constant(text, node.args["high"])
    return And((Compare(name, ">=", low), Compare(name, "<=", high)))


def _in(text: SqlText, node: exp.Expr) -> Condition:
    if not node.expressions:
        text.refuse(node, f"IN takes a list of constants, got {kind(node)}; write it like age IN (17, 18)")
    if len(node.expressions) > MOST_NODES:
        raise InvalidQuestion(f"IN may list at most {MOST_NODES} constants, got {len(node.expressions)}; list fewer")
    text.take(node, "this", "expressions")
    return In(read_column(text, node.this), tuple(read_constant(text, one) for one in node.expressions))


def _is_null(text: SqlText, node: exp.Expr) -> Condition:
    if not isinstance(node.expression, exp.Null):
        text.refuse(node, f"IS takes NULL, got {kind(node.expression)}; write = for a comparison")
    text.take(node, "this", "expression")
    text.take(node.expression)
    return Missing(read_column(text, node.this))
