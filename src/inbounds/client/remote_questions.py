"""The questions that can be asked of a dataset on a server in Python: the same methods as those of one at hand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from inbounds.client.remote_query import RemoteQuery, write_number
from inbounds.client.written_select import WrittenSelect, write_condition, write_expression
from inbounds.display.sql_names import quote
from inbounds.errors import InvalidQuestion

if TYPE_CHECKING:
    from inbounds.client.remote_dataset import RemoteDataset
    from inbounds.query.expressions.condition import Condition
    from inbounds.query.expressions.expression import Expression

ROW = "row"
"""What a server says in place of the column that tells whose rows they are, where each row is a unit of its own."""


class RemoteQuestions(ABC):
    """The measures that can be asked of a table on a server; the server checks that they fit."""

    @property
    @abstractmethod
    def source(self) -> str:
        """What stands after FROM."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """The column that tells whose rows they are, or "row"."""

    @abstractmethod
    def _known(self) -> RemoteDataset:
        """Return the dataset that is asked."""

    @abstractmethod
    def _categorical(self, column: str) -> bool:
        """Return whether a column is known to be categorical."""

    @abstractmethod
    def _names(self) -> tuple[str, ...]:
        """Return the columns that are known."""

    def write_column(self, column: str | Expression) -> str:
        """Return a column, or an expression, as SQL has it."""
        return quote(column) if isinstance(column, str) and column in self._names() else write_expression(column)

    def _ask_for(self, *measures: str) -> RemoteQuery:
        select = WrittenSelect(self.source, measures)
        return RemoteQuery(self._known(), str(select), written=select)

    def _of_column(self, function: str, column: str | Expression, *others: str) -> RemoteQuery:
        return self._ask_for(f"{function}({', '.join((self.write_column(column), *others))})")

    def count(self, column: str | Expression | None = None) -> RemoteQuery:
        """Ask how many rows there are, or how many of them have a value of a column."""
        return self._ask_for("COUNT(*)") if column is None else self._of_column("COUNT", column)

    def count_units(self) -> RemoteQuery:
        """Ask how many units there are."""
        return self.count() if self.unit == ROW else self._ask_for(f"COUNT(DISTINCT {quote(self.unit)})")

    def count_keys(self, column: str | Expression) -> RemoteQuery:
        """Ask how many of a column's categories have a row."""
        return self._ask_for(f"COUNT(DISTINCT {self.write_column(column)})")

    def sum(self, column: str | Expression) -> RemoteQuery:
        """Ask for the sum of a column."""
        return self._of_column("SUM", column)

    def mean(self, column: str | Expression) -> RemoteQuery:
        """Ask for the mean of a column, or of an expression such as `price * quantity`."""
        return self._of_column("AVG", column)

    def variance(self, column: str | Expression, *, population: bool = False) -> RemoteQuery:
        """Ask for the variance of a column: of a sample, as `VARIANCE` is in SQL, or of the rows themselves."""
        return self._of_column("VAR_POP" if population else "VAR_SAMP", column)

    def stddev(self, column: str | Expression, *, population: bool = False) -> RemoteQuery:
        """Ask for the standard deviation of a column: of a sample, or of the rows themselves."""
        return self._of_column("STDDEV_POP" if population else "STDDEV_SAMP", column)

    def covariance(self, column: str | Expression, other: str | Expression, *, population: bool = False) -> RemoteQuery:
        """Ask for the covariance of two columns: of a sample, or of the rows themselves."""
        return self._of_column("COVAR_POP" if population else "COVAR_SAMP", column, self.write_column(other))

    def correlation(self, column: str | Expression, other: str | Expression) -> RemoteQuery:
        """Ask for the correlation of two columns, from -1 to 1."""
        return self._of_column("CORR", column, self.write_column(other))

    def proportion(self, condition: Condition | str) -> RemoteQuery:
        """Ask for the proportion of rows that meet a condition."""
        return self._ask_for(f"PROPORTION({write_condition(condition)})")

    def median(self, column: str | Expression) -> RemoteQuery:
        """Ask for the median of a column."""
        return self._of_column("MEDIAN", column)

    def quantile(self, column: str | Expression, level: Any) -> RemoteQuery:
        """Ask for a quantile of a column, at a level such as 0.9."""
        return self._of_column("QUANTILE", column, write_number(level, "level"))

    def quantiles(self, column: str | Expression, levels: Iterable[Any]) -> RemoteQuery:
        """Ask for several quantiles of a column, for example [0.1, 0.5, 0.9]; they are released in order."""
        return self._of_column("QUANTILES", column, *(write_number(level, "level") for level in levels))

    def minimum(self, column: str | Expression) -> RemoteQuery:
        """Ask for the quantile at 0.01, because the minimum would reveal one row."""
        return self._of_column("MIN", column)

    def maximum(self, column: str | Expression) -> RemoteQuery:
        """Ask for the quantile at 0.99, because the maximum would reveal one row."""
        return self._of_column("MAX", column)

    def histogram(self, column: str | Expression, bins: int | None = None) -> RemoteQuery:
        """Ask how many rows are in each bin of a column; each key, for a column of keys.

        Without `bins`, each possible value has its own if they are few.
        """
        if isinstance(column, str) and bins is None and self._categorical(column):
            return self.count().by(column)
        return self._of_column("HISTOGRAM", column, *_write_bins(bins))

    def cdf(self, column: str | Expression, bins: int | None = None) -> RemoteQuery:
        """Ask for the cumulative distribution of a column: the proportion of rows at or below each value."""
        return self._of_column("CDF", column, *_write_bins(bins))

    def together(self, *queries: RemoteQuery) -> RemoteQuery:
        """Ask for several measures at once, such as `together(visits.count(), visits.mean("age")).by("clinic")`."""
        selects = [query.parts for query in queries]
        measures = tuple(measure for select in selects for measure in select.measures)
        if not measures or any(select != WrittenSelect(self.source, select.measures) for select in selects):
            raise InvalidQuestion("together takes one or more measures of all rows; add where and by afterwards")
        return self._ask_for(*measures)


def _write_bins(bins: object) -> tuple[str, ...]:
    if bins is None:
        return ()
    if not isinstance(bins, int) or isinstance(bins, bool):
        raise InvalidQuestion("over a server, bins must be a whole number, got something else; give one such as 10")
    return (str(bins),)
