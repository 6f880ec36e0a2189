"""What is made of the rows of a unit, in SQL: integers, clipped before they can be too great for their type."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.engines.engine import Dialect
from inbounds.query.statement.expressions import (
    Expression,
    at_most,
    bigint,
    called,
    case,
    clipped,
    column,
    compare,
    divided,
    whole,
)
from inbounds.query.statement.row_weights import MOST_ROWS
from inbounds.query.tables.unit_measure import UnitColumn


def aggregate(one: UnitColumn, dialect: Dialect) -> Expression:
    """Return a measure of a unit's rows in steps above the least, NULL where it is missing."""
    measure = one.measure
    this = exp.Star() if measure.column is None else column(called(measure.column.name))
    match measure.function:
        case "MAX":
            return bigint(exp.Max(this=this))
        case "MIN":
            return bigint(exp.Min(this=this))
        case "COUNT":
            low, high = int(one.numbers.low), int(one.numbers.high)
            return _above(bigint(clipped(exp.Count(this=this), whole(low), whole(high))), low)
        case "COUNT DISTINCT":
            return bigint(exp.Count(this=exp.Distinct(expressions=[this])))
        case "SUM":
            return _sum(one, this, dialect)
        case "AVG":
            return _mean(one, this, dialect)


def _sum(one: UnitColumn, this: Expression, dialect: Dialect) -> Expression:
    """Return the sum of the rows in steps, each of several grains: added up in a type that does not overflow."""
    source, grain, coarse = one.source, one.grain, one.coarseness
    scale, shift = int(source.step / grain), int(source.low / grain)
    steps = bigint(this)
    value = exp.Add(this=exp.Mul(this=steps, expression=whole(scale)), expression=whole(shift))
    low, high = int(one.numbers.low / grain), int(one.numbers.high / grain)
    grains = _above(bigint(clipped(dialect.total(value), whole(low), whole(high))), low - coarse // 2)
    found = grains if coarse == 1 else divided(exp.paren(grains), whole(coarse))
    return case([(compare(exp.Count(this=this.copy()), ">", whole(0)), found)])  # else LEAST would pass over the NULL


def _mean(one: UnitColumn, this: Expression, dialect: Dialect) -> Expression:
    """Return the mean of the rows to the nearest step, half up; missing for a unit with too many rows to count."""
    rows = at_most(exp.Count(this=this), MOST_ROWS + 1)
    total = at_most(dialect.total(bigint(this)), one.source.steps * MOST_ROWS)
    twice = exp.Add(this=exp.Mul(this=total, expression=whole(2)), expression=rows)
    least = exp.Anonymous(this="GREATEST", expressions=[exp.Mul(this=rows.copy(), expression=whole(2)), whole(2)])
    counts = exp.and_(compare(rows, ">", whole(0)), compare(rows, "<=", whole(MOST_ROWS)))
    return case([(counts, divided(exp.paren(twice), least))])


def _above(value: Expression, low: int) -> Expression:
    if low == 0:
        return value
    return exp.Sub(this=value, expression=whole(low)) if low > 0 else exp.Add(this=value, expression=whole(-low))
