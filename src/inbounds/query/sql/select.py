"""A SELECT: one measure of the rows of a table, for each of some keys."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.condition import And, Condition, joined
from inbounds.query.measure import Measure
from inbounds.query.sql.conditions import condition
from inbounds.query.sql.measures import Measured, read_measure, refuse_no_measure
from inbounds.query.sql.text import PlainCalls, SqlText, kind
from inbounds.query.sql.values import is_number, read_column

CLAUSES = ("expressions", "from_", "where", "group")


@dataclass(frozen=True)
class Selected:
    """What a SELECT asks, in nodes."""

    table: str
    measure: Measure
    condition: Condition | None
    keys: tuple[str, ...]
    histogram: tuple[str, int | None] | None
    """The column of a histogram and how many bins, if that is asked for."""


def read_select(given: str, unit: str) -> Selected:
    """Read a SELECT over a table whose unit is this column."""
    text = SqlText(given, "SQL", unit)
    return text.read(lambda: _statement(given), lambda tree: _select(text, tree), "SELECT COUNT(*) FROM table")


def _statement(given: str) -> exp.Expr:
    """Return the one statement of a text."""
    found = [one for one in sqlglot.parse(given, dialect=PlainCalls) if one is not None]
    if len(found) != 1:
        raise InvalidQuestion(f"one statement at a time, got {len(found)}; ask one SELECT")
    return found[0]


def _select(text: SqlText, tree: exp.Expr) -> Selected:
    if not isinstance(tree, exp.Select):
        text.refuse(tree, f"only SELECT is supported, got {kind(tree)}; ask for a measure")
    for name, value in tree.args.items():
        if value and name not in CLAUSES:
            node = value[0] if isinstance(value, list) else value
            told = kind(node) if isinstance(node, exp.Expr) else str(node)
            text.refuse(node, f"{told} is not supported; leave it out")
    text.take(tree, *CLAUSES)
    table = _table(text, tree)
    keys = _keys(text, tree.args.get("group"))
    found = _measured(text, tree, keys)
    conditions = [*_where(text, tree.args.get("where")), *found.conditions]
    kept = joined(And, *conditions) if len(conditions) > 1 else next(iter(conditions), None)
    return Selected(table, found.measure, kept, keys, found.histogram)


def _where(text: SqlText, clause: exp.Expr | None) -> tuple[Condition, ...]:
    if clause is None:
        return ()
    text.take(clause, "this")
    return (condition(text, clause.this),)


def _table(text: SqlText, tree: exp.Select) -> str:
    source = tree.args.get("from_")
    if source is None:
        raise InvalidQuestion("SELECT needs FROM and the name of the dataset; add them")
    table = source.this
    plain = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
    if not plain or any(value for name, value in table.args.items() if name != "this"):
        text.refuse(table, "FROM takes the name of the dataset, nothing else; leave the rest out")
    text.take(source, "this")
    text.take(table, "this")
    text.take(table.this, "this", "quoted")
    text.table = str(table.name)
    return text.table


def _keys(text: SqlText, group: exp.Expr | None) -> tuple[str, ...]:
    if group is None:
        return ()
    if not group.expressions or any(value for name, value in group.args.items() if name != "expressions"):
        text.refuse(group, "GROUP BY takes columns, nothing else; leave the rest out")
    text.take(group, "expressions")
    for key in group.expressions:
        if is_number(key):
            text.refuse(key, f"GROUP BY takes columns, got {kind(key)}; write the column's name")
        if not isinstance(key, exp.Column):
            text.refuse(
                key,
                f"GROUP BY takes columns, got {kind(key)}; group by a column of the contract, or ask for "
                "HISTOGRAM(column, bins)",
            )
    return tuple(read_column(text, key) for key in group.expressions)


def _measured(text: SqlText, tree: exp.Select, keys: tuple[str, ...]) -> Measured:
    """Read the one thing selected that is no key."""
    found = []
    for selected in tree.expressions:
        this = _unnamed(text, selected)
        if not isinstance(this, exp.Column) or isinstance(this.this, exp.Star):
            found.append(this)
        elif read_column(text, this) not in keys:
            text.refuse(
                this,
                f"{this.name} is selected but not in GROUP BY, and rows are never shown; leave it out, or group by it",
            )
    if not found:
        raise InvalidQuestion("SELECT needs a measure, such as COUNT(*) or AVG(column); add one")
    for node in found:
        refuse_no_measure(text, node)
    if len(found) > 1:
        text.refuse(found[1], "one measure a question, got a second; ask for it in a question of its own")
    return read_measure(text, found[0])


def _unnamed(text: SqlText, selected: exp.Expr) -> exp.Expr:
    """Return what is selected without the name given to it, which changes nothing."""
    if not isinstance(selected, exp.Alias):
        return selected
    text.take(selected, "this", "alias")
    text.take(selected.args["alias"], "this", "quoted")
    this: exp.Expr = selected.this
    return this
