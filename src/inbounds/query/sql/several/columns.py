"""SELECT … LIMIT 0, by which tools ask for columns: no row is shown, so nothing is asked of any, and it is free."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.answer.released.evaluate import kind_of_node
from inbounds.query.answer.released.leaf import Kind, kind_of
from inbounds.query.expressions.node import ColumnRef, Node
from inbounds.query.grammar.text import SqlText
from inbounds.query.sql.conjuncts import is_never_true, take_clauses
from inbounds.query.sql.measure_calls import find_measures
from inbounds.query.sql.public_rows import read_labels
from inbounds.query.sql.relations import FromReader
from inbounds.query.sql.several.statement import ColumnsSelect, Statement
from inbounds.query.sql.shown.answer_select import is_of_answer
from inbounds.query.sql.subqueries import is_grouped, read_projection
from inbounds.query.tables.contract_tables import Tables
from inbounds.query.tables.public_table import PublicTable
from inbounds.query.tables.table import Table

CLAUSES = ("with_", "expressions", "from_", "joins", "where", "order", "limit", "offset")


def shows_no_row(tree: exp.Expr) -> bool:
    """Return whether a statement ends with LIMIT 0."""
    limit = tree.args.get("limit")
    return limit is not None and isinstance(limit.expression, exp.Literal) and limit.expression.this == "0"


def read_columns(text: SqlText, tree: exp.Expr, tables: Tables) -> ColumnsSelect | None:
    """Read a SELECT that would show rows, and shows none of them; None if it is another statement."""
    where = tree.args.get("where")
    is_empty = where is not None and is_never_true(where.this)
    if not isinstance(tree, exp.Select) or not (is_empty or shows_no_row(tree)) or not _would_show_rows(tree):
        return None
    reader = FromReader(text, tables)
    if tree.args.get("from_") is None or is_of_answer(reader, tree):
        return None
    take_clauses(text, tree, CLAUSES, {})
    for clause in ("order", "limit", "offset", *(["where"] if is_empty else [])):
        if tree.args.get(clause) is not None:
            text.take_all(tree.args[clause])
    if is_empty:
        tree.set("where", None)
    reader.read_with(tree)
    rows = reader.read(tree)
    table = rows.table
    if isinstance(table, PublicTable):
        return ColumnsSelect(_columns_of_public(text, tree, table), text.sql)
    rows.enter(text)
    rows.read_conditions(text)
    projection = read_projection(text, tree, table, None, [])
    kinds = ((name, _kind_in(table, node)) for name, node in projection.columns.items())
    return ColumnsSelect(tuple(kinds), text.sql)


def columns_shown(statement: Statement, sql: str) -> ColumnsSelect:
    """Return the columns of a statement that was read, and asks for none of its rows."""
    return ColumnsSelect(tuple((named.column, kind_of_node(named)) for named in statement.shown.columns), sql)


def _would_show_rows(tree: exp.Select) -> bool:
    return not is_grouped(tree) and not any(find_measures(tree)) and tree.find(exp.Window) is None


def _columns_of_public(text: SqlText, tree: exp.Select, public: PublicTable) -> tuple[tuple[str, Kind], ...]:
    labels = read_labels(text, tree, public, [])
    return tuple(
        (label, kind_of(public.columns[own]) if own in public.columns else "text") for label, own in labels.items()
    )


def _kind_in(table: Table, node: Node) -> Kind:
    """Return what a column holds; of the unit and of identifiers only the contract may say that they are numbers."""
    if isinstance(node, ColumnRef) and node.name in (*table.identifiers, table.owner):
        return "number" if node.name in table.whole else "text"
    return kind_of(table.column(node))
