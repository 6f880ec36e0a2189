"""Expressions and conditions over the rows of a table: what stands after WHERE, and in a measure or a group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeVar, cast

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Keys
from inbounds.query.columns.condition_check import check_condition
from inbounds.query.columns.kind import TRUTH_KEY
from inbounds.query.expressions.arithmetic import Operator
from inbounds.query.expressions.condition import And, Compare, Comparison, Condition, Like, Missing, Not, is_in
from inbounds.query.expressions.expression import Expression
from inbounds.query.expressions.functions import ARGUMENTS, OTHER_WEEKDAYS, TIMES, call, refuse_function
from inbounds.query.expressions.node import ColumnRef, Constant, Node
from inbounds.query.expressions.normal_form import (
    MOST_PARTS,
    combine,
    compare,
    constant,
    floor_divide,
    limit_size,
    negate,
)
from inbounds.query.grammar.reader import Scope, read_condition_node, read_part, read_value
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.grammar.values import read_column, read_constant

if TYPE_CHECKING:
    from inbounds.query.tables.table import Table

T = TypeVar("T", bound=Node)

SYNONYMS = {"CEILING": "CEIL", "DAYOFMONTH": "DAY", "WEEKOFYEAR": "WEEK", "DATETRUNC": "DATE_TRUNC"}

KNOWN = {*ARGUMENTS, *TIMES, *OTHER_WEEKDAYS, *SYNONYMS, "CEIL", "DATE_PART"}
"""Functions of columns, and those that are refused by their name."""


class RowScope(Scope):
    """Names are columns of a table; a comparison is one of a column with a constant, or of two columns."""

    operators: ClassVar[Mapping[type[exp.Expr], str]] = {
        exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.IntDiv: "//",
    }  # fmt: skip
    most_parts = MOST_PARTS
    like = "CASE WHEN age < 18 THEN 0 ELSE 1 END"

    def name(self, node: exp.Expr) -> Node:
        """Read a column; refuse one that the table does not have."""
        column = ColumnRef(read_column(self.text, node))
        self.text.fit(node, lambda table: table.column(column))
        return column

    def constant(self, node: exp.Expr) -> Node:
        """Read a constant to compute with."""
        value = read_constant(self.text, node)
        return self.build(node, lambda: constant(value))

    def negate(self, node: exp.Expr, this: Node) -> Node:
        return negate(this)

    def combine(self, node: exp.Expr, left: Node, right: Node) -> Node:
        operator = self.operators[type(node)]
        if operator == "//":
            return self.build(node, lambda: floor_divide(left, right))
        return self.build(node, lambda: combine(cast("Operator", operator), left, right))

    def call(self, node: exp.Expr) -> Node:
        """Read a function of columns."""
        if isinstance(node, exp.Extract):
            return self._extract(node)
        if isinstance(node, exp.Mod):
            self.text.refuse(node, f"{kind(node)} is not supported; write x - FLOOR(x / 10) * 10 for x % 10")
        if not isinstance(node, exp.Anonymous):
            return self.name(node)
        function = _canonical_function(node.name)
        if function not in KNOWN and (problem := refuse_function(function)) is not None:
            self.text.refuse(node, problem)
        self.text.take(node, "this", "expressions")
        values = [read_part(self, argument) for argument in node.expressions]
        if function == "DATE_PART" and len(values) == 2 and isinstance(values[0], Constant):
            part = str(values[0].value)
            return self.build(node, lambda: call(_canonical_function(part), values[1]))
        if function == "CEIL" and len(values) == 1:
            return self.build(node, lambda: negate(call("FLOOR", negate(values[0]))))
        return self.build(node, lambda: call(function, *values))

    def _extract(self, node: exp.Extract) -> Node:
        self.text.take(node, "this", "expression")
        self.text.take(node.this, "this")
        for word in ("EXTRACT", str(node.this.name)):
            self.text.take_word(word)
        day = read_part(self, node.expression)
        return self.build(node, lambda: call(_canonical_function(str(node.this.name)), day))

    def build(self, node: exp.Expr | None, build: Callable[[], T]) -> T:
        """Return what is built, or refuse it with a mark."""
        try:
            return build()
        except InvalidQuestion as problem:
            self.text.refuse(node, str(problem))

    # Conditions.

    def compare(self, left: exp.Expr, operator: Comparison, right: exp.Expr) -> Condition:
        """Read a comparison of a column with a constant, or of two columns."""
        sides = [self._side(left), self._side(right)]
        constants = [isinstance(side, Constant) for side in sides]
        if all(constants):
            self.text.refuse(left, f"a column is needed here, got {kind(left)}; name one from the contract")
        keys = [side.name for side in sides if isinstance(self.text.columns.get(side.name), Keys)]
        if keys and not any(constants):
            self.text.refuse(
                left.parent,
                f"{keys[0]} is categorical and can be compared with constants only; use =, <> or IN with a constant",
            )
        condition = self.build(left.parent, lambda: compare(sides[0], operator, sides[1]))
        self._fit(condition, left, right, constants)
        return condition

    def _fit(self, condition: Compare, left: exp.Expr, right: exp.Expr, constants: list[bool]) -> None:
        """Refuse a comparison that the table does not fit: its column, its constant, an order that keys do not have."""
        if not any(constants):
            self.text.fit(left.parent, lambda table: check_condition(table, condition))
            return
        column_node, constant_node = (right, left) if constants[0] else (left, right)
        column = self.text.fit(column_node, lambda table: table.column(condition.this))
        unordered = column is not None and not column.has_order and condition.operator not in ("=", "<>")
        self.text.fit(left.parent if unordered else constant_node, lambda table: check_condition(table, condition))

    def _side(self, node: exp.Expr) -> Node:
        if isinstance(node, exp.Column) or is_derived(node):
            return read_value(self, node)
        return Constant(read_constant(self.text, node))

    def is_in(self, node: exp.In) -> Condition:
        """Read a list of constants that a column is one of."""
        column, values = read_node(self.text, node.this), []
        for option in node.expressions:
            values.append(read_constant(self.text, option))
            self.text.fit(option, partial(check_condition, condition=is_in(column, (values[-1],))))
        return is_in(column, tuple(values))

    def is_null(self, node: exp.Is) -> Condition:
        """Read whether a column is missing, or whether it is true and not missing."""
        if isinstance(node.expression, exp.Boolean):
            value = read_constant(self.text, node.expression)
            column = self._truth(node.this)
            return And((Compare(column, "=", Constant(value)), Not(Missing(column))))
        if not isinstance(node.expression, exp.Null):
            at = node.expression
            self.text.refuse(at, f"IS takes NULL, TRUE or FALSE, got {kind(at)}; write = for a comparison")
        self.text.take(node.expression)
        return Missing(read_node(self.text, node.this))

    def is_like(self, node: exp.Expr) -> Condition:
        """Read a pattern that a key fits."""
        self.text.take(node, "this", "expression", "negate")
        pattern = read_constant(self.text, node.expression)
        if not isinstance(pattern, str):
            self.text.refuse(node.expression, f"LIKE takes text, got {kind(node.expression)}; write it like 'n%'")
        condition = Like(read_node(self.text, node.this), pattern, isinstance(node, exp.ILike))
        self.text.fit(node, lambda table: check_condition(table, condition))
        return Not(condition) if node.args.get("negate") else condition

    def is_true(self, node: exp.Expr) -> Condition:
        """Read a column of truth values that stands for its being true."""
        return Compare(self._truth(node), "=", Constant(True))

    def _truth(self, node: exp.Expr) -> Node:
        """Return a column of truth values."""
        column_ref = read_node(self.text, node)
        column = self.text.fit(node, lambda table: table.column(column_ref))
        if column is not None and column.kind != TRUTH_KEY:
            self.text.refuse(node, f"{kind(node)} is not true or false; compare it, as in {kind(node)} = …")
        return column_ref

    def refuse_condition(self, node: exp.Expr) -> NoReturn:
        """Refuse what is no condition on a row."""
        self.text.refuse(
            node, f"{kind(node)} is not a condition; use comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL"
        )


def read_condition(sql: str, table: Table | None = None) -> Condition:
    """Read what could stand after WHERE, about the columns of a table."""
    text = SqlText(sql, "a condition")
    if table is not None:
        text.ask(table, "")
    return text.read_expression(lambda tree: condition(text, tree), "age >= 65")


def to_condition(given: Condition | str, table: Table) -> Condition:
    """Return a condition, given as an object or as SQL text, checked against the columns of a table."""
    return check_condition(table, read_condition(given, table) if isinstance(given, str) else given)


def read_expression(sql: str) -> Expression:
    """Read a column made of columns, such as `FLOOR(age / 10) * 10`."""
    text = SqlText(sql, "an expression")
    return text.read_expression(lambda tree: Expression(read_value(RowScope(text), tree)), "FLOOR(age / 10) * 10")


def condition(text: SqlText, node: exp.Expr) -> Condition:
    """Read a condition on rows."""
    return read_condition_node(RowScope(text), node)


def is_derived(node: exp.Expr) -> bool:
    """Return whether a node looks like a column that is made of columns."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in KNOWN
    return isinstance(node, (*RowScope.operators, exp.Mod, exp.Neg, exp.Paren, exp.Case, exp.Extract))


def read_node(text: SqlText, node: exp.Expr | None) -> Node:
    """Return a column, or one made of columns; refuse one that the table does not have."""
    column = read_node_or_unit(text, node)
    text.fit(node, lambda table: table.column(column))
    return column


def read_node_or_unit(text: SqlText, node: exp.Expr | None) -> Node:
    """Return a column, one made of columns, or the unit."""
    if node is None or not is_derived(node):
        return ColumnRef(read_column(text, node))
    scope = RowScope(text)
    column = read_value(scope, node)
    if isinstance(column, Constant):
        text.refuse(node, f"a column is needed here, got {kind(node)}; name one from the contract")
    return scope.build(node, lambda: limit_size(column))


def _canonical_function(name: str) -> str:
    return SYNONYMS.get(name.upper(), name.upper())
