"""The public way in: an array of counts becomes a table that adds up."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from inbounds.errors import InvalidParameter, ProjectionFailed
from inbounds.exact.rational import Number, as_written
from inbounds.exact.surroundings import sheltered
from inbounds.joint.joint_release import SECONDS, JointRelease
from inbounds.joint.measured.measurements import Measurements, measure
from inbounds.joint.measured.stored import to_document
from inbounds.joint.plan.given_facts import read_facts, read_split
from inbounds.joint.plan.plan import JointPlan
from inbounds.joint.plan.split import settle_floats
from inbounds.joint.table.axis import Axis
from inbounds.joint.table.layout import Grouping, Layout
from inbounds.privacy.claim import checked_epsilon


@sheltered()
def release(  # noqa: PLR0913  what is asked for, what is public, and how it is paid
    counts: Any,
    epsilon: Number,
    *,
    groupings: Iterable[Any],
    axes: Sequence[Axis] | None = None,
    known: Mapping[Any, Any] | None = None,
    zeros: Any = None,
    sensitivity: Number = 1,
    split: Mapping[Any, Number] | Sequence[Number] | None = None,
    seconds: float = SECONDS,
) -> JointRelease:
    """Release a whole table that is possible: no count is negative, and all sums add up.

    * `counts`: the true table, an array of whole numbers with any number of axes.
    * `epsilon`: the privacy loss of everything together.
    * `groupings`: what will be looked at, each as a tuple of axes; `(0, 1)` are the cells of a table with two axes,
      `(0,)` its rows added up, `()` the total.  Each is measured by itself, or is a sum of what is, if that is better.
      A sum over many small cells that is not among them comes out too high.
    * `axes`: names for the axes, and coarser levels of their keys, which then can be named in groupings.
    * `known`: **public facts, which are not protected.**  `{(): 10_000}` is a total that everyone knows,
      `{(0,): [10, 20]}` that of every row, `{(0,): {1: 20}}` that of one.  Take them from what is published, never from
      `counts`: the table is made to agree with them exactly, so that whoever sees it learns them.  With a public total
      neighbours are tables in which one unit stands in place of another, which is twice the sensitivity.
    * `zeros`: **public, too**: true for each cell that cannot hold anything, such as men on a maternity ward.
    * `sensitivity`: the most that one unit (a person, a row) changes all cells together.
    * `split`: how epsilon is divided over the groupings, `{(0, 1): 0.08, (): 0.02}` or in their order, `(0.08, 0.02)`;
      one with 0 is not measured.  By predicted error without one.
    * `seconds`: after that time a quicker projection answers, which adds up as well.

    What is wrong with any of these is refused before anything is measured.  What the counts are is never looked at.
    """
    layout = _layout(counts, axes)
    whole, asked = checked_epsilon(epsilon), _groupings(layout, groupings)
    plan = JointPlan.of(
        layout,
        whole,
        asked,
        sensitivity=as_written(sensitivity, "sensitivity", InvalidParameter),
        facts=read_facts(layout, known, zeros),
        split=None if split is None else _split(layout, whole, asked, split),
    )
    return make_table(measure(plan, counts), seconds)


def make_table(measured: Measurements, seconds: float) -> JointRelease:
    """Make a table; should none be found, the error holds the measurements, for they were paid for."""
    try:
        return JointRelease.of(measured, seconds=seconds)
    except ProjectionFailed as failed:
        failed.measurements = json.dumps(to_document(measured))
        raise


def _layout(counts: Any, axes: Sequence[Axis] | None) -> Layout:
    if axes is not None:
        if not all(isinstance(axis, Axis) for axis in axes):
            raise InvalidParameter("axes must each be an Axis, got others; name one with its number of keys")
        return Layout(tuple(axes))
    try:
        shape = np.shape(counts)
    except ValueError:
        raise InvalidParameter("counts must be an array, got lists of different lengths; fill them up") from None
    return Layout.plain(shape)


def _groupings(layout: Layout, groupings: Iterable[Any]) -> list[Grouping]:
    given: object = groupings
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameter(f"groupings must be a list of tuples of axes, got {given!r:.60}; the total is ()")
    return [layout.grouping(names) for names in groupings]


def _split(
    layout: Layout, epsilon: Fraction, groupings: Sequence[Grouping], split: Mapping[Any, Number] | Sequence[Number]
) -> dict[Grouping, Fraction]:
    given = read_split(layout, groupings, split)
    parts = {grouping: as_written(part, "each part of the split", InvalidParameter) for grouping, part in given.items()}
    has_floats = any(isinstance(part, float | np.floating) for part in given.values())
    return settle_floats(epsilon, parts) if has_floats else parts
