"""Functions of released values: rounding, the least and the greatest, and what stands in for a missing one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from inbounds.query.answer.released.expression import Ends, Exact, Kind, Released, ReleasedRow

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


@dataclass(frozen=True)
class Call(Released):
    """A function of some expressions."""

    name: str
    arguments: tuple[Released, ...]

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """What its result is: what its arguments are."""
        return next((one.kind for one in self.arguments if one.kind != "nothing"), "nothing")

    def evaluate(self, row: ReleasedRow) -> Exact:
        """Return the result."""
        return FUNCTIONS[self.name].value([one.evaluate(row) for one in self.arguments])

    def interval(self, row: ReleasedRow) -> Ends | None:
        """Return where the result lies, if that follows."""
        follow = FUNCTIONS[self.name].ends
        found = [one.interval(row) for one in self.arguments]
        ends = [one for one in found if one is not None]
        return None if follow is None or len(ends) < len(found) else follow(ends)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"


def round_half_away(value: Number, digits: int) -> Number:
    """Return a number with so many digits after the point, a half away from 0, as SQL rounds."""
    scaled = Fraction(_size(value)) * Fraction(10) ** digits
    whole = floor(scaled + Fraction(1, 2)) * (1 if value >= 0 else -1)
    found = whole / Fraction(10) ** digits
    return int(found) if isinstance(value, int) or digits <= 0 else found


def _of_one(change: Callable[[Number], Number]) -> Callable[[Sequence[Exact]], Exact]:
    def value(given: Sequence[Exact]) -> Exact:
        return change(given[0]) if isinstance(given[0], int | Fraction) else None

    return value


def _round(given: Sequence[Exact]) -> Exact:
    digits = given[1] if len(given) > 1 else 0
    return (
        round_half_away(given[0], digits) if isinstance(given[0], int | Fraction) and isinstance(digits, int) else None
    )


def _round_ends(given: Sequence[Ends]) -> Ends:
    digits = int(given[1][0]) if len(given) > 1 else 0
    return round_half_away(given[0][0], digits), round_half_away(given[0][1], digits)


def _monotone_ends(change: Callable[[Number], Number]) -> Callable[[Sequence[Ends]], Ends]:
    return lambda given: (change(given[0][0]), change(given[0][1]))


def _size(value: Number) -> Number:
    return value if value >= 0 else -value


def _abs_ends(given: Sequence[Ends]) -> Ends:
    low, high = given[0]
    return (0 if low <= 0 <= high else min(_size(low), _size(high))), max(_size(low), _size(high))


def _least(given: Sequence[Any]) -> Exact:
    return min((one for one in given if one is not None), default=None)


def _greatest(given: Sequence[Any]) -> Exact:
    return max((one for one in given if one is not None), default=None)


def _first(given: Sequence[Exact]) -> Exact:
    return next((one for one in given if one is not None), None)


FUNCTIONS = {
    "ROUND": Function(1, 2, "ROUND(AVG(age), 1)", _round, _round_ends),
    "FLOOR": Function(1, 1, "FLOOR(AVG(age))", _of_one(floor), _monotone_ends(floor)),
    "CEIL": Function(1, 1, "CEIL(AVG(age))", _of_one(ceil), _monotone_ends(ceil)),
    "ABS": Function(1, 1, "ABS(SUM(age))", _of_one(_size), _abs_ends),
    "LEAST": Function(
        1, 20, "LEAST(COUNT(*), 100)", _least,
        lambda given: (min(low for low, _ in given), min(high for _, high in given)),
    ),
    "GREATEST": Function(
        1, 20, "GREATEST(COUNT(*), 100)", _greatest,
        lambda given: (max(low for low, _ in given), max(high for _, high in given)),
    ),
    "COALESCE": Function(1, 20, "COALESCE(AVG(age), 0)", _first, of_numbers=False),
    "NULLIF": Function(
        2, 2, "NULLIF(COUNT(*), 0)", lambda given: None if given[0] == given[1] else given[0], of_numbers=False
    ),
}  # fmt: skip
"""A missing value is passed over by LEAST and GREATEST.  No interval follows for what stands in for a missing one: the
answer without noise may be missing where the released one is not."""

SAME = {"CEILING": "CEIL"}
"""Other names of functions."""
