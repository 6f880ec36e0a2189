"""A SELECT: measures of the rows of a table, for each of some keys, and how what is released of them is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.answer.view import AS_RELEASED, Shown
from inbounds.query.expressions.condition import And, Condition, joined
from inbounds.query.expressions.node import Node
from inbounds.query.grammar.rows import condition
from inbounds.query.grammar.text import PlainCalls, SqlText, kind
from inbounds.query.question.measure import Cdf, Measure
from inbounds.query.sql.collected import Collected
from inbounds.query.sql.groupings import Grouped, read_groupings
from inbounds.query.sql.relations import read_relation
from inbounds.query.sql.view import Reading
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.table import Table

TOP = re.compile(r"\s*SELECT\s+TOP\s+(\d+)", re.IGNORECASE)

CLAUSES = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset")


LIKE = "SELECT COUNT(*) FROM table"


@dataclass(frozen=True)
class Selected:
    """What a SELECT asks, in nodes."""

    table: str
    """The name after FROM, if that is all there is."""
    measures: tuple[Measure, ...]
    condition: Condition | None
    grouped: Grouped
    histogram: tuple[Node, int | None] | None
    """The column of a histogram and how many bins, if that is asked for."""
    shown: Shown = AS_RELEASED
    """What is shown of what is released."""
    made: Table | None = None
    """The table that is asked, if it is made of others."""


def read_select(given: object, tables: Tables) -> Selected:
    """Read a SELECT over a table of a contract, or over what is made of some of them."""
    text = SqlText(given, "SQL", tables.main.unit, tables.main.columns)
    return text.read(lambda: _statement(text.sql), lambda tree: _select(text, tree, tables), LIKE)


def _statement(given: str) -> exp.Expr:
    """Return the one statement of a text."""
    if top := TOP.match(given):
        raise InvalidQuestion(f"TOP is not supported; write LIMIT {shown(int(top[1]))} at the end")
    found = [one for one in sqlglot.parse(given, dialect=PlainCalls) if one is not None]
    if len(found) != 1:
        raise InvalidQuestion(f"one statement at a time, got {len(found)}; write one SELECT")
    return found[0]


def _select(text: SqlText, tree: exp.Expr, tables: Tables) -> Selected:
    if isinstance(tree, exp.SetOperation):
        text.refuse(tree, f"{tree.key.upper()} is not supported; ask each SELECT as its own query, or use GROUP BY")
    if not isinstance(tree, exp.Select):
        text.refuse(tree, f"only SELECT is supported, got {kind(tree)}; write it like {LIKE}")
    for clause, value in tree.args.items():
        if value and clause not in CLAUSES:
            node = value[0] if isinstance(value, list) else value
            told = kind(node) if isinstance(node, exp.Expr) else str(node)
            remedy = "use GROUP BY and a measure such as COUNT(*)" if clause == "distinct" else "leave it out"
            text.refuse(node, f"{told} is not supported; {remedy}")
    text.take(tree, *CLAUSES)
    made = read_relation(text, tree, tables)
    table = _table(text, tree, tables) if made is None else made.name
    text.selected = [one.this if isinstance(one, exp.Alias) else one for one in tree.expressions]
    text.aliases = {str(one.alias): one.this for one in tree.expressions if isinstance(one, exp.Alias)}
    grouped = read_groupings(text, tree.args.get("group"))
    collected = Collected(text)
    reading = Reading(text, grouped.keys, collected)
    shown = reading.read(tree)
    if grouped.keys and Cdf() in collected.measures:
        told = "CDF covers all rows at once; leave GROUP BY out, and choose the group in WHERE"
        text.refuse(tree.args["group"], told)
    conditions = [*_where(text, tree.args.get("where")), *collected.conditions]
    kept = joined(And, *conditions) if len(conditions) > 1 else next(iter(conditions), None)
    return Selected(table, collected.measures, kept, grouped, collected.histogram, shown, made)


def _where(text: SqlText, clause: exp.Expr | None) -> tuple[Condition, ...]:
    if clause is None:
        return ()
    text.take(clause, "this")
    return (condition(text, clause.this),)


def _table(text: SqlText, tree: exp.Select, tables: Tables) -> str:
    """Return the table that is asked; its alias, if it has one, is what columns are named by."""
    source = tree.args.get("from_")
    if source is None:
        raise InvalidQuestion("SELECT needs FROM and the name of the dataset; add them")
    table = source.this
    plain = isinstance(table, exp.Table) and isinstance(table.this, exp.Identifier)
    if not plain or any(value for part, value in table.args.items() if part not in ("this", "alias")):
        text.refuse(table, "FROM takes the name of the dataset only; leave the rest out")
    text.take(source, "this")
    text.take(table, "this", "alias")
    text.take(table.this, "this", "quoted")
    found = text.table = text.canonical(table.this, tables.private)
    if found not in tables.private:
        text.refuse(table.this, tables.why_not(found))
    text.ask(tables.private[found], found)
    text.unit = tables.private[found].unit
    alias = table.args.get("alias")
    if alias is not None:
        if alias.args.get("columns") or not isinstance(alias.this, exp.Identifier):
            text.refuse(table, "FROM takes the name of the dataset and an alias; leave the rest out")
        text.take(alias, "this")
        text.table = text.given_name(alias.this)
    return found
