"""The commonest key: MODE(diagnosis), read off counts by diagnosis."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.spelling.clauses import OF_MANY_ROWS
from inbounds.query.spelling.spelling import Spelling, call

MOVED = ("from_", "joins", "where")
"""The clauses that say which rows are counted."""

LEFT = ("with_", "having", "order", "limit", "offset")
"""The clauses that say what is shown of the counts."""


def _within_group(node: exp.WithinGroup) -> exp.Expr | None:
    """MODE() WITHIN GROUP (ORDER BY ward)."""
    order, function = node.expression, node.this
    if not _is_mode(function) or function.expressions or not isinstance(order, exp.Order):
        return None
    return call("MODE", order.expressions[0].this) if len(order.expressions) == 1 else None


def _rename(node: exp.Expr) -> exp.Expr | None:
    return call({"MAX_BY": "ARG_MAX", "MIN_BY": "ARG_MIN"}[node.name.upper()], *node.expressions)


def _mode(node: exp.Select) -> exp.Expr | None:
    """SELECT ward, MODE(diagnosis) … GROUP BY ward, with nothing else that is measured."""
    calls = [one for part in _shown_parts(node) for one in part.find_all(exp.Anonymous) if _is_mode(one)]
    columns = {one.expressions[0] if len(one.expressions) == 1 else None for one in calls}
    if len(columns) != 1 or node.parent is not None or any(node.args.get(name) for name in _others(node)):
        return None
    column, keys = columns.pop(), _keys(node)
    if column is None or isinstance(column, exp.Distinct | exp.Order) or keys is None or column in keys:
        return None
    if _looks_further(node):
        return None
    names = _names([*keys, column], node)
    counted = exp.to_identifier(next(name for name in ("n", "n_", "n__") if name not in names), quoted=False)
    # The counts, with the rows that they are about; and what is shown of them, in which keys have their names there.
    inner = exp.Select(
        expressions=[
            *(_named(of, name) for of, name in zip((*keys, column), names, strict=True)),
            exp.Alias(this=call("COUNT", exp.Star()), alias=counted.copy()),
        ],
        group=exp.Group(expressions=[key.copy() for key in (*keys, column)]),
    )
    for clause in MOVED:
        inner.set(clause, node.args.get(clause))
    outer = exp.Select(
        expressions=[_shown(one, column, keys, names) for one in node.expressions],
        from_=exp.From(this=exp.Subquery(this=inner, alias=exp.TableAlias(this=exp.to_identifier("t")))),
    )
    if keys:
        outer.set("group", exp.Group(expressions=[_column(name) for name in names[:-1]]))
    for clause in LEFT:
        outer.set(clause, node.args.get(clause))
    for clause in ("having", "order"):
        if (given := outer.args.get(clause)) is not None:
            outer.set(clause, _renamed(given, keys, names))
    for one in [one for one in outer.find_all(exp.Anonymous) if _is_mode(one)]:
        one.replace(call("ARG_MAX", _column(names[-1]), exp.Column(this=counted.copy())))
    return outer


def _is_mode(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.name).upper() == "MODE"


def _others(node: exp.Select) -> list[str]:
    """Return the clauses that do not go with a mode."""
    return [name for name in node.args if name not in (*MOVED, *LEFT, "expressions", "group")]


def _shown_parts(node: exp.Select) -> list[exp.Expr]:
    """Return what is selected, and what rows are chosen and ordered by."""
    return [*node.expressions, *(node.args[name] for name in ("having", "order") if node.args.get(name))]


def _looks_further(node: exp.Select) -> bool:
    """Return whether something else is measured, or looks at other rows."""
    parts = _shown_parts(node)
    called = (str(one.name).upper() for part in parts for one in part.find_all(exp.Anonymous))
    return any(name in OF_MANY_ROWS for name in called) or any(part.find(exp.Window, exp.Select) for part in parts)


def _keys(node: exp.Select) -> list[exp.Expr] | None:
    """Return what is grouped by, written out; None for several groupings at once."""
    group = node.args.get("group")
    if group is None:
        return []
    aliases = {one.alias: one.this for one in node.expressions if isinstance(one, exp.Alias)}
    keys = []
    for given in group.expressions:
        key = given
        if isinstance(key, exp.Literal) and not key.is_string and key.this.isdigit():
            place = int(key.this)
            if not 1 <= place <= len(node.expressions):
                return None
            key = node.expressions[place - 1]
            key = key.this if isinstance(key, exp.Alias) else key
        elif isinstance(key, exp.Column) and not key.table and key.name in aliases:
            key = aliases[key.name]
        if isinstance(key, exp.Rollup | exp.Cube | exp.GroupingSets | exp.Tuple):
            return None
        keys.append(key)
    return None if any(value for name, value in group.args.items() if name != "expressions") else keys


def _names(nodes: list[exp.Expr], select: exp.Select) -> list[str]:
    """Return what keys are called where they are counted: as they are selected, or by their column."""
    aliases = {one.this: one.alias for one in select.expressions if isinstance(one, exp.Alias)}
    names: list[str] = []
    for number, node in enumerate(nodes, 1):
        name = aliases.get(node) or (node.name if isinstance(node, exp.Column) else f"key_{number}")
        names.append(name if name not in names else f"{name}_{number}")
    return names


def _named(node: exp.Expr, name: str) -> exp.Expr:
    if isinstance(node, exp.Column) and node.name == name:
        return node.copy()
    return exp.Alias(this=node.copy(), alias=exp.to_identifier(name))


def _column(name: str) -> exp.Expr:
    return exp.Column(this=exp.to_identifier(name))


def _shown(node: exp.Expr, column: exp.Expr, keys: list[exp.Expr], names: list[str]) -> exp.Expr:
    """Return what is selected of the counts, by the name that it had."""
    if isinstance(node, exp.Alias):
        shown = _renamed(node.this, keys, names)
        same = isinstance(shown, exp.Column) and shown.name == node.alias
        return shown if same else exp.Alias(this=shown, alias=node.args["alias"].copy())
    if not _is_mode(node):
        return _renamed(node, keys, names)
    name = f"mode_{column.name}" if isinstance(column, exp.Column) else "mode"
    return exp.Alias(this=node.copy(), alias=exp.to_identifier(name))


def _renamed(node: exp.Expr, keys: list[exp.Expr], names: list[str]) -> exp.Expr:
    """Return an expression with keys by their names, outside of modes."""

    def change(part: exp.Expr) -> exp.Expr:
        return _column(names[keys.index(part)]) if part in keys and part.find_ancestor(exp.Anonymous) is None else part

    return node.copy().transform(change)


MODES = (
    Spelling(
        ("MAX_BY", "MIN_BY"),
        _rename,
        "statement",
        "SELECT MAX_BY(ward, n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS t",
        "SELECT ARG_MAX(ward, n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS t",
    ),
    Spelling(
        (exp.WithinGroup,),
        _within_group,
        "statement",
        "SELECT MODE() WITHIN GROUP (ORDER BY ward) FROM visits",
        "SELECT MODE(ward) FROM visits",
    ),
    Spelling(
        (exp.Select,),
        _mode,
        "statement",
        "SELECT ward, MODE(urgent) AS usual FROM visits GROUP BY ward",
        "SELECT ward, ARG_MAX(urgent, n) AS usual FROM (SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY ward, "
        "urgent) AS t GROUP BY ward",
    ),
)
