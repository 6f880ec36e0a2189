"""Planning: a question becomes a plan, by the way of its measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from inbounds.errors import InvalidQuestion
from inbounds.privacy.claim import checked_epsilon
from inbounds.query.engines.engine import Engine
from inbounds.query.methods.counts import plan_count, plan_keys, plan_shares, plan_units
from inbounds.query.methods.means import plan_mean, plan_proportion, plan_sum, plan_totals
from inbounds.query.methods.moments.planning import plan_moment, plan_moments
from inbounds.query.methods.plan import Plan
from inbounds.query.methods.planner import Planned, Planner
from inbounds.query.methods.quantiles.planning import plan_quantile, plan_quantiles
from inbounds.query.question.clipping_warnings import warnings_of
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
from inbounds.query.question.quantile import Extreme, Quantile
from inbounds.query.question.question import Question
from inbounds.query.question.shared_measures import Moments, Quantiles, Totals
from inbounds.query.statement.builder import build_statement
from inbounds.query.statement.relations import TableReader
from inbounds.query.statement.shared_builder import build_shared_statement, can_share, share_rows

METHODS: dict[type[Measure], Callable[[Planner, Any], Planned]] = {
    Count: plan_count,
    CountUnits: plan_units,
    CountKeys: plan_keys,
    Cdf: plan_shares,
    Sum: plan_sum,
    Mean: plan_mean,
    Totals: plan_totals,
    Proportion: plan_proportion,
    Variance: plan_moment,
    Deviation: plan_moment,
    Covariance: plan_moment,
    Correlation: plan_moment,
    Moments: plan_moments,
    Quantile: plan_quantile,
    Extreme: plan_quantile,
    Quantiles: plan_quantiles,
}
"""How each measure is planned."""


def plan(
    question: Question,
    epsilon: Fraction,
    engine: Engine,
    pooling: Fraction | None = None,
    engines: Mapping[str, Engine] | None = None,
) -> Plan:
    """Plan how to answer a question for so much epsilon; looks at no data.

    `engine` runs the statement; `engines` are those of the tables that are asked, by name, if they are several.
    """
    reader = TableReader(engines if engines is not None else {question.table.name: engine}, engine.dialect)
    return _planned(Planner(question, epsilon, reader, pooling))


def share_statements(plans: Sequence[Plan], engine: Engine, engines: Mapping[str, Engine]) -> tuple[Plan, ...]:
    """Return plans for the same rows with one statement for all that can share it: it reads and joins them once."""
    reader = TableReader(engines, engine.dialect)
    shared = list(plans)
    groups = {plan.request.groups: None for plan in plans if can_share(plan.request)}
    for group in groups:
        places = [i for i, plan in enumerate(plans) if can_share(plan.request) and plan.request.groups == group]
        if len(places) > 1:
            for i, plan in zip(places, _share_statement([plans[i] for i in places], reader), strict=True):
                shared[i] = plan
    return tuple(shared)


def _share_statement(plans: Sequence[Plan], reader: TableReader) -> Iterator[Plan]:
    requests, table = [plan.request for plan in plans], plans[0].question.table
    common = share_rows(requests)
    needed = {node for request in requests for node in request.needed}
    known = common.must_be_there.values()
    relation = reader.relation(table, needed, known, common.condition)
    statement = build_shared_statement(requests, relation, reader.dialect, reader.ensured(table, known))
    rendered, first = reader.dialect.render(statement), 0
    for plan in plans:
        yield replace(plan, sql=rendered, own=slice(first, first + plan.request.width))
        first += plan.request.width


def _planned(planner: Planner) -> Plan:
    checked_epsilon(planner.epsilon)
    _refuse(planner.question)
    measure = planner.question.measure
    answering, request = METHODS[type(measure)](planner, measure)
    dialect = planner.reader.dialect
    known, test = request.must_be_there.values(), request.condition
    relation = planner.reader.relation(planner.question.table, request.needed, known, test)
    ensured = planner.reader.ensured(planner.question.table, known)
    rendered = dialect.render(build_statement(request, relation, dialect, ensured))
    return Plan(planner.question, planner.epsilon, answering, request, rendered)


def _refuse(question: Question) -> None:
    """Refuse what no way of planning can answer, before anything is charged."""
    if question.sets is not None and not question.measure.has_totals:
        raise InvalidQuestion(
            f"ROLLUP and other totals need COUNT(*) or SUM(column), got a {question.measure.title}; ask for these, or "
            "GROUP BY the columns alone"
        )
    if question.groups and not question.rows:
        if question.condition is None:
            raise InvalidQuestion(
                f"no group by {', '.join(map(str, question.groups))} can have rows, given the joined public tables; "
                "group by other columns"
            )
        raise InvalidQuestion(
            f"no group by {', '.join(map(str, question.groups))} can meet the condition, whatever the data; change the "
            f"condition{''.join(f'. {one}' for one in warnings_of([question]))}"
        )
