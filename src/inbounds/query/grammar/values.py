"""What stands at the ends of a text of SQL: columns and constants."""

from __future__ import annotations

from datetime import datetime, time
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from sqlglot import exp

from inbounds.display.suggestion import find_nearest, list_names, suggest
from inbounds.query.expressions.functions import refuse_function
from inbounds.query.expressions.node import ColumnRef, Node, quote_name
from inbounds.query.expressions.raw import Raw
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.grammar.times import is_time, read_time
from inbounds.query.grammar.today import read_today

LONGEST_NUMBER = 400
"""Digits of a number, before or after the point."""

Constant = int | Fraction | str | bool | datetime | time


def read_reference(text: SqlText, node: exp.Expr | None) -> Node:
    """Return what the name of a column stands for: a column, or what an inner SELECT has made of columns."""
    if text.projected is None:
        return ColumnRef(read_column(text, node))
    if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
        text.refuse(node, no_value(node) or f"a column is needed here, got {kind(node)}; name one of the inner SELECT")
    table = node.args.get("table")
    name = text.canonical(node.this, text.projected)
    if (table is not None and text.canonical(table, (text.table,)) != text.table) or name not in text.projected:
        remedy = suggest(node.name, text.projected, "the inner SELECT has", write=quote_name)
        text.refuse(node, f"there is no column {kind(node)}; {remedy}")
    text.take(node, "this", "table")
    for part in (node.this, table):
        if part is not None:
            text.take(part, "this", "quoted")
    return text.projected[name]


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
        text.refuse(node, f"{owner} has no column {column}; {suggest(column, names, 'it has', write=quote_name)}")
    if owner in text.unmatched and names[column] == text.unit:
        text.refuse(
            node,
            f"{kind(node)} is missing in rows without a match, so it cannot be their unit; count "
            f"{text.table}.{text.unit}, or use another column of {owner}",
        )
    if column in names:
        return names[column]
    if table is None and (inner := text.canonical(node.this, text.inner_names)) in text.inner_names:
        return text.inner_names[inner]
    identifiers = () if text.asked is None else tuple(text.asked.identifiers)
    known = (*text.columns, *([text.unit] if text.unit else []), *identifiers)
    own_name = text.canonical(node.this, known)
    is_unknown = own_name not in known and not any(other.endswith(f".{own_name}") for other in known)
    if text.asked is not None and table is None and node.this.args.get("quoted") and is_unknown:
        known_names = text.asked.shown_names
        near = " or ".join(map(quote_name, find_nearest(node.name, known_names)))
        columns = near or f"one of {list_names(known_names, quote_name)}"
        as_text = exp.Literal.string(node.name).sql()
        text.refuse(node, f"there is no column {kind(node)}; for text write {as_text}, for a column {columns}")
    return own_name


def read_matched(text: SqlText, node: exp.Expr | None) -> Raw | None:
    """Return whether a row has a match in a table, if a node is the unit of one that it may have none in."""
    if text.asked is None or not isinstance(node, exp.Column):
        return None
    matched, table = text.asked.matched, node.args.get("table")
    label = str(node.name) if table is None and node.this.args.get("quoted") else ""
    if table is not None:
        alias = text.canonical(table, matched.values())
        units = [name.removeprefix(f"{alias}.") for name, of in matched.items() if of == alias]
        label = f"{alias}.{text.canonical(node.this, units)}"
    if label not in matched:
        return None
    text.take(node, "this", "table")
    for part in (node.this, table):
        if part is not None:
            text.take(part, "this", "quoted")
    return Raw(label, "PRESENT")


def refuse_subquery(text: SqlText, node: exp.Expr) -> str:
    """Say why a subquery cannot stand in place of a value."""
    if node.find(exp.Table) is None:
        return f"a column is needed here, or a constant, got {kind(node)}; write what it says as a constant"
    tables = [text.canonical(table.this, text.public_tables) for table in node.find_all(exp.Table)]
    if tables and all(table in text.public_tables for table in tables):
        return (
            "this subquery is about public tables only; ask the database itself, free, and write what it says as a "
            "constant"
        )
    if (key := _own_key(text, node)) is not None:
        return (
            "a subquery about the same person's rows takes one table, one measure, and columns that are equal; write "
            f"{key} IN (SELECT … FROM … GROUP BY … HAVING …), or group it in a subquery after FROM, and join that"
        )
    return (
        "this subquery looks at other people's rows, so one person could change what all rows are compared with; ask "
        "for it in a query of its own, and write what it says as a constant; if it is about the same person, group it "
        "by the unit in a subquery of FROM, and join that"
    )


def _own_key(text: SqlText, node: exp.Expr) -> str | None:
    """Return what a subquery shares with the row that it stands at, if that belongs to one unit."""
    asked = text.asked
    if asked is None or asked.owner is None:
        return None
    for test in node.find_all(exp.EQ):
        for column in (test.this, test.expression):
            table = column.args.get("table") if isinstance(column, exp.Column) else None
            if table is None:
                continue
            alias = text.canonical(table, (text.table, *text.names))
            names = text.names.get(alias, {})
            own = text.canonical(column.this, names or (*asked.identifiers, asked.owner))
            if (alias == text.table or alias in text.names) and asked.is_of_one_unit([names.get(own, own)]):
                return kind(column)
    return None


def no_value(node: exp.Expr | None) -> str | None:
    """Say what is wrong with what many would take for a value, None if that is not known."""
    call = node.this if isinstance(node, exp.WithinGroup) else node
    if isinstance(call, exp.Anonymous):
        return refuse_function(call.name.upper())
    if isinstance(node, exp.Cast):
        return (
            "CAST is not supported, because a row could make it fail; leave it out: the contract says what columns hold"
        )
    if isinstance(node, exp.Window):
        return f"{kind(node)} looks at other people's rows; compute it per unit in a subquery, or of what is released"
    if isinstance(node, exp.Null):
        return "NULL is not a value; write IS NULL in a condition, or leave it out"
    return None


def read_constant(text: SqlText, node: exp.Expr | None) -> Constant:
    """Return a number exactly, a text, a day as its text, a time, or a truth value."""
    if isinstance(node, exp.CurrentDate):
        return read_today(text, node)
    if isinstance(node, exp.Cast) and is_time(node):
        return read_time(text, node)
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        text.take(node, "this")
        return -_number(text, node.this)
    if isinstance(node, exp.Boolean):
        text.take(node, "this")
        return bool(node.this)
    if isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DATE and isinstance(node.this, exp.Literal):
        text.take(node, "this", "to")
        text.take(node.to, "this")
        text.take_word("CAST")
        node = node.this
        if not node.is_string:
            text.refuse(node, f"a date must be in single quotes, got {kind(node)}; write it like '2026-12-31'")
    if isinstance(node, exp.Subquery | exp.Select):
        text.refuse(node, refuse_subquery(text, node))
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
    if "start" not in node.meta and node.this.startswith("0."):  # .06, of which sqlglot keeps no place
        text.take_word(node.this.removeprefix("0."))
    try:
        number = Decimal(node.this) if len(node.this) <= LONGEST_NUMBER else None
    except InvalidOperation:  # an exponent beyond all
        number = None
    if number is None or abs(number.adjusted()) > LONGEST_NUMBER:
        text.refuse(node, f"a number may have at most {LONGEST_NUMBER} digits; round it")
    value = Fraction(number)
    return value.numerator if value.denominator == 1 else value
