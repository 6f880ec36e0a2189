"""What a SELECT measures: one function of the table below, with exactly its arguments.

To add a measure, enter what reads its call in `MEASURES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from sqlglot import exp

from inbounds.query.columns.column import Keys, Numbers
from inbounds.query.columns.kind import TRUTH_KEY
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.functions import OF_MANY_ROWS, suggest_function
from inbounds.query.expressions.node import ColumnRef, Constant, Node
from inbounds.query.grammar.casts import truth_as_number
from inbounds.query.grammar.rows import condition, read_counted, read_node, read_node_or_unit
from inbounds.query.grammar.text import SqlText, function_name, kind
from inbounds.query.grammar.values import read_constant, read_matched
from inbounds.query.question.among import Conditions, count_rows, mean_rows, split_rows, sum_rows
from inbounds.query.question.group import by_bins, is_countable
from inbounds.query.question.measure import (
    Cdf,
    Correlation,
    Count,
    CountKeys,
    CountUnits,
    Covariance,
    Deviation,
    Measure,
    Proportion,
    Variance,
)
from inbounds.query.question.quantile import MOST_LEVELS, Extreme, Quantile, refuse_level
from inbounds.query.sql.unit_measures import take_all_rows
from inbounds.query.tables.table import Table

REMEDIES: dict[type[exp.Expr], str] = {
    exp.Star: "* would show rows, and rows are never shown; ask for a measure such as COUNT(*), or add LIMIT 0",
    exp.Filter: "FILTER is for measures; write it like COUNT(*) FILTER (WHERE age > 60)",
    exp.Subquery: (
        "a subquery is not supported here; ask for it in a query of its own, and write what it says as a constant"
    ),
}
"""What to write in place of something that is often tried, and is no measure."""

PICKS = (
    "picks a row, and rows are never shown; pick one of released counts, as in SELECT ARG_MAX(clinic, n) FROM (SELECT "
    "clinic, COUNT(*) AS n FROM visits GROUP BY clinic) AS t"
)

NO_MEASURES = {
    "MODE": (
        "is read off counts by its column, so it stands beside plain columns of GROUP BY only; ask for it in a query "
        "of its own"
    ),
    "ARG_MAX": PICKS,
    "ARG_MIN": PICKS,
}
"""Functions that are no measures of rows, and why."""

INDICATOR = "PROPORTION(age > 60), or AVG(CASE WHEN age > 60 THEN 1 ELSE 0 END)"


@dataclass(frozen=True)
class MeasureCall:
    """What the call of a measure asks: it, on which rows, and the column and number of bins if it is a histogram."""

    measure: Measure
    conditions: tuple[Condition, ...] = ()
    histogram: tuple[Node, int | None] | None = None
    others: tuple[Measure, ...] = ()
    """What the same call asks for besides: the other quantiles of a list."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Everything that the call asks for."""
        return (self.measure, *self.others)


Reader = Callable[[SqlText, exp.Expr], MeasureCall]
"""Reads the call of a measure."""

Fits = Callable[[Table, Node], object]
"""Refuses a column of a table that does not fit."""


def read_measure(text: SqlText, node: exp.Expr) -> MeasureCall:
    """Read the one thing that a SELECT measures."""
    refuse_no_measure(text, node)
    if isinstance(node, exp.WithinGroup):
        return _percentile(text, node)
    return MEASURES[function_name(node)](text, node)


def refuse_no_measure(text: SqlText, node: exp.Expr) -> None:
    """Refuse what is selected and is neither a column nor a measure."""
    is_percentile = isinstance(node, exp.WithinGroup) and node.this.name.upper() in PERCENTILES
    if is_percentile or function_name(node) in MEASURES:
        return
    if (why := NO_MEASURES.get(function_name(node))) is not None:
        text.refuse(node, f"{function_name(node)} {why}")
    remedies = (remedy for sort, remedy in REMEDIES.items() if isinstance(node, sort))
    remedy = suggest_function(function_name(node), (*MEASURES, *PERCENTILES), "measures")
    text.refuse(node, next(remedies, f"{kind(node)} is not supported; {remedy}"))


def _count(text: SqlText, call: exp.Expr) -> MeasureCall:
    (this,) = text.arguments(call, 1, "COUNT(*)")
    if take_all_rows(text, this):
        return MeasureCall(Count())
    if isinstance(this, exp.Distinct):
        return _count_distinct(text, this)
    if (matched := read_matched(text, this)) is not None:
        return MeasureCall(*count_rows(matched))
    unit = ColumnRef(text.unit)
    if read_node_or_unit(text, this) == unit and text.unit not in text.columns and not this.args.get("table"):
        return MeasureCall(Count())  # a row whose unit is missing is left out, so each that is counted has one
    return MeasureCall(*count_rows(read_counted(text, this)))


