"""A question is planned by the way of its measure."""

from __future__ import annotations

from collections.abc import Iterator

from inbounds.query.answer.released.source_column import SourceColumn
from inbounds.query.methods.moments.planning import plan_moment
from inbounds.query.methods.moments.statistics import STATISTICS
from inbounds.query.methods.plan_question import METHODS
from inbounds.query.question.measure import Count, CountOf, Mean, Measure, Moment, NoMeasure, OfColumn, Sum


def measures(of: type[Measure]) -> Iterator[type[Measure]]:
    """Yield the kinds of measures that derive from one, and are not there to derive from."""
    for one in of.__subclasses__():
        if one not in (OfColumn, Moment) and not one.__name__.startswith("_"):
            yield one
        yield from measures(one)


def test_every_measure_is_planned() -> None:
    """There is one way to plan each kind of measure, unless it is answered beside others only, has no answer, or stands
    for what another SELECT shows."""
    assert set(measures(Measure)) - {CountOf, NoMeasure, SourceColumn} == set(METHODS)


def test_every_moment_has_its_statistic() -> None:
    """What is planned as moments, alone or beside rows, sums and means, follows from their sums."""
    planned = {one for one, method in METHODS.items() if method is plan_moment}
    assert {*planned, Count, CountOf, Sum, Mean} == set(STATISTICS)
