"""Clauses in other words: FETCH FIRST, GROUP BY ALL, names with a schema, conditions that are selected."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.spelling.spelling import Spelling, truth_of

SCHEMAS = ("public", "main", "dbo", "default")
"""What databases call the schema of tables that have none."""


def _fetch(node: exp.Fetch) -> exp.Expr | None:
    """FETCH FIRST 5 ROWS ONLY."""
    options = node.args.get("limit_options")
    if options is not None and (options.args.get("percent") or options.args.get("with_ties")):
        return None
    count = node.args.get("count")
    return None if count is None else exp.Limit(expression=count)


def _limit(node: exp.Limit) -> exp.Expr | None:
    """TOP (5), LIMIT (5)."""
    return exp.Limit(expression=node.expression.this) if isinstance(node.expression, exp.Paren) else None


def _rollup(node: exp.Group) -> exp.Expr | None:
    """GROUP BY a, b WITH ROLLUP."""
    for name, kind in (("rollup", exp.Rollup), ("cube", exp.Cube)):
        added = node.args.get(name)
        if added and node.expressions and not any(one.expressions for one in added):
            return exp.Group(expressions=[kind(expressions=node.expressions)])
    return None


def _order_all(node: exp.Select) -> exp.Expr | None:
    """ORDER BY ALL: by all that is selected, from the left."""
    order = node.args.get("order")
    by = order.expressions[0] if order is not None and len(order.expressions) == 1 else None
    if by is None or not isinstance(by.this, exp.Var) or str(by.this.name).upper() != "ALL":
        return None
    places = range(1, len(node.expressions) + 1)
    ordered = [exp.Ordered(this=exp.Literal.number(place), desc=by.args.get("desc")) for place in places]
    node.set("order", exp.Order(expressions=ordered))
    return node


def _one_name(node: exp.Table) -> exp.Expr | None:
    """`public.visits`, in one pair of quotes."""
    schema, _, name = str(node.name).partition(".")
    if not name or schema.lower() not in SCHEMAS or node.args.get("db"):
        return None
    others = {key: value for key, value in node.args.items() if key != "this"}
    return exp.Table(this=exp.to_identifier(name), **others)


def _qualified(node: exp.Table) -> exp.Expr | None:
    """public.visits, and visits alone."""
    schema = node.args.get("db")
    if schema is None or str(schema.name).lower() not in SCHEMAS or node.args.get("catalog"):
        return None
    return exp.Table(**{name: value for name, value in node.args.items() if name != "db"})


def _qualified_column(node: exp.Column) -> exp.Expr | None:
    schema = node.args.get("db")
    if schema is None or str(schema.name).lower() not in SCHEMAS or node.args.get("catalog"):
        return None
    return exp.Column(**{name: value for name, value in node.args.items() if name != "db"})


def _group_all(node: exp.Select) -> exp.Expr | None:
    """GROUP BY ALL: by what is selected and is no measure."""
    group = node.args.get("group")
    if group is None or not group.args.get("all") or group.expressions:
        return None
    keys = [exp.Literal.number(place) for place, one in enumerate(node.expressions, 1) if not _is_measure(one)]
    if keys:
        node.set("group", exp.Group(expressions=keys))
    else:
        node.set("group", None)
    return node


def _is_measure(node: exp.Expr) -> bool:
    called = (str(call.name).upper() for call in node.find_all(exp.Anonymous))
    return (
        any(name in OF_MANY_ROWS or name == "MODE" for name in called)
        or node.find(exp.WithinGroup, exp.Window) is not None
    )


OF_MANY_ROWS = {
    "COUNT", "SUM", "AVG", "MEDIAN", "QUANTILE", "QUANTILES", "MIN", "MAX", "VARIANCE", "VAR_SAMP", "VAR_POP", "STDDEV",
    "STDDEV_SAMP", "STDDEV_POP", "COVAR_SAMP", "COVAR_POP", "CORR", "PROPORTION", "HISTOGRAM", "CDF",
}  # fmt: skip
"""The measures, by the names that they have once other names are translated."""


def _conditions_as_keys(node: exp.Select) -> exp.Expr | None:
    """SELECT age >= 65, COUNT(*) … GROUP BY 1: a condition as a group is true, false, or missing."""
    changed = False
    group = node.args.get("group")
    for part in (*node.expressions, *(group.expressions if group is not None else ())):
        this = part.this if isinstance(part, exp.Alias) else part
        if isinstance(this, exp.Predicate | exp.Connector | exp.Not) and not _is_measure(this):
            this.replace(truth_of(this.copy()))
            changed = True
    return node if changed else None


CLAUSES = (
    Spelling(
        (exp.Fetch,),
        _fetch,
        "statement",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward FETCH FIRST 2 ROWS ONLY",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 2",
    ),
    Spelling(
        (exp.Limit,),
        _limit,
        "statement",
        "SELECT TOP (2) ward, COUNT(*) FROM visits GROUP BY ward",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 2",
    ),
    Spelling(
        (exp.Table,),
        _qualified,
        "statement",
        "SELECT COUNT(*) FROM public.visits",
        "SELECT COUNT(*) FROM visits",
    ),
    Spelling(
        (exp.Table,), _one_name, "statement", "SELECT COUNT(*) FROM `public.visits`", "SELECT COUNT(*) FROM visits"
    ),
    Spelling(
        (exp.Group,),
        _rollup,
        "statement",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward WITH ROLLUP",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)",
    ),
    Spelling(
        (exp.Select,),
        _order_all,
        "statement",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ALL",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY 1, 2",
        words=("ALL",),
    ),
    Spelling(
        (exp.Column,),
        _qualified_column,
        "statement",
        "SELECT AVG(public.visits.age) FROM public.visits",
        "SELECT AVG(age) FROM visits",
    ),
    Spelling(
        (exp.Select,),
        _group_all,
        "statement",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ALL",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward",
    ),
    Spelling(
        (exp.Select,),
        _conditions_as_keys,
        "statement",
        "SELECT age >= 65 AS old, COUNT(*) FROM visits GROUP BY age >= 65",
        "SELECT CASE WHEN age >= 65 THEN TRUE WHEN NOT age >= 65 THEN FALSE END AS old, COUNT(*) FROM visits "
        "GROUP BY 1",
    ),
)
