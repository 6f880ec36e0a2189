"""Parts of a day, computed in SQL of its number alone, for a database whose types for days do not hold every day.

Numbers are those of Python: 1 for the first of January of the year 1, which was a Monday.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp


def _civil(day: exp.Expr) -> tuple[exp.Expr, exp.Expr, exp.Expr]:
    """Return the number of the era of 400 years, the day in it, and the year in that.

    Years begin in March, so that a leap day is the last of its year.
    """
    since = plus(day, 305)  # the days from the first of March of the year 0
    era = _divide(since, 146_097)
    within = _mod(since, 146_097)
    leaps = _minus(_minus(within, _divide(within, 1460)), _minus(_divide(within, 146_096), _divide(within, 36_524)))
    return era, within, _divide(leaps, 365)


def _march_day(day: exp.Expr) -> exp.Expr:
    """Return how many days a day is after the first of March before it."""
    _, within, year = _civil(day)
    past = _minus(_add(_times(year, 365), _divide(year, 4)), _divide(year, 100))
    return _minus(within, past)


def _march_month(day: exp.Expr) -> exp.Expr:
    """Return the month, 0 for March."""
    return _divide(plus(_times(_march_day(day), 5), 2), 153)


def _month(day: exp.Expr) -> exp.Expr:
    return plus(_mod(plus(_march_month(day), 2), 12), 1)


def _year(day: exp.Expr) -> exp.Expr:
    era, _, year = _civil(day)
    return _add(_add(_times(era, 400), year), _divide(_march_month(day), 10))


def _day_of_month(day: exp.Expr) -> exp.Expr:
    return plus(_minus(_march_day(day), _divide(plus(_times(_march_month(day), 153), 2), 5)), 1)


def first_of_month(year: exp.Expr, month: exp.Expr) -> exp.Expr:
    """Return the number of the first day of a month."""
    early = _divide(_minus(exp.Literal.number(14), month), 12)  # 1 for January and February
    years = _minus(year, early)
    months = plus(_add(month, _times(early, 12)), -3)
    before = _minus(_add(_times(years, 365), _divide(years, 4)), _minus(_divide(years, 100), _divide(years, 400)))
    return plus(_add(before, _divide(plus(_times(months, 153), 2), 5)), -305)


def _week(day: exp.Expr) -> exp.Expr:
    """Return the week of the year in which its Thursday is."""
    thursday = plus(_times(_divide(plus(day, -1), 7), 7), 4)
    return plus(_divide(plus(_day_of_year(thursday), -1), 7), 1)


def _day_of_year(day: exp.Expr) -> exp.Expr:
    return plus(_minus(day, first_of_month(_year(day), exp.Literal.number(1))), 1)


PARTS: dict[str, Callable[[exp.Expr], exp.Expr]] = {
    "YEAR": _year,
    "MONTH": _month,
    "DAY": _day_of_month,
    "DOY": _day_of_year,
    "WEEK": _week,
    "QUARTER": lambda day: _divide(plus(_month(day), 2), 3),
}
"""How each part of a day is computed of its number."""


def plus(value: exp.Expr, number: int) -> exp.Expr:
    """Return a value and a constant added up."""
    return _add(value, exp.Literal.number(number)) if number >= 0 else _minus(value, exp.Literal.number(-number))


def _add(value: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Add(this=value.copy(), expression=other.copy()))


def _minus(value: exp.Expr, other: exp.Expr) -> exp.Expr:
    return exp.paren(exp.Sub(this=exp.paren(value.copy()), expression=exp.paren(other.copy())))


def _times(value: exp.Expr, factor: int) -> exp.Expr:
    return exp.Mul(this=exp.paren(value.copy()), expression=exp.Literal.number(factor))


def _divide(value: exp.Expr, by: int) -> exp.Expr:
    return call("intDiv", value, exp.Literal.number(by))


def _mod(value: exp.Expr, by: int) -> exp.Expr:
    return call("modulo", value, exp.Literal.number(by))


def call(function: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of a function."""
    return exp.Anonymous(this=function, expressions=[argument.copy() for argument in arguments])
