"""Expressions and conditions over the rows of a table: what stands after WHERE, and in a measure or a group."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NoReturn, TypeVar, cast

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Keys
from inbounds.query.columns.condition_check import check_condition
from inbounds.query.columns.kind import DAY, TRUTH_KEY
from inbounds.query.expressions.arithmetic import Apart, Operator
from inbounds.query.expressions.condition import And, Compare, Comparison, Condition, Like, Missing, Not, is_in
from inbounds.query.expressions.expression import Expression
from inbounds.query.expressions.functions import ARGUMENTS, OTHER_WEEKDAYS, TIMES, call, chain, refuse_function
from inbounds.query.expressions.node import INTERVALS, ColumnRef, Constant, Node
from inbounds.query.expressions.normal_form import (
    MOST_PARTS,
    combine,
    compare,
    constant,
    floor_divide,
    limit_size,
    negate,
)
from inbounds.query.expressions.raw import Raw
from inbounds.query.grammar.casts import cast_column, cast_unseen, digits_of, is_cast, take_cast
from inbounds.query.grammar.constant_days import fold_day
from inbounds.query.grammar.free_text import FreeTexts
from inbounds.query.grammar.intervals import DAYS_OF, MONTHS_OF, SIXTEEN_MONTHS, move_day, read_interval
from inbounds.query.grammar.reader import Scope, read_condition_node, read_part, read_value
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.grammar.values import read_constant, read_matched, read_reference, refuse_subquery

if TYPE_CHECKING:
    from inbounds.query.tables.table import Table

T = TypeVar("T", bound=Node)

SYNONYMS = {
    "CEILING": "CEIL", "DAYOFMONTH": "DAY", "WEEKOFYEAR": "WEEK", "DATETRUNC": "DATE_TRUNC",
    "SUBSTRING": "SUBSTR", "BTRIM": "TRIM", "CHAR_LENGTH": "LENGTH", "CHARACTER_LENGTH": "LENGTH", "LEN": "LENGTH",
    "UCASE": "UPPER", "LCASE": "LOWER",
}  # fmt: skip

KNOWN = {*ARGUMENTS, *TIMES, *OTHER_WEEKDAYS, *SYNONYMS, "CEIL", "DATE_PART"}
"""Functions of columns, and those that are refused by their name."""


MADE = (exp.Mod, exp.Neg, exp.Paren, exp.Case, exp.Extract, exp.Substring, exp.DPipe)
"""What else looks like a column that is made of columns."""


class RowScope(Scope):
    """Names are columns of a table; a comparison is one of a column with a constant, or of two columns."""

    operators: ClassVar[Mapping[type[exp.Expr], str]] = {
        exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.IntDiv: "//",
    }  # fmt: skip
    most_parts = MOST_PARTS
    like = "CASE WHEN age < 18 THEN 0 ELSE 1 END"

    def __init__(self, text: SqlText) -> None:
        super().__init__(text)
        self.texts = FreeTexts(text)

    def name(self, node: exp.Expr) -> Node:
        """Read a column; refuse one that the table does not have."""
        column = read_reference(self.text, node)
        part = self.texts.listed(column, ())
        if part is not None:
            return part
        self.text.fit(node, lambda table: table.column(column))
        return column

    def whole(self, node: exp.Expr) -> Node | None:
        """Return a day or a time moved by an interval, None for anything else."""
        if not isinstance(node, exp.Add | exp.Sub) or not isinstance(node.expression, exp.Interval):
            return None
        self.text.take(node, "this", "expression")
        number, unit = read_interval(self.text, node.expression)
        day = read_part(self, node.this)
        by = -number if isinstance(node, exp.Sub) else number
        if isinstance(day, Constant):
            return self.build(node, lambda: move_day(day, by, unit))
        if unit in INTERVALS:
            interval = constant(abs(by) * INTERVALS[unit])
            return self.build(node, lambda: combine("-" if by < 0 else "+", day, interval))
        if unit not in DAYS_OF:
            days = number * MONTHS_OF[unit] * SIXTEEN_MONTHS // 16
            self.text.refuse(
                node.expression,
                f"a column is moved by days or hours, since months differ, got {kind(node.expression)}; write INTERVAL "
                f"'{days}' DAY, or move the constant that it is compared with",
            )
        moved = Constant(Fraction(abs(by) * DAYS_OF[unit]))
        return self.build(node, lambda: combine("-" if by < 0 else "+", day, moved))

    def constant(self, node: exp.Expr) -> Node:
        """Read a constant to compute with, or a column that is to be of another type."""
        if is_cast(node):
            return self._cast(node)
        value = read_constant(self.text, node)
        return self.build(node, lambda: constant(value))

    def negate(self, node: exp.Expr, this: Node) -> Node:
        return negate(this)

    def combine(self, node: exp.Expr, left: Node, right: Node) -> Node:
        operator = self.operators[type(node)]
        if operator == "//":
            return self.build(node, lambda: floor_divide(left, right))
        return self.build(node, lambda: fold_day(combine(cast("Operator", operator), left, right)))

    def call(self, node: exp.Expr) -> Node:  # noqa: PLR0911  one for each kind
        """Read a function of columns."""
        if isinstance(node, exp.Extract):
            return self._extract(node)
        if isinstance(node, exp.Substring):
            return self._take_part(node)
        if isinstance(node, exp.DPipe):
            return self._chain(node)
        if isinstance(node, exp.Mod):
            self.text.take(node, "this", "expression")
            this, by = read_part(self, node.this), read_part(self, node.expression)
            return self.build(node, lambda: call("MOD", this, by))
        if isinstance(node, exp.Subquery):
            self.text.refuse(node, refuse_subquery(self.text, node))
        if not isinstance(node, exp.Anonymous):
            return self.name(node)
        function = _canonical_function(node.name)
        if function not in KNOWN and (problem := refuse_function(function)) is not None:
            self.text.refuse(node, problem)
        self.text.take(node, "this", "expressions")
        values = [read_part(self, argument) for argument in node.expressions]
        if function == "DATE_PART" and len(values) == 2 and isinstance(values[0], Constant):
            part = str(values[0].value)
            return self.build(node, lambda: fold_day(call(_canonical_function(part), values[1])))
        if function == "DATE_TRUNC" and len(values) == 2 and self._is_day_of_day(node, *values):
            return values[1]
        if function == "CEIL" and len(values) == 1:
            return self.build(node, lambda: negate(call("FLOOR", negate(values[0]))))
        return self.build(node, lambda: fold_day(call(function, *values)))

    def _cast(self, node: exp.Expr) -> Node:
        value = read_part(self, node.this)
        take_cast(self.text, node)
        column = self.text.fit(node.this, lambda table: table.column(value))
        to = node.args["to"]
        if column is None:  # then what a column holds is not known yet, but the day of a day is that day
            if (part := cast_unseen(value, to)) is None:
                self.text.refuse(node, "CAST is not supported here; leave it out: the contract says what columns hold")
            return part
        digits = digits_of(self.text, to)
        return self.build(node, lambda: cast_column(value, column, to, digits))

    def _is_day_of_day(self, node: exp.Expr, part: Node, of: Node) -> bool:
        """Return whether a day is rounded down to the day, which it is already."""
        if not isinstance(part, Constant) or str(part.value).lower() != "day":
            return False
        column = self.text.fit(node, lambda table: table.column(of))
        return column is not None and column.kind == DAY

    def _extract(self, node: exp.Extract) -> Node:
        self.text.take(node, "this", "expression")
        self.text.take(node.this, "this")
        for word in ("EXTRACT", str(node.this.name)):
            self.text.take_word(word)
        day = read_part(self, node.expression)
        return self.build(node, lambda: fold_day(call(_canonical_function(str(node.this.name)), day)))

    def _take_part(self, node: exp.Substring) -> Node:
        """Read SUBSTRING(text FROM start FOR length)."""
        self.text.take(node, "this", "start", "length")
        for word in ("SUBSTRING", "SUBSTR"):
            self.text.take_word(word)
        places = [place for place in (node.args.get("start"), node.args.get("length")) if place is not None]
        values = [read_part(self, part) for part in (node.this, *places)]
        return self.build(node, lambda: call("SUBSTR", *values))

    def _chain(self, node: exp.DPipe) -> Node:
        """Read texts one after the other."""
        self.text.take(node, "this", "expression", "safe")
        texts = [read_part(self, node.this), read_part(self, node.expression)]
        return self.build(node, lambda: chain(texts))

    def build(self, node: exp.Expr | None, build: Callable[[], T]) -> T:
        """Return what is built, or refuse it with a mark."""
        try:
            return build()
        except InvalidQuestion as problem:
            self.text.refuse(node, str(problem))

    # Conditions.

    def compare(self, left: exp.Expr, operator: Comparison, right: exp.Expr) -> Condition:
        """Read a comparison of a column with a constant, or of two columns."""
        if (condition := self.texts.compare(left, operator, right)) is not None:
            return condition
        self._refuse_order(left, operator, right)
        sides = self._as_truth([self._side(left), self._side(right)])
        constants = [isinstance(side, Constant) for side in sides]
        if all(constants):
            self.text.refuse(left, f"a column is needed here, got {kind(left)}; name one from the contract")
        keys = [side.name for side in sides if isinstance(self.text.columns.get(side.name), Keys)]
        if keys and not any(constants):
            if operator not in ("=", "<>") or not all(isinstance(side, ColumnRef) for side in sides):
                self.text.refuse(left.parent, f"{keys[0]} is categorical and has no order; compare it with = or <>")
            apart = Compare(Apart(*sides), operator, Constant(Fraction(0)))
            self.text.fit(left.parent, lambda table: check_condition(table, apart))
            return apart
        condition = self.build(left.parent, lambda: compare(sides[0], operator, sides[1]))
        self._fit(condition, left, right, constants)
        return condition

    def _refuse_order(self, left: exp.Expr, operator: Comparison, right: exp.Expr) -> None:
        """Refuse to compare identifiers by an order that they do not have."""
        asked, sides = self.text.asked, (left, right)
        if asked is None or operator in ("=", "<>") or not all(isinstance(side, exp.Column) for side in sides):
            return
        names = [read_reference(self.text, side).name for side in sides]
        if all(name in asked.identifiers for name in names):
            self.text.refuse(
                left.parent,
                f"identifiers have no order; write {kind(left)} <> {kind(right)}, which counts each pair twice, or "
                "compare a day or a number",
            )

    def _as_truth(self, sides: list[Node]) -> list[Node]:
        """Return two sides of a comparison, with 1 and 0 as true and false beside a column of these."""
        columns = [self.text.columns.get(side.name) for side in sides if isinstance(side, ColumnRef)]
        if not any(column is not None and column.kind is TRUTH_KEY for column in columns):
            return sides
        return [
            Constant(bool(side.value)) if isinstance(side, Constant) and side.number in (0, 1) else side
            for side in sides
        ]

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
        if (of := self.texts.find(node.this)) is not None:
            texts = [read_constant(self.text, option) for option in node.expressions]
            for text, option in zip(texts, node.expressions, strict=True):
                if not isinstance(text, str):
                    self.text.refuse(option, f"{kind(node.this)} is free text; list texts in single quotes")
            self.texts.take(node.this)
            return self.texts.is_one_of(of, [str(text) for text in texts])
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
        return Missing(read_counted(self.text, node.this))

    def is_like(self, node: exp.Expr) -> Condition:
        """Read a pattern that a key fits."""
        self.text.take(node, "this", "expression", "negate")
        pattern = read_constant(self.text, node.expression)
        if not isinstance(pattern, str):
            self.text.refuse(node.expression, f"LIKE takes text, got {kind(node.expression)}; write it like 'n%'")
        if (of := self.texts.find(node.this)) is not None and not of[1]:
            self.texts.take(node.this)
            matched = Raw(of[0], "ILIKE" if isinstance(node, exp.ILike) else "LIKE", (pattern,))
            fits = Compare(matched, "=", Constant(True))
            return Not(fits) if node.args.get("negate") else fits
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
        if isinstance(node, exp.Exists) or (isinstance(node, exp.In) and node.args.get("query") is not None):
            self.text.refuse(
                node,
                f"{'EXISTS' if isinstance(node, exp.Exists) else 'IN (SELECT …)'} beside OR takes one table, and "
                "columns that are equal to those of the row; else add LEFT JOIN (SELECT key, COUNT(*) AS n FROM … "
                "GROUP BY key) AS h ON …; here write h.n IS NOT NULL",
            )
        self.text.refuse(
            node, f"{kind(node)} is not a condition; use comparisons, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL"
        )


def read_condition(sql: str, table: Table | None = None, inner_names: Mapping[str, str] | None = None) -> Condition:
    """Read what could stand after WHERE, about the columns of a table; `inner_names` go before any others."""
    text = SqlText(sql, "a condition")
    if table is not None:
        text.ask(table, "")
        text.names = dict(table.names)
        text.inner_names = dict(inner_names or {})
    return text.read_expression(lambda tree: condition(text, tree), "age >= 65")


def to_condition(given: Condition | str, table: Table) -> Condition:
    """Return a condition, given as an object or as SQL text, checked against the columns of a table."""
    return check_condition(table, read_condition(given, table) if isinstance(given, str) else given)


def read_expression(sql: str, names: Mapping[str, Mapping[str, str]] | None = None) -> Expression:
    """Read a column made of columns, such as `FLOOR(age / 10) * 10`; in a join with the names of its tables."""
    text = SqlText(sql, "an expression")
    text.names = dict(names or {})
    return text.read_expression(lambda tree: Expression(read_value(RowScope(text), tree)), "FLOOR(age / 10) * 10")


def condition(text: SqlText, node: exp.Expr) -> Condition:
    """Read a condition on rows."""
    return read_condition_node(RowScope(text), node)


def is_derived(node: exp.Expr) -> bool:
    """Return whether a node looks like a column that is made of columns."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in KNOWN
    if isinstance(node, exp.Cast):
        return is_cast(node)
    return isinstance(node, (*RowScope.operators, *MADE))


