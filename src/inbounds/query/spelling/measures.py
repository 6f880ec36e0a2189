"""Measures in other words: FILTER, COUNT_IF, quantiles by their other names, and lines through points."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from inbounds.query.spelling.spelling import Spelling, call, case, number, truth_of

RENAMED = {
    "MEAN": "AVG",
    "APPROX_QUANTILE": "QUANTILE",
    "QUANTILE_CONT": "QUANTILE",
    "QUANTILE_DISC": "QUANTILE",
    "PERCENTILE_APPROX": "QUANTILE",
    "APPROX_PERCENTILE": "QUANTILE",
    "APPROX_MEDIAN": "MEDIAN",
    "VAR": "VARIANCE",
    "STDEV": "STDDEV",
    "STD": "STDDEV",
    "STDEVP": "STDDEV_POP",
    "VARP": "VAR_POP",
    "COVAR": "COVAR_SAMP",
}
"""The same measures by other names, with the same arguments."""


def _rename(node: exp.Expr) -> exp.Expr | None:
    name, arguments = RENAMED[node.name.upper()], list(node.expressions)
    if name == "QUANTILE" and len(arguments) == 2 and isinstance(arguments[1], exp.Array):
        return call("QUANTILES", arguments[0], *arguments[1].expressions)
    return call(name, *arguments)


def _count_if(node: exp.Expr) -> exp.Expr | None:
    if len(node.expressions) != 1:
        return None
    return call("COUNT", case((node.expressions[0], number(1))))


def _count_distinct(node: exp.Expr) -> exp.Expr | None:
    if len(node.expressions) != 1:
        return None
    return call("COUNT", exp.Distinct(expressions=[node.expressions[0]]))


def _count_nothing(node: exp.Expr) -> exp.Expr | None:
    """COUNT()."""
    return None if node.expressions else call("COUNT", exp.Star())


def _filter(node: exp.Filter) -> exp.Expr | None:
    """A measure of the rows that meet a condition: the others have no value of it."""
    measure, where = node.this, node.expression
    if not isinstance(where, exp.Where):
        return None
    if isinstance(measure, exp.WithinGroup):
        return _filter_order(measure, where.this)
    if not isinstance(measure, exp.Anonymous) or not measure.expressions:
        return None
    return _filter_call(measure, where.this)


def _filter_call(measure: exp.Anonymous, test: exp.Expr) -> exp.Expr | None:
    name, (first, *others) = measure.name.upper(), measure.expressions
    if name == "PROPORTION":
        return call("AVG", case((test, case((first, number(1)), default=number(0)))))
    if isinstance(first, exp.Star) or (isinstance(first, exp.Literal) and name == "COUNT"):
        return call("COUNT", case((test, number(1))))
    if not isinstance(first, exp.Distinct):
        return call(measure.name, case((test, first)), *others)
    if len(first.expressions) != 1:
        return None
    return call("COUNT", exp.Distinct(expressions=[case((test, first.expressions[0]))]))


def _filter_order(measure: exp.WithinGroup, test: exp.Expr) -> exp.Expr | None:
    """PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) FILTER (WHERE …)."""
    order = measure.expression
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        return None
    ordered = order.expressions[0]
    ordered.set("this", case((test, ordered.this)))
    return measure


def _of_condition(node: exp.Expr) -> exp.Expr | None:
    """SUM(age > 60), AVG(age > 60): true is 1, and false 0."""
    if len(node.expressions) != 1 or not isinstance(
        node.expressions[0].unnest(), exp.Predicate | exp.Connector | exp.Not
    ):
        return None
    return call(node.name, _as_number(node.expressions[0]))


def _sum_of_ones(node: exp.Expr) -> exp.Expr | None:
    """SUM(CASE WHEN age > 60 THEN 1 END): how many rows that are."""
    chosen = node.expressions[0].unnest() if len(node.expressions) == 1 else None
    if not isinstance(chosen, exp.Case) or chosen.this is not None:
        return None
    values, default = [branch.args["true"] for branch in chosen.args["ifs"]], chosen.args.get("default")
    is_one = all(isinstance(value, exp.Literal) and value == exp.Literal.number(1) for value in values)
    return call("COUNT", chosen) if is_one and (default is None or isinstance(default, exp.Null)) else None


def _cast_condition(node: exp.Cast) -> exp.Expr | None:
    """(age > 60)::int."""
    test = node.this.unnest()
    is_number = node.to.this in exp.DataType.NUMERIC_TYPES
    return _as_number(test) if is_number and isinstance(test, exp.Predicate | exp.Connector | exp.Not) else None


def _as_number(test: exp.Expr) -> exp.Expr:
    test = test.unnest()
    return case((test, number(1)), (exp.Not(this=exp.Paren(this=test.copy())), number(0)))


def _descending(node: exp.WithinGroup) -> exp.Expr | None:
    """PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x DESC): the level from the other end."""
    order = node.expression
    if not isinstance(order, exp.Order) or len(order.expressions) != 1 or not order.expressions[0].args.get("desc"):
        return None
    percentile, ordered = node.this, order.expressions[0]
    level = percentile.expressions[0] if len(percentile.expressions) == 1 else None
    if not isinstance(level, exp.Literal) or level.is_string:
        return None
    try:
        other = 1 - Fraction(level.this)
    except ValueError:
        return None
    ordered.set("desc", False)
    ordered.set("nulls_first", False)
    turned = exp.Literal.number(str(float(other)))
    percentile.set("expressions", [turned])
    return node


def _regression(node: exp.Expr) -> exp.Expr | None:
    """The line through the points of two columns, of the rows that have both."""
    if len(node.expressions) != 2:
        return None
    y, x = node.expressions
    both = exp.And(
        this=exp.Not(this=exp.Is(this=y.copy(), expression=exp.Null())),
        expression=exp.Not(this=exp.Is(this=x.copy(), expression=exp.Null())),
    )

    def of(name: str, *columns: exp.Expr) -> exp.Expr:
        first, *others = (column.copy() for column in columns)
        return call(name, case((both.copy(), first)), *others)

    slope = exp.Div(this=of("COVAR_POP", y, x), expression=of("VAR_POP", x))
    name = node.name.upper()
    if name == "REGR_SLOPE":
        return exp.Paren(this=slope)
    if name == "REGR_INTERCEPT":
        product = exp.Mul(this=exp.Paren(this=slope), expression=of("AVG", x))
        return exp.Paren(this=exp.Sub(this=of("AVG", y), expression=product))
    if name == "REGR_R2":
        return exp.Paren(this=exp.Mul(this=of("CORR", y, x), expression=of("CORR", y, x)))
    if name in ("REGR_AVGX", "REGR_AVGY"):
        return of("AVG", x if name == "REGR_AVGX" else y)
    return call("COUNT", case((both, number(1))))


# What is made of the rows of a unit, in an inner SELECT.  Of all rows no such value is private.


def _is_of_unit(node: exp.Expr) -> bool:
    """Return whether a measure stands in an inner SELECT, or in a text of its own."""
    select = node.find_ancestor(exp.Select)
    return select is None or select.find_ancestor(exp.Select) is not None


def _any_value(node: exp.Expr) -> exp.Expr | None:
    """ANY_VALUE(x): any will do, so it is the least, which is always the same.  FIRST(x ORDER BY y): by that order."""
    if len(node.expressions) != 1 or not _is_of_unit(node):
        return None
    (this,) = node.expressions
    if not isinstance(this, exp.Order):
        return call("MIN", this)
    by = this.expressions[0]
    if len(this.expressions) != 1 or not isinstance(by, exp.Ordered) or by.args.get("nulls_first"):
        return None
    is_last = bool(by.args.get("desc")) != (node.name.upper() == "LAST")
    return call("ARG_MAX" if is_last else "ARG_MIN", this.this, by.this)


ORDERED = {"MIN_BY": "ARG_MIN", "ARGMIN": "ARG_MIN", "MAX_BY": "ARG_MAX", "ARGMAX": "ARG_MAX"}


def _ordered(node: exp.Expr) -> exp.Expr | None:
    return call(ORDERED[node.name.upper()], *node.expressions)


TRUTHS = {
    "BOOL_OR": "MAX", "LOGICAL_OR": "MAX", "BOOLOR_AGG": "MAX", "BOOL_AND": "MIN", "LOGICAL_AND": "MIN",
    "BOOLAND_AGG": "MIN", "EVERY": "MIN",
}  # fmt: skip


def _truth(node: exp.Expr) -> exp.Expr | None:
    """BOOL_OR(x), BOOL_AND(x): false is before true."""
    if len(node.expressions) != 1 or not _is_of_unit(node):
        return None
    (test,) = node.expressions
    is_test = isinstance(test.unnest(), exp.Predicate | exp.Connector | exp.Not)
    measure = call(TRUTHS[node.name.upper()], truth_of(test) if is_test else test)
    return exp.EQ(this=measure, expression=exp.true()) if _is_condition(node) else measure


def _is_condition(node: exp.Expr) -> bool:
    """Return whether a value stands where a condition does: after HAVING, beside AND, or after WHEN."""
    outside: exp.Expr | None = node.parent
    while isinstance(outside, exp.Paren):
        node, outside = outside, outside.parent
    if isinstance(outside, exp.If):
        return outside.this is node
    return isinstance(outside, exp.Having | exp.Connector | exp.Not)


MEASURES = (
    Spelling(tuple(RENAMED), _rename, "measure", "QUANTILE_CONT(age, 0.9)", "QUANTILE(age, 0.9)"),
    Spelling(("COUNT_IF", "COUNTIF"), _count_if, "measure", "COUNT_IF(age > 60)", "COUNT(*) FILTER (WHERE age > 60)"),
    Spelling(
        ("APPROX_COUNT_DISTINCT", "APPROX_DISTINCT"),
        _count_distinct,
        "measure",
        "APPROX_COUNT_DISTINCT(ward)",
        "COUNT(DISTINCT ward)",
    ),
    Spelling(("COUNT",), _count_nothing, "measure", "COUNT()", "COUNT(*)"),
    Spelling(
        (exp.Filter,),
        _filter,
        "measure",
        "AVG(cost) FILTER (WHERE ward = 'icu')",
        "AVG(CASE WHEN ward = 'icu' THEN cost END)",
    ),
    Spelling(
        ("SUM", "AVG"),
        _of_condition,
        "measure",
        "AVG(age > 60)",
        "AVG(CASE WHEN age > 60 THEN 1 WHEN NOT age > 60 THEN 0 END)",
    ),
    Spelling(
        ("SUM",),
        _sum_of_ones,
        "measure",
        "SUM(CASE WHEN age > 60 THEN 1 END)",
        "COUNT(CASE WHEN age > 60 THEN 1 END)",
    ),
    Spelling(
        (exp.Cast, exp.TryCast),
        _cast_condition,
        "measure",
        "AVG((age > 60)::int)",
        "AVG(CASE WHEN age > 60 THEN 1 WHEN NOT age > 60 THEN 0 END)",
        words=("CAST", "TRY_CAST"),
    ),
    Spelling(
        (exp.WithinGroup,),
        _descending,
        "measure",
        "PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age DESC)",
        "QUANTILE(age, 0.75)",
    ),
    Spelling(
        ("REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "REGR_AVGX", "REGR_AVGY", "REGR_COUNT"),
        _regression,
        "measure",
        "REGR_SLOPE(cost, age)",
        "COVAR_POP(cost, age) FILTER (WHERE cost IS NOT NULL AND age IS NOT NULL) / VAR_POP(age) FILTER (WHERE cost IS "
        "NOT NULL AND age IS NOT NULL)",
    ),
    Spelling(
        ("ANY_VALUE", "FIRST", "LAST"),
        _any_value,
        "unit",
        "FIRST(ward ORDER BY day)",
        "ARG_MIN(ward, day)",
    ),
    Spelling(tuple(ORDERED), _ordered, "unit", "MAX_BY(ward, day)", "ARG_MAX(ward, day)"),
    Spelling(
        tuple(TRUTHS),
        _truth,
        "unit",
        "BOOL_OR(age > 60)",
        "MAX(CASE WHEN age > 60 THEN TRUE WHEN NOT age > 60 THEN FALSE END)",
    ),
)
