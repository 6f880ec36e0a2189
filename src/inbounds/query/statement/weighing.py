"""How much the rows of a unit count, in SQL: the integers of `row_weights`, without overflow."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.statement.expressions import Expression, case, compare, divided, times, whole
from inbounds.query.statement.request import Total
from inbounds.query.statement.row_weights import RowWeights

EVERY = exp.column("m")
"""How many rows a unit has in all."""


def weighed(total: Total, weights: RowWeights) -> Expression:
    """Return what a unit's `n` rows in a group, with the sum `s`, count for in a total, rounded towards zero."""
    value = _linear(total)
    if total.rows >= 0:  # then so is the value
        return share(value, weights)
    negative = exp.Neg(this=exp.paren(share(exp.Neg(this=exp.paren(value)), weights)))
    return case([(compare(exp.paren(value), "<", whole(0)), negative)], share(value, weights))


def share(value: Expression, weights: RowWeights) -> Expression:
    """Return `floor(value * limit * one / max(m, limit))` for a value that is not negative, without overflow."""
    this, every, most = exp.paren(value), EVERY, whole(weights.limit * weights.one)
    in_full = exp.Mul(this=this, expression=whole(weights.one)) if weights.bits else this
    quotient = exp.Mul(this=exp.paren(divided(this, every)), expression=most)
    rest = exp.Mul(this=exp.paren(exp.Mod(this=this.copy(), expression=every.copy())), expression=most.copy())
    found = exp.Add(this=quotient, expression=exp.paren(divided(exp.paren(rest), every)))
    return case([(compare(every, "<=", whole(weights.limit)), in_full)], found)


def _linear(total: Total) -> Expression:
    found = [times(exp.column(name), abs(factor)) for factor, name in ((total.rows, "n"), (total.steps, "s")) if factor]
    if len(found) == 1:
        return found[0]
    first, second = found
    if total.rows < 0:
        return exp.Sub(this=second, expression=first)
    return (exp.Sub if total.steps < 0 else exp.Add)(this=first, expression=second)
