"""What row limits do to a count and a mean: what is cut, which is the truth about the rows, and the noise on the rest.

A lower limit cuts more, and needs less noise.  What is cut is for the custodian's eyes only; the noise is public, and
the same as an explanation tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from inbounds.errors import EngineFailed, InboundsError
from inbounds.query.ask.options import read_cost
from inbounds.query.columns.column import Numbers
from inbounds.query.custodian.figures import LimitFigures, UnitsFigures
from inbounds.query.custodian.ownership import Ownership
from inbounds.query.dataset import Dataset
from inbounds.query.query import Query
from inbounds.query.statement.relations import TableReader
from inbounds.query.tables.table import Table


@dataclass(frozen=True)
class ErrorParts:
    """How far off a number is: by what the limit cuts, and by the noise on average."""

    cut: float
    """A count is that much too low; a mean is that much off, to either side."""
    noise: float | None
    """None where no mechanism is found for so high a limit."""

    @property
    def together(self) -> float | None:
        """At most how far off it is on average."""
        return None if self.noise is None else abs(self.cut) + self.noise


@dataclass(frozen=True)
class LimitError:
    """What one limit does."""

    figures: LimitFigures
    count: ErrorParts
    mean: ErrorParts | None
    """None where no mean was asked for."""


def means_of(table: Table) -> list[Numbers]:
    """Return the columns of a table that have a mean to look at: numbers of more than one possible value."""
    columns = (column for column in table.columns.values() if isinstance(column, Numbers))
    return [column for column in columns if column.kind.adds_up and column.steps > 0]


def find_limit_errors(
    rows: Dataset, units: UnitsFigures, column: Numbers | None, epsilon: Any
) -> tuple[LimitError, ...]:
    """Return what each limit of some figures does to a count of all rows of a table, and to the mean of a column.

    `rows` is the dataset with that table to ask.  One statement is run, for the mean; nothing is charged.
    """
    cost, limits = read_cost(epsilon), [figures.limit for figures in units.others]
    counts = [_noise(rows, rows.count(), limit, cost, 0) for limit in limits]
    means: Sequence[ErrorParts | None] = [None] * len(limits)
    if column is not None:
        means = _mean_errors(rows, column, limits, cost)
    return tuple(
        LimitError(figures, ErrorParts(figures.rows, noise), mean)
        for figures, noise, mean in zip(units.others, counts, means, strict=True)
    )


def _mean_errors(rows: Dataset, column: Numbers, limits: Sequence[int], cost: Fraction) -> list[ErrorParts | None]:
    table = rows.table
    engines = {name: rows.engine_of(name) for name in _path(table)}
    statement = Ownership(table, TableReader(engines, rows.engine.dialect)).of_mean(column, limits)
    try:
        ((count, steps, *weighed),) = rows.engine.run(rows.engine.dialect.render(statement))
    except EngineFailed as failure:
        kind = failure.kind
    else:
        if not count:
            return [None] * len(limits)
        mean, step, query = float(steps) / int(count), float(column.step), rows.mean(column.name)
        pairs = zip(limits, weighed[0::2], weighed[1::2], strict=True)
        return [
            ErrorParts((float(total) / int(left) - mean) * step, _noise(rows, query, limit, cost, int(left)))
            for limit, left, total in pairs
        ]
    raise EngineFailed(kind, charged=False)


def _noise(rows: Dataset, query: Query, limit: int, cost: Fraction, left: int) -> float | None:
    """Return the expected noise of a question under another limit, with so many rows."""
    question = replace(query.question, table=replace(rows.table, limit=limit))
    try:
        return rows.planned(question, cost, None).answering.predicted_error(0, left)
    except InboundsError:  # a limit so high that its noise is beyond what can be computed with
        return None


def _path(table: Table) -> list[str]:
    """Return the names of a table and of those that its rows belong to."""
    return [table.name, *([] if table.parent is None else _path(table.parent.table))]
