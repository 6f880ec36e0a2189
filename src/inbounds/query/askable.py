"""The questions that can be asked of a table in Python, each by the name of what it measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from inbounds.errors import InvalidQuestion
from inbounds.exact.rational import as_written, shown
from inbounds.query.columns.column import Keys
from inbounds.query.expressions.condition import Condition, Missing, Not
from inbounds.query.expressions.expression import Expression
from inbounds.query.expressions.node import Node
from inbounds.query.expressions.normal_form import indicator
from inbounds.query.grammar.rows import to_condition
from inbounds.query.query import Query
from inbounds.query.question.among import count_values
from inbounds.query.question.group import by_bins, by_key
from inbounds.query.question.measure import (
    Cdf,
    Correlation,
    Count,
    CountKeys,
    CountUnits,
    Covariance,
    Deviation,
    Mean,
    Measure,
    Proportion,
    Sum,
    Variance,
)
from inbounds.query.question.quantile import MOST_LEVELS, Extreme, Quantile, refuse_level
from inbounds.query.question.question import Question
from inbounds.query.sql.select import Select
from inbounds.query.tables.table import Table


class Questions(ABC):
    """The measures that can be asked of a table."""

    table: Table

    @abstractmethod
    def _ask_for(self, *measures: Measure) -> Query:
        """Ask for some measures of all rows."""

    @abstractmethod
    def _ask_question(self, question: Question) -> Query:
        """Ask a question as it is."""

    def count(self, column: str | Expression | None = None) -> Query:
        """Ask how many rows there are, or how many of them have a value of a column."""
        if column is None:
            return self._ask_for(Count())
        return self._ask_for(Count()).where(Not(Missing(self.table.column(column).node)))

    def count_units(self) -> Query:
        """Ask how many units there are."""
        return self._ask_for(Count() if self.table.rows_are_units else CountUnits(self.table.unit))

    def count_keys(self, column: str | Expression) -> Query:
        """Ask how many of a column's categories have a row."""
        return self._ask_for(CountKeys(by_key(self.table.column(column)).column.node))

    def sum(self, column: str | Expression) -> Query:
        """Ask for the sum of a column."""
        return self._ask_for(Sum(self.table.addends(column).node))

    def mean(self, column: str | Expression) -> Query:
        """Ask for the mean of a column, or of an expression such as `price * quantity`."""
        node = self.table.numbers(column).node
        return self._ask_for(Mean(node)) if (of := indicator(node)) is None else self.proportion(of)

    def variance(self, column: str | Expression, *, population: bool = False) -> Query:
        """Ask for the variance of a column: of a sample, as `VARIANCE` is in SQL, or of the rows themselves."""
        return self._ask_for(Variance(self.table.numbers(column).node, sample=not population))

    def stddev(self, column: str | Expression, *, population: bool = False) -> Query:
        """Ask for the standard deviation of a column: of a sample, or of the rows themselves."""
        return self._ask_for(Deviation(self.table.numbers(column).node, sample=not population))

    def covariance(self, column: str | Expression, other: str | Expression, *, population: bool = False) -> Query:
        """Ask for the covariance of two columns: of a sample, or of the rows themselves."""
        return self._ask_for(Covariance(*self._two_nodes(column, other), sample=not population))

    def correlation(self, column: str | Expression, other: str | Expression) -> Query:
        """Ask for the correlation of two columns, from -1 to 1."""
        return self._ask_for(Correlation(*self._two_nodes(column, other)))

    def _two_nodes(self, column: str | Expression, other: str | Expression) -> tuple[Node, Node]:
        first, second = self.table.numbers(column).node, self.table.numbers(other).node
        if first == second:
            raise InvalidQuestion(f"two different columns are needed, got {shown(first.name)} twice; name another one")
        return first, second

    def proportion(self, condition: Condition | str) -> Query:
        """Ask for the proportion of rows that meet a condition."""
        return self._ask_for(Proportion(to_condition(condition, self.table)))

    def median(self, column: str | Expression) -> Query:
        """Ask for the median of a column."""
        return self.quantile(column, 0.5)

    def quantile(self, column: str | Expression, level: Any) -> Query:
        """Ask for a quantile of a column, at a level such as 0.9."""
        try:
            exact = as_written(level, "the level of a quantile", InvalidQuestion)
        except InvalidQuestion:
            raise InvalidQuestion(
                f"the level of a quantile must be a number above 0 and below 1, got {shown(level)}; "
                "give a number such as 0.9"
            ) from None
        if (problem := refuse_level(exact)) is not None:
            raise InvalidQuestion(problem)
        return self._ask_for(Quantile(self.table.numbers(column).node, exact))

    def minimum(self, column: str | Expression) -> Query:
        """Ask for the quantile at 0.01, because the minimum would reveal one row."""
        return self._ask_for(Extreme.of("MIN", self.table.numbers(column).node))

    def maximum(self, column: str | Expression) -> Query:
        """Ask for the quantile at 0.99, because the maximum would reveal one row."""
        return self._ask_for(Extreme.of("MAX", self.table.numbers(column).node))

    def quantiles(self, column: str | Expression, levels: Iterable[Any]) -> Query:
        """Ask for several quantiles of a column, for example [0.1, 0.5, 0.9]; they are released in order."""
        measures = [self.quantile(column, level).question.measure for level in levels]
        if not 1 <= len(measures) <= MOST_LEVELS or len(set(measures)) < len(measures):
            raise InvalidQuestion(
                f"quantiles takes from 1 to {MOST_LEVELS} different levels, got others; give such a list"
            )
        return self._ask_for(*measures)

    def histogram(self, column: str | Expression, bins: int | list[Any] | None = None) -> Query:
        """Ask how many rows are in each bin of a column: a number of bins, or bins that begin at given values.

        Without `bins`, each possible value has its own if they are few; each key, for a column of keys.
        """
        described = self.table.column(column)
        if not isinstance(described, Keys):
            return self._ask_question(Question(self.table, Count(), groups=(by_bins(described, bins),)))
        if bins is not None:
            raise InvalidQuestion(f"{described.name} is categorical, so each category is a bin; leave bins out")
        return self._ask_for(Count()).by(described.name)

    def cdf(self, column: str | Expression, bins: int | list[Any] | None = None) -> Query:
        """Ask for the cumulative distribution of a column: the proportion of rows at or below each value.

        Values are told apart by bins, as in `histogram`; each is called by its greatest value.
        """
        return self._ask_question(Question(self.table, Cdf(), groups=(by_bins(self.table.numbers(column), bins),)))

    def together(self, *queries: Query) -> Query:
        """Ask for several measures at once, such as `together(visits.count(), visits.mean("age")).by("clinic")`.

        Those that go together share what they cost and never contradict each other: `count("age")`, sum, mean and
        variance of a column, covariances of two, and quantiles of a column.  Each of the others has a part of epsilon.
        """
        measures = tuple(measure for query in queries for measure in self._measures_alone(query))
        if not measures or len(set(measures)) < len(measures):
            raise InvalidQuestion("together takes one or more different measures, got others; name each once")
        return self._ask_for(*measures)

    def _measures_alone(self, query: Query) -> tuple[Measure, ...]:
        """Return the measures of a query that says nothing else."""
        measures = query.asked
        if query == Query.of(query.dataset, measures):
            return measures
        match query.questions[0].condition:
            case Not(this=Missing(this=column)) if query == self.count(Expression(column)):
                return (count_values(column),)
        raise InvalidQuestion("together takes measures of all rows; add where and by afterwards")

    def _build_query(self, select: Select) -> Query:
        """Ask what was read from SQL."""
        measures = tuple(measure.fit(self.table) for measure in select.measures)
        query = self._ask_for(*measures) if select.histogram is None else self._build_histogram(measures[0], select)
        if select.condition is not None:
            query = query.where(select.condition)
        if select.groupings.keys:
            query = query.by(*map(Expression, select.groupings.keys))
        if select.groupings.sets is not None:
            sets = (map(Expression, columns) for columns in select.groupings.sets)
            query = query.groupings(*sets, rest=select.groupings.rest)
        fitted = dict(zip(select.measures, measures, strict=True))
        return replace(query, shown=select.view.with_measures(lambda measure: fitted.get(measure, measure)))

    def _build_histogram(self, measure: Measure, select: Select) -> Query:
        """Return the histogram or the cumulative distribution that was read from SQL."""
        assert select.histogram is not None
        column, bins = Expression(select.histogram[0]), select.histogram[1]
        return self.cdf(column, bins) if measure.names_groups_by_top else self.histogram(column, bins)
