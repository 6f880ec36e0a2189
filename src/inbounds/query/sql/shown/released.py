"""Expressions over what is released, in SELECT, HAVING and ORDER BY: read from SQL, with every kind checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from typing import ClassVar, NoReturn, Protocol, cast

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.answer.released.evaluate import MOST_PARTS, common_kind, is_true, kind_of_node, refuse_size
from inbounds.query.answer.released.functions import FUNCTIONS, MOST_DIGITS, SYNONYMS
from inbounds.query.answer.released.leaf import KeyRef, Kind, Named, ReleasedRow, is_constant
from inbounds.query.answer.released.source_column import SourceKey
from inbounds.query.columns.column import Keys
from inbounds.query.columns.derived_column import find_column
from inbounds.query.expressions.arithmetic import Binary, Call, Negative, Operator
from inbounds.query.expressions.condition import And, Compare, Comparison, Condition, In, Missing, join_conditions
from inbounds.query.expressions.node import Constant, Node
from inbounds.query.grammar.casts import FRACTIONS, WHOLE, digits_of, is_cast, take_cast
from inbounds.query.grammar.reader import Scope, read_condition_node, read_part, read_value
from inbounds.query.grammar.text import SqlText, function_name, kind
from inbounds.query.grammar.times import is_time, to_constant
from inbounds.query.grammar.values import read_constant
from inbounds.query.sql.shown.windows import WindowReader

ORDERED: tuple[Kind, ...] = ("number", "day", "time", "clock", "nothing")
"""What can be more or less than another."""

LIKE: dict[Kind, object] = {"time": datetime.min, "clock": time.min, "day": date.min}
NOUNS: dict[Kind, tuple[str, str]] = {
    "day": ("a date", "2026-12-31"),
    "time": ("a time", "2026-12-31 23:59:59"),
    "clock": ("a time of day", "23:59:59"),
}
"""What constants beside days and times are, and what messages call them, with an example."""

NO_ROW = ReleasedRow({}, {}, {})
"""Where constants are compared."""


class ScalarReader(Protocol):
    """Reads a SELECT in brackets that stands for the one value that it releases."""

    def read(self, node: exp.Subquery) -> Node:
        """Return what stands for it."""


class ReleasedScope(Scope):
    """Names are keys and what is selected, calls are measures and functions of what is released."""

    operators: ClassVar[Mapping[type[exp.Expr], str]] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
    most_parts = MOST_PARTS
    like = "CASE WHEN COUNT(*) > 100 THEN 1 END"

    def __init__(
        self,
        text: SqlText,
        read_measure: Callable[[exp.Expr], Node],
        read_name: Callable[[exp.Column], Node],
        read_key: Callable[[exp.Expr], Node | None],
    ) -> None:
        """Take a text, and what reads a measure, the name of something, and a key that is made of columns."""
        super().__init__(text)
        self._read_measure, self._read_name, self._read_key = read_measure, read_name, read_key
        self.named_windows: Mapping[str, exp.Expr] = {}
        """What stands after WINDOW."""
        self.scalars: ScalarReader | None = None

    def whole(self, node: exp.Expr) -> Node | None:
        """Return the key that a column made of columns is, or the value of a SELECT in brackets."""
        if isinstance(node, exp.Subquery) and self.scalars is not None:
            return self.scalars.read(node)
        return self._read_key(node)

    def name(self, node: exp.Column) -> Node:
        """Read the name of a key, or of something selected."""
        return self._read_name(node)

    def call(self, node: exp.Expr) -> Node:
        """Read a function of released values, or a measure."""
        if isinstance(node, exp.Window):
            return WindowReader(self, self.named_windows).read(node)
        name = function_name(node)
        name = SYNONYMS.get(name, name)
        return self._read_function(name, node) if name in FUNCTIONS else self._read_measure(node)

    def _read_function(self, name: str, node: exp.Expr) -> Node:
        function = FUNCTIONS[name]
        arguments = self.text.arguments(node, function.most, function.like)
        if len(arguments) < function.least:
            self.text.refuse(
                node, f"{name} takes {function.least} arguments, got {len(arguments)}; write it like {function.like}"
            )
        values = [read_part(self, argument) for argument in arguments]
        if function.of_numbers:
            for argument, value in zip(arguments, values, strict=True):
                self._refuse_no_number(argument, value)
        else:
            values = self.choose(arguments, values)
        if name == "ROUND" and len(values) > 1:
            digits = values[1].value if isinstance(values[1], Constant) else None
            if not isinstance(digits, int) or abs(digits) > MOST_DIGITS:
                at = arguments[1]
                self.text.refuse(
                    at, f"ROUND takes a whole number of digits up to {MOST_DIGITS}, got {kind(at)}; write one"
                )
        return Call(name, tuple(values))

    def constant(self, node: exp.Expr) -> Node:
        """Read a constant; a day as a day, and a time as a time."""
        if isinstance(node, exp.Null):
            self.text.take(node)
            return Constant(None)
        if not isinstance(node, exp.Cast) or is_time(node):
            return Constant(read_constant(self.text, node))
        if is_cast(node):
            return self._cast(node)
        if node.to.this != exp.DataType.Type.DATE:
            return self.call(node)
        return self._to_time(node, Constant(read_constant(self.text, node)), "day")

    def _cast(self, node: exp.Expr) -> Node:
        """Read a number as another type of numbers: rounded, or as it is."""
        value, to = read_part(self, node.this), node.args["to"]
        self._refuse_no_number(node.this, value)
        if to.this not in WHOLE and to.this not in FRACTIONS:
            self.text.refuse(
                node, f"{kind(node)} is not supported; numbers are cast to INTEGER, DOUBLE or DECIMAL(9, 2)"
            )
        take_cast(self.text, node)
        digits = 0 if to.this in WHOLE else digits_of(self.text, to)
        return value if digits is None else Call("ROUND", (value, Constant(digits)))

    def _to_time(self, node: exp.Expr, constant: Constant, like: Kind) -> Constant:
        """Return a text beside a day or a time as one of these, and a day beside a time as its midnight."""
        is_day = type(constant.value) is date
        value = to_constant(str(constant.value), LIKE[like])
        if value is None or (is_day and like == "clock"):
            noun, example = NOUNS[like]
            self.text.refuse(node, f"{kind(node)} is not {noun}; write it like '{example}'")
        return Constant(value)

    def negate(self, node: exp.Expr, this: Node) -> Node:
        self._refuse_no_number(node.this, this)
        return Negative(this)

    def combine(self, node: exp.Expr, left: Node, right: Node) -> Node:
        self._refuse_no_number(node.this, left)
        self._refuse_no_number(node.expression, right)
        return Binary(cast("Operator", self.operators[type(node)]), left, right)

    def _refuse_no_number(self, node: exp.Expr, value: Node) -> None:
        if kind_of_node(value) not in ("number", "nothing"):
            self.text.refuse(node, f"a number is needed here, got {kind(node)}; compare it, or order by it")

    def choose(self, nodes: Sequence[exp.Expr], values: list[Node]) -> list[Node]:
        """Return values that can stand for each other: a text beside a day or a time is one."""
        kinds = [kind_of_node(value) for value in values]
        like: Kind | None = next((of for of in LIKE if of in kinds), None)
        if like is not None:
            values = [
                self._to_time(node, value, like) if isinstance(value, Constant) and of in ("text", "day") else value
                for node, value, of in zip(nodes, values, kinds, strict=True)
            ]
        first = common_kind(values)
        for node, value in zip(nodes, values, strict=True):
            if (other := kind_of_node(value)) not in (first, "nothing"):
                self.text.refuse(node, f"{kind(node)} is a {other}, but the other side is a {first}; write them alike")
        return values

    # Conditions.

    def compare(self, left: exp.Expr, operator: Comparison, right: exp.Expr) -> Condition:
        """Read a comparison of what can be compared."""
        this, other = self._read_comparable([left, right], ordered=operator not in ("=", "<>"))
        return Compare(this, operator, other)

    def between(self, this: exp.Expr, low: exp.Expr, high: exp.Expr) -> Condition:
        """Read whether a value lies between two others, of which one may be beside it without saying anything."""
        value, least, greatest = self._read_comparable([this, low, high], ordered=True)
        comparisons = [Compare(value, ">=", least), Compare(value, "<=", greatest)]
        telling = [comparison for comparison in comparisons if not is_constant(comparison)]
        if any(is_constant(comparison) and not is_true(comparison, NO_ROW) for comparison in comparisons):
            self.text.refuse(this, "this compares constants only; compare a measure or a category with them")
        return join_conditions(And, *telling)

    def is_in(self, node: exp.In) -> Condition:
        this, *values = self._read_comparable([node.this, *node.expressions], ordered=False)
        options = []
        for at, value in zip(node.expressions, values, strict=True):
            if not isinstance(value, Constant) or value.value is None:
                self.text.refuse(
                    at, f"IN takes a list of constants, got {kind(at)}; write it like clinic IN ('a', 'b')"
                )
            options.append(value)
        return In(this, tuple(options))

    def is_null(self, node: exp.Is) -> Condition:
        if not isinstance(node.expression, exp.Null):
            self.refuse_condition(node)
        self.text.take(node.expression)
        return Missing(read_part(self, node.this))

    def refuse_condition(self, node: exp.Expr) -> NoReturn:
        """Refuse what is no condition on released values."""
        self.text.refuse(
            node,
            f"{kind(node)} is not a condition on released values; use comparisons, AND, OR, NOT, IN, BETWEEN, IS NULL",
        )

    def _read_comparable(self, nodes: list[exp.Expr], *, ordered: bool) -> list[Node]:
        """Return what is compared, if it can be."""
        values = [read_part(self, node) for node in nodes]
        for node, value in zip(nodes, values, strict=True):
            if kind_of_node(value) == "bin":
                self.text.refuse(node, f"the bins of {kind(node)} cannot be compared; choose its values in WHERE")
        values = self.choose(nodes, values)
        for node, value in zip(nodes, values, strict=True):
            if ordered and kind_of_node(value) not in ORDERED:
                self.text.refuse(node, f"{kind(node)} has no order to compare by; use =, <> or IN")
        if not ordered:
            self._refuse_no_key(nodes, values)
        if all(map(is_constant, values)):
            self.text.refuse(nodes[0], "this compares constants only; compare a measure or a category with them")
        return values

    def _refuse_no_key(self, nodes: list[exp.Expr], values: list[Node]) -> None:
        """Refuse a constant beside a key that no key is: it would be false without a word."""
        inside = [value.of if isinstance(value, Named) else value for value in values]
        keys = [value.of for value in inside if isinstance(value, KeyRef) and not isinstance(value.of, SourceKey)]
        columns = [find_column(self.text.columns, key) for key in keys]
        for column in columns:
            for node, value in zip(nodes, values, strict=True):
                if isinstance(column, Keys) and isinstance(value, Constant) and value.value is not None:
                    try:
                        column.code(value.value)
                    except InvalidQuestion as problem:
                        self.text.refuse(node, str(problem))


def read_released(scope: ReleasedScope, node: exp.Expr) -> Node:
    """Read an expression over released values."""
    return _limit_size(scope, node, read_value(scope, node))


def read_having(scope: ReleasedScope, node: exp.Expr) -> Condition:
    """Read a condition on released values."""
    scope.text.parts = 0
    condition = read_condition_node(scope, node)
    _limit_size(scope, node, condition)
    return condition


def _limit_size(scope: ReleasedScope, node: exp.Expr, value: Node) -> Node:
    if (problem := refuse_size(value)) is not None:
        scope.text.refuse(node, problem)
    return value


def read_whole(text: SqlText, node: exp.Expr, what: str) -> int:
    """Return a whole number from 0 on."""
    number = read_constant(text, node)
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        text.refuse(node, f"{what} takes a whole number, 0 or more, got {kind(node)}; write it like {what} 10")
    return number
