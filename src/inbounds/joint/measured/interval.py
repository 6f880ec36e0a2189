"""Where the truth is, from the raw measurements: intervals for every group of a grouping.

An interval is made of the group's own measurement, or of the sum of the measured groups of a finer grouping, whichever
is narrower; the plan decides that, never the data.  It covers the noise, and nothing else.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inbounds.accuracy.confidence import CONFIDENCE
from inbounds.errors import InvalidParameter
from inbounds.exact.rational import shown
from inbounds.joint.measured.measurements import Measurements
from inbounds.joint.plan.noise_sum import reach
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.table.layout import Grouping
from inbounds.joint.table.public_groups import add_up, known_groups
from inbounds.joint.table.tree import parents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]


class _Source(NamedTuple):
    """A measured grouping, as a source for a coarser one: flattened, for each group of that."""

    grouping: Grouping
    places: NDArray[np.intp]
    reaches: Whole
    """How far the noise of the sum goes."""
    least: Whole
    """What the public groups add up to."""


def intervals(measured: Measurements, grouping: Grouping, confidence: float) -> tuple[Whole, Whole]:
    """Return the ends of an interval for each group, in whole steps, outward; each holds its truth this often."""
    level = _check_confidence(confidence)
    plan, layout = measured.plan, measured.plan.layout
    # Each group takes the source whose noise goes least far.  That is read from the plan and never from what was
    # measured, for to choose by the data would make intervals miss more often than they say.
    values, known = known_groups(plan.facts, grouping)
    low, high = values * plan.grain.denominator, values * plan.grain.denominator
    if not known.all():
        sources = [_source(plan, measured_grouping, grouping, level) for measured_grouping in _sources(plan, grouping)]
        chosen = np.argmin([source.reaches for source in sources], axis=0)
        for number, source in enumerate(sources):
            here = (chosen == number) & ~known
            if here.any():
                low[here], high[here] = (end[here] for end in _ends(measured, source, grouping, level))
        low, high = _within_total(plan, low, high, known)
    shape, step = layout.sizes(grouping), plan.grain.denominator
    return (low // step).reshape(shape), (-(-high // step)).reshape(shape)


def _check_confidence(confidence: float) -> float:
    given: object = confidence
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 < given < 1:
        return float(given)
    raise InvalidParameter(f"confidence must be above 0 and below 1, got {shown(given)}; {CONFIDENCE} is usual")


def _sources(plan: JointPlan, grouping: Grouping) -> list[Grouping]:
    """Return the measured groupings that tell all there is in this one, itself first."""
    sources = [source for source in plan.measured if plan.layout.is_within(source, grouping)]
    if not sources:
        raise InvalidParameter(
            f"there is no interval for {plan.layout.names(grouping)}, because no measured grouping distinguishes its "
            "groups; choose one that a measured grouping contains"
        )
    return sorted(sources, key=lambda source: source != grouping)


def _source(plan: JointPlan, finer: Grouping, grouping: Grouping, confidence: float) -> _Source:
    groups = plan.layout.groups(grouping)
    places = parents(plan.layout, finer, grouping)
    values, known = known_groups(plan.facts, finer)
    counts = add_up((~known).astype(np.int64), places, groups)
    # The noise of a sum depends on how many of its parts are measured; public parts add a number and no noise.
    distinct, which = np.unique(counts, return_inverse=True)
    rate = plan.rate(finer)
    reaches = np.array([reach(count, rate, confidence) for count in distinct.tolist()], dtype=np.int64)
    least = add_up(np.where(known, values * plan.grain.denominator, 0), places, groups)
    return _Source(finer, places, reaches[which], least)


def _ends(measured: Measurements, source: _Source, grouping: Grouping, confidence: float) -> tuple[Whole, Whole]:
    plan = measured.plan
    flat = measured.grains[source.grouping].reshape(-1)
    if source.grouping == grouping:
        distinct, which = np.unique(flat, return_inverse=True)
        low, high = plan.truth_mechanism(grouping).interval(distinct, confidence)
        return low.astype(np.int64)[which], high.astype(np.int64)[which]
    sums = add_up(flat, source.places, plan.layout.groups(grouping))
    if not plan.nonnegative:
        return sums - source.reaches, sums + source.reaches
    return np.maximum(sums - source.reaches, source.least), np.maximum(sums + source.reaches, source.least)


def _within_total(plan: JointPlan, low: Whole, high: Whole, known: NDArray[np.bool_]) -> tuple[Whole, Whole]:
    """Bring intervals to where a public total lets a group be: no part is more than the whole."""
    total, is_known = known_groups(plan.facts, plan.layout.total)
    greatest = int(total[0]) if is_known[0] else plan.facts.most
    if greatest is None or not plan.nonnegative:
        return low, high
    most = np.where(known, high, min(greatest * plan.grain.denominator, 2**62))
    return np.minimum(low, most), np.minimum(high, most)


def mean_width(plan: JointPlan, grouping: Grouping, confidence: float) -> float:
    """Return about how wide the intervals of a grouping will be, in steps, before ends are brought to zero."""
    if known_groups(plan.facts, grouping)[1].all():
        return 0.0
    sources = [_source(plan, source, grouping, confidence).reaches for source in _sources(plan, grouping)]
    return 2 * math.fsum(np.min(sources, axis=0)) / plan.layout.groups(grouping) * float(plan.grain)
