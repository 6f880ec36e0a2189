"""What looks at other rows than its own: windows over rows, and subqueries in place of values."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.expressions.node import quote_name
from inbounds.query.grammar.text import SqlText, function_name, kind
from inbounds.query.sql.unit_measures import OF_COLUMN


def refuse_other_rows(text: SqlText, node: exp.Expr) -> None:
    """Refuse what looks at other rows than its own."""
    for part in node.walk():
        if isinstance(part, exp.Window):
            text.refuse(part, refuse_window(text, part))
        if isinstance(part, exp.Subquery | exp.Select):
            text.refuse(part, "a subquery here looks at other people's rows; ask for it first, and write a constant")


def refuse_window(text: SqlText, node: exp.Window) -> str:
    """Say why a window over rows is refused: it looks at others' rows, or at a unit's own, which a subquery groups."""
    asked = text.asked
    if asked is None or asked.owner is None:
        return f"{kind(node)} looks at other people's rows; leave it out"
    parts = [part for part in node.args.get("partition_by") or () if isinstance(part, exp.Column)]
    by = [text.canonical(part.this, (*asked.identifiers, asked.owner)) for part in parts]
    is_own = asked.is_of_one_unit(by)
    why = "is not supported over rows" if is_own else "looks at other people's rows"
    keys = ", ".join(map(quote_name, by if is_own else [asked.owner]))
    inner = f"(SELECT {keys}, {_measured(node)} AS x FROM … GROUP BY {keys}) AS t"
    return f"{kind(node)} {why}; write {inner} after FROM, and join it"


def _measured(node: exp.Window) -> str:
    """Return what a subquery could measure in place of a window."""
    if function_name(node.this) in (*OF_COLUMN, "COUNT"):
        return kind(node.this)
    order = node.args.get("order")
    column = None if order is None else order.find(exp.Column)
    return "COUNT(*)" if column is None else f"MIN({kind(column)})"
