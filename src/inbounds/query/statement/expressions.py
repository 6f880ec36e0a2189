"""The few expressions of SQL that statements are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from hashlib import sha256

from sqlglot import exp

Expression = exp.Expr

MOST_BRANCHES = 100
"""A key is found by a test for each, if there are no more of them; else it is looked up in a list."""

MOST_SINGLE = 500
"""So many numbers are listed one by one, as a question lists constants; more come as runs, where they are any."""

INFINITY = exp.cast(exp.Literal.string("Infinity"), "DOUBLE")

PLAIN = re.compile(r"[a-z_][a-z0-9_]{0,39}")

COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ, "<>": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip


def code_name(name: str) -> str:
    """Return what an inner SELECT calls a column of integers, so that no engine takes it for another.

    Names that somebody chose may differ by nothing but capitals, or by what comes after 63 bytes, from each other or
    from the unit, and then most engines read one for the other: an integer that was never clipped.  So a name is kept
    only if it is short and in plain small letters, and a space before it tells it from every column of a table.
    """
    return f" {name}" if PLAIN.fullmatch(name) else f" made {sha256(name.encode()).hexdigest()[:32]}"


def raw_name(name: str) -> str:
    """Return what an inner SELECT calls a column as it is, by the same rule: rows are matched by it, so units are."""
    return f" key{code_name(name)}"


def column(name: str) -> Expression:
    """Return a column of the table, whatever its name."""
    return exp.column(exp.to_identifier(name, quoted=True))


def named(expression: Expression, name: str) -> Expression:
    """Return an expression under a name of our own."""
    return exp.Alias(this=expression, alias=exp.to_identifier(name))


def present(value: Expression) -> Expression:
    """Return whether a value is not missing."""
    return exp.Not(this=exp.Is(this=value.copy(), expression=exp.Null()))


def clip(value: Expression, low: Expression, high: Expression) -> Expression:
    """Return a number brought to the nearest of two ends."""
    at_least = exp.Anonymous(this="GREATEST", expressions=[value.copy(), low])
    return exp.Anonymous(this="LEAST", expressions=[at_least, high])


def case(branches: list[tuple[Expression, Expression]], otherwise: Expression | None = None) -> exp.Case:
    """Return the value of the first branch whose test is true."""
    ifs = [exp.If(this=test.copy(), true=value.copy()) for test, value in branches]
    return exp.Case(ifs=ifs, default=otherwise and otherwise.copy())


def compare(left: Expression, operator: str, right: Expression) -> Expression:
    """Return a comparison."""
    return COMPARISONS[operator](this=left.copy(), expression=right.copy())


def is_among(code: Expression, numbers: Sequence[int]) -> Expression:
    """Return whether an integer is one of some."""
    if len(numbers) <= MOST_SINGLE:
        return exp.In(this=code.copy(), expressions=[whole(number) for number in numbers])
    ends: list[list[int]] = []
    for number in sorted(set(numbers)):
        if ends and number == ends[-1][1] + 1:
            ends[-1][1] = number
        else:
            ends.append([number, number])
    single = [whole(low) for low, high in ends if low == high]
    tests: list[Expression] = [exp.In(this=code.copy(), expressions=single)] if single else []
    tests += [exp.Between(this=code.copy(), low=whole(low), high=whole(high)) for low, high in ends if low < high]
    return exp.paren(exp.or_(*tests))


def divide(left: Expression, right: Expression) -> Expression:
    """Return how often an integer goes into another."""
    return exp.IntDiv(this=left.copy(), expression=right.copy())


def multiply(value: Expression, factor: int) -> Expression:
    """Return a multiple of an integer."""
    return value if factor == 1 else exp.Mul(this=value, expression=whole(factor))


def cap(value: Expression, most: int) -> Expression:
    """Return an integer, or the most that it may be."""
    return bigint(exp.Anonymous(this="LEAST", expressions=[value, whole(most)]))


def bigint(value: Expression) -> Expression:
    """Return a number as an integer of 64 bits."""
    return exp.TryCast(this=value.copy(), to=exp.DataType.build(exp.DataType.Type.BIGINT))


def whole(number: int) -> Expression:
    """Return a constant integer."""
    return exp.Literal.number(number) if number >= 0 else exp.Neg(this=exp.Literal.number(-number))


def double(number: Fraction | int) -> Expression:
    """Return the double nearest to a number; as text, which every engine reads alike."""
    return exp.cast(exp.Literal.string(repr(float(number))), exp.DataType.Type.DOUBLE)


def day(number: Fraction) -> Expression:
    """Return a constant day."""
    return exp.cast(exp.Literal.string(date.fromordinal(int(number)).isoformat()), "DATE")


def grouped(select: exp.Select, count: int) -> exp.Select:
    """Return a select grouped by the first so many things that it selects."""
    return select.group_by(*(exp.Literal.number(i + 1) for i in range(count)), copy=False) if count else select
