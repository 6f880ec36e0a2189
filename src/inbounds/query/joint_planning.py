"""How a question about groups becomes a joint table: its axes, its groupings, and what is public of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from inbounds.bounds import Bounds
from inbounds.errors import InvalidQuestion
from inbounds.joint.axis import Axis, Level, Name
from inbounds.joint.facts import Facts
from inbounds.joint.layout import Grouping, Layout
from inbounds.joint.plan import JointPlan
from inbounds.query.group import Group
from inbounds.query.hierarchy import ancestors
from inbounds.query.joint_table import JointTable, Rows
from inbounds.query.measure import Count
from inbounds.query.question import Question

if TYPE_CHECKING:
    from numpy.typing import NDArray


def finest_groups(question: Question) -> tuple[Group, ...]:
    """Return the groups that a statement has to tell apart: those that no other group lies within tell nothing more."""
    columns = question.table.columns
    above = [name for group in question.groups for name, _ in ancestors(columns, group.column)]
    names = [group.column.name for group in question.groups]
    for name in names:
        if above.count(name) > 1:
            raise InvalidQuestion(f"two of the columns grouped by lie within {name}; leave one of them out")
    return tuple(group for group in question.groups if group.column.name not in above)


def joint_table(
    question: Question,
    epsilon: Fraction,
    *,
    sensitivity: Fraction,
    bounds: Bounds,
    step: Fraction,
    grain: Fraction,
    most: int | None,
) -> JointTable:
    """Plan a table: cells are counted in grains, and released in steps of so much."""
    layout = Layout(tuple(_axis(question, group) for group in finest_groups(question)))
    rows = _rows(question, layout)
    sign = -1 if bounds.greatest == 0 else 1
    make = partial(
        JointPlan.of,
        layout,
        epsilon,
        sensitivity=sensitivity / step,
        grain=grain / step,
        facts=Facts(layout, known_of(question, layout), most),
        nonnegative=0 in (bounds.least, bounds.greatest),
    )
    groupings = tuple(dict.fromkeys(one.grouping for one in rows))
    return JointTable(_best(make, groupings, with_total=question.sets is None), rows, bounds, step, sign)


def _best(make: Callable[..., JointPlan], groupings: tuple[Grouping, ...], *, with_total: bool) -> JointPlan:
    """Return the plan with the least predicted error of what is asked for; the total is measured too if that helps.

    Whoever reads a table adds it up: so the total counts as one grouping, asked for or not.
    """
    asked = make(groupings)
    layout = asked.layout
    if not with_total or layout.total in groupings or layout.total in asked.facts.known:
        return asked
    wanted = (*groupings, layout.total)
    return min(
        (asked, make(wanted)), key=lambda plan: sum(sqrt(layout.groups(one)) * plan.error(one) for one in wanted)
    )


def _axis(question: Question, group: Group) -> Axis:
    """Return the axis of a group, with those of the other groups that it lies within."""
    names = {one.column.name for one in question.groups}
    levels = [Level(name, codes) for name, codes in ancestors(question.table.columns, group.column) if name in names]
    return Axis(group.column.name, group.size, tuple(levels))


def _rows(question: Question, layout: Layout) -> tuple[Rows, ...]:
    """Return where each row of the answer stands in the groupings of a layout."""
    names = [group.column.name for group in question.groups]
    found = []
    for told in question.told_apart:
        grouping = layout.grouping([names[place] for place in told])
        at = [names.index(str(name)) for name in layout.names(grouping)]
        numbers = np.arange(layout.groups(grouping)).reshape(layout.sizes(grouping))
        places = tuple(int(numbers[tuple(row[place] or 0 for place in at)]) for row in question.rows_of(told))
        found.append(Rows(grouping, places, ", ".join(names[place] for place in told) or "the total"))
    return tuple(found)


def known_of(question: Question, layout: Layout) -> dict[Grouping, tuple[NDArray[np.int64], NDArray[np.bool_]]]:
    """Return what is public of a table: combinations that cannot be, and numbers of rows where all are counted."""
    found: dict[Grouping, tuple[NDArray[np.int64], NDArray[np.bool_]]] = {}
    known, columns = question.table.known, {name for axis in layout.axes for name in _names(axis)}

    def tell(grouping: Grouping, place: tuple[int, ...], value: int) -> None:
        if grouping not in found:
            sizes = layout.sizes(grouping)
            found[grouping] = np.zeros(sizes, dtype=np.int64), np.zeros(sizes, dtype=np.bool_)
        found[grouping][0][place], found[grouping][1][place] = value, True

    for zero in known.zeros:
        if set(zero) <= columns:
            grouping = layout.grouping(zero)
            tell(grouping, tuple(zero[str(name)] for name in layout.names(grouping)), 0)
    if question.condition is None and isinstance(question.measure, Count):
        if known.total is not None:
            tell(layout.total, (), known.total)
        for name, numbers in known.by.items():
            if name in columns:
                for code, value in numbers.items():
                    tell(layout.grouping(name), (code,), value)
    return found


def _names(axis: Axis) -> list[Name]:
    return [axis.name_of(level) for level in range(len(axis.levels) + 1)]
