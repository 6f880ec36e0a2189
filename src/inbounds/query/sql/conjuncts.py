"""The clauses of a SELECT, and the conditions of one that must all be true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from sqlglot import exp
from sqlglot.helper import ensure_list

from inbounds.query.grammar.text import SqlText, kind

SET_REMEDIES = {
    "union": "ask about each SELECT in a query of its own and add up, or, if both are of one table, write OR in WHERE",
    "intersect": "write EXISTS, or IN with a subquery",
    "except": "write NOT EXISTS, or NOT IN with a subquery",
}


def take_clauses(
    text: SqlText, tree: exp.Select, clauses: Sequence[str], remedies: Mapping[str, str], where: str = ""
) -> None:
    """Take the clauses of a SELECT; refuse any other one, with a remedy of its own if there is one."""
    for clause, value in tree.args.items():
        if value and clause not in clauses:
            node = ensure_list(value)[0]
            name = kind(node) if isinstance(node, exp.Expr) else str(node)
            text.refuse(node, f"{name} is not supported{where}; {remedies.get(clause, 'leave it out')}")
    text.take(tree, *clauses)


def refuse_statement(rule: str, tree: exp.Expr) -> str:
    """Say what is wrong with an inner statement that is no SELECT."""
    if not isinstance(tree, exp.SetOperation):
        like = "(SELECT patient, MAX(age) AS oldest FROM visits GROUP BY patient)"
        return f"{rule} one SELECT, got {kind(tree)}; write it like {like}"
    return f"{rule} one SELECT, got {tree.key.upper()}; {SET_REMEDIES[tree.key]}"


def flatten(node: exp.Expr, connective: type[exp.Expr] = exp.And) -> list[exp.Expr]:
    """Return the conditions that AND or OR joins, without noting that they were read."""
    node = node.unnest()
    if not isinstance(node, connective):
        return [node]
    return [*flatten(node.this, connective), *flatten(node.expression, connective)]


def compared_columns(condition: exp.Expr) -> tuple[exp.Column, exp.Column, Literal["=", "<>"]] | None:
    """Return two columns that must be equal, or not; None if a condition says something else."""
    node = condition.unnest()
    if not isinstance(node, exp.EQ | exp.NEQ):
        return None
    if not isinstance(node.this, exp.Column) or not isinstance(node.expression, exp.Column):
        return None
    return node.this, node.expression, "=" if isinstance(node, exp.EQ) else "<>"


def columns_in(node: exp.Expr) -> Iterator[exp.Column]:
    """Yield the columns that a condition names, not those inside a SELECT of its own."""
    if isinstance(node, exp.Column):
        yield node
        return
    for child in node.iter_expressions():
        if not isinstance(child, exp.Select | exp.Subquery):
            yield from columns_in(child)


def split(text: SqlText, condition: exp.Expr | None) -> list[exp.Expr]:
    """Return the conditions that must all be true; those that all branches of an OR share are among them."""
    pending, parts = [] if condition is None else [condition], []
    while pending:
        part = pending.pop()
        if isinstance(part, exp.And):
            text.take(part, "this", "expression")
            pending += [part.expression, part.this]
        elif is_always_true(text, part):
            text.take_all(part)
        elif isinstance(part, exp.Paren) and isinstance(part.this, exp.And | exp.Paren):
            text.take(part, "this")
            pending.append(part.this)
        else:
            parts.append(part)
    return [shared for part in parts for shared in _share(text, part)]


def is_always_true(text: SqlText, part: exp.Expr) -> bool:
    """Return whether a condition is TRUE or like 1 = 1, as tools write it; refuse FALSE and 1 = 0, true of no row."""
    node = part.unnest()
    said = bool(node.this) if isinstance(node, exp.Boolean) else _compares_numbers(node)
    if said is None:
        return False
    if not said:
        text.refuse(node, f"{kind(node)} is true of no row, so there is nothing to ask; leave it out")
    return True


def is_never_true(condition: exp.Expr) -> bool:
    """Return whether a condition is FALSE or like 1 = 0, as tools write it; nothing is noted."""
    node = condition.unnest()
    if isinstance(node, exp.Boolean):
        return not node.this
    same = _compares_numbers(node)
    return same is not None and not same


def _compares_numbers(node: exp.Expr) -> bool | None:
    """Return whether a comparison of two whole numbers is true; None if it is something else."""
    if not isinstance(node, exp.EQ | exp.NEQ) or not all(_is_whole(side) for side in (node.this, node.expression)):
        return None
    return (str(node.this.this) == str(node.expression.this)) is isinstance(node, exp.EQ)


def _is_whole(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and str(node.this).isdigit()


def trim(text: SqlText, condition: exp.Expr) -> exp.Expr | None:
    """Return a condition without parts that are true of every row; None if nothing is left."""
    if not any(isinstance(part, exp.Boolean | exp.EQ | exp.NEQ) for part in flatten(condition)):
        return condition
    for part in flatten(condition):
        if is_always_true(text, part):
            text.take_all(part)
            if isinstance(part.parent, exp.Where):
                return None
            _drop(part)
    return condition


def _share(text: SqlText, part: exp.Expr) -> list[exp.Expr]:
    """Return what all branches of an OR say of two columns, and the OR without it."""
    if not isinstance(part.unnest(), exp.Or):
        return [part]
    branches = [flatten(branch) for branch in flatten(part, exp.Or)]
    links = [test for test in branches[0] if isinstance(test, exp.EQ) and compared_columns(test) is not None]
    shared = [test for test in links if all(any(test == other for other in branch) for branch in branches)]
    for test in shared:
        for branch in branches:
            same = next(other for other in branch if other == test)
            take_link(text, same)
            _drop(same)
    return [*shared, part]


def _drop(test: exp.Expr) -> None:
    """Take a condition out of the AND that it stands in; if it stands alone, it stays."""
    inner, above = test, test.parent
    while isinstance(above, exp.Paren):
        inner, above = above, above.parent
    if isinstance(above, exp.And):
        above.replace(above.expression if above.this is inner else above.this)


def take_link(text: SqlText, node: exp.Expr) -> None:
    """Note that two columns that must be equal have been read."""
    while isinstance(node, exp.Paren):
        text.take(node, "this")
        node = node.this
    if isinstance(node, exp.Identifier):  # of USING
        text.take(node, "this", "quoted")
        return
    text.take(node, "this", "expression")
    take_columns(text, node.this, node.expression)


def take_columns(text: SqlText, *columns: exp.Expr) -> None:
    """Note that columns have been read."""
    for column in columns:
        if not isinstance(column, exp.Column):
            text.refuse(column, f"a column is needed here, got {kind(column)}; name one from the contract")
        text.take(column, "this", "table")
        for name in (column.this, column.args.get("table")):
            if name is not None:
                text.take(name, "this", "quoted")
