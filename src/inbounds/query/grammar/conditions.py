"""What stands after WHERE: comparisons of columns with constants and columns, joined by AND, OR and NOT."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Comparison, Keys
from inbounds.query.columns.condition import MOST_NODES, And, Compare, Condition, In, Like, Missing, Not, Or, joined
from inbounds.query.columns.condition_check import checked
from inbounds.query.columns.expression import Constant, Expression, Named, compared
from inbounds.query.columns.kind import TRUTH_KEY
from inbounds.query.grammar.expressions import is_made, read
from inbounds.query.grammar.text import PlainCalls, SqlText, kind
from inbounds.query.grammar.values import read_column, read_constant

if TYPE_CHECKING:
    from inbounds.query.tables.table import Table

COMPARISONS: dict[type[exp.Expr], Comparison] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip


def read_condition(given: str, table: Table | None = None) -> Condition:
    """Read what could stand after WHERE, about the columns of a table."""
    text = SqlText(given, "a condition")
    if table is not None:
        text.ask(table, "")

    def parse() -> exp.Expr:
        return sqlglot.parse_one(given, into=exp.Condition, dialect=PlainCalls)

    return text.read(parse, lambda tree: condition(text, tree), "age >= 65")


def read_expression(given: str) -> Expression:
    """Read a column made of columns, such as `FLOOR(age / 10) * 10`."""
    text = SqlText(given, "an expression")

    def parse() -> exp.Expr:
        return sqlglot.parse_one(given, into=exp.Condition, dialect=PlainCalls)

    return text.read(parse, lambda tree: read(text, tree, condition), "FLOOR(age / 10) * 10")


def read_name(text: SqlText, node: exp.Expr | None) -> str:
    """Return what a question calls a column, or one made of columns; refuse one that the table does not have."""
    name = read_name_or_unit(text, node)
    text.fit(node, lambda table: table.column(name))
    return name


def read_name_or_unit(text: SqlText, node: exp.Expr | None) -> str:
    """Return what a question calls a column, one made of columns, or the unit."""
    if node is None or not is_made(node):
        return read_column(text, node)
    found = read(text, node, condition)
    if isinstance(found, Constant):
        text.refuse(node, f"a column is needed here, got {kind(node)}; name one from the contract")
    return _named(text, node, found)


def _named(text: SqlText, node: exp.Expr, found: Expression) -> str:
    try:
        return found.name
    except InvalidQuestion as problem:
        text.refuse(node, str(problem))


def condition(text: SqlText, node: exp.Expr) -> Condition:
    """Read a condition."""
    text.conditions += 1
    if text.conditions > MOST_NODES:
        raise InvalidQuestion(f"a condition may have at most {MOST_NODES} parts, got more; ask something simpler")
    reader = _readers().get(type(node))
    if reader is None:
        text.refuse(
            node,
            f"{kind(node)} is not a condition; use comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL",
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
        exp.Like: _like,
        exp.ILike: _like,
        exp.Column: _is_true,
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
    return _compared(text, node.this, COMPARISONS[type(node)], node.expression)


def _compared(text: SqlText, left: exp.Expr, operator: Comparison, right: exp.Expr) -> Condition:
    """Read a comparison of a column with a constant, or of two columns."""
    sides = [_side(text, left), _side(text, right)]
    if all(isinstance(side, Constant) for side in sides):
        text.refuse(left, f"a column is needed here, got {kind(left)}; name one from the contract")
    keys = [one.column for one in sides if isinstance(one, Named) and isinstance(text.columns.get(one.column), Keys)]
    if keys and not any(isinstance(side, Constant) for side in sides):
        text.refuse(
            left.parent,
            f"{keys[0]} is categorical and can be compared with constants only; use =, <> or IN with a constant",
        )
    try:
        found = compared(sides[0], operator, sides[1])
    except InvalidQuestion as problem:
        text.refuse(left.parent, str(problem))
    assert isinstance(found, Compare)
    _fit_comparison(text, found, left, right, [isinstance(side, Constant) for side in sides])
    return found


def _fit_comparison(text: SqlText, found: Compare, left: exp.Expr, right: exp.Expr, constant: list[bool]) -> None:
    """Refuse a comparison that does not fit the table: its column, its constant, or an order that keys do not have."""
    if not any(constant):
        text.fit(left.parent, lambda table: checked(table, found))
        return
    of, with_ = (right, left) if constant[0] else (left, right)
    column = text.fit(of, lambda table: table.column(found.column))
    unordered = column is not None and not column.has_order and found.operator not in ("=", "<>")
    text.fit(left.parent if unordered else with_, lambda table: checked(table, found))


def _side(text: SqlText, node: exp.Expr) -> Expression:
    if isinstance(node, exp.Column) or is_made(node):
        return read(text, node, condition)
    value = read_constant(text, node)
    return Constant(value)


def _between(text: SqlText, node: exp.Expr) -> Condition:
    text.take(node, "this", "low", "high")
    low, high = node.args["low"], node.args["high"]
    return And((_compared(text, node.this, ">=", low), _compared(text, node.this, "<=", high)))


def _like(text: SqlText, node: exp.Expr) -> Condition:
    text.take(node, "this", "expression", "negate")
    pattern = read_constant(text, node.expression)
    if not isinstance(pattern, str):
        text.refuse(node.expression, f"LIKE takes text, got {kind(node.expression)}; write it like 'n%'")
    found = Like(read_name(text, node.this), pattern, isinstance(node, exp.ILike))
    text.fit(node, lambda table: checked(table, found))
    return Not(found) if node.args.get("negate") else found


def _in(text: SqlText, node: exp.Expr) -> Condition:
    if not node.expressions:
        text.refuse(node, f"IN takes a list of constants, got {kind(node)}; write it like age IN (17, 18)")
    if len(node.expressions) > MOST_NODES:
        raise InvalidQuestion(f"IN may list at most {MOST_NODES} constants, got {len(node.expressions)}; list fewer")
    text.take(node, "this", "expressions")
    name, values = read_name(text, node.this), []
    for one in node.expressions:
        values.append(read_constant(text, one))
        text.fit(one, partial(checked, condition=In(name, (values[-1],))))
    return In(name, tuple(values))


def _is_null(text: SqlText, node: exp.Expr) -> Condition:
    text.take(node, "this", "expression")
    if isinstance(node.expression, exp.Boolean):
        value = read_constant(text, node.expression)
        name = _truth(text, node.this)
        return And((Compare(name, "=", value), Not(Missing(name))))
    if not isinstance(node.expression, exp.Null):
        at = node.expression
        text.refuse(at, f"IS takes NULL, TRUE or FALSE, got {kind(at)}; write = for a comparison")
    text.take(node.expression)
    return Missing(read_name(text, node.this))


def _is_true(text: SqlText, node: exp.Expr) -> Condition:
    """Read a column of truth values that stands for its being true."""
    return Compare(_truth(text, node), "=", True)


def _truth(text: SqlText, node: exp.Expr) -> str:
    """Return the name of a column of truth values."""
    name = read_name(text, node)
    column = text.fit(node, lambda table: table.column(name))
    if column is not None and column.kind != TRUTH_KEY:
        text.refuse(node, f"{kind(node)} is not true or false; compare it, as in {kind(node)} = …")
    return name
