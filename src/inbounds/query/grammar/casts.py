"""CAST between types of columns, as far as no row can make it fail."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.columns.column import Column, Keys, Numbers
from inbounds.query.columns.kind import CLOCK, DAY, TEXT_KEY, TIME, TRUTH_KEY
from inbounds.query.expressions.arithmetic import Case
from inbounds.query.expressions.condition import Compare
from inbounds.query.expressions.functions import CLOCK_OF, TEXT_OF, call
from inbounds.query.expressions.node import Constant, Node
from inbounds.query.grammar.text import SqlText

Type = exp.DataType.Type
WHOLE = exp.DataType.INTEGER_TYPES
FRACTIONS = exp.DataType.NUMERIC_TYPES - WHOLE
TEXTS = exp.DataType.TEXT_TYPES
DAYS = (Type.DATE, Type.DATE32)
CLOCKS = (Type.TIME,)
MOMENTS = (Type.TIMESTAMP, Type.TIMESTAMPNTZ, Type.DATETIME)

ONE, ZERO = Constant(Fraction(1)), Constant(Fraction(0))


def is_cast(node: exp.Expr) -> bool:
    """Return whether a node casts something else than a constant."""
    return isinstance(node, exp.Cast) and not isinstance(node.this, exp.Literal)


def take_cast(text: SqlText, node: exp.Expr) -> None:
    """Note that a CAST has been read, but for what it casts."""
    text.take(node, "this", "to", "safe")
    text.take_all(node.args["to"])
    for word in ("CAST", "TRY_CAST"):
        text.take_word(word)


def digits_of(text: SqlText, to: exp.DataType) -> int | None:
    """Return how many digits a decimal type keeps after the point, if that was written."""
    digits = to.expressions[1].this if len(to.expressions) == 2 else None
    # sqlglot adds those of DuckDB to a type without any; the text does not have them there.
    if digits is None or "start" not in digits.meta:
        return None
    written = text.sql[digits.meta["start"] : digits.meta["end"] + 1]
    return int(digits.this) if written == digits.this else None


def truth_as_number(value: Node) -> Case:
    """Return 1 for true, 0 for false, and nothing for what is missing."""
    return Case(((Compare(value, "=", Constant(True)), ONE), (Compare(value, "=", Constant(False)), ZERO)))


def cast_column(value: Node, column: Column, to: exp.DataType, digits: int | None = None) -> Node:
    """Return a column as another type, to so many digits; refuse what a row could make fail."""
    target = to.this
    if target in TEXTS:
        return value if column.kind is TEXT_KEY else call(TEXT_OF, value)
    if column.kind is TRUTH_KEY and (target == Type.BOOLEAN or target in WHOLE | FRACTIONS):
        return value if target == Type.BOOLEAN else truth_as_number(value)
    if isinstance(column, Keys):
        if column.kind is not TEXT_KEY and target in WHOLE:
            return value
    elif column.kind is DAY:
        if target in DAYS:
            return value
    elif column.kind in (TIME, CLOCK):
        time = _cast_moment(value, column, to)
        if time is not None:
            return time
    elif isinstance(column, Numbers):
        number = _cast_number(value, column, to, digits)
        if number is not None:
            return number
    raise InvalidQuestion(
        f"CAST({value} AS {to.sql(dialect='duckdb')}) is not supported: {value} holds {_held(column)}; leave CAST "
        "out, or write a CASE"
    )


def cast_unseen(value: Node, to: exp.DataType) -> Node | None:
    """Return a value of which nothing is known as a day, a time of day or a text; None for other types."""
    if to.this in DAYS:
        return call("DATE_TRUNC", Constant("day"), value)
    if to.this in TEXTS:
        return call(TEXT_OF, value)
    return call(CLOCK_OF, value) if to.this in CLOCKS else None


def _cast_moment(value: Node, column: Column, to: exp.DataType) -> Node | None:
    """Return a moment or a time of day as another type; None where it has no such value."""
    if to.this in (MOMENTS if column.kind is TIME else CLOCKS):
        return value
    return cast_unseen(value, to) if column.kind is TIME else None


def _cast_number(value: Node, column: Numbers, to: exp.DataType, digits: int | None) -> Node | None:
    if to.this in WHOLE:
        is_whole = column.low.denominator == column.step.denominator == 1 and column.bounds.step is not None
        return value if is_whole else call("ROUND", value)
    if to.this in FRACTIONS:
        return value if digits is None else call("ROUND", value, Constant(Fraction(digits)))
    if to.this == Type.BOOLEAN:
        test = Compare(value, "<>", ZERO)
        return Case(((test, Constant(True)), (Compare(value, "=", ZERO), Constant(False))))
    return None


def _held(column: Column) -> str:
    """Return what a message calls the values of a column."""
    if isinstance(column, Numbers):
        return column.kind.plural
    return "true and false" if column.kind is TRUTH_KEY else "categories"
