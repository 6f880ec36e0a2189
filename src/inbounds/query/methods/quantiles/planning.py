"""How quantiles are planned: from the rows of each value."""

from __future__ import annotations

from inbounds.errors import InvalidQuestion
from inbounds.privacy.guarantee import GuaranteeName
from inbounds.query.columns.column import Numbers
from inbounds.query.methods.planner import WHOLE_ROWS, Planned, Planner
from inbounds.query.methods.quantiles.law import Buckets
from inbounds.query.methods.quantiles.ordered import OrderedQuantiles
from inbounds.query.methods.quantiles.quantiles import QuantileByRank, QuantilesInOrder
from inbounds.query.question.quantile import Quantile
from inbounds.query.question.shared_measures import Quantiles
from inbounds.query.statement.request import Request

MOST_BUCKETS_OF_ALL = 4_000_000
"""Quantiles of all groups together may have so many buckets; beyond, they take minutes and gigabytes."""


def plan_quantile(planner: Planner, measure: Quantile) -> Planned:
    """Draw a value by its rank."""
    column, request = _by_bucket(planner, measure)
    limit, weight = planner.question.table.limit, request.weights.one
    guarantee: GuaranteeName = "standard" if planner.one_group else "distance"
    return QuantileByRank(column, measure.level, planner.epsilon, limit, weight, guarantee), request


def plan_quantiles(planner: Planner, measure: Quantiles) -> Planned:
    """Draw several values by their ranks, in order."""
    column, request = _by_bucket(planner, measure)
    limit, weight = planner.question.table.limit, request.weights.one
    law = OrderedQuantiles(Buckets.of(column), measure.levels, planner.epsilon, limit, weight)
    return QuantilesInOrder(law, "distance"), request


def _by_bucket(planner: Planner, measure: Quantile | Quantiles) -> tuple[Numbers, Request]:
    """Return the column of quantiles, and a request for its rows by value."""
    if planner.pooling is not None:
        raise InvalidQuestion("pooling does not apply to a quantile, which is drawn by rank; leave it out")
    column = planner.question.table.numbers(measure.column)
    groups = len(planner.question.rows)
    if groups * Buckets.of(column).count > MOST_BUCKETS_OF_ALL:
        raise InvalidQuestion(f"quantiles for {groups} groups are too many; ask for fewer groups")
    return column, planner.request((WHOLE_ROWS,), 1, value=column, bucket=Buckets.of(column).width)
