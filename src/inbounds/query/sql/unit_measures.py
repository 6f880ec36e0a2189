"""What an inner SELECT makes of the rows of a unit: MAX, MIN, AVG, SUM and COUNT, with ends for the last two.

ARG_MIN(ward, day) is the ward of the first day, ARG_MAX(ward, day) that of the last.
"""

from __future__ import annotations

from datetime import date, time
from fractions import Fraction

from sqlglot import exp

from inbounds.query.grammar.rows import read_counted, read_node
from inbounds.query.grammar.text import SqlText, function_name, kind
from inbounds.query.grammar.values import is_number, read_constant
from inbounds.query.tables.table import Table
from inbounds.query.tables.unit_measure import Function, UnitMeasure

OF_COLUMN: dict[str, Function] = {
    "MAX": "MAX", "MIN": "MIN", "AVG": "AVG", "SUM": "SUM", "ARG_MIN": "ARG_MIN", "ARG_MAX": "ARG_MAX",
}  # fmt: skip
ORDERED = ("ARG_MIN", "ARG_MAX")
"""What takes the value of one row, which another column says."""
ENDS = ("LEAST", "GREATEST")
LIKE = "MAX(age), LEAST(COUNT(*), 50)"


def parse_unit_measure(sql: object, table: Table) -> UnitMeasure:
    """Read what is made of the rows of a unit from a text of its own."""
    text = SqlText(sql, "a per-unit measure")
    text.ask(table, "")
    text.names = dict(table.names)
    return text.read_expression(lambda tree: read_unit_measure(text, tree), LIKE)


def read_unit_measure(text: SqlText, node: exp.Expr) -> UnitMeasure:
    """Read what is made of the rows of a unit."""
    name = function_name(node)
    if name in ENDS:
        return _read_with_end(text, node, name)
    if name == "COUNT":
        return _count(text, node)
    if name not in OF_COLUMN:
        text.refuse(node, f"{kind(node)} cannot be computed per unit; write COUNT, {', '.join(OF_COLUMN)}")
    if name in ORDERED:
        return _read_ordered(text, node)
    (this,) = text.arguments(node, 1, f"{name}(age)")
    if isinstance(this, exp.Distinct):
        text.refuse(this, "DISTINCT works inside COUNT only; leave it out")
    return UnitMeasure(OF_COLUMN[name], read_node(text, this))


def _read_ordered(text: SqlText, node: exp.Expr) -> UnitMeasure:
    """Read what a column is in the row with the least of another, or the greatest."""
    name = function_name(node)
    arguments = text.arguments(node, 2, like := f"{name}(ward, day)")
    if len(arguments) != 2:
        text.refuse(node, f"{name} takes a column, and one that says in which row; write it like {like}")
    this, by = (read_node(text, argument) for argument in arguments)
    return UnitMeasure(OF_COLUMN[name], this, by=by)


def _count(text: SqlText, node: exp.Expr) -> UnitMeasure:
    (this,) = text.arguments(node, 1, "COUNT(*)")
    if take_all_rows(text, this):
        return UnitMeasure("COUNT")
    if isinstance(this, exp.Distinct):
        text.take(this, "expressions")
        if len(this.expressions) != 1:
            text.refuse(this, "COUNT(DISTINCT) takes one column; name one")
        return UnitMeasure("COUNT DISTINCT", read_node(text, this.expressions[0]))
    return UnitMeasure("COUNT", read_counted(text, this))


def take_all_rows(text: SqlText, argument: exp.Expr) -> bool:
    """Return whether all rows are counted, as in COUNT(*) and COUNT(1); if so, the argument is taken."""
    if isinstance(argument, exp.Star):
        text.take(argument)
        return True
    if is_number(argument):
        read_constant(text, argument)
        return True
    return False


def _read_with_end(text: SqlText, node: exp.Expr, name: str) -> UnitMeasure:
    """Read a count or a sum with an end: LEAST(SUM(cost), 500), or the other way round."""
    arguments = text.arguments(node, 2, f"{name}(COUNT(*), 50)")
    calls = list(filter(function_name, arguments))
    if len(arguments) != 2 or len(calls) != 1:
        text.refuse(node, f"{name} takes a count or a sum, and a number; write it like {name}(COUNT(*), 50)")
    this = read_unit_measure(text, calls[0])
    end = read_constant(text, next(argument for argument in arguments if argument is not calls[0]))
    if this.function not in ("COUNT", "SUM"):
        text.refuse(node, f"{name} works with COUNT and SUM; {this} has its column's bounds, so apply {name} outside")
    if isinstance(end, str | bool | date | time):
        text.refuse(node, f"{name} takes a number; write it like {name}(COUNT(*), 50)")
    least, most = (this.least, Fraction(end)) if name == "LEAST" else (Fraction(end), this.most)
    before = this.most if name == "LEAST" else this.least
    if before is not None:
        text.refuse(node, f"{name} appears twice; leave one out")
    if least is not None and most is not None and least >= most:
        text.refuse(node, "no value lies between these limits; give GREATEST the smaller number")
    return UnitMeasure(this.function, this.column, least, most)
