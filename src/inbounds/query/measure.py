"""What a question asks of the rows that it is about: small nodes that say it, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from inbounds.exact.rational import cut
from inbounds.query.condition import Condition, literal, quoted

FINEST = 10**6
"""A quantile's level has at most this denominator."""

MOST_LEVELS = 99
"""A question may ask for so many quantiles of a column."""


class _OfRows:
    """What measures share, unless they say otherwise; each has a title, which its answers are called by."""

    title = ""
    counts_units = False
    """Whether a unit counts once, however many rows it has."""
    has_noise = True
    """Whether its answers come with the noise that is expected of them."""

    @property
    def answer_name(self) -> str:
        """What the column of its answers is called."""
        return self.title

    @property
    def answer_names(self) -> tuple[str, ...]:
        """What the columns of its answers are called, if it has several."""
        return (self.answer_name,)

    @property
    def under_limit(self) -> str:
        """What becomes of it where units with too many rows are weighed down."""
        return f"So those with more rows count for less here than in a {self.title} over all rows."


class _OfColumn(_OfRows):
    """What measures of one column share."""

    column: str

    @property
    def answer_name(self) -> str:
        """What the column of its answers is called."""
        return f"{self.title}_{self.column}"


@dataclass(frozen=True)
class Count(_OfRows):
    """How many rows."""

    title = "count"
    under_limit = "So this is a count of weighed rows, which can be far below the number of rows."

    def __str__(self) -> str:
        return "COUNT(*)"


@dataclass(frozen=True)
class CountUnits(_OfRows):
    """How many units have a row."""

    unit: str
    title = "units"
    counts_units = True
    under_limit = "So these counts can be below the true ones."

    def __str__(self) -> str:
        return f"COUNT(DISTINCT {quoted(self.unit)})"


@dataclass(frozen=True)
class Sum(_OfColumn):
    """The sum of a column."""

    column: str
    title = "sum"
    under_limit = "So this is a sum over weighed rows, which can be far from the sum over all rows."

    def __str__(self) -> str:
        return f"SUM({quoted(self.column)})"


@dataclass(frozen=True)
class Mean(_OfColumn):
    """The mean of a column."""

    column: str
    title = "mean"

    def __str__(self) -> str:
        return f"AVG({quoted(self.column)})"


@dataclass(frozen=True)
class Totals(_OfColumn):
    """Rows, sum and mean of a column, two or three of them, from the same two sums: they never contradict each other.

    All of them are about the rows in which the column is not missing.
    """

    column: str
    of: tuple[Count | Sum | Mean, ...]
    title = "total"
    under_limit = "So these are counts, sums and means of weighed rows, which can be far from those of all rows."

    @property
    def answer_names(self) -> tuple[str, ...]:
        """What the columns of its answers are called."""
        return tuple(one.answer_name for one in self.of)

    def __str__(self) -> str:
        return ", ".join(map(str, self.of))


@dataclass(frozen=True)
class Proportion(_OfRows):
    """For which part of the rows a condition is true."""

    condition: Condition
    title = "proportion"

    def __str__(self) -> str:
        return f"AVG(CASE WHEN {self.condition} THEN 1 ELSE 0 END)"


@dataclass(frozen=True)
class Quantile(_OfColumn):
    """The value that a given level of the rows are below."""

    column: str
    level: Fraction
    has_noise = False

    @property
    def title(self) -> str:  # type: ignore[override]
        """What its answers are called."""
        return "median" if self.level == Fraction(1, 2) else "quantile"

    def __str__(self) -> str:
        if self.level == Fraction(1, 2):
            return f"MEDIAN({quoted(self.column)})"
        return f"PERCENTILE_DISC({literal(self.level)}) WITHIN GROUP (ORDER BY {quoted(self.column)})"


@dataclass(frozen=True)
class Quantiles(_OfColumn):
    """Several quantiles of a column, in the order of their levels: none is released below the one before."""

    column: str
    levels: tuple[Fraction, ...]
    title = "quantile"
    has_noise = False

    @property
    def answer_names(self) -> tuple[str, ...]:
        """What the columns of its answers are called: by their levels."""
        return tuple(f"quantile_{as_decimal_text(level)}_{self.column}" for level in self.levels)

    def __str__(self) -> str:
        return f"QUANTILES({quoted(self.column)}, {', '.join(map(literal, self.levels))})"


@dataclass(frozen=True)
class Cdf(_OfRows):
    """Which part of the rows is at or below each value of a column, bin by bin."""

    title = "share"
    has_noise = False

    def __str__(self) -> str:
        return "CDF"


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


Measure = Count | CountUnits | Sum | Mean | Totals | Proportion | Quantile | Quantiles | Cdf
