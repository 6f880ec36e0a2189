"""What a question asks of the rows that it is about: small nodes that know themselves."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt
from typing import Any, Literal

from inbounds.query.columns.column import Numbers, as_value
from inbounds.query.columns.condition_check import check_condition
from inbounds.query.expressions.condition import Condition
from inbounds.query.expressions.node import Node, quote_name
from inbounds.query.question.group import Group, by_key
from inbounds.query.tables.table import Table

Shared = Literal["totals", "moments", "quantiles"]
"""What several measures can be answered from: two sums, more sums, or draws by rank."""

WEIGHED_MOMENTS = "So units with many rows count for less in these statistics."
"""What the row limit does to variances and the like."""


class Measure:
    """What a question asks of the rows that it is about.  Each kind says here what others need to know of it."""

    counts_units = False
    """Whether a unit counts once, however many rows it has."""
    has_noise = True
    """Whether its answers come with the noise that is expected of them."""
    has_totals = False
    """Whether there are totals of it over groups."""
    adds_up = False
    """Whether the numbers of all groups are one table that adds up."""
    adds_values = False
    """Whether values of its columns are added up, as days cannot be."""
    is_value = False
    """Whether its answer is a value of its column, or between two of them: a day, if that holds days."""
    needs_squares = False
    """Whether it follows from squares of values."""
    is_seldom_at_ends = False
    """Whether hardly anything but noise brings it to one of its ends, however small the noise is."""
    names_groups_by_top = False
    """Whether each bin is called by its greatest value."""
    shared: Shared | None = None
    """What it is answered from, if others can be answered from the same."""

    @property
    def title(self) -> str:
        """What its answers are called."""
        raise NotImplementedError

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The columns that it is about."""
        return ()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions that it is about."""
        return ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What else there is to say about its answers."""
        return ()

    @property
    def answer_name(self) -> str:
        """What the column of its answers is called."""
        return "_".join((self.title, *(column.name for column in self.nodes)))

    @property
    def answer_names(self) -> tuple[str, ...]:
        """What the columns of its answers are called, if it has several."""
        return (self.answer_name,)

    @property
    def public_name(self) -> str:
        """What the column of its answers is called where they are public."""
        return self.answer_name

    @property
    def said(self) -> str:
        """What it is called in a sentence."""
        return str(self)

    @property
    def categories(self) -> str | None:
        """What a unit counts in once each, if not in groups."""
        return None

    @property
    def in_expression(self) -> str:
        """What an expression of released numbers calls it."""
        return str(self)

    @property
    def under_limit(self) -> str:
        """What becomes of it where units with too many rows are weighed down."""
        return f"So units with many rows count for less than in a {self.title} over all rows."

    def fit(self, table: Table) -> Measure:
        """Return what is asked of a table; columns and conditions that do not fit it are refused."""
        for column in self.nodes:
            table.numbers(column)
        return self

    def parts(self, table: Table) -> int:
        """Return in how many parts of a group a unit can count."""
        return 1

    def ends(self, table: Table) -> tuple[Any, ...]:
        """Return the ends of its answers that noise pushes them to."""
        return ()

    def possible_range(self, table: Table) -> tuple[Any, Any] | None:
        """Return the least and the greatest possible answer; None if one of them is not public."""
        ends = self.ends(table)
        return (ends[0], ends[1]) if len(ends) > 1 else None

    def call_by_bins(self, group: Group) -> str | None:
        """Return the call in SQL that asks for it by these bins, if there is one."""
        return None

    def place(self, measure: Measure) -> int:
        """Return which of its answers is that to a measure that shares it."""
        return 0


@dataclass(frozen=True)
class NoMeasure(Measure):
    """Nothing: only which groups there can be is asked, and that is public."""

    title = "groups"

    @property
    def said(self) -> str:
        return "Which groups are possible (not whether rows have them)"

    def __str__(self) -> str:
        return ""


