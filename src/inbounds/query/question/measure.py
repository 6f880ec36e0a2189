"""What a question asks of the rows that it is about: small nodes that say it, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from inbounds.exact.rational import cut
from inbounds.query.columns.condition import Condition, literal, quoted

WEIGHED_MOMENTS = "So these are statistics of weighed rows, in which those with more rows count for less."
"""What the row limit does to variances and the like."""

FINEST = 10**6
"""A quantile's level has at most this denominator."""

MOST_LEVELS = 99
"""A question may ask for so many quantiles of a column."""

EXTREMES = {"MIN": Fraction(1, 100), "MAX": Fraction(99, 100)}
"""The levels of the quantiles that stand in for the least and the greatest value, each of which is one row's."""


class _OfRows:
    """What measures share, unless they say otherwise; each has a title, which its answers are called by."""

    title = ""
    counts_units = False
    """Whether a unit counts once, however many rows it has."""
    has_noise = True
    """Whether its answers come with the noise that is expected of them."""
    remarks: tuple[str, ...] = ()
    """What else there is to say about its answers."""

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
class CountKeys(_OfColumn):
    """How many of the public keys of a column have a row."""

    column: str
    title = "keys"
    counts_units = True
    under_limit = "So a key that only such units have a row in can count as a part of one."

    def __str__(self) -> str:
        return f"COUNT(DISTINCT {quoted(self.column)})"


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
class Variance(_OfColumn):
    """The variance of a column: of a sample, or of the rows themselves."""

    column: str
    sample: bool = True
    under_limit = WEIGHED_MOMENTS

    @property
    def title(self) -> str:  # type: ignore[override]
        """What its answers are called."""
        return "var_samp" if self.sample else "var_pop"

    def __str__(self) -> str:
        return f"{self.title.upper()}({quoted(self.column)})"


@dataclass(frozen=True)
class Deviation(_OfColumn):
    """The standard deviation of a column: the root of its variance."""

    column: str
    sample: bool = True
    under_limit = WEIGHED_MOMENTS

    @property
    def title(self) -> str:  # type: ignore[override]
        """What its answers are called."""
        return "stddev_samp" if self.sample else "stddev_pop"

    def __str__(self) -> str:
        return f"{self.title.upper()}({quoted(self.column)})"


class _OfTwoColumns(_OfRows):
    """What measures of two columns share."""

    column: str
    other: str
    under_limit = WEIGHED_MOMENTS

    @property
    def answer_name(self) -> str:
        """What the column of its answers is called."""
        return f"{self.title}_{self.column}_{self.other}"

    def __str__(self) -> str:
        return f"{self.title.upper()}({quoted(self.column)}, {quoted(self.other)})"


@dataclass(frozen=True)
class Covariance(_OfTwoColumns):
    """The covariance of two columns: of a sample, or of the rows themselves."""

    column: str
    other: str
    sample: bool = True
    __str__ = _OfTwoColumns.__str__

    @property
    def title(self) -> str:  # type: ignore[override]
        """What its answers are called."""
        return "covar_samp" if self.sample else "covar_pop"


@dataclass(frozen=True)
class Correlation(_OfTwoColumns):
    """The correlation of two columns, from -1 to 1."""

    column: str
    other: str
    title = "corr"
    __str__ = _OfTwoColumns.__str__


Moment = Variance | Deviation | Covariance | Correlation


@dataclass(frozen=True)
class Moments(_OfRows):
    """Rows, sums, means, variances and covariances of one or two columns, from the same sums: they never contradict
    each other.

    All of them are about the rows in which none of the columns is missing.
    """

    columns: tuple[str, ...]
    of: tuple[Count | Sum | Mean | Moment, ...]
    title = "moment"
    under_limit = WEIGHED_MOMENTS

    @classmethod
    def of_one(cls, measure: Moments | Moment) -> Moments:
        """Return a measure by itself as moments."""
        if isinstance(measure, Moments):
            return measure
        pair = (measure.column, measure.other) if isinstance(measure, Covariance | Correlation) else (measure.column,)
        return cls(pair, (measure,))

    @property
    def answer_names(self) -> tuple[str, ...]:
        """What the columns of its answers are called."""
        return tuple(one.answer_name for one in self.of)

    @property
    def has_squares(self) -> bool:
        """Whether squares are needed, and not only products of two columns."""
        return any(isinstance(one, Variance | Deviation | Correlation) for one in self.of)

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
class Extreme(Quantile):
    """A quantile near an end, which is what MIN and MAX are answered with, and called."""

    asked: str = "MIN"

    @classmethod
    def of(cls, asked: str, column: str) -> Extreme:
        """Return what stands in for MIN or MAX of a column."""
        return cls(column, EXTREMES[asked], asked)

    @property
    def answer_name(self) -> str:
        """What the column of its answers is called: by its level."""
        return f"quantile_{as_decimal_text(self.level)}_{self.column}"

    @property
    def remarks(self) -> tuple[str, ...]:  # type: ignore[override]
        """Say that this is no value of one row."""
        return (instead_of(self.asked, self.column),)

    def __str__(self) -> str:
        return f"{self.asked}({quoted(self.column)})"


@dataclass(frozen=True)
class Quantiles(_OfColumn):
    """Several quantiles of a column, in the order of their levels: none is released below the one before."""

    column: str
    levels: tuple[Fraction, ...]
    extremes: tuple[str, ...] = ()
    """Which of MIN and MAX are among them, by their levels."""
    title = "quantile"
    has_noise = False

    @property
    def remarks(self) -> tuple[str, ...]:  # type: ignore[override]
        """Say which of them stand in for what."""
        return tuple(instead_of(one, self.column) for one in self.extremes)

    @property
    def answer_names(self) -> tuple[str, ...]:
        """What the columns of its answers are called: by their levels."""
        return tuple(f"quantile_{as_decimal_text(level)}_{self.column}" for level in self.levels)

    def __str__(self) -> str:
        extreme = {EXTREMES[one]: f"{one}({quoted(self.column)})" for one in self.extremes}
        others = [literal(level) for level in self.levels if level not in extreme]
        listed = [f"QUANTILES({quoted(self.column)}, {', '.join(others)})"] if others else []
        return ", ".join([*listed, *extreme.values()])


@dataclass(frozen=True)
class Cdf(_OfRows):
    """Which part of the rows is at or below each value of a column, bin by bin."""

    title = "share"
    has_noise = False

    def __str__(self) -> str:
        return "CDF"


def instead_of(asked: str, column: str) -> str:
    """Say what MIN or MAX is answered with."""
    level = as_decimal_text(EXTREMES[asked])
    return (
        f"{asked}({quoted(column)}) would show one row, so the answer is the quantile at {level}: about one row in a "
        f"hundred lies {'below' if asked == 'MIN' else 'above'} it."
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


Measure = (
    Count | CountUnits | CountKeys | Sum | Mean | Totals | Moment | Moments | Proportion | Quantile | Quantiles | Cdf
)
