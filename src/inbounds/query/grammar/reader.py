"""The one reader of expressions in SQL: what its names and calls stand for, a scope says.

Over the rows of a table names are columns; over an answer they are keys and measures.  Everything else is the same:
parentheses, arithmetic, CASE, comparisons, AND, OR, NOT, IN, BETWEEN, LIKE and IS NULL.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NoReturn

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.expressions.arithmetic import Case
from inbounds.query.expressions.condition import MOST_NODES, And, Comparison, Condition, Not, Or, join_conditions
from inbounds.query.expressions.node import Node
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.grammar.values import is_number

COMPARISONS: dict[type[exp.Expr], Comparison] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip


class Scope(ABC):
    """A text, what its names and calls stand for, and what may be made of them."""

    operators: ClassVar[Mapping[type[exp.Expr], str]]
    most_parts: ClassVar[int]
    like: ClassVar[str]
    """A CASE as it is written here."""

    def __init__(self, text: SqlText) -> None:
        self.text = text

    # Values.

    def whole(self, node: exp.Expr) -> Node | None:
        """Return what a node stands for that is not to be taken apart; None if it is to be."""
        return None

    @abstractmethod
    def name(self, node: exp.Column) -> Node:
        """Read a name."""

    @abstractmethod
    def call(self, node: exp.Expr) -> Node:
        """Read a call; refuse what is none."""

    @abstractmethod
    def constant(self, node: exp.Expr) -> Node:
        """Read a constant."""

    @abstractmethod
    def negate(self, node: exp.Expr, this: Node) -> Node:
        """Return a number with the other sign."""

    @abstractmethod
    def combine(self, node: exp.Expr, left: Node, right: Node) -> Node:
        """Return two numbers joined by an operator."""

    def choose(self, nodes: Sequence[exp.Expr], values: list[Node]) -> list[Node]:
        """Return the values that a CASE chooses from; refuse those that are not alike."""
        return values

    # Conditions.

    @abstractmethod
    def compare(self, left: exp.Expr, operator: Comparison, right: exp.Expr) -> Condition:
        """Read a comparison."""

    def between(self, this: exp.Expr, low: exp.Expr, high: exp.Expr) -> Condition:
        """Read whether something is from one value to another, both included."""
        return And((self.compare(this, ">=", low), self.compare(this, "<=", high)))

    @abstractmethod
    def is_in(self, node: exp.In) -> Condition:
        """Read a list of constants that something is one of."""

    @abstractmethod
    def is_null(self, node: exp.Is) -> Condition:
        """Read whether something is missing."""

    def is_like(self, node: exp.Expr) -> Condition:
        """Read a pattern."""
        self.refuse_condition(node)

    def is_true(self, node: exp.Expr) -> Condition:
        """Read a name that stands for a condition."""
        self.refuse_condition(node)

    @abstractmethod
    def refuse_condition(self, node: exp.Expr) -> NoReturn:
        """Refuse what is no condition."""


def read_value(scope: Scope, node: exp.Expr) -> Node:
    """Read an expression, whose parts are counted from here on."""
    scope.text.parts = 0
    return read_part(scope, node)


def read_part(scope: Scope, node: exp.Expr) -> Node:  # noqa: PLR0911  one for each kind
    """Read a part of an expression."""
    # What the scope knows as a whole goes first, then what needs no scope, and what is none of these must be a call.
    if not isinstance(node, exp.Paren):
        scope.text.parts += 1
        _refuse_more_parts(scope, scope.text.parts)
    if (whole := scope.whole(node)) is not None:
        return whole
    if isinstance(node, exp.Paren):
        scope.text.take(node, "this")
        return read_part(scope, node.this)
    if isinstance(node, exp.Neg) and not is_number(node.this):
        scope.text.take(node, "this")
        return scope.negate(node, read_part(scope, node.this))
    if is_constant(node) or isinstance(node, exp.Neg):
        return scope.constant(node)
    if type(node) in scope.operators:
        return _read_chain(scope, node)
    if isinstance(node, exp.Case):
        return _read_case(scope, node)
    if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
        return scope.name(node)
    return scope.call(node)


def _refuse_more_parts(scope: Scope, parts: int) -> None:
    if parts > scope.most_parts:
        raise InvalidQuestion(
            f"an expression may have at most {scope.most_parts} parts, got more; ask something simpler"
        )


def is_constant(node: exp.Expr | None) -> bool:
    """Return whether a node is a constant, or is to be read and refused as one."""
    return isinstance(node, exp.Literal | exp.Boolean | exp.Cast | exp.Null | exp.CurrentDate)


def _read_chain(scope: Scope, node: exp.Expr) -> Node:
    """Read a chain of operators; what stands on the left is not recursed into."""
    # Down the left side first, then back up: a long sum is a deep tree, and recursion would end at its depth.
    chain: list[exp.Expr] = []
    left, whole = node, None
    while whole is None and type(left) in scope.operators:
        _refuse_more_parts(scope, len(chain))  # each link brings an operand, and that is counted
        scope.text.take(left, "this", "expression")
        chain.append(left)
        left = left.this
        whole = scope.whole(left)
    value = read_part(scope, left) if whole is None else whole
    for link in reversed(chain):
        value = scope.combine(link, value, read_part(scope, link.expression))
    return value


def _read_case(scope: Scope, node: exp.Case) -> Node:
    if node.this is not None:
        scope.text.refuse(node.this, f"CASE takes conditions; write it like {scope.like}")
    scope.text.take(node, "ifs", "default")
    # An ELSE is one value more than there are conditions; ELSE NULL is the same as none.
    tests, nodes, default = [], [], node.args.get("default")
    for branch in node.args["ifs"]:
        scope.text.take(branch, "this", "true")
        tests.append(read_condition_node(scope, branch.this))
        nodes.append(branch.args["true"])
    if isinstance(default, exp.Null):
        scope.text.take(default)
    elif default is not None:
        nodes.append(default)
    values = scope.choose(nodes, [read_part(scope, value) for value in nodes])
    otherwise = values[-1] if len(values) > len(tests) else None
    return Case(tuple(zip(tests, values, strict=False)), otherwise)


def read_condition_node(scope: Scope, node: exp.Expr) -> Condition:
    """Read a condition."""
    scope.text.conditions += 1
    if scope.text.conditions > MOST_NODES:
        raise InvalidQuestion(f"a condition may have at most {MOST_NODES} parts, got more; ask something simpler")
    reader = _CONDITIONS.get(type(node))
    if reader is None:
        scope.refuse_condition(node)
    return reader(scope, node)


def _read_paren(scope: Scope, node: exp.Expr) -> Condition:
    scope.text.take(node, "this")
    return read_condition_node(scope, node.this)


def _read_not(scope: Scope, node: exp.Expr) -> Condition:
    scope.text.take(node, "this")
    return Not(read_condition_node(scope, node.this))


def _read_connective(scope: Scope, node: exp.Expr) -> Condition:
    """Read a chain of AND or OR; it is flattened, not recursed into."""
    connective: type[And] | type[Or] = And if isinstance(node, exp.And) else Or
    pending, conditions = [node], []
    while pending:
        part = pending.pop()
        if type(part) is type(node):
            scope.text.take(part, "this", "expression")
            pending += [part.expression, part.this]
        else:
            conditions.append(read_condition_node(scope, part))
    return join_conditions(connective, *conditions)


def _read_comparison(scope: Scope, node: exp.Expr) -> Condition:
    scope.text.take(node, "this", "expression")
    return scope.compare(node.this, COMPARISONS[type(node)], node.expression)


def _read_between(scope: Scope, node: exp.Expr) -> Condition:
    scope.text.take(node, "this", "low", "high")
    return scope.between(node.this, node.args["low"], node.args["high"])


def _read_in(scope: Scope, node: exp.Expr) -> Condition:
    assert isinstance(node, exp.In)
    if node.args.get("query") is not None:
        scope.refuse_condition(node)
    if not node.expressions:
        scope.text.refuse(node, f"IN takes a list of constants, got {kind(node)}; write it like age IN (17, 18)")
    if len(node.expressions) > MOST_NODES:
        raise InvalidQuestion(f"IN may list at most {MOST_NODES} constants, got {len(node.expressions)}; list fewer")
    scope.text.take(node, "this", "expressions")
    return scope.is_in(node)


def _read_is(scope: Scope, node: exp.Expr) -> Condition:
    assert isinstance(node, exp.Is)
    scope.text.take(node, "this", "expression")
    return scope.is_null(node)


_CONDITIONS: dict[type[exp.Expr], Callable[[Scope, exp.Expr], Condition]] = {
    exp.Paren: _read_paren,
    exp.And: _read_connective,
    exp.Or: _read_connective,
    exp.Not: _read_not,
    exp.Between: _read_between,
    exp.In: _read_in,
    exp.Is: _read_is,
    exp.Like: lambda scope, node: scope.is_like(node),
    exp.ILike: lambda scope, node: scope.is_like(node),
    exp.Column: lambda scope, node: scope.is_true(node),
    **dict.fromkeys(COMPARISONS, _read_comparison),
}
