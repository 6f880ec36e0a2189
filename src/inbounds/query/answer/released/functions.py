"""Functions of released values: rounding, the least and the greatest, and what stands in for a missing one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from inbounds.query.answer.released.leaf import Ends, Exact
from inbounds.results.exact_cells import are_numbers

MOST_DIGITS = 15
"""A number is rounded to so many digits after the point at most, or before it."""

Number = int | Fraction


@dataclass(frozen=True)
class Function:
    """What a function does to exact values, and to intervals."""

    least: int
    """It takes so many arguments at least,"""
    most: int
    """and so many at most."""
    like: str
    value: Callable[[Sequence[Exact]], Exact]
    ends: Callable[[Sequence[Ends]], Ends] | None = None
    """Where the result lies if each argument lies in its interval; None if that does not follow."""
    of_numbers: bool = True
    """Whether its arguments must be numbers; else they must be alike."""


def round_half_away(value: Number, digits: int) -> Number:
    """Return a number with so many digits after the point, a half away from 0, as SQL rounds."""
    scaled = Fraction(_size(value)) * Fraction(10) ** digits
    whole = floor(scaled + Fraction(1, 2)) * (1 if value >= 0 else -1)
    rounded = whole / Fraction(10) ** digits
    return int(rounded) if isinstance(value, int) or digits <= 0 else rounded


def _of_one(change: Callable[[Number], Number]) -> Callable[[Sequence[Exact]], Exact]:
    def value(arguments: Sequence[Exact]) -> Exact:
        return change(arguments[0]) if are_numbers(arguments[0]) else None

    return value


def _round(arguments: Sequence[Exact]) -> Exact:
    number, digits = arguments[0], arguments[1] if len(arguments) > 1 else 0
    return round_half_away(number, digits) if are_numbers(number) and isinstance(digits, int) else None


def _round_ends(arguments: Sequence[Ends]) -> Ends:
    digits = int(arguments[1][0]) if len(arguments) > 1 else 0
    low, high = arguments[0]
    return round_half_away(low, digits), round_half_away(high, digits)


def _monotone_ends(change: Callable[[Number], Number]) -> Callable[[Sequence[Ends]], Ends]:
    return lambda arguments: (change(arguments[0][0]), change(arguments[0][1]))


def _size(value: Number) -> Number:
    return value if value >= 0 else -value


def _abs_ends(arguments: Sequence[Ends]) -> Ends:
    low, high = arguments[0]
    return (0 if low <= 0 <= high else min(_size(low), _size(high))), max(_size(low), _size(high))


def _least(arguments: Sequence[Any]) -> Exact:
    return min((value for value in arguments if value is not None), default=None)


def _greatest(arguments: Sequence[Any]) -> Exact:
    return max((value for value in arguments if value is not None), default=None)


def _first(arguments: Sequence[Exact]) -> Exact:
    return next((value for value in arguments if value is not None), None)


FUNCTIONS = {
    "ROUND": Function(1, 2, "ROUND(AVG(age), 1)", _round, _round_ends),
    "FLOOR": Function(1, 1, "FLOOR(AVG(age))", _of_one(floor), _monotone_ends(floor)),
    "CEIL": Function(1, 1, "CEIL(AVG(age))", _of_one(ceil), _monotone_ends(ceil)),
    "ABS": Function(1, 1, "ABS(SUM(age))", _of_one(_size), _abs_ends),
    "LEAST": Function(
        1, 20, "LEAST(COUNT(*), 100)", _least,
        lambda ends: (min(low for low, _ in ends), min(high for _, high in ends)),
    ),
    "GREATEST": Function(
        1, 20, "GREATEST(COUNT(*), 100)", _greatest,
        lambda ends: (max(low for low, _ in ends), max(high for _, high in ends)),
    ),
    "COALESCE": Function(1, 20, "COALESCE(AVG(age), 0)", _first, of_numbers=False),
    "NULLIF": Function(
        2, 2, "NULLIF(COUNT(*), 0)", lambda values: None if values[0] == values[1] else values[0], of_numbers=False
    ),
}  # fmt: skip
"""A missing value is passed over by LEAST and GREATEST.  No interval follows for what stands in for a missing one: the
answer without noise may be missing where the released one is not."""

SYNONYMS = {"CEILING": "CEIL"}
"""Other names of functions."""
