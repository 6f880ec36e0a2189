"""What is made of the rows of a unit, in SQL: integers, clipped before they can be too great for their type."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.engines.engine import Dialect
from inbounds.query.statement.expressions import (
    Expression,
    bigint,
    cap,
    case,
    clip,
    code_name,
    column,
    compare,
    divide,
    whole,
)
from inbounds.query.statement.row_weights import MOST_ROWS
from inbounds.query.tables.unit_measure import UnitColumn


def aggregate(unit_column: UnitColumn, dialect: Dialect) -> Expression:
    """Return a measure of a unit's rows in steps above the least, NULL where it is missing."""
    measure = unit_column.measure
    stored = exp.Star() if measure.column is None else column(code_name(measure.column.name))
    match measure.function:
        case "MAX":
            return bigint(exp.Max(this=stored))
        case "MIN":
            return bigint(exp.Min(this=stored))
        case "COUNT":
            low, high = int(unit_column.numbers.low), int(unit_column.numbers.high)
            return _subtract(bigint(clip(exp.Count(this=stored), whole(low), whole(high))), low)
        case "COUNT DISTINCT":
            return bigint(exp.Count(this=exp.Distinct(expressions=[stored])))
        case "SUM":
            return _sum(unit_column, stored, dialect)
        case "AVG":
            return _mean(unit_column, stored, dialect)


def _sum(unit_column: UnitColumn, stored: Expression, dialect: Dialect) -> Expression:
    """Return the sum of the rows in steps, each of several grains: added up in a type that does not overflow."""
    source, grain, coarse = unit_column.source, unit_column.grain, unit_column.coarseness
    scale, shift = int(source.step / grain), int(source.low / grain)
    value = exp.Add(this=exp.Mul(this=bigint(stored), expression=whole(scale)), expression=whole(shift))
    low, high = int(unit_column.numbers.low / grain), int(unit_column.numbers.high / grain)
    # To the nearest step, half up: so half a step is added, by subtracting less.
    grains = _subtract(bigint(clip(dialect.total(value), whole(low), whole(high))), low - coarse // 2)
    steps = grains if coarse == 1 else divide(exp.paren(grains), whole(coarse))
    return case([(compare(exp.Count(this=stored.copy()), ">", whole(0)), steps)])  # else LEAST would pass over the NULL


def _mean(unit_column: UnitColumn, stored: Expression, dialect: Dialect) -> Expression:
    """Return the mean of the rows to the nearest step, half up; missing for a unit with too many rows to count."""
    rows = cap(exp.Count(this=stored), MOST_ROWS + 1)
    total = cap(dialect.total(bigint(stored)), unit_column.source.steps * MOST_ROWS)
    twice = exp.Add(this=exp.Mul(this=total, expression=whole(2)), expression=rows)
    least = exp.Anonymous(this="GREATEST", expressions=[exp.Mul(this=rows.copy(), expression=whole(2)), whole(2)])
    counts = exp.and_(compare(rows, ">", whole(0)), compare(rows, "<=", whole(MOST_ROWS)))
    return case([(counts, divide(exp.paren(twice), least))])


def _subtract(value: Expression, low: int) -> Expression:
    if low == 0:
        return value
    return exp.Sub(this=value, expression=whole(low)) if low > 0 else exp.Add(this=value, expression=whole(-low))