@dataclass(frozen=True)
class OfColumn(Measure):
    """What measures of one column share."""

    column: Node

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The column that it is about."""
        return (self.column,)

    def __str__(self) -> str:
        return f"{self.title.upper()}({self.column})"


@dataclass(frozen=True)
class Count(Measure):
    """How many rows."""

    title = "count"
    has_totals = adds_up = True
    under_limit = "So the count is too low by an unknown amount."

    def call_by_bins(self, group: Group) -> str | None:
        """Return a histogram, which counts."""
        return str(group) if group.has_bins else None

    def __str__(self) -> str:
        return "COUNT(*)"


@dataclass(frozen=True)
class CountOf(OfColumn):
    """How many rows have a value of a column, from the sums that its mean is made of."""

    title = "count"

    def __str__(self) -> str:
        return f"COUNT({self.column})"


@dataclass(frozen=True)
class CountUnits(Measure):
    """How many units have a row."""

    unit: str
    title = "units"
    counts_units = has_totals = True
    under_limit = "So these counts may be too low."

    def fit(self, table: Table) -> Measure:
        """Return what is asked of a table: its rows, where it is made of one for each unit."""
        return Count() if table.relation is not None and table.rows_are_units else self

    def __str__(self) -> str:
        return f"COUNT(DISTINCT {quote_name(self.unit)})"


@dataclass(frozen=True)
class CountKeys(OfColumn):
    """How many of the public keys of a column have a row."""

    title = "keys"
    counts_units = True
    under_limit = "So a category that only such units have may count as a fraction."

    def fit(self, table: Table) -> Measure:
        """Return what is asked of a table; a column without keys is refused."""
        by_key(table.column(self.column))
        return self

    @property
    def categories(self) -> str:
        return f"categories of {self.column.name}"

    def parts(self, table: Table) -> int:
        """Return the number of keys, in each of which a unit can count."""
        return by_key(table.column(self.column)).size

    def __str__(self) -> str:
        return f"COUNT(DISTINCT {self.column})"


@dataclass(frozen=True)
class Sum(OfColumn):
    """The sum of a column."""

    title = "sum"
    has_totals = adds_up = adds_values = True
    shared = "totals"
    under_limit = "So the sum is off by an unknown amount."

    def fit(self, table: Table) -> Measure:
        """Return what is asked of a table; a column that cannot be added up is refused."""
        table.addends(self.column)
        return self


@dataclass(frozen=True)
class Mean(OfColumn):
    """The mean of a column."""

    title = "mean"
    is_value = True
    shared = "totals"

    def ends(self, table: Table) -> tuple[Any, ...]:
        """Return the least and the greatest value."""
        column = table.numbers(self.column)
        return as_value(column, column.low), as_value(column, column.high)

    def __str__(self) -> str:
        return f"AVG({self.column})"


class Moment(Measure):
    """What variances, covariances and the like share."""

    under_limit = WEIGHED_MOMENTS
    shared = "moments"
    sample = False
    """Whether it is a statistic of a sample, and not of the rows themselves."""


class _OfSample(Moment):
    """What moments share that are of a sample, or of the rows themselves."""

    stem: str
    sample: bool

    def largest(self, *columns: Numbers) -> float:
        """Return how large a mean product of deviations can be: a quarter, and of a sample of two rows, a half."""
        return prod(float(column.high - column.low) for column in columns) / (2 if self.sample else 4)

    @property
    def title(self) -> str:
        return f"{self.stem}_{'samp' if self.sample else 'pop'}"


class _OfSpread(_OfSample, OfColumn):
    """What the spread of a column is told by."""

    needs_squares = is_seldom_at_ends = True

    def ends(self, table: Table) -> tuple[Any, ...]:
        """Return 0: then all values would be the same."""
        return (0,)

    def possible_range(self, table: Table) -> tuple[Any, Any] | None:
        """Return 0, and what it is if half of the values are at each bound."""
        column = table.numbers(self.column)
        return 0.0, self.largest(column, column)


@dataclass(frozen=True)
class Variance(_OfSpread):
    """The variance of a column: of a sample, or of the rows themselves."""

    sample: bool = True
    stem = "var"


@dataclass(frozen=True)
class Deviation(_OfSpread):
    """The standard deviation of a column: the root of its variance."""

    sample: bool = True
    stem = "stddev"

    def largest(self, *columns: Numbers) -> float:
        return sqrt(super().largest(*columns))


@dataclass(frozen=True)
class _OfTwoColumns(Moment):
    """What measures of two columns share."""

    column: Node
    other: Node

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.column, self.other

    def __str__(self) -> str:
        return f"{self.title.upper()}({self.column}, {self.other})"


@dataclass(frozen=True)
class Covariance(_OfSample, _OfTwoColumns):
    """The covariance of two columns: of a sample, or of the rows themselves."""

    sample: bool = True
    stem = "covar"

    def possible_range(self, table: Table) -> tuple[Any, Any] | None:
        """Return where it is if all values are at bounds."""
        largest = self.largest(*map(table.numbers, self.nodes))
        return -largest, largest


@dataclass(frozen=True)
class Correlation(_OfTwoColumns):
    """The correlation of two columns, from -1 to 1."""

    title = "corr"
    needs_squares = is_seldom_at_ends = True

    def ends(self, table: Table) -> tuple[Any, ...]:
        """Return -1 and 1: then one column would follow from the other."""
        return -1, 1


@dataclass(frozen=True)
class Proportion(Measure):
    """For which part of the rows a condition is true."""

    condition: Condition
    title = "proportion"

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return (self.condition,)

    def fit(self, table: Table) -> Measure:
        """Return what is asked of a table, with its constants written in one way."""
        return Proportion(check_condition(table, self.condition))

    def ends(self, table: Table) -> tuple[Any, ...]:
        """Return none and all."""
        return 0, 1

    def __str__(self) -> str:
        return f"AVG(CASE WHEN {self.condition} THEN 1 ELSE 0 END)"


@dataclass(frozen=True)
class Cdf(Measure):
    """Which part of the rows is at or below each value of a column, bin by bin."""

    title = in_expression = "share"
    has_noise = False
    names_groups_by_top = True

    def possible_range(self, table: Table) -> tuple[Any, Any] | None:
        return 0, 1

    def call_by_bins(self, group: Group) -> str | None:
        return group.call("CDF")

    def __str__(self) -> str:
        return "CDF"
