"""A SELECT: measures of the rows of a table, for each of some keys."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.query.condition import And, Condition, joined
from inbounds.query.measure import Measure
from inbounds.query.sql.conditions import condition, read_name
from inbounds.query.sql.expressions import is_made
from inbounds.query.sql.groupings import Grouped, read_groupings
from inbounds.query.sql.measures import Measured, has_measure, read_measure, refuse_no_measure
from inbounds.query.sql.relations import read_relation
from inbounds.query.sql.text import PlainCalls, SqlText, kind
from inbounds.query.table import Table
from inbounds.query.tables import Tables

CLAUSES = ("expressions", "from_", "joins", "where", "group")

MOST_MEASURES = 20
"""A question may have so many measures: each has a part of epsilon."""


@dataclass(frozen=True)
class Selected:
    """What a SELECT asks, in nodes."""

    table: str
    """The name after FROM, if that is all there is."""
    measures: tuple[Measure, ...]
    condition: Condition | None
    grouped: Grouped
    histogram: tuple[str, int | None] | None
    """The column of a histogram and how many bins, if that is asked for."""
    made: Table | None = None
    """The table that is asked, if it is made of others."""


def read_select(given: str, unit: str, tables: Tables | None = None) -> Selected:
    """Read a SELECT over a table whose unit is this column, or over what is made of some tables."""
    text = SqlText(given, "SQL", unit)
    return text.read(lambda: _statement(given), lambda tree: _select(text, tree, tables), "SELECT COUNT(*) FROM table")


def _statement(given: str) -> exp.Expr:
    """Return the one statement of a text."""
    found = [one for one in sqlglot.parse(given, dialect=PlainCalls) if one is not None]
    if len(found) != 1:
        raise InvalidQuestion(f"one statement at a time, got {len(found)}; ask one SELECT")
    return found[0]


def _select(text: SqlText, tree: exp.Expr, tables: Tables | None) -> Selected:
    if not isinstance(tree, exp.Select):
        text.refuse(tree, f"only SELECT is supported, got {kind(tree)}; ask for a measure")
    for name, value in tree.args.items():
        if value and name not in CLAUSES:
            node = value[0] if isinstance(value, list) else value
            told = kind(node) if isinstance(node, exp.Expr) else str(node)
            text.refuse(node, f"{told} is not supported; leave it out")
    text.take(tree, *CLAUSES)
    made = read_relation(text, tree, tables)
    table = _table(text, tree) if made is None else made.name
    grouped = read_groupings(text, tree.args.get("group"))
    found = _measured(text, tree, grouped.keys)
    conditions = [*_where(text, tree.args.get("where")), *(one for each in found for one in each.conditions)]
    kept = joined(And, *conditions) if len(conditions) > 1 else next(iter(conditions), None)
    measures = tuple(measure for one in found for measure in (one.measure, *one.others))
    return Selected(table, measures, kept, grouped, found[0].histogram, made)


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


def _measured(text: SqlText, tree: exp.Select, keys: tuple[str, ...]) -> list[Measured]:
    """Read what is selected and is no key."""
    found = []
    for selected in tree.expressions:
        this = _unnamed(text, selected)
        if not _is_of_columns(this):
            found.append(this)
        elif read_name(text, this) not in keys:
            text.refuse(
                this,
                f"{kind(this)} is selected but not in GROUP BY, and rows are never shown; leave it out, or group by it",
            )
    if not found:
        raise InvalidQuestion("SELECT needs a measure, such as COUNT(*) or AVG(column); add one")
    for node in found:
        refuse_no_measure(text, node)
    if len(found) > MOST_MEASURES:
        text.refuse(found[MOST_MEASURES], f"a question may have at most {MOST_MEASURES} measures; ask for fewer")
    read = [read_measure(text, node) for node in found]
    if len(read) > 1 or read[0].others:
        _refuse_not_together(text, found, read)
    return read


def _is_of_columns(node: exp.Expr) -> bool:
    """Return whether what is selected is a column, or made of columns: a key, if it is grouped by."""
    if isinstance(node, exp.Column):
        return not isinstance(node.this, exp.Star)
    return is_made(node) and not has_measure(node)


def _refuse_not_together(text: SqlText, nodes: list[exp.Expr], found: list[Measured]) -> None:
    """Refuse what would be about other rows than the measures beside it, and what is asked for twice."""
    for i, (node, one) in enumerate(zip(nodes, found, strict=True)):
        if one.histogram is not None:
            text.refuse(node, f"{node.name.upper()} stands alone in a question; ask for it in a question of its own")
        if one.conditions:
            text.refuse(
                node,
                "beside other measures, rows can only be counted with COUNT(*); write that, or ask for it in a "
                "question of its own",
            )
        measures = (one.measure, *one.others)
        before = {measure for other in found[:i] for measure in (other.measure, *other.others)}
        if len(set(measures)) < len(measures) or before.intersection(measures):
            text.refuse(node, "this measure is asked for twice; leave it out here")


def _unnamed(text: SqlText, selected: exp.Expr) -> exp.Expr:
    """Return what is selected without the name given to it, which changes nothing."""
    if not isinstance(selected, exp.Alias):
        return selected
    text.take(selected, "this", "alias")
    text.take(selected.args["alias"], "this", "quoted")
    this: exp.Expr = selected.this
    return this
