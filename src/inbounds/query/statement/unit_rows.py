"""What is made of the rows of a unit, in SQL: integers, clipped before they can be too great for their type."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.engines.engine import Dialect
from inbounds.query.statement.expressions import (
    MOST_BRANCHES,
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
from inbounds.query.tables.unit_measure import Ranks, UnitColumn


def aggregate(unit_column: UnitColumn, dialect: Dialect) -> Expression:  # noqa: PLR0911  one for each kind
    """Return a measure of a unit's rows in steps above the least, NULL where it is missing."""
    measure = unit_column.measure
    stored = exp.Star() if measure.column is None else column(code_name(measure.column.name))
    match measure.function:
        case "MAX":
            return bigint(exp.Max(this=_rank(unit_column.ranks, stored, dialect)))
        case "MIN":
            return bigint(exp.Min(this=_rank(unit_column.ranks, stored, dialect)))
        case "ARG_MIN" | "ARG_MAX":
            return _choose_row(unit_column, stored, dialect)
        case "COUNT":
            low, high = int(unit_column.numbers.low), int(unit_column.numbers.high)
            return _subtract(bigint(clip(exp.Count(this=stored), whole(low), whole(high))), low)
        case "COUNT DISTINCT":
            return bigint(exp.Count(this=exp.Distinct(expressions=[stored])))
        case "SUM":
            return _sum(unit_column, stored, dialect)
        case "AVG":
            return _mean(unit_column, stored, dialect)


def _rank(ranks: Ranks, code: Expression, dialect: Dialect) -> Expression:
    """Return the place of a code in the order of its values: by a test for each if they are few."""
    if ranks.numbers is None:
        return code
    if ranks.size > MOST_BRANCHES:
        return bigint(dialect.pick_number(code, ranks.numbers))
    return bigint(case([(compare(code, "=", whole(at)), whole(to)) for at, to in enumerate(ranks.numbers)]))


def _choose_row(unit_column: UnitColumn, stored: Expression, dialect: Dialect) -> Expression:
    """Return the value of the row that has the least of another column, or the greatest; of several, the least value.

    Both are one number, with the other column in front.  A row that lacks either has none.
    """
    by, ranks = unit_column.measure.by, unit_column.ranks
    assert by is not None
    order = bigint(_rank(unit_column.ranks_of(by), column(code_name(by.name)), dialect))
    value, last = bigint(_rank(ranks, stored, dialect)), whole(ranks.size - 1)
    is_last = unit_column.measure.function == "ARG_MAX"
    behind = exp.Sub(this=last, expression=exp.paren(value)) if is_last else value
    pair = exp.Add(this=exp.Mul(this=exp.paren(order), expression=whole(ranks.size)), expression=exp.paren(behind))
    chosen = exp.paren(bigint(exp.Max(this=pair) if is_last else exp.Min(this=pair)))
    rest = exp.Mod(this=chosen, expression=whole(ranks.size))
    return exp.Sub(this=last.copy(), expression=exp.paren(rest)) if is_last else rest


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
