"""What stands at the ends of a text of SQL: columns and constants."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from sqlglot import exp

from inbounds.query.expressions.functions import refuse_function
from inbounds.query.grammar.text import SqlText, kind

LONGEST_NUMBER = 400
"""Digits of a number, before or after the point."""

Constant = int | Fraction | str | bool


def read_column(text: SqlText, node: exp.Expr | None) -> str:
    """Return the name of a column."""
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        text.refuse(node, no_value(node) or f"a column is needed here, got {kind(node)}; name one from the contract")
    table, tables = node.args.get("table"), (text.table, *text.names)
    owner = "" if table is None else text.canonical(table, tables)
    if node.args.get("db") or (table is not None and owner not in tables):
        text.refuse(node, f"{kind(node)} names another table; leave out the part before the dot")
    text.take(node, "this", "table")
    for name in (node.this, table):
        if name is not None:
            text.take(name, "this", "quoted")
    # In a join a column is looked up under the name of its table; else it is one of the table that is asked.
    names = text.names.get(owner, {})
    column = text.canonical(node.this, names)
    if names and column not in names:
        text.refuse(node, f"{owner} has no column {column}; it has {', '.join(names)}")
    if owner in text.unmatched and names[column] == text.unit:
        text.refuse(
            node,
            f"{kind(node)} is missing in rows without a match, so it cannot be their unit; count "
            f"{text.table}.{text.unit}, or use another column of {owner}",
        )
    if column in names:
        return names[column]
    known = (*text.columns, *([text.unit] if text.unit else []))
    own_name = text.canonical(node.this, known)
    is_unknown = own_name not in known and not any(other.endswith(f".{own_name}") for other in known)
    if text.asked is not None and table is None and node.this.args.get("quoted") and is_unknown:
        columns = ", ".join(list(text.columns)[:10]) or "none but the unit"
        as_text = exp.Literal.string(node.name).sql()
        text.refuse(node, f"there is no column {kind(node)}; for text write {as_text}, for a column one of {columns}")
    return own_name


def no_value(node: exp.Expr | None) -> str | None:
    """Say what is wrong with what many would take for a value, None if that is not known."""
    call = node.this if isinstance(node, exp.WithinGroup) else node
    if isinstance(call, exp.Anonymous):
        return refuse_function(call.name.upper())
    if isinstance(node, exp.Cast):
        return (
            "CAST is not supported, because a row could make it fail; leave it out: the contract says what columns hold"
        )
    if isinstance(node, exp.Null):
        return "NULL is not a value; write IS NULL in a condition, or leave it out"
    return None


def read_constant(text: SqlText, node: exp.Expr | None) -> Constant:
    """Return a number exactly, a text, a day as its text, or a truth value."""
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        text.take(node, "this")
        return -_number(text, node.this)
    if isinstance(node, exp.Boolean):
        text.take(node, "this")
        return bool(node.this)
    if isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DATE and isinstance(node.this, exp.Literal):
        text.take(node, "this", "to")
        text.take(node.to, "this")
        node = node.this
        if not node.is_string:
            text.refuse(node, f"a date must be in single quotes, got {kind(node)}; write it like '2026-12-31'")
    if not isinstance(node, exp.Literal):
        text.refuse(
            node,
            no_value(node)
            or f"a constant is needed here, got {kind(node)}; write a number, or text or a date in single quotes",
        )
    if not node.is_string:
        return _number(text, node)
    text.take(node, "this", "is_string")
    return str(node.this)


def is_number(node: exp.Expr | None, number: int | None = None) -> bool:
    """Return whether a node is a number, or this number."""
    if not isinstance(node, exp.Literal) or node.is_string:
        return False
    return number is None or node.this in (f"{number}", f"{number}.0")


def _number(text: SqlText, node: exp.Literal) -> int | Fraction:
    """Return a number exactly, unless it is written to fill the memory."""
    text.take(node, "this")
    try:
        number = Decimal(node.this) if len(node.this) <= LONGEST_NUMBER else None
    except InvalidOperation:  # an exponent beyond all
        number = None
    if number is None or abs(number.adjusted()) > LONGEST_NUMBER:
        text.refuse(node, f"a number may have at most {LONGEST_NUMBER} digits; round it")
    value = Fraction(number)
    return value.numerator if value.denominator == 1 else value
