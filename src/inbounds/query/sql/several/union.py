"""UNION ALL: several SELECTs one below the other, each of which releases rows with as many columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from inbounds.query.answer.released.evaluate import kind_of_node
from inbounds.query.answer.released.leaf import KeyRef, Kind, Named
from inbounds.query.answer.released.source_column import SourceKey
from inbounds.query.expressions.node import Constant
from inbounds.query.grammar.text import SqlText, kind
from inbounds.query.sql.several.statement import Shown, Statement, UnitedSelects, is_key

MOST_BRANCHES = 20
"""So many SELECTs may be put together: each has a part of epsilon."""

CLAUSES = ("this", "expression", "with_", "order", "limit", "offset")


def is_union_all(tree: exp.Expr) -> bool:
    """Return whether a statement is several SELECTs, all rows of which are kept."""
    return isinstance(tree, exp.Union) and tree.args.get("distinct") is False and not tree.args.get("by_name")


def branches_of(text: SqlText, tree: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the SELECTs of a UNION ALL."""
    if isinstance(tree, exp.Subquery):
        text.take(tree, "this")
        yield from branches_of(text, tree.this)
    elif isinstance(tree, exp.Union) and is_union_all(tree) and not tree.args.get("order"):
        text.take(tree, *CLAUSES, "distinct")
        yield from branches_of(text, tree.this)
        yield from branches_of(text, tree.expression)
    else:
        yield tree


def read_union(text: SqlText, tree: exp.Union, read: Callable[[exp.Expr], Statement]) -> UnitedSelects:
    """Read the SELECTs of a UNION ALL, without what orders them."""
    text.take(tree, *CLAUSES, "distinct")
    nodes = [*branches_of(text, tree.this), *branches_of(text, tree.expression)]
    if len(nodes) > MOST_BRANCHES:
        text.refuse(nodes[MOST_BRANCHES], f"a UNION ALL may have at most {MOST_BRANCHES} SELECTs; ask for fewer")
    statements = [read(node) for node in nodes]
    width = len(statements[0].shown.columns)
    for node, statement in zip(nodes, statements, strict=True):
        if (found := len(statement.shown.columns)) != width:
            text.refuse(
                node, f"each SELECT of a UNION ALL needs as many columns, got {found} after {width}; select as many"
            )
    columns = [_unite(text, nodes, place, [one.shown.columns[place] for one in statements]) for place in range(width)]
    return UnitedSelects(tuple(statements), Shown(tuple(columns)))


def _unite(text: SqlText, nodes: list[exp.Expr], place: int, columns: list[Named]) -> Named:
    """Return one column of all SELECTs: a key if it is one in each, or the same in each row."""
    first, alike = columns[0], _common_kind(text, nodes, list(map(kind_of_node, columns)))
    labels = [is_key(column) or isinstance(column.of, Constant) for column in columns]
    if all(labels):
        return Named(first.column, KeyRef(SourceKey("union", first.column), alike))
    if any(labels):
        text.refuse(
            nodes[labels.index(not labels[0])],
            f"column {place + 1} is a category in one SELECT of the UNION ALL, and a measure in another; select them "
            "in the same order",
        )
    return first


def _common_kind(text: SqlText, nodes: list[exp.Expr], kinds: list[Kind]) -> Kind:
    """Return what the values of a column are, which must be alike in all SELECTs."""
    first: Kind = next((of for of in kinds if of != "nothing"), "nothing")
    odd = next((i for i, of in enumerate(kinds) if of not in (first, "nothing")), None)
    if odd is not None:
        text.refuse(
            nodes[odd],
            f"{kind(nodes[odd])} has a {kinds[odd]} where another SELECT of the UNION ALL has a {first}; select them "
            "alike",
        )
    return first