def _count_distinct(text: SqlText, this: exp.Distinct) -> MeasureCall:
    text.take(this, "expressions")
    if len(this.expressions) != 1:
        text.refuse(this, f"COUNT(DISTINCT) takes one column; write COUNT(DISTINCT {text.unit})")
    # A unit is no column, so what a CASE without ELSE chooses is taken out of it before it is read.
    node, conditions = this.expressions[0], list[Condition]()
    while isinstance(node, exp.Case) and len(node.args["ifs"]) == 1 and node.args.get("default") is None:
        (branch,) = node.args["ifs"]
        text.take(node, "ifs")
        text.take(branch, "this", "true")
        conditions.append(condition(text, branch.this))
        node = branch.args["true"]
    counted = read_node_or_unit(text, node)
    if counted == ColumnRef(text.unit):
        return MeasureCall(CountUnits(text.unit), tuple(conditions))
    column = text.fit(this, lambda table: table.column(counted))
    if column is not None and not is_countable(column):
        text.refuse(
            this,
            f"{column.name} has no categories, and too many possible values for COUNT(DISTINCT); count its rows "
            f"with COUNT({kind(node)})",
        )
    return MeasureCall(CountKeys(counted), tuple(conditions))


Make = Callable[[Node], tuple[Measure, Conditions]]
"""Returns the measure of a column, and of which rows."""


def _whole(make: Callable[[Node], Measure]) -> Make:
    """Return what makes a measure of the rows that have a column, or that a CASE without ELSE chooses."""

    def of_rows(node: Node) -> tuple[Measure, Conditions]:
        value, conditions = split_rows(node)
        return (make(node), ()) if isinstance(value, Constant) else (make(value), conditions)

    return of_rows


def _of_column(make: Make, fits: Fits = Table.numbers) -> Reader:
    """Return what reads a call with one column, which has to fit."""

    def read(text: SqlText, call: exp.Expr) -> MeasureCall:
        (this,) = text.arguments(call, 1, f"{call.name.upper()}(age)")
        return MeasureCall(*make(_read_column(text, call, this, fits)))

    return read


def _of_two_columns(make: Callable[[Node, Node], Measure]) -> Reader:
    """Return what reads a call with two columns."""

    def read(text: SqlText, call: exp.Expr) -> MeasureCall:
        name = call.name.upper()
        like = f"{name}(age, weight)"
        columns = [_read_column(text, call, argument) for argument in text.arguments(call, 2, like)]
        if len(columns) != 2:
            text.refuse(call, f"{name} takes two different columns; write it like {like}")
        first, conditions = split_rows(columns[0])
        if first == columns[1]:
            text.refuse(call, f"{name} takes two different columns; write it like {like}")
        return MeasureCall(make(first, columns[1]), conditions)

    return read


def _quantile(text: SqlText, call: exp.Expr) -> MeasureCall:
    this, *level = text.arguments(call, 2, "QUANTILE(age, 0.9)")
    if not level:
        text.refuse(call, "QUANTILE takes a column and a level; write it like QUANTILE(age, 0.9)")
    value, conditions = split_rows(_read_column(text, call, this))
    return MeasureCall(Quantile(value, _read_level(text, level[0])), conditions)


def _quantiles(text: SqlText, call: exp.Expr) -> MeasureCall:
    """Read several quantiles of a column, as so many measures."""
    this, *levels = text.arguments(call, 1 + MOST_LEVELS, "QUANTILES(age, 0.25, 0.5, 0.75)")
    column = _read_column(text, call, this)
    if not levels:
        text.refuse(call, "QUANTILES takes a column and levels; write it like QUANTILES(age, 0.25, 0.5, 0.75)")
    value, conditions = split_rows(column)
    first, *others = (Quantile(value, _read_level(text, level)) for level in levels)
    return MeasureCall(first, conditions, others=tuple(others))


def _percentile(text: SqlText, node: exp.WithinGroup) -> MeasureCall:
    text.take(node, "this", "expression")
    (level,) = text.arguments(node.this, 1, "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age)")
    order = node.expression
    text.take(order, "expressions")
    if len(order.expressions) != 1:
        text.refuse(order, "WITHIN GROUP takes (ORDER BY column); leave the rest out")
    (by,) = order.expressions
    text.take(by, "this")
    value, conditions = split_rows(_read_fitting(text, by.this))
    return MeasureCall(Quantile(value, _read_level(text, level)), conditions)


