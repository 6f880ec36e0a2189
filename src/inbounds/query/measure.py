"""What a question asks of the rows that it is about: small nodes that say it, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from inbounds.exact.rational import cut
from inbounds.query.condition import Condition, literal, quoted

FINEST = 10**6
"""A quantile's level has at most this denominator."""


@dataclass(frozen=True)
class Count:
    """How many rows."""

    title = "count"

    def __str__(self) -> str:
        return "COUNT(*)"


@dataclass(frozen=True)
class CountUnits:
    """How many units have a row."""

    unit: str
    title = "units"

    def __str__(self) -> str:
        return f"COUNT(DISTINCT {quoted(self.unit)})"


@dataclass(frozen=True)
class Sum:
    """The sum of a column."""

    column: str
    title = "sum"

    def __str__(self) -> str:
        return f"SUM({quoted(self.column)})"


@dataclass(frozen=True)
class Mean:
    """The mean of a column."""

    column: str
    title = "mean"

    def __str__(self) -> str:
        return f"AVG({quoted(self.column)})"


@dataclass(frozen=True)
class Proportion:
    """For which part of the rows a condition is true."""

    condition: Condition
    title = "proportion"

    def __str__(self) -> str:
        return f"AVG(CASE WHEN {self.condition} THEN 1 ELSE 0 END)"


@dataclass(frozen=True)
class Quantile:
    """The value that a given level of the rows are below."""

    column: str
    level: Fraction

    @property
    def title(self) -> str:
        """What its answers are called."""
        return "median" if self.level == Fraction(1, 2) else "quantile"

    def __str__(self) -> str:
        if self.level == Fraction(1, 2):
            return f"MEDIAN({quoted(self.column)})"
        return f"PERCENTILE_DISC({literal(self.level)}) WITHIN GROUP (ORDER BY {quoted(self.column)})"


def refuse_level(level: Fraction) -> str | None:
    """Return why something cannot be the level of a quantile, or None if it can."""
    if 0 < level < 1 and level.denominator <= FINEST:
        return None
    return (
        f"the level of a quantile must be above 0 and below 1, in millionths at most, got {cut(str(level))}; "
        "write it like 0.9"
    )


Measure = Count | CountUnits | Sum | Mean | Proportion | Quantile
