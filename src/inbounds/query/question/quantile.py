"""Quantiles, and those that stand in for the least and the greatest value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from inbounds.exact.rational import cut
from inbounds.query.expressions.node import Node, literal
from inbounds.query.question.measure import OfColumn

FINEST = 10**6
"""A quantile's level has at most this denominator."""

MOST_LEVELS = 99
"""A question may ask for so many quantiles of a column."""

EXTREMES = {"MIN": Fraction(1, 100), "MAX": Fraction(99, 100)}
"""The levels of the quantiles that stand in for the least and the greatest value, each of which is one row's."""


@dataclass(frozen=True)
class Quantile(OfColumn):
    """The value that a given level of the rows are below."""

    level: Fraction
    has_noise = False
    is_value = True
    shared = "quantiles"

    @property
    def title(self) -> str:
        return "median" if self.level == Fraction(1, 2) else "quantile"

    def __str__(self) -> str:
        if self.level == Fraction(1, 2):
            return f"MEDIAN({self.column})"
        return f"PERCENTILE_DISC({literal(self.level)}) WITHIN GROUP (ORDER BY {self.column})"


@dataclass(frozen=True)
class Extreme(Quantile):
    """A quantile near an end, which is what MIN and MAX are answered with, and called."""

    function: str = "MIN"
    """What was asked for: MIN or MAX."""

    @classmethod
    def of(cls, function: str, column: Node) -> Extreme:
        """Return what stands in for MIN or MAX of a column."""
        return cls(column, EXTREMES[function], function)

    @property
    def answer_name(self) -> str:
        """What the column of its answers is called: by its level."""
        return f"quantile_{as_decimal_text(self.level)}_{self.column.name}"

    @property
    def public_name(self) -> str:
        """What the column of its answers is called where they are public: nothing stands in for those."""
        return f"{self.function.lower()}_{self.column.name}"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Say that this is no value of one row."""
        return (instead_of(self.function, self.column),)

    def __str__(self) -> str:
        return f"{self.function}({self.column})"


def instead_of(function: str, column: Node) -> str:
    """Say what MIN or MAX is answered with."""
    level = as_decimal_text(EXTREMES[function])
    return (
        f"{function}({column}) would reveal one row, so the answer is the quantile at {level}: about one row in a "
        f"hundred lies {'below' if function == 'MIN' else 'above'} it."
    )


def as_decimal_text(level: Fraction) -> str:
    """Return a level as people write it."""
    return f"{float(level):g}"


def refuse_level(level: Fraction) -> str | None:
    """Return why something cannot be the level of a quantile, or None if it can."""
    if 0 < level < 1 and level.denominator <= FINEST:
        return None
    return (
        f"the level of a quantile must be above 0 and below 1, in millionths at most, got {cut(str(level))}; "
        "write it like 0.9"
    )
