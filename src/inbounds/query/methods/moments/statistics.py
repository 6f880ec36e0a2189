"""Which class answers which measure of one or two columns."""

from __future__ import annotations

from collections.abc import Mapping

from inbounds.query.methods.moments.averages import CountOfRows, MeanOfColumn, SumOfColumn
from inbounds.query.methods.moments.spreads import (
    CorrelationOfColumns,
    CovarianceOfColumns,
    DeviationOfColumn,
    VarianceOfColumn,
)
from inbounds.query.methods.moments.statistic import Statistic
from inbounds.query.question.measure import (
    Correlation,
    Count,
    CountOf,
    Covariance,
    Deviation,
    Mean,
    Measure,
    Sum,
    Variance,
)

Statistics = Mapping[type[Measure], type[Statistic]]

STATISTICS: Statistics = {
    Count: CountOfRows,
    CountOf: CountOfRows,
    Sum: SumOfColumn,
    Mean: MeanOfColumn,
    Variance: VarianceOfColumn,
    Deviation: DeviationOfColumn,
    Covariance: CovarianceOfColumns,
    Correlation: CorrelationOfColumns,
}
"""What each measure is answered by, from the same sums."""