def read_node(text: SqlText, node: exp.Expr | None) -> Node:
    """Return a column, or one made of columns; refuse one that the table does not have."""
    column = read_node_or_unit(text, node)
    text.fit(node, lambda table: table.column(column))
    return column


def read_counted(text: SqlText, node: exp.Expr | None) -> Node:
    """Return a column that is there or missing: an identifier, or the unit of a match, as whether it is there."""
    if (matched := read_matched(text, node)) is not None:
        return matched
    column = read_node_or_unit(text, node)
    if isinstance(column, ColumnRef) and text.asked is not None and column.name in text.asked.identifiers:
        return Raw(column.name, "PRESENT")
    text.fit(node, lambda table: table.column(column))
    return column


def read_node_or_unit(text: SqlText, node: exp.Expr | None) -> Node:
    """Return a column, one made of columns, or the unit."""
    scope = RowScope(text)
    if node is not None and (part := scope.texts.read_part(node)) is not None:
        return part
    if node is None or not is_derived(node):
        return read_reference(text, node)
    column = read_value(scope, node)
    if isinstance(column, Constant):
        text.refuse(node, f"a column is needed here, got {kind(node)}; name one from the contract")
    return scope.build(node, lambda: limit_size(column))


def _canonical_function(name: str) -> str:
    return SYNONYMS.get(name.upper(), name.upper())
