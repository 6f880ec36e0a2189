"""A SELECT: measures of the rows of a table, for each of some keys, and how what is released of them is shown."""

from __future__ import annotations

import re
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import shown
from inbounds.query.answer.view import AS_RELEASED, View
from inbounds.query.expressions.condition import And, Condition, join_conditions
from inbounds.query.expressions.node import Node
from inbounds.query.grammar.rows import condition
from inbounds.query.grammar.text import PlainCalls, SqlText, kind
from inbounds.query.question.measure import Cdf, Measure
from inbounds.query.sql.groupings import Groupings, read_groupings
from inbounds.query.sql.measure_calls import MeasureCalls
from inbounds.query.sql.relations import read_relation, take_clauses
from inbounds.query.sql.view import ViewReader
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.table import Table

TOP = re.compile(r"\s*SELECT\s+TOP\s+(\d+)", re.IGNORECASE)

CLAUSES = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset")


LIKE = "SELECT COUNT(*) FROM table"


@dataclass(frozen=True)
class Select:
    """What a SELECT asks, in nodes."""

    table: str
    """The name after FROM, if that is all there is."""
    measures: tuple[Measure, ...]
    condition: Condition | None
    groupings: Groupings
    histogram: tuple[Node, int | None] | None
    """The column of a histogram and how many bins, if that is asked for."""
    view: View = AS_RELEASED
    """What is shown of what is released."""
    relation: Table | None = None
    """The table that is asked, if it is made of others."""


def read_select(sql: object, tables: Tables) -> Select:
    """Read a SELECT over a table of a contract, or over what is made of some of them."""
    text = SqlText(sql, "SQL", tables.main.unit, tables.main.columns)
    return text.read(lambda: _parse_statement(text.sql), lambda tree: _read_tree(text, tree, tables), LIKE)


def _parse_statement(sql: str) -> exp.Expr:
    """Return the one statement of a text."""
    if top := TOP.match(sql):
        raise InvalidQuestion(f"TOP is not supported; write LIMIT {shown(int(top[1]))} at the end")
    statements = [tree for tree in sqlglot.parse(sql, dialect=PlainCalls) if tree is not None]
    if len(statements) != 1:
        raise InvalidQuestion(f"one statement at a time, got {len(statements)}; write one SELECT")
    return statements[0]


def _read_tree(text: SqlText, tree: exp.Expr, tables: Tables) -> Select:
    if isinstance(tree, exp.SetOperation):
        text.refuse(tree, f"{tree.key.upper()} is not supported; ask each SELECT as its own query, or use GROUP BY")
    if not isinstance(tree, exp.Select):
        text.refuse(tree, f"only SELECT is supported, got {kind(tree)}; write it like {LIKE}")
    take_clauses(text, tree, CLAUSES, {"distinct": "use GROUP BY and a measure such as COUNT(*)"})
    # FROM comes first, since it says which columns there are, and WHERE last: the measures may leave rows out as well.
    relation = read_relation(text, tree, tables)
    table = _read_table(text, tree, tables) if relation is None else relation.name
    text.selected = [node.this if isinstance(node, exp.Alias) else node for node in tree.expressions]
    text.aliases = {str(node.alias): node.this for node in tree.expressions if isinstance(node, exp.Alias)}
    groupings = read_groupings(text, tree.args.get("group"))
    calls = MeasureCalls(text)
    view = ViewReader(text, groupings.keys, calls).read(tree)
    if groupings.keys and Cdf() in calls.measures:
        text.refuse(
            tree.args["group"], "CDF covers all rows at once; leave GROUP BY out, and choose the group in WHERE"
        )
    conditions = [*_read_where(text, tree.args.get("where")), *calls.conditions]
    row_condition = join_conditions(And, *conditions) if len(conditions) > 1 else next(iter(conditions), None)
    return Select(table, calls.measures, row_condition, groupings, calls.histogram, view, relation)


def _read_where(text: SqlText, clause: exp.Expr | None) -> tuple[Condition, ...]:
    if clause is None:
        return ()
    text.take(clause, "this")
    return (condition(text, clause.this),)


def _read_table(text: SqlText, tree: exp.Select, tables: Tables) -> str:
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
    name = text.table = text.canonical(table.this, tables.private)
    if name not in tables.private:
        text.refuse(table.this, tables.why_not(name))
    text.ask(tables.private[name], name)
    text.unit = tables.private[name].unit
    alias = table.args.get("alias")
    if alias is not None:
        if alias.args.get("columns") or not isinstance(alias.this, exp.Identifier):
            text.refuse(table, "FROM takes the name of the dataset and an alias; leave the rest out")
        text.take(alias, "this")
        text.table = text.read_name(alias.this)
    return name
