"""How much the rows of a unit count, in SQL: the integers of `row_weights`, without overflow."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.statement.expressions import Expression, case, compare, divide, multiply, whole
from inbounds.query.statement.request import Total
from inbounds.query.statement.row_weights import RowWeights

EVERY = exp.column("m")
"""How many rows a unit has in all."""


def weigh(total: Total, weights: RowWeights) -> Expression:
    """Return what a unit's `n` rows in a group, with the sum `s`, count for in a total, rounded towards zero."""
    value = _linear(total)
    if total.rows >= 0:  # then so is the value
        return share(value, weights)
    negative = exp.Neg(this=exp.paren(share(exp.Neg(this=exp.paren(value)), weights)))
    return case([(compare(exp.paren(value), "<", whole(0)), negative)], share(value, weights))


def share(value: Expression, weights: RowWeights) -> Expression:
    """Return `floor(value * limit * one / max(m, limit) / divisor)` for a value from 0 on, without overflow."""
    # The product of value and most could overflow.  So what a division by m leaves is multiplied apart: the quotient is
    # at most what a row adds, and the remainder is below m.
    inner, every, most = exp.paren(value), EVERY, whole(weights.limit * weights.one)
    in_full = exp.Mul(this=inner, expression=whole(weights.one)) if weights.bits else inner
    quotient = exp.Mul(this=exp.paren(divide(inner, every)), expression=most)
    rest = exp.Mul(this=exp.paren(exp.Mod(this=inner.copy(), expression=every.copy())), expression=most.copy())
    reduced = exp.Add(this=quotient, expression=exp.paren(divide(exp.paren(rest), every)))
    counted = case([(compare(every, "<=", whole(weights.limit)), in_full)], reduced)
    return counted if weights.divisor == 1 else divide(counted, whole(weights.divisor))


def _linear(total: Total) -> Expression:
    factors = ((total.rows, "n"), (total.steps, "s"))
    terms = [multiply(exp.column(name), abs(factor)) for factor, name in factors if factor]
    if len(terms) == 1:
        return terms[0]
    first, second = terms
    if total.rows < 0:
        return exp.Sub(this=second, expression=first)
    return (exp.Sub if total.steps < 0 else exp.Add)(this=first, expression=second)
