"""A value cut into parts that are not negative and add up to the same for every value, in SQL."""

from __future__ import annotations

from sqlglot import exp

from inbounds.query.statement.expressions import Expression, divide, named, whole
from inbounds.query.statement.request import Parts, Request


def cut_into_parts(request: Request, read: exp.Select) -> exp.Select:
    """Select what was read, with the parts `p0_0`, `p0_1`, … of each value in place of its steps `v0`, `v1`, …"""
    values = {f"v{i}" for i in range(len(request.parts))}
    selected: list[Expression] = [exp.column(name) for name in read.named_selects if name not in values]
    for i, parts in enumerate(request.parts):
        cut = _parts(parts, exp.column(f"v{i}"))
        selected += [named(part, f"p{i}_{number}") for number, part in enumerate(cut)]
    return exp.select(*selected).from_(read.subquery("v", copy=False), copy=False)


def product_of(parts: tuple[int, ...]) -> Expression:
    """Return the product of one part of each value, by their numbers."""
    product: Expression = exp.column(f"p0_{parts[0]}")
    for i, number in enumerate(parts[1:], 1):
        product = exp.Mul(this=product, expression=exp.column(f"p{i}_{number}"))
    return product


def _parts(parts: Parts, steps: Expression) -> list[Expression]:
    """Return the parts of a value in steps, from that of the least value to that of the greatest.

    No product overflows: a value has at most 2**30 units, and the whole is at most 2**35.
    """
    # One part is what the others leave of the whole, so that they add up however these were rounded.
    value = _nearest(steps, parts.width)
    if not parts.is_square:
        above = _nearest(value, parts.divisor)
        return [_subtract(whole(parts.whole), above), above]
    above = _quotient(_square(value), parts.divisor)
    below = _quotient(_square(_subtract(whole(parts.steps), value)), parts.divisor)
    return [below, _subtract(_subtract(whole(parts.whole), below), above), above]


def _nearest(value: Expression, width: int) -> Expression:
    """Return how many widths a value is, to the nearest."""
    if width == 1:
        return value
    return divide(exp.paren(exp.Add(this=_parenthesize(value), expression=whole(width // 2))), whole(width))


def _square(value: Expression) -> Expression:
    return exp.Mul(this=_parenthesize(value), expression=_parenthesize(value))


def _subtract(value: Expression, other: Expression) -> Expression:
    return exp.Sub(this=value.copy(), expression=_parenthesize(other))


def _quotient(value: Expression, divisor: int) -> Expression:
    return value if divisor == 1 else divide(exp.paren(value), whole(divisor))


def _parenthesize(value: Expression) -> Expression:
    """Return an expression as a factor or a term."""
    return value.copy() if isinstance(value, exp.Column | exp.Literal) else exp.paren(value.copy())