def _proportion(text: SqlText, call: exp.Expr) -> MeasureCall:
    (this,) = text.arguments(call, 1, "PROPORTION(age > 60)")
    return MeasureCall(Proportion(condition(text, this)))


def _histogram(text: SqlText, call: exp.Expr) -> MeasureCall:
    this, *bins = text.arguments(call, 2, f"{call.name.upper()}(age, 12)")
    number = read_constant(text, bins[0]) if bins else None
    if number is not None and (not isinstance(number, int) or isinstance(number, bool)):
        text.refuse(bins[0], "the number of bins must be a whole number; write it like 10")
    node, conditions = split_rows(read_node(text, this))
    column = text.fit(this, lambda table: table.column(node))
    if isinstance(column, Keys) and bins:
        text.refuse(bins[0], f"{column.name} is categorical, so each category is a bin; leave {kind(bins[0])} out")
    if isinstance(column, Numbers):
        text.fit(bins[0] if bins else this, lambda _: by_bins(column, number))
    return MeasureCall(Count(), conditions, histogram=(node, number))


def _cdf(text: SqlText, call: exp.Expr) -> MeasureCall:
    binned = _histogram(text, call)
    text.fit(call.expressions[0], lambda table: table.numbers(binned.histogram and binned.histogram[0]))
    return replace(binned, measure=Cdf())


def _read_column(text: SqlText, call: exp.Expr, this: exp.Expr, fits: Fits = Table.numbers) -> Node:
    """Return the column that a function is given; say what to write in place of a condition or of arithmetic."""
    name = call.name.upper()
    if isinstance(this.unnest(), exp.Predicate | exp.Connector | exp.Not):
        text.refuse(this, f"{name} takes a column, got {kind(this)}; a proportion is written {INDICATOR}")
    if isinstance(this, exp.Distinct):
        text.refuse(this, f"{name} does not take DISTINCT; leave DISTINCT out")
    return _read_fitting(text, this, fits)


def _read_fitting(text: SqlText, this: exp.Expr, fits: Fits = Table.numbers) -> Node:
    """Return a column that fits: one of numbers or days, if nothing else is said; true is 1, and false 0."""
    column = read_node(text, this)
    described = text.fit(this, lambda table: table.column(column))
    if described is not None and described.kind is TRUTH_KEY:
        column = truth_as_number(column)
    text.fit(this, lambda table: fits(table, column))
    return column


def _read_level(text: SqlText, node: exp.Expr) -> Fraction:
    value = read_constant(text, node)
    if not isinstance(value, Fraction | int) or isinstance(value, bool):
        text.refuse(node, "the level of a quantile must be a number above 0 and below 1; write it like 0.9")
    if (problem := refuse_level(Fraction(value))) is not None:
        text.refuse(node, problem)
    return Fraction(value)


def has_measure(node: exp.Expr) -> bool:
    """Return whether a measure is in a node."""
    names = map(function_name, node.find_all(exp.Anonymous))
    return any(name in MEASURES or name in PERCENTILES for name in names)


MEASURES: dict[str, Reader] = {
    "COUNT": _count,
    "SUM": _of_column(sum_rows, Table.addends),
    "AVG": _of_column(mean_rows),
    "MEDIAN": _of_column(_whole(partial(Quantile, level=Fraction(1, 2)))),
    "QUANTILE": _quantile,
    "QUANTILES": _quantiles,
    "MIN": _of_column(_whole(partial(Extreme.of, "MIN"))),
    "MAX": _of_column(_whole(partial(Extreme.of, "MAX"))),
    "VARIANCE": _of_column(_whole(Variance)),
    "VAR_SAMP": _of_column(_whole(Variance)),
    "VAR_POP": _of_column(_whole(partial(Variance, sample=False))),
    "STDDEV": _of_column(_whole(Deviation)),
    "STDDEV_SAMP": _of_column(_whole(Deviation)),
    "STDDEV_POP": _of_column(_whole(partial(Deviation, sample=False))),
    "COVAR_SAMP": _of_two_columns(Covariance),
    "COVAR_POP": _of_two_columns(partial(Covariance, sample=False)),
    "CORR": _of_two_columns(Correlation),
    "PROPORTION": _proportion,
    "HISTOGRAM": _histogram,
    "CDF": _cdf,
}

PERCENTILES = ("PERCENTILE_CONT", "PERCENTILE_DISC")

OF_MANY_ROWS.update(MEASURES, PERCENTILES)
